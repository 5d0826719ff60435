package scoundrel

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"log/slog"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	moderationv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/moderation/v1"
	profilev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/profile/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
)

// methods returns every method of the project's services on the server, as the
// server itself lists them.
func (s *system) methods(t *testing.T) (list []protoreflect.MethodDescriptor) {
	t.Helper()
	stream := must[grpc.BidiStreamingClient[reflectionv1.ServerReflectionRequest, reflectionv1.ServerReflectionResponse]](t)(
		reflectionv1.NewServerReflectionClient(s.conn).ServerReflectionInfo(t.Context()))
	if err := stream.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	res := must[*reflectionv1.ServerReflectionResponse](t)(stream.Recv())
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	for _, service := range res.GetListServicesResponse().GetService() {
		if !strings.HasPrefix(service.GetName(), "scoundrel.") {
			continue
		}
		d := must[protoreflect.Descriptor](t)(protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service.GetName())))
		methods := d.(protoreflect.ServiceDescriptor).Methods()
		for i := range methods.Len() {
			list = append(list, methods.Get(i))
		}
	}
	return list
}

// call calls a method by its description; of a stream it returns the first message.
func (s *system) call(ctx context.Context, t *testing.T, method protoreflect.MethodDescriptor, req proto.Message) (proto.Message, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	res := must[protoreflect.MessageType](t)(protoregistry.GlobalTypes.FindMessageByName(method.Output().FullName())).New().Interface()
	name := "/" + string(method.Parent().FullName()) + "/" + string(method.Name())
	if !method.IsStreamingServer() {
		return res, s.conn.Invoke(ctx, name, req, res)
	}
	stream := must[grpc.ClientStream](t)(s.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, name))
	if err := stream.SendMsg(req); err != nil {
		t.Fatal(err)
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	return res, stream.RecvMsg(res)
}

// answer is what somebody was told before the challenge was final. Whether it told
// too much can be seen only when the secrets are known.
type answer struct {
	what  string
	text  string
	wire  []byte
	dealt map[string]bool // the cards that an owner had seen by then; nil for a stranger
}

func answered(t *testing.T, what string, res proto.Message, err error) answer {
	t.Helper()
	if err != nil {
		res = status.Convert(err).Proto()
	}
	return answer{what: what, text: string(must[[]byte](t)(protojson.Marshal(res))), wire: must[[]byte](t)(proto.Marshal(res))}
}

var cardText = regexp.MustCompile(`"((?:10|[2-9JQKA])[CDHS])"`)

// cards returns the cards of an answer in the order in which they stand there.
func (a answer) cards() (cards []string) {
	for _, m := range cardText.FindAllStringSubmatch(a.text, -1) {
		cards = append(cards, m[1])
	}
	return cards
}

// leaks returns what an answer tells that it must not.
func (a answer) leaks(seed []byte, deck []string, rooms [][]string) (leaks []string) {
	for _, form := range []string{string(seed), hex.EncodeToString(seed), base64.StdEncoding.EncodeToString(seed), base64.RawURLEncoding.EncodeToString(seed)} {
		if strings.Contains(strings.ToLower(a.text), strings.ToLower(form)) || bytes.Contains(a.wire, []byte(form)) {
			leaks = append(leaks, "the seed")
		}
	}
	cards := a.cards()
	if a.dealt != nil {
		for _, card := range cards {
			if !a.dealt[card] {
				leaks = append(leaks, "the undealt card "+card)
			}
		}
		return leaks
	}
	told := " " + strings.Join(cards, " ") + " "
	tells := func(row []string) bool { return strings.Contains(told, " "+strings.Join(row, " ")+" ") }
	for i := range len(deck) - 3 {
		if tells(deck[i : i+4]) {
			leaks = append(leaks, "a part of the deck")
		}
	}
	// Of fewer cards, another deck's game has some alike.
	if slices.ContainsFunc(rooms, func(room []string) bool { return len(room) > 2 && tells(room) }) {
		leaks = append(leaks, "a room")
	}
	return leaks
}

// request is what a stranger asks, and the reason of the refusal.
type request struct {
	msg    proto.Message
	reason string
}

// strangersRequests has what a stranger can ask about an attempt that is over, for
// every method that there is.
func strangersRequests(game, owner, date, token string) map[string][]request {
	const refused = "NOT_YOUR_GAME"
	board := &scoringv1.Leaderboard{Period: scoringv1.Period_PERIOD_DAILY, Date: date}
	ok := func(list ...proto.Message) (requests []request) {
		for _, msg := range list {
			requests = append(requests, request{msg: msg})
		}
		return requests
	}
	return map[string][]request{
		// It is the next day already: what starts is the next challenge.
		"scoundrel.game.v1.GameService.StartGame": ok(&gamev1.StartGameRequest{Mode: eventv1.GameMode_GAME_MODE_DAILY}, &gamev1.StartGameRequest{}),
		"scoundrel.game.v1.GameService.GetGame": {
			{&gamev1.GetGameRequest{GameId: game}, refused}, {&gamev1.GetGameRequest{GameId: game, AtVersion: 1}, refused},
		},
		"scoundrel.game.v1.GameService.PlayMove":          {{&gamev1.PlayMoveRequest{GameId: game, Move: &rulesv1.Move{Kind: rulesv1.MoveKind_MOVE_KIND_AVOID}}, refused}},
		"scoundrel.game.v1.GameService.ResignGame":        {{&gamev1.ResignGameRequest{GameId: game}, refused}},
		"scoundrel.game.v1.GameService.GetGameHistory":    {{&gamev1.GetGameHistoryRequest{GameId: game}, refused}},
		"scoundrel.game.v1.GameService.ListRulesets":      ok(&gamev1.ListRulesetsRequest{}),
		"scoundrel.game.v1.GameService.GetDailyChallenge": ok(&gamev1.GetDailyChallengeRequest{Date: date}, &gamev1.GetDailyChallengeRequest{}),

		"scoundrel.scoring.v1.ScoringService.GetScore":               {{&scoringv1.GetScoreRequest{GameId: game, ConsistencyToken: token}, refused}},
		"scoundrel.scoring.v1.ScoringService.ListLeaderboards":       ok(&scoringv1.ListLeaderboardsRequest{ConsistencyToken: token}),
		"scoundrel.scoring.v1.ScoringService.ListLeaderboardEntries": ok(&scoringv1.ListLeaderboardEntriesRequest{Leaderboard: board, ConsistencyToken: token}),
		"scoundrel.scoring.v1.ScoringService.GetPlayerEntry":         ok(&scoringv1.GetPlayerEntryRequest{Leaderboard: board, PlayerId: owner, ConsistencyToken: token}),
		"scoundrel.scoring.v1.ScoringService.ListEntriesAround":      ok(&scoringv1.ListEntriesAroundRequest{Leaderboard: board, PlayerId: owner, ConsistencyToken: token}),
		"scoundrel.scoring.v1.ScoringService.BatchGetEntries":        ok(&scoringv1.BatchGetEntriesRequest{Leaderboard: board, PlayerIds: []string{owner}, ConsistencyToken: token}),
		"scoundrel.scoring.v1.ScoringService.GetScoreDistribution":   ok(&scoringv1.GetScoreDistributionRequest{Leaderboard: board, ConsistencyToken: token}),
		"scoundrel.scoring.v1.ScoringService.GetRankForScore":        ok(&scoringv1.GetRankForScoreRequest{Leaderboard: board, ConsistencyToken: token}),
		"scoundrel.scoring.v1.ScoringService.GetPlayerStats":         ok(&scoringv1.GetPlayerStatsRequest{PlayerId: owner, ConsistencyToken: token}),
		"scoundrel.scoring.v1.ScoringService.ListPlayerGames":        ok(&scoringv1.ListPlayerGamesRequest{PlayerId: owner, ConsistencyToken: token}),
		"scoundrel.scoring.v1.ScoringService.WatchLeaderboard":       ok(&scoringv1.WatchLeaderboardRequest{Leaderboard: board}),

		"scoundrel.profile.v1.ProfileService.GetProfile":       ok(&profilev1.GetProfileRequest{PlayerId: owner}),
		"scoundrel.profile.v1.ProfileService.BatchGetProfiles": ok(&profilev1.BatchGetProfilesRequest{PlayerIds: []string{owner}}),
		"scoundrel.profile.v1.ProfileService.SetDisplayName":   ok(&profilev1.SetDisplayNameRequest{DisplayName: "Eve"}),
		"scoundrel.profile.v1.ProfileService.DeleteProfile":    ok(&profilev1.DeleteProfileRequest{}),

		// To show what is not hidden changes nothing.
		"scoundrel.moderation.v1.ModerationService.Moderate": ok(&moderationv1.ModerateRequest{
			Target: &moderationv1.ModerateRequest_GameId{GameId: game}, Reason: "why",
		}),
		"scoundrel.moderation.v1.ModerationService.ListModerations": ok(&moderationv1.ListModerationsRequest{}),
	}
}

// TestDailyOfAStranger plays an attempt across midnight and asks every method of
// the server for it as a stranger, one with the token of moderators included:
// nobody is told of the deck before the challenge is final, and everybody then.
func TestDailyOfAStranger(t *testing.T) {
	const date, daily, hour = "2028-02-29", eventv1.GameMode_GAME_MODE_DAILY, time.Hour
	midnight := time.Date(2028, 3, 1, 0, 0, 0, 0, time.UTC)
	var clock, seeds atomic.Int64
	set := func(at time.Time) { clock.Store(at.UnixNano()) }
	set(midnight.Add(-time.Millisecond))
	dir := t.TempDir()
	s := start(t, dir, func(c *Config) {
		c.Logger = slog.New(slog.DiscardHandler)
		c.Clock = func() time.Time { return time.Unix(0, clock.Load()).UTC() }
		// Every deck is another one, and the same in every run. None of the
		// bytes is 0, which stands in many a message.
		c.Seeds = func() (seed engine.Seed, _ error) {
			n := byte(seeds.Add(1))
			for i := range seed {
				seed[i] = 0x80 ^ n ^ byte(i)
			}
			return seed, nil
		}
	})
	ada, bob, eve := as(t.Context(), "ada", "human"), as(t.Context(), "bob", "human"), as(t.Context(), "eve", "human")
	secret := must[string](t)(readModeratorToken(filepath.Join(dir, moderatorFile)))
	moderator := metadata.AppendToOutgoingContext(as(t.Context(), "mod", "human"), "authorization", "Bearer "+secret)
	setName(t, s.client, "ada", "Ada")
	methods := s.methods(t)

	var answers []answer
	var rooms [][]string
	dealt := map[string]bool{}
	token := ""
	own := func(what string, res proto.Message, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		a := answered(t, "the owner's "+what, res, nil)
		a.dealt = maps.Clone(dealt)
		answers = append(answers, a)
	}
	deal := func(g *gamev1.Game, facts []*eventv1.Fact) {
		var room []string
		for _, c := range g.GetRoom() {
			room = append(room, c.GetCard())
		}
		rooms = append(rooms, room)
		for _, f := range facts {
			for _, card := range f.GetRoomDealt().GetCards() {
				dealt[card] = true
			}
		}
	}
	walk := func(over bool, id string) {
		t.Helper()
		requests := strangersRequests(id, "ada", date, token)
		for _, method := range methods {
			name := string(method.FullName())
			if len(requests[name]) == 0 || method.IsStreamingClient() {
				t.Errorf("%s is not called by this test", name)
				continue
			}
			for _, req := range requests[name] {
				for who, ctx := range map[string]context.Context{"a stranger": eve, "a moderator": moderator} {
					res, err := s.call(ctx, t, method, req.msg)
					answers = append(answers, answered(t, name+" of "+who, res, err))
					want := req.reason
					if who == "a stranger" && strings.HasPrefix(name, "scoundrel.moderation.") {
						want = "NOT_A_MODERATOR"
					}
					// An attempt that goes on is on no board yet.
					if got := reason(err); over && (got != want || (err != nil) != (want != "")) {
						t.Errorf("%s, asked by %s: %v, want the reason %q", name, who, err, want)
					}
				}
			}
		}
	}

	started, err := s.StartGame(ada, &gamev1.StartGameRequest{Mode: daily})
	first, g := started.GetGame(), started.GetGame()
	deal(g, started.GetFacts())
	own("StartGame", started, err)
	running := must[*gamev1.StartGameResponse](t)(s.StartGame(bob, &gamev1.StartGameRequest{Mode: daily})).GetGame()
	set(midnight)
	var moves []*rulesv1.Move
	for g.GetStatus() == gamev1.GameStatus_GAME_STATUS_ACTIVE {
		if len(moves) == 1 {
			walk(false, g.GetGameId())
		}
		legal := g.GetLegalMoves()
		moves = append(moves, legal[len(legal)-1].GetMove())
		res, err := s.PlayMove(ada, &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: moves[len(moves)-1]})
		g, token = res.GetGame(), res.GetConsistencyToken()
		deal(g, res.GetFacts())
		own("PlayMove", res, err)
	}
	id := g.GetGameId()
	if g.Score == nil || !first.GetStartedAt().AsTime().Before(midnight) || g.GetEndedAt().AsTime().Before(midnight) {
		t.Fatalf("the attempt ended as %v", g)
	}

	set(midnight.Add(hour - 1))
	walk(true, id)
	board := &scoringv1.Leaderboard{Period: scoringv1.Period_PERIOD_DAILY, Date: date}
	game, err := s.GetGame(ada, &gamev1.GetGameRequest{GameId: id})
	own("GetGame", game, err)
	history, err := s.GetGameHistory(ada, &gamev1.GetGameHistoryRequest{GameId: id})
	own("GetGameHistory", history, err)
	challenge, err := s.GetDailyChallenge(ada, &gamev1.GetDailyChallengeRequest{Date: date})
	own("GetDailyChallenge", challenge, err)
	score, err := s.GetScore(ada, &scoringv1.GetScoreRequest{GameId: id, ConsistencyToken: token})
	own("GetScore", score, err)
	games, err := s.ListPlayerGames(ada, &scoringv1.ListPlayerGamesRequest{ConsistencyToken: token})
	own("ListPlayerGames", games, err)

	set(midnight.Add(hour))
	game, err = s.GetGame(eve, &gamev1.GetGameRequest{GameId: id})
	if err != nil {
		t.Fatal(err)
	}
	seed, deck := must[[]byte](t)(hex.DecodeString(game.GetGame().GetSeed())), game.GetGame().GetDeck()
	if len(deck) != 44 || len(dealt) == len(deck) || engine.Seed(seed).Commitment() != first.GetCommitment() {
		t.Fatalf("%d of the %d cards of %v were dealt", len(dealt), len(deck), game)
	}
	for _, a := range answers {
		if leaks := a.leaks(seed, deck, rooms); len(leaks) > 0 {
			t.Errorf("%s tells %v: %s", a.what, leaks, a.text)
		}
		// A stranger sees the cards of games of their own alone.
		if a.dealt == nil && len(a.cards()) > 0 && !strings.Contains(a.what, ".StartGame ") {
			t.Errorf("%s tells of cards: %s", a.what, a.text)
		}
	}
	// What is told now would have been noticed.
	for what, m := range map[string]proto.Message{"seed": &gamev1.Game{Seed: game.GetGame().GetSeed()}, "part": &gamev1.Game{Deck: deck[len(dealt):]}, "room": &gamev1.Game{Room: first.GetRoom()}} {
		if len(answered(t, what, m, nil).leaks(seed, deck, rooms)) == 0 {
			t.Errorf("a %s that is told is not noticed", what)
		}
	}

	if _, err := s.PlayMove(bob, &gamev1.PlayMoveRequest{GameId: running.GetGameId(), Move: running.GetLegalMoves()[0].GetMove()}); reason(err) != "DAILY_CLOSED" {
		t.Errorf("a move that is late: %v", err)
	}
	entries := func() *scoringv1.ListLeaderboardEntriesResponse {
		t.Helper()
		return must[*scoringv1.ListLeaderboardEntriesResponse](t)(s.ListLeaderboardEntries(eve, &scoringv1.ListLeaderboardEntriesRequest{Leaderboard: board, ConsistencyToken: token}))
	}
	before := entries()
	if list := before.GetEntries(); len(list) != 1 || list[0].GetGameId() != id || list[0].GetPlayerId() != "ada" || list[0].GetScore() != g.GetScore() {
		t.Errorf("the day's board has %v", before)
	}

	// The same deck and the same moves are the same score, for nothing.
	practice := must[*gamev1.StartGameResponse](t)(s.StartGame(eve, &gamev1.StartGameRequest{Mode: eventv1.GameMode_GAME_MODE_SEEDED, Seed: seed})).GetGame()
	for _, move := range moves {
		res := must[*gamev1.PlayMoveResponse](t)(s.PlayMove(eve, &gamev1.PlayMoveRequest{GameId: practice.GetGameId(), Move: move}))
		practice, token = res.GetGame(), res.GetConsistencyToken()
	}
	if practice.Score == nil || practice.GetScore() != g.GetScore() || !slices.Equal(practice.GetDeck(), deck) {
		t.Errorf("practice ended as %v, the attempt as %v", practice, g)
	}
	score = must[*scoringv1.GetScoreResponse](t)(s.GetScore(eve, &scoringv1.GetScoreRequest{GameId: practice.GetGameId(), ConsistencyToken: token}))
	if got := score.GetScore(); got.GetUnrankedReason() != scoringv1.UnrankedReason_UNRANKED_REASON_PRACTICE || len(got.GetLeaderboards()) != 0 || got.GetScore() != g.GetScore() {
		t.Errorf("practice counts as %v", got)
	}
	if after := entries(); !proto.Equal(after, before) {
		t.Errorf("practice made the board %v, it was %v", after, before)
	}
}
