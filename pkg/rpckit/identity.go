package rpckit

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"google.golang.org/grpc/metadata"

	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
)

// Metadata keys of the development identity: the caller is whoever it says.
const (
	// PlayerIDKey names the player. Every call but those of health and
	// reflection must have it.
	PlayerIDKey = "x-player-id"
	// ActorKindKey is "human", the default, or "bot".
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

// Caller returns who calls. In a method of a service that a [Server] serves it
// is always set; elsewhere it may be the zero Identity.
func Caller(ctx context.Context) Identity {
	id, _ := ctx.Value(identityKey{}).(Identity)
	return id
}

// errIdentity: the call names no player, or not a well-formed one.
var errIdentity = errors.New("identity missing")

var playerIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// identify reads the caller from the metadata of a call. A key that stands
// there twice is refused: which of the two counts is nobody's guess.
func identify(ctx context.Context) (Identity, error) {
	players := metadata.ValueFromIncomingContext(ctx, PlayerIDKey)
	if len(players) != 1 || !playerIDForm.MatchString(players[0]) {
		return Identity{}, fmt.Errorf("%w: the metadata %s must name one player, 1 to 64 letters, digits, '.', '_' or '-'", errIdentity, PlayerIDKey)
	}
	id := Identity{PlayerID: players[0], Actor: eventv1.ActorKind_ACTOR_KIND_HUMAN}
	switch kinds := metadata.ValueFromIncomingContext(ctx, ActorKindKey); {
	case len(kinds) == 0 || len(kinds) == 1 && kinds[0] == "human":
	case len(kinds) == 1 && kinds[0] == "bot":
		id.Actor = eventv1.ActorKind_ACTOR_KIND_BOT
	default:
		return Identity{}, fmt.Errorf("%w: the metadata %s must be human or bot", errIdentity, ActorKindKey)
	}
	return id, nil
}
