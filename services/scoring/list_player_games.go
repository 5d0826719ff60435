package scoring

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"time"

	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// ListPlayerGames lists a player's games.
func (s *Service) ListPlayerGames(ctx context.Context, req *scoringv1.ListPlayerGamesRequest) (*scoringv1.ListPlayerGamesResponse, error) {
	caller := rpckit.Caller(ctx).PlayerID
	q := projection.PlayerGamesQuery{PlayerID: cmp.Or(req.GetPlayerId(), caller), RulesetID: req.GetRulesetId()}
	q.Private = q.PlayerID == caller
	q.FinalBefore = record.DailyOpensAt(s.clock().Add(-record.DailyGrace))
	// A token of the player's own list names no place in what others see.
	query := fmt.Sprintf("ListPlayerGames/1 %q %q %v", q.PlayerID, q.RulesetID, q.Private)
	if token := req.GetPageToken(); token != "" {
		b, err := s.tokens.open(query, token)
		if err != nil {
			return nil, err
		}
		if len(b) < 8 {
			return nil, ErrPageToken
		}
		q.Before = &projection.Game{StartedAt: time.Unix(0, int64(binary.BigEndian.Uint64(b))), GameID: string(b[8:])}
	}
	if err := s.await(ctx, req.GetConsistencyToken()); err != nil {
		return nil, err
	}
	size := pageSize(req.GetPageSize(), defaultPageSize)
	q.Limit = size + 1
	games, err := s.store.PlayerGames(ctx, q)
	if err != nil {
		return nil, err
	}
	resp := &scoringv1.ListPlayerGamesResponse{}
	for i, g := range games {
		if i == size {
			last := games[i-1]
			resp.NextPageToken = s.tokens.seal(query, append(binary.BigEndian.AppendUint64(nil, uint64(last.StartedAt.UnixNano())), last.GameID...))
			break
		}
		resp.Games = append(resp.Games, s.gameScore(s.asOfNow(g)))
	}
	return resp, nil
}
