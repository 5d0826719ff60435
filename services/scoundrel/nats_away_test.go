package scoundrel

import (
	"context"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog/jetlog"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
	"github.com/scoundrel-game/scoundrel/services/game"
	"github.com/scoundrel-game/scoundrel/services/scoring"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/sqlite"
)

// TestNATSAway stops the NATS server under both services and starts it again.
// Meanwhile commands are UNAVAILABLE and say when to retry, health is red, and
// afterwards everything goes on by itself: the same request then has its one
// effect, and the score is there.
func TestNATSAway(t *testing.T) {
	quiet := slog.New(slog.DiscardHandler)
	dir := t.TempDir()
	broker := func(port int) *jetlog.Embedded {
		t.Helper()
		return must[*jetlog.Embedded](t)(jetlog.StartEmbedded(t.Context(), jetlog.EmbeddedConfig{
			Dir: filepath.Join(dir, natsFolder), Logger: quiet, RelaxedSync: true, Host: "127.0.0.1", Port: port,
		}))
	}
	closeBroker := func(e *jetlog.Embedded) {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 20*time.Second)
		defer cancel()
		if err := e.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	nats := broker(-1)
	at := must[*url.URL](t)(url.Parse(nats.ClientURL()))
	port := must[int](t)(strconv.Atoi(at.Port()))
	nc, err := jetlog.Connect(nats.ClientURL(), "test", quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	log := must[*jetlog.Log](t)(jetlog.New(nc, jetlog.Config{AppendTimeout: time.Second, ReadTimeout: time.Second}))
	store := must[*sqlite.Store](t)(sqlite.Open(t.Context(), filepath.Join(dir, databaseFile)))
	defer func() { _ = store.Close() }()
	games := must[*game.Service](t)(game.New(t.Context(), game.Config{Log: log, Keys: record.NewKeyset(), Ranked: ranked(), Logger: quiet}))
	scores := must[*scoring.Service](t)(scoring.New(t.Context(), scoring.Config{Log: log, Store: store, Ranked: ranked(), Logger: quiet, TokenKey: make([]byte, scoring.MinTokenKey)}))
	server := must[*rpckit.Server](t)(rpckit.New(rpckit.Config{
		Logger: quiet, Tables: []rpckit.Table{game.Problems, scoring.Problems}, ReadyInterval: 50 * time.Millisecond,
	}))
	games.Bind(server)
	scores.Bind(server)
	server.AddReady(gamev1.GameService_ServiceDesc.ServiceName, games.Ready)
	server.AddReady(scoringv1.ScoringService_ServiceDesc.ServiceName, scores.Ready)
	listener := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 2)
	go func() { done <- scores.Run(ctx) }()
	go func() { done <- server.Run(ctx, listener) }()
	defer func() {
		stop()
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}()
	// A client that does not retry by itself.
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	c := &client{gamev1.NewGameServiceClient(conn), scoringv1.NewScoringServiceClient(conn), conn}
	health := c.watchHealth(t)
	health("", healthv1.HealthCheckResponse_SERVING)

	ada := as(t.Context(), "ada", "human")
	g := must[*gamev1.StartGameResponse](t)(c.StartGame(ada, &gamev1.StartGameRequest{})).GetGame()
	req := &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: g.GetLegalMoves()[1].GetMove(), RequestId: "r", ExpectedVersion: 1}
	closeBroker(nats)
	for name, call := range map[string]func() error{
		"move":  func() error { _, err := c.PlayMove(ada, req); return err },
		"start": func() error { _, err := c.StartGame(ada, &gamev1.StartGameRequest{RequestId: "s"}); return err },
		"read":  func() error { _, err := c.GetGame(ada, &gamev1.GetGameRequest{GameId: g.GetGameId()}); return err },
	} {
		err := call()
		retry := false
		for _, d := range status.Convert(err).Details() {
			info, ok := d.(*errdetails.RetryInfo)
			retry = retry || ok && info.GetRetryDelay().AsDuration() > 0
		}
		if status.Code(err) != codes.Unavailable || !retry || reason(err) == "" {
			t.Errorf("%s: %v %v", name, err, status.Convert(err).Details())
		}
	}
	health("", healthv1.HealthCheckResponse_NOT_SERVING)
	health(gamev1.GameService_ServiceDesc.ServiceName, healthv1.HealthCheckResponse_NOT_SERVING)

	nats = broker(port)
	defer closeBroker(nats)
	health("", healthv1.HealthCheckResponse_SERVING)
	moved := must[*gamev1.PlayMoveResponse](t)(c.PlayMove(ada, req)).GetGame()
	if moved.GetVersion() != 2 {
		t.Errorf("version %d after one move", moved.GetVersion())
	}
	token := ""
	for moved.GetStatus() == gamev1.GameStatus_GAME_STATUS_ACTIVE {
		moves := moved.GetLegalMoves()
		res := must[*gamev1.PlayMoveResponse](t)(c.PlayMove(ada, &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: moves[len(moves)-1].GetMove()}))
		moved, token = res.GetGame(), res.GetConsistencyToken()
	}
	score := must[*scoringv1.GetScoreResponse](t)(c.GetScore(ada, &scoringv1.GetScoreRequest{GameId: g.GetGameId(), ConsistencyToken: token}))
	if score.GetScore().GetScore() != moved.GetScore() {
		t.Errorf("score %v, want %d", score, moved.GetScore())
	}
}
