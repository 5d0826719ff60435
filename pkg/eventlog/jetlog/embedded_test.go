package jetlog

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/eventlogtest"
)

// buffer is a log that may be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Events are on the disk before they are acknowledged, unless somebody asked
// for less, and that is said.
func TestSyncAlways(t *testing.T) {
	for _, relaxed := range []bool{false, true} {
		var log buffer
		e := start(t, EmbeddedConfig{RelaxedSync: relaxed, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if got := e.server.JetStreamConfig().SyncAlways; got == relaxed {
			t.Errorf("relaxed %t: SyncAlways is %t", relaxed, got)
		}
		if said := strings.Contains(log.String(), "level=WARN"); said != relaxed {
			t.Errorf("relaxed %t: the log says %q", relaxed, log.String())
		}
	}
}

// Everything is there after a restart, at the same positions.
func TestRestart(t *testing.T) {
	cfg := EmbeddedConfig{Dir: t.TempDir()}
	game := eventlogtest.Game("a")
	e := start(t, cfg)
	l := newLog(t, e.Conn(), Config{})
	provision(t, l)
	fill(t, l, eventlogtest.Game("b"), 2)
	fill(t, l, game, 5)
	all := func(l *Log) (list []eventlog.Stored) {
		t.Helper()
		for e, err := range l.History(within(t), game, 1) {
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, e)
		}
		return list
	}
	before := all(l)
	stop(t, e)

	l = newLog(t, start(t, cfg).Conn(), Config{})
	provision(t, l)
	after := all(l)
	if len(before) != 5 || len(after) != 5 {
		t.Fatalf("%d events became %d", len(before), len(after))
	}
	for i := range after {
		if before[i].Position != after[i].Position || before[i].ID != after[i].ID || !before[i].StoredAt.Equal(after[i].StoredAt) {
			t.Errorf("%+v became %+v", before[i], after[i])
		}
	}
	p, err := l.Append(within(t), game, eventlog.Revision(after[4].Position.Sequence), eventlogtest.Event(game, 6))
	if err != nil || p.Sequence != 8 || p.Incarnation != after[4].Position.Incarnation {
		t.Errorf("the next event is at %+v, %v", p, err)
	}
}

// A server that cannot start says why, at once.
func TestCannotStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	first := start(t, EmbeddedConfig{RelaxedSync: true, Host: "127.0.0.1", Port: -1})
	quiet := slog.New(slog.DiscardHandler)
	for name, cfg := range map[string]EmbeddedConfig{
		"no folder":            {Logger: quiet},
		"no logger":            {Dir: t.TempDir()},
		"the folder is a file": {Dir: file, Logger: quiet},
		"below a file":         {Dir: filepath.Join(file, "nats"), Logger: quiet},
		"the port is taken":    {Dir: t.TempDir(), Logger: quiet, Host: "127.0.0.1", Port: portOf(t, first)},
		"the host is not ours": {Dir: t.TempDir(), Logger: quiet, Host: "192.0.2.1", Port: -1},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			e, err := StartEmbedded(within(t), cfg)
			if err == nil {
				stop(t, e)
				t.Fatal("it started")
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than a line: %v", err)
			}
			if d := time.Since(began); d > patience/3 {
				t.Errorf("it took %v to say: %v", d, err)
			}
		})
	}
}

// A context that has ended ends the wait, and not the stop.
func TestCloseInNoTime(t *testing.T) {
	dir := t.TempDir()
	e := start(t, EmbeddedConfig{Dir: dir})
	l := newLog(t, e.Conn(), Config{})
	provision(t, l)
	fill(t, l, eventlogtest.Game("a"), 3)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Close(ended); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	stop(t, e)
	l = newLog(t, start(t, EmbeddedConfig{Dir: dir}).Conn(), Config{})
	if last, err := l.Load(within(t), eventlogtest.Game("a")); err != nil || last.Version != 3 {
		t.Errorf("after a restart: %+v, %v", last, err)
	}
	ended, cancel = context.WithCancel(t.Context())
	cancel()
	if e, err := StartEmbedded(ended, EmbeddedConfig{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)}); err == nil {
		stop(t, e) // it was quick enough
	} else if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
