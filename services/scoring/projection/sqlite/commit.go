package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// name tells this projection's checkpoints from those of others that may share
// the database.
const name = "scoring"

// Checkpoints implements [projection.Store].
func (s *Store) Checkpoints(ctx context.Context) ([]projection.Checkpoint, error) {
	all, err := query(ctx, s.read, func(scan scanFunc) (c projection.Checkpoint, err error) {
		return c, scan(&c.Stream, &c.Sequence, &c.EventID, &c.Incarnation)
	}, `SELECT stream, stream_seq, event_id, incarnation FROM projection_checkpoint WHERE name = ? ORDER BY stream`, name)
	return all, storeError(ctx, "read checkpoints", err)
}

// Parked implements [projection.Store].
func (s *Store) Parked(ctx context.Context) ([]projection.Parked, error) {
	all, err := query(ctx, s.read, func(scan scanFunc) (p projection.Parked, err error) {
		return p, scan(&p.Position.Stream, &p.Position.Sequence, &p.Position.Incarnation, &p.EventID, &p.GameID, &p.Problem, &p.Payload)
	}, `SELECT stream, stream_seq, incarnation, event_id, game_id, error, payload FROM projection_poison
		WHERE name = ? ORDER BY stream, stream_seq`, name)
	return all, storeError(ctx, "read parked records", err)
}

// Commit implements [projection.Store].
func (s *Store) Commit(ctx context.Context, after projection.Checkpoint, steps []projection.Step) error {
	if len(steps) == 0 {
		return nil
	}
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return storeError(ctx, "commit", err)
	}
	defer func() { _ = tx.Rollback() }()
	// The fence comes first: what another writer has done need not be tried.
	if err := advance(ctx, tx, after, steps[len(steps)-1]); err != nil {
		return storeError(ctx, "advance the checkpoint", err)
	}
	for _, step := range steps {
		if err := apply(ctx, tx, step); err != nil {
			return storeError(ctx, "apply record", err)
		}
	}
	return storeError(ctx, "commit", tx.Commit())
}

// advance moves the checkpoint from after to the record of last.
func advance(ctx context.Context, tx *sql.Tx, after projection.Checkpoint, last projection.Step) error {
	to := last.Record.Position
	var done sql.Result
	var err error
	if after.Sequence == 0 {
		done, err = tx.ExecContext(ctx, `INSERT INTO projection_checkpoint (name, stream, stream_seq, event_id, incarnation)
			VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, name, to.Stream, to.Sequence, last.Record.ID, to.Incarnation)
	} else {
		done, err = tx.ExecContext(ctx, `UPDATE projection_checkpoint SET stream_seq = ?, event_id = ?
			WHERE name = ? AND stream = ? AND incarnation = ? AND stream_seq = ? AND event_id = ?`,
			to.Sequence, last.Record.ID, name, to.Stream, to.Incarnation, after.Sequence, after.EventID)
	}
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return fmt.Errorf("%w: %s is not at %d", projection.ErrFenced, to.Stream, after.Sequence)
}

func apply(ctx context.Context, tx *sql.Tx, step projection.Step) error {
	if step.Problem != "" {
		r := step.Record
		_, err := tx.ExecContext(ctx, `INSERT INTO projection_poison (name, stream, stream_seq, incarnation, event_id, game_id, error, payload)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			name, r.Position.Stream, r.Position.Sequence, r.Position.Incarnation, r.ID, r.Game.String(), step.Problem, r.Data)
		return err
	}
	if step.Game == nil {
		return nil
	}
	g := *step.Game
	var parked bool
	if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM projection_poison WHERE game_id = ?)`, g.GameID).Scan(&parked); err != nil || parked {
		return err
	}
	score := sql.NullInt64{Int64: int64(g.Score), Valid: g.Scored()}
	if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO games
		(game_id, player_id, actor_kind, ruleset_id, mode, outcome, score, moves, started_at, ended_at, ranked, stream, stream_seq)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		g.GameID, g.PlayerID, g.ActorKind, g.RulesetID, g.Mode, g.Outcome, score, g.Moves,
		g.StartedAt.UnixNano(), g.EndedAt.UnixNano(), g.Ranked(), g.Stream, g.Sequence); err != nil {
		return err
	}
	if !g.Ranked() {
		return nil
	}
	return place(ctx, tx, g)
}

// place puts the game on the board of its ruleset if it is the player's best.
func place(ctx context.Context, tx *sql.Tx, g projection.Game) error {
	best, err := scanKey(tx.QueryRowContext(ctx, `SELECT score, win_moves, ended_at, stream, stream_seq
		FROM leaderboard_entries WHERE ruleset_id = ? AND player_id = ?`, g.RulesetID, g.PlayerID).Scan)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return err
	case g.Key().Compare(best) >= 0:
		return nil
	default:
		if err := leave(ctx, tx, g.RulesetID, best.Score); err != nil {
			return err
		}
	}
	k := g.Key()
	if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO leaderboard_entries
		(ruleset_id, player_id, game_id, score, win_moves, ended_at, stream, stream_seq) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		g.RulesetID, g.PlayerID, g.GameID, k.Score, k.Moves, k.EndedAt.UnixNano(), k.Stream, k.Sequence); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO leaderboard_histogram (ruleset_id, score, players) VALUES (?, ?, 1)
		ON CONFLICT DO UPDATE SET players = players + 1`, g.RulesetID, g.Score)
	return err
}

// leave takes a player off the histogram, which has no rows of 0 players: equal
// boards have equal tables.
func leave(ctx context.Context, tx *sql.Tx, rulesetID string, score int) error {
	done, err := tx.ExecContext(ctx, `DELETE FROM leaderboard_histogram WHERE ruleset_id = ? AND score = ? AND players = 1`, rulesetID, score)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 1 {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE leaderboard_histogram SET players = players - 1 WHERE ruleset_id = ? AND score = ?`, rulesetID, score)
	return err
}

// Lease implements [projection.Store].
func (s *Store) Lease(ctx context.Context, holder string, now time.Time, ttl time.Duration) (bool, error) {
	done, err := s.write.ExecContext(ctx, `INSERT INTO projection_lease (name, holder, expires_at) VALUES (?, ?, ?)
		ON CONFLICT DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
		WHERE holder = excluded.holder OR expires_at <= ?`, name, holder, now.Add(ttl).UnixNano(), now.UnixNano())
	if err != nil {
		return false, storeError(ctx, "lease", err)
	}
	n, err := done.RowsAffected()
	return n == 1, storeError(ctx, "lease", err)
}

// Release implements [projection.Store].
func (s *Store) Release(ctx context.Context, holder string) error {
	_, err := s.write.ExecContext(ctx, `DELETE FROM projection_lease WHERE name = ? AND holder = ?`, name, holder)
	return storeError(ctx, "release", err)
}
