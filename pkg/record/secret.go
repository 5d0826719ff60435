package record

import (
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
)

// secrets returns what the commitment commits to.
func (s GameState) secrets() *eventv1.Secrets {
	seed := s.Engine.Seed()
	m := &eventv1.Secrets{Seed: seed[:], StreamPosition: s.streamPosition}
	for _, c := range s.Deck {
		m.Deck = append(m.Deck, c.String())
	}
	return m
}

// hidden returns the fields of a fact that hold its position, sealed and open;
// nil for a fact without one.
func hidden(m *eventv1.Fact) (sealed **eventv1.Sealed, open **eventv1.DungeonPosition) {
	switch k := m.GetKind().(type) {
	case *eventv1.Fact_CardRecycled:
		return &k.CardRecycled.SealedPosition, &k.CardRecycled.Position
	case *eventv1.Fact_CardReturned:
		return &k.CardReturned.SealedPosition, &k.CardReturned.Position
	}
	return nil, nil
}

// positionPlace is where the sealed position of a record's fact stands.
func positionPlace(game eventlog.GameID, version uint64, fact int) place {
	return place{game.String(), version, fmt.Sprintf("position.%d", fact)}
}

// sealFact hides the position of a fact, if it has one.
func (k *Keyset) sealFact(at place, m *eventv1.Fact) error {
	sealed, open := hidden(m)
	if sealed == nil {
		return nil
	}
	// Two bytes each: the length of a varint would tell of a small number.
	data := binary.BigEndian.AppendUint16(nil, uint16((*open).GetIndex()))
	data = binary.BigEndian.AppendUint16(data, uint16((*open).GetStreamPosition()))
	*open = nil
	var err error
	*sealed, err = k.seal(at, data)
	return err
}

// openPosition opens what sealFact hid.
func (k *Keyset) openPosition(at place, sealed *eventv1.Sealed) (*eventv1.DungeonPosition, error) {
	data, err := k.open(at, sealed)
	if err != nil {
		return nil, err
	}
	if len(data) != 4 {
		return nil, fmt.Errorf("%w: %s of %s version %d has %d bytes", ErrMalformed, at.field, at.game, at.version, len(data))
	}
	return &eventv1.DungeonPosition{
		Index: uint32(binary.BigEndian.Uint16(data)), StreamPosition: uint32(binary.BigEndian.Uint16(data[2:])),
	}, nil
}

// PublicFacts returns a record's facts without what is sealed. With reveal, as
// for a game that is over, they tell the positions of cards that went back into
// the dungeon. Its error wraps ErrKeyUnknown, ErrSealBroken or ErrMalformed.
func (k *Keyset) PublicFacts(s Stored, reveal bool) ([]*eventv1.Fact, error) {
	facts := make([]*eventv1.Fact, 0, len(s.Message.GetFacts()))
	for i, f := range s.Message.GetFacts() {
		sealed, _ := hidden(f)
		if f.GetGameStarted() == nil && sealed == nil {
			facts = append(facts, f)
			continue
		}
		public := proto.Clone(f).(*eventv1.Fact)
		if started := public.GetGameStarted(); started != nil {
			started.Secrets = nil
		}
		if sealed, open := hidden(public); sealed != nil {
			*open = nil // Never stored; whoever wrote it must not be believed.
			if reveal {
				var err error
				if *open, err = k.openPosition(positionPlace(s.Game, s.Version, i), *sealed); err != nil {
					return nil, err
				}
			}
			*sealed = nil
		}
		facts = append(facts, public)
	}
	return facts, nil
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
	if err := proto.Unmarshal(data, &secrets); err != nil {
		return GameState{}, fmt.Errorf("%w: the secrets of %s: %w", ErrMalformed, r.Game, err)
	}
	state := GameState{Mode: started.GetMode(), StartedAt: r.RecordedAt, streamPosition: secrets.GetStreamPosition()}
	rules, err := RulesetFromProto(started.GetRuleset())
	if err == nil {
		state.Engine, state.Deck, err = FreshGame(rules, &secrets)
	}
	if err != nil {
		return GameState{}, fmt.Errorf("%w: the start of %s: %w", ErrMalformed, r.Game, err)
	}
	return state, nil
}

// FreshGame returns the game that secrets tell, before its first room is dealt,
// and its deck. It takes the deck as it is told and shuffles nothing. Its error
// wraps ErrMalformed or is the engine's.
func FreshGame(rules engine.Ruleset, secrets *eventv1.Secrets) (engine.State, []engine.Card, error) {
	if len(secrets.GetSeed()) != len(engine.Seed{}) {
		return engine.State{}, nil, fmt.Errorf("%w: a seed of %d bytes", ErrMalformed, len(secrets.GetSeed()))
	}
	deck := make([]engine.Card, 0, len(secrets.GetDeck()))
	for _, text := range secrets.GetDeck() {
		c, err := engine.ParseCard(text)
		if err != nil {
			return engine.State{}, nil, fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		deck = append(deck, c)
	}
	s, err := engine.RestoreGame(rules, engine.Seed(secrets.GetSeed()), deck, int(secrets.GetStreamPosition()))
	return s, deck, err
}
