package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

var (
	selectSpecial = define(`SELECT hidden, erased_before FROM special_players WHERE player_id = ?`)
	insertSpecial = define(`INSERT INTO special_players (player_id, hidden, erased_before) VALUES (?, 0, 0) ON CONFLICT DO NOTHING`)
	hidePlayer    = define(`UPDATE special_players SET hidden = ? WHERE player_id = ?`)
	erasePlayer   = define(`UPDATE special_players SET erased_before = ? WHERE player_id = ? AND erased_before < ?`)
	deleteGame    = define(`DELETE FROM games WHERE game_id = ?`)

	hideGame   = define(`INSERT INTO hidden_games (game_id) VALUES (?) ON CONFLICT DO NOTHING`)
	unhideGame = define(`DELETE FROM hidden_games WHERE game_id = ?`)

	selectGamesOf = define(`SELECT ` + gameColumns + `, games.unranked_reason,
			(SELECT count(*) FROM hidden_games WHERE hidden_games.game_id = games.game_id)
		FROM games WHERE games.player_id = ? ORDER BY games.started_at, games.game_id`)
	selectGamePage = define(`SELECT ` + gameColumns + `, games.unranked_reason, 0 FROM games
		WHERE games.player_id = ? AND (games.mode = 1 OR games.mode = 3 AND games.started_at < ? OR ? = 1) AND (games.ruleset_id = ? OR ? = '')
			AND (games.started_at, games.game_id) < (?, ?)
		ORDER BY games.started_at DESC, games.game_id DESC LIMIT ?`)
	setUnranked = define(`UPDATE games SET unranked_reason = ? WHERE game_id = ?`)
)

// playerGame is a game of a player as it is stored.
type playerGame struct {
	projection.Game

	unranked projection.Unranked
	hidden   bool
}

func scanPlayerGame(scan scanFunc) (g playerGame, err error) {
	var hidden int
	g.Game, err = scanGame(func(dest ...any) error { return scan(append(dest, &g.unranked, &hidden)...) })
	g.hidden = hidden > 0
	return g, err
}

// moderate hides or shows a player or a game.
func (w *placer) moderate(ctx context.Context, m projection.Moderation) error {
	player := m.PlayerID
	if m.GameID != "" {
		n := unhideGame
		if m.Hidden {
			n = hideGame
		}
		w.hidden[m.GameID] = m.Hidden
		if _, err := w.exec(ctx, n, m.GameID); err != nil {
			return err
		}
		if err := w.writeGames(ctx); err != nil {
			return err
		}
		g, err := scanPlayerGame(w.row(ctx, selectGame, m.GameID))
		if errors.Is(err, sql.ErrNoRows) {
			return nil // it will be hidden when it comes
		}
		if err != nil {
			return err
		}
		player = g.PlayerID
	}
	if m.GameID == "" {
		hidden := 0
		if m.Hidden {
			hidden = 1
		}
		if _, err := w.exec(ctx, insertSpecial, player); err != nil {
			return err
		}
		if _, err := w.exec(ctx, hidePlayer, hidden, player); err != nil {
			return err
		}
	}
	return w.reconsider(ctx, player)
}

// erase removes a player's games that started before a moment.
func (w *placer) erase(ctx context.Context, e projection.Erasure) error {
	if _, err := w.exec(ctx, insertSpecial, e.PlayerID); err != nil {
		return err
	}
	before := nanos(e.Before)
	if _, err := w.exec(ctx, erasePlayer, before, e.PlayerID, before); err != nil {
		return err
	}
	return w.reconsider(ctx, e.PlayerID)
}

// reconsider removes what is erased of a player's games and decides anew which of
// the others rank, and what they make of the player's entries. From then on it is
// done for each further game.
func (w *placer) reconsider(ctx context.Context, player string) error {
	if err := w.writeGames(ctx); err != nil {
		return err
	}
	w.special[player] = true
	if _, err := w.exec(ctx, insertSpecial, player); err != nil {
		return err
	}
	var hidden int
	var erasedBefore int64
	if err := w.row(ctx, selectSpecial, player)(&hidden, &erasedBefore); err != nil {
		return err
	}
	stored, err := rows(ctx, w.tx, scanPlayerGame, selectGamesOf, player)
	if err != nil {
		return err
	}
	best := map[projection.Board]*projection.Game{}
	var kept []playerGame
	var games []projection.Game
	covered := map[string]bool{}
	for _, g := range stored {
		for _, board := range g.Boards() {
			best[board] = nil // a board to look at, even if nothing ranks there
		}
		if nanos(g.StartedAt) < erasedBefore {
			if _, err := w.exec(ctx, deleteGame, g.GameID); err != nil {
				return err
			}
			continue
		}
		kept, games = append(kept, g), append(games, g.Game)
		covered[g.GameID] = hidden > 0 || g.hidden
	}
	progress := projection.Progressed(games, func(g projection.Game) bool { return covered[g.GameID] })
	for _, g := range kept {
		reason := progress.Unranked[g.GameID]
		stored := reason
		if g.ByItself() != 0 {
			stored = 0 // what the game tells by itself is not stored, whoever's it is
		}
		if stored != g.unranked {
			if _, err := w.exec(ctx, setUnranked, int(stored), g.GameID); err != nil {
				return err
			}
		}
		for _, board := range g.Boards() {
			if b := best[board]; reason == 0 && (b == nil || g.Key().Compare(b.Key()) < 0) {
				best[board] = &g.Game
			}
		}
	}
	for board, g := range best {
		e, err := w.entry(ctx, board, player)
		if err != nil {
			return err
		}
		e.game, e.changed = g, true
	}
	return nil
}

// PlayerGames implements [projection.Store].
func (s *Store) PlayerGames(ctx context.Context, q projection.PlayerGamesQuery) (list []projection.PlayerGame, err error) {
	private := 0
	if q.Private {
		private = 1
	}
	before := []any{int64(1) << 62, ""} // later than every game
	if q.Before != nil {
		before = []any{nanos(q.Before.StartedAt), q.Before.GameID}
	}
	args := append([]any{q.PlayerID, nanos(q.FinalBefore), private, q.RulesetID, q.RulesetID}, append(before, q.Limit)...)
	err = s.snapshot(ctx, "read games of a player", func(t tx) error {
		games, err := rows(ctx, t, scanPlayerGame, selectGamePage, args...)
		for _, g := range games {
			list = append(list, projection.PlayerGame{Game: g.Game, Unranked: g.reason()})
		}
		return err
	})
	return list, err
}

// PlayerHistory implements [projection.Store].
func (s *Store) PlayerHistory(ctx context.Context, playerID string) (h projection.PlayerHistory, err error) {
	err = s.snapshot(ctx, "read history of a player", func(t tx) error {
		var hidden int
		var erasedBefore int64
		if err := t.row(ctx, selectSpecial, playerID)(&hidden, &erasedBefore); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		h.Hidden = hidden > 0
		games, err := rows(ctx, t, scanPlayerGame, selectGamesOf, playerID)
		for _, g := range games {
			h.Games = append(h.Games, projection.PlayerGame{Game: g.Game, Unranked: g.reason()})
		}
		return err
	})
	return h, err
}

// reason is why the game does not rank. What is stored is what only a look at all
// of a player's games can tell.
func (g playerGame) reason() projection.Unranked {
	if g.unranked != 0 {
		return g.unranked
	}
	return g.ByItself()
}
