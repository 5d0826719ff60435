package rpckit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
)

// method is what the service under test does, whichever way it is called.
type method func(context.Context, *gamev1.PlayMoveRequest) (*gamev1.PlayMoveResponse, error)

// games is a service with one unary method.
type games struct {
	gamev1.UnimplementedGameServiceServer

	play method
}

func (g games) PlayMove(ctx context.Context, req *gamev1.PlayMoveRequest) (*gamev1.PlayMoveResponse, error) {
	return g.play(ctx, req)
}

// talk describes a service with the same method as a stream of both sides.
var talk = grpc.ServiceDesc{
	ServiceName: "test.Talk",
	HandlerType: (*any)(nil),
	Streams: []grpc.StreamDesc{{
		StreamName: "Play", ClientStreams: true, ServerStreams: true,
		Handler: func(srv any, stream grpc.ServerStream) error {
			for {
				req := new(gamev1.PlayMoveRequest)
				if err := stream.RecvMsg(req); err != nil {
					return ignoreEOF(err)
				}
				res, err := srv.(method)(stream.Context(), req)
				if err != nil {
					return err
				}
				if err := stream.SendMsg(res); err != nil {
					return err
				}
			}
		},
	}},
}

const (
	unaryMethod  = gamev1.GameService_PlayMove_FullMethodName
	streamMethod = "/test.Talk/Play"
)

// way is one of the two ways to call.
type way struct {
	method string
	call   func(ctx context.Context, conn *grpc.ClientConn, req any, opts ...grpc.CallOption) error
}

// ways are both; what holds for one must hold for the other.
var ways = map[string]way{
	"unary": {unaryMethod, func(ctx context.Context, conn *grpc.ClientConn, req any, opts ...grpc.CallOption) error {
		return conn.Invoke(ctx, unaryMethod, req, new(gamev1.PlayMoveResponse), opts...)
	}},
	"stream": {streamMethod, func(ctx context.Context, conn *grpc.ClientConn, req any, opts ...grpc.CallOption) error {
		return callStream(ctx, conn, streamMethod, req, opts...)
	}},
}

// callStream sends one message and reads until the stream ends.
func callStream(ctx context.Context, conn *grpc.ClientConn, method string, req any, opts ...grpc.CallOption) error {
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method, opts...)
	if err != nil {
		return err
	}
	// A failure to send shows its cause at the next receive.
	if err := stream.SendMsg(req); ignoreEOF(err) != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	for {
		if err := stream.RecvMsg(new(gamev1.PlayMoveResponse)); err != nil {
			return ignoreEOF(err)
		}
	}
}

// logged is a log that can be read while it is written.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// lines returns the lines with a message, each as a JSON object.
func (l *logged) lines(t *testing.T, msg string) []map[string]any {
	t.Helper()
	var found []map[string]any
	for text := range strings.Lines(l.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		if line["msg"] == msg {
			found = append(found, line)
		}
	}
	return found
}

// world is a running server and a connection to it.
type world struct {
	server *rpckit.Server
	conn   *grpc.ClientConn
	log    *logged
	stop   context.CancelFunc
	done   <-chan error // what Run returned
}

// serve runs a server with both services and stops it when the test ends.
func serve(t testing.TB, cfg rpckit.Config, play method) *world {
	t.Helper()
	w := &world{log: &logged{}}
	cfg.Logger = slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	server, err := rpckit.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	gamev1.RegisterGameServiceServer(server, games{play: play})
	server.RegisterService(&talk, play)
	w.server = server
	return w
}

// run starts the server; what it needs is registered.
func (w *world) run(t testing.TB) *world {
	t.Helper()
	listener := bufconn.Listen(1 << 20)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- w.server.Run(ctx, listener)
		close(done)
	}()
	w.stop, w.done, w.conn = stop, done, dial(t, listener)
	t.Cleanup(func() {
		stop()
		for err := range done {
			if err != nil {
				t.Error(err)
			}
		}
	})
	return w
}

func dial(t testing.TB, listener *bufconn.Listener) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///bufconn",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return conn
}

// as returns the context of a call with metadata, the keys and values in turn.
func as(t testing.TB, kv ...string) context.Context {
	return metadata.AppendToOutgoingContext(t.Context(), kv...)
}

// answered is the method that always succeeds.
func answered(context.Context, *gamev1.PlayMoveRequest) (*gamev1.PlayMoveResponse, error) {
	return &gamev1.PlayMoveResponse{}, nil
}

// unreachable is the method of calls that must be refused before it.
func unreachable(t *testing.T) method {
	return func(context.Context, *gamev1.PlayMoveRequest) (*gamev1.PlayMoveResponse, error) {
		t.Error("the method ran")
		return nil, nil
	}
}

// want checks an error's code and reason, and that it has everything that every
// error has. It returns the names of the faulty fields.
func want(t *testing.T, err error, code codes.Code, reason string) []string {
	t.Helper()
	var fields []string
	var info *errdetails.ErrorInfo
	st := status.Convert(err)
	for _, d := range st.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			info = d
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				// No text of the library that only its authors understand.
				if v.GetDescription() == "" || strings.Contains(v.GetDescription(), "in list [0]") {
					t.Errorf("%q is wrong with %s", v.GetDescription(), v.GetField())
				}
				fields = append(fields, v.GetField())
			}
		}
	}
	if st.Code() != code || info.GetReason() != reason || info.GetDomain() != rpckit.Domain || st.Message() == "" {
		t.Fatalf("want %v %s, got %v %v", code, reason, err, st.Details())
	}
	return fields
}
