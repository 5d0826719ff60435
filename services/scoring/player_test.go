package scoring_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/projectiontest"
)

// career stores games of ada, an hour after another, and returns them with the
// token of the last.
func (w *world) career() (games []projection.Game, token string) {
	w.t.Helper()
	for i, c := range []struct {
		ruleset string
		score   int
		change  func(*projection.Game)
	}{
		{"classic", 20, nil},
		{"classic", 10, nil},
		{"strict", -50, nil},
		{"classic+depth1", 4, nil}, // unlocked by 30
		{"classic+depth2", 8, nil}, // not yet
		{"classic", 20, func(g *projection.Game) { g.Mode = eventv1.GameMode_GAME_MODE_SEEDED }},
		{"classic", 5, nil},
		{"classic", 0, func(g *projection.Game) { g.Outcome = rulesv1.Outcome_OUTCOME_ABANDONED }},
		{"strict", 7, nil},
	} {
		g := projectiontest.NewGame("ada", c.ruleset, c.score, 50)
		g.StartedAt = projectiontest.Start.Add(time.Duration(i-10) * time.Hour)
		g.EndedAt = g.StartedAt.Add(time.Minute)
		if c.change != nil {
			c.change(&g)
		}
		games = append(games, g)
		w.finish(g)
	}
	running := projectiontest.NewGame("ada", "classic", 0, 0)
	running.Outcome, running.StartedAt, running.EndedAt = 0, projectiontest.Start, projectiontest.Start
	token = w.store(running, projectiontest.Started(w.t, running))
	return append(games, running), token
}

func TestGetPlayerStats(t *testing.T) {
	w := newWorld(t, t.TempDir())
	w.run()
	client := w.serve()
	_, token := w.career()
	settle(t, client, token)
	ctx := as(t.Context(), "ada")
	for _, ctx := range []context.Context{ctx, as(t.Context(), "bob")} {
		stats, err := client.GetPlayerStats(ctx, &scoringv1.GetPlayerStatsRequest{PlayerId: "ada", ConsistencyToken: token})
		must(t, err)
		// 20 + 10 + 4 + 5 + 7: the deep game that was locked gives nothing.
		if stats.GetPlayerId() != "ada" || stats.GetExperience() != 46 || stats.GetLevel() != 1 || stats.GetUnlockedDepth() != 1 {
			t.Errorf("%v", stats)
		}
		total := stats.GetTotal()
		if total.GetGames() != 8 || total.GetWon() != 6 || total.GetLost() != 1 || total.GetAbandoned() != 1 || total.GetRunning() != 1 ||
			total.GetBestScore() != 20 || total.GetAverageScore() != (20.0+10-50+4+8+5+7)/7 || total.GetWinStreak() != 1 || total.GetLongestWinStreak() != 3 {
			t.Errorf("%v", total)
		}
		if len(stats.GetRulesets()) != 4 || stats.GetRulesets()[0].GetRulesetId() != "classic" || stats.GetRulesets()[3].GetRulesetId() != "strict" {
			t.Fatalf("%v", stats.GetRulesets())
		}
		classic := stats.GetRulesets()[0].GetStats()
		if classic.GetGames() != 4 || classic.GetWinStreak() != 0 || classic.GetLongestWinStreak() != 3 || classic.GetAverageScore() != 35.0/3 {
			t.Errorf("%v", classic)
		}
	}
	stats, err := client.GetPlayerStats(as(t.Context(), "bob"), &scoringv1.GetPlayerStatsRequest{})
	must(t, err)
	if stats.GetPlayerId() != "bob" || stats.GetTotal().GetGames() != 0 || stats.GetTotal().BestScore != nil || len(stats.GetRulesets()) != 0 {
		t.Errorf("somebody who has not played: %v", stats)
	}
}

func TestListPlayerGames(t *testing.T) {
	w := newWorld(t, t.TempDir())
	w.run()
	client := w.serve()
	games, token := w.career()
	settle(t, client, token)
	reasons := map[string]scoringv1.UnrankedReason{
		games[4].GameID: scoringv1.UnrankedReason_UNRANKED_REASON_DEPTH_LOCKED,
		games[3].GameID: scoringv1.UnrankedReason_UNRANKED_REASON_RULESET, // this service ranks classic and strict
		games[5].GameID: scoringv1.UnrankedReason_UNRANKED_REASON_PRACTICE,
		games[7].GameID: scoringv1.UnrankedReason_UNRANKED_REASON_ABANDONED,
		games[9].GameID: scoringv1.UnrankedReason_UNRANKED_REASON_RUNNING,
	}
	for player, private := range map[string]bool{"ada": true, "bob": false} {
		var got []*scoringv1.GameScore
		req := &scoringv1.ListPlayerGamesRequest{PlayerId: "ada", PageSize: 4, ConsistencyToken: token}
		for {
			page, err := client.ListPlayerGames(as(t.Context(), player), req)
			must(t, err)
			got = append(got, page.GetGames()...)
			if req.PageToken = page.GetNextPageToken(); req.PageToken == "" {
				break
			}
		}
		var want []projection.Game
		for _, g := range slices.Backward(games) {
			if private || g.Mode == eventv1.GameMode_GAME_MODE_RANDOM {
				want = append(want, g)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%s sees %d games, want %d", player, len(got), len(want))
		}
		for i, g := range got {
			if g.GetGameId() != want[i].GameID || g.GetUnrankedReason() != reasons[g.GetGameId()] || (len(g.GetLeaderboards()) > 0) != (reasons[g.GetGameId()] == 0) ||
				(g.GetEndedAt() == nil) != (i == 0) {
				t.Errorf("%s sees %v in place %d, want %+v", player, g, i, want[i])
			}
		}
	}
	ctx := as(t.Context(), "ada")
	strict, err := client.ListPlayerGames(ctx, &scoringv1.ListPlayerGamesRequest{RulesetId: "strict"})
	must(t, err)
	if len(strict.GetGames()) != 2 {
		t.Errorf("strict games: %v", strict)
	}
	page, err := client.ListPlayerGames(ctx, &scoringv1.ListPlayerGamesRequest{PageSize: 1})
	must(t, err)
	_, err = client.ListPlayerGames(as(t.Context(), "bob"), &scoringv1.ListPlayerGamesRequest{PlayerId: "ada", PageToken: page.GetNextPageToken()})
	want(t, "a token of the player's own list", err, codes.InvalidArgument, "PAGE_TOKEN_INVALID")
	_, err = client.ListPlayerGames(ctx, &scoringv1.ListPlayerGamesRequest{PageSize: -1})
	want(t, "negative page size", err, codes.InvalidArgument, "INVALID_FIELD")
	score, err := client.GetScore(ctx, &scoringv1.GetScoreRequest{GameId: games[4].GameID})
	must(t, err)
	if score.GetScore().GetUnrankedReason() != scoringv1.UnrankedReason_UNRANKED_REASON_DEPTH_LOCKED {
		t.Errorf("the score of a game that does not rank: %v", score)
	}
}

// An attempt that is left running is abandoned once its challenge is final, by the
// clock alone; and whenever the log comes to say so, nothing changes by it.
func TestAnAttemptLeftRunning(t *testing.T) {
	w := newWorld(t, t.TempDir())
	w.run()
	client := w.serve()
	ctx := as(t.Context(), "ada")
	day := projectiontest.Start.Truncate(24 * time.Hour)
	final := day.Add(25 * time.Hour)
	play := func(start time.Time, change func(*projection.Game)) projection.Game {
		g := projectiontest.NewGame("ada", "classic", 20, 50)
		g.StartedAt, g.EndedAt = start, start.Add(time.Minute)
		change(&g)
		return g
	}
	won := func(*projection.Game) {}
	running := func(g *projection.Game) { g.Outcome, g.Score, g.Moves, g.EndedAt = 0, 0, 0, g.StartedAt }
	attempt := play(day.Add(24*time.Hour-time.Millisecond), func(g *projection.Game) { running(g); g.Mode = eventv1.GameMode_GAME_MODE_DAILY })
	w.finish(play(day, won))
	free := play(day.Add(time.Minute), running) // has no end but its player's
	w.store(free, projectiontest.Started(t, free))
	w.store(attempt, projectiontest.Started(t, attempt))
	token := w.finish(play(final.Add(time.Hour), won))
	settle(t, client, token)

	check := func(what string, over bool) {
		t.Helper()
		stats, err := client.GetPlayerStats(ctx, &scoringv1.GetPlayerStatsRequest{ConsistencyToken: token})
		must(t, err)
		total := stats.GetTotal()
		list, err := client.ListPlayerGames(ctx, &scoringv1.ListPlayerGamesRequest{ConsistencyToken: token})
		must(t, err)
		g := list.GetGames()[1]
		if g.GetGameId() != attempt.GameID || len(list.GetGames()) != 4 {
			t.Fatalf("%s: games %v", what, list)
		}
		if !over {
			if total.GetGames() != 2 || total.GetRunning() != 2 || total.GetAbandoned() != 0 || total.GetWinStreak() != 2 ||
				g.GetOutcome() != 0 || g.GetEndedAt() != nil || g.GetUnrankedReason() != scoringv1.UnrankedReason_UNRANKED_REASON_RUNNING {
				t.Errorf("%s: %v, %v", what, total, g)
			}
			return
		}
		if total.GetGames() != 3 || total.GetRunning() != 1 || total.GetAbandoned() != 1 || total.GetWinStreak() != 1 || total.GetLongestWinStreak() != 1 ||
			g.GetOutcome() != rulesv1.Outcome_OUTCOME_ABANDONED || !g.GetEndedAt().AsTime().Equal(final) || g.GetUnrankedReason() != scoringv1.UnrankedReason_UNRANKED_REASON_ABANDONED {
			t.Errorf("%s: %v, %v", what, total, g)
		}
		_, err = client.GetScore(ctx, &scoringv1.GetScoreRequest{GameId: attempt.GameID})
		want(t, what, err, codes.NotFound, "SCORE_NOT_FOUND")
	}
	w.set(final.Add(-1))
	check("before it is final", false)
	w.set(final)
	check("once it is final", true)

	w.set(final.Add(48 * time.Hour))
	attempt.Outcome, attempt.EndedAt = rulesv1.Outcome_OUTCOME_ABANDONED, w.now()
	id, err := eventlog.ParseGameID(attempt.GameID)
	must(t, err)
	at, err := w.log.Load(t.Context(), id)
	must(t, err)
	p, err := w.log.Append(t.Context(), id, eventlog.Revision(at.Position.Sequence), projectiontest.Event(t, attempt, 2, true))
	must(t, err)
	token = p.Token()
	settle(t, client, token)
	check("when the log says so days later", true)
}

// TestWatchLeaderboard watches a board of three while games end.
func TestWatchLeaderboard(t *testing.T) {
	w := newWorld(t, t.TempDir())
	w.run()
	client := w.serve()
	ctx, stop := context.WithCancel(as(t.Context(), "p3"))
	defer stop()
	stream, err := client.WatchLeaderboard(ctx, &scoringv1.WatchLeaderboardRequest{Limit: 3})
	must(t, err)
	first, err := stream.Recv()
	must(t, err)
	if len(first.GetEntries()) != 0 || first.GetOwnEntry() != nil || first.GetTotalPlayers() != 0 {
		t.Errorf("an empty board: %v", first)
	}
	const players = 40
	for i := range players {
		w.finish(projectiontest.NewGame(fmt.Sprintf("p%d", i), "classic", i-20, 50))
		w.finish(projectiontest.NewGame(fmt.Sprintf("p%d", i), "strict", i-20, 50)) // another board
	}
	messages := 0
	for {
		now, err := stream.Recv()
		must(t, err)
		messages++
		if now.GetTotalPlayers() < players {
			continue
		}
		if top := now.GetEntries(); len(top) != 3 || top[0].GetPlayerId() != "p39" || top[2].GetPosition() != 3 || now.GetOwnEntry().GetPosition() != 37 {
			t.Errorf("in the end: %v", now)
		}
		break
	}
	if messages > players {
		t.Errorf("%d messages", messages)
	}
	stop()
	if _, err := stream.Recv(); status.Code(err) != codes.Canceled {
		t.Errorf("after its end: %v", err)
	}
	_, err = client.WatchLeaderboard(ctx, &scoringv1.WatchLeaderboardRequest{})
	if err == nil {
		t.Error("a watch of nobody began")
	}
	bad, err := client.WatchLeaderboard(as(t.Context(), "p3"), &scoringv1.WatchLeaderboardRequest{Leaderboard: &scoringv1.Leaderboard{RulesetId: "chess"}})
	must(t, err)
	_, err = bad.Recv()
	want(t, "a board of chess", err, codes.NotFound, "LEADERBOARD_NOT_FOUND")
}
