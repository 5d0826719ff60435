package profile

import (
	"errors"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	rpcv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rpc/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
)

// NotFoundError says that a player has set no display name.
type NotFoundError struct{ PlayerID string }

// Error implements error.
func (e *NotFoundError) Error() string { return "player " + e.PlayerID + " has set no display name" }

// FieldError says that a field of the request makes no sense.
type FieldError struct{ Field, Problem string }

// Error implements error.
func (e *FieldError) Error() string { return e.Field + ": " + e.Problem }

// retryAfter is when a client should try again after the store was away.
const retryAfter = 500 * time.Millisecond

// Problems maps the service's errors to what a client sees.
func Problems(err error) (rpckit.Problem, bool) {
	var (
		notFound *NotFoundError
		field    *FieldError
	)
	var p rpckit.Problem
	switch {
	case errors.As(err, &notFound):
		p.Code, p.Reason, p.Message = codes.NotFound, rpcv1.ErrorReason_ERROR_REASON_PROFILE_NOT_FOUND, notFound.Error()
		p.Metadata = map[string]string{"player_id": notFound.PlayerID}
	case errors.As(err, &field):
		p.Code, p.Reason, p.Message = codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD, field.Error()
		p.Fields = []rpckit.Field{{Name: field.Field, Description: field.Problem}}
	case errors.Is(err, eventlog.ErrConflict):
		p.Code, p.Reason, p.RetryAfter = codes.Unavailable, rpcv1.ErrorReason_ERROR_REASON_NOT_STORED, retryAfter
		p.Message = "the player was erased several times at once"
	case errors.Is(err, ErrUnavailable):
		p.Code, p.Reason, p.RetryAfter = codes.Unavailable, rpcv1.ErrorReason_ERROR_REASON_STORAGE_UNAVAILABLE, retryAfter
		p.Message = "profiles cannot be reached at the moment"
	case errors.Is(err, ErrFull):
		p.Code, p.Reason, p.Message = codes.ResourceExhausted, rpcv1.ErrorReason_ERROR_REASON_STORAGE_FULL, "there is no room for profiles"
	default:
		return p, false
	}
	return p, true
}
