package engine

// Preview is what a player can know about a move before making it.
type Preview struct {
	HealthAfter  int  // 0 or below if the move kills
	Lethal       bool // whether the move loses the game
	WastesPotion bool // whether the move discards a potion without effect
	// CompanionHealthAfter is that of the fighter in the party after the move, and CompanionDies whether the
	// move costs the party its fighter.
	CompanionHealthAfter int
	CompanionDies        bool
	// Loses lists the cards that the move costs beyond the one it takes: everything else that goes to
	// the discard pile, in that order. For a weapon that is replaced, sold or stolen these are the weapon,
	// what lies under it and the monsters on it, oldest first.
	Loses []Card
}

// Preview says what m would do, or returns the error of [State.Decide]. It is taken from the facts that
// Decide answers with, up to the dealing of new cards, and so depends on nothing hidden.
func (s *State) Preview(m Move) (Preview, error) {
	var buffer [8]Fact
	facts, err := s.Decide(m, buffer[:0])
	if err != nil {
		return Preview{}, err
	}
	next := *s
	p := Preview{}
	for i := range facts {
		f := &facts[i]
		if f.Kind == FactRoomDealt {
			break
		}
		if problem := next.apply(f); problem != "" {
			return Preview{}, &FactError{Fact: *f, Problem: problem}
		}
		p.WastesPotion = p.WastesPotion || f.Kind == FactPotionWasted
		p.CompanionDies = p.CompanionDies || f.Kind == FactCompanionDied
	}
	p.HealthAfter = next.Health()
	p.CompanionHealthAfter = int(next.companion.health)
	p.Lethal = next.status == StatusLost
	for _, c := range next.discard[s.discardSize:next.discardSize] {
		if c != m.Card {
			p.Loses = append(p.Loses, c)
		}
	}
	return p, nil
}
