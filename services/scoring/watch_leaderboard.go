package scoring

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

const (
	defaultWatched = 10
	// watchPause is how long a watch rests after what it has sent, so that games
	// that end together make one message.
	watchPause = 200 * time.Millisecond
)

// WatchLeaderboard sends the top of a leaderboard whenever it changes. It looks at
// the board again when the projection has moved on, so a reader that is slow is
// sent what is there then, and nothing piles up.
func (s *Service) WatchLeaderboard(req *scoringv1.WatchLeaderboardRequest, stream grpc.ServerStreamingServer[scoringv1.WatchLeaderboardResponse]) error {
	ctx := stream.Context()
	board, err := s.board(req.GetLeaderboard())
	if err != nil {
		return err
	}
	var sent *scoringv1.WatchLeaderboardResponse
	for {
		// Asked for before the look: what comes between is looked at again.
		moved := s.projector.Moved()
		now, err := s.watched(ctx, board, pageSize(req.GetLimit(), defaultWatched))
		if err != nil {
			return err
		}
		if sent == nil || !proto.Equal(sent, now) {
			if err := stream.Send(now); err != nil {
				return err
			}
			sent = now
			if err := rest(ctx, watchPause); err != nil {
				return err
			}
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// watched reads what a watcher sees.
func (s *Service) watched(ctx context.Context, board projection.Board, limit int) (*scoringv1.WatchLeaderboardResponse, error) {
	top, err := s.store.Entries(ctx, board, projection.Range{Limit: limit})
	if err != nil {
		return nil, err
	}
	own, err := s.store.PlayerEntries(ctx, board, []string{rpckit.Caller(ctx).PlayerID})
	if err != nil {
		return nil, err
	}
	now := &scoringv1.WatchLeaderboardResponse{Entries: entriesToProto(top.Entries), TotalPlayers: top.TotalPlayers}
	if len(own.Entries) > 0 {
		now.OwnEntry = entriesToProto(own.Entries)[0]
	}
	return now, nil
}

// rest waits for d or the end of ctx, which it returns.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
