// Package eventlogtest is the suite that every implementation of eventlog.Log
// passes, so that tests on one may trust it to behave like the others.
package eventlogtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
)

// epoch is the one that the suite uses.
const epoch eventlog.Epoch = "26q4"

// patience is how long anything may take.
const patience = 30 * time.Second

// Factory returns an empty log that ends with the test.
type Factory func(testing.TB) eventlog.Log

// Run runs the suite.
func Run(t *testing.T, factory Factory) {
	for name, test := range map[string]func(*testing.T, fixture){
		"an event is read back as it was appended":  readBack,
		"appending the same event again":            sameAgain,
		"another event is a conflict":               conflicts,
		"one writer wins each version":              oneWinner,
		"a stream that was not provisioned":         noStream,
		"provisioning twice changes nothing":        provisionTwice,
		"provisioning at the same time":             provisionTogether,
		"an event that is too large":                tooLarge,
		"history from a version":                    history,
		"history while other games are written":     interleaved,
		"tail follows the stream":                   tail,
		"tail starts where it is told":              tailFrom,
		"tail ends with its context":                tailEnds,
		"a context that has ended":                  ended,
		"an event at a sequence":                    atSequence,
		"streams are listed oldest first":           streams,
		"what the caller does to an event is alone": ownData,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			t.Cleanup(cancel)
			test(t, fixture{ctx, factory(t)})
		})
	}
}

type fixture struct {
	ctx context.Context
	log eventlog.Log
}

func (f fixture) provision(t *testing.T) {
	t.Helper()
	if err := f.log.Provision(f.ctx, epoch); err != nil {
		t.Fatal(err)
	}
}

// append stores an event that must be stored.
func (f fixture) append(t *testing.T, game eventlog.GameID, after eventlog.Revision, e eventlog.Event) eventlog.Position {
	t.Helper()
	p, err := f.log.Append(f.ctx, game, after, e)
	if err != nil {
		t.Fatalf("append %s version %d after %d: %v", game, e.Version, after, err)
	}
	return p
}

// fill appends events from version 1 on.
func (f fixture) fill(t *testing.T, game eventlog.GameID, n int) []eventlog.Position {
	t.Helper()
	var list []eventlog.Position
	var after eventlog.Revision
	for v := 1; v <= n; v++ {
		p := f.append(t, game, after, Event(game, uint64(v)))
		list, after = append(list, p), eventlog.Revision(p.Sequence)
	}
	return list
}

// Game returns a game id of the suite's epoch.
func Game(name string) eventlog.GameID { return eventlog.DeriveGameID(epoch, name) }

// Event returns an event of a game; equal arguments give equal events.
func Event(game eventlog.GameID, version uint64) eventlog.Event {
	return eventlog.Event{
		ID: fmt.Sprintf("%x-%d", game.String(), version), Version: version, Type: "TEST",
		RequestID: "request", Data: fmt.Appendf(nil, "data of %s version %d", game, version),
	}
}

func equal(a, b eventlog.Event) bool {
	return a.ID == b.ID && a.Version == b.Version && a.Type == b.Type && a.RequestID == b.RequestID && bytes.Equal(a.Data, b.Data)
}

func readBack(t *testing.T, f fixture) {
	f.provision(t)
	game := Game("a")
	if _, err := f.log.Load(f.ctx, game); !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("a game that was never stored: %v", err)
	}
	for v, p := range f.fill(t, game, 3) {
		e, err := f.log.Event(f.ctx, p.Stream, p.Sequence)
		if err != nil || !equal(e.Event, Event(game, uint64(v+1))) || e.Game != game || e.Position != p || e.StoredAt.IsZero() {
			t.Errorf("version %d at %+v reads %+v, %v", v+1, p, e, err)
		}
	}
	last, err := f.log.Load(f.ctx, game)
	if err != nil || !equal(last.Event, Event(game, 3)) {
		t.Errorf("the last event is %+v, %v", last, err)
	}
}

func sameAgain(t *testing.T, f fixture) {
	f.provision(t)
	game := Game("a")
	positions := f.fill(t, game, 3)
	for v := uint64(1); v <= 3; v++ {
		var after eventlog.Revision
		if v > 1 {
			after = eventlog.Revision(positions[v-2].Sequence)
		}
		if p := f.append(t, game, after, Event(game, v)); p != positions[v-1] {
			t.Errorf("version %d was stored at %+v, then at %+v", v, positions[v-1], p)
		}
	}
	if n := lastSequence(t, f); n != 3 {
		t.Errorf("%d events are stored, not 3", n)
	}
}

func lastSequence(t *testing.T, f fixture) uint64 {
	t.Helper()
	list, err := f.log.Streams(f.ctx)
	if err != nil || len(list) != 1 {
		t.Fatalf("streams %v, %v", list, err)
	}
	return list[0].LastSequence
}

func conflicts(t *testing.T, f fixture) {
	f.provision(t)
	game := Game("a")
	first := f.fill(t, game, 2)[0]
	other := Event(game, 2)
	other.ID, other.Data = "other", []byte("another one")
	for _, after := range []eventlog.Revision{0, eventlog.Revision(first.Sequence), 99} {
		if _, err := f.log.Append(f.ctx, game, after, other); !errors.Is(err, eventlog.ErrConflict) && after != 99 {
			t.Errorf("another event after %d: %v", after, err)
		} else if err == nil {
			t.Errorf("an event was stored after revision %d", after)
		}
	}
	if n := lastSequence(t, f); n != 2 {
		t.Errorf("%d events are stored, not 2", n)
	}
}

func oneWinner(t *testing.T, f fixture) {
	f.provision(t)
	game := Game("a")
	const writers, versions = 8, 20
	var after eventlog.Revision
	for v := uint64(1); v <= versions; v++ {
		var wg sync.WaitGroup
		wins := make(chan eventlog.Position, writers)
		for w := range writers {
			wg.Go(func() {
				e := Event(game, v)
				e.ID = fmt.Sprintf("%s by %d", e.ID, w)
				switch p, err := f.log.Append(f.ctx, game, after, e); {
				case err == nil:
					wins <- p
				case !errors.Is(err, eventlog.ErrConflict):
					t.Errorf("writer %d, version %d: %v", w, v, err)
				}
			})
		}
		wg.Wait()
		close(wins)
		if len(wins) != 1 {
			t.Fatalf("version %d has %d winners", v, len(wins))
		}
		after = eventlog.Revision((<-wins).Sequence)
	}
}

func noStream(t *testing.T, f fixture) {
	game := eventlog.DeriveGameID("99q1", "a")
	if _, err := f.log.Append(f.ctx, game, 0, Event(game, 1)); !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("append: %v", err)
	}
	if _, err := f.log.Load(f.ctx, game); !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("load: %v", err)
	}
	if _, err := f.log.Event(f.ctx, game.Epoch().Stream(), 1); !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("event: %v", err)
	}
}

func provisionTwice(t *testing.T, f fixture) {
	f.provision(t)
	p := f.fill(t, Game("a"), 1)[0]
	f.provision(t)
	if e, err := f.log.Event(f.ctx, p.Stream, p.Sequence); err != nil || e.Position != p {
		t.Errorf("%+v became %+v, %v", p, e.Position, err)
	}
}

func provisionTogether(t *testing.T, f fixture) {
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if err := f.log.Provision(f.ctx, epoch); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := lastSequence(t, f); n != 0 {
		t.Errorf("a new stream holds %d events", n)
	}
}

func tooLarge(t *testing.T, f fixture) {
	f.provision(t)
	game := Game("a")
	for _, size := range []int{65 << 10, 2 << 20} {
		e := Event(game, 1)
		e.Data = make([]byte, size)
		if _, err := f.log.Append(f.ctx, game, 0, e); !errors.Is(err, eventlog.ErrTooLarge) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	if _, err := f.log.Load(f.ctx, game); !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("something was stored: %v", err)
	}
}

func (f fixture) history(t *testing.T, game eventlog.GameID, from uint64) []eventlog.Stored {
	t.Helper()
	var list []eventlog.Stored
	for e, err := range f.log.History(f.ctx, game, from) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

func history(t *testing.T, f fixture) {
	f.provision(t)
	game := Game("a")
	const n = 300 // more than a batch of any implementation
	positions := f.fill(t, game, n)
	for _, from := range []uint64{1, 2, 256, 257, n, n + 1} {
		got := f.history(t, game, from)
		if len(got) != n+1-int(from) {
			t.Errorf("%d events from version %d of %d", len(got), from, n)
			continue
		}
		for i, e := range got {
			v := from + uint64(i)
			if !equal(e.Event, Event(game, v)) || e.Position != positions[v-1] || e.Game != game {
				t.Fatalf("version %d reads %+v", v, e)
			}
		}
	}
	for range f.log.History(f.ctx, game, 1) {
		break // a reader may stop at any time
	}
	if got := f.history(t, Game("nobody"), 1); len(got) != 0 {
		t.Errorf("a game that was never stored has %d events", len(got))
	}
}

func interleaved(t *testing.T, f fixture) {
	f.provision(t)
	games := []eventlog.GameID{Game("a"), Game("b"), Game("c")}
	after := map[eventlog.GameID]eventlog.Revision{}
	for v := uint64(1); v <= 20; v++ {
		for _, g := range games {
			after[g] = eventlog.Revision(f.append(t, g, after[g], Event(g, v)).Sequence)
		}
	}
	for _, g := range games {
		for i, e := range f.history(t, g, 1) {
			if !equal(e.Event, Event(g, uint64(i+1))) {
				t.Errorf("%s version %d reads %+v", g, i+1, e)
			}
		}
	}
}

func tail(t *testing.T, f fixture) {
	f.provision(t)
	game := Game("a")
	first := f.fill(t, game, 5)
	want := uint64(1)
	ctx, stop := context.WithCancel(f.ctx)
	defer stop()
	for e, err := range f.log.Tail(ctx, first[0].Stream, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if !equal(e.Event, Event(game, want)) || e.Position.Sequence != want {
			t.Fatalf("event %d is %+v", want, e)
		}
		if want == 10 {
			break
		}
		if want >= 5 { // what is appended while the tail waits
			f.append(t, game, eventlog.Revision(want), Event(game, want+1))
		}
		want++
	}
	if want != 10 {
		t.Errorf("saw %d events, want 10", want)
	}
}

func tailFrom(t *testing.T, f fixture) {
	f.provision(t)
	game := Game("a")
	positions := f.fill(t, game, 5)
	for e, err := range f.log.Tail(f.ctx, positions[0].Stream, 4) {
		if err != nil || e.Version != 4 {
			t.Errorf("from 4: %+v, %v", e, err)
		}
		break
	}
	for _, err := range f.log.Tail(f.ctx, "SCOUNDREL_GAMES_99Q1", 1) {
		if !errors.Is(err, eventlog.ErrNotFound) {
			t.Errorf("no such stream: %v", err)
		}
		break
	}
}

func tailEnds(t *testing.T, f fixture) {
	f.provision(t)
	game := Game("a")
	p := f.fill(t, game, 1)[0]
	ctx, stop := context.WithCancel(f.ctx)
	n := 0
	for _, err := range f.log.Tail(ctx, p.Stream, 1) {
		if err != nil {
			t.Errorf("the end of the context is no error: %v", err)
		}
		n++
		stop()
	}
	stop()
	if n != 1 {
		t.Errorf("saw %d events", n)
	}
}

func ended(t *testing.T, f fixture) {
	f.provision(t)
	game := Game("a")
	f.fill(t, game, 1)
	ctx, stop := context.WithCancel(f.ctx)
	stop()
	if _, err := f.log.Load(ctx, game); !errors.Is(err, eventlog.ErrUnavailable) {
		t.Errorf("load: %v", err)
	}
	if _, err := f.log.Append(ctx, game, 1, Event(game, 2)); !errors.Is(err, eventlog.ErrUnavailable) && !errors.Is(err, eventlog.ErrUnknownOutcome) {
		t.Errorf("append: %v", err)
	}
	if err := f.log.Ready(ctx); !errors.Is(err, eventlog.ErrUnavailable) {
		t.Errorf("ready: %v", err)
	}
	if err := f.log.Ready(f.ctx); err != nil {
		t.Errorf("ready: %v", err)
	}
	n := 0
	for _, err := range f.log.History(ctx, game, 1) {
		if n++; !errors.Is(err, eventlog.ErrUnavailable) {
			t.Errorf("history: %v", err)
		}
	}
	if n != 1 {
		t.Errorf("a history that could not be read yielded %d pairs", n)
	}
}

func atSequence(t *testing.T, f fixture) {
	f.provision(t)
	p := f.fill(t, Game("a"), 2)[1]
	for _, seq := range []uint64{0, 3, 1 << 60} {
		if _, err := f.log.Event(f.ctx, p.Stream, seq); !errors.Is(err, eventlog.ErrNotFound) {
			t.Errorf("sequence %d: %v", seq, err)
		}
	}
}

func streams(t *testing.T, f fixture) {
	if list, err := f.log.Streams(f.ctx); err != nil || len(list) != 0 {
		t.Errorf("an empty log has %v, %v", list, err)
	}
	for _, e := range []eventlog.Epoch{"27q1", "26q4"} {
		if err := f.log.Provision(f.ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	p := f.fill(t, Game("a"), 2)[0]
	list, err := f.log.Streams(f.ctx)
	if err != nil || len(list) != 2 {
		t.Fatalf("streams %v, %v", list, err)
	}
	want := eventlog.StreamInfo{Name: "SCOUNDREL_GAMES_26Q4", Incarnation: p.Incarnation, FirstSequence: 1, LastSequence: 2}
	if list[0] != want {
		t.Errorf("stream %+v, want %+v", list[0], want)
	}
	if list[1].Name != "SCOUNDREL_GAMES_27Q1" || list[1].LastSequence != 0 || list[1].Incarnation == p.Incarnation {
		t.Errorf("stream %+v", list[1])
	}
}

func ownData(t *testing.T, f fixture) {
	f.provision(t)
	game := Game("a")
	e := Event(game, 1)
	f.append(t, game, 0, e)
	e.Data[0] = 'X'
	if got, err := f.log.Load(f.ctx, game); err != nil || got.Data[0] == 'X' {
		t.Errorf("the stored event changed with the caller's: %+v, %v", got, err)
	}
}
