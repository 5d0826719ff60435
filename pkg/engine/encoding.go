package engine

import "fmt"

// StateEncoding is the version of the encoding that [State.AppendBinary] writes and [DecodeState]
// reads. It is the first byte of the data and grows with every change of the layout or its meaning.
const StateEncoding = 1

// The layout: one byte for each field in the order of encodeHeader, the seed, then the cards of the
// dungeon (top first), the room, the weapon's kills and the discard pile. The length depends on the
// number of cards and on whether a weapon is held, and tells nothing about the order of hidden cards.
const (
	headerSize = 27
	cardsStart = headerSize + len(Seed{})
)

const (
	flagCanAvoid = 1 << iota
	flagPotionUsed
	flagDealDue
)

// EncodingError reports data that [DecodeState] cannot read, or a state that cannot be encoded.
type EncodingError struct {
	Problem string
}

// Error names the problem. It quotes no data.
func (e *EncodingError) Error() string { return "encoded state: " + e.Problem }

// AppendBinary appends the state's encoding; its error is an [*EncodingError] for the zero State, which is
// no game, and nil otherwise. The encoding holds the undealt cards and the seed: it must be sealed
// wherever it is stored. Equal states have equal encodings.
func (s *State) AppendBinary(dst []byte) ([]byte, error) {
	if s.dungeonSize == 0 && s.status == 0 {
		return dst, &EncodingError{Problem: "the state is no game"}
	}
	header := s.encodeHeader()
	dst = append(dst, header[:]...)
	dst = append(dst, s.seed[:]...)
	for i := int(s.dungeonSize) - 1; i >= 0; i-- {
		dst = append(dst, byte(s.dungeon[i]))
	}
	for _, pile := range [...][]Card{s.room[:s.roomSize], s.weapon.kills[:s.weapon.killCount], s.discard[:s.discardSize]} {
		for _, c := range pile {
			dst = append(dst, byte(c))
		}
	}
	return dst, nil
}

// MarshalBinary is [State.AppendBinary] to a new slice.
func (s *State) MarshalBinary() ([]byte, error) {
	return s.AppendBinary(make([]byte, 0, cardsStart+int(cardCount)))
}

func (s *State) encodeHeader() [headerSize]byte {
	var flags byte
	if s.canAvoid {
		flags |= flagCanAvoid
	}
	if s.potionUsed {
		flags |= flagPotionUsed
	}
	if s.dealDue {
		flags |= flagDealDue
	}
	r, end := &s.rules, &s.end
	return [headerSize]byte{
		StateEncoding,
		byte(r.WeaponWear), byte(r.Ending), byte(r.WinBonus), byte(r.LossScore), r.Depth,
		byte(s.status), byte(s.health), flags, s.toTake, s.roomsCleared, s.moves,
		byte(end.rules.WeaponWear), byte(end.rules.Ending), byte(end.rules.WinBonus), byte(end.rules.LossScore), end.rules.Depth,
		byte(end.lastCard), byte(end.lastUse), byte(end.lastHealthBefore), end.dungeonValue, end.roomValue,
		byte(s.weapon.card), s.dungeonSize, s.roomSize, s.weapon.killCount, s.discardSize,
	}
}

// DecodeState returns the state that data is the encoding of. It accepts any bytes: what is not the
// encoding of a state that facts can lead to in a game by a valid ruleset (every card in exactly one
// place, numbers in range) gives an [*EncodingError].
func DecodeState(data []byte) (State, error) {
	s, problem := decode(data)
	if problem == "" {
		problem = s.problem()
	}
	if problem != "" {
		return State{}, &EncodingError{Problem: problem}
	}
	return s, nil
}

func decode(data []byte) (s State, problem string) {
	if len(data) == 0 {
		return s, "it is empty"
	}
	if data[0] != StateEncoding {
		return s, fmt.Sprintf("its version %d is not %d", data[0], StateEncoding)
	}
	if len(data) < cardsStart {
		return s, "it is too short"
	}
	h, cards := data[:headerSize], data[cardsStart:]
	flags := h[8]
	if flags > flagCanAvoid|flagPotionUsed|flagDealDue {
		return s, "it has an unknown flag"
	}
	s = State{
		rules:  Ruleset{WeaponWear(h[1]), Ending(h[2]), WinBonus(h[3]), LossScore(h[4]), h[5]},
		seed:   Seed(data[headerSize:cardsStart]),
		status: Status(h[6]), health: int8(h[7]),
		canAvoid: flags&flagCanAvoid != 0, potionUsed: flags&flagPotionUsed != 0, dealDue: flags&flagDealDue != 0,
		toTake: h[9], roomsCleared: h[10], moves: h[11],
		end: finalCount{
			rules:    Ruleset{WeaponWear(h[12]), Ending(h[13]), WinBonus(h[14]), LossScore(h[15]), h[16]},
			lastCard: Card(h[17]), lastUse: LastUse(h[18]), lastHealthBefore: int8(h[19]), dungeonValue: h[20], roomValue: h[21],
		},
		weapon:      heldWeapon{card: Card(h[22]), killCount: h[25]},
		dungeonSize: h[23], roomSize: h[24], discardSize: h[26],
	}
	total := int(s.dungeonSize) + int(s.roomSize) + int(s.weapon.killCount) + int(s.discardSize)
	if len(cards) != total || total > int(cardCount) || int(s.roomSize) > len(s.room) || int(s.weapon.killCount) > len(s.weapon.kills) {
		return s, "its length does not fit its cards"
	}
	next := func(n uint8) []byte {
		pile := cards[:n]
		cards = cards[n:]
		return pile
	}
	for i, c := range next(s.dungeonSize) {
		s.dungeon[int(s.dungeonSize)-1-i] = Card(c)
	}
	for i, c := range next(s.roomSize) {
		s.room[i] = Card(c)
	}
	for i, c := range next(s.weapon.killCount) {
		s.weapon.kills[i] = Card(c)
	}
	for i, c := range next(s.discardSize) {
		s.discard[i] = Card(c)
	}
	return s, ""
}

// problem says what keeps s from being a game, "" if nothing does. These are the invariants that
// Evolve keeps whatever facts it is given.
func (s *State) problem() string {
	if err := s.rules.Validate(); err != nil {
		return err.Error()
	}
	if s.status > StatusAbandoned {
		return "there is no such status"
	}
	if problem := s.cardProblem(); problem != "" {
		return problem
	}
	// Each card out of play was one move, and each cleared room at least one of these.
	taken := int(s.discardSize) + int(s.weapon.killCount)
	if s.weapon.card != NoCard {
		taken++
	}
	switch {
	case s.health < 1-maxValue || s.health > MaxHealth:
		return "the health is out of range"
	case s.toTake > s.roomSize,
		s.canAvoid && s.toTake == 0,
		s.dealDue && (s.toTake > 0 || s.potionUsed || s.roomSize == RoomSize):
		return "the room contradicts itself"
	case int(s.moves) < taken || int(s.roomsCleared) > taken:
		return "the counts contradict the cards taken"
	case s.status.Over() && !s.end.valid(),
		!s.status.Over() && s.end != finalCount{}:
		return "the final count contradicts the status"
	case s.status == 0:
		fresh := State{rules: s.rules, seed: s.seed, dungeon: s.dungeon, dungeonSize: s.dungeonSize}
		if *s != fresh || s.dungeonSize == 0 {
			return "a game that has not started has been played"
		}
	}
	return ""
}

// cardProblem says what is wrong with the cards, "" if each is of the ruleset and in one place.
func (s *State) cardProblem() string {
	var seen cardSet
	for _, pile := range [...][]Card{
		s.dungeon[:s.dungeonSize], s.room[:s.roomSize], s.weapon.kills[:s.weapon.killCount], s.discard[:s.discardSize],
	} {
		for _, c := range pile {
			if s.rules.Role(c) == 0 {
				return "a card is not in the ruleset"
			}
			if !seen.add(c) {
				return "a card is in two places"
			}
		}
	}
	if w := s.weapon; w.card == NoCard {
		if w.killCount > 0 {
			return "monsters lie on no weapon"
		}
	} else if s.rules.Role(w.card) == 0 {
		return "a card is not in the ruleset"
	} else if !seen.add(w.card) {
		return "a card is in two places"
	}
	return ""
}
