package scoring

import (
	"context"

	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
)

// BatchGetEntries returns the entries of several players.
func (s *Service) BatchGetEntries(ctx context.Context, req *scoringv1.BatchGetEntriesRequest) (*scoringv1.BatchGetEntriesResponse, error) {
	board, err := s.board(req.GetLeaderboard())
	if err != nil {
		return nil, err
	}
	if err := s.await(ctx, req.GetConsistencyToken()); err != nil {
		return nil, err
	}
	page, err := s.store.PlayerEntries(ctx, board, req.GetPlayerIds())
	if err != nil {
		return nil, err
	}
	return &scoringv1.BatchGetEntriesResponse{Entries: entriesToProto(page.Entries), TotalPlayers: page.TotalPlayers}, nil
}
