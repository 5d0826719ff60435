package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

var (
	insertBoard = define(`INSERT INTO leaderboards (ruleset_id, actor_kind, period, opens_at, list_order) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)

	selectBest = define(`SELECT order_score, win_moves, ended_at, stream, stream_seq FROM leaderboard_entries WHERE board_id = ? AND player_id = ?`)
	upsertBest = define(`INSERT INTO leaderboard_entries (board_id, player_id, game_id, order_score, win_moves, ended_at, stream, stream_seq)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (board_id, player_id) DO UPDATE SET game_id = excluded.game_id, order_score = excluded.order_score,
			win_moves = excluded.win_moves, ended_at = excluded.ended_at, stream = excluded.stream, stream_seq = excluded.stream_seq`)

	addCount = define(`INSERT INTO leaderboard_counts (board_id, level, order_score, win_moves, bucket, players) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (board_id, level, order_score, win_moves, bucket) DO UPDATE SET players = leaderboard_counts.players + excluded.players`)
	takeCount = define(`UPDATE leaderboard_counts SET players = players - ?
		WHERE board_id = ? AND level = ? AND order_score = ? AND win_moves = ? AND bucket = ?`)
	dropCount = define(`DELETE FROM leaderboard_counts
		WHERE board_id = ? AND level = ? AND order_score = ? AND win_moves = ? AND bucket = ? AND players = 0`)
)

// countKey names a group of entries of a board that stand together in its order.
// Groups nest: those of a level are parts of those of the level above. How many
// entries are above one is so a short sum at every level, however large the board.
type countKey struct {
	board      int64
	level      int
	orderScore int    // minus the score: all of the order ascends
	winMoves   uint32 // 0 above levelMoves
	bucket     int64  // ended_at >> shift of the level; 0 above levelTime
}

// The levels: entries of one score, those of one number of moves among them, then
// those that ended in spans of time that get ever shorter.
const (
	levelScore = iota
	levelMoves
	levelTime // and the ones below
)

// timeShifts are how many bits of ended_at, in nanoseconds, the spans of the time
// levels leave out: 3 days, 18 minutes, 4 seconds.
var timeShifts = [...]uint{48, 40, 32}

// groups returns the groups that an entry is in, from the largest.
func groups(board int64, k projection.Key) []countKey {
	all := make([]countKey, 0, levelTime+len(timeShifts))
	all = append(all,
		countKey{board: board, level: levelScore, orderScore: -k.Score},
		countKey{board: board, level: levelMoves, orderScore: -k.Score, winMoves: k.Moves})
	for i, shift := range timeShifts {
		all = append(all, countKey{board, levelTime + i, -k.Score, k.Moves, nanos(k.EndedAt) >> shift})
	}
	return all
}

// placer writes entries in a transaction. It adds up what changes in the counts,
// because games that come together mostly count for the same groups.
type placer struct {
	tx

	store  *Store
	counts map[countKey]int64
	boards map[projection.Board]int64 // ids of boards that this transaction met
}

// place puts the game on a board if it is the player's best there.
func (w *placer) place(ctx context.Context, board projection.Board, g projection.Game) error {
	id, err := w.boardID(ctx, board)
	if err != nil {
		return err
	}
	best, err := scanKey(w.row(ctx, selectBest, id, g.PlayerID))
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return err
	case g.Key().Compare(best) >= 0:
		return nil
	default:
		w.count(id, best, -1)
	}
	return w.write(ctx, id, g)
}

// write makes a game its player's entry on a board.
func (w *placer) write(ctx context.Context, id int64, g projection.Game) error {
	k := g.Key()
	w.count(id, k, 1)
	_, err := w.exec(ctx, upsertBest, id, g.PlayerID, g.GameID, -k.Score, k.Moves, nanos(k.EndedAt), k.Stream, k.Sequence)
	return err
}

func (w *placer) count(board int64, k projection.Key, n int64) {
	for _, group := range groups(board, k) {
		w.counts[group] += n
	}
}

// boardID returns the id of a board, which it makes if there is none.
func (w *placer) boardID(ctx context.Context, b projection.Board) (id int64, err error) {
	if id, ok := w.boards[b]; ok {
		return id, nil
	}
	w.store.mu.Lock()
	id, ok := w.store.boards[b]
	w.store.mu.Unlock()
	if !ok {
		args := []any{b.RulesetID, int(b.ActorKind), int(b.Period), nanos(b.OpensAt)}
		if _, err := w.exec(ctx, insertBoard, append(args, b.Order())...); err != nil {
			return 0, err
		}
		if err := w.row(ctx, selectBoardID, args...)(&id); err != nil {
			return 0, err
		}
	}
	w.boards[b] = id
	return id, nil
}

// flush writes the counts, in one order so that two writers cannot deadlock. There
// are no rows of 0 players: equal boards have equal tables.
func (w *placer) flush(ctx context.Context) error {
	keys := make([]countKey, 0, len(w.counts))
	for k, n := range w.counts {
		if n != 0 {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b countKey) int {
		return cmp.Or(cmp.Compare(a.board, b.board), cmp.Compare(a.level, b.level), cmp.Compare(a.orderScore, b.orderScore),
			cmp.Compare(a.winMoves, b.winMoves), cmp.Compare(a.bucket, b.bucket))
	})
	for _, k := range keys {
		n := w.counts[k]
		if n > 0 {
			if _, err := w.exec(ctx, addCount, k.board, k.level, k.orderScore, k.winMoves, k.bucket, n); err != nil {
				return err
			}
			continue
		}
		if _, err := w.exec(ctx, takeCount, -n, k.board, k.level, k.orderScore, k.winMoves, k.bucket); err != nil {
			return err
		}
		if _, err := w.exec(ctx, dropCount, k.board, k.level, k.orderScore, k.winMoves, k.bucket); err != nil {
			return err
		}
	}
	return nil
}

func scanKey(scan scanFunc) (k projection.Key, err error) {
	var ended int64
	err = scan(&k.Score, &k.Moves, &ended, &k.Stream, &k.Sequence)
	k.Score, k.EndedAt = -k.Score, fromNanos(ended)
	return k, err
}
