package record

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
)

// Stored is a record as it was read back. Treat it as read-only.
type Stored struct {
	Summary
	// Message is the whole stored message.
	Message *eventv1.Record
	// State is the state after the record.
	State GameState
}

// Decode reads a stored record and opens its state. ErrStateUnusable tells
// that the record is sound but its state must be folded from the history.
func (k *Keyset) Decode(data []byte) (Stored, error) {
	s, err := Read(data)
	if err != nil {
		return s, err
	}
	if enc := s.Message.GetStateEncoding(); enc != engine.StateEncoding {
		return s, fmt.Errorf("%w: %s version %d has encoding %d", ErrStateUnusable, s.Game, s.Version, enc)
	}
	if s.State, err = k.OpenState(s.Game, s.Version, s.Message.GetState()); err != nil {
		err = fmt.Errorf("%w: %w", ErrStateUnusable, err)
	}
	return s, err
}

// ErrStateUnusable is the error of a record whose state is in a foreign
// encoding or does not open.
var ErrStateUnusable = errors.New("stored state cannot be used")

// Read reads a stored record and leaves its State empty; no key is needed. Its
// error wraps ErrMalformed or ErrNewerSchema.
func Read(data []byte) (Stored, error) {
	summary, err := Summarize(data)
	if err != nil {
		return Stored{}, err
	}
	s := Stored{Summary: summary, Message: &eventv1.Record{}}
	if err := proto.Unmarshal(data, s.Message); err != nil {
		return Stored{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return s, nil
}

// Fold returns the state after a game's whole history, from its first record
// on. It needs the secrets of the first record and the facts of all, but no
// stored state and no rules. Its error wraps ErrMalformed where the history
// contradicts itself, ErrKeyUnknown or ErrSealBroken where the secrets do not
// open.
func (k *Keyset) Fold(history [][]byte) (GameState, error) {
	var state GameState
	for i, data := range history {
		r, err := Read(data)
		if err != nil {
			return GameState{}, err
		}
		if r.Version != uint64(i+1) {
			return GameState{}, fmt.Errorf("%w: %s has version %d in place %d", ErrMalformed, r.Game, r.Version, i+1)
		}
		if i == 0 {
			if state, err = k.openStart(r); err != nil {
				return GameState{}, err
			}
		}
		facts, err := k.PublicFacts(r, true)
		if err != nil {
			return GameState{}, err
		}
		for _, m := range facts {
			f, err := FactFromProto(m)
			if err != nil {
				return GameState{}, fmt.Errorf("%s version %d: %w", r.Game, r.Version, err)
			}
			if state.Engine, err = state.Engine.Evolve(f); err != nil {
				return GameState{}, fmt.Errorf("%w: %s version %d: %w", ErrMalformed, r.Game, r.Version, err)
			}
		}
		state = state.Remember(r.Message.GetRequestId())
	}
	if len(history) == 0 {
		return GameState{}, fmt.Errorf("%w: an empty history", ErrMalformed)
	}
	return state, nil
}

// Check tells whether the keyset opens an event's state: at start-up, a wrong
// key is found here rather than by the first player.
func (k *Keyset) Check(e eventlog.Event) error {
	r, err := Read(e.Data)
	if err != nil {
		return err
	}
	// Whatever its encoding: one that is not ours is folded when it is needed.
	_, err = k.open(place{r.Game.String(), r.Version, "state"}, r.Message.GetState())
	return err
}
