package engine_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
)

func TestScoreTable(t *testing.T) {
	classic, tabletop, digital := preset(t, "classic"), preset(t, "tabletop"), preset(t, "digital")
	tenHearts, _ := engine.ParseCard("10H")
	fiveDiamonds, _ := engine.ParseCard("5D")
	won := func(r engine.Ruleset, health int, card engine.Card, use engine.LastUse, before int) engine.Over {
		return engine.Over{Outcome: engine.StatusWon, Rules: r, Health: health, LastCard: card, LastUse: use, LastHealthBefore: before, DungeonMonsterValue: 9, RoomMonsterValue: 4}
	}
	lost := func(r engine.Ruleset, health, dungeon, room int) engine.Over {
		return engine.Over{Outcome: engine.StatusLost, Rules: r, Health: health, DungeonMonsterValue: dungeon, RoomMonsterValue: room}
	}
	tests := []struct {
		name string
		over engine.Over
		want int
	}{
		{"a win is the health alone", won(classic, 7, fiveDiamonds, engine.LastUseOther, 7), 7},
		{"15 + 10, full health", won(classic, 20, tenHearts, engine.LastUsePotionDrunk, 15), 30},
		{"15 + 10, overflow", won(digital, 20, tenHearts, engine.LastUsePotionDrunk, 15), 30},
		{"10 + 10, full health", won(classic, 20, tenHearts, engine.LastUsePotionDrunk, 10), 30},
		{"10 + 10, no overflow", won(digital, 20, tenHearts, engine.LastUsePotionDrunk, 10), 20},
		{"wasted at full health", won(classic, 20, tenHearts, engine.LastUsePotionWasted, 20), 30},
		{"wasted does not overflow", won(digital, 20, tenHearts, engine.LastUsePotionWasted, 20), 20},
		{"a potion below full health", won(classic, 19, tenHearts, engine.LastUsePotionDrunk, 9), 19},
		{"an equip after a potion", won(classic, 20, fiveDiamonds, engine.LastUseOther, 20), 20},
		{"dungeon only", lost(classic, -10, 22, 5), -32},
		{"dungeon and room", lost(digital, -10, 22, 5), -37},
		{"without health", lost(tabletop, -10, 22, 5), -27},
		{"a loss can score 0", lost(classic, 0, 0, 0), 0},
		{"a loss gets no bonus", engine.Over{Outcome: engine.StatusLost, Rules: classic, Health: 0, LastCard: tenHearts, LastUse: engine.LastUsePotionDrunk}, 0},
	}
	for _, test := range tests {
		if got, ok := engine.Score(test.over); !ok || got != test.want {
			t.Errorf("%s: %d, %v; want %d", test.name, got, ok, test.want)
		}
	}
	for name, over := range map[string]engine.Over{
		"zero": {}, "abandoned": {Outcome: engine.StatusAbandoned, Rules: classic, Health: 20},
		"active": {Outcome: engine.StatusActive, Rules: classic}, "no rules": {Outcome: engine.StatusWon, Health: 20},
	} {
		if got, ok := engine.Score(over); ok || got != 0 {
			t.Errorf("%s: score %d, %v; want none", name, got, ok)
		}
	}
}

// Taking the leftmost card each time takes a deck's cards exactly in its order: the carried card is
// leftmost. The best deck heals early, lets two weapons wear down evenly and keeps 10H for the end.
const (
	bestStart     = "9H 2D 3D 8H 4D 5D 7H 6D 7D 8D 10D AC KC QC JC 10C 9C 8C 7C 6C 5C 4C 3C 2C 6H 9D AS 5H KS QS 4H JS 10S 3H 9S 8S 2H 7S 6S "
	bestPlayAll   = bestStart + "5S 4S 3S 2S 10H"
	bestStopShort = bestStart + "5S 4S 10H 3S 2S"
)

// takeLeftmost takes the leftmost card until the game is over, with the weapon where that is legal.
func takeLeftmost(t *testing.T, s engine.State) engine.State {
	t.Helper()
	for s.Status() == engine.StatusActive {
		var choice engine.Move
		for _, m := range s.Legal(nil) {
			if m.Card == s.Room()[0] {
				choice = m
			}
		}
		s = play(t, s, choice.String())
	}
	return s
}

func TestScoreBoundsAreReached(t *testing.T) {
	// The cards that kill at exactly no health, for each depth.
	killers := []string{"10C 10S", "10C 8C", "10C 6C", "AC", "QC", "10C", "8C", "6C", "4C", "2C"}
	for i, r := range allRulesets() {
		sets := engine.ValidVariantSets()
		r.Variants = sets[i%len(sets)]
		for r.Depth = 0; r.Depth <= engine.MaxDepth; r.Depth++ {
			lowest, highest := r.ScoreBounds()
			if lowest != -188-2*int(r.Depth) || highest != 30 {
				t.Errorf("%s: bounds %d and %d", r.ID(), lowest, highest)
			}
			best := bestPlayAll
			if r.Ending == engine.EndingStopWhenRoomCannotFill {
				best = bestStopShort
			}
			s := takeLeftmost(t, openDeck(t, r, best))
			if score, ok := s.Score(); !ok || score != highest || s.Status() != engine.StatusWon {
				t.Errorf("%s: the best game scores %d, %v", r.ID(), score, s.Status())
			}
			wantRooms := 15
			if r.Ending == engine.EndingStopWhenRoomCannotFill {
				wantRooms = 14
			}
			if s.RoomsCleared() != wantRooms || s.RoomNumber() != wantRooms {
				t.Errorf("%s: %d rooms cleared, in room %d, want %d", r.ID(), s.RoomsCleared(), s.RoomNumber(), wantRooms)
			}

			worst := killers[r.Depth] + " 2D 3D 4D"
			s = takeLeftmost(t, openDeck(t, r, worst+" "+restOfDeck(r, worst)))
			if score, ok := s.Score(); !ok || score != lowest || s.Status() != engine.StatusLost {
				t.Errorf("%s: the worst game scores %d, %v; want %d", r.ID(), score, s.Status(), lowest)
			}
		}
	}
}

// restOfDeck returns the cards of r that are not in the text.
func restOfDeck(r engine.Ruleset, text string) string {
	var rest []string
	for _, c := range r.Deck() {
		if !strings.Contains(" "+text+" ", " "+c.String()+" ") {
			rest = append(rest, c.String())
		}
	}
	return strings.Join(rest, " ")
}

// A search that sees the whole dungeon plays for the highest and for the lowest score.
func TestScoreBoundsHoldInSearch(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	outcomes := map[engine.Status]int{}
	for i := range 200 {
		r := engine.RandomRuleset(random)
		r.Depth = []uint8{0, 4, 9}[i%3]
		lowest, highest := r.ScoreBounds()
		s := openGame(t, r, randomSeed(random))
		for _, worth := range []func(*engine.State) int{promise, misery} {
			beam(t, s, worth, func(s engine.State) {
				score, ok := s.Score()
				if !ok || score < lowest || score > highest || score == 21 {
					t.Fatalf("%s: score %d, %v; bounds %d and %d", r.ID(), score, ok, lowest, highest)
				}
				outcomes[s.Status()]++
			})
		}
	}
	if outcomes[engine.StatusWon] < 100 || outcomes[engine.StatusLost] < 100 {
		t.Errorf("the search saw only %v", outcomes)
	}
}

// promise is high for states that may be won.
func promise(s *engine.State) int {
	worth := 3 * s.Health()
	for _, c := range s.Discard() {
		if s.Rules().Role(c) == engine.RoleMonster {
			worth += c.Value()
		}
	}
	if w, ok := s.Weapon(); ok {
		worth += 2 * w.Power
		for _, c := range w.Kills {
			worth += c.Value()
		}
		if w.Limited {
			worth += w.Limit
		} else {
			worth += 15
		}
	}
	return worth
}

// misery is high for states that are nearly lost.
func misery(s *engine.State) int { return -s.Health() }

// beam plays all moves of the most worthy states at the same time and reports every finished game.
func beam(t *testing.T, s engine.State, worth func(*engine.State) int, over func(engine.State)) {
	t.Helper()
	type candidate struct {
		state engine.State
		worth int
	}
	const width = 32
	for front := []candidate{{state: s}}; len(front) > 0; {
		var next []candidate
		for _, c := range front {
			for _, m := range c.state.Legal(nil) {
				s := fold(t, c.state, decide(t, c.state, m))
				if s.Status() == engine.StatusActive {
					next = append(next, candidate{s, worth(&s)})
				} else {
					over(s)
				}
			}
		}
		slices.SortFunc(next, func(a, b candidate) int { return b.worth - a.worth })
		front = next[:min(width, len(next))]
	}
}

func decide(t testing.TB, s engine.State, m engine.Move) []engine.Fact {
	t.Helper()
	facts, err := s.Decide(m, nil)
	if err != nil {
		t.Fatalf("%v: %v", m, err)
	}
	return facts
}
