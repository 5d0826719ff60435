package rpckit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
)

// Config is what a server needs. A zero value gives the default.
type Config struct {
	// Logger is where calls are logged: those that succeed or that their
	// caller got wrong at debug level, what is unavailable as warnings, faults
	// of the server as errors. Required.
	Logger *slog.Logger
	// Tables map the services' errors; the first that knows an error counts.
	Tables []Table
	// MaxRequestBytes bounds each message of a client; 64 KiB if 0.
	MaxRequestBytes int
	// CallTimeout bounds every unary call, also of a client that set a later
	// deadline or none; 30 s if 0.
	CallTimeout time.Duration
	// DrainTimeout is how long calls may go on after the context of Run has
	// ended; 5 s if 0.
	DrainTimeout time.Duration
	// ReadyInterval is how often the readiness checks run; 1 s if 0.
	ReadyInterval time.Duration
}

const (
	// transportMaxBytes is the message size from which on grpc refuses without
	// reading, and without a reason. It lies far above MaxRequestBytes, so that
	// a client learns what is wrong even if it takes the 4 MiB of other servers
	// for granted.
	transportMaxBytes = 16 << 20
	// maxStreams bounds the calls under way on one connection, and with
	// transportMaxBytes what one client can make the server hold.
	maxStreams = 256
	// maxHeaderBytes bounds the metadata of a call.
	maxHeaderBytes = 16 << 10
	// A connection is asked to go after maxAge, so that clients spread over
	// new servers, and cut off after maxAgeGrace, so that a call which never
	// sends its message cannot stay for ever.
	maxAge      = 30 * time.Minute
	maxAgeGrace = 5 * time.Minute
)

// Server is a gRPC server with health and reflection.
type Server struct {
	cfg    Config
	edge   *edge
	grpc   *grpc.Server
	health *health.Server
	checks []*check

	// draining is done once the server wants to stop.
	draining context.Context //nolint:containedctx // a signal of the server, not the context of a call
	drain    context.CancelFunc
}

// New returns a server that serves health and reflection. Register services
// and their readiness, then call Run, once.
func New(cfg Config) (*Server, error) {
	if cfg.Logger == nil {
		return nil, errors.New("rpckit: Config.Logger is required")
	}
	validator, err := protovalidate.New()
	if err != nil {
		return nil, fmt.Errorf("rpckit: make the validator: %w", err)
	}
	setDefault(&cfg.MaxRequestBytes, 64<<10)
	setDefault(&cfg.CallTimeout, 30*time.Second)
	setDefault(&cfg.DrainTimeout, 5*time.Second)
	setDefault(&cfg.ReadyInterval, time.Second)
	e := &edge{cfg.Logger, cfg.Tables, validator, cfg.CallTimeout}
	s := &Server{
		cfg:    cfg,
		edge:   e,
		health: health.NewServer(),
		grpc: grpc.NewServer(
			grpc.ForceServerCodecV2(codec{encoding.GetCodecV2(proto.Name), cfg.MaxRequestBytes}),
			grpc.MaxRecvMsgSize(transportMaxBytes),
			grpc.MaxConcurrentStreams(maxStreams),
			grpc.MaxHeaderListSize(maxHeaderBytes),
			grpc.UnknownServiceHandler(func(srv any, stream grpc.ServerStream) error {
				method, _ := grpc.MethodFromServerStream(stream)
				info := &grpc.StreamServerInfo{FullMethod: method, IsClientStream: true, IsServerStream: true}
				return surround(e.interceptors(), info, unknownMethod)(srv, stream)
			}),
			grpc.KeepaliveParams(keepalive.ServerParameters{
				MaxConnectionAge: maxAge, MaxConnectionAgeGrace: maxAgeGrace,
				Time: time.Minute, Timeout: 20 * time.Second,
			}),
			grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
		),
	}
	s.draining, s.drain = context.WithCancel(context.Background())
	// Health and reflection are for tools and orchestrators, which are no
	// players, and answer in their own protocols.
	o := open{s}
	healthv1.RegisterHealthServer(o, s.health)
	reflection.Register(o)
	s.health.SetServingStatus("", healthv1.HealthCheckResponse_NOT_SERVING)
	return s, nil
}

func setDefault[T int | time.Duration](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

// RegisterService implements grpc.ServiceRegistrar. Call it before Run.
func (s *Server) RegisterService(desc *grpc.ServiceDesc, impl any) {
	s.register(desc, impl, s.edge.interceptors())
}

// register registers a service whose methods run through a list of
// interceptors. It does not leave them to grpc, which has two lists, and which
// calls the one for unary methods too late to see why a message was refused.
func (s *Server) register(desc *grpc.ServiceDesc, impl any, list []grpc.StreamServerInterceptor) {
	d := *desc
	d.Methods, d.Streams = nil, nil
	add := func(name string, client, server bool, handler grpc.StreamHandler) {
		info := &grpc.StreamServerInfo{FullMethod: "/" + desc.ServiceName + "/" + name, IsClientStream: client, IsServerStream: server}
		d.Streams = append(d.Streams, grpc.StreamDesc{
			StreamName: name, ClientStreams: client, ServerStreams: server, Handler: surround(list, info, handler),
		})
	}
	for _, m := range desc.Methods {
		add(m.MethodName, false, false, unary(m))
	}
	for _, m := range desc.Streams {
		handler := m.Handler
		if m.ServerStreams && !m.ClientStreams {
			handler = s.endWithDrain(handler)
		}
		add(m.StreamName, m.ClientStreams, m.ServerStreams, handler)
	}
	s.grpc.RegisterService(&d, impl)
}

// open registers what is served to everybody.
type open struct{ *Server }

// RegisterService implements grpc.ServiceRegistrar.
func (o open) RegisterService(desc *grpc.ServiceDesc, impl any) {
	o.register(desc, impl, []grpc.StreamServerInterceptor{o.edge.rescue, o.untilDrain})
}

// GetServiceInfo implements reflection.ServiceInfoProvider.
func (o open) GetServiceInfo() map[string]grpc.ServiceInfo { return o.grpc.GetServiceInfo() }

// endWithDrain makes a method that only sends, which would go on for as long as
// its client likes, end when draining begins. Its caller can tell, and call again.
func (s *Server) endWithDrain(handler grpc.StreamHandler) grpc.StreamHandler {
	return func(srv any, stream grpc.ServerStream) error {
		err := s.untilDrain(srv, stream, nil, handler)
		if err != nil && s.draining.Err() != nil && stream.Context().Err() == nil {
			return fmt.Errorf("%w: %w", errStopping, err)
		}
		return err
	}
}

// untilDrain ends a call when draining begins. A health watch would go on for
// as long as its client likes, and every stop would take all of DrainTimeout.
func (s *Server) untilDrain(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	defer context.AfterFunc(s.draining, cancel)()
	return handler(srv, withContext{stream, ctx})
}

// Run serves on a listener, which it closes, until ctx ends. Then health turns
// red, new calls are refused, and calls under way may go on for DrainTimeout
// before their contexts are cancelled. No method runs any more when Run
// returns. The error is nil if ctx ended, otherwise why serving failed.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	running, stop := context.WithCancel(ctx)
	// The first look comes before the first call, so that a server that
	// answers is as ready as it says.
	s.look(running)
	var wg sync.WaitGroup
	wg.Go(func() { s.keepLooking(running) })
	wg.Go(func() {
		<-running.Done()
		s.health.Shutdown()
		s.drain()
		cut := time.AfterFunc(s.cfg.DrainTimeout, s.grpc.Stop)
		defer cut.Stop()
		// Also waits for the methods that were cut off: what Run's caller closes
		// next may be in use until they return.
		s.grpc.GracefulStop()
	})
	err := s.grpc.Serve(listener)
	stop()
	wg.Wait()
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve gRPC: %w", err)
	}
	return nil
}
