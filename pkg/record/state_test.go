package record

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
)

func startedState(t *testing.T) GameState {
	t.Helper()
	rules, seed := engine.Presets()[0].Rules, engine.Seed{7}
	s, err := engine.NewGame(rules, seed)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = s.EvolveAll(s.Open(nil)); err != nil {
		t.Fatal(err)
	}
	return GameState{
		Engine: s, Mode: eventv1.GameMode_GAME_MODE_RANDOM, Deck: engine.Shuffle(rules, seed),
		StartedAt: time.Date(2026, 12, 1, 0, 0, 0, 5, time.UTC),
	}
}

func TestStateIsStoredSealed(t *testing.T) {
	k, game := NewKeyset(), eventlog.DeriveGameID("26q4", "x")
	want := startedState(t).Remember("a").Remember("").Remember("b")
	sealed, err := k.SealState(game, want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := k.OpenState(game, 3, sealed)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("stored %+v, read %+v, %v", want, got, err)
	}
	if _, err := k.OpenState(game, 2, sealed); !errors.Is(err, ErrSealBroken) {
		t.Errorf("as another version's: %v", err)
	}
	if _, err := k.OpenState(eventlog.DeriveGameID("26q4", "y"), 3, sealed); !errors.Is(err, ErrSealBroken) {
		t.Errorf("as another game's: %v", err)
	}
}

func TestRequestIDsAreRememberedByVersion(t *testing.T) {
	s := startedState(t).Remember("a").Remember("")
	left, right := s.Remember("left"), s.Remember("right")
	for id, want := range map[string]uint64{"a": 1, "": 0, "left": 3, "right": 0} {
		if got := left.VersionOf(id); got != want {
			t.Errorf("%q made version %d, want %d", id, got, want)
		}
	}
	if right.VersionOf("right") != 3 || right.VersionOf("left") != 0 || s.VersionOf("left") != 0 {
		t.Error("successors of one state share their memory")
	}
	if s.Version() != 2 || left.Version() != 3 {
		t.Errorf("versions %d, %d", s.Version(), left.Version())
	}
}
