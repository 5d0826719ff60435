// Package postgres keeps the projection in PostgreSQL, 15 or later: the store of
// several instances that share one.
package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/sqlstore"
)

// ErrNewerSchema is the error of a database that a newer version of this program
// has migrated.
var ErrNewerSchema = errors.New("migrated by a newer version of this program; start that one")

// ErrOlderSchema is the error of a database that an older version has migrated, or
// none, and that may not be changed.
var ErrOlderSchema = errors.New("not yet brought up to date; start the server, which does that")

// maxConnections bounds the connections of one process: PostgreSQL's own default
// limit is 100 for all.
const maxConnections = 16

//go:embed migrations/*.sql
var migrations embed.FS

// Store is a [projection.Store] in a PostgreSQL database. It outlives restarts of
// the server: calls fail with ErrUnavailable meanwhile.
type Store struct {
	*sqlstore.Store

	db *sql.DB
}

// Open connects to the database at a URL such as
// postgres://user:password@host/database and brings its schema up to date, which
// any number of processes may do at once. The caller closes the store.
// ErrNewerSchema, projection.ErrUnavailable.
func Open(ctx context.Context, url string) (*Store, error) {
	return open(ctx, url, nil, (*Store).migrate)
}

// open connects with settings of the session and prepares the database.
func open(ctx context.Context, url string, settings map[string]string, prepare func(*Store, context.Context) error) (_ *Store, err error) {
	// Errors about the URL are not shown: it may hold a password.
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the address of the scores database is not a PostgreSQL URL")
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 5 * time.Second
	}
	maps.Copy(config.RuntimeParams, settings)
	s := &Store{db: stdlib.OpenDB(*config)}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("scores database %s at %s: %w", config.Database, config.Host, err), s.Close())
		}
	}()
	s.db.SetMaxOpenConns(maxConnections)
	s.db.SetMaxIdleConns(maxConnections)
	s.db.SetConnMaxIdleTime(5 * time.Minute)
	if err := prepare(s, ctx); err != nil {
		return nil, storeError(ctx, err)
	}
	s.Store, err = sqlstore.New(ctx, s.db, s.db, sqlstore.Dialect{
		Numbered: true,
		Snapshot: &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true},
		// "SCDR" in ASCII, to be ours among all that lock in the database. A plan that
		// was made while a table was small must not read it whole once it is not.
		Exclusive: `SELECT pg_advisory_xact_lock(1396917330), set_config('enable_seqscan', 'off', true),
			set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`,
		Error: storeError,
	})
	return s, err
}

// Close closes the store. Calls under way fail.
func (s *Store) Close() error {
	var errs []error
	if s.Store != nil {
		errs = append(errs, s.Store.Close())
	}
	return errors.Join(append(errs, s.db.Close())...)
}

func (s *Store) migrate(ctx context.Context) error {
	provider, err := s.provider()
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return err
	}
	current, target, err := provider.GetVersions(ctx)
	if err != nil {
		return err
	}
	if current > target {
		return fmt.Errorf("%w (its schema is %d, ours %d)", ErrNewerSchema, current, target)
	}
	return nil
}

// provider returns what migrates the database.
func (s *Store) provider() (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	// An advisory lock lets one process migrate; the others then find it done.
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, s.db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithSessionLocker(locker))
}

// storeError gives an error of the database its meaning for a caller. What is
// neither the content's fault nor ours is a database that is away: a connection
// that broke, a server that starts or stops, a conflict with another transaction.
func storeError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		// A cancelled statement has an error of its own.
		return context.Cause(ctx)
	}
	if isOne(err, ErrNewerSchema, ErrOlderSchema, projection.ErrFenced, projection.ErrRejected, projection.ErrUnavailable) {
		return err
	}
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		if _, ours := errors.AsType[*pgconn.ParseConfigError](err); ours {
			return err
		}
		return fmt.Errorf("%w: %w", projection.ErrUnavailable, err)
	}
	switch pgErr.Code[:2] {
	case "22", "23", "54": // the data, a constraint, a limit of the program
		return fmt.Errorf("%w: %w", projection.ErrRejected, err)
	case "42", "0A", "26", "34": // a statement that makes no sense
		return err
	default:
		return fmt.Errorf("%w: %w", projection.ErrUnavailable, err)
	}
}

func isOne(err error, targets ...error) bool {
	for _, t := range targets {
		if errors.Is(err, t) {
			return true
		}
	}
	return false
}
