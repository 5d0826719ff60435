package rpckit_test

import (
	"errors"
	"testing"

	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
)

func TestRequireLoopback(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:9090", "127.8.9.10:0", "[::1]:9090", "[::ffff:127.0.0.1]:1", "localhost:9090"} {
		if err := rpckit.RequireLoopback(addr); err != nil {
			t.Error(err)
		}
	}
	for _, addr := range []string{":9090", "0.0.0.0:9090", "[::]:9090", "192.168.1.2:9090", "[fe80::1]:9090", "127.0.0.1.example.org:9090", "*:9090"} {
		if err := rpckit.RequireLoopback(addr); !errors.Is(err, rpckit.ErrNotLoopback) {
			t.Errorf("%s: %v", addr, err)
		}
	}
	for _, addr := range []string{"", "127.0.0.1", "9090", "::1:9090"} {
		if err := rpckit.RequireLoopback(addr); err == nil {
			t.Errorf("%q is taken", addr)
		}
	}
}
