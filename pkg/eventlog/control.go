package eventlog

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ControlStream is the name of the stream of what concerns more than one game:
// daily challenges, moderation, erasure. There is one, for all epochs. Tail and
// Event read it as they read a stream of games; Streams does not list it.
const ControlStream = "SCOUNDREL_CONTROL"

// ControlPrefix starts the subject of every event of the control stream.
const ControlPrefix = "scoundrel.control.v1."

// ErrControlSubject is the error of a malformed control subject.
var ErrControlSubject = errors.New("malformed control subject")

// ControlSubject is what an event of the control stream is about: the events of
// one subject follow each other by compare-and-set, as those of a game do.
// Compare subjects with ==. The zero value is no subject at all.
type ControlSubject struct{ text string }

// DailySubject returns the subject of the challenge of a date, such as
// "2026-12-01", and a ruleset's id.
func DailySubject(date, rulesetID string) ControlSubject {
	tokens := []string{"daily", date}
	return controlSubject(append(tokens, strings.Split(rulesetID, ".")...)...)
}

// PlayerModerationSubject returns the subject of decisions about a player.
func PlayerModerationSubject(playerID string) ControlSubject {
	return controlSubject("moderation", "player", playerID)
}

// GameModerationSubject returns the subject of decisions about a game.
func GameModerationSubject(game GameID) ControlSubject {
	tokens := []string{"moderation", "game"}
	return controlSubject(append(tokens, strings.Split(game.String(), "-")...)...)
}

// ErasureSubject returns the subject of a player's wishes to be forgotten.
func ErasureSubject(playerID string) ControlSubject {
	return controlSubject("erasure", "player", playerID)
}

// controlSubject makes a subject of any tokens; other tokens make another one.
func controlSubject(tokens ...string) ControlSubject {
	safe := make([]string, len(tokens))
	for i, t := range tokens {
		safe[i] = safeToken(t)
	}
	return ControlSubject{ControlPrefix + strings.Join(safe, ".")}
}

// safeToken returns text as one token of a subject. Letters, digits, '_' and '-'
// stand for themselves and every other byte for '=' and two hex digits, since
// dots divide subjects, and blanks and wildcards may not be in them. A token
// cannot be empty: "=" stands for that.
func safeToken(text string) string {
	if text == "" {
		return "="
	}
	var b strings.Builder
	for _, c := range []byte(text) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "=%02X", c)
		}
	}
	return b.String()
}

var controlForm = regexp.MustCompile(`^` + regexp.QuoteMeta(ControlPrefix) + `[A-Za-z0-9_=-]+(\.[A-Za-z0-9_=-]+)*$`)

// ParseControlSubject reads a subject of the control stream. It accepts kinds of
// subjects that this program does not make. Its error wraps ErrControlSubject.
func ParseControlSubject(s string) (ControlSubject, error) {
	if !controlForm.MatchString(s) {
		return ControlSubject{}, ErrControlSubject
	}
	return ControlSubject{s}, nil
}

// IsZero tells whether s is no subject at all.
func (s ControlSubject) IsZero() bool { return s == ControlSubject{} }

// String returns the subject as it stands in the log; "" for the zero value.
func (s ControlSubject) String() string { return s.text }
