package transcript_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	"github.com/scoundrel-game/scoundrel/pkg/transcript"
)

// verifiers are those in other languages: programs that verify the files they are given.
var verifiers = map[string][]string{
	"Python":     {"python3", "../../verifiers/verify.py"},
	"JavaScript": {"node", "../../verifiers/verify.mjs"},
}

// TestVerifiers runs the verifiers in other languages. They must come to the same results as
// [transcript.Verify], and in changed games name the same place.
func TestVerifiers(t *testing.T) {
	d := &documents{dir: t.TempDir(), results: map[string]result{}}
	for _, name := range fixtures(t, "*") {
		d.add(t, name, load(t, name))
	}
	for i, rules := range rulesets() {
		d.add(t, rules.ID(), play(t, rules, uint64(i)))
	}
	for _, name := range []string{"testdata/tabletop+home_rules+companion8.json", "testdata/strict+evil_merchant+merchants+party+depth2.json"} {
		h := load(t, name)
		try := func(path string) { d.add(t, name+": "+path, h) }
		seedBits(t, h, try)
		mutate(h.ProtoReflect(), "", try)
		for i := 1; i < len(h.GetDeck()); i++ {
			h.Deck[i-1], h.Deck[i] = h.Deck[i], h.Deck[i-1]
			try(fmt.Sprintf("deck with card %d before %d", i+1, i))
			h.Deck[i-1], h.Deck[i] = h.Deck[i], h.Deck[i-1]
		}
		h.Entries[1].RulesRevision = 2
		try("another revision")
	}
	for language, command := range verifiers {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath(command[0])
			if err != nil {
				if os.Getenv("SCOUNDREL_VERIFIERS") == "required" {
					t.Fatal(err)
				}
				t.Skipf("%v: install it to run this test", err)
			}
			d.verify(t, slices.Concat([]string{program}, command[1:]))
		})
	}
}

// documents are files with games.
type documents struct {
	dir     string
	results map[string]result // by file
}

// result is what a verifier has to say of a file: its line starts and goes on with these.
type result struct{ what, start, then string }

// add writes a game to a file of its own.
func (d *documents) add(t *testing.T, what string, h *gamev1.GetGameHistoryResponse) {
	t.Helper()
	data, err := transcript.JSON(h)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(d.dir, fmt.Sprintf("%04d.json", len(d.results)))
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := transcript.Verify(h)
	var differs *transcript.DifferenceError
	switch {
	case err == nil && report.Folded > 0:
		d.results[name] = result{what, "verified: " + report.GameID + ", ", "not judged"}
	case err == nil:
		_, then, _ := strings.Cut(report.String(), report.RulesetID)
		d.results[name] = result{what, "verified: " + report.GameID + ", ", then}
	case !errors.As(err, &differs):
		t.Fatalf("%s: %v", what, err)
	default:
		d.results[name] = result{what, differs.Where, differs.What}
	}
}

// verify runs a verifier on all files, at once: to start it takes longer than to verify a game.
func (d *documents) verify(t *testing.T, command []string) {
	t.Helper()
	files := slices.Sorted(maps.Keys(d.results))
	lines := run(t, 1, slices.Concat(command, files))
	if len(lines) != len(files) {
		t.Fatalf("%d lines for %d files", len(lines), len(files))
	}
	for i, name := range files {
		want := d.results[name]
		text, ok := strings.CutPrefix(lines[i], name+": ")
		if !ok || !strings.HasPrefix(text, want.start) || !strings.Contains(text, want.then) {
			t.Errorf("%s: it says %q, want %s ... %s", want.what, lines[i], want.start, want.then)
		}
	}
	sound, changed, unreadable := files[0], files[len(files)/2], "verifiers_test.go"
	for _, c := range []struct {
		status int
		files  []string
	}{
		{0, []string{sound, sound}}, {1, []string{changed, sound}}, {2, []string{unreadable, changed}}, {2, []string{sound, "no-such-file"}}, {2, nil},
	} {
		if lines := run(t, c.status, slices.Concat(command, c.files)); len(lines) != max(len(c.files), 1) {
			t.Errorf("for the files %v it says %q", c.files, lines)
		}
	}
}

// run returns the lines that a command writes, which is to end with the status.
func run(t *testing.T, status int, command []string) []string {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	out, err := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); code != status {
		t.Errorf("%.100q ended with status %d, want %d: %v", command, code, status, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}
