// Package jetlog keeps the event log in NATS JetStream: one stream per epoch,
// one subject per game, one message per event.
package jetlog

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
)

// Headers of a stored event. They are for tools that read the log; all but the
// event id and the version stand in the record too.
const (
	headerEventID   = "Sc-Event-Id"
	headerVersion   = "Sc-Version"
	headerType      = "Sc-Type"
	headerRequestID = "Sc-Request-Id"
	headerSchema    = "Sc-Schema"
)

// schema is the version of what is stored: subjects, headers, records.
const schema = "1"

// Metadata keys of a stream.
const (
	metadataSchema      = "scoundrel.schema"
	metadataIncarnation = "scoundrel.incarnation"
)

// maxMessageBytes bounds headers and payload of one event.
const maxMessageBytes = 64 << 10

// ErrDrift: a stream is there, but not as this program needs it.
var ErrDrift = errors.New("the stream's configuration is not as it must be")

// Config is how a log uses JetStream. Zero values give the defaults.
type Config struct {
	// Replicas of a new stream; 1 if 0.
	Replicas int
	// MaxBytes of a new stream; unlimited if 0.
	MaxBytes int64
	// AppendTimeout bounds an append, within the caller's deadline; 5 s if 0.
	AppendTimeout time.Duration
	// AttemptTimeout is how long an append waits for one acknowledgement; 2 s
	// if 0.
	AttemptTimeout time.Duration
	// ReadTimeout bounds a read, within the caller's deadline; 5 s if 0.
	ReadTimeout time.Duration
}

// Log is an event log in JetStream.
type Log struct {
	cfg  Config
	conn conn
	js   jetstream.JetStream

	mu           sync.Mutex
	incarnations map[string]string // by stream, of those seen to be as they must
}

// conn is what the log sends its own requests through; tests put faults in.
type conn interface {
	publish(ctx context.Context, msg *nats.Msg) (*nats.Msg, error)
	request(ctx context.Context, subject string, data []byte) (*nats.Msg, error)
	requestMany(ctx context.Context, subject string, data []byte, yield func(*nats.Msg) (more bool, err error)) error
}

// New returns a log over a connection, which stays the caller's. It does not
// need the server to be there yet.
func New(nc *nats.Conn, cfg Config) (*Log, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("use JetStream: %w", err)
	}
	for _, d := range []struct {
		v *time.Duration
		d time.Duration
	}{{&cfg.AppendTimeout, 5 * time.Second}, {&cfg.AttemptTimeout, 2 * time.Second}, {&cfg.ReadTimeout, 5 * time.Second}} {
		if *d.v == 0 {
			*d.v = d.d
		}
	}
	cfg.Replicas = max(cfg.Replicas, 1)
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = -1
	}
	return &Log{cfg: cfg, conn: natsConn{nc}, js: js, incarnations: map[string]string{}}, nil
}

// streamConfig is how the stream of an epoch must be.
func (l *Log) streamConfig(epoch eventlog.Epoch) jetstream.StreamConfig {
	subjects := eventlog.SubjectPrefix + string(epoch) + ".*.*"
	return jetstream.StreamConfig{
		Name:       epoch.Stream(),
		Subjects:   []string{subjects},
		Storage:    jetstream.FileStorage,
		Replicas:   l.cfg.Replicas,
		Retention:  jetstream.LimitsPolicy,
		Discard:    jetstream.DiscardNew,
		MaxBytes:   l.cfg.MaxBytes,
		MaxMsgSize: maxMessageBytes,
		// Never an age: it would eat the head of a long game.
		MaxAge:      0,
		Duplicates:  2 * time.Minute,
		AllowDirect: true,
		DenyDelete:  true,
		DenyPurge:   true,
		RePublish: &jetstream.RePublish{
			Source:      subjects,
			Destination: "scoundrel.live.v1." + string(epoch) + ".{{wildcard(1)}}.{{wildcard(2)}}",
		},
	}
}

// Provision implements eventlog.Log. A stream that is not as it must be is
// ErrDrift. Any number of instances may provision at once.
func (l *Log) Provision(ctx context.Context, epoch eventlog.Epoch) error {
	var id [16]byte
	rand.Read(id[:])
	cfg := l.streamConfig(epoch)
	cfg.Metadata = map[string]string{metadataSchema: schema, metadataIncarnation: hex.EncodeToString(id[:])}
	_, err := l.incarnation(ctx, cfg.Name)
	if !errors.Is(err, eventlog.ErrNotFound) {
		return err
	}
	// Not an update: that would change a stream which another instance has just
	// created. Whoever comes second is told that the name is in use.
	_, err = l.js.CreateStream(ctx, cfg)
	if err != nil && !isCode(err, jetstream.JSErrCodeStreamNameInUse) {
		return fmt.Errorf("%w: create stream %s: %w", eventlog.ErrUnavailable, cfg.Name, err)
	}
	_, err = l.incarnation(ctx, cfg.Name)
	return err
}

// incarnation returns that of a stream, which it checks when it first meets it.
func (l *Log) incarnation(ctx context.Context, stream string) (string, error) {
	l.mu.Lock()
	known := l.incarnations[stream]
	l.mu.Unlock()
	if known != "" {
		return known, nil
	}
	ctx, cancel := context.WithTimeout(ctx, l.cfg.ReadTimeout)
	defer cancel()
	s, err := l.js.Stream(ctx, stream)
	if err != nil {
		return "", readError(err, "stream "+stream)
	}
	return l.meet(s.CachedInfo())
}

// meet checks a stream's configuration and remembers its incarnation.
func (l *Log) meet(info *jetstream.StreamInfo) (string, error) {
	got, epoch := info.Config, eventlog.Epoch(strings.ToLower(strings.TrimPrefix(info.Config.Name, eventlog.StreamPrefix)))
	want := l.streamConfig(epoch)
	for _, check := range []struct {
		field string
		ok    bool
	}{
		{"subjects", slices.Equal(got.Subjects, want.Subjects)},
		{"storage", got.Storage == want.Storage},
		{"retention", got.Retention == want.Retention},
		{"discard", got.Discard == want.Discard},
		{"max_age", got.MaxAge == 0},
		{"max_msgs", got.MaxMsgs <= 0 && got.MaxMsgsPerSubject <= 0},
		{"max_msg_size", got.MaxMsgSize == want.MaxMsgSize},
		{"allow_direct", got.AllowDirect},
		{"deny_delete", got.DenyDelete},
		{"deny_purge", got.DenyPurge},
		{"no_ack", !got.NoAck},
		{"republish", got.RePublish != nil && *got.RePublish == *want.RePublish},
		{"metadata " + metadataSchema, got.Metadata[metadataSchema] == schema},
		{"metadata " + metadataIncarnation, got.Metadata[metadataIncarnation] != ""},
	} {
		if !check.ok {
			return "", fmt.Errorf("%w: %s of %s", ErrDrift, check.field, got.Name)
		}
	}
	incarnation := got.Metadata[metadataIncarnation]
	l.mu.Lock()
	l.incarnations[got.Name] = incarnation
	l.mu.Unlock()
	return incarnation, nil
}

// Streams implements eventlog.Log.
func (l *Log) Streams(ctx context.Context) ([]eventlog.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.ReadTimeout)
	defer cancel()
	var list []eventlog.StreamInfo
	lister := l.js.ListStreams(ctx)
	for info := range lister.Info() {
		if !strings.HasPrefix(info.Config.Name, eventlog.StreamPrefix) {
			continue
		}
		incarnation, err := l.meet(info)
		if err != nil {
			return nil, err
		}
		list = append(list, eventlog.StreamInfo{
			Name: info.Config.Name, Incarnation: incarnation,
			FirstSequence: max(info.State.FirstSeq, 1), LastSequence: info.State.LastSeq,
		})
	}
	if err := lister.Err(); err != nil {
		return nil, readError(err, "the streams")
	}
	slices.SortFunc(list, func(a, b eventlog.StreamInfo) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// Ready implements eventlog.Log: JetStream answers for this account.
func (l *Log) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.ReadTimeout)
	defer cancel()
	if _, err := l.js.AccountInfo(ctx); err != nil {
		return readError(err, "JetStream")
	}
	return nil
}

// Load implements eventlog.Log.
func (l *Log) Load(ctx context.Context, game eventlog.GameID) (eventlog.Stored, error) {
	return l.leaderGet(ctx, game.Epoch().Stream(), map[string]any{"last_by_subj": game.Subject()})
}

// Event implements eventlog.Log.
func (l *Log) Event(ctx context.Context, stream string, sequence uint64) (eventlog.Stored, error) {
	if sequence == 0 {
		return eventlog.Stored{}, fmt.Errorf("%w: %s sequence 0", eventlog.ErrNotFound, stream)
	}
	return l.leaderGet(ctx, stream, map[string]any{"seq": sequence})
}

// leaderGet reads one message through the stream's leader. The client library
// would ask any replica, since the stream allows that, and a replica may not
// know of what was acknowledged a moment ago.
func (l *Log) leaderGet(ctx context.Context, stream string, query map[string]any) (eventlog.Stored, error) {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.ReadTimeout)
	defer cancel()
	incarnation, err := l.incarnation(ctx, stream)
	if err != nil {
		return eventlog.Stored{}, err
	}
	data, err := json.Marshal(query)
	if err != nil {
		return eventlog.Stored{}, fmt.Errorf("encode a read: %w", err)
	}
	msg, err := l.conn.request(ctx, "$JS.API.STREAM.MSG.GET."+stream, data)
	if err != nil {
		return eventlog.Stored{}, readError(err, "stream "+stream)
	}
	var res struct {
		Error   *jetstream.APIError
		Message *struct {
			Subject string
			Seq     uint64
			Hdrs    []byte
			Data    []byte
			Time    time.Time
		}
	}
	if err := json.Unmarshal(msg.Data, &res); err != nil {
		return eventlog.Stored{}, fmt.Errorf("%w: an answer of %s: %w", eventlog.ErrDamaged, stream, err)
	}
	if res.Error != nil {
		return eventlog.Stored{}, readError(res.Error, "stream "+stream)
	}
	if res.Message == nil {
		return eventlog.Stored{}, fmt.Errorf("%w: an empty answer of %s", eventlog.ErrDamaged, stream)
	}
	header, err := nats.DecodeHeadersMsg(res.Message.Hdrs)
	if err != nil {
		return eventlog.Stored{}, fmt.Errorf("%w: headers of %s sequence %d: %w", eventlog.ErrDamaged, stream, res.Message.Seq, err)
	}
	p := eventlog.Position{Stream: stream, Incarnation: incarnation, Sequence: res.Message.Seq}
	return storedEvent(res.Message.Subject, header, res.Message.Data, p, res.Message.Time)
}

// storedEvent reads a message of the log.
func storedEvent(subject string, header nats.Header, data []byte, p eventlog.Position, at time.Time) (eventlog.Stored, error) {
	game, err := eventlog.ParseGameID(strings.ReplaceAll(strings.TrimPrefix(subject, eventlog.SubjectPrefix), ".", "-"))
	if err != nil {
		return eventlog.Stored{}, fmt.Errorf("%w: subject %s at %s sequence %d: %w", eventlog.ErrDamaged, subject, p.Stream, p.Sequence, err)
	}
	version, err := strconv.ParseUint(header.Get(headerVersion), 10, 64)
	if err != nil || version == 0 || header.Get(headerEventID) == "" {
		return eventlog.Stored{}, fmt.Errorf("%w: no event id or version at %s sequence %d", eventlog.ErrDamaged, p.Stream, p.Sequence)
	}
	return eventlog.Stored{
		Event: eventlog.Event{
			ID: header.Get(headerEventID), Version: version, Type: header.Get(headerType),
			RequestID: header.Get(headerRequestID), Data: data,
		},
		Game: game, Position: p, StoredAt: at,
	}, nil
}

// readError maps an error of a read.
func readError(err error, what string) error {
	switch {
	case isCode(err, jetstream.JSErrCodeMessageNotFound), isCode(err, jetstream.JSErrCodeStreamNotFound),
		errors.Is(err, jetstream.ErrMsgNotFound), errors.Is(err, jetstream.ErrStreamNotFound):
		return fmt.Errorf("%w: %s", eventlog.ErrNotFound, what)
	}
	return fmt.Errorf("%w: %s: %w", eventlog.ErrUnavailable, what, err)
}

// isCode tells whether err is an answer of JetStream with that code.
func isCode(err error, code jetstream.ErrorCode) bool {
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		return api.ErrorCode == code
	}
	js, ok := errors.AsType[jetstream.JetStreamError](err)
	return ok && js.APIError() != nil && js.APIError().ErrorCode == code
}
