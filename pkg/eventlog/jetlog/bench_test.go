package jetlog

import (
	"testing"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog/eventlogtest"
)

// BenchmarkAppend is one writer at rest, each event on the disk before the next.
func BenchmarkAppend(b *testing.B) {
	l := newLog(b, start(b, EmbeddedConfig{}).Conn(), Config{})
	provision(b, l)
	game := eventlogtest.Game("a")
	ctx := b.Context()
	var after eventlog.Revision
	b.ReportAllocs()
	for b.Loop() {
		e := eventlogtest.Event(game, uint64(after)+1)
		p, err := l.Append(ctx, game, after, e)
		if err != nil {
			b.Fatal(err)
		}
		after = eventlog.Revision(p.Sequence)
	}
}

func BenchmarkLoad(b *testing.B) {
	l := provisioned(b, Config{})
	game := eventlogtest.Game("a")
	fill(b, l, game, 60)
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Load(ctx, game); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHistory reads a whole game of 60 events.
func BenchmarkHistory(b *testing.B) {
	l := provisioned(b, Config{})
	game := eventlogtest.Game("a")
	fill(b, l, game, 60)
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range l.History(ctx, game, 1) {
			if n++; err != nil {
				b.Fatal(err)
			}
		}
		if n != 60 {
			b.Fatalf("%d events", n)
		}
	}
}
