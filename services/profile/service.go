// Package profile is the profile service: it keeps what players choose to be
// called.
//
// Names are no part of the event log, where nothing can be erased: they lie in
// a [Store], and whoever shows them asks for them when it shows them.
package profile

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/grpc"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	profilev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/profile/v1"
)

// Config is what the service needs. All fields are required.
type Config struct {
	// Store keeps the names.
	Store Store
	// Log is the event log, which learns of erasures.
	Log eventlog.Log
	// Clock tells the time.
	Clock func() time.Time
	// Logger is told of erasures, by player and without the name.
	Logger *slog.Logger
}

// Service is the profile service. It holds no state: any number of instances
// may serve the same store.
type Service struct {
	profilev1.UnimplementedProfileServiceServer

	store  Store
	log    eventlog.Log
	clock  func() time.Time
	logger *slog.Logger
}

// New returns the service.
func New(cfg Config) *Service {
	return &Service{store: cfg.Store, log: cfg.Log, clock: cfg.Clock, logger: cfg.Logger}
}

// Bind registers the service.
func (s *Service) Bind(r grpc.ServiceRegistrar) { profilev1.RegisterProfileServiceServer(r, s) }

// Ready tells whether names can be read and set now.
func (s *Service) Ready(ctx context.Context) error { return s.store.Ready(ctx) }
