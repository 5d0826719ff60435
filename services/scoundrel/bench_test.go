package scoundrel

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/jetlog"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
)

// minimal is the least that a handler of PlayMove can do and still be durable:
// one compare-and-set publish of the same size.
type minimal struct {
	gamev1.UnimplementedGameServiceServer

	log   eventlog.Log
	game  eventlog.GameID
	event eventlog.Event
	after eventlog.Revision
	res   *gamev1.PlayMoveResponse
}

func (m *minimal) PlayMove(ctx context.Context, _ *gamev1.PlayMoveRequest) (*gamev1.PlayMoveResponse, error) {
	e := m.event
	e.ID = fmt.Sprintf("%032x", m.after)
	p, err := m.log.Append(ctx, m.game, m.after, e)
	m.after = eventlog.Revision(p.Sequence)
	return m.res, err
}

// BenchmarkPlayMoveAtRest plays with one client on a durable server and reports
// the median of PlayMove beside that of a minimal handler, call by call in turn,
// so that the machine's mood touches both alike.
func BenchmarkPlayMoveAtRest(b *testing.B) {
	s := start(b, b.TempDir(), func(c *Config) {
		c.Logger, c.Seeds, c.RelaxedSync = slog.New(slog.DiscardHandler), nil, false
		c.Listener, c.GRPCAddr = nil, "127.0.0.1:0"
	})
	tcp, err := dial(s.server.Addr())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = tcp.conn.Close() }()
	ctx := as(b.Context(), "bench", "bot")

	// The minimal handler answers with the bytes of a real move and stores as
	// many as a real record has.
	started := must[*gamev1.StartGameResponse](b)(tcp.StartGame(ctx, &gamev1.StartGameRequest{}))
	res := must[*gamev1.PlayMoveResponse](b)(tcp.PlayMove(ctx, &gamev1.PlayMoveRequest{GameId: started.GetGame().GetGameId(), Move: started.GetGame().GetLegalMoves()[1].GetMove()}))
	id := must[eventlog.GameID](b)(eventlog.ParseGameID(started.GetGame().GetGameId()))
	last := must[eventlog.Stored](b)(s.server.log.Load(ctx, id))
	nats := must[*jetlog.Embedded](b)(jetlog.StartEmbedded(ctx, jetlog.EmbeddedConfig{Dir: filepath.Join(b.TempDir(), "nats"), Logger: slog.New(slog.DiscardHandler)}))
	defer func() {
		if err := nats.Close(context.Background()); err != nil {
			b.Error(err)
		}
	}()
	log := must[*jetlog.Log](b)(jetlog.New(nats.Conn(), jetlog.Config{}))
	if err := log.Provision(ctx, id.Epoch()); err != nil {
		b.Fatal(err)
	}
	bare := grpc.NewServer()
	gamev1.RegisterGameServiceServer(bare, &minimal{log: log, game: id, event: last.Event, res: res})
	listener := must[net.Listener](b)(net.Listen("tcp", "127.0.0.1:0"))
	go func() { _ = bare.Serve(listener) }() // ends with Stop
	defer bare.Stop()
	least, err := dial(listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = least.conn.Close() }()

	var ours, theirs []time.Duration
	var g *gamev1.Game
	for b.Loop() {
		if g.GetStatus() != gamev1.GameStatus_GAME_STATUS_ACTIVE {
			g = must[*gamev1.StartGameResponse](b)(tcp.StartGame(ctx, &gamev1.StartGameRequest{})).GetGame()
		}
		req := &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: greedy(nil, g).GetMove(), ExpectedVersion: g.GetVersion(), RequestId: requestID()}
		start := time.Now()
		res := must[*gamev1.PlayMoveResponse](b)(tcp.PlayMove(ctx, req))
		ours = append(ours, time.Since(start))
		g = res.GetGame()
		start = time.Now()
		must[*gamev1.PlayMoveResponse](b)(least.PlayMove(ctx, req))
		theirs = append(theirs, time.Since(start))
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	b.ReportMetric(0, "ns/op") // both calls together mean nothing
	b.ReportMetric(percentile(ours, 50), "p50-ms")
	b.ReportMetric(percentile(theirs, 50), "minimal-p50-ms")
	b.ReportMetric(percentile(ours, 50)/percentile(theirs, 50), "ratio")
}

// BenchmarkServeToReady starts the real program on an empty folder and waits
// until its health says that it serves.
func BenchmarkServeToReady(b *testing.B) {
	if _, err := buildProgram(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		p := serve(b, b.TempDir())
		b.StopTimer()
		_ = p.end(b, os.Kill) // so that only one runs at a time; killed is how it ends
		b.StartTimer()
	}
}
