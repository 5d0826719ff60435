package projectiontest

import (
	"slices"
	"testing"

	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// CheckBoards compares every read of all boards with what games lead
// to by brute force.
func CheckBoards(t testing.TB, s projection.Store, games []projection.Game) {
	t.Helper()
	for _, ruleset := range []string{"classic", "strict", "none"} {
		want := model(ruleset, games)
		for _, size := range []int{1, 6, 1000} {
			if size == 1 && len(want) > 20 {
				continue
			}
			var got []projection.Entry
			var after *projection.Key
			for {
				page, err := s.Entries(t.Context(), ruleset, after, size)
				if err != nil || page.TotalPlayers != uint64(len(want)) || len(page.Entries) > size {
					t.Fatalf("%s: page of %d of %d, %v; want %d", ruleset, len(page.Entries), page.TotalPlayers, err, len(want))
				}
				got = append(got, page.Entries...)
				if !page.More || len(got) > len(want) {
					break
				}
				key := page.Entries[len(page.Entries)-1].Key()
				after = &key
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s in pages of %d:\n%+v\nwant\n%+v", ruleset, size, got, want)
			}
		}
		for _, e := range want {
			got, total, err := s.PlayerEntry(t.Context(), ruleset, e.PlayerID)
			if err != nil || got != e || total != uint64(len(want)) {
				t.Fatalf("%s: entry %+v of %d, %v; want %+v of %d", ruleset, got, total, err, e, len(want))
			}
		}
	}
}

// model is a board by definition: everybody's best game, sorted.
func model(ruleset string, games []projection.Game) []projection.Entry {
	bests := map[string]projection.Game{}
	for _, g := range games {
		if !g.Scored() || g.Mode == eventv1.GameMode_GAME_MODE_SEEDED || g.RulesetID != ruleset {
			continue
		}
		if b, ok := bests[g.PlayerID]; !ok || g.Key().Compare(b.Key()) < 0 {
			bests[g.PlayerID] = g
		}
	}
	var board []projection.Entry
	for _, g := range bests {
		e := projection.Entry{Game: g, Rank: 1, Position: 1}
		for _, other := range bests {
			if other.Score > g.Score {
				e.Rank++
			}
			if other.Key().Compare(g.Key()) < 0 {
				e.Position++
			}
		}
		board = append(board, e)
	}
	slices.SortFunc(board, func(a, b projection.Entry) int { return int(a.Position) - int(b.Position) })
	return board
}
