package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// gameColumns are the columns that scanGame reads.
const gameColumns = `games.game_id, games.player_id, games.actor_kind, games.ruleset_id, games.mode, games.outcome,
	coalesce(games.score, 0), games.moves, games.started_at, games.ended_at, games.stream, games.stream_seq`

// board is every entry of a ruleset's board with its game.
const board = ` FROM leaderboard_entries AS entries JOIN games USING (game_id) WHERE entries.ruleset_id = ?`

// boardOrder is [projection.Key]'s order in SQL, tieOrder that of equal scores.
const (
	tieOrder   = `entries.win_moves, entries.ended_at, entries.stream, entries.stream_seq`
	boardOrder = `entries.descending_score, ` + tieOrder
)

// Game implements [projection.Store].
func (s *Store) Game(ctx context.Context, gameID string) (projection.Game, error) {
	g, err := scanGame(s.read.QueryRowContext(ctx, `SELECT `+gameColumns+` FROM games WHERE game_id = ?`, gameID).Scan)
	return g, storeError(ctx, "read game", err)
}

// Entries implements [projection.Store].
func (s *Store) Entries(ctx context.Context, rulesetID string, after *projection.Key, limit int) (page projection.Page, err error) {
	err = s.snapshot(ctx, "read board", func(tx *sql.Tx) error {
		page, err = entries(ctx, tx, rulesetID, after, limit)
		return err
	})
	return page, err
}

func entries(ctx context.Context, tx *sql.Tx, rulesetID string, after *projection.Key, limit int) (projection.Page, error) {
	where, args := board, []any{rulesetID}
	if after != nil {
		where += ` AND (` + boardOrder + `) > (?, ?, ?, ?, ?)`
		args = append(args, keyArgs(*after)...)
	}
	// One more than asked for tells whether there is more.
	games, err := query(ctx, tx, scanGame,
		`SELECT `+gameColumns+where+` ORDER BY `+boardOrder+` LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return projection.Page{}, err
	}
	page := projection.Page{More: len(games) > limit}
	games = games[:min(len(games), limit)]
	if page.TotalPlayers, err = playersAbove(ctx, tx, rulesetID, nil); err != nil || len(games) == 0 {
		return page, err
	}
	first, err := placed(ctx, tx, games[0])
	if err != nil {
		return projection.Page{}, err
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
	return page, nil
}

// PlayerEntry implements [projection.Store].
func (s *Store) PlayerEntry(ctx context.Context, rulesetID, playerID string) (e projection.Entry, totalPlayers uint64, err error) {
	err = s.snapshot(ctx, "read entry", func(tx *sql.Tx) error {
		g, err := scanGame(tx.QueryRowContext(ctx, `SELECT `+gameColumns+board+` AND entries.player_id = ?`, rulesetID, playerID).Scan)
		if err != nil {
			return err
		}
		if e, err = placed(ctx, tx, g); err != nil {
			return err
		}
		totalPlayers, err = playersAbove(ctx, tx, rulesetID, nil)
		return err
	})
	return e, totalPlayers, err
}

// placed returns the entry of a player's best game. Its cost does not depend on
// how many players have other scores.
func placed(ctx context.Context, tx *sql.Tx, g projection.Game) (projection.Entry, error) {
	above, err := playersAbove(ctx, tx, g.RulesetID, &g.Score)
	if err != nil {
		return projection.Entry{}, err
	}
	var tied uint64
	err = tx.QueryRowContext(ctx, `SELECT count(*) FROM leaderboard_entries AS entries
		WHERE ruleset_id = ? AND descending_score = ? AND (`+tieOrder+`) < (?, ?, ?, ?)`,
		append([]any{g.RulesetID}, keyArgs(g.Key())...)...).Scan(&tied)
	return projection.Entry{Game: g, Rank: above + 1, Position: above + tied + 1}, err
}

// playersAbove counts the players of a board with a higher score, or all.
func playersAbove(ctx context.Context, tx *sql.Tx, rulesetID string, score *int) (n uint64, err error) {
	err = tx.QueryRowContext(ctx, `SELECT coalesce(sum(players), 0) FROM leaderboard_histogram
		WHERE ruleset_id = ?1 AND (?2 IS NULL OR score > ?2)`, rulesetID, score).Scan(&n)
	return n, err
}

// snapshot runs read in a transaction that sees one state of the database.
func (s *Store) snapshot(ctx context.Context, what string, read func(*sql.Tx) error) error {
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return storeError(ctx, what, err)
	}
	defer func() { _ = tx.Rollback() }()
	return storeError(ctx, what, read(tx))
}

type scanFunc = func(dest ...any) error

// query returns the rows of a statement.
func query[T any](ctx context.Context, db interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, scan func(scanFunc) (T, error), statement string, args ...any) ([]T, error) {
	rows, err := db.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all []T
	for rows.Next() {
		row, err := scan(rows.Scan)
		if err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

func scanGame(scan scanFunc) (g projection.Game, err error) {
	var started, ended int64
	err = scan(&g.GameID, &g.PlayerID, &g.ActorKind, &g.RulesetID, &g.Mode, &g.Outcome, &g.Score, &g.Moves,
		&started, &ended, &g.Stream, &g.Sequence)
	g.StartedAt, g.EndedAt = time.Unix(0, started).UTC(), time.Unix(0, ended).UTC()
	return g, err
}

func scanKey(scan scanFunc) (k projection.Key, err error) {
	var ended int64
	err = scan(&k.Score, &k.Moves, &ended, &k.Stream, &k.Sequence)
	k.EndedAt = time.Unix(0, ended).UTC()
	return k, err
}

// keyArgs are the values of a key in the order of boardOrder.
func keyArgs(k projection.Key) []any {
	return []any{-k.Score, k.Moves, k.EndedAt.UnixNano(), k.Stream, k.Sequence}
}
