package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
)

// with returns the classic rules with variants.
func with(t testing.TB, variants engine.VariantSet) engine.Ruleset {
	t.Helper()
	r := preset(t, "classic")
	r.Variants = variants
	return r
}

func TestForbiddenCombinationsNameThePair(t *testing.T) {
	for set := range engine.AllVariants + 1 {
		r := with(t, set)
		var bad *engine.RulesetError
		err := r.Validate()
		if slices.Contains(engine.ValidVariantSets(), set) {
			if err != nil {
				t.Errorf("%s: %v", set, err)
			}
			continue
		}
		if !errors.As(err, &bad) || bad.Field != "variants" {
			t.Fatalf("%s: error %v", set, err)
		}
		// Either the one that lacks another, which the problem names, or two that exclude each other.
		for name := range strings.SplitSeq(bad.Value, "+") {
			if !slices.Contains(set.Names(), name) {
				t.Errorf("%s: the error is about %q", set, name)
			}
		}
		if !strings.Contains(bad.Value, "+") && !strings.Contains(bad.Problem, "needs merchants") {
			t.Errorf("%s: %v", set, err)
		}
	}
	if sets := engine.ValidVariantSets(); len(sets) != 10 {
		t.Errorf("%d combinations, want 10: %v", len(sets), sets)
	}
	var bad *engine.RulesetError
	for r, field := range map[engine.Ruleset]string{
		with(t, engine.AllVariants+1):                "variants",
		{1, 1, 1, 1, 0, engine.VariantParty, 1}:      "companion_health",
		{1, 1, 1, 1, 0, engine.VariantHomeRules, 21}: "companion_health",
	} {
		if err := r.Validate(); !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// The table names each variant once, in both directions of "not with", and has something to say.
func TestVariantsTable(t *testing.T) {
	table := engine.Variants()
	seen := engine.VariantSet(0)
	for _, v := range table {
		if parsed, err := engine.ParseVariant(v.Name); err != nil || parsed != v.Variant || v.Title == "" || v.Text == "" {
			t.Errorf("%+v: %v, %v", v, parsed, err)
		}
		if !seen.Has(v.Needs) || seen.Has(v.Variant) {
			t.Errorf("%s stands before what it needs, or twice", v.Name)
		}
		seen |= v.Variant
		for _, other := range table {
			if v.Excludes.Has(other.Variant) != other.Excludes.Has(v.Variant) {
				t.Errorf("%s and %s do not agree on each other", v.Name, other.Name)
			}
		}
	}
	if seen != engine.AllVariants {
		t.Errorf("the table holds %s", seen)
	}
	table[0].Name = "changed"
	if engine.Variants()[0].Name == "changed" {
		t.Error("a caller's change reaches the table")
	}
	var bad *engine.RulesetError
	if _, err := engine.ParseVariant("Merchants"); !errors.As(err, &bad) {
		t.Errorf("error %v", err)
	}
}

func TestDecksOfVariants(t *testing.T) {
	for set, want := range map[engine.VariantSet]string{
		0:                       "",
		engine.VariantMerchants: "MERCHANT RJ MERCHANT BJ",
		engine.VariantMerchants | engine.VariantEvilMerchant: "MERCHANT RJ THIEF BJ",
		engine.VariantBlacksmiths:                            "BLACKSMITH JD BLACKSMITH QD BLACKSMITH KD",
		engine.VariantParty:                                  "FIGHTER JD BEARER JH",
		engine.VariantHomeRules:                              "BLACKSMITH JD BLACKSMITH QD BLACKSMITH KD BLACKSMITH AD MERCHANT JH MERCHANT QH MERCHANT KH MERCHANT AH BEARER RJ FIGHTER BJ",
		engine.VariantMerchants | engine.VariantParty:        "FIGHTER JD BEARER JH MERCHANT RJ MERCHANT BJ",
	} {
		r := with(t, set)
		deck := r.Deck()
		var got []string
		for _, c := range deck[44:] {
			got = append(got, r.Role(c).String(), c.String())
		}
		if text := strings.Join(got, " "); text != want || !slices.Equal(deck[:44], preset(t, "classic").Deck()) {
			t.Errorf("%s adds %q, want %q", r.ID(), text, want)
		}
	}
}

func discards(s engine.State) string { return strings.Join(cardNames(s.Discard()), " ") }

func wantDiscard(t *testing.T, s engine.State, want string) {
	t.Helper()
	if got := discards(s); got != want {
		t.Errorf("the discard pile is %q, want %q", got, want)
	}
}

func TestMerchants(t *testing.T) {
	r := with(t, engine.VariantMerchants)
	s := openDeck(t, r, "10C 9D RJ 8C 7C BJ 2C 3C 4C")
	wantIllegal(t, s, "SELL RJ", engine.ReasonNoWeapon)
	wantIllegal(t, s, "REPAIR RJ", engine.ReasonWrongRole)
	wantIllegal(t, s, "RECYCLE RJ", engine.ReasonNotInRuleset)
	wantIllegal(t, s, "DRINK_STORED 2H", engine.ReasonNotInRuleset)
	s = play(t, s, "BARE 10C", "EQUIP 9D")
	wantHealth(t, play(t, s, "SELL RJ"), 19) // the weapon alone
	s = play(t, s, "HIT 8C", "SELL RJ")      // the lowest monster on it
	wantHealth(t, s, 18)
	wantDiscard(t, s, "10C 9D 8C RJ")
	wantDiscard(t, play(t, s, "DISMISS BJ"), "10C 9D 8C RJ BJ")
}

func TestThief(t *testing.T) {
	r := with(t, engine.VariantMerchants|engine.VariantEvilMerchant)
	s := play(t, openDeck(t, r, "9D 8C 2H 2C BJ 5D 3C 4C 6C 7C"), "EQUIP 9D", "HIT 8C", "DRINK 2H")
	for _, text := range []string{"HIT 2C"} {
		wantIllegal(t, s, text, engine.ReasonWeaponStolen)
	}
	wantIllegal(t, s, "SELL BJ", engine.ReasonWrongRole)
	p, err := s.Preview(move(t, "FIGHT_BARE_HANDED 2C"))
	if err != nil || !slices.Equal(cardNames(p.Loses), []string{"9D", "8C"}) {
		t.Errorf("the preview is %+v, %v", p, err)
	}
	equipped := play(t, s, "EQUIP 5D", "HIT 2C") // a weapon equipped after the strike is safe
	wantDiscard(t, equipped, "2H 9D 8C")
	s = play(t, s, "AVOID") // the room before was avoided: he would strike at the dealing, but is gone
	if w, ok := s.Weapon(); !ok || w.Card.String() != "9D" {
		t.Errorf("the weapon is %+v", w)
	}
	facts := decide(t, openDeck(t, r, "2C BJ 3C 4C"), move(t, "FIGHT_BARE_HANDED 2C"))
	if facts[0].Kind != engine.FactMonsterFought {
		t.Errorf("a thief without loot: %v", facts[0].Kind)
	}
}

func TestBlacksmiths(t *testing.T) {
	r := with(t, engine.VariantBlacksmiths)
	s := openDeck(t, r, "10D QC QD JD 5C KD 2H 3H")
	wantIllegal(t, s, "REPAIR QD", engine.ReasonNoWeapon)
	s = play(t, s, "EQUIP 10D")
	wantIllegal(t, s, "REPAIR QD", engine.ReasonNoMonsterOnWeapon)
	wantIllegal(t, s, "UPGRADE QD", engine.ReasonNotInRuleset)
	s = play(t, s, "HIT QC", "REPAIR QD")
	wantDiscard(t, s, "QC QD")
	if w, _ := s.Weapon(); w.Limited || len(w.Kills) != 0 {
		t.Errorf("the weapon is %+v", w)
	}
}

func TestParty(t *testing.T) {
	r := with(t, engine.VariantParty)
	s := openDeck(t, r, "10C JH 9H JD 8D 7H KC 6H 2C 3C")
	wantIllegal(t, s, "STORE 9H", engine.ReasonNoBearer)
	wantIllegal(t, s, "DRINK_STORED 9H", engine.ReasonNoBearer)
	wantIllegal(t, s, "FIGHT_WITH_COMPANION 10C", engine.ReasonNoCompanion)
	s = play(t, s, "BARE 10C", "RECRUIT JH", "STORE 9H") // 10 health
	wantIllegal(t, s, "STORE 7H", engine.ReasonBearerFull)
	wantIllegal(t, s, "DRINK_STORED 7H", engine.ReasonNotStored)
	wantIllegal(t, s, "EQUIP_COMPANION 8D", engine.ReasonNoCompanion)
	free := play(t, s, "DRINK_STORED 9H")
	wantHealth(t, free, 19)
	if !free.CanAvoid() || free.Moves() != s.Moves()+1 {
		t.Error("the room cannot be avoided after a free action")
	}
	wantIllegal(t, play(t, s, "DRINK 7H"), "DRINK_STORED 9H", engine.ReasonPotionUsed)
	s = play(t, s, "RECRUIT JD")
	wantIllegal(t, s, "FIGHT_WITH_COMPANION KC", engine.ReasonNoWeapon)
	s = play(t, s, "EQUIP_COMPANION 8D", "FIGHT_WITH_COMPANION KC")
	wantHealth(t, s, 5) // the player takes the damage
	if c, ok := s.Companion(); !ok || c.Health != 0 || c.Weapon.Limit != 13 || len(c.Weapon.Kills) != 1 {
		t.Errorf("the companion is %+v", c)
	}
}

func TestHomeRules(t *testing.T) {
	r := with(t, engine.VariantHomeRules)
	t.Run("upgrades", func(t *testing.T) {
		s := play(t, openDeck(t, r, "5D AD QD 8C 9C 2C 3C JH"), "EQUIP 5D", "UPGRADE AD", "UPGRADE QD")
		if w, _ := s.Weapon(); w.Power != 11 || !slices.Equal(cardNames(w.Upgrades), []string{"AD", "QD"}) {
			t.Errorf("the weapon is %+v", w)
		}
		s = play(t, s, "HIT 8C")
		if w, _ := s.Weapon(); w.Limit != 9 { // the ace reaches one higher
			t.Errorf("the weapon is %+v", w)
		}
		s = play(t, s, "HIT 9C")
		wantHealth(t, s, 20)
	})
	t.Run("a merchant's price", func(t *testing.T) {
		s := play(t, openDeck(t, r, "QC 5D KH 8C 2C 3C 4C 2S"), "BARE QC", "EQUIP 5D", "HIT 8C") // 8, then 5
		wantHealth(t, play(t, s, "SELL KH"), 12)                                                 // 5 - 1 + 3
	})
	t.Run("the companion takes the damage and dies", func(t *testing.T) {
		s := play(t, openDeck(t, r, "BJ 5D 6C 3C 2C 4C 2S"), "RECRUIT BJ", "EQUIP_COMPANION 5D")
		p, err := s.Preview(move(t, "FIGHT_WITH_COMPANION 6C"))
		if err != nil || !p.CompanionDies || p.HealthAfter != 20 || !slices.Equal(cardNames(p.Loses), []string{"BJ", "5D"}) {
			t.Errorf("the preview is %+v, %v", p, err)
		}
		s = play(t, s, "FIGHT_WITH_COMPANION 6C")
		wantDiscard(t, s, "BJ 5D 6C")
		r.CompanionHealth = 8
		s = play(t, openDeck(t, r, "BJ 5D 6C 3C 2C 4C 2S"), "RECRUIT BJ", "EQUIP_COMPANION 5D", "FIGHT_WITH_COMPANION 6C")
		if c, ok := s.Companion(); !ok || c.Health != 7 {
			t.Errorf("the companion is %+v", c)
		}
		r.CompanionHealth = 0
	})
	t.Run("cards that come back", func(t *testing.T) {
		s := openDeck(t, r, "JD 2C 2S 3C 2D 3D 4D 5D 6D 7D 2H 3H 4H 5H 8D 9D")
		facts := decide(t, s, move(t, "RECYCLE JD"))
		if f := facts[0]; f.Kind != engine.FactCardRecycled || !f.Secret() || f.Drawn <= 0 {
			t.Errorf("the fact is %+v", f)
		}
		s = play(t, s, "RECYCLE JD", "BARE 2C", "BARE 2S")
		for !slices.Contains(cardNames(s.Room()), "JD") {
			s = play(t, s, s.Legal(nil)[len(s.Legal(nil))-1].String())
		}
		if legal := s.Legal(nil); slices.Contains(legal, move(t, "RECYCLE JD")) {
			t.Error("a card is put back twice")
		}
		wantIllegal(t, openDeck(t, r, "JD 2C 3C"), "RECYCLE JD", engine.ReasonLastRoom)
		s = openDeck(t, r, "JD 2C JH 4C 5C 6C 7C 8C")
		facts = decide(t, s, move(t, "AVOID"))
		var kinds []engine.FactKind
		for _, f := range facts {
			kinds = append(kinds, f.Kind)
		}
		want := []engine.FactKind{engine.FactRoomAvoided, engine.FactCardReturned, engine.FactCardReturned, engine.FactRoomDealt}
		if !slices.Equal(kinds, want) || !slices.Equal(cardNames(facts[0].CardList()), []string{"2C", "4C"}) {
			t.Errorf("the facts are %v, %v", kinds, facts[0].CardList())
		}
	})
}
