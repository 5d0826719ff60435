package engine

// WeaponWear says which monsters a weapon may still hit once it has a kill. The zero value is unset.
type WeaponWear uint8

// The values of the option weapon_wear.
const (
	// WearAtMostLastKill allows monsters of the last kill's value or less.
	WearAtMostLastKill WeaponWear = iota + 1
	// WearBelowLastKill allows only monsters of less value than the last kill.
	WearBelowLastKill
)

// Ending says when a game is won. The zero value is unset.
type Ending uint8

// The values of the option ending.
const (
	// EndingPlayAllCards wins when the last, short room has been emptied.
	EndingPlayAllCards Ending = iota + 1
	// EndingStopWhenRoomCannotFill wins once a full room is faced and the dungeon cannot fill the next.
	EndingStopWhenRoomCannotFill
)

// WinBonus says when the last potion adds its value to a won game's score. The zero value is unset.
type WinBonus uint8

// The values of the option win_bonus.
const (
	// BonusLastPotionAtFullHealth pays when the game ends at exactly full health with a potion as the
	// last card taken, even a wasted one.
	BonusLastPotionAtFullHealth WinBonus = iota + 1
	// BonusLastPotionOverflow pays when the last card taken is a potion that would have healed beyond
	// full health.
	BonusLastPotionOverflow
)

// LossScore says what a lost game scores. The zero value is unset.
type LossScore uint8

// The values of the option loss_score.
const (
	// LossHealthMinusDungeon takes the monsters left in the dungeon from the final health.
	LossHealthMinusDungeon LossScore = iota + 1
	// LossHealthMinusDungeonAndRoom takes those left in the room as well.
	LossHealthMinusDungeonAndRoom
	// LossDungeonAndRoomOnly counts the monsters left in dungeon and room, and no health.
	LossDungeonAndRoomOnly
)

// Option describes one option of a ruleset for people and for clients that list rulesets.
type Option struct {
	Name   string        // as in the specification: "weapon_wear"
	Text   string        // the question that the option answers
	Values []OptionValue // in the order of the constants
}

// OptionValue describes one value of an [Option].
type OptionValue struct {
	Name string // as in the specification: "AT_MOST_LAST_KILL"
	Word string // how the value is written in a ruleset id: "atmost"
	Text string // one sentence for players
}

// The options' table: the values of each option stand in the order of its constants.
var (
	weaponWear = Option{"weapon_wear", "Which monsters may a weapon hit after a kill?", []OptionValue{
		{"AT_MOST_LAST_KILL", "atmost", "After a kill a weapon hits only monsters of the same value or less."},
		{"BELOW_LAST_KILL", "below", "After a kill a weapon hits only monsters of a lower value; an equal one is too strong."},
	}}
	ending = Option{"ending", "When is the game won?", []OptionValue{
		{"PLAY_ALL_CARDS", "playall", "You win when every card of the dungeon has been taken, a short last room included."},
		{"STOP_WHEN_ROOM_CANNOT_FILL", "stopshort", "You win as soon as you have faced a room and too few cards are left to fill the next one."},
	}}
	winBonus = Option{"win_bonus", "When does a last potion raise the score?", []OptionValue{
		{"LAST_POTION_AT_FULL_HEALTH", "fullhealth", "If the last card you take is a potion and you end with 20 health, its value is added to the score."},
		{"LAST_POTION_OVERFLOW", "overflow", "If the last card you take is a potion that heals past 20, its value is added to the score."},
	}}
	lossScore = Option{"loss_score", "What does a lost game score?", []OptionValue{
		{"HEALTH_MINUS_DUNGEON", "dungeon", "Your final health minus every monster still face down in the dungeon."},
		{"HEALTH_MINUS_DUNGEON_AND_ROOM", "dungeonroom", "Your final health minus every monster left in the dungeon and in the room."},
		{"DUNGEON_AND_ROOM_ONLY", "leftonly", "Minus every monster left in the dungeon and in the room; your health does not count."},
	}}
)

// Options returns the table of options with their values and texts. The caller may change it.
func Options() []Option {
	table := []Option{weaponWear, ending, winBonus, lossScore}
	for i := range table {
		table[i].Values = append([]OptionValue(nil), table[i].Values...)
	}
	return table
}

// value returns the row of a value, and a row of "UNSET" texts for one that does not exist.
func (o *Option) value(v uint8) OptionValue {
	if v == 0 || int(v) > len(o.Values) {
		return OptionValue{Name: "UNSET", Word: "unset", Text: "No choice was made."}
	}
	return o.Values[v-1]
}

// parseOption finds the value whose text, picked from its row by field, is s.
func parseOption[T ~uint8](o *Option, s string, field func(OptionValue) string) (T, error) {
	for i, row := range o.Values {
		if field(row) == s {
			return T(i + 1), nil
		}
	}
	return 0, &RulesetError{Field: o.Name, Value: s, Problem: "is not one of the option's values"}
}

func optionName(v OptionValue) string { return v.Name }
func optionWord(v OptionValue) string { return v.Word }

// String returns the value's name, such as "AT_MOST_LAST_KILL", or "UNSET".
func (w WeaponWear) String() string { return weaponWear.value(uint8(w)).Name }

// Text returns the value's meaning as a sentence for players.
func (w WeaponWear) Text() string { return weaponWear.value(uint8(w)).Text }

// ParseWeaponWear reads the name that String writes; the error is a [*RulesetError].
func ParseWeaponWear(s string) (WeaponWear, error) {
	return parseOption[WeaponWear](&weaponWear, s, optionName)
}

// String returns the value's name, such as "PLAY_ALL_CARDS", or "UNSET".
func (e Ending) String() string { return ending.value(uint8(e)).Name }

// Text returns the value's meaning as a sentence for players.
func (e Ending) Text() string { return ending.value(uint8(e)).Text }

// ParseEnding reads the name that String writes; the error is a [*RulesetError].
func ParseEnding(s string) (Ending, error) { return parseOption[Ending](&ending, s, optionName) }

// String returns the value's name, such as "LAST_POTION_OVERFLOW", or "UNSET".
func (b WinBonus) String() string { return winBonus.value(uint8(b)).Name }

// Text returns the value's meaning as a sentence for players.
func (b WinBonus) Text() string { return winBonus.value(uint8(b)).Text }

// ParseWinBonus reads the name that String writes; the error is a [*RulesetError].
func ParseWinBonus(s string) (WinBonus, error) {
	return parseOption[WinBonus](&winBonus, s, optionName)
}

// String returns the value's name, such as "HEALTH_MINUS_DUNGEON", or "UNSET".
func (l LossScore) String() string { return lossScore.value(uint8(l)).Name }

// Text returns the value's meaning as a sentence for players.
func (l LossScore) Text() string { return lossScore.value(uint8(l)).Text }

// ParseLossScore reads the name that String writes; the error is a [*RulesetError].
func ParseLossScore(s string) (LossScore, error) {
	return parseOption[LossScore](&lossScore, s, optionName)
}
