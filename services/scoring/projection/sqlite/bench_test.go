package sqlite_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/scoundrel-game/scoundrel/services/scoring/projection/projectiontest"
)

func BenchmarkStore(b *testing.B) {
	path := filepath.Join(b.TempDir(), "scores.db")
	projectiontest.Bench(b, open(b, path), func() (n int64, err error) {
		for _, file := range []string{path, path + "-wal"} {
			info, err := os.Stat(file)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return 0, err
			}
			n += info.Size()
		}
		return n, nil
	}, projectiontest.BenchPlayers(b))
}
