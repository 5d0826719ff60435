package rpckit_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
)

const (
	red   = healthv1.HealthCheckResponse_NOT_SERVING
	green = healthv1.HealthCheckResponse_SERVING
)

// healthOf asks for the health of a service, as nobody.
func healthOf(t *testing.T, w *world, service string) healthv1.HealthCheckResponse_ServingStatus {
	t.Helper()
	res, err := healthv1.NewHealthClient(w.conn).Check(t.Context(), &healthv1.HealthCheckRequest{Service: service})
	if err != nil {
		t.Fatal(err)
	}
	return res.GetStatus()
}

// watch returns what waits until a service, asked as nobody, has a health.
func watch(t *testing.T, w *world, service string) func(healthv1.HealthCheckResponse_ServingStatus) {
	t.Helper()
	stream, err := healthv1.NewHealthClient(w.conn).Watch(t.Context(), &healthv1.HealthCheckRequest{Service: service})
	if err != nil {
		t.Fatal(err)
	}
	return func(want healthv1.HealthCheckResponse_ServingStatus) {
		t.Helper()
		for {
			res, err := stream.Recv()
			if err != nil {
				t.Fatalf("waiting for %v: %v", want, err)
			}
			if res.GetStatus() == want {
				return
			}
		}
	}
}

func TestHealthFollowsReadiness(t *testing.T) {
	var down atomic.Bool
	down.Store(true)
	w := serve(t, rpckit.Config{ReadyInterval: time.Millisecond}, answered)
	w.server.AddReady("test.Talk", func(context.Context) error {
		if down.Load() {
			return errors.New("the log is away")
		}
		return nil
	})
	w.server.AddReady("test.Other", func(context.Context) error { return nil })
	w.run(t)
	if all, other := healthOf(t, w, ""), healthOf(t, w, "test.Other"); all != red || other != green {
		t.Errorf("at first the server is %v and the service that is ready %v", all, other)
	}
	one, all := watch(t, w, "test.Talk"), watch(t, w, "")
	for range 3 {
		down.Store(false)
		one(green)
		all(green)
		down.Store(true)
		one(red)
		all(red)
	}
	// One line for each change, however many looks found the same.
	if n := len(w.log.lines(t, "not ready")); n != 4 {
		t.Errorf("logged %d times, the service was down at first and went down 3 times", n)
	}
	if n := len(w.log.lines(t, "ready")); n != 4 {
		t.Errorf("logged %d times, the one service went up 3 times and the other once", n)
	}
}

func TestServerThatAnswersIsAsReadyAsItSays(t *testing.T) {
	w := serve(t, rpckit.Config{ReadyInterval: time.Hour}, answered)
	w.server.AddReady("test.Talk", func(context.Context) error { return nil })
	w.run(t)
	if now := healthOf(t, w, "test.Talk"); now != green {
		t.Error(now)
	}
	_, err := healthv1.NewHealthClient(w.conn).Check(t.Context(), &healthv1.HealthCheckRequest{Service: "test.Nothing"})
	if status.Code(err) != codes.NotFound {
		t.Errorf("the health of an unknown service: %v", err)
	}
}

func TestReadyChecksAreBounded(t *testing.T) {
	bounded := make(chan bool, 1)
	w := serve(t, rpckit.Config{ReadyInterval: time.Hour}, answered)
	w.server.AddReady("test.Talk", func(ctx context.Context) error {
		_, ok := ctx.Deadline()
		bounded <- ok
		return nil
	})
	w.run(t)
	if !<-bounded {
		t.Error("a check may hang for ever")
	}
}

func TestReflectionListsTheServices(t *testing.T) {
	w := serve(t, rpckit.Config{}, answered).run(t)
	stream, err := reflectionv1.NewServerReflectionClient(w.conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = stream.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}})
	if err != nil {
		t.Fatal(err)
	}
	res, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range res.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	for _, name := range []string{gamev1.GameService_ServiceDesc.ServiceName, "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not in %v", name, names)
		}
	}
}

func TestDrainLetsCallsEnd(t *testing.T) {
	running, finish := make(chan struct{}), make(chan struct{})
	w := serve(t, rpckit.Config{DrainTimeout: time.Hour}, func(ctx context.Context, req *gamev1.PlayMoveRequest) (*gamev1.PlayMoveResponse, error) {
		running <- struct{}{}
		<-finish
		return answered(ctx, req)
	}).run(t)
	health, err := healthv1.NewHealthClient(w.conn).Watch(t.Context(), &healthv1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	called := make(chan error)
	go func() { called <- ways["unary"].call(as(t, "x-player-id", "ann"), w.conn, valid()) }()
	<-running
	w.stop()
	// The health watch ends first, as nothing else would end it.
	for err == nil {
		_, err = health.Recv()
	}
	select {
	case err := <-w.done:
		t.Fatalf("Run returned %v with a call under way", err)
	default:
	}
	close(finish)
	if err := <-called; err != nil {
		t.Errorf("the call under way: %v", err)
	}
	if err := <-w.done; err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(as(t, "x-player-id", "ann"), time.Second)
	defer cancel()
	if err := ways["unary"].call(ctx, w.conn, valid()); status.Code(err) != codes.Unavailable {
		t.Errorf("a call after the drain: %v", err)
	}
}

func TestDrainCutsCallsOff(t *testing.T) {
	each(t, func(t *testing.T, way way) {
		running := make(chan struct{})
		var ended atomic.Bool
		w := serve(t, rpckit.Config{DrainTimeout: time.Millisecond}, func(ctx context.Context, _ *gamev1.PlayMoveRequest) (*gamev1.PlayMoveResponse, error) {
			running <- struct{}{}
			<-ctx.Done()
			ended.Store(true)
			return nil, ctx.Err()
		}).run(t)
		called := make(chan error)
		go func() { called <- way.call(as(t, "x-player-id", "ann"), w.conn, valid()) }()
		<-running
		w.stop()
		if err := <-w.done; err != nil {
			t.Error(err)
		}
		if !ended.Load() {
			t.Error("Run returned while a method ran")
		}
		if err := <-called; err == nil {
			t.Error("a call that was cut off succeeded")
		}
	})
}

func TestRunReturnsWhyServingFailed(t *testing.T) {
	w := serve(t, rpckit.Config{}, answered)
	listener := bufconn.Listen(1)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.server.Run(t.Context(), listener); err == nil {
		t.Error("no error")
	}
}

func TestRunOfAnEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	listener := bufconn.Listen(1)
	if err := serve(t, rpckit.Config{}, answered).server.Run(ctx, listener); err != nil {
		t.Error(err)
	}
	if _, err := listener.Dial(); err == nil {
		t.Error("the listener is open")
	}
}

func TestLoggerIsRequired(t *testing.T) {
	if _, err := rpckit.New(rpckit.Config{}); err == nil {
		t.Error("no error")
	}
}

// BenchmarkCall compares a call through the edge with the same call to a bare
// grpc.Server: the difference is what the edge costs.
func BenchmarkCall(b *testing.B) {
	run := func(b *testing.B, conn *grpc.ClientConn) {
		ctx, req, res := as(b, "x-player-id", "ann"), valid(), new(gamev1.PlayMoveResponse)
		if err := conn.Invoke(ctx, unaryMethod, req, res); err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if err := conn.Invoke(ctx, unaryMethod, req, res); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("bare", func(b *testing.B) {
		server := grpc.NewServer()
		gamev1.RegisterGameServiceServer(server, games{play: answered})
		listener := bufconn.Listen(1 << 20)
		served := make(chan error, 1)
		go func() { served <- server.Serve(listener) }()
		run(b, dial(b, listener))
		server.Stop()
		if err := <-served; err != nil {
			b.Error(err)
		}
	})
	b.Run("edge", func(b *testing.B) {
		server, err := rpckit.New(rpckit.Config{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			b.Fatal(err)
		}
		gamev1.RegisterGameServiceServer(server, games{play: answered})
		run(b, (&world{server: server}).run(b).conn)
	})
}
