package sqlstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

var (
	insertBoard = define(`INSERT INTO leaderboards (ruleset_id, actor_kind, period, opens_at, list_order) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)

	selectBests = defineBulk(`SELECT board_id, player_id, order_score, win_moves, ended_at, stream, stream_seq
		FROM (VALUES) AS wanted CROSS JOIN leaderboard_entries
		WHERE board_id = wanted.column1 AND player_id = wanted.column2`, `(CAST(? AS BIGINT), CAST(? AS TEXT))`)
	upsertBests = defineBulk(`INSERT INTO leaderboard_entries (board_id, player_id, game_id, order_score, win_moves, ended_at, stream, stream_seq)
		VALUES
		ON CONFLICT (board_id, player_id) DO UPDATE SET game_id = excluded.game_id, order_score = excluded.order_score,
			win_moves = excluded.win_moves, ended_at = excluded.ended_at, stream = excluded.stream, stream_seq = excluded.stream_seq`,
		`(?, ?, ?, ?, ?, ?, ?, ?)`)
	dropBest = define(`DELETE FROM leaderboard_entries WHERE board_id = ? AND player_id = ?`)

	// What must be known before a game is written.
	selectParkedGames = defineBulk(ofThese+`projection_poison WHERE game_id = wanted.column1`, `(CAST(? AS TEXT))`)
	selectHiddenGames = defineBulk(ofThese+`hidden_games WHERE game_id = wanted.column1`, `(CAST(? AS TEXT))`)
	selectSpecials    = defineBulk(ofThese+`special_players WHERE player_id = wanted.column1`, `(CAST(? AS TEXT))`)
)

const ofThese = `SELECT wanted.column1 FROM (VALUES) AS wanted CROSS JOIN `

// placer writes games and entries in a transaction. It gathers what changes until
// the end, because a few statements about many rows are faster than many statements,
// and games that come together mostly count for the same groups.
type placer struct {
	tx

	store  *Store
	boards map[projection.Board]int64 // ids of boards that this transaction met

	// The games that are parked and hidden, and the players whose games must be
	// looked at together, of those that the transaction is about.
	parked, hidden, special map[string]bool

	games   map[string]projection.Game // to be written, by id
	entries map[entryKey]*entry        // those that may change
}

// entryKey names an entry.
type entryKey struct {
	board  int64
	player string
}

// entry is a player's entry on a board, or none, in the table and as it is to be.
type entry struct {
	stored  *projection.Key
	changed bool
	game    *projection.Game // if changed
}

func newPlacer(s *Store) *placer {
	return &placer{
		store: s, boards: map[projection.Board]int64{},
		parked: map[string]bool{}, hidden: map[string]bool{}, special: map[string]bool{},
		games: map[string]projection.Game{}, entries: map[entryKey]*entry{},
	}
}

// prepare reads what must be known of the games of steps.
func (w *placer) prepare(ctx context.Context, steps []projection.Step) error {
	var games, players []string
	var keys []entryKey
	for _, step := range steps {
		g := step.Game
		if g == nil {
			continue
		}
		games, players = append(games, g.GameID), append(players, g.PlayerID)
		for _, board := range g.Boards() {
			id, err := w.boardID(ctx, board)
			if err != nil {
				return err
			}
			keys = append(keys, entryKey{id, g.PlayerID})
		}
	}
	slices.Sort(games)
	slices.Sort(players)
	games, players = slices.Compact(games), slices.Compact(players)
	text := func(s string) []any { return []any{s} }
	for _, known := range []struct {
		set  map[string]bool
		from bulk
		ids  []string
	}{{w.parked, selectParkedGames, games}, {w.hidden, selectHiddenGames, games}, {w.special, selectSpecials, players}} {
		found, err := selectAll(ctx, w.tx, func(scan scanFunc) (id string, err error) { return id, scan(&id) }, known.from, known.ids, text)
		if err != nil {
			return err
		}
		for _, id := range found {
			known.set[id] = true
		}
	}
	return w.load(ctx, keys)
}

// load reads entries.
func (w *placer) load(ctx context.Context, keys []entryKey) error {
	slices.SortFunc(keys, entryKey.compare)
	keys = slices.Compact(keys)
	for _, k := range keys {
		w.entries[k] = &entry{}
	}
	type stored struct {
		entryKey
		projection.Key
	}
	found, err := selectAll(ctx, w.tx, func(scan scanFunc) (e stored, err error) {
		e.Key, err = scanKey(func(dest ...any) error { return scan(append([]any{&e.board, &e.player}, dest...)...) })
		return e, err
	}, selectBests, keys, entryKey.args)
	for _, e := range found {
		w.entries[e.entryKey].stored = &e.Key
	}
	return err
}

func (k entryKey) args() []any { return []any{k.board, k.player} }

func (k entryKey) compare(other entryKey) int {
	return cmp.Or(cmp.Compare(k.board, other.board), cmp.Compare(k.player, other.player))
}

// entry returns a player's entry on a board, to be changed.
func (w *placer) entry(ctx context.Context, board projection.Board, player string) (*entry, error) {
	id, err := w.boardID(ctx, board)
	if err != nil {
		return nil, err
	}
	k := entryKey{id, player}
	if w.entries[k] == nil {
		if err := w.load(ctx, []entryKey{k}); err != nil {
			return nil, err
		}
	}
	return w.entries[k], nil
}

// best returns the key of the game that the entry is, or is to be; nil for none.
func (e *entry) best() *projection.Key {
	if !e.changed {
		return e.stored
	}
	if e.game == nil {
		return nil
	}
	k := e.game.Key()
	return &k
}

// place puts the game on a board if it is the player's best there.
func (w *placer) place(ctx context.Context, board projection.Board, g projection.Game) error {
	e, err := w.entry(ctx, board, g.PlayerID)
	if err != nil {
		return err
	}
	if best := e.best(); best == nil || g.Key().Compare(*best) < 0 {
		e.game, e.changed = &g, true
	}
	return nil
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

// writeGames writes the games that were gathered.
func (w *placer) writeGames(ctx context.Context) error {
	var started, ended []projection.Game
	for _, g := range w.games {
		if g.Running() {
			started = append(started, g)
		} else {
			ended = append(ended, g)
		}
	}
	clear(w.games)
	for _, part := range []struct {
		games []projection.Game
		write bulk
	}{{started, insertGames}, {ended, upsertGames}} {
		slices.SortFunc(part.games, func(a, b projection.Game) int { return cmp.Compare(a.GameID, b.GameID) })
		if err := execAll(ctx, w.tx, part.write, part.games, gameArgs); err != nil {
			return err
		}
	}
	return nil
}

// flush writes what was gathered, in one order so that two writers cannot deadlock.
func (w *placer) flush(ctx context.Context) error {
	if err := w.writeGames(ctx); err != nil {
		return err
	}
	type written struct {
		entryKey
		projection.Game
	}
	var better []written
	counts := map[nodeKey]map[int64]int64{}
	count := func(board int64, k projection.Key, n int64) {
		for _, node := range path(board, k) {
			if counts[node.nodeKey] == nil {
				counts[node.nodeKey] = map[int64]int64{}
			}
			counts[node.nodeKey][node.child] += n
		}
	}
	for k, e := range w.entries {
		best := e.best()
		if !e.changed || best == nil && e.stored == nil || best != nil && e.stored != nil && best.Compare(*e.stored) == 0 {
			continue
		}
		if e.stored != nil {
			count(k.board, *e.stored, -1)
		}
		if best != nil {
			count(k.board, *best, 1)
			better = append(better, written{k, *e.game})
		} else if _, err := w.exec(ctx, dropBest, k.args()...); err != nil {
			return err
		}
	}
	slices.SortFunc(better, func(a, b written) int { return a.compare(b.entryKey) })
	if err := execAll(ctx, w.tx, upsertBests, better, func(e written) []any {
		return append([]any{e.board, e.player, e.GameID}, keyArgs(e.Key())...)
	}); err != nil {
		return err
	}
	return w.writeCounts(ctx, counts)
}

func scanKey(scan scanFunc) (k projection.Key, err error) {
	var ended int64
	err = scan(&k.Score, &k.Moves, &ended, &k.Stream, &k.Sequence)
	k.Score, k.EndedAt = -k.Score, fromNanos(ended)
	return k, err
}
