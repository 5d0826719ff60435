package scoring_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
	"github.com/scoundrel-game/scoundrel/services/scoring"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// TestWaiting calls a handler in a bubble, where time passes only when all
// wait, so that waits have exact lengths and cost nothing.
func TestWaiting(t *testing.T) {
	call := func(t *testing.T, w *world, ctx context.Context, token string) (time.Duration, error) {
		t.Helper()
		ctx = rpckit.WithCaller(ctx, rpckit.Identity{PlayerID: "p000", Actor: eventv1.ActorKind_ACTOR_KIND_HUMAN})
		before := time.Now()
		_, err := w.service.GetPlayerEntry(ctx, &scoringv1.GetPlayerEntryRequest{ConsistencyToken: token})
		return time.Since(before), err
	}
	for name, test := range map[string]func(*testing.T, *world){
		"gives up after 2 s": func(t *testing.T, w *world) {
			var behind *scoring.BehindError
			took, err := call(t, w, t.Context(), w.fill(5))
			if !errors.As(err, &behind) || behind.Records != 5 || took != 2*time.Second {
				t.Errorf("%v after %v", err, took)
			}
		},
		"gives up just before the deadline": func(t *testing.T, w *world) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			var behind *scoring.BehindError
			took, err := call(t, w, ctx, w.fill(5))
			if !errors.As(err, &behind) || took != 900*time.Millisecond {
				t.Errorf("%v after %v", err, took)
			}
		},
		"ends with the call": func(t *testing.T, w *world) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			took, err := call(t, w, ctx, w.fill(5))
			if !errors.Is(err, context.Canceled) || took != time.Second {
				t.Errorf("%v after %v", err, took)
			}
		},
		"is woken by the projector": func(t *testing.T, w *world) {
			token := w.fill(5)
			time.AfterFunc(time.Second, func() { w.run() })
			if took, err := call(t, w, t.Context(), token); err != nil || took != time.Second {
				t.Errorf("%v after %v", err, took)
			}
		},
		"needs none at rest": func(t *testing.T, w *world) {
			w.run()
			for range 3 {
				if took, err := call(t, w, t.Context(), w.fill(5)); err != nil || took != 0 {
					t.Errorf("%v after %v", err, took)
				}
			}
		},
		"finds a new epoch": func(t *testing.T, w *world) {
			w.run()
			synctest.Wait()
			must(t, w.log.Provision(t.Context(), "27q1"))
			g := w.gameOf("p000", "27q1")
			if took, err := call(t, w, t.Context(), w.finish(g)); err != nil || took != 0 {
				t.Errorf("%v after %v", err, took)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) { test(t, newWorld(t, dir)) })
		})
	}
}

func TestReady(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir)
		stop := w.run()
		w.fill(3)
		synctest.Wait()
		must(t, w.service.Ready(t.Context()))
		stop()

		// Another log of the same name: the database is not its projection.
		w = newWorld(t, dir)
		w.fill(3)
		w.run()
		synctest.Wait()
		if err := w.service.Ready(t.Context()); !errors.Is(err, projection.ErrReplaced) {
			t.Errorf("ready over another log: %v", err)
		}
	})
}
