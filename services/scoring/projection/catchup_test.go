package projection_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/projectiontest"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/sqlite"
)

// projector returns one that does not run.
func (w *world) projector(log eventlog.Log, store projection.Store) *projection.Projector {
	w.t.Helper()
	p, err := projection.NewProjector(w.t.Context(), projection.ProjectorConfig{
		Log: log, Store: store, Holder: "x", Clock: time.Now, Logger: slog.New(slog.DiscardHandler),
	})
	must(w.t, err)
	return p
}

// fresh returns another, empty store.
func (w *world) fresh() *sqlite.Store {
	w.t.Helper()
	s, err := sqlite.Open(w.t.Context(), filepath.Join(w.t.TempDir(), "fresh.db"))
	must(w.t, err)
	w.t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestCatchUp builds a store anew, first to where another one has come, then to
// the end of the log.
func TestCatchUp(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		must(t, w.log.Provision(t.Context(), "27q1"))
		later := projectiontest.NewGame("p1", "classic", 9, 40)
		later.GameID = eventlog.DeriveGameID("27q1", "later").String()
		w.finish(later)
		w.finishMany(20)
		_, stop := w.start(w.log, w.store, "a")
		synctest.Wait()
		stop()
		old := w.played
		w.finishMany(20)

		status := func(s projection.Store) (at map[string]uint64, behind uint64) {
			all, err := w.projector(w.log, s).Status(t.Context())
			if err != nil || len(all) != 2 || all[0].Problem != nil || all[1].Problem != nil {
				t.Fatalf("status %+v, %v", all, err)
			}
			return map[string]uint64{all[0].Stream: all[0].Sequence, all[1].Stream: all[1].Sequence}, all[0].Behind() + all[1].Behind()
		}
		at, behind := status(w.store)
		if behind != 40 {
			t.Errorf("%d records behind", behind)
		}
		fresh := w.fresh()
		if _, behind := status(fresh); behind != 82 {
			t.Errorf("%d records behind the start", behind)
		}
		p, read := w.projector(w.log, fresh), 0
		progress := func(n int) { read += n }
		must(t, p.CatchUp(t.Context(), at, progress))
		if read != 42 || projectiontest.Hash(t, fresh) != projectiontest.Hash(t, w.store) {
			t.Errorf("not the same after %d records", read)
		}
		projectiontest.CheckBoards(t, fresh, old)
		if now, _ := status(fresh); now["SCOUNDREL_GAMES_26Q4"] != at["SCOUNDREL_GAMES_26Q4"] {
			t.Errorf("at %v, not %v", now, at)
		}
		for range 2 { // the second time there is nothing to do
			must(t, p.CatchUp(t.Context(), nil, progress))
			if _, behind := status(fresh); read != 82 || behind != 0 {
				t.Errorf("%d records read, %d behind", read, behind)
			}
		}
		projectiontest.CheckBoards(t, fresh, w.played)
	})
}

// TestCatchUpGivesUp meets what it cannot pass.
func TestCatchUpGivesUp(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.finishMany(5)
		ctx, cancel := context.WithCancel(t.Context())
		for name, c := range map[string]struct {
			log  *faultyLog
			want error
		}{
			"no log":      {&faultyLog{Log: w.log, streams: func([]eventlog.StreamInfo) ([]eventlog.StreamInfo, error) { return nil, eventlog.ErrUnavailable }}, eventlog.ErrUnavailable},
			"interrupted": {&faultyLog{Log: w.log, tail: func(r eventlog.Stored) (eventlog.Stored, error) { cancel(); return r, nil }}, context.Canceled},
			"a hole": {&faultyLog{Log: w.log, tail: func(r eventlog.Stored) (eventlog.Stored, error) {
				if r.Position.Sequence > 3 {
					r.Position.Sequence++
				}
				return r, nil
			}}, projection.ErrLost},
			"lost head": {&faultyLog{Log: w.log, streams: func(all []eventlog.StreamInfo) ([]eventlog.StreamInfo, error) {
				all[0].FirstSequence = 3
				return all, nil
			}}, projection.ErrLost},
		} {
			ctx := ctx
			if name != "interrupted" {
				ctx = t.Context()
			}
			if err := w.projector(c.log, w.fresh()).CatchUp(ctx, nil, func(int) {}); !errors.Is(err, c.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestStatusTellsWhatIsWrong looks at logs that are not what was projected.
func TestStatusTellsWhatIsWrong(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.finishMany(5)
		must(t, w.projector(w.log, w.store).CatchUp(t.Context(), nil, func(int) {}))
		for name, c := range map[string]struct {
			change func([]eventlog.StreamInfo) ([]eventlog.StreamInfo, error)
			want   error
			gone   bool
		}{
			"all well": {func(all []eventlog.StreamInfo) ([]eventlog.StreamInfo, error) { return all, nil }, nil, false},
			"recreated": {func(all []eventlog.StreamInfo) ([]eventlog.StreamInfo, error) {
				all[0].Incarnation = "x"
				return all, nil
			}, projection.ErrReplaced, false},
			"lost head": {func(all []eventlog.StreamInfo) ([]eventlog.StreamInfo, error) {
				all[0].FirstSequence = 99
				return all, nil
			}, projection.ErrLost, false},
			"gone": {func([]eventlog.StreamInfo) ([]eventlog.StreamInfo, error) { return nil, nil }, nil, true},
		} {
			all, err := w.projector(&faultyLog{Log: w.log, streams: c.change}, w.store).Status(t.Context())
			if err != nil || len(all) != 1 || !errors.Is(all[0].Problem, c.want) || all[0].Gone != c.gone || all[0].Sequence != 10 || all[0].Behind() != 0 {
				t.Errorf("%s: %+v, %v", name, all, err)
			}
		}
		away := &faultyLog{Log: w.log, event: func(eventlog.Stored) (eventlog.Stored, error) { return eventlog.Stored{}, eventlog.ErrUnavailable }}
		if all, err := w.projector(away, w.store).Status(t.Context()); !errors.Is(err, eventlog.ErrUnavailable) {
			t.Errorf("the log is away: %+v, %v", all, err)
		}
	})
}

// TestRetry parks a game that was spoilt on its way, and one that is bad, and
// retries both.
func TestRetry(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.finishMany(3)
		spoilt := projectiontest.NewGame("ada", "classic", 19, 40)
		bad := projectiontest.NewGame("eve", "classic", 9, 40)
		w.finish(spoilt)
		w.append(bad.GameID, projectiontest.Event(t, bad, 1, false))
		at := w.append(bad.GameID, eventlog.Event{ID: "bad", Version: 2, Data: []byte("not a record")})
		spoil := func(r eventlog.Stored) (eventlog.Stored, error) {
			if r.Game.String() == spoilt.GameID {
				r.Data = []byte("spoilt")
			}
			return r, nil
		}
		must(t, w.projector(&faultyLog{Log: w.log, tail: spoil, event: spoil}, w.store).CatchUp(t.Context(), nil, func(int) {}))
		parked, err := w.store.Parked(t.Context())
		if err != nil || len(parked) != 2 || parked[0].GameID != spoilt.GameID {
			t.Fatalf("parked %+v, %v", parked, err)
		}

		p := w.projector(w.log, w.store)
		if problem, err := p.Retry(t.Context(), parked[0]); err != nil || problem != "" {
			t.Errorf("the spoilt game: %q, %v", problem, err)
		}
		w.check()
		problem, err := p.Retry(t.Context(), parked[1])
		if err != nil || problem == "" {
			t.Errorf("the bad game: %q, %v", problem, err)
		}
		left, err := w.store.Parked(t.Context())
		if err != nil || len(left) != 1 || left[0].Position != at || left[0].EventID != "bad" || left[0].Problem != problem || string(left[0].Payload) != "not a record" {
			t.Errorf("parked %+v, %v", left, err)
		}
		if _, err := p.Retry(t.Context(), parked[0]); !errors.Is(err, projection.ErrNotFound) {
			t.Errorf("a game that is mended: %v", err)
		}

		// A log that does not hold the game leaves it parked; one that is away changes nothing.
		poison := projection.Step{Record: eventlog.Stored{
			Event:    eventlog.Event{ID: "none", Version: 1, Data: []byte{}},
			Game:     eventlog.DeriveGameID("26q4", "none"),
			Position: eventlog.Position{Stream: "GONE", Incarnation: "i", Sequence: 1},
		}, Problem: "an old fault"}
		must(t, w.store.Commit(t.Context(), projection.Checkpoint{}, []projection.Step{poison}))
		left, err = w.store.Parked(t.Context())
		if err != nil || len(left) != 2 || left[0].EventID != "none" {
			t.Fatalf("parked %+v, %v", left, err)
		}
		if problem, err := p.Retry(t.Context(), left[0]); err != nil || problem != "the log holds no record of the game" {
			t.Errorf("a game of no log: %q, %v", problem, err)
		}
		away, cancel := context.WithCancel(t.Context())
		cancel()
		if problem, err := p.Retry(away, left[1]); err == nil {
			t.Errorf("given up: %q", problem)
		}
		w.check()
	})
}

// TestRetryOfWhatTheDatabaseRefuses keeps a game parked, with the database's reason.
func TestRetryOfWhatTheDatabaseRefuses(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		g := projectiontest.NewGame("ada", "classic", 19, 40)
		w.finish(g)
		store := &refusing{Store: w.store}
		must(t, w.projector(w.log, &faultyStore{Store: store, commit: func(steps []projection.Step, commit func() error) error {
			if steps[len(steps)-1].Game != nil {
				return projection.ErrRejected
			}
			return commit()
		}}).CatchUp(t.Context(), nil, func(int) {}))
		p := w.projector(w.log, store)
		parked, err := store.Parked(t.Context())
		if err != nil || len(parked) != 1 {
			t.Fatalf("parked %+v, %v", parked, err)
		}
		if problem, err := p.Retry(t.Context(), parked[0]); err != nil || problem != projection.ErrRejected.Error() {
			t.Errorf("%q, %v", problem, err)
		}
		if left, err := store.Parked(t.Context()); err != nil || len(left) != 1 || left[0].Problem != projection.ErrRejected.Error() {
			t.Errorf("parked %+v, %v", left, err)
		}
	})
}

// refusing is a store that refuses every game that is retried.
type refusing struct{ projection.Store }

func (r *refusing) Retry(ctx context.Context, gameID string, step projection.Step) error {
	if step.Game != nil {
		return projection.ErrRejected
	}
	return r.Store.Retry(ctx, gameID, step)
}
