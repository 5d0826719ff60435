package jetlog

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
)

// Tail implements eventlog.Log.
func (l *Log) Tail(ctx context.Context, stream string, from uint64) iter.Seq2[eventlog.Stored, error] {
	return func(yield func(eventlog.Stored, error) bool) {
		err := l.tail(ctx, stream, max(from, 1), yield)
		if err != nil && !errors.Is(err, errStopped) && ctx.Err() == nil {
			yield(eventlog.Stored{}, err)
		}
	}
}

func (l *Log) tail(ctx context.Context, stream string, next uint64, yield func(eventlog.Stored, error) bool) error {
	incarnation, err := l.incarnation(ctx, stream)
	if err != nil {
		return err
	}
	consumer, err := l.js.OrderedConsumer(ctx, stream, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:   next,
		// The caller starts again where it stopped; endless resets in here
		// would only hide from it that the log is away.
		MaxResetAttempts: 1,
	})
	if err != nil {
		return readError(err, "stream "+stream)
	}
	messages, err := consumer.Messages()
	if err != nil {
		return readError(err, "stream "+stream)
	}
	defer messages.Stop()
	for {
		msg, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return readError(err, "stream "+stream)
		}
		meta, err := msg.Metadata()
		if err != nil {
			return fmt.Errorf("%w: %s: %w", eventlog.ErrDamaged, stream, err)
		}
		if meta.Sequence.Stream != next {
			return fmt.Errorf("%w: %s goes from sequence %d to %d", eventlog.ErrDamaged, stream, next-1, meta.Sequence.Stream)
		}
		next++
		e, err := storedEvent(msg.Subject(), msg.Headers(), msg.Data(), eventlog.Position{Stream: stream, Incarnation: incarnation, Sequence: meta.Sequence.Stream}, meta.Timestamp)
		if err != nil {
			return err
		}
		if !yield(e, nil) {
			return errStopped
		}
	}
}

// errStopped ends a tail whose reader wants no more.
var errStopped = errors.New("stopped")
