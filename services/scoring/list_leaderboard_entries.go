package scoring

import (
	"context"

	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
)

const (
	defaultPageSize = 50
	maxPageSize     = 200
)

// ListLeaderboardEntries lists a leaderboard from its top, a page at a time.
func (s *Service) ListLeaderboardEntries(ctx context.Context, req *scoringv1.ListLeaderboardEntriesRequest) (*scoringv1.ListLeaderboardEntriesResponse, error) {
	board, err := s.board(req.GetLeaderboard())
	if err != nil {
		return nil, err
	}
	after, err := parsePageToken(board, req.GetPageToken())
	if err != nil {
		return nil, err
	}
	if err := s.await(ctx, req.GetConsistencyToken()); err != nil {
		return nil, err
	}
	// The contract's constraint has refused a negative size.
	size := int(req.GetPageSize())
	if size <= 0 {
		size = defaultPageSize
	}
	page, err := s.store.Entries(ctx, board, after, min(size, maxPageSize))
	if err != nil {
		return nil, err
	}
	resp := &scoringv1.ListLeaderboardEntriesResponse{TotalPlayers: page.TotalPlayers}
	for _, e := range page.Entries {
		resp.Entries = append(resp.Entries, entryToProto(e))
	}
	if page.More {
		resp.NextPageToken = pageToken(board, page.Entries[len(page.Entries)-1].Key())
	}
	return resp, nil
}
