package jetlog

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/eventlogtest"
)

// portOf returns the port that a server listens on.
func portOf(t *testing.T, e *Embedded) int {
	t.Helper()
	u, err := url.Parse(e.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// await waits for something that must come.
func await[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-within(t).Done():
		t.Fatalf("%s did not come", what)
		panic("unreachable")
	}
}

// tailed is what a tail yields.
type tailed struct {
	event eventlog.Stored
	err   error
}

// follow tails the epoch's stream until its first error.
func follow(t *testing.T, l *Log, from uint64) <-chan tailed {
	t.Helper()
	reads := make(chan tailed, 100)
	ctx := within(t)
	go func() { // ends with the test at the latest
		defer close(reads)
		for e, err := range l.Tail(ctx, epoch.Stream(), from) {
			reads <- tailed{e, err}
		}
	}()
	return reads
}

// While the server is away everything is ErrUnavailable, at once; when it is
// back everything works again, without help.
func TestServerAway(t *testing.T) {
	cfg := EmbeddedConfig{Dir: t.TempDir(), RelaxedSync: true, Host: "127.0.0.1", Port: -1}
	e := start(t, cfg)
	cfg.Port = portOf(t, e)
	nc := dial(t, e.ClientURL())
	l := newLog(t, nc, Config{AppendTimeout: 300 * time.Millisecond, ReadTimeout: patience})
	patient := newLog(t, nc, Config{AppendTimeout: patience})
	provision(t, l)
	provision(t, patient)
	game, more := eventlogtest.Game("a"), eventlogtest.Game("b")
	before := fill(t, l, game, 3)
	reads := follow(t, l, 1)
	for range before {
		if r := await(t, "an event", reads); r.err != nil {
			t.Fatal(r.err)
		}
	}

	away, back := nc.StatusChanged(nats.RECONNECTING), nc.StatusChanged(nats.CONNECTED)
	stop(t, e)
	await(t, "the end of the connection", away)
	if r := await(t, "the end of the tail", reads); !errors.Is(r.err, eventlog.ErrUnavailable) {
		t.Errorf("the tail goes on with %+v", r)
	}
	began := time.Now()
	for use, try := range map[string]func(*Log) error{
		"append": func(l *Log) error {
			_, err := l.Append(within(t), game, 3, eventlogtest.Event(game, 4))
			return err
		},
		"load":      func(l *Log) error { _, err := l.Load(within(t), game); return err },
		"event":     func(l *Log) error { _, err := l.Event(within(t), epoch.Stream(), 1); return err },
		"streams":   func(l *Log) error { _, err := l.Streams(within(t)); return err },
		"ready":     func(l *Log) error { return l.Ready(within(t)) },
		"provision": func(l *Log) error { return l.Provision(within(t), "27q1") },
		"tail": func(l *Log) error {
			for _, err := range l.Tail(within(t), epoch.Stream(), 1) {
				return err
			}
			return nil
		},
		"history": func(l *Log) error {
			for _, err := range l.History(within(t), game, 1) {
				return err
			}
			return nil
		},
	} {
		// Nor does one that starts while the server is away know better.
		for _, l := range []*Log{l, newLog(t, dial(t, e.ClientURL()), Config{AppendTimeout: 300 * time.Millisecond, ReadTimeout: patience})} {
			if err := try(l); !errors.Is(err, eventlog.ErrUnavailable) || errors.Is(err, eventlog.ErrUnknownOutcome) {
				t.Errorf("%s: %v", use, err)
			}
		}
	}
	if d := time.Since(began); d > patience/2 {
		t.Errorf("it took %v to see that the server is away", d)
	}

	appended := make(chan error, 1)
	go func() {
		_, err := patient.Append(within(t), more, 0, eventlogtest.Event(more, 1))
		appended <- err
	}()
	late := dial(t, e.ClientURL())
	connected := late.StatusChanged(nats.CONNECTED)
	start(t, cfg)
	await(t, "the connection", back)
	await(t, "the late connection", connected)
	if err := await(t, "the append", appended); err != nil {
		t.Errorf("an append that began while the server was away: %v", err)
	}
	for _, l := range []*Log{l, newLog(t, late, Config{})} {
		if err := l.Ready(within(t)); err != nil {
			t.Errorf("ready: %v", err)
		}
		if last, err := l.Load(within(t), game); err != nil || last.Position != before[2] {
			t.Errorf("load: %+v, %v", last, err)
		}
	}
	reads = follow(t, l, 4)
	if r := await(t, "an event", reads); r.err != nil || r.event.Game != more {
		t.Errorf("the tail resumed with %+v", r)
	}
}

// replace deletes the epoch's stream and makes it anew, with n events of a game
// of that name.
func replace(t *testing.T, l *Log, name string, n int) {
	t.Helper()
	if err := l.js.DeleteStream(within(t), epoch.Stream()); err != nil {
		t.Fatal(err)
	}
	maker := newLog(t, l.js.Conn(), Config{})
	provision(t, maker)
	fill(t, maker, eventlogtest.Game(name), n)
}

// A log that has known a stream sees that it was deleted and made anew: nothing
// of the new one is told under the name of the old.
func TestReplacedStream(t *testing.T) {
	game := eventlogtest.Game("a")
	for name, use := range map[string]func(t *testing.T, l *Log, old string){
		"streams": func(t *testing.T, l *Log, old string) {
			list, err := l.Streams(within(t))
			if err != nil || len(list) != 1 || list[0].Incarnation == old {
				t.Errorf("%+v, %v", list, err)
			}
		},
		"event": func(t *testing.T, l *Log, old string) {
			if e, err := l.Event(within(t), epoch.Stream(), 1); err == nil && e.Position.Incarnation == old {
				t.Errorf("at once: %+v", e)
			}
			if e, err := l.Event(within(t), epoch.Stream(), 1); err != nil || e.Position.Incarnation == old {
				t.Errorf("then: %+v, %v", e, err)
			}
		},
		"tail": func(t *testing.T, l *Log, old string) {
			if r := await(t, "an event", follow(t, l, 1)); r.err != nil || r.event.Position.Incarnation == old {
				t.Errorf("%+v", r)
			}
		},
		"an append to a game that is no more": func(t *testing.T, l *Log, _ string) {
			if _, err := l.Append(within(t), game, 3, eventlogtest.Event(game, 4)); !errors.Is(err, eventlog.ErrConflict) {
				t.Errorf("append: %v", err)
			}
			if _, err := l.Load(within(t), game); !errors.Is(err, eventlog.ErrNotFound) {
				t.Errorf("load: %v", err)
			}
		},
		"an append to a shorter stream": func(t *testing.T, l *Log, old string) {
			p, err := l.Append(within(t), game, 0, eventlogtest.Event(game, 1))
			if err != nil || p.Incarnation == old {
				t.Errorf("%+v, %v", p, err)
			}
		},
		"provisioning, then an append": func(t *testing.T, l *Log, old string) {
			provision(t, l)
			p, err := l.Append(within(t), game, 0, eventlogtest.Event(game, 1))
			if err != nil || p.Incarnation == old {
				t.Errorf("%+v, %v", p, err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := provisioned(t, Config{AppendTimeout: patience})
			old := fill(t, l, game, 3)[2].Incarnation
			replace(t, l, "b", 1)
			use(t, l, old)
		})
	}
}

// A stream that is deleted is missed, and Provision makes it anew.
func TestDeletedStream(t *testing.T) {
	l := provisioned(t, Config{AppendTimeout: patience})
	game := eventlogtest.Game("a")
	fill(t, l, game, 1)
	if err := l.js.DeleteStream(within(t), epoch.Stream()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(within(t), game, 1, eventlogtest.Event(game, 2)); !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("append: %v", err)
	}
	if _, err := l.Load(within(t), game); !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("load: %v", err)
	}
	for _, err := range l.Tail(within(t), epoch.Stream(), 1) {
		if !errors.Is(err, eventlog.ErrNotFound) {
			t.Errorf("tail: %v", err)
		}
	}
	if err := l.Ready(within(t)); !errors.Is(err, eventlog.ErrUnavailable) {
		t.Errorf("ready: %v", err)
	}
	provision(t, l)
	fill(t, l, game, 2)
}

// A tail does not go on in another stream of the same name.
func TestTailOfReplacedStream(t *testing.T) {
	l := provisioned(t, Config{})
	old := fill(t, l, eventlogtest.Game("a"), 3)[2].Incarnation
	reads := follow(t, l, 1)
	for range 3 {
		if r := await(t, "an event", reads); r.err != nil {
			t.Fatal(r.err)
		}
	}
	replace(t, l, "b", 5)
	if r := await(t, "the end of the tail", reads); r.err == nil {
		t.Errorf("the tail goes on with %+v", r.event)
	}
	if r := await(t, "an event", follow(t, l, 4)); r.err != nil || r.event.Position.Incarnation == old {
		t.Errorf("the tail resumed with %+v", r)
	}
}

// The stream is replaced at the worst moment of a read: after its consumer or
// its message was had, before the stream is looked at.
func TestReplacedDuringRead(t *testing.T) {
	for _, read := range []string{"tail", "event"} {
		t.Run(read, func(t *testing.T) {
			l := provisioned(t, Config{})
			game := eventlogtest.Game("a")
			old := fill(t, l, game, 3)[2].Incarnation
			replaced := false
			direct := l.conn
			interfere(l, faults{onRequest: func(subject string, send func() (*nats.Msg, error)) (*nats.Msg, error) {
				if subject == "$JS.API.STREAM.INFO."+epoch.Stream() && !replaced {
					replaced = true
					l.conn = direct
					replace(t, l, "b", 5)
				}
				return send()
			}})
			var got tailed
			if read == "event" {
				got.event, got.err = l.Event(within(t), epoch.Stream(), 1)
			} else {
				got = await(t, "the end of the tail", follow(t, l, 1))
			}
			if !replaced {
				t.Fatal("the stream was not looked at")
			}
			if got.err == nil && (got.event.Game == game) != (got.event.Position.Incarnation == old) {
				t.Errorf("an event of one stream under the name of another: %+v", got.event)
			}
		})
	}
}

// A message that is no event, and a stream that lacks its head, stop whoever
// reads there.
func TestDamagedStream(t *testing.T) {
	t.Run("a message that is no event", func(t *testing.T) {
		l := provisioned(t, Config{})
		game := eventlogtest.Game("a")
		fill(t, l, game, 1)
		if _, err := l.js.Publish(within(t), game.Subject(), []byte("no event")); err != nil {
			t.Fatal(err)
		}
		reads := follow(t, l, 1)
		if r := await(t, "an event", reads); r.err != nil || r.event.Version != 1 {
			t.Errorf("first %+v", r)
		}
		if r := await(t, "an error", reads); !errors.Is(r.err, eventlog.ErrDamaged) {
			t.Errorf("then %+v", r)
		}
		if _, err := l.Load(within(t), game); !errors.Is(err, eventlog.ErrDamaged) {
			t.Errorf("load: %v", err)
		}
		if _, err := l.Append(within(t), game, 1, eventlogtest.Event(game, 2)); !errors.Is(err, eventlog.ErrDamaged) && !errors.Is(err, eventlog.ErrConflict) {
			t.Errorf("append: %v", err)
		}
		var last error
		for _, last = range l.History(within(t), game, 1) {
		}
		if !errors.Is(last, eventlog.ErrDamaged) {
			t.Errorf("history: %v", last)
		}
	})
	t.Run("a stream that lacks its head", func(t *testing.T) {
		l := newLog(t, start(t, EmbeddedConfig{RelaxedSync: true}).Conn(), Config{})
		cfg := l.streamConfig(epoch)
		cfg.FirstSeq = 100
		cfg.Metadata = map[string]string{metadataSchema: schema, metadataIncarnation: "headless"}
		if _, err := l.js.CreateStream(within(t), cfg); err != nil {
			t.Fatal(err)
		}
		fill(t, l, eventlogtest.Game("a"), 2)
		list, err := l.Streams(within(t))
		want := eventlog.StreamInfo{Name: epoch.Stream(), Incarnation: "headless", FirstSequence: 100, LastSequence: 101}
		if err != nil || len(list) != 1 || list[0] != want {
			t.Errorf("streams %+v, %v", list, err)
		}
		if r := await(t, "an error", follow(t, l, 1)); !errors.Is(r.err, eventlog.ErrDamaged) {
			t.Errorf("the tail from 1 yields %+v", r)
		}
		if r := await(t, "an event", follow(t, l, 100)); r.err != nil || r.event.Position.Sequence != 100 {
			t.Errorf("the tail from 100 yields %+v", r)
		}
	})
}

// deliveries is a tail's source that delivers one message, however often it is
// asked.
type deliveries struct {
	jetstream.MessagesContext
	jetstream.Msg
	consumer, stream uint64 // sequences
}

func (d deliveries) Next(...jetstream.NextOpt) (jetstream.Msg, error) { return d, nil }

func (d deliveries) Metadata() (*jetstream.MsgMetadata, error) {
	return &jetstream.MsgMetadata{Sequence: jetstream.SequencePair{Consumer: d.consumer, Stream: d.stream}}, nil
}

// A delivery that was lost on the way is no hole in the stream: the events are
// there, and the tail is only to be started again.
func TestLostDelivery(t *testing.T) {
	s := &stream{name: epoch.Stream()}
	for _, test := range []struct {
		consumer, stream uint64
		want             error
	}{
		{6, 106, eventlog.ErrUnavailable}, // delivery 5 was lost
		{5, 106, eventlog.ErrDamaged},     // nothing was lost, and sequence 105 is missing
	} {
		_, err := s.next(t.Context(), deliveries{consumer: test.consumer, stream: test.stream}, 5, 105)
		if !errors.Is(err, test.want) {
			t.Errorf("delivery %d with sequence %d: %v", test.consumer, test.stream, err)
		}
	}
}

// A tail that is stopped leaves nothing waiting in the client; its consumer in
// the server ends by itself.
func TestTailStops(t *testing.T) {
	l := provisioned(t, Config{})
	fill(t, l, eventlogtest.Game("a"), 1)
	before := l.js.Conn().NumSubscriptions()
	for range 3 {
		ctx, cancel := context.WithCancel(within(t))
		for _, err := range l.Tail(ctx, epoch.Stream(), 1) {
			if err != nil {
				t.Error(err)
			}
			break
		}
		cancel()
	}
	// The client library ends them in the background.
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	ctx := within(t)
	for l.js.Conn().NumSubscriptions() != before {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%d subscriptions became %d", before, l.js.Conn().NumSubscriptions())
		}
	}
	s, err := l.js.Stream(within(t), epoch.Stream())
	if err != nil {
		t.Fatal(err)
	}
	consumers := s.ListConsumers(within(t))
	for info := range consumers.Info() {
		if c := info.Config; c.Durable != "" || c.InactiveThreshold > time.Minute || c.InactiveThreshold == 0 || c.AckPolicy != jetstream.AckNonePolicy {
			t.Errorf("a consumer that stays: %+v", c)
		}
	}
	if err := consumers.Err(); err != nil {
		t.Error(err)
	}
}
