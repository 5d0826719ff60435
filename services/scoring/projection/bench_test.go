package projection_test

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/jetlog"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/memlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/projectiontest"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/sqlite"
)

const (
	// recordsPerGame is about how many records a game has.
	recordsPerGame = 40
	// sealedState is about how many bytes of a record are the sealed state.
	sealedState = 200
	// playedAtOnce is how many games are under way at a time.
	playedAtOnce = 64
)

// BenchmarkProject projects a log of SCOUNDREL_BENCH_GAMES finished games, or 5
// thousand, from its beginning into an empty SQLite file. The log is in memory: a
// thousand games take some 25 MB.
func BenchmarkProject(b *testing.B) {
	benchmarkProject(b, memlog.New())
}

// BenchmarkProjectJetStream does the same from a JetStream in this process, whose
// log is on the disk and was written without waiting for that. A million games take
// some 20 GB.
func BenchmarkProjectJetStream(b *testing.B) {
	ctx := b.Context()
	quiet := slog.New(slog.DiscardHandler)
	server, err := jetlog.StartEmbedded(ctx, jetlog.EmbeddedConfig{Dir: b.TempDir(), Logger: quiet, RelaxedSync: true})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := server.Close(context.WithoutCancel(ctx)); err != nil {
			b.Error(err)
		}
	}()
	log, err := jetlog.New(server.Conn(), jetlog.Config{})
	if err != nil {
		b.Fatal(err)
	}
	benchmarkProject(b, log)
}

func benchmarkProject(b *testing.B, log eventlog.Log) {
	ctx := b.Context()
	games := projectiontest.BenchSize(b, "SCOUNDREL_BENCH_GAMES", 5000)
	if err := log.Provision(ctx, "26q4"); err != nil {
		b.Fatal(err)
	}
	var players sync.WaitGroup
	errs := make(chan error, playedAtOnce)
	for first := range playedAtOnce {
		players.Go(func() {
			for i := first; i < games; i += playedAtOnce {
				// From games on, they count for four boards.
				if err := play(b, log, projectiontest.BenchGame(i+games, games)); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	players.Wait()
	close(errs)
	for err := range errs {
		b.Fatal(err)
	}
	streams, err := log.Streams(ctx)
	if err != nil || len(streams) != 1 {
		b.Fatal(streams, err)
	}
	last := eventlog.Position{Stream: streams[0].Name, Sequence: streams[0].LastSequence}
	if last.Sequence != uint64(games)*recordsPerGame {
		b.Fatalf("the log has %d records", last.Sequence)
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

// play appends the records of a game.
func play(b *testing.B, log eventlog.Log, g projection.Game) error {
	id, err := eventlog.ParseGameID(g.GameID)
	if err != nil {
		return err
	}
	sealed, err := proto.Marshal(&eventv1.Record{State: &eventv1.Sealed{Ciphertext: bytes.Repeat([]byte{1}, sealedState)}})
	if err != nil {
		return err
	}
	var after eventlog.Revision
	for version := uint64(1); version <= recordsPerGame; version++ {
		e := projectiontest.Started(b, g)
		if version > 1 {
			e = projectiontest.Event(b, g, version, version == recordsPerGame)
		}
		e.Data = append(e.Data, sealed...) // a message that follows another one adds to it
		at, err := log.Append(b.Context(), id, after, e)
		if err != nil {
			return err
		}
		after = eventlog.Revision(at.Sequence)
	}
	return nil
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
