package projectiontest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

const (
	// A tenth of the players share one score, and as they lost, nothing but time
	// tells them apart. The others have any score there is.
	crowdScore                = -100
	lowestScore, highestScore = -188, 30
	// Games end over benchSpan, which is most of the month of benchStart.
	benchSpan = 30 * 24 * time.Hour
	// benchBatch is how many games a transaction takes.
	benchBatch = 1000
	// What pages have when a request does not say.
	benchPage, benchAround = 50, 11
)

// benchStart is when the first of the benchmarks' games ends.
var benchStart = time.Date(2026, 11, 1, 1, 0, 0, 0, time.UTC)

// BenchSize returns the number in an environment variable, or standard, with
// which `make bench` takes a few minutes, where it is not set.
func BenchSize(b *testing.B, variable string, standard int) int {
	b.Helper()
	text, set := os.LookupEnv(variable)
	if !set {
		return standard
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		b.Fatalf("%s is %q, not a number above 0", variable, text)
	}
	return n
}

// BenchPlayers returns how many players the boards of benchmarks have:
// SCOUNDREL_BENCH_PLAYERS, or 100 thousand.
func BenchPlayers(b *testing.B) int {
	b.Helper()
	return BenchSize(b, "SCOUNDREL_BENCH_PLAYERS", 100_000)
}

// Bench measures a kind of store. It fills an empty one with a game of each of so
// many players on one board, reads from that and then commits games that count for
// four. size returns the bytes that the store takes on its disk.
func Bench(b *testing.B, s projection.Store, size func() (int64, error), players int) {
	ctx := b.Context()
	var at projection.Checkpoint
	commit := func(from, to int) {
		steps := make([]projection.Step, 0, to-from)
		for i := from; i < to; i++ {
			g := BenchGame(i, players)
			steps = append(steps, step("S", uint64(i)+1, &g))
		}
		if err := s.Commit(ctx, at, steps); err != nil {
			b.Fatal(err)
		}
		at = checkpoint(steps[len(steps)-1])
	}
	start := now()
	for i := 0; i < players; i += benchBatch {
		commit(i, min(i+benchBatch, players))
	}
	took := now().Sub(start)
	bytes, err := size()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Fill", func(b *testing.B) {
		b.ReportMetric(0, "ns/op") // it was done once and above: the others need it
		b.ReportMetric(float64(players)/took.Seconds(), "games/s")
		b.ReportMetric(float64(bytes)/float64(players), "B/player")
	})
	b.Run("PlayerEntry", func(b *testing.B) {
		Latency(b, func(rng *rand.Rand) error {
			page, err := s.PlayerEntries(ctx, Classic, []string{BenchPlayer(rng.IntN(players))})
			return full(page.Entries, 1, err)
		})
	})
	b.Run("PageAtPosition", func(b *testing.B) {
		Latency(b, func(*rand.Rand) error {
			page, err := s.Entries(ctx, Classic, projection.Range{Position: uint64(players) / 2, Limit: benchPage})
			return full(page.Entries, benchPage, err)
		})
	})
	b.Run("PageAfterKey", func(b *testing.B) {
		Latency(b, func(rng *rand.Rand) error {
			key := BenchGame(rng.IntN(players), players).Key()
			page, err := s.Entries(ctx, Classic, projection.Range{After: &key, Limit: benchPage})
			return full(page.Entries, 0, err)
		})
	})
	b.Run("Around", func(b *testing.B) {
		Latency(b, func(rng *rand.Rand) error {
			page, err := s.EntriesAround(ctx, Classic, BenchPlayer(rng.IntN(players)), benchAround)
			return full(page.Entries, benchAround, err)
		})
	})
	b.Run("Distribution", func(b *testing.B) {
		Latency(b, func(*rand.Rand) error {
			scores, err := s.Distribution(ctx, Classic)
			return full(scores, min(players/100, highestScore-lowestScore+1), err)
		})
	})
	b.Run("Commit", func(b *testing.B) {
		next := int(at.Sequence)
		for b.Loop() {
			commit(next, next+benchBatch)
			next += benchBatch
		}
		b.ReportMetric(float64(b.N*benchBatch)/b.Elapsed().Seconds(), "games/s")
	})
}

// full makes a read that returned less than there is an error.
func full[T any](got []T, want int, err error) error {
	if err == nil && len(got) < want {
		err = fmt.Errorf("%d rows, want %d", len(got), want)
	}
	return err
}

// Latency runs a benchmark of a call and reports the median and the 99th percentile
// of how long one takes, in microseconds. Calls get numbers that are the same in
// every run.
func Latency(b *testing.B, call func(*rand.Rand) error) {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var took []time.Duration
	for b.Loop() {
		start := now()
		if err := call(rng); err != nil {
			b.Fatal(err)
		}
		took = append(took, now().Sub(start))
	}
	slices.Sort(took)
	at := func(percent int) float64 {
		return float64(took[(len(took)-1)*percent/100]) / float64(time.Microsecond)
	}
	b.ReportMetric(0, "ns/op") // the mean says less
	b.ReportMetric(at(50), "p50-µs")
	b.ReportMetric(at(99), "p99-µs")
}

// now is real time: the benchmarks measure it.
func now() time.Time {
	return time.Now() //nolint:forbidigo // see above
}

// BenchPlayer returns the id of a player by number. Ids do not come in the order
// of their bytes.
func BenchPlayer(i int) string { return fmt.Sprintf("%016x", scatter(i)) }

// BenchGame returns game i of a board of so many players: each plays one before
// anybody plays again. Games come in the order of their end and are ranked. The
// first ones took so long that they count for the all-time board alone, the others
// count for all four.
func BenchGame(i, players int) projection.Game {
	n := scatter(i + math.MaxInt32)
	score := crowdScore
	if n%10 > 0 {
		score = lowestScore + int(n>>8%(highestScore-lowestScore+1))
	}
	g := NewGame(BenchPlayer(i%players), Classic.RulesetID, score, 30+uint32(n>>32%40))
	g.EndedAt = benchStart.Add(time.Duration(i)*(benchSpan/time.Duration(players)) + time.Duration(n>>40%1000))
	g.StartedAt = g.EndedAt.Add(-5 * time.Minute)
	if i < players {
		g.StartedAt = g.EndedAt.Add(-2 * benchSpan)
	}
	g.Sequence = uint64(i) + 1
	if score > 0 {
		g.Outcome = rulesv1.Outcome_OUTCOME_WON
	}
	return g
}

// scatter returns a number that looks random; different ones for different i.
func scatter(i int) uint64 {
	n := uint64(i) * 0x9e3779b97f4a7c15
	return (n ^ n>>32) * 0xd6e8feb86659fd93
}
