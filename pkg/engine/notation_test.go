package engine_test

import (
	"errors"
	"testing"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
)

func TestCards(t *testing.T) {
	deck := preset(t, "classic").Deck()
	if len(deck) != 44 {
		t.Fatalf("%d cards, want 44", len(deck))
	}
	values, counts := map[engine.Role]int{}, map[engine.Role]int{}
	for i, c := range deck {
		if i > 0 && c <= deck[i-1] {
			t.Errorf("%v is not after %v", c, deck[i-1])
		}
		if parsed, err := engine.ParseCard(c.String()); err != nil || parsed != c {
			t.Errorf("%v parses to %v, %v", c, parsed, err)
		}
		role := preset(t, "classic").Role(c)
		values[role] += c.Value()
		counts[role]++
	}
	for role, want := range map[engine.Role][2]int{
		engine.RoleMonster: {26, 208}, engine.RoleWeapon: {9, 54}, engine.RolePotion: {9, 54},
	} {
		if got := [2]int{counts[role], values[role]}; got != want {
			t.Errorf("%v: count and value %v, want %v", role, got, want)
		}
	}
	if deck[0].String() != "2C" || deck[12].String() != "AC" || deck[26].String() != "2D" || deck[43].String() != "10H" {
		t.Errorf("the unshuffled deck is %v", deck)
	}
}

func TestNotACard(t *testing.T) {
	for c := range 256 {
		card := engine.Card(c)
		if in := preset(t, "classic").Role(card) != 0; in != (c >= 1 && c <= 44) || in && card.Value() == 0 {
			t.Errorf("Card(%d): in the deck %v, value %d", c, in, card.Value())
		}
		_ = card.String()
	}
}

func TestNotationErrors(t *testing.T) {
	var notation *engine.NotationError
	for _, text := range []string{"", " ", "1C", "11C", "1D", "AX", "2c", "2C ", " 2C", "C2", "2", "C", "10", "JR", "2C\x00", "２C"} {
		if c, err := engine.ParseCard(text); !errors.As(err, &notation) || c != engine.NoCard {
			t.Errorf("card %q parses to %v, error %v", text, c, err)
		}
	}
	for _, text := range []string{
		"", " ", "AVOID ", "AVOID 2C", " AVOID", "avoid", "EQUIP", "EQUIP ", "EQUIP  5D", "EQUIP 5D ", "EQUIP 5d",
		"EQUIP\t5D", "FIGHT 2C", "2C", "NONE", "MoveKind(0)",
	} {
		if m, err := engine.ParseMove(text); !errors.As(err, &notation) || m != (engine.Move{}) {
			t.Errorf("move %q parses to %v, error %v", text, m, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"AVOID", "EQUIP 5D", "DRINK 10H", "FIGHT_BARE_HANDED QS", "FIGHT_WITH_WEAPON 2C", "10H", "x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := engine.ParseCard(text); err == nil && c.String() != text {
			t.Errorf("card %q is written %q", text, c)
		}
		if m, err := engine.ParseMove(text); err == nil && m.String() != text {
			t.Errorf("move %q is written %q", text, m)
		}
		if r, err := engine.ParseRulesetID(text); err == nil && r.ID() != text {
			t.Errorf("ruleset %q has the id %q", text, r.ID())
		}
	})
}
