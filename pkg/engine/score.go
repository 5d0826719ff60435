package engine

import "fmt"

// Status says whether a game goes on, and if not, how it ended. A score never tells: a lost game can
// score 0.
type Status uint8

// The statuses. The zero Status is that of a game whose first room has not been dealt.
const (
	// StatusActive is a game in which the player is to move.
	StatusActive Status = iota + 1
	// StatusWon is a game survived to the end its ruleset sets.
	StatusWon
	// StatusLost is a game in which health fell to 0 or below.
	StatusLost
	// StatusAbandoned is a game the player resigned. It has no score.
	StatusAbandoned
)

var statusNames = [...]string{"NOT_STARTED", "ACTIVE", "WON", "LOST", "ABANDONED"}

// String returns the status's name, such as "ACTIVE".
func (s Status) String() string {
	if int(s) >= len(statusNames) {
		return fmt.Sprintf("Status(%d)", uint8(s))
	}
	return statusNames[s]
}

// Over says whether the game has ended in one of the three ways.
func (s Status) Over() bool { return s >= StatusWon && s <= StatusAbandoned }

// LastUse says what became of the last card taken, as far as a win's bonus asks.
type LastUse uint8

// The uses of a last card.
const (
	// LastUseOther is any card that was no potion, or no card at all.
	LastUseOther LastUse = iota
	// LastUsePotionDrunk is a potion that counted, even if it healed nothing at full health.
	LastUsePotionDrunk
	// LastUsePotionWasted is a potion beyond the room's allowance.
	LastUsePotionWasted
)

var lastUseNames = [...]string{"OTHER", "POTION_DRUNK", "POTION_WASTED"}

// String returns the use's name, such as "POTION_DRUNK".
func (u LastUse) String() string {
	if int(u) >= len(lastUseNames) {
		return fmt.Sprintf("LastUse(%d)", uint8(u))
	}
	return lastUseNames[u]
}

// Over is how a game ended: exactly what [Score] needs, and nothing about which cards were left.
type Over struct {
	Outcome             Status  // StatusWon, StatusLost or StatusAbandoned
	Rules               Ruleset // what the game was played by
	Health              int     // at the end; 0 or below if lost
	LastCard            Card    // the last card taken in the last move; NoCard if abandoned
	LastUse             LastUse // what became of LastCard
	LastHealthBefore    int     // the health before LastCard was taken
	DungeonMonsterValue int     // the values of all monsters left face down, added up
	RoomMonsterValue    int     // the values of all monsters left face up in the room, added up
	Moves               int     // the moves made, avoiding included and resigning not
}

// Score returns the score of a game that ended as o says, and whether it has one: an abandoned game
// has none, nor does an o whose outcome or ruleset is not valid.
func Score(o Over) (int, bool) {
	if o.Rules.Validate() != nil {
		return 0, false
	}
	switch o.Outcome {
	case StatusWon:
		return o.Health + bonus(o), true
	case StatusLost:
		switch o.Rules.LossScore {
		case LossHealthMinusDungeon:
			return o.Health - o.DungeonMonsterValue, true
		case LossHealthMinusDungeonAndRoom:
			return o.Health - o.DungeonMonsterValue - o.RoomMonsterValue, true
		case LossDungeonAndRoomOnly:
			return -o.DungeonMonsterValue - o.RoomMonsterValue, true
		}
	}
	return 0, false
}

// bonus is what the last card adds to a win.
func bonus(o Over) int {
	pays := false
	switch o.Rules.WinBonus {
	case BonusLastPotionAtFullHealth:
		pays = o.Health == MaxHealth && o.LastUse != LastUseOther
	case BonusLastPotionOverflow:
		pays = o.LastUse == LastUsePotionDrunk && o.LastHealthBefore+o.LastCard.Value() > MaxHealth
	}
	if !pays {
		return 0
	}
	return o.LastCard.Value()
}

// monsterTotal is the value of all monsters of a deck.
const monsterTotal = 208

const (
	maxValue  = 14 // the value of the highest card
	bestBonus = 10 // the value of the highest potion
)

// ScoreBounds returns the lowest and the highest score that a game by r can have. Both can be reached.
//
// Lowest: a lost game. Let k be the value of the monsters fought, the one that killed included. A
// fight costs the player at most the monster's value and nothing else costs health, whoever fights and
// whatever lies under the weapon, so the final health is at least start - k. Every ruleset has the same
// monsters. The monsters left are worth at most 208 - k. A score made of both is at least
// (start - k) - (208 - k) = start - 208. One that counts no health is at least -(208 - k), and k is at
// least start, because the player lost all of that; again start - 208. A win scores at least 1.
//
// Highest: a won game ends with at most 20 health and adds at most 10, the highest potion's value. Depth
// and variants change nothing about that: potions heal to 20 at every depth, and neither a sale nor a
// stored potion heals further or is a last card that pays. A lost game never scores above 0.
func (r Ruleset) ScoreBounds() (lowest, highest int) {
	return r.startHealth() - monsterTotal, MaxHealth + bestBonus
}
