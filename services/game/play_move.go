package game

import (
	"context"
	"errors"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
)

// PlayMove implements gamev1.GameServiceServer.
func (s *Service) PlayMove(ctx context.Context, req *gamev1.PlayMoveRequest) (*gamev1.PlayMoveResponse, error) {
	move, err := record.MoveFromProto(req.GetMove())
	if bad := new(engine.NotationError); errors.As(err, &bad) {
		return nil, &FieldError{Field: "move.card", Problem: bad.Error()}
	}
	if err != nil {
		return nil, &FieldError{Field: "move.kind", Problem: err.Error()}
	}
	g, err := s.execute(ctx, command{game: req.GetGameId(), move: move, expectedVersion: req.GetExpectedVersion(), requestID: req.GetRequestId()})
	if err != nil {
		return nil, err
	}
	game, facts, err := s.outcome(g)
	if err != nil {
		return nil, err
	}
	return &gamev1.PlayMoveResponse{Game: game, Facts: facts, ConsistencyToken: g.position.Token()}, nil
}
