package record

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
)

// requestIDSize is how many bytes of a request id's hash a state remembers.
const requestIDSize = 8

// GameState is what the game service must know to accept the next command. It
// holds the dungeon, so it is stored only sealed. Copies share their slices:
// treat them as read-only.
type GameState struct {
	// Engine is the state of the game itself.
	Engine engine.State
	// Mode is where the deck comes from.
	Mode eventv1.GameMode
	// StartedAt is when the game was started.
	StartedAt time.Time
	// Deck is the whole deck before the first room was dealt, top first.
	Deck []engine.Card

	streamPosition uint32 // that of the secrets
	requestIDs     []byte
}

// NewGameState returns the state of a game before its first room is dealt.
func NewGameState(mode eventv1.GameMode, fresh engine.State) GameState {
	return GameState{Engine: fresh, Mode: mode, Deck: fresh.Dungeon(), streamPosition: uint32(fresh.Drawn())}
}

// Remember returns the state with the request id of the next version; an empty
// id is remembered as none.
func (s GameState) Remember(requestID string) GameState {
	h := requestHash(requestID)
	// The full slice expression makes append copy: two successors of one state
	// must not share the array.
	s.requestIDs = append(slices.Clip(s.requestIDs), h[:]...)
	return s
}

// VersionOf returns the version that a request id seems to have made, or 0. It
// compares 8 bytes of a hash: the record of that version has the last word.
func (s GameState) VersionOf(requestID string) uint64 {
	if requestID == "" {
		return 0
	}
	want := requestHash(requestID)
	for v := 0; v+requestIDSize <= len(s.requestIDs); v += requestIDSize {
		if [requestIDSize]byte(s.requestIDs[v:v+requestIDSize]) == want {
			return uint64(v/requestIDSize + 1)
		}
	}
	return 0
}

// Version returns how many commands the state has accepted.
func (s GameState) Version() uint64 { return uint64(len(s.requestIDs) / requestIDSize) }

func requestHash(requestID string) (h [requestIDSize]byte) {
	if requestID != "" {
		sum := sha256.Sum256([]byte(requestID))
		copy(h[:], sum[:])
	}
	return h
}

// SealState returns the state as it is stored after its version of game.
func (k *Keyset) SealState(game eventlog.GameID, s GameState) (*eventv1.Sealed, error) {
	encoded, err := s.Engine.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("encode the state of %s: %w", game, err)
	}
	deck := make([]byte, len(s.Deck))
	for i, c := range s.Deck {
		deck[i] = byte(c)
	}
	data, err := proto.Marshal(&eventv1.GameState{
		EngineState: encoded,
		Mode:        s.Mode,
		StartedAt:   timestamppb.New(s.StartedAt),
		Commitment:  s.Engine.Seed().Commitment(),
		Deck:        deck,
		RequestIds:  s.requestIDs,

		StreamPosition: s.streamPosition,
	})
	if err != nil {
		return nil, fmt.Errorf("encode the state of %s: %w", game, err)
	}
	return k.seal(place{game.String(), s.Version(), "state"}, data)
}

// OpenState opens the state that was stored after a version of game. Its error
// wraps ErrKeyUnknown, ErrSealBroken or ErrMalformed.
func (k *Keyset) OpenState(game eventlog.GameID, version uint64, sealed *eventv1.Sealed) (GameState, error) {
	data, err := k.open(place{game.String(), version, "state"}, sealed)
	if err != nil {
		return GameState{}, err
	}
	var m eventv1.GameState
	if err := proto.Unmarshal(data, &m); err != nil {
		return GameState{}, fmt.Errorf("%w: state of %s version %d: %w", ErrMalformed, game, version, err)
	}
	s := GameState{Mode: m.GetMode(), StartedAt: m.GetStartedAt().AsTime(), requestIDs: m.GetRequestIds(), streamPosition: m.GetStreamPosition()}
	if s.Engine, err = engine.DecodeState(m.GetEngineState()); err != nil {
		return GameState{}, fmt.Errorf("%w: state of %s version %d: %w", ErrMalformed, game, version, err)
	}
	if uint64(len(s.requestIDs)) != version*requestIDSize {
		return GameState{}, fmt.Errorf("%w: state of %s version %d remembers %d bytes of request ids", ErrMalformed, game, version, len(s.requestIDs))
	}
	for _, b := range m.GetDeck() {
		s.Deck = append(s.Deck, engine.Card(b))
	}
	return s, nil
}
