package memlog_test

import (
	"errors"
	"testing"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/eventlogtest"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/memlog"
)

func TestConformance(t *testing.T) {
	eventlogtest.Run(t, func(_ testing.TB, maxBytes int64) eventlog.Log {
		if maxBytes == 0 {
			return memlog.New()
		}
		return memlog.New(memlog.MaxStreamBytes(int(maxBytes)))
	})
}

func TestMaxEventBytes(t *testing.T) {
	game := eventlogtest.Game("a")
	e := eventlogtest.Event(game, 1)
	size := len(e.Data) + len(e.ID) + len(e.Type) + len(e.RequestID)
	for limit, want := range map[int]error{size: nil, size - 1: eventlog.ErrTooLarge} {
		l := memlog.New(memlog.MaxEventBytes(limit))
		if err := l.Provision(t.Context(), game.Epoch()); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Append(t.Context(), game, 0, e); !errors.Is(err, want) {
			t.Errorf("%d bytes where %d are the limit: %v, want %v", size, limit, err, want)
		}
	}
}
