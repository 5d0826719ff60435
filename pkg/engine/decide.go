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
	d.move(m)
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
	problem string // of the last of facts, which did not fit the state
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
	d.problem = d.state.apply(&f)
	d.facts = append(d.facts, f)
}

// result returns the facts, or dst and an error if one did not fit.
func (d *decision) result(dst []Fact) ([]Fact, error) {
	if d.problem != "" {
		return dst, &FactError{Fact: d.facts[len(d.facts)-1], Problem: d.problem}
	}
	return d.facts, nil
}

// move decides what a legal move does.
func (d *decision) move(m Move) {
	switch m.Kind {
	case MoveAvoid:
		d.avoid()
	case MoveDrinkStored:
		d.drinkStored(m.Card)
	default:
		if d.state.thiefWaits() {
			d.steal()
		}
		d.last = lastTake{card: m.Card, healthBefore: d.state.Health()}
		d.take(m)
		d.closeRoom()
	}
}

// take decides what taking a card does.
func (d *decision) take(m Move) {
	switch m.Kind {
	case MoveEquip:
		d.equip(m.Card)
	case MoveDrink:
		d.drink(m.Card)
	case MoveFightBareHanded:
		d.fightBareHanded(m.Card)
	case MoveFightWithWeapon:
		d.fightWithWeapon(m.Card)
	case MoveDismiss:
		d.dismiss(m.Card)
	case MoveSell:
		d.sell(m.Card)
	case MoveRepair:
		d.repair(m.Card)
	case MoveUpgrade:
		d.upgrade(m.Card)
	case MoveRecruit:
		if d.state.rules.Role(m.Card) == RoleBearer {
			d.recruitBearer(m.Card)
		} else {
			d.recruitCompanion(m.Card)
		}
	case MoveStore:
		d.store(m.Card)
	case MoveEquipCompanion:
		d.equipCompanion(m.Card)
	case MoveFightWithCompanion:
		d.fightWithCompanion(m.Card)
	case MoveRecycle:
		d.recycle(m.Card)
	}
}

// avoid decides what avoiding the room does: cards that go back at random positions do so, from the left,
// after the others have gone under the dungeon.
func (d *decision) avoid() {
	room := d.state.room
	under := Fact{Kind: FactRoomAvoided}
	n := 0
	for _, c := range room {
		if !d.state.rules.returns(c) {
			under.Cards[n] = c
			n++
		}
	}
	d.emit(under)
	for _, c := range room {
		if d.state.rules.returns(c) {
			d.putBack(FactCardReturned, c)
		}
	}
	d.deal(false)
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
	if !f.CanAvoid && s.thiefInRoom() {
		d.steal()
	}
}

func (d *decision) end(outcome Status) {
	s := &d.state
	d.emit(Fact{Kind: FactGameOver, Over: Over{
		Outcome: outcome, Rules: s.rules, Health: s.Health(),
		LastCard: d.last.card, LastUse: d.last.use, LastHealthBefore: d.last.healthBefore,
		DungeonMonsterValue: monsterValue(s.dungeon[:s.dungeonSize]),
		RoomMonsterValue:    monsterValue(s.room[:s.roomSize]),
		Moves:               s.Moves(),
	}})
}
