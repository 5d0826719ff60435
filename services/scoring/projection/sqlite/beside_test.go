package sqlite_test

import (
	"crypto/sha256"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/projectiontest"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/sqlite"
)

// files returns the names in a folder.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		names = append(names, f.Name())
	}
	return names
}

// reopened returns the hash of a database that is opened anew.
func reopened(t *testing.T, path string) [sha256.Size]byte {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	return projectiontest.Hash(t, s)
}

// TestBesideTakesThePlace builds databases beside one: one is discarded, one is
// left by a process that died, one takes the place.
func TestBesideTakesThePlace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "scores.db")
	old, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	games := projectiontest.RandomGames(t, 60)
	projectiontest.Fill(t, old, games[:30])
	before := projectiontest.Hash(t, old)
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	if reopened(t, path) != before {
		t.Error("a restart changes the hash")
	}
	beside := func() *sqlite.Beside {
		t.Helper()
		b, err := sqlite.OpenBeside(t.Context(), path)
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
	if names := files(t, dir); len(names) != 1 || reopened(t, path) != before {
		t.Errorf("discarded: %v", names)
	}
	if err := beside().Close(); err != nil { // and nothing more
		t.Error(err)
	}
	b := beside()
	after := projectiontest.Hash(t, b)
	// What a process that was killed leaves must not get into the new database.
	if err := os.WriteFile(path+"-wal", []byte("of the old one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.Replace(t.Context()), b.Discard(t.Context())); err != nil {
		t.Error(err)
	}
	if names := files(t, dir); len(names) != 1 || before == after || reopened(t, path) != after {
		t.Errorf("replaced: %v", names)
	}
}

func TestOpenReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scores.db")
	if _, err := sqlite.OpenReadOnly(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	s := open(t, path)
	games := projectiontest.RandomGames(t, 20)
	projectiontest.Fill(t, s, games)
	look := func() *sqlite.Store {
		t.Helper()
		r, err := sqlite.OpenReadOnly(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		return r
	}
	r := look() // while s is open
	projectiontest.CheckBoards(t, r, games)
	if err := r.Commit(t.Context(), projection.Checkpoint{}, []projection.Step{{}}); err == nil {
		t.Error("it writes")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	projectiontest.CheckBoards(t, look(), games)

	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, c := range []struct {
		change string
		want   error
	}{
		{`INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)`, sqlite.ErrNewerSchema},
		{`DELETE FROM goose_db_version WHERE version_id > 1`, sqlite.ErrOlderSchema},
		{`PRAGMA application_id = 7`, sqlite.ErrForeign},
	} {
		if _, err := db.Exec(c.change); err != nil {
			t.Fatal(err)
		}
		if _, err := sqlite.OpenReadOnly(t.Context(), path); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.change, err)
		}
	}
}
