package conformance

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
)

// Result is what became of one line.
type Result struct {
	Line int    // counted from 1
	Name string // the game's name, or the ruleset and seed of a perft line
	Err  error  // nil if the engine conforms; otherwise the first difference
}

// Run checks every line that r holds and returns a result for each, in order; empty lines are skipped.
// The error is that of reading r and comes with the results up to there.
func Run(r io.Reader) ([]Result, error) {
	var results []Result
	lines := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			result := Result{Line: number}
			result.Name, result.Err = check(line)
			results = append(results, result)
		}
		if errors.Is(err, io.EOF) {
			return results, nil
		}
		if err != nil {
			return results, err
		}
	}
}

func check(line []byte) (name string, err error) {
	v, err := parse(line)
	if err != nil {
		return v.Name, err
	}
	if v.Name == "" && v.Paths != nil {
		v.Name = fmt.Sprintf("perft %.8s", v.Seed)
	}
	set, err := v.Rules.ruleset()
	switch {
	case err != nil:
		return v.Name, err
	case v.Paths != nil:
		return fmt.Sprintf("perft %s %.8s", set.ID(), v.Seed), v.checkPaths(set)
	default:
		return v.Name, v.checkGame(set)
	}
}

func (v *vector) checkPaths(set engine.Ruleset) error {
	fresh, err := v.seededGame(set)
	if err != nil {
		return err
	}
	s, err := fresh.EvolveAll(fresh.Open(nil))
	if err != nil {
		return err
	}
	for i, want := range v.Paths {
		if got := engine.Perft(&s, i+1); got != want {
			return fmt.Errorf("%d paths of %d moves, want %d", got, i+1, want)
		}
	}
	return nil
}

// seededGame returns the fresh game of the vector's seed.
func (v *vector) seededGame(set engine.Ruleset) (engine.State, error) {
	var seed engine.Seed
	bytes, err := hex.DecodeString(v.Seed)
	if err != nil || len(bytes) != len(seed) {
		return engine.State{}, errors.New("the seed is not 64 hex digits")
	}
	copy(seed[:], bytes)
	if want := v.Commitment; want != "" && seed.Commitment() != want {
		return engine.State{}, fmt.Errorf("the commitment is %s, want %s", seed.Commitment(), want)
	}
	return engine.NewGame(set, seed)
}

// freshGame returns the vector's game before the first room is dealt.
func (v *vector) freshGame(set engine.Ruleset) (engine.State, error) {
	deck, err := parseCards(v.Deck)
	if err != nil {
		return engine.State{}, err
	}
	if v.Seed == "" {
		return engine.NewGameWithDeck(set, deck)
	}
	s, err := v.seededGame(set)
	if err == nil && !slices.Equal(s.Dungeon(), deck) {
		err = fmt.Errorf("the shuffled deck is %v, want %v", s.Dungeon(), deck)
	}
	return s, err
}

func (v *vector) checkGame(set engine.Ruleset) error {
	if v.Initial == nil {
		return errors.New("not a vector: no initial state")
	}
	fresh, err := v.freshGame(set)
	if err != nil {
		return err
	}
	facts := fresh.Open(nil) // all facts of the game
	s, err := fresh.EvolveAll(facts)
	if err != nil {
		return err
	}
	if err := checkState(&s, v.Initial); err != nil {
		return fmt.Errorf("initial state: %w", err)
	}
	for i, step := range v.Steps {
		if facts, err = checkStep(&s, step, facts); err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, step.Move, err)
		}
	}
	replayed := fresh
	for i := range facts {
		if replayed, err = replayed.Evolve(facts[i]); err != nil {
			return fmt.Errorf("replay: %w", err)
		}
	}
	if replayed != s {
		return errors.New("replaying the facts of the whole game gives another state")
	}
	return nil
}

// checkStep makes the step's move, moves s on and appends the facts.
func checkStep(s *engine.State, step step, facts []engine.Fact) ([]engine.Fact, error) {
	before := *s
	made := len(facts)
	m, err := engine.ParseMove(step.Move)
	if err == nil {
		facts, err = s.Decide(m, facts)
	}
	if *s != before {
		return facts, errors.New("deciding changed the state")
	}
	if step.Illegal {
		var illegal *engine.IllegalMoveError
		var notation *engine.NotationError
		switch {
		case err == nil:
			return facts, errors.New("the illegal move is accepted")
		case len(facts) != made:
			return facts, errors.New("the illegal move has facts")
		case !errors.As(err, &illegal) && !errors.As(err, &notation) && !errors.Is(err, engine.ErrGameOver):
			return facts, fmt.Errorf("the illegal move is refused with another error: %w", err)
		}
		return facts, nil
	}
	if err != nil {
		return facts, err
	}
	if step.State == nil {
		return facts, errors.New("not a vector: neither a state nor illegal")
	}
	if got := m.String(); got != step.Move {
		return facts, fmt.Errorf("the move is written %q", got)
	}
	if *s, err = s.EvolveAll(facts[made:]); err != nil {
		return facts, err
	}
	return facts, checkState(s, step.State)
}

// checkState compares every field, and checks what holds for any state.
func checkState(s *engine.State, want *state) error {
	got, err := view(s)
	if err != nil {
		return err
	}
	// Both are marshalled from the same type, so that equal texts mean equal fields.
	gotText, err := json.Marshal(got)
	if err != nil {
		return err
	}
	wantText, err := json.Marshal(want)
	if err != nil {
		return err
	}
	if !bytes.Equal(gotText, wantText) {
		return fmt.Errorf("the state is %s, want %s", gotText, wantText)
	}
	data, err := s.MarshalBinary()
	if err != nil {
		return err
	}
	decoded, err := engine.DecodeState(data)
	if err != nil {
		return err
	}
	if decoded != *s {
		return errors.New("the state does not survive its encoding")
	}
	return nil
}

// view writes a state as vectors have it, after checking that its legal moves are the ones accepted.
func view(s *engine.State) (*state, error) {
	v := &state{
		Status:       s.Status().String(),
		Health:       s.Health(),
		Room:         names(s.Room()),
		Dungeon:      s.DungeonSize(),
		RoomsCleared: s.RoomsCleared(),
		Legal:        []string{},
	}
	for _, m := range s.Legal(nil) {
		if _, err := s.Decide(m, nil); err != nil {
			return nil, fmt.Errorf("a legal move is refused: %w", err)
		}
		if parsed, err := engine.ParseMove(m.String()); err != nil || parsed != m {
			return nil, fmt.Errorf("the move %v does not survive its notation", m)
		}
		v.Legal = append(v.Legal, m.String())
	}
	slices.Sort(v.Legal)
	if w, ok := s.Weapon(); ok {
		v.Weapon = viewWeapon(w)
	}
	if c, ok := s.Companion(); ok {
		v.Companion = &companion{Card: c.Card.String(), Health: c.Health}
		if c.Weapon.Card != engine.NoCard {
			v.Companion.Weapon = viewWeapon(c.Weapon)
		}
	}
	if _, potions, ok := s.Bearer(); ok {
		stored := names(potions)
		v.Stored = &stored
	}
	if score, ok := s.Score(); ok {
		v.Score = &score
	}
	return v, nil
}

func viewWeapon(w engine.WeaponView) *weapon {
	return &weapon{Card: w.Card.String(), Kills: names(w.Kills), Upgrades: names(w.Upgrades)}
}

func names(cards []engine.Card) []string {
	list := make([]string, len(cards))
	for i, c := range cards {
		list[i] = c.String()
	}
	return list
}
