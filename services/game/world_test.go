package game_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/memlog"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	rpcv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rpc/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
	"github.com/scoundrel-game/scoundrel/services/game"
)

// clock is a clock that stands still until it is set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}

// buffer is a log output that can be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// world is a log with its keys and everything that may be injected.
type world struct {
	log    eventlog.Log
	keys   *record.Keyset
	clock  *clock
	seed   engine.Seed // of RANDOM games and daily challenges; each its own if zero
	seeds  atomic.Uint32
	ranked []string
	logged *buffer
}

func newWorld() *world {
	return &world{
		log: memlog.New(), keys: record.NewKeyset(), seed: engine.Seed{1}, ranked: []string{"classic"}, logged: &buffer{},
		clock: &clock{now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)},
	}
}

func (w *world) config() game.Config {
	return game.Config{
		Log: w.log, Keys: w.keys, Ranked: w.ranked, Clock: w.clock.Now,
		Logger: slog.New(slog.NewTextHandler(w.logged, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Seeds:  func() (engine.Seed, error) { return w.nextSeed(), nil },
	}
}

// nextSeed returns seed, or one that is like no other if that is zero.
func (w *world) nextSeed() engine.Seed {
	if w.seed != (engine.Seed{}) {
		return w.seed
	}
	return engine.Seed{byte(w.seeds.Add(1)), 7}
}

// serve starts an instance of the service over an in-memory connection.
func (w *world) serve(t *testing.T) gamev1.GameServiceClient {
	t.Helper()
	cfg := w.config()
	service, err := game.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	server, err := rpckit.New(rpckit.Config{Logger: cfg.Logger, Tables: []rpckit.Table{game.Problems}})
	if err != nil {
		t.Fatal(err)
	}
	service.Bind(server)
	listener := bufconn.Listen(1 << 20)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx, listener) }()
	conn, err := grpc.NewClient("passthrough:///bufconn",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return gamev1.NewGameServiceClient(conn)
}

// as returns the context of a player's call.
func as(t *testing.T, player string) context.Context {
	return metadata.AppendToOutgoingContext(t.Context(), "x-player-id", player)
}

// must returns a response that has to be there.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// wantReason checks an error's code and reason and returns its metadata.
// badFields returns the fields that an error blames.
func badFields(err error) (names []string) {
	for _, d := range status.Convert(err).Details() {
		if bad, ok := d.(*errdetails.BadRequest); ok {
			for _, v := range bad.GetFieldViolations() {
				names = append(names, v.GetField())
			}
		}
	}
	return names
}

func wantReason(t *testing.T, err error, code codes.Code, reason rpcv1.ErrorReason) map[string]string {
	t.Helper()
	if code == codes.InvalidArgument && len(badFields(err)) == 0 {
		t.Errorf("no field is named by %v", err)
	}
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			if status.Code(err) == code && "ERROR_REASON_"+info.GetReason() == reason.String() {
				return info.GetMetadata()
			}
		}
	}
	t.Fatalf("want %v %v, got %v %v", code, reason, err, status.Convert(err).Details())
	return nil
}

func start(t *testing.T, c gamev1.GameServiceClient, player string, req *gamev1.StartGameRequest) *gamev1.Game {
	t.Helper()
	return must[*gamev1.StartGameResponse](t)(c.StartGame(as(t, player), req)).GetGame()
}

func move(t *testing.T, text string) *rulesv1.Move {
	t.Helper()
	m, err := engine.ParseMove(text)
	if err != nil {
		t.Fatal(err)
	}
	return record.MoveToProto(m)
}

// playOut plays the last legal move of a game, which is never to avoid, until
// it is over, and returns every game on the way.
func playOut(t *testing.T, c gamev1.GameServiceClient, g *gamev1.Game) []*gamev1.Game {
	t.Helper()
	games := []*gamev1.Game{g}
	for g.GetStatus() == gamev1.GameStatus_GAME_STATUS_ACTIVE {
		moves := g.GetLegalMoves()
		g = must[*gamev1.PlayMoveResponse](t)(c.PlayMove(as(t, g.GetPlayerId()), &gamev1.PlayMoveRequest{
			GameId: g.GetGameId(), Move: moves[len(moves)-1].GetMove(), ExpectedVersion: g.GetVersion(),
		})).GetGame()
		games = append(games, g)
	}
	return games
}
