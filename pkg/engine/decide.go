package engine

// Open appends the facts that start a fresh game and deal its first room: FactGameStarted, then
// FactRoomDealt. It appends nothing to a game that has started before, nor to one without cards.
func (s *State) Open(dst []Fact) []Fact {
	if s.status != 0 || s.dungeonSize == 0 {
		return dst
	}
	d := decision{state: *s, facts: dst}
	d.emit(Fact{Kind: FactGameStarted, Health: s.rules.startHealth()})
	d.deal(true)
	return d.facts
}

// Decide appends the facts that m leads to, in the order that [Fact] describes. The state is not
// changed: apply the facts with [State.EvolveAll].
//
// A move that is not legal gives an [*IllegalMoveError]; a game that is over [ErrGameOver], one that is
// not opened [ErrNotStarted]. Then dst is returned as it was.
func (s *State) Decide(m Move, dst []Fact) ([]Fact, error) {
	if err := s.refuse(m); err != nil {
		return dst, err
	}
	d := decision{state: *s, facts: dst}
	d.last = lastTake{card: m.Card, healthBefore: s.Health()}
	if m.Kind == MoveAvoid {
		d.emit(Fact{Kind: FactRoomAvoided, Cards: s.room})
		d.deal(false)
		return d.result(dst)
	}
	d.take(m)
	d.closeRoom()
	return d.result(dst)
}

// Resign appends the fact that ends the game as abandoned. A game that is over gives [ErrGameOver], one
// that is not opened [ErrNotStarted], and dst is returned as it was.
func (s *State) Resign(dst []Fact) ([]Fact, error) {
	switch {
	case s.status == 0:
		return dst, ErrNotStarted
	case s.status != StatusActive:
		return dst, ErrGameOver
	}
	d := decision{state: *s, facts: dst}
	d.end(StatusAbandoned)
	return d.result(dst)
}

// decision collects a command's facts. Each fact is applied to its copy of the state at once, so that
// the rules that follow see exactly what someone who folds the facts will see.
type decision struct {
	state   State
	facts   []Fact
	problem string // of the first fact that did not fit the state
	failed  Fact
	last    lastTake
}

// lastTake is what a final count says about the last card taken.
type lastTake struct {
	card         Card
	use          LastUse
	healthBefore int
}

func (d *decision) emit(f Fact) {
	if d.problem != "" {
		return
	}
	if d.problem = d.state.apply(&f); d.problem != "" {
		d.failed = f
		return
	}
	d.facts = append(d.facts, f)
}

// result returns the facts, or dst and an error if one did not fit.
func (d *decision) result(dst []Fact) ([]Fact, error) {
	if d.problem != "" {
		return dst, &FactError{Fact: d.failed, Problem: d.problem}
	}
	return d.facts, nil
}

// take decides what taking a card does.
func (d *decision) take(m Move) {
	s := &d.state
	switch m.Kind {
	case MoveEquip:
		d.emit(Fact{Kind: FactWeaponEquipped, Card: m.Card})
	case MoveDrink:
		if s.potionUsed {
			d.last.use = LastUsePotionWasted
			d.emit(Fact{Kind: FactPotionWasted, Card: m.Card})
			return
		}
		d.last.use = LastUsePotionDrunk
		healed := min(m.Card.Value(), MaxHealth-s.Health())
		d.emit(Fact{Kind: FactPotionDrunk, Card: m.Card, Healed: healed, HealthBefore: s.Health()})
	case MoveFightBareHanded:
		d.emit(Fact{Kind: FactMonsterFought, Card: m.Card, Means: MeansBareHands, Damage: m.Card.Value()})
	case MoveFightWithWeapon:
		damage := max(0, m.Card.Value()-s.weapon.power())
		d.emit(Fact{Kind: FactMonsterFought, Card: m.Card, Means: MeansWeapon, Damage: damage})
	}
}

// closeRoom decides what follows from a take: death, nothing, a win or the next room.
func (d *decision) closeRoom() {
	s := &d.state
	if s.health <= 0 {
		d.end(StatusLost)
		return
	}
	if s.toTake > 0 {
		return
	}
	d.emit(Fact{Kind: FactRoomCleared})
	lastRoom := s.roomSize == 0 // a full room leaves one card over
	cannotFill := s.dungeonSize < takesPerFullRoom
	if lastRoom || cannotFill && s.rules.Ending == EndingStopWhenRoomCannotFill {
		d.end(StatusWon)
		return
	}
	d.deal(true)
}

// deal fills the row from the dungeon. Only a full room can be avoided, and only if mayAvoid says that
// the room before was not.
func (d *decision) deal(mayAvoid bool) {
	s := &d.state
	f := Fact{Kind: FactRoomDealt}
	size := int(s.roomSize)
	for i := 0; size < RoomSize && i < int(s.dungeonSize); i++ {
		f.Cards[i] = s.dungeon[int(s.dungeonSize)-1-i]
		size++
	}
	f.ToTake = size
	if size == RoomSize {
		f.ToTake = takesPerFullRoom
		f.CanAvoid = mayAvoid
	}
	d.emit(f)
}

func (d *decision) end(outcome Status) {
	s := &d.state
	d.emit(Fact{Kind: FactGameOver, Over: Over{
		Outcome: outcome, Rules: s.rules, Health: s.Health(),
		LastCard: d.last.card, LastUse: d.last.use, LastHealthBefore: d.last.healthBefore,
		DungeonMonsterValue: s.rules.monsterValue(s.dungeon[:s.dungeonSize]),
		RoomMonsterValue:    s.rules.monsterValue(s.room[:s.roomSize]),
		Moves:               s.Moves(),
	}})
}

// monsterValue adds up the values of the monsters among the cards.
func (r Ruleset) monsterValue(cards []Card) int {
	total := 0
	for _, c := range cards {
		if r.Role(c) == RoleMonster {
			total += c.Value()
		}
	}
	return total
}
