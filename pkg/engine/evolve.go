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
		return s.start(f)
	}
	if s.status != StatusActive {
		return "the game is not active"
	}
	switch f.Kind {
	case FactRoomDealt:
		return s.deal(f)
	case FactRoomAvoided:
		return s.avoid(f)
	case FactWeaponEquipped:
		if problem := s.take(f.Card); problem != "" {
			return problem
		}
		s.discardWeapon()
		s.weapon.card = f.Card
	case FactPotionDrunk:
		if f.HealthBefore != int(s.health) {
			return "the health before the potion is another"
		}
		if problem := s.take(f.Card); problem != "" {
			return problem
		}
		if f.Healed < 0 || f.Healed > MaxHealth-int(s.health) {
			return "the health healed is out of range"
		}
		s.health += int8(f.Healed)
		s.potionUsed = true
		s.toDiscard(f.Card)
	case FactPotionWasted:
		if problem := s.take(f.Card); problem != "" {
			return problem
		}
		s.toDiscard(f.Card)
	case FactMonsterFought:
		return s.fight(f)
	case FactRoomCleared:
		if s.dealDue || s.toTake > 0 || s.health <= 0 {
			return "the room is not faced to the end"
		}
		s.roomsCleared++
		s.leaveRoom()
	case FactGameOver:
		return s.finish(&f.Over)
	default:
		return "there is no such fact"
	}
	return ""
}

func (s *State) start(f *Fact) string {
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

func (s *State) deal(f *Fact) string {
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

func (s *State) avoid(f *Fact) string {
	if s.dealDue || s.roomSize == 0 || f.Cards != s.room {
		return "the cards are not those of the room"
	}
	if s.moves == math.MaxUint8 {
		return "there are too many moves"
	}
	s.moves++
	n := int(s.roomSize)
	copy(s.dungeon[n:], s.dungeon[:s.dungeonSize])
	for i, c := range s.room[:n] {
		s.dungeon[n-1-i] = c
	}
	s.dungeonSize += s.roomSize
	s.room = [RoomSize]Card{}
	s.roomSize = 0
	s.leaveRoom()
	return ""
}

func (s *State) fight(f *Fact) string {
	if f.Damage < 0 || f.Damage > maxValue {
		return "the damage is out of range"
	}
	if problem := s.take(f.Card); problem != "" {
		return problem
	}
	switch f.Means {
	case MeansBareHands:
		s.toDiscard(f.Card)
	case MeansWeapon:
		w := &s.weapon
		if w.card == NoCard || int(w.killCount) == len(w.kills) {
			return "no weapon can take the monster"
		}
		w.kills[w.killCount] = f.Card
		w.killCount++
	default:
		return "there is no such means of fighting"
	}
	s.health -= int8(f.Damage)
	return ""
}

func (s *State) finish(over *Over) string {
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
	i := s.roomIndex(c)
	if i < 0 {
		return "the card is not in the room"
	}
	if s.moves == math.MaxUint8 {
		return "there are too many moves"
	}
	copy(s.room[i:], s.room[i+1:s.roomSize])
	s.roomSize--
	s.room[s.roomSize] = NoCard
	s.moves++
	s.toTake--
	s.canAvoid = false
	return ""
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

// discardWeapon discards the player's weapon, if any, and then the monsters on it, oldest first.
func (s *State) discardWeapon() {
	if s.weapon.card == NoCard {
		return
	}
	s.toDiscard(s.weapon.card)
	for _, c := range s.weapon.kills[:s.weapon.killCount] {
		s.toDiscard(c)
	}
	s.weapon = heldWeapon{}
}
