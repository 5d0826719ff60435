package scoring

import (
	"context"
	"errors"

	"google.golang.org/protobuf/types/known/timestamppb"

	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// GetScore returns the score of one finished game.
func (s *Service) GetScore(ctx context.Context, req *scoringv1.GetScoreRequest) (*scoringv1.GetScoreResponse, error) {
	if err := s.await(ctx, req.GetConsistencyToken()); err != nil {
		return nil, err
	}
	g, err := s.store.Game(ctx, req.GetGameId())
	if errors.Is(err, projection.ErrNotFound) {
		return nil, &ScoreNotFoundError{req.GetGameId()}
	}
	if err != nil {
		return nil, err
	}
	if g.Mode != eventv1.GameMode_GAME_MODE_RANDOM && g.PlayerID != rpckit.Caller(ctx).PlayerID {
		return nil, &NotYourGameError{g.GameID}
	}
	if !g.Scored() {
		return nil, &ScoreNotFoundError{g.GameID}
	}
	score := &scoringv1.GameScore{
		GameId:    g.GameID,
		PlayerId:  g.PlayerID,
		RulesetId: g.RulesetID,
		Mode:      g.Mode,
		Outcome:   g.Outcome,
		Score:     int32(g.Score),
		Moves:     g.Moves,
		StartedAt: timestamppb.New(g.StartedAt),
		EndedAt:   timestamppb.New(g.EndedAt),
		ActorKind: g.ActorKind,
	}
	if s.ranked[g.RulesetID] {
		for _, b := range g.Boards() {
			score.Leaderboards = append(score.Leaderboards, boardToProto(b))
		}
	}
	return &scoringv1.GetScoreResponse{Score: score}, nil
}
