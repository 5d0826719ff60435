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

// PublicFacts returns the facts that may be shown to whoever may read the
// game: all of them, without what is sealed.
func (s Stored) PublicFacts() []*eventv1.Fact {
	facts := s.Message.GetFacts()
	if started := facts[0].GetGameStarted(); started != nil {
		public := proto.Clone(started).(*eventv1.GameStarted)
		public.Secrets = nil
		facts = append([]*eventv1.Fact{{Kind: &eventv1.Fact_GameStarted{GameStarted: public}}}, facts[1:]...)
	}
	return facts
}

// Decode reads a stored record and opens its state. ErrStateUnusable tells
// that the record is sound but its state must be folded from the history.
func (k *Keyset) Decode(data []byte) (Stored, error) {
	s, err := decode(data)
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

func decode(data []byte) (Stored, error) {
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
		r, err := decode(data)
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
		for _, m := range r.Message.GetFacts() {
			f, err := factFromProto(m)
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

// openStart returns the state before the first room of the game that r starts.
func (k *Keyset) openStart(r Stored) (GameState, error) {
	started := r.Message.GetFacts()[0].GetGameStarted()
	if started == nil {
		return GameState{}, fmt.Errorf("%w: %s does not start with its start", ErrMalformed, r.Game)
	}
	data, err := k.open(place{r.Game.String(), r.Version, "secrets"}, started.GetSecrets())
	if err != nil {
		return GameState{}, err
	}
	var secrets eventv1.Secrets
	if err := proto.Unmarshal(data, &secrets); err != nil || len(secrets.GetSeed()) != len(engine.Seed{}) {
		return GameState{}, fmt.Errorf("%w: the secrets of %s: %w", ErrMalformed, r.Game, err)
	}
	state := GameState{Mode: started.GetMode(), StartedAt: r.RecordedAt}
	for _, c := range secrets.GetDeck() {
		card, err := engine.ParseCard(c)
		if err != nil {
			return GameState{}, fmt.Errorf("%w: the deck of %s: %w", ErrMalformed, r.Game, err)
		}
		state.Deck = append(state.Deck, card)
	}
	rules, err := RulesetFromProto(started.GetRuleset())
	if err == nil {
		state.Engine, err = engine.RestoreGame(rules, engine.Seed(secrets.GetSeed()), state.Deck)
	}
	if err != nil {
		return GameState{}, fmt.Errorf("%w: the start of %s: %w", ErrMalformed, r.Game, err)
	}
	return state, nil
}

// Check tells whether the keyset opens an event's state: at start-up, a wrong
// key is found here rather than by the first player.
func (k *Keyset) Check(e eventlog.Event) error {
	_, err := k.Decode(e.Data)
	return err
}
