// Package jetlog keeps the event log in NATS JetStream: one stream per epoch,
// one subject per game, one message per event; and one control stream.
//
// [StartEmbedded] runs a server in this process, [Connect] connects to one that
// runs elsewhere, and [New] makes a log of either connection. README.md in the
// folder above tells what is promised and how.
package jetlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
)

// Headers of a stored event. They are for tools that read the log; all of them
// stand in the record too.
const (
	headerEventID     = "Sc-Event-Id"
	headerVersion     = "Sc-Version"
	headerType        = "Sc-Type"
	headerRequestID   = "Sc-Request-Id"
	headerSchema      = "Sc-Schema"
	headerContentType = "Content-Type"
)

// contentType is that of every record.
const contentType = "application/x-protobuf"

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

	mu      sync.Mutex
	streams map[string]*stream // those that were seen to be as they must
	newest  string             // the last name among those ever seen
}

// subject is what events follow each other in: a game or a control subject.
type subject struct {
	name   string // in JetStream
	stream string // that holds it
	what   string // for errors
}

func gameSubject(game eventlog.GameID) subject {
	return subject{game.Subject(), game.Epoch().Stream(), "game " + game.String()}
}

func controlSubject(s eventlog.ControlSubject) subject {
	of := subject{name: s.String(), what: "control subject " + s.String()}
	if !s.IsZero() { // else it is in no stream
		of.stream = eventlog.ControlStream
	}
	return of
}

// stream is a stream that was seen to be as it must.
type stream struct {
	name        string
	incarnation string
	replicas    int
	// acknowledged is the highest sequence that an append has returned. A lower
	// one for a later append means that this is not the same stream any more.
	acknowledged atomic.Uint64
}

// at returns a position in the stream.
func (s *stream) at(sequence uint64) eventlog.Position {
	return eventlog.Position{Stream: s.name, Incarnation: s.incarnation, Sequence: sequence}
}

// New returns a log over a connection, which stays the caller's. It does not
// need the server to be there yet.
func New(nc *nats.Conn, cfg Config) (*Log, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("use JetStream: %w", err)
	}
	if cfg.Replicas == 0 {
		cfg.Replicas = 1
	}
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = -1
	}
	if cfg.AppendTimeout == 0 {
		cfg.AppendTimeout = 5 * time.Second
	}
	if cfg.AttemptTimeout == 0 {
		cfg.AttemptTimeout = 2 * time.Second
	}
	if cfg.ReadTimeout == 0 {
		cfg.ReadTimeout = 5 * time.Second
	}
	return &Log{cfg: cfg, conn: natsConn{nc}, js: js, streams: map[string]*stream{}}, nil
}

// stream returns a stream as it was when it was last looked at; the first time
// it looks.
func (l *Log) stream(ctx context.Context, name string) (*stream, error) {
	l.mu.Lock()
	s := l.streams[name]
	l.mu.Unlock()
	if s != nil {
		return s, nil
	}
	return l.look(ctx, name)
}

// look asks the leader of a stream how the stream is, and remembers it.
func (l *Log) look(ctx context.Context, name string) (*stream, error) {
	s, _, err := l.inspect(ctx, name)
	return s, err
}

// inspect is look, and tells what the stream holds.
func (l *Log) inspect(ctx context.Context, name string) (*stream, jetstream.StreamState, error) {
	if _, ok := l.configOf(name); !ok {
		return nil, jetstream.StreamState{}, fmt.Errorf("%w: stream %q is not one of this log", eventlog.ErrNotFound, name)
	}
	var res struct {
		apiAnswer
		jetstream.StreamInfo
	}
	if err := l.call(ctx, "STREAM.INFO."+name, nil, &res); err != nil {
		if errors.Is(err, eventlog.ErrNotFound) {
			l.forget(name)
		}
		return nil, res.State, err
	}
	if res.Cluster != nil && res.Cluster.Leader == "" {
		return nil, res.State, fmt.Errorf("%w: stream %s: %w", eventlog.ErrUnavailable, name, errNoLeader)
	}
	s, err := l.meet(&res.Config)
	return s, res.State, err
}

// errNoLeader is the error of a replicated stream that elects its leader.
var errNoLeader = errors.New("no leader")

// meet checks the configuration of a stream and remembers the stream.
func (l *Log) meet(cfg *jetstream.StreamConfig) (*stream, error) {
	if err := l.check(cfg); err != nil {
		l.forget(cfg.Name)
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.streams[cfg.Name]
	if incarnation := cfg.Metadata[metadataIncarnation]; s == nil || s.incarnation != incarnation {
		s = &stream{name: cfg.Name, incarnation: incarnation, replicas: cfg.Replicas}
		l.streams[cfg.Name] = s
	}
	l.newest = max(l.newest, cfg.Name)
	return s, nil
}

// forget makes the next use of a stream look at it anew.
func (l *Log) forget(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.streams, name)
}

// apiAnswer is what every answer of the JetStream API may hold.
type apiAnswer struct {
	Error *jetstream.APIError `json:"error"`
}

func (a *apiAnswer) failure() *jetstream.APIError { return a.Error }

// call sends a request to the JetStream API, within the time of a read, and
// decodes the answer into res. The client library has calls for this; they ask
// any replica where ours must ask the leader, and hide what a list lacks.
func (l *Log) call(ctx context.Context, subject string, req any, res interface{ failure() *jetstream.APIError }) error {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.ReadTimeout)
	defer cancel()
	var data []byte
	if req != nil {
		var err error
		if data, err = json.Marshal(req); err != nil {
			return fmt.Errorf("encode a request to %s: %w", subject, err)
		}
	}
	msg, err := l.conn.request(ctx, "$JS.API."+subject, data)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", eventlog.ErrUnavailable, subject, err)
	}
	if err := json.Unmarshal(msg.Data, res); err != nil {
		return fmt.Errorf("%w: the answer of %s: %w", eventlog.ErrDamaged, subject, err)
	}
	failure := res.failure()
	if failure == nil {
		return nil
	}
	switch failure.ErrorCode {
	case jetstream.JSErrCodeMessageNotFound, jetstream.JSErrCodeStreamNotFound:
		return fmt.Errorf("%w: %s: %w", eventlog.ErrNotFound, subject, failure)
	}
	return fmt.Errorf("%w: %s: %w", eventlog.ErrUnavailable, subject, failure)
}

// isCode tells whether err is an answer of JetStream with one of these codes.
func isCode(err error, codes ...jetstream.ErrorCode) bool {
	failure, ok := errors.AsType[*jetstream.APIError](err)
	return ok && slices.Contains(codes, failure.ErrorCode)
}

// readEvent makes an event of a stored message.
func readEvent(subject string, header nats.Header, data []byte, at eventlog.Position, stored time.Time) (eventlog.Stored, error) {
	var game eventlog.GameID
	var control eventlog.ControlSubject
	var err error
	if at.Stream == eventlog.ControlStream {
		control, err = eventlog.ParseControlSubject(subject)
	} else {
		game, err = eventlog.ParseSubject(subject)
	}
	if err != nil {
		return eventlog.Stored{}, fmt.Errorf("%w: subject %q at %s sequence %d: %w", eventlog.ErrDamaged, subject, at.Stream, at.Sequence, err)
	}
	version, err := strconv.ParseUint(header.Get(headerVersion), 10, 64)
	if err != nil || version == 0 || header.Get(headerEventID) == "" {
		return eventlog.Stored{}, fmt.Errorf("%w: no event id or version at %s sequence %d", eventlog.ErrDamaged, at.Stream, at.Sequence)
	}
	return eventlog.Stored{
		Event: eventlog.Event{
			ID: header.Get(headerEventID), Version: version, Type: header.Get(headerType),
			RequestID: header.Get(headerRequestID), Data: data,
		},
		Game: game, Control: control, Position: at, StoredAt: stored,
	}, nil
}
