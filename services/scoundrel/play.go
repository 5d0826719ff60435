package scoundrel

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os/user"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
)

func playCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "play",
		Short: "Play a game in the terminal",
		Args:  cobra.NoArgs,
	}
	addr, rules := addrFlag(cmd), addRulesFlags(cmd)
	player := cmd.Flags().String("player", playerName(), "your `NAME` on the leaderboard")
	gameID := cmd.Flags().String("game", "", "go on with the game of this `ID`")
	daily := cmd.Flags().Bool("daily", false, "play today's challenge: the same deck for everybody, and one attempt")
	for _, name := range []string{"daily", "preset", "variant", "companion-health", "depth"} {
		cmd.MarkFlagsMutuallyExclusive("game", name)
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ruleset, err := rules.ruleset()
		if err != nil {
			return err
		}
		c, err := dial(*addr)
		if err != nil {
			return err
		}
		defer func() { _ = c.conn.Close() }() // nothing is under way
		p := &playSession{client: c, player: *player, addr: *addr, in: readLines(cmd.InOrStdin()), out: cmd.OutOrStdout()}
		start := startRequest
		if *daily {
			start = dailyRequest
		}
		return p.run(as(cmd.Context(), *player, "human"), start(ruleset), *gameID)
	}
	return cmd
}

// playerName is the user's name, as far as it can name a player.
func playerName() string {
	u, err := user.Current()
	if err != nil {
		return "player"
	}
	if name := regexp.MustCompile(`[^A-Za-z0-9._-]`).ReplaceAllString(u.Username, "-"); name != "" && len(name) <= 64 {
		return name
	}
	return "player"
}

// playSession is one person at one terminal.
type playSession struct {
	*client

	player, addr string
	in           <-chan string // the lines of the input
	out          io.Writer
	err          error                  // of the first write that failed
	challenge    *gamev1.DailyChallenge // of which the game is an attempt; nil if of none
}

// readLines yields the lines of an input, however long, until it ends or cannot be
// read, which is the same to a player. A read cannot be interrupted, so the goroutine stays
// for as long as the input is silent: for the life of the program.
func readLines(r io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		in := bufio.NewReader(r)
		for {
			line, err := in.ReadString('\n')
			if line != "" {
				lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

func (p *playSession) printf(format string, args ...any) {
	if _, err := fmt.Fprintf(p.out, format, args...); p.err == nil {
		p.err = err
	}
}

// run plays one game to its end, or until the input or ctx ends: the game then
// waits for its player.
func (p *playSession) run(ctx context.Context, start *gamev1.StartGameRequest, gameID string) error {
	game, token, err := p.open(ctx, start, gameID)
	if err != nil {
		return err
	}
	if game.GetPlayerId() != p.player {
		return fmt.Errorf("game %s is that of %s; name yourself with --player", game.GetGameId(), game.GetPlayerId())
	}
	defer func() {
		if game.GetStatus() == gamev1.GameStatus_GAME_STATUS_ACTIVE {
			p.wait(game)
		}
	}()
	if err := p.introduce(ctx, game); err != nil {
		return err
	}
	p.printf("Game %s, rules %s.", game.GetGameId(), game.GetRulesetId())
	if game.GetStatus() == gamev1.GameStatus_GAME_STATUS_ACTIVE {
		p.printf(" Type a move's number, q to leave, resign to give up, ? for help.")
	}
	p.printf("\n")
	for game.GetStatus() == gamev1.GameStatus_GAME_STATUS_ACTIVE {
		p.show(game)
		choice, ok := p.choose(ctx, game)
		if !ok {
			return p.err
		}
		if choice == nil {
			res, err := p.ResignGame(ctx, &gamev1.ResignGameRequest{GameId: game.GetGameId(), RequestId: requestID()})
			if err != nil {
				return err
			}
			game = res.GetGame()
			continue
		}
		res, err := p.PlayMove(ctx, &gamev1.PlayMoveRequest{GameId: game.GetGameId(), Move: choice.GetMove(), ExpectedVersion: game.GetVersion(), RequestId: requestID()})
		switch reason(err) {
		case "VERSION_MISMATCH":
			p.printf("The game was played elsewhere meanwhile.\n")
			if game, token, err = p.open(ctx, start, game.GetGameId()); err != nil {
				return err
			}
			continue
		case "DAILY_CLOSED":
			if game, token, err = p.closed(ctx, game); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		game, token = res.GetGame(), res.GetConsistencyToken()
		p.tell(res.GetFacts())
	}
	return p.end(ctx, game, token)
}

// minute is how times are told, in UTC as the days of challenges are.
const minute = "2006-01-02 15:04 UTC"

// introduce says of which challenge a game is an attempt, if of any. An attempt
// belongs to the day of its start, whatever day it has become since.
func (p *playSession) introduce(ctx context.Context, g *gamev1.Game) error {
	if g.GetMode() != eventv1.GameMode_GAME_MODE_DAILY {
		return nil
	}
	res, err := p.GetDailyChallenge(ctx, &gamev1.GetDailyChallengeRequest{
		Date: g.GetStartedAt().AsTime().Format(time.DateOnly), RulesetId: g.GetRulesetId(),
	})
	if err != nil {
		return err
	}
	c := res.GetChallenge()
	p.challenge = c
	p.printf("Daily challenge of %s, closes at %s, last moves before %s, commitment %s.\n",
		c.GetDate(), c.GetClosesAt().AsTime().Format(minute), c.GetFinalAt().AsTime().Format(minute), c.GetCommitment())
	switch {
	case g.GetStatus() != gamev1.GameStatus_GAME_STATUS_ACTIVE:
		p.printf("Your one attempt at it is over already.\n")
	case g.GetVersion() > 1:
		p.printf("You go on with your one attempt at it.\n")
	}
	return nil
}

// closed says that a move came too late, and returns the game as it has ended.
func (p *playSession) closed(ctx context.Context, g *gamev1.Game) (*gamev1.Game, string, error) {
	p.printf("Too late: the daily challenge took its last moves before %s.\n", p.challenge.GetFinalAt().AsTime().Format(minute))
	p.challenge.Final = true
	return p.open(ctx, nil, g.GetGameId())
}

// tell says what happened beside the move itself.
func (p *playSession) tell(facts []*eventv1.Fact) {
	for _, f := range facts {
		switch {
		case f.GetWeaponStolen() != nil:
			p.printf("The thief steals your %s.\n", f.GetWeaponStolen().GetCard())
		case f.GetCompanionDied() != nil:
			p.printf("Your companion %s dies.\n", f.GetCompanionDied().GetCard())
		case f.GetCardReturned() != nil:
			p.printf("%s goes back into the dungeon, nobody knows where.\n", f.GetCardReturned().GetCard())
		}
	}
}

// wait says how to go on with a game.
func (p *playSession) wait(g *gamev1.Game) {
	command := self() + " play --game " + g.GetGameId()
	if p.player != playerName() {
		command += " --player " + p.player
	}
	if p.addr != defaultAddr {
		command += " --addr " + p.addr
	}
	until := ""
	if p.challenge != nil {
		until = " until " + p.challenge.GetFinalAt().AsTime().Format(minute)
	}
	p.printf("\nThe game waits for you%s: %s\n", until, command)
}

// open starts a game, or finds the one of an id.
func (p *playSession) open(ctx context.Context, start *gamev1.StartGameRequest, gameID string) (*gamev1.Game, string, error) {
	if gameID != "" {
		res, err := p.GetGame(ctx, &gamev1.GetGameRequest{GameId: gameID})
		return res.GetGame(), res.GetConsistencyToken(), err
	}
	res, err := p.StartGame(ctx, start)
	return res.GetGame(), res.GetConsistencyToken(), err
}

// show prints what the player sees.
func (p *playSession) show(g *gamev1.Game) {
	var room []string
	for _, c := range g.GetRoom() {
		room = append(room, fmt.Sprintf("%s %s", c.GetCard(), strings.ToLower(strings.TrimPrefix(c.GetRole().String(), "CARD_ROLE_"))))
	}
	p.printf("\nRoom %d: %s (take %d)\n", g.GetRoomNumber(), strings.Join(room, ", "), g.GetToTake())
	p.printf("Health %d, %s, %d cards in the dungeon\n", g.GetHealth(), describeWeapon(g.GetWeapon()), g.GetDungeonSize())
	if c := g.GetCompanion(); c != nil {
		p.printf("Companion %s: ", c.GetCard())
		if c.GetHealth() > 0 {
			p.printf("health %d, ", c.GetHealth())
		}
		p.printf("%s\n", describeWeapon(c.GetWeapon()))
	}
	if b := g.GetBearer(); b != nil {
		p.printf("Bearer %s: %s\n", b.GetCard(), cmp.Or(strings.Join(b.GetPotions(), " "), "no potion"))
	}
	for i, m := range g.GetLegalMoves() {
		p.printf("  %2d  %s\n", i+1, describeMove(g, m))
	}
}

func describeWeapon(w *gamev1.Weapon) string {
	if w == nil {
		return "no weapon"
	}
	text := "weapon " + w.GetCard()
	if len(w.GetUpgrades()) > 0 {
		text += fmt.Sprintf(" on %s, power %d,", strings.Join(w.GetUpgrades(), " "), w.GetPower())
	}
	if len(w.GetKills()) > 0 {
		text += " with " + strings.Join(w.GetKills(), " ") + " on it"
	}
	if w.Limit != nil {
		text += fmt.Sprintf(", hits monsters up to %d", w.GetLimit())
	}
	return text
}

var moveWords = map[rulesv1.MoveKind]string{
	rulesv1.MoveKind_MOVE_KIND_AVOID:                "avoid the room",
	rulesv1.MoveKind_MOVE_KIND_EQUIP:                "equip",
	rulesv1.MoveKind_MOVE_KIND_DRINK:                "drink",
	rulesv1.MoveKind_MOVE_KIND_FIGHT_BARE_HANDED:    "fight with bare hands:",
	rulesv1.MoveKind_MOVE_KIND_FIGHT_WITH_WEAPON:    "fight with the weapon:",
	rulesv1.MoveKind_MOVE_KIND_DISMISS:              "send away",
	rulesv1.MoveKind_MOVE_KIND_SELL:                 "sell the weapon to",
	rulesv1.MoveKind_MOVE_KIND_REPAIR:               "have the weapon repaired by",
	rulesv1.MoveKind_MOVE_KIND_UPGRADE:              "have the weapon improved by",
	rulesv1.MoveKind_MOVE_KIND_RECRUIT:              "take into the party",
	rulesv1.MoveKind_MOVE_KIND_STORE:                "give to the bearer",
	rulesv1.MoveKind_MOVE_KIND_DRINK_STORED:         "drink the bearer's",
	rulesv1.MoveKind_MOVE_KIND_EQUIP_COMPANION:      "give to the companion",
	rulesv1.MoveKind_MOVE_KIND_FIGHT_WITH_COMPANION: "let the companion fight:",
	rulesv1.MoveKind_MOVE_KIND_RECYCLE:              "send back into the dungeon",
}

// healing are the kinds of moves that are made for health.
var healing = []rulesv1.MoveKind{rulesv1.MoveKind_MOVE_KIND_DRINK, rulesv1.MoveKind_MOVE_KIND_DRINK_STORED, rulesv1.MoveKind_MOVE_KIND_SELL}

func describeMove(g *gamev1.Game, m *gamev1.LegalMove) string {
	text := strings.TrimSpace(moveWords[m.GetMove().GetKind()] + " " + m.GetMove().GetCard())
	if m.GetLethal() {
		return text + " - LETHAL, this kills you"
	}
	if m.GetHealthAfter() != g.GetHealth() {
		text += fmt.Sprintf(" - health %d", m.GetHealthAfter())
	}
	switch {
	case m.GetWastesPotion():
		text += " - wasted, it does not heal"
	case m.GetHealthAfter() == g.GetHealth() && slices.Contains(healing, m.GetMove().GetKind()):
		text += " - heals nothing at full health"
	}
	switch before := g.GetCompanion().GetHealth(); {
	case m.GetCompanionDies():
		text += " - the companion dies"
	case before > 0 && m.GetCompanionHealthAfter() != before:
		text += fmt.Sprintf(" - companion's health %d", m.GetCompanionHealthAfter())
	}
	if len(m.GetDiscards()) > 0 {
		text += " - discards " + strings.Join(m.GetDiscards(), " ")
	}
	return text
}

const help = `
Take three cards of each full room, in any order; the fourth is carried into the next. Of the last room take all.
A monster costs its value in health (jack 11, queen 12, king 13, ace 14), or what it exceeds your weapon by.
A weapon that has slain wears: it then hits only monsters up to the limit that is shown.
The first potion that you drink in a room heals, up to 20; a further one is wasted.
A full room can be avoided before its first card is taken, but not two rooms in a row.
Merchants buy your weapon, blacksmiths take monsters off it, a bearer keeps potions, a companion fights beside you,
and a thief steals the weapon once the room he is in cannot be avoided.
You win when you have passed the whole dungeon alive.
q leaves the game, which waits for you; resign gives it up for good.
`

// choose reads a choice: a move, or nil to resign. It is not ok where the player
// leaves, or the input or ctx ends.
func (p *playSession) choose(ctx context.Context, g *gamev1.Game) (_ *gamev1.LegalMove, ok bool) {
	for {
		p.printf("> ")
		if p.err != nil {
			return nil, false
		}
		var text string
		select {
		case <-ctx.Done():
			return nil, false
		case text, ok = <-p.in:
			if !ok {
				return nil, false
			}
		}
		moves := g.GetLegalMoves()
		switch text = strings.TrimSpace(text); text {
		case "":
		case "q":
			return nil, false
		case "resign":
			return nil, true
		case "?":
			p.printf("%s", help)
			p.show(g)
		default:
			if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(moves) {
				return moves[n-1], true
			}
			p.printf("%.40q is no move; type a number from 1 to %d, q to leave, ? for help.\n", text, len(moves))
		}
	}
}

// end prints the result, where it stands, and when a challenge tells its deck.
func (p *playSession) end(ctx context.Context, g *gamev1.Game, token string) error {
	if err := p.result(ctx, g, token); err != nil {
		return err
	}
	switch c := p.challenge; {
	case c == nil:
	case c.GetFinal():
		p.printf("The deck is revealed: %s verify %s checks the game.\n", self(), g.GetGameId())
	default:
		p.printf("The deck is revealed at %s.\n", c.GetFinalAt().AsTime().Format(minute))
	}
	return p.err
}

// result prints the result, and where it stands.
func (p *playSession) result(ctx context.Context, g *gamev1.Game, token string) error {
	switch g.GetStatus() {
	case gamev1.GameStatus_GAME_STATUS_ABANDONED:
		p.printf("\nYou left the dungeon. No score.\n")
		return p.err
	case gamev1.GameStatus_GAME_STATUS_WON:
		p.printf("\nYou passed the dungeon with health %d. Score %d.\n", g.GetHealth(), g.GetScore())
	default:
		p.printf("\nYou died with health %d. Score %d.\n", g.GetHealth(), g.GetScore())
	}
	board, name := &scoringv1.Leaderboard{RulesetId: g.GetRulesetId(), ActorKind: g.GetActorKind()}, g.GetRulesetId()
	if c := p.challenge; c != nil {
		board.Period, board.Date = scoringv1.Period_PERIOD_DAILY, c.GetDate()
		name += ", daily challenge of " + c.GetDate()
	}
	res, err := p.GetPlayerEntry(ctx, &scoringv1.GetPlayerEntryRequest{Leaderboard: board, PlayerId: g.GetPlayerId(), ConsistencyToken: token})
	switch reason(err) {
	case "LEADERBOARD_NOT_FOUND", "ENTRY_NOT_FOUND":
		p.printf("This game does not rank.\n")
		return p.err
	}
	if err != nil {
		return err
	}
	e := res.GetEntry()
	which := ": your best is " + strconv.Itoa(int(e.GetScore()))
	switch {
	case p.challenge != nil: // the only attempt is no best one
		which = ""
	case e.GetGameId() == g.GetGameId():
		which = ": your best yet"
	}
	p.printf("Rank %d, position %d of %d on %s%s.\n", e.GetRank(), e.GetPosition(), res.GetTotalPlayers(), name, which)
	return p.err
}
