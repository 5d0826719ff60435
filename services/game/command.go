package game

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
)

// command is a request to change a game that exists.
type command struct {
	game            string
	move            engine.Move // the zero Move resigns
	expectedVersion uint64
	requestID       string
}

// hash is what the request asks, without its id: a repeat must ask the same.
func (c command) hash() []byte {
	return requestHash(c.requestID, "command", c.game, c.move.String(), fmt.Sprint(c.expectedVersion))
}

// requestHash returns nothing for a request without an id, which cannot be
// repeated.
func requestHash(requestID string, parts ...string) []byte {
	if requestID == "" {
		return nil
	}
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return h.Sum(nil)
}

// maxConflicts is how often a command is decided anew because another one got
// in first, before it is given up.
const maxConflicts = 4

// execute decides a command, stores what it leads to and returns the game after
// it. The cache is only a hint: whatever it makes the command fail for is
// looked at again in a game that the log's leader has just returned.
func (s *Service) execute(ctx context.Context, c command) (loaded, error) {
	id, err := eventlog.ParseGameID(c.game)
	if err != nil {
		return loaded{}, &NotFoundError{GameID: c.game}
	}
	g, cached := s.cache.Get(id)
	for conflicts := 0; ; {
		if !cached {
			if g, err = s.load(ctx, id); err != nil {
				return loaded{}, err
			}
		}
		after, err := s.try(ctx, g, c)
		switch {
		case err == nil:
			s.cache.Add(id, after)
			return after, nil
		case errors.Is(err, eventlog.ErrConflict):
			if conflicts++; conflicts > maxConflicts {
				return loaded{}, &VersionMismatchError{GameID: c.game, Version: g.Version}
			}
			if err := pause(ctx, time.Duration(1+mathrand.IntN(5*conflicts))*time.Millisecond); err != nil {
				return loaded{}, err
			}
		case !cached || isStorage(err):
			s.cache.Remove(id)
			return loaded{}, err
		}
		cached = false
	}
}

// isStorage tells whether err came from storing a command, and not from
// deciding it on a state that may have been stale.
func isStorage(err error) bool {
	return errors.Is(err, errNotStored) || errors.Is(err, eventlog.ErrUnknownOutcome) ||
		errors.Is(err, eventlog.ErrFull) || errors.Is(err, eventlog.ErrTooLarge)
}

// try decides a command on g and stores it. eventlog.ErrConflict means that g
// was not the last word.
func (s *Service) try(ctx context.Context, g loaded, c command) (loaded, error) {
	caller := rpckit.Caller(ctx)
	if g.PlayerID != caller.PlayerID {
		return loaded{}, &NotYourGameError{GameID: c.game}
	}
	if v := g.State.VersionOf(c.requestID); v != 0 {
		return s.repeat(ctx, g, v, c.requestID, c.hash())
	}
	now := s.clock().UTC()
	if c.move != (engine.Move{}) && isFinal(g, now) {
		if !g.State.Engine.Status().Over() {
			if _, err := s.endLate(ctx, g, now); err != nil {
				return loaded{}, err
			}
		}
		return loaded{}, &DailyClosedError{GameID: c.game}
	}
	if c.expectedVersion != 0 && c.expectedVersion != g.Version {
		return loaded{}, &VersionMismatchError{GameID: c.game, Version: g.Version}
	}
	facts, err := decide(&g.State.Engine, c.move)
	if err != nil {
		return loaded{}, &MoveError{GameID: c.game, Version: g.Version, Move: c.move, Err: err}
	}
	next := g.State.Remember(c.requestID)
	if next.Engine, err = g.State.Engine.EvolveAll(facts); err != nil {
		return loaded{}, fmt.Errorf("evolve game %s: %w", c.game, err)
	}
	return s.append(ctx, record.Command{
		Game: g.Game, PlayerID: g.PlayerID, Actor: caller.Actor, RequestID: c.requestID, RequestHash: c.hash(), RecordedAt: now,
		Move: c.move, Facts: facts, After: next, Previous: eventlog.Revision(g.position.Sequence),
	})
}

func decide(state *engine.State, move engine.Move) ([]engine.Fact, error) {
	if move == (engine.Move{}) {
		return state.Resign(nil)
	}
	return state.Decide(move, nil)
}

// repeat answers a request whose id made a version of g.
func (s *Service) repeat(ctx context.Context, g loaded, version uint64, requestID string, hash []byte) (loaded, error) {
	first, err := s.version(ctx, g, version)
	if err != nil {
		return loaded{}, err
	}
	if first.Message.GetRequestId() != requestID || string(first.Message.GetRequestHash()) != string(hash) {
		return loaded{}, &RequestIDReusedError{GameID: g.Game.String(), Version: version}
	}
	return first, nil
}

// outcome returns what a command's answer shows: the game as its version left it,
// and what happened.
func (s *Service) outcome(g loaded) (*gamev1.Game, []*eventv1.Fact, error) {
	told := isTold(g, s.clock())
	game, err := view(g, told)
	if err != nil {
		return nil, nil, err
	}
	facts, err := s.keys.PublicFacts(g.Stored, told)
	return game, facts, err
}

// append stores a command and returns the game after it.
func (s *Service) append(ctx context.Context, c record.Command) (loaded, error) {
	rand.Read(c.EventID[:])
	if c.After.StartedAt.IsZero() {
		c.After.StartedAt = c.RecordedAt
	}
	event, stored, err := s.keys.Encode(c)
	if err != nil {
		return loaded{}, err
	}
	position, err := s.log.Append(ctx, c.Game, c.Previous, event)
	if err != nil {
		return loaded{}, storeError(err, fmt.Sprintf("version %d of game %s", event.Version, c.Game))
	}
	return loaded{stored, position}, nil
}

// storeError returns what the failure of an append means to a command.
func storeError(err error, what string) error {
	if errors.Is(err, eventlog.ErrUnavailable) {
		return fmt.Errorf("%w: %w", errNotStored, err)
	}
	return fmt.Errorf("store %s: %w", what, err)
}

// pause waits for d or the end of ctx, which it returns.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
