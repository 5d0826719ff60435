package rpckit

import (
	"context"
	"errors"
	"sync"
	"time"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

// readyTimeout bounds one look at one service.
const readyTimeout = 2 * time.Second

// check is the readiness of one service.
type check struct {
	service string
	run     func(context.Context) error
	err     error // what the last look found
}

var errNotLooked = errors.New("not looked at yet")

// AddReady makes the health of a service, by its full name, follow a check: red
// while the check fails, green again when it does not. The server as a whole,
// the service "", is green while all of them are. A check is bounded by 2 s and
// must return when its context ends. Call AddReady before Run.
func (s *Server) AddReady(service string, run func(context.Context) error) {
	s.checks = append(s.checks, &check{service, run, errNotLooked})
	s.health.SetServingStatus(service, healthv1.HealthCheckResponse_NOT_SERVING)
}

// keepLooking looks at every interval until ctx ends.
func (s *Server) keepLooking(ctx context.Context) {
	tick := time.NewTicker(s.cfg.ReadyInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.look(ctx)
		}
	}
}

// look runs all checks, at once so that a slow one takes nothing from the
// others, and publishes what they found. It logs changes only.
func (s *Server) look(ctx context.Context) {
	errs := make([]error, len(s.checks))
	var wg sync.WaitGroup
	for i, c := range s.checks {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, readyTimeout)
			defer cancel()
			errs[i] = c.run(ctx)
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return // The server stops: what the checks say of that means nothing.
	}
	for i, c := range s.checks {
		switch was, is := c.err == nil, errs[i] == nil; {
		case is && !was:
			s.cfg.Logger.InfoContext(ctx, "ready", "service", c.service)
		case !is && (was || errors.Is(c.err, errNotLooked)):
			s.cfg.Logger.WarnContext(ctx, "not ready", "service", c.service, "error", errs[i])
		}
		c.err = errs[i]
		s.health.SetServingStatus(c.service, serving(c.err == nil))
	}
	s.health.SetServingStatus("", serving(errors.Join(errs...) == nil))
}

func serving(ready bool) healthv1.HealthCheckResponse_ServingStatus {
	if ready {
		return healthv1.HealthCheckResponse_SERVING
	}
	return healthv1.HealthCheckResponse_NOT_SERVING
}
