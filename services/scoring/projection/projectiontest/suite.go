// Package projectiontest is the suite that every [projection.Store] passes, and
// what tests of a projection need to fill a log.
package projectiontest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// Run tests a kind of store. open returns an empty one, which the test that
// asked for it closes.
func Run(t *testing.T, open func(testing.TB) projection.Store) {
	for name, test := range map[string]func(*testing.T, projection.Store){
		"empty":              testEmpty,
		"checkpoint":         testCheckpoint,
		"cancelled commit":   testCancelledCommit,
		"parked":             testParked,
		"lease":              testLease,
		"game":               testGame,
		"best game":          testBestGame,
		"board order":        testBoardOrder,
		"model":              testModel,
		"concurrent readers": testConcurrentReaders,
		"hash of changes":    testHashOfChanges,
		"running game":       testRetryOfARunningGame,
		"streams at once":    testStreamsAtOnce,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
	t.Run("order of processing", func(t *testing.T) { testShuffled(t, open) })
	t.Run("hash of any order", func(t *testing.T) { testHashOfAnyOrder(t, open) })
	t.Run("hash of decisions", func(t *testing.T) { testHashOfDecisions(t, open) })
	t.Run("retry", func(t *testing.T) { testRetry(t, open) })
}

func testEmpty(t *testing.T, s projection.Store) {
	ctx := t.Context()
	if err := s.Ping(ctx); err != nil {
		t.Error(err)
	}
	if all, err := s.Checkpoints(ctx); err != nil || len(all) != 0 {
		t.Errorf("checkpoints %v, %v", all, err)
	}
	if all, err := s.Parked(ctx); err != nil || len(all) != 0 {
		t.Errorf("parked %v, %v", all, err)
	}
	if g, err := s.Game(ctx, "26q4-00-none"); !errors.Is(err, projection.ErrNotFound) {
		t.Errorf("game %v, %v", g, err)
	}
	CheckBoards(t, s, nil)
}

func testCheckpoint(t *testing.T, s projection.Store) {
	ctx := t.Context()
	var zero projection.Checkpoint
	first, second, third := step("A", 1, nil), step("A", 2, nil), step("A", 3, nil)
	must(t, s.Commit(ctx, zero, []projection.Step{first, second}))
	must(t, s.Commit(ctx, zero, []projection.Step{step("B", 1, nil)}))
	want := []projection.Checkpoint{checkpoint(second), checkpoint(step("B", 1, nil))}
	if got, err := s.Checkpoints(ctx); err != nil || !slices.Equal(got, want) {
		t.Errorf("checkpoints %v, %v; want %v", got, err, want)
	}

	g := NewGame("ada", "classic", 7, 40)
	recreated, renamed := checkpoint(second), checkpoint(second)
	recreated.Incarnation, renamed.EventID = "other", "other"
	other := step("A", 3, &g)
	other.Record.Position.Incarnation = "other"
	for name, c := range map[string]struct {
		after projection.Checkpoint
		step  projection.Step
	}{
		"from the start":   {zero, step("A", 3, &g)},
		"already done":     {checkpoint(first), step("A", 3, &g)},
		"too far":          {checkpoint(third), step("A", 3, &g)},
		"recreated stream": {recreated, other},
		"another event":    {renamed, step("A", 3, &g)},
		"never begun":      {projection.Checkpoint{Position: eventlog.Position{Stream: "C", Incarnation: "i", Sequence: 2}, EventID: "x"}, step("C", 3, &g)},
		"a stream's first": {zero, step("B", 1, &g)},
	} {
		if err := s.Commit(ctx, c.after, []projection.Step{c.step}); !errors.Is(err, projection.ErrFenced) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Game(ctx, g.GameID); !errors.Is(err, projection.ErrNotFound) {
		t.Errorf("a fenced commit left a game: %v", err)
	}
	if got, err := s.Checkpoints(ctx); err != nil || !slices.Equal(got, want) {
		t.Errorf("checkpoints %v, %v after fenced commits; want %v", got, err, want)
	}
	must(t, s.Commit(ctx, checkpoint(second), []projection.Step{third}))
}

func testCancelledCommit(t *testing.T, s projection.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := NewGame("ada", "classic", 7, 40)
	if err := s.Commit(ctx, projection.Checkpoint{}, []projection.Step{step("A", 1, &g)}); !errors.Is(err, context.Canceled) {
		t.Errorf("commit: %v", err)
	}
	if all, err := s.Checkpoints(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("checkpoints %v, %v", all, err)
	}
	CheckBoards(t, s, nil)
}

func testParked(t *testing.T, s projection.Store) {
	ctx := t.Context()
	bad, good := NewGame("ada", "classic", 7, 40), NewGame("bob", "classic", 5, 40)
	badID := eventlog.DeriveGameID("26q4", "bad")
	bad.GameID = badID.String()
	poison := func(seq uint64) projection.Step {
		r := step("A", seq, nil)
		r.Record.Game, r.Record.Data, r.Problem = badID, []byte{0xff, 0}, "makes no sense"
		return r
	}
	last := step("A", 3, &bad)
	last.Record.Game = badID
	steps := []projection.Step{poison(1), poison(2), last, step("A", 4, &good)}
	must(t, s.Commit(ctx, projection.Checkpoint{}, steps))

	want := []projection.Parked{{
		Position: steps[0].Record.Position, EventID: steps[0].Record.ID, GameID: bad.GameID, Problem: "makes no sense", Payload: []byte{0xff, 0},
	}}
	if got, err := s.Parked(ctx); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("parked %+v, %v; want %+v", got, err, want)
	}
	if _, err := s.Game(ctx, bad.GameID); !errors.Is(err, projection.ErrNotFound) {
		t.Errorf("a parked game is shown: %v", err)
	}
	if page := everything(t, s, Classic); len(page) != 1 || page[0].PlayerID != "bob" {
		t.Errorf("board %+v", page)
	}
	if all, err := s.Checkpoints(ctx); err != nil || len(all) != 1 || all[0].Sequence != 4 {
		t.Errorf("checkpoints %v, %v", all, err)
	}
}

func testLease(t *testing.T, s projection.Store) {
	ctx, now := t.Context(), Start
	lease := func(holder string, want bool) {
		t.Helper()
		if got, err := s.Lease(ctx, holder, now, time.Minute); err != nil || got != want {
			t.Errorf("%s at %v: %v, %v; want %v", holder, now, got, err, want)
		}
	}
	lease("a", true)
	lease("b", false)
	now = now.Add(50 * time.Second)
	lease("a", true)
	now = now.Add(50 * time.Second)
	lease("b", false)
	now = now.Add(10 * time.Second)
	lease("b", true)
	lease("a", false)
	must(t, s.Release(ctx, "a"))
	lease("a", false)
	must(t, s.Release(ctx, "b"))
	lease("a", true)
}

func testGame(t *testing.T, s projection.Store) {
	won, lost := NewGame("ada", "classic", 30, 51), NewGame("bob", "strict", -188, 1)
	seeded, abandoned := NewGame("ada", "classic", 30, 44), NewGame("bob", "strict", 0, 2)
	won.EndedAt = won.EndedAt.Add(123456789)
	lost.ActorKind = eventv1.ActorKind_ACTOR_KIND_BOT
	seeded.Mode = eventv1.GameMode_GAME_MODE_SEEDED
	abandoned.Outcome = rulesv1.Outcome_OUTCOME_ABANDONED
	games := []projection.Game{won, lost, seeded, abandoned}
	w := writer{t: t, s: s}
	w.finish(games...)
	w.finish(games...) // Again: nothing may change.
	for _, want := range games {
		if got, err := s.Game(t.Context(), want.GameID); err != nil || got.Game != want {
			t.Errorf("game %+v, %v; want %+v", got, err, want)
		}
	}
	CheckBoards(t, s, games)
}

func testBestGame(t *testing.T, s projection.Store) {
	w := writer{t: t, s: s}
	var played []projection.Game
	for _, c := range []struct {
		name  string
		score int
		moves uint32
		end   int
		best  bool
	}{
		{"the first", -50, 30, 10, true},
		{"a lower score", -51, 1, 0, false},
		{"a loss of equal score with fewer moves", -50, 20, 11, false},
		{"a loss of equal score that ended earlier", -50, 40, 9, true},
		{"a higher score", 12, 60, 20, true},
		{"a win of equal score with more moves", 12, 61, 1, false},
		{"a win of equal score with fewer moves", 12, 59, 30, true},
		{"an equal result later", 12, 59, 31, false},
		{"an equal result at the same time", 12, 59, 30, false},
		{"an equal result earlier", 12, 59, 29, true},
	} {
		g := NewGame("ada", "classic", c.score, c.moves)
		g.EndedAt = Start.Add(time.Duration(c.end) * time.Minute)
		before := best(played)
		played = append(played, g)
		w.finish(g)
		want := before
		if c.best {
			want = g.GameID
		}
		page, err := s.PlayerEntries(t.Context(), Classic, []string{"ada"})
		if err != nil || page.TotalPlayers != 1 || page.Entries[0].GameID != want || page.Entries[0].Rank != 1 || page.Entries[0].Position != 1 {
			t.Errorf("%s: entry %+v, %v; want game %s", c.name, page, err, want)
		}
		CheckBoards(t, s, played)
	}
}

// testBoardOrder compares the order in which the store lists games with
// [projection.Key.Compare], over games that tie in all but one field.
func testBoardOrder(t *testing.T, s projection.Store) {
	rng := newRand(t)
	base := NewGame("", "classic", 12, 50)
	var games []projection.Game
	for i := range 300 {
		g := base
		g.GameID, g.PlayerID, g.Sequence = fmt.Sprintf("g%d", i), fmt.Sprintf("p%d", rng.Uint32()), uint64(i+1)
		for range 1 + rng.IntN(3) {
			switch rng.IntN(5) {
			case 0:
				g.Score = rng.IntN(219) - 188
				if g.Score <= 0 {
					g.Outcome = rulesv1.Outcome_OUTCOME_LOST
				}
			case 1:
				g.Moves = uint32(rng.IntN(3)) * 50
			case 2:
				g.EndedAt = base.EndedAt.Add(time.Duration(rng.IntN(3)-1) * time.Nanosecond)
			case 3:
				g.Stream = []string{"", "A", "B", "AA", "a", "Ä", "\U0001F0A1", "Z_1"}[rng.IntN(8)]
			case 4: // The sequence alone.
			}
		}
		games = append(games, g)
	}
	w := writer{t: t, s: s}
	w.finish(games...)
	slices.SortFunc(games, func(a, b projection.Game) int { return a.Key().Compare(b.Key()) })
	for i, e := range everything(t, s, Classic) {
		if e.Game != games[i] {
			t.Fatalf("position %d: %+v, want %+v", i+1, e.Key(), games[i].Key())
		}
	}
}

// testModel compares every read with a brute-force model while random games
// come in.
func testModel(t *testing.T, s projection.Store) {
	rng := newRand(t)
	w := writer{t: t, s: s}
	var games []projection.Game
	hidden := Hidden{map[string]bool{}, map[string]bool{}, map[string]time.Time{}}
	for range 10 {
		var batch []projection.Game
		for range rng.IntN(12) {
			batch = append(batch, randomGame(rng))
		}
		games = append(games, batch...)
		var steps []projection.Step
		for range rng.IntN(3) {
			decision := randomDecision(rng, games) // perhaps about a game that is still to come
			hidden.apply(decision)
			steps = append(steps, decision)
		}
		for _, g := range batch {
			steps = append(steps, projection.Step{Game: &g})
		}
		w.commit(steps)
		CheckModerated(t, s, games, hidden)
	}
}

// testShuffled applies the same games in different orders.
func testShuffled(t *testing.T, open func(testing.TB) projection.Store) {
	rng := newRand(t)
	var games []projection.Game
	for range 200 {
		games = append(games, randomGame(rng))
	}
	for range 2 {
		s := open(t)
		w := writer{t: t, s: s}
		rng.Shuffle(len(games), func(i, j int) { games[i], games[j] = games[j], games[i] })
		for part := range slices.Chunk(games, 1+rng.IntN(50)) {
			w.finish(part...)
		}
		CheckBoards(t, s, games)
	}
}

// testConcurrentReaders checks that every answer comes from one snapshot.
func testConcurrentReaders(t *testing.T, s projection.Store) {
	rng := newRand(t)
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	defer readers.Wait()
	defer stop()
	for range 4 {
		readers.Go(func() {
			for ctx.Err() == nil {
				page, err := s.Entries(ctx, Classic, projection.Range{Limit: 1000})
				if ctx.Err() != nil {
					return
				}
				// A whole board in one page numbers itself.
				if err != nil || page.More || uint64(len(page.Entries)) != page.TotalPlayers {
					t.Errorf("%d entries of %d, more %v, %v", len(page.Entries), page.TotalPlayers, page.More, err)
					return
				}
				for i, e := range page.Entries {
					if e.Position != uint64(i+1) || e.Rank > e.Position {
						t.Errorf("entry %d has position %d and rank %d", i, e.Position, e.Rank)
						return
					}
				}
				around, err := s.EntriesAround(ctx, Classic, "p3", 5)
				if ctx.Err() != nil || errors.Is(err, projection.ErrNotFound) {
					continue
				}
				if err != nil || uint64(len(around.Entries)) != min(5, around.TotalPlayers) {
					t.Errorf("%d around a player of %d, %v", len(around.Entries), around.TotalPlayers, err)
					return
				}
			}
		})
	}
	w := writer{t: t, s: s}
	for range 30 {
		w.finish(randomGame(rng), randomGame(rng), randomGame(rng))
	}
}

func best(games []projection.Game) string {
	if board := model(Classic, games); len(board) > 0 {
		return board[0].GameID
	}
	return ""
}

func everything(t *testing.T, s projection.Store, board projection.Board) []projection.Entry {
	t.Helper()
	page, err := s.Entries(t.Context(), board, projection.Range{Limit: 10000})
	if err != nil || page.More {
		t.Fatalf("more %v, %v", page.More, err)
	}
	return page.Entries
}

// writer commits games as the records of one stream, whatever their own place.
type writer struct {
	t  *testing.T
	s  projection.Store
	at projection.Checkpoint
}

func (w *writer) finish(games ...projection.Game) {
	w.t.Helper()
	var steps []projection.Step
	for _, g := range games {
		steps = append(steps, projection.Step{Game: &g})
	}
	w.commit(steps)
}

// commit commits steps as the next records.
func (w *writer) commit(steps []projection.Step) {
	w.t.Helper()
	if len(steps) == 0 {
		return
	}
	for i := range steps {
		steps[i].Record = step("W", w.at.Sequence+uint64(i)+1, nil).Record
	}
	must(w.t, w.s.Commit(w.t.Context(), w.at, steps))
	w.at = checkpoint(steps[len(steps)-1])
}

func step(stream string, seq uint64, g *projection.Game) projection.Step {
	return projection.Step{
		Record: eventlog.Stored{
			Event:    eventlog.Event{ID: stream + strconv.FormatUint(seq, 10), Version: 1},
			Position: eventlog.Position{Stream: stream, Incarnation: "i", Sequence: seq},
		},
		Game: g,
	}
}

func checkpoint(s projection.Step) projection.Checkpoint {
	return projection.Checkpoint{Position: s.Record.Position, EventID: s.Record.ID}
}

// randomGame returns a game that ties with many others.
func randomGame(rng *rand.Rand) projection.Game {
	g := NewGame("p"+strconv.Itoa(rng.IntN(40)), []string{"classic", "classic", "strict", "classic+depth1"}[rng.IntN(4)], rng.IntN(12)-6, uint32(40+rng.IntN(3)))
	// Some start in one period and end in the next, or too late for theirs.
	g.StartedAt = Start.Add(time.Duration(rng.IntN(5)) * 12 * time.Hour)
	g.EndedAt = g.StartedAt.Add(time.Duration(rng.IntN(4))*time.Second + time.Duration(rng.IntN(3))*18*time.Hour)
	if rng.IntN(4) == 0 {
		g.ActorKind = eventv1.ActorKind_ACTOR_KIND_BOT
	}
	g.Stream = []string{"S", "T"}[rng.IntN(2)]
	if rng.IntN(5) == 0 && g.Score > 0 {
		g.Score += 20 // unlocks something
	}
	switch rng.IntN(12) {
	case 11:
		g.Mode = eventv1.GameMode_GAME_MODE_DAILY
	case 10:
		g.Outcome, g.EndedAt, g.Moves, g.Score = rulesv1.Outcome_OUTCOME_UNSPECIFIED, time.Time{}, 0, 0
	case 0:
		g.Mode = eventv1.GameMode_GAME_MODE_SEEDED
	case 1:
		g.Score, g.Outcome = 0, rulesv1.Outcome_OUTCOME_ABANDONED
	}
	return g
}

func newRand(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
