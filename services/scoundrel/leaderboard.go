package scoundrel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	profilev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/profile/v1"
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
	Name     string `json:"display_name,omitempty"`
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
	period := cmd.Flags().String("period", "all", "`SPAN` in which the games started: all, month, week, day, or daily for the challenge of a day")
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
			return errors.New("--period must be all, month, week, day or daily")
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
		if err := addNames(ctx, profilev1.NewProfileServiceClient(c.conn), rows); err != nil {
			return err
		}
		if *asJSON {
			enc := json.NewEncoder(cmd.OutOrStdout())
			enc.SetIndent("", "  ")
			return enc.Encode(rows)
		}
		return printRows(cmd.OutOrStdout(), rows)
	}
	return cmd
}

// What the flags mean.
var (
	periods = map[string]scoringv1.Period{
		"all": scoringv1.Period_PERIOD_ALL_TIME, "month": scoringv1.Period_PERIOD_MONTH,
		"week": scoringv1.Period_PERIOD_WEEK, "day": scoringv1.Period_PERIOD_DAY, "daily": scoringv1.Period_PERIOD_DAILY,
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
			rows = append(rows, leaderboardRow{e.GetRank(), e.GetPosition(), e.GetPlayerId(), e.GetScore(), e.GetMoves(), e.GetGameId(), ""})
		}
		// The board of today is another one after midnight.
		req.Leaderboard, req.PageToken = page.GetLeaderboard(), page.GetNextPageToken()
		if req.PageToken == "" {
			return rows, nil
		}
	}
}

// namesAtOnce is how many profiles one call returns at most.
const namesAtOnce = 100

// addNames adds the display names of those players who have one.
func addNames(ctx context.Context, c profilev1.ProfileServiceClient, rows []leaderboardRow) error {
	for some := range slices.Chunk(rows, namesAtOnce) {
		req := &profilev1.BatchGetProfilesRequest{}
		for _, r := range some {
			req.PlayerIds = append(req.PlayerIds, r.PlayerID)
		}
		res, err := c.BatchGetProfiles(ctx, req)
		if err != nil {
			return err
		}
		names := map[string]string{}
		for _, p := range res.GetProfiles() {
			names[p.GetPlayerId()] = p.GetDisplayName()
		}
		for i := range some {
			some[i].Name = names[some[i].PlayerID]
		}
	}
	return nil
}

// printRows prints rows as a table. Display names have a column if there are
// any: the last one, as names take more or less room than they have characters,
// and some are written from right to left.
func printRows(out io.Writer, rows []leaderboardRow) error {
	named := slices.ContainsFunc(rows, func(r leaderboardRow) bool { return r.Name != "" })
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(name, format string, v ...any) error {
		if named {
			format += "\t%s"
			v = append(v, name)
		}
		_, err := fmt.Fprintf(w, format+"\n", v...)
		return err
	}
	if err := line("NAME", "RANK\tPLAYER\tSCORE\tMOVES\tGAME"); err != nil {
		return err
	}
	for _, r := range rows {
		if err := line(r.Name, "%d\t%s\t%d\t%d\t%s", r.Rank, r.PlayerID, r.Score, r.Moves, r.GameID); err != nil {
			return err
		}
	}
	return w.Flush()
}
