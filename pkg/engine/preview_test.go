package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
)

func TestPreview(t *testing.T) {
	s := openDeck(t, preset(t, "classic"), "5D JC 2C 4D 9H 8H 3C 2D AC")
	check := func(text string, want engine.Preview) {
		t.Helper()
		got, err := s.Preview(shortMove(t, text))
		if err != nil {
			t.Fatal(err)
		}
		if got.HealthAfter != want.HealthAfter || got.Lethal != want.Lethal || got.WastesPotion != want.WastesPotion ||
			!slices.Equal(got.Loses, want.Loses) {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	check("AVOID", engine.Preview{HealthAfter: 20})
	check("EQUIP 5D", engine.Preview{HealthAfter: 20})
	check("BARE JC", engine.Preview{HealthAfter: 9})
	s = play(t, s, "EQUIP 5D", "HIT JC")
	check("BARE 2C", engine.Preview{HealthAfter: 12})
	check("HIT 2C", engine.Preview{HealthAfter: 14})
	check("EQUIP 4D", engine.Preview{HealthAfter: 14, Loses: cards(t, "5D JC")})
	s = play(t, s, "HIT 2C")
	check("EQUIP 4D", engine.Preview{HealthAfter: 14, Loses: cards(t, "5D JC 2C")})
	check("DRINK 9H", engine.Preview{HealthAfter: 20})
	s = play(t, s, "DRINK 9H")
	check("DRINK 8H", engine.Preview{HealthAfter: 20, WastesPotion: true})
	s = play(t, s, "EQUIP 4D", "BARE 3C")
	check("BARE AC", engine.Preview{HealthAfter: 3})
	s = openDeck(t, preset(t, "classic"), "10C 10S 2D 3D")
	s = play(t, s, "BARE 10C")
	check("BARE 10S", engine.Preview{HealthAfter: 0, Lethal: true})
}

// A preview, the legal moves and whatever else a player may see are the same however the undealt cards
// lie; and a preview's health is what comes true.
func TestNothingVisibleDependsOnUndealtCards(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range 300 {
		r := engine.RandomRuleset(random)
		deck := r.Deck()
		random.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		s := openDeck(t, r, strings.Join(cardNames(deck), " "))
		for s.Status() == engine.StatusActive {
			twin := permuteDungeon(t, s, random)
			legal := s.Legal(nil)
			if other := twin.Legal(nil); !slices.Equal(legal, other) {
				t.Fatalf("legal moves %v and %v", legal, other)
			}
			for _, m := range legal {
				p, err := s.Preview(m)
				q, twinErr := twin.Preview(m)
				if err != nil || twinErr != nil {
					t.Fatal(err, twinErr)
				}
				if fmt.Sprint(p) != fmt.Sprint(q) {
					t.Fatalf("%v: previews %+v and %+v", m, p, q)
				}
				next := fold(t, s, decide(t, s, m))
				if next.Health() != p.HealthAfter || (next.Status() == engine.StatusLost) != p.Lethal {
					t.Fatalf("%v: preview %+v, but health %d, %v", m, p, next.Health(), next.Status())
				}
				companion, has := next.Companion()
				_, had := s.Companion()
				if companion.Health != p.CompanionHealthAfter || p.CompanionDies != (had && !has) {
					t.Fatalf("%v: preview %+v, but companion %+v", m, p, companion)
				}
			}
			s = fold(t, s, decide(t, s, legal[random.IntN(len(legal))]))
		}
	}
}

// permuteDungeon returns s with its undealt cards in another order. It finds them in the encoding.
func permuteDungeon(t *testing.T, s engine.State, random *rand.Rand) engine.State {
	t.Helper()
	data, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	length := len(data)
	var dungeon []byte
	for _, c := range s.Dungeon() {
		dungeon = append(dungeon, byte(c))
	}
	at := strings.Index(string(data), string(dungeon))
	part := data[at : at+len(dungeon)]
	random.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
	twin, err := engine.DecodeState(data)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := twin.MarshalBinary(); err != nil || len(again) != length {
		t.Fatalf("the order of hidden cards changes the encoding's length: %d and %d", len(again), length)
	}
	return twin
}
