package scoring

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"time"

	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// A page token says where a page ends, so that the next one goes on right there
// whatever happened meanwhile. It is
//
//	tag [16] content
//
// in base64. The tag signs the query and the content: HMAC-SHA256, cut short. So a
// token is one that a server with the same key has made, for the same query; it
// holds after a restart and at other instances, and in later releases.
type tokens struct{ key []byte }

// MinTokenKey is the least length of the key of page tokens, in bytes.
const MinTokenKey = 32

const tagSize = 16

func (t tokens) seal(query string, content []byte) string {
	return base64.RawURLEncoding.EncodeToString(append(t.tag(query, content), content...))
}

// open returns the content of a token of this query. ErrPageToken.
func (t tokens) open(query, token string) ([]byte, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPageToken, err)
	}
	if len(b) < tagSize || !hmac.Equal(b[:tagSize], t.tag(query, b[tagSize:])) {
		return nil, ErrPageToken
	}
	return b[tagSize:], nil
}

func (t tokens) tag(query string, content []byte) []byte {
	h := hmac.New(sha256.New, t.key)
	fmt.Fprintf(h, "%q ", query)
	h.Write(content)
	return h.Sum(nil)[:tagSize]
}

// entriesQuery names the query of a token of a board's pages. Its content is
//
//	direction [1] score [4] moves [4] ended_at [8] sequence [8] stream
//
// big-endian: the key of the entry next to the page, below which (direction 0) or
// above which (1) it lies.
func entriesQuery(b projection.Board) string { return "ListLeaderboardEntries/2 " + b.String() }

const pageTokenMin = 1 + 4 + 4 + 8 + 8

// page returns the token of a range of a board, which has After or Before.
func (t tokens) page(board projection.Board, r projection.Range) string {
	key, direction := r.After, byte(0)
	if r.Before != nil {
		key, direction = r.Before, 1
	}
	b := append(make([]byte, 0, pageTokenMin+len(key.Stream)), direction)
	b = binary.BigEndian.AppendUint32(b, uint32(key.Score))
	b = binary.BigEndian.AppendUint32(b, key.Moves)
	b = binary.BigEndian.AppendUint64(b, uint64(key.EndedAt.UnixNano()))
	b = binary.BigEndian.AppendUint64(b, key.Sequence)
	return t.seal(entriesQuery(board), append(b, key.Stream...))
}

// parsePage returns the range that a token of this board names, the top for
// an empty token. ErrPageToken.
func (t tokens) parsePage(board projection.Board, token string) (r projection.Range, err error) {
	if token == "" {
		return r, nil
	}
	b, err := t.open(entriesQuery(board), token)
	if err != nil {
		return r, err
	}
	if len(b) < pageTokenMin {
		return r, ErrPageToken
	}
	key := &projection.Key{
		Score:    int(int32(binary.BigEndian.Uint32(b[1:]))),
		Moves:    binary.BigEndian.Uint32(b[5:]),
		EndedAt:  time.Unix(0, int64(binary.BigEndian.Uint64(b[9:]))).UTC(),
		Sequence: binary.BigEndian.Uint64(b[17:]),
		Stream:   string(b[25:]),
	}
	if b[0] == 1 {
		r.Before = key
	} else {
		r.After = key
	}
	return r, nil
}

// listQuery names the query of a token of a list of boards. Its content is
//
//	actor_kind [1] period [1] opens_at [8] ruleset
//
// of the last board of the page.
func listQuery(only projection.Board) string {
	return fmt.Sprintf("ListLeaderboards/1 %q %d %d", only.RulesetID, only.ActorKind, only.Period)
}

func (t tokens) board(only, last projection.Board) string {
	b := []byte{byte(last.ActorKind), byte(last.Period)}
	var opens int64
	if last.Period != projection.AllTime {
		opens = last.OpensAt.UnixNano()
	}
	b = binary.BigEndian.AppendUint64(b, uint64(opens))
	return t.seal(listQuery(only), append(b, last.RulesetID...))
}

// parseBoard returns the board that a token of this list names, nil for an
// empty token. ErrPageToken.
func (t tokens) parseBoard(only projection.Board, token string) (*projection.Board, error) {
	if token == "" {
		return nil, nil
	}
	b, err := t.open(listQuery(only), token)
	if err != nil {
		return nil, err
	}
	if len(b) < 10 {
		return nil, ErrPageToken
	}
	board := &projection.Board{ActorKind: eventv1.ActorKind(b[0]), Period: projection.Period(b[1]), RulesetID: string(b[10:])}
	if board.Period != projection.AllTime {
		board.OpensAt = time.Unix(0, int64(binary.BigEndian.Uint64(b[2:]))).UTC()
	}
	return board, nil
}
