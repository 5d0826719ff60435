package eventlog_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
)

func TestControlSubjects(t *testing.T) {
	game := eventlog.DeriveGameID("26q4", "x")
	// Subjects that are stored must never change.
	for want, s := range map[string]eventlog.ControlSubject{
		"scoundrel.control.v1.daily.2026-12-01.classic":                                       eventlog.DailySubject("2026-12-01", "classic"),
		"scoundrel.control.v1.daily.2026-12-01.classic=2Bmerchants=2Bdepth3":                  eventlog.DailySubject("2026-12-01", "classic+merchants+depth3"),
		"scoundrel.control.v1.daily.2026-12-01.at_most.play_all.overflow.dungeon":             eventlog.DailySubject("2026-12-01", "at_most.play_all.overflow.dungeon"),
		"scoundrel.control.v1.moderation.player.Ada-1_":                                       eventlog.PlayerModerationSubject("Ada-1_"),
		"scoundrel.control.v1.moderation.player.=2Ea=2E=2E=2A=3E=20=3D=C3=A9":                 eventlog.PlayerModerationSubject(".a..*> =é"),
		"scoundrel.control.v1.erasure.player.ada":                                             eventlog.ErasureSubject("ada"),
		"scoundrel.control.v1.moderation.player.=":                                            eventlog.PlayerModerationSubject(""),
		"scoundrel.control.v1.moderation.game." + strings.ReplaceAll(game.String(), "-", "."): eventlog.GameModerationSubject(game),
	} {
		if s.String() != want {
			t.Errorf("subject %s, was %s", s, want)
		}
		if got, err := eventlog.ParseControlSubject(want); err != nil || got != s {
			t.Errorf("%s reads as %s, %v", want, got, err)
		}
	}
	if (eventlog.ControlSubject{}).String() != "" || !(eventlog.ControlSubject{}).IsZero() || eventlog.PlayerModerationSubject("").IsZero() {
		t.Error("the zero subject is none, and nothing else is")
	}
}

func TestParseControlSubjectRefuses(t *testing.T) {
	for _, s := range []string{
		"", "scoundrel.control.v1", "scoundrel.control.v1.", "scoundrel.control.v1.a.", "scoundrel.control.v1..a", "scoundrel.control.v1.*",
		"scoundrel.control.v1.>", "scoundrel.control.v1.a b", "scoundrel.control.v1.a\n", "x.scoundrel.control.v1.a", "scoundrelxcontrol.v1.a",
		eventlog.DeriveGameID("26q4", "x").Subject(),
	} {
		if got, err := eventlog.ParseControlSubject(s); !errors.Is(err, eventlog.ErrControlSubject) || !got.IsZero() {
			t.Errorf("%q reads as %s, %v", s, got, err)
		}
	}
}

func FuzzControlSubjects(f *testing.F) {
	f.Add("ada", "a.da")
	f.Add("=2E", ".")
	f.Add("", "=")
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, subject := range []func(string) eventlog.ControlSubject{
			eventlog.PlayerModerationSubject,
			func(s string) eventlog.ControlSubject { return eventlog.DailySubject("2026-12-01", s) },
		} {
			if (subject(a) == subject(b)) != (a == b) {
				t.Errorf("%q and %q are %s and %s", a, b, subject(a), subject(b))
			}
			if got, err := eventlog.ParseControlSubject(subject(a).String()); err != nil || got != subject(a) {
				t.Errorf("%q: %s reads as %s, %v", a, subject(a), got, err)
			}
		}
	})
}
