package game

import (
	"context"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
)

// GetGame implements gamev1.GameServiceServer. It ends a DAILY attempt that still
// runs though its challenge is final; if that cannot be stored now, the answer
// shows the attempt as it is stored.
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
	game, err := view(g, isTold(g, s.clock()))
	if err != nil {
		return nil, err
	}
	return &gamev1.GetGameResponse{Game: game, ConsistencyToken: g.position.Token()}, nil
}

// read returns a game that the caller may read. The first to read an attempt once
// its challenge is final makes the log tell both the challenge's secrets and the
// attempt's end.
func (s *Service) read(ctx context.Context, gameID string) (loaded, error) {
	id, err := eventlog.ParseGameID(gameID)
	if err != nil {
		return loaded{}, &NotFoundError{GameID: gameID}
	}
	g, err := s.load(ctx, id)
	if err != nil {
		return loaded{}, err
	}
	now := s.clock()
	if !mayRead(rpckit.Caller(ctx).PlayerID, g, now) {
		return loaded{}, &NotYourGameError{GameID: gameID}
	}
	if isFinal(g, now) {
		s.revealOf(ctx, g)
		g = s.overOf(ctx, g, now)
	}
	return g, nil
}

// mayRead tells whether a player may read a game. A RANDOM game shows its owner
// nothing that others may not see; a SEEDED one is private, since its owner
// knows the whole deck; a DAILY one would tell others of a deck that they may
// still play, until its challenge is final.
func mayRead(playerID string, g loaded, now time.Time) bool {
	return g.PlayerID == playerID || g.State.Mode == eventv1.GameMode_GAME_MODE_RANDOM || isFinal(g, now)
}
