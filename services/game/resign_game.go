package game

import (
	"context"

	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
)

// ResignGame implements gamev1.GameServiceServer.
func (s *Service) ResignGame(ctx context.Context, req *gamev1.ResignGameRequest) (*gamev1.ResignGameResponse, error) {
	g, err := s.execute(ctx, command{game: req.GetGameId(), expectedVersion: req.GetExpectedVersion(), requestID: req.GetRequestId()})
	if err != nil {
		return nil, err
	}
	game, facts, err := s.outcome(g)
	if err != nil {
		return nil, err
	}
	return &gamev1.ResignGameResponse{Game: game, Facts: facts, ConsistencyToken: g.position.Token()}, nil
}
