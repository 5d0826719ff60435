package scoring

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// A page token is the key of the page's last entry, so that the next page goes
// on right below it whatever happened to the board meanwhile. It is
//
//	tag [8] score [4] moves [4] ended_at [8] sequence [8] stream
//
// in base64, big-endian. The tag is a hash of the query and the rest. It finds
// mistakes, not forgeries, which could name no more than another place of a
// public board.
const (
	tagSize      = 8
	pageTokenMin = tagSize + 4 + 4 + 8 + 8
)

// pageToken returns the token of the page that follows key on a board.
func pageToken(board string, key projection.Key) string {
	b := make([]byte, tagSize, pageTokenMin+len(key.Stream))
	b = binary.BigEndian.AppendUint32(b, uint32(key.Score))
	b = binary.BigEndian.AppendUint32(b, key.Moves)
	b = binary.BigEndian.AppendUint64(b, uint64(key.EndedAt.UnixNano()))
	b = binary.BigEndian.AppendUint64(b, key.Sequence)
	b = append(b, key.Stream...)
	copy(b, pageTag(board, b[tagSize:]))
	return base64.RawURLEncoding.EncodeToString(b)
}

// parsePageToken returns the key in a token of this board, nil for an empty
// token. ErrPageToken.
func parsePageToken(board, token string) (*projection.Key, error) {
	if token == "" {
		return nil, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPageToken, err)
	}
	if len(b) < pageTokenMin || !bytes.Equal(b[:tagSize], pageTag(board, b[tagSize:])) {
		return nil, ErrPageToken
	}
	b = b[tagSize:]
	return &projection.Key{
		Score:    int(int32(binary.BigEndian.Uint32(b))),
		Moves:    binary.BigEndian.Uint32(b[4:]),
		EndedAt:  time.Unix(0, int64(binary.BigEndian.Uint64(b[8:]))).UTC(),
		Sequence: binary.BigEndian.Uint64(b[16:]),
		Stream:   string(b[24:]),
	}, nil
}

func pageTag(board string, key []byte) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "ListLeaderboardEntries/1 %q ", board)
	h.Write(key)
	return h.Sum(nil)[:tagSize]
}
