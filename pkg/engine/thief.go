package engine

// The thief strikes once in each room that he lies in, at the moment when it can no longer be avoided:
// at the dealing of a room that never could, otherwise just before the first card is taken. Whether the
// room can be avoided thus tells whether he is still to strike. A weapon equipped afterwards is safe, and
// the companion's always is.

// thiefWaits says whether the thief steals the player's weapon before a card of the room is taken.
func (s *State) thiefWaits() bool {
	return s.canAvoid && s.thiefInRoom()
}

func (s *State) thiefInRoom() bool {
	if !s.rules.Variants.Has(VariantEvilMerchant) {
		return false
	}
	for _, c := range s.room[:s.roomSize] {
		if s.rules.Role(c) == RoleThief {
			return true
		}
	}
	return false
}

// steal decides what the thief takes, where it is time for him.
func (d *decision) steal() {
	if c := d.state.weapon.card; c != NoCard {
		d.emit(Fact{Kind: FactWeaponStolen, Card: c})
	}
}

func (s *State) applyWeaponStolen(f *Fact) string {
	if s.weapon.card == NoCard || f.Card != s.weapon.card {
		return "the player does not hold the weapon"
	}
	s.discardWeapon()
	return ""
}
