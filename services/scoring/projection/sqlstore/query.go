package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// The parts of statements about entries. A row has a key in the board's order,
// which projection.Key defines; all of its columns ascend.
const (
	gameColumns = `games.game_id, games.player_id, games.actor_kind, games.ruleset_id, games.mode, games.outcome,
		coalesce(games.score, 0), games.moves, games.started_at, games.ended_at, games.stream, games.stream_seq`
	ofBoard    = `SELECT ` + gameColumns + ` FROM leaderboard_entries AS entries JOIN games ON games.game_id = entries.game_id WHERE entries.board_id = ?`
	boardOrder = `entries.order_score, entries.win_moves, entries.ended_at, entries.stream, entries.stream_seq`
	descending = `entries.order_score DESC, entries.win_moves DESC, entries.ended_at DESC, entries.stream DESC, entries.stream_seq DESC`
)

var (
	selectGame    = define(`SELECT ` + gameColumns + `, games.unranked_reason, 0 FROM games WHERE game_id = ?`)
	selectBoardID = define(`SELECT board_id FROM leaderboards WHERE ruleset_id = ? AND actor_kind = ? AND period = ? AND opens_at = ?`)

	selectBoards = define(`SELECT ruleset_id, actor_kind, period, opens_at,
			(SELECT ` + players + ` FROM leaderboard_counts AS counts WHERE counts.board_id = boards.board_id AND level = 0)
		FROM leaderboards AS boards
		WHERE (list_order, ruleset_id, actor_kind, period) > (?, ?, ?, ?)
			AND (ruleset_id = ? OR ? = '') AND (actor_kind = ? OR ? = 0) AND (period = ? OR ? = 0)
			AND EXISTS (SELECT 1 FROM leaderboard_counts AS counts WHERE counts.board_id = boards.board_id)
		ORDER BY list_order, ruleset_id, actor_kind, period LIMIT ?`)

	selectTop    = define(ofBoard + ` ORDER BY ` + boardOrder + ` LIMIT ?`)
	selectAfter  = define(ofBoard + ` AND (` + boardOrder + `) > (?, ?, ?, ?, ?) ORDER BY ` + boardOrder + ` LIMIT ?`)
	selectFrom   = define(ofBoard + ` AND (` + boardOrder + `) >= (?, ?, ?, ?, ?) ORDER BY ` + boardOrder + ` LIMIT ?`)
	selectBefore = define(ofBoard + ` AND (` + boardOrder + `) < (?, ?, ?, ?, ?) ORDER BY ` + descending + ` LIMIT ?`)
	selectEntry  = define(ofBoard + ` AND entries.player_id = ?`)

	// How many entries stand above a key, group by group.
	countAbove = define(`SELECT
		(SELECT ` + players + ` FROM leaderboard_counts WHERE board_id = ? AND level = 0 AND order_score < ?),
		(SELECT ` + players + ` FROM leaderboard_counts WHERE board_id = ? AND level = 1 AND order_score = ? AND win_moves < ?),
		(SELECT ` + players + ` FROM leaderboard_counts WHERE board_id = ? AND level = 2 AND order_score = ? AND win_moves = ? AND bucket < ?),
		(SELECT ` + players + ` FROM leaderboard_counts WHERE board_id = ? AND level = 3 AND order_score = ? AND win_moves = ? AND bucket >= ? AND bucket < ?),
		(SELECT ` + players + ` FROM leaderboard_counts WHERE board_id = ? AND level = 4 AND order_score = ? AND win_moves = ? AND bucket >= ? AND bucket < ?),
		(SELECT count(*) FROM leaderboard_entries AS entries WHERE entries.board_id = ? AND entries.order_score = ? AND entries.win_moves = ?
			AND entries.ended_at >= ? AND (entries.ended_at, entries.stream, entries.stream_seq) < (?, ?, ?))`)

	selectScores = define(`SELECT order_score, players FROM leaderboard_counts WHERE board_id = ? AND level = 0 ORDER BY order_score`)
	selectMoves  = define(`SELECT win_moves, players FROM leaderboard_counts WHERE board_id = ? AND level = 1 AND order_score = ? ORDER BY win_moves`)
	selectSpans  = define(`SELECT bucket, players FROM leaderboard_counts
		WHERE board_id = ? AND level = ? AND order_score = ? AND win_moves = ? AND bucket >= ? AND bucket < ? ORDER BY bucket`)
	selectInSpan = define(`SELECT order_score, win_moves, ended_at, stream, stream_seq FROM leaderboard_entries AS entries
		WHERE entries.board_id = ? AND entries.order_score = ? AND entries.win_moves = ? AND entries.ended_at >= ?
		ORDER BY ` + boardOrder + ` LIMIT 1 OFFSET ?`)
)

const players = `CAST(coalesce(sum(players), 0) AS BIGINT)`

// Game implements [projection.Store].
func (s *Store) Game(ctx context.Context, gameID string) (g projection.PlayerGame, err error) {
	err = s.snapshot(ctx, "read game", func(t tx) error {
		stored, err := scanPlayerGame(t.row(ctx, selectGame, gameID))
		g = projection.PlayerGame{Game: stored.Game, Unranked: stored.reason()}
		return err
	})
	return g, err
}

// Entries implements [projection.Store].
func (s *Store) Entries(ctx context.Context, board projection.Board, r projection.Range) (page projection.Page, err error) {
	err = s.onBoard(ctx, board, func(t tx, id int64) error {
		if err := t.scores(ctx, id, &page); err != nil {
			return err
		}
		return t.page(ctx, id, r, &page)
	})
	return page, err
}

// PlayerEntries implements [projection.Store].
func (s *Store) PlayerEntries(ctx context.Context, board projection.Board, playerIDs []string) (page projection.Page, err error) {
	err = s.onBoard(ctx, board, func(t tx, id int64) error {
		if err := t.scores(ctx, id, &page); err != nil {
			return err
		}
		for _, player := range playerIDs {
			g, err := scanGame(t.row(ctx, selectEntry, id, player))
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return err
			}
			e, err := t.placed(ctx, id, g)
			if err != nil {
				return err
			}
			page.Entries = append(page.Entries, e)
		}
		slices.SortFunc(page.Entries, func(a, b projection.Entry) int { return a.Key().Compare(b.Key()) })
		return nil
	})
	return page, err
}

// EntriesAround implements [projection.Store].
func (s *Store) EntriesAround(ctx context.Context, board projection.Board, playerID string, limit int) (page projection.Page, err error) {
	err = s.onBoard(ctx, board, func(t tx, id int64) error {
		if err := t.scores(ctx, id, &page); err != nil {
			return err
		}
		g, err := scanGame(t.row(ctx, selectEntry, id, playerID))
		if err != nil {
			return err
		}
		e, err := t.placed(ctx, id, g)
		if err != nil {
			return err
		}
		// As many above as below, but for the ends of the board.
		n := min(uint64(limit), page.TotalPlayers)
		first := e.Position - min(e.Position-1, n/2)
		first = min(first, page.TotalPlayers-n+1)
		return t.page(ctx, id, projection.Range{Position: first, Limit: int(n)}, &page)
	})
	if err == nil && len(page.Entries) == 0 {
		err = s.fail(ctx, "read board", sql.ErrNoRows)
	}
	return page, err
}

// Distribution implements [projection.Store].
func (s *Store) Distribution(ctx context.Context, board projection.Board) ([]projection.ScoreCount, error) {
	var page projection.Page
	err := s.onBoard(ctx, board, func(t tx, id int64) error { return t.scores(ctx, id, &page) })
	return page.Scores, err
}

// Leaderboards implements [projection.Store].
func (s *Store) Leaderboards(ctx context.Context, only projection.Board, after *projection.Board, limit int) (all []projection.BoardInfo, err error) {
	args := []any{int64(math.MinInt64), "", 0, 0} // above every board
	if after != nil {
		args = []any{after.Order(), after.RulesetID, int(after.ActorKind), int(after.Period)}
	}
	args = append(args, only.RulesetID, only.RulesetID, int(only.ActorKind), int(only.ActorKind), int(only.Period), int(only.Period), limit)
	err = s.snapshot(ctx, "list boards", func(t tx) error {
		all, err = rows(ctx, t, func(scan scanFunc) (b projection.BoardInfo, err error) {
			var opens int64
			err = scan(&b.RulesetID, &b.ActorKind, &b.Period, &opens, &b.TotalPlayers)
			b.OpensAt = fromNanos(opens)
			return b, err
		}, selectBoards, args...)
		return err
	})
	return all, err
}

// onBoard runs read in a snapshot with the id of a board; not at all for a board
// that no game counts for.
func (s *Store) onBoard(ctx context.Context, b projection.Board, read func(tx, int64) error) error {
	return s.snapshot(ctx, "read board", func(t tx) error {
		var id int64
		err := t.row(ctx, selectBoardID, b.RulesetID, int(b.ActorKind), int(b.Period), nanos(b.OpensAt))(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		return read(t, id)
	})
}

// page reads a range of entries and numbers them.
func (t tx) page(ctx context.Context, board int64, r projection.Range, page *projection.Page) error {
	// One more than asked for tells whether there is more.
	limit := r.Limit + 1
	n, args := selectTop, []any{board}
	switch {
	case r.After != nil:
		n, args = selectAfter, append(args, keyArgs(*r.After)...)
	case r.Before != nil:
		n, args = selectBefore, append(args, keyArgs(*r.Before)...)
	case r.Position > 1:
		key, err := t.at(ctx, board, r.Position)
		if err != nil {
			return err
		}
		if key == nil {
			page.Less = page.TotalPlayers > 0
			return nil
		}
		n, args = selectFrom, append(args, keyArgs(*key)...)
	}
	games, err := rows(ctx, t, scanGame, n, append(args, limit)...)
	if err != nil {
		return err
	}
	over := len(games) == limit
	games = games[:min(len(games), r.Limit)]
	if r.Before != nil {
		slices.Reverse(games)
	}
	if len(games) == 0 {
		// Nothing on this side: all there is lies on the other.
		page.Less, page.More = r.After != nil && page.TotalPlayers > 0, r.Before != nil && page.TotalPlayers > 0
		return nil
	}
	first, err := t.placed(ctx, board, games[0])
	if err != nil {
		return err
	}
	page.Entries = append(page.Entries, first)
	for _, g := range games[1:] {
		last := page.Entries[len(page.Entries)-1]
		e := projection.Entry{Game: g, Rank: last.Rank, Position: last.Position + 1}
		if g.Score != last.Score {
			e.Rank = e.Position
		}
		page.Entries = append(page.Entries, e)
	}
	page.Less = first.Position > 1
	page.More = over
	if r.Before != nil {
		page.More = page.Entries[len(page.Entries)-1].Position < page.TotalPlayers
	}
	return nil
}

// placed returns the entry of a player's best game. What it costs depends neither
// on the size of the board nor on how many have the same score.
func (t tx) placed(ctx context.Context, board int64, g projection.Game) (projection.Entry, error) {
	k := g.Key()
	score, moves, ended := -k.Score, k.Moves, nanos(k.EndedAt)
	var spans [len(timeShifts)]int64
	for i, shift := range timeShifts {
		spans[i] = ended >> shift
	}
	// The spans of a level lie in the span of the level above.
	within := func(level int) int64 { return spans[level-1] << (timeShifts[level-1] - timeShifts[level]) }
	leaf := spans[len(spans)-1] << timeShifts[len(spans)-1]
	var above [6]uint64
	err := t.row(ctx, countAbove,
		board, score,
		board, score, moves,
		board, score, moves, spans[0],
		board, score, moves, within(1), spans[1],
		board, score, moves, within(2), spans[2],
		board, score, moves, leaf, ended, k.Stream, k.Sequence)(&above[0], &above[1], &above[2], &above[3], &above[4], &above[5])
	e := projection.Entry{Game: g, Rank: above[0] + 1, Position: 1}
	for _, n := range above {
		e.Position += n
	}
	return e, err
}

// at returns the key of the entry at a position, counted from 1; nil if there are
// fewer.
func (t tx) at(ctx context.Context, board int64, position uint64) (*projection.Key, error) {
	left := position - 1 // entries to pass over
	pick := func(n statement, args ...any) (int64, bool, error) {
		list, err := rows(ctx, t, func(scan scanFunc) (row [2]int64, err error) { return row, scan(&row[0], &row[1]) }, n, args...)
		for _, row := range list {
			if left < uint64(row[1]) {
				return row[0], true, err
			}
			left -= uint64(row[1])
		}
		return 0, false, err
	}
	score, ok, err := pick(selectScores, board)
	if !ok || err != nil {
		return nil, err
	}
	moves, ok, err := pick(selectMoves, board, score)
	low, high := int64(-1)<<(63-timeShifts[0]), int64(1)<<(63-timeShifts[0])
	for i, shift := range timeShifts {
		if !ok || err != nil {
			break
		}
		var span int64
		span, ok, err = pick(selectSpans, board, levelTime+i, score, moves, low, high)
		low = span << shift
		if i+1 < len(timeShifts) {
			low, high = low>>timeShifts[i+1], (span+1)<<(shift-timeShifts[i+1])
		}
	}
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("the counts of board %d contradict each other at position %d", board, position)
	}
	key, err := scanKey(t.row(ctx, selectInSpan, board, score, moves, low, left))
	return &key, err
}

// scores reads how many players of a board have each score, and how many it has.
func (t tx) scores(ctx context.Context, board int64, page *projection.Page) (err error) {
	page.Scores, err = rows(ctx, t, func(scan scanFunc) (c projection.ScoreCount, err error) {
		err = scan(&c.Score, &c.Players)
		c.Score = -c.Score
		return c, err
	}, selectScores, board)
	for _, c := range page.Scores {
		page.TotalPlayers += c.Players
	}
	return err
}

func scanGame(scan scanFunc) (g projection.Game, err error) {
	var started, ended int64
	err = scan(&g.GameID, &g.PlayerID, &g.ActorKind, &g.RulesetID, &g.Mode, &g.Outcome, &g.Score, &g.Moves,
		&started, &ended, &g.Stream, &g.Sequence)
	g.StartedAt, g.EndedAt = fromNanos(started), fromNanos(ended)
	return g, err
}

// keyArgs are the values of a key in the order of boardOrder.
func keyArgs(k projection.Key) []any {
	return []any{-k.Score, k.Moves, nanos(k.EndedAt), k.Stream, k.Sequence}
}
