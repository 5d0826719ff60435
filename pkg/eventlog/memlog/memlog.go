// Package memlog is an event log in memory, for tests: it keeps the promises of
// eventlog.Log, but for durability. It is also the shortest way to read what
// those promises are.
package memlog

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
)

// Log is an event log in memory. Its zero value is not usable; see New.
type Log struct {
	maxEvent, maxStream int

	mu      sync.Mutex
	streams map[string]*stream
	grown   chan struct{} // closed and replaced by every append
}

type stream struct {
	incarnation string
	events      []eventlog.Stored // the event of sequence n at n-1
	bytes       int
	last        map[owner]int // index of the last event of a game or control subject
}

// owner is what events follow each other in: a game or a control subject.
type owner struct {
	game    eventlog.GameID
	control eventlog.ControlSubject
}

// stream returns the name of the stream that holds the events of o.
func (o owner) stream() string {
	if !o.control.IsZero() {
		return eventlog.ControlStream
	}
	return o.game.Epoch().Stream()
}

// String names o in errors.
func (o owner) String() string {
	if !o.control.IsZero() {
		return "control subject " + o.control.String()
	}
	return "game " + o.game.String()
}

// Option changes a log.
type Option func(*Log)

// MaxEventBytes makes Append answer ErrTooLarge to events of more bytes; 64 KiB
// without it.
func MaxEventBytes(n int) Option { return func(l *Log) { l.maxEvent = n } }

// MaxStreamBytes makes Append answer ErrFull when a stream's events would take
// more bytes; there is no limit without it.
func MaxStreamBytes(n int) Option { return func(l *Log) { l.maxStream = n } }

// New returns an empty log.
func New(options ...Option) *Log {
	l := &Log{maxEvent: 64 << 10, maxStream: math.MaxInt, streams: map[string]*stream{}, grown: make(chan struct{})}
	for _, o := range options {
		o(l)
	}
	return l
}

// Provision implements eventlog.Log.
func (l *Log) Provision(ctx context.Context, epoch eventlog.Epoch) error {
	return l.provision(ctx, epoch.Stream())
}

// ProvisionControl implements eventlog.Log.
func (l *Log) ProvisionControl(ctx context.Context) error {
	return l.provision(ctx, eventlog.ControlStream)
}

func (l *Log) provision(ctx context.Context, name string) error {
	if err := alive(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.streams[name] == nil {
		var id [8]byte
		rand.Read(id[:])
		l.streams[name] = &stream{incarnation: hex.EncodeToString(id[:]), last: map[owner]int{}}
	}
	return nil
}

// Append implements eventlog.Log.
func (l *Log) Append(ctx context.Context, game eventlog.GameID, after eventlog.Revision, e eventlog.Event) (eventlog.Position, error) {
	return l.append(ctx, owner{game: game}, after, e)
}

// AppendControl implements eventlog.Log.
func (l *Log) AppendControl(ctx context.Context, subject eventlog.ControlSubject, after eventlog.Revision, e eventlog.Event) (eventlog.Position, error) {
	return l.append(ctx, owner{control: subject}, after, e)
}

func (l *Log) append(ctx context.Context, of owner, after eventlog.Revision, e eventlog.Event) (eventlog.Position, error) {
	if err := alive(ctx); err != nil {
		return eventlog.Position{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	name := of.stream()
	s := l.streams[name]
	if s == nil {
		return eventlog.Position{}, fmt.Errorf("%w: stream %s", eventlog.ErrNotFound, name)
	}
	size := len(e.Data) + len(e.ID) + len(e.Type) + len(e.RequestID)
	if size > l.maxEvent {
		return eventlog.Position{}, fmt.Errorf("%w: %d bytes", eventlog.ErrTooLarge, size)
	}
	var last eventlog.Revision
	if i, ok := s.last[of]; ok {
		last = eventlog.Revision(i + 1)
	}
	if last != after {
		// The event itself may be what follows: then it is stored already.
		rest := s.events[min(uint64(after), uint64(len(s.events))):]
		next := slices.IndexFunc(rest, func(old eventlog.Stored) bool { return (owner{old.Game, old.Control}) == of })
		if next >= 0 && rest[next].ID == e.ID {
			return rest[next].Position, nil
		}
		return eventlog.Position{}, fmt.Errorf("%w: %s is at revision %d, not %d", eventlog.ErrConflict, of, last, after)
	}
	if s.bytes+size > l.maxStream {
		return eventlog.Position{}, fmt.Errorf("%w: stream %s", eventlog.ErrFull, name)
	}
	s.bytes += size
	e.Data = slices.Clone(e.Data)
	p := eventlog.Position{Stream: name, Incarnation: s.incarnation, Sequence: uint64(len(s.events) + 1)}
	s.last[of] = len(s.events)
	s.events = append(s.events, eventlog.Stored{Event: e, Game: of.game, Control: of.control, Position: p, StoredAt: time.Now()}) //nolint:forbidigo // the log's own clock
	close(l.grown)
	l.grown = make(chan struct{})
	return p, nil
}

// Load implements eventlog.Log.
func (l *Log) Load(ctx context.Context, game eventlog.GameID) (eventlog.Stored, error) {
	return l.load(ctx, owner{game: game})
}

// LoadControl implements eventlog.Log.
func (l *Log) LoadControl(ctx context.Context, subject eventlog.ControlSubject) (eventlog.Stored, error) {
	return l.load(ctx, owner{control: subject})
}

func (l *Log) load(ctx context.Context, of owner) (eventlog.Stored, error) {
	if err := alive(ctx); err != nil {
		return eventlog.Stored{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.streams[of.stream()]; s != nil {
		if i, ok := s.last[of]; ok {
			return read(s.events[i]), nil
		}
	}
	return eventlog.Stored{}, fmt.Errorf("%w: %s", eventlog.ErrNotFound, of)
}

// History implements eventlog.Log.
func (l *Log) History(ctx context.Context, game eventlog.GameID, from uint64) iter.Seq2[eventlog.Stored, error] {
	return func(yield func(eventlog.Stored, error) bool) {
		if err := alive(ctx); err != nil {
			yield(eventlog.Stored{}, err)
			return
		}
		events, grown := l.since(game.Epoch().Stream(), 1)
		if grown == nil {
			yield(eventlog.Stored{}, fmt.Errorf("%w: stream %s", eventlog.ErrNotFound, game.Epoch().Stream()))
			return
		}
		for _, e := range events {
			if e.Game == game && e.Version >= from && !yield(read(e), nil) {
				return
			}
		}
	}
}

// Streams implements eventlog.Log.
func (l *Log) Streams(ctx context.Context) ([]eventlog.StreamInfo, error) {
	if err := alive(ctx); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []eventlog.StreamInfo
	for name, s := range l.streams {
		if name != eventlog.ControlStream {
			list = append(list, s.info(name))
		}
	}
	slices.SortFunc(list, func(a, b eventlog.StreamInfo) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// ControlInfo implements eventlog.Log.
func (l *Log) ControlInfo(ctx context.Context) (eventlog.StreamInfo, error) {
	if err := alive(ctx); err != nil {
		return eventlog.StreamInfo{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.streams[eventlog.ControlStream]
	if s == nil {
		return eventlog.StreamInfo{}, fmt.Errorf("%w: stream %s", eventlog.ErrNotFound, eventlog.ControlStream)
	}
	return s.info(eventlog.ControlStream), nil
}

func (s *stream) info(name string) eventlog.StreamInfo {
	return eventlog.StreamInfo{Name: name, Incarnation: s.incarnation, FirstSequence: 1, LastSequence: uint64(len(s.events))}
}

// Event implements eventlog.Log.
func (l *Log) Event(ctx context.Context, stream string, sequence uint64) (eventlog.Stored, error) {
	if err := alive(ctx); err != nil {
		return eventlog.Stored{}, err
	}
	events, _ := l.since(stream, sequence)
	if sequence == 0 || len(events) == 0 {
		return eventlog.Stored{}, fmt.Errorf("%w: %s sequence %d", eventlog.ErrNotFound, stream, sequence)
	}
	return read(events[0]), nil
}

// Tail implements eventlog.Log.
func (l *Log) Tail(ctx context.Context, stream string, from uint64) iter.Seq2[eventlog.Stored, error] {
	return func(yield func(eventlog.Stored, error) bool) {
		for next := max(from, 1); ctx.Err() == nil; {
			events, grown := l.since(stream, next)
			if grown == nil {
				yield(eventlog.Stored{}, fmt.Errorf("%w: stream %s", eventlog.ErrNotFound, stream))
				return
			}
			for _, e := range events {
				if ctx.Err() != nil || !yield(read(e), nil) {
					return
				}
				next++
			}
			if len(events) > 0 {
				continue
			}
			select {
			case <-grown:
			case <-ctx.Done():
			}
		}
	}
}

// Ready implements eventlog.Log.
func (l *Log) Ready(ctx context.Context) error { return alive(ctx) }

// since returns the events of a stream from a sequence on, and a channel that
// is closed when there are more; nil where there is no such stream.
func (l *Log) since(name string, from uint64) ([]eventlog.Stored, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.streams[name]
	if s == nil {
		return nil, nil
	}
	// Events are never changed, so the slice may be read without the lock.
	return s.events[min(max(from, 1)-1, uint64(len(s.events))):], l.grown
}

// read returns a copy of an event, which the caller may do with as it likes.
func read(e eventlog.Stored) eventlog.Stored {
	e.Data = slices.Clone(e.Data)
	return e
}

// alive makes a context that has ended look as it does over a network.
func alive(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", eventlog.ErrUnavailable, err)
	}
	return nil
}
