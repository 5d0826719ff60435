package profile

import (
	"context"

	profilev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/profile/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
)

// DeleteProfile implements profilev1.ProfileServiceServer.
func (s *Service) DeleteProfile(ctx context.Context, _ *profilev1.DeleteProfileRequest) (*profilev1.DeleteProfileResponse, error) {
	player := rpckit.Caller(ctx).PlayerID
	// The name last: as long as it is there, everybody sees that this is not done.
	at, err := record.Erase(ctx, s.log, record.Erasure{PlayerID: player, At: s.clock()})
	if err != nil {
		return nil, err
	}
	if err := s.store.Delete(ctx, player); err != nil {
		return nil, err
	}
	s.logger.InfoContext(ctx, "a player was erased", "player", player)
	return &profilev1.DeleteProfileResponse{ConsistencyToken: at.Token()}, nil
}
