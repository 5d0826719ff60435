package transcript_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	"github.com/scoundrel-game/scoundrel/pkg/transcript"
)

var (
	// Nothing follows from these, and nothing tells what they must be. That the first time and the mode are not
	// among them is because the end of the game repeats both.
	free = regexp.MustCompile(`^(gameId|playerId|entries\[[1-9]\d*\]\.recordedAt\.(seconds|nanos))$`)
	// A fact that differs is named, but for the first, of which the rules and the commitment are looked at before.
	fact = regexp.MustCompile(`^entries\[(\d+)\]\.facts\[(\d+)\]\.(.*?)(\[\d+\]|\.seconds|\.nanos)?$`)
	// Without these, or with them, a history is no document.
	malformed = regexp.MustCompile(`\.(recordedAt|startedAt) is missing$|\.(secrets|sealedPosition) is there$`)
)

// eachFixture runs a test for each game in JSON, side by side: under the race detector it takes long.
func eachFixture(t *testing.T, test func(t *testing.T, h *gamev1.GetGameHistoryResponse)) {
	t.Helper()
	for _, name := range fixtures(t, "*.json") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			test(t, load(t, name))
		})
	}
}

// TestVerifyNoticesEveryChange changes each scalar of each game, set or not.
func TestVerifyNoticesEveryChange(t *testing.T) {
	eachFixture(t, func(t *testing.T, h *gamev1.GetGameHistoryResponse) {
		tried := 0
		mutate(h.ProtoReflect(), "", func(path string) {
			tried++
			_, err := transcript.Verify(h)
			if free.MatchString(path) {
				if err != nil {
					t.Errorf("%s is another: %v", path, err)
				}
				return
			}
			var differs *transcript.DifferenceError
			if !errors.As(err, &differs) {
				t.Errorf("%s is another: %v", path, err)
				return
			}
			if m := fact.FindStringSubmatch(path); m != nil && !strings.HasPrefix(m[3], "gameStarted.") {
				var entry, number int
				if _, err := fmt.Sscan(m[1], &entry); err != nil {
					t.Fatal(err)
				}
				if _, err := fmt.Sscan(m[2], &number); err != nil {
					t.Fatal(err)
				}
				if where := fmt.Sprintf("entry %d, fact %d", entry+1, number+1); differs.Where != where || differs.What != m[3] {
					t.Errorf("%s is another: %v", path, err)
				}
			}
		})
		if _, err := transcript.Verify(h); err != nil || tried < 200 {
			t.Errorf("after %d changes were undone: %v", tried, err)
		}
	})
}

// TestVerifyNoticesWhatIsMissing removes, doubles and swaps what lists hold, and adds and removes messages.
func TestVerifyNoticesWhatIsMissing(t *testing.T) {
	eachFixture(t, func(t *testing.T, h *gamev1.GetGameHistoryResponse) {
		rearrange(h.ProtoReflect(), "", func(path string) {
			var differs *transcript.DifferenceError
			if _, err := transcript.Verify(h); err == nil || errors.As(err, &differs) == malformed.MatchString(path) {
				t.Errorf("%s: %v", path, err)
			}
		})
		if _, err := transcript.Verify(h); err != nil {
			t.Errorf("after all changes were undone: %v", err)
		}
	})
}

// rearrange calls try after each change of a list or a message of m, and undoes the change.
func rearrange(m protoreflect.Message, path string, try func(path string)) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		at := path + f.JSONName()
		had, before := m.Has(f), m.Get(f)
		switch {
		case f.IsList():
			var items []protoreflect.Value
			for j := range before.List().Len() {
				items = append(items, before.List().Get(j))
			}
			set := func(order []protoreflect.Value) {
				list := m.NewField(f).List()
				for _, v := range order {
					list.Append(v)
				}
				m.Set(f, protoreflect.ValueOfList(list))
			}
			arrange := func(what string, order []protoreflect.Value) {
				set(order)
				try(fmt.Sprintf("%s is %s", at, what))
				set(items)
			}
			for j, v := range items {
				arrange(fmt.Sprintf("without %d", j), concat(items[:j], items[j+1:]))
				arrange(fmt.Sprintf("with %d twice", j), concat(items[:j+1], items[j:]))
				if j > 0 {
					arrange(fmt.Sprintf("with %d before %d", j, j-1), concat(items[:j-1], []protoreflect.Value{v, items[j-1]}, items[j+1:]))
				}
				if f.Message() != nil {
					rearrange(v.Message(), fmt.Sprintf("%s[%d].", at, j), try)
				}
			}
		case f.Message() != nil && had:
			m.Clear(f)
			try(at + " is missing")
			m.Set(f, before)
			rearrange(before.Message(), at+".", try)
		case f.Message() != nil && f.ContainingOneof() == nil:
			m.Set(f, m.NewField(f))
			try(at + " is there")
			m.Clear(f)
		}
	}
}

func concat(parts ...[]protoreflect.Value) (all []protoreflect.Value) {
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

// TestVerifyNoticesEachBitOfTheSeed changes them one by one.
func TestVerifyNoticesEachBitOfTheSeed(t *testing.T) {
	for _, name := range fixtures(t, "*.json") {
		h := load(t, name)
		seedBits(t, h, func(path string) {
			var differs *transcript.DifferenceError
			if _, err := transcript.Verify(h); !errors.As(err, &differs) || differs.What != "commitment" {
				t.Errorf("%s: %s is another: %v", name, path, err)
			}
		})
	}
}

// TestVerifyPlaysFair has a server that knows the player's next moves, and deals another deck with a new
// seed and commitment that fit each other.
func TestVerifyPlaysFair(t *testing.T) {
	h := load(t, "testdata/classic.json")
	other := play(t, engine.Presets()[0].Rules, 1)
	h.Seed, h.Deck = other.GetSeed(), other.GetDeck()
	h.Entries[0].Facts[0].GetGameStarted().Commitment = other.GetEntries()[0].GetFacts()[0].GetGameStarted().GetCommitment()
	var differs *transcript.DifferenceError
	if _, err := transcript.Verify(h); !errors.As(err, &differs) || differs.Where != "entry 1, fact 2" || differs.What != "roomDealt.cards" {
		t.Errorf("verified with error %v", err)
	}
}

// TestReportIsOneLine calls a game something that would look like another line.
func TestReportIsOneLine(t *testing.T) {
	h := load(t, "testdata/classic.json")
	h.GameId = "x\nverified: y"
	report, err := transcript.Verify(h)
	if want := `verified: x\u{a}verified: y, classic, 3 moves, score -174`; err != nil || report.String() != want {
		t.Errorf("error %v, report %v", err, report)
	}
}

// TestVerifyFoldsOtherRevisions plays by rules that this program does not know: all of what is told must be
// possible, but need not be what these rules say.
func TestVerifyFoldsOtherRevisions(t *testing.T) {
	load := func() *gamev1.GetGameHistoryResponse {
		h := load(t, "testdata/tabletop+home_rules+companion8.json")
		for _, e := range h.GetEntries() {
			e.RulesRevision = 2
		}
		return h
	}
	h := load()
	report, err := transcript.Verify(h)
	want := "not judged: 26q4-3b-v4k3ma42134atzn26gq3zj1bfw, tabletop+home_rules+companion8, 14 moves, score -158; 15 of 15 entries are not of rules revision 1"
	if err != nil || report.Judged() || report.String() != want {
		t.Errorf("verified as %v, error %v", report, err)
	}

	h = load()
	h.Entries[0].Facts[1].GetRoomDealt().CanAvoid = false
	if _, err := transcript.Verify(h); err != nil {
		t.Errorf("a room that cannot be avoided: %v", err)
	}
	h.Entries[0].RulesRevision = engine.RulesRevision
	if _, err := transcript.Verify(h); err == nil {
		t.Error("a room that can be avoided by these rules cannot be")
	}

	for want, change := range map[string]func(*gamev1.GetGameHistoryResponse){
		"entry 1, fact 2": func(h *gamev1.GetGameHistoryResponse) { h.Entries[0].Facts[1].GetRoomDealt().Cards[0] = "KS" },
		"entry 2, fact 1": func(h *gamev1.GetGameHistoryResponse) { h.Entries[1].Facts = h.Entries[0].Facts },
		"entry 3, fact 1": func(h *gamev1.GetGameHistoryResponse) { h.Entries[2].Facts = nil },
		"entry 4":         func(h *gamev1.GetGameHistoryResponse) { h.Entries[3].Version = 5 },
		"entry 5":         func(h *gamev1.GetGameHistoryResponse) { h.Entries[4].Move.Card = "5X" },
		"entry 6": func(h *gamev1.GetGameHistoryResponse) {
			h.Entries[5].Move.Kind = rulesv1.MoveKind_MOVE_KIND_UNSPECIFIED
		},
		"entry 1, fact 1": func(h *gamev1.GetGameHistoryResponse) { h.Entries[0].Facts[0].GetGameStarted().DungeonSize++ },
		"entry 15, fact 2": func(h *gamev1.GetGameHistoryResponse) {
			h.Entries[14].Facts[1].GetGameOver().Ruleset.LossScore = rulesv1.LossScore_LOSS_SCORE_HEALTH_MINUS_DUNGEON
		},
		"commitment": func(h *gamev1.GetGameHistoryResponse) { h.Entries[0].Facts[0].GetGameStarted().Commitment = "" },
		"deck":       func(h *gamev1.GetGameHistoryResponse) { h.Deck[0], h.Deck[1] = h.Deck[1], h.Deck[0] },
		"score":      func(h *gamev1.GetGameHistoryResponse) { *h.Score++ },
	} {
		h := load()
		change(h)
		var differs *transcript.DifferenceError
		if _, err := transcript.Verify(h); !errors.As(err, &differs) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want one at %q", err, want)
		}
	}
}
