package engine

// companion is the fighter in the party; the zero value is none.
type companion struct {
	card   Card
	health uint8 // 0 where the rules give him none
	weapon heldWeapon
}

// CompanionView is the fighter in the party as players see him.
type CompanionView struct {
	Card   Card
	Health int        // what the damage of his fights comes off; 0 where the rules give him none
	Weapon WeaponView // without a Card if he has none
}

// Companion returns the fighter in the party, and whether there is one.
func (s *State) Companion() (CompanionView, bool) {
	c := &s.companion
	if c.card == NoCard {
		return CompanionView{}, false
	}
	w, _ := s.weaponView(&c.weapon)
	return CompanionView{Card: c.card, Health: int(c.health), Weapon: w}, true
}

func (d *decision) recruitCompanion(c Card) {
	d.emit(Fact{Kind: FactCompanionRecruited, Card: c, Health: int(d.state.rules.CompanionHealth)})
}

func (s *State) applyCompanionRecruited(f *Fact) string {
	if s.companion.card != NoCard {
		return "there is a companion"
	}
	if f.Health < 0 || f.Health > MaxHealth {
		return "the health is out of range"
	}
	if problem := s.take(f.Card); problem != "" {
		return problem
	}
	s.companion = companion{card: f.Card, health: uint8(f.Health)}
	return ""
}

func (s *State) obstacleToEquipCompanion() Reason {
	if s.companion.card == NoCard {
		return ReasonNoCompanion
	}
	return 0
}

func (d *decision) equipCompanion(weapon Card) {
	d.emit(Fact{Kind: FactCompanionEquipped, Card: weapon})
}

func (s *State) applyCompanionEquipped(f *Fact) string {
	if s.companion.card == NoCard {
		return "there is no companion"
	}
	if problem := s.take(f.Card); problem != "" {
		return problem
	}
	s.discardCompanionWeapon()
	s.companion.weapon.card = f.Card
	return ""
}

// discardCompanionWeapon discards the companion's weapon, if any, and then the monsters on it.
func (s *State) discardCompanionWeapon() {
	w := &s.companion.weapon
	if w.card == NoCard {
		return
	}
	s.toDiscard(w.card)
	s.discardKills(w)
	*w = heldWeapon{}
}

func (s *State) obstacleToFightWithCompanion(monster Card) Reason {
	switch {
	case s.companion.card == NoCard:
		return ReasonNoCompanion
	case s.companion.weapon.card == NoCard:
		return ReasonNoWeapon
	}
	return s.worn(&s.companion.weapon, monster)
}

// fightWithCompanion decides a fight with the companion's weapon. By the home rules he takes the damage,
// and any kills him if the rules give him no health; otherwise the player does.
func (d *decision) fightWithCompanion(monster Card) {
	s := &d.state
	damage := max(0, monster.Value()-s.companion.weapon.card.Value())
	f := Fact{Kind: FactMonsterFought, Card: monster, Means: MeansCompanion}
	if !s.rules.Variants.Has(VariantHomeRules) {
		f.Damage = damage
		d.emit(f)
		return
	}
	f.CompanionDamage = damage
	dies := damage > 0 && damage >= int(s.companion.health)
	d.emit(f)
	if dies {
		d.emit(Fact{Kind: FactCompanionDied, Card: s.companion.card})
	}
}

func (s *State) applyCompanionDied(f *Fact) string {
	if s.companion.card == NoCard || f.Card != s.companion.card {
		return "the companion is another"
	}
	s.toDiscard(f.Card)
	s.discardCompanionWeapon()
	s.companion = companion{}
	return ""
}
