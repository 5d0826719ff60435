package jetlog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// EmbeddedConfig is how an embedded server runs.
type EmbeddedConfig struct {
	// Dir is where the streams are stored. Required, and used by one process at
	// a time: two would destroy it. Locking it is the caller's part.
	Dir string
	// Logger is where the server reports. Required: a silent server would hide
	// that its store is damaged.
	Logger *slog.Logger
	// RelaxedSync acknowledges events before they are on the disk. A power
	// failure then loses what was acknowledged; for development only.
	RelaxedSync bool
	// MaxStoreBytes bounds all streams together; 3/4 of the free disk if 0.
	MaxStoreBytes int64
	// Host and Port are where other clients may connect; nowhere if Host is
	// empty. Port -1 takes a free one.
	Host string
	Port int
}

// Embedded is a NATS server in this process.
type Embedded struct {
	server  *server.Server
	started chan struct{} // closed when the server runs or has given up
	failed  chan error    // what makes the server useless, once
	conn    *nats.Conn
	closed  chan struct{} // closed when conn is
}

// startPatience is how long a start may take if its context has no deadline: a
// large store is looked through.
const startPatience = 5 * time.Minute

// StartEmbedded starts a server and connects to it.
func StartEmbedded(ctx context.Context, cfg EmbeddedConfig) (*Embedded, error) {
	if cfg.Dir == "" || cfg.Logger == nil {
		return nil, errors.New("an embedded NATS server needs a folder and a logger")
	}
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	s, err := server.NewServer(&server.Options{
		ServerName:             "scoundrel",
		DontListen:             cfg.Host == "",
		Host:                   cfg.Host,
		Port:                   cfg.Port,
		JetStream:              true,
		StoreDir:               cfg.Dir,
		SyncAlways:             !cfg.RelaxedSync,
		JetStreamMaxStore:      cfg.MaxStoreBytes,
		DisableJetStreamBanner: true,
		// Signals are the process's own; the server would end it.
		NoSigs: true,
	})
	if err != nil {
		return nil, fmt.Errorf("make the embedded NATS server: %w", err)
	}
	if cfg.RelaxedSync {
		cfg.Logger.WarnContext(ctx, "events are acknowledged before they are on the disk: a power failure loses them")
	}
	e := &Embedded{server: s, started: make(chan struct{}), failed: make(chan error, 1), closed: make(chan struct{})}
	if err := e.start(ctx, cfg.Logger); err != nil {
		// ctx may be what ended.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return nil, errors.Join(fmt.Errorf("start the embedded NATS server: %w", err), e.Close(ctx))
	}
	return e, nil
}

func (e *Embedded) start(ctx context.Context, logger *slog.Logger) error {
	e.server.SetLoggerV2(serverLogger{logger, e.failed}, false, false, false)
	go func() { // ends when the server runs or has given up; Close waits for it
		e.server.Start()
		close(e.started)
	}()
	select {
	case <-e.started:
	case <-ctx.Done():
		return ctx.Err()
	}
	// A server that cannot start says so in its log, and nowhere else.
	select {
	case err := <-e.failed:
		return err
	default:
	}
	var err error
	e.conn, err = Connect("", "scoundrel", logger, nats.InProcessServer(e.server),
		nats.ClosedHandler(func(*nats.Conn) { close(e.closed) }))
	return err
}

// Failed yields an error once the server is of no more use: one that wraps ErrDisk
// where it cannot write to its disk. It keeps what is stored and refuses every
// further event, even when the disk has space again: only a new server goes on.
func (e *Embedded) Failed() <-chan error { return e.failed }

// ErrDisk is the error of a server that cannot write to its disk.
var ErrDisk = errors.New("the event log cannot be written; mend the disk and start again")

// Conn returns the connection to the server, which Close ends.
func (e *Embedded) Conn() *nats.Conn { return e.conn }

// ClientURL returns the address for other clients, if the server listens.
func (e *Embedded) ClientURL() string { return e.server.ClientURL() }

// Close lets the connection finish what is under way, then stops the server and
// flushes its store. Once ctx ends it returns ctx's error, and what has begun
// goes on by itself.
func (e *Embedded) Close(ctx context.Context) error {
	done := make(chan struct{})
	go func() { // ends with the server
		defer close(done)
		if e.conn != nil {
			if err := e.conn.Drain(); err == nil {
				select {
				case <-e.closed:
				case <-ctx.Done():
				}
			}
			e.conn.Close()
		}
		<-e.started // a start and a stop of a server at once race
		e.server.Shutdown()
		e.server.WaitForShutdown()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop the embedded NATS server: %w", ctx.Err())
	}
}

// diskErrors are those after which the server does not try to write again.
var diskErrors = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO}

// serverLogger hands the server's lines to slog, and the first one that ends its
// usefulness to failed as well: the server says it nowhere else.
type serverLogger struct {
	log    *slog.Logger
	failed chan<- error
}

func (l serverLogger) line(level slog.Level, format string, v []any) {
	l.log.Log(context.Background(), level, "nats: "+fmt.Sprintf(format, v...))
}

func (l serverLogger) Fatalf(format string, v ...any) {
	l.line(slog.LevelError, format, v)
	select {
	case l.failed <- fmt.Errorf(format, v...):
	default:
	}
}

func (l serverLogger) Errorf(format string, v ...any) {
	l.line(slog.LevelError, format, v)
	text := fmt.Sprintf(format, v...)
	for _, err := range diskErrors {
		if strings.Contains(text, err.Error()) {
			select {
			case l.failed <- fmt.Errorf("%w: %w", ErrDisk, err):
			default:
			}
			return
		}
	}
}

func (l serverLogger) Noticef(format string, v ...any) { l.line(slog.LevelDebug, format, v) }
func (l serverLogger) Warnf(format string, v ...any)   { l.line(slog.LevelWarn, format, v) }
func (l serverLogger) Debugf(format string, v ...any)  { l.line(slog.LevelDebug, format, v) }
func (l serverLogger) Tracef(format string, v ...any)  { l.line(slog.LevelDebug, format, v) }
