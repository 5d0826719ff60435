package eventlog

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrToken is the error of a malformed consistency token.
var ErrToken = errors.New("malformed consistency token")

// Token returns p as an opaque consistency token. It holds nothing secret and
// proves nothing: a reader checks it against the log.
func (p Position) Token() string {
	return base64.RawURLEncoding.EncodeToString([]byte("1 " + p.Stream + " " + p.Incarnation + " " + strconv.FormatUint(p.Sequence, 10)))
}

// ParseToken reads a consistency token. A position has one token only: whatever
// else decodes to it is malformed. Its error wraps ErrToken.
func ParseToken(token string) (Position, error) {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return Position{}, fmt.Errorf("%w: %w", ErrToken, err)
	}
	parts := strings.Split(string(raw), " ")
	if len(parts) != 4 {
		return Position{}, fmt.Errorf("%w: %d parts", ErrToken, len(parts))
	}
	seq, err := strconv.ParseUint(parts[3], 10, 64)
	if err != nil {
		return Position{}, fmt.Errorf("%w: %w", ErrToken, err)
	}
	p := Position{parts[1], parts[2], seq}
	if _, ok := StreamEpoch(p.Stream); !ok && p.Stream != ControlStream || p.Incarnation == "" || p.Sequence == 0 || p.Token() != token {
		return Position{}, ErrToken
	}
	return p, nil
}
