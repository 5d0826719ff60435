package engine

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// StateEncoding is the version of the encoding that [State.AppendBinary] writes and [DecodeState]
// reads. It is the first byte of the data and grows with every change of the layout or its meaning.
const StateEncoding = 2

// The layout: the header, one byte for each field in the order of encodeHeader, the seed, then the cards
// of each pile in the order of piles, the dungeon's top first. The length depends on the number of cards and
// on what is held, and tells nothing about the order of hidden cards.
const (
	headerSize = 48
	cardsStart = headerSize + len(Seed{})
)

const (
	flagCanAvoid = 1 << iota
	flagPotionUsed
	flagDealDue
)

// pile is one place where cards lie, and how many do.
type pile struct {
	cards []Card
	size  *uint8
}

// piles returns the places of the state that hold any number of cards.
func (s *State) piles() [7]pile {
	return [...]pile{
		{s.dungeon[:], &s.dungeonSize}, {s.room[:], &s.roomSize}, {s.weapon.kills[:], &s.weapon.killCount},
		{s.upgrades[:], &s.upgradesSize}, {s.companion.weapon.kills[:], &s.companion.weapon.killCount},
		{s.stored[:], &s.storedSize}, {s.discard[:], &s.discardSize},
	}
}

// places returns the places of the state that hold one card or none.
func (s *State) places() [4]*Card {
	return [...]*Card{&s.weapon.card, &s.companion.card, &s.companion.weapon.card, &s.bearer}
}

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
	dst = s.appendHeader(dst)
	dst = append(dst, s.seed[:]...)
	for i := int(s.dungeonSize) - 1; i >= 0; i-- {
		dst = append(dst, byte(s.dungeon[i]))
	}
	piles := s.piles()
	for _, p := range piles[1:] {
		for _, c := range p.cards[:*p.size] {
			dst = append(dst, byte(c))
		}
	}
	return dst, nil
}

// MarshalBinary is [State.AppendBinary] to a new slice.
func (s *State) MarshalBinary() ([]byte, error) {
	return s.AppendBinary(make([]byte, 0, cardsStart+int(cardCount)))
}

func (s *State) appendHeader(dst []byte) []byte {
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
	end := &s.end
	dst = append(dst, StateEncoding)
	dst = appendRuleset(dst, s.rules)
	dst = append(dst, byte(s.status), byte(s.health), flags, s.toTake, s.roomsCleared, s.moves)
	dst = appendRuleset(dst, end.rules)
	dst = append(dst, byte(end.lastCard), byte(end.lastUse), byte(end.lastHealthBefore), end.dungeonValue, end.roomValue)
	dst = append(dst, s.companion.health)
	dst = binary.BigEndian.AppendUint64(dst, uint64(s.recycled))
	dst = binary.BigEndian.AppendUint16(dst, s.drawn)
	for _, c := range s.places() {
		dst = append(dst, byte(*c))
	}
	for _, p := range s.piles() {
		dst = append(dst, *p.size)
	}
	return dst
}

// appendRuleset appends a byte for each field.
func appendRuleset(dst []byte, r Ruleset) []byte {
	return append(dst, byte(r.WeaponWear), byte(r.Ending), byte(r.WinBonus), byte(r.LossScore), r.Depth, byte(r.Variants), r.CompanionHealth)
}

// decodeRuleset reads what appendRuleset wrote.
func decodeRuleset(b [7]byte) Ruleset {
	return Ruleset{WeaponWear(b[0]), Ending(b[1]), WinBonus(b[2]), LossScore(b[3]), b[4], VariantSet(b[5]), b[6]}
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
	flags := h[10]
	if flags > flagCanAvoid|flagPotionUsed|flagDealDue {
		return s, "it has an unknown flag"
	}
	s = State{
		rules:  decodeRuleset([7]byte(h[1:8])),
		seed:   Seed(data[headerSize:cardsStart]),
		status: Status(h[8]), health: int8(h[9]),
		canAvoid: flags&flagCanAvoid != 0, potionUsed: flags&flagPotionUsed != 0, dealDue: flags&flagDealDue != 0,
		toTake: h[11], roomsCleared: h[12], moves: h[13],
		end: finalCount{
			rules:    decodeRuleset([7]byte(h[14:21])),
			lastCard: Card(h[21]), lastUse: LastUse(h[22]), lastHealthBefore: int8(h[23]), dungeonValue: h[24], roomValue: h[25],
		},
		companion: companion{health: h[26]},
		recycled:  cardSet(binary.BigEndian.Uint64(h[27:])),
		drawn:     binary.BigEndian.Uint16(h[35:]),
	}
	for i, c := range s.places() {
		*c = Card(h[37+i])
	}
	for i, p := range s.piles() {
		size := int(h[41+i])
		if size > len(p.cards) || size > len(cards) {
			return s, "its length does not fit its cards"
		}
		*p.size = uint8(size)
		for j, c := range cards[:size] {
			p.cards[j] = Card(c)
		}
		cards = cards[size:]
	}
	if len(cards) > 0 {
		return s, "its length does not fit its cards"
	}
	slices.Reverse(s.dungeon[:s.dungeonSize])
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
	// Each card that left the row was one move, and each cleared room at least one of these.
	taken := 0
	piles := s.piles()
	for _, p := range piles[2:] {
		taken += int(*p.size)
	}
	for _, c := range s.places() {
		if *c != NoCard {
			taken++
		}
	}
	switch {
	case s.health < 1-maxValue || s.health > MaxHealth:
		return "the health is out of range"
	case s.toTake > s.roomSize,
		s.canAvoid && s.toTake == 0,
		s.dealDue && (s.toTake > 0 || s.potionUsed):
		return "the room contradicts itself"
	case int(s.moves) < taken || int(s.roomsCleared) > int(s.moves):
		return "the counts contradict the cards taken"
	case s.status.Over() && !s.end.valid(),
		!s.status.Over() && s.end != finalCount{}:
		return "the final count contradicts the status"
	case s.status == 0:
		fresh := State{rules: s.rules, seed: s.seed, drawn: s.drawn, dungeon: s.dungeon, dungeonSize: s.dungeonSize}
		if *s != fresh || s.dungeonSize == 0 {
			return "a game that has not started has been played"
		}
	}
	return ""
}

// cardProblem says what is wrong with the cards, "" if each is of the ruleset and in one place.
func (s *State) cardProblem() string {
	var seen cardSet
	piles := s.piles()
	for _, p := range piles {
		for _, c := range p.cards[:*p.size] {
			if s.rules.Role(c) == 0 {
				return "a card is not in the ruleset"
			}
			if !seen.add(c) {
				return "a card is in two places"
			}
		}
	}
	for _, c := range s.places() {
		if *c == NoCard {
			continue
		}
		if s.rules.Role(*c) == 0 {
			return "a card is not in the ruleset"
		}
		if !seen.add(*c) {
			return "a card is in two places"
		}
	}
	switch {
	case s.weapon.card == NoCard && s.weapon.killCount+s.upgradesSize > 0,
		s.companion.weapon.card == NoCard && s.companion.weapon.killCount > 0:
		return "cards lie on no weapon"
	case s.companion.card == NoCard && (s.companion.health > 0 || s.companion.weapon.card != NoCard),
		s.bearer == NoCard && s.storedSize > 0:
		return "nobody in the party holds the cards"
	case s.companion.health > MaxHealth:
		return "the companion's health is out of range"
	case s.recycled>>(cardCount+1) != 0:
		return "a card that does not exist was put back"
	}
	return ""
}
