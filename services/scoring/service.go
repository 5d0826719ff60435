// Package scoring is the scoring service: it computes scores and leaderboards
// from the event log and answers queries about them.
package scoring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"time"

	"google.golang.org/grpc"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// Config is what the service needs.
type Config struct {
	// Log is the event log; the service only reads it. Required.
	Log eventlog.Log
	// Store keeps scores and boards; the caller closes it after Run has
	// returned. Required.
	Store projection.Store
	// Ranked are the ids of the rulesets whose boards are shown. It can change
	// from one start to the next without a rebuild.
	Ranked []string
	// TokenKey signs page tokens: MinTokenKey bytes or more, which nobody else knows.
	// Instances that have the same one accept each other's tokens. Required.
	TokenKey []byte
	// Instance names this process among those that share the store, of which
	// one writes at a time. A process that starts under the name of one that
	// died takes over at once, any other after seconds. Host and process id if
	// empty.
	Instance string
	// Clock tells the time; time.Now if nil.
	Clock func() time.Time
	// Logger is told what goes wrong; slog.Default() if nil.
	Logger *slog.Logger
}

// Service is the scoring service.
type Service struct {
	scoringv1.UnimplementedScoringServiceServer

	log       eventlog.Log
	store     projection.Store
	projector *projection.Projector
	ranked    map[string]bool
	tokens    tokens
	clock     func() time.Time
}

// New returns the service. It owns nothing to be closed; Run makes it work.
func New(ctx context.Context, cfg Config) (*Service, error) {
	if cfg.Log == nil || cfg.Store == nil {
		return nil, errors.New("scoring: Config needs a log and a store")
	}
	if len(cfg.TokenKey) < MinTokenKey {
		return nil, fmt.Errorf("scoring: Config needs a token key of %d bytes or more", MinTokenKey)
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Instance == "" {
		host, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("scoring: name this instance: %w", err)
		}
		cfg.Instance = host + "/" + strconv.Itoa(os.Getpid())
	}
	s := &Service{log: cfg.Log, store: cfg.Store, ranked: map[string]bool{}, tokens: tokens{cfg.TokenKey}, clock: cfg.Clock}
	for _, id := range cfg.Ranked {
		if _, err := engine.ParseRulesetID(id); err != nil {
			return nil, fmt.Errorf("scoring: ranked ruleset: %w", err)
		}
		s.ranked[id] = true
	}
	var err error
	s.projector, err = projection.NewProjector(ctx, projection.ProjectorConfig{
		Log: cfg.Log, Store: cfg.Store, Holder: cfg.Instance, Clock: cfg.Clock, Logger: cfg.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("scoring: %w", err)
	}
	return s, nil
}

// Bind registers the service's RPCs.
func (s *Service) Bind(registrar grpc.ServiceRegistrar) {
	scoringv1.RegisterScoringServiceServer(registrar, s)
}

// Run projects the log into the store until ctx ends. Failures of either do not
// end it; Ready tells of them.
func (s *Service) Run(ctx context.Context) error {
	return s.projector.Run(ctx)
}

// CheckLog tells whether the log still is the one that the store was computed
// from. Its error wraps projection.ErrReplaced or projection.ErrLost if not.
func (s *Service) CheckLog(ctx context.Context) error { return s.projector.Check(ctx) }

// Ready tells whether the log and the store can be read and every stream is
// being projected.
func (s *Service) Ready(ctx context.Context) error {
	if err := s.store.Ping(ctx); err != nil {
		return err
	}
	if err := s.projector.Problem(); err != nil {
		return err
	}
	return s.log.Ready(ctx)
}
