package game_test

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	rpcv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rpc/v1"
)

// faulty is a log with faults in it.
type faulty struct {
	eventlog.Log

	mu     sync.Mutex
	append func(store func() (eventlog.Position, error)) (eventlog.Position, error)
	load   func(eventlog.Stored, error) (eventlog.Stored, error)
	spoil  func(*eventlog.Stored)
}

func (f *faulty) set(change func(*faulty)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.append, f.load, f.spoil = nil, nil, nil
	change(f)
}

func (f *faulty) faults() (func(func() (eventlog.Position, error)) (eventlog.Position, error), func(eventlog.Stored, error) (eventlog.Stored, error), func(*eventlog.Stored)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.append, f.load, f.spoil
}

func (f *faulty) Append(ctx context.Context, game eventlog.GameID, after eventlog.Revision, e eventlog.Event) (eventlog.Position, error) {
	store := func() (eventlog.Position, error) { return f.Log.Append(ctx, game, after, e) }
	if fault, _, _ := f.faults(); fault != nil {
		return fault(store)
	}
	return store()
}

func (f *faulty) AppendControl(ctx context.Context, subject eventlog.ControlSubject, after eventlog.Revision, e eventlog.Event) (eventlog.Position, error) {
	store := func() (eventlog.Position, error) { return f.Log.AppendControl(ctx, subject, after, e) }
	if fault, _, _ := f.faults(); fault != nil {
		return fault(store)
	}
	return store()
}

func (f *faulty) Load(ctx context.Context, game eventlog.GameID) (eventlog.Stored, error) {
	e, err := f.Log.Load(ctx, game)
	_, fault, spoil := f.faults()
	if fault != nil {
		e, err = fault(e, err)
	}
	if err == nil && spoil != nil {
		spoil(&e)
	}
	return e, err
}

func (f *faulty) History(ctx context.Context, game eventlog.GameID, from uint64) iter.Seq2[eventlog.Stored, error] {
	return func(yield func(eventlog.Stored, error) bool) {
		_, _, spoil := f.faults()
		for e, err := range f.Log.History(ctx, game, from) {
			if err == nil && spoil != nil {
				spoil(&e)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func wantRetryInfo(t *testing.T, err error) {
	t.Helper()
	for _, d := range status.Convert(err).Details() {
		if retry, ok := d.(*errdetails.RetryInfo); ok && retry.GetRetryDelay().AsDuration() > 0 {
			return
		}
	}
	t.Errorf("no RetryInfo in %v", status.Convert(err).Details())
}

// TestALogThatIsAway shows what a client sees, and that a retry with the same
// request id has one effect whether or not the first attempt was stored.
func TestALogThatIsAway(t *testing.T) {
	for name, test := range map[string]struct {
		fault  func(func() (eventlog.Position, error)) (eventlog.Position, error)
		reason rpcv1.ErrorReason
		code   codes.Code
		retry  bool
	}{
		"not stored": {
			func(func() (eventlog.Position, error)) (eventlog.Position, error) {
				return eventlog.Position{}, fmt.Errorf("no server: %w", eventlog.ErrUnavailable)
			}, rpcv1.ErrorReason_ERROR_REASON_NOT_STORED, codes.Unavailable, true,
		},
		"unknown, but stored": {
			func(store func() (eventlog.Position, error)) (eventlog.Position, error) {
				if _, err := store(); err != nil {
					return eventlog.Position{}, err
				}
				return eventlog.Position{}, fmt.Errorf("no answer: %w", eventlog.ErrUnknownOutcome)
			}, rpcv1.ErrorReason_ERROR_REASON_OUTCOME_UNKNOWN, codes.Unavailable, true,
		},
		"unknown, and not stored": {
			func(func() (eventlog.Position, error)) (eventlog.Position, error) {
				return eventlog.Position{}, fmt.Errorf("no answer: %w", eventlog.ErrUnknownOutcome)
			}, rpcv1.ErrorReason_ERROR_REASON_OUTCOME_UNKNOWN, codes.Unavailable, true,
		},
		"full": {
			func(func() (eventlog.Position, error)) (eventlog.Position, error) {
				return eventlog.Position{}, fmt.Errorf("no room: %w", eventlog.ErrFull)
			}, rpcv1.ErrorReason_ERROR_REASON_STORAGE_FULL, codes.ResourceExhausted, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			log := &faulty{Log: w.log}
			w.log = log
			c := w.serve(t)
			startReq := &gamev1.StartGameRequest{RequestId: "start"}
			log.set(func(f *faulty) { f.append = test.fault })
			_, err := c.StartGame(as(t, "ada"), startReq)
			wantReason(t, err, test.code, test.reason)
			if test.retry {
				wantRetryInfo(t, err)
			}
			log.set(func(*faulty) {})
			g := start(t, c, "ada", startReq)

			req := &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: g.GetLegalMoves()[0].GetMove(), RequestId: "move"}
			log.set(func(f *faulty) { f.append = test.fault })
			_, err = c.PlayMove(as(t, "ada"), req)
			wantReason(t, err, test.code, test.reason)
			log.set(func(*faulty) {})
			res := must[*gamev1.PlayMoveResponse](t)(c.PlayMove(as(t, "ada"), req))
			if res.GetGame().GetVersion() != 2 || recordCount(t, w) != 2 {
				t.Errorf("version %d, %d records", res.GetGame().GetVersion(), recordCount(t, w))
			}
		})
	}
}

func TestReadsFromALogThatIsAway(t *testing.T) {
	w := newWorld()
	log := &faulty{Log: w.log}
	w.log = log
	c := w.serve(t)
	g := start(t, c, "ada", &gamev1.StartGameRequest{})
	log.set(func(f *faulty) {
		f.load = func(eventlog.Stored, error) (eventlog.Stored, error) {
			return eventlog.Stored{}, fmt.Errorf("no server: %w", eventlog.ErrUnavailable)
		}
	})
	_, err := c.GetGame(as(t, "ada"), &gamev1.GetGameRequest{GameId: g.GetGameId()})
	wantReason(t, err, codes.Unavailable, rpcv1.ErrorReason_ERROR_REASON_STORAGE_UNAVAILABLE)
	wantRetryInfo(t, err)
	log.set(func(*faulty) {})
	must[*gamev1.GetGameResponse](t)(c.GetGame(as(t, "ada"), &gamev1.GetGameRequest{GameId: g.GetGameId()}))
}

// TestAStaleReadIsReloaded lets the service see an old version first: the
// log's compare-and-set refuses what it decides on that, and it looks again.
func TestAStaleReadIsReloaded(t *testing.T) {
	w := newWorld()
	log := &faulty{Log: w.log}
	w.log = log
	c, other := w.serve(t), w.serve(t)
	g := start(t, other, "ada", &gamev1.StartGameRequest{})
	id, err := eventlog.ParseGameID(g.GetGameId())
	if err != nil {
		t.Fatal(err)
	}
	old, err := w.log.Load(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	moves := g.GetLegalMoves()
	must[*gamev1.PlayMoveResponse](t)(other.PlayMove(as(t, "ada"), &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: moves[len(moves)-1].GetMove()}))
	stale := true
	log.set(func(f *faulty) {
		f.load = func(e eventlog.Stored, err error) (eventlog.Stored, error) {
			if stale {
				stale = false
				return old, nil
			}
			return e, err
		}
	})
	res := must[*gamev1.ResignGameResponse](t)(c.ResignGame(as(t, "ada"), &gamev1.ResignGameRequest{GameId: g.GetGameId()}))
	if res.GetGame().GetVersion() != 3 || stale {
		t.Errorf("resigned at version %d", res.GetGame().GetVersion())
	}
}

// TestAStateThatCannotBeUsedIsFolded plays a whole game whose stored states are
// all of a foreign encoding, or do not open, and compares it with the same game
// in a sound log.
func TestAStateThatCannotBeUsedIsFolded(t *testing.T) {
	for name, spoil := range map[string]func(*eventv1.Record){
		"foreign encoding": func(m *eventv1.Record) { m.StateEncoding += 7 },
		"does not open":    func(m *eventv1.Record) { m.State.Ciphertext[3] ^= 1 },
		"key gone":         func(m *eventv1.Record) { m.State.KeyId = "gone" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			log := &faulty{Log: w.log}
			w.log = log
			sound, c := w.serve(t), w.serve(t)
			g := start(t, sound, "ada", &gamev1.StartGameRequest{})
			for _, want := range playOut(t, sound, g) {
				log.set(func(f *faulty) {
					f.spoil = func(e *eventlog.Stored) {
						var m eventv1.Record
						if err := proto.Unmarshal(e.Data, &m); err != nil {
							t.Error(err)
						}
						spoil(&m)
						data, err := proto.Marshal(&m)
						if err != nil {
							t.Error(err)
						}
						e.Data = data
					}
				})
				got := must[*gamev1.GetGameResponse](t)(c.GetGame(as(t, "ada"), &gamev1.GetGameRequest{GameId: g.GetGameId(), AtVersion: want.GetVersion()}))
				if !proto.Equal(got.GetGame(), want) {
					t.Fatalf("version %d folds to %v, want %v", want.GetVersion(), got.GetGame(), want)
				}
			}
		})
	}
}
