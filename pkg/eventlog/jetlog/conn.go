package jetlog

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
)

// Connect connects to a NATS server. It returns without one, and goes on trying
// for ever: the readiness of what uses the connection shows whether it is there.
// The name is what the server's operator sees.
func Connect(url, name string, logger *slog.Logger, more ...nats.Option) (*nats.Conn, error) {
	nc, err := nats.Connect(url, append([]nats.Option{
		nats.Name(name),
		nats.MaxReconnects(-1),
		nats.RetryOnFailedConnect(true),
		nats.ReconnectWait(250 * time.Millisecond),
		// Nothing is kept for later: what the caller was told about as not sent
		// must not be sent after the reconnect.
		nats.ReconnectBufSize(-1),
		// A server that says nothing is noticed after 10 to 15 seconds.
		nats.PingInterval(5 * time.Second),
		nats.MaxPingsOutstanding(2),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				logger.Warn("NATS connection lost", "error", err)
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			logger.Info("NATS connection is back", "server", nc.ConnectedServerName())
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			logger.Warn("NATS connection", "error", err)
		}),
	}, more...)...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	return nc, nil
}

// conn is what the log sends its requests through; tests put faults in.
type conn interface {
	// publish sends an event and returns the answer.
	publish(ctx context.Context, msg *nats.Msg) (*nats.Msg, error)
	// request sends a request and returns the answer.
	request(ctx context.Context, subject string, data []byte) (*nats.Msg, error)
	// requestMany sends a request and hands its answers, maxAnswers of them at
	// most, to yield until that wants no more. Silence until ctx ends is an
	// error.
	requestMany(ctx context.Context, subject string, data []byte, yield func(*nats.Msg) (more bool, err error)) error
	// closed tells whether the connection has been closed for good.
	closed() bool
}

// maxAnswers is how many answers to one request are kept until they are read:
// a batch of events, and its end.
const maxAnswers = historyBatch + 1

// natsConn sends through a real connection.
type natsConn struct{ nc *nats.Conn }

func (c natsConn) publish(ctx context.Context, msg *nats.Msg) (*nats.Msg, error) {
	return c.nc.RequestMsgWithContext(ctx, msg)
}

func (c natsConn) request(ctx context.Context, subject string, data []byte) (*nats.Msg, error) {
	return c.nc.RequestWithContext(ctx, subject, data)
}

func (c natsConn) requestMany(ctx context.Context, subject string, data []byte, yield func(*nats.Msg) (bool, error)) error {
	// Not an inbox for single answers: those are delivered twice to a
	// connection that has made a request before.
	inbox := c.nc.NewInbox()
	answers := make(chan *nats.Msg, maxAnswers)
	sub, err := c.nc.ChanSubscribe(inbox, answers)
	if err != nil {
		return err
	}
	// Fails only where the connection is gone, and the subscription with it.
	defer func() { _ = sub.Unsubscribe() }()
	if err := c.nc.PublishRequest(subject, inbox, data); err != nil {
		return err
	}
	for {
		select {
		case msg := <-answers:
			if more, err := yield(msg); !more || err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c natsConn) closed() bool { return c.nc.IsClosed() }
