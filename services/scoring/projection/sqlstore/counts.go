package sqlstore

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

var (
	selectCounts = define(`SELECT counts FROM leaderboard_counts
		WHERE board_id = ? AND level = ? AND order_score = ? AND win_moves = ? AND bucket = ?`)

	selectNodes = defineBulk(`SELECT board_id, level, order_score, win_moves, bucket, counts
		FROM (VALUES) AS wanted CROSS JOIN leaderboard_counts
		WHERE board_id = wanted.column1 AND level = wanted.column2 AND order_score = wanted.column3
			AND win_moves = wanted.column4 AND bucket = wanted.column5`,
		`(CAST(? AS BIGINT), CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS BIGINT), CAST(? AS BIGINT))`)
	upsertNodes = defineBulk(`INSERT INTO leaderboard_counts (board_id, level, order_score, win_moves, bucket, counts) VALUES
		ON CONFLICT (board_id, level, order_score, win_moves, bucket) DO UPDATE SET counts = excluded.counts`, `(?, ?, ?, ?, ?, ?)`)
	deleteNode = define(`DELETE FROM leaderboard_counts
		WHERE board_id = ? AND level = ? AND order_score = ? AND win_moves = ? AND bucket = ?`)
)

// The entries of a board form a tree of groups that stand together in its order. A
// node holds how many entries each of its children has: the board those of each
// score, a score those of each number of moves, and below are spans of time that get
// ever shorter. How many entries are above one is so a short sum in one node of each
// level, however large the board.
type nodeKey struct {
	board      int64
	level      int
	orderScore int    // minus the score: all of the order ascends; 0 at levelBoard
	winMoves   uint32 // 0 above levelTime
	bucket     int64  // ended_at >> shift of the level above; 0 above and at levelTime
}

// The levels of nodes, by what their children are.
const (
	levelBoard = iota // of each score
	levelScore        // of each number of moves
	levelTime         // of each span of time; and the ones below
)

// timeShifts are how many bits of ended_at, in nanoseconds, the spans of the time
// levels leave out: 3 days, 18 minutes, 4 seconds.
var timeShifts = [...]uint{48, 40, 32}

// levels is how many there are.
const levels = levelTime + len(timeShifts)

// node is one of the nodes above an entry, and which child the entry is in.
type node struct {
	nodeKey

	child int64
}

// path returns the nodes above an entry, from the board.
func path(board int64, k projection.Key) (p [levels]node) {
	score, ended := -k.Score, nanos(k.EndedAt)
	p[levelBoard] = node{nodeKey{board: board, level: levelBoard}, int64(score)}
	p[levelScore] = node{nodeKey{board: board, level: levelScore, orderScore: score}, int64(k.Moves)}
	for i, shift := range timeShifts {
		n := node{nodeKey{board: board, level: levelTime + i, orderScore: score, winMoves: k.Moves}, ended >> shift}
		if i > 0 {
			n.bucket = ended >> timeShifts[i-1]
		}
		p[levelTime+i] = n
	}
	return p
}

func (k nodeKey) args() []any { return []any{k.board, k.level, k.orderScore, k.winMoves, k.bucket} }

func (k nodeKey) compare(other nodeKey) int {
	return cmp.Or(cmp.Compare(k.board, other.board), cmp.Compare(k.level, other.level), cmp.Compare(k.orderScore, other.orderScore),
		cmp.Compare(k.winMoves, other.winMoves), cmp.Compare(k.bucket, other.bucket))
}

// childCount is how many entries a child has, always some.
type childCount struct {
	child   int64
	entries uint64
}

// errCounts: a stored node cannot be read.
var errCounts = errors.New("the counts of a board are damaged; compute the boards again with rebuild")

// appendCounts appends the stored form of a node: for each child, in order, how far
// it is from the one before and its entries, as varints. Equal nodes are equal bytes.
func appendCounts(b []byte, counts []childCount) []byte {
	last := int64(0)
	for _, c := range counts {
		b = binary.AppendVarint(b, c.child-last)
		b = binary.AppendUvarint(b, c.entries)
		last = c.child
	}
	return b
}

// parseCounts reads what appendCounts wrote.
func parseCounts(b []byte) ([]childCount, error) {
	counts := make([]childCount, 0, len(b)/2)
	last := int64(0)
	for len(b) > 0 {
		step, n := binary.Varint(b)
		if n <= 0 {
			return nil, errCounts
		}
		entries, m := binary.Uvarint(b[n:])
		if m <= 0 || entries == 0 {
			return nil, errCounts
		}
		last += step
		counts = append(counts, childCount{last, entries})
		b = b[n+m:]
	}
	return counts, nil
}

// changed returns counts with changes added to those of the children.
func changed(counts []childCount, changes map[int64]int64) ([]childCount, error) {
	for child, n := range changes {
		i, found := slices.BinarySearchFunc(counts, child, func(c childCount, child int64) int { return cmp.Compare(c.child, child) })
		if !found {
			counts = slices.Insert(counts, i, childCount{child: child})
		}
		if n < 0 && counts[i].entries < uint64(-n) {
			return nil, errCounts
		}
		counts[i].entries += uint64(n) // in two's complement this subtracts, too
	}
	return slices.DeleteFunc(counts, func(c childCount) bool { return c.entries == 0 }), nil
}

// above sums the entries of the children before one.
func above(counts []childCount, child int64) (n uint64) {
	for _, c := range counts {
		if c.child >= child {
			break
		}
		n += c.entries
	}
	return n
}

// writeCounts adds changes to nodes. There are no nodes without entries: equal boards
// have equal tables.
func (t tx) writeCounts(ctx context.Context, changes map[nodeKey]map[int64]int64) error {
	keys := make([]nodeKey, 0, len(changes))
	for k, children := range changes {
		for child, n := range children {
			if n == 0 {
				delete(children, child)
			}
		}
		if len(children) > 0 {
			keys = append(keys, k)
		}
	}
	// In one order, which is also the table's.
	slices.SortFunc(keys, nodeKey.compare)
	type stored struct {
		nodeKey

		counts []byte
	}
	found, err := selectAll(ctx, t, func(scan scanFunc) (n stored, err error) {
		return n, scan(&n.board, &n.level, &n.orderScore, &n.winMoves, &n.bucket, &n.counts)
	}, selectNodes, keys, nodeKey.args)
	if err != nil {
		return err
	}
	nodes := make(map[nodeKey][]byte, len(found))
	for _, n := range found {
		nodes[n.nodeKey] = n.counts
	}
	var written []stored
	for _, k := range keys {
		counts, err := parseCounts(nodes[k])
		if err != nil {
			return err
		}
		if counts, err = changed(counts, changes[k]); err != nil {
			return err
		}
		if len(counts) == 0 {
			if _, err := t.exec(ctx, deleteNode, k.args()...); err != nil {
				return err
			}
			continue
		}
		written = append(written, stored{k, appendCounts(nil, counts)})
	}
	return execAll(ctx, t, upsertNodes, written, func(n stored) []any { return append(n.args(), n.counts) })
}
