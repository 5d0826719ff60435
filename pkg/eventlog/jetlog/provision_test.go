package jetlog

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/eventlogtest"
)

// configOf returns the server's own word on a stream's settings, without what
// it adds about itself.
func configOf(t *testing.T, l *Log, name string) jetstream.StreamConfig {
	t.Helper()
	s, err := l.js.Stream(within(t), name)
	if err != nil {
		t.Fatal(err)
	}
	cfg := s.CachedInfo().Config
	maps.DeleteFunc(cfg.Metadata, func(k, _ string) bool { return strings.HasPrefix(k, "_nats.") })
	return cfg
}

// What Provision makes, setting by setting. A stored event outlives the program
// that wrote it: whoever changes a setting changes this test knowingly.
func TestStreamSettings(t *testing.T) {
	l := provisioned(t, Config{MaxBytes: 1 << 20})
	got := configOf(t, l, "SCOUNDREL_GAMES_26Q4")
	incarnation := got.Metadata["scoundrel.incarnation"]
	if len(incarnation) != 32 {
		t.Errorf("incarnation %q", incarnation)
	}
	want := jetstream.StreamConfig{
		Name:        "SCOUNDREL_GAMES_26Q4",
		Subjects:    []string{"scoundrel.game.v1.26q4.*.*"},
		Storage:     jetstream.FileStorage,
		Replicas:    1,
		Retention:   jetstream.LimitsPolicy,
		Discard:     jetstream.DiscardNew,
		MaxBytes:    1 << 20,
		MaxAge:      0,
		MaxMsgSize:  65536,
		AllowDirect: true,
		DenyDelete:  true,
		DenyPurge:   true,
		Duplicates:  2 * time.Minute,
		RePublish: &jetstream.RePublish{
			Source:      "scoundrel.game.v1.26q4.*.*",
			Destination: "scoundrel.live.v1.26q4.{{wildcard(1)}}.{{wildcard(2)}}",
		},
		Metadata: map[string]string{"scoundrel.schema": "1", "scoundrel.incarnation": incarnation},
		// How the server writes that there is no limit.
		MaxConsumers: -1, MaxMsgs: -1, MaxMsgsPerSubject: -1,
	}
	if !reflect.DeepEqual(got, want) {
		g, _ := json.MarshalIndent(got, "", " ")
		w, _ := json.MarshalIndent(want, "", " ")
		t.Errorf("the stream is\n%s\nwant\n%s", g, w)
	}
	if size := configOf(t, l, "SCOUNDREL_GAMES_26Q4").MaxBytes; size != 1<<20 {
		t.Errorf("max_bytes %d", size)
	}
}

// The control stream is as those of games are, but for its name and subjects,
// and is not published again: it is no player's to watch.
func TestControlStreamSettings(t *testing.T) {
	l := provisioned(t, Config{MaxBytes: 1 << 20})
	if err := l.ProvisionControl(within(t)); err != nil {
		t.Fatal(err)
	}
	got, want := configOf(t, l, "SCOUNDREL_CONTROL"), configOf(t, l, epoch.Stream())
	if len(got.Metadata["scoundrel.incarnation"]) != 32 || got.Metadata["scoundrel.incarnation"] == want.Metadata["scoundrel.incarnation"] {
		t.Errorf("metadata %v", got.Metadata)
	}
	want.Name, want.Subjects, want.RePublish, want.Metadata = "SCOUNDREL_CONTROL", []string{"scoundrel.control.v1.>"}, nil, got.Metadata
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the stream is\n%+v\nwant\n%+v", got, want)
	}
}

// A control stream that is not as it must be is used for nothing.
func TestControlDrift(t *testing.T) {
	l := newLog(t, start(t, EmbeddedConfig{RelaxedSync: true}).Conn(), Config{})
	cfg := l.controlConfig()
	cfg.Metadata = map[string]string{"scoundrel.schema": "1", "scoundrel.incarnation": "made by hand"}
	cfg.MaxMsgsPerSubject = 1 // would forget the first writer
	if _, err := l.js.CreateStream(within(t), cfg); err != nil {
		t.Fatal(err)
	}
	daily := eventlog.DailySubject("2026-12-01", "classic")
	for use, try := range map[string]func() error{
		"provision": func() error { return l.ProvisionControl(within(t)) },
		"append": func() error {
			_, err := l.AppendControl(within(t), daily, 0, eventlogtest.ControlEvent(daily, 1))
			return err
		},
		"load": func() error { _, err := l.LoadControl(within(t), daily); return err },
		"info": func() error { _, err := l.ControlInfo(within(t)); return err },
	} {
		if err := try(); !errors.Is(err, ErrDrift) || !strings.Contains(err.Error(), "max_msgs_per_subject") {
			t.Errorf("%s: %v", use, err)
		}
	}
}

// Stored events are published again for watchers, by game, and refused ones are
// not.
func TestLiveSubjects(t *testing.T) {
	l := provisioned(t, Config{})
	sub, err := l.js.Conn().SubscribeSync("scoundrel.live.v1.>")
	if err != nil {
		t.Fatal(err)
	}
	game := eventlogtest.Game("a")
	fill(t, l, game, 1)
	if _, err := l.Append(within(t), game, 0, other(game, 1)); !errors.Is(err, eventlog.ErrConflict) {
		t.Fatal(err)
	}
	if _, err := l.Append(within(t), game, 1, eventlogtest.Event(game, 2)); err != nil {
		t.Fatal(err)
	}
	for v := uint64(1); v <= 2; v++ {
		msg, err := sub.NextMsgWithContext(within(t))
		if err != nil {
			t.Fatal(err)
		}
		subject := strings.Replace(game.Subject(), "scoundrel.game.", "scoundrel.live.", 1)
		if msg.Subject != subject || msg.Header.Get("Sc-Event-Id") != eventlogtest.Event(game, v).ID {
			t.Errorf("version %d is published as %s %v", v, msg.Subject, msg.Header)
		}
	}
}

// Every setting that the log depends on is checked, whoever made the stream; a
// stream that is not as it must be is used for nothing, and never changed.
func TestDrift(t *testing.T) {
	e := start(t, EmbeddedConfig{RelaxedSync: true})
	maker := newLog(t, e.Conn(), Config{})
	quarter := 0
	for field, change := range map[string]func(c *jetstream.StreamConfig){
		"subjects": func(c *jetstream.StreamConfig) { c.Subjects = append(c.Subjects, "extra."+c.Name) },
		"subject_transform": func(c *jetstream.StreamConfig) {
			c.SubjectTransform = &jetstream.SubjectTransformConfig{Source: c.Subjects[0], Destination: strings.Replace(c.Subjects[0], "*.*", "{{wildcard(2)}}.{{wildcard(1)}}", 1)}
		},
		"mirror": func(c *jetstream.StreamConfig) {
			c.Mirror, c.Subjects, c.RePublish = &jetstream.StreamSource{Name: "ORIGIN"}, nil, nil
		},
		"sources":               func(c *jetstream.StreamConfig) { c.Sources = []*jetstream.StreamSource{{Name: "ORIGIN"}} },
		"storage":               func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage },
		"persist_mode":          func(c *jetstream.StreamConfig) { c.PersistMode = jetstream.AsyncPersistMode },
		"retention":             func(c *jetstream.StreamConfig) { c.Retention = jetstream.InterestPolicy },
		"discard":               func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardOld },
		"max_age":               func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour },
		"max_msgs":              func(c *jetstream.StreamConfig) { c.MaxMsgs = 1000 },
		"max_msgs_per_subject":  func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 1000 },
		"max_msg_size":          func(c *jetstream.StreamConfig) { c.MaxMsgSize = -1 },
		"allow_msg_ttl":         func(c *jetstream.StreamConfig) { c.AllowMsgTTL = true },
		"allow_direct":          func(c *jetstream.StreamConfig) { c.AllowDirect = false },
		"deny_delete":           func(c *jetstream.StreamConfig) { c.DenyDelete = false },
		"deny_purge":            func(c *jetstream.StreamConfig) { c.DenyPurge = false },
		"no_ack":                func(c *jetstream.StreamConfig) { c.NoAck = true },
		"republish":             func(c *jetstream.StreamConfig) { c.RePublish = nil },
		"scoundrel.schema":      func(c *jetstream.StreamConfig) { c.Metadata["scoundrel.schema"] = "2" },
		"scoundrel.incarnation": func(c *jetstream.StreamConfig) { delete(c.Metadata, "scoundrel.incarnation") },
	} {
		at := eventlog.EpochOf(time.Date(2030, time.Month(1+3*quarter), 1, 0, 0, 0, 0, time.UTC))
		quarter++
		t.Run(field, func(t *testing.T) {
			cfg := maker.streamConfig(at)
			cfg.Metadata = map[string]string{"scoundrel.schema": "1", "scoundrel.incarnation": "made by hand"}
			change(&cfg)
			if _, err := maker.js.CreateStream(within(t), cfg); err != nil {
				t.Fatal(err)
			}
			before := configOf(t, maker, cfg.Name)
			l := newLog(t, e.Conn(), Config{})
			game := eventlog.DeriveGameID(at, field)
			for use, try := range map[string]func() error{
				"provision": func() error { return l.Provision(within(t), at) },
				"append": func() error {
					_, err := l.Append(within(t), game, 0, eventlogtest.Event(game, 1))
					return err
				},
				"load":    func() error { _, err := l.Load(within(t), game); return err },
				"event":   func() error { _, err := l.Event(within(t), cfg.Name, 1); return err },
				"streams": func() error { _, err := l.Streams(within(t)); return err },
				"tail": func() error {
					for _, err := range l.Tail(within(t), cfg.Name, 1) {
						return err
					}
					return nil
				},
				"history": func() error {
					for _, err := range l.History(within(t), game, 1) {
						return err
					}
					return nil
				},
			} {
				// A stream without the subjects of games is not found by them.
				if use == "streams" && field == "mirror" {
					continue
				}
				if err := try(); !errors.Is(err, ErrDrift) || !strings.Contains(err.Error(), field) && use != "streams" {
					t.Errorf("%s: %v", use, err)
				}
			}
			if after := configOf(t, maker, cfg.Name); !reflect.DeepEqual(before, after) {
				t.Errorf("the stream was\n%+v\nand became\n%+v", before, after)
			}
		})
	}
}

// A stream of another program that has our subjects is not as it must be.
func TestSubjectsTaken(t *testing.T) {
	l := newLog(t, start(t, EmbeddedConfig{RelaxedSync: true}).Conn(), Config{})
	if _, err := l.js.CreateStream(within(t), jetstream.StreamConfig{Name: "ALL", Subjects: []string{"scoundrel.>"}}); err != nil {
		t.Fatal(err)
	}
	if err := l.Provision(within(t), epoch); !errors.Is(err, ErrDrift) {
		t.Error(err)
	}
}

// What an operator may choose is no drift.
func TestOperatorsChoices(t *testing.T) {
	l := provisioned(t, Config{})
	cfg := configOf(t, l, epoch.Stream())
	cfg.MaxBytes, cfg.Description, cfg.Compression = 1<<30, "games of a quarter", jetstream.S2Compression
	if _, err := l.js.UpdateStream(within(t), cfg); err != nil {
		t.Fatal(err)
	}
	again := newLog(t, l.js.Conn(), Config{})
	provision(t, again)
	fill(t, again, eventlogtest.Game("a"), 1)
}

// Instances that start at once agree on one stream.
func TestProvisionAtOnce(t *testing.T) {
	e := start(t, EmbeddedConfig{RelaxedSync: true, Host: "127.0.0.1", Port: -1})
	var starters sync.WaitGroup
	logs := make([]*Log, 5)
	for i := range logs {
		logs[i] = newLog(t, dial(t, e.ClientURL()), Config{})
	}
	for _, l := range logs {
		starters.Go(func() {
			if err := l.Provision(within(t), epoch); err != nil {
				t.Error(err)
			}
		})
	}
	starters.Wait()
	incarnations := map[string]bool{}
	for i, l := range logs {
		game := eventlogtest.Game(string(rune('a' + i)))
		incarnations[fill(t, l, game, 1)[0].Incarnation] = true
	}
	if n := lastSequence(t, logs[0]); len(incarnations) != 1 || n != uint64(len(logs)) {
		t.Errorf("%d events in incarnations %v", n, incarnations)
	}
}

// A full stream refuses what is new, keeps what it has, and still answers for
// what it has stored.
func TestFullStream(t *testing.T) {
	l := provisioned(t, Config{MaxBytes: 4 << 10})
	game := eventlogtest.Game("a")
	var after eventlog.Revision
	version := uint64(0)
	for {
		p, err := l.Append(within(t), game, after, eventlogtest.Event(game, version+1))
		if errors.Is(err, eventlog.ErrFull) {
			break
		}
		if err != nil || version > 100 {
			t.Fatalf("version %d: %v", version+1, err)
		}
		after, version = eventlog.Revision(p.Sequence), version+1
	}
	if version == 0 {
		t.Fatal("nothing was stored")
	}
	if p, err := l.Append(within(t), game, after-1, eventlogtest.Event(game, version)); err != nil || p.Sequence != uint64(after) {
		t.Errorf("the last event again: %+v, %v", p, err)
	}
	if _, err := l.Append(within(t), game, after-1, other(game, version)); !errors.Is(err, eventlog.ErrConflict) {
		t.Errorf("another event in its place: %v", err)
	}
	n := uint64(0)
	for e, err := range l.History(within(t), game, 1) {
		if n++; err != nil || e.Version != n {
			t.Fatalf("version %d reads %+v, %v", n, e, err)
		}
	}
	if n != version {
		t.Errorf("%d events of %d", n, version)
	}
}
