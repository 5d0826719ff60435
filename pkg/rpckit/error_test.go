package rpckit_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	rpcv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rpc/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
)

func TestTableOfTheKit(t *testing.T) {
	for _, c := range []struct {
		err    error
		code   codes.Code
		reason string
		retry  bool
	}{
		{eventlog.ErrUnavailable, codes.Unavailable, "STORAGE_UNAVAILABLE", true},
		{fmt.Errorf("%w: %w", eventlog.ErrUnavailable, context.DeadlineExceeded), codes.Unavailable, "STORAGE_UNAVAILABLE", true},
		{fmt.Errorf("%w: %w", eventlog.ErrUnknownOutcome, context.Canceled), codes.Unavailable, "OUTCOME_UNKNOWN", true},
		{eventlog.ErrFull, codes.ResourceExhausted, "STORAGE_FULL", false},
		{context.Canceled, codes.Canceled, "CALL_ENDED", false},
		{context.DeadlineExceeded, codes.DeadlineExceeded, "CALL_ENDED", false},
		{eventlog.ErrDamaged, codes.Internal, "INTERNAL", false},
		{errDeck, codes.Internal, "INTERNAL", false},
	} {
		t.Run(c.err.Error(), func(t *testing.T) {
			st := rpckit.ToStatus(fmt.Errorf("play: %w", c.err))
			want(t, st.Err(), c.code, c.reason)
			var retry *errdetails.RetryInfo
			for _, d := range st.Details() {
				if d, ok := d.(*errdetails.RetryInfo); ok {
					retry = d
				}
			}
			if (retry.GetRetryDelay().AsDuration() > 0) != c.retry {
				t.Errorf("retry %v", retry)
			}
		})
	}
}

// knows returns a table that knows one error.
func knows(known error, p rpckit.Problem) rpckit.Table {
	return func(err error) (rpckit.Problem, bool) { return p, errors.Is(err, known) }
}

func TestFirstTableThatKnowsTheErrorCounts(t *testing.T) {
	tables := []rpckit.Table{
		knows(errDeck, rpckit.Problem{Code: codes.NotFound, Reason: rpcv1.ErrorReason_ERROR_REASON_GAME_NOT_FOUND, Message: "first"}),
		knows(errDeck, rpckit.Problem{Code: codes.Aborted, Message: "second"}),
		knows(eventlog.ErrUnavailable, rpckit.Problem{Code: codes.Unavailable, Reason: rpcv1.ErrorReason_ERROR_REASON_NOT_STORED, Message: "third"}),
	}
	want(t, rpckit.ToStatus(errDeck, tables...).Err(), codes.NotFound, "GAME_NOT_FOUND")
	want(t, rpckit.ToStatus(eventlog.ErrUnavailable, tables...).Err(), codes.Unavailable, "NOT_STORED")
}

func TestProblemCarriesItsDetails(t *testing.T) {
	st := rpckit.ToStatus(errDeck, knows(errDeck, rpckit.Problem{
		Code: codes.Aborted, Reason: rpcv1.ErrorReason_ERROR_REASON_VERSION_MISMATCH, Message: "stale",
		Metadata:   map[string]string{"version": "7"},
		RetryAfter: 250 * time.Millisecond,
		Fields:     []rpckit.Field{{Name: "expected_version", Description: "is 6"}},
	}))
	fields := want(t, st.Err(), codes.Aborted, "VERSION_MISMATCH")
	if len(fields) != 1 || fields[0] != "expected_version" || st.Message() != "stale" {
		t.Errorf("fields %v of %v", fields, st)
	}
	info := &errdetails.ErrorInfo{Reason: "VERSION_MISMATCH", Domain: rpckit.Domain, Metadata: map[string]string{"version": "7"}}
	for _, d := range st.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			if !proto.Equal(d, info) {
				t.Errorf("info %v", d)
			}
		case *errdetails.RetryInfo:
			if d.GetRetryDelay().AsDuration() != 250*time.Millisecond {
				t.Errorf("retry %v", d)
			}
		}
	}
	if len(st.Details()) != 3 {
		t.Errorf("details %v", st.Details())
	}
}

func TestErrorNeverBecomesASuccess(t *testing.T) {
	want(t, rpckit.ToStatus(errDeck, knows(errDeck, rpckit.Problem{})).Err(), codes.Internal, "INTERNAL")
}
