package scoring

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// defaultRuleset is the ruleset of a leaderboard that names none.
const defaultRuleset = "classic"

// board returns the ruleset of the leaderboard that a request means.
func (s *Service) board(l *scoringv1.Leaderboard) (string, error) {
	id := l.GetRulesetId()
	if id == "" {
		id = defaultRuleset
	}
	if !s.ranked[id] {
		return "", &LeaderboardNotFoundError{id}
	}
	return id, nil
}

func entryToProto(e projection.Entry) *scoringv1.LeaderboardEntry {
	return &scoringv1.LeaderboardEntry{
		Rank:      e.Rank,
		Position:  e.Position,
		PlayerId:  e.PlayerID,
		Score:     int32(e.Score),
		Moves:     e.Moves,
		GameId:    e.GameID,
		EndedAt:   timestamppb.New(e.EndedAt),
		Outcome:   e.Outcome,
		ActorKind: e.ActorKind,
	}
}
