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
	for i := range 400 {
		choices := make([]byte, 120)
		for j := range choices {
			choices[j] = byte(random.Uint32())
		}
		seed := randomSeed(random)
		f.Add(random.Uint64(), seed[:], byte(i%20), choices)
	}
	f.Fuzz(func(t *testing.T, rules uint64, seedBytes []byte, short byte, choices []byte) {
		r := engine.RulesetOf(rules)
		var seed engine.Seed
		copy(seed[:], seedBytes)
		fresh := newGame(t, r, seed)
		deck := fresh.Dungeon()
		full := len(deck)
		if short > 0 {
			deck = deck[:len(deck)-int(short)%len(deck)]
			var err error
			if fresh, err = engine.RestoreGame(r, seed, deck, fresh.Drawn()); err != nil {
				t.Fatal(err)
			}
		}
		facts := fresh.Open(nil)
		s := fold(t, fresh, facts)
		var notation []string
		checkState(t, &s, deck)
		for s.Status() == engine.StatusActive {
			// Each card is taken once, or twice if it was put back; rooms can be avoided between; potions are
			// drunk.
			if len(notation) > 4*len(deck)+2 {
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
		if score, ok := s.Score(); !ok || score > highest || len(deck) == full && score < lowest {
			t.Errorf("score %d, %v", score, ok)
		}
	})
}

// checkState checks what holds in every state of a game on the deck.
func checkState(t *testing.T, s *engine.State, deck []engine.Card) {
	t.Helper()
	role := s.Rules().Role
	all := slices.Concat(s.Room(), s.Dungeon(), s.Discard())
	weapon := func(w engine.WeaponView) {
		all = append(append(append(all, w.Card), w.Kills...), w.Upgrades...)
		if role(w.Card) != engine.RoleWeapon || w.Power < w.Card.Value() {
			t.Errorf("the weapon is %+v", w)
		}
		for i, c := range w.Kills {
			// An ace under the weapon reaches one higher.
			if role(c) != engine.RoleMonster || i > 0 && c.Value() > w.Kills[i-1].Value()+len(w.Upgrades) {
				t.Errorf("the weapon's kills are %v", w.Kills)
			}
		}
		for _, c := range w.Upgrades {
			if role(c) != engine.RoleBlacksmith {
				t.Errorf("the weapon's upgrades are %v", w.Upgrades)
			}
		}
	}
	if w, ok := s.Weapon(); ok {
		weapon(w)
	}
	if c, ok := s.Companion(); ok {
		all = append(all, c.Card)
		if role(c.Card) != engine.RoleFighter || c.Health < 0 || c.Health > int(s.Rules().CompanionHealth) {
			t.Errorf("the companion is %+v", c)
		}
		if c.Weapon.Card != engine.NoCard {
			weapon(c.Weapon)
		}
	}
	if c, potions, ok := s.Bearer(); ok {
		all = append(append(all, c), potions...)
		for _, p := range potions {
			if role(p) != engine.RolePotion {
				t.Errorf("the bearer holds %v", potions)
			}
		}
		if role(c) != engine.RoleBearer || len(potions) > 1 && !s.Rules().Variants.Has(engine.VariantHomeRules) {
			t.Errorf("the bearer is %v and holds %v", c, potions)
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
	if after.Moves() != before.Moves()+1 {
		t.Errorf("%d moves after %d", after.Moves(), before.Moves())
	}
	// What was dealt and is left face down: going on from the room, the cards keep their order, except for
	// those that went back at random.
	room, left := before.Room(), before.Room()
	if i := slices.Index(left, m.Card); i >= 0 {
		left = slices.Delete(left, i, i+1)
	}
	var wandered []engine.Card
	want := slices.Concat(left, before.Dungeon())
	switch m.Kind {
	case engine.MoveAvoid:
		want = before.Dungeon()
		for _, c := range room {
			switch before.Rules().Role(c) {
			case engine.RoleMerchant, engine.RoleBlacksmith:
				if before.Rules().Variants.Has(engine.VariantHomeRules) {
					wandered = append(wandered, c)
					continue
				}
			}
			want = append(want, c)
		}
	case engine.MoveRecycle:
		wandered = []engine.Card{m.Card}
	}
	got := slices.DeleteFunc(slices.Concat(after.Room(), after.Dungeon()), func(c engine.Card) bool { return slices.Contains(wandered, c) })
	if !slices.Equal(got, want) {
		t.Errorf("after %v, room and dungeon are %v, want %v", m, got, want)
	}
	dealt := after.RoomsCleared() > before.RoomsCleared() && after.Status() == engine.StatusActive
	full := len(after.Room()) == engine.RoomSize
	switch {
	case m.Kind == engine.MoveAvoid:
		if after.CanAvoid() || after.RoomsCleared() != before.RoomsCleared() || after.Health() != before.Health() {
			t.Error("avoiding changed more than the room")
		}
	case m.Kind == engine.MoveDrinkStored:
		if after.CanAvoid() != before.CanAvoid() || !slices.Equal(after.Room(), room) || after.ToTake() != before.ToTake() {
			t.Error("a free action changed the room")
		}
	case dealt:
		if after.CanAvoid() != full {
			t.Errorf("the new room can be avoided: %v", after.CanAvoid())
		}
	case after.CanAvoid() || !slices.Equal(after.Room(), left):
		t.Errorf("after %v the room is %v, want %v", m, after.Room(), left)
	}
}

// checkDecideAgreesWithLegal tries every kind of move on every card, those that do not exist included.
func checkDecideAgreesWithLegal(t *testing.T, s *engine.State, legal []engine.Move) {
	t.Helper()
	before := *s
	var buffer [8]engine.Fact
	accepted := 0
	for kind := range engine.MoveKind(18) {
		for card := range engine.Card(58) {
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
	var moves [engine.MaxLegalMoves]engine.Move
	var facts [8]engine.Fact
	for _, variants := range engine.ValidVariantSets() {
		r := preset(t, "classic")
		r.Variants = variants
		random := rand.New(rand.NewPCG(1, 1))
		start := openGame(t, r, engine.Seed{3})
		if n := testing.AllocsPerRun(20, func() {
			for s := start; s.Status() == engine.StatusActive; {
				legal := s.Legal(moves[:0])
				happened, err := s.Decide(legal[random.IntN(len(legal))], facts[:0])
				if err != nil {
					t.Fatal(err)
				}
				if s, err = s.EvolveAll(happened); err != nil {
					t.Fatal(err)
				}
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", r.ID(), n)
		}
	}
}
