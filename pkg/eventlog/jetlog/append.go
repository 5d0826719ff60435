package jetlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
)

// maxSpurious is how often code 10164 is answered by sending again. A replicated
// stream gives it to a lone writer now and then, because it acknowledges a
// message before it has cleared the mark of the message being under way.
const maxSpurious = 20

// Errors of JetStream that the client library does not name.
const (
	codeInsufficientResources jetstream.ErrorCode = 10023
	codeStreamNotMatch        jetstream.ErrorCode = 10060
	codeStreamStoreFailed     jetstream.ErrorCode = 10077
	codeClusterNotAvailable   jetstream.ErrorCode = 10008
)

// outcome is what one attempt to publish came to.
type outcome int

const (
	stored    outcome = iota // acknowledged
	refused                  // never will be stored, whatever is tried
	notStored                // not stored by this attempt; try again
	unknown                  // perhaps stored, perhaps later; try the same again
	spurious                 // code 10164: perhaps a conflict
	conflict                 // another message follows, or this one does already
)

// Append implements eventlog.Log.
//
// At most one message can follow revision after on the game's subject, so
// sending the same event again can never store it twice, at any later time.
// Reading and not finding it proves nothing: the message may still be in a
// socket. So an attempt without an answer is repeated until the answer is
// definite, or the outcome is unknown.
func (l *Log) Append(ctx context.Context, game eventlog.GameID, after eventlog.Revision, e eventlog.Event) (eventlog.Position, error) {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.AppendTimeout)
	defer cancel()
	stream := game.Epoch().Stream()
	incarnation, err := l.incarnation(ctx, stream)
	if err != nil {
		return eventlog.Position{}, err
	}
	position := eventlog.Position{Stream: stream, Incarnation: incarnation}
	msg := message(game, stream, after, e)
	maybe, spuriousSeen := false, 0
	for attempt := 0; ; attempt++ {
		sequence, what, err := l.attempt(ctx, msg)
		switch what {
		case stored:
			position.Sequence = sequence
			return position, nil
		case refused:
			return eventlog.Position{}, err
		case unknown:
			maybe = true
		case spurious:
			if spuriousSeen++; spuriousSeen <= maxSpurious {
				break
			}
			fallthrough
		case conflict:
			found, err := l.resolve(ctx, game, stream, after, e)
			if err == nil {
				return found, nil
			}
			if errors.Is(err, eventlog.ErrConflict) {
				return eventlog.Position{}, err
			}
			// Whatever follows could not be read; it may be this event, stored by
			// an attempt before.
			maybe = maybe || what == conflict
		}
		if err := pause(ctx, backoff(what, attempt)); err != nil {
			if maybe {
				return eventlog.Position{}, fmt.Errorf("%w: %s version %d: %w", eventlog.ErrUnknownOutcome, game, e.Version, err)
			}
			return eventlog.Position{}, fmt.Errorf("%w: %s version %d: %w", eventlog.ErrUnavailable, game, e.Version, err)
		}
	}
}

// message is the same in every attempt. It carries no message id: a replicated
// stream would look at that before the expected revision and tell a second
// writer of another event that it was a duplicate.
func message(game eventlog.GameID, stream string, after eventlog.Revision, e eventlog.Event) *nats.Msg {
	msg := &nats.Msg{Subject: game.Subject(), Data: e.Data, Header: nats.Header{
		headerEventID:  {e.ID},
		headerVersion:  {strconv.FormatUint(e.Version, 10)},
		headerType:     {e.Type},
		headerSchema:   {schema},
		"Content-Type": {"application/x-protobuf"},

		jetstream.ExpectedLastSubjSeqHeader: {strconv.FormatUint(uint64(after), 10)},
		jetstream.ExpectedStreamHeader:      {stream},
	}}
	if e.RequestID != "" {
		msg.Header[headerRequestID] = []string{e.RequestID}
	}
	return msg
}

// attempt publishes once and says what came of it.
func (l *Log) attempt(ctx context.Context, msg *nats.Msg) (uint64, outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.AttemptTimeout)
	defer cancel()
	reply, err := l.conn.publish(ctx, msg)
	switch {
	case err == nil:
	case errors.Is(err, nats.ErrMaxPayload):
		return 0, refused, fmt.Errorf("%w: %w", eventlog.ErrTooLarge, err)
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, nats.ErrReconnectBufExceeded):
		return 0, notStored, err
	default:
		return 0, unknown, err
	}
	var ack struct {
		Error *jetstream.APIError
		Seq   uint64
	}
	if err := json.Unmarshal(reply.Data, &ack); err != nil || ack.Error == nil && ack.Seq == 0 {
		return 0, unknown, fmt.Errorf("an acknowledgement that makes no sense: %q: %w", reply.Data, err)
	}
	if ack.Error == nil {
		return ack.Seq, stored, nil
	}
	switch ack.Error.ErrorCode {
	case jetstream.JSErrCodeStreamWrongLastSequence:
		return 0, conflict, ack.Error
	case jetstream.JSErrCodeStreamWrongLastSequenceConstant:
		return 0, spurious, ack.Error
	case jetstream.JSErrCodeStreamMessageExceedsMaximum:
		return 0, refused, fmt.Errorf("%w: %w", eventlog.ErrTooLarge, ack.Error)
	case codeStreamStoreFailed, codeInsufficientResources:
		return 0, refused, fmt.Errorf("%w: %w", eventlog.ErrFull, ack.Error)
	case codeStreamNotMatch:
		return 0, refused, fmt.Errorf("%w: the subject belongs to another stream: %w", ErrDrift, ack.Error)
	case codeClusterNotAvailable:
		return 0, notStored, ack.Error
	}
	return 0, unknown, ack.Error
}

// resolve looks at what follows revision after: this event, or another one.
func (l *Log) resolve(ctx context.Context, game eventlog.GameID, stream string, after eventlog.Revision, e eventlog.Event) (eventlog.Position, error) {
	next, err := l.leaderGet(ctx, stream, map[string]any{"seq": uint64(after) + 1, "next_by_subj": game.Subject()})
	if err != nil {
		return eventlog.Position{}, err
	}
	if next.ID != e.ID {
		return eventlog.Position{}, fmt.Errorf("%w: game %s has another version %d", eventlog.ErrConflict, game, next.Version)
	}
	return next.Position, nil
}

// backoff is how long to wait before the next attempt.
func backoff(what outcome, attempt int) time.Duration {
	if what == spurious {
		return time.Duration(1+mathrand.IntN(5)) * time.Millisecond
	}
	return time.Duration(50+mathrand.IntN(50*min(attempt+1, 4))) * time.Millisecond
}

// pause waits for d or the end of ctx, which it returns.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
