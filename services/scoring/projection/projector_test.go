package projection_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/memlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/projectiontest"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/sqlite"
)

// world is a log with games, and a store to project them into. Tests run in a
// bubble: synctest.Wait returns when the projectors have nothing left to do,
// and time passes only when everybody waits.
type world struct {
	t      *testing.T
	log    *memlog.Log
	path   string
	store  *sqlite.Store
	played []projection.Game
}

func bubble(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "scores.db")
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, log: memlog.New(), path: path}
		w.store = w.open()
		must(t, w.log.Provision(t.Context(), "26q4"))
		test(t, w)
	})
}

func (w *world) open() *sqlite.Store {
	s, err := sqlite.Open(w.t.Context(), w.path)
	must(w.t, err)
	w.t.Cleanup(func() { _ = s.Close() })
	return s
}

// append stores an event of a game.
func (w *world) append(gameID string, e eventlog.Event) eventlog.Position {
	w.t.Helper()
	id, err := eventlog.ParseGameID(gameID)
	must(w.t, err)
	var after eventlog.Revision
	if last, err := w.log.Load(w.t.Context(), id); err == nil {
		after = eventlog.Revision(last.Position.Sequence)
	}
	p, err := w.log.Append(w.t.Context(), id, after, e)
	must(w.t, err)
	return p
}

// finish stores the two events of a game.
func (w *world) finish(g projection.Game) {
	w.t.Helper()
	w.append(g.GameID, projectiontest.Event(w.t, g, 1, false))
	p := w.append(g.GameID, projectiontest.Event(w.t, g, 2, true))
	g.Stream, g.Sequence = p.Stream, p.Sequence
	w.played = append(w.played, g)
}

func (w *world) finishMany(n int) {
	for range n {
		w.finish(projectiontest.NewGame(fmt.Sprintf("p%d", rand.IntN(9)), "classic", rand.IntN(20)-10, uint32(40+rand.IntN(3))))
	}
}

// check compares the store with the games played so far.
func (w *world) check() {
	w.t.Helper()
	projectiontest.CheckBoards(w.t, w.store, w.played)
}

// start runs a projector and returns it with a function that stops it.
func (w *world) start(log eventlog.Log, store projection.Store, holder string) (*projection.Projector, func()) {
	w.t.Helper()
	p, err := projection.NewProjector(w.t.Context(), projection.ProjectorConfig{
		Log: log, Store: store, Holder: holder, Clock: time.Now, Logger: slog.New(slog.DiscardHandler),
	})
	must(w.t, err)
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := p.Run(ctx); err != nil {
			w.t.Error(err)
		}
	}()
	stop := sync.OnceFunc(func() { cancel(); <-done })
	w.t.Cleanup(stop)
	return p, stop
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// faultyLog is a log that can be made to fail.
type faultyLog struct {
	eventlog.Log
	streams func([]eventlog.StreamInfo) ([]eventlog.StreamInfo, error)
	event   func(eventlog.Stored) (eventlog.Stored, error)
	tail    func(eventlog.Stored) (eventlog.Stored, error)
}

func (l *faultyLog) Streams(ctx context.Context) ([]eventlog.StreamInfo, error) {
	infos, err := l.Log.Streams(ctx)
	if err == nil && l.streams != nil {
		return l.streams(infos)
	}
	return infos, err
}

func (l *faultyLog) Event(ctx context.Context, stream string, seq uint64) (eventlog.Stored, error) {
	r, err := l.Log.Event(ctx, stream, seq)
	if err == nil && l.event != nil {
		return l.event(r)
	}
	return r, err
}

func (l *faultyLog) Tail(ctx context.Context, stream string, from uint64) iter.Seq2[eventlog.Stored, error] {
	return func(yield func(eventlog.Stored, error) bool) {
		for r, err := range l.Log.Tail(ctx, stream, from) {
			if err == nil && l.tail != nil {
				r, err = l.tail(r)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// faultyStore is a store whose commits can be made to fail.
type faultyStore struct {
	projection.Store
	commit func(steps []projection.Step, commit func() error) error
}

func (s *faultyStore) Commit(ctx context.Context, after projection.Checkpoint, steps []projection.Step) error {
	return s.commit(steps, func() error { return s.Store.Commit(ctx, after, steps) })
}

func TestProjectorAtRestIsImmediate(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p, _ := w.start(w.log, w.store, "a")
		synctest.Wait()
		before := time.Now()
		for range 3 {
			w.finishMany(1)
			synctest.Wait()
			w.check()
		}
		if waited := time.Since(before); waited != 0 {
			t.Errorf("records at rest became visible after %v", waited)
		}
		if err := p.Problem(); err != nil {
			t.Error(err)
		}
	})
}

// TestPlainRecordsWaitToBeWritten sees records that change no row: known to
// readers at once, written together a little later or with the next game.
func TestPlainRecordsWaitToBeWritten(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var commits atomic.Int32
		store := &faultyStore{Store: w.store, commit: func(_ []projection.Step, commit func() error) error {
			commits.Add(1)
			return commit()
		}}
		p, _ := w.start(w.log, store, "a")
		synctest.Wait()
		var at eventlog.Position
		for range 10 {
			g := projectiontest.NewGame("ada", "classic", 0, 0)
			at = w.append(g.GameID, projectiontest.Event(t, g, 1, false))
			synctest.Wait()
			if c, _ := p.Checkpoint(at.Stream); c.Position != at {
				t.Fatalf("at %+v, not %+v", c.Position, at)
			}
		}
		if n := commits.Load(); n != 0 {
			t.Errorf("%d commits for records that change nothing", n)
		}
		time.Sleep(time.Second)
		stored, err := w.store.Checkpoints(t.Context())
		must(t, err)
		if n := commits.Load(); n != 1 || len(stored) != 1 || stored[0].Position != at {
			t.Errorf("%d commits, stored %+v", n, stored)
		}
		w.finishMany(1)
		synctest.Wait()
		w.check()
	})
}

func TestProjectorResumes(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.finishMany(700) // More than a batch.
		_, stop := w.start(w.log, w.store, "a")
		synctest.Wait()
		w.check()
		stop()

		w.finishMany(20)
		var seen []uint64
		log := &faultyLog{Log: w.log, tail: func(r eventlog.Stored) (eventlog.Stored, error) {
			seen = append(seen, r.Position.Sequence)
			return r, nil
		}}
		_, stop = w.start(log, w.store, "b")
		synctest.Wait()
		w.check()
		stop()
		if len(seen) != 40 || seen[0] != 1401 {
			t.Errorf("read %v after the restart", seen)
		}
	})
}

func TestProjectorFindsNewStreams(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p, _ := w.start(w.log, w.store, "a")
		w.finishMany(2)
		synctest.Wait()
		for i, epoch := range []eventlog.Epoch{"27q1", "27q2"} {
			must(t, w.log.Provision(t.Context(), epoch))
			g := projectiontest.NewGame("new", "classic", 15+i, 40)
			g.GameID = eventlog.DeriveGameID(epoch, "g").String()
			w.finish(g)
			if i == 0 {
				p.Discover()
			} else {
				time.Sleep(10 * time.Second)
			}
			synctest.Wait()
			w.check()
		}
	})
}

// TestProjectorKilledAnywhere kills and revives a projector at random points:
// before and after commits, in reads, by cancellation.
func TestProjectorKilledAnywhere(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		rng := rand.New(rand.NewPCG(seed, 1))
		var mu sync.Mutex
		chance := func(n int) bool {
			mu.Lock()
			defer mu.Unlock()
			return rng.IntN(n) == 0
		}
		for range 40 {
			w.finishMany(10)
			kill := make(chan struct{}, 100)
			die := func() error {
				kill <- struct{}{}
				return eventlog.ErrUnavailable
			}
			log := &faultyLog{Log: w.log, tail: func(r eventlog.Stored) (eventlog.Stored, error) {
				if chance(25) {
					return eventlog.Stored{}, die()
				}
				return r, nil
			}}
			store := &faultyStore{Store: w.store, commit: func(_ []projection.Step, commit func() error) error {
				if chance(4) {
					return die()
				}
				err := commit()
				if chance(4) {
					return die() // The commit took place; nobody was told.
				}
				return err
			}}
			_, stop := w.start(log, store, "a")
			select {
			case <-kill:
			case <-time.After(time.Second):
			}
			stop()
			// Whatever was committed is whole.
			if all, err := w.store.Checkpoints(t.Context()); err != nil {
				t.Fatal(err)
			} else if len(all) > 0 {
				done := slices.DeleteFunc(slices.Clone(w.played), func(g projection.Game) bool { return g.Sequence > all[0].Sequence })
				projectiontest.CheckBoards(t, w.store, done)
			}
		}
		_, _ = w.start(w.log, w.store, "a")
		synctest.Wait()
		w.check()
	})
}

func TestTwoProjectors(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var commits [2]atomic.Int64
		var projectors [2]*projection.Projector
		var stop [2]func()
		for i := range 2 {
			store := &faultyStore{Store: w.open(), commit: func(_ []projection.Step, commit func() error) error {
				commits[i].Add(1)
				return commit()
			}}
			projectors[i], stop[i] = w.start(w.log, store, fmt.Sprint(i))
			synctest.Wait()
		}
		for range 5 {
			w.finishMany(5)
			synctest.Wait()
		}
		w.check()
		if commits[0].Load() == 0 || commits[1].Load() != 0 {
			t.Errorf("commits %d and %d, want only the first to work", commits[0].Load(), commits[1].Load())
		}
		// Who waits learns what the other one does.
		time.Sleep(10 * time.Second)
		if at, _ := projectors[1].Checkpoint(eventlog.Epoch("26q4").Stream()); at.Sequence != 50 {
			t.Errorf("the second knows %d of 50 records", at.Sequence)
		}
		stop[0]()
		w.finishMany(5)
		time.Sleep(10 * time.Second)
		w.check()
		if commits[1].Load() == 0 {
			t.Error("nobody took over")
		}
	})
}

func TestProjectorYieldsTheLease(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		log := &faultyLog{Log: w.log}
		p, _ := w.start(log, w.store, "a")
		w.finishMany(1)
		synctest.Wait()
		w.check()
		before := slices.Clone(w.played)

		// What it suffers from is forgotten with the lease.
		var failing atomic.Bool
		failing.Store(true)
		log.streams = func(infos []eventlog.StreamInfo) ([]eventlog.StreamInfo, error) {
			if failing.Load() {
				return nil, eventlog.ErrUnavailable
			}
			return infos, nil
		}
		p.Discover()
		synctest.Wait()
		if err := p.Problem(); err == nil {
			t.Error("the log is away, and nobody noticed")
		}

		// To another one whose clock is ahead, ours is up.
		if ok, err := w.store.Lease(t.Context(), "b", time.Now().Add(time.Minute), time.Minute); err != nil || !ok {
			t.Fatalf("lease %v, %v", ok, err)
		}
		time.Sleep(10 * time.Second)
		w.finishMany(1)
		synctest.Wait()
		projectiontest.CheckBoards(t, w.store, before)
		if err := p.Problem(); err != nil {
			t.Errorf("it is no problem that another one projects: %v", err)
		}
		failing.Store(false)
		time.Sleep(2 * time.Minute)
		w.check()
	})
}

// TestTwoWriters shows that the fence alone, without a lease, keeps two
// projectors from doing anything twice.
func TestTwoWriters(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var written, fenced atomic.Int64
		for range 2 {
			store := &faultyStore{Store: w.open(), commit: func(steps []projection.Step, commit func() error) error {
				err := commit()
				if err == nil {
					written.Add(int64(len(steps)))
				} else if errors.Is(err, projection.ErrFenced) {
					fenced.Add(1)
				}
				return err
			}}
			w.start(w.log, store, "the same")
		}
		for range 30 {
			w.finishMany(1)
			synctest.Wait()
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		w.check()
		if written.Load() != 60 || fenced.Load() == 0 {
			t.Errorf("%d records written of 60, %d commits fenced", written.Load(), fenced.Load())
		}
	})
}

func TestProjectorOutlivesFailures(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.finishMany(10)
		var failing atomic.Bool
		failing.Store(true)
		log := &faultyLog{Log: w.log}
		log.streams = func(infos []eventlog.StreamInfo) ([]eventlog.StreamInfo, error) {
			if failing.Load() {
				return nil, eventlog.ErrUnavailable
			}
			return infos, nil
		}
		reads := 0
		log.tail = func(r eventlog.Stored) (eventlog.Stored, error) {
			if reads++; reads%7 == 0 {
				return eventlog.Stored{}, eventlog.ErrUnavailable
			}
			return r, nil
		}
		commits := 0
		store := &faultyStore{Store: w.store, commit: func(_ []projection.Step, commit func() error) error {
			if commits++; commits < 4 {
				return projection.ErrUnavailable
			}
			return commit()
		}}
		p, _ := w.start(log, store, "a")
		synctest.Wait()
		if err := p.Problem(); !errors.Is(err, eventlog.ErrUnavailable) {
			t.Errorf("the log is away, and the problem is %v", err)
		}
		failing.Store(false)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if err := p.Problem(); !errors.Is(err, projection.ErrUnavailable) {
			t.Errorf("the store is away, and the problem is %v", err)
		}
		time.Sleep(time.Minute)
		w.check()
		if err := p.Problem(); err != nil {
			t.Errorf("all is well, and the problem is %v", err)
		}
	})
}

func TestProjectorStops(t *testing.T) {
	stream := eventlog.Epoch("26q4").Stream()
	newer, err := proto.Marshal(newerRecord(t))
	must(t, err)
	for name, c := range map[string]struct {
		// spoil changes the log, of which 10 records are projected and 2 not.
		spoil func(t *testing.T, w *world, log *faultyLog)
		want  error
	}{
		"stream created anew": {func(t *testing.T, w *world, log *faultyLog) {
			again := memlog.New()
			must(t, again.Provision(t.Context(), "26q4"))
			log.Log, w.log = again, again
			for _, g := range w.played[:5] { // Even its checkpoint looks the same.
				w.append(g.GameID, projectiontest.Event(t, g, 1, false))
				w.append(g.GameID, projectiontest.Event(t, g, 2, true))
			}
		}, projection.ErrReplaced},
		"created anew while running": {func(_ *testing.T, _ *world, log *faultyLog) {
			log.tail = func(r eventlog.Stored) (eventlog.Stored, error) {
				r.Position.Incarnation = "other"
				return r, nil
			}
		}, projection.ErrReplaced},
		"tail cut": {func(_ *testing.T, _ *world, log *faultyLog) {
			log.event = func(eventlog.Stored) (eventlog.Stored, error) { return eventlog.Stored{}, eventlog.ErrNotFound }
		}, projection.ErrReplaced},
		"tail cut and sequences given out again": {func(_ *testing.T, _ *world, log *faultyLog) {
			log.event = func(r eventlog.Stored) (eventlog.Stored, error) {
				r.ID = "another"
				return r, nil
			}
		}, projection.ErrReplaced},
		"head lost": {func(_ *testing.T, _ *world, log *faultyLog) {
			log.streams = func(infos []eventlog.StreamInfo) ([]eventlog.StreamInfo, error) {
				infos[0].FirstSequence = 12
				return infos, nil
			}
		}, projection.ErrLost},
		"hole": {func(_ *testing.T, _ *world, log *faultyLog) {
			log.tail = func(r eventlog.Stored) (eventlog.Stored, error) {
				r.Position.Sequence++
				return r, nil
			}
		}, projection.ErrLost},
		"hole found by the log": {func(_ *testing.T, _ *world, log *faultyLog) {
			log.tail = func(eventlog.Stored) (eventlog.Stored, error) { return eventlog.Stored{}, eventlog.ErrDamaged }
		}, eventlog.ErrDamaged},
		"newer schema": {func(_ *testing.T, _ *world, log *faultyLog) {
			log.tail = func(r eventlog.Stored) (eventlog.Stored, error) {
				r.Data = newer
				return r, nil
			}
		}, record.ErrNewerSchema},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.finishMany(5)
				_, stop := w.start(w.log, w.store, "a")
				synctest.Wait()
				stop()
				before := slices.Clone(w.played)
				w.finishMany(1)

				log := &faultyLog{Log: w.log}
				c.spoil(t, w, log)
				p, _ := w.start(log, w.store, "a")
				time.Sleep(time.Minute)
				if err := p.Problem(); !errors.Is(err, c.want) {
					t.Errorf("problem %v, want %v", err, c.want)
				}
				if at, _ := p.Checkpoint(stream); at.Sequence != 10 {
					t.Errorf("went on to %d", at.Sequence)
				}
				projectiontest.CheckBoards(t, w.store, before)
			})
		})
	}
}

// newerRecord returns a record with a fact that this program does not know.
func newerRecord(t *testing.T) *eventv1.Record {
	t.Helper()
	g := projectiontest.NewGame("ada", "classic", 5, 40)
	var r eventv1.Record
	must(t, proto.Unmarshal(projectiontest.Event(t, g, 1, false).Data, &r))
	fact := &eventv1.Fact{}
	fact.ProtoReflect().SetUnknown([]byte{0x82, 0x7d, 0x00}) // Field 2000, an empty message.
	r.Facts = []*eventv1.Fact{fact}
	return &r
}

func TestProjectorHeals(t *testing.T) {
	t.Run("holes that close", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			w.finishMany(3)
			reads := 0
			log := &faultyLog{Log: w.log, tail: func(r eventlog.Stored) (eventlog.Stored, error) {
				if reads++; reads%2 == 1 { // Often, but never for long.
					return eventlog.Stored{}, eventlog.ErrDamaged
				}
				return r, nil
			}}
			p, _ := w.start(log, w.store, "a")
			time.Sleep(time.Minute)
			w.check()
			if err := p.Problem(); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("a record spoilt on the way", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			w.finishMany(3)
			spoil := func(r eventlog.Stored) (eventlog.Stored, error) {
				r.Data = []byte{0xff}
				return r, nil
			}
			reads := 0
			log := &faultyLog{Log: w.log, tail: spoil, event: func(r eventlog.Stored) (eventlog.Stored, error) {
				if reads++; reads%2 == 1 {
					return spoil(r)
				}
				return r, nil
			}}
			w.start(log, w.store, "a")
			time.Sleep(time.Minute)
			w.check()
			if parked, err := w.store.Parked(t.Context()); err != nil || len(parked) != 0 {
				t.Errorf("parked %v, %v", parked, err)
			}
		})
	})
	t.Run("an archived stream", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			w.finishMany(3)
			var gone atomic.Bool
			log := &faultyLog{Log: w.log}
			log.streams = func(infos []eventlog.StreamInfo) ([]eventlog.StreamInfo, error) {
				if gone.Load() {
					return nil, nil
				}
				return infos, nil
			}
			log.tail = func(r eventlog.Stored) (eventlog.Stored, error) {
				if r.Position.Sequence > 6 {
					gone.Store(true)
					return eventlog.Stored{}, eventlog.ErrNotFound
				}
				return r, nil
			}
			p, _ := w.start(log, w.store, "a")
			synctest.Wait()
			w.check()
			w.append(projectiontest.NewGame("x", "classic", 1, 1).GameID, eventlog.Event{ID: "x", Version: 1})
			time.Sleep(time.Minute)
			if err := p.Problem(); err != nil {
				t.Errorf("a stream that was archived is a problem: %v", err)
			}
		})
	})
}

func TestProjectorParks(t *testing.T) {
	foreign := projectiontest.NewGame("eve", "classic", 9, 40)
	tooGood := projectiontest.NewGame("eve", "classic", 9, 40)
	for name, spoil := range map[string]func(t *testing.T, g projection.Game) eventlog.Event{
		"not a record": func(*testing.T, projection.Game) eventlog.Event {
			return eventlog.Event{ID: "bad", Version: 1, Data: []byte("not a record")}
		},
		"another game's record": func(t *testing.T, _ projection.Game) eventlog.Event {
			return projectiontest.Event(t, foreign, 1, true)
		},
		"another event's record": func(t *testing.T, g projection.Game) eventlog.Event {
			e := projectiontest.Event(t, g, 1, true)
			e.ID = "another"
			return e
		},
		"a score out of bounds": func(t *testing.T, g projection.Game) eventlog.Event {
			tooGood.GameID, tooGood.Score, tooGood.Outcome = g.GameID, -189, 2
			return projectiontest.Event(t, tooGood, 1, true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.finishMany(3)
				bad := projectiontest.NewGame("eve", "classic", 9, 40)
				e := spoil(t, bad)
				at := w.append(bad.GameID, e)
				// Its later records are passed over.
				w.append(bad.GameID, projectiontest.Event(t, bad, 2, true))
				w.finishMany(3)
				p, _ := w.start(w.log, w.store, "a")
				time.Sleep(time.Minute)
				w.check()
				if _, err := w.store.Game(t.Context(), bad.GameID); !errors.Is(err, projection.ErrNotFound) {
					t.Errorf("the game is shown: %v", err)
				}
				parked, err := w.store.Parked(t.Context())
				if err != nil || len(parked) != 1 || parked[0].Position != at || parked[0].EventID != e.ID ||
					parked[0].GameID != bad.GameID || parked[0].Problem == "" || string(parked[0].Payload) != string(e.Data) {
					t.Errorf("parked %+v, %v", parked, err)
				}
				if err := p.Problem(); err != nil {
					t.Errorf("one bad game holds up the rest: %v", err)
				}
			})
		})
	}
	t.Run("content that the database refuses", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			w.finishMany(3)
			bad := projectiontest.NewGame("eve", "classic", 9, 40)
			w.append(bad.GameID, projectiontest.Event(t, bad, 1, true))
			w.finishMany(3)
			store := &faultyStore{Store: w.store, commit: func(steps []projection.Step, commit func() error) error {
				for _, s := range steps {
					if s.Game != nil && s.Game.GameID == bad.GameID {
						return projection.ErrRejected
					}
				}
				return commit()
			}}
			w.start(w.log, store, "a")
			time.Sleep(time.Minute)
			w.check()
			if parked, err := w.store.Parked(t.Context()); err != nil || len(parked) != 1 || parked[0].GameID != bad.GameID {
				t.Errorf("parked %+v, %v", parked, err)
			}
		})
	})
}
