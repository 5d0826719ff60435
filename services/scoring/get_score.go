package scoring

import (
	"context"
	"errors"

	"google.golang.org/protobuf/types/known/timestamppb"

	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
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
	if s.private(g.Game) && g.PlayerID != rpckit.Caller(ctx).PlayerID {
		return nil, &NotYourGameError{g.GameID}
	}
	if !g.Scored() {
		return nil, &ScoreNotFoundError{g.GameID}
	}
	return &scoringv1.GetScoreResponse{Score: s.gameScore(g)}, nil
}

// private tells whether only its owner may see a game now.
func (s *Service) private(g projection.Game) bool {
	switch g.Mode {
	case eventv1.GameMode_GAME_MODE_RANDOM:
		return false
	case eventv1.GameMode_GAME_MODE_DAILY:
		return s.clock().Before(record.DailyFinalAt(g.StartedAt))
	default:
		return true
	}
}

// asOfNow returns a game as it stands by the clock. An attempt at a daily
// challenge is over when that is final: the log says so only once somebody asks
// for the attempt, and by when a stranger asks, no streak may break.
func (s *Service) asOfNow(g projection.PlayerGame) projection.PlayerGame {
	if g.Mode != eventv1.GameMode_GAME_MODE_DAILY || g.Scored() {
		return g
	}
	final := record.DailyFinalAt(g.StartedAt)
	if s.clock().Before(final) || !g.Running() && !g.EndedAt.After(final) {
		return g
	}
	g.Outcome, g.EndedAt = rulesv1.Outcome_OUTCOME_ABANDONED, final
	if g.Unranked == projection.UnrankedRunning {
		g.Unranked = projection.UnrankedAbandoned
	}
	return g
}

// gameScore shows a game, and the boards that it counts for or why it counts for
// none.
func (s *Service) gameScore(g projection.PlayerGame) *scoringv1.GameScore {
	score := &scoringv1.GameScore{
		GameId:         g.GameID,
		PlayerId:       g.PlayerID,
		RulesetId:      g.RulesetID,
		Mode:           g.Mode,
		Outcome:        g.Outcome,
		Score:          int32(g.Score),
		Moves:          g.Moves,
		StartedAt:      timestamppb.New(g.StartedAt),
		ActorKind:      g.ActorKind,
		UnrankedReason: scoringv1.UnrankedReason(g.Unranked),
	}
	if !g.Running() {
		score.EndedAt = timestamppb.New(g.EndedAt)
	}
	switch {
	case g.Unranked != 0:
	case !s.ranked[g.RulesetID]:
		score.UnrankedReason = scoringv1.UnrankedReason_UNRANKED_REASON_RULESET
	default:
		for _, b := range g.Boards() {
			score.Leaderboards = append(score.Leaderboards, boardToProto(b))
		}
	}
	return score
}
