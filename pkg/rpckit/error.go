package rpckit

import (
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

// Problem is what a client sees of an error.
type Problem struct {
	// Code is the status code.
	Code codes.Code
	// Reason tells apart what the code does not.
	Reason rpcv1.ErrorReason
	// Message is for people.
	Message string
	// Metadata are the details that ErrorReason documents.
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

// Table maps the errors that it knows to problems.
type Table func(error) (Problem, bool)

// storageRetry is when to try again after the log was away.
const storageRetry = 500 * time.Millisecond

// ToStatus maps an error by the first of tables that knows it, then by the
// kit's own. An unknown error is INTERNAL with a fixed sentence: its text may
// hold what nobody outside should see.
func ToStatus(err error, tables ...Table) *status.Status {
	for _, table := range append(tables, common) {
		if p, ok := table(err); ok {
			return p.status()
		}
	}
	return Problem{
		Code: codes.Internal, Reason: rpcv1.ErrorReason_ERROR_REASON_INTERNAL,
		Message: "an internal error occurred; it has been logged",
	}.status()
}

// common maps the errors that any service can return.
func common(err error) (Problem, bool) {
	p := Problem{Message: err.Error()}
	var invalid *protovalidate.ValidationError
	switch {
	case errors.As(err, &invalid):
		p.Code, p.Reason = codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD
		for _, v := range invalid.Violations {
			p.Fields = append(p.Fields, Field{protovalidate.FieldPathString(v.Proto.GetField()), v.Proto.GetMessage()})
		}
	case errors.Is(err, errIdentity):
		p.Code, p.Reason = codes.Unauthenticated, rpcv1.ErrorReason_ERROR_REASON_IDENTITY_MISSING
	case errors.Is(err, errTooLarge):
		p.Code, p.Reason = codes.ResourceExhausted, rpcv1.ErrorReason_ERROR_REASON_MESSAGE_TOO_LARGE
	case errors.Is(err, errMethodUnknown):
		p.Code, p.Reason = codes.Unimplemented, rpcv1.ErrorReason_ERROR_REASON_METHOD_UNKNOWN
	case errors.Is(err, context.Canceled):
		p.Code, p.Reason, p.Message = codes.Canceled, rpcv1.ErrorReason_ERROR_REASON_CALL_ENDED, "the call was cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		p.Code, p.Reason, p.Message = codes.DeadlineExceeded, rpcv1.ErrorReason_ERROR_REASON_CALL_ENDED, "the deadline passed"
	case errors.Is(err, eventlog.ErrUnavailable):
		p.Code, p.Reason, p.RetryAfter = codes.Unavailable, rpcv1.ErrorReason_ERROR_REASON_STORAGE_UNAVAILABLE, storageRetry
		p.Message = "the event log cannot be reached"
	case errors.Is(err, eventlog.ErrFull):
		p.Code, p.Reason, p.Message = codes.ResourceExhausted, rpcv1.ErrorReason_ERROR_REASON_STORAGE_FULL, "the event log is full"
	default:
		return Problem{}, false
	}
	return p, true
}

// status returns the problem as a status with its details.
func (p Problem) status() *status.Status {
	st := status.New(p.Code, p.Message)
	details := []protoadapt.MessageV1{&errdetails.ErrorInfo{
		Reason: strings.TrimPrefix(p.Reason.String(), "ERROR_REASON_"), Domain: Domain, Metadata: p.Metadata,
	}}
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
	// Details fail only for a status without an error, which a problem is not.
	if detailed, err := st.WithDetails(details...); err == nil {
		return detailed
	}
	return st
}
