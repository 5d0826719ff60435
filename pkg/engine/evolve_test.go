package engine

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
)

// playedFacts plays games by any rulesets and calls test with a fresh state and the facts of
// a whole game.
func playedFacts(t testing.TB, test func(fresh State, facts []Fact, final State)) {
	t.Helper()
	random := rand.New(rand.NewPCG(11, 12))
	for i := range 300 {
		r := randomRuleset(random)
		fresh, err := NewGame(r, Seed{byte(i)})
		if err != nil {
			t.Fatal(err)
		}
		facts := fresh.Open(nil)
		s, err := fresh.EvolveAll(facts)
		if err != nil {
			t.Fatal(err)
		}
		for s.Status() == StatusActive {
			legal := s.Legal(nil)
			from := len(facts)
			// One game in eight is resigned rather late.
			if i%8 == 0 && s.Moves() > 8 {
				facts, err = s.Resign(facts)
			} else {
				facts, err = s.Decide(legal[random.IntN(len(legal))], facts)
			}
			if err != nil {
				t.Fatal(err)
			}
			if s, err = s.EvolveAll(facts[from:]); err != nil {
				t.Fatal(err)
			}
		}
		test(fresh, facts, s)
	}
}

// Facts carry all that options and roles decided: folding them does not look at either.
func TestEvolveIgnoresOptionsAndRoles(t *testing.T) {
	kept := roles
	defer func() { roles = kept }()
	playedFacts(t, func(fresh State, facts []Fact, final State) {
		flipped := fresh
		flipped.rules = Ruleset{
			WeaponWear: 3 - fresh.rules.WeaponWear, Ending: 3 - fresh.rules.Ending, WinBonus: 3 - fresh.rules.WinBonus,
			LossScore: 1 + fresh.rules.LossScore%3, Depth: MaxDepth - fresh.rules.Depth,
			Variants: AllVariants &^ fresh.rules.Variants, CompanionHealth: MaxHealth - fresh.rules.CompanionHealth,
		}
		clear(roles[:])
		got, err := flipped.EvolveAll(facts)
		roles = kept
		if err != nil {
			t.Fatal(err)
		}
		gotScore, gotOK := got.Score()
		if wantScore, wantOK := final.Score(); gotScore != wantScore || gotOK != wantOK {
			t.Errorf("%s: score %d, %v; want %d, %v", fresh.rules.ID(), gotScore, gotOK, wantScore, wantOK)
		}
		got.rules = final.rules
		if got != final {
			t.Errorf("%s: other options give another state", fresh.rules.ID())
		}
	})
}

// A fact that is left out, doubled or changed is found, or leads to a state that is still sound.
func TestEvolveOnDamagedFacts(t *testing.T) {
	playedFacts(t, func(fresh State, facts []Fact, final State) {
		random := rand.New(rand.NewPCG(uint64(len(facts)), uint64(final.moves)))
		for range 20 {
			at := random.IntN(len(facts))
			f := facts[at]
			switch random.IntN(10) {
			case 0:
				f.Kind = FactKind(random.IntN(len(factNames) + 2))
			case 1:
				f.Card = Card(random.IntN(256))
			case 2:
				f.Cards[random.IntN(RoomSize)] = Card(random.IntN(60))
			case 3:
				f.Damage, f.Healed = random.IntN(600)-300, random.IntN(600)-300
			case 4:
				f.ToTake, f.Health = random.IntN(10)-3, random.IntN(600)-300
			case 5:
				f.HealthBefore = random.IntN(600) - 300
			case 6:
				f.Means = Means(random.IntN(5))
			case 7:
				f.Over.Outcome, f.Over.Health = Status(random.IntN(6)), random.IntN(600)-300
			case 8:
				f.CompanionDamage, f.Count, f.Position, f.Drawn = random.IntN(40)-3, random.IntN(40)-3, random.IntN(60)-3, random.IntN(1<<17)
			case 9:
				f = facts[random.IntN(len(facts))]
			}
			s := fresh
			for i, fact := range facts {
				if i == at {
					fact = f
				}
				s = checkEvolve(t, s, fact)
			}
		}
	})
}

// checkEvolve applies f, which may be nonsense, and checks that a sound state comes out.
func checkEvolve(t *testing.T, s State, f Fact) State {
	t.Helper()
	next, err := s.Evolve(f)
	if err != nil {
		var refused *FactError
		if !errors.As(err, &refused) || refused.Fact != f || next != s {
			t.Fatalf("%+v: error %v, or the state has changed", f, err)
		}
	}
	if problem := next.problem(); problem != "" {
		t.Fatalf("after %+v: %s", f, problem)
	}
	data, err := next.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if decoded, err := DecodeState(data); err != nil || decoded != next {
		t.Fatalf("after %+v the state does not survive its encoding: %v", f, err)
	}
	exercise(t, next)
	return next
}

// exercise calls everything on a state; nothing may panic, and what decides must agree with itself.
func exercise(t *testing.T, s State) {
	t.Helper()
	s.Room()
	s.Dungeon()
	s.Discard()
	s.Weapon()
	s.Companion()
	s.Bearer()
	s.Score()
	s.RoomNumber()
	for _, m := range s.Legal(nil) {
		facts, err := s.Decide(m, nil)
		if err == nil {
			_, err = s.EvolveAll(facts)
		}
		var refused *FactError
		if err != nil && !errors.As(err, &refused) {
			t.Fatalf("%v: %v", m, err)
		}
		if _, err := s.Preview(m); err != nil && !errors.As(err, &refused) {
			t.Fatalf("%v: %v", m, err)
		}
	}
	if facts, err := s.Resign(nil); err == nil {
		if _, err := s.EvolveAll(facts); err != nil {
			t.Fatal(err)
		}
	}
}

// FuzzEvolve applies facts made of the input's bytes.
func FuzzEvolve(f *testing.F) {
	const size = 30
	random := rand.New(rand.NewPCG(13, 14))
	for range 64 {
		data := make([]byte, size*40)
		for i := range data {
			data[i] = byte(random.Uint32())
			if random.IntN(2) == 0 {
				data[i] %= 5
			}
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var rules uint64
		if len(data) > 0 {
			rules = uint64(data[0])
		}
		s, err := NewGame(rulesetOf(rules), Seed{1})
		if err != nil {
			t.Fatal(err)
		}
		for ; len(data) >= size; data = data[size:] {
			s = checkEvolve(t, s, factFrom(&s, data[:size]))
		}
	})
}

// factFrom makes a fact of bytes, half of the time one whose cards lie where it says.
func factFrom(s *State, b []byte) Fact {
	small := func(b byte) int { return int(int8(b)) }
	f := Fact{
		Kind: FactKind(int(b[0]) % (len(factNames) + 2)), Card: Card(b[1]), Cards: [RoomSize]Card{Card(b[2]), Card(b[3]), Card(b[4]), Card(b[5])},
		Means: Means(b[6]), CanAvoid: b[7]&1 != 0, ToTake: small(b[8]), Health: small(b[9]), Healed: small(b[10]),
		HealthBefore: small(b[11]), Damage: small(b[12]), CompanionDamage: small(b[24]), Count: small(b[25]), Position: small(b[26]),
		Drawn: int(binary.BigEndian.Uint16(b[27:])),
		Over: Over{
			Outcome: Status(b[13]), Rules: s.rules, Health: small(b[14]), LastCard: Card(b[15]), LastUse: LastUse(b[16]),
			LastHealthBefore: small(b[17]), DungeonMonsterValue: small(b[18]), RoomMonsterValue: small(b[19]),
			Moves: small(b[20]) << (b[21] % 32),
		},
	}
	choice := binary.BigEndian.Uint16(b[22:])
	if choice%2 == 0 {
		return f
	}
	if s.storedSize > 0 && f.Kind == FactStoredPotionDrunk {
		f.Card = s.stored[int(choice)/2%int(s.storedSize)]
	} else if s.roomSize > 0 {
		f.Card = s.room[int(choice)/2%int(s.roomSize)]
	}
	f.HealthBefore = s.Health()
	f.Over.Health, f.Over.Moves = s.Health(), s.Moves()
	switch f.Kind {
	case FactRoomAvoided:
		f.Cards = s.room
	case FactRoomDealt:
		f.Cards = [RoomSize]Card{}
		for i := range min(RoomSize-int(s.roomSize), int(s.dungeonSize), int(choice)/2%5) {
			f.Cards[i] = s.dungeon[int(s.dungeonSize)-1-i]
		}
	}
	return f
}

func TestZeroState(t *testing.T) {
	var s State
	exercise(t, s)
	if facts := s.Open(nil); len(facts) != 0 {
		t.Errorf("a game without cards opens: %v", facts)
	}
	if _, err := s.Evolve(Fact{Kind: FactGameStarted, Health: 20}); err == nil {
		t.Error("a game without cards starts")
	}
	var bad *EncodingError
	if data, err := s.AppendBinary([]byte{1}); !errors.As(err, &bad) || len(data) != 1 {
		t.Errorf("a game without cards is encoded: %v", err)
	}
}
