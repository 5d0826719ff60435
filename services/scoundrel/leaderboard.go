package scoundrel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
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
		Short: "Show the best games by some rules, of all time or of a period",
		Args:  cobra.NoArgs,
	}
	addr, rules := addrFlag(cmd), addRulesFlags(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print a JSON array")
	limit := cmd.Flags().Int("limit", 50, "how many `ROWS`; 0 for all")
	period := cmd.Flags().String("period", "all", "`SPAN` in which the games started: all, month, week or day")
	date := cmd.Flags().String("date", "", "a `DAY` of the period, as YYYY-MM-DD; today if empty")
	players := cmd.Flags().String("players", "", "`WHO` played: people or bots; people, and bots as long as there are none, if empty")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ruleset, err := rules.ruleset()
		if err != nil {
			return err
		}
		board := &scoringv1.Leaderboard{RulesetId: ruleset.ID(), Date: *date}
		var ok bool
		if board.Period, ok = periods[*period]; !ok {
			return errors.New("--period must be all, month, week or day")
		}
		if board.ActorKind, ok = actorKinds[*players]; !ok {
			return errors.New("--players must be people or bots")
		}
		if *limit < 0 {
			return errors.New("--limit must be 0 or more")
		}
		c, err := dial(*addr)
		if err != nil {
			return err
		}
		defer func() { _ = c.conn.Close() }() // nothing is under way
		ctx := as(cmd.Context(), "leaderboard", "human")
		rows, err := leaderboardRows(ctx, c, board, *limit)
		if err != nil {
			return err
		}
		if len(rows) == 0 && *players == "" {
			board.ActorKind = eventv1.ActorKind_ACTOR_KIND_BOT
			if rows, err = leaderboardRows(ctx, c, board, *limit); err != nil {
				return err
			}
			if len(rows) > 0 {
				cmd.PrintErrln("no person has played yet; these are bots")
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

// What the flags mean.
var (
	periods = map[string]scoringv1.Period{
		"all": scoringv1.Period_PERIOD_ALL_TIME, "month": scoringv1.Period_PERIOD_MONTH,
		"week": scoringv1.Period_PERIOD_WEEK, "day": scoringv1.Period_PERIOD_DAY,
	}
	actorKinds = map[string]eventv1.ActorKind{
		"": eventv1.ActorKind_ACTOR_KIND_HUMAN, "people": eventv1.ActorKind_ACTOR_KIND_HUMAN, "bots": eventv1.ActorKind_ACTOR_KIND_BOT,
	}
)

// leaderboardRows reads a board from its top, all of it for a limit of 0.
func leaderboardRows(ctx context.Context, c *client, board *scoringv1.Leaderboard, limit int) ([]leaderboardRow, error) {
	rows := []leaderboardRow{}
	req := &scoringv1.ListLeaderboardEntriesRequest{Leaderboard: board, PageSize: 200}
	for {
		page, err := c.ListLeaderboardEntries(ctx, req)
		if err != nil {
			return nil, err
		}
		for _, e := range page.GetEntries() {
			if limit > 0 && len(rows) == limit {
				return rows, nil
			}
			rows = append(rows, leaderboardRow{e.GetRank(), e.GetPosition(), e.GetPlayerId(), e.GetScore(), e.GetMoves(), e.GetGameId()})
		}
		// The board of today is another one after midnight.
		req.Leaderboard, req.PageToken = page.GetLeaderboard(), page.GetNextPageToken()
		if req.PageToken == "" {
			return rows, nil
		}
	}
}
