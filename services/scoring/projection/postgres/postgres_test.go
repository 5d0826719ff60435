package postgres_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/postgres"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/postgres/postgrestest"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/projectiontest"
)

func open(t testing.TB, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	server := postgrestest.Start(t)
	projectiontest.Run(t, func(t testing.TB) projection.Store { return open(t, server.Database(t)) })
}

// TestManyStartersMigrateAtOnce opens one empty database from everywhere.
func TestManyStartersMigrateAtOnce(t *testing.T) {
	url := postgrestest.Start(t).Database(t)
	var starters sync.WaitGroup
	for range 5 {
		starters.Go(func() {
			s, err := postgres.Open(t.Context(), url)
			if err != nil {
				t.Error(err)
				return
			}
			if err := errors.Join(s.Ping(t.Context()), s.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	starters.Wait()
}

// TestServerRestarted stops the server in order and kills it; the store says that
// it is away, and goes on by itself when it is back.
func TestServerRestarted(t *testing.T) {
	server := postgrestest.Start(t)
	s := open(t, server.Database(t))
	at := projection.Checkpoint{}
	finish := func() error {
		g := projectiontest.NewGame("ada", "classic", 7, 40)
		step := projection.Step{Record: eventlog.Stored{
			Event:    eventlog.Event{ID: g.GameID, Version: 1},
			Position: eventlog.Position{Stream: "S", Incarnation: "i", Sequence: at.Sequence + 1},
		}, Game: &g}
		if err := s.Commit(t.Context(), at, []projection.Step{step}); err != nil {
			return err
		}
		at = projection.Checkpoint{Position: step.Record.Position, EventID: step.Record.ID}
		return nil
	}
	if err := finish(); err != nil {
		t.Fatal(err)
	}
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		if err := server.Stop(signal); err != nil {
			t.Fatal(err)
		}
		if err := finish(); !errors.Is(err, projection.ErrUnavailable) {
			t.Errorf("%v: commit: %v", signal, err)
		}
		if _, err := s.Entries(t.Context(), projectiontest.Classic, projection.Range{Limit: 1}); !errors.Is(err, projection.ErrUnavailable) {
			t.Errorf("%v: read: %v", signal, err)
		}
		if err := s.Ping(t.Context()); !errors.Is(err, projection.ErrUnavailable) {
			t.Errorf("%v: ping: %v", signal, err)
		}
		if err := server.Run(); err != nil {
			t.Fatal(err)
		}
		// A pool may hold connections that it does not know to be broken.
		var err error
		for range 20 {
			if err = finish(); err == nil {
				break
			}
			if !errors.Is(err, projection.ErrUnavailable) && !errors.Is(err, projection.ErrFenced) {
				t.Fatalf("%v: back again: %v", signal, err)
			}
		}
		if err != nil {
			t.Fatalf("%v: it does not come back: %v", signal, err)
		}
	}
	page, err := s.Entries(t.Context(), projectiontest.Classic, projection.Range{Limit: 1})
	if err != nil || page.TotalPlayers != 1 {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	const secret = "hunter2"
	for name, url := range map[string]string{
		"not a URL":  "postgres://user:" + secret + "@host:port/x",
		"no server":  "postgres://user:" + secret + "@127.0.0.1:1/x?sslmode=disable",
		"no address": "postgres://user:" + secret + "@/x?host=/nowhere",
	} {
		_, err := postgres.Open(t.Context(), url)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := postgres.Open(ctx, "postgres://user@127.0.0.1:1/x"); !errors.Is(err, context.Canceled) {
		t.Errorf("a start that was given up: %v", err)
	}
}
