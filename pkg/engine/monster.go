package engine

import "math"

func (s *State) obstacleToFight(monster Card) Reason {
	if reason := s.noWeapon(); reason != 0 {
		return reason
	}
	return s.worn(&s.weapon, monster)
}

func (d *decision) fightBareHanded(monster Card) {
	d.emit(Fact{Kind: FactMonsterFought, Card: monster, Means: MeansBareHands, Damage: monster.Value()})
}

func (d *decision) fightWithWeapon(monster Card) {
	damage := max(0, monster.Value()-d.state.power())
	d.emit(Fact{Kind: FactMonsterFought, Card: monster, Means: MeansWeapon, Damage: damage})
}

func (s *State) applyMonsterFought(f *Fact) string {
	if f.Damage < 0 || f.Damage > maxValue || f.CompanionDamage < 0 || f.CompanionDamage > maxValue {
		return "the damage is out of range"
	}
	if problem := s.take(f.Card); problem != "" {
		return problem
	}
	switch f.Means {
	case MeansBareHands:
		s.toDiscard(f.Card)
	case MeansWeapon:
		if !s.weapon.lay(f.Card) {
			return "no weapon can take the monster"
		}
	case MeansCompanion:
		if !s.companion.weapon.lay(f.Card) {
			return "no weapon can take the monster"
		}
	default:
		return "there is no such means of fighting"
	}
	s.health -= int8(f.Damage)
	s.companion.health -= min(s.companion.health, uint8(f.CompanionDamage))
	return ""
}

// lay lays a monster on w, and says whether there is a weapon with a place for it.
func (w *heldWeapon) lay(monster Card) bool {
	if w.card == NoCard || int(w.killCount) == len(w.kills) {
		return false
	}
	w.kills[w.killCount] = monster
	w.killCount++
	return true
}

// monsterValues has the value of each monster; the same cards are monsters by all rules.
var monsterValues = func() (table [math.MaxUint8 + 1]uint8) {
	for c := range cardValues {
		if baseRole(Card(c)) == RoleMonster {
			table[c] = cardValues[c]
		}
	}
	return table
}()

// monsterValue adds up the values of the monsters among the cards.
func monsterValue(cards []Card) int {
	total := 0
	for _, c := range cards {
		total += int(monsterValues[c])
	}
	return total
}
