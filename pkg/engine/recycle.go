package engine

import "math"

// By the home rules blacksmiths and merchants go back into the dungeon at random positions: by choice, once
// a game each, and whenever the room they lie in is avoided. Players see that they go, not where to.

// returns says whether c goes back at a random position when its room is avoided.
func (r Ruleset) returns(c Card) bool {
	return MoveRecycle.in(r.Variants) && moveKinds[MoveRecycle].roles.Has(r.Role(c))
}

func (s *State) obstacleToRecycle(c Card) Reason {
	switch {
	case s.inLastRoom():
		return ReasonLastRoom
	case s.recycled.has(c):
		return ReasonRecycledBefore
	}
	return 0
}

func (d *decision) recycle(c Card) { d.putBack(FactCardRecycled, c) }

// putBack draws a position of the dungeon for c from the game's own source.
func (d *decision) putBack(kind FactKind, c Card) {
	s := &d.state
	source := stream{seed: s.seed, next: s.drawn}
	position := source.uniform(int(s.dungeonSize) + 1)
	d.emit(Fact{Kind: kind, Card: c, Position: position, Drawn: int(source.next)})
}

func (s *State) applyCardRecycled(f *Fact) string {
	if problem := s.take(f.Card); problem != "" {
		return problem
	}
	s.recycled.add(f.Card)
	return s.insert(f)
}

func (s *State) applyCardReturned(f *Fact) string {
	if !s.dealDue {
		return "no room was left"
	}
	if !s.leaveRow(f.Card) {
		return "the card is not in the room"
	}
	return s.insert(f)
}

// insert lays the fact's card, which was taken from its place, into the dungeon.
func (s *State) insert(f *Fact) string {
	if f.Position < 0 || f.Position > int(s.dungeonSize) || f.Drawn < int(s.drawn) || f.Drawn > math.MaxUint16 {
		return "the position is out of range"
	}
	at := int(s.dungeonSize) - f.Position // the bottom lies first
	copy(s.dungeon[at+1:], s.dungeon[at:s.dungeonSize])
	s.dungeon[at] = f.Card
	s.dungeonSize++
	s.drawn = uint16(f.Drawn)
	return ""
}
