package game_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	rpcv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rpc/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
	"github.com/scoundrel-game/scoundrel/services/game"
)

const (
	random = eventv1.GameMode_GAME_MODE_RANDOM
	seeded = eventv1.GameMode_GAME_MODE_SEEDED
	daily  = eventv1.GameMode_GAME_MODE_DAILY
)

func TestAGameFromStartToEnd(t *testing.T) {
	w := newWorld()
	c := w.serve(t)
	first := start(t, c, "ada", &gamev1.StartGameRequest{})
	if first.GetVersion() != 1 || first.GetMode() != random || first.GetRulesetId() != "classic" || first.GetDungeonSize() != 40 ||
		len(first.GetRoom()) != 4 || first.GetToTake() != 3 || first.GetCommitment() != w.seed.Commitment() || !first.GetCanAvoid() {
		t.Errorf("started %v", first)
	}
	games := playOut(t, c, first)
	last := games[len(games)-1]
	if last.Score == nil || last.GetEndedAt() == nil || len(last.GetLegalMoves()) > 0 {
		t.Errorf("ended %v", last)
	}
	if last.GetSeed() != hex.EncodeToString(w.seed[:]) || len(last.GetDeck()) != 44 {
		t.Errorf("revealed %q, %v", last.GetSeed(), last.GetDeck())
	}
	for i, g := range games {
		if i < len(games)-1 && (g.GetSeed() != "" || g.GetDeck() != nil || g.Score != nil || g.GetEndedAt() != nil) {
			t.Errorf("version %d tells too much: %v", g.GetVersion(), g)
		}
		// Any version can be looked at again, and is what it was.
		again := must[*gamev1.GetGameResponse](t)(c.GetGame(as(t, "ada"), &gamev1.GetGameRequest{GameId: g.GetGameId(), AtVersion: g.GetVersion()}))
		if !proto.Equal(again.GetGame(), g) {
			t.Errorf("version %d was %v, reads %v", g.GetVersion(), g, again.GetGame())
		}
	}

	var entries []*gamev1.HistoryEntry
	for token := ""; ; {
		page := must[*gamev1.GetGameHistoryResponse](t)(c.GetGameHistory(as(t, "bob"), &gamev1.GetGameHistoryRequest{GameId: last.GetGameId(), PageSize: 2, PageToken: token}))
		entries = append(entries, page.GetEntries()...)
		if page.GetSeed() != last.GetSeed() || len(page.GetDeck()) != 44 {
			t.Errorf("a page reveals %q, %v", page.GetSeed(), page.GetDeck())
		}
		if token = page.GetNextPageToken(); token == "" {
			break
		}
	}
	if len(entries) != len(games) {
		t.Fatalf("%d entries for %d versions", len(entries), len(games))
	}
	for i, e := range entries {
		if e.GetVersion() != uint64(i+1) || (e.GetMove() == nil) != (i == 0) || e.GetFacts()[0].GetGameStarted().GetSecrets() != nil {
			t.Errorf("entry %d: %v", i, e)
		}
	}
}

func TestPreviewsComeTrue(t *testing.T) {
	w := newWorld()
	c := w.serve(t)
	for seed := range byte(20) {
		s := engine.Seed{seed, 9}
		g := start(t, c, "ada", &gamev1.StartGameRequest{Mode: seeded, Seed: s[:]})
		for n := 0; g.GetStatus() == gamev1.GameStatus_GAME_STATUS_ACTIVE; n++ {
			m := g.GetLegalMoves()[(n+int(seed))%len(g.GetLegalMoves())]
			res := must[*gamev1.PlayMoveResponse](t)(c.PlayMove(as(t, "ada"), &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: m.GetMove()}))
			lost := res.GetGame().GetStatus() == gamev1.GameStatus_GAME_STATUS_LOST
			if res.GetGame().GetHealth() != m.GetHealthAfter() || lost != m.GetLethal() || (res.GetFacts()[0].GetPotionWasted() != nil) != m.GetWastesPotion() {
				t.Fatalf("previewed %v, got %v, %v", m, res.GetGame(), res.GetFacts())
			}
			for _, card := range m.GetDiscards() {
				if !strings.Contains(strings.Join(res.GetGame().GetDiscardPile(), " ")+" ", card+" ") {
					t.Errorf("%v: %s is not in %v", m, card, res.GetGame().GetDiscardPile())
				}
			}
			g = res.GetGame()
		}
	}
}

func TestRequestIDsHaveOneEffectAtAnyLaterTime(t *testing.T) {
	w := newWorld()
	c, other := w.serve(t), w.serve(t)
	startReq := &gamev1.StartGameRequest{RequestId: "start"}
	started := must[*gamev1.StartGameResponse](t)(c.StartGame(as(t, "ada"), startReq))
	w.seed = engine.Seed{2} // a repeat must not shuffle anew

	type answer struct {
		req *gamev1.PlayMoveRequest
		res *gamev1.PlayMoveResponse
	}
	var answers []answer
	g := started.GetGame()
	for g.GetStatus() == gamev1.GameStatus_GAME_STATUS_ACTIVE {
		moves := g.GetLegalMoves()
		req := &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: moves[len(moves)-1].GetMove(), RequestId: fmt.Sprintf("r%d", g.GetVersion()), ExpectedVersion: g.GetVersion()}
		answers = append(answers, answer{req, must[*gamev1.PlayMoveResponse](t)(c.PlayMove(as(t, "ada"), req))})
		g = answers[len(answers)-1].res.GetGame()
		for _, a := range answers {
			for _, instance := range []gamev1.GameServiceClient{c, other} {
				if again := must[*gamev1.PlayMoveResponse](t)(instance.PlayMove(as(t, "ada"), a.req)); !proto.Equal(again, a.res) {
					t.Fatalf("%v answered %v, then %v", a.req, a.res, again)
				}
			}
		}
	}
	again := must[*gamev1.StartGameResponse](t)(other.StartGame(as(t, "ada"), startReq))
	if !proto.Equal(again, started) {
		t.Errorf("started %v, then %v", started, again)
	}
	if now := must[*gamev1.GetGameResponse](t)(c.GetGame(as(t, "ada"), &gamev1.GetGameRequest{GameId: g.GetGameId()})); !proto.Equal(now.GetGame(), g) {
		t.Errorf("the repeats changed %v into %v", g, now.GetGame())
	}

	_, err := c.StartGame(as(t, "ada"), &gamev1.StartGameRequest{RequestId: "start", Rules: &gamev1.StartGameRequest_Preset{Preset: "strict"}})
	wantReason(t, err, codes.AlreadyExists, rpcv1.ErrorReason_ERROR_REASON_REQUEST_ID_REUSED)
	_, err = c.ResignGame(as(t, "ada"), &gamev1.ResignGameRequest{GameId: g.GetGameId(), RequestId: "r1"})
	if md := wantReason(t, err, codes.AlreadyExists, rpcv1.ErrorReason_ERROR_REASON_REQUEST_ID_REUSED); md["version"] != "2" {
		t.Errorf("metadata %v", md)
	}
	if bobs := start(t, c, "bob", startReq); bobs.GetGameId() == g.GetGameId() || bobs.GetPlayerId() != "bob" {
		t.Errorf("another player's request id found %v", bobs)
	}
}

func TestARepeatedStartFindsItsGameAcrossTheEdgeOfAnEpoch(t *testing.T) {
	w := newWorld()
	c := w.serve(t)
	w.clock.Set(time.Date(2026, 12, 31, 23, 59, 59, 999999999, time.UTC))
	before := start(t, c, "ada", &gamev1.StartGameRequest{RequestId: "r"})
	w.clock.Set(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
	after := start(t, c, "ada", &gamev1.StartGameRequest{RequestId: "r"})
	if !strings.HasPrefix(before.GetGameId(), "26q4-") || !proto.Equal(before, after) {
		t.Errorf("started %v, then %v", before, after)
	}
	if next := start(t, c, "ada", &gamev1.StartGameRequest{RequestId: "s"}); !strings.HasPrefix(next.GetGameId(), "27q1-") {
		t.Errorf("a new game is %s", next.GetGameId())
	}
}

func TestBadInputChangesNothing(t *testing.T) {
	w := newWorld()
	c := w.serve(t)
	g := start(t, c, "ada", &gamev1.StartGameRequest{})
	private := start(t, c, "ada", &gamev1.StartGameRequest{Mode: seeded, Seed: make([]byte, 32)})
	over := must[*gamev1.ResignGameResponse](t)(c.ResignGame(as(t, "ada"), &gamev1.ResignGameRequest{GameId: start(t, c, "ada", &gamev1.StartGameRequest{}).GetGameId()})).GetGame()
	absent := g.GetRoom()[0].GetCard()
	unknown := g.GetGameId()[:8] + strings.Repeat("0", 26)
	legal := g.GetLegalMoves()[0].GetMove()
	play := func(player string, req *gamev1.PlayMoveRequest) func() error {
		return func() error { _, err := c.PlayMove(as(t, player), req); return err }
	}
	startWith := func(req *gamev1.StartGameRequest) func() error {
		return func() error { _, err := c.StartGame(as(t, "ada"), req); return err }
	}
	get := func(player, id string, version uint64) func() error {
		return func() error {
			_, err := c.GetGame(as(t, player), &gamev1.GetGameRequest{GameId: id, AtVersion: version})
			return err
		}
	}
	history := func(player string, req *gamev1.GetGameHistoryRequest) func() error {
		return func() error { _, err := c.GetGameHistory(as(t, player), req); return err }
	}
	if why := wantReason(t, play("ada", &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: &rulesv1.Move{Kind: rulesv1.MoveKind_MOVE_KIND_FIGHT_WITH_WEAPON, Card: absent}})(),
		codes.FailedPrecondition, rpcv1.ErrorReason_ERROR_REASON_ILLEGAL_MOVE)["why"]; why != "WRONG_ROLE" && why != "NO_WEAPON" {
		t.Errorf("the rule that forbids the move is %q", why)
	}
	for name, test := range map[string]struct {
		call   func() error
		code   codes.Code
		reason rpcv1.ErrorReason
	}{
		"unknown game":               {play("ada", &gamev1.PlayMoveRequest{GameId: unknown, Move: legal}), codes.NotFound, rpcv1.ErrorReason_ERROR_REASON_GAME_NOT_FOUND},
		"malformed game id":          {play("ada", &gamev1.PlayMoveRequest{GameId: "x", Move: legal}), codes.NotFound, rpcv1.ErrorReason_ERROR_REASON_GAME_NOT_FOUND},
		"game of an unknown epoch":   {get("ada", "99q1"+g.GetGameId()[4:], 0), codes.NotFound, rpcv1.ErrorReason_ERROR_REASON_GAME_NOT_FOUND},
		"foreign game":               {play("bob", &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: legal}), codes.PermissionDenied, rpcv1.ErrorReason_ERROR_REASON_NOT_YOUR_GAME},
		"foreign private game":       {get("bob", private.GetGameId(), 0), codes.PermissionDenied, rpcv1.ErrorReason_ERROR_REASON_NOT_YOUR_GAME},
		"foreign private history":    {history("bob", &gamev1.GetGameHistoryRequest{GameId: private.GetGameId()}), codes.PermissionDenied, rpcv1.ErrorReason_ERROR_REASON_NOT_YOUR_GAME},
		"finished game":              {play("ada", &gamev1.PlayMoveRequest{GameId: over.GetGameId(), Move: legal}), codes.FailedPrecondition, rpcv1.ErrorReason_ERROR_REASON_GAME_OVER},
		"illegal move":               {play("ada", &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: &rulesv1.Move{Kind: rulesv1.MoveKind_MOVE_KIND_FIGHT_WITH_WEAPON, Card: absent}}), codes.FailedPrecondition, rpcv1.ErrorReason_ERROR_REASON_ILLEGAL_MOVE},
		"move without its card":      {play("ada", &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: &rulesv1.Move{Kind: rulesv1.MoveKind_MOVE_KIND_EQUIP}}), codes.FailedPrecondition, rpcv1.ErrorReason_ERROR_REASON_ILLEGAL_MOVE},
		"avoid with a card":          {play("ada", &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: &rulesv1.Move{Kind: rulesv1.MoveKind_MOVE_KIND_AVOID, Card: absent}}), codes.FailedPrecondition, rpcv1.ErrorReason_ERROR_REASON_ILLEGAL_MOVE},
		"unknown card":               {play("ada", &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: &rulesv1.Move{Kind: rulesv1.MoveKind_MOVE_KIND_EQUIP, Card: "1X"}}), codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD},
		"no move":                    {play("ada", &gamev1.PlayMoveRequest{GameId: g.GetGameId()}), codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD},
		"no move kind":               {play("ada", &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: &rulesv1.Move{}}), codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD},
		"unknown move kind":          {play("ada", &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: &rulesv1.Move{Kind: 260}}), codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD},
		"wrong version":              {play("ada", &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: legal, ExpectedVersion: 7}), codes.Aborted, rpcv1.ErrorReason_ERROR_REASON_VERSION_MISMATCH},
		"request id with a space":    {play("ada", &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: legal, RequestId: "a b"}), codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD},
		"request id too long":        {play("ada", &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: legal, RequestId: strings.Repeat("x", 65)}), codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD},
		"version that is not there":  {get("ada", g.GetGameId(), 2), codes.NotFound, rpcv1.ErrorReason_ERROR_REASON_VERSION_NOT_FOUND},
		"bad page token":             {history("ada", &gamev1.GetGameHistoryRequest{GameId: g.GetGameId(), PageToken: "?"}), codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_PAGE_TOKEN_INVALID},
		"negative page size":         {history("ada", &gamev1.GetGameHistoryRequest{GameId: g.GetGameId(), PageSize: -1}), codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD},
		"unknown preset":             {startWith(&gamev1.StartGameRequest{Rules: &gamev1.StartGameRequest_Preset{Preset: "chess"}}), codes.NotFound, rpcv1.ErrorReason_ERROR_REASON_PRESET_UNKNOWN},
		"half a ruleset":             {startWith(&gamev1.StartGameRequest{Rules: &gamev1.StartGameRequest_Ruleset{Ruleset: &rulesv1.Ruleset{Depth: 1}}}), codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD},
		"unknown mode":               {startWith(&gamev1.StartGameRequest{Mode: 77}), codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD},
		"seed too short":             {startWith(&gamev1.StartGameRequest{Mode: seeded, Seed: make([]byte, 31)}), codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD},
		"seed of a random game":      {startWith(&gamev1.StartGameRequest{Seed: make([]byte, 32)}), codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD},
		"caller without a name":      {func() error { _, err := c.ListRulesets(t.Context(), &gamev1.ListRulesetsRequest{}); return err }, codes.Unauthenticated, rpcv1.ErrorReason_ERROR_REASON_IDENTITY_MISSING},
		"caller with a strange name": {func() error { _, err := c.ListRulesets(as(t, "a b"), &gamev1.ListRulesetsRequest{}); return err }, codes.Unauthenticated, rpcv1.ErrorReason_ERROR_REASON_IDENTITY_MISSING},
		"page token of another game": {history("ada", &gamev1.GetGameHistoryRequest{GameId: g.GetGameId(), PageToken: "MjZxNC0wMC0wIDE"}), codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_PAGE_TOKEN_INVALID},
		"resigning a finished game": {func() error {
			_, err := c.ResignGame(as(t, "ada"), &gamev1.ResignGameRequest{GameId: over.GetGameId()})
			return err
		}, codes.FailedPrecondition, rpcv1.ErrorReason_ERROR_REASON_GAME_OVER},
		"resigning a foreign game": {func() error {
			_, err := c.ResignGame(as(t, "bob"), &gamev1.ResignGameRequest{GameId: g.GetGameId()})
			return err
		}, codes.PermissionDenied, rpcv1.ErrorReason_ERROR_REASON_NOT_YOUR_GAME},
		"resigning at another version": {func() error {
			_, err := c.ResignGame(as(t, "ada"), &gamev1.ResignGameRequest{GameId: g.GetGameId(), ExpectedVersion: 2})
			return err
		}, codes.Aborted, rpcv1.ErrorReason_ERROR_REASON_VERSION_MISMATCH},
	} {
		t.Run(name, func(t *testing.T) {
			stored := recordCount(t, w)
			wantReason(t, test.call(), test.code, test.reason)
			if n := recordCount(t, w); n != stored {
				t.Errorf("%d records became %d", stored, n)
			}
		})
	}
	if now := must[*gamev1.GetGameResponse](t)(c.GetGame(as(t, "ada"), &gamev1.GetGameRequest{GameId: g.GetGameId()})); !proto.Equal(now.GetGame(), g) {
		t.Errorf("the game became %v", now.GetGame())
	}
}

// TestBadFieldsAreNamed shows which field an error blames where only the
// service, not the contract, can tell that it is bad.
func TestBadFieldsAreNamed(t *testing.T) {
	c := newWorld().serve(t)
	g := start(t, c, "ada", &gamev1.StartGameRequest{})
	for field, call := range map[string]func() error{
		"move.card": func() error {
			_, err := c.PlayMove(as(t, "ada"), &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: &rulesv1.Move{Kind: rulesv1.MoveKind_MOVE_KIND_EQUIP, Card: "1X"}})
			return err
		},
		"page_token": func() error {
			_, err := c.GetGameHistory(as(t, "ada"), &gamev1.GetGameHistoryRequest{GameId: g.GetGameId(), PageToken: "?"})
			return err
		},
		"seed": func() error {
			_, err := c.StartGame(as(t, "ada"), &gamev1.StartGameRequest{Mode: seeded, Seed: make([]byte, 31)})
			return err
		},
		"ruleset.variants":         startBy(t, c, &rulesv1.Ruleset{WeaponWear: 1, Ending: 1, WinBonus: 1, LossScore: 1, Variants: []rulesv1.Variant{4, 3}}),
		"ruleset.variants[0]":      startBy(t, c, &rulesv1.Ruleset{WeaponWear: 1, Ending: 1, WinBonus: 1, LossScore: 1, Variants: []rulesv1.Variant{6}}),
		"ruleset.companion_health": startBy(t, c, &rulesv1.Ruleset{WeaponWear: 1, Ending: 1, WinBonus: 1, LossScore: 1, CompanionHealth: 8}),
	} {
		if err := call(); !slices.Equal(badFields(err), []string{field}) || strings.Contains(err.Error(), "malformed record") {
			t.Errorf("%s: %v blames %v", field, err, badFields(err))
		}
	}
}

// startBy returns a call that starts a game by rules.
func startBy(t *testing.T, c gamev1.GameServiceClient, rules *rulesv1.Ruleset) func() error {
	return func() error {
		_, err := c.StartGame(as(t, "ada"), &gamev1.StartGameRequest{Rules: &gamev1.StartGameRequest_Ruleset{Ruleset: rules}})
		return err
	}
}

func recordCount(t *testing.T, w *world) (n uint64) {
	t.Helper()
	streams, err := w.log.Streams(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range streams {
		n += s.LastSequence
	}
	return n
}

// TestWhoMayRead enumerates mode, state of the game and reader over every RPC
// that reads a game; a game of 12:00 is read at once, before 01:00 of the next
// day, when its day's challenge would be final, and then.
func TestWhoMayRead(t *testing.T) {
	w := newWorld()
	c := w.serve(t)
	day := w.clock.Now()
	for _, mode := range []eventv1.GameMode{random, seeded, daily} {
		for _, over := range []bool{false, true} {
			req := &gamev1.StartGameRequest{Mode: mode}
			if mode == seeded {
				req.Seed = make([]byte, 32)
			}
			if mode == daily && over {
				day = day.AddDate(0, 0, 1) // there is one attempt a day
			}
			w.clock.Set(day)
			g := start(t, c, "ada", req)
			if over {
				must[*gamev1.ResignGameResponse](t)(c.ResignGame(as(t, "ada"), &gamev1.ResignGameRequest{GameId: g.GetGameId()}))
			}
			for _, reading := range []struct {
				player string
				after  time.Duration
			}{
				{"ada", 0}, {"bob", 0}, {"ada", 13*time.Hour - 1}, {"bob", 13*time.Hour - 1}, {"ada", 13 * time.Hour}, {"bob", 13 * time.Hour},
			} {
				w.clock.Set(day.Add(reading.after))
				reader, final := reading.player, reading.after == 13*time.Hour
				may := reader == "ada" || mode == random || mode == daily && final
				told := over && mode != daily || mode == daily && final // then a reading ends what still runs
				got, err := c.GetGame(as(t, reader), &gamev1.GetGameRequest{GameId: g.GetGameId()})
				earlier, err2 := c.GetGame(as(t, reader), &gamev1.GetGameRequest{GameId: g.GetGameId(), AtVersion: 1})
				history, err3 := c.GetGameHistory(as(t, reader), &gamev1.GetGameHistoryRequest{GameId: g.GetGameId()})
				if !may {
					for _, err := range []error{err, err2, err3} {
						wantReason(t, err, codes.PermissionDenied, rpcv1.ErrorReason_ERROR_REASON_NOT_YOUR_GAME)
					}
					continue
				}
				if err := errors.Join(err, err2, err3); err != nil {
					t.Fatalf("%v, over %v, %s: %v", mode, over, reader, err)
				}
				if (got.GetGame().GetSeed() != "") != told || (history.GetSeed() != "") != told || earlier.GetGame().GetSeed() != "" ||
					(got.GetGame().GetDeck() != nil) != told || (history.GetDeck() != nil) != told || earlier.GetGame().GetDeck() != nil {
					t.Errorf("%v, over %v, %s after %v: %v, %v", mode, over, reader, reading.after, got, history)
				}
			}
		}
	}
}

// TestConcurrentCommandsHaveOneWinnerPerVersion lets two instances make the
// same move from the same version.
func TestConcurrentCommandsHaveOneWinnerPerVersion(t *testing.T) {
	w := newWorld()
	instances := []gamev1.GameServiceClient{w.serve(t), w.serve(t)}
	g := start(t, instances[0], "ada", &gamev1.StartGameRequest{})
	for g.GetStatus() == gamev1.GameStatus_GAME_STATUS_ACTIVE {
		moves := g.GetLegalMoves()
		var mu sync.Mutex
		var won []*gamev1.Game
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				res, err := instances[i%2].PlayMove(as(t, "ada"), &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: moves[len(moves)-1].GetMove(), ExpectedVersion: g.GetVersion()})
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					won = append(won, res.GetGame())
					return
				}
				if code := status.Code(err); code != codes.Aborted && code != codes.FailedPrecondition {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(won) != 1 {
			t.Fatalf("version %d was made %d times", g.GetVersion()+1, len(won))
		}
		g = won[0]
	}
}

func TestAWrongKeyStopsTheStart(t *testing.T) {
	w := newWorld()
	start(t, w.serve(t), "ada", &gamev1.StartGameRequest{})
	cfg := w.config()
	cfg.Keys = record.NewKeyset()
	if _, err := game.New(t.Context(), cfg); !errors.Is(err, record.ErrKeyUnknown) {
		t.Errorf("started with %v", err)
	}
	w.keys.Rotate()
	if _, err := game.New(t.Context(), w.config()); err != nil {
		t.Errorf("after a rotation: %v", err)
	}
}

func TestListRulesets(t *testing.T) {
	res := must[*gamev1.ListRulesetsResponse](t)(newWorld().serve(t).ListRulesets(as(t, "ada"), &gamev1.ListRulesetsRequest{}))
	var names []string
	for _, p := range res.GetPresets() {
		names = append(names, p.GetName())
		if p.GetTitle() == "" || p.GetText() == "" || p.GetRanked() != (p.GetName() == "classic") || p.GetMinScore() != -188 || p.GetMaxScore() != 30 {
			t.Errorf("preset %v", p)
		}
	}
	if ids := res.GetRankedRulesetIds(); len(ids) != 1 || ids[0] != "classic" {
		t.Errorf("ranked %v", ids)
	}
	if strings.Join(names, " ") != "classic strict tabletop digital" {
		t.Errorf("presets %v", names)
	}
	ranges := map[string]string{}
	for _, o := range res.GetOptions() {
		ranges[o.GetOption()] = o.GetValue()
	}
	if ranges["depth"] != "0 to 9" || ranges["companion_health"] != "0 to 20" {
		t.Errorf("options %v", ranges)
	}
	for _, v := range res.GetVariants() {
		if "VARIANT_"+strings.ToUpper(v.GetName()) != v.GetVariant().String() || v.GetTitle() == "" || v.GetText() == "" {
			t.Errorf("variant %v", v)
		}
	}
	if len(res.GetVariants()) != 5 {
		t.Errorf("variants %v", res.GetVariants())
	}
	for _, o := range res.GetOptions() {
		if o.GetOption() == "" || o.GetValue() == "" || o.GetText() == "" {
			t.Errorf("option %v", o)
		}
	}
}

// TestNothingHiddenIsLogged plays games and looks for the seed and the order of
// the undealt cards in what the service logged.
func TestNothingHiddenIsLogged(t *testing.T) {
	w := newWorld()
	c := w.serve(t)
	g := start(t, c, "ada", &gamev1.StartGameRequest{})
	_, err := c.PlayMove(as(t, "ada"), &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: move(t, "EQUIP 2C")})
	wantReason(t, err, codes.FailedPrecondition, rpcv1.ErrorReason_ERROR_REASON_ILLEGAL_MOVE)
	playOut(t, c, g)
	logged := w.logged.String()
	if !strings.Contains(logged, "PlayMove") {
		t.Fatalf("nothing was logged: %s", logged)
	}
	if strings.Contains(logged, hex.EncodeToString(w.seed[:])) || bytes.Contains([]byte(logged), w.seed[:]) {
		t.Error("the seed was logged")
	}
}
