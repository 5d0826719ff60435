package projectiontest_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/projectiontest"
)

// BenchmarkRedis does in a Redis sorted set what Bench does in a store, for
// comparison: one board, and nothing on a disk.
func BenchmarkRedis(b *testing.B) {
	c := startRedis(b)
	players := projectiontest.BenchPlayers(b)
	start := time.Now()
	for i := 0; i < players; {
		batch := [][]any{}
		for end := min(i+1000, players); i < end; i++ {
			g := projectiontest.BenchGame(i, players)
			batch = append(batch, []any{"ZADD", "board", number(g), g.PlayerID})
		}
		if _, err := c.do(batch...); err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(start)
	info, err := c.do([]any{"MEMORY", "USAGE", "board", "SAMPLES", 0})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Fill", func(b *testing.B) {
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(players)/took.Seconds(), "games/s")
		b.ReportMetric(float64(info[0].(int64))/float64(players), "B/player")
	})
	page := func(first, n int64) []any { return []any{"ZREVRANGE", "board", first, first + n - 1, "WITHSCORES"} }
	b.Run("PlayerEntry", func(b *testing.B) {
		projectiontest.Latency(b, func(rng *rand.Rand) error {
			player := projectiontest.BenchPlayer(rng.IntN(players))
			got, err := c.do([]any{"ZSCORE", "board", player})
			if err != nil {
				return err
			}
			score, err := strconv.ParseFloat(got[0].(string), 64)
			if err != nil {
				return err
			}
			// The rank that equal scores share, the position, and the total.
			_, err = c.do([]any{"ZCOUNT", "board", strconv.FormatFloat((floor(score)+1)*timeRange, 'f', -1, 64), "+inf"},
				[]any{"ZREVRANK", "board", player}, []any{"ZCARD", "board"})
			return err
		})
	})
	b.Run("PageAtPosition", func(b *testing.B) {
		projectiontest.Latency(b, func(*rand.Rand) error {
			_, err := c.do(page(int64(players)/2, 50), []any{"ZCARD", "board"})
			return err
		})
	})
	b.Run("Around", func(b *testing.B) {
		projectiontest.Latency(b, func(rng *rand.Rand) error {
			got, err := c.do([]any{"ZREVRANK", "board", projectiontest.BenchPlayer(rng.IntN(players))})
			if err != nil {
				return err
			}
			_, err = c.do(page(max(0, got[0].(int64)-5), 11), []any{"ZCARD", "board"})
			return err
		})
	})
	b.Run("Distribution", func(b *testing.B) {
		projectiontest.Latency(b, func(*rand.Rand) error {
			counts := make([][]any, 0, 219)
			for score := -188; score <= 30; score++ {
				counts = append(counts, []any{"ZCOUNT", "board", score * timeRange, "(" + strconv.Itoa((score+1)*timeRange)})
			}
			_, err := c.do(counts...)
			return err
		})
	})
}

// timeRange is how many values the time of a game has below its score in the
// number by which Redis sorts; Redis knows no other order than that of a number.
const timeRange = 1 << 32

func number(g projection.Game) int64 {
	return int64(g.Score+1)*timeRange - 1 - g.EndedAt.Unix()%timeRange
}

// floor is the score in a number, for negative ones too.
func floor(n float64) float64 { return float64(int64(n) >> 32) }

// redis is a connection to a Redis server.
type redis struct {
	conn net.Conn
	in   *bufio.Reader
}

// startRedis starts a server on loopback, which ends with the benchmark.
func startRedis(b *testing.B) *redis {
	b.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		b.Skip("nothing to compare with: redis-server, of Debian's package of that name, is not in PATH")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	address := listener.Addr().(*net.TCPAddr)
	if err := listener.Close(); err != nil {
		b.Fatal(err)
	}
	server := exec.Command(program, "--bind", "127.0.0.1", "--port", strconv.Itoa(address.Port), "--save", "", "--appendonly", "no", "--dir", b.TempDir())
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = server.Process.Signal(os.Interrupt)
		_ = server.Wait()
	})
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 500 {
		conn, err := net.Dial("tcp", address.String())
		if err == nil {
			b.Cleanup(func() { _ = conn.Close() })
			return &redis{conn, bufio.NewReader(conn)}
		}
		<-tick.C
	}
	b.Fatal("redis-server does not answer")
	return nil
}

// do sends commands at once and returns their answers.
func (r *redis) do(commands ...[]any) ([]any, error) {
	var out strings.Builder
	for _, command := range commands {
		fmt.Fprintf(&out, "*%d\r\n", len(command))
		for _, arg := range command {
			text := fmt.Sprint(arg)
			fmt.Fprintf(&out, "$%d\r\n%s\r\n", len(text), text)
		}
	}
	if _, err := io.WriteString(r.conn, out.String()); err != nil {
		return nil, err
	}
	answers := make([]any, len(commands))
	for i := range answers {
		var err error
		if answers[i], err = r.answer(); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// answer reads an answer: a string, an int64 or a list.
func (r *redis) answer() (any, error) {
	line, err := r.in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	kind, line := line[0], strings.TrimSpace(line[1:])
	if kind == '-' {
		return nil, errors.New(line)
	}
	if kind == '+' {
		return line, nil
	}
	n, err := strconv.ParseInt(line, 10, 64)
	if err != nil || kind == ':' {
		return n, err
	}
	if n < 0 {
		return nil, errors.New("there is no such member")
	}
	if kind == '$' {
		text := make([]byte, n+2)
		_, err := io.ReadFull(r.in, text)
		return string(text[:n]), err
	}
	list := make([]any, n)
	for i := range list {
		if list[i], err = r.answer(); err != nil {
			return nil, err
		}
	}
	return list, nil
}
