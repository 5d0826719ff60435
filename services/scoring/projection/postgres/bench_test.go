package postgres_test

import (
	"database/sql"
	"testing"

	"github.com/scoundrel-game/scoundrel/services/scoring/projection/postgres/postgrestest"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/projectiontest"
)

func BenchmarkStore(b *testing.B) {
	url := postgrestest.Start(b).Database(b)
	db, err := sql.Open("pgx", url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	projectiontest.Bench(b, open(b, url), func() (n int64, err error) {
		// As after some time of autovacuum, which does both.
		if _, err := db.ExecContext(b.Context(), `VACUUM ANALYZE`); err != nil {
			return 0, err
		}
		return n, db.QueryRowContext(b.Context(), `SELECT sum(pg_total_relation_size(oid)) FROM pg_class
			WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`).Scan(&n)
	}, projectiontest.BenchPlayers(b))
}
