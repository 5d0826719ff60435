package moderation

import (
	"context"
	"errors"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	moderationv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/moderation/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
)

// Moderate implements moderationv1.ModerationServiceServer.
func (s *Service) Moderate(ctx context.Context, req *moderationv1.ModerateRequest) (*moderationv1.ModerateResponse, error) {
	if err := s.authorize(ctx); err != nil {
		return nil, err
	}
	m := record.Moderation{
		PlayerID: req.GetPlayerId(), Hidden: req.GetHidden(), Reason: req.GetReason(), ModeratorID: rpckit.Caller(ctx).PlayerID, At: s.Clock(),
	}
	if m.PlayerID == "" {
		var err error
		if m.Game, err = s.game(ctx, req.GetGameId()); err != nil {
			return nil, err
		}
	}
	holds, at, changed, err := record.Moderate(ctx, s.Log, m)
	if err != nil {
		return nil, err
	}
	resp := &moderationv1.ModerateResponse{Changed: changed}
	if at.Sequence > 0 {
		resp.Moderation, resp.ConsistencyToken = toProto(holds, at), at.Token()
	}
	if changed {
		s.Logger.InfoContext(ctx, "moderated", "player", m.PlayerID, "game", m.Game.String(), "hidden", m.Hidden, "moderator", m.ModeratorID, "reason", m.Reason)
	}
	return resp, nil
}

// game returns a game that the log knows: a decision about another one would be a
// mistake that nobody notices.
func (s *Service) game(ctx context.Context, id string) (eventlog.GameID, error) {
	game, err := eventlog.ParseGameID(id)
	if err != nil {
		return game, &GameNotFoundError{id}
	}
	_, err = s.Log.Load(ctx, game)
	if errors.Is(err, eventlog.ErrNotFound) {
		return game, &GameNotFoundError{id}
	}
	return game, err
}
