package projection_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/pkg/record"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/projectiontest"
)

// moderate hides a player or a game, or shows it again.
func (w *world) moderate(m record.Moderation) {
	w.t.Helper()
	m.Reason, m.ModeratorID, m.At = "why", "mod", time.Now()
	if _, _, changed, err := record.Moderate(w.t.Context(), w.log, m); err != nil || !changed {
		w.t.Fatal(changed, err)
	}
}

func (w *world) erase(player string, before time.Time) {
	w.t.Helper()
	_, err := record.Erase(w.t.Context(), w.log, record.Erasure{PlayerID: player, At: before})
	must(w.t, err)
}

// TestDecisionsAreProjected hides and erases before and after the games come, in
// one database and in another that is filled afterwards.
func TestDecisionsAreProjected(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		hidden := projectiontest.Hidden{Players: map[string]bool{}, Games: map[string]bool{}, Erased: map[string]time.Time{}}
		check := func() {
			t.Helper()
			synctest.Wait()
			time.Sleep(10 * time.Second) // the control stream may be new
			synctest.Wait()
			projectiontest.CheckModerated(t, w.store, w.played, hidden)
		}
		w.finishMany(20)
		p, stop := w.start(w.log, w.store, "a")
		check()

		w.moderate(record.Moderation{PlayerID: "p1", Hidden: true})
		w.moderate(record.Moderation{PlayerID: "late", Hidden: true})
		hidden.Players["p1"], hidden.Players["late"] = true, true
		check()
		game, err := eventlog.ParseGameID(w.played[0].GameID)
		must(t, err)
		w.moderate(record.Moderation{Game: game, Hidden: true})
		hidden.Games[game.String()] = true
		w.finish(projectiontest.NewGame("late", "classic", 9, 40))
		check()
		w.erase("p2", projectiontest.Start.Add(time.Nanosecond))
		w.erase("p3", projectiontest.Start) // nothing of p3's is older
		hidden.Erased["p2"], hidden.Erased["p3"] = projectiontest.Start.Add(time.Nanosecond), projectiontest.Start
		w.finish(projectiontest.NewGame("p2", "classic", 11, 40)) // it has started before
		again := projectiontest.NewGame("p2", "classic", 3, 40)
		again.StartedAt, again.EndedAt = again.StartedAt.Add(time.Hour), again.EndedAt.Add(time.Hour)
		w.finish(again)
		check()
		w.moderate(record.Moderation{PlayerID: "p1"})
		hidden.Players["p1"] = false
		check()
		must(t, p.Problem())
		stop()

		before := projectiontest.Hash(t, w.store)
		must(t, w.store.Close())
		w.path += "2"
		w.store = w.open()
		w.start(w.log, w.store, "a")
		check()
		if projectiontest.Hash(t, w.store) != before {
			t.Error("another database shows something else")
		}
	})
}

// TestNothingIsShownBeforeTheDecisions fills an empty database from a log whose
// control stream cannot be read: what it hides must not be seen.
func TestNothingIsShownBeforeTheDecisions(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.finishMany(5)
		w.moderate(record.Moderation{PlayerID: w.played[0].PlayerID, Hidden: true})
		log := &faultyLog{Log: w.log, tail: func(r eventlog.Stored) (eventlog.Stored, error) {
			if !r.Control.IsZero() {
				return r, eventlog.ErrUnavailable
			}
			return r, nil
		}}
		p, stop := w.start(log, w.store, "a")
		time.Sleep(time.Minute)
		if err := p.Problem(); !errors.Is(err, eventlog.ErrUnavailable) {
			t.Errorf("problem %v", err)
		}
		projectiontest.CheckBoards(t, w.store, nil)
		stop()
		p, _ = w.start(w.log, w.store, "a")
		synctest.Wait()
		must(t, p.Problem())
		projectiontest.CheckModerated(t, w.store, w.played, projectiontest.Hidden{Players: map[string]bool{w.played[0].PlayerID: true}})
	})
}

// TestABadDecisionStopsTheLine: it is not parked, since nobody may miss it, and what
// is there stays.
func TestABadDecisionStopsTheLine(t *testing.T) {
	for name, spoil := range map[string]func(r *eventlog.Stored){
		"malformed":        func(r *eventlog.Stored) { r.Data = []byte{0xff} },
		"refused by store": nil,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.finishMany(5)
				w.moderate(record.Moderation{PlayerID: "mallory", Hidden: true})
				log := &faultyLog{Log: w.log}
				var store projection.Store = w.store
				refuse := func(steps []projection.Step, commit func() error) error {
					for _, s := range steps {
						if s.Moderation != nil && s.Moderation.PlayerID == "p1" {
							return projection.ErrRejected
						}
					}
					return commit()
				}
				if spoil == nil {
					store = &faultyStore{Store: w.store, commit: refuse}
				} else {
					change := func(r eventlog.Stored) (eventlog.Stored, error) {
						if !r.Control.IsZero() && r.Position.Sequence == 2 {
							spoil(&r)
						}
						return r, nil
					}
					log.tail, log.event = change, change
				}
				p, _ := w.start(log, store, "a")
				time.Sleep(10 * time.Second)
				must(t, p.Problem())
				w.moderate(record.Moderation{PlayerID: "p1", Hidden: true})
				w.finishMany(3)
				time.Sleep(time.Minute)
				if err := p.Problem(); err == nil {
					t.Error("nobody is told")
				}
				if at, _ := p.Checkpoint(eventlog.ControlStream); at.Sequence != 1 {
					t.Errorf("went on to %d", at.Sequence)
				}
				projectiontest.CheckBoards(t, w.store, w.played)
				if parked, err := w.store.Parked(t.Context()); err != nil || len(parked) != 0 {
					t.Errorf("parked %v, %v", parked, err)
				}
			})
		})
	}
}
