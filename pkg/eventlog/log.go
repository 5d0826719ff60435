// Package eventlog is the append-only log of games: one event per accepted
// command, appended by compare-and-set on the game's last event. What concerns
// more than one game, such as a daily challenge, stands in its control stream.
//
// [Log] is the seam. memlog keeps events in memory, jetlog in NATS JetStream;
// eventlogtest is the suite that both pass. An event's content is opaque here:
// package record gives it meaning.
package eventlog

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Errors of a [Log]. An error is of one of these kinds at most, and wraps it
// with what happened.
var (
	// ErrNotFound: the game, event or stream does not exist.
	ErrNotFound = errors.New("not found in the event log")
	// ErrConflict: another event follows the expected revision, or the game has
	// not come as far. The event was not stored and never will be.
	ErrConflict = errors.New("another event was appended first")
	// ErrUnknownOutcome: the event may or may not be stored, now or later.
	// Appending the very same event again is safe at any time.
	ErrUnknownOutcome = errors.New("unknown whether the event was stored")
	// ErrUnavailable: the log cannot be reached; an append with this error was
	// not stored and never will be.
	ErrUnavailable = errors.New("event log unavailable")
	// ErrFull: the stream has no room for the event.
	ErrFull = errors.New("event log full")
	// ErrTooLarge: the event is larger than the stream accepts.
	ErrTooLarge = errors.New("event too large")
	// ErrDamaged: the log contradicts itself: a gap, a foreign event, an event
	// that cannot be read.
	ErrDamaged = errors.New("event log damaged")
)

// Revision is the stream sequence of a game's last event; 0 means none. It
// changes when a stream is restored, so it never leaves the server.
type Revision uint64

// Event is what is appended. It must not change between attempts to append it.
type Event struct {
	// ID is unique to the event: 16 bytes in lower-case hex.
	ID string
	// Version counts the events of the game, or control subject, from 1 without
	// gaps.
	Version uint64
	// Type is the event's type, for tools that read the log.
	Type string
	// RequestID is the client's id of the request, for tools; may be empty.
	RequestID string
	// Data is the encoded record.
	Data []byte
}

// Stored is an event in the log.
type Stored struct {
	Event
	// Game is the game that the event belongs to; zero in the control stream.
	Game GameID
	// Control is what the event is about in the control stream; zero elsewhere.
	Control ControlSubject
	// Position is where it is stored.
	Position Position
	// StoredAt is when the log stored it, by the log's clock.
	StoredAt time.Time
}

// Position is a place in a stream.
type Position struct {
	// Stream is the name of the stream.
	Stream string
	// Incarnation changes when a stream of the same name is created anew.
	Incarnation string
	// Sequence counts the stream's events from 1.
	Sequence uint64
}

// StreamInfo describes a stream.
type StreamInfo struct {
	Name        string
	Incarnation string
	// FirstSequence is 1 unless events were lost.
	FirstSequence uint64
	// LastSequence is 0 in an empty stream.
	LastSequence uint64
}

// Log is the event log. All methods are safe for concurrent use and honour the
// context's deadline; one that ends before anything was sent is ErrUnavailable.
type Log interface {
	// Provision makes the stream of an epoch ready for use, or verifies that
	// it is as it should be. It never changes an existing stream, and any
	// number of processes may call it at once. ErrUnavailable.
	Provision(ctx context.Context, epoch Epoch) error

	// Append stores e as the event of game that follows revision after (0 for
	// the first) and returns its position once it is durable. ErrConflict,
	// ErrUnknownOutcome, ErrUnavailable, ErrFull, ErrTooLarge; ErrNotFound
	// where the epoch's stream does not exist; ErrDamaged. Appending the same
	// event again, at any later time, returns the position of the one that is
	// stored.
	Append(ctx context.Context, game GameID, after Revision, e Event) (Position, error)

	// Load returns the last event of game as the leader of the stream knows
	// it. ErrNotFound, ErrUnavailable, ErrDamaged.
	Load(ctx context.Context, game GameID) (Stored, error)

	// History yields the events of game from version from (1 or more) on, in
	// order and without gaps; a gap or a cut answer is an error, never a
	// shorter history. It may lag behind Load where a replica answers. It
	// yields at most one error, as its last pair: ErrUnavailable, ErrDamaged,
	// or ErrNotFound where the epoch's stream does not exist. A game without
	// events has an empty history.
	History(ctx context.Context, game GameID, from uint64) iter.Seq2[Stored, error]

	// Streams lists the streams of all epochs, oldest first: all of them, or it
	// fails with ErrUnavailable.
	Streams(ctx context.Context) ([]StreamInfo, error)

	// Event returns the event at a stream sequence, with the incarnation that
	// the stream has now. ErrNotFound, ErrUnavailable, ErrDamaged.
	Event(ctx context.Context, stream string, sequence uint64) (Stored, error)

	// Tail yields the events of a stream from a sequence on, in order and
	// without holes, and goes on waiting for new ones until ctx ends, which
	// ends the iteration without an error. Anything else ends it with one:
	// ErrUnavailable, after which the caller starts again where it stopped;
	// ErrDamaged for a hole or an event that cannot be read; ErrNotFound where
	// there is no such stream.
	Tail(ctx context.Context, stream string, from uint64) iter.Seq2[Stored, error]

	// ProvisionControl makes the control stream ready for use, as Provision does
	// the stream of an epoch.
	ProvisionControl(ctx context.Context) error

	// AppendControl stores e as the event of a control subject that follows
	// revision after. It is Append, with the same promises and errors.
	AppendControl(ctx context.Context, subject ControlSubject, after Revision, e Event) (Position, error)

	// LoadControl returns the last event of a control subject as the leader of
	// the stream knows it. ErrNotFound, ErrUnavailable, ErrDamaged.
	LoadControl(ctx context.Context, subject ControlSubject) (Stored, error)

	// ControlInfo describes the control stream. ErrNotFound where it was not
	// provisioned; ErrUnavailable.
	ControlInfo(ctx context.Context) (StreamInfo, error)

	// Ready tells whether the log can be read and written now. ErrUnavailable.
	Ready(ctx context.Context) error
}
