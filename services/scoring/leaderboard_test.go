package scoring_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/projectiontest"
)

// TestReadsOfABoard looks at one board by every read: 230 players, four to a
// score, from -20 up.
func TestReadsOfABoard(t *testing.T) {
	const players = 230
	w := newWorld(t, t.TempDir())
	w.run()
	client := w.serve()
	ctx := as(t.Context(), "p100")
	token := w.fill(players)
	settle(t, client, token)
	all := func() (entries []*scoringv1.LeaderboardEntry) {
		for at := uint64(1); at <= players; at += 200 {
			resp, err := client.ListLeaderboardEntries(ctx, &scoringv1.ListLeaderboardEntriesRequest{PageSize: 200, StartPosition: at, ConsistencyToken: token})
			must(t, err)
			entries = append(entries, resp.GetEntries()...)
		}
		return entries
	}()
	if len(all) != players {
		t.Fatalf("%d entries by position", len(all))
	}

	for i, e := range all {
		if i%23 != 0 && i < players-3 {
			continue
		}
		for _, limit := range []int32{0, 1, 2, 7, 200} {
			resp, err := client.ListEntriesAround(ctx, &scoringv1.ListEntriesAroundRequest{PlayerId: e.GetPlayerId(), Limit: limit})
			must(t, err)
			got, n := resp.GetEntries(), 11
			if limit > 0 {
				n = int(limit)
			}
			first := max(0, min(i-n/2, players-n))
			if len(got) != n || got[0].GetPosition() != uint64(first+1) || got[i-first].GetPlayerId() != e.GetPlayerId() || resp.GetTotalPlayers() != players {
				t.Errorf("%d around position %d: %d entries from %d", limit, i+1, len(got), got[0].GetPosition())
			}
		}
		resp, err := client.GetPlayerEntry(ctx, &scoringv1.GetPlayerEntryRequest{PlayerId: e.GetPlayerId()})
		must(t, err)
		below := 0
		for _, other := range all {
			if other.GetScore() < e.GetScore() {
				below++
			}
		}
		if want := 100 * float64(below) / (players - 1); resp.GetPercentile() != want {
			t.Errorf("position %d: percentile %v, want %v", i+1, resp.GetPercentile(), want)
		}
	}

	dist, err := client.GetScoreDistribution(ctx, &scoringv1.GetScoreDistributionRequest{})
	must(t, err)
	sum := uint64(0)
	for i, c := range dist.GetScores() {
		sum += c.GetPlayers()
		if i > 0 && c.GetScore() >= dist.GetScores()[i-1].GetScore() {
			t.Errorf("scores %v", dist.GetScores())
		}
		rank, err := client.GetRankForScore(ctx, &scoringv1.GetRankForScoreRequest{Score: c.GetScore()})
		must(t, err)
		if rank.GetRank() != sum-c.GetPlayers()+1 || rank.GetTotalPlayers() != players || rank.GetPercentile() != 100*float64(players-sum)/players {
			t.Errorf("score %d would be %v", c.GetScore(), rank)
		}
	}
	if sum != players || dist.GetTotalPlayers() != players {
		t.Errorf("%d players in the distribution", sum)
	}

	batch, err := client.BatchGetEntries(ctx, &scoringv1.BatchGetEntriesRequest{PlayerIds: []string{"nobody", all[200].GetPlayerId(), all[7].GetPlayerId()}})
	must(t, err)
	if got := batch.GetEntries(); len(got) != 2 || got[0].GetPosition() != 8 || got[1].GetPosition() != 201 {
		t.Errorf("a batch of entries: %v", batch)
	}
}

// TestReadsOfAnEmptyBoard asks about a board without players, and with one.
func TestReadsOfAnEmptyBoard(t *testing.T) {
	w := newWorld(t, t.TempDir())
	w.run()
	client := w.serve()
	ctx := as(t.Context(), "bob")
	rank, err := client.GetRankForScore(ctx, &scoringv1.GetRankForScoreRequest{Score: -5})
	must(t, err)
	if rank.GetRank() != 1 || rank.GetTotalPlayers() != 0 || rank.GetPercentile() != 100 {
		t.Errorf("the first player would be %v", rank)
	}
	_, err = client.ListEntriesAround(ctx, &scoringv1.ListEntriesAroundRequest{})
	want(t, "around nobody", err, codes.NotFound, "ENTRY_NOT_FOUND", "player_id=bob", "ruleset_id=classic")
	token := w.finish(projectiontest.NewGame("bob", "classic", -7, 50))
	entry, err := client.GetPlayerEntry(ctx, &scoringv1.GetPlayerEntryRequest{ConsistencyToken: token})
	must(t, err)
	if entry.GetPercentile() != 100 || entry.GetTotalPlayers() != 1 {
		t.Errorf("the only player is %v", entry)
	}
	around, err := client.ListEntriesAround(ctx, &scoringv1.ListEntriesAroundRequest{Limit: 200})
	must(t, err)
	if len(around.GetEntries()) != 1 {
		t.Errorf("around the only player: %v", around)
	}
}

func TestLeaderboardsThatAreNone(t *testing.T) {
	w := newWorld(t, t.TempDir())
	client := w.serve()
	ctx := as(t.Context(), "bob")
	for name, b := range map[string]*scoringv1.Leaderboard{
		"a date of all time": {Date: "2026-11-30"},
		"no such day":        {Period: scoringv1.Period_PERIOD_DAY, Date: "2026-02-30"},
		"not a date":         {Period: scoringv1.Period_PERIOD_WEEK, Date: "today"},
		"no such period":     {Period: 9},
		"no such players":    {ActorKind: 7},
	} {
		for call, err := range map[string]error{
			"list":         second(client.ListLeaderboardEntries(ctx, &scoringv1.ListLeaderboardEntriesRequest{Leaderboard: b})),
			"entry":        second(client.GetPlayerEntry(ctx, &scoringv1.GetPlayerEntryRequest{Leaderboard: b})),
			"around":       second(client.ListEntriesAround(ctx, &scoringv1.ListEntriesAroundRequest{Leaderboard: b})),
			"batch":        second(client.BatchGetEntries(ctx, &scoringv1.BatchGetEntriesRequest{Leaderboard: b, PlayerIds: []string{"x"}})),
			"distribution": second(client.GetScoreDistribution(ctx, &scoringv1.GetScoreDistributionRequest{Leaderboard: b})),
			"rank":         second(client.GetRankForScore(ctx, &scoringv1.GetRankForScoreRequest{Leaderboard: b})),
		} {
			want(t, name+", "+call, err, codes.InvalidArgument, "INVALID_FIELD")
		}
	}
	for name, req := range map[string]*scoringv1.BatchGetEntriesRequest{
		"no players": {}, "a player twice": {PlayerIds: []string{"a", "a"}}, "too many": {PlayerIds: make([]string, 101)},
	} {
		want(t, name, second(client.BatchGetEntries(ctx, req)), codes.InvalidArgument, "INVALID_FIELD")
	}
	_, err := client.ListLeaderboardEntries(ctx, &scoringv1.ListLeaderboardEntriesRequest{StartPosition: 2, PageToken: "AAAAAAAAAAAAAAAA"})
	want(t, "two starts", err, codes.InvalidArgument, "PAGE_TOKEN_INVALID")
	_, err = client.ListLeaderboards(ctx, &scoringv1.ListLeaderboardsRequest{RulesetId: "chess"})
	want(t, "boards of chess", err, codes.NotFound, "LEADERBOARD_NOT_FOUND", "ruleset_id=chess")
	_, err = client.ListLeaderboards(ctx, &scoringv1.ListLeaderboardsRequest{PageToken: "AAAAAAAAAAAAAAAA"})
	want(t, "a token of nothing", err, codes.InvalidArgument, "PAGE_TOKEN_INVALID")
}

func second[T any](_ T, err error) error { return err }

// TestADecadeOfPeriods plays a game just before and just after every midnight
// that matters, for ten years with their leap days: each counts for the periods in
// which it started, and for no other.
func TestADecadeOfPeriods(t *testing.T) {
	w := newWorld(t, t.TempDir())
	w.run()
	client := w.serve()
	ctx := as(t.Context(), "bob")
	var token string
	type span struct {
		period scoringv1.Period
		first  string
	}
	players := map[span]map[string]bool{}
	n := 0
	play := func(start time.Time, length time.Duration) {
		n++
		g := projectiontest.NewGame(fmt.Sprintf("p%d", n), "classic", n%31-10, 50)
		g.StartedAt, g.EndedAt = start, start.Add(length)
		token = w.finish(g)
		day := start.UTC().Format(time.DateOnly)
		monday := start.UTC()
		for monday.Weekday() != time.Monday {
			monday = monday.AddDate(0, 0, -1)
		}
		for s, closes := range map[span]time.Time{
			{scoringv1.Period_PERIOD_DAY, day}:                                     midnight(t, day).AddDate(0, 0, 1),
			{scoringv1.Period_PERIOD_WEEK, monday.Format(time.DateOnly)}:           midnight(t, monday.Format(time.DateOnly)).AddDate(0, 0, 7),
			{scoringv1.Period_PERIOD_MONTH, start.UTC().Format("2006-01") + "-01"}: midnight(t, start.UTC().Format("2006-01")+"-01").AddDate(0, 1, 0),
		} {
			if !g.EndedAt.Before(closes.Add(24 * time.Hour)) {
				continue
			}
			if players[s] == nil {
				players[s] = map[string]bool{}
			}
			players[s][g.PlayerID] = true
		}
	}
	zone := time.FixedZone("far", 13*3600)  // Where a game is played does not matter.
	for year := 2023; year < 2033; year++ { // 2024, 2028 and 2032 are leap years, 2026 and 2032 have 53 weeks
		for _, day := range []string{"02-28", "02-29", "03-01", "12-31", "01-01", "06-15"} {
			at, err := time.Parse(time.DateOnly, fmt.Sprintf("%d-%s", year, day))
			if err != nil {
				continue // no leap year
			}
			last := at.AddDate(0, 0, 1).Add(-time.Millisecond)
			play(at.In(zone), time.Minute)
			play(last, time.Hour)
			play(last, 24*time.Hour)                  // ends in time, by a millisecond
			play(last, 24*time.Hour+time.Millisecond) // and this one is too late for its day
		}
	}

	settle(t, client, token)
	for s, want := range players {
		resp, err := client.ListLeaderboardEntries(ctx, &scoringv1.ListLeaderboardEntriesRequest{
			Leaderboard: &scoringv1.Leaderboard{Period: s.period, Date: s.first}, PageSize: 200, ConsistencyToken: token,
		})
		must(t, err)
		if resp.GetTotalPlayers() != uint64(len(want)) || resp.GetLeaderboard().GetDate() != s.first {
			t.Errorf("%v: %d players on %v, want %d", s, resp.GetTotalPlayers(), resp.GetLeaderboard(), len(want))
		}
		listed := map[string]bool{}
		for _, e := range resp.GetEntries() {
			if !want[e.GetPlayerId()] || listed[e.GetPlayerId()] {
				t.Errorf("%v: %s is on it", s, e.GetPlayerId())
			}
			listed[e.GetPlayerId()] = true
		}
		if len(listed) != len(want) {
			t.Errorf("%v: %d players are listed, want %d", s, len(listed), len(want))
		}
	}

	// The list names each of them once, with its span.
	found := map[span]bool{}
	for next := ""; ; {
		resp, err := client.ListLeaderboards(ctx, &scoringv1.ListLeaderboardsRequest{PageSize: 7, PageToken: next})
		must(t, err)
		for _, info := range resp.GetLeaderboards() {
			b := info.GetLeaderboard()
			if b.GetPeriod() == scoringv1.Period_PERIOD_ALL_TIME {
				if info.GetOpensAt() != nil || info.GetFinal() || info.GetTotalPlayers() != uint64(n) {
					t.Errorf("all time is %v", info)
				}
				continue
			}
			s := span{b.GetPeriod(), b.GetDate()}
			opens, closes := info.GetOpensAt().AsTime(), info.GetClosesAt().AsTime()
			if found[s] || opens.Format(time.DateOnly) != s.first || !info.GetFinalAt().AsTime().Equal(closes.Add(24*time.Hour)) ||
				info.GetFinal() == w.now().Before(closes.Add(24*time.Hour)) || info.GetTotalPlayers() != uint64(len(players[s])) {
				t.Errorf("%v, want %d players", info, len(players[s]))
			}
			found[s] = true
		}
		if next = resp.GetNextPageToken(); next == "" {
			break
		}
	}
	if len(found) != len(players) {
		t.Errorf("%d boards are listed, %d have players", len(found), len(players))
	}

	// Today's board is the one of the clock's day.
	today := projectiontest.NewGame("today", "classic", 3, 50)
	today.ActorKind = eventv1.ActorKind_ACTOR_KIND_BOT
	token = w.finish(today)
	for _, period := range []scoringv1.Period{scoringv1.Period_PERIOD_DAY, scoringv1.Period_PERIOD_WEEK, scoringv1.Period_PERIOD_MONTH} {
		b := &scoringv1.Leaderboard{Period: period, ActorKind: eventv1.ActorKind_ACTOR_KIND_BOT}
		resp, err := client.ListLeaderboardEntries(ctx, &scoringv1.ListLeaderboardEntriesRequest{Leaderboard: b, ConsistencyToken: token})
		if must(t, err); resp.GetTotalPlayers() != 1 {
			t.Errorf("%v: %v", period, resp)
		}
		b.ActorKind = eventv1.ActorKind_ACTOR_KIND_HUMAN
		if resp, err = client.ListLeaderboardEntries(context.WithoutCancel(ctx), &scoringv1.ListLeaderboardEntriesRequest{Leaderboard: b}); err != nil || resp.GetTotalPlayers() != 0 {
			t.Errorf("%v of people: %v, %v", period, resp, err)
		}
	}
}

func midnight(t *testing.T, day string) time.Time {
	t.Helper()
	at, err := time.Parse(time.DateOnly, day)
	must(t, err)
	return at
}
