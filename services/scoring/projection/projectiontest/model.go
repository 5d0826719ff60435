package projectiontest

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// Hidden is what moderation hides, and until when players have erased their games.
type Hidden struct {
	Players, Games map[string]bool
	Erased         map[string]time.Time
}

// apply makes h what it is after a step.
func (h Hidden) apply(s projection.Step) {
	switch {
	case s.Erasure != nil:
		if s.Erasure.Before.After(h.Erased[s.Erasure.PlayerID]) {
			h.Erased[s.Erasure.PlayerID] = s.Erasure.Before
		}
	case s.Moderation.GameID != "":
		h.Games[s.Moderation.GameID] = s.Moderation.Hidden
	default:
		h.Players[s.Moderation.PlayerID] = s.Moderation.Hidden
	}
}

// randomDecision returns a step that hides or shows one of the games or players of
// randomGame, or erases a player.
func randomDecision(rng *rand.Rand, games []projection.Game) projection.Step {
	player := "p" + strconv.Itoa(rng.IntN(40))
	switch kind := rng.IntN(5); {
	case kind == 0:
		return projection.Step{Erasure: &projection.Erasure{PlayerID: player, Before: randomGame(rng).StartedAt}}
	case kind < 3 && len(games) > 0:
		return projection.Step{Moderation: &projection.Moderation{GameID: games[rng.IntN(len(games))].GameID, Hidden: rng.IntN(2) == 0}}
	default:
		return projection.Step{Moderation: &projection.Moderation{PlayerID: player, Hidden: rng.IntN(2) == 0}}
	}
}

// CheckBoards compares every read of all boards that games count for, and of one
// that none does, with what they lead to by brute force.
func CheckBoards(t testing.TB, s projection.Store, games []projection.Game) {
	t.Helper()
	CheckModerated(t, s, games, Hidden{})
}

// CheckModerated is CheckBoards where something is hidden.
func CheckModerated(t testing.TB, s projection.Store, played []projection.Game, hidden Hidden) {
	t.Helper()
	all := slices.DeleteFunc(slices.Clone(played), func(g projection.Game) bool {
		if before, ok := hidden.Erased[g.PlayerID]; !ok || !g.StartedAt.Before(before) {
			return false
		}
		if got, err := s.Game(t.Context(), g.GameID); !errors.Is(err, projection.ErrNotFound) {
			t.Fatalf("erased game %+v, %v", got, err)
		}
		return true
	})
	var games []projection.Game
	for _, g := range all {
		if unranked(g, all, hidden, map[string]bool{}) == 0 {
			games = append(games, g)
		}
	}
	checkPlayers(t, s, all, hidden)
	boards := map[projection.Board]bool{{RulesetID: "none", ActorKind: eventv1.ActorKind_ACTOR_KIND_HUMAN, Period: projection.AllTime}: true}
	for _, g := range played {
		for _, b := range g.Boards() {
			boards[b] = true
		}
	}
	var infos []projection.BoardInfo
	checked := 0
	for b := range boards {
		want := model(b, games)
		if checked++; checked <= 12 {
			checkBoard(t, s, b, want) // any of them: a map has no order
		}
		if len(want) > 0 {
			infos = append(infos, projection.BoardInfo{Board: b, TotalPlayers: uint64(len(want))})
		}
	}
	checkList(t, s, infos)
}

// unranked says why a game does not rank, by the rules' words: told tells whether
// those that it asks about do.
func unranked(g projection.Game, all []projection.Game, hidden Hidden, told map[string]bool) projection.Unranked {
	switch {
	case g.Outcome == rulesv1.Outcome_OUTCOME_UNSPECIFIED:
		return projection.UnrankedRunning
	case g.Outcome == rulesv1.Outcome_OUTCOME_ABANDONED:
		return projection.UnrankedAbandoned
	case g.Mode == eventv1.GameMode_GAME_MODE_SEEDED:
		return projection.UnrankedPractice
	case hidden.Players[g.PlayerID] || hidden.Games[g.GameID]:
		return projection.UnrankedHidden
	}
	_, text, deep := strings.Cut(g.RulesetID, "depth")
	if !deep {
		return 0
	}
	experience := 0
	for _, other := range all {
		if other.PlayerID != g.PlayerID || other.Score <= 0 || !other.EndedAt.Before(g.StartedAt) {
			continue
		}
		ranks, known := told[other.GameID]
		if !known {
			ranks = unranked(other, all, hidden, told) == 0
			told[other.GameID] = ranks
		}
		if ranks {
			experience += other.Score
		}
	}
	depth, err := strconv.Atoi(text)
	if err != nil || experience < 25*depth*depth {
		return projection.UnrankedDepth
	}
	return 0
}

// checkPlayers reads each player's games, page by page and whole.
func checkPlayers(t testing.TB, s projection.Store, all []projection.Game, hidden Hidden) {
	t.Helper()
	told := map[string]bool{}
	players := map[string][]projection.PlayerGame{"nobody": nil}
	for _, g := range all {
		players[g.PlayerID] = append(players[g.PlayerID], projection.PlayerGame{Game: g, Unranked: unranked(g, all, hidden, told)})
	}
	checked := 0
	for player, want := range players {
		if checked++; checked > 12 {
			break // any of them: a map has no order
		}
		slices.SortFunc(want, func(a, b projection.PlayerGame) int {
			return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.GameID, b.GameID))
		})
		if h, err := s.PlayerHistory(t.Context(), player); err != nil || !slices.Equal(h.Games, want) || h.Hidden != hidden.Players[player] {
			t.Fatalf("history of %s: %+v, %v; want %+v", player, h, err, want)
		}
		slices.Reverse(want)
		public := slices.DeleteFunc(slices.Clone(want), func(g projection.PlayerGame) bool { return g.Mode != eventv1.GameMode_GAME_MODE_RANDOM })
		for private, want := range map[bool][]projection.PlayerGame{true: want, false: public} {
			var got []projection.PlayerGame
			q := projection.PlayerGamesQuery{PlayerID: player, Private: private, Limit: 3}
			for {
				page, err := s.PlayerGames(t.Context(), q)
				if err != nil || len(page) > q.Limit {
					t.Fatalf("%d games of %s, %v", len(page), player, err)
				}
				if len(page) == 0 || len(got) > len(want) {
					break
				}
				got = append(got, page...)
				q.Before = &page[len(page)-1].Game
			}
			if !slices.Equal(got, want) {
				t.Fatalf("games of %s, private %v: %+v, want %+v", player, private, got, want)
			}
		}
		if page, err := s.PlayerGames(t.Context(), projection.PlayerGamesQuery{PlayerID: player, RulesetID: "strict", Limit: 100}); err != nil ||
			!slices.Equal(page, slices.DeleteFunc(slices.Clone(public), func(g projection.PlayerGame) bool { return g.RulesetID != "strict" })) {
			t.Fatalf("strict games of %s: %+v, %v", player, page, err)
		}
	}
}

// checkList reads the list of boards in pages, whole and by each field.
func checkList(t testing.TB, s projection.Store, want []projection.BoardInfo) {
	t.Helper()
	slices.SortFunc(want, func(a, b projection.BoardInfo) int { return a.Compare(b.Board) })
	for _, only := range []projection.Board{
		{}, {RulesetID: "strict"}, {ActorKind: eventv1.ActorKind_ACTOR_KIND_BOT}, {RulesetID: "classic", Period: projection.Week},
	} {
		match := func(b projection.BoardInfo) bool {
			return (only.RulesetID == "" || b.RulesetID == only.RulesetID) && (only.ActorKind == 0 || b.ActorKind == only.ActorKind) &&
				(only.Period == 0 || b.Period == only.Period)
		}
		var expected, got []projection.BoardInfo
		for _, b := range want {
			if match(b) {
				expected = append(expected, b)
			}
		}
		var after *projection.Board
		for {
			page, err := s.Leaderboards(t.Context(), only, after, 3)
			if err != nil || len(page) > 3 {
				t.Fatalf("%d boards, %v", len(page), err)
			}
			if len(page) == 0 || len(got) > len(expected) {
				break
			}
			got = append(got, page...)
			after = &page[len(page)-1].Board
		}
		if !slices.Equal(got, expected) {
			t.Fatalf("boards %v, want %v", got, expected)
		}
	}
}

func checkBoard(t testing.TB, s projection.Store, board projection.Board, want []projection.Entry) {
	t.Helper()
	for _, size := range []int{1, 6, 1000} {
		if size == 1 && len(want) > 20 {
			continue
		}
		checkPages(t, s, board, want, size)
	}
	var ids []string
	for i, e := range want {
		ids = append(ids, e.PlayerID)
		if len(want) > 12 && i%7 != 0 && i < len(want)-2 {
			continue // the ends and some between
		}
		page, err := s.PlayerEntries(t.Context(), board, []string{"nobody", e.PlayerID})
		if err != nil || len(page.Entries) != 1 || page.Entries[0] != e || page.TotalPlayers != uint64(len(want)) {
			t.Fatalf("%v: entry %+v, %v; want %+v of %d", board, page, err, e, len(want))
		}
		from, err := s.Entries(t.Context(), board, projection.Range{Position: e.Position, Limit: 3})
		if err != nil || !slices.Equal(from.Entries, want[i:min(i+3, len(want))]) || from.Less != (i > 0) || from.More != (i+3 < len(want)) {
			t.Fatalf("%v: from position %d: %+v, %v", board, e.Position, from, err)
		}
		for _, n := range []int{1, 4, 5} {
			checkAround(t, s, board, want, i, n)
		}
	}
	slices.Reverse(ids)
	if page, err := s.PlayerEntries(t.Context(), board, ids); err != nil || !slices.Equal(page.Entries, want) {
		t.Fatalf("%v: all entries by player: %+v, %v", board, page, err)
	}
	beyond := projection.Range{Position: uint64(len(want)) + 1, Limit: 3}
	if page, err := s.Entries(t.Context(), board, beyond); err != nil || len(page.Entries) != 0 || page.More || page.Less != (len(want) > 0) {
		t.Fatalf("%v: beyond the end: %+v, %v", board, page, err)
	}
	if page, err := s.EntriesAround(t.Context(), board, "nobody", 3); !errors.Is(err, projection.ErrNotFound) {
		t.Fatalf("%v: around nobody: %+v, %v", board, page, err)
	}
	var counts []projection.ScoreCount
	for _, e := range want {
		if n := len(counts); n == 0 || counts[n-1].Score != e.Score {
			counts = append(counts, projection.ScoreCount{Score: e.Score})
		}
		counts[len(counts)-1].Players++
	}
	if got, err := s.Distribution(t.Context(), board); err != nil || !slices.Equal(got, counts) {
		t.Fatalf("%v: distribution %v, %v; want %v", board, got, err, counts)
	}
}

// checkPages reads the whole board in pages, down and up again.
func checkPages(t testing.TB, s projection.Store, board projection.Board, want []projection.Entry, size int) {
	t.Helper()
	var down, up []projection.Entry
	r := projection.Range{Limit: size}
	for {
		page, err := s.Entries(t.Context(), board, r)
		if err != nil || page.TotalPlayers != uint64(len(want)) || len(page.Entries) > size || page.Less != (len(down) > 0) {
			t.Fatalf("%v: page of %d of %d, %v; want %d", board, len(page.Entries), page.TotalPlayers, err, len(want))
		}
		down = append(down, page.Entries...)
		if !page.More || len(down) > len(want) {
			break
		}
		key := page.Entries[len(page.Entries)-1].Key()
		r.After = &key
	}
	if !slices.Equal(down, want) {
		t.Fatalf("%v in pages of %d:\n%+v\nwant\n%+v", board, size, down, want)
	}
	if len(want) == 0 {
		return
	}
	up = want[len(want)-1:]
	for {
		key := up[0].Key()
		page, err := s.Entries(t.Context(), board, projection.Range{Before: &key, Limit: size})
		if err != nil || len(page.Entries) > size || !page.More {
			t.Fatalf("%v: page above %+v: %+v, %v", board, key, page, err)
		}
		up = slices.Concat(page.Entries, up)
		if !page.Less || len(up) > len(want) {
			break
		}
	}
	if !slices.Equal(up, want) {
		t.Fatalf("%v upwards in pages of %d:\n%+v\nwant\n%+v", board, size, up, want)
	}
}

// checkAround reads n entries around the one at index i: contiguous, as many as
// there can be, and as evenly as the ends allow.
func checkAround(t testing.TB, s projection.Store, board projection.Board, want []projection.Entry, i, n int) {
	t.Helper()
	n = min(n, len(want))
	first := max(0, min(i-n/2, len(want)-n))
	page, err := s.EntriesAround(t.Context(), board, want[i].PlayerID, n)
	if err != nil || !slices.Equal(page.Entries, want[first:first+n]) || page.TotalPlayers != uint64(len(want)) {
		t.Fatalf("%v: %d around %d: %+v, %v", board, n, i, page, err)
	}
}

// model is a board by definition: everybody's best game, sorted.
func model(board projection.Board, games []projection.Game) []projection.Entry {
	bests := map[string]projection.Game{}
	for _, g := range games {
		if !counts(board, g) {
			continue
		}
		if b, ok := bests[g.PlayerID]; !ok || g.Key().Compare(b.Key()) < 0 {
			bests[g.PlayerID] = g
		}
	}
	var entries []projection.Entry
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
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b projection.Entry) int { return int(a.Position) - int(b.Position) })
	return entries
}

// counts tells whether a game counts for a board, by the rules' words.
func counts(b projection.Board, g projection.Game) bool {
	if !g.Scored() || g.Mode == eventv1.GameMode_GAME_MODE_SEEDED || g.RulesetID != b.RulesetID || g.ActorKind != b.ActorKind {
		return false
	}
	if daily := g.Mode == eventv1.GameMode_GAME_MODE_DAILY; daily != (b.Period == projection.Daily) {
		return false
	}
	if b.Period == projection.AllTime {
		return true
	}
	opens, closes := b.Period.At(b.OpensAt)
	if b.Period == projection.Daily {
		return g.StartedAt.Format(time.DateOnly) == b.OpensAt.Format(time.DateOnly) && g.EndedAt.Before(closes.Add(time.Hour))
	}
	return !g.StartedAt.Before(opens) && g.StartedAt.Before(closes) && g.EndedAt.Before(closes.Add(24*time.Hour))
}
