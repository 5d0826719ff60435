package scoring

import (
	"cmp"
	"context"
	"errors"

	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// ListEntriesAround lists the entries next to a player's.
func (s *Service) ListEntriesAround(ctx context.Context, req *scoringv1.ListEntriesAroundRequest) (*scoringv1.ListEntriesAroundResponse, error) {
	board, err := s.board(req.GetLeaderboard())
	if err != nil {
		return nil, err
	}
	if err := s.await(ctx, req.GetConsistencyToken()); err != nil {
		return nil, err
	}
	player := cmp.Or(req.GetPlayerId(), rpckit.Caller(ctx).PlayerID)
	page, err := s.store.EntriesAround(ctx, board, player, pageSize(req.GetLimit(), defaultAround))
	if errors.Is(err, projection.ErrNotFound) {
		return nil, &EntryNotFoundError{RulesetID: board.RulesetID, PlayerID: player}
	}
	if err != nil {
		return nil, err
	}
	return &scoringv1.ListEntriesAroundResponse{Entries: entriesToProto(page.Entries), TotalPlayers: page.TotalPlayers}, nil
}
