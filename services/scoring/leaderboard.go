package scoring

import (
	"cmp"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// defaultRuleset is the ruleset of a leaderboard that names none.
const defaultRuleset = "classic"

// board returns the leaderboard that a request means.
func (s *Service) board(l *scoringv1.Leaderboard) (projection.Board, error) {
	b := projection.Board{
		RulesetID: cmp.Or(l.GetRulesetId(), defaultRuleset),
		ActorKind: cmp.Or(l.GetActorKind(), eventv1.ActorKind_ACTOR_KIND_HUMAN),
		Period:    projection.Period(cmp.Or(l.GetPeriod(), scoringv1.Period_PERIOD_ALL_TIME)),
	}
	day := s.clock()
	if date := l.GetDate(); date != "" {
		var err error
		if day, err = time.Parse(time.DateOnly, date); err != nil || b.Period == projection.AllTime {
			return b, &FieldError{Field: "leaderboard.date", Problem: "must be a day as YYYY-MM-DD, and empty for all time"}
		}
	}
	b.OpensAt, _ = b.Period.At(day)
	if !s.ranked[b.RulesetID] {
		return b, &LeaderboardNotFoundError{b.RulesetID}
	}
	return b, nil
}

func boardToProto(b projection.Board) *scoringv1.Leaderboard {
	m := &scoringv1.Leaderboard{RulesetId: b.RulesetID, ActorKind: b.ActorKind, Period: scoringv1.Period(b.Period)}
	if b.Period != projection.AllTime {
		m.Date = b.OpensAt.Format(time.DateOnly)
	}
	return m
}

// boardInfo says what is known of a board at a time.
func boardInfo(b projection.BoardInfo, now time.Time) *scoringv1.LeaderboardInfo {
	info := &scoringv1.LeaderboardInfo{Leaderboard: boardToProto(b.Board), TotalPlayers: b.TotalPlayers}
	if b.Period != projection.AllTime {
		info.OpensAt, info.ClosesAt, info.FinalAt = timestamppb.New(b.OpensAt), timestamppb.New(b.ClosesAt()), timestamppb.New(b.FinalAt())
		info.Final = !now.Before(b.FinalAt())
	}
	return info
}

func entriesToProto(entries []projection.Entry) []*scoringv1.LeaderboardEntry {
	list := make([]*scoringv1.LeaderboardEntry, len(entries))
	for i, e := range entries {
		list[i] = &scoringv1.LeaderboardEntry{
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
	return list
}

// standing returns the rank of a score and its percentile among others: how many
// of them in a hundred have a lower one, 100 where there are no others.
func standing(scores []projection.ScoreCount, score int, others uint64) (rank uint64, percentile float64) {
	var above, below uint64
	for _, c := range scores {
		switch {
		case c.Score > score:
			above += c.Players
		case c.Score < score:
			below += c.Players
		}
	}
	if others == 0 {
		return above + 1, 100
	}
	return above + 1, 100 * float64(below) / float64(others)
}

func totalPlayers(scores []projection.ScoreCount) (n uint64) {
	for _, c := range scores {
		n += c.Players
	}
	return n
}

// pageSize is how many entries a request gets that asks for n. The contract's
// constraint has refused a negative number.
func pageSize(n int32, standard int) int {
	if n <= 0 {
		return standard
	}
	return min(int(n), maxPageSize)
}

const (
	defaultPageSize = 50
	maxPageSize     = 200
	defaultAround   = 11
)
