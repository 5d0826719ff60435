package projection

import (
	"cmp"
	"time"
)

// Key is a game's place in the order of a board. No two games of a log share
// one, so every order of processing leads to the same board.
//
// This is the order's definition: higher score; among wins of equal score
// fewer moves; earlier end; earlier place in the log. A store sorts by the same
// fields, Score descending and the others ascending, text by its bytes, and
// projectiontest compares the two.
type Key struct {
	// Score is the game's score.
	Score int
	// Moves counts the moves of a win. It is the greatest 32-bit number for
	// every loss: how long a loss took decides nothing.
	Moves uint32
	// EndedAt is the record time of the game's end.
	EndedAt time.Time
	// Stream and Sequence are the place of the game's last record.
	Stream   string
	Sequence uint64
}

// Compare returns a negative number if k stands above other, a positive one if
// below, and 0 for the same game.
func (k Key) Compare(other Key) int {
	return cmp.Or(
		cmp.Compare(other.Score, k.Score),
		cmp.Compare(k.Moves, other.Moves),
		k.EndedAt.Compare(other.EndedAt),
		cmp.Compare(k.Stream, other.Stream),
		cmp.Compare(k.Sequence, other.Sequence),
	)
}
