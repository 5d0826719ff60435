package profile

import (
	"cmp"
	"context"

	profilev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/profile/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
)

// GetProfile implements profilev1.ProfileServiceServer.
func (s *Service) GetProfile(ctx context.Context, req *profilev1.GetProfileRequest) (*profilev1.GetProfileResponse, error) {
	player := cmp.Or(req.GetPlayerId(), rpckit.Caller(ctx).PlayerID)
	name, err := s.store.Get(ctx, player)
	if err != nil {
		return nil, err
	}
	return &profilev1.GetProfileResponse{Profile: &profilev1.Profile{PlayerId: player, DisplayName: name}}, nil
}
