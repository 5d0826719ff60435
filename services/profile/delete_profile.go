package profile

import (
	"context"

	profilev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/profile/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
)

// DeleteProfile implements profilev1.ProfileServiceServer.
func (s *Service) DeleteProfile(ctx context.Context, _ *profilev1.DeleteProfileRequest) (*profilev1.DeleteProfileResponse, error) {
	player := rpckit.Caller(ctx).PlayerID
	if err := s.store.Delete(ctx, player); err != nil {
		return nil, err
	}
	s.logger.InfoContext(ctx, "a profile was erased", "player", player)
	return &profilev1.DeleteProfileResponse{}, nil
}
