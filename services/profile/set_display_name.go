package profile

import (
	"context"

	profilev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/profile/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
)

// SetDisplayName implements profilev1.ProfileServiceServer.
func (s *Service) SetDisplayName(ctx context.Context, req *profilev1.SetDisplayNameRequest) (*profilev1.SetDisplayNameResponse, error) {
	name, err := displayName(req.GetDisplayName())
	if err != nil {
		return nil, err
	}
	player := rpckit.Caller(ctx).PlayerID
	if err := s.store.Set(ctx, player, name); err != nil {
		return nil, err
	}
	return &profilev1.SetDisplayNameResponse{Profile: &profilev1.Profile{PlayerId: player, DisplayName: name}}, nil
}
