package rpckit

import (
	"errors"
	"fmt"
	"net"
)

// ErrNotLoopback is the error of an address that other machines can reach.
var ErrNotLoopback = errors.New("not a loopback address")

// RequireLoopback refuses an address HOST:PORT on which other machines could
// reach a server, because the development identity proves nothing. HOST is an
// IP address or "localhost", which counts as what this machine resolves it to.
// An empty HOST means every interface and is refused.
func RequireLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("address %q: %w", addr, err)
	}
	ip := net.ParseIP(host) // nil, which is no loopback address, where host is a name
	if host == "localhost" {
		resolved, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			return fmt.Errorf("address %q: %w", addr, err)
		}
		ip = resolved.IP
	}
	if !ip.IsLoopback() {
		return fmt.Errorf("address %q: %w; callers are not authenticated, so only 127.0.0.1, ::1 or localhost will do", addr, ErrNotLoopback)
	}
	return nil
}
