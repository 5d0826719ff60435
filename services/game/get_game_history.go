package game

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
)

// Sizes of a page of history.
const (
	defaultHistoryPage = 100
	maxHistoryPage     = 200
)

// GetGameHistory implements gamev1.GameServiceServer. It ends an attempt as
// GetGame does.
func (s *Service) GetGameHistory(ctx context.Context, req *gamev1.GetGameHistoryRequest) (*gamev1.GetGameHistoryResponse, error) {
	from, err := parsePageToken(req.GetPageToken(), req.GetGameId())
	if err != nil {
		return nil, err
	}
	size := min(int(req.GetPageSize()), maxHistoryPage)
	if size == 0 {
		size = defaultHistoryPage
	}
	g, err := s.read(ctx, req.GetGameId())
	if err != nil {
		return nil, err
	}
	res := &gamev1.GetGameHistoryResponse{GameId: g.Game.String(), PlayerId: g.PlayerID, Score: score(g)}
	told := isTold(g, s.clock())
	if told {
		res.Seed, res.Deck = seed(g), cards(g.State.Deck)
	}
	for e, err := range s.log.History(ctx, g.Game, from) {
		if err != nil {
			return nil, fmt.Errorf("read the history of game %s: %w", g.Game, err)
		}
		if len(res.Entries) == size {
			res.NextPageToken = pageToken(req.GetGameId(), e.Version)
			break
		}
		r, err := read(e)
		if err != nil {
			return nil, err
		}
		facts, err := s.keys.PublicFacts(r, told)
		if err != nil {
			return nil, fmt.Errorf("read the history of game %s: %w", g.Game, err)
		}
		res.Entries = append(res.Entries, &gamev1.HistoryEntry{
			Version: r.Version, RecordedAt: r.Message.GetRecordedAt(), Move: r.Message.GetMove(),
			Facts: facts, RulesRevision: r.Message.GetRulesRevision(),
		})
	}
	return res, nil
}

// pageToken names the version that a page of a game's history starts at.
func pageToken(gameID string, version uint64) string {
	return base64.RawURLEncoding.EncodeToString([]byte(gameID + " " + strconv.FormatUint(version, 10)))
}

func parsePageToken(token, gameID string) (uint64, error) {
	if token == "" {
		return 1, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errPageToken, err)
	}
	id, v, _ := strings.Cut(string(raw), " ")
	version, err := strconv.ParseUint(v, 10, 64)
	if err != nil || id != gameID || version == 0 {
		return 0, errPageToken
	}
	return version, nil
}
