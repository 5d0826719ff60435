package eventlog

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// ErrGameID is the error of a malformed game id.
var ErrGameID = errors.New("malformed game id")

// Epoch is a UTC calendar quarter, such as "26q4": the span whose games share
// a stream, so that old games can be archived and removed as a whole.
type Epoch string

// EpochOf returns the epoch of a time.
func EpochOf(t time.Time) Epoch {
	t = t.UTC()
	return Epoch(fmt.Sprintf("%02dq%d", t.Year()%100, (int(t.Month())-1)/3+1))
}

// Stream returns the name of the epoch's stream, such as
// "SCOUNDREL_GAMES_26Q4".
func (e Epoch) Stream() string { return StreamPrefix + strings.ToUpper(string(e)) }

// StreamPrefix starts the name of every stream of games.
const StreamPrefix = "SCOUNDREL_GAMES_"

// StreamEpoch returns the epoch whose stream has this name, or false if the
// name is not that of a stream of games.
func StreamEpoch(name string) (Epoch, bool) {
	if !streamForm.MatchString(name) {
		return "", false
	}
	return Epoch(strings.ToLower(strings.TrimPrefix(name, StreamPrefix))), true
}

// GameID is the id of a game, `<epoch>-<shard>-<26 characters>`, such as
// "26q4-07-gpv30w6vzhqr4ygnysje44majg". The epoch is that of the game's start; the shard, 00 to
// 3f, follows from the last part. Compare ids with ==. The zero value is no id
// at all.
type GameID struct{ text string }

// Where the parts of an id begin.
const (
	shardAt = len("26q4-")
	unitAt  = len("26q4-3f-")
	idLen   = unitAt + 26

	idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"
)

var (
	idEncoding = base32.NewEncoding(idAlphabet).WithPadding(base32.NoPadding)
	// idForm holds what may stand at each place before the last part. A regular
	// expression would take as long as all else about a record that is read.
	idForm     = [unitAt]string{"0123456789", "0123456789", "q", "1234", "-", "0123", "0123456789abcdef", "-"}
	streamForm = regexp.MustCompile(`^` + StreamPrefix + `[0-9]{2}Q[1-4]$`)
)

// NewGameID returns an id that nobody can guess, for a game that starts at t.
func NewGameID(t time.Time) GameID {
	var b [16]byte
	rand.Read(b[:])
	return newGameID(EpochOf(t), b[:])
}

// DeriveGameID returns the id in epoch that belongs to parts: equal parts give
// equal ids, so that a repeated request finds the game it started.
func DeriveGameID(epoch Epoch, parts ...string) GameID {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return newGameID(epoch, h.Sum(nil)[:16])
}

func newGameID(epoch Epoch, b []byte) GameID {
	unit := idEncoding.EncodeToString(b)
	return GameID{fmt.Sprintf("%s-%02x-%s", epoch, shardOf(unit), unit)}
}

// shardOf spreads games over 64 shards by the last part of their id.
func shardOf(unit string) byte {
	return sha256.Sum256([]byte(unit))[0] % 64
}

// ParseGameID reads an id. Its error wraps ErrGameID.
func ParseGameID(s string) (GameID, error) {
	if len(s) != idLen {
		return GameID{}, ErrGameID
	}
	for i := range len(s) {
		allowed := idAlphabet
		if i < len(idForm) {
			allowed = idForm[i]
		}
		if strings.IndexByte(allowed, s[i]) < 0 {
			return GameID{}, ErrGameID
		}
	}
	id := GameID{s}
	if id.Shard() != int(shardOf(s[unitAt:])) {
		return GameID{}, fmt.Errorf("%w: the shard does not belong to it", ErrGameID)
	}
	return id, nil
}

// ParseSubject reads the id of the game whose subject in the log s is. Its
// error wraps ErrGameID.
func ParseSubject(s string) (GameID, error) {
	id, ok := strings.CutPrefix(s, SubjectPrefix)
	if !ok || strings.Contains(id, "-") {
		return GameID{}, ErrGameID
	}
	return ParseGameID(strings.ReplaceAll(id, ".", "-"))
}

// Epoch returns the epoch of the game's start.
func (id GameID) Epoch() Epoch {
	if id.IsZero() {
		return ""
	}
	return Epoch(id.text[:shardAt-1])
}

// Shard returns the game's shard, 0 to 63.
func (id GameID) Shard() int {
	if id.IsZero() {
		return 0
	}
	n, _ := strconv.ParseUint(id.text[shardAt:unitAt-1], 16, 8) // an id holds two hex digits there
	return int(n)
}

// IsZero tells whether id is no id at all.
func (id GameID) IsZero() bool { return id == GameID{} }

// String returns the id as clients know it; "" for the zero value.
func (id GameID) String() string { return id.text }

// Subject returns the game's subject in the log: the id with dots.
func (id GameID) Subject() string {
	return SubjectPrefix + strings.ReplaceAll(id.text, "-", ".")
}

// SubjectPrefix starts every game's subject.
const SubjectPrefix = "scoundrel.game.v1."
