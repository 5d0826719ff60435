package scoundrel

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// TestAnotherLogIsRefused starts on event logs that are not the one that the
// scores were computed from. To accept games on them would give the places of
// lost records to others.
func TestAnotherLogIsRefused(t *testing.T) {
	dir := t.TempDir()
	nats, older := filepath.Join(dir, natsFolder), filepath.Join(t.TempDir(), "older")
	play := func() {
		t.Helper()
		s := start(t, dir, func(c *Config) { c.Logger, c.Seeds = slog.New(slog.DiscardHandler), nil })
		cfg := botsConfig{games: 5, players: 2, strategy: "random", rules: engine.Presets()[0].Rules}
		if result, err := playBots(t.Context(), s.client, cfg, func() {}); err != nil || result.Finished != cfg.games {
			t.Fatalf("%+v, %v", result, err)
		}
		s.stop()
	}
	refused := func(what string) {
		t.Helper()
		s, err := New(t.Context(), Config{DataDir: dir, GRPCAddr: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler), RelaxedSync: true})
		if err == nil {
			t.Errorf("%s: it starts", what)
			if err := s.close(); err != nil {
				t.Error(err)
			}
			return
		}
		if !errors.Is(err, projection.ErrReplaced) || !strings.Contains(err.Error(), "restore it from a backup") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
	}
	play()
	if err := os.CopyFS(older, os.DirFS(nats)); err != nil {
		t.Fatal(err)
	}
	play()
	replace := func(by string) {
		t.Helper()
		if err := os.RemoveAll(nats); err != nil {
			t.Fatal(err)
		}
		if by == "" {
			return
		}
		if err := os.CopyFS(nats, os.DirFS(by)); err != nil {
			t.Fatal(err)
		}
	}
	replace(older)
	refused("an older log")
	replace("")
	refused("no log")
	refused("no log, again")
	// The way on that the error names.
	if err := os.Rename(filepath.Join(dir, databaseFile), filepath.Join(dir, "old.db")); err != nil {
		t.Fatal(err)
	}
	play()
}

// TestServerEndsWhenTheLogCannotBeWritten fills the disk of a real server.
func TestServerEndsWhenTheLogCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("a small file system takes the right to mount one: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	p := serve(t, filepath.Join(dir, "data"))
	c := must[*client](t)(dial(p.addr))
	defer func() { _ = c.conn.Close() }() // nothing is under way
	full := must[*os.File](t)(os.Create(filepath.Join(dir, "full")))
	if _, err := full.ReadFrom(endless{}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	cfg := botsConfig{games: 1000, players: 4, strategy: "random", rules: engine.Presets()[0].Rules}
	if _, err := playBots(t.Context(), c, cfg, func() {}); err == nil {
		t.Error("a thousand games found place on a full disk")
	}
	if err := p.wait(t); err == nil || !strings.Contains(p.stderr.take(), "cannot be written") {
		t.Errorf("it ended with %v", err)
	}
}

// endless is an input of zeros.
type endless struct{}

func (endless) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// TestBotsStopWhenTheServerIsGone lets the server end in the midst of many games.
func TestBotsStopWhenTheServerIsGone(t *testing.T) {
	p := serve(t, t.TempDir())
	c := must[*client](t)(dial(p.addr))
	defer func() { _ = c.conn.Close() }() // nothing is under way
	ended := make(chan struct{}, 10000)
	done := make(chan botsResult, 1)
	began := time.Now()
	go func() {
		cfg := botsConfig{games: cap(ended), players: 4, strategy: "random", rules: engine.Presets()[0].Rules}
		result, err := playBots(t.Context(), c, cfg, func() { ended <- struct{}{} })
		if err == nil {
			t.Error("no error")
		}
		done <- result
	}()
	<-ended
	if err := p.end(t, syscall.SIGKILL); err == nil {
		t.Error("a killed process ended well")
	}
	result := <-done
	if result.Finished == 0 || result.Errors == 0 || result.Errors > 4 {
		t.Errorf("%+v after %v", result, time.Since(began))
	}
}
