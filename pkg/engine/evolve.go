package engine

import (
	"fmt"
	"math"
)

// FactError reports a fact that does not fit the state it was applied to, as from a damaged record.
type FactError struct {
	Fact    Fact
	Problem string // what does not fit; it names no hidden card
}

// Error names the kind of fact and the problem.
func (e *FactError) Error() string {
	return fmt.Sprintf("fact %v does not fit the game: %s", e.Fact.Kind, e.Problem)
}

// Evolve returns the state after f. It accepts the facts of [State.Decide], [State.Open] and
// [State.Resign] in their order, whatever rules they were decided by: it never looks at an option, at
// a card's role or at what is legal.
//
// It is total. A fact that cannot have happened in s (cards that do not lie where it says, numbers out
// of range) is refused with a [*FactError], and the state returned is s unchanged. Whatever
// the facts, no card ever appears twice or vanishes.
func (s *State) Evolve(f Fact) (State, error) {
	next := *s
	if problem := next.apply(&f); problem != "" {
		return *s, &FactError{Fact: f, Problem: problem}
	}
	return next, nil
}

// EvolveAll returns the state after all the facts, in order. If one does not fit, the error is that of
// [State.Evolve] and the state returned is s unchanged.
func (s *State) EvolveAll(facts []Fact) (State, error) {
	next := *s
	for i := range facts {
		if problem := next.apply(&facts[i]); problem != "" {
			return *s, &FactError{Fact: facts[i], Problem: problem}
		}
	}
	return next, nil
}

// apply changes s by f and returns "", or says what does not fit and leaves s in a useless state.
func (s *State) apply(f *Fact) (problem string) {
	if f.Kind == FactGameStarted {
		return s.applyGameStarted(f)
	}
	if s.status != StatusActive {
		return "the game is not active"
	}
	switch f.Kind {
	case FactRoomDealt:
		return s.applyRoomDealt(f)
	case FactRoomAvoided:
		return s.applyRoomAvoided(f)
	case FactWeaponEquipped:
		return s.applyWeaponEquipped(f)
	case FactPotionDrunk:
		return s.applyPotionDrunk(f)
	case FactPotionWasted, FactCardDismissed:
		return s.applyCardDiscarded(f)
	case FactMonsterFought:
		return s.applyMonsterFought(f)
	case FactRoomCleared:
		return s.applyRoomCleared()
	case FactGameOver:
		return s.applyGameOver(&f.Over)
	case FactWeaponSold:
		return s.applyWeaponSold(f)
	case FactWeaponStolen:
		return s.applyWeaponStolen(f)
	case FactWeaponRepaired:
		return s.applyWeaponRepaired(f)
	case FactWeaponUpgraded:
		return s.applyWeaponUpgraded(f)
	case FactBearerRecruited:
		return s.applyBearerRecruited(f)
	case FactPotionStored:
		return s.applyPotionStored(f)
	case FactStoredPotionDrunk:
		return s.applyStoredPotionDrunk(f)
	case FactCompanionRecruited:
		return s.applyCompanionRecruited(f)
	case FactCompanionEquipped:
		return s.applyCompanionEquipped(f)
	case FactCompanionDied:
		return s.applyCompanionDied(f)
	case FactCardRecycled:
		return s.applyCardRecycled(f)
	case FactCardReturned:
		return s.applyCardReturned(f)
	default:
		return "there is no such fact"
	}
}

func (s *State) applyGameStarted(f *Fact) string {
	if s.status != 0 {
		return "the game has started before"
	}
	if s.dungeonSize == 0 {
		return "the game has no cards"
	}
	if f.Health < 1 || f.Health > MaxHealth {
		return "the health is out of range"
	}
	s.status = StatusActive
	s.health = int8(f.Health)
	s.dealDue = true
	return ""
}

func (s *State) applyRoomDealt(f *Fact) string {
	if !s.dealDue {
		return "no room is due"
	}
	n := 0
	for ; n < len(f.Cards) && f.Cards[n] != NoCard; n++ {
		if s.roomSize == RoomSize {
			return "the room has no place for the cards"
		}
		if s.dungeonSize == 0 || s.dungeon[s.dungeonSize-1] != f.Cards[n] {
			return "the cards do not lie on top of the dungeon"
		}
		s.dungeonSize--
		s.dungeon[s.dungeonSize] = NoCard
		s.room[s.roomSize] = f.Cards[n]
		s.roomSize++
	}
	for _, c := range f.Cards[n:] {
		if c != NoCard {
			return "there is a gap between the cards"
		}
	}
	if f.ToTake < 1 || f.ToTake > int(s.roomSize) {
		return "the number of cards to take is out of range"
	}
	s.toTake = uint8(f.ToTake)
	s.canAvoid = f.CanAvoid
	s.potionUsed = false
	s.dealDue = false
	return ""
}

func (s *State) applyRoomAvoided(f *Fact) string {
	if s.dealDue || s.roomSize == 0 {
		return "there is no room to avoid"
	}
	if s.moves == math.MaxUint8 {
		return "there are too many moves"
	}
	n := len(f.Cards)
	for n > 0 && f.Cards[n-1] == NoCard {
		n--
	}
	copy(s.dungeon[n:], s.dungeon[:int(cardCount)-n])
	for i, c := range f.Cards[:n] {
		if !s.leaveRow(c) {
			return "the cards are not those of the room"
		}
		s.dungeon[n-1-i] = c
	}
	s.dungeonSize += uint8(n)
	s.moves++
	s.leaveRoom()
	return ""
}

func (s *State) applyRoomCleared() string {
	if s.dealDue || s.toTake > 0 || s.health <= 0 {
		return "the room is not faced to the end"
	}
	s.roomsCleared++
	s.leaveRoom()
	return ""
}

func (s *State) applyGameOver(over *Over) string {
	if !over.Outcome.Over() {
		return "there is no such outcome"
	}
	if over.Health != int(s.health) || over.Moves != int(s.moves) {
		return "the final health or the number of moves is another"
	}
	end := finalCount{
		rules: over.Rules, lastCard: over.LastCard, lastUse: over.LastUse, lastHealthBefore: int8(over.LastHealthBefore),
		dungeonValue: uint8(over.DungeonMonsterValue), roomValue: uint8(over.RoomMonsterValue),
	}
	if !end.valid() || int(end.lastHealthBefore) != over.LastHealthBefore ||
		int(end.dungeonValue) != over.DungeonMonsterValue || int(end.roomValue) != over.RoomMonsterValue {
		return "the final count is out of range"
	}
	s.status = over.Outcome
	s.end = end
	return ""
}

// valid says whether the count could be that of a game.
func (e *finalCount) valid() bool {
	return e.rules.Validate() == nil && e.lastCard <= cardCount && int(e.lastUse) < len(lastUseNames) &&
		e.lastHealthBefore >= 0 && e.lastHealthBefore <= MaxHealth &&
		int(e.dungeonValue)+int(e.roomValue) <= monsterTotal
}

// take removes c from the room; the caller lays it somewhere else. It counts as the move.
func (s *State) take(c Card) (problem string) {
	if !s.playing() {
		return "no card can be taken"
	}
	if s.moves == math.MaxUint8 {
		return "there are too many moves"
	}
	if !s.leaveRow(c) {
		return "the card is not in the room"
	}
	s.moves++
	s.toTake--
	s.canAvoid = false
	return ""
}

// leaveRow removes c from the row, and says whether it lay there.
func (s *State) leaveRow(c Card) bool {
	i := s.roomIndex(c)
	if i < 0 {
		return false
	}
	copy(s.room[i:], s.room[i+1:s.roomSize])
	s.roomSize--
	s.room[s.roomSize] = NoCard
	return true
}

// roomIndex returns the place of c in the room, -1 if it is not there.
func (s *State) roomIndex(c Card) int {
	for i := range int(s.roomSize) {
		if s.room[i] == c {
			return i
		}
	}
	return -1
}

// leaveRoom ends everything that belongs to one room only.
func (s *State) leaveRoom() {
	s.toTake = 0
	s.canAvoid = false
	s.potionUsed = false
	s.dealDue = true
}

// toDiscard lays c, which the caller took from its place, on the discard pile.
func (s *State) toDiscard(c Card) {
	s.discard[s.discardSize] = c
	s.discardSize++
}
