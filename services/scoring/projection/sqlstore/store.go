// Package sqlstore is the projection in SQL: the statements and their meaning,
// which SQLite and PostgreSQL share. Packages sqlite and postgres open the
// database and say what differs.
package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// name tells this projection's checkpoints from those of others that may share
// the database.
const name = "scoring"

// Dialect is what differs between databases.
type Dialect struct {
	// Numbered tells that parameters are written $1, $2 and not ?.
	Numbered bool
	// Snapshot are the options of a transaction that reads one state.
	Snapshot *sql.TxOptions
	// Exclusive is a statement that makes a transaction the only one that changes
	// boards until it ends; empty where there is only one that writes anyway. Two
	// that did not see each other would both count a player's first game.
	Exclusive string
	// Error gives an error of the database its meaning: it wraps one of those of
	// package projection, or ctx's, or sql.ErrNoRows as it is.
	Error func(ctx context.Context, err error) error
}

// Store is a [projection.Store] in an SQL database whose schema is there.
type Store struct {
	write, read *database
	dialect     Dialect

	mu     sync.Mutex
	boards map[projection.Board]int64 // ids of boards that are committed
}

// database is a handle with every statement prepared: parsing one costs more than
// running it.
type database struct {
	*sql.DB

	prepared []*sql.Stmt // by number of statement
}

// statement is the number of an SQL statement.
type statement int

// statements are the texts of all statements, with ? for parameters.
var statements []string

// define adds a statement. Only for variables of this package.
func define(text string) statement {
	statements = append(statements, text)
	return statement(len(statements) - 1)
}

var _ projection.Store = (*Store)(nil)

// New returns a store that writes to one database handle and reads from the
// other, which may be the same. The caller closes them after the store.
func New(ctx context.Context, write, read *sql.DB, d Dialect) (*Store, error) {
	s := &Store{write: &database{DB: write}, read: &database{DB: read}, dialect: d, boards: map[projection.Board]int64{}}
	if read == write {
		s.read = s.write
	}
	for _, db := range s.databases() {
		for _, text := range statements {
			if d.Numbered {
				text = numbered(text)
			}
			stmt, err := db.PrepareContext(ctx, text) //nolint:sqlclosecheck // Close does
			if err != nil {
				return nil, errors.Join(s.fail(ctx, "prepare "+text, err), s.Close())
			}
			db.prepared = append(db.prepared, stmt)
		}
	}
	return s, nil
}

// databases returns the handles, each once.
func (s *Store) databases() []*database {
	if s.read == s.write {
		return []*database{s.write}
	}
	return []*database{s.write, s.read}
}

// Close releases the prepared statements.
func (s *Store) Close() error {
	var errs []error
	for _, db := range s.databases() {
		for _, stmt := range db.prepared {
			errs = append(errs, stmt.Close())
		}
		db.prepared = nil
	}
	return errors.Join(errs...)
}

var ping = define(`SELECT count(*) FROM projection_lease`)

// Ping implements [projection.Store].
func (s *Store) Ping(ctx context.Context) error {
	var one int
	return s.fail(ctx, "ping", s.read.prepared[ping].QueryRowContext(ctx).Scan(&one))
}

// fail gives an error its place and its meaning; nil stays nil.
func (s *Store) fail(ctx context.Context, what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		err = projection.ErrNotFound
	default:
		err = s.dialect.Error(ctx, err)
	}
	return &opError{what, err}
}

// opError says what the store was doing.
type opError struct {
	what string
	err  error
}

func (e *opError) Error() string { return e.what + ": " + e.err.Error() }
func (e *opError) Unwrap() error { return e.err }

// tx is a transaction.
type tx struct {
	*sql.Tx

	db *database
}

func (t tx) stmt(ctx context.Context, n statement) *sql.Stmt {
	return t.StmtContext(ctx, t.db.prepared[n])
}

// numbered writes the parameters of a statement as $1, $2. No statement has a
// question mark of another meaning.
func numbered(text string) string {
	var b strings.Builder
	n := 0
	for part := range strings.SplitSeq(text, "?") {
		if n > 0 {
			b.WriteString("$" + strconv.Itoa(n))
		}
		b.WriteString(part)
		n++
	}
	return b.String()
}

func (t tx) exec(ctx context.Context, n statement, args ...any) (changed int64, err error) {
	done, err := t.stmt(ctx, n).ExecContext(ctx, args...) //nolint:sqlclosecheck // the transaction does
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

type scanFunc = func(dest ...any) error

func (t tx) row(ctx context.Context, n statement, args ...any) scanFunc {
	return t.stmt(ctx, n).QueryRowContext(ctx, args...).Scan //nolint:sqlclosecheck // the transaction does
}

// rows returns the rows of a statement.
func rows[T any](ctx context.Context, t tx, scan func(scanFunc) (T, error), n statement, args ...any) ([]T, error) {
	all, err := t.stmt(ctx, n).QueryContext(ctx, args...) //nolint:sqlclosecheck // the transaction does
	if err != nil {
		return nil, err
	}
	defer func() { _ = all.Close() }()
	var list []T
	for all.Next() {
		row, err := scan(all.Scan)
		if err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	return list, all.Err()
}

// snapshot runs read in a transaction that sees one state of the database.
func (s *Store) snapshot(ctx context.Context, what string, read func(tx) error) error {
	t, err := s.read.BeginTx(ctx, s.dialect.Snapshot)
	if err != nil {
		return s.fail(ctx, what, err)
	}
	defer func() { _ = t.Rollback() }()
	return s.fail(ctx, what, read(tx{t, s.read}))
}

// update runs change in a transaction and commits it.
func (s *Store) update(ctx context.Context, what string, change func(tx) error) error {
	t, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return s.fail(ctx, what, err)
	}
	defer func() { _ = t.Rollback() }()
	if err := change(tx{t, s.write}); err != nil {
		return s.fail(ctx, what, err)
	}
	return s.fail(ctx, what, t.Commit())
}

// nanos is how times are stored; the zero time is 0.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromNanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
