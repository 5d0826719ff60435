package record

import (
	"encoding/base64"
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/memlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
)

var decidedAt = time.Date(2026, 12, 1, 7, 0, 0, 5, time.UTC)

// control returns the events of the control stream.
func control(t *testing.T, log eventlog.Log) (all []eventlog.Stored) {
	t.Helper()
	info, err := log.ControlInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range log.Tail(t.Context(), eventlog.ControlStream, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, e); e.Position.Sequence == info.LastSequence {
			break
		}
	}
	return all
}

func TestModerate(t *testing.T) {
	log, game := memlog.New(), eventlog.DeriveGameID("26q4", "x")
	var want []Moderation
	for i, step := range []struct {
		m       Moderation
		changed bool
		stands  uint64 // where the decision stands that holds then
	}{
		{Moderation{PlayerID: "ada"}, false, 0}, // never was hidden
		{Moderation{PlayerID: "ada", Hidden: true}, true, 1},
		{Moderation{PlayerID: "ada", Hidden: true}, false, 1},
		{Moderation{PlayerID: "Ada", Hidden: true}, true, 2},
		{Moderation{Game: game, Hidden: true}, true, 3},
		{Moderation{PlayerID: "ada"}, true, 4},
		{Moderation{PlayerID: "ada"}, false, 4},
		{Moderation{Game: game}, true, 5},
		{Moderation{PlayerID: "ada", Hidden: true}, true, 6},
	} {
		step.m.Reason, step.m.ModeratorID, step.m.At = "cheats", "mod", decidedAt.Add(time.Duration(i))
		holds, at, changed, err := Moderate(t.Context(), log, step.m)
		if err != nil || changed != step.changed || at.Sequence != step.stands {
			t.Fatalf("step %d: %+v at %+v, changed %v, %v", i, holds, at, changed, err)
		}
		if changed {
			want = append(want, step.m)
		}
		if at.Sequence > 0 && holds != want[at.Sequence-1] {
			t.Errorf("step %d: %+v holds, want %+v", i, holds, want[at.Sequence-1])
		}
	}
	var got []Moderation
	for _, e := range control(t, log) {
		m, erased, err := ReadDecision(e)
		if err != nil || m == nil || erased != nil || e.Type != TypeModeration {
			t.Fatalf("%+v: %v, %v, %v", e, m, erased, err)
		}
		got = append(got, *m)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("decisions %+v, want %+v", got, want)
	}
}

// Of many who decide the same at once, one does.
func TestModerateAtOnce(t *testing.T) {
	log := memlog.New()
	var deciders sync.WaitGroup
	for range 8 {
		deciders.Go(func() {
			_, at, _, err := Moderate(t.Context(), log, Moderation{PlayerID: "ada", Hidden: true, Reason: "r", ModeratorID: "m", At: decidedAt})
			if err != nil || at.Sequence != 1 {
				t.Errorf("stands at %+v, %v", at, err)
			}
		})
	}
	deciders.Wait()
	if all := control(t, log); len(all) != 1 {
		t.Errorf("%d decisions", len(all))
	}
}

func TestErase(t *testing.T) {
	log := memlog.New()
	for i := range 3 {
		at, err := Erase(t.Context(), log, Erasure{"a.da", decidedAt.Add(time.Duration(i))})
		if err != nil || at.Sequence != uint64(i)+1 {
			t.Fatalf("stands at %+v, %v", at, err)
		}
	}
	for i, e := range control(t, log) {
		m, erased, err := ReadDecision(e)
		if err != nil || m != nil || erased == nil || *erased != (Erasure{"a.da", decidedAt.Add(time.Duration(i))}) {
			t.Errorf("%v, %+v, %v", m, erased, err)
		}
	}
}

// Records that are stored must be read for ever.
func TestStoredDecisions(t *testing.T) {
	game := eventlog.DeriveGameID("26q4", "x")
	for _, test := range []struct {
		data       string
		subject    eventlog.ControlSubject
		moderation *Moderation
		erasure    *Erasure
	}{
		{
			"ChAvNk7kqc2Ti+wiSnJI6JtVEipzY291bmRyZWwuY29udHJvbC52MS5tb2RlcmF0aW9uLnBsYXllci5hZGEYASIICPDgudgGEAU6FBgBIgZjaGVhdHMqA21vZAoDYWRh",
			eventlog.PlayerModerationSubject("ada"), &Moderation{PlayerID: "ada", Hidden: true, Reason: "cheats", ModeratorID: "mod", At: decidedAt}, nil,
		},
		{
			"ChDqJQ5JrXrw+BffGuWWgrZPEkdzY291bmRyZWwuY29udHJvbC52MS5tb2RlcmF0aW9uLmdhbWUuMjZxNC4wOS5hbXpoNDc4eXN2c2EyeDFja2dwOWs0dzBzNBgBIggI8OC52AYQBTo2GAEiCWEgbWlzdGFrZSoDbW9kEiIyNnE0LTA5LWFtemg0Nzh5c3ZzYTJ4MWNrZ3A5azR3MHM0",
			eventlog.GameModerationSubject(game), &Moderation{Game: game, Hidden: true, Reason: "a mistake", ModeratorID: "mod", At: decidedAt}, nil,
		},
		{
			"ChDrUWkW6LhEbShHKJG970iaEidzY291bmRyZWwuY29udHJvbC52MS5lcmFzdXJlLnBsYXllci5hZGEYASIICPDgudgGEAVCBQoDYWRh",
			eventlog.ErasureSubject("ada"), nil, &Erasure{"ada", decidedAt},
		},
	} {
		data, err := base64.StdEncoding.DecodeString(test.data)
		if err != nil {
			t.Fatal(err)
		}
		m, erased, err := ReadDecision(eventlog.Stored{Event: eventlog.Event{Version: 1, Data: data}, Control: test.subject})
		if err != nil || !reflect.DeepEqual(m, test.moderation) || !reflect.DeepEqual(erased, test.erasure) {
			t.Errorf("%s: %+v, %+v, %v", test.subject, m, erased, err)
		}
	}
}

func TestReadDecisionRefuses(t *testing.T) {
	for name, kind := range map[string]*eventv1.ControlRecord{
		"another player":        {Kind: &eventv1.ControlRecord_Moderation{Moderation: &eventv1.Moderation{Target: &eventv1.Moderation_PlayerId{PlayerId: "bob"}}}},
		"no game":               {Kind: &eventv1.ControlRecord_Moderation{Moderation: &eventv1.Moderation{Target: &eventv1.Moderation_GameId{GameId: "x"}}}},
		"nobody":                {Kind: &eventv1.ControlRecord_Moderation{Moderation: &eventv1.Moderation{}}},
		"another player erased": {Kind: &eventv1.ControlRecord_Erasure{Erasure: &eventv1.Erasure{PlayerId: "bob"}}},
		"nobody erased":         {Kind: &eventv1.ControlRecord_Erasure{Erasure: &eventv1.Erasure{}}},
	} {
		log, subject := memlog.New(), eventlog.PlayerModerationSubject("ada")
		if _, _, err := decide(t.Context(), log, subject, decidedAt, TypeModeration, func(*eventv1.ControlRecord) (*eventv1.ControlRecord, error) {
			return proto.CloneOf(kind), nil
		}); err != nil {
			t.Fatal(err)
		}
		if m, erased, err := ReadDecision(control(t, log)[0]); !errors.Is(err, ErrMalformed) || m != nil || erased != nil {
			t.Errorf("%s: %+v, %+v, %v", name, m, erased, err)
		}
	}
}
