package rpckit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"

	"google.golang.org/grpc/metadata"

	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
)

// Metadata keys of the development identity: the caller is whoever it says.
const (
	PlayerIDKey  = "x-player-id"
	ActorKindKey = "x-actor-kind"
)

// Identity is who calls.
type Identity struct {
	// PlayerID names the player: 1 to 64 letters, digits, '.', '_' or '-'.
	PlayerID string
	// Actor is whether a person or a program plays.
	Actor eventv1.ActorKind
}

type identityKey struct{}

// WithCaller returns a context whose caller is id.
func WithCaller(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, id)
}

// Caller returns who calls. In a handler of a [Server] it is always set.
func Caller(ctx context.Context) Identity {
	id, _ := ctx.Value(identityKey{}).(Identity)
	return id
}

// errIdentity: the call names no player, or not a well-formed one.
var errIdentity = errors.New("identity missing")

var playerIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// identify reads the caller from the metadata of a call.
func identify(ctx context.Context) (Identity, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	names := md.Get(PlayerIDKey)
	if len(names) != 1 || !playerIDForm.MatchString(names[0]) {
		return Identity{}, fmt.Errorf("%w: the metadata %s must name one player, 1 to 64 letters, digits, '.', '_' or '-'", errIdentity, PlayerIDKey)
	}
	id := Identity{PlayerID: names[0], Actor: eventv1.ActorKind_ACTOR_KIND_HUMAN}
	switch kinds := md.Get(ActorKindKey); {
	case len(kinds) == 0 || len(kinds) == 1 && kinds[0] == "human":
	case len(kinds) == 1 && kinds[0] == "bot":
		id.Actor = eventv1.ActorKind_ACTOR_KIND_BOT
	default:
		return Identity{}, fmt.Errorf("%w: the metadata %s must be human or bot", errIdentity, ActorKindKey)
	}
	return id, nil
}

// ErrNotLoopback: the address can be reached from other machines.
var ErrNotLoopback = errors.New("not a loopback address")

// RequireLoopback refuses an address HOST:PORT on which other machines could
// reach a server: the development identity proves nothing.
func RequireLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("address %q: %w", addr, err)
	}
	if host == "localhost" {
		return nil
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("address %q: %w; the caller's identity is not authenticated, so only 127.0.0.1, ::1 or localhost will do", addr, ErrNotLoopback)
	}
	return nil
}
