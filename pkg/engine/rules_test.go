package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
)

// each plays a test under every combination of options.
func each(t *testing.T, test func(t *testing.T, r engine.Ruleset)) {
	t.Helper()
	for _, r := range allRulesets() {
		t.Run(r.ID(), func(t *testing.T) { test(t, r) })
	}
}

func wantRoom(t *testing.T, s engine.State, room string) {
	t.Helper()
	if got := strings.Join(cardNames(s.Room()), " "); got != room {
		t.Errorf("the room is %q, want %q", got, room)
	}
}

func wantHealth(t *testing.T, s engine.State, health int) {
	t.Helper()
	if s.Health() != health {
		t.Errorf("health %d, want %d", s.Health(), health)
	}
}

func wantEnd(t *testing.T, s engine.State, status engine.Status, score int) {
	t.Helper()
	if got, ok := s.Score(); s.Status() != status || !ok || got != score {
		t.Errorf("%v with score %d, %v; want %v with %d", s.Status(), got, ok, status, score)
	}
	if legal := s.Legal(nil); len(legal) != 0 {
		t.Errorf("legal moves after the end: %v", legal)
	}
	if _, err := s.Decide(engine.Move{Kind: engine.MoveAvoid}, nil); !errors.Is(err, engine.ErrGameOver) {
		t.Errorf("a move after the end: %v", err)
	}
}

// wantIllegal checks that the move is refused for the reason and is not among the legal ones.
func wantIllegal(t *testing.T, s engine.State, text string, reason engine.Reason) *engine.IllegalMoveError {
	t.Helper()
	before := s
	kept := make([]engine.Fact, 1, 8)
	facts, err := s.Decide(shortMove(t, text), kept)
	var illegal *engine.IllegalMoveError
	if !errors.As(err, &illegal) || illegal.Reason != reason || illegal.Move != shortMove(t, text) {
		t.Fatalf("%s: error %v, want the reason %v", text, err, reason)
	}
	if s != before || len(facts) != 1 {
		t.Errorf("%s: the refused move changed something", text)
	}
	if slices.Contains(s.Legal(nil), shortMove(t, text)) {
		t.Errorf("%s is legal and refused", text)
	}
	return illegal
}

func TestWorkedExamples(t *testing.T) {
	classic, strict, tabletop, digital := preset(t, "classic"), preset(t, "strict"), preset(t, "tabletop"), preset(t, "digital")

	t.Run("1 a weapon wears", func(t *testing.T) {
		s := play(t, openDeck(t, classic, "5D JC 6C QS 2C"), "EQUIP 5D", "HIT JC")
		wantHealth(t, s, 14)
		s = play(t, s, "HIT 6C")
		wantHealth(t, s, 13)
		if err := wantIllegal(t, s, "HIT QS", engine.ReasonWeaponWorn); err.Limit != 6 {
			t.Errorf("limit %d, want 6", err.Limit)
		}
		wantHealth(t, play(t, s, "BARE QS"), 1)
	})
	t.Run("2 losses", func(t *testing.T) {
		for r, want := range map[engine.Ruleset]int{classic: -32, digital: -37, tabletop: -27} {
			s := play(t, openDeck(t, r, "7C 10S KS 5C 9S KC"), "BARE 7C", "BARE 10S")
			wantHealth(t, s, 3)
			wantEnd(t, play(t, s, "BARE KS"), engine.StatusLost, want)
		}
	})
	t.Run("3 last potions", func(t *testing.T) {
		for r, want := range map[engine.Ruleset][2]int{classic: {30, 30}, digital: {30, 20}} {
			s := play(t, openDeck(t, r, "5C 2D 3D 4D 10H"), "BARE 5C", "EQUIP 2D", "EQUIP 3D", "EQUIP 4D")
			wantEnd(t, play(t, s, "DRINK 10H"), engine.StatusWon, want[0])
			s = play(t, openDeck(t, r, "10C 2D 3D 4D 10H"), "BARE 10C", "EQUIP 2D", "EQUIP 3D", "EQUIP 4D")
			wantEnd(t, play(t, s, "DRINK 10H"), engine.StatusWon, want[1])
		}
	})
	t.Run("4 equal monsters", func(t *testing.T) {
		for r, allowed := range map[engine.Ruleset]bool{classic: true, strict: false} {
			s := play(t, openDeck(t, r, "10D 8C 8S 9S 2C"), "EQUIP 10D", "HIT 8C")
			wantIllegal(t, s, "HIT 9S", engine.ReasonWeaponWorn)
			if allowed {
				play(t, s, "HIT 8S")
			} else {
				wantIllegal(t, s, "HIT 8S", engine.ReasonWeaponWorn)
			}
		}
	})
}

func TestDepthLowersTheStart(t *testing.T) {
	for depth := range uint8(engine.MaxDepth + 1) {
		r := preset(t, "classic")
		r.Depth = depth
		s := openDeck(t, r, "10H 9H 2D 3D 8H")
		wantHealth(t, s, 20-2*int(depth))
		wantHealth(t, play(t, s, "DRINK 10H"), min(20, 30-2*int(depth)))
	}
}

// The last room: every one of its cards can be taken, it is one room with one potion's allowance, it
// cannot be avoided, and the game ends with its last card.
func TestLastRoom(t *testing.T) {
	// Nothing in these decks hurts, so every game can be played to its end.
	harmless := "2D 10H 3D 9H 4D 8H 5D 7H 6D 6H 7D 5H 8D 4H 9D 3H 10D 2H"
	each(t, func(t *testing.T, r engine.Ruleset) {
		deck := strings.Fields(harmless)
		for n := 1; n <= len(deck); n++ {
			s := takeLeftmostAvoiding(t, openDeck(t, r, strings.Join(deck[:n], " ")))
			if s.Status() != engine.StatusWon {
				t.Fatalf("%d cards: %v", n, s.Status())
			}
			left := len(s.Room()) + s.DungeonSize()
			wantLeft := 0
			if r.Ending == engine.EndingStopWhenRoomCannotFill && n >= 4 {
				wantLeft = (n-4)%3 + 1 // the fourth card and up to two that cannot fill a room
			}
			if left != wantLeft {
				t.Errorf("%d cards: %d are left, want %d", n, left, wantLeft)
			}
		}
	})

	t.Run("one allowance", func(t *testing.T) {
		s := play(t, openDeck(t, preset(t, "classic"), "10C 2D 3D 4D 2H 3H"), "BARE 10C", "EQUIP 2D", "EQUIP 3D")
		wantRoom(t, s, "4D 2H 3H")
		if s.ToTake() != 3 || s.CanAvoid() {
			t.Errorf("%d cards to take, can be avoided %v", s.ToTake(), s.CanAvoid())
		}
		wantIllegal(t, s, "AVOID", engine.ReasonLastRoom)
		s = play(t, s, "DRINK 2H", "DRINK 3H")
		wantHealth(t, s, 12)
		wantIllegal(t, s, "AVOID", engine.ReasonLastRoom)
		wantEnd(t, play(t, s, "EQUIP 4D"), engine.StatusWon, 12)
	})
}

// takeLeftmostAvoiding avoids whenever it can and else takes the leftmost card.
func takeLeftmostAvoiding(t *testing.T, s engine.State) engine.State {
	t.Helper()
	for s.Status() == engine.StatusActive {
		s = play(t, s, s.Legal(nil)[0].String())
	}
	return s
}

func TestNoWinWithoutTheEnd(t *testing.T) {
	r := preset(t, "classic")
	s := play(t, openDeck(t, r, "2C 2D 3D 4D 5D"), "BARE 2C")
	if s.Status() != engine.StatusActive {
		t.Errorf("%v when the last monster is slain", s.Status())
	}
	s = play(t, openDeck(t, r, "10C 8C 2D 3D 2S"), "BARE 10C", "BARE 8C", "EQUIP 2D", "EQUIP 3D", "BARE 2S")
	wantEnd(t, s, engine.StatusLost, 0)
}

func TestFourthCardIsCarried(t *testing.T) {
	each(t, func(t *testing.T, r engine.Ruleset) {
		room := strings.Fields("2D 3D 4D 5D")
		for i, kept := range room {
			s := openDeck(t, r, "2D 3D 4D 5D 6D 7D 8D 9D")
			for j, c := range room {
				if j != i {
					s = play(t, s, "EQUIP "+c)
				}
			}
			wantRoom(t, s, kept+" 6D 7D 8D")
			if s.RoomsCleared() != 1 || s.RoomNumber() != 2 || s.DungeonSize() != 1 || !s.CanAvoid() {
				t.Errorf("%d rooms cleared, room %d, %d cards left, can be avoided %v", s.RoomsCleared(), s.RoomNumber(), s.DungeonSize(), s.CanAvoid())
			}
		}
	})
}

func TestAvoid(t *testing.T) {
	each(t, func(t *testing.T, r engine.Ruleset) {
		s := play(t, openDeck(t, r, "2D 3D 4D 5D 6D 7D 8D 9D 10D 2H"), "AVOID") // the first room
		wantRoom(t, s, "6D 7D 8D 9D")
		if got := strings.Join(cardNames(s.Dungeon()), " "); got != "10D 2H 2D 3D 4D 5D" {
			t.Errorf("the dungeon is %s", got)
		}
		if len(s.Discard()) != 0 || s.RoomsCleared() != 0 || s.RoomNumber() != 1 || s.Moves() != 1 {
			t.Errorf("discard %v, %d cleared, room %d, %d moves", s.Discard(), s.RoomsCleared(), s.RoomNumber(), s.Moves())
		}
		wantIllegal(t, s, "AVOID", engine.ReasonRoomBeforeAvoided)
		s = play(t, s, "EQUIP 6D")
		wantIllegal(t, s, "AVOID", engine.ReasonRoomFaced)
		s = play(t, s, "EQUIP 7D")
		wantIllegal(t, s, "AVOID", engine.ReasonRoomFaced)
		s = play(t, s, "EQUIP 8D")
		wantRoom(t, s, "9D 10D 2H 2D")
		s = play(t, s, "AVOID") // faced in between; the carried card goes under too
		wantRoom(t, s, "3D 4D 5D 9D")
		wantIllegal(t, s, "AVOID", engine.ReasonRoomBeforeAvoided)
	})
	t.Run("with an empty dungeon", func(t *testing.T) {
		s := play(t, openDeck(t, preset(t, "classic"), "2D 3D 4D 5D"), "AVOID")
		wantRoom(t, s, "2D 3D 4D 5D")
		wantIllegal(t, s, "AVOID", engine.ReasonRoomBeforeAvoided)
	})
	t.Run("in every room of mid-play", func(t *testing.T) {
		s := openDeck(t, preset(t, "classic"), "2C 2D 2H 3D 4D")
		wantIllegal(t, play(t, s, "BARE 2C"), "AVOID", engine.ReasonRoomFaced)
		wantIllegal(t, play(t, s, "DRINK 2H"), "AVOID", engine.ReasonRoomFaced)
		wantIllegal(t, play(t, s, "EQUIP 2D"), "AVOID", engine.ReasonRoomFaced)
	})
}

func TestPotions(t *testing.T) {
	each(t, func(t *testing.T, r engine.Ruleset) {
		s := play(t, openDeck(t, r, "10C 5H 6H 7H 2H 2D 3D 4D 5D"), "BARE 10C", "DRINK 5H")
		wantHealth(t, s, 15)
		s = play(t, s, "DRINK 6H") // wasted, but taken
		wantHealth(t, s, 15)
		wantRoom(t, s, "7H 2H 2D 3D")
		s = play(t, s, "DRINK 2H") // a fresh allowance
		wantHealth(t, s, 17)
		s = play(t, s, "DRINK 7H", "EQUIP 2D")
		wantHealth(t, s, 17)
	})
	t.Run("never above 20", func(t *testing.T) {
		s := play(t, openDeck(t, preset(t, "classic"), "2C 10H 2D 3D 4D"), "BARE 2C", "DRINK 10H")
		wantHealth(t, s, 20)
	})
	t.Run("at full health the allowance is used too", func(t *testing.T) {
		s := play(t, openDeck(t, preset(t, "classic"), "2H 2C 10H 3D 4D"), "DRINK 2H", "BARE 2C", "DRINK 10H")
		wantHealth(t, s, 18)
	})
	t.Run("nothing revives", func(t *testing.T) {
		s := play(t, openDeck(t, preset(t, "classic"), "10C QC 10H 2D 3D"), "BARE 10C", "BARE QC")
		wantHealth(t, s, -2)
		wantEnd(t, s, engine.StatusLost, -2)
		if _, err := s.Decide(move(t, "DRINK 10H"), nil); !errors.Is(err, engine.ErrGameOver) {
			t.Errorf("a potion after death: %v", err)
		}
	})
}

func TestWeapons(t *testing.T) {
	weapon := func(t *testing.T, s engine.State) engine.WeaponView {
		t.Helper()
		w, ok := s.Weapon()
		if !ok {
			t.Fatal("no weapon")
		}
		return w
	}
	each(t, func(t *testing.T, r engine.Ruleset) {
		limitAfter := func(kill int) int {
			if r.WeaponWear == engine.WearBelowLastKill {
				return kill - 1
			}
			return kill
		}
		s := openDeck(t, r, "5D JC 3C AS 9C 4D 2C KC 6D 7D 8D")
		wantIllegal(t, s, "HIT 3C", engine.ReasonNoWeapon)
		s = play(t, s, "EQUIP 5D")
		if w := weapon(t, s); w.Limited || w.Power != 5 || len(w.Kills) != 0 {
			t.Errorf("a fresh weapon is %+v", w)
		}
		s = play(t, s, "HIT JC")
		if w := weapon(t, s); !w.Limited || w.Limit != limitAfter(11) || w.Power != 5 {
			t.Errorf("after a jack the weapon is %+v", w)
		}
		s = play(t, s, "BARE 3C") // bare hands neither lower the limit nor use the weapon
		wantHealth(t, s, 20-6-3)
		if w := weapon(t, s); w.Limit != limitAfter(11) || strings.Join(cardNames(w.Kills), " ") != "JC" {
			t.Errorf("after a bare-handed fight the weapon is %+v", w)
		}
		wantRoom(t, s, "AS 9C 4D 2C")
		wantIllegal(t, s, "HIT AS", engine.ReasonWeaponWorn)
		s = play(t, s, "HIT 9C") // the damage is by the weapon's own value, not by what it killed
		wantHealth(t, s, 20-6-3-4)
		wantIllegal(t, s, "HIT AS", engine.ReasonWeaponWorn)
		s = play(t, s, "HIT 2C") // a weaker monster costs nothing and heals nothing
		wantHealth(t, s, 7)
		if got := strings.Join(cardNames(s.Discard()), " "); got != "3C" {
			t.Errorf("the discard pile is %s", got)
		}
		s = play(t, s, "EQUIP 4D")
		if got := strings.Join(cardNames(s.Discard()), " "); got != "3C 5D JC 9C 2C" {
			t.Errorf("the discard pile is %s", got)
		}
		wantHealth(t, s, 7)
		if w := weapon(t, s); w.Limited || len(w.Kills) != 0 || w.Card.String() != "4D" {
			t.Errorf("the limit survives a new weapon: %+v", w)
		}
		facts := decide(t, s, shortMove(t, "HIT KC"))
		if facts[0].Damage != 9 {
			t.Errorf("a king costs %d, want 9", facts[0].Damage)
		}
	})
}

func TestDeath(t *testing.T) {
	each(t, func(t *testing.T, r engine.Ruleset) {
		s := play(t, openDeck(t, r, "10C 10S 2D 10H 3C"), "BARE 10C", "BARE 10S") // exactly 0
		wantHealth(t, s, 0)
		if s.Status() != engine.StatusLost || len(s.Legal(nil)) != 0 {
			t.Errorf("%v at health 0, legal %v", s.Status(), s.Legal(nil))
		}
		s = play(t, openDeck(t, r, "10C KC AC"), "BARE 10C", "BARE KC")
		if s.Status() != engine.StatusLost || s.Health() != -3 {
			t.Errorf("%v at health %d, not clamped", s.Status(), s.Health())
		}
		// The third card of a room kills: the room is not cleared and nothing is dealt or won.
		s = play(t, openDeck(t, r, "10C 2C AC 2D 3D"), "BARE 10C", "BARE 2C", "BARE AC")
		if s.Status() != engine.StatusLost || s.RoomsCleared() != 0 || s.RoomNumber() != 1 || s.DungeonSize() != 1 {
			t.Errorf("%v, %d rooms cleared, %d cards left", s.Status(), s.RoomsCleared(), s.DungeonSize())
		}
		// The very last card kills.
		s = play(t, openDeck(t, r, "10C AC"), "BARE 10C", "BARE AC")
		if s.Status() != engine.StatusLost || s.RoomsCleared() != 0 {
			t.Errorf("%v on the last card", s.Status())
		}
		// A monster slain with the weapon that does not save lies on it and is not left.
		s = openDeck(t, r, "2D AC KC 3D 2C")
		s = play(t, s, "EQUIP 2D", "HIT AC", "HIT KC")
		over, _ := s.Over()
		if w, _ := s.Weapon(); s.Status() != engine.StatusLost || over.RoomMonsterValue != 0 || over.DungeonMonsterValue != 2 || len(w.Kills) != 2 {
			t.Errorf("%v: %+v", s.Status(), over)
		}
	})
}

// The bonus is for the last card taken in the last move, drunk at the right health, and for nothing else.
func TestBonus(t *testing.T) {
	fill := []string{"EQUIP 2D", "EQUIP 3D", "EQUIP 4D"}
	tests := []struct {
		name, deck  string
		moves       []string
		full, spill int // the score under either bonus
	}{
		{"the potion is not last", "2D 3D 4D 5H 5D", append(fill, "DRINK 5H", "EQUIP 5D"), 20, 20},
		{"below full health", "10C 2D 3D 4D 5H", append([]string{"BARE 10C"}, append(fill, "DRINK 5H")...), 15, 15},
		{"at full health", "2D 3D 4D 5D 5H", append(fill, "EQUIP 5D", "DRINK 5H"), 25, 25},
		{"wasted at full health", "2D 3D 4D 5H 6H", append(fill, "DRINK 5H", "DRINK 6H"), 26, 20},
		{"wasted below full health", "10C 2D 3D 4D 5H 6H", append([]string{"BARE 10C"}, append(fill, "DRINK 5H", "DRINK 6H")...), 15, 15},
		{"never drunk", "2D 3D 4D 5D", append(fill, "EQUIP 5D"), 20, 20},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := preset(t, "classic")
			wantEnd(t, play(t, openDeck(t, r, test.deck), test.moves...), engine.StatusWon, test.full)
			r.WinBonus = engine.BonusLastPotionOverflow
			wantEnd(t, play(t, openDeck(t, r, test.deck), test.moves...), engine.StatusWon, test.spill)
		})
	}
	t.Run("a leftover potion is not taken", func(t *testing.T) {
		r := preset(t, "tabletop")
		wantEnd(t, play(t, openDeck(t, r, "2D 3D 4D 10H 9H"), fill...), engine.StatusWon, 20)
		wantEnd(t, play(t, openDeck(t, r, "2D 3D 10H 4D"), "EQUIP 2D", "EQUIP 3D", "DRINK 10H"), engine.StatusWon, 30)
	})
}

func TestIllegalMovesSayWhy(t *testing.T) {
	s := openDeck(t, preset(t, "classic"), "2C 2D 2H 3C 3D")
	wantIllegal(t, s, "EQUIP 3D", engine.ReasonCardNotInRoom) // in the dungeon
	wantIllegal(t, s, "EQUIP 9D", engine.ReasonCardNotInRoom) // in no zone
	if err := wantIllegal(t, s, "EQUIP 2C", engine.ReasonWrongRole); !err.NeedRoles.Has(engine.RoleWeapon) {
		t.Errorf("needs %v, want a weapon", err.NeedRoles)
	}
	wantIllegal(t, s, "DRINK 2D", engine.ReasonWrongRole)
	wantIllegal(t, s, "BARE 2H", engine.ReasonWrongRole)
	wantIllegal(t, s, "HIT 2D", engine.ReasonWrongRole)
	for _, m := range []engine.Move{{}, {Kind: 200}, {Kind: engine.MoveAvoid, Card: s.Room()[0]}, {Kind: 0, Card: s.Room()[0]}} {
		var illegal *engine.IllegalMoveError
		if _, err := s.Decide(m, nil); !errors.As(err, &illegal) || illegal.Reason != engine.ReasonNotAMove {
			t.Errorf("%v: error %v", m, err)
		}
	}
	s = play(t, s, "EQUIP 2D")
	wantIllegal(t, s, "EQUIP 2D", engine.ReasonCardNotInRoom) // in hand
}

func TestResign(t *testing.T) {
	fresh := newGame(t, preset(t, "classic"), engine.Seed{1})
	if facts, err := fresh.Resign(nil); !errors.Is(err, engine.ErrNotStarted) || len(facts) != 0 {
		t.Errorf("resigning before the start: %v", err)
	}
	if facts, err := fresh.Decide(engine.Move{Kind: engine.MoveAvoid}, nil); !errors.Is(err, engine.ErrNotStarted) || len(facts) != 0 {
		t.Errorf("a move before the start: %v", err)
	}
	s := play(t, open(t, fresh), "AVOID")
	if facts := s.Open(nil); len(facts) != 0 {
		t.Errorf("a game opens twice: %v", facts)
	}
	facts, err := s.Resign(nil)
	if err != nil {
		t.Fatal(err)
	}
	s = fold(t, s, facts)
	over, ok := s.Over()
	if s.Status() != engine.StatusAbandoned || !ok || over.Moves != 1 || over.LastCard != engine.NoCard || over.Health != 20 {
		t.Errorf("%v: %+v", s.Status(), over)
	}
	if score, ok := s.Score(); ok {
		t.Errorf("an abandoned game scores %d", score)
	}
	if facts, err := s.Resign(nil); !errors.Is(err, engine.ErrGameOver) || len(facts) != 0 {
		t.Errorf("resigning twice: %v", err)
	}
}

// The order of a command's facts is part of the contract.
func TestFactOrder(t *testing.T) {
	kinds := func(facts []engine.Fact) string {
		var list []string
		for _, f := range facts {
			list = append(list, f.Kind.String())
		}
		return strings.Join(list, " ")
	}
	classic := preset(t, "classic")
	s, err := engine.NewGameWithDeck(classic, cards(t, "2D 3H 4H 3D 4C"))
	if err != nil {
		t.Fatal(err)
	}
	steps := []struct{ move, want string }{
		{"AVOID", "ROOM_AVOIDED ROOM_DEALT"}, // 4C 2D 3H 4H, then 3D
		{"DRINK 3H", "POTION_DRUNK"},
		{"DRINK 4H", "POTION_WASTED"},
		{"EQUIP 2D", "WEAPON_EQUIPPED ROOM_CLEARED ROOM_DEALT"},
		{"HIT 4C", "MONSTER_FOUGHT"},
		{"EQUIP 3D", "WEAPON_EQUIPPED ROOM_CLEARED GAME_OVER"},
	}
	if got := kinds(s.Open(nil)); got != "GAME_STARTED ROOM_DEALT" {
		t.Errorf("opening: %s", got)
	}
	s = open(t, s)
	for _, step := range steps {
		facts := decide(t, s, shortMove(t, step.move))
		if got := kinds(facts); got != step.want {
			t.Errorf("%s: %s, want %s", step.move, got, step.want)
		}
		s = fold(t, s, facts)
	}
	s = openDeck(t, classic, "10C 2C AC 2D 3D")
	s = play(t, s, "BARE 10C", "BARE 2C")
	if got := kinds(decide(t, s, shortMove(t, "BARE AC"))); got != "MONSTER_FOUGHT GAME_OVER" {
		t.Errorf("death: %s", got)
	}
}
