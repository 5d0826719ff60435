package scoundrel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
)

// botsResult is what `bots --json` prints.
type botsResult struct {
	Games    int     `json:"games"`                 // to be played
	Finished int     `json:"finished"`              // played to the end
	Won      int     `json:"won"`                   // of those
	Lost     int     `json:"lost"`                  // of those
	Errors   int     `json:"errors"`                // games given up because of an error
	Over     int     `json:"over_before,omitempty"` // attempts at a daily challenge that were over before this run
	Moves    int     `json:"moves"`                 // accepted
	MovesPS  float64 `json:"moves_per_s"`           // over the whole run, all players together
	P50      float64 `json:"p50_ms"`                // of PlayMove
	P99      float64 `json:"p99_ms"`                // of PlayMove
}

// botsConfig is what `bots` plays.
type botsConfig struct {
	games, players int
	daily          bool // one attempt at today's challenge for each player: no more games than players
	strategy       string
	rules          engine.Ruleset
}

// strategies choose among the legal moves of an active game.
var strategies = map[string]func(*rand.Rand, *gamev1.Game) *gamev1.LegalMove{
	"random": func(r *rand.Rand, g *gamev1.Game) *gamev1.LegalMove {
		return g.GetLegalMoves()[r.IntN(len(g.GetLegalMoves()))]
	},
	"greedy": greedy,
}

// greedy takes the move with the best outlook, judged by what the game shows
// and one move deep. It dies late and wins a game in some hundreds.
func greedy(_ *rand.Rand, g *gamev1.Game) *gamev1.LegalMove {
	return slices.MaxFunc(g.GetLegalMoves(), func(a, b *gamev1.LegalMove) int {
		return cmp.Compare(outlook(g, a), outlook(g, b))
	})
}

// outlook puts a number on a move, in points of health. The weights were found
// by playing.
func outlook(g *gamev1.Game, m *gamev1.LegalMove) float64 {
	if m.GetLethal() {
		return -1000
	}
	// freshReach is the reach of a weapon without a limit: it hits even an ace.
	const freshReach = 15
	power, reach := 0.0, float64(freshReach)
	if w := g.GetWeapon(); w != nil {
		power = float64(w.GetPower())
		if w.Limit != nil {
			reach = float64(w.GetLimit())
		}
	}
	health := float64(g.GetHealth())
	gain := float64(m.GetHealthAfter()) - health
	// The room's monsters hurt this much if the weapon hits all that it may.
	value, toll := 0.0, 0.0
	for _, c := range g.GetRoom() {
		v := float64(c.GetValue())
		if c.GetCard() == m.GetMove().GetCard() {
			value = v
		}
		switch {
		case c.GetRole() != rulesv1.CardRole_CARD_ROLE_MONSTER:
		case v <= reach:
			toll += max(0, v-power)
		default:
			toll += v
		}
	}
	switch m.GetMove().GetKind() {
	case rulesv1.MoveKind_MOVE_KIND_AVOID:
		return toll - health
	case rulesv1.MoveKind_MOVE_KIND_EQUIP:
		return gain + 6*(value-power*reach/freshReach) // a worn weapon is worth less
	case rulesv1.MoveKind_MOVE_KIND_FIGHT_WITH_WEAPON:
		return gain - 3*power*(reach-value)/freshReach // a weak monster spoils the weapon for the strong
	case rulesv1.MoveKind_MOVE_KIND_DRINK, rulesv1.MoveKind_MOVE_KIND_DRINK_STORED:
		return gain - 10*(value-gain) // what does not heal now could later
	case rulesv1.MoveKind_MOVE_KIND_SELL:
		return gain - 6*power*reach/freshReach
	case rulesv1.MoveKind_MOVE_KIND_REPAIR:
		return power * (freshReach - reach) / freshReach
	case rulesv1.MoveKind_MOVE_KIND_RECRUIT, rulesv1.MoveKind_MOVE_KIND_UPGRADE, rulesv1.MoveKind_MOVE_KIND_STORE:
		return 10 // nothing is lost by it
	case rulesv1.MoveKind_MOVE_KIND_EQUIP_COMPANION:
		return 6 * (value - float64(g.GetCompanion().GetWeapon().GetPower()))
	case rulesv1.MoveKind_MOVE_KIND_FIGHT_WITH_COMPANION:
		if m.GetCompanionDies() {
			return -5
		}
		return gain
	case rulesv1.MoveKind_MOVE_KIND_DISMISS, rulesv1.MoveKind_MOVE_KIND_RECYCLE:
		return -1
	default:
		return gain - 7 // health is dearer than the weapon
	}
}

func botsCommand() *cobra.Command {
	var cfg botsConfig
	cmd := &cobra.Command{
		Use:   "bots",
		Short: "Play games by program, many at a time",
		Args:  cobra.NoArgs,
	}
	addr, rules := addrFlag(cmd), addRulesFlags(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print a JSON object")
	cmd.Flags().IntVar(&cfg.games, "games", 100, "how many `GAMES` to play")
	cmd.Flags().IntVar(&cfg.players, "players", 8, "how many `PLAYERS` play at a time, a game each")
	cmd.Flags().BoolVar(&cfg.daily, "daily", false, "play today's challenge, each player once; --games is then that of the players if not given")
	cmd.Flags().StringVar(&cfg.strategy, "strategy", "greedy", "how they choose: random or greedy")
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		if cfg.rules, err = rules.ruleset(); err != nil {
			return err
		}
		if cfg.daily && !cmd.Flags().Changed("games") {
			cfg.games = cfg.players
		}
		if cfg.games < 1 || cfg.players < 1 {
			return errors.New("--games and --players must be 1 or more")
		}
		if cfg.daily && cfg.games > cfg.players {
			return fmt.Errorf("each player has one attempt at the daily challenge: %d players cannot play %d games", cfg.players, cfg.games)
		}
		if strategies[cfg.strategy] == nil {
			return fmt.Errorf("there is no strategy %q: choose random or greedy", cfg.strategy)
		}
		c, err := dial(*addr)
		if err != nil {
			return err
		}
		defer func() { _ = c.conn.Close() }() // nothing is under way
		// Asked once, before hundreds of games fail for the same reason.
		ctx := as(cmd.Context(), "bot-1", "bot")
		if cfg.daily {
			_, err = c.GetDailyChallenge(ctx, &gamev1.GetDailyChallengeRequest{RulesetId: cfg.rules.ID()})
		} else {
			_, err = c.ListRulesets(ctx, &gamev1.ListRulesetsRequest{})
		}
		if err != nil {
			return err
		}
		result, failure := playBots(cmd.Context(), c, cfg, progress(cmd.ErrOrStderr(), cfg.games))
		if *asJSON {
			err = json.NewEncoder(cmd.OutOrStdout()).Encode(result)
		} else {
			over := ""
			if result.Over > 0 {
				over = fmt.Sprintf(", %d over before", result.Over)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d of %d games finished: %d won, %d lost, %d errors%s\n%d moves, %.0f moves/s, PlayMove p50 %.2f ms, p99 %.2f ms\n",
				result.Finished, result.Games, result.Won, result.Lost, result.Errors, over, result.Moves, result.MovesPS, result.P50, result.P99)
		}
		if cmd.Context().Err() != nil {
			return errors.Join(err, errors.New("interrupted"))
		}
		if failure != nil {
			return fmt.Errorf("%d games ended with an error; the first: %s", result.Errors, explain(failure))
		}
		return err
	}
	return cmd
}

// progress returns what to call after each game: it moves a bar on a terminal;
// elsewhere one line says that the work has begun.
func progress(w io.Writer, games int) func() {
	f, ok := w.(*os.File)
	if !ok || !isatty.IsTerminal(f.Fd()) {
		_, _ = fmt.Fprintf(w, "playing %d games\n", games) // a line that cannot be written is no loss
		return func() {}
	}
	bar := progressbar.NewOptions(games, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription("games"),
		progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
	return func() { _ = bar.Add(1) } // a bar that cannot be drawn is no loss
}

// playBots plays all games, or what it can of them until ctx ends or the server
// is gone, and waits until their scores are known. Its error is that of the first
// game that was given up; the result holds the others all the same.
func playBots(ctx context.Context, c *client, cfg botsConfig, done func()) (botsResult, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	result := botsResult{Games: cfg.games}
	var mu sync.Mutex
	var times []time.Duration
	var firstErr error
	todo := make(chan struct{}, cfg.games)
	for range cfg.games {
		todo <- struct{}{}
	}
	close(todo)
	start := time.Now()
	bots := make([]*bot, min(cfg.players, cfg.games))
	var players sync.WaitGroup
	for p := range bots {
		b := &bot{client: c, ctx: as(ctx, fmt.Sprintf("bot-%d", p+1), "bot"), cfg: cfg, rand: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
		bots[p] = b
		players.Go(func() {
			for range todo {
				outcome, err := b.play()
				if ctx.Err() != nil {
					break // a game that was interrupted is no error of its own
				}
				mu.Lock()
				switch {
				case errors.Is(err, errOverBefore):
					result.Over++
				case err != nil:
					result.Errors++
					firstErr = cmp.Or(firstErr, err)
					if status.Code(err) == codes.Unavailable {
						stop() // the calls' retries have not helped; the next game's would not
					}
				case outcome == gamev1.GameStatus_GAME_STATUS_WON:
					result.Won++
				default:
					result.Lost++
				}
				mu.Unlock()
				done()
				if cfg.daily {
					break // the other attempts are those of the other players
				}
			}
			mu.Lock()
			defer mu.Unlock()
			times = append(times, b.times...)
		})
	}
	players.Wait()
	result.Finished = result.Won + result.Lost
	result.Moves = len(times)
	result.MovesPS = float64(len(times)) / time.Since(start).Seconds()
	slices.Sort(times)
	result.P50, result.P99 = percentile(times, 50), percentile(times, 99)
	for _, b := range bots {
		players.Go(func() {
			if err := b.awaitScore(); err != nil && ctx.Err() == nil {
				mu.Lock()
				defer mu.Unlock()
				firstErr = cmp.Or(firstErr, err)
			}
		})
	}
	players.Wait()
	return result, firstErr
}

// percentile returns a percentile of sorted times in milliseconds, 0 of none.
func percentile(sorted []time.Duration, p int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return float64(sorted[(len(sorted)-1)*p/100]) / float64(time.Millisecond)
}

// bot is one player.
type bot struct {
	*client

	ctx   context.Context //nolint:containedctx // it carries the identity of this one player
	cfg   botsConfig
	rand  *rand.Rand
	times []time.Duration          // of every accepted move
	last  *gamev1.PlayMoveResponse // the end of the last game that was finished
}

// errOverBefore: the player's attempt at the challenge was over before.
var errOverBefore = errors.New("the attempt is over")

// play plays one game to its end, or goes on with an attempt at a challenge.
func (b *bot) play() (gamev1.GameStatus, error) {
	start := startRequest
	if b.cfg.daily {
		start = dailyRequest
	}
	started, err := b.StartGame(b.ctx, start(b.cfg.rules))
	if err != nil {
		return 0, err
	}
	g := started.GetGame()
	if g.GetStatus() != gamev1.GameStatus_GAME_STATUS_ACTIVE {
		return 0, errOverBefore
	}
	for g.GetStatus() == gamev1.GameStatus_GAME_STATUS_ACTIVE {
		move := strategies[b.cfg.strategy](b.rand, g).GetMove()
		req := &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: move, ExpectedVersion: g.GetVersion(), RequestId: requestID()}
		start := time.Now()
		played, err := b.PlayMove(b.ctx, req)
		if err != nil {
			return 0, err
		}
		b.times = append(b.times, time.Since(start))
		g, b.last = played.GetGame(), played
	}
	return g.GetStatus(), nil
}

// awaitScore waits until the boards include the last game.
func (b *bot) awaitScore() error {
	g := b.last.GetGame()
	if g == nil || g.GetStatus() == gamev1.GameStatus_GAME_STATUS_ACTIVE {
		return nil
	}
	_, err := b.GetScore(b.ctx, &scoringv1.GetScoreRequest{GameId: g.GetGameId(), ConsistencyToken: b.last.GetConsistencyToken()})
	return err
}
