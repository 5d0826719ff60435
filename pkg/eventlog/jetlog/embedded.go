package jetlog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	server *server.Server
	conn   *nats.Conn
}

// StartEmbedded starts a server and connects to it.
func StartEmbedded(ctx context.Context, cfg EmbeddedConfig) (*Embedded, error) {
	if cfg.Dir == "" {
		return nil, errors.New("an embedded server needs a folder")
	}
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
	s.SetLoggerV2(serverLogger{cfg.Logger}, false, false, false)
	go s.Start() // ends with Shutdown
	e := &Embedded{server: s}
	if !s.ReadyForConnections(untilDeadline(ctx, 30*time.Second)) {
		return nil, errors.Join(errors.New("the embedded NATS server did not start"), e.Close(ctx))
	}
	if e.conn, err = Connect("", "scoundrel", nats.InProcessServer(s)); err != nil {
		return nil, errors.Join(err, e.Close(ctx))
	}
	return e, nil
}

func untilDeadline(ctx context.Context, d time.Duration) time.Duration {
	if t, ok := ctx.Deadline(); ok {
		return min(d, time.Until(t))
	}
	return d
}

// Conn returns the connection to the server, which Close ends.
func (e *Embedded) Conn() *nats.Conn { return e.conn }

// ClientURL returns the address for other clients, if the server listens.
func (e *Embedded) ClientURL() string { return e.server.ClientURL() }

// Close stops the server once its store is flushed, or returns ctx's error.
func (e *Embedded) Close(ctx context.Context) error {
	if e.conn != nil {
		e.conn.Close()
	}
	e.server.Shutdown()
	done := make(chan struct{})
	go func() { // ends with the shutdown that has begun
		e.server.WaitForShutdown()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop the embedded NATS server: %w", ctx.Err())
	}
}

// serverLogger hands the server's lines to slog.
type serverLogger struct{ log *slog.Logger }

func (l serverLogger) line(level slog.Level, format string, v []any) {
	l.log.Log(context.Background(), level, "nats: "+fmt.Sprintf(format, v...))
}

func (l serverLogger) Noticef(format string, v ...any) { l.line(slog.LevelDebug, format, v) }
func (l serverLogger) Warnf(format string, v ...any)   { l.line(slog.LevelWarn, format, v) }
func (l serverLogger) Fatalf(format string, v ...any)  { l.line(slog.LevelError, format, v) }
func (l serverLogger) Errorf(format string, v ...any)  { l.line(slog.LevelError, format, v) }
func (l serverLogger) Debugf(format string, v ...any)  { l.line(slog.LevelDebug, format, v) }
func (l serverLogger) Tracef(format string, v ...any)  { l.line(slog.LevelDebug, format, v) }
