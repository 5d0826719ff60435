package scoring_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strings"
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
	"google.golang.org/protobuf/proto"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/memlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
	"github.com/scoundrel-game/scoundrel/services/scoring"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/projectiontest"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/sqlite"
)

// world is a scoring service with its log.
type world struct {
	t       *testing.T
	log     *awayLog
	service *scoring.Service
	clock   atomic.Pointer[time.Time]
}

func (w *world) now() time.Time { return *w.clock.Load() }

// set sets the clock, which stands still until then; the projector reads it too.
func (w *world) set(now time.Time) { w.clock.Store(&now) }

// awayLog is a log that can be cut off.
type awayLog struct {
	*memlog.Log
	away error
}

func (l *awayLog) Streams(ctx context.Context) ([]eventlog.StreamInfo, error) {
	if l.away != nil {
		return nil, l.away
	}
	return l.Log.Streams(ctx)
}

func (l *awayLog) Ready(ctx context.Context) error {
	if l.away != nil {
		return l.away
	}
	return l.Log.Ready(ctx)
}

// tokenKey signs page tokens in these tests.
var tokenKey = bytes.Repeat([]byte{7}, scoring.MinTokenKey)

func newWorld(t *testing.T, dir string) *world {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "scores.db"))
	must(t, err)
	t.Cleanup(func() { must(t, store.Close()) })
	w := &world{t: t, log: &awayLog{Log: memlog.New()}}
	w.set(projectiontest.Start.Add(2 * time.Hour))
	must(t, w.log.Provision(t.Context(), "26q4"))
	w.service, err = scoring.New(t.Context(), scoring.Config{
		TokenKey: tokenKey,
		Log:      w.log, Store: store, Ranked: []string{"classic", "strict"}, Logger: slog.New(slog.DiscardHandler), Clock: w.now,
	})
	must(t, err)
	return w
}

// run projects until the test ends or stop is called.
func (w *world) run() (stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- w.service.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		must(w.t, <-done)
	})
	w.t.Cleanup(stop)
	return stop
}

// finish stores a game's only record and returns the token of it.
func (w *world) finish(g projection.Game) string {
	w.t.Helper()
	return w.store(g, projectiontest.Event(w.t, g, 1, true))
}

func (w *world) store(g projection.Game, e eventlog.Event) string {
	w.t.Helper()
	id, err := eventlog.ParseGameID(g.GameID)
	must(w.t, err)
	p, err := w.log.Append(w.t.Context(), id, 0, e)
	must(w.t, err)
	return p.Token()
}

// serve runs the service behind the edge that every service has.
func (w *world) serve() scoringv1.ScoringServiceClient {
	w.t.Helper()
	server, err := rpckit.New(rpckit.Config{Logger: slog.New(slog.DiscardHandler), Tables: []rpckit.Table{scoring.Problems}})
	must(w.t, err)
	w.service.Bind(server)
	listener := bufconn.Listen(1 << 20)
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx, listener) }()
	conn, err := grpc.NewClient("passthrough:///scoring", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	must(w.t, err)
	w.t.Cleanup(func() {
		must(w.t, conn.Close())
		cancel()
		must(w.t, <-done)
	})
	return scoringv1.NewScoringServiceClient(conn)
}

func as(ctx context.Context, player string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, rpckit.PlayerIDKey, player)
}

// want checks an error of a call: its code, its reason and its metadata as
// "key=value".
func want(t *testing.T, what string, err error, code codes.Code, reason string, meta ...string) {
	t.Helper()
	st := status.Convert(err)
	var info *errdetails.ErrorInfo
	retry := false
	for _, d := range st.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			info = d
		case *errdetails.RetryInfo:
			retry = true
		}
	}
	if st.Code() != code || info.GetReason() != reason || info.GetDomain() != rpckit.Domain {
		t.Errorf("%s: %v, reason %q of %q; want %v, %s", what, err, info.GetReason(), info.GetDomain(), code, reason)
	}
	if retry != (code == codes.Unavailable) {
		t.Errorf("%s: retry info %v", what, retry)
	}
	for _, m := range meta {
		k, v, _ := strings.Cut(m, "=")
		if info.GetMetadata()[k] != v {
			t.Errorf("%s: metadata %v, want %s", what, info.GetMetadata(), m)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestNewRefuses(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "scores.db"))
	must(t, err)
	defer func() { _ = store.Close() }()
	for name, cfg := range map[string]scoring.Config{
		"no log":            {Store: store, TokenKey: tokenKey},
		"no store":          {Log: memlog.New(), TokenKey: tokenKey},
		"a ruleset unknown": {Log: memlog.New(), Store: store, TokenKey: tokenKey, Ranked: []string{"chess"}},
		"no token key":      {Log: memlog.New(), Store: store},
		"a short token key": {Log: memlog.New(), Store: store, TokenKey: tokenKey[1:]},
	} {
		if _, err := scoring.New(t.Context(), cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestGetScore(t *testing.T) {
	w := newWorld(t, t.TempDir())
	w.run()
	client := w.serve()
	ctx := as(t.Context(), "bob")

	random := projectiontest.NewGame("ada", "classic", 30, 51)
	random.ActorKind = eventv1.ActorKind_ACTOR_KIND_BOT
	lost := projectiontest.NewGame("ada", "strict", -188, 1)
	unranked := projectiontest.NewGame("ada", "strict+depth3", -100, 9)
	seeded, abandoned := projectiontest.NewGame("ada", "classic", 20, 60), projectiontest.NewGame("ada", "classic", 0, 3)
	seeded.Mode = eventv1.GameMode_GAME_MODE_SEEDED
	abandoned.Outcome = rulesv1.Outcome_OUTCOME_ABANDONED
	running := projectiontest.NewGame("ada", "classic", 0, 0)
	for _, g := range []projection.Game{random, lost, unranked, seeded, abandoned} {
		w.finish(g)
	}
	token := w.store(running, projectiontest.Event(t, running, 1, false))

	for player, g := range map[string]projection.Game{"bob": random, "carl": lost, "dora": unranked, "ada": seeded} {
		resp, err := client.GetScore(as(t.Context(), player), &scoringv1.GetScoreRequest{GameId: g.GameID, ConsistencyToken: token})
		must(t, err)
		s := resp.GetScore()
		if s.GetGameId() != g.GameID || s.GetPlayerId() != "ada" || s.GetRulesetId() != g.RulesetID || s.GetMode() != g.Mode ||
			s.GetOutcome() != g.Outcome || s.GetScore() != int32(g.Score) || s.GetMoves() != g.Moves || s.GetActorKind() != g.ActorKind ||
			!s.GetStartedAt().AsTime().Equal(g.StartedAt) || !s.GetEndedAt().AsTime().Equal(g.EndedAt) {
			t.Errorf("score %v, want %+v", s, g)
		}
		boards := s.GetLeaderboards()
		if ranks := g.GameID == random.GameID || g.GameID == lost.GameID; ranks != (len(boards) == 4) || ranks && (boards[0].GetRulesetId() != g.RulesetID || boards[3].GetActorKind() != g.ActorKind || boards[3].GetDate() != "2026-11-30") {
			t.Errorf("%s ranks on %v", g.RulesetID, boards)
		}
	}

	for name, id := range map[string]string{
		"abandoned": abandoned.GameID, "running": running.GameID, "unknown": eventlog.NewGameID(projectiontest.Start).String(), "malformed": "x", "none": "",
	} {
		_, err := client.GetScore(ctx, &scoringv1.GetScoreRequest{GameId: id})
		want(t, name, err, codes.NotFound, "SCORE_NOT_FOUND", "game_id="+id)
	}
	_, err := client.GetScore(ctx, &scoringv1.GetScoreRequest{GameId: seeded.GameID})
	want(t, "seeded, not the owner", err, codes.PermissionDenied, "NOT_YOUR_GAME", "game_id="+seeded.GameID)
	_, err = client.GetScore(ctx, &scoringv1.GetScoreRequest{GameId: strings.Repeat("x", 65)})
	want(t, "too long", err, codes.InvalidArgument, "INVALID_FIELD")
	_, err = client.GetScore(t.Context(), &scoringv1.GetScoreRequest{GameId: random.GameID})
	want(t, "nobody", err, codes.Unauthenticated, "IDENTITY_MISSING")
}

// settle waits until the service knows what a token names, however slow the
// machine: a call by itself waits no longer than 2 seconds.
func settle(t *testing.T, client scoringv1.ScoringServiceClient, token string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(as(t.Context(), "settle"), time.Minute)
	defer cancel()
	for {
		_, err := client.GetScoreDistribution(ctx, &scoringv1.GetScoreDistributionRequest{ConsistencyToken: token})
		if status.Code(err) != codes.Unavailable {
			must(t, err)
			return
		}
	}
}

// fill stores n players' games on the classic board, in which many tie, and
// returns the token of the last.
func (w *world) fill(n int) (token string) {
	for i := range n {
		token = w.finish(projectiontest.NewGame(fmt.Sprintf("p%03d", i), "classic", i/4%40-20, 50))
	}
	return token
}

// gameOf returns a game of an epoch.
func (w *world) gameOf(player string, epoch eventlog.Epoch) projection.Game {
	g := projectiontest.NewGame(player, "classic", 5, 50)
	g.GameID = eventlog.DeriveGameID(epoch, player).String()
	return g
}

func TestListLeaderboardEntries(t *testing.T) {
	const players = 230
	w := newWorld(t, t.TempDir())
	w.run()
	client := w.serve()
	ctx := as(t.Context(), "bob")
	token := w.fill(players)
	settle(t, client, token)

	list := func(size int32, pageToken string) *scoringv1.ListLeaderboardEntriesResponse {
		t.Helper()
		resp, err := client.ListLeaderboardEntries(ctx, &scoringv1.ListLeaderboardEntriesRequest{PageSize: size, PageToken: pageToken, ConsistencyToken: token})
		must(t, err)
		if resp.GetTotalPlayers() != players {
			t.Fatalf("%d players, want %d", resp.GetTotalPlayers(), players)
		}
		return resp
	}
	for asked, got := range map[int32]int{0: 50, 1: 1, 199: 199, 200: 200, 201: 200, 1 << 30: 200} {
		if n := len(list(asked, "").GetEntries()); n != got {
			t.Errorf("page size %d: %d entries, want %d", asked, n, got)
		}
	}
	for _, size := range []int32{3, 7, 100, 200} {
		var all []*scoringv1.LeaderboardEntry
		var before string
		for next := ""; ; {
			resp := list(size, next)
			all = append(all, resp.GetEntries()...)
			if next = resp.GetNextPageToken(); next == "" || len(all) > players {
				before = resp.GetPreviousPageToken()
				break
			}
		}
		// And up again.
		up := all[len(all)-(len(all)-1)%int(size)-1:]
		for before != "" && len(up) <= players {
			resp := list(size, before)
			up = slices.Concat(resp.GetEntries(), up)
			before = resp.GetPreviousPageToken()
		}
		if !slices.EqualFunc(up, all, func(a, b *scoringv1.LeaderboardEntry) bool { return proto.Equal(a, b) }) {
			t.Errorf("pages of %d: %d entries upwards, %d downwards", size, len(up), len(all))
		}
		if len(all) != players {
			t.Fatalf("pages of %d: %d entries, want %d", size, len(all), players)
		}
		seen := map[string]bool{}
		for i, e := range all {
			rank := uint64(i + 1)
			if i > 0 && e.GetScore() == all[i-1].GetScore() {
				rank = all[i-1].GetRank()
			}
			if e.GetPosition() != uint64(i+1) || e.GetRank() != rank || i > 0 && e.GetScore() > all[i-1].GetScore() || seen[e.GetPlayerId()] {
				t.Fatalf("pages of %d: entry %d is %v", size, i, e)
			}
			seen[e.GetPlayerId()] = true
		}
	}

	empty, err := client.ListLeaderboardEntries(ctx, &scoringv1.ListLeaderboardEntriesRequest{Leaderboard: &scoringv1.Leaderboard{RulesetId: "strict"}})
	if err != nil || len(empty.GetEntries()) != 0 || empty.GetTotalPlayers() != 0 || empty.GetNextPageToken() != "" {
		t.Errorf("an empty board: %v, %v", empty, err)
	}
	_, err = client.ListLeaderboardEntries(ctx, &scoringv1.ListLeaderboardEntriesRequest{PageSize: -1})
	want(t, "negative page size", err, codes.InvalidArgument, "INVALID_FIELD")
	for _, id := range []string{"chess", "digital", "strict+depth3"} {
		_, err = client.ListLeaderboardEntries(ctx, &scoringv1.ListLeaderboardEntriesRequest{Leaderboard: &scoringv1.Leaderboard{RulesetId: id}})
		want(t, id, err, codes.NotFound, "LEADERBOARD_NOT_FOUND", "ruleset_id="+id)
	}

	good := list(5, "").GetNextPageToken()
	for name, bad := range map[string]string{
		"not base64": "!", "too short": "AAAA", "cut": good[:len(good)-4], "longer": good + "AAAA", "changed": "AAAA" + good[4:], "a consistency token": token,
	} {
		_, err := client.ListLeaderboardEntries(ctx, &scoringv1.ListLeaderboardEntriesRequest{PageToken: bad})
		want(t, name, err, codes.InvalidArgument, "PAGE_TOKEN_INVALID")
	}
	_, err = client.ListLeaderboardEntries(ctx, &scoringv1.ListLeaderboardEntriesRequest{PageToken: good, Leaderboard: &scoringv1.Leaderboard{RulesetId: "strict"}})
	want(t, "another board's token", err, codes.InvalidArgument, "PAGE_TOKEN_INVALID")
}

func TestGetPlayerEntry(t *testing.T) {
	w := newWorld(t, t.TempDir())
	w.run()
	client := w.serve()
	ctx := as(t.Context(), "bob")
	w.fill(10)
	g := projectiontest.NewGame("bob", "classic", -19, 50) // As p004 to p007, who were before him.
	token := w.finish(g)

	for _, id := range []string{"", "bob"} {
		resp, err := client.GetPlayerEntry(ctx, &scoringv1.GetPlayerEntryRequest{PlayerId: id, ConsistencyToken: token})
		must(t, err)
		e := resp.GetEntry()
		if e.GetPlayerId() != "bob" || e.GetRank() != 3 || e.GetPosition() != 7 || resp.GetTotalPlayers() != 11 || e.GetScore() != -19 ||
			e.GetMoves() != 50 || e.GetGameId() != g.GameID || e.GetOutcome() != rulesv1.Outcome_OUTCOME_LOST ||
			e.GetActorKind() != eventv1.ActorKind_ACTOR_KIND_HUMAN || !e.GetEndedAt().AsTime().Equal(g.EndedAt) {
			t.Errorf("entry %v of %d", e, resp.GetTotalPlayers())
		}
	}
	_, err := client.GetPlayerEntry(ctx, &scoringv1.GetPlayerEntryRequest{PlayerId: "eve"})
	want(t, "no entry", err, codes.NotFound, "ENTRY_NOT_FOUND", "player_id=eve", "ruleset_id=classic")
	_, err = client.GetPlayerEntry(ctx, &scoringv1.GetPlayerEntryRequest{Leaderboard: &scoringv1.Leaderboard{RulesetId: "chess"}})
	want(t, "no board", err, codes.NotFound, "LEADERBOARD_NOT_FOUND", "ruleset_id=chess")
}

func TestConsistencyTokensRefused(t *testing.T) {
	w := newWorld(t, t.TempDir())
	w.run()
	client := w.serve()
	ctx := as(t.Context(), "bob")
	token := w.fill(3)
	p, err := eventlog.ParseToken(token)
	must(t, err)
	edit := func(change func(*eventlog.Position)) string {
		q := p
		change(&q)
		return q.Token()
	}
	for name, bad := range map[string]string{
		"malformed":           "x",
		"beyond the stream":   edit(func(p *eventlog.Position) { p.Sequence++ }),
		"far beyond":          edit(func(p *eventlog.Position) { p.Sequence = 1<<64 - 1 }),
		"another stream":      edit(func(p *eventlog.Position) { p.Stream = "OTHER" }),
		"another incarnation": edit(func(p *eventlog.Position) { p.Incarnation = "other" }),
	} {
		for rpc, call := range map[string]func() error{
			"GetScore": func() error {
				_, err := client.GetScore(ctx, &scoringv1.GetScoreRequest{ConsistencyToken: bad})
				return err
			},
			"ListLeaderboardEntries": func() error {
				_, err := client.ListLeaderboardEntries(ctx, &scoringv1.ListLeaderboardEntriesRequest{ConsistencyToken: bad})
				return err
			},
			"GetPlayerEntry": func() error {
				_, err := client.GetPlayerEntry(ctx, &scoringv1.GetPlayerEntryRequest{ConsistencyToken: bad})
				return err
			},
		} {
			want(t, rpc+": "+name, call(), codes.InvalidArgument, "CONSISTENCY_TOKEN_INVALID")
		}
	}
}

func TestBehindToken(t *testing.T) {
	w := newWorld(t, t.TempDir()) // Nothing is projected.
	client := w.serve()
	token := w.fill(3)
	ctx, cancel := context.WithTimeout(as(t.Context(), "bob"), 200*time.Millisecond)
	defer cancel()
	_, err := client.GetPlayerEntry(ctx, &scoringv1.GetPlayerEntryRequest{ConsistencyToken: token})
	want(t, "behind", err, codes.Unavailable, "BEHIND_TOKEN", "records_behind=3")

	w.log.away = eventlog.ErrUnavailable
	_, err = client.GetPlayerEntry(as(t.Context(), "bob"), &scoringv1.GetPlayerEntryRequest{ConsistencyToken: token})
	want(t, "the log is away", err, codes.Unavailable, "STORAGE_UNAVAILABLE")
	if err := w.service.Ready(t.Context()); !errors.Is(err, eventlog.ErrUnavailable) {
		t.Errorf("ready without a log: %v", err)
	}
}
