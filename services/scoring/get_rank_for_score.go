package scoring

import (
	"context"

	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
)

// GetRankForScore returns what rank a score would get.
func (s *Service) GetRankForScore(ctx context.Context, req *scoringv1.GetRankForScoreRequest) (*scoringv1.GetRankForScoreResponse, error) {
	board, err := s.board(req.GetLeaderboard())
	if err != nil {
		return nil, err
	}
	if err := s.await(ctx, req.GetConsistencyToken()); err != nil {
		return nil, err
	}
	scores, err := s.store.Distribution(ctx, board)
	if err != nil {
		return nil, err
	}
	total := totalPlayers(scores)
	rank, percentile := standing(scores, int(req.GetScore()), total)
	return &scoringv1.GetRankForScoreResponse{Rank: rank, TotalPlayers: total, Percentile: percentile}, nil
}
