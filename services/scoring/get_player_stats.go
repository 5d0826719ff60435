package scoring

import (
	"cmp"
	"context"
	"maps"
	"slices"

	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// GetPlayerStats returns what a player's games come to.
func (s *Service) GetPlayerStats(ctx context.Context, req *scoringv1.GetPlayerStatsRequest) (*scoringv1.GetPlayerStatsResponse, error) {
	if err := s.await(ctx, req.GetConsistencyToken()); err != nil {
		return nil, err
	}
	player := cmp.Or(req.GetPlayerId(), rpckit.Caller(ctx).PlayerID)
	history, err := s.store.PlayerHistory(ctx, player)
	if err != nil {
		return nil, err
	}
	resp := &scoringv1.GetPlayerStatsResponse{PlayerId: player, Total: &scoringv1.PlayerStats{}}
	if history.Hidden {
		return resp, nil
	}
	for i, g := range history.Games {
		history.Games[i] = s.asOfNow(g)
	}
	// A streak goes by the ends of games.
	slices.SortStableFunc(history.Games, func(a, b projection.PlayerGame) int { return a.EndedAt.Compare(b.EndedAt) })
	total, byRuleset := tally{}, map[string]*tally{}
	for _, g := range history.Games {
		if g.Mode == eventv1.GameMode_GAME_MODE_SEEDED || g.Unranked == projection.UnrankedHidden {
			continue
		}
		t := byRuleset[g.RulesetID]
		if t == nil {
			t = &tally{}
			byRuleset[g.RulesetID] = t
		}
		t.add(g.Game)
		total.add(g.Game)
		if g.Unranked == 0 && g.Score > 0 {
			resp.Experience += int64(g.Score)
		}
	}
	level, depth := projection.Level(int(resp.Experience))
	resp.Level, resp.UnlockedDepth = int32(level), int32(depth)
	resp.Total = total.stats()
	for _, id := range slices.Sorted(maps.Keys(byRuleset)) {
		resp.Rulesets = append(resp.Rulesets, &scoringv1.RulesetStats{RulesetId: id, Stats: byRuleset[id].stats()})
	}
	return resp, nil
}

// tally adds up games in the order of their ends.
type tally struct {
	won, lost, abandoned, running uint64
	streak, longest               uint64
	best                          *int32
	sum                           int64
}

func (t *tally) add(g projection.Game) {
	switch g.Outcome {
	case rulesv1.Outcome_OUTCOME_WON:
		t.won++
		t.streak++
		t.longest = max(t.longest, t.streak)
	case rulesv1.Outcome_OUTCOME_LOST:
		t.lost++
		t.streak = 0
	case rulesv1.Outcome_OUTCOME_ABANDONED:
		t.abandoned++
		t.streak = 0
	default:
		t.running++
	}
	if g.Scored() {
		score := int32(g.Score)
		t.sum += int64(score)
		if t.best == nil || score > *t.best {
			t.best = &score
		}
	}
}

func (t *tally) stats() *scoringv1.PlayerStats {
	stats := &scoringv1.PlayerStats{
		Games: t.won + t.lost + t.abandoned, Won: t.won, Lost: t.lost, Abandoned: t.abandoned, Running: t.running,
		BestScore: t.best, WinStreak: t.streak, LongestWinStreak: t.longest,
	}
	if scored := t.won + t.lost; scored > 0 {
		stats.AverageScore = float64(t.sum) / float64(scored)
	}
	return stats
}
