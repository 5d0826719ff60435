// Package sqlite keeps the projection in an SQLite file: the store of a server
// that runs alone. It needs no C compiler.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/sqlstore"
)

// Errors of [Open]. Each says in one line what to do.
var (
	// ErrDamaged: the file is no database, or its content contradicts itself.
	ErrDamaged = errors.New("damaged; move it away and start again, scores are computed anew from the event log")
	// ErrForeign: the file is another program's database.
	ErrForeign = errors.New("the database of another program")
	// ErrNewerSchema: a newer version of this program has written it.
	ErrNewerSchema = errors.New("written by a newer version of this program; start that one")
	// ErrOlderSchema: an older version has written it, and it may not be changed.
	ErrOlderSchema = errors.New("written by an older version of this program; start the server, which brings it up to date")
)

// applicationID marks our files; "SCDR" in ASCII.
const applicationID = 0x53434452

//go:embed migrations/*.sql
var migrations embed.FS

// Store is a [projection.Store] in an SQLite file. One connection writes, a
// pool of others reads; readers see the last commit and wait for nobody.
type Store struct {
	*sqlstore.Store

	path  string
	write *sql.DB
	read  *sql.DB
}

// Open opens the database at path, creating it if there is none and bringing
// its schema up to date. It reads the whole file to check it. The caller closes
// the store. ErrDamaged, ErrForeign, ErrNewerSchema.
//
// A commit that was not yet on the disk when the power failed is lost together
// with its checkpoint, so it is simply made again.
func Open(ctx context.Context, path string) (_ *Store, err error) {
	s := &Store{path: path}
	defer func() {
		if err != nil {
			_ = s.Close()
			err = fmt.Errorf("scores database %s: %w", path, openError(err))
		}
	}()
	// The scores of private games are in it.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	if s.write, err = open(path, url.Values{"_txlock": {"immediate"}, "_synchronous": {"NORMAL"}, "_pragma": {
		// 64 MB: players come in any order, and so do the pages that a transaction
		// changes. The log of changes grows to as much before they go to the file.
		"cache_size(-65536)", "wal_autocheckpoint(16384)",
	}}); err != nil {
		return nil, err
	}
	s.write.SetMaxOpenConns(1)
	if err := s.claim(ctx); err != nil {
		return nil, err
	}
	if err := s.migrate(ctx); err != nil {
		return nil, err
	}
	if s.read, err = open(path, url.Values{"mode": {"ro"}, "_pragma": {"cache_size(-16384)"}}); err != nil {
		return nil, err
	}
	readers := max(4, runtime.GOMAXPROCS(0))
	s.read.SetMaxOpenConns(readers)
	s.read.SetMaxIdleConns(readers)
	s.Store, err = sqlstore.New(ctx, s.write, s.read, sqlstore.Dialect{Snapshot: &sql.TxOptions{ReadOnly: true}, Error: storeError})
	if err != nil {
		return nil, err
	}
	return s, s.Ping(ctx)
}

// Close closes the store. Calls under way fail.
func (s *Store) Close() error {
	var errs []error
	if s.Store != nil {
		errs = append(errs, s.Store.Close())
	}
	for _, db := range []*sql.DB{s.read, s.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

func open(path string, params url.Values) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	params.Set("_busy_timeout", "5000")
	params.Set("_error_rc", "true")
	file := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: params.Encode()}
	connector, err := sqlite.NewConnector(file.String())
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// identify reads whose file it is, and whether it is empty.
const identify = `SELECT (SELECT application_id FROM pragma_application_id), count(*) FROM sqlite_schema`

// claim makes sure that the file is ours and whole before anything is written
// to it.
func (s *Store) claim(ctx context.Context) error {
	var id, tables int
	row := s.write.QueryRowContext(ctx, identify)
	if err := row.Scan(&id, &tables); err != nil {
		return err
	}
	if id == 0 && tables == 0 {
		if _, err := s.write.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d", applicationID)); err != nil {
			return err
		}
	} else if id != applicationID {
		return ErrForeign
	}
	var verdict string
	if err := s.write.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("%w (%q)", ErrDamaged, verdict)
	}
	_, err := s.write.ExecContext(ctx, `PRAGMA journal_mode = WAL`)
	return err
}

func (s *Store) migrate(ctx context.Context) error {
	provider, current, target, err := versions(ctx, s.write)
	if err != nil {
		return err
	}
	if current > target {
		return fmt.Errorf("%w (its schema is %d, ours %d)", ErrNewerSchema, current, target)
	}
	_, err = provider.Up(ctx)
	return err
}

// versions returns what migrates a database, the version of its schema and ours.
func versions(ctx context.Context, db *sql.DB) (_ *goose.Provider, current, target int64, err error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, 0, 0, err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, 0, 0, err
	}
	current, target, err = provider.GetVersions(ctx)
	return provider, current, target, err
}

// openError recognises a file that is damaged too badly to be checked.
func openError(err error) error {
	switch code(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w (%w)", ErrDamaged, err)
	}
	return err
}

// storeError gives an error of the database its meaning for a caller.
func storeError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		// An interrupted statement has an error of its own.
		return context.Cause(ctx)
	}
	switch code(err) {
	case 0, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISUSE, sqlite3.SQLITE_RANGE:
		return err
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG:
		return fmt.Errorf("%w: %w", projection.ErrRejected, err)
	default:
		return fmt.Errorf("%w: %w", projection.ErrUnavailable, err)
	}
}

// code returns the primary result code of an error of SQLite, 0 for another
// error.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}
