package engine_test

import (
	"errors"
	"fmt"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
)

// A game from the shuffle to its score, always taking the last of the legal moves.
func Example() {
	classic, _ := engine.PresetByName("classic")
	seed := engine.Seed{'a', 'n', ' ', 'e', 'x', 'a', 'm', 'p', 'l', 'e'} // a real one is random and secret
	s, err := engine.NewGame(classic.Rules, seed)
	if err != nil {
		fmt.Println(err)
		return
	}
	facts := s.Open(nil)
	for {
		if s, err = s.EvolveAll(facts); err != nil {
			fmt.Println(err)
			return
		}
		legal := s.Legal(nil)
		if len(legal) == 0 {
			break
		}
		if facts, err = s.Decide(legal[len(legal)-1], nil); err != nil {
			fmt.Println(err)
			return
		}
	}
	score, _ := s.Score()
	fmt.Println(s.Status(), "in room", s.RoomNumber(), "with score", score)
	// Output: LOST in room 3 with score -159
}

func ExampleNewGameWithDeck() {
	var deck []engine.Card
	for _, name := range []string{"5D", "JC", "2C", "10H", "6C"} {
		c, err := engine.ParseCard(name)
		if err != nil {
			fmt.Println(err)
			return
		}
		deck = append(deck, c)
	}
	classic, _ := engine.PresetByName("classic")
	s, err := engine.NewGameWithDeck(classic.Rules, deck)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err = s.EvolveAll(s.Open(nil))
	fmt.Println(s.Room(), s.DungeonSize(), err)
	// Output: [5D JC 2C 10H] 1 <nil>
}

// The facts of a move say all that it did, so that they can be stored and told.
func ExampleState_Decide() {
	s := exampleGame("5D", "JC", "2C", "10H", "6C")
	for _, text := range []string{"EQUIP 5D", "FIGHT_WITH_WEAPON JC", "FIGHT_WITH_WEAPON 2C"} {
		m, err := engine.ParseMove(text)
		if err != nil {
			fmt.Println(err)
			return
		}
		facts, err := s.Decide(m, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, f := range facts {
			fmt.Println(f.Kind, f.Card, f.Damage, f.CardList())
		}
		s, _ = s.EvolveAll(facts)
	}
	// Output:
	// WEAPON_EQUIPPED 5D 0 []
	// MONSTER_FOUGHT JC 6 []
	// MONSTER_FOUGHT 2C 0 []
	// ROOM_CLEARED  0 []
	// ROOM_DEALT  0 [6C]
}

func ExampleIllegalMoveError() {
	s := exampleGame("5D", "6C", "QS", "10H", "6S")
	for _, text := range []string{"EQUIP 5D", "FIGHT_WITH_WEAPON 6C", "FIGHT_WITH_WEAPON QS"} {
		m, _ := engine.ParseMove(text)
		facts, err := s.Decide(m, nil)
		if illegal, ok := errors.AsType[*engine.IllegalMoveError](err); ok {
			fmt.Println(illegal.Reason, illegal.Limit)
			fmt.Println(err)
		}
		s, _ = s.EvolveAll(facts)
	}
	// Output:
	// WEAPON_WORN 6
	// illegal move FIGHT_WITH_WEAPON QS: after its last kill the weapon hits only weaker monsters, of value 6 or less
}

// A client can show what each move leads to before the player chooses.
func ExampleState_Preview() {
	s := exampleGame("5D", "KC", "8S", "10H", "6C")
	for _, m := range s.Legal(nil) {
		p, err := s.Preview(m)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(m, "leads to", p.HealthAfter)
	}
	// Output:
	// AVOID leads to 20
	// EQUIP 5D leads to 20
	// FIGHT_BARE_HANDED KC leads to 7
	// FIGHT_BARE_HANDED 8S leads to 12
	// DRINK 10H leads to 20
}

func ExampleRuleset_ID() {
	r := engine.Ruleset{
		WeaponWear: engine.WearBelowLastKill, Ending: engine.EndingPlayAllCards,
		WinBonus: engine.BonusLastPotionAtFullHealth, LossScore: engine.LossHealthMinusDungeon,
	}
	fmt.Println(r.ID())
	r.WinBonus, r.Depth = engine.BonusLastPotionOverflow, 3
	fmt.Println(r.ID())
	// Output:
	// strict
	// below.playall.overflow.dungeon+depth3
}

// exampleGame is an opened classic game on the given dungeon.
func exampleGame(names ...string) engine.State {
	deck := make([]engine.Card, len(names))
	for i, name := range names {
		deck[i], _ = engine.ParseCard(name)
	}
	classic, _ := engine.PresetByName("classic")
	s, _ := engine.NewGameWithDeck(classic.Rules, deck)
	s, _ = s.EvolveAll(s.Open(nil))
	return s
}
