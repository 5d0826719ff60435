package engine_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
)

// The ids are stored with games and boards for good: this list only grows.
func TestRulesetIDsAreStable(t *testing.T) {
	for id, want := range map[string]engine.Ruleset{
		"classic":        {engine.WearAtMostLastKill, engine.EndingPlayAllCards, engine.BonusLastPotionAtFullHealth, engine.LossHealthMinusDungeon, 0, 0, 0},
		"strict":         {engine.WearBelowLastKill, engine.EndingPlayAllCards, engine.BonusLastPotionAtFullHealth, engine.LossHealthMinusDungeon, 0, 0, 0},
		"tabletop":       {engine.WearBelowLastKill, engine.EndingStopWhenRoomCannotFill, engine.BonusLastPotionAtFullHealth, engine.LossDungeonAndRoomOnly, 0, 0, 0},
		"digital":        {engine.WearAtMostLastKill, engine.EndingPlayAllCards, engine.BonusLastPotionOverflow, engine.LossHealthMinusDungeonAndRoom, 0, 0, 0},
		"classic+depth3": {engine.WearAtMostLastKill, engine.EndingPlayAllCards, engine.BonusLastPotionAtFullHealth, engine.LossHealthMinusDungeon, 3, 0, 0},
		"below.stopshort.overflow.dungeonroom+depth9": {engine.WearBelowLastKill, engine.EndingStopWhenRoomCannotFill, engine.BonusLastPotionOverflow, engine.LossHealthMinusDungeonAndRoom, 9, 0, 0},
		"atmost.playall.fullhealth.leftonly":          {engine.WearAtMostLastKill, engine.EndingPlayAllCards, engine.BonusLastPotionAtFullHealth, engine.LossDungeonAndRoomOnly, 0, 0, 0},
		"classic+blacksmiths+evil_merchant+merchants": {
			engine.WearAtMostLastKill, engine.EndingPlayAllCards, engine.BonusLastPotionAtFullHealth, engine.LossHealthMinusDungeon, 0,
			engine.VariantMerchants | engine.VariantEvilMerchant | engine.VariantBlacksmiths, 0,
		},
		"strict+merchants+party": {
			engine.WearBelowLastKill, engine.EndingPlayAllCards, engine.BonusLastPotionAtFullHealth, engine.LossHealthMinusDungeon, 0,
			engine.VariantMerchants | engine.VariantParty, 0,
		},
		"tabletop+home_rules+companion8+depth2": {
			engine.WearBelowLastKill, engine.EndingStopWhenRoomCannotFill, engine.BonusLastPotionAtFullHealth, engine.LossDungeonAndRoomOnly, 2,
			engine.VariantHomeRules, 8,
		},
	} {
		if got := want.ID(); got != id {
			t.Errorf("id %q, want %q", got, id)
		}
	}
}

func TestRulesetIDsAreUnique(t *testing.T) {
	seen := map[string]bool{}
	var all []engine.Ruleset
	for _, r := range allRulesets() {
		for r.Depth = range uint8(engine.MaxDepth + 1) {
			for _, r.Variants = range engine.ValidVariantSets() {
				all = append(all, r)
				if r.Variants == engine.VariantHomeRules {
					for r.CompanionHealth = 1; r.CompanionHealth <= engine.MaxHealth; r.CompanionHealth++ {
						all = append(all, r)
					}
					r.CompanionHealth = 0
				}
			}
		}
	}
	for _, r := range all {
		id := r.ID()
		if seen[id] {
			t.Errorf("two rulesets have the id %q", id)
		}
		seen[id] = true
		if parsed, err := engine.ParseRulesetID(id); err != nil || parsed != r || len(id) > 128 {
			t.Errorf("%q parses to %+v, %v", id, parsed, err)
		}
	}
	if want := 240 * (10 + engine.MaxHealth); len(seen) != want {
		t.Errorf("%d rulesets, want %d", len(seen), want)
	}
}

func TestParseRulesetIDRefuses(t *testing.T) {
	for _, id := range []string{
		"", "+", "Classic", "classic ", "classic+", "classic+depth", "classic+depth0", "classic+depth10", "classic+depth03",
		"classic+depth-1", "classic+depth3+depth4", "classic+merchants+blacksmiths", "classic+party+blacksmiths", "classic+home_rules+party",
		"classic+merchants+merchants", "classic+evil_merchant", "classic+companion8", "classic+home_rules+companion0",
		"classic+home_rules+companion21", "classic+depth3+merchants", "classic+merchant", "classic+home_rules+depth1+companion8", "classic+unknown", "classic+depth300", "+depth3",
		"atmost.playall.fullhealth.dungeon", // has a name: classic
		"atmost.playall.fullhealth", "atmost.playall.fullhealth.dungeon.more", "a.b.c.d",
		"atmost.x.fullhealth.dungeon", "atmost.playall.x.dungeon", "atmost.playall.fullhealth.x", "unset.unset.unset.unset",
		(engine.Ruleset{}).ID(), strings.Repeat("classic", 1000),
	} {
		var want *engine.RulesetError
		if r, err := engine.ParseRulesetID(id); !errors.As(err, &want) || r != (engine.Ruleset{}) {
			t.Errorf("%.40q parses to %+v, error %v", id, r, err)
		}
	}
}

func TestValidateNamesTheField(t *testing.T) {
	for field, spoil := range map[string]func(*engine.Ruleset, uint8){
		"weapon_wear": func(r *engine.Ruleset, v uint8) { r.WeaponWear = engine.WeaponWear(v) },
		"ending":      func(r *engine.Ruleset, v uint8) { r.Ending = engine.Ending(v) },
		"win_bonus":   func(r *engine.Ruleset, v uint8) { r.WinBonus = engine.WinBonus(v) },
		"loss_score":  func(r *engine.Ruleset, v uint8) { r.LossScore = engine.LossScore(v) },
		"depth":       func(r *engine.Ruleset, v uint8) { r.Depth = v + 10 },
	} {
		for _, v := range []uint8{0, 4, 245} {
			r := preset(t, "classic")
			spoil(&r, v)
			var bad *engine.RulesetError
			if err := r.Validate(); !errors.As(err, &bad) || bad.Field != field {
				t.Errorf("%s spoiled with %d: error %v", field, v, err)
			}
			if _, err := engine.NewGame(r, engine.Seed{}); !errors.As(err, &bad) {
				t.Errorf("%s spoiled with %d: NewGame gives %v", field, v, err)
			}
			if _, err := engine.NewGameWithDeck(r, r.Deck()); !errors.As(err, &bad) {
				t.Errorf("%s spoiled with %d: NewGameWithDeck gives %v", field, v, err)
			}
		}
	}
}

// The tables of texts agree with the constants and have something to say everywhere.
func TestOptionsAndPresets(t *testing.T) {
	options := engine.Options()
	for i, parse := range []func(string) (uint8, string, string){
		func(s string) (uint8, string, string) {
			v, _ := engine.ParseWeaponWear(s)
			return uint8(v), v.String(), v.Text()
		},
		func(s string) (uint8, string, string) {
			v, _ := engine.ParseEnding(s)
			return uint8(v), v.String(), v.Text()
		},
		func(s string) (uint8, string, string) {
			v, _ := engine.ParseWinBonus(s)
			return uint8(v), v.String(), v.Text()
		},
		func(s string) (uint8, string, string) {
			v, _ := engine.ParseLossScore(s)
			return uint8(v), v.String(), v.Text()
		},
	} {
		for j, value := range options[i].Values {
			number, name, text := parse(value.Name)
			if int(number) != j+1 || name != value.Name || text != value.Text || text == "" || value.Word == "" {
				t.Errorf("%s: row %d is %+v, but the constant is %d, %q, %q", options[i].Name, j, value, number, name, text)
			}
		}
		if number, name, _ := parse("NONSENSE"); number != 0 || name != "UNSET" {
			t.Errorf("%s: nonsense parses to %d, %q", options[i].Name, number, name)
		}
	}
	options[0].Values[0].Name = "changed"
	if engine.Options()[0].Values[0].Name == "changed" {
		t.Error("a caller's change reaches the table")
	}

	var names []string
	for _, p := range engine.Presets() {
		names = append(names, p.Name)
		if err := p.Rules.Validate(); err != nil || p.Rules.ID() != p.Name || p.Title == "" || p.Text == "" {
			t.Errorf("preset %+v: %v", p, err)
		}
	}
	if want := []string{"classic", "strict", "tabletop", "digital"}; !slices.Equal(names, want) {
		t.Errorf("presets %v, want %v", names, want)
	}
}

// plainShuffle is the specification's shuffle once more, written as simply as possible.
func plainShuffle(deck []string, seed []byte) []string {
	var stream []byte
	for counter := range byte(20) {
		block := sha256.Sum256(append(slices.Clone(seed), 0, 0, 0, 0, 0, 0, 0, counter))
		stream = append(stream, block[:]...)
	}
	for i := len(deck) - 1; i >= 1; i-- {
		n := i + 1
		for int(stream[0]) >= 256-256%n {
			stream = stream[1:]
		}
		j := int(stream[0]) % n
		stream = stream[1:]
		deck[i], deck[j] = deck[j], deck[i]
	}
	return deck
}

func TestShuffle(t *testing.T) {
	rules := preset(t, "classic")
	seen := map[string]bool{}
	for i := range 200 {
		seed := engine.Seed(sha256.Sum256([]byte{byte(i)}))
		want := plainShuffle(cardNames(rules.Deck()), seed[:])
		got := cardNames(engine.Shuffle(rules, seed))
		if !slices.Equal(got, want) {
			t.Fatalf("seed %x: %v, want %v", seed, got, want)
		}
		s := newGame(t, rules, seed)
		if !slices.Equal(cardNames(s.Dungeon()), want) || s.Seed() != seed {
			t.Fatalf("seed %x: the game's dungeon is %v", seed, s.Dungeon())
		}
		seen[strings.Join(got, " ")] = true
		sum := sha256.Sum256(append([]byte("scoundrel/v1"), seed[:]...))
		if want := hex.EncodeToString(sum[:]); seed.Commitment() != want {
			t.Errorf("commitment %s, want %s", seed.Commitment(), want)
		}
	}
	if len(seen) != 200 {
		t.Errorf("200 seeds give %d decks", len(seen))
	}
}

// Each bit of the seed matters: no decks repeat among the seeds that differ from one in one bit.
func TestShuffleUsesTheWholeSeed(t *testing.T) {
	seen := map[string]bool{}
	for bit := range 256 {
		var seed engine.Seed
		seed[bit/8] = 1 << (bit % 8)
		seen[strings.Join(cardNames(engine.Shuffle(preset(t, "classic"), seed)), " ")] = true
	}
	if len(seen) != 256 {
		t.Errorf("256 seeds give %d decks", len(seen))
	}
}

func cardNames(cards []engine.Card) []string {
	names := make([]string, len(cards))
	for i, c := range cards {
		names[i] = c.String()
	}
	return names
}

func TestBadDecks(t *testing.T) {
	rules := preset(t, "classic")
	for name, deck := range map[string][]engine.Card{
		"empty": nil, "twice": cards(t, "2C 3C 2C"), "no card": {engine.NoCard}, "not a card": {45}, "far": {255},
		"too long": append(rules.Deck(), rules.Deck()...),
	} {
		if s, err := engine.NewGameWithDeck(rules, deck); !errors.Is(err, engine.ErrBadDeck) || s != (engine.State{}) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
