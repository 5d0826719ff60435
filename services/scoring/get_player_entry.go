package scoring

import (
	"cmp"
	"context"
	"errors"

	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// GetPlayerEntry returns one player's entry on a leaderboard.
func (s *Service) GetPlayerEntry(ctx context.Context, req *scoringv1.GetPlayerEntryRequest) (*scoringv1.GetPlayerEntryResponse, error) {
	board, err := s.board(req.GetLeaderboard())
	if err != nil {
		return nil, err
	}
	if err := s.await(ctx, req.GetConsistencyToken()); err != nil {
		return nil, err
	}
	player := cmp.Or(req.GetPlayerId(), rpckit.Caller(ctx).PlayerID)
	entry, total, err := s.store.PlayerEntry(ctx, board, player)
	if errors.Is(err, projection.ErrNotFound) {
		return nil, &EntryNotFoundError{RulesetID: board, PlayerID: player}
	}
	if err != nil {
		return nil, err
	}
	return &scoringv1.GetPlayerEntryResponse{Entry: entryToProto(entry), TotalPlayers: total}, nil
}
