// Package scoundrel is everything in one process: the game, the scoring, the
// profile and the moderation service with an embedded NATS server and an SQLite database, and the
// command line around them.
package scoundrel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/jetlog"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	moderationv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/moderation/v1"
	profilev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/profile/v1"
	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
	"github.com/scoundrel-game/scoundrel/services/game"
	"github.com/scoundrel-game/scoundrel/services/moderation"
	"github.com/scoundrel-game/scoundrel/services/profile"
	"github.com/scoundrel-game/scoundrel/services/profile/kvstore"
	"github.com/scoundrel-game/scoundrel/services/scoring"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/postgres"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/sqlite"
)

// What lies in the data folder.
const (
	lockFile     = "lock"
	keysetFile   = "keyset.json"
	natsFolder   = "nats"
	databaseFile = "scores.db"
	// moderatorFile holds the token that makes a caller a moderator. Unlike the
	// keyset it opens no deck, so it can be given to people.
	moderatorFile = "moderator.token"
)

// Errors of New. Each says in one line what to do.
var (
	// ErrDataInUse: another process uses the data folder.
	ErrDataInUse = errors.New("the data folder is in use by another process")
	// ErrKeysetMissing: the log holds games that nothing can open.
	ErrKeysetMissing = errors.New("the keyset is missing, and the event log holds games that only it can open; restore it from a backup")
)

// Config is how the server runs.
type Config struct {
	// DataDir is the folder of everything that is stored. Required; created if
	// it is not there.
	DataDir string
	// GRPCAddr is the address HOST:PORT to serve on, loopback only; port 0 takes
	// a free one.
	GRPCAddr string
	// Listener serves instead of GRPCAddr, if set; New takes it over.
	Listener net.Listener
	// RelaxedSync acknowledges commands before they are on the disk: faster, and
	// a power failure loses them.
	RelaxedSync bool
	// StoreURL is the PostgreSQL database of scores and leaderboards, such as
	// postgres://user@host/database; a file in DataDir if empty. A store that is
	// new to the log is filled from its beginning.
	StoreURL string
	// Ranked are the ids of the rulesets that have a leaderboard; ranked() if
	// empty. It can change from start to start: games by other rulesets are kept
	// as well and stand on their board once it is named.
	Ranked []string
	// Logger is where the server reports. Required.
	Logger *slog.Logger
	// Clock tells the time; time.Now if nil.
	Clock func() time.Time
	// Seeds makes the seeds of RANDOM games; the system's random source if nil.
	// No flag sets it: only tests may.
	Seeds func() (engine.Seed, error)
}

// Server is the whole backend.
type Server struct {
	// FirstStart tells whether the data folder was empty.
	FirstStart bool

	listener net.Listener
	rpc      *rpckit.Server
	scoring  *scoring.Service
	log      eventlog.Log
	nats     *jetlog.Embedded
	closers  []func() error // in the order of opening
}

// ranked returns the ids of the rulesets that have a leaderboard unless the
// configuration names others: the presets; and of the default one every depth,
// every variant, and merchants, thief and blacksmiths together.
func ranked() []string {
	var ids []string
	for _, p := range engine.Presets() {
		ids = append(ids, p.Rules.ID())
	}
	deeper := engine.Presets()[0].Rules
	for deeper.Depth < engine.MaxDepth {
		deeper.Depth++
		ids = append(ids, deeper.ID())
	}
	varied := engine.Presets()[0].Rules
	for _, v := range engine.Variants() {
		varied.Variants = v.Variant | v.Needs
		ids = append(ids, varied.ID())
	}
	varied.Variants = engine.VariantMerchants | engine.VariantEvilMerchant | engine.VariantBlacksmiths
	return append(ids, varied.ID())
}

// New opens everything that the server needs. On failure nothing stays open.
// Run serves, and closes.
func New(ctx context.Context, cfg Config) (_ *Server, err error) {
	s := &Server{listener: cfg.Listener}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if len(cfg.Ranked) == 0 {
		cfg.Ranked = ranked()
	}
	// Before anything is made in the data folder.
	for i, id := range cfg.Ranked {
		cfg.Ranked[i] = strings.TrimSpace(id)
		if _, err := engine.ParseRulesetID(cfg.Ranked[i]); err != nil {
			return nil, fmt.Errorf("ranked rulesets: %w", err)
		}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if cfg.DataDir == "" {
		return nil, errors.New("the data folder has no name")
	}
	if s.listener == nil {
		// The identity is whatever the caller says.
		if err := rpckit.RequireLoopback(cfg.GRPCAddr); err != nil {
			return nil, err
		}
		if s.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.GRPCAddr); err != nil {
			return nil, fmt.Errorf("serve gRPC: %w", err)
		}
	}
	// Serving closes it too; closing twice is no harm.
	s.onClose(func() error { return ignoreClosed(s.listener.Close()) })
	if err := s.lock(cfg.DataDir); err != nil {
		return nil, err
	}
	if err := s.openLog(ctx, cfg); err != nil {
		return nil, err
	}
	keys, err := s.keyset(ctx, filepath.Join(cfg.DataDir, keysetFile))
	if err != nil {
		return nil, err
	}
	store, err := openStore(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s.onClose(store.Close)

	games, err := game.New(ctx, game.Config{
		Log: s.log, Keys: keys, Ranked: cfg.Ranked, Logger: cfg.Logger, Clock: cfg.Clock, Seeds: cfg.Seeds,
	})
	if err != nil {
		return nil, err
	}
	// The stream of the first games must be there when scoring looks for it.
	if err := games.Ready(ctx); err != nil {
		return nil, err
	}
	tokenKey, err := keys.Derive("scoundrel page tokens")
	if err != nil {
		return nil, err
	}
	s.scoring, err = scoring.New(ctx, scoring.Config{
		TokenKey: tokenKey,
		// The lock makes this process the only one, so it may take the
		// projection over from one that died.
		Log: s.log, Store: store, Ranked: cfg.Ranked, Logger: cfg.Logger, Clock: cfg.Clock, Instance: "scoundrel serve",
	})
	if err != nil {
		return nil, err
	}
	// A log that lost its end would give its places to other games: nothing may
	// be accepted before somebody has looked at it.
	if err := s.scoring.CheckLog(ctx); err != nil {
		return nil, fmt.Errorf("the event log in %s is not the one that the scores were computed from; restore it from a backup, or give it a new scores database (%s moved away) to go on with what is left: %w",
			filepath.Join(cfg.DataDir, natsFolder), databaseFile, err)
	}
	names, err := kvstore.Open(ctx, s.nats.Conn())
	if err != nil {
		return nil, err
	}
	profiles := profile.New(profile.Config{Store: names, Log: s.log, Clock: cfg.Clock, Logger: cfg.Logger})
	token, err := moderatorToken(filepath.Join(cfg.DataDir, moderatorFile))
	if err != nil {
		return nil, err
	}
	moderators, err := moderation.New(moderation.Config{Log: s.log, Token: token, Clock: cfg.Clock, Logger: cfg.Logger})
	if err != nil {
		return nil, err
	}
	s.rpc, err = rpckit.New(rpckit.Config{
		Logger: cfg.Logger, Tables: []rpckit.Table{game.Problems, scoring.Problems, profile.Problems, moderation.Problems},
	})
	if err != nil {
		return nil, err
	}
	games.Bind(s.rpc)
	s.scoring.Bind(s.rpc)
	profiles.Bind(s.rpc)
	moderators.Bind(s.rpc)
	s.rpc.AddReady(gamev1.GameService_ServiceDesc.ServiceName, games.Ready)
	s.rpc.AddReady(scoringv1.ScoringService_ServiceDesc.ServiceName, s.scoring.Ready)
	s.rpc.AddReady(profilev1.ProfileService_ServiceDesc.ServiceName, profiles.Ready)
	s.rpc.AddReady(moderationv1.ModerationService_ServiceDesc.ServiceName, s.log.Ready)
	return s, nil
}

// scoreStore is a store that can be closed.
type scoreStore interface {
	projection.Store
	Close() error
}

func openStore(ctx context.Context, cfg Config) (scoreStore, error) {
	if cfg.StoreURL != "" {
		return postgres.Open(ctx, cfg.StoreURL)
	}
	return sqlite.Open(ctx, filepath.Join(cfg.DataDir, databaseFile))
}

// lock makes the data folder this process's own.
func (s *Server) lock(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	lock := flock.New(filepath.Join(dir, lockFile))
	ok, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("lock the data folder: %w", err)
	}
	if !ok {
		return fmt.Errorf("%s: %w", dir, ErrDataInUse)
	}
	s.onClose(lock.Unlock)
	return nil
}

// openLog starts the embedded NATS server on its part of the data folder, which must
// be locked, and opens the event log in it.
func (s *Server) openLog(ctx context.Context, cfg Config) (err error) {
	s.nats, err = jetlog.StartEmbedded(ctx, jetlog.EmbeddedConfig{
		Dir: filepath.Join(cfg.DataDir, natsFolder), Logger: cfg.Logger, RelaxedSync: cfg.RelaxedSync,
	})
	if err != nil {
		return err
	}
	s.onClose(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		return s.nats.Close(ctx)
	})
	s.log, err = jetlog.New(s.nats.Conn(), jetlog.Config{})
	return err
}

// keyset loads the keyset. A new one is made only for an empty log.
func (s *Server) keyset(ctx context.Context, path string) (*record.Keyset, error) {
	keys, err := record.LoadKeyset(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return keys, err
	}
	streams, err := s.log.Streams(ctx)
	if err != nil {
		return nil, err
	}
	for _, stream := range streams {
		if stream.LastSequence > 0 {
			return nil, fmt.Errorf("%s: %w", path, ErrKeysetMissing)
		}
	}
	s.FirstStart = true
	keys = record.NewKeyset()
	return keys, keys.Save(path)
}

func (s *Server) onClose(f func() error) { s.closers = append(s.closers, f) }

// close closes what is open, the last first.
func (s *Server) close() error {
	var errs []error
	for _, f := range slices.Backward(s.closers) {
		errs = append(errs, f())
	}
	s.closers = nil
	return errors.Join(errs...)
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Addr returns where the server listens.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Run serves until ctx ends or the event log cannot be written any more, then
// closes everything.
func (s *Server) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() { // ends with ctx
		select {
		case err := <-s.nats.Failed():
			cancel(err)
		case <-ctx.Done():
		}
	}()
	// The projection goes on while the last calls end: they may wait for it.
	project, stop := context.WithCancel(context.WithoutCancel(ctx))
	projected := make(chan error, 1)
	go func() { projected <- s.scoring.Run(project) }()
	err := s.rpc.Run(ctx, s.listener)
	stop()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		err = errors.Join(cause, err)
	}
	return errors.Join(err, <-projected, s.close())
}

func serveCommand() *cobra.Command {
	var cfg Config
	var verbose bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve games and leaderboards from one process",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			level := slog.LevelInfo
			if verbose {
				level = slog.LevelDebug
			}
			cfg.Logger = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: level}))
			s, err := New(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			if err := greet(cmd.OutOrStdout(), s, cfg.DataDir); err != nil {
				return errors.Join(err, s.close())
			}
			if err := s.Run(cmd.Context()); err != nil {
				return err
			}
			cfg.Logger.Info("stopped")
			return nil
		},
	}
	cmd.Flags().StringVar(&cfg.DataDir, "data", "data", "`DIR` of everything that is stored")
	cmd.Flags().StringVar(&cfg.GRPCAddr, "grpc-addr", defaultAddr, "address `HOST:PORT` to serve gRPC on, loopback only")
	cmd.Flags().StringVar(&cfg.StoreURL, "store", "", "`URL` of a PostgreSQL database for scores and leaderboards; a file in the data folder if empty")
	cmd.Flags().StringSliceVar(&cfg.Ranked, "ranked", nil, "`IDS` of the rulesets that have a leaderboard, such as classic,strict+merchants (default the presets, and of classic every depth and variant)")
	cmd.Flags().BoolVar(&cfg.RelaxedSync, "relaxed-sync", false, "acknowledge commands before they are on the disk (for development: a power failure loses them)")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "log every call, and what the NATS server says")
	return cmd
}

// greet says where the server is, and the first time what to do with it.
func greet(w io.Writer, s *Server, dataDir string) error {
	text := fmt.Sprintf("Serving gRPC on %s, data in %s\n", s.Addr(), dataDir)
	if s.FirstStart {
		at := ""
		if s.Addr() != defaultAddr {
			at = " --addr " + s.Addr()
		}
		text += fmt.Sprintf(`
Try in another terminal:
  %[4]s play%[1]s
  %[4]s bots%[1]s --games 100
  %[4]s leaderboard%[1]s
  grpcurl -plaintext -H 'x-player-id: me' %[2]s scoundrel.game.v1.GameService/StartGame

Keep %[3]s safe: without it no running game can go on.
`, at, s.Addr(), filepath.Join(dataDir, keysetFile), self())
	}
	_, err := io.WriteString(w, text)
	return err
}
