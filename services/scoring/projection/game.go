package projection

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
)

// ErrImplausible is the error of a record that says what no game can lead to.
// Its game is never shown.
var ErrImplausible = errors.New("implausible record")

// Game is a game as it is stored and shown: a finished one, or, with no outcome
// and no end, one that is running.
type Game struct {
	// GameID is the game.
	GameID string
	// PlayerID is the player who owns it.
	PlayerID string
	// ActorKind is who played.
	ActorKind eventv1.ActorKind
	// RulesetID is the canonical name of its rules.
	RulesetID string
	// Mode is where its deck came from.
	Mode eventv1.GameMode
	// Outcome is how it ended.
	Outcome rulesv1.Outcome
	// Score is its score; 0 and without a meaning where Scored says no.
	Score int
	// Moves counts the accepted moves.
	Moves uint32
	// StartedAt and EndedAt are record times.
	StartedAt, EndedAt time.Time
	// Stream and Sequence are the place of its last record in the log.
	Stream   string
	Sequence uint64
}

// Running tells whether the game is not over.
func (g Game) Running() bool { return g.Outcome == rulesv1.Outcome_OUTCOME_UNSPECIFIED }

// Scored tells whether the game has a score: an abandoned one has none.
func (g Game) Scored() bool {
	return g.Outcome == rulesv1.Outcome_OUTCOME_WON || g.Outcome == rulesv1.Outcome_OUTCOME_LOST
}

// Ranked tells whether the game stands for boards: those of its ruleset, or that
// of its daily challenge. Which boards there are is the reader's to say.
func (g Game) Ranked() bool {
	return g.Scored() && (g.Mode == eventv1.GameMode_GAME_MODE_RANDOM || g.Mode == eventv1.GameMode_GAME_MODE_DAILY)
}

// Key returns the game's place in the order of a board.
func (g Game) Key() Key {
	k := Key{Score: g.Score, Moves: math.MaxUint32, EndedAt: g.EndedAt, Stream: g.Stream, Sequence: g.Sequence}
	if g.Outcome == rulesv1.Outcome_OUTCOME_WON {
		k.Moves = g.Moves
	}
	return k
}

// Apply returns the game that a record starts or finishes, or nil for one that
// does neither. It depends on nothing but its arguments.
//
// The score is computed here from the facts and checked against what the
// ruleset allows; a record that fails is ErrImplausible. A mode or a kind of
// actor that this program does not know is record.ErrNewerSchema.
func Apply(s record.Summary, at eventlog.Position) (*Game, error) {
	if s.Over == nil && s.Start == nil {
		return nil, nil
	}
	if s.Over == nil {
		return started(s, at)
	}
	o := s.Over
	g := Game{
		GameID:    s.Game.String(),
		PlayerID:  s.PlayerID,
		ActorKind: s.Actor,
		RulesetID: o.Rules.ID(),
		Mode:      o.Mode,
		Outcome:   outcome(o.Outcome),
		Moves:     uint32(o.Moves),
		StartedAt: o.StartedAt.UTC(),
		EndedAt:   s.RecordedAt.UTC(),
		Stream:    at.Stream,
		Sequence:  at.Sequence,
	}
	if o.Mode > eventv1.GameMode_GAME_MODE_DAILY || s.Actor > eventv1.ActorKind_ACTOR_KIND_BOT {
		return nil, fmt.Errorf("%w: game %s has mode %v and actor %v", record.ErrNewerSchema, g.GameID, o.Mode, s.Actor)
	}
	if o.Mode <= 0 || s.Actor <= 0 || o.Moves < 0 || o.Moves > math.MaxUint32 || !storable(g.StartedAt) || !storable(g.EndedAt) {
		return nil, fmt.Errorf("%w: game %s has mode %v, actor %v, %d moves and lasts from %v to %v", ErrImplausible, g.GameID, o.Mode, s.Actor, o.Moves, g.StartedAt, g.EndedAt)
	}
	if !g.Scored() {
		return &g, nil
	}
	score, ok := engine.Score(o.Over)
	if !ok || !plausible(o.Over, score) {
		return nil, fmt.Errorf("%w: game %s by %s is %v with health %d and score %d", ErrImplausible, g.GameID, g.RulesetID, o.Outcome, o.Health, score)
	}
	g.Score = score
	return &g, nil
}

// started returns the game that a first record starts.
func started(s record.Summary, at eventlog.Position) (*Game, error) {
	g := Game{
		GameID: s.Game.String(), PlayerID: s.PlayerID, ActorKind: s.Actor, RulesetID: s.Start.Rules.ID(), Mode: s.Start.Mode,
		StartedAt: s.RecordedAt.UTC(), Stream: at.Stream, Sequence: at.Sequence,
	}
	if g.Mode > eventv1.GameMode_GAME_MODE_DAILY || s.Actor > eventv1.ActorKind_ACTOR_KIND_BOT {
		return nil, fmt.Errorf("%w: game %s has mode %v and actor %v", record.ErrNewerSchema, g.GameID, g.Mode, s.Actor)
	}
	if g.Mode <= 0 || s.Actor <= 0 || !storable(g.StartedAt) {
		return nil, fmt.Errorf("%w: game %s has mode %v, actor %v and starts at %v", ErrImplausible, g.GameID, g.Mode, s.Actor, g.StartedAt)
	}
	return &g, nil
}

// plausible tells whether a game can end with that score. It catches faults of
// programs, not forgers: those who can write to the log can write a whole game.
func plausible(o engine.Over, score int) bool {
	lowest, highest := o.Rules.ScoreBounds()
	if score < lowest || score > highest {
		return false
	}
	if o.Outcome == engine.StatusWon {
		return o.Health > 0 && o.Health <= engine.MaxHealth
	}
	return o.Health <= 0 && score <= 0
}

func outcome(s engine.Status) rulesv1.Outcome {
	switch s {
	case engine.StatusWon:
		return rulesv1.Outcome_OUTCOME_WON
	case engine.StatusLost:
		return rulesv1.Outcome_OUTCOME_LOST
	default:
		return rulesv1.Outcome_OUTCOME_ABANDONED
	}
}

// storable tells whether a time survives the way through a store, which keeps
// it as nanoseconds in 64 bits.
func storable(t time.Time) bool {
	return time.Unix(0, t.UnixNano()).Equal(t)
}
