package projection

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
)

// Unranked is why a game does not stand for leaderboards. The numbers are those
// of the contract's enumeration, and stored.
type Unranked uint8

// The reasons; 0 is none.
const (
	// UnrankedRunning: the game is not over.
	UnrankedRunning Unranked = iota + 1
	// UnrankedAbandoned: the player resigned.
	UnrankedAbandoned
	// UnrankedPractice: the player chose the seed.
	UnrankedPractice
	// UnrankedDepth: the player had not unlocked its depth when it started.
	UnrankedDepth
	// UnrankedHidden: the game or its player is hidden.
	UnrankedHidden
	// UnrankedRuleset: its ruleset has no leaderboards.
	UnrankedRuleset
)

// Level returns the level of a player with so much experience, and the greatest
// depth that it unlocks: 25 points make level 1, 100 level 2, 225 level 3, and a
// level unlocks its own depth, up to engine.MaxDepth.
func Level(experience int) (level, depth int) {
	level = int(math.Sqrt(float64(experience / 25)))
	return level, min(level, engine.MaxDepth)
}

// depth returns the depth of the game's rules; 0 for an id that names none.
func (g Game) depth() int {
	rules, err := engine.ParseRulesetID(g.RulesetID)
	if err != nil {
		return 0
	}
	return int(rules.Depth)
}

// Deep tells whether the game ranks only if its depth was unlocked.
func (g Game) Deep() bool { return g.Ranked() && g.depth() > 0 }

// Progress is what a player's games come to.
type Progress struct {
	// Experience is the sum of the positive scores of the games that rank.
	Experience int
	// Unranked is why a game does not rank, by game id; the others do.
	Unranked map[string]Unranked
}

// Progressed returns what games come to, all of one player: a game ranks if the
// ones that ranked and had ended before it started unlock its depth. Hidden games
// rank not at all. It depends on nothing but its arguments, in any order: whether
// a ruleset has boards here is a matter of configuration, and left out.
func Progressed(games []Game, hidden func(Game) bool) Progress {
	games = slices.Clone(games)
	slices.SortFunc(games, func(a, b Game) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.GameID, b.GameID))
	})
	p := Progress{Unranked: map[string]Unranked{}}
	var ended endings
	total := 0
	for _, g := range games {
		reason := g.ByItself()
		if reason == 0 && hidden(g) {
			reason = UnrankedHidden
		}
		// A game that ended before this one started has started before, too.
		for len(ended) > 0 && ended[0].at.Before(g.StartedAt) {
			total += heap.Pop(&ended).(ending).score
		}
		if _, depth := Level(total); reason == 0 && g.depth() > depth {
			reason = UnrankedDepth
		}
		if reason != 0 {
			p.Unranked[g.GameID] = reason
			continue
		}
		if g.Score > 0 {
			heap.Push(&ended, ending{g.EndedAt, g.Score})
			p.Experience += g.Score
		}
	}
	return p
}

// ByItself returns why the game does not rank, as far as it alone tells.
func (g Game) ByItself() Unranked {
	switch {
	case g.Running():
		return UnrankedRunning
	case !g.Scored():
		return UnrankedAbandoned
	case !g.Ranked():
		return UnrankedPractice
	default:
		return 0
	}
}

// ending is a game that gave experience when it ended.
type ending struct {
	at    time.Time
	score int
}

// endings is a heap, the earliest first.
type endings []ending

func (h *endings) Len() int           { return len(*h) }
func (h *endings) Less(i, j int) bool { return (*h)[i].at.Before((*h)[j].at) }
func (h *endings) Swap(i, j int)      { (*h)[i], (*h)[j] = (*h)[j], (*h)[i] }
func (h *endings) Push(x any)         { *h = append(*h, x.(ending)) }
func (h *endings) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
