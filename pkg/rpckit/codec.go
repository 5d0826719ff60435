package rpckit

import (
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
)

var (
	errTooLarge    = errors.New("message too large")
	errUndecodable = errors.New("the message cannot be decoded")
)

// codec is the protobuf codec, except that it tells the reader of an inbound
// message about a fault instead of failing: where a codec fails, grpc sends a
// status of its own before any of our code sees the error.
type codec struct {
	encoding.CodecV2

	maxBytes int
}

// inbound is a message of a client on its way in.
type inbound struct {
	message any
	err     error
}

// Unmarshal implements encoding.CodecV2.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	in, ok := v.(*inbound)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	if data.Len() > c.maxBytes {
		in.err = fmt.Errorf("%w: %d bytes, at most %d are allowed", errTooLarge, data.Len(), c.maxBytes)
	} else if err := c.CodecV2.Unmarshal(data, in.message); err != nil {
		in.err = fmt.Errorf("%w: %w", errUndecodable, err)
	}
	return nil
}

// receive reads the next message of a stream; io.EOF at its end. Any other
// error has a place in the error table. Where grpc refused the message, it has
// answered by itself and ended the stream's context: what is returned then only
// tells the log why.
func receive(stream grpc.ServerStream, message any) error {
	in := inbound{message: message}
	err := stream.RecvMsg(&in)
	switch {
	case err == nil:
		return in.err
	case errors.Is(err, io.EOF):
		return err
	case status.Code(err) == codes.ResourceExhausted:
		return fmt.Errorf("%w: %w", errTooLarge, err)
	case stream.Context().Err() != nil:
		// Only the text of err: its code would count before the context's end.
		return fmt.Errorf("%w: %s", stream.Context().Err(), status.Convert(err).Message())
	default:
		return fmt.Errorf("%w: %w", errUndecodable, err)
	}
}
