package scoundrel

import (
	"log/slog"
	"testing"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/postgres/postgrestest"
)

// TestScoresInPostgreSQL plays with scores in a file, then moves them to
// PostgreSQL and plays on: the boards are computed anew from the log, and are the
// same.
func TestScoresInPostgreSQL(t *testing.T) {
	dir, url := t.TempDir(), postgrestest.Start(t).Database(t)
	quiet := func(c *Config) { c.Logger, c.Seeds = slog.New(slog.DiscardHandler), nil }
	cfg := botsConfig{games: 30, players: 6, strategy: "random", rules: engine.Presets()[0].Rules}
	s := start(t, dir, quiet)
	must[botsResult](t)(playBots(t.Context(), s.client, cfg, func() {}))
	_, token := s.foldLog(t)
	before := s.botsBoard(t, "classic", token)
	s.stop()

	s = start(t, dir, quiet, func(c *Config) { c.StoreURL = url })
	after := s.botsBoard(t, "classic", token)
	if len(before) != cfg.players || len(after) != len(before) {
		t.Fatalf("%d rows became %d", len(before), len(after))
	}
	for i := range before {
		if before[i].String() != after[i].String() {
			t.Errorf("row %v became %v", before[i], after[i])
		}
	}
	must[botsResult](t)(playBots(t.Context(), s.client, cfg, func() {}))
	best, token := s.foldLog(t)
	for _, row := range s.botsBoard(t, "classic", token) {
		if want := best["classic"][row.GetPlayerId()]; row.GetGameId() != want.game {
			t.Errorf("row %v, want %+v", row, want)
		}
	}
}
