package engine_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
)

// FuzzPlay plays a game by the input's choices and checks after every move everything that must hold
// in any game.
func FuzzPlay(f *testing.F) {
	random := rand.New(rand.NewPCG(7, 8))
	for i := range 48 {
		choices := make([]byte, 80)
		for j := range choices {
			choices[j] = byte(random.Uint32())
		}
		seed := randomSeed(random)
		f.Add(byte(i), byte(i%10), seed[:], byte(i%45), choices)
	}
	rulesets := allRulesets()
	f.Fuzz(func(t *testing.T, options, depth byte, seedBytes []byte, short byte, choices []byte) {
		r := rulesets[int(options)%len(rulesets)]
		r.Depth = depth % (engine.MaxDepth + 1)
		var seed engine.Seed
		copy(seed[:], seedBytes)
		deck := engine.Shuffle(r, seed)
		deck = deck[:len(deck)-int(short)%len(deck)]
		fresh, err := engine.NewGameWithDeck(r, deck)
		if err != nil {
			t.Fatal(err)
		}
		facts := fresh.Open(nil)
		s := fold(t, fresh, facts)
		var notation []string
		checkState(t, &s, deck)
		for s.Status() == engine.StatusActive {
			if len(notation) > 2*len(deck)+2 {
				t.Fatalf("the game does not end: %v", notation)
			}
			legal := s.Legal(nil)
			checkDecideAgreesWithLegal(t, &s, legal)
			choice := 0
			if len(choices) > 0 {
				choice, choices = int(choices[0]), choices[1:]
			}
			m := legal[choice%len(legal)]
			happened := decide(t, s, m)
			next := fold(t, s, happened)
			checkStep(t, &s, m, &next)
			checkState(t, &next, deck)
			facts = append(facts, happened...)
			notation = append(notation, m.String())
			s = next
		}
		if legal := s.Legal(nil); len(legal) != 0 {
			t.Errorf("legal moves after the end: %v", legal)
		}
		checkDecideAgreesWithLegal(t, &s, nil)
		if s.Moves() != len(notation) {
			t.Errorf("%d moves, want %d", s.Moves(), len(notation))
		}
		if again := fold(t, fresh, facts); again != s {
			t.Error("folding all facts gives another state")
		}
		if again := play(t, open(t, fresh), notation...); again != s {
			t.Error("replaying the notation gives another state")
		}
		over, ok := s.Over()
		if last := facts[len(facts)-1]; !ok || last.Kind != engine.FactGameOver || last.Over != over || over.Rules != r {
			t.Errorf("the game is over with %+v, the last fact is %+v", over, last)
		}
		lowest, highest := r.ScoreBounds()
		if score, ok := s.Score(); !ok || score > highest || len(deck) == 44 && score < lowest {
			t.Errorf("score %d, %v", score, ok)
		}
	})
}

// checkState checks what holds in every state of a game on the deck.
func checkState(t *testing.T, s *engine.State, deck []engine.Card) {
	t.Helper()
	all := slices.Concat(s.Room(), s.Dungeon(), s.Discard())
	if w, ok := s.Weapon(); ok {
		all = append(append(all, w.Card), w.Kills...)
		if s.Rules().Role(w.Card) != engine.RoleWeapon {
			t.Errorf("the weapon is %v", w.Card)
		}
		for i, c := range w.Kills {
			if s.Rules().Role(c) != engine.RoleMonster || i > 0 && c.Value() > w.Kills[i-1].Value() {
				t.Errorf("the weapon's kills are %v", w.Kills)
			}
		}
	}
	slices.Sort(all)
	want := slices.Sorted(slices.Values(deck))
	if !slices.Equal(all, want) {
		t.Errorf("the cards are %v, want %v", all, want)
	}
	if s.DungeonSize() != len(s.Dungeon()) || len(s.Room()) > engine.RoomSize || s.Health() > engine.MaxHealth {
		t.Errorf("dungeon %d, room %d, health %d", s.DungeonSize(), len(s.Room()), s.Health())
	}
	if (s.Health() <= 0) != (s.Status() == engine.StatusLost) {
		t.Errorf("%v with health %d", s.Status(), s.Health())
	}
	if active := s.Status() == engine.StatusActive; active {
		if len(s.Legal(nil)) == 0 || s.ToTake() < 1 || s.RoomNumber() != s.RoomsCleared()+1 {
			t.Errorf("stuck: %d cards to take, room %d, %d cleared", s.ToTake(), s.RoomNumber(), s.RoomsCleared())
		}
	}
	checkEncoding(t, s)
}

func checkEncoding(t *testing.T, s *engine.State) {
	t.Helper()
	data, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := engine.DecodeState(data)
	if err != nil || decoded != *s {
		t.Fatalf("the state does not survive its encoding: %v", err)
	}
}

// checkStep checks how a legal move may change a game.
func checkStep(t *testing.T, before *engine.State, m engine.Move, after *engine.State) {
	t.Helper()
	room := before.Room()
	at := slices.Index(room, m.Card)
	left := slices.Clone(room)
	if at >= 0 {
		left = slices.Delete(left, at, at+1)
	}
	switch {
	case m.Kind == engine.MoveAvoid:
		// The avoided cards lie at the end of what was dealt from and what is left, in row order.
		cards := append(after.Room(), after.Dungeon()...)
		if want := append(before.Dungeon(), room...); !slices.Equal(cards, want) {
			t.Errorf("after avoiding, room and dungeon are %v, want %v", cards, want)
		}
		if after.CanAvoid() || after.RoomsCleared() != before.RoomsCleared() || after.Health() != before.Health() {
			t.Error("avoiding changed more than the room")
		}
	case after.RoomsCleared() > before.RoomsCleared() && after.Status() == engine.StatusActive:
		cards := append(after.Room(), after.Dungeon()...)
		if want := slices.Concat(left, before.Dungeon()); !slices.Equal(cards, want) {
			t.Errorf("after the room, room and dungeon are %v, want %v", cards, want)
		}
		if full := len(after.Room()) == engine.RoomSize; after.CanAvoid() != full {
			t.Errorf("the new room can be avoided: %v", after.CanAvoid())
		}
	default:
		if !slices.Equal(after.Room(), left) || !slices.Equal(after.Dungeon(), before.Dungeon()) || after.CanAvoid() {
			t.Errorf("after %v the room is %v, want %v", m, after.Room(), left)
		}
	}
	if after.Moves() != before.Moves()+1 {
		t.Errorf("%d moves after %d", after.Moves(), before.Moves())
	}
}

// checkDecideAgreesWithLegal tries every kind of move on every card, those that do not exist included.
func checkDecideAgreesWithLegal(t *testing.T, s *engine.State, legal []engine.Move) {
	t.Helper()
	before := *s
	var buffer [8]engine.Fact
	accepted := 0
	for kind := range engine.MoveKind(8) {
		for card := range engine.Card(48) {
			m := engine.Move{Kind: kind, Card: card}
			facts, err := s.Decide(m, buffer[:0])
			if err == nil {
				accepted++
			}
			if (err == nil) != slices.Contains(legal, m) || (err == nil) != (len(facts) > 0) {
				t.Errorf("%v: error %v, %d facts, legal %v", m, err, len(facts), legal)
			}
			if _, previewErr := s.Preview(m); (previewErr == nil) != (err == nil) {
				t.Errorf("%v: error %v, but the preview's is %v", m, err, previewErr)
			}
			var illegal *engine.IllegalMoveError
			if err != nil && !errors.As(err, &illegal) && !errors.Is(err, engine.ErrGameOver) {
				t.Errorf("%v: error %v", m, err)
			}
		}
	}
	if accepted != len(legal) {
		t.Errorf("%d moves are accepted, %d are legal", accepted, len(legal))
	}
	if *s != before {
		t.Error("deciding changed the state")
	}
}

func TestCopiesAreIndependent(t *testing.T) {
	s := openGame(t, preset(t, "classic"), engine.Seed{3})
	kept := s
	before, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	playRandomly(t, newGame(t, preset(t, "classic"), engine.Seed{3}), rand.New(rand.NewPCG(1, 1)))
	s = play(t, s, "AVOID")
	s.Room()[0], s.Dungeon()[0] = 1, 1 // what accessors return is the caller's
	after, err := kept.MarshalBinary()
	if err != nil || !slices.Equal(before, after) || kept == s {
		t.Error("playing on changed a copy")
	}
}

// Nothing on the way of a move allocates.
func TestNoAllocations(t *testing.T) {
	s := openGame(t, preset(t, "classic"), engine.Seed{3})
	var moves [16]engine.Move
	var facts [8]engine.Fact
	if n := testing.AllocsPerRun(100, func() {
		for _, m := range s.Legal(moves[:0]) {
			happened, err := s.Decide(m, facts[:0])
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.EvolveAll(happened); err != nil {
				t.Fatal(err)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
