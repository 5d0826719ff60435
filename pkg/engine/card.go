package engine

import "fmt"

// Card is one card of the game, or [NoCard]. Cards are numbered in the order of the unshuffled deck.
type Card uint8

// NoCard is the zero Card: no card at all.
const NoCard Card = 0

// cardCount is the number of different cards; the highest valid Card has this number.
const cardCount = Card(len(cardNames) - 1)

// cardNames and cardValues have a row for each suit, in deck order, after the row of NoCard; the last row
// are the cards that only variants play with.
var cardNames = [...]string{
	"",
	"2C", "3C", "4C", "5C", "6C", "7C", "8C", "9C", "10C", "JC", "QC", "KC", "AC",
	"2S", "3S", "4S", "5S", "6S", "7S", "8S", "9S", "10S", "JS", "QS", "KS", "AS",
	"2D", "3D", "4D", "5D", "6D", "7D", "8D", "9D", "10D",
	"2H", "3H", "4H", "5H", "6H", "7H", "8H", "9H", "10H",
	"JD", "QD", "KD", "AD", "JH", "QH", "KH", "AH", "RJ", "BJ",
}

var cardValues = [len(cardNames)]uint8{
	0,
	2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
	2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
	2, 3, 4, 5, 6, 7, 8, 9, 10,
	2, 3, 4, 5, 6, 7, 8, 9, 10,
	11, 12, 13, 14, 11, 12, 13, 14, 0, 0,
}

// The first cards of the weapons and the potions of the base game.
const (
	twoOfDiamonds Card = 27
	twoOfHearts   Card = 36
)

// The cards that only variants play with.
const (
	jackOfDiamonds Card = iota + 45
	queenOfDiamonds
	kingOfDiamonds
	aceOfDiamonds
	jackOfHearts
	queenOfHearts
	kingOfHearts
	aceOfHearts
	redJoker
	blackJoker
)

// ParseCard reads the notation that [Card.String] writes: rank, then suit letter, in upper case ("2C",
// "10H", "QS", "RJ"). It accepts nothing else; the error is a [*NotationError].
func ParseCard(s string) (Card, error) {
	for c := Card(1); c <= cardCount; c++ {
		if cardNames[c] == s {
			return c, nil
		}
	}
	return NoCard, &NotationError{What: "card", Text: s}
}

// String returns the card's notation, such as "10H"; "" for [NoCard].
func (c Card) String() string {
	if c > cardCount {
		return fmt.Sprintf("Card(%d)", uint8(c))
	}
	return cardNames[c]
}

// Value returns what the card is worth: 2 to 10 as printed, jack 11, queen 12, king 13, ace 14.
// It is 0 for jokers, for [NoCard] and for numbers that are no card.
func (c Card) Value() int {
	if c > cardCount {
		return 0
	}
	return int(cardValues[c])
}

// NotationError reports text that is no card or no move.
type NotationError struct {
	What string // "card" or "move"
	Text string // the text as given
}

// Error quotes the first characters of the text, so that a message stays short whatever was sent.
func (e *NotationError) Error() string {
	return fmt.Sprintf("%.24q is not a %s", e.Text, e.What)
}
