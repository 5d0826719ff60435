package scoundrel

import (
	"fmt"

	"github.com/spf13/cobra"
)

// Version is the version of the program; "-dev" until it is released.
const Version = "0.1.0-dev"

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "scoundrel", Version)
			return err
		},
	}
}
