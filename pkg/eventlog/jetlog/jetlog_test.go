package jetlog

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/eventlogtest"
)

func TestConformance(t *testing.T) {
	eventlogtest.Run(t, func(t testing.TB, maxBytes int64) eventlog.Log {
		return newLog(t, start(t, EmbeddedConfig{RelaxedSync: true}).Conn(), Config{MaxBytes: maxBytes})
	})
}

// epoch is the one that the tests use.
const epoch eventlog.Epoch = "26q4"

// patience is how long anything may take.
const patience = 30 * time.Second

// start starts a server that ends with the test.
func start(t testing.TB, cfg EmbeddedConfig) *Embedded {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = t.TempDir()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	e, err := StartEmbedded(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, e) })
	return e
}

// stop stops a server; twice is no harm.
func stop(t testing.TB, e *Embedded) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := e.Close(ctx); err != nil {
		t.Error(err)
	}
}

// dial returns a connection over the network that ends with the test.
func dial(t testing.TB, url string) *nats.Conn {
	t.Helper()
	nc, err := Connect(url, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func newLog(t testing.TB, nc *nats.Conn, cfg Config) *Log {
	t.Helper()
	l, err := New(nc, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// provisioned returns a log on a new server whose epoch is ready.
func provisioned(t testing.TB, cfg Config) *Log {
	t.Helper()
	l := newLog(t, start(t, EmbeddedConfig{RelaxedSync: true}).Conn(), cfg)
	provision(t, l)
	return l
}

func provision(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Provision(within(t), epoch); err != nil {
		t.Fatal(err)
	}
}

// within returns a context that ends with the test's patience.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// fill appends the first n events of a game, which has none.
func fill(t testing.TB, l *Log, game eventlog.GameID, n int) []eventlog.Position {
	t.Helper()
	var list []eventlog.Position
	var after eventlog.Revision
	for v := 1; v <= n; v++ {
		p, err := l.Append(within(t), game, after, eventlogtest.Event(game, uint64(v)))
		if err != nil {
			t.Fatalf("append version %d: %v", v, err)
		}
		list, after = append(list, p), eventlog.Revision(p.Sequence)
	}
	return list
}

// other is an event in the place of eventlogtest.Event of the same arguments.
func other(game eventlog.GameID, version uint64) eventlog.Event {
	e := eventlogtest.Event(game, version)
	e.ID, e.Data = "other", []byte("another event")
	return e
}

// lastSequence returns how many events the epoch's stream ever stored.
func lastSequence(t testing.TB, l *Log) uint64 {
	t.Helper()
	list, err := l.Streams(within(t))
	if err != nil || len(list) != 1 {
		t.Fatalf("streams %v, %v", list, err)
	}
	return list[0].LastSequence
}

// faults is a connection that a test interferes with. Where a field is nil,
// requests pass.
type faults struct {
	conn
	onPublish func(ctx context.Context, send func() (*nats.Msg, error)) (*nats.Msg, error)
	onRequest func(subject string, send func() (*nats.Msg, error)) (*nats.Msg, error)
	onAnswers func(answers []*nats.Msg) []*nats.Msg // of one request for many
}

// interfere puts faults in front of a log's connection.
func interfere(l *Log, f faults) {
	f.conn = l.conn
	l.conn = f
}

func (f faults) publish(ctx context.Context, msg *nats.Msg) (*nats.Msg, error) {
	if f.onPublish == nil {
		return f.conn.publish(ctx, msg)
	}
	return f.onPublish(ctx, func() (*nats.Msg, error) { return f.conn.publish(ctx, msg) })
}

func (f faults) request(ctx context.Context, subject string, data []byte) (*nats.Msg, error) {
	if f.onRequest == nil {
		return f.conn.request(ctx, subject, data)
	}
	return f.onRequest(subject, func() (*nats.Msg, error) { return f.conn.request(ctx, subject, data) })
}

func (f faults) requestMany(ctx context.Context, subject string, data []byte, yield func(*nats.Msg) (bool, error)) error {
	if f.onAnswers == nil {
		return f.conn.requestMany(ctx, subject, data, yield)
	}
	var answers []*nats.Msg
	err := f.conn.requestMany(ctx, subject, data, func(m *nats.Msg) (bool, error) {
		answers = append(answers, m)
		return m.Header.Get("Status") == "", nil
	})
	if err != nil {
		return err
	}
	for _, m := range f.onAnswers(answers) {
		if more, err := yield(m); !more || err != nil {
			return err
		}
	}
	// Nothing comes any more, until the reader has waited long enough.
	<-ctx.Done()
	return ctx.Err()
}
