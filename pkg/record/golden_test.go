package record

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
)

// golden is a finished game as its records were stored by an earlier program.
// Nothing writes these files again: what they hold must be read for ever.
type golden struct {
	RulesRevision uint32 `json:"rules_revision"`
	StateEncoding uint32 `json:"state_encoding"`
	// Vector is the engine's vector that was played; without one, States are what
	// players saw after each record.
	Vector string        `json:"vector"`
	States []goldenState `json:"states"`

	name    string
	records [][]byte
}

// goldenState is a state as vectors tell it, but for what the rules make of it.
type goldenState struct {
	Status    string           `json:"status"`
	Health    int              `json:"health"`
	Room      []string         `json:"room"`
	Dungeon   int              `json:"dungeon"`
	Cleared   int              `json:"rooms_cleared"`
	Score     *int             `json:"score"`
	Weapon    *goldenWeapon    `json:"weapon"`
	Stored    []string         `json:"stored"`
	Companion *goldenCompanion `json:"companion"`
}

type goldenWeapon struct {
	Card     string   `json:"card"`
	Kills    []string `json:"kills"`
	Upgrades []string `json:"upgrades"`
}

type goldenCompanion struct {
	Card   string        `json:"card"`
	Health int           `json:"health"`
	Weapon *goldenWeapon `json:"weapon"`
}

func goldenStateOf(s *engine.State) goldenState {
	state := goldenState{Status: s.Status().String(), Health: s.Health(), Room: names(s.Room()), Dungeon: s.DungeonSize(), Cleared: s.RoomsCleared()}
	if w, ok := s.Weapon(); ok {
		state.Weapon = goldenWeaponOf(w)
	}
	if _, potions, ok := s.Bearer(); ok {
		state.Stored = names(potions)
	}
	if c, ok := s.Companion(); ok {
		state.Companion = &goldenCompanion{Card: c.Card.String(), Health: c.Health, Weapon: goldenWeaponOf(c.Weapon)}
	}
	if score, ok := s.Score(); ok {
		state.Score = &score
	}
	return state
}

func goldenWeaponOf(w engine.WeaponView) *goldenWeapon {
	if w.Card == engine.NoCard {
		return nil
	}
	return &goldenWeapon{w.Card.String(), names(w.Kills), names(w.Upgrades)}
}

func names(cards []engine.Card) []string {
	list := []string{}
	for _, c := range cards {
		list = append(list, c.String())
	}
	return list
}

func lines(t *testing.T, path string) (list [][]byte) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		list = append(list, slices.Clone(s.Bytes()))
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// goldenGames reads all golden games and what is expected of them.
func goldenGames(t *testing.T) (games []golden, keys *Keyset) {
	t.Helper()
	keys, err := LoadKeyset(filepath.Join("testdata", "golden", "keyset.json"))
	if err != nil {
		t.Fatal(err)
	}
	expected := map[string][]goldenState{}
	vectors, err := filepath.Glob(filepath.Join("..", "engine", "conformance", "testdata", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range vectors {
		for _, line := range lines(t, file) {
			var v struct {
				Name    string
				Initial goldenState
				Steps   []struct{ State *goldenState }
			}
			if err := json.Unmarshal(line, &v); err != nil {
				t.Fatal(err)
			}
			states := []goldenState{v.Initial}
			for _, s := range v.Steps {
				if s.State != nil { // the others are moves that are refused
					states = append(states, *s.State)
				}
			}
			expected[v.Name] = states
		}
	}
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden games: %v", err)
	}
	for _, file := range files {
		g := golden{name: filepath.Base(file)}
		all := lines(t, file)
		if err := json.Unmarshal(all[0], &g); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, line := range all[1:] {
			var text string
			if err := json.Unmarshal(line, &text); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			data, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			g.records = append(g.records, data)
		}
		if g.Vector != "" {
			g.States = expected[g.Vector]
		}
		if len(g.States) != len(g.records) {
			t.Fatalf("%s: %d records, but %d states", file, len(g.records), len(g.States))
		}
		games = append(games, g)
	}
	return games, keys
}

// TestGoldenGames folds every golden game from its facts, by its own rules and by
// others: the states are those of the vector that was played, and those that lie
// sealed in the records if they are in an encoding that is still read.
func TestGoldenGames(t *testing.T) {
	games, keys := goldenGames(t)
	seen := map[string]bool{}
	for _, g := range games {
		t.Run(g.name, func(t *testing.T) {
			rules, flipped := g.checkFold(t, keys, g.records), g.flipped(t)
			seen[engine.Ruleset{WeaponWear: rules.WeaponWear, Ending: rules.Ending, WinBonus: rules.WinBonus, LossScore: rules.LossScore}.ID()] = true
			for _, name := range rules.Variants.Names() {
				seen[name] = true
			}
			if other := g.checkFold(t, keys, flipped); other == rules {
				t.Error("the other rules are the same")
			}
			for i, data := range g.records {
				s, err := keys.Decode(data)
				for _, f := range s.Message.GetFacts() {
					m := f.ProtoReflect()
					seen[string(m.WhichOneof(m.Descriptor().Oneofs().Get(0)).Name())] = true
					seen[f.GetGameOver().GetOutcome().String()] = true
				}
				seen[s.Message.GetMove().GetKind().String()] = true
				if s.Message.GetRulesRevision() != g.RulesRevision || s.Message.GetStateEncoding() != g.StateEncoding {
					t.Errorf("record %d is of revision %d with encoding %d", i, s.Message.GetRulesRevision(), s.Message.GetStateEncoding())
				}
				if (err == nil) != (g.StateEncoding == engine.StateEncoding) {
					t.Fatalf("record %d: %v", i, err)
				}
				if err != nil {
					continue
				}
				if folded, err := keys.Fold(g.records[:i+1]); err != nil || !reflect.DeepEqual(folded, s.State) {
					t.Errorf("record %d holds another state than its facts: %v", i, err)
				}
			}
		})
	}
	var needed []string
	for _, p := range engine.Presets() {
		needed = append(needed, p.Name)
	}
	needed = append(needed, engine.AllVariants.Names()...)
	kinds := (&eventv1.Fact{}).ProtoReflect().Descriptor().Oneofs().Get(0).Fields()
	for i := range kinds.Len() {
		needed = append(needed, string(kinds.Get(i).Name()))
	}
	for _, names := range []map[int32]string{rulesv1.MoveKind_name, rulesv1.Outcome_name} {
		needed = append(needed, slices.Collect(maps.Values(names))...)
	}
	for _, name := range needed {
		if !seen[name] {
			t.Errorf("no golden game has %s", name)
		}
	}
}

// checkFold folds every beginning of the game and returns the rules that it was
// folded by.
func (g golden) checkFold(t *testing.T, keys *Keyset, records [][]byte) (rules engine.Ruleset) {
	t.Helper()
	for i := range records {
		state, err := keys.Fold(records[:i+1])
		if err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
		if got := goldenStateOf(&state.Engine); !reflect.DeepEqual(got, g.States[i]) {
			t.Fatalf("after record %d the state is\n%+v, want\n%+v", i, got, g.States[i])
		}
		rules = state.Engine.Rules()
	}
	return rules
}

// flipped returns the records as if the game had been started by rules that
// differ in every option.
func (g golden) flipped(t *testing.T) [][]byte {
	t.Helper()
	var m eventv1.Record
	if err := proto.Unmarshal(g.records[0], &m); err != nil {
		t.Fatal(err)
	}
	r := m.GetFacts()[0].GetGameStarted().GetRuleset()
	r.WeaponWear, r.Ending, r.WinBonus, r.LossScore = 3-r.WeaponWear, 3-r.Ending, 3-r.WinBonus, 1+r.LossScore%3
	r.Depth = engine.MaxDepth - r.Depth
	if slices.Contains(r.GetVariants(), rulesv1.Variant_VARIANT_HOME_RULES) {
		r.CompanionHealth = engine.MaxHealth - r.CompanionHealth
	}
	data, err := proto.Marshal(&m)
	if err != nil {
		t.Fatal(err)
	}
	return append([][]byte{data}, g.records[1:]...)
}

// TestGoldenGamesNeedNoRules folds them once more in a program whose engine
// panics where it would decide anything: a rule that is mended or changed later
// must not change what has happened.
func TestGoldenGamesNeedNoRules(t *testing.T) {
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for file, functions := range map[string][]string{
		"decide.go": {"Open", "Decide", "Resign", "emit"},
		"legal.go":  {"Legal", "refuse", "objection", "obstacle"},
	} {
		path, err := filepath.Abs(filepath.Join("..", "engine", file))
		if err != nil {
			t.Fatal(err)
		}
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(source)
		for _, name := range functions {
			head := regexp.MustCompile(`(?m)^func \(\w+ \*\w+\) ` + name + `\(.*\{$`)
			if !head.MatchString(text) {
				t.Fatalf("%s has no %s", file, name)
			}
			text = head.ReplaceAllStringFunc(text, func(s string) string { return s + fmt.Sprintf("\n\tpanic(%q)", name+" is not for folding") })
		}
		replacement := filepath.Join(t.TempDir(), file)
		if err := os.WriteFile(replacement, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[path] = replacement
	}
	data, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	test := func(name string) string {
		out, err := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", "-overlay", file, "-run", "^"+name+"$", ".").CombinedOutput()
		if err != nil {
			return string(out)
		}
		return ""
	}
	if out := test("TestGoldenGames"); out != "" {
		t.Error(out)
	}
	// The replaced engine must be the one that was used.
	if out := test("TestFactsSurviveStorage"); !strings.Contains(out, "is not for folding") {
		t.Errorf("the rules are still at work: %s", out)
	}
}
