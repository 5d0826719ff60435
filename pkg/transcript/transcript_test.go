package transcript_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	"github.com/scoundrel-game/scoundrel/pkg/transcript"
)

// TestFixturesHoldEverything looks for each kind of fact and of move, each preset, variant and outcome.
func TestFixturesHoldEverything(t *testing.T) {
	missing := map[string]bool{}
	facts := (&eventv1.Fact{}).ProtoReflect().Descriptor().Oneofs().ByName("kind").Fields()
	for i := range facts.Len() {
		missing[string(facts.Get(i).Name())] = true
	}
	for _, names := range []map[int32]string{
		rulesv1.MoveKind_name, rulesv1.Outcome_name, rulesv1.Variant_name, eventv1.FightKind_name, eventv1.LastCardUse_name,
	} {
		for n, name := range names {
			missing[name] = n != 0
		}
	}
	for _, p := range engine.Presets() {
		missing[p.Name] = true
	}
	for _, name := range fixtures(t, "*") {
		h := load(t, name)
		report, err := transcript.Verify(h)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		preset, _, _ := strings.Cut(report.RulesetID, "+")
		missing[preset] = false
		for _, e := range h.GetEntries() {
			missing[e.GetMove().GetKind().String()] = false
			for _, f := range e.GetFacts() {
				missing[string(f.ProtoReflect().WhichOneof(facts.Get(0).ContainingOneof()).Name())] = false
				missing[f.GetMonsterFought().GetFight().String()] = false
				missing[f.GetGameOver().GetOutcome().String()] = false
				missing[f.GetGameOver().GetLastCardUse().String()] = false
				for _, v := range f.GetGameStarted().GetRuleset().GetVariants() {
					missing[v.String()] = false
				}
			}
		}
	}
	for name, is := range missing {
		if is {
			t.Errorf("no fixture has %s", name)
		}
	}
}

// TestRoundTrip writes the fixtures and games of all rulesets in both forms and reads them back.
func TestRoundTrip(t *testing.T) {
	for _, name := range fixtures(t, "*") {
		h := load(t, name)
		// Editors add and change blank space.
		for _, newline := range []string{"\n", "\r\n", " \n\n"} {
			roundTrip(t, name, h, newline)
		}
		write := transcript.JSON
		if filepath.Ext(name) == ".txt" {
			write = transcript.Text
		}
		stored, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := write(h); err != nil || string(data) != string(stored) {
			t.Errorf("%s is written as another document, error %v", name, err)
		}
	}
	for i, rules := range rulesets() {
		h := play(t, rules, uint64(i))
		h.PlayerId = "a \"name\"]\n\té"
		roundTrip(t, rules.ID(), h, "\n")
	}
}

func roundTrip(t *testing.T, name string, h *gamev1.GetGameHistoryResponse, newline string) {
	t.Helper()
	if _, err := transcript.Verify(h); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	for _, write := range []func(*gamev1.GetGameHistoryResponse) ([]byte, error){transcript.JSON, transcript.Text} {
		data, err := write(h)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, err := transcript.Parse([]byte(strings.ReplaceAll(string(data), "\n", newline)))
		if err != nil || !proto.Equal(h, again) {
			t.Errorf("%s: another game is read back, error %v, from\n%s", name, err, data)
		}
	}
}

// TestUnfinished gives games that go on.
func TestUnfinished(t *testing.T) {
	h := load(t, "testdata/classic.json")
	h.Seed, h.Deck, h.Score = "", nil, nil
	for h.Entries = h.Entries[:len(h.Entries)-1]; len(h.Entries) > 0; h.Entries = h.Entries[:len(h.Entries)-1] {
		if _, err := transcript.Verify(h); !errors.Is(err, transcript.ErrNotOver) {
			t.Errorf("after %d entries: verified with error %v", len(h.Entries), err)
		}
		if _, err := transcript.Text(h); !errors.Is(err, transcript.ErrNotOver) {
			t.Errorf("after %d entries: written with error %v", len(h.Entries), err)
		}
		data, err := transcript.JSON(h)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := transcript.Parse(data); err != nil || !proto.Equal(h, again) {
			t.Errorf("after %d entries: another game is read back, error %v", len(h.Entries), err)
		}
	}
}

// TestNotFinal gives games that are over and without a seed: only that of a daily challenge may be.
func TestNotFinal(t *testing.T) {
	h := load(t, "testdata/classic.json")
	h.Seed, h.Deck = "", nil
	for mode := range eventv1.GameMode_name {
		h.Entries[0].Facts[0].GetGameStarted().Mode = eventv1.GameMode(mode)
		_, err := transcript.Verify(h)
		_, differs := errors.AsType[*transcript.DifferenceError](err)
		if daily := eventv1.GameMode(mode) == eventv1.GameMode_GAME_MODE_DAILY; errors.Is(err, transcript.ErrNotFinal) != daily || differs == daily {
			t.Errorf("mode %d: verified with error %v", mode, err)
		}
		if _, textErr := transcript.Text(h); textErr == nil || textErr.Error() != err.Error() {
			t.Errorf("mode %d: written with error %v", mode, textErr)
		}
	}
}

// TestNoText gives games that text would change.
func TestNoText(t *testing.T) {
	for name, change := range map[string]func(*gamev1.GetGameHistoryResponse){
		"another revision": func(h *gamev1.GetGameHistoryResponse) { h.Entries[1].RulesRevision = 7 },
		"long pause":       func(h *gamev1.GetGameHistoryResponse) { h.Entries[1].RecordedAt.Seconds += 300 * 365 * 86400 },
		"newer program":    func(h *gamev1.GetGameHistoryResponse) { h.ProtoReflect().SetUnknown([]byte{0xf8, 0x07, 0x01}) },
	} {
		h := load(t, "testdata/classic.json")
		change(h)
		if text, err := transcript.Text(h); !errors.Is(err, transcript.ErrNoText) {
			t.Errorf("%s: error %v, text\n%s", name, err, text)
		}
	}
}

// TestParseRefuses changes text, and reads what is no transcript at all.
func TestParseRefuses(t *testing.T) {
	data, err := os.ReadFile("testdata/tabletop+merchants+party.abandoned.txt")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, c := range []struct{ old, changed, want string }{
		// Text that cannot be read.
		{`[Player "ada"]`, `[Player ada]`, `line 2: this is no header, no room and no result`},
		{`[Player "ada"]`, `[Player "\z"]`, `line 2: the value of header Player is not quoted as it must be`},
		{`[Player "ada"]`, "[Player \"ada\"]\n[Player \"eve\"]", `line 3: header Player is there twice`},
		{`[Mode "RANDOM"]`, `[Mode "UNSPECIFIED"]`, `line 4: header Mode: there is no such mode`},
		{`[Ruleset "tabletop+`, `[Ruleset "laptop+`, `line 3: header Ruleset: ruleset: id "laptop" names no preset and is not four words joined by dots`},
		{`[Started "2026`, `[Started "0000`, `line 5: header Started: it does not lie in the years 1 to 9999`},
		{`[Started "2026`, `[Started "`, `line 5: header Started: parsing time`},
		{`[RulesRevision "1"]`, `[RulesRevision "2"]`, `line 6: header RulesRevision: this program plays by rules revision 1`},
		{`[Seed "fa`, `[Seed "FA`, `line 8: header Seed: these are not 64 lower-case hexadecimal digits`},
		{`[Seed "fa`, `[Seed "`, `line 8: header Seed: these are not 64 lower-case hexadecimal digits`},
		{`[Seed `, `[Corn `, `line 1: header Seed is missing`},
		{`EQUIP 3D {+1.234s}`, `EQUIP 3D`, `line 10: "EQUIP 3D" is not a move with its time, such as "AVOID {+1.5s}"`},
		{`EQUIP 3D {+1.234s}`, `EQUIP 3D {soon}`, `line 10: time: invalid duration "soon"`},
		{`EQUIP 3D {`, `EAT 3D {`, `line 10: "EAT 3D" is not a move`},
		{`ABANDONED`, `LEFT`, `line 15: this is no header, no room and no result`},
		{`ABANDONED {+1.234s}`, `ABANDONED {}`, `line 15: time: invalid duration ""`},
		{`ABANDONED {+1.234s}`, "ABANDONED {+1.234s}\nWON 20", `line 16: there is more after the result`},
		{`ABANDONED {+1.234s}`, ``, `line 16: the result is missing`},
		{`[Started "2026-11-30T12`, `[Started "9999-12-31T24`, `line 5: header Started: parsing time`},
		{`[Started "2026-11-30T12:29:28`, `[Started "9999-12-31T23:59:59`, `line 10: its time does not lie in the years 1 to 9999`},
		// Text that contradicts itself.
		{`[Player "ada"]`, "[Player \"ada\"]\n[Friend \"eve\"]", `line 3: have "[Friend \"eve\"]", want "[Ruleset \"tabletop+merchants+party\"]"`},
		{`[Commitment "`, `[Commitment "0`, `line 7: commitment: have "0`},
		{"\n\n1. ", "\n[Score \"12\"]\n\n1. ", `line 9: have "[Score \"12\"]", want "1. `},
		{`1. `, `2. `, `line 10: room: have "2. 3D 2C RJ 2D", want "1. 3D 2C RJ 2D"`},
		{`EQUIP 3D {+1.234s}`, `EQUIP 4D {+1.234s}`, `line 10: have "EQUIP 4D", want a legal move: illegal move EQUIP 4D: the card is not in the room`},
		{"\n2. ", ", EQUIP 3D {+1s}\n2. ", `line 10: have "EQUIP 3D", want a legal move`},
		{"\n2. 2D 6C 4S 10S: ", ", ", `line 10: have "1. 3D`},
		{`4. 10C 4H KS 10D:`, `4. 10C 4H KS 9D:`, `line 13: have "4. 10C 4H KS 9D:", want "4. 10C 4H KS 10D:"`},
		{"4. 10C 4H KS 10D:\n", "", `line 14: have "ABANDONED`},
		{`EQUIP 3D {+1.234s}`, `EQUIP 3D {+1234ms}`, `line 10: have "1. `},
		{`ABANDONED {+1.234s}`, `LOST 0`, `line 15: have "LOST 0", want further moves: the game is not over`},
	} {
		changed := strings.Replace(text, c.old, c.changed, 1)
		if changed == text {
			t.Errorf("there is no %q in\n%s", c.old, text)
			continue
		}
		_, err := transcript.Parse([]byte(changed))
		var unreadable *transcript.TextError
		var differs *transcript.DifferenceError
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q for %q: error %v, want %s", c.changed, c.old, err, c.want)
		} else if isDifference := strings.Contains(c.want, "have "); isDifference != errors.As(err, &differs) || isDifference == errors.As(err, &unreadable) {
			t.Errorf("%q for %q: error %v is a %T", c.changed, c.old, err, err)
		}
	}
	for _, data := range []string{"", " \n", "5H", "\x00", "%PDF"} {
		if _, err := transcript.Parse([]byte(data)); !errors.Is(err, transcript.ErrUnknownForm) {
			t.Errorf("%q: error %v", data, err)
		}
	}
	for _, data := range []string{
		"{", `{"seed": 1}`, `{"sead": ""}`, `{"entries": [null]}`, `{"seed": null}`, `{"seed": ""}`, `{"entries": []}`, `{"score": "5"}`,
		`{"score": 5.0}`, `{"game_id": "x"}`, `{"entries": [{"version": 1}]}`, `{"entries": [{"move": {"kind": 1}}]}`,
	} {
		if _, err := transcript.Parse([]byte(data)); err == nil {
			t.Errorf("%q is read", data)
		}
	}
}

// TestEachWordOfTextCounts changes every word of a text in turn.
func TestEachWordOfTextCounts(t *testing.T) {
	h := load(t, "testdata/strict.json")
	data, err := transcript.Text(h)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range data {
		if c == ' ' || c == '\n' {
			continue
		}
		changed := slices.Clone(data)
		changed[i] = c ^ 1
		again, err := transcript.Parse(changed)
		if err != nil {
			continue
		}
		// Only the names of the game and its player, and times, can be others.
		again.GameId, again.PlayerId = h.GetGameId(), h.GetPlayerId()
		for j, e := range again.GetEntries() {
			e.RecordedAt = h.GetEntries()[j].GetRecordedAt()
			for _, f := range e.GetFacts() {
				if over := f.GetGameOver(); over != nil {
					over.StartedAt = h.GetEntries()[0].GetRecordedAt()
				}
			}
		}
		if !proto.Equal(h, again) {
			t.Errorf("another game is read from\n%s", changed)
		}
	}
}

// FuzzParse reads whatever comes. What can be read can be verified without harm, and text has one spelling.
func FuzzParse(f *testing.F) {
	// Short ones: the fuzzer makes what it finds as small as it can, which takes long.
	h := load(f, "testdata/classic.json")
	for _, write := range []func(*gamev1.GetGameHistoryResponse) ([]byte, error){transcript.JSON, transcript.Text} {
		data, err := write(h)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := transcript.Parse(data)
		if err != nil {
			return
		}
		isText := strings.HasPrefix(strings.TrimSpace(string(data)), "[")
		if _, err := transcript.Verify(h); err != nil {
			if isText {
				t.Errorf("text gives a game that cannot be verified: %v", err)
			}
			return
		}
		if text, err := transcript.Text(h); isText && (err != nil || strings.Join(strings.Fields(string(text)), " ") != strings.Join(strings.Fields(string(data)), " ")) {
			t.Errorf("error %v, text\n%s\nfor\n%s", err, text, data)
		}
	})
}
