package transcript_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	"github.com/scoundrel-game/scoundrel/pkg/transcript"
)

// verifiers are those in other languages: programs that verify the files they are given.
var verifiers = map[string][]string{
	"Python":     {"python3", "../../verifiers/verify.py"},
	"JavaScript": {"node", "../../verifiers/verify.mjs"},
}

// TestVerifiers runs the verifiers in other languages. They must come to the same results as [transcript.Verify], and
// say them in the same words: only why a file cannot be read is for each to say.
func TestVerifiers(t *testing.T) {
	d := &documents{dir: t.TempDir()}
	for _, name := range fixtures(t, "*") {
		d.addGame(t, name, load(t, name))
	}
	for i, rules := range rulesets() {
		d.addGame(t, rules.ID(), play(t, rules, uint64(i)))
	}
	seen := map[string]bool{}
	for _, name := range []string{"testdata/strict+evil_merchant+merchants+party+depth2.json", "testdata/tabletop+home_rules+companion8.json"} {
		h := load(t, name)
		for i := 1; i < len(h.GetDeck()); i++ {
			h.Deck[i-1], h.Deck[i] = h.Deck[i], h.Deck[i-1]
			d.addGame(t, fmt.Sprintf("%s: deck with card %d before %d", name, i+1, i), h)
			h.Deck[i-1], h.Deck[i] = h.Deck[i], h.Deck[i-1]
		}
		d.addOfRevisions(t, name, h)
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		editJSON(t, data, seen, func(path string, data []byte) { d.add(t, name+": "+path, data) })
	}
	data, err := os.ReadFile("testdata/classic.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, changed string }{
		{`"score": -174`, `"score": -174, "score": -174`},
		{`"score": -174`, `"score": -174.0`},
		{`"score": -174`, `"score": -1.74e2`},
		{`"score": -174`, `"score": -0`},
		{`"score": -174`, `"score": 0`},
		{`"score": -174`, `"score": NaN`},
		{`"score": -174`, `"score": -174, "game_id": "x"`},
		{`"gameId": "`, `"gameId": "\ud83d\ude00\u007f\n\"5.0\": -0 é`},
		{`"gameId": "`, `"gameId": "\ud83d`},
		{`"gameId": "`, "\"gameId\": \"\xff"},
		{`"gameId": "`, `"gameId": "` + strings.Repeat("😀", 101)},
		{"{", "\ufeff{"},
		{"{", ""},
		{"{", "[{"},
		{"{", strings.Repeat(`{"deck":`, 20000)},
		{`"recordedAt": "2026-11-30`, `"recordedAt": "2026-02-29`},
		{`"recordedAt": "2026-11-30`, `"recordedAt": "0000-11-30`},
		{`"recordedAt": "2026-11-30`, `"recordedAt": "0001-11-30`},
		{`"recordedAt": "2026-11-30T12`, `"recordedAt": "2026-11-30T24`},
		{`:32.084Z`, `:60.084Z`},
		{`:32.084Z`, `:32.084z`},
		{`:32.084Z`, `:32.084+00:00`},
		{`:32.084Z`, `:32.0840Z`},
		{`:32.084Z`, `:32.084000Z`},
		{`:32.084Z`, `:32.000084Z`},
		{`:32.084Z`, `:32.000Z`},
		{`:32.084Z`, `:32Z`},
	} {
		changed := strings.Replace(string(data), c.old, c.changed, 1)
		if changed == string(data) {
			t.Errorf("there is no %s", c.old)
		}
		d.add(t, fmt.Sprintf("%.60q for %q", c.changed, c.old), []byte(changed))
	}
	h := load(t, "testdata/classic.json")
	seedBits(t, h, func(path string) { d.addGame(t, path, h) })
	for mode := range eventv1.GameMode_name {
		h := proto.CloneOf(h)
		h.Seed, h.Deck = "", nil
		h.Entries[0].Facts[0].GetGameStarted().Mode = eventv1.GameMode(mode)
		d.addGame(t, fmt.Sprintf("over, without a seed, mode %d", mode), h)
	}
	h.Seed, h.Deck, h.Score, h.Entries = "", nil, nil, h.Entries[:2]
	d.addGame(t, "unfinished", h)
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
			script, err := filepath.Abs(command[1])
			if err != nil {
				t.Fatal(err)
			}
			// The go command runs a test again when a file has changed that the test itself has looked at.
			if _, err := os.Stat(script); err != nil {
				t.Fatal(err)
			}
			d.verify(t, []string{program, script})
		})
	}
}

// documents are files, and what there is to say of each.
type documents struct {
	dir   string
	files []document
}

// document is a file with what [transcript.Verify] has to say of it.
type document struct {
	name, what string
	status     int
	line       string
}

// The exit statuses of verifiers.
const (
	verified = iota
	differs
	unreadable
	notJudged
)

// fromBestToWorst are the statuses in the order in which one hides another.
var fromBestToWorst = []int{verified, notJudged, differs, unreadable}

// addGame adds a game.
func (d *documents) addGame(t *testing.T, what string, h *gamev1.GetGameHistoryResponse) {
	t.Helper()
	data, err := transcript.JSON(h)
	if err != nil {
		t.Fatal(err)
	}
	d.add(t, what, data)
}

// addOfRevisions adds a game and what changes make of it, with entries that are judged and others that are not.
func (d *documents) addOfRevisions(t *testing.T, name string, h *gamev1.GetGameHistoryResponse) {
	t.Helper()
	last := len(h.GetEntries()) - 1
	for _, revision := range []struct {
		what    string
		isOther func(i int) bool
		change  func(m protoreflect.Message, path string, try func(path string))
	}{
		{"this revision", func(int) bool { return false }, mutate},
		{"another revision", func(int) bool { return true }, mutate},
		{"another revision in the end", func(i int) bool { return i == last }, mutate},
		{"another revision every other time", func(i int) bool { return i%2 == 0 }, rearrange},
	} {
		for i, e := range h.GetEntries() {
			if e.RulesRevision = engine.RulesRevision; revision.isOther(i) {
				e.RulesRevision++
			}
		}
		n := 0
		revision.change(h.ProtoReflect(), "", func(path string) {
			// A part of the changes will do: the verifiers take their time for each.
			if n++; n%17 == 0 {
				d.addGame(t, fmt.Sprintf("%s, %s: %s", name, revision.what, path), h)
			}
		})
		d.addGame(t, name+", "+revision.what, h)
		if score := h.GetScore(); h.Score != nil {
			h.Score = new(score + 1)
			d.addGame(t, name+", "+revision.what+": another score", h)
			h.Score = &score
		}
	}
}

// add adds a file.
func (d *documents) add(t *testing.T, what string, data []byte) {
	t.Helper()
	doc := document{name: fmt.Sprintf("%05d.json", len(d.files)), what: what, status: unreadable, line: "unreadable: "}
	if err := os.WriteFile(filepath.Join(d.dir, doc.name), data, 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := transcript.Parse(data)
	var report transcript.Report
	if err == nil {
		report, err = transcript.Verify(h)
	}
	var difference *transcript.DifferenceError
	switch {
	case err == nil && report.Judged():
		doc.status, doc.line = verified, report.String()
	case err == nil:
		doc.status, doc.line = notJudged, report.String()
	case errors.As(err, &difference), errors.Is(err, transcript.ErrNotOver), errors.Is(err, transcript.ErrNotFinal):
		doc.status, doc.line = differs, err.Error()
	}
	d.files = append(d.files, doc)
}

// verify runs a verifier on all files, at once: to start it takes longer than to verify a game.
func (d *documents) verify(t *testing.T, command []string) {
	t.Helper()
	var names []string
	examples := map[int]string{} // a file of each status
	for _, doc := range d.files {
		names = append(names, doc.name)
		examples[doc.status] = doc.name
	}
	lines := d.run(t, unreadable, slices.Concat(command, names))
	if len(lines) != len(names) {
		t.Fatalf("%d lines for %d files", len(lines), len(names))
	}
	for i, doc := range d.files {
		text, ok := strings.CutPrefix(lines[i], doc.name+": ")
		if doc.status == unreadable {
			ok = ok && strings.HasPrefix(text, doc.line)
		} else {
			ok = ok && text == doc.line
		}
		if !ok {
			t.Errorf("%s: it says %q, want %q", doc.what, lines[i], doc.line)
		}
	}
	for i, worse := range fromBestToWorst {
		for _, better := range fromBestToWorst[:i+1] {
			d.run(t, worse, slices.Concat(command, []string{examples[better], examples[worse], examples[better]}))
		}
	}
	d.run(t, unreadable, slices.Concat(command, []string{"no-such-file"}))
	d.run(t, unreadable, command)
	input, err := os.Open(filepath.Join(d.dir, examples[notJudged]))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = input.Close() }() // it was only read
	cmd := exec.Command(command[0], slices.Concat(command[1:], []string{"-"})...)
	cmd.Stdin = input
	if out, _ := cmd.Output(); cmd.ProcessState.ExitCode() != notJudged || !strings.HasPrefix(string(out), "-: not judged: ") {
		t.Errorf("of standard input it says %q", out)
	}
}

// run returns the lines that a command writes, which is to end with the status.
func (d *documents) run(t *testing.T, status int, command []string) []string {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = d.dir
	out, err := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); code != status {
		t.Errorf("%.100q ended with status %d, want %d: %v", command, code, status, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// editJSON calls try with documents that differ from one in a single value, name or field, once for each kind of
// field that is not among those seen: the types of messages would not allow most of these.
func editJSON(t *testing.T, data []byte, seen map[string]bool, try func(path string, data []byte)) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var root any
	if err := decoder.Decode(&root); err != nil {
		t.Fatal(err)
	}
	write := func(format string, args ...any) {
		changed, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		try(fmt.Sprintf(format, args...), changed)
	}
	var edit func(path string, value any)
	edit = func(path string, value any) {
		switch value := value.(type) {
		case []any:
			for i, item := range value {
				if !seen[path+"[]"] {
					for _, other := range others(item) {
						value[i] = other
						write("%s[%d] is %v", path, i, other)
					}
					value[i] = item
				}
				edit(path+"[]", item)
				seen[path+"[]"] = true
			}
		case map[string]any:
			if !seen[path] {
				seen[path] = true
				for _, name := range []string{"unknown", "__proto__", "constructor", ""} {
					value[name] = "x"
					write("%s.%s is there", path, name)
					delete(value, name)
				}
			}
			for _, name := range slices.Sorted(maps.Keys(value)) {
				at, field := path+"."+name, value[name]
				if !seen[at] {
					for _, other := range others(field) {
						value[name] = other
						write("%s is %v", at, other)
					}
					delete(value, name)
					write("%s is missing", at)
					value[strings.ToUpper(name)] = field
					write("%s has a name in upper case", at)
					delete(value, strings.ToUpper(name))
					value[name] = field
				}
				edit(at, field)
				seen[at] = true
			}
		}
	}
	edit("", root)
}

// others are what can stand in JSON instead of a value.
func others(value any) []any {
	list := []any{
		nil, 0, 1, -1, "", "0", false, true, []any{}, map[string]any{}, []any{nil}, []any{""}, []any{map[string]any{}},
		json.Number("-0"), 1.5, 2147483648, 4294967297, -2147483649, json.Number("1" + strings.Repeat("0", 400)),
		"4x", "04", "18446744073709551615", "18446744073709551616", "5X", "2C", "a\n\"\\\u007f\u2028é😀",
	}
	switch value := value.(type) {
	case string:
		prefix, _, _ := strings.Cut(value, "_")
		list = append(list, value+" ", strings.ToLower(value), prefix+"_UNSPECIFIED", prefix+"_MODE_UNSPECIFIED")
	case json.Number:
		list = append(list, value.String(), json.Number(value.String()+".0"), json.Number(value.String()+"e0"))
	case map[string]any:
		both := maps.Clone(value)
		both["roomCleared"] = map[string]any{}
		list = append(list, both)
	}
	return list
}
