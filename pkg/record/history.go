package record

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
)

// Stored is a record as it was read back.
type Stored struct {
	Summary
	// Message is the whole stored message. Its facts may be shown to whoever
	// may read the game, except for GameStarted.secrets, which stays sealed.
	Message *eventv1.Record
	// State is the state after the record.
	State GameState
}

// Decode reads a stored record and opens its state. Where the state has
// another encoding than ours, or does not open, fold the game's history.
func (k *Keyset) Decode(data []byte) (Stored, error) {
	summary, err := Summarize(data)
	if err != nil {
		return Stored{}, err
	}
	s := Stored{Summary: summary, Message: &eventv1.Record{}}
	if err := proto.Unmarshal(data, s.Message); err != nil {
		return Stored{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if enc := s.Message.GetStateEncoding(); enc != engine.StateEncoding {
		return Stored{}, fmt.Errorf("%w: state encoding %d of %s version %d", ErrMalformed, enc, s.Game, s.Version)
	}
	s.State, err = k.OpenState(s.Game, s.Version, s.Message.GetState())
	return s, err
}

// Check tells whether the keyset opens an event's state: at start-up, a wrong
// key is found here rather than by the first player.
func (k *Keyset) Check(e eventlog.Event) error {
	_, err := k.Decode(e.Data)
	return err
}
