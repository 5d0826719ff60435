package postgres

import (
	"context"
	"fmt"
)

// OpenReadOnly connects to the database at a URL to look at it, also while servers
// work with it. It does not bring the schema up to date; methods that write fail.
// The caller closes the store. ErrNewerSchema, ErrOlderSchema,
// projection.ErrUnavailable.
func OpenReadOnly(ctx context.Context, url string) (*Store, error) {
	return open(ctx, url, map[string]string{"default_transaction_read_only": "on"}, (*Store).upToDate)
}

// upToDate tells whether the schema is the one that this program works with.
func (s *Store) upToDate(ctx context.Context) error {
	var migrated bool
	if err := s.db.QueryRowContext(ctx, `SELECT to_regclass('goose_db_version') IS NOT NULL`).Scan(&migrated); err != nil {
		return err
	}
	if !migrated {
		return ErrOlderSchema
	}
	provider, err := s.provider()
	if err != nil {
		return err
	}
	current, target, err := provider.GetVersions(ctx)
	switch {
	case err != nil:
		return err
	case current > target:
		return fmt.Errorf("%w (its schema is %d, ours %d)", ErrNewerSchema, current, target)
	case current < target:
		return fmt.Errorf("%w (its schema is %d, ours %d)", ErrOlderSchema, current, target)
	}
	return nil
}
