package engine

// heldWeapon is a weapon in someone's hand with the monsters on it. Without a card it has no kills.
type heldWeapon struct {
	card      Card
	killCount uint8
	kills     [monsterCount]Card // oldest first
}

// lastKill returns the value of the most recent monster that is still on w; 0 if there is none.
func (w *heldWeapon) lastKill() int {
	if w.killCount == 0 {
		return 0
	}
	return w.kills[w.killCount-1].Value()
}

// power is what the player's weapon takes off a monster's value; 0 without one.
func (s *State) power() int {
	power := s.weapon.card.Value()
	for _, c := range s.upgrades[:s.upgradesSize] {
		power += upgradeOf(c)
	}
	return power
}

// weaponLimit returns the highest value of a monster that w, the player's weapon or the companion's, may
// hit, and whether there is a limit.
func (s *State) weaponLimit(w *heldWeapon) (limit int, limited bool) {
	if w.killCount == 0 {
		return 0, false
	}
	limit = w.lastKill()
	if s.rules.WeaponWear == WearBelowLastKill {
		limit--
	}
	if w == &s.weapon && s.reachesHigher() {
		limit++
	}
	return limit, true
}

// worn says why w cannot hit the monster, 0 if it can.
func (s *State) worn(w *heldWeapon, monster Card) Reason {
	if limit, limited := s.weaponLimit(w); limited && monster.Value() > limit {
		return ReasonWeaponWorn
	}
	return 0
}

// noWeapon says why the player has no weapon for a move on a card of the room, 0 if there is one.
func (s *State) noWeapon() Reason {
	switch {
	case s.weapon.card == NoCard:
		return ReasonNoWeapon
	case s.thiefWaits():
		return ReasonWeaponStolen
	}
	return 0
}

func (d *decision) equip(c Card) { d.emit(Fact{Kind: FactWeaponEquipped, Card: c}) }

func (s *State) applyWeaponEquipped(f *Fact) string {
	if problem := s.take(f.Card); problem != "" {
		return problem
	}
	s.discardWeapon()
	s.weapon.card = f.Card
	return ""
}

// discardWeapon discards the player's weapon, if any, then what lies under it and on it, oldest first.
func (s *State) discardWeapon() {
	card := s.weapon.card
	if card == NoCard {
		return
	}
	s.toDiscard(card)
	for _, c := range s.upgrades[:s.upgradesSize] {
		s.toDiscard(c)
	}
	s.upgrades, s.upgradesSize = [upgradeCount]Card{}, 0
	s.discardKills(&s.weapon)
	s.weapon = heldWeapon{}
}

// discardKills discards the monsters on w, oldest first.
func (s *State) discardKills(w *heldWeapon) {
	for _, c := range w.kills[:w.killCount] {
		s.toDiscard(c)
	}
}
