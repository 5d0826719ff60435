package eventlogtest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
)

// Subjects of the suite: of each kind, and some that differ in little.
var (
	daily     = eventlog.DailySubject("2026-12-01", "classic")
	tomorrow  = eventlog.DailySubject("2026-12-02", "classic")
	merchants = eventlog.DailySubject("2026-12-01", "classic+merchants")
	player    = eventlog.PlayerModerationSubject("ada. *>")
	game      = eventlog.GameModerationSubject(Game("a"))
)

// ControlEvent returns an event of a control subject; equal arguments give
// equal events.
func ControlEvent(subject eventlog.ControlSubject, version uint64) eventlog.Event {
	return eventlog.Event{
		ID: fmt.Sprintf("%x-%d", subject.String(), version), Version: version, Type: "TEST",
		RequestID: "request", Data: fmt.Appendf(nil, "data of %s version %d", subject, version),
	}
}

func (f fixture) provisionControl(t *testing.T) {
	t.Helper()
	if err := f.log.ProvisionControl(f.ctx); err != nil {
		t.Fatal(err)
	}
}

// appendControl stores an event that must be stored.
func (f fixture) appendControl(t *testing.T, subject eventlog.ControlSubject, after eventlog.Revision, e eventlog.Event) eventlog.Position {
	t.Helper()
	p, err := f.log.AppendControl(f.ctx, subject, after, e)
	if err != nil {
		t.Errorf("append %s version %d after %d: %v", subject, e.Version, after, err)
	}
	return p
}

// wantControl checks how many events the control stream holds.
func (f fixture) wantControl(t *testing.T, n uint64) {
	t.Helper()
	info, err := f.log.ControlInfo(f.ctx)
	if err != nil || info.Name != eventlog.ControlStream || info.Incarnation == "" || info.FirstSequence != 1 || info.LastSequence != n {
		t.Errorf("the control stream is %+v, %v; want %d events", info, err, n)
	}
}

func controlReadBack(t *testing.T, f fixture) {
	f.provision(t)
	f.provisionControl(t)
	f.wantControl(t, 0)
	subjects := []eventlog.ControlSubject{daily, tomorrow, merchants, player, game}
	var positions []eventlog.Position
	for v := uint64(1); v <= 2; v++ {
		for i, s := range subjects {
			var after eventlog.Revision
			if v > 1 {
				after = eventlog.Revision(positions[i].Sequence)
			}
			p := f.appendControl(t, s, after, ControlEvent(s, v))
			positions = append(positions, p)
			last, err := f.log.LoadControl(f.ctx, s)
			if err != nil || !equal(last.Event, ControlEvent(s, v)) || last.Control != s || !last.Game.IsZero() || last.Position != p || last.StoredAt.IsZero() {
				t.Errorf("the last event of %s is %+v, %v", s, last, err)
			}
			at, err := f.log.Event(f.ctx, eventlog.ControlStream, p.Sequence)
			if err != nil || !equal(at.Event, last.Event) || at.Control != s || at.Position != p {
				t.Errorf("at %+v is %+v, %v", p, at, err)
			}
			if again := f.appendControl(t, s, after, ControlEvent(s, v)); again != p {
				t.Errorf("version %d of %s was stored at %+v, then at %+v", v, s, p, again)
			}
		}
	}
	f.wantControl(t, uint64(len(positions)))
	// Games and control events know nothing of each other.
	f.fill(t, Game("a"), 1)
	list, err := f.log.Streams(f.ctx)
	if err != nil || len(list) != 1 || list[0].Name != epoch.Stream() || list[0].LastSequence != 1 {
		t.Errorf("streams of games %+v, %v", list, err)
	}
	if e, err := f.log.Load(f.ctx, Game("a")); err != nil || !e.Control.IsZero() {
		t.Errorf("a game's event is %+v, %v", e, err)
	}
	f.wantControl(t, uint64(len(positions)))
}

func controlConflicts(t *testing.T, f fixture) {
	f.provisionControl(t)
	f.appendControl(t, daily, 0, ControlEvent(daily, 1))
	other := ControlEvent(daily, 1)
	other.ID, other.Data = "other", []byte("another one")
	_, err := f.log.AppendControl(f.ctx, daily, 0, other)
	only(t, "a second first event", err, eventlog.ErrConflict)
	f.wantControl(t, 1)
}

func controlOneWinner(t *testing.T, f fixture) {
	const starters, subjects = 8, 10
	for n := range subjects {
		subject := eventlog.DailySubject(fmt.Sprintf("2026-12-%02d", n+1), "classic")
		var wg sync.WaitGroup
		wins := make(chan string, starters)
		for w := range starters {
			wg.Go(func() {
				// Each starter makes the stream ready, as a replica does.
				if err := f.log.ProvisionControl(f.ctx); err != nil {
					t.Error(err)
					return
				}
				e := ControlEvent(subject, 1)
				e.ID = fmt.Sprintf("%s by %d", e.ID, w)
				if _, err := f.log.AppendControl(f.ctx, subject, 0, e); err != nil {
					only(t, fmt.Sprintf("starter %d", w), err, eventlog.ErrConflict)
					return
				}
				wins <- e.ID
			})
		}
		wg.Wait()
		close(wins)
		if len(wins) != 1 {
			t.Fatalf("%s has %d first writers", subject, len(wins))
		}
		if first, err := f.log.LoadControl(f.ctx, subject); err != nil || first.ID != <-wins {
			t.Errorf("the first event of %s is %+v, %v", subject, first, err)
		}
	}
	f.wantControl(t, subjects)
}

func controlTail(t *testing.T, f fixture) {
	f.provisionControl(t)
	subjects := []eventlog.ControlSubject{daily, player, game, tomorrow}
	f.appendControl(t, subjects[0], 0, ControlEvent(subjects[0], 1))
	n := 0
	for e := range f.follow(f.ctx, t, eventlog.ControlStream, 1) {
		s := subjects[n]
		if !equal(e.Event, ControlEvent(s, 1)) || e.Control != s || e.Position.Stream != eventlog.ControlStream || e.Position.Sequence != uint64(n+1) {
			t.Fatalf("event %d is %+v", n+1, e)
		}
		if n++; n == len(subjects) {
			break
		}
		f.appendControl(t, subjects[n], 0, ControlEvent(subjects[n], 1)) // while the tail waits
	}
	if n != len(subjects) {
		t.Errorf("saw %d events of %d", n, len(subjects))
	}
}

func controlMissing(t *testing.T, f fixture) {
	check := func(when string) {
		t.Helper()
		_, err := f.log.LoadControl(f.ctx, daily)
		only(t, when+": load", err, eventlog.ErrNotFound)
		_, err = f.log.LoadControl(f.ctx, eventlog.ControlSubject{})
		only(t, when+": load no subject", err, eventlog.ErrNotFound)
		_, err = f.log.AppendControl(f.ctx, eventlog.ControlSubject{}, 0, ControlEvent(daily, 1))
		only(t, when+": append to no subject", err, eventlog.ErrNotFound)
		_, err = f.log.Event(f.ctx, eventlog.ControlStream, 1)
		only(t, when+": event", err, eventlog.ErrNotFound)
	}
	check("no stream")
	_, err := f.log.AppendControl(f.ctx, daily, 0, ControlEvent(daily, 1))
	only(t, "append", err, eventlog.ErrNotFound)
	_, err = f.log.ControlInfo(f.ctx)
	only(t, "info", err, eventlog.ErrNotFound)
	only(t, "tail", end(t, f.log.Tail(f.ctx, eventlog.ControlStream, 1)), eventlog.ErrNotFound)
	f.provisionControl(t)
	check("an empty stream")
	f.wantControl(t, 0)
}

func controlProvisionTwice(t *testing.T, f fixture) {
	f.provisionControl(t)
	p := f.appendControl(t, daily, 0, ControlEvent(daily, 1))
	f.provisionControl(t)
	if e, err := f.log.LoadControl(f.ctx, daily); err != nil || e.Position != p {
		t.Errorf("%+v became %+v, %v", p, e.Position, err)
	}
	f.wantControl(t, 1)
}

func controlFull(t *testing.T, f fixture) {
	f.provisionControl(t)
	large := func(size int) eventlog.Event {
		e := ControlEvent(daily, 1)
		e.Data = make([]byte, size)
		return e
	}
	_, err := f.log.AppendControl(f.ctx, daily, 0, large(2<<20))
	only(t, "an event that is too large", err, eventlog.ErrTooLarge)
	f.appendControl(t, daily, 0, large(streamBytes/2))
	_, err = f.log.AppendControl(f.ctx, tomorrow, 0, large(streamBytes/2))
	only(t, "an event without room", err, eventlog.ErrFull)
	f.wantControl(t, 1)
}
