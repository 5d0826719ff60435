package scoundrel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	"github.com/scoundrel-game/scoundrel/pkg/transcript"
)

func verifyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify FILE|GAME",
		Short: "Check a finished game without trusting the server",
		Long: "Check a finished game without trusting the server: that its commitment, deck, facts and score follow from\n" +
			"its seed, the rules and its moves. FILE is what export writes, in JSON or text, or - for standard input;\n" +
			"GAME is a game's id. The status is 0 if all is as it should be, 1 if something differs or the game or its\n" +
			"daily challenge goes on, 2 if there is no game to read, and 3 if entries of another revision of the rules\n" +
			"could not be judged.",
		Args: cobra.ExactArgs(1),
	}
	addr, player := addrFlag(cmd), viewerFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var h *gamev1.GetGameHistoryResponse
		var err error
		if _, notGame := eventlog.ParseGameID(args[0]); notGame == nil {
			h, err = fetchHistory(cmd.Context(), *addr, *player, args[0])
		} else {
			h, err = readTranscript(cmd.InOrStdin(), args[0])
		}
		var report transcript.Report
		if err == nil {
			report, err = transcript.Verify(h)
		}
		var line any = report
		var result error
		switch differs, ok := errors.AsType[*transcript.DifferenceError](err); {
		case ok:
			line, result = differs, errReported
		case errors.Is(err, transcript.ErrNotOver), errors.Is(err, transcript.ErrNotFinal):
			line, result = err, errReported
		case err != nil:
			return &statusError{2, err}
		case !report.Judged():
			result = &statusError{3, errReported}
		}
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), line); err != nil {
			return err
		}
		return result
	}
	return cmd
}

// statusError is an error with an exit status of its own, which tells a document that differs from one that
// cannot be had or judged.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

// viewerFlag adds the flag that names who asks: a game of a seed of one's own is shown to nobody else.
func viewerFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("player", playerName(), "the player `NAME` to ask as, for a private game")
}

// fetchHistory returns the whole history of a game.
func fetchHistory(ctx context.Context, addr, player, gameID string) (*gamev1.GetGameHistoryResponse, error) {
	c, err := dial(addr)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.conn.Close() }() // nothing is under way
	return c.history(as(ctx, player, "human"), gameID)
}

// history returns the whole history of a game, in one document.
func (c *client) history(ctx context.Context, gameID string) (*gamev1.GetGameHistoryResponse, error) {
	req := &gamev1.GetGameHistoryRequest{GameId: gameID, PageSize: 200}
	var h *gamev1.GetGameHistoryResponse
	for {
		page, err := c.GetGameHistory(ctx, req)
		if err != nil {
			return nil, err
		}
		switch {
		case h == nil:
			h = page
		case h.GetSeed() != page.GetSeed():
			// The game ended meanwhile: the pages before lack what its end reveals.
			h, req.PageToken = nil, ""
			continue
		default:
			h.Entries = append(h.Entries, page.GetEntries()...)
		}
		req.PageToken = page.GetNextPageToken()
		if req.PageToken == "" {
			h.NextPageToken = ""
			return h, nil
		}
	}
}

// readTranscript reads a file with a game, or stdin for "-".
func readTranscript(stdin io.Reader, name string) (*gamev1.GetGameHistoryResponse, error) {
	var data []byte
	var err error
	if name == "-" {
		data, err = io.ReadAll(stdin)
	} else {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, err
	}
	h, err := transcript.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return h, nil
}
