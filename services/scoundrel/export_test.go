package scoundrel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
)

// TestExport prints games in both forms, and turns one into the other and back.
func TestExport(t *testing.T) {
	p := serve(t, t.TempDir())
	ctx := as(t.Context(), "ada", "human")
	g := must[*gamev1.StartGameResponse](t)(p.StartGame(ctx, &gamev1.StartGameRequest{})).GetGame()
	export := func(stdin string, args ...string) (out, errs string, code int) {
		t.Helper()
		return run(t, stdin, append([]string{"export", "--addr", p.addr}, args...)...)
	}

	json, errs, code := export("", g.GetGameId())
	if code != 0 || !strings.Contains(json, `"roomDealt"`) || strings.Contains(json, `"seed"`) {
		t.Errorf("of a game that goes on: status %d, %q, %s", code, errs, json)
	}
	if out, errs, code := export("", "--format", "text", g.GetGameId()); code != 1 || out != "" || errs != "scoundrel: the game is not over: its seed is revealed when it is\n" {
		t.Errorf("of a game that goes on: status %d, %q, %q", code, out, errs)
	}

	g = playOut(t, ctx, p.client, g)
	json, _, _ = export("", g.GetGameId())
	text, errs, code := export("", "--format", "text", g.GetGameId())
	if code != 0 || errs != "" || !strings.HasPrefix(text, `[Game "`+g.GetGameId()+`"]`) {
		t.Errorf("text: status %d, %q, %s", code, errs, text)
	}
	file := filepath.Join(t.TempDir(), "game.txt")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, errs, code := export("", "--from", file); code != 0 || errs != "" || again != json {
		t.Errorf("from text: status %d, %q, %s", code, errs, again)
	}
	if again, errs, code := export(json, "--from", "-", "--format", "text"); code != 0 || errs != "" || again != text {
		t.Errorf("from JSON: status %d, %q, %s", code, errs, again)
	}

	for want, args := range map[string][]string{
		"name a game's id, or a file with --from":          nil,
		"name a game's id, or a file with --from ":         {g.GetGameId(), "--from", file},
		`there is no format "pgn": choose json or text`:    {g.GetGameId(), "--format", "pgn"},
		"open no-such-file: ":                              {"--from", "no-such-file"},
		"-: a transcript starts with { (JSON) or [ (text)": {"--from", "-"},
		"there is no game \"26q4\" (GAME_NOT_FOUND)":       {"26q4"},
	} {
		if out, errs, code := export("", args...); code != 1 || out != "" || !strings.HasPrefix(errs, "scoundrel: "+strings.TrimSpace(want)) {
			t.Errorf("%v: status %d, %q, %q", args, code, out, errs)
		}
	}
}
