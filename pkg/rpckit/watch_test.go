package rpckit_test

import (
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
)

// watching describes a service with a method that sends once and then waits for
// ever.
var watching = grpc.ServiceDesc{
	ServiceName: "test.Watch",
	HandlerType: (*any)(nil),
	Streams: []grpc.StreamDesc{{
		StreamName: "Watch", ServerStreams: true,
		Handler: func(_ any, stream grpc.ServerStream) error {
			if err := stream.RecvMsg(new(gamev1.PlayMoveRequest)); err != nil {
				return err
			}
			if err := stream.SendMsg(new(gamev1.PlayMoveResponse)); err != nil {
				return err
			}
			<-stream.Context().Done()
			return stream.Context().Err()
		},
	}},
}

// TestDrainEndsWatches stops a server that somebody watches: the watch ends at
// once, and its end says that another call may go on.
func TestDrainEndsWatches(t *testing.T) {
	w := serve(t, rpckit.Config{DrainTimeout: time.Hour}, unreachable(t))
	w.server.RegisterService(&watching, nil)
	w.run(t)
	stream, err := w.conn.NewStream(as(t, "x-player-id", "ann"), &watching.Streams[0], "/test.Watch/Watch")
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.SendMsg(valid()); err != nil {
		t.Fatal(err)
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if err := stream.RecvMsg(new(gamev1.PlayMoveResponse)); err != nil {
		t.Fatal(err)
	}
	w.stop()
	want(t, stream.RecvMsg(new(gamev1.PlayMoveResponse)), codes.Unavailable, "SERVER_STOPPING")
	if err := <-w.done; err != nil {
		t.Error(err)
	}
}
