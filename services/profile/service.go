// Package profile is the profile service: it keeps what players choose to be
// called.
//
// Names are no part of the event log, where nothing can be erased: they lie in
// a [Store], and whoever shows them asks for them when it shows them.
package profile

import (
	"context"
	"log/slog"

	"google.golang.org/grpc"

	profilev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/profile/v1"
)

// Config is what the service needs.
type Config struct {
	// Store keeps the names. Required.
	Store Store
	// Logger is told of erasures, by player and without the name. Required.
	Logger *slog.Logger
}

// Service is the profile service. It holds no state: any number of instances
// may serve the same store.
type Service struct {
	profilev1.UnimplementedProfileServiceServer

	store  Store
	logger *slog.Logger
}

// New returns the service.
func New(cfg Config) *Service { return &Service{store: cfg.Store, logger: cfg.Logger} }

// Bind registers the service.
func (s *Service) Bind(r grpc.ServiceRegistrar) { profilev1.RegisterProfileServiceServer(r, s) }

// Ready tells whether names can be read and set now.
func (s *Service) Ready(ctx context.Context) error { return s.store.Ready(ctx) }
