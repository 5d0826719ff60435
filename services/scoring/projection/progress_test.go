package projection_test

import (
	"math/rand/v2"
	"testing"
	"time"

	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/projectiontest"
)

func TestLevel(t *testing.T) {
	for experience, want := range map[int][2]int{0: {0, 0}, 24: {0, 0}, 25: {1, 1}, 99: {1, 1}, 100: {2, 2}, 224: {2, 2}, 225: {3, 3}, 2025: {9, 9}, 2499: {9, 9}, 2500: {10, 9}, 1000000: {200, 9}} {
		if level, depth := projection.Level(experience); level != want[0] || depth != want[1] {
			t.Errorf("%d experience: level %d, depth %d; want %v", experience, level, depth, want)
		}
	}
}

// game returns a game of ada's that starts and ends so many minutes after noon.
func game(ruleset string, score, starts, ends int) projection.Game {
	g := projectiontest.NewGame("ada", ruleset, score, 50)
	g.StartedAt = projectiontest.Start.Add(time.Duration(starts) * time.Minute)
	g.EndedAt = projectiontest.Start.Add(time.Duration(ends) * time.Minute)
	return g
}

func TestProgressed(t *testing.T) {
	resigned := game("classic", 0, 0, 1)
	resigned.Outcome = rulesv1.Outcome_OUTCOME_ABANDONED
	running := game("classic", 0, 0, 0)
	running.Outcome, running.EndedAt = rulesv1.Outcome_OUTCOME_UNSPECIFIED, time.Time{}
	first, second := game("classic", 20, 10, 20), game("classic", 5, 20, 30)
	games := map[projection.Game]projection.Unranked{
		resigned: projection.UnrankedAbandoned, running: projection.UnrankedRunning,
		first: 0, second: 0,
		game("classic", -50, 20, 25):       0,
		game("classic+depth1", 9, 25, 40):  projection.UnrankedDepth, // 20 points by then
		game("classic+depth1", 9, 30, 41):  projection.UnrankedDepth, // the game that makes 25 ends at this moment
		game("classic+depth1", 30, 31, 42): 0,
		game("classic+depth2", 10, 50, 60): projection.UnrankedDepth, // 55
		game("strict", 30, 51, 61):         0,
		game("strict", 30, 51, 62):         0,                        // 115
		game("strict+depth2", 1, 62, 70):   projection.UnrankedDepth, // 85 have ended
		game("strict+depth2", 2, 63, 70):   0,
	}
	var all []projection.Game
	for g := range games {
		all = append(all, g)
	}
	for range 20 {
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		p := projection.Progressed(all, func(projection.Game) bool { return false })
		if p.Experience != 20+5+30+30+30+2 {
			t.Errorf("experience %d", p.Experience)
		}
		for g, want := range games {
			if got := p.Unranked[g.GameID]; got != want {
				t.Errorf("%s with %d from %v: %d, want %d", g.RulesetID, g.Score, g.StartedAt, got, want)
			}
		}
	}
	// Without the second game the first depth is not unlocked, nor what comes of it.
	p := projection.Progressed(all, func(g projection.Game) bool { return g.GameID == second.GameID })
	if p.Unranked[second.GameID] != projection.UnrankedHidden || p.Experience != 20+30+30 {
		t.Errorf("with a hidden game: %+v", p)
	}
}
