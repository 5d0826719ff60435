package rpckit

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
)

// Config is what a server needs. Zero values give the defaults.
type Config struct {
	// Logger is where calls are logged: successes at debug, faults of the
	// server as errors. Required.
	Logger *slog.Logger
	// Tables map the services' errors, in order.
	Tables []Table
	// MaxRequestBytes bounds a request; 64 KiB if 0.
	MaxRequestBytes int
	// CallTimeout bounds a unary call whose client set no shorter deadline;
	// 30 s if 0.
	CallTimeout time.Duration
	// DrainTimeout is how long calls may take to end after Run's context has;
	// 5 s if 0.
	DrainTimeout time.Duration
	// ReadyInterval is how often readiness is looked at; 1 s if 0.
	ReadyInterval time.Duration
}

// transportMaxBytes bounds what the transport accepts. It lies above
// MaxRequestBytes, so that a request that is merely too large gets a typed
// error.
const transportMaxBytes = 4 << 20

// Server is a gRPC server with health and reflection.
type Server struct {
	cfg    Config
	grpc   *grpc.Server
	health *health.Server

	mu    sync.Mutex
	ready map[string]func(context.Context) error
}

// New returns a server that serves nothing yet.
func New(cfg Config) (*Server, error) {
	validator, err := protovalidate.New()
	if err != nil {
		return nil, fmt.Errorf("make the validator: %w", err)
	}
	setDefault(&cfg.MaxRequestBytes, 64<<10)
	setDefault(&cfg.CallTimeout, 30*time.Second)
	setDefault(&cfg.DrainTimeout, 5*time.Second)
	setDefault(&cfg.ReadyInterval, time.Second)
	e := &edge{cfg.Logger, cfg.Tables, validator, cfg.MaxRequestBytes, cfg.CallTimeout}
	s := &Server{
		cfg: cfg,
		grpc: grpc.NewServer(
			grpc.UnaryInterceptor(e.unary),
			grpc.StreamInterceptor(e.stream),
			grpc.UnknownServiceHandler(e.unknownMethod),
			grpc.MaxRecvMsgSize(transportMaxBytes),
			grpc.MaxConcurrentStreams(1024),
			grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
		),
		health: health.NewServer(),
		ready:  map[string]func(context.Context) error{},
	}
	healthv1.RegisterHealthServer(s.grpc, s.health)
	reflection.Register(s.grpc)
	s.health.SetServingStatus("", healthv1.HealthCheckResponse_NOT_SERVING)
	return s, nil
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// RegisterService implements grpc.ServiceRegistrar.
func (s *Server) RegisterService(desc *grpc.ServiceDesc, impl any) {
	s.grpc.RegisterService(desc, impl)
}

// AddReady makes the health of a service, and of the server as a whole, follow
// a check. Call it before Run.
func (s *Server) AddReady(service string, check func(context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready[service] = check
	s.health.SetServingStatus(service, healthv1.HealthCheckResponse_NOT_SERVING)
}

// Run serves on a listener, which it closes, until ctx ends and the calls under
// way have ended, or DrainTimeout has passed.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	// Looked at once before the first call, so that a server that answers is as
	// ready as it says.
	s.checkReady(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wg.Go(func() { s.watchReady(ctx) })
	wg.Go(func() {
		<-ctx.Done()
		s.drain()
	})
	if err := s.grpc.Serve(listener); err != nil {
		return fmt.Errorf("serve gRPC: %w", err)
	}
	return nil
}

// drain tells clients to go, waits for their calls and then cuts them off.
func (s *Server) drain() {
	s.health.Shutdown()
	cut := time.AfterFunc(s.cfg.DrainTimeout, s.grpc.Stop)
	defer cut.Stop()
	s.grpc.GracefulStop()
}

func (s *Server) watchReady(ctx context.Context) {
	tick := time.NewTicker(s.cfg.ReadyInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.checkReady(ctx)
		}
	}
}

// checkReady runs every check and publishes the result. The server as a whole
// is ready when all of its services are.
func (s *Server) checkReady(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	all := healthv1.HealthCheckResponse_SERVING
	for service, check := range s.ready {
		now := healthv1.HealthCheckResponse_SERVING
		if err := check(ctx); err != nil {
			now, all = healthv1.HealthCheckResponse_NOT_SERVING, healthv1.HealthCheckResponse_NOT_SERVING
			s.cfg.Logger.WarnContext(ctx, "not ready", "service", service, "error", err)
		}
		s.health.SetServingStatus(service, now)
	}
	s.health.SetServingStatus("", all)
}
