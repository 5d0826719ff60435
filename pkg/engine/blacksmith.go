package engine

import "slices"

// repairCount is how many monsters a blacksmith takes off the weapon: all of them for the ace.
var repairCount = [len(cardNames)]uint8{jackOfDiamonds: 1, queenOfDiamonds: 2, kingOfDiamonds: 3, aceOfDiamonds: monsterCount}

func (s *State) obstacleToRepair() Reason {
	if reason := s.noWeapon(); reason != 0 {
		return reason
	}
	if s.weapon.killCount == 0 {
		return ReasonNoMonsterOnWeapon
	}
	return 0
}

func (d *decision) repair(blacksmith Card) {
	count := min(repairCount[blacksmith], d.state.weapon.killCount)
	d.emit(Fact{Kind: FactWeaponRepaired, Card: blacksmith, Count: int(count)})
}

func (s *State) applyWeaponRepaired(f *Fact) string {
	w := &s.weapon
	if f.Count < 1 || f.Count > int(w.killCount) {
		return "the weapon does not carry as many monsters"
	}
	if problem := s.take(f.Card); problem != "" {
		return problem
	}
	for range f.Count {
		w.killCount--
		s.toDiscard(w.kills[w.killCount])
		w.kills[w.killCount] = NoCard
	}
	s.toDiscard(f.Card)
	return ""
}

// upgradeOf is by how much a blacksmith under the weapon raises its power.
func upgradeOf(blacksmith Card) int { return blacksmith.Value() - jackOfDiamonds.Value() + 1 }

// reachesHigher says whether a blacksmith under the player's weapon raises the limit that a kill sets.
func (s *State) reachesHigher() bool {
	return slices.Contains(s.upgrades[:s.upgradesSize], aceOfDiamonds)
}

func (s *State) obstacleToUpgrade() Reason {
	if reason := s.noWeapon(); reason != 0 {
		return reason
	}
	if s.weapon.killCount > 0 {
		return ReasonMonsterOnWeapon
	}
	return 0
}

func (d *decision) upgrade(blacksmith Card) {
	d.emit(Fact{Kind: FactWeaponUpgraded, Card: blacksmith})
}

func (s *State) applyWeaponUpgraded(f *Fact) string {
	if s.weapon.card == NoCard || int(s.upgradesSize) == len(s.upgrades) {
		return "there is no weapon to lay the card under"
	}
	if problem := s.take(f.Card); problem != "" {
		return problem
	}
	s.upgrades[s.upgradesSize] = f.Card
	s.upgradesSize++
	return ""
}
