package jetlog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/eventlogtest"
)

// A replicated stream checks in another order, with other codes, and answers
// from replicas that lag: what holds on one server has to hold there too.
func TestConformanceOfCluster(t *testing.T) {
	nodes := startCluster(t)
	nc, err := Connect(nodes[0].ClientURL(), "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	eventlogtest.Run(t, func(t testing.TB, maxBytes int64) eventlog.Log {
		// The outcome of an append to a game that has not come as far stays
		// unknown there; it need not be waited for as long as a real one.
		l := newLog(t, nc, Config{Replicas: 3, MaxBytes: maxBytes, AppendTimeout: 2 * time.Second})
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			streams, err := l.Streams(ctx)
			if err != nil {
				t.Error(err)
			}
			control, err := l.ControlInfo(ctx)
			if err == nil {
				streams = append(streams, control)
			} else if !errors.Is(err, eventlog.ErrNotFound) {
				t.Error(err)
			}
			for _, s := range streams {
				if err := l.js.DeleteStream(ctx, s.Name); err != nil {
					t.Error(err)
				}
			}
		})
		return l
	})
}

// startCluster starts three servers that end with the test.
func startCluster(t *testing.T) []*server.Server {
	t.Helper()
	// Each has to know the ports of all before it starts.
	var ports []int
	var reserved []net.Listener
	var routes []*url.URL
	for range 3 {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
		routes = append(routes, &url.URL{Scheme: "nats", Host: l.Addr().String()})
		reserved = append(reserved, l)
	}
	for _, l := range reserved {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var nodes []*server.Server
	for i, port := range ports {
		node, err := server.NewServer(&server.Options{
			ServerName: fmt.Sprintf("node-%d", i), Host: "127.0.0.1", Port: server.RANDOM_PORT,
			JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
			Cluster: server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: port}, Routes: routes,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			node.Shutdown()
			node.WaitForShutdown()
		})
		node.Start()
		if !node.ReadyForConnections(patience) {
			t.Fatal("a server does not start")
		}
		nodes = append(nodes, node)
	}
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for ctx := within(t); ; {
		for _, node := range nodes {
			if node.JetStreamIsLeader() && len(node.JetStreamClusterPeers()) == len(nodes) {
				return nodes
			}
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			t.Fatal("the servers elect no leader")
		}
	}
}
