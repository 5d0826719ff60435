package engine

import "fmt"

// FactKind says what happened. The zero value is no fact.
type FactKind uint8

// The kinds of facts, each with the fields of [Fact] that it uses. The first ones are those of the base
// game; the numbers are stored and never change.
const (
	// FactGameStarted opens a game. Health: what the player starts with.
	FactGameStarted FactKind = iota + 1
	// FactRoomDealt brings cards from the top of the dungeon to the right end of the room. Cards: the
	// new ones in the order they were dealt, none if the dungeon was empty. ToTake: how many cards
	// of the room, carried ones included, must be taken. CanAvoid.
	FactRoomDealt
	// FactRoomAvoided puts the room under the dungeon. Cards: in row order, so that the first of them
	// is the first to come up again; those that a FactCardReturned follows for are not among them.
	FactRoomAvoided
	// FactWeaponEquipped takes a weapon from the room in hand; the old one and the monsters on it are
	// discarded. Card.
	FactWeaponEquipped
	// FactPotionDrunk discards a potion that healed. Card. Healed: the health it gave, 0 to its value.
	// HealthBefore.
	FactPotionDrunk
	// FactPotionWasted discards a potion that did not count because the room's allowance was used. Card.
	FactPotionWasted
	// FactMonsterFought kills a monster of the room. Card. Means. Damage: the health it cost the player.
	// CompanionDamage: the health it cost the companion.
	FactMonsterFought
	// FactRoomCleared says that as many cards of the room as had to be taken are taken.
	FactRoomCleared
	// FactGameOver ends the game. Over.
	FactGameOver
	// FactCardDismissed discards a card of the room without effect. Card.
	FactCardDismissed
	// FactWeaponSold discards the weapon with all on and under it, then the merchant who bought it. Card:
	// the merchant. Healed: the health it gave.
	FactWeaponSold
	// FactWeaponStolen discards the weapon with all on and under it. Card: the weapon. It comes before the
	// fact of the move that can no longer be an avoid, or after the room is dealt.
	FactWeaponStolen
	// FactWeaponRepaired discards monsters from the weapon, the last kill first, then the blacksmith. Card:
	// the blacksmith. Count: how many monsters.
	FactWeaponRepaired
	// FactWeaponUpgraded lays a blacksmith under the weapon. Card.
	FactWeaponUpgraded
	// FactBearerRecruited takes the bearer into the party. Card.
	FactBearerRecruited
	// FactPotionStored gives a potion of the room to the bearer. Card.
	FactPotionStored
	// FactStoredPotionDrunk discards a potion of the bearer that healed. Card. Healed. HealthBefore. It is
	// the fact of a move that takes no card of the room.
	FactStoredPotionDrunk
	// FactCompanionRecruited takes the fighter into the party as the companion. Card. Health: what he starts with.
	FactCompanionRecruited
	// FactCompanionEquipped gives a weapon of the room to the companion; his old one and the monsters on it are
	// discarded. Card.
	FactCompanionEquipped
	// FactCompanionDied discards the companion, his weapon and the monsters on it. Card: the companion.
	FactCompanionDied
	// FactCardRecycled puts a card of the room back into the dungeon. Card. Position and Drawn are secret.
	FactCardRecycled
	// FactCardReturned puts a card of an avoided room back into the dungeon. Card. Position and Drawn are
	// secret.
	FactCardReturned
)

var factNames = [...]string{
	"NONE", "GAME_STARTED", "ROOM_DEALT", "ROOM_AVOIDED", "WEAPON_EQUIPPED", "POTION_DRUNK", "POTION_WASTED",
	"MONSTER_FOUGHT", "ROOM_CLEARED", "GAME_OVER", "CARD_DISMISSED", "WEAPON_SOLD", "WEAPON_STOLEN", "WEAPON_REPAIRED",
	"WEAPON_UPGRADED", "BEARER_RECRUITED", "POTION_STORED", "STORED_POTION_DRUNK", "COMPANION_RECRUITED", "COMPANION_EQUIPPED",
	"COMPANION_DIED", "CARD_RECYCLED", "CARD_RETURNED",
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
	// MeansCompanion lays the monster on the companion's weapon.
	MeansCompanion
)

var meansNames = [...]string{"UNSET", "BARE_HANDS", "WEAPON", "COMPANION"}

// String returns the means' name, such as "BARE_HANDS".
func (m Means) String() string {
	if int(m) >= len(meansNames) {
		return fmt.Sprintf("Means(%d)", uint8(m))
	}
	return meansNames[m]
}

// Fact is one thing that happened in a game. Facts are what is stored: they say everything that a
// rule or an option decided, so that [State.Evolve] needs neither. All of a fact but Position and Drawn is
// public at the moment it happens; no public part says anything about face-down cards that were never
// seen or where a card lies among them, except the sum of monsters that a [FactGameOver] counts.
//
// A command's facts come in a fixed order: FactWeaponStolen if a thief strikes before the move; the fact of
// the move itself (which counts as the move) with FactCardReturned or FactCompanionDied behind it; then
// FactRoomCleared if that was the room's last take; then FactGameOver or FactRoomDealt if the game ended
// or a room was due, and FactWeaponStolen if a thief strikes at its dealing. New cards are thus always the
// last thing revealed.
//
// The kind says which fields are used; the others are zero.
type Fact struct {
	Kind            FactKind
	Card            Card           // the card taken
	Cards           [RoomSize]Card // dealt or avoided, from the left; NoCard after the last
	Means           Means          // what a monster was fought with
	CanAvoid        bool           // whether the dealt room may be avoided
	ToTake          int            // how many cards of the dealt room must be taken
	Health          int            // the health the game or the companion starts with
	Healed          int            // the health a potion or a sale gave
	HealthBefore    int            // the health before the potion was drunk
	Damage          int            // the health a fight cost the player
	CompanionDamage int            // the health a fight cost the companion
	Count           int            // how many monsters a repair removed
	Position        int            // how many cards lie above the card that went back; secret
	Drawn           int            // how many bytes of the seed's stream are used up afterwards; secret
	Over            Over           // how the game ended
}

// Secret says whether f has a secret part: its Position and Drawn.
func (f *Fact) Secret() bool { return f.Kind == FactCardRecycled || f.Kind == FactCardReturned }

// CardList returns the cards of Cards without the empty slots.
func (f *Fact) CardList() []Card {
	n := 0
	for n < len(f.Cards) && f.Cards[n] != NoCard {
		n++
	}
	return append([]Card(nil), f.Cards[:n]...)
}
