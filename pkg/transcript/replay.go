package transcript

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
)

// replay is a game that is played again from its seed.
type replay struct {
	state engine.State
	over  record.Over // what the engine does not know of the game's end
}

func newReplay(rules engine.Ruleset, seed engine.Seed, mode eventv1.GameMode, startedAt *timestamppb.Timestamp) (*replay, error) {
	state, err := engine.NewGame(rules, seed)
	if err != nil {
		return nil, err
	}
	return &replay{state: state, over: record.Over{Mode: mode, StartedAt: startedAt.AsTime()}}, nil
}

// open starts the game, and returns what happened.
func (r *replay) open() ([]*eventv1.Fact, error) { return r.happen(r.state.Open(nil)) }

// play makes a move, or resigns where it is nil, and returns what happened. Its error says why that is
// not possible.
func (r *replay) play(m *rulesv1.Move) ([]*eventv1.Fact, error) {
	if m == nil {
		facts, err := r.state.Resign(nil)
		if err != nil {
			return nil, err
		}
		return r.happen(facts)
	}
	move, err := record.MoveFromProto(m)
	if err != nil {
		return nil, err
	}
	facts, err := r.state.Decide(move, nil)
	if err != nil {
		return nil, err
	}
	return r.happen(facts)
}

// happen applies facts that the rules decided, and returns their messages.
func (r *replay) happen(facts []engine.Fact) ([]*eventv1.Fact, error) {
	var messages []*eventv1.Fact
	for _, f := range facts {
		m, err := r.message(f)
		if err != nil {
			return nil, err
		}
		messages = append(messages, m)
	}
	var err error
	r.state, err = r.state.EvolveAll(facts)
	return messages, err
}

// message returns the public message of a fact that is about to happen.
func (r *replay) message(f engine.Fact) (*eventv1.Fact, error) {
	if f.Kind != engine.FactGameStarted {
		return record.FactToProto(f, r.over)
	}
	return r.started(int32(f.Health)), nil
}

// started returns the message of the game's first fact.
func (r *replay) started(health int32) *eventv1.Fact {
	rules := r.state.Rules()
	return &eventv1.Fact{Kind: &eventv1.Fact_GameStarted{GameStarted: &eventv1.GameStarted{
		Mode:        r.over.Mode,
		Ruleset:     record.RulesetToProto(rules),
		Health:      health,
		DungeonSize: uint32(len(rules.Deck())),
		Commitment:  r.state.Seed().Commitment(),
	}}}
}

// repeating returns what a fact must be that tells the same by whatever rules: these decide neither the seed nor
// what the first and the last fact repeat of the game's start.
func (r *replay) repeating(m *eventv1.Fact) *eventv1.Fact {
	switch {
	case m.GetGameStarted() != nil:
		return r.started(m.GetGameStarted().GetHealth())
	case m.GetGameOver() != nil:
		m = proto.CloneOf(m)
		over := m.GetGameOver()
		over.Ruleset = record.RulesetToProto(r.state.Rules())
		over.StartedAt = timestamppb.New(r.over.StartedAt)
		over.Mode = r.over.Mode
	}
	return m
}

// fold applies a fact that is taken as it is told.
func (r *replay) fold(m *eventv1.Fact) error {
	f, err := record.FactFromProto(m)
	if err != nil {
		return err
	}
	r.state, err = r.state.Evolve(f)
	return err
}

// room names the current room: its number and its cards.
func (r *replay) room() string {
	return fmt.Sprintf("%d. %s", r.state.RoomNumber(), strings.Join(cardNames(r.state.Room()), " "))
}

// score returns the game's score, nil where it has none.
func (r *replay) score() *int32 {
	n, ok := r.state.Score()
	if !ok {
		return nil
	}
	return new(int32(n))
}

// cardNames returns the notation of cards.
func cardNames(cards []engine.Card) []string {
	names := make([]string, len(cards))
	for i, c := range cards {
		names[i] = c.String()
	}
	return names
}
