package scoundrel

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
)

// seedSource gives out the seeds that a test sets.
type seedSource struct {
	mu   sync.Mutex
	next engine.Seed
}

func (s *seedSource) set(seed engine.Seed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = seed
}

func (s *seedSource) seed() (engine.Seed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next, nil
}

// output is a log output that can be read while it is written.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

// take returns what was written since the last take.
func (o *output) take() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.b.Reset()
	return o.b.String()
}

// system is the whole backend behind an in-memory connection.
type system struct {
	*client

	server *Server
	seeds  *seedSource
	logged *output
	stop   func()
}

// start runs the backend on a data folder, with what is special about it.
func start(t testing.TB, dir string, change ...func(*Config)) *system {
	t.Helper()
	s := &system{seeds: &seedSource{}, logged: &output{}}
	listener := bufconn.Listen(1 << 20)
	cfg := Config{
		DataDir: dir, Listener: listener, RelaxedSync: true, Seeds: s.seeds.seed,
		Logger: slog.New(slog.NewTextHandler(s.logged, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, c := range change {
		c(&cfg)
	}
	var err error
	if s.server, err = New(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.server.Run(ctx) }()
	if s.client, err = dial("passthrough:///bufconn", grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
		return listener.DialContext(ctx)
	})); err != nil {
		t.Fatal(err)
	}
	s.stop = sync.OnceFunc(func() {
		if err := s.conn.Close(); err != nil {
			t.Error(err)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.stop)
	return s
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatalf("%v %v", err, status.Convert(err).Details())
		}
		return v
	}
}

// vector is a line of a vector file.
type vector struct {
	Name  string `json:"name"`
	Rules struct {
		Variants        []string `json:"variants"`
		CompanionHealth uint8    `json:"companion_health"`
		Depth           uint8    `json:"depth"`
	} `json:"rules"`
	Seed    string      `json:"seed"`
	Initial vectorState `json:"initial"`
	Steps   []struct {
		Move    string      `json:"move"`
		Illegal bool        `json:"illegal"`
		State   vectorState `json:"state"`
	} `json:"steps"`
}

type vectorState struct {
	Status    string           `json:"status"`
	Health    int32            `json:"health"`
	Room      []string         `json:"room"`
	Dungeon   uint32           `json:"dungeon"`
	Cleared   uint32           `json:"rooms_cleared"`
	Legal     []string         `json:"legal"`
	Score     *int32           `json:"score"`
	Weapon    *vectorWeapon    `json:"weapon"`
	Stored    *[]string        `json:"stored,omitempty"`
	Companion *vectorCompanion `json:"companion,omitempty"`
}

type vectorWeapon struct {
	Card     string   `json:"card"`
	Kills    []string `json:"kills"`
	Upgrades []string `json:"upgrades"`
}

type vectorCompanion struct {
	Card   string        `json:"card"`
	Health int32         `json:"health"`
	Weapon *vectorWeapon `json:"weapon"`
}

func viewWeapon(w *gamev1.Weapon) *vectorWeapon {
	if w == nil {
		return nil
	}
	return &vectorWeapon{w.GetCard(), append([]string{}, w.GetKills()...), append([]string{}, w.GetUpgrades()...)}
}

// vectorsOf reads a file of the engine's vectors.
func vectorsOf(t *testing.T, path string) []vector {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var list []vector
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// check compares a game as a client sees it with a vector's state.
func (want vectorState) check(t *testing.T, where string, g *gamev1.Game) {
	t.Helper()
	got := vectorState{
		Status: strings.TrimPrefix(g.GetStatus().String(), "GAME_STATUS_"), Health: g.GetHealth(), Room: []string{},
		Dungeon: g.GetDungeonSize(), Legal: []string{}, Score: g.Score,
	}
	for _, c := range g.GetRoom() {
		got.Room = append(got.Room, c.GetCard())
	}
	for _, m := range g.GetLegalMoves() {
		kind := strings.TrimPrefix(m.GetMove().GetKind().String(), "MOVE_KIND_")
		got.Legal = append(got.Legal, strings.TrimSpace(kind+" "+m.GetMove().GetCard()))
	}
	slices.Sort(got.Legal)
	got.Cleared = want.Cleared // the room's number stands for it, as long as there is a next room
	if g.GetStatus() == gamev1.GameStatus_GAME_STATUS_ACTIVE {
		got.Cleared = g.GetRoomNumber() - 1
	}
	got.Weapon = viewWeapon(g.GetWeapon())
	if c := g.GetCompanion(); c != nil {
		got.Companion = &vectorCompanion{c.GetCard(), c.GetHealth(), viewWeapon(c.GetWeapon())}
	}
	if b := g.GetBearer(); b != nil {
		potions := append([]string{}, b.GetPotions()...)
		got.Stored = &potions
	}
	a, b := must[[]byte](t)(json.Marshal(want)), must[[]byte](t)(json.Marshal(got))
	if !bytes.Equal(a, b) {
		t.Fatalf("%s: the vector has\n%s\nthe game is\n%s", where, a, b)
	}
}

func parseMove(t testing.TB, text string) *rulesv1.Move {
	t.Helper()
	m, err := engine.ParseMove(text)
	if err != nil {
		return nil // a kind of move that the contract does not have
	}
	return record.MoveToProto(m)
}

// TestVectorsAsRankedGames plays the vectors of all presets and variants as RANDOM games: the
// state after every move, the score and the row on the board must be the
// vector's own.
func TestVectorsAsRankedGames(t *testing.T) {
	s := start(t, t.TempDir())
	outcomes := map[string]int{}
	for _, preset := range engine.Presets() {
		// The file of the preset, and those of its variants.
		files := must[[]string](t)(filepath.Glob(filepath.Join("..", "..", "pkg", "engine", "conformance", "testdata", preset.Name+"*.jsonl")))
		for _, file := range files {
			for _, v := range vectorsOf(t, file) {
				s.seeds.set(engine.Seed(must[[]byte](t)(hex.DecodeString(v.Seed))))
				rules := preset.Rules
				rules.Depth, rules.CompanionHealth = v.Rules.Depth, v.Rules.CompanionHealth
				for _, name := range v.Rules.Variants {
					rules.Variants |= must[engine.Variant](t)(engine.ParseVariant(name))
				}
				s.playVector(t, rules, v, outcomes)
			}
		}
	}
	for _, want := range []string{"classic WON", "classic LOST", "strict WON", "strict LOST", "tabletop WON", "tabletop LOST", "digital WON", "digital LOST"} {
		if outcomes[want] == 0 {
			t.Errorf("no vector of %s: %v", want, outcomes)
		}
	}
	for _, v := range engine.Variants() {
		won := 0
		for id, n := range outcomes {
			if strings.Contains(id, "+"+v.Name) && strings.HasSuffix(id, " WON") {
				won += n
			}
		}
		if won == 0 {
			t.Errorf("no vector wins by %s: %v", v.Name, outcomes)
		}
	}
}

func (s *system) playVector(t *testing.T, rules engine.Ruleset, v vector, outcomes map[string]int) {
	t.Helper()
	ctx := as(t.Context(), "player-of-"+v.Name, "human")
	started := must[*gamev1.StartGameResponse](t)(s.StartGame(ctx, &gamev1.StartGameRequest{Rules: &gamev1.StartGameRequest_Ruleset{Ruleset: record.RulesetToProto(rules)}}))
	g, token, moves := started.GetGame(), started.GetConsistencyToken(), uint32(0)
	v.Initial.check(t, v.Name+" initial", g)
	var last vectorState
	for i, step := range v.Steps {
		where := fmt.Sprintf("%s step %d, %s", v.Name, i, step.Move)
		req := &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: parseMove(t, step.Move)}
		res, err := s.PlayMove(ctx, req)
		if step.Illegal {
			if r := reason(err); r != "ILLEGAL_MOVE" && (req.Move != nil || r != "INVALID_FIELD") {
				t.Fatalf("%s: %v", where, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		g, token, last = res.GetGame(), res.GetConsistencyToken(), step.State
		moves++
		last.check(t, where, g)
	}
	if last.Score == nil {
		t.Fatalf("%s does not end", v.Name)
	}
	outcomes[rules.ID()+" "+last.Status]++
	score := must[*scoringv1.GetScoreResponse](t)(s.GetScore(ctx, &scoringv1.GetScoreRequest{GameId: g.GetGameId(), ConsistencyToken: token})).GetScore()
	if score.GetScore() != *last.Score || score.GetMoves() != moves || score.GetRulesetId() != rules.ID() || "OUTCOME_"+last.Status != score.GetOutcome().String() {
		t.Errorf("%s: score %v, want %d after %d moves", v.Name, score, *last.Score, moves)
	}
	board := &scoringv1.GetPlayerEntryRequest{Leaderboard: &scoringv1.Leaderboard{RulesetId: rules.ID()}}
	if !slices.Contains(ranked(), rules.ID()) {
		if _, err := s.GetPlayerEntry(ctx, board); reason(err) != "LEADERBOARD_NOT_FOUND" {
			t.Errorf("%s: the board of %s: %v", v.Name, rules.ID(), err)
		}
		return
	}
	if rules.Depth > 0 { // which this player has not unlocked
		if _, err := s.GetPlayerEntry(ctx, board); reason(err) != "ENTRY_NOT_FOUND" || score.GetUnrankedReason() != scoringv1.UnrankedReason_UNRANKED_REASON_DEPTH_LOCKED {
			t.Errorf("%s: %v, %v", v.Name, score, err)
		}
		return
	}
	entry := must[*scoringv1.GetPlayerEntryResponse](t)(s.GetPlayerEntry(ctx, board)).GetEntry()
	if entry.GetScore() != *last.Score || entry.GetGameId() != g.GetGameId() || entry.GetMoves() != moves {
		t.Errorf("%s: row %v, want %d after %d moves", v.Name, entry, *last.Score, moves)
	}
}

// botsBoard reads the whole leaderboard of bots.
func (s *system) botsBoard(t *testing.T, rulesetID, token string) []*scoringv1.LeaderboardEntry {
	t.Helper()
	var all []*scoringv1.LeaderboardEntry
	board := &scoringv1.Leaderboard{RulesetId: rulesetID, ActorKind: eventv1.ActorKind_ACTOR_KIND_BOT}
	req := &scoringv1.ListLeaderboardEntriesRequest{Leaderboard: board, PageSize: 7, ConsistencyToken: token}
	for {
		page := must[*scoringv1.ListLeaderboardEntriesResponse](t)(s.ListLeaderboardEntries(as(t.Context(), "reader", "human"), req))
		all = append(all, page.GetEntries()...)
		if req.PageToken = page.GetNextPageToken(); req.PageToken == "" {
			return all
		}
	}
}

// TestManyBotsAtOnce plays hundreds of games at a time. Every row of the boards
// must then name a game whose history replays to exactly its score, and be that
// player's best.
func TestManyBotsAtOnce(t *testing.T) {
	varied, homeRules := engine.Presets()[0].Rules, engine.Presets()[3].Rules
	varied.Variants = engine.VariantMerchants | engine.VariantEvilMerchant | engine.VariantParty
	homeRules.Variants, homeRules.CompanionHealth = engine.VariantHomeRules, 8
	s := start(t, t.TempDir(), func(c *Config) {
		c.Logger, c.Seeds = slog.New(slog.DiscardHandler), nil
		c.Ranked = []string{"classic", "strict", varied.ID(), homeRules.ID()}
	})
	for _, cfg := range []botsConfig{
		{games: 300, players: 200, strategy: "random", rules: engine.Presets()[0].Rules},
		{games: 100, players: 100, strategy: "greedy", rules: engine.Presets()[1].Rules},
		{games: 20, players: 10, strategy: "greedy", rules: varied},
		{games: 20, players: 10, strategy: "greedy", rules: homeRules},
	} {
		result := must[botsResult](t)(playBots(t.Context(), s.client, cfg, func() {}))
		if result.Finished != cfg.games || result.Errors != 0 || result.Won+result.Lost != cfg.games || result.Moves < cfg.games {
			t.Errorf("%+v", result)
		}
	}
	best, token := s.foldLog(t)
	for id, players := range map[string]int{"classic": 200, "strict": 100, varied.ID(): 10, homeRules.ID(): 10} {
		rows := s.botsBoard(t, id, token)
		if len(rows) != players || len(rows) != len(best[id]) {
			t.Fatalf("%d rows for %d players", len(rows), len(best[id]))
		}
		for i, row := range rows {
			if want := best[id][row.GetPlayerId()]; row.GetGameId() != want.game || row.GetScore() != int32(want.score) {
				t.Errorf("row %v, want %+v", row, want)
			}
			if row.GetPosition() != uint64(i+1) || row.GetRank() > row.GetPosition() || i > 0 && (row.GetScore() > rows[i-1].GetScore() ||
				(row.GetRank() == rows[i-1].GetRank()) != (row.GetScore() == rows[i-1].GetScore())) {
				t.Errorf("row %d is %v", i, row)
			}
		}
	}
}

type bestGame struct {
	game  string
	score int
	moves int
	won   bool
	at    time.Time
}

// better is the order of a board, written again on purpose.
func (b bestGame) better(other bestGame) bool {
	switch {
	case b.score != other.score:
		return b.score > other.score
	case b.won && other.won && b.moves != other.moves:
		return b.moves < other.moves
	default:
		return b.at.Before(other.at)
	}
}

// foldLog replays every game of the log from its facts alone and returns each
// player's best by preset, with a token of the log's end.
func (s *system) foldLog(t *testing.T) (map[string]map[string]bestGame, string) {
	t.Helper()
	best := map[string]map[string]bestGame{}
	streams := must[[]eventlog.StreamInfo](t)(s.server.log.Streams(t.Context()))
	var end eventlog.Position
	for _, stream := range streams {
		end = eventlog.Position{Stream: stream.Name, Incarnation: stream.Incarnation, Sequence: stream.LastSequence}
		for seq := uint64(1); seq <= stream.LastSequence; seq++ {
			e := must[eventlog.Stored](t)(s.server.log.Event(t.Context(), stream.Name, seq))
			summary := must[record.Summary](t)(record.Summarize(e.Data))
			if summary.Over == nil {
				continue
			}
			state := s.replay(t, e.Game)
			score, ok := state.Score()
			if !ok {
				t.Errorf("game %s has no score", e.Game)
			}
			preset := state.Rules().ID()
			if best[preset] == nil {
				best[preset] = map[string]bestGame{}
			}
			g := bestGame{e.Game.String(), score, state.Moves(), state.Status() == engine.StatusWon, summary.RecordedAt}
			if old, ok := best[preset][summary.PlayerID]; !ok || g.better(old) {
				best[preset][summary.PlayerID] = g
			}
		}
	}
	return best, end.Token()
}

// replay plays a finished game again from its public history: the revealed deck
// and the moves, under the rules.
func (s *system) replay(t *testing.T, game eventlog.GameID) engine.State {
	t.Helper()
	history := must[*gamev1.GetGameHistoryResponse](t)(s.GetGameHistory(as(t.Context(), "anybody", "human"), &gamev1.GetGameHistoryRequest{GameId: game.String()}))
	rules := must[engine.Ruleset](t)(record.RulesetFromProto(history.GetEntries()[0].GetFacts()[0].GetGameStarted().GetRuleset()))
	state := must[engine.State](t)(engine.NewGame(rules, engine.Seed(must[[]byte](t)(hex.DecodeString(history.GetSeed())))))
	facts := state.Open(nil)
	for _, e := range history.GetEntries() {
		if m := e.GetMove(); m != nil {
			facts = must[[]engine.Fact](t)(state.Decide(must[engine.Move](t)(record.MoveFromProto(m)), nil))
		}
		state = must[engine.State](t)(state.EvolveAll(facts))
	}
	return state
}

// TestARestartLosesNothing stops the server in the middle of a game and goes on.
func TestARestartLosesNothing(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	ctx := as(t.Context(), "ada", "human")
	g := must[*gamev1.StartGameResponse](t)(s.StartGame(ctx, &gamev1.StartGameRequest{RequestId: "start"})).GetGame()
	req := &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: g.GetLegalMoves()[1].GetMove(), RequestId: "first"}
	first := must[*gamev1.PlayMoveResponse](t)(s.PlayMove(ctx, req))
	s.stop()

	s = start(t, dir)
	if s.server.FirstStart {
		t.Error("a second start looks like the first")
	}
	if now := must[*gamev1.GetGameResponse](t)(s.GetGame(ctx, &gamev1.GetGameRequest{GameId: g.GetGameId()})); !proto.Equal(now.GetGame(), first.GetGame()) {
		t.Errorf("%v became %v", first.GetGame(), now.GetGame())
	}
	if again := must[*gamev1.PlayMoveResponse](t)(s.PlayMove(ctx, req)); !proto.Equal(again, first) {
		t.Errorf("answered %v, then %v", first, again)
	}
	end := must[*gamev1.ResignGameResponse](t)(s.ResignGame(ctx, &gamev1.ResignGameRequest{GameId: g.GetGameId()}))
	if end.GetGame().GetVersion() != 3 {
		t.Errorf("ended at version %d", end.GetGame().GetVersion())
	}
	if _, err := s.GetScore(ctx, &scoringv1.GetScoreRequest{GameId: g.GetGameId(), ConsistencyToken: end.GetConsistencyToken()}); reason(err) != "SCORE_NOT_FOUND" {
		t.Errorf("an abandoned game: %v", err)
	}
}

// twins are two seeds whose decks start with the same seven cards and go on
// differently, and what is played up to there.
type twins struct {
	rules engine.Ruleset
	seeds [2]engine.Seed // found by search over the numbers of their last eight bytes
	moves []string
}

func allTwins() []twins {
	classic, homeRules := engine.Presets()[0].Rules, engine.Presets()[0].Rules
	homeRules.Variants = engine.VariantHomeRules
	return []twins{
		{classic, [2]engine.Seed{numberedSeed(110493), numberedSeed(116817)}, []string{
			"EQUIP 3D", "FIGHT_WITH_WEAPON 2S", "EQUIP 10D", "DRINK 6H", // and the second room is dealt
			"FIGHT_WITH_WEAPON JC", "EQUIP 7D", "AVOID", "FIGHT_WITH_WEAPON 6C",
		}},
		// A card goes back to a place that the player must not learn.
		{homeRules, [2]engine.Seed{numberedSeed(576493), numberedSeed(734074)}, []string{
			"EQUIP 4D", "RECYCLE QD", "RECYCLE QD", "FIGHT_WITH_WEAPON 10S", // and the second room is dealt
			"DRINK 7H", "FIGHT_WITH_WEAPON 2S", "AVOID", "DRINK_STORED 7H",
		}},
	}
}

func numberedSeed(n uint64) (s engine.Seed) {
	binary.BigEndian.PutUint64(s[24:], n)
	return s
}

// TestNothingDependsOnUndealtCards plays two games that look the same to their
// player and differ in every card that has not been dealt. Whatever leaves the
// server or lies unsealed in the log must be the same to the byte; only ids,
// times, ciphertext and the commitment, a hash of the 32-byte seed, are set
// aside, and of ciphertext the length must be the same.
func TestNothingDependsOnUndealtCards(t *testing.T) {
	for _, pair := range allTwins() {
		t.Run(pair.rules.ID(), func(t *testing.T) {
			a, b := engine.Shuffle(pair.rules, pair.seeds[0]), engine.Shuffle(pair.rules, pair.seeds[1])
			if !slices.Equal(a[:7], b[:7]) || a[7] == b[7] {
				t.Fatalf("not twins: %v, %v", a, b)
			}
			var seen [2][]string
			for i, seed := range pair.seeds {
				now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
				s := start(t, t.TempDir(), func(c *Config) {
					c.Seeds = func() (engine.Seed, error) { return seed, nil }
					c.Clock = func() time.Time { return now }
				})
				seen[i] = s.visible(t, pair, seed)
			}
			if len(seen[0]) < 20 {
				t.Fatalf("only %d things were compared", len(seen[0]))
			}
			for i := range seen[0] {
				if seen[0][i] != seen[1][i] {
					t.Errorf("differ:\n%s\n%s", seen[0][i], seen[1][i])
				}
			}
		})
	}
}

// visible plays a fixed prefix of a game and returns everything about it that
// somebody without a key can see.
func (s *system) visible(t *testing.T, pair twins, seed engine.Seed) []string {
	t.Helper()
	ctx := as(t.Context(), "ada", "human")
	var seen []string
	var gameID string
	clean := func(text string) string {
		text = strings.ReplaceAll(text, seed.Commitment(), "COMMITMENT")
		if gameID != "" {
			text = strings.ReplaceAll(text, gameID, "GAME")
		}
		return text
	}
	see := func(m proto.Message, err error) {
		var text string
		if err != nil {
			text = fmt.Sprint(err, status.Convert(err).Details())
		} else {
			switch m := m.(type) {
			case *gamev1.StartGameResponse:
				m.ConsistencyToken = ""
			case *gamev1.PlayMoveResponse:
				m.ConsistencyToken = ""
			case *gamev1.GetGameResponse:
				m.ConsistencyToken = ""
			}
			text = string(must[[]byte](t)(proto.MarshalOptions{Deterministic: true}.Marshal(m)))
		}
		seen = append(seen, clean(text))
	}
	req := startRequest(pair.rules)
	req.RequestId = "same"
	started := must[*gamev1.StartGameResponse](t)(s.StartGame(ctx, req))
	gameID = started.GetGame().GetGameId()
	see(started, nil)
	for _, text := range pair.moves {
		see(s.PlayMove(ctx, &gamev1.PlayMoveRequest{GameId: gameID, Move: parseMove(t, text)}))
	}
	see(s.PlayMove(ctx, &gamev1.PlayMoveRequest{GameId: gameID, Move: parseMove(t, "AVOID"), ExpectedVersion: 3}))
	// Guesses about the dungeon must all miss in the same way.
	undealt := engine.Shuffle(pair.rules, seed)[7:]
	slices.Sort(undealt)
	for _, card := range undealt {
		for _, kind := range []string{"EQUIP ", "DRINK ", "FIGHT_BARE_HANDED ", "FIGHT_WITH_WEAPON ", "SELL ", "RECYCLE ", "RECRUIT ", "DRINK_STORED "} {
			see(s.PlayMove(ctx, &gamev1.PlayMoveRequest{GameId: gameID, Move: parseMove(t, kind+card.String())}))
		}
	}
	for v := range uint64(9) {
		see(s.GetGame(as(t.Context(), "bob", "human"), &gamev1.GetGameRequest{GameId: gameID, AtVersion: v}))
	}
	see(s.GetGameHistory(ctx, &gamev1.GetGameHistoryRequest{GameId: gameID}))
	see(s.GetScore(ctx, &scoringv1.GetScoreRequest{GameId: gameID}))

	id := must[eventlog.GameID](t)(eventlog.ParseGameID(gameID))
	for e, err := range s.server.log.History(t.Context(), id, 1) {
		if err != nil {
			t.Fatal(err)
		}
		var m eventv1.Record
		if err := proto.Unmarshal(e.Data, &m); err != nil {
			t.Fatal(err)
		}
		m.EventId = nil
		blank(m.ProtoReflect())
		seen = append(seen, clean(fmt.Sprintf("%s %d %s", e.Type, len(e.Data), must[[]byte](t)(proto.MarshalOptions{Deterministic: true}.Marshal(&m)))))
	}
	volatile := regexp.MustCompile(`(?m)^.*msg="nats: .*$|^time=\S+|took=\S+`)
	seen = append(seen, clean(volatile.ReplaceAllString(s.logged.take(), "")))
	return seen
}

// blank keeps nothing of what is sealed in a message but its length.
func blank(m protoreflect.Message) {
	if sealed, ok := m.Interface().(*eventv1.Sealed); ok {
		sealed.KeyId, sealed.Nonce, sealed.Ciphertext = "", nil, make([]byte, len(sealed.GetCiphertext()))
		return
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				blank(v.List().Get(i).Message())
			}
		default:
			blank(v.Message())
		}
		return true
	})
}

// TestTheErrorsOfBothServicesAreTyped sees that one error table serves both.
func TestTheErrorsOfBothServicesAreTyped(t *testing.T) {
	s := start(t, t.TempDir())
	ctx := as(t.Context(), "ada", "human")
	_, err := s.GetPlayerEntry(ctx, &scoringv1.GetPlayerEntryRequest{})
	if status.Code(err) != codes.NotFound || reason(err) != "ENTRY_NOT_FOUND" {
		t.Errorf("no entry: %v", err)
	}
	_, err = s.ListLeaderboardEntries(ctx, &scoringv1.ListLeaderboardEntriesRequest{Leaderboard: &scoringv1.Leaderboard{RulesetId: "chess"}})
	if status.Code(err) != codes.NotFound || reason(err) != "LEADERBOARD_NOT_FOUND" {
		t.Errorf("no board: %v", err)
	}
	g := must[*gamev1.StartGameResponse](t)(s.StartGame(ctx, &gamev1.StartGameRequest{}))
	beyond := must[eventlog.Position](t)(eventlog.ParseToken(g.GetConsistencyToken()))
	beyond.Sequence++
	_, err = s.GetScore(ctx, &scoringv1.GetScoreRequest{GameId: g.GetGame().GetGameId(), ConsistencyToken: beyond.Token()})
	if status.Code(err) != codes.InvalidArgument || reason(err) != "CONSISTENCY_TOKEN_INVALID" {
		t.Errorf("a token beyond the stream: %v", err)
	}
}
