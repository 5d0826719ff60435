package eventlog_test

import (
	"encoding/base64"
	"errors"
	"testing"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
)

var position = eventlog.Position{Stream: "SCOUNDREL_GAMES_26Q4", Incarnation: "i", Sequence: 7}

func TestTokenNamesItsPosition(t *testing.T) {
	for _, p := range []eventlog.Position{position, {Stream: eventlog.ControlStream, Incarnation: "i", Sequence: 1}} {
		if got, err := eventlog.ParseToken(p.Token()); err != nil || got != p {
			t.Errorf("%+v reads as %+v, %v", p, got, err)
		}
	}
}

func TestParseTokenRefuses(t *testing.T) {
	for _, raw := range []string{
		"", "1", "1 SCOUNDREL_GAMES_26Q4 i", "2 SCOUNDREL_GAMES_26Q4 i 7", "1 SCOUNDREL_GAMES_26Q4 i 7 ",
		"1 SCOUNDREL_GAMES_26Q4  7", "1 SCOUNDREL_GAMES_26Q4 i 0", "1 SCOUNDREL_GAMES_26Q4 i 07", "1 SCOUNDREL_GAMES_26Q4 i -7",
		"1 SCOUNDREL_GAMES_26Q4 i 18446744073709551616", "1 OTHER i 7", "1 * i 7", "1  i 7",
	} {
		if p, err := eventlog.ParseToken(base64.RawURLEncoding.EncodeToString([]byte(raw))); !errors.Is(err, eventlog.ErrToken) {
			t.Errorf("%q reads as %+v, %v", raw, p, err)
		}
	}
	for _, token := range []string{"*", position.Token() + "=", " " + position.Token(), position.Token() + "\n"} {
		if p, err := eventlog.ParseToken(token); !errors.Is(err, eventlog.ErrToken) {
			t.Errorf("%q reads as %+v, %v", token, p, err)
		}
	}
}

func FuzzParseToken(f *testing.F) {
	f.Add(position.Token())
	f.Add("")
	f.Add("MSBhIGIgMA")
	f.Fuzz(func(t *testing.T, s string) {
		p, err := eventlog.ParseToken(s)
		switch {
		case err != nil && !errors.Is(err, eventlog.ErrToken):
			t.Errorf("untyped error: %v", err)
		case err == nil && p.Token() != s:
			t.Errorf("%q reads as %+v", s, p)
		}
	})
}
