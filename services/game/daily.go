package game

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
)

// challenge is a day's challenge as the log has it.
type challenge struct {
	record.Daily
	revision eventlog.Revision // of its last record
}

// challenge returns the challenge of the day that opens then. That of today is
// made if it is not there: whoever stores it first, of any number of instances,
// has made it for all.
func (s *Service) challenge(ctx context.Context, opens time.Time, rules engine.Ruleset, now time.Time) (challenge, error) {
	c, err := s.loadChallenge(ctx, opens, rules)
	if !errors.Is(err, eventlog.ErrNotFound) {
		return c, err
	}
	if !opens.Equal(record.DailyOpensAt(now)) || !s.ranked[rules.ID()] {
		return challenge{}, &DailyNotFoundError{Date: opens.Format(time.DateOnly), RulesetID: rules.ID()}
	}
	// By chance, never by a formula: nobody can know a deck before its day.
	seed, err := s.seeds()
	if err != nil {
		return challenge{}, fmt.Errorf("make a seed: %w", err)
	}
	if c.Daily, err = record.NewDaily(opens, rules, seed); err != nil {
		return challenge{}, err
	}
	err = s.appendChallenge(ctx, &c, func(id [16]byte) (eventlog.Event, error) {
		return s.keys.EncodeDailyChallenge(c.Daily, id, now)
	})
	if errors.Is(err, eventlog.ErrConflict) {
		if c, err = s.loadChallenge(ctx, opens, rules); errors.Is(err, eventlog.ErrNotFound) {
			// For a moment after an election, a leader may not know of it.
			err = fmt.Errorf("%w: %s", eventlog.ErrUnavailable, err.Error())
		}
	}
	return c, err
}

// loadChallenge returns a challenge as the log's leader knows it, or
// eventlog.ErrNotFound.
func (s *Service) loadChallenge(ctx context.Context, opens time.Time, rules engine.Ruleset) (challenge, error) {
	e, err := s.log.LoadControl(ctx, record.DailySubject(opens, rules))
	if err != nil {
		return challenge{}, fmt.Errorf("load the challenge of %s by %s: %w", opens.Format(time.DateOnly), rules.ID(), err)
	}
	d, err := s.keys.DecodeDaily(e)
	if err != nil {
		return challenge{}, fmt.Errorf("read the challenge of %s by %s: %w", opens.Format(time.DateOnly), rules.ID(), err)
	}
	return challenge{d, eventlog.Revision(e.Position.Sequence)}, nil
}

// reveal makes sure that the log tells the secrets of a challenge, which must be
// final.
func (s *Service) reveal(ctx context.Context, c challenge) error {
	if !c.Revealed {
		err := s.appendChallenge(ctx, &c, func(id [16]byte) (eventlog.Event, error) {
			return record.EncodeDailyReveal(c.Daily, id, s.clock())
		})
		// Nothing else can follow a challenge, so another instance was first.
		if err != nil && !errors.Is(err, eventlog.ErrConflict) {
			return err
		}
	}
	s.revealed.Add(record.DailySubject(c.OpensAt, c.Fresh.Rules()), struct{}{})
	return nil
}

// appendChallenge stores an event of a challenge after its revision.
func (s *Service) appendChallenge(ctx context.Context, c *challenge, encode func(id [16]byte) (eventlog.Event, error)) error {
	if err := s.provisionControl(ctx); err != nil {
		return err
	}
	var id [16]byte
	rand.Read(id[:])
	event, err := encode(id)
	if err != nil {
		return err
	}
	position, err := s.log.AppendControl(ctx, record.DailySubject(c.OpensAt, c.Fresh.Rules()), c.revision, event)
	if err != nil {
		return storeError(err, fmt.Sprintf("version %d of the challenge of %s by %s", event.Version, c.Date(), c.Fresh.Rules().ID()))
	}
	c.revision = eventlog.Revision(position.Sequence)
	return nil
}

// provisionControl makes the control stream ready, once.
func (s *Service) provisionControl(ctx context.Context) error {
	if s.controlReady.Load() {
		return nil
	}
	if err := s.log.ProvisionControl(ctx); err != nil {
		return fmt.Errorf("provision the control stream: %w", err)
	}
	s.controlReady.Store(true)
	return nil
}

// startDaily starts the caller's attempt at today's challenge, or returns the
// one there is as it stands. Its id follows from player, day and ruleset, so that
// the log's compare-and-set alone lets there be no second one.
func (s *Service) startDaily(ctx context.Context, rules engine.Ruleset, requestID string, hash []byte) (loaded, error) {
	caller, now := rpckit.Caller(ctx), s.clock()
	opens := record.DailyOpensAt(now)
	if requestID != "" {
		// The request may have been made first on the other side of midnight.
		g, err := s.load(ctx, dailyID(opens.AddDate(0, 0, -1), caller.PlayerID, rules))
		if err != nil && !isNotFound(err) {
			return loaded{}, err
		}
		if err == nil && g.State.VersionOf(requestID) == 1 {
			return s.repeat(ctx, g, 1, requestID, hash)
		}
	}
	id := dailyID(opens, caller.PlayerID, rules)
	g, err := s.load(ctx, id)
	if isNotFound(err) {
		var c challenge
		if c, err = s.challenge(ctx, opens, rules, now); err != nil {
			return loaded{}, err
		}
		g, err = s.deal(ctx, id, eventv1.GameMode_GAME_MODE_DAILY, c.Fresh, now, requestID, hash)
		if !errors.Is(err, eventlog.ErrConflict) {
			return g, err
		}
		g, err = s.load(ctx, id)
	}
	if err == nil && g.State.VersionOf(requestID) == 1 {
		return s.repeat(ctx, g, 1, requestID, hash)
	}
	return g, err
}

func dailyID(opens time.Time, playerID string, rules engine.Ruleset) eventlog.GameID {
	return eventlog.DeriveGameID(eventlog.EpochOf(opens), "daily", playerID, opens.Format(time.DateOnly), rules.ID())
}

// isFinal tells whether g is an attempt at a challenge that is final now. An
// attempt belongs to the day of its start.
func isFinal(g loaded, now time.Time) bool {
	return g.State.Mode == eventv1.GameMode_GAME_MODE_DAILY && !now.Before(record.DailyFinalAt(g.State.StartedAt))
}

// endLate ends an attempt that still runs though its challenge is final as
// abandoned, and returns it so.
func (s *Service) endLate(ctx context.Context, g loaded, now time.Time) (loaded, error) {
	facts, err := g.State.Engine.Resign(nil)
	if err != nil {
		return loaded{}, fmt.Errorf("end game %s: %w", g.Game, err)
	}
	// Under no request id: a repeat of a late move is told the same as the move.
	next := g.State.Remember("")
	if next.Engine, err = g.State.Engine.EvolveAll(facts); err != nil {
		return loaded{}, fmt.Errorf("end game %s: %w", g.Game, err)
	}
	return s.append(ctx, record.Command{
		Game: g.Game, PlayerID: g.PlayerID, Actor: g.Actor, RecordedAt: now,
		Facts: facts, After: next, Previous: eventlog.Revision(g.position.Sequence),
	})
}

// overOf returns an attempt whose challenge is final as over, so that one which
// nobody plays on does not stay active for ever. Its reader does not wait for the
// log: while that takes no end, he gets the attempt as it is stored, which is
// what is so, and the next reader tries again.
func (s *Service) overOf(ctx context.Context, g loaded, now time.Time) loaded {
	if g.State.Engine.Status().Over() {
		return g
	}
	ended, err := s.endLate(ctx, g, now)
	if errors.Is(err, eventlog.ErrConflict) {
		ended, err = s.load(ctx, g.Game) // something else was first: another reader, or a last move
	}
	if err != nil {
		s.logger.WarnContext(ctx, "an attempt at a final challenge is not ended yet", "game", g.Game, "error", err)
		return g
	}
	s.cache.Add(g.Game, ended)
	return ended
}

// revealOf makes sure that the log tells the secrets of the challenge of an
// attempt, which must be final. The reader of a game does not wait for another
// try: what he reads stands in the game itself.
func (s *Service) revealOf(ctx context.Context, g loaded) {
	rules := g.State.Engine.Rules()
	if s.revealed.Contains(record.DailySubject(g.State.StartedAt, rules)) {
		return
	}
	c, err := s.loadChallenge(ctx, record.DailyOpensAt(g.State.StartedAt), rules)
	if err == nil {
		err = s.reveal(ctx, c)
	}
	if err != nil {
		s.logger.WarnContext(ctx, "a final challenge is not revealed yet", "game", g.Game, "error", err)
	}
}
