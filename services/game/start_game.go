package game

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
)

// StartGame implements gamev1.GameServiceServer.
func (s *Service) StartGame(ctx context.Context, req *gamev1.StartGameRequest) (*gamev1.StartGameResponse, error) {
	rules, err := startRules(req)
	if err != nil {
		return nil, err
	}
	mode, seed, err := s.startDeck(req)
	if err != nil {
		return nil, err
	}
	hash := requestHash(req.GetRequestId(), "start", rules.ID(), mode.String(), string(req.GetSeed()))
	var g loaded
	if mode == eventv1.GameMode_GAME_MODE_DAILY {
		g, err = s.startDaily(ctx, rules, req.GetRequestId(), hash)
	} else {
		g, err = s.start(ctx, mode, rules, seed, req.GetRequestId(), hash)
	}
	if err != nil {
		return nil, err
	}
	game, facts, err := s.outcome(g)
	if err != nil {
		return nil, err
	}
	return &gamev1.StartGameResponse{Game: game, Facts: facts, ConsistencyToken: g.position.Token()}, nil
}

// startRules returns the rules that a request asks for.
func startRules(req *gamev1.StartGameRequest) (engine.Ruleset, error) {
	if m := req.GetRuleset(); m != nil {
		rules, err := record.RulesetFromProto(m)
		if err != nil {
			if bad := new(engine.RulesetError); errors.As(err, &bad) {
				return rules, &FieldError{Field: "ruleset." + bad.Field, Problem: strconv.Quote(bad.Value) + " " + bad.Problem}
			}
			return rules, &FieldError{Field: "ruleset", Problem: err.Error()}
		}
		return rules, nil
	}
	name := req.GetPreset()
	if name == "" {
		return engine.Presets()[0].Rules, nil
	}
	preset, ok := engine.PresetByName(name)
	if !ok {
		return engine.Ruleset{}, &PresetUnknownError{Preset: name}
	}
	return preset.Rules, nil
}

// startDeck returns the mode that a request asks for and the seed of its deck,
// which a DAILY game takes from its challenge.
func (s *Service) startDeck(req *gamev1.StartGameRequest) (eventv1.GameMode, engine.Seed, error) {
	if req.GetMode() == eventv1.GameMode_GAME_MODE_SEEDED {
		if len(req.GetSeed()) != len(engine.Seed{}) {
			return 0, engine.Seed{}, &FieldError{Field: "seed", Problem: fmt.Sprintf("must be %d bytes, not %d", len(engine.Seed{}), len(req.GetSeed()))}
		}
		return eventv1.GameMode_GAME_MODE_SEEDED, engine.Seed(req.GetSeed()), nil
	}
	if len(req.GetSeed()) > 0 {
		return 0, engine.Seed{}, &FieldError{Field: "seed", Problem: "goes with mode SEEDED only"}
	}
	if req.GetMode() == eventv1.GameMode_GAME_MODE_DAILY {
		return eventv1.GameMode_GAME_MODE_DAILY, engine.Seed{}, nil
	}
	seed, err := s.seeds()
	if err != nil {
		return 0, engine.Seed{}, fmt.Errorf("make a seed: %w", err)
	}
	return eventv1.GameMode_GAME_MODE_RANDOM, seed, nil
}

// start stores the first record of a game, or finds the game that the same
// request started before.
func (s *Service) start(ctx context.Context, mode eventv1.GameMode, rules engine.Ruleset, seed engine.Seed, requestID string, hash []byte) (loaded, error) {
	caller, now := rpckit.Caller(ctx), s.clock()
	id := eventlog.NewGameID(now)
	if requestID != "" {
		id = startID(eventlog.EpochOf(now), caller.PlayerID, requestID)
		// The request may have been made first on the other side of the edge of
		// an epoch. Within the epoch, the log's compare-and-set finds it.
		before := startID(eventlog.EpochOf(startOfQuarter(now).Add(-time.Nanosecond)), caller.PlayerID, requestID)
		if g, err := s.restart(ctx, before, requestID, hash); !isNotFound(err) {
			return g, err
		}
	}
	fresh, err := engine.NewGame(rules, seed)
	if err != nil {
		return loaded{}, err
	}
	g, err := s.deal(ctx, id, mode, fresh, now, requestID, hash)
	if errors.Is(err, eventlog.ErrConflict) {
		return s.restart(ctx, id, requestID, hash)
	}
	return g, err
}

// deal stores the first record of the caller's game, which starts now.
// eventlog.ErrConflict means that the game is there.
func (s *Service) deal(ctx context.Context, id eventlog.GameID, mode eventv1.GameMode, fresh engine.State, now time.Time, requestID string, hash []byte) (loaded, error) {
	if err := s.provision(ctx, id.Epoch()); err != nil {
		return loaded{}, err
	}
	state, facts := record.NewGameState(mode, fresh), fresh.Open(nil)
	var err error
	if state.Engine, err = fresh.EvolveAll(facts); err != nil {
		return loaded{}, fmt.Errorf("start game %s: %w", id, err)
	}
	caller := rpckit.Caller(ctx)
	g, err := s.append(ctx, record.Command{
		Game: id, PlayerID: caller.PlayerID, Actor: caller.Actor, RequestID: requestID, RequestHash: hash,
		// The time that decided the epoch and the day, not a later one.
		RecordedAt: now.UTC(),
		Facts:      facts, After: state.Remember(requestID),
	})
	if err == nil {
		s.cache.Add(id, g)
	}
	return g, err
}

// restart returns the start of a game that exists, if this request started it.
func (s *Service) restart(ctx context.Context, id eventlog.GameID, requestID string, hash []byte) (loaded, error) {
	g, err := s.load(ctx, id)
	if err != nil {
		return loaded{}, err
	}
	return s.repeat(ctx, g, 1, requestID, hash)
}

func startID(epoch eventlog.Epoch, playerID, requestID string) eventlog.GameID {
	return eventlog.DeriveGameID(epoch, "start", playerID, requestID)
}

func isNotFound(err error) bool {
	var e *NotFoundError
	return errors.As(err, &e)
}

func startOfQuarter(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), (t.Month()-1)/3*3+1, 1, 0, 0, 0, 0, time.UTC)
}
