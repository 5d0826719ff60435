package game_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	rpcv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rpc/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
)

// theDay is the day of the tests: a leap day, and midnight after it.
var (
	theDay   = time.Date(2028, 2, 29, 0, 0, 0, 0, time.UTC)
	midnight = theDay.AddDate(0, 0, 1)
	final    = midnight.Add(time.Hour)
)

// dailyWorld is a world on the day at 12:00 whose every seed is another one.
func dailyWorld() *world {
	w := newWorld()
	w.seed = engine.Seed{}
	w.clock.Set(theDay.Add(12 * time.Hour))
	return w
}

func startDaily(t *testing.T, c gamev1.GameServiceClient, player string) *gamev1.Game {
	t.Helper()
	return start(t, c, player, &gamev1.StartGameRequest{Mode: daily})
}

func getDaily(t *testing.T, c gamev1.GameServiceClient, date string) *gamev1.DailyChallenge {
	t.Helper()
	return must[*gamev1.GetDailyChallengeResponse](t)(c.GetDailyChallenge(as(t, "eve"), &gamev1.GetDailyChallengeRequest{Date: date})).GetChallenge()
}

// stored returns every event of a stream.
func (w *world) stored(t *testing.T, info eventlog.StreamInfo, err error) (events []eventlog.Stored) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for sequence := uint64(1); sequence <= info.LastSequence; sequence++ {
		events = append(events, must[eventlog.Stored](t)(w.log.Event(t.Context(), info.Name, sequence)))
	}
	return events
}

// control returns every event of the control stream.
func (w *world) control(t *testing.T) []eventlog.Stored {
	t.Helper()
	info, err := w.log.ControlInfo(t.Context())
	return w.stored(t, info, err)
}

// atOnce makes n calls at the same time.
func atOnce(n int, call func(i int)) {
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-begin
			call(i)
		})
	}
	close(begin)
	wg.Wait()
}

// Instances that are asked for a day's challenge at once agree on one, whoever
// asks and however.
func TestOneChallengeForAll(t *testing.T) {
	w := dailyWorld()
	instances := []gamev1.GameServiceClient{w.serve(t), w.serve(t)}
	games := make([]*gamev1.Game, 16)
	atOnce(len(games), func(i int) {
		if i%4 == 3 {
			if _, err := instances[i/4%2].GetDailyChallenge(as(t, "eve"), &gamev1.GetDailyChallengeRequest{}); err != nil {
				t.Error(err)
			}
			return
		}
		res, err := instances[i%2].StartGame(as(t, fmt.Sprintf("player-%d", i)), &gamev1.StartGameRequest{Mode: daily})
		if err != nil {
			t.Error(err)
		}
		games[i] = res.GetGame()
	})
	challenge := getDaily(t, instances[0], "")
	if !proto.Equal(getDaily(t, instances[1], "2028-02-29"), challenge) {
		t.Errorf("the challenge is %v for one and %v for the other", challenge, getDaily(t, instances[1], "2028-02-29"))
	}
	if challenge.GetDate() != "2028-02-29" || challenge.GetRulesetId() != "classic" || !challenge.GetOpensAt().AsTime().Equal(theDay) ||
		!challenge.GetClosesAt().AsTime().Equal(midnight) || !challenge.GetFinalAt().AsTime().Equal(final) || challenge.GetFinal() || len(challenge.GetCommitment()) != 64 {
		t.Errorf("challenge %v", challenge)
	}
	for i, g := range games {
		if i%4 == 3 {
			continue
		}
		if g.GetMode() != daily || g.GetVersion() != 1 || g.GetCommitment() != challenge.GetCommitment() || !slices.EqualFunc(g.GetRoom(), games[0].GetRoom(), func(a, b *gamev1.RoomCard) bool { return proto.Equal(a, b) }) {
			t.Errorf("attempt %d is %v, of %v", i, g, challenge)
		}
	}
	if events := w.control(t); len(events) != 1 || events[0].Version != 1 || events[0].Type != record.TypeDailyChallenge {
		t.Errorf("the control stream has %+v", events)
	}
	// Another day and other rules are another deck.
	w.clock.Set(midnight)
	if next := getDaily(t, instances[0], ""); next.GetDate() != "2028-03-01" || next.GetCommitment() == challenge.GetCommitment() || !proto.Equal(getDaily(t, instances[1], "2028-03-01"), next) {
		t.Errorf("the next day's challenge is %v", next)
	}
	if again := getDaily(t, instances[1], "2028-02-29"); !proto.Equal(again, challenge) {
		t.Errorf("the day's challenge became %v", again)
	}
}

// However often, with whatever request ids and wherever a player starts the
// challenge, he has one attempt, which goes on.
func TestOneAttempt(t *testing.T) {
	w := dailyWorld()
	instances := []gamev1.GameServiceClient{w.serve(t), w.serve(t)}
	games := make([]*gamev1.Game, 12)
	atOnce(len(games), func(i int) {
		req := &gamev1.StartGameRequest{Mode: daily}
		if i%3 > 0 {
			req.RequestId = fmt.Sprintf("tap-%d", i%3)
		}
		res, err := instances[i%2].StartGame(as(t, "ada"), req)
		if err != nil {
			t.Error(err)
		}
		games[i] = res.GetGame()
	})
	for i, g := range games {
		if !proto.Equal(g, games[0]) {
			t.Errorf("tap %d started %v, the first one %v", i, g, games[0])
		}
	}
	if n := recordCount(t, w); n != 1 {
		t.Fatalf("%d records", n)
	}
	played := playOut(t, instances[0], games[0])
	for _, g := range []*gamev1.Game{startDaily(t, instances[1], "ada"), startDaily(t, instances[0], "ada")} {
		if !proto.Equal(g, played[len(played)-1]) {
			t.Errorf("started again: %v, want %v", g, played[len(played)-1])
		}
	}
	if n := recordCount(t, w); n != uint64(len(played)) {
		t.Errorf("%d records of %d versions", n, len(played))
	}
	if other := startDaily(t, instances[0], "bob"); other.GetGameId() == games[0].GetGameId() || other.GetPlayerId() != "bob" || other.GetVersion() != 1 {
		t.Errorf("another player's attempt is %v", other)
	}
}

// A request id names a start for as long as the attempt can be played, also on
// the other side of midnight; a start without it is the next day's.
func TestDailyAcrossMidnight(t *testing.T) {
	w := dailyWorld()
	c := w.serve(t)
	w.clock.Set(midnight.Add(-1))
	req := &gamev1.StartGameRequest{Mode: daily, RequestId: "r"}
	first := must[*gamev1.StartGameResponse](t)(c.StartGame(as(t, "ada"), req))
	g := first.GetGame()
	if !g.GetStartedAt().AsTime().Equal(midnight.Add(-1)) {
		t.Errorf("started %v", g)
	}
	w.clock.Set(midnight)
	if again := must[*gamev1.StartGameResponse](t)(c.StartGame(as(t, "ada"), req)); !proto.Equal(again, first) {
		t.Errorf("the start was answered with %v, then with %v", first, again)
	}
	next := startDaily(t, c, "ada")
	if next.GetGameId() == g.GetGameId() || next.GetCommitment() == g.GetCommitment() || next.GetVersion() != 1 {
		t.Errorf("the next day's attempt is %v", next)
	}
	w.clock.Set(final.Add(-1))
	moved := must[*gamev1.PlayMoveResponse](t)(c.PlayMove(as(t, "ada"), &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: g.GetLegalMoves()[0].GetMove(), RequestId: "m"}))
	if again := must[*gamev1.StartGameResponse](t)(c.StartGame(as(t, "ada"), req)); !proto.Equal(again, first) {
		t.Errorf("the start was answered with %v, then with %v", first, again)
	}

	// Too late: the attempt ends, once, and every later move is told why.
	w.clock.Set(final)
	late := &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: moved.GetGame().GetLegalMoves()[0].GetMove(), RequestId: "late", ExpectedVersion: 2}
	for range 3 {
		_, err := c.PlayMove(as(t, "ada"), late)
		if md := wantReason(t, err, codes.FailedPrecondition, rpcv1.ErrorReason_ERROR_REASON_DAILY_CLOSED); md["game_id"] != g.GetGameId() {
			t.Errorf("metadata %v", md)
		}
	}
	ended := must[*gamev1.GetGameResponse](t)(c.GetGame(as(t, "bob"), &gamev1.GetGameRequest{GameId: g.GetGameId()})).GetGame()
	if ended.GetStatus() != gamev1.GameStatus_GAME_STATUS_ABANDONED || ended.GetVersion() != 3 || ended.Score != nil || ended.GetHealth() != moved.GetGame().GetHealth() || ended.GetMoves() != 1 {
		t.Errorf("the attempt ended as %v", ended)
	}
	// What was answered in time still is.
	if again, err := c.PlayMove(as(t, "ada"), &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: g.GetLegalMoves()[0].GetMove(), RequestId: "m"}); err != nil || !proto.Equal(again, moved) {
		t.Errorf("the move was answered with %v, then with %v, %v", moved, again, err)
	}
	// The next day's attempt is not touched.
	if _, err := c.PlayMove(as(t, "ada"), &gamev1.PlayMoveRequest{GameId: next.GetGameId(), Move: next.GetLegalMoves()[0].GetMove()}); err != nil {
		t.Error(err)
	}
}

// Two instances that are sent a late move at once end the attempt once.
func TestLateMovesEndAnAttemptOnce(t *testing.T) {
	w := dailyWorld()
	instances := []gamev1.GameServiceClient{w.serve(t), w.serve(t)}
	g := startDaily(t, instances[0], "ada")
	w.clock.Set(final)
	atOnce(8, func(i int) {
		_, err := instances[i%2].PlayMove(as(t, "ada"), &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: g.GetLegalMoves()[0].GetMove()})
		if err == nil || !strings.Contains(err.Error(), "final") {
			t.Errorf("call %d: %v", i, err)
		}
	})
	if n := recordCount(t, w); n != 2 {
		t.Errorf("%d records, want the start and the end", n)
	}
	// To resign is no move: it says that the player has given up, at any time.
	w.clock.Set(theDay.Add(time.Hour))
	b := startDaily(t, instances[0], "bob")
	w.clock.Set(final)
	if res, err := instances[0].ResignGame(as(t, "bob"), &gamev1.ResignGameRequest{GameId: b.GetGameId()}); err != nil || res.GetGame().GetStatus() != gamev1.GameStatus_GAME_STATUS_ABANDONED {
		t.Errorf("resigned late: %v, %v", res, err)
	}
}

func TestDailyErrors(t *testing.T) {
	w := dailyWorld()
	c := w.serve(t)
	get := func(date, ruleset string) func() error {
		return func() error {
			_, err := c.GetDailyChallenge(as(t, "ada"), &gamev1.GetDailyChallengeRequest{Date: date, RulesetId: ruleset})
			return err
		}
	}
	startWith := func(req *gamev1.StartGameRequest) func() error {
		return func() error { _, err := c.StartGame(as(t, "ada"), req); return err }
	}
	for name, test := range map[string]struct {
		call   func() error
		code   codes.Code
		reason rpcv1.ErrorReason
	}{
		"a day to come":                  {get("2028-03-01", ""), codes.NotFound, rpcv1.ErrorReason_ERROR_REASON_DAILY_NOT_FOUND},
		"a day when nobody asked":        {get("2028-02-28", ""), codes.NotFound, rpcv1.ErrorReason_ERROR_REASON_DAILY_NOT_FOUND},
		"the last day of all":            {get("9999-12-31", ""), codes.NotFound, rpcv1.ErrorReason_ERROR_REASON_DAILY_NOT_FOUND},
		"a ruleset that is not ranked":   {get("", "strict"), codes.NotFound, rpcv1.ErrorReason_ERROR_REASON_DAILY_NOT_FOUND},
		"a ruleset that is none":         {get("", "chess"), codes.NotFound, rpcv1.ErrorReason_ERROR_REASON_DAILY_NOT_FOUND},
		"no date":                        {get("2027-02-29", ""), codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD},
		"a date in words":                {get("today", ""), codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD},
		"a date too long":                {get("2028-02-29T", ""), codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD},
		"an attempt by unranked rules":   {startWith(&gamev1.StartGameRequest{Mode: daily, Rules: &gamev1.StartGameRequest_Preset{Preset: "strict"}}), codes.NotFound, rpcv1.ErrorReason_ERROR_REASON_DAILY_NOT_FOUND},
		"an attempt with a chosen seed":  {startWith(&gamev1.StartGameRequest{Mode: daily, Seed: make([]byte, 32)}), codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD},
		"an attempt by a strange preset": {startWith(&gamev1.StartGameRequest{Mode: daily, Rules: &gamev1.StartGameRequest_Preset{Preset: "chess"}}), codes.NotFound, rpcv1.ErrorReason_ERROR_REASON_PRESET_UNKNOWN},
	} {
		t.Run(name, func(t *testing.T) {
			md := wantReason(t, test.call(), test.code, test.reason)
			if test.reason == rpcv1.ErrorReason_ERROR_REASON_DAILY_NOT_FOUND && (md["date"] == "" || md["ruleset_id"] == "") {
				t.Errorf("metadata %v", md)
			}
		})
	}
	if _, err := w.log.ControlInfo(t.Context()); !errors.Is(err, eventlog.ErrNotFound) || recordCount(t, w) != 0 {
		t.Errorf("refused requests left something in the log: %v", err)
	}
}

// TestNothingOfARunningDailyIsTold plays attempts to their end and looks into
// every answer and every stored record for a seed, and for cards that the
// attempt was not dealt; then it lets the challenge become final.
func TestNothingOfARunningDailyIsTold(t *testing.T) {
	w := dailyWorld()
	w.seed = engine.Seed{77, 7, 7, 7, 7, 7, 7, 7} // not to be found by accident
	instances := []gamev1.GameServiceClient{w.serve(t), w.serve(t)}
	c := instances[0]
	fresh := must[engine.State](t)(engine.NewGame(engine.Presets()[0].Rules, w.seed))
	deck := fresh.Dungeon()
	conceal := func(what string, m proto.Message, dealt map[string]bool) {
		t.Helper()
		if data := must[[]byte](t)(proto.Marshal(m)); bytes.Contains(data, w.seed[:]) || bytes.Contains(data, []byte(hex.EncodeToString(w.seed[:]))) {
			t.Errorf("%s tells the seed", what)
		}
		text := must[[]byte](t)(protojson.Marshal(m))
		for _, card := range deck {
			if !dealt[card.String()] && bytes.Contains(text, []byte(`"`+card.String()+`"`)) {
				t.Errorf("%s tells of %v, which was not dealt: %s", what, card, text)
			}
		}
	}

	ended := map[string]*gamev1.Game{}
	dealt := map[string]map[string]bool{} // by game
	for i, player := range []string{"ada", "bob"} {
		g := startDaily(t, c, player)
		cards := map[string]bool{}
		for _, seen := range g.GetRoom() {
			cards[seen.GetCard()] = true
		}
		if i == 0 {
			res := must[*gamev1.ResignGameResponse](t)(c.ResignGame(as(t, player), &gamev1.ResignGameRequest{GameId: g.GetGameId()}))
			conceal("ResignGame", res, cards)
			g = res.GetGame()
		}
		for g.GetStatus() == gamev1.GameStatus_GAME_STATUS_ACTIVE {
			moves := g.GetLegalMoves()
			res := must[*gamev1.PlayMoveResponse](t)(c.PlayMove(as(t, player), &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: moves[len(moves)-1].GetMove()}))
			for _, f := range res.GetFacts() {
				for _, card := range f.GetRoomDealt().GetCards() {
					cards[card] = true
				}
			}
			conceal("PlayMove", res, cards)
			g = res.GetGame()
		}
		if len(cards) == len(deck) {
			t.Fatalf("%s was dealt the whole deck: this test sees nothing", player)
		}
		ended[player], dealt[g.GetGameId()] = g, cards
		conceal("StartGame", must[*gamev1.StartGameResponse](t)(c.StartGame(as(t, player), &gamev1.StartGameRequest{Mode: daily})), cards)
		conceal("GetGame", must[*gamev1.GetGameResponse](t)(c.GetGame(as(t, player), &gamev1.GetGameRequest{GameId: g.GetGameId()})), cards)
		conceal("GetGameHistory", must[*gamev1.GetGameHistoryResponse](t)(c.GetGameHistory(as(t, player), &gamev1.GetGameHistoryRequest{GameId: g.GetGameId()})), cards)
	}
	w.clock.Set(final.Add(-1))
	conceal("GetDailyChallenge", getDaily(t, c, "2028-02-29"), nil)

	stored := 0
	look := func() {
		t.Helper()
		for _, info := range must[[]eventlog.StreamInfo](t)(w.log.Streams(t.Context())) {
			for _, e := range w.stored(t, info, nil) {
				m := &eventv1.Record{}
				if err := proto.Unmarshal(e.Data, m); err != nil {
					t.Fatal(err)
				}
				conceal(fmt.Sprintf("record %d of %s", e.Version, e.Game), m, dealt[e.Game.String()])
				stored++
			}
		}
	}
	look()
	control := w.control(t)
	for _, e := range control {
		m := &eventv1.ControlRecord{}
		if err := proto.Unmarshal(e.Data, m); err != nil {
			t.Fatal(err)
		}
		conceal("the challenge's record", m, nil)
	}
	if want := int(ended["ada"].GetVersion() + ended["bob"].GetVersion()); stored != want || len(control) != 1 {
		t.Errorf("looked at %d records of games, want %d, and %d of the control stream", stored, want, len(control))
	}
	if logged := w.logged.String(); strings.Contains(logged, hex.EncodeToString(w.seed[:])) {
		t.Error("the seed was logged")
	}

	// Then everybody is told everything, and the log tells it once.
	w.clock.Set(final)
	atOnce(8, func(i int) {
		var err error
		if i%4 < 2 {
			_, err = instances[i%2].GetGame(as(t, "eve"), &gamev1.GetGameRequest{GameId: ended["ada"].GetGameId()})
		} else {
			_, err = instances[i%2].GetDailyChallenge(as(t, "eve"), &gamev1.GetDailyChallengeRequest{Date: "2028-02-29"})
		}
		if err != nil {
			t.Error(err)
		}
	})
	challenge := getDaily(t, c, "2028-02-29")
	if !challenge.GetFinal() || challenge.GetSeed() != hex.EncodeToString(w.seed[:]) || len(challenge.GetDeck()) != len(deck) || w.seed.Commitment() != challenge.GetCommitment() {
		t.Errorf("the final challenge is %v", challenge)
	}
	if control = w.control(t); len(control) != 2 || control[1].Version != 2 || control[1].Type != record.TypeDailyReveal {
		t.Fatalf("the control stream has %+v", control)
	}
	secrets := must[*eventv1.ControlRecord](t)(record.ReadControl(control[1])).GetDailyReveal().GetSecrets()
	if !bytes.Equal(secrets.GetSeed(), w.seed[:]) || !slices.Equal(secrets.GetDeck(), challenge.GetDeck()) {
		t.Errorf("revealed %v", secrets)
	}
	for player, g := range ended {
		for _, reader := range []string{player, "eve"} {
			now := must[*gamev1.GetGameResponse](t)(c.GetGame(as(t, reader), &gamev1.GetGameRequest{GameId: g.GetGameId()})).GetGame()
			history := must[*gamev1.GetGameHistoryResponse](t)(c.GetGameHistory(as(t, reader), &gamev1.GetGameHistoryRequest{GameId: g.GetGameId()}))
			if now.GetSeed() != challenge.GetSeed() || !slices.Equal(now.GetDeck(), challenge.GetDeck()) || history.GetSeed() != challenge.GetSeed() || !slices.Equal(history.GetDeck(), challenge.GetDeck()) {
				t.Errorf("%s is told %v, %v", reader, now, history)
			}
		}
	}
	look() // the games' own records keep their secrets
}

// Where chance put cards back into the dungeon would tell others of the deck, as
// it is the same chance in every attempt.
func TestPositionsAreToldOnceFinal(t *testing.T) {
	const rules = "classic+home_rules"
	w := dailyWorld()
	w.ranked = []string{rules}
	c := w.serve(t)
	ruleset := record.RulesetToProto(must[engine.Ruleset](t)(engine.ParseRulesetID(rules)))
	for day := theDay; ; day = day.AddDate(0, 0, 1) {
		if day.Sub(theDay) > 100*24*time.Hour {
			t.Fatal("in a hundred days, no card of the first room goes back at random")
		}
		w.clock.Set(day)
		g := start(t, c, "ada", &gamev1.StartGameRequest{Mode: daily, Rules: &gamev1.StartGameRequest_Ruleset{Ruleset: ruleset}})
		avoided := must[*gamev1.PlayMoveResponse](t)(c.PlayMove(as(t, "ada"), &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: move(t, "AVOID")}))
		must[*gamev1.ResignGameResponse](t)(c.ResignGame(as(t, "ada"), &gamev1.ResignGameRequest{GameId: g.GetGameId()}))
		// told counts the cards that went back, and those of which the history tells where.
		told := func() (returned, positions int) {
			for _, e := range must[*gamev1.GetGameHistoryResponse](t)(c.GetGameHistory(as(t, "ada"), &gamev1.GetGameHistoryRequest{GameId: g.GetGameId()})).GetEntries() {
				for _, f := range e.GetFacts() {
					if f.GetCardReturned() != nil {
						returned++
					}
					if f.GetCardReturned().GetPosition() != nil {
						positions++
					}
				}
			}
			return returned, positions
		}
		returned, positions := told()
		if returned == 0 {
			continue
		}
		for _, f := range avoided.GetFacts() {
			if f.GetCardReturned().GetPosition() != nil {
				positions++
			}
		}
		w.clock.Set(day.AddDate(0, 0, 1).Add(time.Hour))
		if _, final := told(); positions != 0 || final != returned {
			t.Errorf("of %d positions, %d are told before the challenge is final and %d then", returned, positions, final)
		}
		return
	}
}

// Whoever reads an attempt first once its challenge is final reveals the challenge
// and ends the attempt, if nobody has: once, however many read at once, and by
// whichever call.
func TestReadingAnAttemptRevealsAndEndsIt(t *testing.T) {
	w := dailyWorld()
	instances := []gamev1.GameServiceClient{w.serve(t), w.serve(t)}
	read := map[string]func(c gamev1.GameServiceClient, id string) error{
		"GetGame": func(c gamev1.GameServiceClient, id string) error {
			res, err := c.GetGame(as(t, "bob"), &gamev1.GetGameRequest{GameId: id})
			if g := res.GetGame(); err == nil && (g.GetStatus() != gamev1.GameStatus_GAME_STATUS_ABANDONED || g.GetVersion() != 3 || g.GetMoves() != 1 ||
				g.Score != nil || len(g.GetLegalMoves()) != 0 || g.GetSeed() == "" || len(g.GetDeck()) != 44 || !g.GetEndedAt().AsTime().Equal(final) || res.GetConsistencyToken() == "") {
				t.Errorf("the attempt is %v", g)
			}
			return err
		},
		"GetGame at a version": func(c gamev1.GameServiceClient, id string) error {
			res, err := c.GetGame(as(t, "ada"), &gamev1.GetGameRequest{GameId: id, AtVersion: 3})
			if g := res.GetGame(); err == nil && g.GetStatus() != gamev1.GameStatus_GAME_STATUS_ABANDONED {
				t.Errorf("the attempt is %v", g)
			}
			return err
		},
		"GetGameHistory": func(c gamev1.GameServiceClient, id string) error {
			res, err := c.GetGameHistory(as(t, "bob"), &gamev1.GetGameHistoryRequest{GameId: id})
			if entries := res.GetEntries(); err == nil && (len(entries) != 3 || entries[2].GetMove() != nil || res.GetSeed() == "" || res.Score != nil) {
				t.Errorf("the history is %v", res)
			}
			return err
		},
	}
	records := uint64(0)
	for name, call := range read {
		t.Run(name, func(t *testing.T) {
			w.clock.Set(theDay)
			g := start(t, instances[0], "ada-"+strings.ReplaceAll(name, " ", "-"), &gamev1.StartGameRequest{Mode: daily})
			must[*gamev1.PlayMoveResponse](t)(instances[0].PlayMove(as(t, g.GetPlayerId()), &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: g.GetLegalMoves()[0].GetMove()}))
			w.clock.Set(final.Add(-1))
			if got := must[*gamev1.GetGameResponse](t)(instances[1].GetGame(as(t, g.GetPlayerId()), &gamev1.GetGameRequest{GameId: g.GetGameId()})).GetGame(); got.GetStatus() != gamev1.GameStatus_GAME_STATUS_ACTIVE {
				t.Errorf("before the challenge is final, the attempt is %v", got)
			}
			w.clock.Set(final)
			atOnce(8, func(i int) {
				if err := call(instances[i%2], g.GetGameId()); err != nil {
					t.Error(err)
				}
			})
			records += 3
			if n, control := recordCount(t, w), len(w.control(t)); n != records || control != 2 {
				t.Errorf("%d records of games, want %d, and %d of the control stream", n, records, control)
			}
			// The move that comes now is told that it is late, not that the game is over.
			_, err := instances[0].PlayMove(as(t, g.GetPlayerId()), &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: g.GetLegalMoves()[0].GetMove()})
			wantReason(t, err, codes.FailedPrecondition, rpcv1.ErrorReason_ERROR_REASON_DAILY_CLOSED)
		})
	}
}

// TestNoCallTellsOthersOfAnAttempt calls every method of the service as another
// player while the challenge runs. A method that is new has to be added.
func TestNoCallTellsOthersOfAnAttempt(t *testing.T) {
	w := dailyWorld()
	c := w.serve(t)
	g := playOut(t, c, startDaily(t, c, "ada"))
	last := g[len(g)-1]
	id := last.GetGameId()
	calls := map[string]func(ctx context.Context) (proto.Message, error){
		"StartGame": func(ctx context.Context) (proto.Message, error) {
			return c.StartGame(ctx, &gamev1.StartGameRequest{Mode: daily})
		},
		"GetGame": func(ctx context.Context) (proto.Message, error) {
			return c.GetGame(ctx, &gamev1.GetGameRequest{GameId: id})
		},
		"PlayMove": func(ctx context.Context) (proto.Message, error) {
			return c.PlayMove(ctx, &gamev1.PlayMoveRequest{GameId: id, Move: g[0].GetLegalMoves()[0].GetMove()})
		},
		"ResignGame": func(ctx context.Context) (proto.Message, error) {
			return c.ResignGame(ctx, &gamev1.ResignGameRequest{GameId: id})
		},
		"GetGameHistory": func(ctx context.Context) (proto.Message, error) {
			return c.GetGameHistory(ctx, &gamev1.GetGameHistoryRequest{GameId: id})
		},
		"ListRulesets": func(ctx context.Context) (proto.Message, error) {
			return c.ListRulesets(ctx, &gamev1.ListRulesetsRequest{})
		},
		"GetDailyChallenge": func(ctx context.Context) (proto.Message, error) {
			return c.GetDailyChallenge(ctx, &gamev1.GetDailyChallengeRequest{})
		},
	}
	named := map[string]bool{"GetGame": true, "PlayMove": true, "ResignGame": true, "GetGameHistory": true}
	for _, at := range []time.Time{w.clock.Now(), final.Add(-1)} {
		w.clock.Set(at)
		for _, method := range gamev1.GameService_ServiceDesc.Methods {
			call := calls[method.MethodName]
			if call == nil {
				t.Errorf("%s is not called by this test", method.MethodName)
				continue
			}
			res, err := call(as(t, "bob"))
			if named[method.MethodName] {
				wantReason(t, err, codes.PermissionDenied, rpcv1.ErrorReason_ERROR_REASON_NOT_YOUR_GAME)
			} else if text := protojson.Format(res); err != nil || strings.Contains(text, id) || strings.Contains(text, "ada") {
				t.Errorf("%s tells %s, %v", method.MethodName, text, err)
			}
		}
	}
	if n := len(gamev1.GameService_ServiceDesc.Streams); n != 0 {
		t.Errorf("%d streaming methods are not called by this test", n)
	}
}

// The deck of a final day can be practised on, in a SEEDED game.
func TestPracticeOnAFinalDay(t *testing.T) {
	w := dailyWorld()
	c := w.serve(t)
	attempt := startDaily(t, c, "ada")
	w.clock.Set(final)
	seed := must[[]byte](t)(hex.DecodeString(getDaily(t, c, "2028-02-29").GetSeed()))
	practice := start(t, c, "bob", &gamev1.StartGameRequest{Mode: seeded, Seed: seed})
	if practice.GetMode() != seeded || practice.GetCommitment() != attempt.GetCommitment() || !slices.EqualFunc(practice.GetRoom(), attempt.GetRoom(), func(a, b *gamev1.RoomCard) bool { return proto.Equal(a, b) }) {
		t.Errorf("practice is %v, the attempt was %v", practice, attempt)
	}
}

// The challenge stays what it is when its making or its reveal has an unknown
// outcome, and nobody is given a deck that is not stored.
func TestDailyInALogThatIsAway(t *testing.T) {
	w := dailyWorld()
	log := &faulty{Log: w.log}
	w.log = log
	c := w.serve(t)
	unknown := func(f *faulty) {
		f.append = func(store func() (eventlog.Position, error)) (eventlog.Position, error) {
			if _, err := store(); err != nil {
				return eventlog.Position{}, err
			}
			return eventlog.Position{}, fmt.Errorf("no answer: %w", eventlog.ErrUnknownOutcome)
		}
	}
	away := func(f *faulty) {
		f.append = func(func() (eventlog.Position, error)) (eventlog.Position, error) {
			return eventlog.Position{}, fmt.Errorf("no server: %w", eventlog.ErrUnavailable)
		}
	}
	log.set(away)
	_, err := c.StartGame(as(t, "ada"), &gamev1.StartGameRequest{Mode: daily})
	wantReason(t, err, codes.Unavailable, rpcv1.ErrorReason_ERROR_REASON_NOT_STORED)
	wantRetryInfo(t, err)
	log.set(unknown)
	_, err = c.StartGame(as(t, "ada"), &gamev1.StartGameRequest{Mode: daily})
	wantReason(t, err, codes.Unavailable, rpcv1.ErrorReason_ERROR_REASON_OUTCOME_UNKNOWN)
	log.set(func(*faulty) {})
	g := startDaily(t, c, "ada")
	if events := w.control(t); len(events) != 1 || g.GetCommitment() != getDaily(t, c, "").GetCommitment() {
		t.Errorf("%d control records, attempt %v", len(events), g)
	}
	must[*gamev1.ResignGameResponse](t)(c.ResignGame(as(t, "ada"), &gamev1.ResignGameRequest{GameId: g.GetGameId()}))

	w.clock.Set(final)
	log.set(away)
	_, err = c.GetDailyChallenge(as(t, "bob"), &gamev1.GetDailyChallengeRequest{Date: "2028-02-29"})
	wantReason(t, err, codes.Unavailable, rpcv1.ErrorReason_ERROR_REASON_NOT_STORED)
	// A game can be read without it, and the next request tries again.
	if got := must[*gamev1.GetGameResponse](t)(c.GetGame(as(t, "bob"), &gamev1.GetGameRequest{GameId: g.GetGameId()})).GetGame(); got.GetSeed() == "" || !strings.Contains(w.logged.String(), "not revealed yet") {
		t.Errorf("the game is %v", got)
	}
	log.set(func(*faulty) {})
	if challenge := getDaily(t, c, "2028-02-29"); challenge.GetSeed() == "" || len(w.control(t)) != 2 {
		t.Errorf("the challenge is %v", challenge)
	}

	// So can one that nobody has ended; it stays as it is stored until the log takes
	// its end, also where the first try took effect unseen.
	w.clock.Set(midnight)
	ids := []string{startDaily(t, c, "ada").GetGameId(), startDaily(t, c, "bob").GetGameId()}
	w.clock.Set(final.AddDate(0, 0, 1))
	for i, fault := range []func(*faulty){away, unknown} {
		log.set(fault)
		req := &gamev1.GetGameRequest{GameId: ids[i]}
		if got := must[*gamev1.GetGameResponse](t)(c.GetGame(as(t, "eve"), req)).GetGame(); got.GetStatus() != gamev1.GameStatus_GAME_STATUS_ACTIVE || got.GetVersion() != 1 || got.GetSeed() != "" ||
			!strings.Contains(w.logged.String(), "not ended yet") {
			t.Errorf("in a log that is away, the game is %v", got)
		}
		if got := must[*gamev1.GetGameHistoryResponse](t)(c.GetGameHistory(as(t, "eve"), &gamev1.GetGameHistoryRequest{GameId: ids[i]})); i == 0 && (len(got.GetEntries()) != 1 || got.GetSeed() != "") {
			t.Errorf("in a log that is away, the history is %v", got)
		}
		log.set(func(*faulty) {})
		if got := must[*gamev1.GetGameResponse](t)(c.GetGame(as(t, "eve"), req)).GetGame(); got.GetStatus() != gamev1.GameStatus_GAME_STATUS_ABANDONED || got.GetVersion() != 2 || got.GetSeed() == "" {
			t.Errorf("afterwards, the game is %v", got)
		}
	}
}
