package projection

import (
	"cmp"
	"fmt"
	"math"
	"time"

	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
)

// Period is the span of time whose games a board holds. The numbers are those
// of the contract's enumeration, and stored.
type Period uint8

// The periods, in UTC.
const (
	// AllTime never closes.
	AllTime Period = iota + 1
	// Month is a calendar month.
	Month
	// Week begins on a Monday, as in ISO 8601.
	Week
	// Day is a calendar day.
	Day
	// Daily is the daily challenge of a calendar day: the games of that mode, and
	// no others.
	Daily
)

// spans are the periods that a game of a random deck counts for.
var spans = [...]Period{AllTime, Month, Week, Day}

// Grace is how long after the close of its period a game may end and still
// count for it. Then the board is final and never changes again.
const Grace = 24 * time.Hour

// At returns the span of p in which t lies: it opens at the first moment and
// closes at the second, which belongs to the next. Both are zero for AllTime.
func (p Period) At(t time.Time) (opens, closes time.Time) {
	t = t.UTC()
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	switch p {
	case Month:
		opens = day.AddDate(0, 0, 1-day.Day())
		return opens, opens.AddDate(0, 1, 0)
	case Week:
		opens = day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
		return opens, opens.AddDate(0, 0, 7)
	case Day, Daily:
		return day, day.AddDate(0, 0, 1)
	default:
		return time.Time{}, time.Time{}
	}
}

// Board is a leaderboard: the games of one kind of players by one ruleset that
// started in a period. It can be compared, and is a key.
type Board struct {
	// RulesetID is the canonical name of the ruleset.
	RulesetID string
	// ActorKind is who plays: people and programs have boards of their own.
	ActorKind eventv1.ActorKind
	// Period is the kind of span, and OpensAt its first moment, as [Period.At]
	// returns it.
	Period  Period
	OpensAt time.Time
}

// String names the board, such as "classic of humans, day of 2026-12-01".
func (b Board) String() string {
	who := map[eventv1.ActorKind]string{eventv1.ActorKind_ACTOR_KIND_HUMAN: "humans", eventv1.ActorKind_ACTOR_KIND_BOT: "bots"}[b.ActorKind]
	if b.Period == AllTime {
		return fmt.Sprintf("%s of %s", b.RulesetID, who)
	}
	return fmt.Sprintf("%s of %s, %s of %s", b.RulesetID, who, map[Period]string{Month: "month", Week: "week", Day: "day", Daily: "challenge"}[b.Period], b.OpensAt.Format(time.DateOnly))
}

// Compare gives boards an order: the latest opened first, all time before any,
// then by ruleset, kind of player and kind of period.
func (b Board) Compare(other Board) int {
	return cmp.Or(
		cmp.Compare(b.Order(), other.Order()),
		cmp.Compare(b.RulesetID, other.RulesetID),
		cmp.Compare(b.ActorKind, other.ActorKind),
		cmp.Compare(b.Period, other.Period),
	)
}

// Order is a number that ascends in the order of boards before all else.
func (b Board) Order() int64 {
	if b.Period == AllTime {
		return math.MinInt64
	}
	return -b.OpensAt.UnixNano()
}

// ClosesAt returns when the board's period ends; zero if it never does.
func (b Board) ClosesAt() time.Time {
	_, closes := b.Period.At(b.OpensAt)
	return closes
}

// FinalAt returns from when on the board never changes; zero if it always may.
func (b Board) FinalAt() time.Time {
	switch b.Period {
	case AllTime:
		return time.Time{}
	case Daily:
		return record.DailyFinalAt(b.OpensAt)
	default:
		return b.ClosesAt().Add(Grace)
	}
}

// Boards returns the boards that the game counts for, by when it started and
// ended; none if it is not ranked.
func (g Game) Boards() []Board {
	if !g.Ranked() {
		return nil
	}
	periods := spans[:]
	if g.Mode == eventv1.GameMode_GAME_MODE_DAILY {
		periods = []Period{Daily}
	}
	boards := make([]Board, 0, len(periods))
	for _, p := range periods {
		opens, _ := p.At(g.StartedAt)
		b := Board{RulesetID: g.RulesetID, ActorKind: g.ActorKind, Period: p, OpensAt: opens}
		if final := b.FinalAt(); final.IsZero() || g.EndedAt.Before(final) {
			boards = append(boards, b)
		}
	}
	return boards
}
