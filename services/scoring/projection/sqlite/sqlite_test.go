package sqlite_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/projectiontest"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/sqlite"
)

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	projectiontest.Run(t, func(t testing.TB) projection.Store {
		return open(t, filepath.Join(t.TempDir(), "scores.db"))
	})
}

func TestOpenOfOddNames(t *testing.T) {
	for _, name := range []string{"a b.db", "50%.db", "what?mode=memory", "a#b.db", "ä&ö=1.db"} {
		path := filepath.Join(t.TempDir(), name)
		open(t, path)
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	run := func(path string, statements ...string) {
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		for _, s := range statements {
			if _, err := db.Exec(s); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
	}
	ours := func(path string) {
		s, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	overwrite := func(path string, offset int64, with string) {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		if _, err := f.WriteAt([]byte(with), offset); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		prepare func(path string)
		want    error
	}{
		"not a database": {func(path string) { overwrite(path, 0, strings.Repeat("scores ", 1000)) }, sqlite.ErrDamaged},
		"spoilt header":  {func(path string) { ours(path); overwrite(path, 0, "not SQLite at all") }, sqlite.ErrDamaged},
		"spoilt page":    {func(path string) { ours(path); overwrite(path, 3*4096, strings.Repeat("\xff", 4096)) }, sqlite.ErrDamaged},
		"cut off": {func(path string) {
			ours(path)
			if err := os.Truncate(path, 2*4096); err != nil {
				t.Fatal(err)
			}
		}, sqlite.ErrDamaged},
		"another program's":      {func(path string) { run(path, `CREATE TABLE games (id INTEGER)`) }, sqlite.ErrForeign},
		"another application id": {func(path string) { run(path, `PRAGMA application_id = 7`) }, sqlite.ErrForeign},
		"a newer schema": {func(path string) {
			ours(path)
			run(path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)`)
		}, sqlite.ErrNewerSchema},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "scores.db")
			c.prepare(path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s, err := sqlite.Open(t.Context(), path)
			if err == nil {
				_ = s.Close()
			}
			if !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if msg := err.Error(); strings.Contains(msg, "\n") || !strings.Contains(msg, path) {
				t.Errorf("not a line that names the file: %q", msg)
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
				t.Errorf("the refused file was changed: %v", err)
			}
		})
	}
	t.Run("no such folder", func(t *testing.T) {
		if _, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "none", "scores.db")); err == nil {
			t.Error("opened")
		}
	})
}

func TestOpenAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scores.db")
	first := open(t, path)
	second := open(t, path)
	for _, s := range []*sqlite.Store{first, second} {
		if err := s.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
