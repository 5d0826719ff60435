package scoundrel

import (
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
)

// leaderboardRow is a row of `leaderboard --json`.
type leaderboardRow struct {
	Rank     uint64 `json:"rank"`
	Position uint64 `json:"position"`
	PlayerID string `json:"player_id"`
	Score    int32  `json:"score"`
	Moves    uint32 `json:"moves"`
	GameID   string `json:"game_id"`
}

func leaderboardCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "leaderboard",
		Short: "Show the best games of a preset",
		Args:  cobra.NoArgs,
	}
	addr, rules := addrFlag(cmd), addRulesFlags(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print a JSON array")
	limit := cmd.Flags().Int("limit", 50, "how many `ROWS`; 0 for all")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ruleset, err := rules.ruleset()
		if err != nil {
			return err
		}
		if *limit < 0 {
			return errors.New("--limit must be 0 or more")
		}
		c, err := dial(*addr)
		if err != nil {
			return err
		}
		defer func() { _ = c.conn.Close() }() // nothing is under way
		rows := []leaderboardRow{}
		req := &scoringv1.ListLeaderboardEntriesRequest{Leaderboard: &scoringv1.Leaderboard{RulesetId: ruleset.ID()}, PageSize: 200}
		for {
			page, err := c.ListLeaderboardEntries(as(cmd.Context(), "leaderboard", "human"), req)
			if err != nil {
				return err
			}
			for _, e := range page.GetEntries() {
				if *limit > 0 && len(rows) == *limit {
					break
				}
				rows = append(rows, leaderboardRow{e.GetRank(), e.GetPosition(), e.GetPlayerId(), e.GetScore(), e.GetMoves(), e.GetGameId()})
			}
			req.PageToken = page.GetNextPageToken()
			if req.PageToken == "" || *limit > 0 && len(rows) == *limit {
				break
			}
		}
		if *asJSON {
			enc := json.NewEncoder(cmd.OutOrStdout())
			enc.SetIndent("", "  ")
			return enc.Encode(rows)
		}
		w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
		if _, err := fmt.Fprintln(w, "RANK\tPLAYER\tSCORE\tMOVES\tGAME"); err != nil {
			return err
		}
		for _, r := range rows {
			if _, err := fmt.Fprintf(w, "%d\t%s\t%d\t%d\t%s\n", r.Rank, r.PlayerID, r.Score, r.Moves, r.GameID); err != nil {
				return err
			}
		}
		return w.Flush()
	}
	return cmd
}
