package scoundrel

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	_ "modernc.org/sqlite" // the driver named below

	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
)

// TestScoresThatCannotBeWrittenStopNoGame takes the scores' database away and
// gives it back. The health of scoring, and of the whole, follows; games go on
// all the while; and once the database is back the score is there, with nobody
// having done anything.
func TestScoresThatCannotBeWrittenStopNoGame(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	health := s.watchHealth(t)
	health("", healthv1.HealthCheckResponse_SERVING)

	db := must[*sql.DB](t)(sql.Open("sqlite", filepath.Join(dir, databaseFile)))
	defer func() { _ = db.Close() }()
	holder := must[*sql.Conn](t)(db.Conn(t.Context()))
	if _, err := holder.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	ctx := as(t.Context(), "ada", "human")
	g := must[*gamev1.StartGameResponse](t)(s.StartGame(ctx, &gamev1.StartGameRequest{})).GetGame()
	health(scoringv1.ScoringService_ServiceDesc.ServiceName, healthv1.HealthCheckResponse_NOT_SERVING)
	health("", healthv1.HealthCheckResponse_NOT_SERVING)
	health(gamev1.GameService_ServiceDesc.ServiceName, healthv1.HealthCheckResponse_SERVING)
	var token string
	for g.GetStatus() == gamev1.GameStatus_GAME_STATUS_ACTIVE {
		moves := g.GetLegalMoves()
		res := must[*gamev1.PlayMoveResponse](t)(s.PlayMove(ctx, &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: moves[len(moves)-1].GetMove()}))
		g, token = res.GetGame(), res.GetConsistencyToken()
	}
	// No retries here: they would wait for what cannot come yet.
	behind, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	if _, err := s.GetScore(behind, &scoringv1.GetScoreRequest{GameId: g.GetGameId(), ConsistencyToken: token}); err == nil {
		t.Error("there is a score that was never written")
	}

	if _, err := holder.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	health("", healthv1.HealthCheckResponse_SERVING)
	score := must[*scoringv1.GetScoreResponse](t)(s.GetScore(ctx, &scoringv1.GetScoreRequest{GameId: g.GetGameId(), ConsistencyToken: token}))
	if score.GetScore().GetScore() != g.GetScore() {
		t.Errorf("score %v, want %d", score, g.GetScore())
	}
}

// watchHealth returns what waits until a service's health is as it should be.
func (c *client) watchHealth(t *testing.T) func(service string, want healthv1.HealthCheckResponse_ServingStatus) {
	t.Helper()
	return func(service string, want healthv1.HealthCheckResponse_ServingStatus) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		watch, err := healthv1.NewHealthClient(c.conn).Watch(ctx, &healthv1.HealthCheckRequest{Service: service})
		if err != nil {
			t.Fatal(err)
		}
		for {
			res, err := watch.Recv()
			if err != nil {
				t.Fatalf("%q never became %v: %v", service, want, err)
			}
			if res.GetStatus() == want {
				return
			}
		}
	}
}
