package jetlog

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
)

// ErrDrift is the error of a stream that is there, but not as this program needs
// it. Somebody must look at it: the program changes no stream.
var ErrDrift = errors.New("the stream is not configured as it must be")

// schema is the version of what is stored: subjects, headers, records.
const schema = "1"

// Metadata keys of a stream.
const (
	metadataSchema      = "scoundrel.schema"
	metadataIncarnation = "scoundrel.incarnation"
)

// livePrefix starts the subjects on which stored events are published again.
const livePrefix = "scoundrel.live.v1."

// maxMessageBytes bounds headers and payload of one event.
const maxMessageBytes = 64 << 10

// codeSubjectsOverlap is the answer to a new stream whose subjects another one
// has.
const codeSubjectsOverlap jetstream.ErrorCode = 10065

// streamConfig is how the stream of an epoch must be.
func (l *Log) streamConfig(epoch eventlog.Epoch) jetstream.StreamConfig {
	subjects := eventlog.SubjectPrefix + string(epoch) + ".*.*"
	return jetstream.StreamConfig{
		Name:      epoch.Stream(),
		Subjects:  []string{subjects},
		Storage:   jetstream.FileStorage,
		Replicas:  l.cfg.Replicas,
		Retention: jetstream.LimitsPolicy,
		// A full stream refuses what is new; it never drops what is old.
		Discard:  jetstream.DiscardNew,
		MaxBytes: l.cfg.MaxBytes,
		// Never an age: it would eat the head of a long game.
		MaxAge:      0,
		MaxMsgs:     -1,
		MaxMsgSize:  maxMessageBytes,
		AllowDirect: true,
		DenyDelete:  true,
		DenyPurge:   true,
		Duplicates:  2 * time.Minute,
		// Watchers listen here. A subscription to the stream's own subjects
		// would also see what the stream refused.
		RePublish: &jetstream.RePublish{
			Source:      subjects,
			Destination: livePrefix + string(epoch) + ".{{wildcard(1)}}.{{wildcard(2)}}",
		},
	}
}

// controlConfig is how the control stream must be: as a stream of games is, but
// for its subjects, which nobody watches.
func (l *Log) controlConfig() jetstream.StreamConfig {
	cfg := l.streamConfig("")
	cfg.Name, cfg.Subjects, cfg.RePublish = eventlog.ControlStream, []string{eventlog.ControlPrefix + ">"}, nil
	return cfg
}

// configOf returns how the stream of that name must be, or false if it is none
// of the log's.
func (l *Log) configOf(name string) (jetstream.StreamConfig, bool) {
	if name == eventlog.ControlStream {
		return l.controlConfig(), true
	}
	epoch, ok := eventlog.StreamEpoch(name)
	return l.streamConfig(epoch), ok
}

// ProvisionControl implements eventlog.Log. ErrDrift where the stream is not as
// it must be.
func (l *Log) ProvisionControl(ctx context.Context) error {
	return l.provision(ctx, l.controlConfig())
}

// Provision implements eventlog.Log. ErrDrift where the stream is not as it
// must be.
func (l *Log) Provision(ctx context.Context, epoch eventlog.Epoch) error {
	if _, ok := eventlog.StreamEpoch(epoch.Stream()); !ok {
		return fmt.Errorf("provision: %q is not an epoch", epoch)
	}
	return l.provision(ctx, l.streamConfig(epoch))
}

func (l *Log) provision(ctx context.Context, cfg jetstream.StreamConfig) error {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.ReadTimeout)
	defer cancel()
	created := false
	for {
		err := l.lookBriefly(ctx, cfg.Name)
		switch {
		case errors.Is(err, eventlog.ErrNotFound) && !created:
			if err := l.create(ctx, cfg); err != nil {
				return err
			}
			created = true
			continue
		case errors.Is(err, eventlog.ErrNotFound), errors.Is(err, errNoLeader), errors.Is(err, context.DeadlineExceeded):
			// A new stream with replicas takes a moment to be there for all, and
			// may have nobody to answer for it until then.
		default:
			return err
		}
		if over := l.pause(ctx, provisionPause); over != nil {
			return fmt.Errorf("%w: provision %s: %s: %w", eventlog.ErrUnavailable, cfg.Name, err.Error(), over)
		}
	}
}

// While a stream is being created, these are how long to wait for an answer and
// then before asking again.
const (
	provisionLook  = 250 * time.Millisecond
	provisionPause = 20 * time.Millisecond
)

func (l *Log) lookBriefly(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, provisionLook)
	defer cancel()
	_, err := l.look(ctx, name)
	return err
}

// create creates a stream, unless somebody else just did.
func (l *Log) create(ctx context.Context, cfg jetstream.StreamConfig) error {
	// Incarnations differ, so that only one of those who create at once does:
	// the others are told that the name is in use, and the stream stays as it is.
	var id [16]byte
	rand.Read(id[:])
	cfg.Metadata = map[string]string{metadataSchema: schema, metadataIncarnation: hex.EncodeToString(id[:])}
	err := l.call(ctx, "STREAM.CREATE."+cfg.Name, cfg, &apiAnswer{})
	switch {
	case err == nil, isCode(err, jetstream.JSErrCodeStreamNameInUse):
		return nil
	case isCode(err, codeSubjectsOverlap):
		return fmt.Errorf("%w: another stream has the subjects of %s: %s", ErrDrift, cfg.Name, err.Error())
	}
	return fmt.Errorf("create stream %s: %w", cfg.Name, err)
}

// check compares a stream's configuration with what it must be. What only costs
// or protects more, such as the number of replicas or the room, is the
// operator's to choose.
func (l *Log) check(got *jetstream.StreamConfig) error {
	want, ok := l.configOf(got.Name)
	if !ok {
		return fmt.Errorf("%w: %q is not the name of a stream of this log", ErrDrift, got.Name)
	}
	var drifted []string
	for _, f := range []struct {
		name string
		ok   bool
	}{
		{"subjects", slices.Equal(got.Subjects, want.Subjects)},
		{"subject_transform", got.SubjectTransform == nil},
		{"mirror", got.Mirror == nil},
		{"sources", len(got.Sources) == 0},
		{"storage", got.Storage == want.Storage},
		{"persist_mode", got.PersistMode == want.PersistMode},
		{"retention", got.Retention == want.Retention},
		{"discard", got.Discard == want.Discard},
		{"max_age", got.MaxAge == 0},
		{"max_msgs", got.MaxMsgs <= 0},
		{"max_msgs_per_subject", got.MaxMsgsPerSubject <= 0},
		{"max_msg_size", got.MaxMsgSize == want.MaxMsgSize},
		{"allow_msg_ttl", !got.AllowMsgTTL},
		{"allow_direct", got.AllowDirect},
		{"deny_delete", got.DenyDelete},
		{"deny_purge", got.DenyPurge},
		{"no_ack", !got.NoAck},
		{"republish", reflect.DeepEqual(got.RePublish, want.RePublish)},
		{"metadata " + metadataSchema, got.Metadata[metadataSchema] == schema},
		{"metadata " + metadataIncarnation, got.Metadata[metadataIncarnation] != ""},
	} {
		if !f.ok {
			drifted = append(drifted, f.name)
		}
	}
	if drifted != nil {
		return fmt.Errorf("%w: %s: %s", ErrDrift, got.Name, strings.Join(drifted, ", "))
	}
	return nil
}
