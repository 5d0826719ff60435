package projection_test

import (
	"errors"
	"testing"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/projectiontest"
)

// ending returns the summary of a classic game's last record, a loss of -32.
func ending() record.Summary {
	return record.Summary{
		EventID: "e", Game: eventlog.DeriveGameID("26q4", "x"), PlayerID: "ada", Actor: eventv1.ActorKind_ACTOR_KIND_BOT, Version: 9,
		RecordedAt: projectiontest.Start.Add(time.Minute),
		Over: &record.Over{
			Over:      engine.Over{Outcome: engine.StatusLost, Rules: engine.Presets()[0].Rules, Health: -10, DungeonMonsterValue: 22, RoomMonsterValue: 5, Moves: 8},
			StartedAt: projectiontest.Start, Mode: eventv1.GameMode_GAME_MODE_RANDOM,
		},
	}
}

func TestApply(t *testing.T) {
	at := eventlog.Position{Stream: "S", Incarnation: "i", Sequence: 12}
	s := ending()
	want := projection.Game{
		GameID: s.Game.String(), PlayerID: "ada", ActorKind: eventv1.ActorKind_ACTOR_KIND_BOT, RulesetID: "classic",
		Mode: eventv1.GameMode_GAME_MODE_RANDOM, Outcome: rulesv1.Outcome_OUTCOME_LOST, Score: -32, Moves: 8,
		StartedAt: projectiontest.Start, EndedAt: projectiontest.Start.Add(time.Minute), Stream: "S", Sequence: 12,
	}
	if g, err := projection.Apply(s, at); err != nil || g == nil || *g != want || !g.Scored() || !g.Ranked() {
		t.Errorf("game %+v, %v; want %+v", g, err, want)
	}

	s.Over = nil
	if g, err := projection.Apply(s, at); g != nil || err != nil {
		t.Errorf("a game that goes on: %+v, %v", g, err)
	}

	for _, mode := range []eventv1.GameMode{eventv1.GameMode_GAME_MODE_SEEDED, eventv1.GameMode_GAME_MODE_DAILY} {
		s = ending()
		s.Over.Mode = mode
		if g, err := projection.Apply(s, at); err != nil || !g.Scored() || g.Ranked() != (mode == eventv1.GameMode_GAME_MODE_DAILY) || g.Score != -32 || g.Mode != mode {
			t.Errorf("a game of %v: %+v, %v", mode, g, err)
		}
	}

	s = ending()
	s.Over.Over = engine.Over{Outcome: engine.StatusAbandoned, Rules: s.Over.Rules, Health: 20, DungeonMonsterValue: 200}
	if g, err := projection.Apply(s, at); err != nil || g.Scored() || g.Ranked() || g.Outcome != rulesv1.Outcome_OUTCOME_ABANDONED {
		t.Errorf("an abandoned game: %+v, %v", g, err)
	}
}

func TestApplyRefuses(t *testing.T) {
	won := func(s *record.Summary, health int) {
		s.Over.Outcome, s.Over.Health, s.Over.DungeonMonsterValue, s.Over.RoomMonsterValue = engine.StatusWon, health, 0, 0
	}
	for name, c := range map[string]struct {
		spoil func(*record.Summary)
		want  error
	}{
		"below the lowest score":  {func(s *record.Summary) { s.Over.DungeonMonsterValue = 179 }, projection.ErrImplausible},
		"above the highest score": {func(s *record.Summary) { won(s, 31) }, projection.ErrImplausible},
		"won with excess health":  {func(s *record.Summary) { won(s, 21) }, projection.ErrImplausible},
		"won dead":                {func(s *record.Summary) { won(s, 0) }, projection.ErrImplausible},
		"lost alive":              {func(s *record.Summary) { s.Over.Health = 1 }, projection.ErrImplausible},
		"negative moves":          {func(s *record.Summary) { s.Over.Moves = -1 }, projection.ErrImplausible},
		"no rules":                {func(s *record.Summary) { s.Over.Rules = engine.Ruleset{} }, projection.ErrImplausible},
		"no mode":                 {func(s *record.Summary) { s.Over.Mode = 0 }, projection.ErrImplausible},
		"no actor":                {func(s *record.Summary) { s.Actor = 0 }, projection.ErrImplausible},
		"before time":             {func(s *record.Summary) { s.Over.StartedAt = time.Time{} }, projection.ErrImplausible},
		"after time":              {func(s *record.Summary) { s.RecordedAt = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) }, projection.ErrImplausible},
		"a mode to come":          {func(s *record.Summary) { s.Over.Mode = 4 }, record.ErrNewerSchema},
		"an actor to come":        {func(s *record.Summary) { s.Actor = 3 }, record.ErrNewerSchema},
	} {
		s := ending()
		c.spoil(&s)
		if g, err := projection.Apply(s, eventlog.Position{}); !errors.Is(err, c.want) || g != nil {
			t.Errorf("%s: %+v, %v", name, g, err)
		}
	}
}
