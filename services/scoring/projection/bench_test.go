package projection_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/memlog"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/projectiontest"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/sqlite"
)

// recordsPerGame is about how many records a game has.
const recordsPerGame = 40

// BenchmarkProject projects a log of SCOUNDREL_BENCH_GAMES finished games, or 5
// thousand, from its beginning into an empty SQLite file. The log is in memory: a
// thousand games take some 15 MB.
func BenchmarkProject(b *testing.B) {
	ctx := b.Context()
	games := projectiontest.BenchSize(b, "SCOUNDREL_BENCH_GAMES", 5000)
	log := memlog.New()
	if err := log.Provision(ctx, "26q4"); err != nil {
		b.Fatal(err)
	}
	// One game after another begins, and each has a record in every round.
	var last eventlog.Position
	type playing struct {
		projection.Game

		id     eventlog.GameID
		events uint64
		after  eventlog.Revision
	}
	var now []playing
	for next := 0; next < games || len(now) > 0; next++ {
		if next < games {
			g := projectiontest.BenchGame(next+games, games) // which counts for four boards
			id, err := eventlog.ParseGameID(g.GameID)
			if err != nil {
				b.Fatal(err)
			}
			now = append(now, playing{Game: g, id: id})
		}
		for i := range now {
			g := &now[i]
			g.events++
			var err error
			if last, err = log.Append(ctx, g.id, g.after, projectiontest.Event(b, g.Game, g.events, g.events == recordsPerGame)); err != nil {
				b.Fatal(err)
			}
			g.after = eventlog.Revision(last.Sequence)
		}
		if now[0].events == recordsPerGame {
			now = now[1:]
		}
	}
	for b.Loop() {
		store, err := sqlite.Open(ctx, filepath.Join(b.TempDir(), "scores.db"))
		if err != nil {
			b.Fatal(err)
		}
		projectAll(b, log, store, last)
		if err := store.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*float64(last.Sequence)/b.Elapsed().Seconds(), "records/s")
}

// projectAll projects a log up to its last record.
func projectAll(b *testing.B, log eventlog.Log, store projection.Store, last eventlog.Position) {
	b.Helper()
	p, err := projection.NewProjector(b.Context(), projection.ProjectorConfig{
		Log: log, Store: store, Holder: "bench", Clock: time.Now, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	done := make(chan error)
	go func() { done <- p.Run(ctx) }()
	for {
		at, moved := p.Checkpoint(last.Stream)
		if at.Sequence == last.Sequence {
			break
		}
		<-moved
	}
	stop()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}
