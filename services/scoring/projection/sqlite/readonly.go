package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"

	"github.com/scoundrel-game/scoundrel/services/scoring/projection/sqlstore"
)

// OpenReadOnly opens the database at path to look at it, also while a server
// works with it. It makes no file, brings no schema up to date and does not check
// the whole file; methods that write fail. The caller closes the store.
// fs.ErrNotExist, ErrDamaged, ErrForeign, ErrNewerSchema, ErrOlderSchema.
func OpenReadOnly(ctx context.Context, path string) (_ *Store, err error) {
	s := &Store{path: path}
	defer func() {
		if err != nil {
			_ = s.Close()
			err = fmt.Errorf("scores database %s: %w", path, openError(err))
		}
	}()
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	if s.read, err = open(path, url.Values{"mode": {"ro"}}); err != nil {
		return nil, err
	}
	var id, tables int
	if err := s.read.QueryRowContext(ctx, identify).Scan(&id, &tables); err != nil {
		return nil, err
	}
	if id != applicationID {
		return nil, ErrForeign
	}
	_, current, target, err := versions(ctx, s.read)
	switch {
	case err != nil:
		return nil, err
	case current > target:
		return nil, fmt.Errorf("%w (its schema is %d, ours %d)", ErrNewerSchema, current, target)
	case current < target:
		return nil, fmt.Errorf("%w (its schema is %d, ours %d)", ErrOlderSchema, current, target)
	}
	s.Store, err = sqlstore.New(ctx, s.read, s.read, sqlstore.Dialect{Snapshot: &sql.TxOptions{ReadOnly: true}, Error: storeError})
	return s, err
}
