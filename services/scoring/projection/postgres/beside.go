package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// Beside is a store in a schema beside another one's, whose place it is to take.
type Beside struct {
	*Store

	other        *Store
	from, target string // quoted names of the two schemas
}

// OpenBeside opens an empty store for the place of the one at a URL, which stays as
// it is. What an earlier one left is removed. The caller ends it with Replace or
// Discard. One process at a time may have one, and its user must be allowed to
// create schemas in the database.
func OpenBeside(ctx context.Context, url string) (_ *Beside, err error) {
	b := &Beside{}
	defer func() {
		if err != nil && b.other != nil {
			err = errors.Join(err, b.other.Close())
		}
	}()
	if b.other, err = Open(ctx, url); err != nil {
		return nil, err
	}
	var schema string
	if err := b.other.db.QueryRowContext(ctx, `SELECT current_schema()`).Scan(&schema); err != nil {
		return nil, storeError(ctx, err)
	}
	beside := schema + "_rebuild"
	b.from, b.target = pgx.Identifier{beside}.Sanitize(), pgx.Identifier{schema}.Sanitize()
	for _, s := range []string{`DROP SCHEMA IF EXISTS ` + b.from + ` CASCADE`, `CREATE SCHEMA ` + b.from} {
		if _, err := b.other.db.ExecContext(ctx, s); err != nil {
			return nil, storeError(ctx, err)
		}
	}
	if b.Store, err = open(ctx, url, map[string]string{"search_path": b.from}, (*Store).migrate); err != nil {
		return nil, err
	}
	return b, nil
}

// Replace closes the store and puts its tables in the place of the other one's, in
// one transaction. No server may work with that one: it would know its boards by
// numbers that now mean others. Tables of other programs in its schema stay.
func (b *Beside) Replace(ctx context.Context) error {
	if err := b.Close(); err != nil {
		return err
	}
	if err := b.replace(ctx); err != nil {
		return storeError(ctx, err)
	}
	return nil
}

func (b *Beside) replace(ctx context.Context) error {
	tx, err := b.other.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	tables, err := tx.QueryContext(ctx, `SELECT format('%I', relname) FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r'`, b.from)
	if err != nil {
		return err
	}
	defer func() { _ = tables.Close() }()
	var names []string
	for tables.Next() {
		var name string
		if err := tables.Scan(&name); err != nil {
			return err
		}
		names = append(names, name)
	}
	if err := tables.Err(); err != nil {
		return err
	}
	for _, name := range names {
		// Indexes and sequences go with their table.
		for _, s := range []string{
			`DROP TABLE IF EXISTS ` + b.target + `.` + name,
			`ALTER TABLE ` + b.from + `.` + name + ` SET SCHEMA ` + b.target,
		} {
			if _, err := tx.ExecContext(ctx, s); err != nil {
				return err
			}
		}
	}
	if _, err := tx.ExecContext(ctx, `DROP SCHEMA `+b.from); err != nil {
		return err
	}
	return tx.Commit()
}

// Discard closes the store and removes it; nothing if Replace has succeeded.
func (b *Beside) Discard(ctx context.Context) error {
	_, err := b.other.db.ExecContext(ctx, `DROP SCHEMA IF EXISTS `+b.from+` CASCADE`)
	if err != nil {
		err = storeError(ctx, err)
	}
	return errors.Join(b.Close(), err, b.other.Close())
}
