package rpckit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	rpcv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rpc/v1"
)

var (
	errPanic         = errors.New("panic")
	errMethodUnknown = errors.New("there is no such method")
	errStopping      = errors.New("the server stops")
)

// edge is what surrounds every call.
type edge struct {
	logger      *slog.Logger
	tables      []Table
	validator   protovalidate.Validator
	callTimeout time.Duration
}

// interceptors returns the list that every call of a service runs through, the
// outermost first.
func (e *edge) interceptors() []grpc.StreamServerInterceptor {
	return []grpc.StreamServerInterceptor{
		e.rescue, // a panic of the edge itself
		e.bound,
		e.answer,
		e.identify,
		e.check,
		e.rescue, // a panic of a method, while answer can still map and log it
	}
}

// surround returns handler inside a list of interceptors.
func surround(list []grpc.StreamServerInterceptor, info *grpc.StreamServerInfo, handler grpc.StreamHandler) grpc.StreamHandler {
	for _, interceptor := range slices.Backward(list) {
		inner := handler
		handler = func(srv any, stream grpc.ServerStream) error { return interceptor(srv, stream, info, inner) }
	}
	return handler
}

// unary returns a unary method as a stream of one message each way, which is
// what it is to grpc too.
func unary(method grpc.MethodDesc) grpc.StreamHandler {
	return func(srv any, stream grpc.ServerStream) error {
		response, err := method.Handler(srv, stream.Context(), stream.RecvMsg, nil)
		if err != nil {
			return err
		}
		return stream.SendMsg(response)
	}
}

// withContext is a stream with another context.
type withContext struct {
	grpc.ServerStream

	ctx context.Context //nolint:containedctx // the interface has the context in the stream
}

// Context implements grpc.ServerStream.
func (s withContext) Context() context.Context { return s.ctx }

// rescue turns a panic into an error: one broken call must not end the others.
func (e *edge) rescue(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	defer func() {
		if p := recover(); p != nil {
			e.logger.ErrorContext(stream.Context(), "panic", "method", info.FullMethod, "panic", p, "stack", string(debug.Stack()))
			// A status, as nothing maps what the outermost interceptor returns.
			err = ToStatus(errPanic).Err()
		}
	}()
	return handler(srv, stream)
}

// bound ends the context of a unary call in time, whatever deadline its client
// set or forgot.
func (e *edge) bound(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if info.IsClientStream || info.IsServerStream {
		return handler(srv, stream)
	}
	ctx, cancel := context.WithTimeout(stream.Context(), e.callTimeout)
	defer cancel()
	return handler(srv, withContext{stream, ctx})
}

// line is what the edge learns about a call for its line in the log.
type line struct {
	player, game, request string
}

type lineKey struct{}

// answer turns the error of a call into a status and logs one line. Nothing of
// a message but the ids of its game and request is ever logged.
func (e *edge) answer(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	start := time.Now()
	var l line
	ctx := context.WithValue(stream.Context(), lineKey{}, &l)
	err := handler(srv, withContext{stream, ctx})

	level, code, answer := slog.LevelDebug, codes.OK, error(nil)
	attrs := make([]slog.Attr, 0, 8)
	attrs = append(attrs, slog.String("method", info.FullMethod), slog.String("player", l.player))
	if l.game != "" {
		attrs = append(attrs, slog.String("game", l.game))
	}
	if l.request != "" {
		attrs = append(attrs, slog.String("request", l.request))
	}
	if err != nil {
		p := problemOf(err, e.tables)
		if p.Code == codes.Internal && ctx.Err() != nil {
			// What a call that ended by itself leads to is no fault.
			p = problemOf(ctx.Err(), nil)
		}
		code, answer = p.Code, p.status().Err()
		attrs = append(attrs, slog.String("reason", p.reason()))
		switch code {
		case codes.Internal, codes.Unknown, codes.DataLoss:
			level = slog.LevelError
		case codes.Unavailable:
			level = slog.LevelWarn
		}
		if level > slog.LevelDebug || p.Reason == rpcv1.ErrorReason_ERROR_REASON_CALL_ENDED {
			// The client's faults stand in the answer; these do not.
			attrs = append(attrs, slog.Any("error", err))
		}
	}
	attrs = append(attrs, slog.String("code", code.String()), slog.Duration("took", time.Since(start)))
	e.logger.LogAttrs(ctx, level, "call", attrs...)
	return answer
}

// identify finds out who calls.
func (e *edge) identify(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx := stream.Context()
	caller, err := identify(ctx)
	if err != nil {
		return err
	}
	if l, ok := ctx.Value(lineKey{}).(*line); ok {
		l.player = caller.PlayerID
	}
	return handler(srv, withContext{stream, WithCaller(ctx, caller)})
}

// check refuses messages that are too large, cannot be decoded or break their
// contract.
func (e *edge) check(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	c := &checked{ServerStream: stream, validator: e.validator}
	if !info.IsClientStream {
		// Only here is the one message read before the method runs: a stream
		// may read from a goroutine of its own while answer logs.
		c.line, _ = stream.Context().Value(lineKey{}).(*line)
	}
	return handler(srv, c)
}

// checked is a stream that hands on nothing but valid messages.
type checked struct {
	grpc.ServerStream

	validator protovalidate.Validator
	line      *line // nil if the messages are many
}

// RecvMsg implements grpc.ServerStream.
func (c *checked) RecvMsg(m any) error {
	if err := receive(c.ServerStream, m); err != nil {
		return err
	}
	message, ok := m.(proto.Message)
	if !ok {
		return fmt.Errorf("a message of type %T cannot be validated", m)
	}
	if err := c.validator.Validate(message); err != nil {
		return err
	}
	if c.line != nil {
		if m, ok := m.(interface{ GetGameId() string }); ok {
			c.line.game = m.GetGameId()
		}
		if m, ok := m.(interface{ GetRequestId() string }); ok {
			c.line.request = m.GetRequestId()
		}
	}
	return nil
}

// unknownMethod answers a call that no service has.
func unknownMethod(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	return fmt.Errorf("%w: %q", errMethodUnknown, method)
}
