package scoring

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"

	rpcv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rpc/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// Errors of tokens that cannot be honoured.
var (
	// ErrPageToken: a page token is malformed or belongs to another query.
	ErrPageToken = errors.New("page token not valid for this query")
	// ErrConsistencyToken: a consistency token is malformed or names no record
	// of the log.
	ErrConsistencyToken = errors.New("consistency token not valid")
)

// ScoreNotFoundError is the error of a game without a score.
type ScoreNotFoundError struct{ GameID string }

// NotYourGameError is the error of a game that only its owner may see.
type NotYourGameError struct{ GameID string }

// LeaderboardNotFoundError is the error of a ruleset without a board.
type LeaderboardNotFoundError struct{ RulesetID string }

// EntryNotFoundError is the error of a player who is not on a board.
type EntryNotFoundError struct{ RulesetID, PlayerID string }

// FieldError is the error of a field that makes no sense.
type FieldError struct{ Field, Problem string }

// BehindError is the error of a read that waited in vain for its consistency
// token to be projected.
type BehindError struct {
	// Records is how many records up to the token are still to come.
	Records uint64
}

func (e *FieldError) Error() string               { return e.Field + ": " + e.Problem }
func (e *ScoreNotFoundError) Error() string       { return "game " + e.GameID + " has no score" }
func (e *NotYourGameError) Error() string         { return "game " + e.GameID + " is its owner's alone" }
func (e *LeaderboardNotFoundError) Error() string { return "no leaderboard of ruleset " + e.RulesetID }
func (e *EntryNotFoundError) Error() string {
	return "player " + e.PlayerID + " has no entry on leaderboard " + e.RulesetID
}
func (e *BehindError) Error() string {
	return fmt.Sprintf("%d records behind the consistency token", e.Records)
}

// How long a caller should wait before trying again.
const (
	retryBehind  = 200 * time.Millisecond
	retryStorage = time.Second
)

// Problems says what the errors of this service are on the wire. It leaves
// those of the event log to rpckit.
func Problems(err error) (rpckit.Problem, bool) {
	var (
		noScore *ScoreNotFoundError
		notYour *NotYourGameError
		noBoard *LeaderboardNotFoundError
		noEntry *EntryNotFoundError
		behind  *BehindError
		field   *FieldError
	)
	switch {
	case errors.As(err, &noScore):
		return rpckit.Problem{
			Code: codes.NotFound, Reason: rpcv1.ErrorReason_ERROR_REASON_SCORE_NOT_FOUND,
			Message:  "the game has no score: it is not over, was abandoned, or is not known here yet",
			Metadata: map[string]string{"game_id": noScore.GameID},
		}, true
	case errors.As(err, &notYour):
		return rpckit.Problem{
			Code: codes.PermissionDenied, Reason: rpcv1.ErrorReason_ERROR_REASON_NOT_YOUR_GAME,
			Message:  "the score of a seeded game is open to its owner alone",
			Metadata: map[string]string{"game_id": notYour.GameID},
		}, true
	case errors.As(err, &noBoard):
		return rpckit.Problem{
			Code: codes.NotFound, Reason: rpcv1.ErrorReason_ERROR_REASON_LEADERBOARD_NOT_FOUND,
			Message:  fmt.Sprintf("there is no leaderboard of ruleset %q", noBoard.RulesetID),
			Metadata: map[string]string{"ruleset_id": noBoard.RulesetID},
		}, true
	case errors.As(err, &noEntry):
		return rpckit.Problem{
			Code: codes.NotFound, Reason: rpcv1.ErrorReason_ERROR_REASON_ENTRY_NOT_FOUND,
			Message:  "the player has no entry on this leaderboard",
			Metadata: map[string]string{"player_id": noEntry.PlayerID, "ruleset_id": noEntry.RulesetID},
		}, true
	case errors.As(err, &behind):
		return rpckit.Problem{
			Code: codes.Unavailable, Reason: rpcv1.ErrorReason_ERROR_REASON_BEHIND_TOKEN,
			Message:    "scores do not include yet what the consistency token names",
			Metadata:   map[string]string{"records_behind": strconv.FormatUint(behind.Records, 10)},
			RetryAfter: retryBehind,
		}, true
	case errors.As(err, &field):
		return rpckit.Problem{
			Code: codes.InvalidArgument, Reason: rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD,
			Message: field.Error(),
			Fields:  []rpckit.Field{{Name: field.Field, Description: field.Problem}},
		}, true
	case errors.Is(err, ErrPageToken):
		return rpckit.Problem{
			Code: codes.InvalidArgument, Reason: rpcv1.ErrorReason_ERROR_REASON_PAGE_TOKEN_INVALID,
			Message: "the page token is malformed or belongs to another query",
			Fields:  []rpckit.Field{{Name: "page_token", Description: "must be next_page_token of the same query"}},
		}, true
	case errors.Is(err, ErrConsistencyToken):
		return rpckit.Problem{
			Code: codes.InvalidArgument, Reason: rpcv1.ErrorReason_ERROR_REASON_CONSISTENCY_TOKEN_INVALID,
			Message: "the consistency token is malformed or names no record of the log",
			Fields:  []rpckit.Field{{Name: "consistency_token", Description: "must be one that a game command returned"}},
		}, true
	case errors.Is(err, projection.ErrUnavailable):
		return rpckit.Problem{
			Code: codes.Unavailable, Reason: rpcv1.ErrorReason_ERROR_REASON_STORAGE_UNAVAILABLE,
			Message:    "scores cannot be read at the moment",
			RetryAfter: retryStorage,
		}, true
	}
	return rpckit.Problem{}, false
}
