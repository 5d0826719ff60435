package scoundrel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// grpcurlVersion is the grpcurl that the test builds; the module is of no use to
// the program, so it is no requirement of ours.
const grpcurlVersion = "v1.9.4"

// TestGrpcurlSession makes the calls that the README shows, with nothing but a
// generic client: reflection, JSON, and the moves that the game itself offers.
func TestGrpcurlSession(t *testing.T) {
	bin := t.TempDir()
	install := exec.Command("go", "install", "github.com/fullstorydev/grpcurl/cmd/grpcurl@"+grpcurlVersion)
	install.Env = append(os.Environ(), "GOBIN="+bin, "GOWORK=off", "GOFLAGS=")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("install grpcurl: %v: %s", err, out)
	}
	p := serve(t, t.TempDir())
	call := func(args ...string) (string, string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, filepath.Join(bin, "grpcurl"), append([]string{"-plaintext", "-H", "x-player-id: me"}, args...)...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			if _, ok := errors.AsType[*exec.ExitError](err); !ok {
				t.Fatal(err)
			}
		}
		return out.String(), errs.String()
	}
	type game struct {
		Game struct {
			GameID     string                           `json:"gameId"`
			Status     string                           `json:"status"`
			Score      *int                             `json:"score"`
			Seed       string                           `json:"seed"`
			LegalMoves []struct{ Move json.RawMessage } `json:"legalMoves"`
		} `json:"game"`
		ConsistencyToken string `json:"consistencyToken"`
	}
	parse := func(out, errs string) (g game) {
		t.Helper()
		if err := json.Unmarshal([]byte(out), &g); err != nil {
			t.Fatalf("%v: %s%s", err, out, errs)
		}
		return g
	}

	out, errs := call(p.addr, "list")
	for _, want := range []string{"scoundrel.game.v1.GameService", "scoundrel.scoring.v1.ScoringService", "grpc.health.v1.Health"} {
		if !strings.Contains(out, want) {
			t.Errorf("list: %s%s", out, errs)
		}
	}
	if out, errs = call(p.addr, "describe", "scoundrel.game.v1.PlayMoveRequest"); !strings.Contains(out, "expected_version") {
		t.Errorf("describe: %s%s", out, errs)
	}

	g := parse(call("-d", `{"preset": "classic", "request_id": "my-first-game"}`, p.addr, "scoundrel.game.v1.GameService/StartGame"))
	play := func(move json.RawMessage) (string, string) {
		return call("-d", fmt.Sprintf(`{"game_id": %q, "move": %s}`, g.Game.GameID, move), p.addr, "scoundrel.game.v1.GameService/PlayMove")
	}
	if out, errs = play(json.RawMessage(`{"kind": "MOVE_KIND_EQUIP", "card": "AS"}`)); out != "" || !strings.Contains(errs, `"reason": "ILLEGAL_MOVE"`) || !strings.Contains(errs, "FailedPrecondition") {
		t.Errorf("an illegal move: %s%s", out, errs)
	}
	for g.Game.Status == "GAME_STATUS_ACTIVE" {
		g = parse(play(g.Game.LegalMoves[len(g.Game.LegalMoves)-1].Move))
	}
	if g.Game.Score == nil || len(g.Game.Seed) != 64 {
		t.Errorf("the game ended as %+v", g)
	}

	out, errs = call("-d", fmt.Sprintf(`{"leaderboard": {"ruleset_id": "classic"}, "consistency_token": %q}`, g.ConsistencyToken),
		p.addr, "scoundrel.scoring.v1.ScoringService/ListLeaderboardEntries")
	for _, want := range []string{`"rank": "1"`, `"playerId": "me"`, fmt.Sprintf(`"score": %d`, *g.Game.Score), g.Game.GameID} {
		if !strings.Contains(out, want) {
			t.Errorf("leaderboard: %s%s", out, errs)
		}
	}
}
