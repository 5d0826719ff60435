package scoundrel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/postgres"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/sqlite"
)

func rebuildCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rebuild",
		Short: "Compute all scores and boards again from the event log",
		Long: "Compute all scores and boards again from the event log, beside those that there are, compare the two and put the\n" +
			"new ones in their place. The two are compared where the old ones stand in the log, so that what they have not seen\n" +
			"yet is no difference; only then the new ones go on to its end. The server must be stopped.",
		Args: cobra.NoArgs,
	}
	cfg := storesFlags(cmd)
	check := cmd.Flags().Bool("check", false, "only compare, and change nothing: the status is 1 if they differ")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg.complete(cmd.ErrOrStderr())
		err := rebuild(cmd.Context(), cfg, *check, cmd.OutOrStdout(), cmd.ErrOrStderr())
		if err != nil && cmd.Context().Err() != nil {
			return errors.New("interrupted; the boards are as they were")
		}
		return err
	}
	return cmd
}

// besideStore is a store that is built to take the place of another one.
type besideStore interface {
	projection.Store
	// Replace closes the store and puts it in the other one's place.
	Replace(ctx context.Context) error
	// Discard closes the store and removes it, unless Replace has succeeded.
	Discard(ctx context.Context) error
}

func openBeside(ctx context.Context, cfg *Config) (besideStore, error) {
	if cfg.StoreURL != "" {
		return postgres.OpenBeside(ctx, cfg.StoreURL)
	}
	return sqlite.OpenBeside(ctx, filepath.Join(cfg.DataDir, databaseFile))
}

// rebuild computes the boards anew and compares them; unless it is only to check,
// it then puts them in the place of the old ones.
func rebuild(ctx context.Context, cfg *Config, check bool, stdout, stderr io.Writer) (err error) {
	s, err := openStopped(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	old, err := openStore(ctx, *cfg)
	switch {
	case err == nil:
		defer func() { err = errors.Join(err, old.Close()) }() // closing twice is no harm
	case errors.Is(err, sqlite.ErrDamaged) && !check:
		if _, err := fmt.Fprintf(stdout, "nothing to compare with: %v\n", err); err != nil {
			return err
		}
		old = nil
	default:
		return err
	}
	at, err := s.standing(ctx, cfg, old)
	if err != nil {
		return err
	}
	fresh, err := openBeside(ctx, cfg)
	if err != nil {
		return err
	}
	// ctx may be what ended.
	defer func() { err = errors.Join(err, fresh.Discard(context.WithoutCancel(ctx))) }()
	p, err := s.projector(ctx, cfg, fresh)
	if err != nil {
		return err
	}
	total := at.end
	if check {
		total -= at.behind
	}
	advance := recordsProgress(stderr, total)
	equal := true
	if old != nil {
		if err := p.CatchUp(ctx, at.checkpoints, advance); err != nil {
			return err
		}
		if equal, err = compare(ctx, stdout, old, fresh, at.behind); err != nil {
			return err
		}
	}
	if check {
		if !equal {
			return errReported
		}
		return nil
	}
	if err := p.CatchUp(ctx, nil, advance); err != nil {
		return err
	}
	if old != nil {
		if err := old.Close(); err != nil {
			return err
		}
	}
	parked, err := fresh.Parked(ctx)
	if err != nil {
		return err
	}
	if err := fresh.Replace(ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "the rebuilt boards are in place: %d records, %d parked\n", total, len(parked))
	return err
}

// standing is how far a store has come in the log.
type standing struct {
	checkpoints map[string]uint64 // by stream
	end         uint64            // how many records the log has
	behind      uint64            // how many of them are not projected
}

// standing returns how far the old boards have come; those that cannot be read are
// nil, and nowhere. It refuses a log that is not the one they were computed from:
// what only they still know would be lost.
func (s *Server) standing(ctx context.Context, cfg *Config, old scoreStore) (standing, error) {
	at := standing{checkpoints: map[string]uint64{}}
	if old == nil {
		streams, err := s.log.Streams(ctx)
		for _, info := range streams {
			at.end += info.LastSequence
		}
		return at, err
	}
	p, err := s.projector(ctx, cfg, old)
	if err != nil {
		return at, err
	}
	all, err := p.Status(ctx)
	if err != nil {
		return at, err
	}
	for _, st := range all {
		if st.Gone {
			st.Problem = fmt.Errorf("%w: the stream is not there", projection.ErrLost)
		}
		if st.Problem != nil {
			return at, fmt.Errorf("%s: the event log is not the one that the boards were computed from; restore it from a backup, or begin with an empty scores database: %w",
				st.Stream, st.Problem)
		}
		at.checkpoints[st.Stream] = st.Sequence
		at.end += st.LogEnd
		at.behind += st.Behind()
	}
	return at, nil
}

// compare prints the hashes of both stores, which stand at the same records, and
// tells whether they are equal.
func compare(ctx context.Context, w io.Writer, old, fresh projection.Store, behind uint64) (bool, error) {
	before, err := old.Hash(ctx)
	if err != nil {
		return false, err
	}
	after, err := fresh.Hash(ctx)
	if err != nil {
		return false, err
	}
	verdict := "equal"
	if before != after {
		verdict = "different"
	}
	if behind > 0 {
		verdict += fmt.Sprintf(", compared without the last %d records of the log, which the stored boards have not seen yet", behind)
	}
	_, err = fmt.Fprintf(w, "stored boards   %x\nrebuilt boards  %x\n%s\n", before, after, verdict)
	return before == after, err
}

// recordsProgress returns what to call with how many records more were read: it
// moves a bar on a terminal; elsewhere one line says that the work has begun.
func recordsProgress(w io.Writer, total uint64) func(records int) {
	f, ok := w.(*os.File)
	if !ok || !isatty.IsTerminal(f.Fd()) {
		_, _ = fmt.Fprintf(w, "reading %d records\n", total) // a line that cannot be written is no loss
		return func(int) {}
	}
	bar := progressbar.NewOptions64(int64(total), progressbar.OptionSetWriter(w), progressbar.OptionSetDescription("records"),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("records"),
		progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
	return func(records int) { _ = bar.Add(records) } // a bar that cannot be drawn is no loss
}
