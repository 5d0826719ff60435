package engine

import (
	"fmt"
	"math"
	"strings"
)

// Role is what a card does in a game. The same card can have another role by another ruleset.
type Role uint8

// The roles, each with the file that says what can be done with such a card. The zero Role means that
// the card is not in the deck.
const (
	// RoleMonster is fought, with bare hands or with a weapon: monster.go.
	RoleMonster Role = iota + 1
	// RoleWeapon is equipped: weapon.go.
	RoleWeapon
	// RolePotion is drunk: potion.go.
	RolePotion
	// RoleMerchant buys the weapon: merchant.go.
	RoleMerchant
	// RoleThief steals the weapon: thief.go.
	RoleThief
	// RoleBlacksmith repairs the weapon, and by some rules improves it: blacksmith.go.
	RoleBlacksmith
	// RoleBearer joins the party and carries potions: bearer.go.
	RoleBearer
	// RoleFighter joins the party as the companion who fights with a weapon of his own: companion.go.
	RoleFighter
)

var roleNames = [...]string{
	"NONE", "MONSTER", "WEAPON", "POTION", "MERCHANT", "THIEF", "BLACKSMITH", "BEARER", "FIGHTER",
}

// String returns the role's name in upper case, such as "MONSTER"; "NONE" for the zero Role.
func (r Role) String() string {
	if int(r) >= len(roleNames) {
		return fmt.Sprintf("Role(%d)", uint8(r))
	}
	return roleNames[r]
}

// RoleSet is a set of roles, such as those on which a kind of move can be made.
type RoleSet uint16

func rolesOf(roles ...Role) (set RoleSet) {
	for _, r := range roles {
		set |= 1 << r
	}
	return set
}

// Has says whether r is in the set.
func (set RoleSet) Has(r Role) bool { return set>>r&1 != 0 }

// String names the roles, such as "MERCHANT or BLACKSMITH".
func (set RoleSet) String() string {
	var names []string
	for r := Role(1); int(r) < len(roleNames); r++ {
		if set.Has(r) {
			names = append(names, r.String())
		}
	}
	return strings.Join(names, " or ")
}

// baseRole is what c does by every ruleset, 0 for a card that only variants play with.
func baseRole(c Card) Role {
	switch {
	case c == NoCard || c >= jackOfDiamonds:
		return 0
	case c < twoOfDiamonds:
		return RoleMonster
	case c < twoOfHearts:
		return RoleWeapon
	default:
		return RolePotion
	}
}

// roles has the role of each card by each set of variants, so that a look-up costs the same whatever
// the rules.
var roles = func() (table [AllVariants + 1][math.MaxUint8 + 1]Role) {
	for set := range table {
		for c := range cardNames {
			table[set][c] = baseRole(Card(c))
		}
		for _, v := range variants {
			if VariantSet(set).Has(v.Variant) {
				for c, role := range v.roles {
					table[set][c] = role
				}
			}
		}
	}
	return table
}()
