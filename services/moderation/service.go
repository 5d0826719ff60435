// Package moderation is the moderation service: moderators hide players and games
// from leaderboards and statistics, and show them again.
//
// It only records decisions, in the control stream of the event log. Whoever
// computes leaderboards reads them there.
package moderation

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	moderationv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/moderation/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
)

// MinTokenLength is the least length of the moderators' token, in bytes: nobody is
// to guess it.
const MinTokenLength = 20

// Config is what the service needs. All fields are required.
type Config struct {
	// Log is the event log.
	Log eventlog.Log
	// Token is what a call must know to be a moderator's.
	Token string
	// Clock tells the time.
	Clock func() time.Time
	// Logger is told of decisions.
	Logger *slog.Logger
}

// Service is the moderation service. It holds no state: any number of instances may
// serve the same log.
type Service struct {
	moderationv1.UnimplementedModerationServiceServer

	Config
}

// New returns the service.
func New(cfg Config) (*Service, error) {
	if len(cfg.Token) < MinTokenLength {
		return nil, fmt.Errorf("moderation: the token of moderators needs %d characters or more", MinTokenLength)
	}
	return &Service{Config: cfg}, nil
}

// Bind registers the service.
func (s *Service) Bind(r grpc.ServiceRegistrar) { moderationv1.RegisterModerationServiceServer(r, s) }

// errNotAModerator: the call lacks the token, or has another.
var errNotAModerator = errors.New(`the metadata authorization must be "Bearer " and the token of moderators`)

// authorize makes sure that a moderator calls.
func (s *Service) authorize(ctx context.Context) error {
	given := metadata.ValueFromIncomingContext(ctx, "authorization")
	if len(given) != 1 {
		return errNotAModerator
	}
	// Of equal length, whatever is given: how long a comparison takes tells nothing.
	got, want := sha256.Sum256([]byte(given[0])), sha256.Sum256([]byte("Bearer "+s.Token))
	if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
		return errNotAModerator
	}
	return nil
}

func toProto(m record.Moderation, at eventlog.Position) *moderationv1.Moderation {
	decision := &moderationv1.Moderation{
		Hidden: m.Hidden, Reason: m.Reason, ModeratorId: m.ModeratorID, DecidedAt: timestamppb.New(m.At), Sequence: at.Sequence,
	}
	if m.PlayerID != "" {
		decision.Target = &moderationv1.Moderation_PlayerId{PlayerId: m.PlayerID}
	} else {
		decision.Target = &moderationv1.Moderation_GameId{GameId: m.Game.String()}
	}
	return decision
}
