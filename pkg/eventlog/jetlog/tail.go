package jetlog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
)

const (
	// tailHeartbeat is how often the server tells a waiting tail that it is
	// there. Two missing ones end the tail.
	tailHeartbeat = time.Second
	// tailAhead is how many records a tail asks for before it has read them: some
	// megabytes, with which the server is never waited for while a log is read whole.
	tailAhead = 10_000
	// tailIdle is how long the server keeps the consumer of a tail that has
	// stopped asking.
	tailIdle = time.Minute
)

// Tail implements eventlog.Log. ErrUnavailable where the connection is lost,
// the server falls silent or a delivery is missing.
//
// It reads through a consumer that lives in the server's memory and is never
// acknowledged, as an ordered consumer of the client library does. But that one
// replaces its consumer on its own, also in a stream that was deleted and
// created anew, and would then wait in silence for sequences that the new
// stream has not reached. Here the caller starts again, and sees the
// incarnation.
func (l *Log) Tail(ctx context.Context, stream string, from uint64) iter.Seq2[eventlog.Stored, error] {
	return func(yield func(eventlog.Stored, error) bool) {
		connected, cancel := l.whileConnected(ctx)
		defer cancel()
		s, messages, err := l.consume(connected, stream, max(from, 1))
		if err == nil {
			defer messages.Stop()
		}
		delivered := uint64(0)
		for next := max(from, 1); ; next++ {
			var e eventlog.Stored
			if err == nil {
				delivered++
				e, err = s.next(connected, messages, delivered, next)
			}
			if ctx.Err() != nil || !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// errDisconnected: the connection to the server is lost.
var errDisconnected = errors.New("NATS connection lost")

// whileConnected returns a context that also ends when the connection is lost.
// The client library would wait for its return in silence.
func (l *Log) whileConnected(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	lost := l.js.Conn().StatusChanged(nats.RECONNECTING, nats.CLOSED)
	go func() { // ends with ctx
		defer l.js.Conn().RemoveStatusListener(lost)
		select {
		case <-lost:
			cancel(errDisconnected)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// consume makes a consumer of a stream.
func (l *Log) consume(ctx context.Context, name string, from uint64) (*stream, jetstream.MessagesContext, error) {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.ReadTimeout)
	defer cancel()
	if _, err := l.stream(ctx, name); err != nil {
		return nil, nil, err
	}
	consumer, err := l.js.CreateConsumer(ctx, name, jetstream.ConsumerConfig{
		DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:       from,
		AckPolicy:         jetstream.AckNonePolicy,
		MemoryStorage:     true,
		Replicas:          1,
		InactiveThreshold: tailIdle,
	})
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		l.forget(name)
		return nil, nil, fmt.Errorf("%w: tail of %s: %w", eventlog.ErrNotFound, name, err)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: tail of %s: %w", eventlog.ErrUnavailable, name, err)
	}
	// A consumer goes with its stream. So if it delivers anything from here on,
	// it is that of the stream which is seen now, or of none.
	s, err := l.look(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	messages, err := consumer.Messages(jetstream.PullHeartbeat(tailHeartbeat), jetstream.PullMaxMessages(tailAhead))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: tail of %s: %w", eventlog.ErrUnavailable, name, err)
	}
	return s, messages, nil
}

// next waits for a message that must be the consumer's delivery of that number
// and the stream's event at a sequence.
func (s *stream) next(ctx context.Context, messages jetstream.MessagesContext, delivery, sequence uint64) (eventlog.Stored, error) {
	msg, err := messages.Next(jetstream.NextContext(ctx))
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return eventlog.Stored{}, fmt.Errorf("%w: tail of %s: %w", eventlog.ErrUnavailable, s.name, err)
	}
	meta, err := msg.Metadata()
	switch {
	case err != nil:
		return eventlog.Stored{}, fmt.Errorf("%w: a delivery of %s: %w", eventlog.ErrDamaged, s.name, err)
	case meta.Sequence.Consumer != delivery:
		return eventlog.Stored{}, fmt.Errorf("%w: delivery %d of %s was lost", eventlog.ErrUnavailable, delivery, s.name)
	case meta.Sequence.Stream != sequence:
		return eventlog.Stored{}, fmt.Errorf("%w: %s has sequence %d where %d belongs", eventlog.ErrDamaged, s.name, meta.Sequence.Stream, sequence)
	}
	return readEvent(msg.Subject(), msg.Headers(), msg.Data(), s.at(sequence), meta.Timestamp)
}
