package conformance_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/scoundrel-game/scoundrel/pkg/engine/conformance"
)

func TestVectors(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			file, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			results, err := conformance.Run(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(results) == 0 {
				t.Fatal("the file holds no vector")
			}
			for _, r := range results {
				if r.Err != nil {
					t.Errorf("line %d, %s: %v", r.Line, r.Name, r.Err)
				}
			}
		})
	}
}

// Every difference must be found: the runner is worth what it refuses.
func TestRunFindsDifferences(t *testing.T) {
	const game = `{"name":"g","note":"","rules":{"weapon_wear":"AT_MOST_LAST_KILL","ending":"PLAY_ALL_CARDS",` +
		`"win_bonus":"LAST_POTION_AT_FULL_HEALTH","loss_score":"HEALTH_MINUS_DUNGEON","variants":[],"companion_health":0,"depth":0},` +
		`"deck":["5D","4C"],` +
		`"initial":{"status":"ACTIVE","health":20,"room":["5D","4C"],"dungeon":0,"weapon":null,"legal":["EQUIP 5D","FIGHT_BARE_HANDED 4C"],"rooms_cleared":0},` +
		`"steps":[{"move":"AVOID","illegal":true},` +
		`{"move":"EQUIP 5D","state":{"status":"ACTIVE","health":20,"room":["4C"],"dungeon":0,"weapon":{"card":"5D","kills":[],"upgrades":[]},"legal":["FIGHT_BARE_HANDED 4C","FIGHT_WITH_WEAPON 4C"],"rooms_cleared":0}},` +
		`{"move":"FIGHT_WITH_WEAPON 4C","state":{"status":"WON","health":20,"room":[],"dungeon":0,"weapon":{"card":"5D","kills":["4C"],"upgrades":[]},"legal":[],"rooms_cleared":1,"score":20}},` +
		`{"move":"AVOID","illegal":true}]}`
	const perft = `{"rules":{"weapon_wear":"AT_MOST_LAST_KILL","ending":"PLAY_ALL_CARDS","win_bonus":"LAST_POTION_AT_FULL_HEALTH",` +
		`"loss_score":"HEALTH_MINUS_DUNGEON","variants":[],"companion_health":0,"depth":0},` +
		`"seed":"691b6b6734017961fe2438335bd774993dfdc52d807ff23aee31993f004e1c22","paths":[5,20]}`

	tests := []struct{ name, line, old, new, want string }{
		{"the game as it is", game, "", "", ""},
		{"health", game, `"health":20,"room":[]`, `"health":19,"room":[]`, "step 3"},
		{"status", game, `"WON"`, `"LOST"`, "step 3"},
		{"room", game, `"room":["4C"]`, `"room":[]`, "step 2"},
		{"room order", game, `"room":["5D","4C"]`, `"room":["4C","5D"]`, "initial"},
		{"dungeon", game, `"dungeon":0,"weapon":null`, `"dungeon":1,"weapon":null`, "initial"},
		{"rooms cleared", game, `"rooms_cleared":1`, `"rooms_cleared":0`, "step 3"},
		{"weapon", game, `"weapon":null`, `"weapon":{"card":"5D","kills":[],"upgrades":[]}`, "initial"},
		{"kills", game, `"kills":["4C"]`, `"kills":[]`, "step 3"},
		{"upgrades", game, `"kills":["4C"],"upgrades":[]`, `"kills":["4C"],"upgrades":["JD"]`, "step 3"},
		{"legal", game, `,"FIGHT_WITH_WEAPON 4C"`, ``, "step 2"},
		{"score", game, `"score":20`, `"score":21`, "step 3"},
		{"no score", game, `,"score":20`, ``, "step 3"},
		{"refused", game, `"move":"EQUIP 5D"`, `"move":"EQUIP 4C"`, "illegal move EQUIP 4C"},
		{"accepted", game, `"move":"AVOID","illegal":true},{`, `"move":"EQUIP 5D","illegal":true},{`, "is accepted"},
		{"neither", game, `"illegal":true},{`, `"illegal":false},{`, "step 1"},
		{"deck", game, `"deck":["5D","4C"]`, `"deck":["5D","5D"]`, "twice"},
		{"variant", game, `"variants":[]`, `"variants":["merchant"]`, `"merchant" is not a variant`},
		{"variants", game, `"variants":[]`, `"variants":["party","blacksmiths"]`, "cannot be played together"},
		{"another ruleset", game, `"variants":[]`, `"variants":["party"]`, ""},
		{"stored", game, `"weapon":null`, `"stored":[],"weapon":null`, "initial"},
		{"companion's state", game, `"weapon":null`, `"companion":{"card":"JD","health":0,"weapon":null},"weapon":null`, "initial"},
		{"companion", game, `"companion_health":0`, `"companion_health":8`, "companion_health"},
		{"option", game, `"PLAY_ALL_CARDS"`, `"PLAY_SOME"`, "ending"},
		{"depth", game, `"depth":0`, `"depth":10`, "depth"},
		{"unknown field", game, `"note":""`, `"nota":""`, "nota"},
		{"not JSON", game, `{"name"`, `{name`, "not a vector"},
		{"the count as it is", perft, "", "", ""},
		{"count", perft, "[5,20]", "[5,21]", "20 paths of 2 moves, want 21"},
		{"seed", perft, `"seed":"69`, `"seed":"6`, "64 hex digits"},
		{"commitment", perft, `"seed"`, `"commitment":"00","seed"`, "commitment"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if !strings.Contains(test.line, test.old) {
				t.Fatalf("the line does not contain %s", test.old)
			}
			line := strings.Replace(test.line, test.old, test.new, 1)
			results, err := conformance.Run(strings.NewReader("\n" + line))
			if err != nil || len(results) != 1 || results[0].Line != 2 {
				t.Fatalf("results %v, error %v; want one result for line 2", results, err)
			}
			switch got := results[0].Err; {
			case test.want == "" && got != nil:
				t.Errorf("error %v, want none", got)
			case test.want != "" && (got == nil || !strings.Contains(got.Error(), test.want)):
				t.Errorf("error %v, want one with %q", got, test.want)
			}
		})
	}
}

func TestRunReportsReadErrors(t *testing.T) {
	broken := errors.New("broken")
	if _, err := conformance.Run(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}
