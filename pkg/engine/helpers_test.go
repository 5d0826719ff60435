package engine_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
)

func preset(t testing.TB, name string) engine.Ruleset {
	t.Helper()
	p, ok := engine.PresetByName(name)
	if !ok {
		t.Fatalf("no preset %q", name)
	}
	return p.Rules
}

// allRulesets returns every combination of options at depth 0.
func allRulesets() []engine.Ruleset {
	var all []engine.Ruleset
	for wear := engine.WearAtMostLastKill; wear <= engine.WearBelowLastKill; wear++ {
		for ending := engine.EndingPlayAllCards; ending <= engine.EndingStopWhenRoomCannotFill; ending++ {
			for bonus := engine.BonusLastPotionAtFullHealth; bonus <= engine.BonusLastPotionOverflow; bonus++ {
				for loss := engine.LossHealthMinusDungeon; loss <= engine.LossDungeonAndRoomOnly; loss++ {
					all = append(all, engine.Ruleset{WeaponWear: wear, Ending: ending, WinBonus: bonus, LossScore: loss})
				}
			}
		}
	}
	return all
}

func randomSeed(random *rand.Rand) (seed engine.Seed) {
	for i := range seed {
		seed[i] = byte(random.Uint32())
	}
	return seed
}

func newGame(t testing.TB, r engine.Ruleset, seed engine.Seed) engine.State {
	t.Helper()
	s, err := engine.NewGame(r, seed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func open(t testing.TB, s engine.State) engine.State {
	t.Helper()
	return fold(t, s, s.Open(nil))
}

func openGame(t testing.TB, r engine.Ruleset, seed engine.Seed) engine.State {
	t.Helper()
	return open(t, newGame(t, r, seed))
}

// cards parses cards separated by spaces.
func cards(t testing.TB, text string) []engine.Card {
	t.Helper()
	var list []engine.Card
	for word := range strings.FieldsSeq(text) {
		c, err := engine.ParseCard(word)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

// openDeck opens a game on a dungeon laid by hand, the top first.
func openDeck(t testing.TB, r engine.Ruleset, deck string) engine.State {
	t.Helper()
	s, err := engine.NewGameWithDeck(r, cards(t, deck))
	if err != nil {
		t.Fatal(err)
	}
	return open(t, s)
}

func fold(t testing.TB, s engine.State, facts []engine.Fact) engine.State {
	t.Helper()
	next, err := s.EvolveAll(facts)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func move(t testing.TB, text string) engine.Move {
	t.Helper()
	m, err := engine.ParseMove(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// play makes the moves, which must all be legal. Fights are written as in the notation or short:
// "BARE QS", "HIT QS".
func play(t testing.TB, s engine.State, moves ...string) engine.State {
	t.Helper()
	for _, text := range moves {
		facts, err := s.Decide(shortMove(t, text), nil)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		s = fold(t, s, facts)
	}
	return s
}

func shortMove(t testing.TB, text string) engine.Move {
	t.Helper()
	text = strings.Replace(text, "BARE ", "FIGHT_BARE_HANDED ", 1)
	text = strings.Replace(text, "HIT ", "FIGHT_WITH_WEAPON ", 1)
	return move(t, text)
}

// playRandomly plays a fresh game to its end and returns all its facts.
func playRandomly(t testing.TB, s engine.State, random *rand.Rand) []engine.Fact {
	t.Helper()
	facts := s.Open(nil)
	s = fold(t, s, facts)
	for s.Status() == engine.StatusActive {
		legal := s.Legal(nil)
		next, err := s.Decide(legal[random.IntN(len(legal))], nil)
		if err != nil {
			t.Fatal(err)
		}
		facts = append(facts, next...)
		s = fold(t, s, next)
	}
	return facts
}
