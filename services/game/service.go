// Package game is the game service: it starts games, accepts moves that the
// rules allow and stores every accepted command as one event.
//
// It keeps nothing but a cache: the event log's compare-and-set decides, so any
// number of instances may serve the same games.
package game

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"google.golang.org/grpc"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
)

// Config is what the service needs.
type Config struct {
	// Log is the event log. Required.
	Log eventlog.Log
	// Keys seal what no reader of the log may see. Required.
	Keys *record.Keyset
	// Ranked holds the ids of the rulesets that have a leaderboard.
	Ranked []string
	// Logger is where the service reports. Required.
	Logger *slog.Logger
	// Clock tells the time; time.Now if nil.
	Clock func() time.Time
	// Seeds makes the seed of each RANDOM game and daily challenge; the system's random source if
	// nil. Only tests may set it.
	Seeds func() (engine.Seed, error)
}

// cacheSize is how many games the cache holds; a game takes about 2 kB.
const cacheSize = 16 << 10

// revealedSize is how many challenges are known to be revealed: some weeks of
// many rulesets.
const revealedSize = 1 << 10

// Service is the game service.
type Service struct {
	gamev1.UnimplementedGameServiceServer

	log    eventlog.Log
	keys   *record.Keyset
	ranked map[string]bool
	logger *slog.Logger
	clock  func() time.Time
	seeds  func() (engine.Seed, error)
	cache  *lru.Cache[eventlog.GameID, loaded]
	// revealed holds challenges whose secrets the log is known to tell.
	revealed *lru.Cache[eventlog.ControlSubject, struct{}]

	mu     sync.Mutex
	epochs map[eventlog.Epoch]bool // whose streams are known to be ready

	controlReady atomic.Bool // whether the control stream is known to be ready
}

// New returns the service once it has made sure that the keys open what the
// log holds.
func New(ctx context.Context, cfg Config) (*Service, error) {
	cache, err := lru.New[eventlog.GameID, loaded](cacheSize)
	if err != nil {
		return nil, fmt.Errorf("make the cache: %w", err)
	}
	revealed, err := lru.New[eventlog.ControlSubject, struct{}](revealedSize)
	if err != nil {
		return nil, fmt.Errorf("make the cache of challenges: %w", err)
	}
	s := &Service{
		log: cfg.Log, keys: cfg.Keys, ranked: map[string]bool{}, logger: cfg.Logger,
		clock: cfg.Clock, seeds: cfg.Seeds, cache: cache, revealed: revealed, epochs: map[eventlog.Epoch]bool{},
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.seeds == nil {
		s.seeds = randomSeed
	}
	for _, id := range cfg.Ranked {
		if _, err := engine.ParseRulesetID(id); err != nil {
			return nil, fmt.Errorf("ranked ruleset %q: %w", id, err)
		}
		s.ranked[id] = true
	}
	if err := s.checkKeys(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

func randomSeed() (engine.Seed, error) {
	var seed engine.Seed
	_, err := rand.Read(seed[:])
	return seed, err
}

// checkKeys opens the last record of every stream: a wrong key must stop the
// start, not the first player's move.
func (s *Service) checkKeys(ctx context.Context) error {
	streams, err := s.log.Streams(ctx)
	if err != nil {
		return fmt.Errorf("list the streams: %w", err)
	}
	for _, stream := range streams {
		if stream.LastSequence == 0 {
			continue
		}
		last, err := s.log.Event(ctx, stream.Name, stream.LastSequence)
		if errors.Is(err, eventlog.ErrNotFound) {
			return fmt.Errorf("%w: %s ends at %d, where there is no record; restore the event log from a backup", eventlog.ErrDamaged, stream.Name, stream.LastSequence)
		}
		if err != nil {
			return fmt.Errorf("read the last record of %s: %w", stream.Name, err)
		}
		if err := s.keys.Check(last.Event); err != nil {
			return fmt.Errorf("the keyset does not open the games in %s: %w", stream.Name, err)
		}
	}
	return nil
}

// Bind registers the service.
func (s *Service) Bind(r grpc.ServiceRegistrar) { gamev1.RegisterGameServiceServer(r, s) }

// Ready tells whether commands can be stored now.
func (s *Service) Ready(ctx context.Context) error {
	if err := s.provision(ctx, eventlog.EpochOf(s.clock())); err != nil {
		return err
	}
	if err := s.provisionControl(ctx); err != nil {
		return err
	}
	return s.log.Ready(ctx)
}

// provision makes the stream of an epoch ready, once.
func (s *Service) provision(ctx context.Context, epoch eventlog.Epoch) error {
	s.mu.Lock()
	ready := s.epochs[epoch]
	s.mu.Unlock()
	if ready {
		return nil
	}
	if err := s.log.Provision(ctx, epoch); err != nil {
		return fmt.Errorf("provision epoch %s: %w", epoch, err)
	}
	s.mu.Lock()
	s.epochs[epoch] = true
	s.mu.Unlock()
	return nil
}

// loaded is a game as its last record, or an earlier one, leaves it.
type loaded struct {
	record.Stored
	position eventlog.Position
}

// load returns the game as the log's leader knows it.
func (s *Service) load(ctx context.Context, id eventlog.GameID) (loaded, error) {
	last, err := s.log.Load(ctx, id)
	if errors.Is(err, eventlog.ErrNotFound) {
		return loaded{}, &NotFoundError{GameID: id.String()}
	}
	if err != nil {
		return loaded{}, fmt.Errorf("load game %s: %w", id, err)
	}
	g, err := s.open(ctx, last)
	if err != nil {
		return loaded{}, err
	}
	s.cache.Add(id, g)
	return g, nil
}

// open reads a stored event. A state that cannot be used is folded from the
// history instead.
func (s *Service) open(ctx context.Context, e eventlog.Stored) (loaded, error) {
	r, err := s.keys.Decode(e.Data)
	if errors.Is(err, record.ErrStateUnusable) {
		s.logger.WarnContext(ctx, "folding a game whose stored state cannot be used", "game", e.Game, "version", e.Version, "error", err)
		r.State, err = s.fold(ctx, e)
	}
	if err != nil {
		return loaded{}, fmt.Errorf("read game %s version %d: %w", e.Game, e.Version, err)
	}
	return loaded{r, e.Position}, inPlace(r, e)
}

// read reads a stored event but for its state.
func read(e eventlog.Stored) (record.Stored, error) {
	r, err := record.Read(e.Data)
	if err != nil {
		return r, fmt.Errorf("read game %s version %d: %w", e.Game, e.Version, err)
	}
	return r, inPlace(r, e)
}

// inPlace tells whether an event holds the record of its own game and version.
func inPlace(r record.Stored, e eventlog.Stored) error {
	if r.Game != e.Game || r.Version != e.Version {
		return fmt.Errorf("%w: %s version %d holds a record of %s version %d", eventlog.ErrDamaged, e.Game, e.Version, r.Game, r.Version)
	}
	return nil
}

// fold returns the state after e from the game's history up to it.
func (s *Service) fold(ctx context.Context, e eventlog.Stored) (record.GameState, error) {
	var history [][]byte
	for h, err := range s.log.History(ctx, e.Game, 1) {
		if err != nil {
			return record.GameState{}, err
		}
		history = append(history, h.Data)
		if h.Version == e.Version {
			return s.keys.Fold(history)
		}
	}
	return record.GameState{}, fmt.Errorf("%w: the history of %s ends before version %d", eventlog.ErrUnavailable, e.Game, e.Version)
}

// version returns the game at an earlier version than g's.
func (s *Service) version(ctx context.Context, g loaded, version uint64) (loaded, error) {
	if version == g.Version {
		return g, nil
	}
	if version > g.Version {
		return loaded{}, &VersionNotFoundError{GameID: g.Game.String(), Version: g.Version}
	}
	for e, err := range s.log.History(ctx, g.Game, version) {
		if err != nil {
			return loaded{}, fmt.Errorf("read game %s version %d: %w", g.Game, version, err)
		}
		return s.open(ctx, e)
	}
	// A replica that answers may lag behind the leader that g came from.
	return loaded{}, fmt.Errorf("%w: version %d of %s is not there yet", eventlog.ErrUnavailable, version, g.Game)
}
