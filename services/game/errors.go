package game

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	rpcv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rpc/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
)

// NotFoundError says that there is no such game.
type NotFoundError struct{ GameID string }

// Error implements error.
func (e *NotFoundError) Error() string { return fmt.Sprintf("there is no game %q", e.GameID) }

// NotYourGameError says that the caller may not do this with another player's game.
type NotYourGameError struct{ GameID string }

// Error implements error.
func (e *NotYourGameError) Error() string {
	return fmt.Sprintf("game %s belongs to another player", e.GameID)
}

// MoveError says that the engine refused a move; it wraps the engine's error.
type MoveError struct {
	GameID  string
	Version uint64
	Move    engine.Move
	Err     error
}

// Error implements error.
func (e *MoveError) Error() string { return e.Err.Error() }

// Unwrap returns the engine's error.
func (e *MoveError) Unwrap() error { return e.Err }

// VersionMismatchError says that the game is not at the version the caller
// expected, or that other commands kept getting in first.
type VersionMismatchError struct {
	GameID  string
	Version uint64 // the current one
}

// Error implements error.
func (e *VersionMismatchError) Error() string {
	return fmt.Sprintf("game %s is at version %d", e.GameID, e.Version)
}

// VersionNotFoundError says that the game has no such version yet.
type VersionNotFoundError struct {
	GameID  string
	Version uint64 // the current one
}

// Error implements error.
func (e *VersionNotFoundError) Error() string {
	return fmt.Sprintf("game %s has no later version than %d", e.GameID, e.Version)
}

// RequestIDReusedError says that the request id belongs to another request.
type RequestIDReusedError struct {
	GameID  string
	Version uint64 // the one that used it
}

// Error implements error.
func (e *RequestIDReusedError) Error() string {
	return fmt.Sprintf("the request id was used for another request, which made version %d of game %s", e.Version, e.GameID)
}

// PresetUnknownError says that there is no preset of that name.
type PresetUnknownError struct{ Preset string }

// Error implements error.
func (e *PresetUnknownError) Error() string {
	return fmt.Sprintf("there is no preset %q; ListRulesets lists them", e.Preset)
}

// DailyClosedError says that the daily challenge of a game is final and takes no
// more moves.
type DailyClosedError struct{ GameID string }

// Error implements error.
func (e *DailyClosedError) Error() string {
	return fmt.Sprintf("the daily challenge of game %s is final", e.GameID)
}

// DailyNotFoundError says that there is no challenge of a date and a ruleset.
type DailyNotFoundError struct {
	Date      string
	RulesetID string
}

// Error implements error.
func (e *DailyNotFoundError) Error() string {
	return fmt.Sprintf("there is no daily challenge of %s by %q", e.Date, e.RulesetID)
}

// FieldError says that a field of the request makes no sense.
type FieldError struct{ Field, Problem string }

// Error implements error.
func (e *FieldError) Error() string { return e.Field + ": " + e.Problem }

// errPageToken: the page token is not one of ours, or another game's.
var errPageToken = errors.New("the page token does not belong to this query")

// errNotStored: the log was away; the command had no effect.
var errNotStored = errors.New("the command was not stored")

// retryAfter is when a client should try again after the log was away.
const retryAfter = 500 * time.Millisecond

// Problems maps the service's errors to what a client sees.
func Problems(err error) (rpckit.Problem, bool) {
	var (
		notFound   *NotFoundError
		notYours   *NotYourGameError
		move       *MoveError
		mismatch   *VersionMismatchError
		noVersion  *VersionNotFoundError
		reused     *RequestIDReusedError
		closed     *DailyClosedError
		noDaily    *DailyNotFoundError
		preset     *PresetUnknownError
		field      *FieldError
		versionKey = func(game string, v uint64) map[string]string {
			return map[string]string{"game_id": game, "version": strconv.FormatUint(v, 10)}
		}
	)
	p := rpckit.Problem{Message: err.Error()}
	switch {
	case errors.As(err, &notFound):
		p.Code, p.Reason = codes.NotFound, rpcv1.ErrorReason_ERROR_REASON_GAME_NOT_FOUND
		p.Metadata = map[string]string{"game_id": notFound.GameID}
	case errors.As(err, &notYours):
		p.Code, p.Reason = codes.PermissionDenied, rpcv1.ErrorReason_ERROR_REASON_NOT_YOUR_GAME
		p.Metadata = map[string]string{"game_id": notYours.GameID}
	case errors.As(err, &move) && errors.Is(err, engine.ErrGameOver):
		p.Code, p.Reason = codes.FailedPrecondition, rpcv1.ErrorReason_ERROR_REASON_GAME_OVER
		p.Metadata = versionKey(move.GameID, move.Version)
	case errors.As(err, &move):
		p.Code, p.Reason = codes.FailedPrecondition, rpcv1.ErrorReason_ERROR_REASON_ILLEGAL_MOVE
		p.Metadata = versionKey(move.GameID, move.Version)
		p.Metadata["move"] = move.Move.String()
		if illegal := new(engine.IllegalMoveError); errors.As(err, &illegal) {
			p.Metadata["why"] = illegal.Reason.String()
		}
	case errors.As(err, &mismatch):
		p.Code, p.Reason = codes.Aborted, rpcv1.ErrorReason_ERROR_REASON_VERSION_MISMATCH
		p.Metadata = versionKey(mismatch.GameID, mismatch.Version)
	case errors.As(err, &noVersion):
		p.Code, p.Reason = codes.NotFound, rpcv1.ErrorReason_ERROR_REASON_VERSION_NOT_FOUND
		p.Metadata = versionKey(noVersion.GameID, noVersion.Version)
	case errors.As(err, &reused):
		p.Code, p.Reason = codes.AlreadyExists, rpcv1.ErrorReason_ERROR_REASON_REQUEST_ID_REUSED
		p.Metadata = versionKey(reused.GameID, reused.Version)
	case errors.As(err, &closed):
		p.Code, p.Reason = codes.FailedPrecondition, rpcv1.ErrorReason_ERROR_REASON_DAILY_CLOSED
		p.Metadata = map[string]string{"game_id": closed.GameID}
	case errors.As(err, &noDaily):
		p.Code, p.Reason = codes.NotFound, rpcv1.ErrorReason_ERROR_REASON_DAILY_NOT_FOUND
		p.Metadata = map[string]string{"date": noDaily.Date, "ruleset_id": noDaily.RulesetID}
	case errors.As(err, &preset):
		p.Code, p.Reason = codes.NotFound, rpcv1.ErrorReason_ERROR_REASON_PRESET_UNKNOWN
		p.Metadata = map[string]string{"preset": preset.Preset}
	case errors.As(err, &field):
		p.Code, p.Reason = codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD
		p.Fields = []rpckit.Field{{Name: field.Field, Description: field.Problem}}
	case errors.Is(err, errPageToken):
		p.Code, p.Reason = codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_PAGE_TOKEN_INVALID
		p.Fields = []rpckit.Field{{Name: "page_token", Description: "must be next_page_token of the same query"}}
	case errors.Is(err, eventlog.ErrUnknownOutcome):
		p.Code, p.Reason, p.RetryAfter = codes.Unavailable, rpcv1.ErrorReason_ERROR_REASON_OUTCOME_UNKNOWN, retryAfter
		p.Message = "it is unknown whether the command was stored; retry with the same request_id"
	case errors.Is(err, errNotStored):
		p.Code, p.Reason, p.RetryAfter = codes.Unavailable, rpcv1.ErrorReason_ERROR_REASON_NOT_STORED, retryAfter
		p.Message = errNotStored.Error()
	default:
		return p, false
	}
	return p, true
}
