package scoundrel

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	"github.com/scoundrel-game/scoundrel/pkg/transcript"
)

func exportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export GAME | --from FILE",
		Short: "Print a game as a document, in JSON or text",
		Long: "Print a game as a document that can be kept, shown, verified and read back. Text is for games whose seed is\n" +
			"revealed: finished ones, those of a daily challenge once it is final. It holds little more than the moves, and\n" +
			"reading it plays them again.",
		Args: cobra.MaximumNArgs(1),
	}
	addr, player := addrFlag(cmd), viewerFlag(cmd)
	format := cmd.Flags().String("format", "json", "the document's `FORM`: json or text")
	from := cmd.Flags().String("from", "", "convert the document in this `FILE`, - for standard input, of either form")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if (*from == "") == (len(args) == 0) {
			return errors.New("name a game's id, or a file with --from")
		}
		write, ok := map[string]func(*gamev1.GetGameHistoryResponse) ([]byte, error){"json": transcript.JSON, "text": transcript.Text}[*format]
		if !ok {
			return fmt.Errorf("there is no format %q: choose json or text", *format)
		}
		var h *gamev1.GetGameHistoryResponse
		var err error
		if *from != "" {
			h, err = readTranscript(cmd.InOrStdin(), *from)
		} else {
			h, err = fetchHistory(cmd.Context(), *addr, *player, args[0])
		}
		if err != nil {
			return err
		}
		data, err := write(h)
		if err != nil {
			return err
		}
		_, err = cmd.OutOrStdout().Write(data)
		return err
	}
	return cmd
}
