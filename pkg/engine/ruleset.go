package engine

import (
	"fmt"
	"strconv"
	"strings"
)

// The constants of play that no ruleset changes.
const (
	// MaxHealth is the health that nothing raises further.
	MaxHealth = 20
	// RoomSize is the number of cards of a full room.
	RoomSize = 4
	// MaxDepth is the greatest depth of a ruleset.
	MaxDepth = 9

	takesPerFullRoom = 3 // a full room is faced when so many of its cards are taken
)

// Ruleset is what a game is played by. It is a value: equal rulesets are the same rules. The zero
// Ruleset is not valid, so that a forgotten choice is an error and not a silent default.
type Ruleset struct {
	WeaponWear WeaponWear
	Ending     Ending
	WinBonus   WinBonus
	LossScore  LossScore
	Depth      uint8 // 0 to MaxDepth; a game starts with MaxHealth - 2*Depth health
	Variants   VariantSet
	// CompanionHealth is what the fighter of VariantHomeRules starts with, 0 to MaxHealth: with 0 any damage
	// kills him. It is 0 without that variant.
	CompanionHealth uint8
}

// RulesetError reports what keeps a ruleset, or a text that should name one, from being valid.
type RulesetError struct {
	Field   string // the option's name as in the specification ("weapon_wear", "depth"), or "id"
	Value   string // the offending value as text
	Problem string // what is wrong with it, to be read after the field and the value
}

// Error names the field, the value and the problem.
func (e *RulesetError) Error() string {
	return fmt.Sprintf("ruleset: %s %.64q %s", e.Field, e.Value, e.Problem)
}

// Validate returns nil if games can be played by r, otherwise a [*RulesetError] naming the first
// field at fault.
func (r Ruleset) Validate() error {
	for _, f := range [...]struct {
		option *Option
		value  uint8
	}{
		{&weaponWear, uint8(r.WeaponWear)},
		{&ending, uint8(r.Ending)},
		{&winBonus, uint8(r.WinBonus)},
		{&lossScore, uint8(r.LossScore)},
	} {
		if f.value == 0 || int(f.value) > len(f.option.Values) {
			return &RulesetError{Field: f.option.Name, Value: strconv.Itoa(int(f.value)), Problem: "is not one of the option's values"}
		}
	}
	if r.Depth > MaxDepth {
		return &RulesetError{Field: "depth", Value: strconv.Itoa(int(r.Depth)), Problem: "is not between 0 and " + strconv.Itoa(MaxDepth)}
	}
	if err := r.Variants.validate(); err != nil {
		return err
	}
	if r.CompanionHealth > 0 && !r.Variants.Has(VariantHomeRules) {
		return &RulesetError{Field: "companion_health", Value: strconv.Itoa(int(r.CompanionHealth)), Problem: "needs the variant home_rules"}
	}
	if r.CompanionHealth > MaxHealth {
		return &RulesetError{Field: "companion_health", Value: strconv.Itoa(int(r.CompanionHealth)), Problem: "is not between 0 and " + strconv.Itoa(MaxHealth)}
	}
	return nil
}

// Role returns what c does under r; 0 if c is not in the deck of r.
func (r Ruleset) Role(c Card) Role {
	return roles[r.Variants&AllVariants][c]
}

// Deck returns the cards that r plays with, in the order in which [Shuffle] starts.
func (r Ruleset) Deck() []Card {
	deck := make([]Card, 0, cardCount)
	for c := Card(1); c <= cardCount; c++ {
		if r.Role(c) != 0 {
			deck = append(deck, c)
		}
	}
	return deck
}

// startHealth is the health a game begins with.
func (r Ruleset) startHealth() int { return MaxHealth - 2*int(r.Depth) }

// ID returns the ruleset's canonical name: the name of the preset with the same options ("classic"),
// or else the four options' words joined by dots ("below.playall.overflow.dungeon"). Behind a "+" each
// follow the names of the variants, sorted, "companion8" where the companion's health is not 0, and
// "depth3" where the depth is not 0: "classic+blacksmiths+merchants+depth3". Valid rulesets are equal
// exactly if their ids are, and ids never change their meaning, so they can be stored and compared. The
// id of an invalid ruleset is only good for messages: [ParseRulesetID] refuses it.
func (r Ruleset) ID() string {
	parts := append([]string{r.options()}, r.Variants.Names()...)
	if r.CompanionHealth > 0 {
		parts = append(parts, idCompanion+strconv.Itoa(int(r.CompanionHealth)))
	}
	if r.Depth > 0 {
		parts = append(parts, idDepth+strconv.Itoa(int(r.Depth)))
	}
	return strings.Join(parts, "+")
}

// The words before the numbers of an id.
const (
	idCompanion = "companion"
	idDepth     = "depth"
)

// options is the first part of an id.
func (r Ruleset) options() string {
	for _, p := range presets {
		if p.Rules == (Ruleset{WeaponWear: r.WeaponWear, Ending: r.Ending, WinBonus: r.WinBonus, LossScore: r.LossScore}) {
			return p.Name
		}
	}
	return weaponWear.value(uint8(r.WeaponWear)).Word + "." + ending.value(uint8(r.Ending)).Word + "." +
		winBonus.value(uint8(r.WinBonus)).Word + "." + lossScore.value(uint8(r.LossScore)).Word
}

// ParseRulesetID returns the ruleset that has the id. It accepts only the spelling that [Ruleset.ID]
// writes, so that a ruleset has one id; the error is a [*RulesetError].
func ParseRulesetID(id string) (Ruleset, error) {
	parts := strings.Split(id, "+")
	r, err := parseOptions(parts[0])
	if err != nil {
		return Ruleset{}, err
	}
	for _, part := range parts[1:] {
		if digits, ok := strings.CutPrefix(part, idDepth); ok {
			r.Depth, err = parseNumber(idDepth, digits)
		} else if digits, ok := strings.CutPrefix(part, idCompanion); ok {
			r.CompanionHealth, err = parseNumber("companion_health", digits)
		} else {
			var v Variant
			v, err = ParseVariant(part)
			r.Variants |= v
		}
		if err != nil {
			return Ruleset{}, err
		}
	}
	if err := r.Validate(); err != nil {
		return Ruleset{}, err
	}
	if r.ID() != id {
		return Ruleset{}, &RulesetError{Field: "id", Value: id, Problem: "is not spelled the canonical way"}
	}
	return r, nil
}

func parseOptions(text string) (r Ruleset, err error) {
	if p, ok := PresetByName(text); ok {
		return p.Rules, nil
	}
	words := strings.Split(text, ".")
	if len(words) != 4 {
		return r, &RulesetError{Field: "id", Value: text, Problem: "names no preset and is not four words joined by dots"}
	}
	if r.WeaponWear, err = parseOption[WeaponWear](&weaponWear, words[0], optionWord); err != nil {
		return r, err
	}
	if r.Ending, err = parseOption[Ending](&ending, words[1], optionWord); err != nil {
		return r, err
	}
	if r.WinBonus, err = parseOption[WinBonus](&winBonus, words[2], optionWord); err != nil {
		return r, err
	}
	r.LossScore, err = parseOption[LossScore](&lossScore, words[3], optionWord)
	return r, err
}

func parseNumber(field, digits string) (uint8, error) {
	n, err := strconv.ParseUint(digits, 10, 8)
	if err != nil {
		return 0, &RulesetError{Field: field, Value: digits, Problem: "is not a number"}
	}
	return uint8(n), nil
}
