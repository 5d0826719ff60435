package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

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
	selectBoard   = define(`SELECT board_id, ` + rootOf + ` FROM leaderboards AS boards
		WHERE ruleset_id = ? AND actor_kind = ? AND period = ? AND opens_at = ?`)

	selectBoards = define(`SELECT ruleset_id, actor_kind, period, opens_at, ` + rootOf + `
		FROM leaderboards AS boards
		WHERE (list_order, ruleset_id, actor_kind, period) > (?, ?, ?, ?)
			AND (ruleset_id = ? OR ? = '') AND (actor_kind = ? OR ? = 0) AND (period = ? OR ? = 0)
			AND EXISTS (SELECT 1 FROM leaderboard_counts AS counts WHERE counts.board_id = boards.board_id)
		ORDER BY list_order, ruleset_id, actor_kind, period LIMIT ?`)

	selectTop    = define(ofBoard + ` ORDER BY ` + boardOrder + ` LIMIT ?`)
	selectAfter  = define(ofBoard + ` AND (` + boardOrder + `) > (?, ?, ?, ?, ?) ORDER BY ` + boardOrder + ` LIMIT ?`)
	selectFrom   = define(ofBoard + ` AND (` + boardOrder + `) >= (?, ?, ?, ?, ?) ORDER BY ` + boardOrder + ` LIMIT ?`)
	selectBefore = define(ofBoard + ` AND (` + boardOrder + `) < (?, ?, ?, ?, ?) ORDER BY ` + descending + ` LIMIT ?`)

	// A player's entry and what tells how many entries of its score stand above: the
	// nodes above it, as path has them, and a count of the few that are its neighbours.
	selectPlaced = define(`SELECT ` + gameColumns + `, ` + pathOf() + `
		(SELECT count(*) FROM leaderboard_entries AS others WHERE others.board_id = entries.board_id
			AND others.order_score = entries.order_score AND others.win_moves = entries.win_moves
			AND others.ended_at >= (entries.ended_at >> ` + leafShift + `) << ` + leafShift + `
			AND (others.ended_at, others.stream, others.stream_seq) < (entries.ended_at, entries.stream, entries.stream_seq))
		FROM leaderboard_entries AS entries JOIN games ON games.game_id = entries.game_id
		WHERE entries.board_id = ? AND entries.player_id = ?`)
	selectInSpan = define(`SELECT order_score, win_moves, ended_at, stream, stream_seq FROM leaderboard_entries AS entries
		WHERE entries.board_id = ? AND entries.order_score = ? AND entries.win_moves = ? AND entries.ended_at >= ?
		ORDER BY ` + boardOrder + ` LIMIT 1 OFFSET ?`)
)

// rootOf is the node of a board, or NULL where nobody has an entry.
const rootOf = `(SELECT counts FROM leaderboard_counts AS counts WHERE counts.board_id = boards.board_id AND level = 0)`

// leafShift is the last of timeShifts, in SQL.
var leafShift = strconv.Itoa(int(timeShifts[len(timeShifts)-1]))

// pathOf returns the columns of the nodes above an entry, from its score.
func pathOf() string {
	const at = `(SELECT counts FROM leaderboard_counts AS nodes WHERE nodes.board_id = entries.board_id
		AND nodes.order_score = entries.order_score AND nodes.level = `
	columns := []string{at + strconv.Itoa(levelScore) + ` AND nodes.win_moves = 0 AND nodes.bucket = 0), `}
	bucket := "0"
	for i, shift := range timeShifts {
		columns = append(columns, at+strconv.Itoa(levelTime+i)+` AND nodes.win_moves = entries.win_moves AND nodes.bucket = `+bucket+`), `)
		bucket = `entries.ended_at >> ` + strconv.Itoa(int(shift))
	}
	return strings.Join(columns, "")
}

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
	err = s.onBoard(ctx, board, &page, func(t tx, id int64) error { return t.page(ctx, id, r, &page) })
	return page, err
}

// PlayerEntries implements [projection.Store].
func (s *Store) PlayerEntries(ctx context.Context, board projection.Board, playerIDs []string) (page projection.Page, err error) {
	err = s.onBoard(ctx, board, &page, func(t tx, id int64) error {
		for _, player := range playerIDs {
			e, err := t.placed(ctx, id, player, page.Scores)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
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
	err = s.onBoard(ctx, board, &page, func(t tx, id int64) error {
		e, err := t.placed(ctx, id, playerID, page.Scores)
		if err != nil {
			return err
		}
		// As many above as below, but for the ends of the board.
		n := min(uint64(limit), page.TotalPlayers)
		first := e.Position - min(e.Position-1, n/2)
		first = min(first, page.TotalPlayers-n+1)
		higher, err := rows(ctx, t, scanGame, selectBefore, append(append([]any{id}, keyArgs(e.Key())...), e.Position-first)...)
		if err != nil {
			return err
		}
		slices.Reverse(higher)
		lower, err := rows(ctx, t, scanGame, selectAfter, append(append([]any{id}, keyArgs(e.Key())...), first+n-1-e.Position)...)
		if err != nil {
			return err
		}
		number(&page, slices.Concat(higher, []projection.Game{e.Game}, lower), first)
		page.Less, page.More = first > 1, first+n-1 < page.TotalPlayers
		return nil
	})
	if err == nil && len(page.Entries) == 0 {
		err = s.fail(ctx, "read board", sql.ErrNoRows)
	}
	return page, err
}

// Distribution implements [projection.Store].
func (s *Store) Distribution(ctx context.Context, board projection.Board) ([]projection.ScoreCount, error) {
	var page projection.Page
	err := s.onBoard(ctx, board, &page, func(tx, int64) error { return nil })
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
			var counts []byte
			if err := scan(&b.RulesetID, &b.ActorKind, &b.Period, &opens, &counts); err != nil {
				return b, err
			}
			b.OpensAt = fromNanos(opens)
			_, b.TotalPlayers, err = scores(counts)
			return b, err
		}, selectBoards, args...)
		return err
	})
	return all, err
}

// onBoard reads how many players of a board have each score and runs read in the same
// snapshot with the board's id; not at all for a board that no game counts for.
func (s *Store) onBoard(ctx context.Context, b projection.Board, page *projection.Page, read func(tx, int64) error) error {
	return s.snapshot(ctx, "read board", func(t tx) error {
		var id int64
		var counts []byte
		err := t.row(ctx, selectBoard, b.RulesetID, int(b.ActorKind), int(b.Period), nanos(b.OpensAt))(&id, &counts)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if page.Scores, page.TotalPlayers, err = scores(counts); err != nil {
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
		key, err := t.at(ctx, board, r.Position, page.Scores)
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
	position := r.Position
	if r.After != nil || r.Before != nil {
		first, err := t.placed(ctx, board, games[0].PlayerID, page.Scores)
		if err != nil {
			return err
		}
		position = first.Position
	}
	number(page, games, max(position, 1))
	page.Less = page.Entries[0].Position > 1
	page.More = over
	if r.Before != nil {
		page.More = page.Entries[len(page.Entries)-1].Position < page.TotalPlayers
	}
	return nil
}

// number makes games the entries of a page that starts at a position.
func number(page *projection.Page, games []projection.Game, position uint64) {
	for i, g := range games {
		e := projection.Entry{Game: g, Position: position + uint64(i)}
		if last := len(page.Entries) - 1; last >= 0 && page.Entries[last].Score == g.Score {
			e.Rank = page.Entries[last].Rank
		} else {
			e.Rank = rankOf(page.Scores, g.Score)
		}
		page.Entries = append(page.Entries, e)
	}
}

// placed returns the entry of a player on a board with these scores. What it costs
// depends neither on the size of the board nor on how many have the same score.
func (t tx) placed(ctx context.Context, board int64, player string, scores []projection.ScoreCount) (e projection.Entry, err error) {
	var counts [levels][]byte
	var neighbours uint64
	scan := t.row(ctx, selectPlaced, board, player)
	if e.Game, err = scanGame(func(dest ...any) error {
		for i := levelScore; i < levels; i++ {
			dest = append(dest, &counts[i])
		}
		return scan(append(dest, &neighbours)...)
	}); err != nil {
		return e, err
	}
	e.Rank = rankOf(scores, e.Score)
	e.Position = e.Rank + neighbours
	for i, n := range path(board, e.Key()) {
		children, err := parseCounts(counts[i])
		if err != nil {
			return e, err
		}
		e.Position += above(children, n.child) // of the board, Rank has them
	}
	return e, nil
}

// at returns the key of the entry at a position, counted from 1; nil if there are
// fewer. It goes down the tree of a board with these scores.
func (t tx) at(ctx context.Context, board int64, position uint64, scores []projection.ScoreCount) (*projection.Key, error) {
	left := position - 1 // entries to pass over
	n := nodeKey{board: board, level: levelScore}
	i := slices.IndexFunc(scores, func(c projection.ScoreCount) bool {
		if left < c.Players {
			return true
		}
		left -= c.Players
		return false
	})
	if i < 0 {
		return nil, nil
	}
	n.orderScore = -scores[i].Score
	var leaf int64
	for ; n.level < levels; n.level++ {
		var counts []byte
		if err := t.row(ctx, selectCounts, n.args()...)(&counts); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		children, err := parseCounts(counts)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(children, func(c childCount) bool {
			if left < c.entries {
				return true
			}
			left -= c.entries
			return false
		})
		switch {
		case i < 0:
			return nil, errCounts
		case n.level == levelScore:
			n.winMoves = uint32(children[i].child)
		case n.level == levels-1:
			leaf = children[i].child << timeShifts[len(timeShifts)-1]
		default:
			n.bucket = children[i].child
		}
	}
	key, err := scanKey(t.row(ctx, selectInSpan, board, n.orderScore, n.winMoves, leaf, left))
	return &key, err
}

// scores returns what the node of a board says.
func scores(counts []byte) (list []projection.ScoreCount, total uint64, err error) {
	children, err := parseCounts(counts)
	for _, c := range children {
		list = append(list, projection.ScoreCount{Score: int(-c.child), Players: c.entries})
		total += c.entries
	}
	return list, total, err
}

// rankOf returns the rank of a score on a board with these scores.
func rankOf(scores []projection.ScoreCount, score int) uint64 {
	rank := uint64(1)
	for _, c := range scores {
		if c.Score > score {
			rank += c.Players
		}
	}
	return rank
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
