package jetlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
)

// maxSpurious is how often code 10164 is answered by sending again. A replicated
// stream gives it to a lone writer now and then, because it acknowledges a
// message before it has cleared the mark of the message being under way.
const maxSpurious = 20

// Codes of JetStream that the client library does not name.
const (
	codeAccountResources      jetstream.ErrorCode = 10002
	codeClusterNotAvailable   jetstream.ErrorCode = 10008
	codeInsufficientResources jetstream.ErrorCode = 10023
	codeStorageResources      jetstream.ErrorCode = 10047
	codeStreamNotMatch        jetstream.ErrorCode = 10060
	codeStreamStoreFailed     jetstream.ErrorCode = 10077
)

// outcome is what one attempt to publish came to.
type outcome int

const (
	stored    outcome = iota // acknowledged
	refused                  // not stored by this attempt, nor by another one
	notStored                // not stored by this attempt: try again
	unknown                  // perhaps stored, perhaps later: try the same again
	spurious                 // code 10164: perhaps a conflict
	conflict                 // code 10071: another event follows, or this one does already
)

// Append implements eventlog.Log. ErrDrift where the stream is not as it must
// be.
func (l *Log) Append(ctx context.Context, game eventlog.GameID, after eventlog.Revision, e eventlog.Event) (eventlog.Position, error) {
	return l.append(ctx, gameSubject(game), after, e)
}

// AppendControl implements eventlog.Log. ErrDrift where the stream is not as it
// must be.
func (l *Log) AppendControl(ctx context.Context, s eventlog.ControlSubject, after eventlog.Revision, e eventlog.Event) (eventlog.Position, error) {
	return l.append(ctx, controlSubject(s), after, e)
}

// append stores an event on a subject.
//
// At most one message can follow revision after on the subject, so
// sending the same event again can never store it twice, at any later time.
// Reading and not finding it proves nothing: the message may still be in a
// socket. So an attempt without an answer is repeated until the answer is
// definite, or the outcome is unknown.
func (l *Log) append(ctx context.Context, of subject, after eventlog.Revision, e eventlog.Event) (eventlog.Position, error) {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.AppendTimeout)
	defer cancel()
	s, err := l.stream(ctx, of.stream)
	if err != nil {
		return eventlog.Position{}, err
	}
	acknowledged := s.acknowledged.Load()
	msg := message(of, after, e)
	maybe := false // an attempt may have stored the event, or may yet
	spuriousSeen := 0
	for attempt := 0; ; attempt++ {
		sequence, what, err := l.attempt(ctx, msg)
		switch what {
		case stored:
			return l.acknowledge(ctx, s, acknowledged, sequence)
		case refused:
			// A replicated stream may refuse, for lack of room, what it has stored:
			// it looks for room before it looks at the revision.
			position, found := l.resolve(ctx, of, after, e)
			if isDefinite(found) {
				return position, found
			}
			if !maybe {
				return eventlog.Position{}, err
			}
		case unknown:
			maybe = true
		case notStored:
			if errors.Is(err, nats.ErrNoResponders) {
				// There is no leader, or no stream any more, or another one since.
				again, gone := l.look(ctx, s.name)
				if errors.Is(gone, eventlog.ErrNotFound) && !maybe {
					return eventlog.Position{}, gone
				}
				if gone == nil {
					s = again
				}
			}
		case spurious:
			if spuriousSeen++; spuriousSeen > maxSpurious {
				position, found := l.resolve(ctx, of, after, e)
				if isDefinite(found) {
					return position, found
				}
			}
		case conflict:
			position, found := l.resolve(ctx, of, after, e)
			switch {
			case isDefinite(found):
				return position, found
			case errors.Is(found, eventlog.ErrNotFound) && s.replicas == 1 && !maybe:
				// A leader without followers is never behind: the subject has not
				// come as far as revision after.
				l.forget(s.name)
				return eventlog.Position{}, fmt.Errorf("%w: %s is not at revision %d: %w", eventlog.ErrConflict, of.what, after, err)
			}
			// What follows may be this event, stored by an earlier append.
			maybe = true
			err = found
		}
		if over := l.pause(ctx, backoff(what, attempt)); over != nil {
			kind := eventlog.ErrUnavailable
			if maybe {
				kind = eventlog.ErrUnknownOutcome
			}
			// What the last attempt came to is told, but it is not what the append
			// came to: its error must not be taken for ours.
			return eventlog.Position{}, fmt.Errorf("%w: %s version %d, attempt %d: %s: %w", kind, of.what, e.Version, attempt+1, err.Error(), over)
		}
	}
}

// message is the same in every attempt. It carries no message id: a replicated
// stream would look at that before the expected revision and tell a second
// writer of another event that it was a duplicate.
func message(of subject, after eventlog.Revision, e eventlog.Event) *nats.Msg {
	msg := &nats.Msg{Subject: of.name, Data: e.Data, Header: nats.Header{
		headerEventID:     {e.ID},
		headerVersion:     {strconv.FormatUint(e.Version, 10)},
		headerType:        {e.Type},
		headerSchema:      {schema},
		headerContentType: {contentType},

		jetstream.ExpectedLastSubjSeqHeader: {strconv.FormatUint(uint64(after), 10)},
		jetstream.ExpectedStreamHeader:      {of.stream},
	}}
	if e.RequestID != "" {
		msg.Header[headerRequestID] = []string{e.RequestID}
	}
	return msg
}

// attempt publishes once and says what came of it.
func (l *Log) attempt(ctx context.Context, msg *nats.Msg) (uint64, outcome, error) {
	// Nothing has been sent in these two cases; once something is, the client
	// library's errors do not tell whether it was.
	if err := ctx.Err(); err != nil {
		return 0, notStored, err
	}
	if l.conn.closed() {
		return 0, notStored, nats.ErrConnectionClosed
	}
	ctx, cancel := context.WithTimeout(ctx, l.cfg.AttemptTimeout)
	defer cancel()
	reply, err := l.conn.publish(ctx, msg)
	switch {
	case err == nil:
		return read(reply.Data)
	case errors.Is(err, nats.ErrMaxPayload):
		return 0, refused, fmt.Errorf("%w: %w", eventlog.ErrTooLarge, err)
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, nats.ErrReconnectBufExceeded), errors.Is(err, nats.ErrConnectionDraining):
		return 0, notStored, err
	}
	return 0, unknown, err
}

// read says what an acknowledgement means.
func read(data []byte) (sequence uint64, what outcome, err error) {
	var ack struct {
		apiAnswer
		Sequence uint64 `json:"seq"`
	}
	if err := json.Unmarshal(data, &ack); err != nil {
		return 0, unknown, fmt.Errorf("acknowledgement %q: %w", data, err)
	}
	failure := ack.Error
	switch {
	case failure == nil && ack.Sequence == 0:
		return 0, unknown, fmt.Errorf("acknowledgement %q", data)
	case failure == nil:
		return ack.Sequence, stored, nil
	}
	switch failure.ErrorCode {
	case jetstream.JSErrCodeStreamWrongLastSequence:
		return 0, conflict, failure
	case jetstream.JSErrCodeStreamWrongLastSequenceConstant:
		return 0, spurious, failure
	case jetstream.JSErrCodeStreamMessageExceedsMaximum:
		return 0, refused, fmt.Errorf("%w: %w", eventlog.ErrTooLarge, failure)
	case codeInsufficientResources, codeStorageResources, codeAccountResources:
		return 0, refused, fmt.Errorf("%w: %w", eventlog.ErrFull, failure)
	case codeStreamStoreFailed:
		// One code for everything that the store may say; only this text means
		// that the limit of the stream is reached.
		if failure.Description == server.ErrMaxBytes.Error() {
			return 0, refused, fmt.Errorf("%w: %w", eventlog.ErrFull, failure)
		}
		return 0, unknown, failure
	case codeStreamNotMatch:
		return 0, refused, fmt.Errorf("%w: the subject belongs to another stream: %w", ErrDrift, failure)
	case codeClusterNotAvailable:
		return 0, notStored, failure
	}
	if failure.Code == 400 || failure.Code == 403 {
		return 0, refused, fmt.Errorf("JetStream refuses the event: %w", failure)
	}
	return 0, unknown, failure
}

// acknowledge returns the position of an event that was stored at a sequence of
// s, when before was the highest sequence that was acknowledged before it was
// sent.
func (l *Log) acknowledge(ctx context.Context, s *stream, before, sequence uint64) (eventlog.Position, error) {
	if sequence <= before {
		// Sequences only rise, so s was deleted and created anew.
		again, err := l.look(ctx, s.name)
		if err != nil {
			// The event is stored, but where is not known.
			return eventlog.Position{}, fmt.Errorf("%w: stream %s was replaced: %w", eventlog.ErrUnknownOutcome, s.name, err)
		}
		return again.at(sequence), nil
	}
	for {
		highest := s.acknowledged.Load()
		if sequence <= highest || s.acknowledged.CompareAndSwap(highest, sequence) {
			return s.at(sequence), nil
		}
	}
}

// resolve looks at what follows revision after: this event, or another one.
func (l *Log) resolve(ctx context.Context, of subject, after eventlog.Revision, e eventlog.Event) (eventlog.Position, error) {
	next, err := l.leaderGet(ctx, of.stream, messageQuery{Sequence: uint64(after) + 1, NextBySubject: of.name})
	if err != nil {
		return eventlog.Position{}, err
	}
	if next.ID != e.ID {
		return eventlog.Position{}, fmt.Errorf("%w: version %d of %s is event %s", eventlog.ErrConflict, next.Version, of.what, next.ID)
	}
	return next.Position, nil
}

// isDefinite tells whether resolve has read what follows.
func isDefinite(err error) bool {
	return err == nil || errors.Is(err, eventlog.ErrConflict) || errors.Is(err, eventlog.ErrDamaged)
}

// backoff is how long to wait before the next attempt.
func backoff(what outcome, attempt int) time.Duration {
	if what == spurious {
		return time.Duration(1+mathrand.IntN(5)) * time.Millisecond
	}
	return time.Duration(50+mathrand.IntN(50*min(attempt+1, 4))) * time.Millisecond
}

// pause waits for d. It returns why there is no use in going on, if so.
func (l *Log) pause(ctx context.Context, d time.Duration) error {
	if l.conn.closed() {
		return nats.ErrConnectionClosed
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
