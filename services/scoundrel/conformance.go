package scoundrel

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/scoundrel-game/scoundrel/pkg/engine/conformance"
)

func conformanceCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "conformance FILE...",
		Short: "Run vector files against the rules engine",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			passed, failed := 0, 0
			for _, name := range files {
				results, err := runVectors(name)
				for _, r := range results {
					if r.Err == nil {
						passed++
						continue
					}
					failed++
					cmd.Printf("%s:%d: %s: %v\n", name, r.Line, cmp.Or(r.Name, "no name"), r.Err)
				}
				if err == nil && len(results) == 0 {
					err = errors.New("no vector in it")
				}
				if err != nil {
					failed++
					cmd.Printf("%s: %v\n", name, err)
				}
			}
			if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%d passed, %d failed\n", passed, failed); err != nil {
				return err
			}
			if failed > 0 {
				return errReported
			}
			return nil
		},
	}
}

func runVectors(name string) ([]conformance.Result, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	return conformance.Run(f)
}
