package jetlog

import (
	"context"
	"encoding/json"
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

// History implements eventlog.Log. Any replica may answer.
func (l *Log) History(ctx context.Context, game eventlog.GameID, from uint64) iter.Seq2[eventlog.Stored, error] {
	return func(yield func(eventlog.Stored, error) bool) {
		version := uint64(0)
		for next := uint64(1); next != 0; {
			batch, following, err := l.batch(ctx, game, next)
			if err != nil {
				yield(eventlog.Stored{}, err)
				return
			}
			for _, e := range batch {
				if version++; e.Version != version {
					yield(eventlog.Stored{}, fmt.Errorf("%w: game %s has version %d where %d belongs", eventlog.ErrDamaged, game, e.Version, version))
					return
				}
				if version >= from && !yield(e, nil) {
					return
				}
			}
			next = following
		}
	}
}

// batch reads the events of a game from a sequence on, and returns the sequence
// to go on from, or 0. Only the server's word that the batch is whole ends it:
// silence, or fewer events than it announced, is an error and never a shorter
// history.
func (l *Log) batch(ctx context.Context, game eventlog.GameID, from uint64) (events []eventlog.Stored, next uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.ReadTimeout)
	defer cancel()
	stream := game.Epoch().Stream()
	incarnation, err := l.incarnation(ctx, stream)
	if err != nil {
		return nil, 0, err
	}
	query, err := json.Marshal(map[string]any{"seq": from, "next_by_subj": game.Subject(), "batch": historyBatch})
	if err != nil {
		return nil, 0, fmt.Errorf("encode a read: %w", err)
	}
	announced := -1 // events still to come after the last one seen
	whole := false
	err = l.conn.requestMany(ctx, "$JS.API.DIRECT.GET."+stream, query, func(msg *nats.Msg) (bool, error) {
		pending, perr := strconv.Atoi(msg.Header.Get("Nats-Num-Pending"))
		switch status := msg.Header.Get("Status"); status {
		case "":
			if perr != nil || announced >= 0 && pending != announced-1 {
				return false, fmt.Errorf("%w: history of %s: %d events announced, then %d", eventlog.ErrDamaged, game, announced, pending)
			}
			announced = pending
			sequence, err := strconv.ParseUint(msg.Header.Get("Nats-Sequence"), 10, 64)
			if err != nil {
				return false, fmt.Errorf("%w: history of %s: %w", eventlog.ErrDamaged, game, err)
			}
			at, err := time.Parse(time.RFC3339Nano, msg.Header.Get("Nats-Time-Stamp"))
			if err != nil {
				return false, fmt.Errorf("%w: history of %s: %w", eventlog.ErrDamaged, game, err)
			}
			e, err := storedEvent(msg.Header.Get("Nats-Subject"), msg.Header, msg.Data, eventlog.Position{Stream: stream, Incarnation: incarnation, Sequence: sequence}, at)
			events = append(events, e)
			return true, err
		case "204": // the end of the batch
			if perr != nil || len(events) > 0 && pending != announced {
				return false, fmt.Errorf("%w: history of %s was cut: %d events missing", eventlog.ErrUnavailable, game, announced-pending)
			}
			if len(events) > 0 && pending > 0 {
				next = events[len(events)-1].Position.Sequence + 1
			}
			whole = true
			return false, nil
		case "404": // nothing (more) of this game
			whole = len(events) == 0
			return false, nil
		default:
			return false, fmt.Errorf("%w: history of %s: status %s %s", eventlog.ErrUnavailable, game, status, msg.Header.Get("Description"))
		}
	})
	if err != nil {
		return nil, 0, err
	}
	if !whole {
		return nil, 0, fmt.Errorf("%w: history of %s was cut", eventlog.ErrUnavailable, game)
	}
	return events, next, nil
}
