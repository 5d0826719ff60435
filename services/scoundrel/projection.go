package scoundrel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/postgres"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/sqlite"
)

// errNoLog is the error of a folder that no server has worked with.
var errNoLog = errors.New("there is no event log in the data folder")

// storesFlags adds the flags that say where the log and the scores are.
func storesFlags(cmd *cobra.Command) *Config {
	cfg := &Config{}
	cmd.Flags().StringVar(&cfg.DataDir, "data", "data", "`DIR` of everything that the server stores")
	cmd.Flags().StringVar(&cfg.StoreURL, "store", "", "`URL` of the PostgreSQL database of scores and leaderboards, if the server has one")
	return cfg
}

// complete sets what no flag does.
func (cfg *Config) complete(stderr io.Writer) {
	cfg.Clock = time.Now
	cfg.Logger = slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// openStopped takes the data folder of a server that does not run and opens its
// log; nothing serves. ErrDataInUse, errNoLog.
func openStopped(ctx context.Context, cfg *Config) (_ *Server, err error) {
	if _, err := os.Stat(filepath.Join(cfg.DataDir, natsFolder)); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", cfg.DataDir, errNoLog)
	} else if err != nil {
		return nil, err
	}
	s := &Server{}
	if err := s.lock(cfg.DataDir); err != nil {
		return nil, err
	}
	if err := s.openLog(ctx, *cfg); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// projector returns a projector from the log to a store.
func (s *Server) projector(ctx context.Context, cfg *Config, store projection.Store) (*projection.Projector, error) {
	return projection.NewProjector(ctx, projection.ProjectorConfig{
		Log: s.log, Store: store, Holder: "scoundrel", Clock: cfg.Clock, Logger: cfg.Logger,
	})
}

func projectionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "projection",
		Short: "Look after the scores and boards that are computed from the event log",
	}
	cmd.AddCommand(statusCommand(), retryCommand())
	return cmd
}

// statusResult is what `projection status --json` prints.
type statusResult struct {
	Streams []streamResult `json:"streams"`
	Parked  []parkedResult `json:"parked"` // records that could not be applied; their games are not shown
	// LogNotRead is why the log was not looked at; absent if it was.
	LogNotRead string `json:"log_not_read,omitempty"`
}

type streamResult struct {
	Stream     string  `json:"stream"`
	Checkpoint uint64  `json:"checkpoint"`        // the last record that is projected; 0: none
	LogEnd     *uint64 `json:"log_end,omitempty"` // the last record of the log; absent where that was not looked at
	Behind     *uint64 `json:"behind,omitempty"`  // how many records follow the checkpoint
	Problem    string  `json:"problem,omitempty"` // why the projection cannot go on
}

type parkedResult struct {
	GameID   string `json:"game_id"`
	Stream   string `json:"stream"`
	Sequence uint64 `json:"sequence"`
	EventID  string `json:"event_id"`
	Reason   string `json:"reason"`
}

func statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how far the log is projected, and what could not be",
		Long: "Show how far each stream of the event log is projected, and the records that could not be applied. Beside a\n" +
			"running server only the database is read; otherwise the log as well, and no server can start meanwhile.",
		Args: cobra.NoArgs,
	}
	cfg := storesFlags(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print a JSON object")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg.complete(cmd.ErrOrStderr())
		result, err := projectionStatus(cmd.Context(), cfg)
		if err != nil {
			return err
		}
		if *asJSON {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(result)
		}
		return result.print(cmd.OutOrStdout())
	}
	return cmd
}

// projectionStatus reads the state of the projection, and changes nothing.
func projectionStatus(ctx context.Context, cfg *Config) (_ *statusResult, err error) {
	result := &statusResult{Streams: []streamResult{}, Parked: []parkedResult{}}
	s, err := openStopped(ctx, cfg)
	switch {
	case errors.Is(err, ErrDataInUse), errors.Is(err, errNoLog):
		result.LogNotRead = err.Error()
	case err != nil:
		return nil, err
	default:
		defer func() { err = errors.Join(err, s.close()) }()
	}
	store, err := openReadOnly(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	parked, err := store.Parked(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range parked {
		result.Parked = append(result.Parked, parkedResult{p.GameID, p.Position.Stream, p.Position.Sequence, p.EventID, p.Problem})
	}
	if s == nil {
		all, err := store.Checkpoints(ctx)
		for _, c := range all {
			result.Streams = append(result.Streams, streamResult{Stream: c.Stream, Checkpoint: c.Sequence})
		}
		return result, err
	}
	p, err := s.projector(ctx, cfg, store)
	if err != nil {
		return nil, err
	}
	all, err := p.Status(ctx)
	for _, st := range all {
		r := streamResult{Stream: st.Stream, Checkpoint: st.Sequence}
		switch {
		case st.Gone:
			r.Problem = "the log does not hold the stream"
		case st.Problem != nil:
			r.Problem = st.Problem.Error()
			fallthrough
		default:
			behind := st.Behind()
			r.LogEnd, r.Behind = &st.LogEnd, &behind
		}
		result.Streams = append(result.Streams, r)
	}
	return result, err
}

// openReadOnly opens the database of scores to look at it.
func openReadOnly(ctx context.Context, cfg *Config) (scoreStore, error) {
	if cfg.StoreURL != "" {
		return postgres.OpenReadOnly(ctx, cfg.StoreURL)
	}
	return sqlite.OpenReadOnly(ctx, filepath.Join(cfg.DataDir, databaseFile))
}

func (r *statusResult) print(w io.Writer) error {
	number := func(n *uint64) string {
		if n == nil {
			return "-"
		}
		return strconv.FormatUint(*n, 10)
	}
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "STREAM\tPROJECTED\tLOG\tBEHIND\tPROBLEM") // b takes everything
	for _, s := range r.Streams {
		_, _ = fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\n", s.Stream, s.Checkpoint, number(s.LogEnd), number(s.Behind), cmp.Or(s.Problem, "-"))
	}
	if r.LogNotRead != "" {
		_, _ = fmt.Fprintf(t, "the log was not looked at: %s\n", r.LogNotRead)
	}
	_, _ = fmt.Fprintf(t, "%d parked\n", len(r.Parked))
	if len(r.Parked) > 0 {
		_, _ = fmt.Fprintln(t, "\nGAME\tSTREAM\tRECORD\tREASON")
	}
	for _, p := range r.Parked {
		_, _ = fmt.Fprintf(t, "%s\t%s\t%d\t%s\n", p.GameID, p.Stream, p.Sequence, p.Reason)
	}
	_ = t.Flush() // b takes everything
	_, err := io.WriteString(w, b.String())
	return err
}

func retryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "retry [GAME...]",
		Short: "Compute parked games again",
		Long: "Compute games of which a record is parked again, from their history in the log: those that are named, or all of\n" +
			"them. What still cannot be applied stays parked. The server must be stopped. The status is 1 if a game stays parked.",
	}
	cfg := storesFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, games []string) (err error) {
		ctx := cmd.Context()
		cfg.complete(cmd.ErrOrStderr())
		s, err := openStopped(ctx, cfg)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.close()) }()
		store, err := openStore(ctx, *cfg)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, store.Close()) }()
		p, err := s.projector(ctx, cfg, store)
		if err != nil {
			return err
		}
		// The history of a game in another log is another game's.
		if err := p.Check(ctx); err != nil {
			return err
		}
		return retry(ctx, cmd.OutOrStdout(), p, games)
	}
	return cmd
}

// retry retries the parked games that are named, or all of them if none is.
func retry(ctx context.Context, w io.Writer, p *projection.Projector, games []string) error {
	parked, err := p.Store.Parked(ctx)
	if err != nil {
		return err
	}
	for _, id := range games {
		if !slices.ContainsFunc(parked, func(p projection.Parked) bool { return p.GameID == id }) {
			return fmt.Errorf("no record of game %q is parked", id)
		}
	}
	mended, left := 0, 0
	for _, record := range parked {
		if len(games) > 0 && !slices.Contains(games, record.GameID) {
			continue
		}
		problem, err := p.Retry(ctx, record)
		if err != nil {
			return fmt.Errorf("game %s, after %d that are mended: %w", record.GameID, mended, err)
		}
		if problem == "" {
			mended++
			_, err = fmt.Fprintf(w, "%s: applied\n", record.GameID)
		} else {
			left++
			_, err = fmt.Fprintf(w, "%s: stays parked: %s\n", record.GameID, problem)
		}
		if err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(w, "%d applied, %d stay parked\n", mended, left); err != nil {
		return err
	}
	if left > 0 {
		return errReported
	}
	return nil
}
