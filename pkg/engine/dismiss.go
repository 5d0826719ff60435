package engine

// dismiss decides what taking a card of a variant without using it does.
func (d *decision) dismiss(c Card) { d.emit(Fact{Kind: FactCardDismissed, Card: c}) }

// applyCardDiscarded is the change by a fact that only discards a card of the room.
func (s *State) applyCardDiscarded(f *Fact) string {
	if problem := s.take(f.Card); problem != "" {
		return problem
	}
	s.toDiscard(f.Card)
	return ""
}
