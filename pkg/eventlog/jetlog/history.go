package jetlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
)

// historyBatch is how many events one request of a history asks for: more than
// nearly every game has.
const historyBatch = 256

// errCut: an answer ended before it was whole.
var errCut = errors.New("the answer was cut")

// Headers of a direct answer.
const (
	directSubject  = "Nats-Subject"
	directSequence = "Nats-Sequence"
	directTime     = "Nats-Time-Stamp"
	directPending  = "Nats-Num-Pending"
)

// History implements eventlog.Log. Any replica may answer.
func (l *Log) History(ctx context.Context, game eventlog.GameID, from uint64) iter.Seq2[eventlog.Stored, error] {
	return func(yield func(eventlog.Stored, error) bool) {
		version := uint64(0)
		for next := uint64(1); next != 0; {
			batch, err := l.batch(ctx, game, next)
			if err != nil {
				yield(eventlog.Stored{}, fmt.Errorf("history of game %s after version %d: %w", game, version, err))
				return
			}
			for _, e := range batch.events {
				if version++; e.Version != version || e.Game != game {
					yield(eventlog.Stored{}, fmt.Errorf("%w: version %d of game %s at sequence %d, where version %d of game %s belongs",
						eventlog.ErrDamaged, e.Version, e.Game, e.Position.Sequence, version, game))
					return
				}
				if version >= from && !yield(e, nil) {
					return
				}
			}
			next = batch.next
		}
	}
}

// batch is a part of a history.
type batch struct {
	events []eventlog.Stored
	next   uint64 // the sequence to go on from; 0 at the end of the history
}

// batch reads events of a game from a sequence on. Only the server's word that
// nothing follows makes it the last one: silence is an error, and so is finding
// nothing where something was announced, never a shorter history.
func (l *Log) batch(ctx context.Context, game eventlog.GameID, from uint64) (batch, error) {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.ReadTimeout)
	defer cancel()
	s, err := l.stream(ctx, game.Epoch().Stream())
	if err != nil {
		return batch{}, err
	}
	query, err := json.Marshal(messageQuery{Sequence: from, NextBySubject: game.Subject(), Batch: historyBatch})
	if err != nil {
		return batch{}, fmt.Errorf("encode a request: %w", err)
	}
	var b batch
	pending := uint64(0) // events that follow the last one seen
	err = l.conn.requestMany(ctx, "$JS.API.DIRECT.GET."+s.name, query, func(msg *nats.Msg) (bool, error) {
		switch status := msg.Header.Get("Status"); status {
		case "": // an event
			e, left, err := s.directEvent(msg)
			b.events, pending = append(b.events, e), left
			return true, err
		case "204": // the end of the batch; more may have come since it began
			left, err := strconv.ParseUint(msg.Header.Get(directPending), 10, 64)
			if err != nil || len(b.events) == 0 || left < pending {
				return false, errCut
			}
			if left > 0 {
				b.next = b.events[len(b.events)-1].Position.Sequence + 1
			}
			return false, nil
		case "503": // nobody listens: the stream may be gone
			l.forget(s.name)
			return false, nats.ErrNoResponders
		case "404": // no event
			if from > 1 || len(b.events) > 0 {
				return false, errCut
			}
			return false, nil
		default:
			return false, fmt.Errorf("status %s %s", status, msg.Header.Get("Description"))
		}
	})
	if err != nil && !errors.Is(err, eventlog.ErrDamaged) {
		err = fmt.Errorf("%w: %w", eventlog.ErrUnavailable, err)
	}
	return b, err
}

// directEvent reads a message of a direct answer, and how many follow it.
func (s *stream) directEvent(msg *nats.Msg) (e eventlog.Stored, pending uint64, err error) {
	sequence, err1 := strconv.ParseUint(msg.Header.Get(directSequence), 10, 64)
	pending, err2 := strconv.ParseUint(msg.Header.Get(directPending), 10, 64)
	at, err3 := time.Parse(time.RFC3339Nano, msg.Header.Get(directTime))
	if err := errors.Join(err1, err2, err3); err != nil {
		return eventlog.Stored{}, 0, fmt.Errorf("%w: the headers of a direct answer of %s: %w", eventlog.ErrDamaged, s.name, err)
	}
	e, err = readEvent(msg.Header.Get(directSubject), msg.Header, msg.Data, s.at(sequence), at)
	return e, pending, err
}
