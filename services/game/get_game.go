package game

import (
	"context"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
)

// GetGame implements gamev1.GameServiceServer.
func (s *Service) GetGame(ctx context.Context, req *gamev1.GetGameRequest) (*gamev1.GetGameResponse, error) {
	g, err := s.read(ctx, req.GetGameId())
	if err != nil {
		return nil, err
	}
	if v := req.GetAtVersion(); v != 0 {
		if g, err = s.version(ctx, g, v); err != nil {
			return nil, err
		}
	}
	game, err := view(g)
	if err != nil {
		return nil, err
	}
	return &gamev1.GetGameResponse{Game: game, ConsistencyToken: g.position.Token()}, nil
}

// read returns a game that the caller may read.
func (s *Service) read(ctx context.Context, gameID string) (loaded, error) {
	id, err := eventlog.ParseGameID(gameID)
	if err != nil {
		return loaded{}, &NotFoundError{GameID: gameID}
	}
	g, err := s.load(ctx, id)
	if err != nil {
		return loaded{}, err
	}
	if !mayRead(rpckit.Caller(ctx).PlayerID, g) {
		return loaded{}, &NotYourGameError{GameID: gameID}
	}
	return g, nil
}

// mayRead tells whether a player may read a game. A RANDOM game shows its owner
// nothing that others may not see; a SEEDED one is private, since its owner
// knows the whole deck.
func mayRead(playerID string, g loaded) bool {
	return g.State.Mode == eventv1.GameMode_GAME_MODE_RANDOM || g.PlayerID == playerID
}
