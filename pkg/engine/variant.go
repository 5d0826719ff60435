package engine

import (
	"fmt"
	"slices"
	"strings"
)

// Variant is an addition to the base game, as a set of one. Variants combine to a [VariantSet].
type Variant = VariantSet

// VariantSet is a set of variants; the zero value is the base game.
type VariantSet uint8

// The variants.
const (
	// VariantMerchants adds jokers who buy the weapon.
	VariantMerchants Variant = 1 << iota
	// VariantEvilMerchant makes the black joker a thief. It needs VariantMerchants.
	VariantEvilMerchant
	// VariantBlacksmiths adds red faces who repair the weapon.
	VariantBlacksmiths
	// VariantParty adds red jacks who join the player.
	VariantParty
	// VariantHomeRules plays with all 54 cards. It goes with no other variant.
	VariantHomeRules

	// AllVariants holds every variant, which no valid ruleset does.
	AllVariants = VariantMerchants | VariantEvilMerchant | VariantBlacksmiths | VariantParty | VariantHomeRules
)

// VariantInfo describes a variant for people and for clients that list rulesets.
type VariantInfo struct {
	Variant  Variant
	Name     string     // as in the specification and in ruleset ids: "evil_merchant"
	Title    string     // for a menu
	Text     string     // what a player needs to know to choose it
	Needs    VariantSet // what it is played with
	Excludes VariantSet // what it is not played with

	roles map[Card]Role // of the cards that it adds or changes
}

// The variants' table, in the order of the constants: a variant follows the one that it needs, whose cards
// it may change.
var variants = [...]VariantInfo{
	{
		Variant: VariantMerchants, Name: "merchants", Title: "Merchants",
		Text: "The jokers are merchants: sell them your weapon, and they heal you by its value or that of the weakest " +
			"monster on it, whichever is lower.",
		Excludes: VariantHomeRules,
		roles:    map[Card]Role{redJoker: RoleMerchant, blackJoker: RoleMerchant},
	},
	{
		Variant: VariantEvilMerchant, Name: "evil_merchant", Title: "Evil merchant",
		Text: "The black joker is a thief, not a merchant: when you can no longer avoid a room in which he is, he steals " +
			"the weapon you have.",
		Needs: VariantMerchants, Excludes: VariantHomeRules,
		roles: map[Card]Role{blackJoker: RoleThief},
	},
	{
		Variant: VariantBlacksmiths, Name: "blacksmiths", Title: "Blacksmiths",
		Text: "The jack, queen and king of diamonds are blacksmiths: they take the last one, two or three monsters off " +
			"your weapon, so that it hits stronger ones again.",
		Excludes: VariantParty | VariantHomeRules,
		roles:    map[Card]Role{jackOfDiamonds: RoleBlacksmith, queenOfDiamonds: RoleBlacksmith, kingOfDiamonds: RoleBlacksmith},
	},
	{
		Variant: VariantParty, Name: "party", Title: "Party",
		Text: "The red jacks join you: the jack of hearts carries a potion until you drink it, the jack of diamonds fights " +
			"with a second weapon.",
		Excludes: VariantBlacksmiths | VariantHomeRules,
		roles:    map[Card]Role{jackOfHearts: RoleBearer, jackOfDiamonds: RoleFighter},
	},
	{
		Variant: VariantHomeRules, Name: "home_rules", Title: "Home rules",
		Text: "All 54 cards. Diamonds from jack to ace are blacksmiths who repair or improve your weapon, hearts are " +
			"merchants who pay for its power, the red joker carries potions for you and the black one fights for you and " +
			"takes the damage. Blacksmiths and merchants can be sent back into the dungeon once.",
		Excludes: VariantMerchants | VariantEvilMerchant | VariantBlacksmiths | VariantParty,
		roles: map[Card]Role{
			jackOfDiamonds: RoleBlacksmith, queenOfDiamonds: RoleBlacksmith, kingOfDiamonds: RoleBlacksmith, aceOfDiamonds: RoleBlacksmith,
			jackOfHearts: RoleMerchant, queenOfHearts: RoleMerchant, kingOfHearts: RoleMerchant, aceOfHearts: RoleMerchant,
			redJoker: RoleBearer, blackJoker: RoleFighter,
		},
	},
}

// Variants returns the table of variants. The caller may change it.
func Variants() []VariantInfo { return slices.Clone(variants[:]) }

// ParseVariant returns the variant of that name; the error is a [*RulesetError].
func ParseVariant(name string) (Variant, error) {
	for _, v := range variants {
		if v.Name == name {
			return v.Variant, nil
		}
	}
	return 0, &RulesetError{Field: "variants", Value: name, Problem: "is not a variant"}
}

// Has says whether all of v is in the set.
func (set VariantSet) Has(v VariantSet) bool { return set&v == v }

// Names returns the names of the set's variants, sorted.
func (set VariantSet) Names() []string {
	var names []string
	for _, v := range variants {
		if set.Has(v.Variant) {
			names = append(names, v.Name)
		}
	}
	slices.Sort(names)
	return names
}

// String joins the names by "+", such as "evil_merchant+merchants"; "" for the base game.
func (set VariantSet) String() string { return strings.Join(set.Names(), "+") }

// validate returns nil if games can be played by the set's variants together, otherwise an error that
// names the first two that keep them from it.
func (set VariantSet) validate() error {
	if set <= AllVariants && playable[set] {
		return nil
	}
	bad := func(value, problem string) error {
		return &RulesetError{Field: "variants", Value: value, Problem: problem}
	}
	// Pairs that can never be played first: what is missing could be added.
	for _, v := range variants {
		if others := (set & v.Excludes).Names(); set.Has(v.Variant) && len(others) > 0 {
			return bad(v.Name+"+"+others[0], "cannot be played together")
		}
	}
	for _, v := range variants {
		if set.Has(v.Variant) && !set.Has(v.Needs) {
			return bad(v.Name, "needs "+v.Needs.String())
		}
	}
	return bad(fmt.Sprint(uint8(set)), "holds a variant that does not exist")
}

// playable has the sets by which games can be played.
var playable = func() (table [AllVariants + 1]bool) {
	for set := range table {
		table[set] = true
		for _, v := range variants {
			if s := VariantSet(set); s.Has(v.Variant) && (!s.Has(v.Needs) || s&v.Excludes != 0) {
				table[set] = false
			}
		}
	}
	return table
}()
