package scoring_test

import (
	"fmt"
	"log/slog"
	"syscall"
	"testing"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/memlog"
	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/services/scoring"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/postgres"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/postgres/postgrestest"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/projectiontest"
)

// TestInstancesShareADatabase lets three instances work on one PostgreSQL database
// while games end. One of them projects; it is stopped, then the database is
// restarted, then the next one is stopped. Every instance answers for what a token
// names, and the boards are those of the games.
func TestInstancesShareADatabase(t *testing.T) {
	server := postgrestest.Start(t)
	url := server.Database(t)
	log := memlog.New()
	must(t, log.Provision(t.Context(), "26q4"))
	type instance struct {
		client scoringv1.ScoringServiceClient
		stop   func()
	}
	var instances []instance
	for i := range 3 {
		store, err := postgres.Open(t.Context(), url)
		must(t, err)
		t.Cleanup(func() { must(t, store.Close()) })
		w := &world{t: t, log: &awayLog{Log: log}}
		w.service, err = scoring.New(t.Context(), scoring.Config{
			TokenKey: tokenKey,
			Log:      w.log, Store: store, Ranked: []string{"classic"}, Instance: fmt.Sprintf("instance %d", i), Logger: slog.New(slog.DiscardHandler),
		})
		must(t, err)
		instances = append(instances, instance{w.serve(), w.run()})
	}

	var played []projection.Game
	play := func(n int) (token string) {
		for i := range n {
			g := projectiontest.NewGame(fmt.Sprintf("p%d", i%25), "classic", (i*7)%30-12, uint32(40+i%5))
			id, err := eventlog.ParseGameID(g.GameID)
			must(t, err)
			p, err := log.Append(t.Context(), id, 0, projectiontest.Event(t, g, 1, true))
			must(t, err)
			g.Stream, g.Sequence = p.Stream, p.Sequence
			played = append(played, g)
			token = p.Token()
		}
		return token
	}
	// see asks every instance that still runs, until it knows the token.
	see := func(token string) {
		t.Helper()
		for _, in := range instances {
			settle(t, in.client, token)
		}
	}
	see(play(100))
	// The first one to start projects; another takes over.
	instances[0].stop()
	instances = instances[1:]
	see(play(100))
	must(t, server.Stop(syscall.SIGKILL))
	token := play(50)
	must(t, server.Run())
	see(token)
	instances[0].stop()
	instances = instances[1:]
	see(play(50))

	store, err := postgres.Open(t.Context(), url)
	must(t, err)
	t.Cleanup(func() { must(t, store.Close()) })
	projectiontest.CheckBoards(t, store, played)
}
