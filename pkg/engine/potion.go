package engine

func (d *decision) drink(c Card) {
	if d.state.potionUsed {
		d.last.use = LastUsePotionWasted
		d.emit(Fact{Kind: FactPotionWasted, Card: c})
		return
	}
	d.last.use = LastUsePotionDrunk
	d.emit(Fact{Kind: FactPotionDrunk, Card: c, Healed: d.healing(c.Value()), HealthBefore: d.state.Health()})
}

// healing is what is left of healing by n at the cap.
func (d *decision) healing(n int) int { return min(n, MaxHealth-d.state.Health()) }

func (s *State) applyPotionDrunk(f *Fact) string {
	if f.HealthBefore != int(s.health) {
		return "the health before the potion is another"
	}
	if problem := s.take(f.Card); problem != "" {
		return problem
	}
	s.toDiscard(f.Card)
	s.potionUsed = true
	return s.heal(f.Healed)
}

// heal adds to the health.
func (s *State) heal(n int) string {
	if n < 0 || n > MaxHealth-int(s.health) {
		return "the health healed is out of range"
	}
	s.health += int8(n)
	return ""
}
