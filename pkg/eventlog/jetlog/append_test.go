package jetlog

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/eventlogtest"
)

// short makes an append give up soon.
var short = Config{AppendTimeout: 300 * time.Millisecond, AttemptTimeout: 100 * time.Millisecond}

// refusals are acknowledgements with an error, by code.
var refusals = map[int]string{
	10008: `{"code":503,"err_code":10008,"description":"JetStream system temporarily unavailable"}`,
	10023: `{"code":503,"err_code":10023,"description":"insufficient resources"}`,
	10054: `{"code":400,"err_code":10054,"description":"message size exceeds maximum allowed"}`,
	10060: `{"code":400,"err_code":10060,"description":"expected stream does not match"}`,
	10071: `{"code":400,"err_code":10071,"description":"wrong last sequence: 7"}`,
	10077: `{"code":503,"err_code":10077,"description":"maximum bytes exceeded"}`,
	10164: `{"code":400,"err_code":10164,"description":"wrong last sequence"}`,
	// Errors that nobody knows yet.
	19400: `{"code":400,"err_code":19400,"description":"not with this message"}`,
	19500: `{"code":500,"err_code":19500,"description":"not now"}`,
}

func refusal(code int) *nats.Msg {
	return &nats.Msg{Data: []byte(`{"error":` + refusals[code] + `,"stream":"","seq":0}`)}
}

// storeClosing is the answer of a stream whose server stops: with the code that
// a full stream has.
var storeClosing = &nats.Msg{Data: []byte(`{"error":{"code":503,"err_code":10077,"description":"store is closed"},"stream":"","seq":0}`)}

// silence waits as for an acknowledgement that does not come.
func silence(ctx context.Context) (*nats.Msg, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// The faults that an append survives: the event is stored once, and its
// position is told.
func TestAppendSurvives(t *testing.T) {
	type publish = func(ctx context.Context, attempt int, send func() (*nats.Msg, error)) (*nats.Msg, error)
	firstly := func(n int, fault publish) publish {
		return func(ctx context.Context, attempt int, send func() (*nats.Msg, error)) (*nats.Msg, error) {
			if attempt <= n {
				return fault(ctx, attempt, send)
			}
			return send()
		}
	}
	ackLost := func(ctx context.Context, _ int, send func() (*nats.Msg, error)) (*nats.Msg, error) {
		if _, err := send(); err != nil {
			return nil, err
		}
		return silence(ctx)
	}
	answers := func(code int) publish {
		return func(context.Context, int, func() (*nats.Msg, error)) (*nats.Msg, error) { return refusal(code), nil }
	}
	fails := func(err error) publish {
		return func(context.Context, int, func() (*nats.Msg, error)) (*nats.Msg, error) { return nil, err }
	}
	for name, fault := range map[string]publish{
		"sent twice": func(_ context.Context, _ int, send func() (*nats.Msg, error)) (*nats.Msg, error) {
			if _, err := send(); err != nil {
				return nil, err
			}
			return send()
		},
		"acknowledgement lost": firstly(1, ackLost),
		"request lost": firstly(1, func(ctx context.Context, _ int, _ func() (*nats.Msg, error)) (*nats.Msg, error) {
			return silence(ctx)
		}),
		"no stream there for a moment":  firstly(3, fails(nats.ErrNoResponders)),
		"connection away for a moment":  firstly(3, fails(nats.ErrReconnectBufExceeded)),
		"connection lost while waiting": firstly(1, fails(nats.ErrDisconnected)),
		"no leader for a moment":        firstly(3, answers(10008)),
		"spurious conflict":             firstly(1, answers(10164)),
		"20 spurious conflicts":         firstly(20, answers(10164)),
		"more than 20":                  firstly(25, answers(10164)),
		"an answer that makes no sense": firstly(1, func(context.Context, int, func() (*nats.Msg, error)) (*nats.Msg, error) { return &nats.Msg{}, nil }),
		"an error nobody knows":         firstly(1, answers(19500)),
		"stored, then spurious for ever": func(ctx context.Context, attempt int, send func() (*nats.Msg, error)) (*nats.Msg, error) {
			if attempt == 1 {
				return ackLost(ctx, attempt, send)
			}
			return refusal(10164), nil
		},
		// A server that is out of room says so before it looks for a conflict.
		"stored, then no room": func(ctx context.Context, attempt int, send func() (*nats.Msg, error)) (*nats.Msg, error) {
			if attempt == 1 {
				return ackLost(ctx, attempt, send)
			}
			return refusal(10023), nil
		},
		"stored, then refused": func(ctx context.Context, attempt int, send func() (*nats.Msg, error)) (*nats.Msg, error) {
			if attempt == 1 {
				return ackLost(ctx, attempt, send)
			}
			return refusal(10054), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := provisioned(t, Config{AttemptTimeout: 2 * time.Second})
			game := eventlogtest.Game("a")
			fill(t, l, eventlogtest.Game("b"), 1)
			first := fill(t, l, game, 1)[0]
			attempts := 0
			interfere(l, faults{onPublish: func(ctx context.Context, send func() (*nats.Msg, error)) (*nats.Msg, error) {
				attempts++
				// Silence need not be waited for as long as a real answer.
				ctx, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
				defer cancel()
				return fault(ctx, attempts, send)
			}})
			p, err := l.Append(within(t), game, eventlog.Revision(first.Sequence), eventlogtest.Event(game, 2))
			want := eventlog.Position{Stream: first.Stream, Incarnation: first.Incarnation, Sequence: 3}
			if err != nil || p != want {
				t.Fatalf("appended at %+v, %v; want %+v", p, err, want)
			}
			e, err := l.Event(within(t), p.Stream, p.Sequence)
			if err != nil || e.ID != eventlogtest.Event(game, 2).ID {
				t.Errorf("at %d is %+v, %v", p.Sequence, e, err)
			}
			if n := lastSequence(t, l); n != 3 {
				t.Errorf("%d events are stored, not 3", n)
			}
		})
	}
}

// What an append says when it gives up, for every kind of failure: that the
// event was not stored only where it cannot have been.
func TestAppendGivesUp(t *testing.T) {
	classes := []error{eventlog.ErrUnavailable, eventlog.ErrUnknownOutcome, eventlog.ErrConflict, eventlog.ErrFull, eventlog.ErrTooLarge, ErrDrift}
	always := func(m *nats.Msg, err error) func(context.Context, int) (*nats.Msg, error) {
		return func(context.Context, int) (*nats.Msg, error) { return m, err }
	}
	after := func(first func(context.Context, int) (*nats.Msg, error), rest func(context.Context, int) (*nats.Msg, error)) func(context.Context, int) (*nats.Msg, error) {
		return func(ctx context.Context, attempt int) (*nats.Msg, error) {
			if attempt == 1 {
				return first(ctx, attempt)
			}
			return rest(ctx, attempt)
		}
	}
	silent := func(ctx context.Context, _ int) (*nats.Msg, error) { return silence(ctx) }
	noResponders := always(nil, nats.ErrNoResponders)
	for name, test := range map[string]struct {
		fault  func(ctx context.Context, attempt int) (*nats.Msg, error)
		unread bool // nothing can be read either
		want   error
	}{
		"no acknowledgement":                {silent, false, eventlog.ErrUnknownOutcome},
		"no stream listens":                 {noResponders, false, eventlog.ErrUnavailable},
		"no leader":                         {always(refusal(10008), nil), false, eventlog.ErrUnavailable},
		"the connection is away":            {always(nil, nats.ErrReconnectBufExceeded), false, eventlog.ErrUnavailable},
		"the connection goes while waiting": {always(nil, nats.ErrConnectionClosed), false, eventlog.ErrUnknownOutcome},
		"silence once, then nobody listens": {after(silent, noResponders), false, eventlog.ErrUnknownOutcome},
		"nobody listens, then silence":      {after(noResponders, silent), false, eventlog.ErrUnknownOutcome},
		"an answer that makes no sense":     {always(&nats.Msg{Data: []byte("{")}, nil), false, eventlog.ErrUnknownOutcome},
		"an empty acknowledgement":          {always(&nats.Msg{Data: []byte("{}")}, nil), false, eventlog.ErrUnknownOutcome},
		"an error nobody knows":             {always(refusal(19500), nil), false, eventlog.ErrUnknownOutcome},
		"spurious for ever":                 {always(refusal(10164), nil), false, eventlog.ErrUnavailable},
		"spurious for ever, nothing reads":  {always(refusal(10164), nil), true, eventlog.ErrUnavailable},
		"silence once, then spurious":       {after(silent, always(refusal(10164), nil)), false, eventlog.ErrUnknownOutcome},
		"a conflict that cannot be read":    {always(refusal(10071), nil), true, eventlog.ErrUnknownOutcome},
		"a conflict with nothing":           {always(refusal(10071), nil), false, eventlog.ErrConflict},
		"silence, a conflict with nothing":  {after(silent, always(refusal(10071), nil)), false, eventlog.ErrUnknownOutcome},
		"the subject is another stream's":   {always(refusal(10060), nil), false, ErrDrift},
		"too large":                         {always(refusal(10054), nil), false, eventlog.ErrTooLarge},
		"more than a message may be":        {always(nil, nats.ErrMaxPayload), false, eventlog.ErrTooLarge},
		"no room in the stream":             {always(refusal(10077), nil), false, eventlog.ErrFull},
		"the store is closing":              {always(storeClosing, nil), false, eventlog.ErrUnknownOutcome},
		"an event JetStream refuses":        {always(refusal(19400), nil), false, nil},
		"no room on the server":             {always(refusal(10023), nil), false, eventlog.ErrFull},
		"silence once, then refused":        {after(silent, always(refusal(19400), nil)), false, eventlog.ErrUnknownOutcome},
		"silence once, then too large":      {after(silent, always(refusal(10054), nil)), false, eventlog.ErrUnknownOutcome},
		"silence once, then no room":        {after(silent, always(refusal(10077), nil)), false, eventlog.ErrUnknownOutcome},
		"no room, and nothing reads":        {always(refusal(10077), nil), true, eventlog.ErrFull},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := short
			if !errors.Is(test.want, eventlog.ErrUnavailable) && !errors.Is(test.want, eventlog.ErrUnknownOutcome) {
				cfg.AppendTimeout = patience // it must not take that long
			}
			l := provisioned(t, cfg)
			attempts := 0
			f := faults{onPublish: func(ctx context.Context, _ func() (*nats.Msg, error)) (*nats.Msg, error) {
				attempts++
				return test.fault(ctx, attempts)
			}}
			if test.unread {
				f.onRequest = func(string, func() (*nats.Msg, error)) (*nats.Msg, error) { return nil, nats.ErrTimeout }
			}
			interfere(l, f)
			game := eventlogtest.Game("a")
			_, err := l.Append(within(t), game, 0, eventlogtest.Event(game, 1))
			for _, class := range classes {
				if errors.Is(err, class) != (errors.Is(class, test.want)) {
					t.Errorf("%v; want only %v", err, test.want)
				}
			}
		})
	}
}

// A conflict is told at once, whatever code it comes with.
func TestAppendConflicts(t *testing.T) {
	for _, code := range []int{10071, 10164} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			l := provisioned(t, Config{AppendTimeout: patience})
			game := eventlogtest.Game("a")
			fill(t, l, game, 2)
			interfere(l, faults{onPublish: func(context.Context, func() (*nats.Msg, error)) (*nats.Msg, error) { return refusal(code), nil }})
			if _, err := l.Append(within(t), game, 1, other(game, 2)); !errors.Is(err, eventlog.ErrConflict) {
				t.Errorf("another event: %v", err)
			}
			if p, err := l.Append(within(t), game, 1, eventlogtest.Event(game, 2)); err != nil || p.Sequence != 2 {
				t.Errorf("the event that is stored: %+v, %v", p, err)
			}
		})
	}
}

// A connection that has ended sends nothing, so nothing was stored.
func TestAppendWithoutConnection(t *testing.T) {
	e := start(t, EmbeddedConfig{RelaxedSync: true, Host: "127.0.0.1", Port: -1})
	nc := dial(t, e.ClientURL())
	l := newLog(t, nc, short)
	provision(t, l)
	nc.Close()
	game := eventlogtest.Game("a")
	if _, err := l.Append(within(t), game, 0, eventlogtest.Event(game, 1)); !errors.Is(err, eventlog.ErrUnavailable) || errors.Is(err, eventlog.ErrUnknownOutcome) {
		t.Errorf("a closed connection: %v", err)
	}
	l = newLog(t, e.Conn(), short)
	provision(t, l)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Append(ended, game, 0, eventlogtest.Event(game, 1)); !errors.Is(err, eventlog.ErrUnavailable) || errors.Is(err, eventlog.ErrUnknownOutcome) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// mailbox is a connection that keeps the messages of appends, to deliver them
// late.
type mailbox struct {
	conn
	held *nats.Msg
}

func (m *mailbox) publish(ctx context.Context, msg *nats.Msg) (*nats.Msg, error) {
	m.held = msg
	return silence(ctx)
}

// What is sent for an event, header by header: tools and other programs read
// these for ever. The same in every attempt, and without a message id.
func TestMessage(t *testing.T) {
	l := provisioned(t, short)
	box := &mailbox{conn: l.conn}
	l.conn = box
	game := eventlogtest.Game("a")
	e := eventlog.Event{ID: "0123456789abcdef0123456789abcdef", Version: 3, Type: "MOVE_PLAYED", RequestID: "r-1", Data: []byte("record")}
	want := nats.Header{
		"Sc-Event-Id": {e.ID}, "Sc-Version": {"3"}, "Sc-Type": {"MOVE_PLAYED"}, "Sc-Schema": {"1"}, "Sc-Request-Id": {"r-1"},
		"Content-Type":                        {"application/x-protobuf"},
		"Nats-Expected-Last-Subject-Sequence": {"7"},
		"Nats-Expected-Stream":                {"SCOUNDREL_GAMES_26Q4"},
	}
	for range 2 {
		if _, err := l.Append(within(t), game, 7, e); !errors.Is(err, eventlog.ErrUnknownOutcome) {
			t.Fatal(err)
		}
		if m := box.held; m.Subject != game.Subject() || string(m.Data) != "record" || !reflect.DeepEqual(m.Header, want) {
			t.Errorf("sent %s %v %q", m.Subject, m.Header, m.Data)
		}
		e.RequestID = ""
		delete(want, "Sc-Request-Id")
	}
}

// A message that arrives long after its append gave up does no harm: it is
// refused where another event was stored, and conflicts with others where none
// was.
func TestLateDelivery(t *testing.T) {
	l := provisioned(t, short)
	game := eventlogtest.Game("a")
	fill(t, l, game, 1)
	direct := l.conn
	lose := func(after eventlog.Revision, e eventlog.Event) *nats.Msg {
		t.Helper()
		box := &mailbox{conn: direct}
		l.conn = box
		defer func() { l.conn = direct }()
		if _, err := l.Append(within(t), game, after, e); !errors.Is(err, eventlog.ErrUnknownOutcome) {
			t.Fatalf("an append whose message is on the way: %v", err)
		}
		return box.held
	}
	arrive := func(msg *nats.Msg) outcome {
		t.Helper()
		_, what, err := l.attempt(within(t), msg)
		if err != nil && what != conflict {
			t.Fatal(err)
		}
		return what
	}

	late := lose(1, eventlogtest.Event(game, 2))
	if _, err := l.Append(within(t), game, 1, other(game, 2)); err != nil {
		t.Fatal(err)
	}
	if what := arrive(late); what != conflict {
		t.Errorf("the late message came to %v", what)
	}
	if _, err := l.Append(within(t), game, 1, eventlogtest.Event(game, 2)); !errors.Is(err, eventlog.ErrConflict) {
		t.Errorf("its append again: %v", err)
	}
	if e, err := l.Load(within(t), game); err != nil || e.ID != "other" {
		t.Errorf("the last event is %+v, %v", e, err)
	}

	if what := arrive(lose(2, eventlogtest.Event(game, 3))); what != stored {
		t.Errorf("a late message with nothing before it came to %v", what)
	}
	if _, err := l.Append(within(t), game, 2, other(game, 3)); !errors.Is(err, eventlog.ErrConflict) {
		t.Errorf("another event after it: %v", err)
	}
	if p, err := l.Append(within(t), game, 2, eventlogtest.Event(game, 3)); err != nil || p.Sequence != 3 {
		t.Errorf("its append again: %+v, %v", p, err)
	}
	if n := lastSequence(t, l); n != 3 {
		t.Errorf("%d events are stored, not 3", n)
	}
}
