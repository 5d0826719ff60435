package engine

import "math/rand/v2"

// rulesetOf makes a valid ruleset of n: all of them for the numbers below some 50,000.
func rulesetOf(n uint64) Ruleset {
	digit := func(base int) int {
		d := int(n % uint64(base))
		n /= uint64(base)
		return d
	}
	sets := validVariantSets()
	r := Ruleset{
		Variants: sets[digit(len(sets))], WeaponWear: WeaponWear(1 + digit(2)), Ending: Ending(1 + digit(2)),
		WinBonus: WinBonus(1 + digit(2)), LossScore: LossScore(1 + digit(3)), Depth: uint8(digit(MaxDepth + 1)),
	}
	if health := digit(MaxHealth + 1); r.Variants.Has(VariantHomeRules) {
		r.CompanionHealth = uint8(health)
	}
	return r
}

// randomRuleset returns any valid ruleset.
func randomRuleset(random *rand.Rand) Ruleset { return rulesetOf(random.Uint64()) }

// validVariantSets returns the combinations that can be played.
func validVariantSets() (sets []VariantSet) {
	for set := range AllVariants + 1 {
		if set.validate() == nil {
			sets = append(sets, set)
		}
	}
	return sets
}

// For the tests that see only what is exported.
var (
	RulesetOf        = rulesetOf
	RandomRuleset    = randomRuleset
	ValidVariantSets = validVariantSets
)
