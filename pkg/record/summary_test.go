package record

import (
	"errors"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
)

func TestSummarize(t *testing.T) {
	start := time.Date(2026, 11, 30, 23, 59, 59, 0, time.UTC)
	id := eventlog.NewGameID(start)
	classic := engine.Presets()[0].Rules
	want := Over{
		Over:      engine.Over{Outcome: engine.StatusLost, Rules: classic, Health: -4, Moves: 3, DungeonMonsterValue: 150},
		StartedAt: start,
		Mode:      eventv1.GameMode_GAME_MODE_RANDOM,
	}
	good := func() *eventv1.Record {
		return &eventv1.Record{
			EventId: make([]byte, 16), GameId: id.String(), PlayerId: "ada", ActorKind: eventv1.ActorKind_ACTOR_KIND_BOT,
			Version: 4, RecordedAt: timestamppb.New(start.Add(time.Minute)),
			Facts: []*eventv1.Fact{{Kind: &eventv1.Fact_GameOver{GameOver: overToProto(want)}}},
		}
	}
	read := func(m *eventv1.Record) (Summary, error) {
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return Summarize(data)
	}
	s, err := read(good())
	if err != nil {
		t.Fatal(err)
	}
	if s.Game != id || s.PlayerID != "ada" || s.Actor != eventv1.ActorKind_ACTOR_KIND_BOT || s.Version != 4 ||
		!s.RecordedAt.Equal(start.Add(time.Minute)) || s.Over == nil || *s.Over != want {
		t.Errorf("summary %+v, over %+v", s, s.Over)
	}
	if score, ok := engine.Score(s.Over.Over); !ok || score != -154 {
		t.Errorf("score %d, %v; want -154", score, ok)
	}

	for name, spoil := range map[string]func(*eventv1.Record){
		"no event id":  func(m *eventv1.Record) { m.EventId = nil },
		"no game id":   func(m *eventv1.Record) { m.GameId = "" },
		"no player":    func(m *eventv1.Record) { m.PlayerId = "" },
		"no version":   func(m *eventv1.Record) { m.Version = 0 },
		"no time":      func(m *eventv1.Record) { m.RecordedAt = nil },
		"no facts":     func(m *eventv1.Record) { m.Facts = nil },
		"no start":     func(m *eventv1.Record) { m.Facts[0].GetGameOver().StartedAt = nil },
		"no outcome":   func(m *eventv1.Record) { m.Facts[0].GetGameOver().Outcome = 0 },
		"no ruleset":   func(m *eventv1.Record) { m.Facts[0].GetGameOver().Ruleset = nil },
		"over, and on": func(m *eventv1.Record) { m.Facts = append(m.Facts, m.Facts[0]) },
	} {
		m := good()
		spoil(m)
		if _, err := read(m); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}

	future := []byte{0x82, 0x7d, 0x00} // field 2000, an empty message
	for name, grow := range map[string]func(*eventv1.Record){
		"an unknown kind of fact":   func(m *eventv1.Record) { m.Facts[0].Kind = nil; m.Facts[0].ProtoReflect().SetUnknown(future) },
		"an unknown field":          func(m *eventv1.Record) { m.Facts[0].GetGameOver().ProtoReflect().SetUnknown(future) },
		"an unknown rule":           func(m *eventv1.Record) { m.Facts[0].GetGameOver().GetRuleset().ProtoReflect().SetUnknown(future) },
		"an unknown option's value": func(m *eventv1.Record) { m.Facts[0].GetGameOver().GetRuleset().Ending = 99 },
		"an unknown outcome":        func(m *eventv1.Record) { m.Facts[0].GetGameOver().Outcome = 99 },
		"an unknown mode":           func(m *eventv1.Record) { m.Facts[0].GetGameOver().Mode = 99 },
	} {
		m := good()
		grow(m)
		if _, err := read(m); !errors.Is(err, ErrNewerSchema) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzSummarize(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0x0a, 0x01, 0x00})
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := Summarize(data); err != nil && !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrNewerSchema) {
			t.Errorf("untyped error: %v", err)
		}
	})
}
