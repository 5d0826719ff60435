package jetlog

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// Connect connects to a NATS server. It returns without one, and goes on trying
// for ever: the caller's readiness shows whether it is there.
func Connect(url, name string, more ...nats.Option) (*nats.Conn, error) {
	nc, err := nats.Connect(url, append([]nats.Option{
		nats.Name(name),
		nats.MaxReconnects(-1),
		nats.RetryOnFailedConnect(true),
		nats.ReconnectWait(250 * time.Millisecond),
		// Nothing is kept for later: a publish that the caller was told about as
		// failed must not be sent after the reconnect.
		nats.ReconnectBufSize(-1),
		nats.PingInterval(5 * time.Second),
		nats.MaxPingsOutstanding(2),
	}, more...)...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	return nc, nil
}

// natsConn sends through a real connection.
type natsConn struct{ nc *nats.Conn }

func (c natsConn) publish(ctx context.Context, msg *nats.Msg) (*nats.Msg, error) {
	return c.nc.RequestMsgWithContext(ctx, msg)
}

func (c natsConn) request(ctx context.Context, subject string, data []byte) (*nats.Msg, error) {
	return c.nc.RequestWithContext(ctx, subject, data)
}

// requestMany sends one request and hands its answers to yield until that wants
// no more. Silence until ctx ends is an error.
func (c natsConn) requestMany(ctx context.Context, subject string, data []byte, yield func(*nats.Msg) (bool, error)) error {
	inbox := c.nc.NewRespInbox()
	sub, err := c.nc.SubscribeSync(inbox)
	if err != nil {
		return readError(err, subject)
	}
	// Fails only where the connection is gone, and the subscription with it.
	defer func() { _ = sub.Unsubscribe() }()
	if err := c.nc.PublishRequest(subject, inbox, data); err != nil {
		return readError(err, subject)
	}
	for {
		msg, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			return readError(err, subject)
		}
		if more, err := yield(msg); !more || err != nil {
			return err
		}
	}
}
