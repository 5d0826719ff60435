package engine

// Preset is a named ruleset that players choose from.
type Preset struct {
	Name  string  // lower case, part of ruleset ids: "classic"
	Rules Ruleset // at depth 0
	Title string  // for a menu
	Text  string  // what a player needs to know to choose it
}

var presets = [...]Preset{
	{
		Name: "classic",
		Rules: Ruleset{
			WeaponWear: WearAtMostLastKill, Ending: EndingPlayAllCards,
			WinBonus: BonusLastPotionAtFullHealth, LossScore: LossHealthMinusDungeon,
		},
		Title: "Classic",
		Text: "The rules as first published, and the place to start. A used weapon still hits a monster equal to its " +
			"last kill, every card of the dungeon is played, and a loss counts only what you never turned up.",
	},
	{
		Name: "strict",
		Rules: Ruleset{
			WeaponWear: WearBelowLastKill, Ending: EndingPlayAllCards,
			WinBonus: BonusLastPotionAtFullHealth, LossScore: LossHealthMinusDungeon,
		},
		Title: "Strict weapons",
		Text:  "Classic, but weapons wear faster: each kill must be lower than the one before it, an equal monster is too much.",
	},
	{
		Name: "tabletop",
		Rules: Ruleset{
			WeaponWear: WearBelowLastKill, Ending: EndingStopWhenRoomCannotFill,
			WinBonus: BonusLastPotionAtFullHealth, LossScore: LossDungeonAndRoomOnly,
		},
		Title: "Tabletop",
		Text: "As played with real cards and a die for health. Weapons wear as in Strict, you are out of the dungeon once it " +
			"cannot fill a room any more, and a loss counts every monster you left behind, whatever your health.",
	},
	{
		Name: "digital",
		Rules: Ruleset{
			WeaponWear: WearAtMostLastKill, Ending: EndingPlayAllCards,
			WinBonus: BonusLastPotionOverflow, LossScore: LossHealthMinusDungeonAndRoom,
		},
		Title: "Digital",
		Text: "As in click-to-play versions. Weapons wear as in Classic, every room is played, the bonus needs a last " +
			"potion that heals past full health, and a loss counts the monsters in the room as well.",
	},
}

// Presets returns all presets, the default one, "classic", first. The caller may change the slice.
func Presets() []Preset { return append([]Preset(nil), presets[:]...) }

// PresetByName returns the preset with exactly that name, and whether there is one.
func PresetByName(name string) (Preset, bool) {
	for _, p := range presets {
		if p.Name == name {
			return p, true
		}
	}
	return Preset{}, false
}
