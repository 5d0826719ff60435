package rpckit_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	rpcv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rpc/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
)

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// valid is a request that keeps its contract.
func valid() *gamev1.PlayMoveRequest {
	return &gamev1.PlayMoveRequest{
		GameId: "some-game", RequestId: "some-request",
		Move: &rulesv1.Move{Kind: rulesv1.MoveKind_MOVE_KIND_AVOID},
	}
}

// each runs a test for both ways to call.
func each(t *testing.T, test func(*testing.T, way)) {
	t.Helper()
	for name, w := range ways {
		t.Run(name, func(t *testing.T) { test(t, w) })
	}
}

func TestCallerIsWhoTheMetadataNames(t *testing.T) {
	var got rpckit.Identity
	w := serve(t, rpckit.Config{}, func(ctx context.Context, req *gamev1.PlayMoveRequest) (*gamev1.PlayMoveResponse, error) {
		got = rpckit.Caller(ctx)
		return answered(ctx, req)
	}).run(t)
	longest := strings.Repeat("x", 64)
	each(t, func(t *testing.T, way way) {
		for _, c := range []struct {
			md   []string
			want rpckit.Identity
		}{
			{[]string{"x-player-id", "Ann_1.b-c"}, rpckit.Identity{PlayerID: "Ann_1.b-c", Actor: eventv1.ActorKind_ACTOR_KIND_HUMAN}},
			{[]string{"x-player-id", longest, "x-actor-kind", "human"}, rpckit.Identity{PlayerID: longest, Actor: eventv1.ActorKind_ACTOR_KIND_HUMAN}},
			{[]string{"X-Player-Id", "r2", "x-actor-kind", "bot"}, rpckit.Identity{PlayerID: "r2", Actor: eventv1.ActorKind_ACTOR_KIND_BOT}},
		} {
			got = rpckit.Identity{}
			if err := way.call(as(t, c.md...), w.conn, valid()); err != nil || got != c.want {
				t.Errorf("%q: %+v, %v", c.md, got, err)
			}
		}
	})
}

func TestCallsWithoutAnIdentityAreRefused(t *testing.T) {
	w := serve(t, rpckit.Config{}, unreachable(t)).run(t)
	each(t, func(t *testing.T, way way) {
		for _, md := range [][]string{
			nil,
			{"x-player-id", ""},
			{"x-player-id", strings.Repeat("x", 65)},
			{"x-player-id", "Ann Smith"},
			{"x-player-id", "a/b"},
			{"x-player-id", "ann", "x-player-id", "bob"},
			{"x-player-id", "ann", "x-actor-kind", "dog"},
			{"x-player-id", "ann", "x-actor-kind", ""},
			{"x-player-id", "ann", "x-actor-kind", "bot", "x-actor-kind", "human"},
		} {
			t.Run(strings.Join(md, " "), func(t *testing.T) {
				want(t, way.call(as(t, md...), w.conn, valid()), codes.Unauthenticated, "IDENTITY_MISSING")
			})
		}
	})
}

// raw is a codec of a client that sends whatever bytes it is given.
type raw struct{ encoding.CodecV2 }

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func TestBadRequestsAreRefusedWithAReason(t *testing.T) {
	w := serve(t, rpckit.Config{MaxRequestBytes: 1000}, unreachable(t)).run(t)
	ann := as(t, "x-player-id", "ann")
	rawly := grpc.ForceCodecV2(raw{encoding.GetCodecV2("proto")})
	each(t, func(t *testing.T, way way) {
		t.Run("field missing", func(t *testing.T) {
			fields := want(t, way.call(ann, w.conn, &gamev1.PlayMoveRequest{}), codes.InvalidArgument, "INVALID_FIELD")
			if !slices.Equal(fields, []string{"move"}) {
				t.Error(fields)
			}
		})
		t.Run("every bad field is named", func(t *testing.T) {
			req := valid()
			req.GameId, req.RequestId, req.Move.Kind = strings.Repeat("x", 65), "not one token", rulesv1.MoveKind_MOVE_KIND_UNSPECIFIED
			fields := want(t, way.call(ann, w.conn, req), codes.InvalidArgument, "INVALID_FIELD")
			slices.Sort(fields)
			if !slices.Equal(fields, []string{"game_id", "move.kind", "request_id"}) {
				t.Error(fields)
			}
		})
		t.Run("not protobuf", func(t *testing.T) {
			want(t, way.call(ann, w.conn, []byte{0xff}, rawly), codes.InvalidArgument, "INVALID_FIELD")
		})
		t.Run("not UTF-8", func(t *testing.T) {
			want(t, way.call(ann, w.conn, []byte{0x0a, 1, 0xff}, rawly), codes.InvalidArgument, "INVALID_FIELD")
		})
		for _, size := range []int{1001, 5 << 20, 16 << 20} {
			t.Run("too large", func(t *testing.T) {
				want(t, way.call(ann, w.conn, make([]byte, size), rawly), codes.ResourceExhausted, "MESSAGE_TOO_LARGE")
			})
		}
		t.Run("too large for grpc", func(t *testing.T) {
			if err := way.call(ann, w.conn, make([]byte, 16<<20+1), rawly); status.Code(err) != codes.ResourceExhausted {
				t.Error(err)
			}
		})
	})
}

func TestLogSaysWhyGRPCRefusedAMessage(t *testing.T) {
	w := serve(t, rpckit.Config{}, unreachable(t)).run(t)
	rawly := grpc.ForceCodecV2(raw{encoding.GetCodecV2("proto")})
	for _, way := range ways {
		if err := way.call(as(t, "x-player-id", "ann"), w.conn, make([]byte, 16<<20+1), rawly); err == nil {
			t.Error("no error")
		}
	}
	w.stop()
	if err := <-w.done; err != nil { // Every call is logged now.
		t.Error(err)
	}
	calls := w.log.lines(t, "call")
	if len(calls) != len(ways) {
		t.Fatalf("%d calls are logged", len(calls))
	}
	for _, line := range calls {
		if line["reason"] != "MESSAGE_TOO_LARGE" {
			t.Errorf("logged %v", line)
		}
	}
}

func TestLargestRequestIsServed(t *testing.T) {
	w := serve(t, rpckit.Config{MaxRequestBytes: 1000}, answered).run(t)
	each(t, func(t *testing.T, way way) {
		// A move of two bytes, then a field that the contract does not know,
		// which only fills.
		message := make([]byte, 1000)
		copy(message, []byte{0x12, 2, 0x08, byte(rulesv1.MoveKind_MOVE_KIND_AVOID), 0xfa, 0x01, 0xe0, 0x07})
		err := way.call(as(t, "x-player-id", "ann"), w.conn, message, grpc.ForceCodecV2(raw{encoding.GetCodecV2("proto")}))
		if err != nil {
			t.Error(err)
		}
	})
}

func TestUnknownMethodsAreRefused(t *testing.T) {
	w := serve(t, rpckit.Config{}, unreachable(t)).run(t)
	for _, method := range []string{
		"/scoundrel.game.v1.GameService/Cheat",
		"/scoundrel.game.v1.Nothing/PlayMove",
		gamev1.GameService_ResignGame_FullMethodName, // in the contract, but the server of this test has PlayMove alone
		"//",
	} {
		t.Run(method, func(t *testing.T) {
			err := w.conn.Invoke(as(t, "x-player-id", "ann"), method, &gamev1.ResignGameRequest{}, &gamev1.ResignGameResponse{})
			want(t, err, codes.Unimplemented, "METHOD_UNKNOWN")
		})
	}
}

func TestPanicEndsOnlyItsCall(t *testing.T) {
	broken := true
	w := serve(t, rpckit.Config{}, func(ctx context.Context, req *gamev1.PlayMoveRequest) (*gamev1.PlayMoveResponse, error) {
		if broken {
			panic("the deck is QS 10H")
		}
		return answered(ctx, req)
	}).run(t)
	each(t, func(t *testing.T, way way) {
		broken = true
		err := way.call(as(t, "x-player-id", "ann"), w.conn, valid())
		want(t, err, codes.Internal, "INTERNAL")
		if strings.Contains(err.Error(), "deck") {
			t.Errorf("the client sees %v", err)
		}
		panics := w.log.lines(t, "panic")
		last := panics[len(panics)-1]
		if stack, _ := last["stack"].(string); last["method"] != way.method || !strings.Contains(stack, "TestPanicEndsOnlyItsCall") {
			t.Errorf("logged %v", last)
		}
		if line := lastCall(t, w); line["method"] != way.method || line["player"] != "ann" || line["code"] != "Internal" {
			t.Errorf("logged %v", line)
		}
		broken = false
		if err := way.call(as(t, "x-player-id", "ann"), w.conn, valid()); err != nil {
			t.Errorf("after the panic: %v", err)
		}
	})
}

func TestPanicOfTheEdgeEndsOnlyItsCall(t *testing.T) {
	table := func(error) (rpckit.Problem, bool) { panic("the table is broken") }
	w := serve(t, rpckit.Config{Tables: []rpckit.Table{table}}, answered).run(t)
	each(t, func(t *testing.T, way way) {
		want(t, way.call(as(t, "x-player-id", "ann"), w.conn, &gamev1.PlayMoveRequest{}), codes.Internal, "INTERNAL")
		if err := way.call(as(t, "x-player-id", "ann"), w.conn, valid()); err != nil {
			t.Errorf("after the panic: %v", err)
		}
	})
}

// errDeck is an error that clients must not see.
var errDeck = errors.New("the deck is QS 10H")

func TestUnknownErrorsReachTheLogOnly(t *testing.T) {
	w := serve(t, rpckit.Config{}, func(context.Context, *gamev1.PlayMoveRequest) (*gamev1.PlayMoveResponse, error) {
		return nil, errDeck
	}).run(t)
	each(t, func(t *testing.T, way way) {
		err := way.call(as(t, "x-player-id", "ann"), w.conn, valid())
		want(t, err, codes.Internal, "INTERNAL")
		if strings.Contains(err.Error(), "deck") {
			t.Errorf("the client sees %v", err)
		}
		line := lastCall(t, w)
		if line["level"] != "ERROR" || line["error"] != errDeck.Error() {
			t.Errorf("logged %v", line)
		}
	})
}

// lastCall returns the last line about a call.
func lastCall(t *testing.T, w *world) map[string]any {
	t.Helper()
	calls := w.log.lines(t, "call")
	if len(calls) == 0 {
		t.Fatal("no call is logged")
	}
	return calls[len(calls)-1]
}

func TestOneLinePerCallWithoutItsPayload(t *testing.T) {
	errTaken := errors.New("the move is not allowed")
	table := func(err error) (rpckit.Problem, bool) {
		return rpckit.Problem{Code: codes.FailedPrecondition, Reason: rpcv1.ErrorReason_ERROR_REASON_ILLEGAL_MOVE, Message: "no"}, errors.Is(err, errTaken)
	}
	w := serve(t, rpckit.Config{Tables: []rpckit.Table{table}}, func(_ context.Context, req *gamev1.PlayMoveRequest) (*gamev1.PlayMoveResponse, error) {
		if req.GetExpectedVersion() > 0 {
			return nil, errTaken
		}
		return &gamev1.PlayMoveResponse{Game: &gamev1.Game{PlayerId: "QS"}}, nil
	}).run(t)

	req := valid()
	req.Move = &rulesv1.Move{Kind: rulesv1.MoveKind_MOVE_KIND_DRINK, Card: "10H"}
	if err := ways["unary"].call(as(t, "x-player-id", "ann"), w.conn, req); err != nil {
		t.Fatal(err)
	}
	line := lastCall(t, w)
	took, ok := line["took"].(float64)
	if !ok || took <= 0 {
		t.Errorf("took %v", line["took"])
	}
	for key, value := range map[string]any{
		"level": "DEBUG", "method": unaryMethod, "player": "ann", "game": "some-game", "request": "some-request", "code": "OK", "reason": nil,
	} {
		if line[key] != value {
			t.Errorf("%s is %v, want %v", key, line[key], value)
		}
	}
	req.ExpectedVersion = 1
	want(t, ways["unary"].call(as(t, "x-player-id", "ann"), w.conn, req), codes.FailedPrecondition, "ILLEGAL_MOVE")
	line = lastCall(t, w)
	if line["level"] != "DEBUG" || line["code"] != "FailedPrecondition" || line["reason"] != "ILLEGAL_MOVE" {
		t.Errorf("logged %v", line)
	}
	if n := len(w.log.lines(t, "call")); n != 2 {
		t.Errorf("%d lines for two calls", n)
	}
	for _, payload := range []string{"10H", "QS"} {
		if strings.Contains(w.log.String(), payload) {
			t.Errorf("%s is logged: %s", payload, w.log)
		}
	}
}

func TestUnaryCallsHaveADeadline(t *testing.T) {
	var left time.Duration
	w := serve(t, rpckit.Config{CallTimeout: time.Hour}, func(ctx context.Context, req *gamev1.PlayMoveRequest) (*gamev1.PlayMoveResponse, error) {
		deadline, ok := ctx.Deadline()
		if left = time.Until(deadline); !ok {
			left = -1
		}
		return answered(ctx, req)
	}).run(t)
	call := func(t *testing.T, ctx context.Context, way string) time.Duration {
		t.Helper()
		if err := ways[way].call(ctx, w.conn, valid()); err != nil {
			t.Fatal(err)
		}
		return left
	}
	short, cancel := context.WithTimeout(as(t, "x-player-id", "ann"), time.Minute)
	defer cancel()
	long, cancel := context.WithTimeout(as(t, "x-player-id", "ann"), 100*time.Hour)
	defer cancel()
	if left := call(t, as(t, "x-player-id", "ann"), "unary"); left <= time.Minute || left > time.Hour {
		t.Errorf("without a deadline %v are left", left)
	}
	if left := call(t, long, "unary"); left <= time.Minute || left > time.Hour {
		t.Errorf("of a long deadline %v are left", left)
	}
	if left := call(t, short, "unary"); left <= 0 || left > time.Minute {
		t.Errorf("of a short deadline %v are left", left)
	}
	if left := call(t, as(t, "x-player-id", "ann"), "stream"); left != -1 {
		t.Errorf("a stream has a deadline in %v", left)
	}
}

func TestDeadlineOfTheServer(t *testing.T) {
	w := serve(t, rpckit.Config{CallTimeout: time.Millisecond}, func(ctx context.Context, _ *gamev1.PlayMoveRequest) (*gamev1.PlayMoveResponse, error) {
		<-ctx.Done()
		return nil, errors.New("interrupted") // what some drivers make of it
	}).run(t)
	want(t, ways["unary"].call(as(t, "x-player-id", "ann"), w.conn, valid()), codes.DeadlineExceeded, "CALL_ENDED")
}

func TestCallsThatTheirCallerLeftAreNoFaults(t *testing.T) {
	running := make(chan struct{})
	w := serve(t, rpckit.Config{}, func(ctx context.Context, _ *gamev1.PlayMoveRequest) (*gamev1.PlayMoveResponse, error) {
		running <- struct{}{}
		<-ctx.Done()
		return nil, errors.New("interrupted")
	}).run(t)
	for _, way := range ways {
		ctx, cancel := context.WithCancel(as(t, "x-player-id", "ann"))
		left := make(chan error)
		go func() { left <- way.call(ctx, w.conn, valid()) }()
		<-running
		cancel()
		if err := <-left; status.Code(err) != codes.Canceled {
			t.Error(err)
		}
	}
	w.stop()
	if err := <-w.done; err != nil { // Every call is logged now.
		t.Error(err)
	}
	calls := w.log.lines(t, "call")
	if len(calls) != len(ways) {
		t.Fatalf("%d calls are logged", len(calls))
	}
	for _, line := range calls {
		if line["level"] != "DEBUG" || line["reason"] != "CALL_ENDED" || line["error"] != "interrupted" {
			t.Errorf("logged %v", line)
		}
	}
}

func TestStreamIsCheckedMessageByMessage(t *testing.T) {
	w := serve(t, rpckit.Config{}, answered).run(t)
	stream, err := w.conn.NewStream(as(t, "x-player-id", "ann"), &talk.Streams[0], streamMethod)
	if err != nil {
		t.Fatal(err)
	}
	for _, req := range []*gamev1.PlayMoveRequest{valid(), valid(), {}} {
		if err := stream.SendMsg(req); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := stream.RecvMsg(new(gamev1.PlayMoveResponse)); err != nil {
			t.Fatal(err)
		}
	}
	want(t, stream.RecvMsg(new(gamev1.PlayMoveResponse)), codes.InvalidArgument, "INVALID_FIELD")
}
