package profile

import (
	"context"
	"errors"
)

// Errors of a [Store].
var (
	// ErrUnavailable: the store cannot be reached. A change with this error may
	// have been made; making it again is safe.
	ErrUnavailable = errors.New("profile store unavailable")
	// ErrFull: the store has no room for the change, which was not made.
	ErrFull = errors.New("profile store full")
)

// Store keeps one display name per player. A player id is 1 to 64 letters,
// digits, '.', '_' or '-'; a name is whatever it is given, and never empty.
//
// All methods are safe for concurrent use. A call whose context ended fails with
// the context's error.
type Store interface {
	// Get returns a player's name, or *NotFoundError. ErrUnavailable.
	Get(ctx context.Context, playerID string) (string, error)
	// Names returns the names of those players who have one: all of them, or it
	// fails with ErrUnavailable.
	Names(ctx context.Context, playerIDs []string) (map[string]string, error)
	// Set gives a player a name, in place of the one before, and returns once it
	// is durable. ErrUnavailable, ErrFull.
	Set(ctx context.Context, playerID, name string) error
	// Delete erases a player's name and all before it, if there are any, and
	// returns once that is durable. ErrUnavailable, ErrFull.
	Delete(ctx context.Context, playerID string) error
	// Ready tells whether the store can be used now. ErrUnavailable.
	Ready(ctx context.Context) error
}
