package postgres_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/postgres"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/postgres/postgrestest"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/projectiontest"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/sqlite"
)

// TestBesideTakesThePlace builds stores beside one: one is discarded, one is left by
// a process that died, one takes the place. What is another program's stays.
func TestBesideTakesThePlace(t *testing.T) {
	url := postgrestest.Start(t).Database(t)
	old := open(t, url)
	games := projectiontest.RandomGames(t, 60)
	projectiontest.Fill(t, old, games[:30])
	before := projectiontest.Hash(t, old)
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Exec(`CREATE TABLE others (n INTEGER)`); err != nil {
		t.Fatal(err)
	}
	schemas := func() (n int) {
		t.Helper()
		var others int
		if err := db.QueryRow(`SELECT (SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'public%'), (SELECT count(*) FROM others)`).Scan(&n, &others); err != nil {
			t.Fatal(err)
		}
		return n
	}
	beside := func() *postgres.Beside {
		t.Helper()
		b, err := postgres.OpenBeside(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		projectiontest.CheckBoards(t, b, nil)
		projectiontest.Fill(t, b, games)
		return b
	}
	if err := beside().Discard(t.Context()); err != nil {
		t.Error(err)
	}
	if schemas() != 1 || projectiontest.Hash(t, old) != before {
		t.Error("it was not discarded")
	}
	left := beside()
	b := beside()
	after := projectiontest.Hash(t, b)
	if err := errors.Join(left.Close(), b.Replace(t.Context()), b.Discard(t.Context())); err != nil {
		t.Error(err)
	}
	again := open(t, url)
	if schemas() != 1 || before == after || projectiontest.Hash(t, again) != after {
		t.Error("it did not take the place")
	}
	// The new tables work like the old ones.
	more := projectiontest.NewGame("more", "classic", 9, 40)
	all, err := again.Checkpoints(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	next := projection.Step{Game: &more}
	next.Record.ID, next.Record.Position = "next", all[0].Position
	next.Record.Position.Sequence++
	if err := again.Commit(t.Context(), all[0], []projection.Step{next}); err != nil {
		t.Error(err)
	}
	projectiontest.CheckBoards(t, again, append(games, more))
}

// TestHashIsThatOfSQLite compares the databases.
func TestHashIsThatOfSQLite(t *testing.T) {
	file, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "scores.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	s := open(t, postgrestest.Start(t).Database(t))
	games := projectiontest.RandomGames(t, 60)
	for i, odd := range []string{"a", "A", "Ä", "ä", "_", "~", "\U0001F0A1", "zz", "z z"} {
		games[i].PlayerID = odd
	}
	projectiontest.Fill(t, file, games)
	projectiontest.Fill(t, s, games)
	if projectiontest.Hash(t, file) != projectiontest.Hash(t, s) {
		t.Error("the same boards have different hashes")
	}
}

func TestOpenReadOnly(t *testing.T) {
	url := postgrestest.Start(t).Database(t)
	if _, err := postgres.OpenReadOnly(t.Context(), url); !errors.Is(err, postgres.ErrOlderSchema) {
		t.Errorf("an empty database: %v", err)
	}
	s := open(t, url)
	games := projectiontest.RandomGames(t, 20)
	projectiontest.Fill(t, s, games)
	r, err := postgres.OpenReadOnly(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	projectiontest.CheckBoards(t, r, games)
	if err := r.Commit(t.Context(), projection.Checkpoint{}, []projection.Step{{}}); err == nil {
		t.Error("it writes")
	}
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, c := range []struct {
		change string
		want   error
	}{
		{`INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, true)`, postgres.ErrNewerSchema},
		{`DELETE FROM goose_db_version WHERE version_id > 0`, postgres.ErrOlderSchema},
	} {
		if _, err := db.Exec(c.change); err != nil {
			t.Fatal(err)
		}
		if _, err := postgres.OpenReadOnly(t.Context(), url); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.change, err)
		}
	}
}
