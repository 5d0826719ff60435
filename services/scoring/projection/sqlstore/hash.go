package sqlstore

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
)

// boardColumns name a board without its id, which differs between stores.
const boardColumns = `boards.ruleset_id, boards.actor_kind, boards.period, boards.opens_at`

// hashed are the statements whose rows are hashed, each in an order of its own
// that depends on what is shown alone. A board shows no more than its entries, so
// one that has none does not count.
var hashed = [...]statement{
	define(`SELECT ` + gameColumns + `, games.score, games.unranked_reason FROM games ORDER BY games.game_id`),
	define(`SELECT player_id, hidden, erased_before FROM special_players WHERE hidden = 1 OR erased_before > 0 ORDER BY player_id`),
	define(`SELECT game_id FROM hidden_games ORDER BY game_id`),
	define(`SELECT ` + boardColumns + `, boards.list_order FROM leaderboards AS boards
		WHERE EXISTS (SELECT 1 FROM leaderboard_entries AS entries WHERE entries.board_id = boards.board_id)
		ORDER BY ` + boardColumns),
	define(`SELECT ` + boardColumns + `, entries.player_id, entries.game_id, ` + boardOrder + `
		FROM leaderboards AS boards JOIN leaderboard_entries AS entries ON entries.board_id = boards.board_id
		ORDER BY ` + boardColumns + `, entries.player_id`),
	define(`SELECT ` + boardColumns + `, counts.level, counts.order_score, counts.win_moves, counts.bucket, counts.counts
		FROM leaderboards AS boards JOIN leaderboard_counts AS counts ON counts.board_id = boards.board_id
		ORDER BY ` + boardColumns + `, counts.level, counts.order_score, counts.win_moves, counts.bucket`),
}

// Hash implements [projection.Store].
func (s *Store) Hash(ctx context.Context) (sum [sha256.Size]byte, err error) {
	err = s.snapshot(ctx, "hash everything", func(t tx) error {
		h := sha256.New()
		w := bufio.NewWriter(h) // values are small
		for _, n := range hashed {
			if err := t.write(ctx, w, n); err != nil {
				return err
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
		h.Sum(sum[:0])
		return nil
	})
	return sum, err
}

// write writes the rows of a statement so that different rows are different bytes.
func (t tx) write(ctx context.Context, w io.Writer, n statement) error {
	all, err := t.stmt(ctx, n).QueryContext(ctx) //nolint:sqlclosecheck // the transaction does
	if err != nil {
		return err
	}
	defer func() { _ = all.Close() }()
	columns, err := all.Columns()
	if err != nil {
		return err
	}
	row, dest := make([]any, len(columns)), make([]any, len(columns))
	for i := range row {
		dest[i] = &row[i]
	}
	var b []byte
	count := uint64(0)
	for ; all.Next(); count++ {
		if err := all.Scan(dest...); err != nil {
			return err
		}
		b = b[:0]
		for i, v := range row {
			switch v := v.(type) {
			case nil:
				b = append(b, 'n')
			case int64:
				b = binary.BigEndian.AppendUint64(append(b, 'i'), uint64(v))
			case []byte:
				b = binary.BigEndian.AppendUint64(append(b, 'b'), uint64(len(v)))
				b = append(b, v...)
			case string:
				b = binary.BigEndian.AppendUint64(append(b, 's'), uint64(len(v)))
				b = append(b, v...)
			default:
				return fmt.Errorf("column %s holds a %T, which has no hash", columns[i], v)
			}
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	if err := all.Err(); err != nil {
		return err
	}
	// The end of a table must not look like a row.
	_, err = w.Write(binary.BigEndian.AppendUint64([]byte{'e'}, count))
	return err
}
