package engine

import "math"

// Bearer returns the bearer in the party, the potions he holds in the order of storing, and whether there
// is a bearer.
func (s *State) Bearer() (c Card, potions []Card, ok bool) {
	return s.bearer, append([]Card(nil), s.stored[:s.storedSize]...), s.bearer != NoCard
}

func (d *decision) recruitBearer(c Card) { d.emit(Fact{Kind: FactBearerRecruited, Card: c}) }

func (s *State) applyBearerRecruited(f *Fact) string {
	if s.bearer != NoCard {
		return "there is a bearer"
	}
	if problem := s.take(f.Card); problem != "" {
		return problem
	}
	s.bearer = f.Card
	return ""
}

func (s *State) obstacleToStore() Reason {
	switch {
	case s.bearer == NoCard:
		return ReasonNoBearer
	case s.storedSize > 0 && !s.rules.Variants.Has(VariantHomeRules):
		return ReasonBearerFull
	}
	return 0
}

func (d *decision) store(potion Card) { d.emit(Fact{Kind: FactPotionStored, Card: potion}) }

func (s *State) applyPotionStored(f *Fact) string {
	if s.bearer == NoCard || int(s.storedSize) == len(s.stored) {
		return "no bearer can take the potion"
	}
	if problem := s.take(f.Card); problem != "" {
		return problem
	}
	s.stored[s.storedSize] = f.Card
	s.storedSize++
	return ""
}

func (s *State) obstacleToDrinkStored(potion Card) Reason {
	switch {
	case s.bearer == NoCard:
		return ReasonNoBearer
	case s.storedIndex(potion) < 0:
		return ReasonNotStored
	case s.potionUsed:
		return ReasonPotionUsed
	}
	return 0
}

// storedIndex returns the place of c among the stored potions, -1 if it is not there.
func (s *State) storedIndex(c Card) int {
	for i := range int(s.storedSize) {
		if s.stored[i] == c {
			return i
		}
	}
	return -1
}

// drinkStored decides a free action: no card of the room is taken, so that nothing else follows.
func (d *decision) drinkStored(potion Card) {
	d.emit(Fact{Kind: FactStoredPotionDrunk, Card: potion, Healed: d.healing(potion.Value()), HealthBefore: d.state.Health()})
}

func (s *State) applyStoredPotionDrunk(f *Fact) string {
	i := s.storedIndex(f.Card)
	switch {
	case !s.playing():
		return "no potion can be drunk"
	case i < 0:
		return "the bearer does not hold the card"
	case f.HealthBefore != int(s.health):
		return "the health before the potion is another"
	case s.moves == math.MaxUint8:
		return "there are too many moves"
	}
	s.moves++
	copy(s.stored[i:], s.stored[i+1:s.storedSize])
	s.storedSize--
	s.stored[s.storedSize] = NoCard
	s.toDiscard(f.Card)
	s.potionUsed = true
	return s.heal(f.Healed)
}
