package scoring

import (
	"bytes"
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
//	tag [8] content
//
// in base64. The tag is a hash of the query and the content. It finds mistakes,
// not forgeries, which could name no more than another place of a public board.
const tagSize = 8

func sealToken(query string, content []byte) string {
	return base64.RawURLEncoding.EncodeToString(append(tokenTag(query, content), content...))
}

// openToken returns the content of a token of this query. ErrPageToken.
func openToken(query, token string) ([]byte, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPageToken, err)
	}
	if len(b) < tagSize || !bytes.Equal(b[:tagSize], tokenTag(query, b[tagSize:])) {
		return nil, ErrPageToken
	}
	return b[tagSize:], nil
}

func tokenTag(query string, content []byte) []byte {
	h := sha256.New()
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

// pageToken returns the token of a range of a board, which has After or Before.
func pageToken(board projection.Board, r projection.Range) string {
	key, direction := r.After, byte(0)
	if r.Before != nil {
		key, direction = r.Before, 1
	}
	b := append(make([]byte, 0, pageTokenMin+len(key.Stream)), direction)
	b = binary.BigEndian.AppendUint32(b, uint32(key.Score))
	b = binary.BigEndian.AppendUint32(b, key.Moves)
	b = binary.BigEndian.AppendUint64(b, uint64(key.EndedAt.UnixNano()))
	b = binary.BigEndian.AppendUint64(b, key.Sequence)
	return sealToken(entriesQuery(board), append(b, key.Stream...))
}

// parsePageToken returns the range that a token of this board names, the top for
// an empty token. ErrPageToken.
func parsePageToken(board projection.Board, token string) (r projection.Range, err error) {
	if token == "" {
		return r, nil
	}
	b, err := openToken(entriesQuery(board), token)
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

func boardToken(only, last projection.Board) string {
	b := []byte{byte(last.ActorKind), byte(last.Period)}
	var opens int64
	if last.Period != projection.AllTime {
		opens = last.OpensAt.UnixNano()
	}
	b = binary.BigEndian.AppendUint64(b, uint64(opens))
	return sealToken(listQuery(only), append(b, last.RulesetID...))
}

// parseBoardToken returns the board that a token of this list names, nil for an
// empty token. ErrPageToken.
func parseBoardToken(only projection.Board, token string) (*projection.Board, error) {
	if token == "" {
		return nil, nil
	}
	b, err := openToken(listQuery(only), token)
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
