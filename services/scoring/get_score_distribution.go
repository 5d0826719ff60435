package scoring

import (
	"context"

	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
)

// GetScoreDistribution returns how many players of a leaderboard have each score.
func (s *Service) GetScoreDistribution(ctx context.Context, req *scoringv1.GetScoreDistributionRequest) (*scoringv1.GetScoreDistributionResponse, error) {
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
	resp := &scoringv1.GetScoreDistributionResponse{TotalPlayers: totalPlayers(scores)}
	for _, c := range scores {
		resp.Scores = append(resp.Scores, &scoringv1.ScoreCount{Score: int32(c.Score), Players: c.Players})
	}
	return resp, nil
}
