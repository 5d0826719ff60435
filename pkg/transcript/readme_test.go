package transcript_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
)

// TestValuesInREADME computes the test values of the page that verifiers are written from.
func TestValuesInREADME(t *testing.T) {
	page, err := os.ReadFile("../../verifiers/README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatal("the page has no test values")
	}
	var values struct {
		Seed, Commitment, Stream string
		Decks                    []struct {
			Ruleset string
			Used    int
			Deck    string
		}
	}
	if err := json.Unmarshal(block[1], &values); err != nil {
		t.Fatal(err)
	}
	data, err := hex.DecodeString(values.Seed)
	if err != nil {
		t.Fatal(err)
	}
	seed := engine.Seed(data)
	if have := seed.Commitment(); have != values.Commitment {
		t.Errorf("the commitment is %s", have)
	}
	var stream []byte
	for counter := range uint64(2) {
		block := sha256.Sum256(binary.BigEndian.AppendUint64(seed[:], counter))
		stream = append(stream, block[:]...)
	}
	if have := hex.EncodeToString(stream); have != values.Stream {
		t.Errorf("the stream is %s", have)
	}
	for _, want := range values.Decks {
		rules, err := engine.ParseRulesetID(want.Ruleset)
		if err != nil {
			t.Fatal(err)
		}
		s, err := engine.NewGame(rules, seed)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range s.Dungeon() {
			names = append(names, c.String())
		}
		if have := strings.Join(names, " "); have != want.Deck || s.Drawn() != want.Used {
			t.Errorf("the deck of %s is %s, after %d bytes", want.Ruleset, have, s.Drawn())
		}
	}
	if len(values.Decks) == 0 {
		t.Error("the page has no decks")
	}
	// The page names every kind of move and of fact that there is.
	facts := (&eventv1.Fact{}).ProtoReflect().Descriptor().Fields()
	for i := range facts.Len() {
		if name := facts.Get(i).JSONName(); !strings.Contains(string(page), "`"+name) {
			t.Errorf("the page does not name %s", name)
		}
	}
	for n, name := range rulesv1.MoveKind_name {
		if name = strings.TrimPrefix(name, "MOVE_KIND_"); n != 0 && !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("the page does not name %s", name)
		}
	}
	if want := fmt.Sprintf("this page is revision %d", engine.RulesRevision); !strings.Contains(string(page), want) {
		t.Errorf("the page does not say: %s", want)
	}
}
