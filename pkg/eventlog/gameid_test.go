package eventlog_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
)

func TestEpochIsTheQuarterInUTC(t *testing.T) {
	east := time.FixedZone("east", 14*3600)
	for at, want := range map[time.Time]eventlog.Epoch{
		time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC):              "26q1",
		time.Date(2026, 3, 31, 23, 59, 59, 999999999, time.UTC):  "26q1",
		time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC):              "26q2",
		time.Date(2026, 12, 31, 23, 59, 59, 999999999, time.UTC): "26q4",
		time.Date(2027, 1, 1, 13, 59, 0, 0, east):                "26q4",
	} {
		if got := eventlog.EpochOf(at); got != want {
			t.Errorf("%v: %s, want %s", at, got, want)
		}
	}
}

func TestGameIDs(t *testing.T) {
	at := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	a, b := eventlog.NewGameID(at), eventlog.NewGameID(at)
	if a == b || a.IsZero() || a.Epoch() != "26q4" {
		t.Errorf("new ids %v, %v", a, b)
	}
	if eventlog.DeriveGameID("26q4", "ada", "r1") != eventlog.DeriveGameID("26q4", "ada", "r1") {
		t.Error("equal parts give different ids")
	}
	// The parts are kept apart: moving a character across does not collide.
	if eventlog.DeriveGameID("26q4", "ada", "r1") == eventlog.DeriveGameID("26q4", "adar", "1") {
		t.Error("different parts give equal ids")
	}
	if got, want := a.Subject(), "scoundrel.game.v1."+strings.ReplaceAll(a.String(), "-", "."); got != want {
		t.Errorf("subject %s, want %s", got, want)
	}
}

func TestParseGameIDRefuses(t *testing.T) {
	good := eventlog.DeriveGameID("26q4", "x").String()
	wrongShard := good[:5] + map[bool]string{true: "00", false: "01"}[good[5:7] != "00"] + good[7:]
	for _, s := range []string{
		"", "26q4", good + "0", good[:len(good)-1], strings.ToUpper(good), "26q5" + good[4:],
		strings.ReplaceAll(good, "-", "."), " " + good, good + "\n", wrongShard, good[:8] + strings.Repeat("*", 26),
	} {
		if _, err := eventlog.ParseGameID(s); !errors.Is(err, eventlog.ErrGameID) {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func FuzzParseGameID(f *testing.F) {
	f.Add(eventlog.DeriveGameID("26q4", "x").String())
	f.Add("26q4-00-")
	f.Fuzz(func(t *testing.T, s string) {
		id, err := eventlog.ParseGameID(s)
		if err == nil && id.String() != s {
			t.Errorf("%q reads as %v", s, id)
		}
	})
}

func FuzzParseToken(f *testing.F) {
	p := eventlog.Position{Stream: "SCOUNDREL_GAMES_26Q4", Incarnation: "i", Sequence: 7}
	f.Add(p.Token())
	f.Add("")
	f.Add("MSBhIGIgMA")
	if got, err := eventlog.ParseToken(p.Token()); err != nil || got != p {
		f.Fatalf("%+v reads as %+v, %v", p, got, err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := eventlog.ParseToken(s)
		if err != nil {
			if !errors.Is(err, eventlog.ErrToken) {
				t.Errorf("untyped error: %v", err)
			}
			return
		}
		if again, err := eventlog.ParseToken(p.Token()); err != nil || again != p {
			t.Errorf("%+v reads as %+v, %v", p, again, err)
		}
	})
}
