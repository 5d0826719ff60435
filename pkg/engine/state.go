package engine

import (
	"errors"
	"fmt"
	"math"
)

// State is a game at one moment. It is a plain value without pointers: copies are independent and
// cheap, and == tells whether two games are at the same point in every respect. Only [NewGame],
// [NewGameWithDeck], [State.Evolve] and [DecodeState] make states; the zero State is a game without
// cards that can only be looked at.
//
// Slots of the arrays that are not in use are zero, otherwise == would not mean what it says.
type State struct {
	rules        Ruleset
	seed         Seed
	status       Status
	health       int8
	toTake       uint8 // cards of the room still to be taken
	canAvoid     bool
	potionUsed   bool // the room's potion allowance is used
	dealDue      bool // the room is left and the next one not dealt yet
	roomsCleared uint8
	moves        uint8
	room         [RoomSize]Card // from the left
	roomSize     uint8
	dungeon      [cardCount]Card // the bottom first, so that the top is cheap to take
	dungeonSize  uint8
	discard      [cardCount]Card // in the order of discarding
	discardSize  uint8
	weapon       heldWeapon
	upgrades     [upgradeCount]Card // under the weapon, oldest first
	upgradesSize uint8
	companion    companion
	bearer       Card              // in the party; NoCard without one
	stored       [potionCount]Card // with the bearer, in the order of storing
	storedSize   uint8
	recycled     cardSet    // put back into the dungeon by a move
	drawn        uint16     // how many bytes of the seed's stream are used up
	end          finalCount // set when the game is over
}

// How many cards of a kind the decks have: no pile of them can be larger.
const (
	monsterCount = 26
	potionCount  = 9
	upgradeCount = 4
)

// finalCount holds those fields of [Over] that the state does not hold anyway.
type finalCount struct {
	rules            Ruleset
	lastCard         Card
	lastUse          LastUse
	lastHealthBefore int8
	dungeonValue     uint8
	roomValue        uint8
}

// WeaponView is a weapon in hand as players see it.
type WeaponView struct {
	Card     Card
	Power    int    // what it takes off a monster's value
	Kills    []Card // the monsters on it, oldest first
	Upgrades []Card // the blacksmiths under it, oldest first
	Limited  bool   // whether Limit holds; a weapon without kills hits anything
	Limit    int    // the highest value of a monster it may still hit
}

// ErrBadDeck is wrapped by the errors about decks that [NewGameWithDeck] refuses.
var ErrBadDeck = errors.New("not a deck")

// NewGame returns a game by r with the deck shuffled from seed, before its first room is dealt: the
// facts of [State.Open] do that. The error is that of [Ruleset.Validate].
func NewGame(r Ruleset, seed Seed) (State, error) {
	if err := r.Validate(); err != nil {
		return State{}, err
	}
	s := State{rules: r, seed: seed}
	deck, drawn := shuffle(r, seed)
	s.drawn = drawn
	s.fillDungeon(deck)
	return s, nil
}

// NewGameWithDeck returns a game by r on a dungeon laid by hand, the top first, for tests. The deck may be
// short, but it must hold at least one card, no card twice and only cards of r; otherwise the error wraps
// [ErrBadDeck]. An invalid r gives the error of [Ruleset.Validate].
func NewGameWithDeck(r Ruleset, deck []Card) (State, error) {
	return RestoreGame(r, Seed{}, deck, 0)
}

// RestoreGame returns the game that was shuffled from seed into deck, before its first room is dealt; drawn
// is what [State.Drawn] was then. It takes the recorded deck as it is and does not shuffle again, so that a
// game stays what it was whatever becomes of the shuffle. Its errors are those of [NewGameWithDeck].
func RestoreGame(r Ruleset, seed Seed, deck []Card, drawn int) (State, error) {
	if err := r.Validate(); err != nil {
		return State{}, err
	}
	if len(deck) == 0 {
		return State{}, fmt.Errorf("%w: it has no cards", ErrBadDeck)
	}
	if drawn < 0 || drawn > math.MaxUint16 {
		return State{}, fmt.Errorf("%w: its shuffle cannot have used %d bytes", ErrBadDeck, drawn)
	}
	var seen cardSet
	for _, c := range deck {
		if r.Role(c) == 0 {
			return State{}, fmt.Errorf("%w: %v is not in the ruleset %s", ErrBadDeck, c, r.ID())
		}
		if !seen.add(c) {
			return State{}, fmt.Errorf("%w: %v is in it twice", ErrBadDeck, c)
		}
	}
	s := State{rules: r, seed: seed, drawn: uint16(drawn)}
	s.fillDungeon(deck)
	return s, nil
}

// fillDungeon lays the deck, the top first, as the whole dungeon.
func (s *State) fillDungeon(deck []Card) {
	for i, c := range deck {
		s.dungeon[len(deck)-1-i] = c
	}
	s.dungeonSize = uint8(len(deck))
}

// cardSet is a set of cards.
type cardSet uint64

// add puts c in the set and says whether it was new.
func (set *cardSet) add(c Card) bool {
	bit := cardSet(1) << c
	isNew := *set&bit == 0
	*set |= bit
	return isNew
}

// has says whether c is in the set.
func (set *cardSet) has(c Card) bool { return *set>>c&1 != 0 }

// Rules returns what the game is played by.
func (s *State) Rules() Ruleset { return s.rules }

// Status says whether the game goes on or how it ended.
func (s *State) Status() Status { return s.status }

// Health returns the player's health, at most [MaxHealth]. It is 0 or below exactly in lost games (where
// it is not clamped) and before the game is opened.
func (s *State) Health() int { return int(s.health) }

// Room returns the face-up cards from left to right.
func (s *State) Room() []Card { return s.AppendRoom(nil) }

// AppendRoom appends the face-up cards from left to right.
func (s *State) AppendRoom(dst []Card) []Card { return append(dst, s.room[:s.roomSize]...) }

// ToTake returns how many more cards of the room must be taken before it is cleared. It keeps its last
// value when the game ends.
func (s *State) ToTake() int { return int(s.toTake) }

// CanAvoid says whether [MoveAvoid] is legal.
func (s *State) CanAvoid() bool { return s.playing() && s.canAvoid }

// RoomsCleared returns how many rooms were faced to the end. Avoided rooms do not count, nor does the
// one in which the player dies.
func (s *State) RoomsCleared() int { return int(s.roomsCleared) }

// RoomNumber returns the number of the current room, counted from 1 without avoided rooms; in a game
// that is over, of the room in which it ended. It is 0 before the game is opened.
func (s *State) RoomNumber() int {
	switch s.status {
	case 0:
		return 0
	case StatusWon: // nothing is dealt after the room that won
		return int(s.roomsCleared)
	default:
		return int(s.roomsCleared) + 1
	}
}

// Weapon returns the player's weapon, and whether there is one.
func (s *State) Weapon() (WeaponView, bool) {
	v, ok := s.weaponView(&s.weapon)
	v.Power = s.power()
	v.Upgrades = append([]Card(nil), s.upgrades[:s.upgradesSize]...)
	return v, ok
}

// weaponView shows w without upgrades.
func (s *State) weaponView(w *heldWeapon) (WeaponView, bool) {
	if w.card == NoCard {
		return WeaponView{}, false
	}
	limit, limited := s.weaponLimit(w)
	return WeaponView{
		Card: w.card, Power: w.card.Value(), Kills: append([]Card(nil), w.kills[:w.killCount]...),
		Limit: limit, Limited: limited,
	}, true
}

// DungeonSize returns how many cards lie face down.
func (s *State) DungeonSize() int { return int(s.dungeonSize) }

// Dungeon returns the face-down cards, the top first. This is secret until the game is over.
func (s *State) Dungeon() []Card {
	cards := make([]Card, s.dungeonSize)
	for i := range cards {
		cards[i] = s.dungeon[len(cards)-1-i]
	}
	return cards
}

// Discard returns the discard pile in the order in which the cards came to it.
func (s *State) Discard() []Card { return append([]Card(nil), s.discard[:s.discardSize]...) }

// Seed returns the seed that the game was made with, zero for a deck laid by hand. This is secret until
// the game is over.
func (s *State) Seed() Seed { return s.seed }

// Drawn returns how many bytes of the seed's stream the shuffle and the random positions since have used
// up. This is secret until the game is over.
func (s *State) Drawn() int { return int(s.drawn) }

// Moves returns how many moves were made; avoiding counts, resigning does not.
func (s *State) Moves() int { return int(s.moves) }

// Over returns how the game ended, as its [FactGameOver] told it, and whether it has ended.
func (s *State) Over() (Over, bool) {
	if !s.status.Over() {
		return Over{}, false
	}
	return Over{
		Outcome: s.status, Rules: s.end.rules, Health: int(s.health),
		LastCard: s.end.lastCard, LastUse: s.end.lastUse, LastHealthBefore: int(s.end.lastHealthBefore),
		DungeonMonsterValue: int(s.end.dungeonValue), RoomMonsterValue: int(s.end.roomValue),
		Moves: int(s.moves),
	}, true
}

// Score returns the game's score, and whether it has one: see the function [Score].
func (s *State) Score() (int, bool) {
	over, ok := s.Over()
	if !ok {
		return 0, false
	}
	return Score(over)
}

// playing says whether the player is to move: the game is on, and not in the middle of a command's
// facts.
func (s *State) playing() bool { return s.status == StatusActive && s.toTake > 0 && s.health > 0 }
