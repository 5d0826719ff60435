package record

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
)

// TestStoredGameKeepsItsSecrets stores a whole game and looks at the stored
// bytes as somebody without a key would.
func TestStoredGameKeepsItsSecrets(t *testing.T) {
	k, game := NewKeyset(), eventlog.DeriveGameID("26q4", "x")
	state := startedState(t)
	fresh, err := engine.NewGame(state.Engine.Rules(), state.Engine.Seed())
	if err != nil {
		t.Fatal(err)
	}
	seed := state.Engine.Seed()
	facts, move := fresh.Open(nil), engine.Move{}
	var history [][]byte
	for {
		state = state.Remember("")
		c := Command{Game: game, PlayerID: "ada", RecordedAt: state.StartedAt, Move: move, Facts: facts, After: state}
		e, stored, err := k.Encode(c)
		if err != nil {
			t.Fatal(err)
		}
		var m eventv1.Record
		if err := proto.Unmarshal(e.Data, &m); err != nil {
			t.Fatal(err)
		}
		over := state.Engine.Status().Over()
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
		history = append(history, e.Data)
		if folded, err := k.Fold(history); err != nil || !reflect.DeepEqual(folded, state) {
			t.Fatalf("version %d: folded %+v, want %+v, %v", e.Version, folded, state, err)
		}
		checkPublic(t, stored)
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
			if d := m.GetRevealed().GetDeck(); len(d) != 44 {
				t.Errorf("revealed %d cards", len(d))
			}
			return
		}
		move = state.Engine.Legal(nil)[0]
		if facts, err = state.Engine.Decide(move, nil); err != nil {
			t.Fatal(err)
		}
		if state.Engine, err = state.Engine.EvolveAll(facts); err != nil {
			t.Fatal(err)
		}
	}
}

// checkPublic looks for anything sealed in the facts that players may see.
func checkPublic(t *testing.T, s Stored) {
	t.Helper()
	for i, f := range s.PublicFacts() {
		if f.GetGameStarted().GetSecrets() != nil {
			t.Errorf("version %d: public fact %d holds %v", s.Version, i, f)
		}
		if s.Message.GetFacts()[i].GetGameStarted() != nil && s.Message.GetFacts()[i].GetGameStarted().GetSecrets() == nil {
			t.Errorf("version %d: the record itself lost its secrets", s.Version)
		}
	}
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
