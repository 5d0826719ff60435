package engine

func (s *State) obstacleToSell() Reason { return s.noWeapon() }

func (d *decision) sell(merchant Card) {
	d.emit(Fact{Kind: FactWeaponSold, Card: merchant, Healed: d.healing(d.state.price(merchant))})
}

// price is what the merchant heals for the player's weapon, the cap aside.
func (s *State) price(merchant Card) int {
	power, kills := s.power(), s.weapon.kills[:s.weapon.killCount]
	if s.rules.Variants.Has(VariantHomeRules) {
		return max(1, power-len(kills)) + priceBonus[merchant]
	}
	price := power
	for _, c := range kills {
		price = min(price, c.Value())
	}
	return price
}

// priceBonus is what a merchant of the home rules adds to the price.
var priceBonus = [len(cardNames)]int{jackOfHearts: 0, queenOfHearts: 1, kingOfHearts: 3, aceOfHearts: 5}

func (s *State) applyWeaponSold(f *Fact) string {
	if s.weapon.card == NoCard {
		return "there is no weapon to sell"
	}
	if problem := s.take(f.Card); problem != "" {
		return problem
	}
	s.discardWeapon()
	s.toDiscard(f.Card)
	return s.heal(f.Healed)
}
