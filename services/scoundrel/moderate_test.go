package scoundrel

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	moderationv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/moderation/v1"
	profilev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/profile/v1"
	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/postgres/postgrestest"
)

// bots is the board that the games of bots count for.
func bots() *scoringv1.Leaderboard {
	return &scoringv1.Leaderboard{RulesetId: "classic", ActorKind: eventv1.ActorKind_ACTOR_KIND_BOT}
}

// agree reads the board of bots in every way that there is and makes sure that all
// of them say the same. It returns the players in the board's order.
func (s *system) agree(t *testing.T, token string) (players []string) {
	t.Helper()
	ctx := as(t.Context(), "reader", "human")
	page := must[*scoringv1.ListLeaderboardEntriesResponse](t)(s.ListLeaderboardEntries(ctx, &scoringv1.ListLeaderboardEntriesRequest{
		Leaderboard: bots(), PageSize: 200, ConsistencyToken: token,
	}))
	for _, e := range page.GetEntries() {
		players = append(players, e.GetPlayerId())
	}
	n := uint64(len(players))
	batch := must[*scoringv1.BatchGetEntriesResponse](t)(s.BatchGetEntries(ctx, &scoringv1.BatchGetEntriesRequest{
		Leaderboard: bots(), PlayerIds: []string{"bot-1", "bot-2", "bot-3", "bot-4", "bot-5", "bot-6"},
	}))
	distribution := must[*scoringv1.GetScoreDistributionResponse](t)(s.GetScoreDistribution(ctx, &scoringv1.GetScoreDistributionRequest{Leaderboard: bots()}))
	if page.GetTotalPlayers() != n || uint64(len(batch.GetEntries())) != n || distribution.GetTotalPlayers() != n {
		t.Errorf("%d players on the page, %d in total, %d in a batch, %d in the distribution", n, page.GetTotalPlayers(), len(batch.GetEntries()), distribution.GetTotalPlayers())
	}
	for i, e := range page.GetEntries() {
		own := must[*scoringv1.GetPlayerEntryResponse](t)(s.GetPlayerEntry(ctx, &scoringv1.GetPlayerEntryRequest{Leaderboard: bots(), PlayerId: e.GetPlayerId()}))
		below := 0
		for _, other := range page.GetEntries() {
			if other.GetScore() < e.GetScore() {
				below++
			}
		}
		percentile := 100.0
		if n > 1 {
			percentile = 100 * float64(below) / float64(n-1)
		}
		if own.GetEntry().String() != e.String() || own.GetTotalPlayers() != n || own.GetPercentile() != percentile || e.GetPosition() != uint64(i)+1 {
			t.Errorf("entry %v of %d, percentile %v; on the page %v, percentile %v", own.GetEntry(), own.GetTotalPlayers(), own.GetPercentile(), e, percentile)
		}
	}
	boards := must[*scoringv1.ListLeaderboardsResponse](t)(s.ListLeaderboards(ctx, &scoringv1.ListLeaderboardsRequest{RulesetId: "classic"}))
	for _, b := range boards.GetLeaderboards() {
		if b.GetTotalPlayers() != n {
			t.Errorf("%v, but %d players", b, n)
		}
	}
	return players
}

// stats returns how many games a player has finished, and the reasons why listed
// ones do not rank, the latest first.
func (s *system) stats(t *testing.T, player string) (games uint64, reasons []scoringv1.UnrankedReason) {
	t.Helper()
	ctx := as(t.Context(), player, "bot")
	total := must[*scoringv1.GetPlayerStatsResponse](t)(s.GetPlayerStats(ctx, &scoringv1.GetPlayerStatsRequest{})).GetTotal()
	for _, g := range must[*scoringv1.ListPlayerGamesResponse](t)(s.ListPlayerGames(ctx, &scoringv1.ListPlayerGamesRequest{})).GetGames() {
		reasons = append(reasons, g.GetUnrankedReason())
	}
	return total.GetGames(), reasons
}

// TestModerationAndErasure hides players and games and erases one, and sees every
// read agree: at once, after a restart, and in a database that is filled anew.
func TestModerationAndErasure(t *testing.T) {
	dir := t.TempDir()
	quiet := func(c *Config) { c.Logger, c.Seeds = slog.New(slog.DiscardHandler), nil }
	var board []string
	check := func(s *system, token string) {
		t.Helper()
		if got := s.agree(t, token); !slices.Equal(got, board) {
			t.Errorf("board %v, want %v", got, board)
		}
	}
	const hidden = scoringv1.UnrankedReason_UNRANKED_REASON_HIDDEN
	s := start(t, dir, quiet)
	cfg := botsConfig{games: 30, players: 6, strategy: "random", rules: engine.Presets()[0].Rules}
	must[botsResult](t)(playBots(t.Context(), s.client, cfg, func() {}))
	_, token := s.foldLog(t)
	board = s.agree(t, token)
	if len(board) != 6 {
		t.Fatalf("board %v", board)
	}

	secret := must[string](t)(readModeratorToken(filepath.Join(dir, moderatorFile)))
	ctx := metadata.AppendToOutgoingContext(as(t.Context(), "mod", "human"), "authorization", "Bearer "+secret)
	moderators := moderationv1.NewModerationServiceClient(s.conn)
	moderate := func(req *moderationv1.ModerateRequest) string {
		t.Helper()
		req.Reason = "why"
		resp := must[*moderationv1.ModerateResponse](t)(moderators.Moderate(ctx, req))
		if !resp.GetChanged() {
			t.Errorf("%v changed nothing", req)
		}
		return resp.GetConsistencyToken()
	}

	// A player in the middle.
	out := board[2]
	played, _ := s.stats(t, out)
	board = slices.Delete(slices.Clone(board), 2, 3)
	check(s, moderate(&moderationv1.ModerateRequest{Target: &moderationv1.ModerateRequest_PlayerId{PlayerId: out}, Hidden: true}))
	if games, reasons := s.stats(t, out); games != 0 || uint64(len(reasons)) != played || slices.ContainsFunc(reasons, func(r scoringv1.UnrankedReason) bool { return r != hidden }) {
		t.Errorf("%d games of a hidden player, %v", games, reasons)
	}

	// A best game gives way to the next best.
	before, _ := s.stats(t, board[0])
	first := must[*scoringv1.GetPlayerEntryResponse](t)(s.GetPlayerEntry(ctx, &scoringv1.GetPlayerEntryRequest{Leaderboard: bots(), PlayerId: board[0]})).GetEntry()
	token = moderate(&moderationv1.ModerateRequest{Target: &moderationv1.ModerateRequest_GameId{GameId: first.GetGameId()}, Hidden: true})
	board = s.agree(t, token)
	second := must[*scoringv1.GetPlayerEntryResponse](t)(s.GetPlayerEntry(ctx, &scoringv1.GetPlayerEntryRequest{Leaderboard: bots(), PlayerId: first.GetPlayerId()})).GetEntry()
	if len(board) != 5 || second.GetGameId() == first.GetGameId() || second.GetScore() > first.GetScore() {
		t.Errorf("%v gave way to %v on %v", first, second, board)
	}
	score := must[*scoringv1.GetScoreResponse](t)(s.GetScore(ctx, &scoringv1.GetScoreRequest{GameId: first.GetGameId()})).GetScore()
	if score.GetUnrankedReason() != hidden || len(score.GetLeaderboards()) != 0 {
		t.Errorf("hidden game %v", score)
	}
	if games, _ := s.stats(t, first.GetPlayerId()); games != before-1 {
		t.Errorf("%d games, one of %d is hidden", games, before)
	}

	// An erased player is gone, also for themselves; a game that is played later counts.
	erased := board[4]
	board = board[:4]
	gone := must[*profilev1.DeleteProfileResponse](t)(profilev1.NewProfileServiceClient(s.conn).
		DeleteProfile(as(t.Context(), erased, "bot"), &profilev1.DeleteProfileRequest{}))
	check(s, gone.GetConsistencyToken())
	if games, reasons := s.stats(t, erased); games != 0 || len(reasons) != 0 {
		t.Errorf("%d games of an erased player, %v", games, reasons)
	}

	// A restart, another database, and the file computed again.
	s.stop()
	if out, errs, code := run(t, "", "rebuild", "--check", "--data", dir); code != 0 || !strings.HasSuffix(out, "\nequal\n") {
		t.Errorf("rebuild --check: %d, %s, %s", code, out, errs)
	}
	if out, errs, code := run(t, "", "rebuild", "--data", dir); code != 0 {
		t.Errorf("rebuild: %d, %s, %s", code, out, errs)
	}
	s = start(t, dir, quiet)
	check(s, gone.GetConsistencyToken())
	s.stop()
	url := postgrestest.Start(t).Database(t)
	s = start(t, dir, quiet, func(c *Config) { c.StoreURL = url })
	_, token = s.foldLog(t)
	check(s, token)
	if games, reasons := s.stats(t, erased); games != 0 || len(reasons) != 0 {
		t.Errorf("%d games of an erased player, %v", games, reasons)
	}

	// All of it is undone but the erasure.
	moderators = moderationv1.NewModerationServiceClient(s.conn)
	moderate(&moderationv1.ModerateRequest{Target: &moderationv1.ModerateRequest_GameId{GameId: first.GetGameId()}})
	token = moderate(&moderationv1.ModerateRequest{Target: &moderationv1.ModerateRequest_PlayerId{PlayerId: out}})
	if now := s.agree(t, token); len(now) != 5 || !slices.Contains(now, out) || slices.Contains(now, erased) {
		t.Errorf("board %v", now)
	}
	if games, _ := s.stats(t, out); games != played {
		t.Errorf("%d games of %d of a player who is shown again", games, played)
	}
	list := must[*moderationv1.ListModerationsResponse](t)(moderators.ListModerations(ctx, &moderationv1.ListModerationsRequest{PageSize: 3}))
	rest := must[*moderationv1.ListModerationsResponse](t)(moderators.ListModerations(ctx, &moderationv1.ListModerationsRequest{AfterSequence: list.GetNextAfterSequence()}))
	if len(list.GetModerations()) != 3 || len(rest.GetModerations()) != 1 || rest.GetNextAfterSequence() != 0 {
		t.Errorf("decisions %v and %v", list, rest)
	}
}

func TestModerationIsForModerators(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	c := moderationv1.NewModerationServiceClient(s.conn)
	secret := must[string](t)(readModeratorToken(filepath.Join(dir, moderatorFile)))
	if info := must[os.FileInfo](t)(os.Stat(filepath.Join(dir, moderatorFile))); info.Mode().Perm() != 0o600 {
		t.Errorf("the token's mode is %v", info.Mode())
	}
	player := &moderationv1.ModerateRequest_PlayerId{PlayerId: "ada"}
	for name, authorization := range map[string][]string{
		"none": nil, "another": {"Bearer x"}, "no scheme": {secret}, "prefix": {"Bearer " + secret[:20]}, "longer": {"Bearer " + secret + "x"},
		"two": {"Bearer " + secret, "Bearer " + secret},
	} {
		ctx := metadata.NewOutgoingContext(t.Context(), metadata.MD{rpckit.PlayerIDKey: {"mod"}, "authorization": authorization})
		_, err := c.Moderate(ctx, &moderationv1.ModerateRequest{Target: player, Hidden: true, Reason: "why"})
		_, listErr := c.ListModerations(ctx, &moderationv1.ListModerationsRequest{})
		for _, err := range []error{err, listErr} {
			if status.Code(err) != codes.PermissionDenied || reason(err) != "NOT_A_MODERATOR" || strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	ctx := metadata.AppendToOutgoingContext(as(t.Context(), "mod", "human"), "authorization", "Bearer "+secret)
	for name, test := range map[string]struct {
		req    *moderationv1.ModerateRequest
		code   codes.Code
		reason string
	}{
		"nobody":       {&moderationv1.ModerateRequest{Reason: "why"}, codes.InvalidArgument, "INVALID_FIELD"},
		"no player":    {&moderationv1.ModerateRequest{Target: &moderationv1.ModerateRequest_PlayerId{PlayerId: "a b"}, Reason: "why"}, codes.InvalidArgument, "INVALID_FIELD"},
		"no reason":    {&moderationv1.ModerateRequest{Target: player}, codes.InvalidArgument, "INVALID_FIELD"},
		"two lines":    {&moderationv1.ModerateRequest{Target: player, Reason: "a\nb"}, codes.InvalidArgument, "INVALID_FIELD"},
		"unknown game": {&moderationv1.ModerateRequest{Target: &moderationv1.ModerateRequest_GameId{GameId: "26q4-00-00000000000000000000000000"}, Reason: "why"}, codes.NotFound, "GAME_NOT_FOUND"},
		"no game id":   {&moderationv1.ModerateRequest{Target: &moderationv1.ModerateRequest_GameId{GameId: "x"}, Reason: "why"}, codes.NotFound, "GAME_NOT_FOUND"},
	} {
		if _, err := c.Moderate(ctx, test.req); status.Code(err) != test.code || reason(err) != test.reason {
			t.Errorf("%s: %v", name, err)
		}
	}
	if list := must[*moderationv1.ListModerationsResponse](t)(c.ListModerations(ctx, &moderationv1.ListModerationsRequest{})); len(list.GetModerations()) != 0 {
		t.Errorf("decisions %v", list)
	}
	s.stop()
	if err := os.WriteFile(filepath.Join(dir, moderatorFile), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(t.Context(), Config{DataDir: dir, GRPCAddr: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler)}); err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("a short token: %v", err)
	}
}

// TestModerateCommand moderates through the program.
func TestModerateCommand(t *testing.T) {
	dir := t.TempDir()
	p := serve(t, dir, "--relaxed-sync")
	if _, errs, code := run(t, "", "bots", "--addr", p.addr, "--games", "6", "--players", "2", "--strategy", "random"); code != 0 {
		t.Fatal(errs)
	}
	moderate := func(want string, code int, args ...string) {
		t.Helper()
		out, errs, got := run(t, "", slices.Concat([]string{"moderate"}, args, []string{"--addr", p.addr, "--data", dir, "--by", "mod"})...)
		if got != code || !regexp.MustCompile(want).MatchString(out+errs) {
			t.Errorf("moderate %v: %d, %s, %s", args, got, out, errs)
		}
	}
	board := func() (rows []leaderboardRow) {
		t.Helper()
		out, errs, _ := run(t, "", "leaderboard", "--addr", p.addr, "--players", "bots", "--json")
		if err := json.Unmarshal([]byte(out), &rows); err != nil {
			t.Fatal(err, errs)
		}
		return rows
	}
	best := board()[0]
	moderate(`^player bot-1 never was hidden\n$`, 0, "unhide", "--player", "bot-1", "--reason", "x")
	moderate(`^player bot-1 is hidden: decision 1\n$`, 0, "hide", "--player", "bot-1", "--reason", "plays with two accounts")
	if rows := board(); len(rows) != 1 || rows[0].PlayerID != "bot-2" || rows[0].Rank != 1 {
		t.Errorf("board %v", rows)
	}
	moderate(`^player bot-1 is hidden already: by mod, [-0-9: ]+: plays with two accounts\n$`, 0, "hide", "--player", "bot-1", "--reason", "again")
	moderate(`^player bot-1 is shown: decision 2\n$`, 0, "unhide", "--player", "bot-1", "--reason", "a mistake")
	moderate(`^game \S+ is hidden: decision 3\n$`, 0, "hide", "--game", best.GameID, "--reason", "a fault")
	if rows := board(); len(rows) != 2 || rows[0].GameID == best.GameID || rows[1].GameID == best.GameID {
		t.Errorf("board %v", rows)
	}
	moderate(`^player later is hidden: decision 4\nno game of that player is known`, 0, "hide", "--player", "later", "--reason", "x")
	moderate(`(?s)^DECISION .*\n1 +player bot-1 +hidden +\S+ \S+ +mod +plays with two accounts\n2 +player bot-1 +shown .*\n3 +game `+best.GameID+` +hidden .*\n4 `, 0, "list")
	moderate(`^{"player_id":\s*"bot-1",.*"sequence":\s*"1"}\n`, 0, "list", "--json")

	moderate(`^scoundrel: .*GAME_NOT_FOUND`, 1, "hide", "--game", "x", "--reason", "x")
	moderate(`^scoundrel: .*reason`, 1, "hide", "--player", "x")
	moderate(`^scoundrel: .*(player|game)`, 1, "hide", "--reason", "x")
	moderate(`^scoundrel: .*token`, 1, "list", "--token-file", filepath.Join(dir, "none"))
	if err := p.end(t, syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	moderate(`^scoundrel: no server answers`, 1, "list")
}
