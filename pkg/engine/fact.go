package engine

import "fmt"

// FactKind says what happened. The zero value is no fact.
type FactKind uint8

// The kinds of facts, each with the fields of [Fact] that it uses.
const (
	// FactGameStarted opens a game. Health: what the player starts with.
	FactGameStarted FactKind = iota + 1
	// FactRoomDealt brings cards from the top of the dungeon to the right end of the room. Cards: the
	// new ones in the order they were dealt, none if the dungeon was empty. ToTake: how many cards
	// of the room, carried ones included, must be taken. CanAvoid.
	FactRoomDealt
	// FactRoomAvoided puts the room under the dungeon. Cards: in row order, so that the first of them
	// is the first to come up again.
	FactRoomAvoided
	// FactWeaponEquipped takes a weapon from the room in hand; the old one and the monsters on it are
	// discarded. Card.
	FactWeaponEquipped
	// FactPotionDrunk discards a potion that healed. Card. Healed: the health it gave, 0 to its value.
	// HealthBefore.
	FactPotionDrunk
	// FactPotionWasted discards a potion that did not count because the room's allowance was used. Card.
	FactPotionWasted
	// FactMonsterFought kills a monster of the room. Card. Means. Damage: the health it cost.
	FactMonsterFought
	// FactRoomCleared says that as many cards of the room as had to be taken are taken.
	FactRoomCleared
	// FactGameOver ends the game. Over.
	FactGameOver
)

var factNames = [...]string{
	"NONE", "GAME_STARTED", "ROOM_DEALT", "ROOM_AVOIDED", "WEAPON_EQUIPPED", "POTION_DRUNK", "POTION_WASTED",
	"MONSTER_FOUGHT", "ROOM_CLEARED", "GAME_OVER",
}

// String returns the kind's name, such as "ROOM_DEALT".
func (k FactKind) String() string {
	if int(k) >= len(factNames) {
		return fmt.Sprintf("FactKind(%d)", uint8(k))
	}
	return factNames[k]
}

// Means is what a monster was fought with. The zero value is unset.
type Means uint8

// The means of a fight.
const (
	// MeansBareHands sends the monster to the discard pile.
	MeansBareHands Means = iota + 1
	// MeansWeapon lays the monster on the player's weapon.
	MeansWeapon
)

var meansNames = [...]string{"UNSET", "BARE_HANDS", "WEAPON"}

// String returns the means' name, such as "BARE_HANDS".
func (m Means) String() string {
	if int(m) >= len(meansNames) {
		return fmt.Sprintf("Means(%d)", uint8(m))
	}
	return meansNames[m]
}

// Fact is one thing that happened in a game. Facts are what is stored: they say everything that a
// rule or an option decided, so that [State.Evolve] needs neither. All of a fact is public at the moment
// it happens; no fact says anything about face-down cards that were never seen, except the sum of
// monsters that a [FactGameOver] counts.
//
// A command's facts come in a fixed order: first the one fact of the move itself (which counts as
// the move), then FactRoomCleared if that was the room's last take, then FactGameOver or
// FactRoomDealt if the game ended or a room was due. New cards are thus always the last thing
// revealed.
//
// The kind says which fields are used; the others are zero.
type Fact struct {
	Kind         FactKind
	Card         Card           // the card taken
	Cards        [RoomSize]Card // dealt or avoided, from the left; NoCard after the last
	Means        Means          // what a monster was fought with
	CanAvoid     bool           // whether the dealt room may be avoided
	ToTake       int            // how many cards of the dealt room must be taken
	Health       int            // the health the game starts with
	Healed       int            // the health a potion gave
	HealthBefore int            // the health before the potion was drunk
	Damage       int            // the health a fight cost
	Over         Over           // how the game ended
}

// CardList returns the cards of Cards without the empty slots.
func (f *Fact) CardList() []Card {
	n := 0
	for n < len(f.Cards) && f.Cards[n] != NoCard {
		n++
	}
	return append([]Card(nil), f.Cards[:n]...)
}
