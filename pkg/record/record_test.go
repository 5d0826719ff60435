package record

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
)

// TestStoredGamesKeepTheirSecrets stores whole games and looks at the stored
// bytes as somebody without a key would.
func TestStoredGamesKeepTheirSecrets(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	hiddenPositions := 0
	rulesets := allRulesets()
	for n := range 6 * len(rulesets) {
		rules, seed := rulesets[n%len(rulesets)], engine.Seed{7, byte(n), byte(n >> 8)}
		k, game := NewKeyset(), eventlog.DeriveGameID("26q4", rules.ID())
		fresh, err := engine.NewGame(rules, seed)
		if err != nil {
			t.Fatal(err)
		}
		state := NewGameState(eventv1.GameMode_GAME_MODE_RANDOM, fresh)
		state.StartedAt = time.Date(2026, 11, 30, 1, 2, 3, 4, time.UTC)
		var history [][]byte
		playOut(t, rules, seed, random, func(s engine.State, move engine.Move, facts []engine.Fact) {
			state = state.Remember("")
			state.Engine = s
			c := Command{Game: game, PlayerID: "ada", RecordedAt: state.StartedAt, Move: move, Facts: facts, After: state}
			e, stored, err := k.Encode(c)
			if err != nil {
				t.Fatal(err)
			}
			history = append(history, e.Data)
			hiddenPositions += checkStored(t, k, e, stored, history)
		})
	}
	if hiddenPositions < 20 {
		t.Errorf("only %d hidden positions", hiddenPositions)
	}
}

// checkStored checks one record, the last of a history, and returns how many
// positions it hides.
func checkStored(t *testing.T, k *Keyset, e eventlog.Event, stored Stored, history [][]byte) (positions int) {
	t.Helper()
	var m eventv1.Record
	if err := proto.Unmarshal(e.Data, &m); err != nil {
		t.Fatal(err)
	}
	seed := stored.State.Engine.Seed()
	over := stored.State.Engine.Status().Over()
	if leaked := bytes.Contains(e.Data, seed[:]); leaked != over {
		t.Fatalf("version %d: seed readable %v, over %v", e.Version, leaked, over)
	}
	if (m.GetRevealed() != nil) != over {
		t.Fatalf("version %d: revealed %v, over %v", e.Version, m.GetRevealed(), over)
	}
	back, err := k.Decode(e.Data)
	if err != nil || !reflect.DeepEqual(back.State, stored.State) || !reflect.DeepEqual(back.Summary, stored.Summary) || !proto.Equal(back.Message, stored.Message) {
		t.Fatalf("version %d: wrote %+v, read %+v, %v", e.Version, stored, back, err)
	}
	if folded, err := k.Fold(history); err != nil || !reflect.DeepEqual(folded, stored.State) {
		t.Fatalf("version %d: folded %+v, want %+v, %v", e.Version, folded, stored.State, err)
	}
	if err := NewKeyset().Check(e); !errors.Is(err, ErrKeyUnknown) {
		t.Fatalf("version %d: another keyset: %v", e.Version, err)
	}
	wantType := TypeMovePlayed
	if e.Version == 1 {
		wantType = TypeGameStarted
	}
	if e.Type != wantType {
		t.Errorf("version %d: type %s", e.Version, e.Type)
	}
	if s, err := Summarize(e.Data); err != nil || (s.Over != nil) != over || s.Version != e.Version {
		t.Fatalf("version %d: summary %+v, %v", e.Version, s, err)
	}
	if over {
		if d := m.GetRevealed().GetDeck(); len(d) != len(stored.State.Deck) {
			t.Errorf("revealed %d cards", len(d))
		}
	}
	return checkPublic(t, k, back)
}

// checkPublic looks for anything sealed or hidden in the facts that players may
// see while the game goes on, and returns how many positions they do not see.
func checkPublic(t *testing.T, k *Keyset, s Stored) (positions int) {
	t.Helper()
	public, err := k.PublicFacts(s, false)
	if err != nil {
		t.Fatal(err)
	}
	revealed, err := k.PublicFacts(s, true)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range public {
		if f.GetGameStarted().GetSecrets() != nil {
			t.Errorf("version %d: public fact %d holds %v", s.Version, i, f)
		}
		if s.Message.GetFacts()[i].GetGameStarted() != nil && s.Message.GetFacts()[i].GetGameStarted().GetSecrets() == nil {
			t.Errorf("version %d: the record itself lost its secrets", s.Version)
		}
		sealed, open := hidden(f)
		if sealed == nil {
			continue
		}
		positions++
		storedSeal, storedOpen := hidden(s.Message.GetFacts()[i])
		_, told := hidden(revealed[i])
		if *sealed != nil || *open != nil || *storedSeal == nil || *storedOpen != nil || *told == nil {
			t.Errorf("version %d: fact %d is stored as %v, shown as %v, revealed as %v", s.Version, i, s.Message.GetFacts()[i], f, revealed[i])
		}
		if _, err := NewKeyset().PublicFacts(s, true); !errors.Is(err, ErrKeyUnknown) {
			t.Errorf("another keyset: %v", err)
		}
	}
	return positions
}

func TestFoldRefusesABrokenHistory(t *testing.T) {
	k, game := NewKeyset(), eventlog.DeriveGameID("26q4", "x")
	state := startedState(t).Remember("")
	fresh, err := engine.NewGame(state.Engine.Rules(), state.Engine.Seed())
	if err != nil {
		t.Fatal(err)
	}
	e, _, err := k.Encode(Command{Game: game, PlayerID: "ada", RecordedAt: state.StartedAt, Facts: fresh.Open(nil), After: state})
	if err != nil {
		t.Fatal(err)
	}
	for name, history := range map[string][][]byte{
		"empty":   nil,
		"doubled": {e.Data, e.Data},
		"garbage": {e.Data, {0xff}},
	} {
		if _, err := k.Fold(history); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewKeyset().Fold([][]byte{e.Data}); !errors.Is(err, ErrKeyUnknown) {
		t.Errorf("another keyset: %v", err)
	}
}
