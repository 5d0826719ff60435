package record

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
)

// stored returns a control event as a log gives it back.
func stored(d Daily, e eventlog.Event) eventlog.Stored {
	return eventlog.Stored{Event: e, Control: DailySubject(d.OpensAt, d.Fresh.Rules())}
}

// mustDaily returns a challenge and its two events.
func mustDaily(t *testing.T, k *Keyset, at time.Time, rules engine.Ruleset, seed engine.Seed) (d Daily, made, revealed eventlog.Stored) {
	t.Helper()
	d, err := NewDaily(at, rules, seed)
	if err != nil {
		t.Fatal(err)
	}
	first, err := k.EncodeDailyChallenge(d, [16]byte{1}, at)
	if err != nil {
		t.Fatal(err)
	}
	second, err := EncodeDailyReveal(d, [16]byte{2}, at)
	if err != nil {
		t.Fatal(err)
	}
	return d, stored(d, first), stored(d, second)
}

func TestADayIsInUTC(t *testing.T) {
	west := time.FixedZone("west", -5*3600)
	for _, at := range []time.Time{
		time.Date(2028, 2, 29, 0, 0, 0, 0, time.UTC),
		time.Date(2028, 2, 29, 23, 59, 59, 999999999, time.UTC),
		time.Date(2028, 2, 28, 20, 0, 0, 0, west),
	} {
		d, made, _ := mustDaily(t, NewKeyset(), at, engine.Presets()[0].Rules, engine.Seed{1})
		if d.Date() != "2028-02-29" || !d.OpensAt.Equal(time.Date(2028, 2, 29, 0, 0, 0, 0, time.UTC)) ||
			!d.ClosesAt().Equal(time.Date(2028, 3, 1, 0, 0, 0, 0, time.UTC)) || !d.FinalAt().Equal(time.Date(2028, 3, 1, 1, 0, 0, 0, time.UTC)) {
			t.Errorf("%v is in %+v", at, d)
		}
		if !DailyFinalAt(at).Equal(d.FinalAt()) || DailySubject(at, engine.Presets()[0].Rules) != made.Control {
			t.Errorf("%v: final at %v, subject %v", at, DailyFinalAt(at), DailySubject(at, engine.Presets()[0].Rules))
		}
	}
}

func TestDailyIsReadBackFromEitherRecord(t *testing.T) {
	k, at := NewKeyset(), time.Date(2026, 12, 1, 7, 0, 0, 0, time.UTC)
	for _, rules := range allRulesets() {
		d, made, revealed := mustDaily(t, k, at, rules, engine.Seed{3})
		got, err := k.DecodeDaily(made)
		if err != nil || !reflect.DeepEqual(got, d) {
			t.Errorf("%s: read %+v, %v; want %+v", rules.ID(), got, err, d)
		}
		// What is revealed needs no key.
		d.Revealed = true
		if got, err := NewKeyset().DecodeDaily(revealed); err != nil || !reflect.DeepEqual(got, d) {
			t.Errorf("%s: revealed %+v, %v; want %+v", rules.ID(), got, err, d)
		}
		seed := d.Fresh.Seed()
		if bytes.Contains(made.Data, seed[:]) || !bytes.Contains(revealed.Data, seed[:]) {
			t.Errorf("%s: the seed can be read before the reveal, or not after it", rules.ID())
		}
	}
}

func TestDailySecretsAreBoundToTheirPlace(t *testing.T) {
	k, at := NewKeyset(), time.Date(2026, 12, 1, 7, 0, 0, 0, time.UTC)
	classic := engine.Presets()[0].Rules
	d, made, revealed := mustDaily(t, k, at, classic, engine.Seed{3})
	_, next, _ := mustDaily(t, k, at.AddDate(0, 0, 1), classic, engine.Seed{4})
	if _, err := NewKeyset().DecodeDaily(made); !errors.Is(err, ErrKeyUnknown) {
		t.Errorf("another keyset: %v", err)
	}
	change := func(e eventlog.Stored, f func(*eventv1.ControlRecord)) eventlog.Stored {
		t.Helper()
		m := &eventv1.ControlRecord{}
		if err := proto.Unmarshal(e.Data, m); err != nil {
			t.Fatal(err)
		}
		f(m)
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		e.Data = data
		return e
	}
	var foreign *eventv1.Sealed
	change(next, func(m *eventv1.ControlRecord) { foreign = m.GetDailyChallenge().GetSecrets() })
	moved := made
	moved.Control = next.Control
	for name, test := range map[string]struct {
		event eventlog.Stored
		want  error
	}{
		"secrets of another day":  {change(made, func(m *eventv1.ControlRecord) { m.GetDailyChallenge().Secrets = foreign }), ErrSealBroken},
		"an event in other place": {moved, ErrMalformed},
		"another date":            {change(made, func(m *eventv1.ControlRecord) { m.GetDailyChallenge().Date = "2026-12-02" }), ErrMalformed},
		"no date":                 {change(made, func(m *eventv1.ControlRecord) { m.GetDailyChallenge().Date = "" }), ErrMalformed},
		"another commitment":      {change(made, func(m *eventv1.ControlRecord) { m.GetDailyChallenge().Commitment = "" }), ErrMalformed},
		"no ruleset":              {change(revealed, func(m *eventv1.ControlRecord) { m.GetDailyReveal().Ruleset = nil }), ErrMalformed},
		"no secrets":              {change(revealed, func(m *eventv1.ControlRecord) { m.GetDailyReveal().Secrets = nil }), ErrMalformed},
		"no event id":             {change(made, func(m *eventv1.ControlRecord) { m.EventId = nil }), ErrMalformed},
		"another version":         {change(made, func(m *eventv1.ControlRecord) { m.Version = 2 }), ErrMalformed},
		"no time":                 {change(made, func(m *eventv1.ControlRecord) { m.RecordedAt = nil }), ErrMalformed},
		"nothing":                 {change(made, func(m *eventv1.ControlRecord) { m.Kind = nil }), ErrMalformed},
		"a kind to come": {change(made, func(m *eventv1.ControlRecord) {
			m.Kind = nil
			m.ProtoReflect().SetUnknown([]byte{0x82, 0x7d, 0x00}) // field 2000, an empty message
		}), ErrNewerSchema},
		"no protobuf": {stored(d, eventlog.Event{Version: 1, Data: []byte{0xff}}), ErrMalformed},
	} {
		if got, err := k.DecodeDaily(test.event); !errors.Is(err, test.want) || !reflect.DeepEqual(got, Daily{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// The last record of a DAILY game keeps what that of another mode reveals.
func TestADailyGameRevealsNothing(t *testing.T) {
	k, at := NewKeyset(), time.Date(2026, 12, 1, 7, 0, 0, 0, time.UTC)
	for mode, reveals := range map[eventv1.GameMode]bool{
		eventv1.GameMode_GAME_MODE_RANDOM: true, eventv1.GameMode_GAME_MODE_SEEDED: true, eventv1.GameMode_GAME_MODE_DAILY: false,
	} {
		d, err := NewDaily(at, engine.Presets()[0].Rules, engine.Seed{5})
		if err != nil {
			t.Fatal(err)
		}
		state := NewGameState(mode, d.Fresh)
		state.StartedAt = at
		facts := d.Fresh.Open(nil)
		if state.Engine, err = d.Fresh.EvolveAll(facts); err != nil {
			t.Fatal(err)
		}
		if facts, err = state.Engine.Resign(nil); err != nil {
			t.Fatal(err)
		}
		if state.Engine, err = state.Engine.EvolveAll(facts); err != nil {
			t.Fatal(err)
		}
		e, s, err := k.Encode(Command{Game: eventlog.DeriveGameID("26q4", "x"), PlayerID: "ada", RecordedAt: at, Facts: facts, After: state.Remember("")})
		if err != nil {
			t.Fatal(err)
		}
		seed := d.Fresh.Seed()
		if s.Over == nil || s.Over.Mode != mode || (s.Message.GetRevealed() != nil) != reveals || bytes.Contains(e.Data, seed[:]) != reveals {
			t.Errorf("%v: %+v", mode, s.Message)
		}
	}
}
