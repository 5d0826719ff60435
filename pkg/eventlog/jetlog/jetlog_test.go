package jetlog_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/eventlogtest"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/jetlog"
)

// embedded starts a server for a test. Sync is relaxed unless the test asks for
// durability, since a slow disk would only make it slow.
func embedded(t testing.TB, cfg jetlog.EmbeddedConfig) *jetlog.Embedded {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = t.TempDir()
	}
	cfg.Logger = slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	e, err := jetlog.StartEmbedded(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := e.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return e
}

func newLog(t testing.TB, e *jetlog.Embedded, cfg jetlog.Config) *jetlog.Log {
	t.Helper()
	l, err := jetlog.New(e.Conn(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestConformance(t *testing.T) {
	eventlogtest.Run(t, func(t testing.TB) eventlog.Log {
		return newLog(t, embedded(t, jetlog.EmbeddedConfig{RelaxedSync: true}), jetlog.Config{})
	})
}
