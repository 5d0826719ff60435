package record

import (
	"bytes"
	"errors"
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
	for {
		state = state.Remember("")
		c := Command{Game: game, PlayerID: "ada", RecordedAt: state.StartedAt, Move: move, Facts: facts, After: state}
		e, err := k.Encode(c)
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
		if back, err := k.Decode(e.Data); err != nil || back.State.Engine != state.Engine || back.Version != e.Version {
			t.Fatalf("version %d: read %+v, %v", e.Version, back, err)
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
