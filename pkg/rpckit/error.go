package rpckit

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	rpcv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rpc/v1"
)

// Domain is the domain of every google.rpc.ErrorInfo.
const Domain = "github.com/scoundrel-game/scoundrel"

// Problem is what a client sees of an error. Only a [Table] makes one.
type Problem struct {
	// Code is the status code; never OK.
	Code codes.Code
	// Reason tells apart what the code does not.
	Reason rpcv1.ErrorReason
	// Message is for people. It reaches the client, so it holds nothing that
	// the client may not know.
	Message string
	// Metadata are the details that the reason documents.
	Metadata map[string]string
	// RetryAfter is when to try again; 0 where that does not help.
	RetryAfter time.Duration
	// Fields are the faulty fields of the request.
	Fields []Field
}

// Field is one faulty field of a request.
type Field struct {
	// Name is its path, such as "move.card".
	Name string
	// Description says what is wrong with it.
	Description string
}

// Table says what the errors that it knows look like to a client; false for
// any other error.
type Table func(error) (Problem, bool)

// storageRetry is when to try again after the event log was away.
const storageRetry = 500 * time.Millisecond

// ToStatus maps an error by the first of tables that knows it, then by the
// kit's own table. An unknown error is INTERNAL with a fixed sentence, because
// its text may hold what nobody outside should see.
func ToStatus(err error, tables ...Table) *status.Status {
	return problemOf(err, tables).status()
}

func problemOf(err error, tables []Table) Problem {
	for _, table := range tables {
		// OK would turn the error into a success.
		if p, ok := table(err); ok && p.Code != codes.OK {
			return p
		}
	}
	return common(err)
}

// retryStopping is when to look for another server, or the same one again.
const retryStopping = time.Second

// common maps the errors that any service can return. It cannot tell whether
// the event log was away for a read or for a write: a service that writes says
// so in its own table, NOT_STORED, and what is left here is a read.
func common(err error) Problem {
	var invalid *protovalidate.ValidationError
	p := Problem{Message: err.Error()}
	switch {
	case errors.As(err, &invalid):
		p.Code, p.Reason = codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD
		for _, v := range invalid.Violations {
			text := cmp.Or(v.Proto.GetMessage(), v.Proto.GetRuleId())
			if v.Proto.GetRuleId() == "enum.not_in" { // no enumeration but the unset value is refused
				text = "must be set"
			}
			p.Fields = append(p.Fields, Field{Name: protovalidate.FieldPathString(v.Proto.GetField()), Description: text})
		}
	case errors.Is(err, errUndecodable):
		p.Code, p.Reason = codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD
	case errors.Is(err, errIdentity):
		p.Code, p.Reason = codes.Unauthenticated, rpcv1.ErrorReason_ERROR_REASON_IDENTITY_MISSING
	case errors.Is(err, errTooLarge):
		p.Code, p.Reason = codes.ResourceExhausted, rpcv1.ErrorReason_ERROR_REASON_MESSAGE_TOO_LARGE
	case errors.Is(err, errStopping):
		p.Code, p.Reason, p.Message = codes.Unavailable, rpcv1.ErrorReason_ERROR_REASON_SERVER_STOPPING, errStopping.Error()
		p.RetryAfter = retryStopping
	case errors.Is(err, errMethodUnknown):
		p.Code, p.Reason = codes.Unimplemented, rpcv1.ErrorReason_ERROR_REASON_METHOD_UNKNOWN
	case status.Code(err) == codes.Unimplemented:
		// What the generated Unimplemented...Server answers.
		p.Code, p.Reason, p.Message = codes.Unimplemented, rpcv1.ErrorReason_ERROR_REASON_METHOD_UNKNOWN, errMethodUnknown.Error()
	// The log's errors come before the context's: they often wrap the end of
	// one of the log's own deadlines, which the caller knows nothing of.
	case errors.Is(err, eventlog.ErrUnknownOutcome):
		p.Code, p.Reason, p.RetryAfter = codes.Unavailable, rpcv1.ErrorReason_ERROR_REASON_OUTCOME_UNKNOWN, storageRetry
		p.Message = "it is unknown whether the command was stored; retry with the same request_id"
	case errors.Is(err, eventlog.ErrUnavailable):
		p.Code, p.Reason, p.RetryAfter = codes.Unavailable, rpcv1.ErrorReason_ERROR_REASON_STORAGE_UNAVAILABLE, storageRetry
		p.Message = "the event log cannot be reached"
	case errors.Is(err, eventlog.ErrFull):
		p.Code, p.Reason, p.Message = codes.ResourceExhausted, rpcv1.ErrorReason_ERROR_REASON_STORAGE_FULL, "the event log is full"
	case errors.Is(err, context.Canceled):
		p.Code, p.Reason, p.Message = codes.Canceled, rpcv1.ErrorReason_ERROR_REASON_CALL_ENDED, "the call was cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		p.Code, p.Reason, p.Message = codes.DeadlineExceeded, rpcv1.ErrorReason_ERROR_REASON_CALL_ENDED, "the deadline passed"
	default:
		p.Code, p.Reason, p.Message = codes.Internal, rpcv1.ErrorReason_ERROR_REASON_INTERNAL, "an internal error occurred; it has been logged"
	}
	return p
}

// reason returns the reason as it stands in google.rpc.ErrorInfo.
func (p Problem) reason() string { return strings.TrimPrefix(p.Reason.String(), "ERROR_REASON_") }

// status returns the problem as a status with its details.
func (p Problem) status() *status.Status {
	st := status.New(p.Code, p.Message)
	details := []protoadapt.MessageV1{&errdetails.ErrorInfo{Reason: p.reason(), Domain: Domain, Metadata: p.Metadata}}
	if len(p.Fields) > 0 {
		bad := &errdetails.BadRequest{}
		for _, f := range p.Fields {
			bad.FieldViolations = append(bad.FieldViolations, &errdetails.BadRequest_FieldViolation{Field: f.Name, Description: f.Description})
		}
		details = append(details, bad)
	}
	if p.RetryAfter > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(p.RetryAfter)})
	}
	// Only text that is not UTF-8 can fail here; the code then says enough.
	if detailed, err := st.WithDetails(details...); err == nil {
		return detailed
	}
	return st
}
