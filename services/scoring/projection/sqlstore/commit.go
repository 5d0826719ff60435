package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"time"

	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

var (
	selectCheckpoints = define(`SELECT stream, stream_seq, event_id, incarnation FROM projection_checkpoint WHERE name = ? ORDER BY stream`)
	insertCheckpoint  = define(`INSERT INTO projection_checkpoint (name, stream, stream_seq, event_id, incarnation)
		VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
	moveCheckpoint = define(`UPDATE projection_checkpoint SET stream_seq = ?, event_id = ?
		WHERE name = ? AND stream = ? AND incarnation = ? AND stream_seq = ? AND event_id = ?`)

	selectParked = define(`SELECT stream, stream_seq, incarnation, event_id, game_id, error, payload FROM projection_poison
		WHERE name = ? ORDER BY stream, stream_seq`)
	insertParked = define(`INSERT INTO projection_poison (name, stream, stream_seq, incarnation, event_id, game_id, error, payload)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
	// A start never comes after its game's end but from another look at the log.
	insertGames = defineBulk(newGames+` ON CONFLICT DO NOTHING`, newGame)
	upsertGames = defineBulk(newGames+`
		ON CONFLICT (game_id) DO UPDATE SET player_id = excluded.player_id, actor_kind = excluded.actor_kind,
			ruleset_id = excluded.ruleset_id, mode = excluded.mode, outcome = excluded.outcome, score = excluded.score,
			moves = excluded.moves, started_at = excluded.started_at, ended_at = excluded.ended_at,
			stream = excluded.stream, stream_seq = excluded.stream_seq`, newGame)

	takeLease = define(`INSERT INTO projection_lease (name, holder, expires_at) VALUES (?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
		WHERE projection_lease.holder = excluded.holder OR projection_lease.expires_at <= ?`)
	dropLease = define(`DELETE FROM projection_lease WHERE name = ? AND holder = ?`)
)

const (
	newGames = `INSERT INTO games
		(game_id, player_id, actor_kind, ruleset_id, mode, outcome, score, moves, started_at, ended_at, stream, stream_seq)
		VALUES`
	newGame = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
)

// Checkpoints implements [projection.Store].
func (s *Store) Checkpoints(ctx context.Context) (all []projection.Checkpoint, err error) {
	err = s.snapshot(ctx, "read checkpoints", func(t tx) error {
		all, err = rows(ctx, t, func(scan scanFunc) (c projection.Checkpoint, err error) {
			return c, scan(&c.Stream, &c.Sequence, &c.EventID, &c.Incarnation)
		}, selectCheckpoints, name)
		return err
	})
	return all, err
}

// Parked implements [projection.Store].
func (s *Store) Parked(ctx context.Context) (all []projection.Parked, err error) {
	err = s.snapshot(ctx, "read parked records", func(t tx) error {
		all, err = rows(ctx, t, func(scan scanFunc) (p projection.Parked, err error) {
			return p, scan(&p.Position.Stream, &p.Position.Sequence, &p.Position.Incarnation, &p.EventID, &p.GameID, &p.Problem, &p.Payload)
		}, selectParked, name)
		return err
	})
	return all, err
}

// Commit implements [projection.Store].
func (s *Store) Commit(ctx context.Context, after projection.Checkpoint, steps []projection.Step) error {
	if len(steps) == 0 {
		return nil
	}
	return s.placing(ctx, "commit records", func(w *placer) error {
		// The fence comes first: what another writer has done need not be tried.
		if err := w.advance(ctx, after, steps[len(steps)-1]); err != nil {
			return err
		}
		return w.applyAll(ctx, steps)
	})
}

// applyAll writes what steps change, in their order.
func (w *placer) applyAll(ctx context.Context, steps []projection.Step) error {
	if err := w.prepare(ctx, steps); err != nil {
		return err
	}
	for _, step := range steps {
		if err := w.apply(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

// placing runs change in a transaction with a placer, and writes what it counted.
func (s *Store) placing(ctx context.Context, what string, change func(*placer) error) error {
	w := newPlacer(s)
	if err := s.update(ctx, what, func(t tx) error {
		w.tx = t
		if s.dialect.Exclusive != "" {
			if _, err := t.ExecContext(ctx, s.dialect.Exclusive); err != nil {
				return err
			}
		}
		if err := change(w); err != nil {
			return err
		}
		return w.flush(ctx)
	}); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(s.boards, w.boards)
	return nil
}

// advance moves the checkpoint from after to the record of last.
func (t tx) advance(ctx context.Context, after projection.Checkpoint, last projection.Step) error {
	to := last.Record.Position
	var n int64
	var err error
	if after.Sequence == 0 {
		n, err = t.exec(ctx, insertCheckpoint, name, to.Stream, to.Sequence, last.Record.ID, to.Incarnation)
	} else {
		n, err = t.exec(ctx, moveCheckpoint, to.Sequence, last.Record.ID, name, to.Stream, to.Incarnation, after.Sequence, after.EventID)
	}
	if err != nil || n == 1 {
		return err
	}
	return fmt.Errorf("%w: %s is not at %d", projection.ErrFenced, to.Stream, after.Sequence)
}

// apply writes what a step changes.
func (w *placer) apply(ctx context.Context, step projection.Step) error {
	if step.Problem != "" {
		r := step.Record
		w.parked[r.Game.String()] = true
		_, err := w.exec(ctx, insertParked, name, r.Position.Stream, r.Position.Sequence, r.Position.Incarnation, r.ID, r.Game.String(), step.Problem, r.Data)
		return err
	}
	if step.Moderation != nil {
		return w.moderate(ctx, *step.Moderation)
	}
	if step.Erasure != nil {
		return w.erase(ctx, *step.Erasure)
	}
	if step.Game == nil || w.parked[step.Game.GameID] {
		return nil
	}
	g := *step.Game
	if g.Running() {
		if _, ended := w.games[g.GameID]; !ended {
			w.games[g.GameID] = g
		}
		if !w.special[g.PlayerID] {
			return nil
		}
		return w.reconsider(ctx, g.PlayerID) // it may be erased already
	}
	w.games[g.GameID] = g
	// Most players' games go on their boards one by one. Where one may decide about
	// another, all of them are looked at.
	if w.special[g.PlayerID] || w.hidden[g.GameID] || g.Deep() {
		return w.reconsider(ctx, g.PlayerID)
	}
	for _, board := range g.Boards() {
		if err := w.place(ctx, board, g); err != nil {
			return err
		}
	}
	return nil
}

// gameArgs are the values of a game's columns.
func gameArgs(g projection.Game) []any {
	score := sql.NullInt64{Int64: int64(g.Score), Valid: g.Scored()}
	return []any{
		g.GameID, g.PlayerID, int(g.ActorKind), g.RulesetID, int(g.Mode), int(g.Outcome), score, g.Moves,
		nanos(g.StartedAt), nanos(g.EndedAt), g.Stream, g.Sequence,
	}
}

// Lease implements [projection.Store].
func (s *Store) Lease(ctx context.Context, holder string, now time.Time, ttl time.Duration) (held bool, err error) {
	err = s.update(ctx, "lease", func(t tx) error {
		n, err := t.exec(ctx, takeLease, name, holder, nanos(now.Add(ttl)), nanos(now))
		held = n == 1
		return err
	})
	return held && err == nil, err
}

// Release implements [projection.Store].
func (s *Store) Release(ctx context.Context, holder string) error {
	return s.update(ctx, "release", func(t tx) error {
		_, err := t.exec(ctx, dropLease, name, holder)
		return err
	})
}
