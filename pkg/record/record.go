package record

import (
	"encoding/hex"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
)

// Command is one accepted command, before it is stored.
type Command struct {
	// EventID is unique to the record.
	EventID [16]byte
	// Game is the game.
	Game eventlog.GameID
	// PlayerID is the player who owns it.
	PlayerID string
	// Actor is who plays.
	Actor eventv1.ActorKind
	// RecordedAt is when the command was accepted.
	RecordedAt time.Time
	// RequestID is the client's id of the request, or empty.
	RequestID string
	// RequestHash is SHA-256 of what the request asks, empty without an id.
	RequestHash []byte
	// Move is the player's move; the zero Move for a start or a resignation.
	Move engine.Move
	// Facts is what happened.
	Facts []engine.Fact
	// After is the state after the facts, which remembers RequestID.
	After GameState
	// Previous is the revision of the game's record before this one.
	Previous eventlog.Revision
}

// Types of events, as tools that read the log see them.
const (
	TypeGameStarted  = "GAME_STARTED"
	TypeMovePlayed   = "MOVE_PLAYED"
	TypeGameResigned = "GAME_RESIGNED"
)

// Encode returns the event that stores a command, and what reading it back
// would give. Sealing is random: to append the same event again, keep it.
func (k *Keyset) Encode(c Command) (eventlog.Event, Stored, error) {
	version := c.After.Version()
	m := &eventv1.Record{
		EventId:          c.EventID[:],
		GameId:           c.Game.String(),
		PlayerId:         c.PlayerID,
		ActorKind:        c.Actor,
		Version:          version,
		RecordedAt:       timestamppb.New(c.RecordedAt),
		RequestId:        c.RequestID,
		RequestHash:      c.RequestHash,
		RulesRevision:    engine.RulesRevision,
		StateEncoding:    engine.StateEncoding,
		PreviousRevision: uint64(c.Previous),
	}
	kind := TypeGameResigned
	if c.Move != (engine.Move{}) {
		kind = TypeMovePlayed
		m.Move = MoveToProto(c.Move)
	}
	over := Over{StartedAt: c.After.StartedAt, Mode: c.After.Mode}
	for i, f := range c.Facts {
		var fact *eventv1.Fact
		var err error
		if f.Kind == engine.FactGameStarted {
			kind = TypeGameStarted
			fact, err = k.gameStarted(c, f)
		} else {
			fact, err = FactToProto(f, over)
		}
		if err == nil {
			err = k.sealFact(positionPlace(c.Game, version, i), fact)
		}
		if err != nil {
			return eventlog.Event{}, Stored{}, err
		}
		m.Facts = append(m.Facts, fact)
	}
	// The deck of a DAILY game is still played by others.
	if c.After.Engine.Status().Over() && c.After.Mode != eventv1.GameMode_GAME_MODE_DAILY {
		m.Revealed = c.After.secrets()
	}
	var err error
	if m.State, err = k.SealState(c.Game, c.After); err != nil {
		return eventlog.Event{}, Stored{}, err
	}
	data, err := proto.Marshal(m)
	if err != nil {
		return eventlog.Event{}, Stored{}, fmt.Errorf("encode version %d of %s: %w", version, c.Game, err)
	}
	stored := Stored{Message: m, State: c.After, Summary: Summary{
		EventID: hex.EncodeToString(c.EventID[:]), Game: c.Game, PlayerID: c.PlayerID, Actor: c.Actor,
		Version: version, RecordedAt: c.RecordedAt,
	}}
	if version == 1 {
		stored.Start = &Start{Rules: c.After.Engine.Rules(), Mode: c.After.Mode}
	}
	if o, ok := c.After.Engine.Over(); ok {
		over.Over = o
		stored.Over = &over
	}
	return eventlog.Event{
		ID: stored.EventID, Version: version, Type: kind, RequestID: c.RequestID, Data: data,
	}, stored, nil
}

func (k *Keyset) gameStarted(c Command, f engine.Fact) (*eventv1.Fact, error) {
	secrets, err := proto.Marshal(c.After.secrets())
	if err != nil {
		return nil, fmt.Errorf("encode the secrets of %s: %w", c.Game, err)
	}
	sealed, err := k.seal(place{c.Game.String(), c.After.Version(), "secrets"}, secrets)
	if err != nil {
		return nil, err
	}
	return &eventv1.Fact{Kind: &eventv1.Fact_GameStarted{GameStarted: &eventv1.GameStarted{
		Mode:        c.After.Mode,
		Ruleset:     RulesetToProto(c.After.Engine.Rules()),
		Health:      int32(f.Health),
		DungeonSize: uint32(len(c.After.Deck)),
		Commitment:  c.After.Engine.Seed().Commitment(),
		Secrets:     sealed,
	}}}, nil
}
