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
)

// moveKinds says of each kind how it is written and on which role of card it is made; a kind without
// a role takes no card.
var moveKinds = [...]struct {
	name string
	role Role
}{
	MoveAvoid:           {"AVOID", 0},
	MoveEquip:           {"EQUIP", RoleWeapon},
	MoveDrink:           {"DRINK", RolePotion},
	MoveFightBareHanded: {"FIGHT_BARE_HANDED", RoleMonster},
	MoveFightWithWeapon: {"FIGHT_WITH_WEAPON", RoleMonster},
}

// roleMoves lists the moves that can be made on a card of each role, in the order of their kinds.
var roleMoves = func() (table [len(roleNames)][]MoveKind) {
	for kind, row := range moveKinds {
		if row.role != 0 {
			table[row.role] = append(table[row.role], MoveKind(kind))
		}
	}
	return table
}()

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
	Card Card // the card the move is made on; NoCard for MoveAvoid
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
		if hasCard != (moveKinds[kind].role != 0) {
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
