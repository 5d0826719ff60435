package profile

import (
	"context"

	profilev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/profile/v1"
)

// BatchGetProfiles implements profilev1.ProfileServiceServer.
func (s *Service) BatchGetProfiles(ctx context.Context, req *profilev1.BatchGetProfilesRequest) (*profilev1.BatchGetProfilesResponse, error) {
	names, err := s.store.Names(ctx, req.GetPlayerIds())
	if err != nil {
		return nil, err
	}
	res := &profilev1.BatchGetProfilesResponse{}
	for _, player := range req.GetPlayerIds() {
		if name, ok := names[player]; ok {
			res.Profiles = append(res.Profiles, &profilev1.Profile{PlayerId: player, DisplayName: name})
		}
	}
	return res, nil
}
