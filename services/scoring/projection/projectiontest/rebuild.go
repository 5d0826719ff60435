package projectiontest

import (
	"context"
	"crypto/sha256"
	"errors"
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

// Hash returns the hash of a store.
func Hash(t testing.TB, s projection.Store) [sha256.Size]byte {
	t.Helper()
	sum, err := s.Hash(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// Fill commits games to an empty store, as the records of one stream.
func Fill(t testing.TB, s projection.Store, games []projection.Game) {
	t.Helper()
	var steps []projection.Step
	for i, g := range games {
		steps = append(steps, step("W", uint64(i)+1, &g))
	}
	if err := s.Commit(t.Context(), projection.Checkpoint{}, steps); err != nil {
		t.Fatal(err)
	}
}

// RandomGames returns games of many kinds that tie with each other.
func RandomGames(t *testing.T, n int) []projection.Game {
	t.Helper()
	rng := newRand(t)
	games := make([]projection.Game, n)
	for i := range games {
		games[i] = randomGame(rng)
	}
	return games
}

// testHashOfAnyOrder hashes stores that came to the same in different ways.
func testHashOfAnyOrder(t *testing.T, open func(testing.TB) projection.Store) {
	games := RandomGames(t, 150)
	rng := newRand(t)
	a, b := open(t), open(t)
	if Hash(t, a) != Hash(t, b) {
		t.Error("two empty stores differ")
	}
	Fill(t, a, games)
	w := writer{t: t, s: b}
	rng.Shuffle(len(games), func(i, j int) { games[i], games[j] = games[j], games[i] })
	for part := range slices.Chunk(games, 1+rng.IntN(40)) {
		w.finish(part...)
		w.finish(part...)
	}
	if Hash(t, a) != Hash(t, b) {
		t.Error("the order of processing shows")
	}
}

// testHashOfDecisions applies decisions before, between and after the games that
// they are about.
func testHashOfDecisions(t *testing.T, open func(testing.TB) projection.Store) {
	games := RandomGames(t, 150)
	rng := newRand(t)
	hidden := Hidden{map[string]bool{}, map[string]bool{}, map[string]time.Time{}}
	var decisions, played []projection.Step
	for range 60 {
		decision := randomDecision(rng, games)
		hidden.apply(decision)
		decisions = append(decisions, decision)
	}
	for _, g := range games {
		played = append(played, projection.Step{Game: &g})
	}
	var mixed []projection.Step
	for first, second := decisions, played; len(first)+len(second) > 0; {
		if len(first) == 0 || len(second) > 0 && rng.IntN(3) > 0 {
			first, second = second, first
		}
		mixed, first = append(mixed, first[0]), first[1:]
	}
	var sums [3][sha256.Size]byte
	for i, steps := range [][]projection.Step{slices.Concat(decisions, played), slices.Concat(played, decisions), mixed} {
		s := open(t)
		w := writer{t: t, s: s}
		for part := range slices.Chunk(steps, 1+rng.IntN(40)) {
			w.commit(part)
		}
		CheckModerated(t, s, games, hidden)
		sums[i] = Hash(t, s)
	}
	if sums[0] != sums[1] || sums[0] != sums[2] {
		t.Error("the order of decisions and games shows")
	}
}

// testHashOfChanges sees the hash change with everything that is shown, and with
// nothing else.
func testHashOfChanges(t *testing.T, s projection.Store) {
	w := writer{t: t, s: s}
	g := NewGame("ada", "classic", 7, 40)
	seen := map[[sha256.Size]byte]string{Hash(t, s): "nothing"}
	for _, c := range []struct {
		name   string
		change func()
	}{
		{"a game", func() {}},
		{"the player", func() { g.PlayerID = "bob" }},
		{"the kind of player", func() { g.ActorKind = eventv1.ActorKind_ACTOR_KIND_BOT }},
		{"the ruleset", func() { g.RulesetID = "strict" }},
		{"the score", func() { g.Score++ }},
		{"the moves", func() { g.Moves++ }},
		{"the start", func() { g.StartedAt = g.StartedAt.Add(-time.Nanosecond) }},
		{"the end", func() { g.EndedAt = g.EndedAt.Add(-time.Nanosecond) }},
		{"the stream", func() { g.Stream = "A" }},
		{"the sequence", func() { g.Sequence = 0 }},
		{"the mode", func() { g.Mode = eventv1.GameMode_GAME_MODE_SEEDED }},
		{"a score of 0", func() { g.Score, g.Outcome = 0, rulesv1.Outcome_OUTCOME_LOST }},
		{"no score", func() { g.Outcome = rulesv1.Outcome_OUTCOME_ABANDONED }},
	} {
		c.change()
		w.finish(g)
		sum := Hash(t, s)
		if as, ok := seen[sum]; ok {
			t.Errorf("%s: the hash is that after %s", c.name, as)
		}
		seen[sum] = c.name
		w.finish(g)
		must(t, s.Commit(t.Context(), w.at, []projection.Step{step("W", w.at.Sequence+1, nil)}))
		w.at = checkpoint(step("W", w.at.Sequence+1, nil))
		if Hash(t, s) != sum {
			t.Errorf("%s: what changes nothing changes the hash", c.name)
		}
	}
}

// testRetry parks a game and brings it back.
func testRetry(t *testing.T, open func(testing.TB) projection.Store) {
	ctx, s := t.Context(), open(t)
	bad, good := NewGame("ada", "classic", 7, 40), NewGame("bob", "classic", 5, 40)
	badID := eventlog.DeriveGameID("26q4", "retry")
	bad.GameID = badID.String()
	of := func(seq uint64, g *projection.Game, problem string) projection.Step {
		st := step("A", seq, g)
		st.Record.Game, st.Record.Data, st.Problem = badID, []byte{byte(seq)}, problem
		return st
	}
	last := of(2, &bad, "")
	must(t, s.Commit(ctx, projection.Checkpoint{}, []projection.Step{of(1, nil, "an old fault"), last, step("A", 3, &good)}))
	checkpoints, err := s.Checkpoints(ctx)
	must(t, err)
	parked := func(want ...projection.Parked) {
		t.Helper()
		if got, err := s.Parked(ctx); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("parked %+v, %v; want %+v", got, err, want)
		}
	}
	first := projection.Parked{Position: of(1, nil, "").Record.Position, EventID: "A1", GameID: bad.GameID, Problem: "an old fault", Payload: []byte{1}}
	parked(first)

	if err := s.Retry(ctx, good.GameID, step("A", 3, &good)); !errors.Is(err, projection.ErrNotFound) {
		t.Errorf("a game that is not parked: %v", err)
	}
	given, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.Retry(given, bad.GameID, last); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	parked(first)
	CheckBoards(t, s, []projection.Game{good})

	must(t, s.Retry(ctx, bad.GameID, of(2, nil, "a new fault")))
	parked(projection.Parked{Position: last.Record.Position, EventID: "A2", GameID: bad.GameID, Problem: "a new fault", Payload: []byte{2}})
	CheckBoards(t, s, []projection.Game{good})

	must(t, s.Retry(ctx, bad.GameID, last))
	parked()
	CheckBoards(t, s, []projection.Game{good, bad})
	if got, err := s.Checkpoints(ctx); err != nil || !slices.Equal(got, checkpoints) {
		t.Errorf("checkpoints %v, %v; want %v", got, err, checkpoints)
	}
	if err := s.Retry(ctx, bad.GameID, last); !errors.Is(err, projection.ErrNotFound) {
		t.Errorf("twice: %v", err)
	}
	never := open(t)
	Fill(t, never, []projection.Game{bad, good})
	if Hash(t, s) != Hash(t, never) {
		t.Error("it shows that the game was parked")
	}
	must(t, s.Commit(ctx, checkpoints[0], []projection.Step{step("A", 4, &bad)}))
	CheckBoards(t, s, []projection.Game{good, bad})
}

// testRetryOfARunningGame brings back a game that has not ended; its end counts.
func testRetryOfARunningGame(t *testing.T, s projection.Store) {
	ctx := t.Context()
	id := eventlog.DeriveGameID("26q4", "running")
	g := NewGame("ada", "classic", 7, 40)
	g.GameID = id.String()
	poison := step("A", 1, nil)
	poison.Record.Game, poison.Record.Data, poison.Problem = id, []byte{1}, "an old fault"
	must(t, s.Commit(ctx, projection.Checkpoint{}, []projection.Step{poison}))
	mended := poison
	mended.Problem = ""
	must(t, s.Retry(ctx, g.GameID, mended))
	if all, err := s.Parked(ctx); err != nil || len(all) != 0 {
		t.Errorf("parked %v, %v", all, err)
	}
	must(t, s.Commit(ctx, checkpoint(poison), []projection.Step{step("A", 2, &g)}))
	CheckBoards(t, s, []projection.Game{g})
}

// testStreamsAtOnce commits games of the same players from several streams at a
// time, as a projector does when a quarter ends.
func testStreamsAtOnce(t *testing.T, s projection.Store) {
	var played [3][]projection.Game
	var writers sync.WaitGroup
	for i, stream := range []string{"A", "B", "C"} {
		games := RandomGames(t, 20)
		for i := range games {
			games[i].PlayerID = "p" + strconv.Itoa(i/2) // everybody meets everybody's
		}
		played[i] = games
		writers.Go(func() {
			var at projection.Checkpoint
			for n, g := range games {
				st := step(stream, uint64(n)+1, &g)
				for {
					err := s.Commit(t.Context(), at, []projection.Step{st})
					if err == nil {
						break
					}
					if !errors.Is(err, projection.ErrUnavailable) {
						t.Error(err)
						return
					}
				}
				at = checkpoint(st)
			}
		})
	}
	writers.Wait()
	CheckBoards(t, s, slices.Concat(played[:]...))
}
