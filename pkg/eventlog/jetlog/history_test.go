package jetlog

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/eventlogtest"
)

// with returns a message with another header.
func with(m *nats.Msg, key, value string) *nats.Msg {
	header := nats.Header{}
	maps.Copy(header, m.Header)
	header[key] = []string{value}
	return &nats.Msg{Subject: m.Subject, Header: header, Data: m.Data}
}

// An answer that was cut or spoilt on the way is an error or is made good, and
// never looks like a shorter history.
func TestHistoryOfCutAnswers(t *testing.T) {
	const events = historyBatch + 4 // two requests
	l := provisioned(t, Config{ReadTimeout: 200 * time.Millisecond})
	game := eventlogtest.Game("a")
	fill(t, l, game, events)
	direct := l.conn
	notFound := &nats.Msg{Header: nats.Header{"Status": {"404"}, "Description": {"Message Not Found"}}}
	type answers = []*nats.Msg // of one request: its events and the end of the batch
	for name, cut := range map[string]func(a answers) answers{
		"the first event lost":             func(a answers) answers { return a[1:] },
		"an event in the middle lost":      func(a answers) answers { return slices.Delete(a, 2, 3) },
		"the last event lost":              func(a answers) answers { return slices.Delete(a, len(a)-2, len(a)-1) },
		"all events lost":                  func(a answers) answers { return a[len(a)-1:] },
		"the end lost":                     func(a answers) answers { return a[:len(a)-1] },
		"everything after the second lost": func(a answers) answers { return a[:2] },
		"no answer":                        func(answers) answers { return nil },
		"an event twice":                   func(a answers) answers { return slices.Insert(a, 1, a[1]) },
		"events in another order":          func(a answers) answers { a[0], a[1] = a[1], a[0]; return a },
		"not found in the middle":          func(a answers) answers { return append(slices.Clone(a[:2]), notFound) },
		"an event that announces nothing":  func(a answers) answers { a[1] = with(a[1], "Nats-Num-Pending", ""); return a },
		"an end that announces too few":    func(a answers) answers { a[len(a)-1] = with(a[len(a)-1], "Nats-Num-Pending", "0"); return a[:3:3] },
		"an end that announces nothing":    func(a answers) answers { a[len(a)-1] = with(a[len(a)-1], "Nats-Num-Pending", ""); return a },
		"an end of another kind":           func(a answers) answers { a[len(a)-1] = with(a[len(a)-1], "Status", "413"); return a },
		"an event without a sequence":      func(a answers) answers { a[1] = with(a[1], "Nats-Sequence", ""); return a },
		"an event without a time":          func(a answers) answers { a[1] = with(a[1], "Nats-Time-Stamp", ""); return a },
		"an event without an id":           func(a answers) answers { a[1] = with(a[1], headerEventID, ""); return a },
		"an event without a version":       func(a answers) answers { a[1] = with(a[1], headerVersion, ""); return a },
		"an event on no game's subject":    func(a answers) answers { a[1] = with(a[1], "Nats-Subject", "scoundrel.x"); return a },
		"an event of another game":         func(a answers) answers { a[1] = with(a[1], "Nats-Subject", eventlogtest.Game("b").Subject()); return a },
	} {
		for _, request := range []int{1, 2} {
			t.Run(name, func(t *testing.T) {
				n := 0
				l.conn = faults{conn: direct, onAnswers: func(a []*nats.Msg) []*nats.Msg {
					if n++; n == request {
						return cut(a)
					}
					return a
				}}
				var end error
				pairs := 0
				for e, err := range l.History(within(t), game, 1) {
					if end != nil {
						t.Fatal("something follows the error")
					}
					if end = err; err == nil {
						if pairs++; e.Game != game || !bytes.Equal(e.Data, eventlogtest.Event(game, uint64(pairs)).Data) {
							t.Fatalf("version %d is %+v", pairs, e)
						}
					}
				}
				known := errors.Is(end, eventlog.ErrUnavailable) || errors.Is(end, eventlog.ErrDamaged)
				if whole := end == nil && pairs == events; !known && !whole {
					t.Errorf("request %d: %d events of %d, then %v", request, pairs, events, end)
				}
			})
		}
	}
	// A replica that lags behind the one before answers the second request.
	t.Run("not found where more was announced", func(t *testing.T) {
		n := 0
		l.conn = faults{conn: direct, onAnswers: func(a []*nats.Msg) []*nats.Msg {
			if n++; n == 2 {
				return []*nats.Msg{notFound}
			}
			return a
		}}
		var end error
		for _, err := range l.History(within(t), game, 1) {
			end = err
		}
		if !errors.Is(end, eventlog.ErrUnavailable) {
			t.Errorf("a history of %d events of %d ended with %v", historyBatch, events, end)
		}
	})
}

// A history that is read while the game goes on is never taken for damaged.
func TestHistoryOfGameInPlay(t *testing.T) {
	l := provisioned(t, Config{})
	game := eventlogtest.Game("a")
	var writer sync.WaitGroup
	played := make(chan struct{})
	writer.Go(func() {
		defer close(played)
		fill(t, l, game, 2*historyBatch)
	})
	defer writer.Wait()
	for reading := true; reading; {
		select {
		case <-played:
			reading = false // once more, of the whole game
		default:
		}
		n := 0
		for e, err := range l.History(within(t), game, 1) {
			if n++; err != nil || e.Version != uint64(n) {
				t.Fatalf("version %d reads %+v, %v", n, e, err)
			}
		}
		if !reading && n != 2*historyBatch {
			t.Errorf("%d events of %d", n, 2*historyBatch)
		}
	}
}
