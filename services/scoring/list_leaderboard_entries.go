package scoring

import (
	"context"

	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// ListLeaderboardEntries lists a leaderboard, a page at a time.
func (s *Service) ListLeaderboardEntries(ctx context.Context, req *scoringv1.ListLeaderboardEntriesRequest) (*scoringv1.ListLeaderboardEntriesResponse, error) {
	board, err := s.board(req.GetLeaderboard())
	if err != nil {
		return nil, err
	}
	r, err := s.tokens.parsePage(board, req.GetPageToken())
	if err != nil {
		return nil, err
	}
	if req.GetStartPosition() > 0 {
		if req.GetPageToken() != "" {
			return nil, &FieldError{Field: "start_position", Problem: "goes without page_token"}
		}
		r.Position = req.GetStartPosition()
	}
	if err := s.await(ctx, req.GetConsistencyToken()); err != nil {
		return nil, err
	}
	r.Limit = pageSize(req.GetPageSize(), defaultPageSize)
	page, err := s.store.Entries(ctx, board, r)
	if err != nil {
		return nil, err
	}
	resp := &scoringv1.ListLeaderboardEntriesResponse{
		Entries: entriesToProto(page.Entries), TotalPlayers: page.TotalPlayers, Leaderboard: boardToProto(board),
	}
	if n := len(page.Entries); n > 0 {
		first, last := page.Entries[0].Key(), page.Entries[n-1].Key()
		if page.More {
			resp.NextPageToken = s.tokens.page(board, projection.Range{After: &last})
		}
		if page.Less {
			resp.PreviousPageToken = s.tokens.page(board, projection.Range{Before: &first})
		}
	}
	return resp, nil
}
