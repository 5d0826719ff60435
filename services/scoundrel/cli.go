package scoundrel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Main runs the command line and returns the exit status: 0, or 1 with one line
// on stderr that says what went wrong. verify has more of them, see its help.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:           "scoundrel",
		Short:         "A backend for the solo card game Scoundrel, and its clients",
		Version:       Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(serveCommand(), playCommand(), botsCommand(), leaderboardCommand(), verifyCommand(), exportCommand(),
		conformanceCommand(), projectionCommand(), rebuildCommand(), moderateCommand(), versionCommand())
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	code := 1
	if e, ok := errors.AsType[*statusError](err); ok {
		code, err = e.status, e.err
	}
	if !errors.Is(err, errReported) {
		// One line, whatever is in the error.
		if _, err := fmt.Fprintln(stderr, "scoundrel:", strings.Join(strings.Fields(explain(err)), " ")); err != nil {
			return 2
		}
	}
	return code
}

// errReported is the error of a command whose output has said what is wrong.
var errReported = errors.New("reported")
