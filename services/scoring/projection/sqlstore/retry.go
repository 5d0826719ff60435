package sqlstore

import (
	"context"
	"database/sql"

	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

var deleteParked = define(`DELETE FROM projection_poison WHERE name = ? AND game_id = ?`)

// Retry implements [projection.Store].
func (s *Store) Retry(ctx context.Context, gameID string, step projection.Step) error {
	return s.placing(ctx, "retry a game", func(w *placer) error {
		n, err := w.exec(ctx, deleteParked, name, gameID)
		if err != nil {
			return err
		}
		if n == 0 {
			return sql.ErrNoRows
		}
		return w.applyAll(ctx, []projection.Step{step})
	})
}
