package moderation

import (
	"errors"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	rpcv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rpc/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
)

// GameNotFoundError says that there is no such game.
type GameNotFoundError struct{ GameID string }

// Error implements error.
func (e *GameNotFoundError) Error() string { return "there is no game " + e.GameID }

// retryAfter is when to decide again after others did at the same time.
const retryAfter = 100 * time.Millisecond

// Problems maps the service's errors to what a client sees.
func Problems(err error) (rpckit.Problem, bool) {
	var notFound *GameNotFoundError
	p := rpckit.Problem{Message: err.Error()}
	switch {
	case errors.Is(err, errNotAModerator):
		p.Code, p.Reason = codes.PermissionDenied, rpcv1.ErrorReason_ERROR_REASON_NOT_A_MODERATOR
	case errors.As(err, &notFound):
		p.Code, p.Reason = codes.NotFound, rpcv1.ErrorReason_ERROR_REASON_GAME_NOT_FOUND
		p.Metadata = map[string]string{"game_id": notFound.GameID}
	case errors.Is(err, eventlog.ErrConflict):
		p.Code, p.Reason, p.RetryAfter = codes.Unavailable, rpcv1.ErrorReason_ERROR_REASON_NOT_STORED, retryAfter
		p.Message = "others kept deciding at the same time"
	default:
		return p, false
	}
	return p, true
}
