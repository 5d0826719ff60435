package scoundrel

import (
	"encoding/json"
	"net"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// dailySystem is a backend with a clock of its own that the program can call.
type dailySystem struct {
	*system

	addr string
	now  atomic.Pointer[time.Time]
}

// startDaily starts a backend at noon of 2028-02-29.
func startDaily(t *testing.T) *dailySystem {
	t.Helper()
	d := &dailySystem{}
	d.set(time.Date(2028, 2, 29, 12, 0, 0, 0, time.UTC))
	listener := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	d.addr = listener.Addr().String()
	d.system = start(t, t.TempDir(), func(c *Config) {
		c.Listener, c.Clock, c.Seeds = listener, func() time.Time { return *d.now.Load() }, nil
	})
	c, err := dial(d.addr)
	if err != nil {
		t.Fatal(err)
	}
	_ = d.conn.Close() // to a connection in memory, which this listener is not
	d.client = c
	return d
}

func (d *dailySystem) set(now time.Time) { d.now.Store(&now) }

// final is when the challenge of the day that the backend starts on is.
var final = time.Date(2028, 3, 1, 1, 0, 0, 0, time.UTC)

// says runs the program as ada, and makes sure that its output matches want.
func (d *dailySystem) says(t *testing.T, stdin string, wantCode int, want string, args ...string) string {
	t.Helper()
	args = append(args, "--addr", d.addr)
	out, errs, code := run(t, stdin, args...)
	if !regexp.MustCompile(`(?s)\A`+want+`\z`).MatchString(out+errs) || code != wantCode {
		t.Errorf("%v: status %d, it says\n%s%s\nwant %d,\n%s", args, code, out, errs, wantCode, want)
	}
	return out
}

// firstMoves choose the first move until any game is over.
var firstMoves = strings.Repeat("1\n", 200)

// TestPlayDaily plays a challenge in two sittings, and looks at it before and after
// it is final.
func TestPlayDaily(t *testing.T) {
	d := startDaily(t)
	play := []string{"play", "--daily", "--player", "ada"}
	const challenge = `Daily challenge of 2028-02-29, closes at 2028-03-01 00:00 UTC, last moves before 2028-03-01 01:00 UTC, commitment [0-9a-f]{64}\.\n`
	const result = `\nYou .*Score -?\d+\.\nRank 1, position 1 of 1 on classic, daily challenge of 2028-02-29\.\n`
	const later = `The deck is revealed at 2028-03-01 01:00 UTC\.\n`

	d.says(t, "1\nq\n", 0, challenge+`Game \S+, rules classic\..*\nRoom 1.*The game waits for you until 2028-03-01 01:00 UTC: .*`, play...)
	out := d.says(t, firstMoves, 0, challenge+`You go on with your one attempt at it\.\nGame .*\nRoom.*`+result+later, play...)
	id := regexp.MustCompile(`Game (\S+),`).FindStringSubmatch(out)[1]
	d.says(t, "", 0, challenge+`Your one attempt at it is over already\.\nGame `+id+`, rules classic\.\n`+result+later, play...)
	d.says(t, "", 0, `Daily challenge of 2028-02-29, .*Game \S+, rules strict\..*`, append(play, "--preset", "strict")...)
	d.says(t, "", 1, `scoundrel: there is no daily challenge of 2028-02-29 by "strict\+depth9" \(DAILY_NOT_FOUND\)\n`, append(play, "--preset", "strict", "--depth", "9")...)
	d.says(t, "", 1, `scoundrel: if any flags in the group \[game daily\] are set none of the others can be.*`, append(play, "--game", id)...)

	row := `RANK +PLAYER +SCORE +MOVES +GAME\n1 +ada .* ` + id + `\n`
	d.says(t, "", 0, row, "leaderboard", "--period", "daily")
	d.set(final.Add(-time.Second))
	d.says(t, "", 0, `RANK +PLAYER +SCORE +MOVES +GAME\n`, "leaderboard", "--period", "daily")
	d.says(t, "", 0, row, "leaderboard", "--period", "daily", "--date", "2028-02-29")
	d.says(t, "", 1, `scoundrel: .*leaderboard\.date.*YYYY-MM-DD.*`, "leaderboard", "--period", "daily", "--date", "yesterday")

	// A document with no secrets; text and verification need them.
	const notFinal = `the daily challenge of this game is not final: its seed is revealed one hour after its day \(UTC\)\n`
	if json := d.says(t, "", 0, `\{.*"gameOver".*`+id+`.*`, "export", "--player", "ada", id); strings.Contains(json, `"seed"`) || strings.Contains(json, `"deck"`) {
		t.Errorf("it exports %s", json)
	}
	d.says(t, "", 1, `scoundrel: `+notFinal, "export", "--player", "ada", "--format", "text", id)
	d.says(t, "", 1, notFinal, "verify", "--player", "ada", id)
	d.says(t, "", 2, `scoundrel: game `+id+` belongs to another player \(NOT_YOUR_GAME\)\n`, "verify", "--player", "eve", id)

	d.set(final)
	d.says(t, "", 0, `verified: `+id+`, classic, \d+ moves, score -?\d+\n`, "verify", "--player", "eve", id)
	text := d.says(t, "", 0, `.*\[Mode "DAILY"\].*`, "export", "--player", "eve", "--format", "text", id)
	d.says(t, text, 0, `verified: `+id+`, .*`, "verify", "-")
	d.says(t, "", 0, challenge+`Your .*`+result+`The deck is revealed: \S+ verify `+id+` checks the game\.\n`, "play", "--game", id, "--player", "ada")
	// Another day, another attempt.
	d.says(t, "", 0, `Daily challenge of 2028-03-01, .*Room 1.*`, play...)
}

// prompted calls a function at each prompt that is written to it.
type prompted struct {
	strings.Builder

	do func()
}

func (p *prompted) Write(b []byte) (int, error) {
	if string(b) == "> " {
		p.do()
	}
	return p.Builder.Write(b)
}

// TestPlayDailyTooLate makes a move once the challenge is final.
func TestPlayDailyTooLate(t *testing.T) {
	d := startDaily(t)
	out := &prompted{do: func() { d.set(final) }} // while the player thinks
	var errs strings.Builder
	code := Main(t.Context(), []string{"play", "--daily", "--player", "ada", "--addr", d.addr}, strings.NewReader("1\n"), out, &errs)
	want := regexp.MustCompile(`> Too late: the daily challenge took its last moves before 2028-03-01 01:00 UTC\.\n\n` +
		`You left the dungeon\. No score\.\nThe deck is revealed: \S+ verify \S+ checks the game\.\n$`)
	if code != 0 || errs.String() != "" || !want.MatchString(out.String()) {
		t.Errorf("status %d, %s, %s", code, errs.String(), out.String())
	}
}

// TestBotsDaily: each player plays once, however often they are called.
func TestBotsDaily(t *testing.T) {
	d := startDaily(t)
	bots := []string{"bots", "--daily", "--players", "3", "--strategy", "random"}
	d.says(t, "", 0, `2 of 2 games finished: \d won, \d lost, 0 errors\n.*`, append(bots, "--games", "2")...)
	d.says(t, "", 0, `1 of 3 games finished: \d won, \d lost, 0 errors, 2 over before\n.*`, bots...)
	d.says(t, "", 0, `0 of 3 games finished: 0 won, 0 lost, 0 errors, 3 over before\n0 moves, .*playing 3 games\n`, bots...)
	var result map[string]float64
	out, _, _ := run(t, "", append(bots, "--json", "--addr", d.addr)...)
	if err := json.Unmarshal([]byte(out), &result); err != nil || result["over_before"] != 3 || result["finished"] != 0 || result["errors"] != 0 {
		t.Errorf("%v, %v", result, err)
	}
	d.says(t, "", 1, `scoundrel: each player has one attempt at the daily challenge: 3 players cannot play 4 games\n`, append(bots, "--games", "4")...)
	d.says(t, "", 1, `scoundrel: there is no daily challenge of 2028-02-29 by "strict\+depth9" \(DAILY_NOT_FOUND\)\n`, append(bots, "--preset", "strict", "--depth", "9")...)
	if out := d.says(t, "", 0, `RANK.*no person has played yet; these are bots\n`, "leaderboard", "--period", "daily"); strings.Count(out, "bot-") != 3 {
		t.Errorf("the board is %s", out)
	}
}
