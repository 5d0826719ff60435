package memlog_test

import (
	"errors"
	"testing"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/eventlogtest"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/memlog"
)

func TestConformance(t *testing.T) {
	eventlogtest.Run(t, func(testing.TB) eventlog.Log { return memlog.New() })
}

func TestLimits(t *testing.T) {
	game := eventlogtest.Game("a")
	e := eventlogtest.Event(game, 1)
	for want, option := range map[error]memlog.Option{
		eventlog.ErrFull:     memlog.MaxStreamBytes(len(e.Data) - 1),
		eventlog.ErrTooLarge: memlog.MaxEventBytes(len(e.Data) - 1),
	} {
		l := memlog.New(option)
		if err := l.Provision(t.Context(), game.Epoch()); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Append(t.Context(), game, 0, e); !errors.Is(err, want) {
			t.Errorf("want %v, got %v", want, err)
		}
	}
}
