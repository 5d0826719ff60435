package record

import (
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
)

// ErrNewerSchema is the error of a record that holds what only a newer program
// knows. A projection must stop there rather than pass it over.
var ErrNewerSchema = errors.New("record of a newer schema")

// Summary is what a projection of the log needs of a record. Nothing in it is
// sealed, so no key is needed.
type Summary struct {
	// EventID is unique to the record: 16 bytes in lower-case hex.
	EventID string
	// Game is the game.
	Game eventlog.GameID
	// PlayerID is the player who owns it.
	PlayerID string
	// Actor is who plays.
	Actor eventv1.ActorKind
	// Version counts the game's records from 1.
	Version uint64
	// RecordedAt is when the command was accepted.
	RecordedAt time.Time
	// Start is how the game started; nil in every record but its first.
	Start *Start
	// Over is how the game ended; nil in every record but its last.
	Over *Over
}

// Start is how a game started.
type Start struct {
	// Rules is what it is played by.
	Rules engine.Ruleset
	// Mode is where its deck comes from.
	Mode eventv1.GameMode
}

// Summarize reads a stored record. Its error wraps ErrMalformed or
// ErrNewerSchema.
func Summarize(data []byte) (Summary, error) {
	var m eventv1.Record
	if err := proto.Unmarshal(data, &m); err != nil {
		return Summary{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	game, err := eventlog.ParseGameID(m.GetGameId())
	if err != nil {
		return Summary{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if len(m.GetEventId()) != 16 || m.GetVersion() == 0 || m.GetPlayerId() == "" || m.GetRecordedAt().CheckValid() != nil || len(m.GetFacts()) == 0 {
		return Summary{}, fmt.Errorf("%w: game %s version %d lacks an event id, player, time or facts", ErrMalformed, game, m.GetVersion())
	}
	s := Summary{
		EventID:    hex.EncodeToString(m.GetEventId()),
		Game:       game,
		PlayerID:   m.GetPlayerId(),
		Actor:      m.GetActorKind(),
		Version:    m.GetVersion(),
		RecordedAt: m.GetRecordedAt().AsTime(),
	}
	for i, f := range m.GetFacts() {
		// A fact of a kind that this program lacks leaves its bytes unknown.
		if f.GetKind() == nil && len(f.ProtoReflect().GetUnknown()) > 0 {
			return Summary{}, fmt.Errorf("%w: game %s version %d", ErrNewerSchema, game, s.Version)
		}
		if started := f.GetGameStarted(); started != nil {
			if i != 0 || s.Version != 1 {
				return Summary{}, fmt.Errorf("%w: game %s starts with version %d", ErrMalformed, game, s.Version)
			}
			if newer(started.GetRuleset().ProtoReflect()) {
				return Summary{}, fmt.Errorf("%w: game %s starts by newer rules", ErrNewerSchema, game)
			}
			rules, err := RulesetFromProto(started.GetRuleset())
			if err != nil {
				return Summary{}, fmt.Errorf("%w: game %s: %w", ErrMalformed, game, err)
			}
			s.Start = &Start{Rules: rules, Mode: started.GetMode()}
		}
		over := f.GetGameOver()
		if over == nil {
			continue
		}
		if i != len(m.GetFacts())-1 || over.GetStartedAt().CheckValid() != nil {
			return Summary{}, fmt.Errorf("%w: game %s version %d ends without a start time, or before its last fact", ErrMalformed, game, s.Version)
		}
		if newer(over.ProtoReflect()) {
			return Summary{}, fmt.Errorf("%w: game %s version %d: %v", ErrNewerSchema, game, s.Version, over.ProtoReflect().Descriptor().Name())
		}
		o, err := overFromProto(over)
		if err != nil {
			return Summary{}, fmt.Errorf("%w: game %s version %d: %w", ErrMalformed, game, s.Version, err)
		}
		s.Over = &o
	}
	return s, nil
}

// newer tells whether a message holds a field or an enumeration value that this
// program lacks. Every input of a score counts: to pass one over would be to
// compute another score.
func newer(m protoreflect.Message) bool {
	found := len(m.GetUnknown()) > 0
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsList() && f.Enum() != nil:
			for i := range v.List().Len() {
				found = found || f.Enum().Values().ByNumber(v.List().Get(i).Enum()) == nil
			}
		case f.IsList() || f.IsMap():
		case f.Enum() != nil:
			found = found || f.Enum().Values().ByNumber(v.Enum()) == nil
		case f.Message() != nil:
			found = found || newer(v.Message())
		}
		return !found
	})
	return found
}
