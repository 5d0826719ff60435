package rpckit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
)

var (
	errTooLarge      = errors.New("message too large")
	errMethodUnknown = errors.New("there is no such method")
)

// edge is what surrounds every call. One function serves unary calls and
// streams, so that the two cannot differ.
type edge struct {
	logger     *slog.Logger
	tables     []Table
	validator  protovalidate.Validator
	maxRequest int
	timeout    time.Duration
}

// open tells whether a method is for everybody: what tools and orchestrators
// call before they can know of players.
func open(method string) bool {
	return strings.HasPrefix(method, "/grpc.health.") || strings.HasPrefix(method, "/grpc.reflection.")
}

// around runs a call: it recovers panics, identifies the caller, maps the error
// and logs one line. Nothing of a message is ever logged.
func (e *edge) around(ctx context.Context, method string, call func(context.Context) error) (err error) {
	if open(method) {
		return call(ctx)
	}
	start := time.Now() //nolint:forbidigo // how long a call took is the real time
	var caller Identity
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		level, attrs := slog.LevelDebug, []slog.Attr{slog.String("method", method), slog.String("player", caller.PlayerID)}
		if err != nil {
			cause := err
			st := ToStatus(err, e.tables...)
			err = st.Err()
			attrs = append(attrs, slog.String("code", st.Code().String()))
			switch st.Code() {
			case codes.Internal:
				level, attrs = slog.LevelError, append(attrs, slog.Any("error", cause))
			case codes.Unavailable:
				level, attrs = slog.LevelWarn, append(attrs, slog.Any("error", cause))
			}
		}
		attrs = append(attrs, slog.Duration("took", time.Since(start)))
		e.logger.LogAttrs(ctx, level, "call", attrs...)
	}()
	if caller, err = identify(ctx); err != nil {
		return err
	}
	return call(WithCaller(ctx, caller))
}

// check refuses a message that is too large or breaks its contract.
func (e *edge) check(m any) error {
	msg, ok := m.(proto.Message)
	if !ok {
		return fmt.Errorf("a message of type %T", m)
	}
	if size := proto.Size(msg); size > e.maxRequest {
		return fmt.Errorf("%w: %d bytes, at most %d", errTooLarge, size, e.maxRequest)
	}
	return e.validator.Validate(msg)
}

func (e *edge) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (res any, err error) {
	err = e.around(ctx, info.FullMethod, func(ctx context.Context) error {
		if open(info.FullMethod) {
			res, err = handler(ctx, req)
			return err
		}
		if err := e.check(req); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, e.timeout)
		defer cancel()
		res, err = handler(ctx, req)
		return err
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

func (e *edge) stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return e.around(ss.Context(), info.FullMethod, func(ctx context.Context) error {
		if open(info.FullMethod) {
			return handler(srv, ss)
		}
		return handler(srv, &checkedStream{ss, ctx, e})
	})
}

// checkedStream checks every message that a client sends.
type checkedStream struct {
	grpc.ServerStream
	ctx  context.Context
	edge *edge
}

func (s *checkedStream) Context() context.Context { return s.ctx }

func (s *checkedStream) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	return s.edge.check(m)
}

// unknownMethod answers a call that no service has.
func (e *edge) unknownMethod(_ any, ss grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(ss)
	err := fmt.Errorf("%w: %s", errMethodUnknown, method)
	if open(method) {
		return ToStatus(err).Err()
	}
	return err
}
