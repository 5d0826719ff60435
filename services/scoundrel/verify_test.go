package scoundrel

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
)

// playOut plays a game to its end by each first legal move.
func playOut(t *testing.T, ctx context.Context, c *client, g *gamev1.Game) *gamev1.Game {
	t.Helper()
	for len(g.GetLegalMoves()) > 0 {
		g = must[*gamev1.PlayMoveResponse](t)(c.PlayMove(ctx, &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: g.GetLegalMoves()[0].GetMove()})).GetGame()
	}
	return g
}

// TestVerify verifies games that a server has run, from the server and from files.
func TestVerify(t *testing.T) {
	p := serve(t, t.TempDir())
	ctx := as(t.Context(), "ada", "human")
	check := func(wantOut, wantErrs string, wantCode int, stdin string, args ...string) {
		t.Helper()
		out, errs, code := run(t, stdin, append([]string{"verify", "--addr", p.addr}, args...)...)
		if !strings.HasPrefix(out, wantOut) || !strings.HasPrefix(errs, wantErrs) || code != wantCode || (wantOut == "") != (out == "") || (wantErrs == "") != (errs == "") {
			t.Errorf("verify %v: status %d, %q, %q; want %d, %q, %q", args, code, out, errs, wantCode, wantOut, wantErrs)
		}
	}

	g := must[*gamev1.StartGameResponse](t)(p.StartGame(ctx, &gamev1.StartGameRequest{})).GetGame()
	id := g.GetGameId()
	check("the game is not over: its seed is revealed when it is\n", "", 1, "", id)
	g = playOut(t, ctx, p.client, g)
	line := fmt.Sprintf("verified: %s, classic, %d moves, score %d\n", id, g.GetMoves(), g.GetScore())
	check(line, "", 0, "", id)

	json, _, _ := run(t, "", "export", "--addr", p.addr, id)
	text, _, _ := run(t, "", "export", "--addr", p.addr, "--format", "text", id)
	file := filepath.Join(t.TempDir(), "game.json")
	if err := os.WriteFile(file, []byte(json), 0o600); err != nil {
		t.Fatal(err)
	}
	check(line, "", 0, "", file)
	check(line, "", 0, json, "-")
	check(line, "", 0, text, "-")

	seed := g.GetSeed()
	other := strings.Map(func(r rune) rune { return '0' + (r+1)%2 }, seed[:1]) + seed[1:]
	check("commitment: have \""+g.GetCommitment(), "", 1, strings.Replace(json, seed, other, 1), "-")
	check("line 7: commitment: have ", "", 1, strings.Replace(text, seed, other, 1), "-")
	check("", "scoundrel: -: ", 2, json[:len(json)/2], "-")
	check("", "scoundrel: -: ", 2, strings.Replace(json, `"GAME_MODE_RANDOM"`, "1", 1), "-")
	check("", "scoundrel: read the transcript: ", 2, regexp.MustCompile(`"recordedAt": "[^"]*",`).ReplaceAllString(json, ""), "-")
	check("not judged: "+id, "", 3, strings.ReplaceAll(json, `"rulesRevision": 1`, `"rulesRevision": 2`), "-")
	check("", "scoundrel: -: line 3: header Ruleset: ", 2, strings.Replace(text, "classic", "chess", 1), "-")
	check("", "scoundrel: open no-such-file: ", 2, "", "no-such-file")
	check("", "scoundrel: ", 2, "", id[:len(id)-26]+strings.Repeat("0", 26))

	// A game of one's own seed is private.
	started := must[*gamev1.StartGameResponse](t)(p.StartGame(ctx, &gamev1.StartGameRequest{Mode: eventv1.GameMode_GAME_MODE_SEEDED, Seed: make([]byte, 32)})).GetGame()
	must[*gamev1.ResignGameResponse](t)(p.ResignGame(ctx, &gamev1.ResignGameRequest{GameId: started.GetGameId()}))
	check("", "scoundrel: ", 2, "", "--player", "eve", started.GetGameId())
	check("verified: "+started.GetGameId()+", classic, 0 moves, no score\n", "", 0, "", "--player", "ada", started.GetGameId())
}

// pages answers GetGameHistory with one page after another.
type pages struct {
	gamev1.GameServiceClient

	list []*gamev1.GetGameHistoryResponse
	asks []string // the page tokens that were sent
}

func (p *pages) GetGameHistory(_ context.Context, req *gamev1.GetGameHistoryRequest, _ ...grpc.CallOption) (*gamev1.GetGameHistoryResponse, error) {
	p.asks = append(p.asks, req.GetPageToken())
	page := p.list[0]
	p.list = p.list[1:]
	return page, nil
}

// TestHistoryInPages joins pages, and asks for all of them again where the game ends between two.
func TestHistoryInPages(t *testing.T) {
	page := func(seed, next string, versions ...uint64) *gamev1.GetGameHistoryResponse {
		h := &gamev1.GetGameHistoryResponse{Seed: seed, NextPageToken: next}
		for _, v := range versions {
			h.Entries = append(h.Entries, &gamev1.HistoryEntry{Version: v})
		}
		return h
	}
	p := &pages{list: []*gamev1.GetGameHistoryResponse{
		page("", "3", 1, 2), page("5eed", "5", 3, 4),
		page("5eed", "3", 1, 2), page("5eed", "5", 3, 4), page("5eed", "", 5),
	}}
	h, err := (&client{GameServiceClient: p}).history(t.Context(), "game")
	if err != nil || !proto.Equal(h, page("5eed", "", 1, 2, 3, 4, 5)) {
		t.Errorf("error %v, history %v", err, h)
	}
	if asked := strings.Join(p.asks, ","); asked != ",3,,3,5" {
		t.Errorf("the pages %q were asked for", asked)
	}
}
