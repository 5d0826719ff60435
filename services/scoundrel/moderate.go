package scoundrel

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"

	moderationv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/moderation/v1"
	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
)

// moderatorToken reads the moderators' token, and makes one that only the server's
// owner may read if there is none.
func moderatorToken(path string) (string, error) {
	token, err := readModeratorToken(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && token == "" { // a crash may leave an empty file
		token = rand.Text()
		err = os.WriteFile(path, []byte(token+"\n"), 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("the moderators' token: %w", err)
	}
	return token, nil
}

func readModeratorToken(path string) (string, error) {
	data, err := os.ReadFile(path)
	return strings.TrimSpace(string(data)), err
}

func moderateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "moderate",
		Short: "Hide players or games from leaderboards and statistics, or show them again",
		Long: "Hide players or games from leaderboards and statistics, or show them again. Every decision is a record in the\n" +
			"event log, with who decided and why; nothing is deleted. A moderator is who can read the token in the data folder.",
	}
	cmd.AddCommand(decideCommand("hide", "Hide a player with all games, or one game", true),
		decideCommand("unhide", "Show a player or a game again", false), moderationsCommand())
	return cmd
}

// moderator is a connection of a moderator.
type moderator struct {
	*client
	moderationv1.ModerationServiceClient
}

// moderatorFlags adds the flags that say where the server is and who calls; the
// returned function connects, and gives the context of the calls.
func moderatorFlags(cmd *cobra.Command) func(context.Context) (context.Context, *moderator, error) {
	addr := addrFlag(cmd)
	data := cmd.Flags().String("data", "data", "the server's data folder `DIR`, which holds the token of moderators")
	file := cmd.Flags().String("token-file", "", "`FILE` with the token, if not the one in the data folder")
	by := cmd.Flags().String("by", playerName(), "your `NAME`, for the record")
	return func(ctx context.Context) (context.Context, *moderator, error) {
		if *file == "" {
			*file = filepath.Join(*data, moderatorFile)
		}
		token, err := readModeratorToken(*file)
		if err != nil {
			return nil, nil, fmt.Errorf("the moderators' token (name the server's data folder with --data): %w", err)
		}
		c, err := dial(*addr)
		if err != nil {
			return nil, nil, err
		}
		ctx = metadata.AppendToOutgoingContext(as(ctx, *by, "human"), "authorization", "Bearer "+token)
		return ctx, &moderator{c, moderationv1.NewModerationServiceClient(c.conn)}, nil
	}
}

func decideCommand(use, short string, hidden bool) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs}
	connect := moderatorFlags(cmd)
	player := cmd.Flags().String("player", "", "the `PLAYER`")
	game := cmd.Flags().String("game", "", "the `ID` of the game")
	reason := cmd.Flags().String("reason", "", "`WHY`, for those who look at it later")
	cmd.MarkFlagsOneRequired("player", "game")
	cmd.MarkFlagsMutuallyExclusive("player", "game")
	if err := cmd.MarkFlagRequired("reason"); err != nil {
		cmd.PrintErrln(err) // there is such a flag, two lines above
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, c, err := connect(cmd.Context())
		if err != nil {
			return err
		}
		defer func() { _ = c.conn.Close() }() // nothing is under way
		req := &moderationv1.ModerateRequest{Hidden: hidden, Reason: *reason, Target: &moderationv1.ModerateRequest_PlayerId{PlayerId: *player}}
		if *player == "" {
			req.Target = &moderationv1.ModerateRequest_GameId{GameId: *game}
		}
		return c.decide(ctx, req, cmd.OutOrStdout())
	}
	return cmd
}

// decide makes a decision, waits until the leaderboards agree and says so.
func (m *moderator) decide(ctx context.Context, req *moderationv1.ModerateRequest, out io.Writer) error {
	resp, err := m.Moderate(ctx, req)
	if err != nil {
		return err
	}
	what := target(req.GetPlayerId(), req.GetGameId())
	switch is := map[bool]string{true: "hidden", false: "shown"}[req.GetHidden()]; {
	case resp.GetModeration() == nil:
		_, err = fmt.Fprintf(out, "%s never was hidden\n", what)
		return err
	case !resp.GetChanged():
		_, err = fmt.Fprintf(out, "%s is %s already: %s\n", what, is, describe(resp.GetModeration()))
	default:
		_, err = fmt.Fprintf(out, "%s is %s: decision %d\n", what, is, resp.GetModeration().GetSequence())
	}
	if err != nil {
		return err
	}
	if _, err := m.ListLeaderboards(ctx, &scoringv1.ListLeaderboardsRequest{PageSize: 1, ConsistencyToken: resp.GetConsistencyToken()}); err != nil {
		return fmt.Errorf("the decision is recorded, but the leaderboards do not have it yet: %w", err)
	}
	if req.GetPlayerId() == "" {
		return nil
	}
	games, err := m.ListPlayerGames(ctx, &scoringv1.ListPlayerGamesRequest{PlayerId: req.GetPlayerId(), PageSize: 1})
	if err == nil && len(games.GetGames()) == 0 {
		_, err = fmt.Fprintln(out, "no game of that player is known: the decision holds for those to come")
	}
	return err
}

func target(player, game string) string {
	if player != "" {
		return "player " + player
	}
	return "game " + game
}

// describe says who decided, when and why.
func describe(m *moderationv1.Moderation) string {
	return fmt.Sprintf("by %s, %s: %s", m.GetModeratorId(), m.GetDecidedAt().AsTime().Format(time.DateTime), m.GetReason())
}

func moderationsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List all decisions that there ever were, the oldest first", Args: cobra.NoArgs}
	connect := moderatorFlags(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print a JSON object a line")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, c, err := connect(cmd.Context())
		if err != nil {
			return err
		}
		defer func() { _ = c.conn.Close() }() // nothing is under way
		flush := func() error { return nil }
		show := func(m *moderationv1.Moderation) error {
			line, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), string(line))
			}
			return err
		}
		if !*asJSON {
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			if _, err := fmt.Fprintln(table, "DECISION\tWHAT\tIS\tDECIDED (UTC)\tBY\tREASON"); err != nil {
				return err
			}
			show = func(m *moderationv1.Moderation) error {
				is := map[bool]string{true: "hidden", false: "shown"}[m.GetHidden()]
				_, err := fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\n", m.GetSequence(), target(m.GetPlayerId(), m.GetGameId()), is,
					m.GetDecidedAt().AsTime().Format(time.DateTime), m.GetModeratorId(), m.GetReason())
				return err
			}
			flush = table.Flush
		}
		if err := c.each(ctx, show); err != nil {
			return err
		}
		return flush()
	}
	return cmd
}

// each calls do with every decision.
func (m *moderator) each(ctx context.Context, do func(*moderationv1.Moderation) error) error {
	req := &moderationv1.ListModerationsRequest{PageSize: 200}
	for {
		page, err := m.ListModerations(ctx, req)
		if err != nil {
			return err
		}
		for _, d := range page.GetModerations() {
			if err := do(d); err != nil {
				return err
			}
		}
		if req.AfterSequence = page.GetNextAfterSequence(); req.GetAfterSequence() == 0 {
			return nil
		}
	}
}
