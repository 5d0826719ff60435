package eventlog_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
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
	// Ids that were given out must never change.
	if got, want := eventlog.DeriveGameID("26q4", "ada", "r1").String(), "26q4-05-07e62b6zbvby9xk80qd4s707km"; got != want {
		t.Errorf("derived %s, was %s", got, want)
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

func TestZeroGameID(t *testing.T) {
	var id eventlog.GameID
	if !id.IsZero() || id.String() != "" || id.Epoch() != "" || id.Shard() != 0 {
		t.Errorf("the zero id is %q of epoch %q, shard %d", id, id.Epoch(), id.Shard())
	}
}

func TestShardIsTheHashOfTheLastPart(t *testing.T) {
	seen := map[int]bool{}
	for range 2000 {
		id := eventlog.NewGameID(time.Unix(0, 0))
		text := id.String()
		sum := sha256.Sum256([]byte(text[len(text)-26:]))
		if want := int(sum[0] % 64); id.Shard() != want || text[5:7] != fmt.Sprintf("%02x", want) {
			t.Fatalf("%s is in shard %d, want %d", id, id.Shard(), want)
		}
		seen[id.Shard()] = true
	}
	if len(seen) != 64 {
		t.Errorf("2000 games are in %d shards", len(seen))
	}
}

func TestParseSubject(t *testing.T) {
	id := eventlog.DeriveGameID("26q4", "x")
	if got, err := eventlog.ParseSubject(id.Subject()); err != nil || got != id {
		t.Errorf("%s reads as %s, %v", id.Subject(), got, err)
	}
	for _, s := range []string{"", id.String(), eventlog.SubjectPrefix + id.String(), id.Subject() + ".x", "x" + id.Subject()} {
		if _, err := eventlog.ParseSubject(s); !errors.Is(err, eventlog.ErrGameID) {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestStreamEpoch(t *testing.T) {
	if e, ok := eventlog.StreamEpoch(eventlog.Epoch("26q4").Stream()); !ok || e != "26q4" {
		t.Errorf("the stream of 26q4 is that of %q, %t", e, ok)
	}
	for _, name := range []string{"", "26Q4", "SCOUNDREL_GAMES_", "SCOUNDREL_GAMES_26q4", "SCOUNDREL_GAMES_26Q5", "SCOUNDREL_GAMES_26Q4_2", "X_SCOUNDREL_GAMES_26Q4", "SCOUNDREL_GAMES_26Q4\n"} {
		if e, ok := eventlog.StreamEpoch(name); ok {
			t.Errorf("%q is the stream of %q", name, e)
		}
	}
}

func FuzzParseGameID(f *testing.F) {
	f.Add(eventlog.DeriveGameID("26q4", "x").String())
	f.Add("26q4-00-")
	f.Fuzz(func(t *testing.T, s string) {
		id, err := eventlog.ParseGameID(s)
		switch {
		case err != nil && !errors.Is(err, eventlog.ErrGameID):
			t.Errorf("untyped error: %v", err)
		case err != nil && !id.IsZero():
			t.Errorf("%q reads as %v with %v", s, id, err)
		case err == nil && id.String() != s:
			t.Errorf("%q reads as %v", s, id)
		case err == nil:
			if again, err := eventlog.ParseSubject(id.Subject()); err != nil || again != id {
				t.Errorf("the subject of %v reads as %v, %v", id, again, err)
			}
		}
	})
}
