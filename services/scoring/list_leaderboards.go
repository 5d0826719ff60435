package scoring

import (
	"context"

	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// ListLeaderboards lists the leaderboards that games count for.
func (s *Service) ListLeaderboards(ctx context.Context, req *scoringv1.ListLeaderboardsRequest) (*scoringv1.ListLeaderboardsResponse, error) {
	only := projection.Board{RulesetID: req.GetRulesetId(), ActorKind: req.GetActorKind(), Period: projection.Period(req.GetPeriod())}
	if only.RulesetID != "" && !s.ranked[only.RulesetID] {
		return nil, &LeaderboardNotFoundError{only.RulesetID}
	}
	after, err := s.tokens.parseBoard(only, req.GetPageToken())
	if err != nil {
		return nil, err
	}
	if err := s.await(ctx, req.GetConsistencyToken()); err != nil {
		return nil, err
	}
	size, now := pageSize(req.GetPageSize(), defaultPageSize), s.clock()
	resp := &scoringv1.ListLeaderboardsResponse{}
	// The store also keeps boards that are not ranked here.
	for {
		boards, err := s.store.Leaderboards(ctx, only, after, size+1)
		if err != nil {
			return nil, err
		}
		for _, b := range boards {
			if !s.ranked[b.RulesetID] || b.TotalPlayers == 0 {
				continue
			}
			if len(resp.Leaderboards) == size {
				resp.NextPageToken = s.tokens.board(only, *after)
				return resp, nil
			}
			resp.Leaderboards = append(resp.Leaderboards, boardInfo(b, now))
			after = &b.Board
		}
		if len(boards) <= size {
			return resp, nil
		}
		after = &boards[len(boards)-1].Board
	}
}
