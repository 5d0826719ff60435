package scoring

import (
	"cmp"
	"context"

	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
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
	page, err := s.store.PlayerEntries(ctx, board, []string{player})
	if err != nil {
		return nil, err
	}
	if len(page.Entries) == 0 {
		return nil, &EntryNotFoundError{RulesetID: board.RulesetID, PlayerID: player}
	}
	_, percentile := standing(page.Scores, page.Entries[0].Score, page.TotalPlayers-1)
	return &scoringv1.GetPlayerEntryResponse{
		Entry: entriesToProto(page.Entries)[0], TotalPlayers: page.TotalPlayers, Percentile: percentile,
	}, nil
}
