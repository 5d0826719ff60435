package engine_test

import (
	"math/rand/v2"
	"testing"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
)

// BenchmarkRandomGames plays whole games with random legal moves through the public path of a
// server: Legal, Decide and EvolveAll for each move. One iteration is one game.
func BenchmarkRandomGames(b *testing.B) {
	for _, variants := range []engine.VariantSet{
		0, engine.VariantMerchants | engine.VariantEvilMerchant | engine.VariantBlacksmiths, engine.VariantHomeRules,
	} {
		r := preset(b, "classic")
		r.Variants = variants
		b.Run(r.ID(), func(b *testing.B) { benchmarkRandomGames(b, r) })
	}
}

func benchmarkRandomGames(b *testing.B, r engine.Ruleset) {
	random := rand.New(rand.NewPCG(1, 2))
	starts := make([]engine.State, 256)
	for i := range starts {
		starts[i] = openGame(b, r, randomSeed(random))
	}
	var legal [engine.MaxLegalMoves]engine.Move
	var facts [8]engine.Fact
	moves := 0
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s := starts[i%len(starts)]
		for {
			choices := s.Legal(legal[:0])
			if len(choices) == 0 {
				break
			}
			happened, err := s.Decide(choices[random.IntN(len(choices))], facts[:0])
			if err != nil {
				b.Fatal(err)
			}
			if s, err = s.EvolveAll(happened); err != nil {
				b.Fatal(err)
			}
			moves++
		}
	}
	b.ReportMetric(float64(moves)/b.Elapsed().Seconds(), "moves/s")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "games/s")
}

// BenchmarkFold folds the stored facts of one game, one Evolve for each.
func BenchmarkFold(b *testing.B) {
	random := rand.New(rand.NewPCG(3, 4))
	fresh := newGame(b, preset(b, "classic"), randomSeed(random))
	facts := playRandomly(b, fresh, random)
	b.ReportAllocs()
	for b.Loop() {
		s := fresh
		for i := range facts {
			var err error
			if s, err = s.Evolve(facts[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N)*float64(len(facts))/b.Elapsed().Seconds(), "facts/s")
}

// BenchmarkPerft counts all sequences of six moves, where most of the work is at the last two.
func BenchmarkPerft(b *testing.B) {
	s := openGame(b, preset(b, "classic"), engine.Seed{1})
	var paths uint64
	for b.Loop() {
		paths += engine.Perft(&s, 6)
	}
	b.ReportMetric(float64(paths)/b.Elapsed().Seconds(), "paths/s")
}

// BenchmarkNewGame shuffles.
func BenchmarkNewGame(b *testing.B) {
	rules := preset(b, "classic")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := engine.NewGame(rules, engine.Seed{byte(i)}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEncoding writes and reads a snapshot.
func BenchmarkEncoding(b *testing.B) {
	s := openGame(b, preset(b, "classic"), engine.Seed{1})
	var buffer [256]byte
	b.ReportAllocs()
	for b.Loop() {
		data, err := s.AppendBinary(buffer[:0])
		if err != nil {
			b.Fatal(err)
		}
		if _, err := engine.DecodeState(data); err != nil {
			b.Fatal(err)
		}
	}
}
