// Package eventlogtest is the suite that every implementation of eventlog.Log
// passes, so that tests on one may trust it to behave like the others.
package eventlogtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
)

// epoch is the one that the suite uses.
const epoch eventlog.Epoch = "26q4"

// patience is how long anything may take.
const patience = 30 * time.Second

// Factory returns an empty log that ends with the test. A stream of it holds
// maxBytes at most, or what it likes if that is 0.
type Factory func(t testing.TB, maxBytes int64) eventlog.Log

// streamBytes is the room of the streams in the test of full ones. Events of
// half that size overfill it, whatever an implementation counts beside them.
const streamBytes = 64 << 10

// Run runs the suite.
func Run(t *testing.T, factory Factory) {
	for name, test := range map[string]struct {
		run      func(*testing.T, fixture)
		maxBytes int64
	}{
		"an event is read back as it was appended": {run: readBack},
		"appending the same event again":           {run: sameAgain},
		"another event is a conflict":              {run: conflicts},
		"one writer wins each version":             {run: oneWinner},
		"a stream that was not provisioned":        {run: noStream},
		"provisioning twice changes nothing":       {run: provisionTwice},
		"provisioning at the same time":            {run: provisionTogether},
		"an event that is too large":               {run: tooLarge},
		"a stream that is full":                    {run: full, maxBytes: streamBytes},
		"history from a version":                   {run: history},
		"history of one game among others":         {run: interleaved},
		"tail follows the stream":                  {run: tail},
		"tail keeps up with writers":               {run: tailKeepsUp},
		"tail starts where it is told":             {run: tailFrom},
		"tail goes on where it stopped":            {run: tailResumes},
		"tail ends with its context":               {run: tailEnds},
		"a context that has ended":                 {run: ended},
		"an event at a sequence":                   {run: atSequence},
		"streams are listed oldest first":          {run: streams},
		"a stored event is not the caller's":       {run: ownData},
		"control events are read back":             {run: controlReadBack},
		"another control event is a conflict":      {run: controlConflicts},
		"one writer is first on a control subject": {run: controlOneWinner},
		"tail follows the control stream":          {run: controlTail},
		"what the control stream lacks":            {run: controlMissing},
		"provisioning the control stream twice":    {run: controlProvisionTwice},
		"a control stream that is full":            {run: controlFull, maxBytes: streamBytes},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			t.Cleanup(cancel)
			test.run(t, fixture{ctx, factory(t, test.maxBytes)})
		})
	}
}

// classes are the errors of a log. An error is of one class: whoever tests for
// one of them is not told another.
var classes = []error{
	eventlog.ErrNotFound, eventlog.ErrConflict, eventlog.ErrUnknownOutcome, eventlog.ErrUnavailable,
	eventlog.ErrFull, eventlog.ErrTooLarge, eventlog.ErrDamaged,
}

// only reports an error that is not of the class want, or of another one too.
func only(t *testing.T, what string, err, want error) {
	t.Helper()
	for _, class := range classes {
		if errors.Is(err, class) != (errors.Is(class, want)) {
			t.Errorf("%s: %v; want: %v", what, err, want)
			return
		}
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
		t.Errorf("append %s version %d after %d: %v", game, e.Version, after, err)
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
	_, err := f.log.Load(f.ctx, game)
	only(t, "a game that was never stored", err, eventlog.ErrNotFound)
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
	for _, after := range []eventlog.Revision{0, eventlog.Revision(first.Sequence)} {
		_, err := f.log.Append(f.ctx, game, after, other)
		only(t, fmt.Sprintf("another event after %d", after), err, eventlog.ErrConflict)
	}
	// A game that has not come as far. Who asks a replica that may be behind
	// cannot tell that from one that has.
	another := Game("b")
	_, err := f.log.Append(f.ctx, another, eventlog.Revision(first.Sequence), Event(another, 2))
	if !errors.Is(err, eventlog.ErrUnknownOutcome) {
		only(t, "an event after one of another game", err, eventlog.ErrConflict)
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
				p, err := f.log.Append(f.ctx, game, after, e)
				if err != nil {
					only(t, fmt.Sprintf("writer %d, version %d", w, v), err, eventlog.ErrConflict)
					return
				}
				wins <- p
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
	_, err := f.log.Append(f.ctx, game, 0, Event(game, 1))
	only(t, "append", err, eventlog.ErrNotFound)
	_, err = f.log.Load(f.ctx, game)
	only(t, "load", err, eventlog.ErrNotFound)
	only(t, "history", end(t, f.log.History(f.ctx, game, 1)), eventlog.ErrNotFound)
	for _, stream := range []string{game.Epoch().Stream(), "", "x", "*", ">", "a.b", "SCOUNDREL_GAMES_26q4"} {
		_, err = f.log.Event(f.ctx, stream, 1)
		only(t, fmt.Sprintf("event of %q", stream), err, eventlog.ErrNotFound)
		only(t, fmt.Sprintf("tail of %q", stream), end(t, f.log.Tail(f.ctx, stream, 1)), eventlog.ErrNotFound)
	}
}

// end returns the error that an iteration without events ends with.
func end(t *testing.T, events iter.Seq2[eventlog.Stored, error]) error {
	t.Helper()
	var last error
	pairs := 0
	for _, err := range events {
		last = err
		pairs++
	}
	if pairs != 1 {
		t.Errorf("%d pairs, not just an error", pairs)
	}
	return last
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
	incarnations := make(chan string, 5)
	for i := range 5 {
		wg.Go(func() {
			if err := f.log.Provision(f.ctx, epoch); err != nil {
				t.Error(err)
				return
			}
			game := Game(fmt.Sprint(i))
			p := f.append(t, game, 0, Event(game, 1))
			incarnations <- p.Incarnation
		})
	}
	wg.Wait()
	close(incarnations)
	seen := map[string]bool{}
	for i := range incarnations {
		seen[i] = true
	}
	if len(seen) != 1 || lastSequence(t, f) != 5 {
		t.Errorf("incarnations %v, %d events", seen, lastSequence(t, f))
	}
}

func tooLarge(t *testing.T, f fixture) {
	f.provision(t)
	game := Game("a")
	for _, size := range []int{65 << 10, 2 << 20} {
		e := Event(game, 1)
		e.Data = make([]byte, size)
		_, err := f.log.Append(f.ctx, game, 0, e)
		only(t, fmt.Sprintf("%d bytes", size), err, eventlog.ErrTooLarge)
	}
	_, err := f.log.Load(f.ctx, game)
	only(t, "what was too large", err, eventlog.ErrNotFound)
	e := Event(game, 1)
	e.Data = make([]byte, 63<<10)
	f.append(t, game, 0, e)
}

func full(t *testing.T, f fixture) {
	f.provision(t)
	game := Game("a")
	half := func(version uint64) eventlog.Event {
		e := Event(game, version)
		e.Data = make([]byte, streamBytes/2)
		return e
	}
	first := f.append(t, game, 0, half(1))
	_, err := f.log.Append(f.ctx, game, eventlog.Revision(first.Sequence), half(2))
	only(t, "an event without room", err, eventlog.ErrFull)
	// What is stored stays, and what is small still fits.
	if p := f.append(t, game, 0, half(1)); p != first {
		t.Errorf("the event that is stored at %+v: %+v", first, p)
	}
	f.append(t, game, eventlog.Revision(first.Sequence), Event(game, 2))
	if got := f.history(t, game, 1); len(got) != 2 {
		t.Errorf("%d events, not 2", len(got))
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
	for e, err := range f.log.History(f.ctx, game, 1) {
		if err != nil || e.Version != 1 {
			t.Errorf("the first event is %+v, %v", e, err)
		}
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

// follow yields the events of a stream as a reader sees them that starts again
// where it stopped whenever the log is away.
func (f fixture) follow(ctx context.Context, t *testing.T, stream string, next uint64) iter.Seq[eventlog.Stored] {
	return func(yield func(eventlog.Stored) bool) {
		for again := true; again; {
			again = false
			for e, err := range f.log.Tail(ctx, stream, next) {
				if again = errors.Is(err, eventlog.ErrUnavailable); again {
					break
				}
				if err != nil {
					t.Errorf("tail of %s at %d: %v", stream, next, err)
					return
				}
				if next++; !yield(e) {
					return
				}
			}
		}
		if ctx.Err() == nil {
			t.Errorf("tail of %s ended at %d", stream, next)
		}
	}
}

func tail(t *testing.T, f fixture) {
	f.provision(t)
	game := Game("a")
	first := f.fill(t, game, 5)
	want := uint64(1)
	for e := range f.follow(f.ctx, t, first[0].Stream, 1) {
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

func tailKeepsUp(t *testing.T, f fixture) {
	f.provision(t)
	const games, versions = 4, 50
	var writers sync.WaitGroup
	for i := range games {
		writers.Go(func() { f.fill(t, Game(fmt.Sprint(i)), versions) })
	}
	defer writers.Wait()
	seen := map[eventlog.GameID]uint64{}
	next := uint64(1)
	for e := range f.follow(f.ctx, t, epoch.Stream(), 1) {
		if seen[e.Game]++; e.Position.Sequence != next || e.Version != seen[e.Game] {
			t.Fatalf("at %d is %+v, at %d of its game", next, e, seen[e.Game])
		}
		if next++; next > games*versions {
			break
		}
	}
}

func tailFrom(t *testing.T, f fixture) {
	f.provision(t)
	game := Game("a")
	positions := f.fill(t, game, 5)
	for from, want := range map[uint64]uint64{0: 1, 1: 1, 4: 4, 5: 5} {
		for e := range f.follow(f.ctx, t, positions[0].Stream, from) {
			if e.Version != want || e.Position != positions[want-1] {
				t.Errorf("from %d: %+v", from, e)
			}
			break
		}
	}
}

func tailResumes(t *testing.T, f fixture) {
	f.provision(t)
	game := Game("a")
	const n = 6
	positions := f.fill(t, game, n)
	for next := uint64(1); next <= n; {
		// A reader that takes two events each time.
		taken := 0
		for e := range f.follow(f.ctx, t, positions[0].Stream, next) {
			if e.Position != positions[next-1] {
				t.Fatalf("sequence %d is %+v", next, e)
			}
			next++
			if taken++; taken == 2 {
				break
			}
		}
	}
}

func tailEnds(t *testing.T, f fixture) {
	f.provision(t)
	p := f.fill(t, Game("a"), 1)[0]
	// While an event is handled, or while it waits for the next one.
	for name, end := range map[string]func(stop func()){
		"at once": func(stop func()) { stop() },
		"soon":    func(stop func()) { go stop() },
	} {
		ctx, stop := context.WithCancel(f.ctx)
		defer stop()
		n := 0
		for range f.follow(ctx, t, p.Stream, 1) {
			n++
			end(stop)
		}
		if n != 1 {
			t.Errorf("%s: saw %d events", name, n)
		}
		for e, err := range f.log.Tail(ctx, p.Stream, 1) {
			t.Errorf("%s: a context that has ended gives %+v, %v", name, e, err)
		}
	}
}

func ended(t *testing.T, f fixture) {
	f.provision(t)
	game := Game("a")
	p := f.fill(t, game, 1)[0]
	ctx, stop := context.WithCancel(f.ctx)
	stop()
	_, err := f.log.Load(ctx, game)
	only(t, "load", err, eventlog.ErrUnavailable)
	_, err = f.log.Event(ctx, p.Stream, p.Sequence)
	only(t, "event", err, eventlog.ErrUnavailable)
	_, err = f.log.Streams(ctx)
	only(t, "streams", err, eventlog.ErrUnavailable)
	f.provisionControl(t)
	_, err = f.log.LoadControl(ctx, daily)
	only(t, "load a control event", err, eventlog.ErrUnavailable)
	_, err = f.log.AppendControl(ctx, daily, 0, ControlEvent(daily, 1))
	only(t, "append a control event", err, eventlog.ErrUnavailable)
	_, err = f.log.ControlInfo(ctx)
	only(t, "control stream", err, eventlog.ErrUnavailable)
	only(t, "provision the control stream", f.log.ProvisionControl(ctx), eventlog.ErrUnavailable)
	// Nothing was sent, so nothing was stored.
	_, err = f.log.Append(ctx, game, 1, Event(game, 2))
	only(t, "append", err, eventlog.ErrUnavailable)
	only(t, "provision", f.log.Provision(ctx, "27q1"), eventlog.ErrUnavailable)
	only(t, "history", end(t, f.log.History(ctx, game, 1)), eventlog.ErrUnavailable)
	only(t, "ready", f.log.Ready(ctx), eventlog.ErrUnavailable)
	if err := f.log.Ready(f.ctx); err != nil {
		t.Errorf("ready: %v", err)
	}
	if n := lastSequence(t, f); n != 1 {
		t.Errorf("%d events are stored, not 1", n)
	}
}

func atSequence(t *testing.T, f fixture) {
	f.provision(t)
	p := f.fill(t, Game("a"), 2)[1]
	for _, seq := range []uint64{0, 3, 1 << 60} {
		_, err := f.log.Event(f.ctx, p.Stream, seq)
		only(t, fmt.Sprintf("sequence %d", seq), err, eventlog.ErrNotFound)
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
	p := f.append(t, game, 0, e)
	e.Data[0] = 'X' // what was appended
	for range 2 {
		loaded, err := f.log.Load(f.ctx, game)
		if err != nil {
			t.Fatal(err)
		}
		at, err := f.log.Event(f.ctx, p.Stream, p.Sequence)
		if err != nil {
			t.Fatal(err)
		}
		read := append(f.history(t, game, 1), loaded, at)
		for e := range f.follow(f.ctx, t, p.Stream, 1) {
			read = append(read, e)
			break
		}
		for _, r := range read {
			if !equal(r.Event, Event(game, 1)) {
				t.Fatalf("the stored event became %+v", r)
			}
			r.Data[0] = 'X' // what was read
		}
	}
}
