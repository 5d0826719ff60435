package engine

import (
	"errors"
	"fmt"
)

// Errors of commands that do not depend on the move.
var (
	// ErrNotStarted refuses a move before the game is opened.
	ErrNotStarted = errors.New("the game has not started")
	// ErrGameOver refuses any command to a game that is over.
	ErrGameOver = errors.New("the game is over")
	// ErrUnfinished refuses a move where not all facts of the last command were applied.
	ErrUnfinished = errors.New("the last command's facts are not all applied")
)

// Reason says why a move is illegal. The zero value is none.
type Reason uint8

// The reasons.
const (
	// ReasonNotAMove is a kind that does not exist, or a card where there must be none.
	ReasonNotAMove Reason = iota + 1
	// ReasonCardNotInRoom is a card that does not lie face up.
	ReasonCardNotInRoom
	// ReasonWrongRole is a card with which this kind of move cannot be made.
	ReasonWrongRole
	// ReasonNoWeapon is a fight with a weapon while none is equipped.
	ReasonNoWeapon
	// ReasonWeaponWorn is a monster above what the weapon may still hit.
	ReasonWeaponWorn
	// ReasonRoomFaced is avoiding a room of which a card has been taken.
	ReasonRoomFaced
	// ReasonRoomBeforeAvoided is avoiding two rooms in a row.
	ReasonRoomBeforeAvoided
	// ReasonLastRoom is avoiding the last room, which is not full, or putting a card of it back.
	ReasonLastRoom
	// ReasonWeaponStolen is a move that needs the weapon where the thief steals it first.
	ReasonWeaponStolen
	// ReasonNoMonsterOnWeapon is repairing a weapon without monsters on it.
	ReasonNoMonsterOnWeapon
	// ReasonMonsterOnWeapon is upgrading a weapon with monsters on it.
	ReasonMonsterOnWeapon
	// ReasonNoBearer is storing a potion without a bearer.
	ReasonNoBearer
	// ReasonBearerFull is storing a potion while the bearer holds as many as he can.
	ReasonBearerFull
	// ReasonNotStored is drinking a potion that the bearer does not hold.
	ReasonNotStored
	// ReasonPotionUsed is drinking a stored potion after another one in the same room.
	ReasonPotionUsed
	// ReasonNoCompanion is a move of the companion without one.
	ReasonNoCompanion
	// ReasonRecycledBefore is putting a card back into the dungeon that was put back before.
	ReasonRecycledBefore
	// ReasonNotInRuleset is a kind of move that the ruleset does not play with.
	ReasonNotInRuleset
)

var reasons = [...]struct{ name, text string }{
	{"NONE", "nothing is wrong with it"},
	ReasonNotAMove:          {"NOT_A_MOVE", "there is no such move"},
	ReasonCardNotInRoom:     {"CARD_NOT_IN_ROOM", "the card is not in the room"},
	ReasonWrongRole:         {"WRONG_ROLE", "the move is not made with this kind of card"},
	ReasonNoWeapon:          {"NO_WEAPON", "no weapon is equipped"},
	ReasonWeaponWorn:        {"WEAPON_WORN", "after its last kill the weapon hits only weaker monsters"},
	ReasonRoomFaced:         {"ROOM_FACED", "a card of the room has been taken already"},
	ReasonRoomBeforeAvoided: {"ROOM_BEFORE_AVOIDED", "the room before was avoided"},
	ReasonLastRoom:          {"LAST_ROOM", "the room is not full: every card of it must be taken"},
	ReasonWeaponStolen:      {"WEAPON_STOLEN", "the thief in the room steals the weapon first"},
	ReasonNoMonsterOnWeapon: {"NO_MONSTER_ON_WEAPON", "no monster lies on the weapon"},
	ReasonMonsterOnWeapon:   {"MONSTER_ON_WEAPON", "a monster lies on the weapon"},
	ReasonNoBearer:          {"NO_BEARER", "no bearer is in the party"},
	ReasonBearerFull:        {"BEARER_FULL", "the bearer holds a potion"},
	ReasonNotStored:         {"NOT_STORED", "the bearer does not hold the card"},
	ReasonPotionUsed:        {"POTION_USED", "a potion has been drunk in this room"},
	ReasonNoCompanion:       {"NO_COMPANION", "no fighter is in the party"},
	ReasonRecycledBefore:    {"RECYCLED_BEFORE", "the card has been put back before"},
	ReasonNotInRuleset:      {"NOT_IN_RULESET", "these rules do not have it"},
}

// String returns the reason's name, such as "WEAPON_WORN".
func (r Reason) String() string {
	if int(r) >= len(reasons) {
		return fmt.Sprintf("Reason(%d)", uint8(r))
	}
	return reasons[r].name
}

// IllegalMoveError reports a move that the rules forbid in the state it was made in.
type IllegalMoveError struct {
	Move   Move
	Reason Reason
	// NeedRoles are the roles of cards that the kind of move is made on, with ReasonWrongRole.
	NeedRoles RoleSet
	// Limit is the highest value of a monster that the weapon may hit, with ReasonWeaponWorn.
	Limit int
}

// Error names the move, why it is illegal and what it would need.
func (e *IllegalMoveError) Error() string {
	text := "unknown"
	if int(e.Reason) < len(reasons) {
		text = reasons[e.Reason].text
	}
	switch e.Reason {
	case ReasonWrongRole:
		text += fmt.Sprintf(", it needs a %v", e.NeedRoles)
	case ReasonWeaponWorn:
		text += fmt.Sprintf(", of value %d or less", e.Limit)
	}
	return fmt.Sprintf("illegal move %v: %s", e.Move, text)
}

// Legal appends all legal moves, [MaxLegalMoves] at most: first [MoveAvoid], then [MoveDrinkStored] for
// the bearer's potions, then for each card of the room from left to right the moves that can be made on
// it, in the order of their kinds. No move is legal before the game is opened or after it is over; at any
// other time there is at least one.
func (s *State) Legal(dst []Move) []Move {
	if !s.playing() {
		return dst
	}
	if s.canAvoid {
		dst = append(dst, Move{Kind: MoveAvoid})
	}
	if !s.potionUsed {
		for _, c := range s.stored[:s.storedSize] {
			dst = append(dst, Move{MoveDrinkStored, c})
		}
	}
	moves := &roleMoves[s.rules.Variants&AllVariants]
	for _, c := range s.room[:s.roomSize] {
		for _, kind := range moves[s.rules.Role(c)] {
			if m := (Move{kind, c}); s.obstacle(m) == 0 {
				dst = append(dst, m)
			}
		}
	}
	return dst
}

// refuse returns why m cannot be made now, nil if it is legal.
func (s *State) refuse(m Move) error {
	switch {
	case s.status == 0:
		return ErrNotStarted
	case s.status != StatusActive:
		return ErrGameOver
	case !s.playing():
		return ErrUnfinished
	}
	reason := s.objection(m)
	if reason == 0 {
		return nil
	}
	err := &IllegalMoveError{Move: m, Reason: reason}
	switch reason {
	case ReasonWrongRole:
		err.NeedRoles = moveKinds[m.Kind].roles
	case ReasonWeaponWorn:
		w := &s.weapon
		if m.Kind == MoveFightWithCompanion {
			w = &s.companion.weapon
		}
		err.Limit, _ = s.weaponLimit(w)
	}
	return err
}

// objection is what speaks against m for a player who is to move, 0 if nothing does.
func (s *State) objection(m Move) Reason {
	if !m.Kind.known() || !m.Kind.takesCard() && m.Card != NoCard {
		return ReasonNotAMove
	}
	if !m.Kind.in(s.rules.Variants) {
		return ReasonNotInRuleset
	}
	if roles := moveKinds[m.Kind].roles; roles != 0 {
		if s.roomIndex(m.Card) < 0 {
			return ReasonCardNotInRoom
		}
		if !roles.Has(s.rules.Role(m.Card)) {
			return ReasonWrongRole
		}
	}
	return s.obstacle(m)
}

// obstacle is what speaks against a move of a known kind, on a card of the room that suits it where the
// kind takes one.
func (s *State) obstacle(m Move) Reason {
	switch m.Kind {
	case MoveAvoid:
		return s.obstacleToAvoid()
	case MoveFightWithWeapon:
		return s.obstacleToFight(m.Card)
	case MoveSell:
		return s.obstacleToSell()
	case MoveRepair:
		return s.obstacleToRepair()
	case MoveUpgrade:
		return s.obstacleToUpgrade()
	case MoveStore:
		return s.obstacleToStore()
	case MoveDrinkStored:
		return s.obstacleToDrinkStored(m.Card)
	case MoveEquipCompanion:
		return s.obstacleToEquipCompanion()
	case MoveFightWithCompanion:
		return s.obstacleToFightWithCompanion(m.Card)
	case MoveRecycle:
		return s.obstacleToRecycle(m.Card)
	}
	return 0
}

func (s *State) obstacleToAvoid() Reason {
	switch {
	case s.canAvoid:
		return 0
	case s.roomSize == RoomSize:
		return ReasonRoomBeforeAvoided
	case s.inLastRoom():
		return ReasonLastRoom
	default:
		return ReasonRoomFaced
	}
}

// inLastRoom says whether every card of the room must be taken: a full room leaves one over.
func (s *State) inLastRoom() bool { return s.roomSize == s.toTake }
