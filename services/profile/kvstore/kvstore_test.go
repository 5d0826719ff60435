package kvstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog/jetlog"
	"github.com/scoundrel-game/scoundrel/services/profile"
	"github.com/scoundrel-game/scoundrel/services/profile/kvstore"
	"github.com/scoundrel-game/scoundrel/services/profile/profiletest"
)

var quiet = slog.New(slog.DiscardHandler)

// broker starts a NATS server, and returns it with what stops it, at the end of
// the test at the latest.
func broker(t testing.TB, cfg jetlog.EmbeddedConfig) (*jetlog.Embedded, func()) {
	t.Helper()
	cfg.Logger, cfg.RelaxedSync = quiet, true
	e, err := jetlog.StartEmbedded(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	stop := func() {
		if stopped {
			return
		}
		stopped = true
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 20*time.Second)
		defer cancel()
		if err := e.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return e, stop
}

func open(t testing.TB, nc *nats.Conn) *kvstore.Store {
	t.Helper()
	s, err := kvstore.Open(t.Context(), nc)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bucket creates the bucket as an operator may have.
func bucket(t *testing.T, nc *nats.Conn, cfg jetstream.KeyValueConfig) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Bucket = kvstore.Bucket
	if _, err := js.CreateKeyValue(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	return js
}

func TestStore(t *testing.T) {
	profiletest.Run(t, func(t testing.TB) profile.Store {
		e, _ := broker(t, jetlog.EmbeddedConfig{Dir: t.TempDir()})
		return open(t, e.Conn())
	})
}

func TestNamesSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	e, stop := broker(t, jetlog.EmbeddedConfig{Dir: dir})
	s := open(t, e.Conn())
	if err := errors.Join(s.Set(t.Context(), "ada", "Ada"), s.Set(t.Context(), "bob", "Bob"), s.Delete(t.Context(), "bob")); err != nil {
		t.Fatal(err)
	}
	stop()
	e, _ = broker(t, jetlog.EmbeddedConfig{Dir: dir})
	names, err := open(t, e.Conn()).Names(t.Context(), []string{"ada", "bob"})
	if err != nil || len(names) != 1 || names["ada"] != "Ada" {
		t.Errorf("names after a restart: %v, %v", names, err)
	}
}

// TestDeletePurges reads every message that the bucket still holds. Nothing that
// the player was ever called may be left, not even where the bucket keeps more
// history than it should.
func TestDeletePurges(t *testing.T) {
	for _, history := range []uint8{1, 10} {
		t.Run(fmt.Sprint("history ", history), func(t *testing.T) {
			e, _ := broker(t, jetlog.EmbeddedConfig{Dir: t.TempDir()})
			js := bucket(t, e.Conn(), jetstream.KeyValueConfig{History: history})
			s := open(t, e.Conn())
			for _, name := range []string{"Secret One", "Secret Two"} {
				if err := errors.Join(s.Set(t.Context(), "ada.l", name), s.Set(t.Context(), "bob", "Bob")); err != nil {
					t.Fatal(err)
				}
			}
			if stored(t, js, "Secret") == 0 {
				t.Fatal("the names were never stored")
			}
			if err := s.Delete(t.Context(), "ada.l"); err != nil {
				t.Fatal(err)
			}
			if n := stored(t, js, "Secret"); n != 0 {
				t.Errorf("%d messages still hold an erased name", n)
			}
			if stored(t, js, "Bob") == 0 {
				t.Error("another player's name was erased")
			}
		})
	}
}

// stored counts the messages of the bucket that hold a text.
func stored(t *testing.T, js jetstream.JetStream, text string) (n int) {
	t.Helper()
	stream, err := js.Stream(t.Context(), "KV_"+kvstore.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	state := stream.CachedInfo().State
	for seq := state.FirstSeq; seq <= state.LastSeq; seq++ {
		msg, err := stream.GetMsg(t.Context(), seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(msg.Data, []byte(text)) || bytes.Contains(fmt.Append(nil, msg.Header), []byte(text)) {
			n++
		}
	}
	return n
}

func TestOpen(t *testing.T) {
	for name, test := range map[string]struct {
		cfg     jetstream.KeyValueConfig
		refused bool
	}{
		"a bucket of its operator":   {jetstream.KeyValueConfig{MaxBytes: 1 << 20, Description: "ours"}, false},
		"a bucket that forgets":      {jetstream.KeyValueConfig{TTL: time.Hour}, true},
		"a bucket without any files": {jetstream.KeyValueConfig{Storage: jetstream.MemoryStorage}, true},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := broker(t, jetlog.EmbeddedConfig{Dir: t.TempDir()})
			js := bucket(t, e.Conn(), test.cfg)
			if _, err := kvstore.Open(t.Context(), e.Conn()); (err != nil) != test.refused || errors.Is(err, profile.ErrUnavailable) {
				t.Errorf("open: %v", err)
			}
			kv, err := js.KeyValue(t.Context(), kvstore.Bucket)
			if err != nil {
				t.Fatal(err)
			}
			status, err := kv.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := status.Config()
			if got.Description != test.cfg.Description || got.TTL != test.cfg.TTL || got.Storage != test.cfg.Storage {
				t.Errorf("the bucket was changed to %+v", got)
			}
		})
	}
}

// TestServerAway: while the server is away every call says so, and Open too;
// when it is back everything works again, without help.
func TestServerAway(t *testing.T) {
	cfg := jetlog.EmbeddedConfig{Dir: t.TempDir(), Host: "127.0.0.1", Port: -1}
	e, stop := broker(t, cfg)
	at, err := url.Parse(e.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Port, err = strconv.Atoi(at.Port()); err != nil {
		t.Fatal(err)
	}
	nc, err := jetlog.Connect(e.ClientURL(), "test", quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	s := open(t, nc)
	if err := s.Set(t.Context(), "ada", "Ada"); err != nil {
		t.Fatal(err)
	}
	away := nc.StatusChanged(nats.RECONNECTING)
	back := nc.StatusChanged(nats.CONNECTED)
	stop()
	await(t, away)
	_, get := s.Get(t.Context(), "ada")
	_, names := s.Names(t.Context(), []string{"ada", "bob"})
	_, reopen := kvstore.Open(t.Context(), nc)
	for call, err := range map[string]error{
		"get": get, "names": names, "open": reopen, "ready": s.Ready(t.Context()),
		"set": s.Set(t.Context(), "ada", "Countess"), "delete": s.Delete(t.Context(), "ada"),
	} {
		if !errors.Is(err, profile.ErrUnavailable) {
			t.Errorf("%s: %v", call, err)
		}
	}
	broker(t, cfg)
	await(t, back)
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	if name, err := s.Get(t.Context(), "ada"); name != "Ada" || err != nil {
		t.Errorf("after the outage: %q, %v", name, err)
	}
}

// TestNoRoom fills the server's store, and a bucket whose operator bounds it.
func TestNoRoom(t *testing.T) {
	for name, limit := range map[string]struct{ server, bucket int64 }{
		"server": {server: 4 << 10},
		"bucket": {bucket: 4 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := broker(t, jetlog.EmbeddedConfig{Dir: t.TempDir(), MaxStoreBytes: limit.server})
			if limit.bucket > 0 {
				bucket(t, e.Conn(), jetstream.KeyValueConfig{MaxBytes: limit.bucket})
			}
			s := open(t, e.Conn())
			for i := range 100 {
				switch err := s.Set(t.Context(), strconv.Itoa(i), "a name that takes some room"); {
				case errors.Is(err, profile.ErrFull):
					return
				case err != nil:
					t.Fatal(err)
				}
			}
			t.Error("100 names fit into 4 kB")
		})
	}
}

func await(t *testing.T, status <-chan nats.Status) {
	t.Helper()
	select {
	case <-status:
	case <-time.After(30 * time.Second):
		t.Fatal("the connection did not change")
	}
}
