package engine

import (
	"fmt"
	"strings"
)

// MoveKind is what a player does in a move. The zero value is no move.
type MoveKind uint8

// The kinds of moves.
const (
	// MoveAvoid puts the whole room under the dungeon and deals a new one.
	MoveAvoid MoveKind = iota + 1
	// MoveEquip takes a weapon in hand; the old one is discarded with the monsters on it.
	MoveEquip
	// MoveDrink takes a potion. Only the first of a room heals; the move is the same.
	MoveDrink
	// MoveFightBareHanded kills a monster and costs its whole value in health.
	MoveFightBareHanded
	// MoveFightWithWeapon kills a monster and costs what its value exceeds the weapon's power by.
	MoveFightWithWeapon
	// MoveDismiss takes a card that only variants have, without effect.
	MoveDismiss
	// MoveSell gives the weapon and all on it to a merchant, who heals.
	MoveSell
	// MoveRepair has a blacksmith take the last monsters off the weapon.
	MoveRepair
	// MoveUpgrade lays a blacksmith under the weapon, which raises its power.
	MoveUpgrade
	// MoveRecruit takes the bearer, or the fighter as the companion, into the party.
	MoveRecruit
	// MoveStore gives a potion to the bearer.
	MoveStore
	// MoveDrinkStored drinks a potion that the bearer holds. It takes no card of the room.
	MoveDrinkStored
	// MoveEquipCompanion gives a weapon to the companion; his old one is discarded with the monsters on it.
	MoveEquipCompanion
	// MoveFightWithCompanion kills a monster with the companion's weapon.
	MoveFightWithCompanion
	// MoveRecycle puts a blacksmith or merchant back into the dungeon, at a random position.
	MoveRecycle
)

// MaxLegalMoves is the number of moves that [State.Legal] lists at most: one for the room, three for
// each card of it, and one for each potion of the bearer.
const MaxLegalMoves = 1 + 3*RoomSize + potionCount

// moveKinds says of each kind how it is written, on which roles of cards of the room it is made, and by
// which variants: any of those named, or always. A kind without roles takes no card of the room.
var moveKinds = [...]struct {
	name     string
	roles    RoleSet
	variants VariantSet
}{
	MoveAvoid:              {"AVOID", 0, 0},
	MoveEquip:              {"EQUIP", rolesOf(RoleWeapon), 0},
	MoveDrink:              {"DRINK", rolesOf(RolePotion), 0},
	MoveFightBareHanded:    {"FIGHT_BARE_HANDED", rolesOf(RoleMonster), 0},
	MoveFightWithWeapon:    {"FIGHT_WITH_WEAPON", rolesOf(RoleMonster), 0},
	MoveDismiss:            {"DISMISS", rolesOf(RoleMerchant, RoleThief, RoleBlacksmith, RoleBearer, RoleFighter), 0},
	MoveSell:               {"SELL", rolesOf(RoleMerchant), 0},
	MoveRepair:             {"REPAIR", rolesOf(RoleBlacksmith), 0},
	MoveUpgrade:            {"UPGRADE", rolesOf(RoleBlacksmith), VariantHomeRules},
	MoveRecruit:            {"RECRUIT", rolesOf(RoleBearer, RoleFighter), 0},
	MoveStore:              {"STORE", rolesOf(RolePotion), VariantParty | VariantHomeRules},
	MoveDrinkStored:        {"DRINK_STORED", 0, VariantParty | VariantHomeRules},
	MoveEquipCompanion:     {"EQUIP_COMPANION", rolesOf(RoleWeapon), VariantParty | VariantHomeRules},
	MoveFightWithCompanion: {"FIGHT_WITH_COMPANION", rolesOf(RoleMonster), VariantParty | VariantHomeRules},
	MoveRecycle:            {"RECYCLE", rolesOf(RoleMerchant, RoleBlacksmith), VariantHomeRules},
}

// roleMoves lists by each set of variants the moves that can be made on a card of each role, in the order
// of their kinds.
var roleMoves = func() (table [AllVariants + 1][len(roleNames)][]MoveKind) {
	for set := range table {
		for role := range table[set] {
			for kind, row := range moveKinds {
				if row.roles.Has(Role(role)) && MoveKind(kind).in(VariantSet(set)) {
					table[set][role] = append(table[set][role], MoveKind(kind))
				}
			}
		}
	}
	return table
}()

// in says whether the variants play with moves of kind k.
func (k MoveKind) in(set VariantSet) bool {
	need := moveKinds[k].variants
	return need == 0 || set&need != 0
}

// takesCard says whether a move of kind k names a card.
func (k MoveKind) takesCard() bool { return k != MoveAvoid }

// known says whether k is one of the constants.
func (k MoveKind) known() bool { return k != 0 && int(k) < len(moveKinds) }

// String returns the kind's name, such as "FIGHT_BARE_HANDED".
func (k MoveKind) String() string {
	if !k.known() {
		return fmt.Sprintf("MoveKind(%d)", uint8(k))
	}
	return moveKinds[k].name
}

// Move is something a player wants to do. Whether it is legal is for [State.Decide] to say.
type Move struct {
	Kind MoveKind
	Card Card // the card the move is made with; NoCard for MoveAvoid
}

// ParseMove reads the notation that [Move.String] writes: the kind's name and, after one space, the
// card ("EQUIP 5D", "AVOID"). A card is there exactly if the kind needs one, but it need not suit the
// kind. The error is a [*NotationError].
func ParseMove(s string) (Move, error) {
	name, cardText, hasCard := strings.Cut(s, " ")
	for kind := MoveKind(1); kind.known(); kind++ {
		if moveKinds[kind].name != name {
			continue
		}
		if hasCard != kind.takesCard() {
			break
		}
		if !hasCard {
			return Move{Kind: kind}, nil
		}
		card, err := ParseCard(cardText)
		if err != nil {
			break
		}
		return Move{Kind: kind, Card: card}, nil
	}
	return Move{}, &NotationError{What: "move", Text: s}
}

// String returns the move's notation, such as "FIGHT_WITH_WEAPON QS" or "AVOID".
func (m Move) String() string {
	if m.Card == NoCard {
		return m.Kind.String()
	}
	return m.Kind.String() + " " + m.Card.String()
}
