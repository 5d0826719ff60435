package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
)

// vector is one line: a game, or with Paths a perft count.
type vector struct {
	Name       string   `json:"name"`
	Note       string   `json:"note"`
	Rules      rules    `json:"rules"`
	Seed       string   `json:"seed"`
	Commitment string   `json:"commitment"`
	Deck       []string `json:"deck"`
	Initial    *state   `json:"initial"`
	Steps      []step   `json:"steps"`
	Paths      []uint64 `json:"paths"`
}

type rules struct {
	WeaponWear      string   `json:"weapon_wear"`
	Ending          string   `json:"ending"`
	WinBonus        string   `json:"win_bonus"`
	LossScore       string   `json:"loss_score"`
	Variants        []string `json:"variants"`
	CompanionHealth uint8    `json:"companion_health"`
	Depth           uint8    `json:"depth"`
}

type step struct {
	Move    string `json:"move"`
	Illegal bool   `json:"illegal"`
	State   *state `json:"state"`
}

type state struct {
	Status       string   `json:"status"`
	Health       int      `json:"health"`
	Room         []string `json:"room"`
	Dungeon      int      `json:"dungeon"`
	RoomsCleared int      `json:"rooms_cleared"`
	Weapon       *weapon  `json:"weapon"`
	Legal        []string `json:"legal"`
	// Stored is there, perhaps empty, while a bearer is in the party.
	Stored    *[]string  `json:"stored,omitempty"`
	Companion *companion `json:"companion,omitempty"`
	Score     *int       `json:"score,omitempty"`
}

type companion struct {
	Card   string  `json:"card"`
	Health int     `json:"health"`
	Weapon *weapon `json:"weapon"`
}

type weapon struct {
	Card     string   `json:"card"`
	Kills    []string `json:"kills"`
	Upgrades []string `json:"upgrades"`
}

// parse reads one line. An object with a field that is not documented is an error.
func parse(line []byte) (vector, error) {
	var v vector
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&v); err != nil {
		return v, fmt.Errorf("not a vector: %w", err)
	}
	if decoder.More() {
		return v, errors.New("not a vector: more than one object on the line")
	}
	return v, nil
}

func (r rules) ruleset() (engine.Ruleset, error) {
	wear, err1 := engine.ParseWeaponWear(r.WeaponWear)
	ending, err2 := engine.ParseEnding(r.Ending)
	bonus, err3 := engine.ParseWinBonus(r.WinBonus)
	loss, err4 := engine.ParseLossScore(r.LossScore)
	set := engine.Ruleset{WeaponWear: wear, Ending: ending, WinBonus: bonus, LossScore: loss, Depth: r.Depth, CompanionHealth: r.CompanionHealth}
	err := errors.Join(err1, err2, err3, err4)
	for _, name := range r.Variants {
		v, badName := engine.ParseVariant(name)
		err = errors.Join(err, badName)
		set.Variants |= v
	}
	if err != nil {
		return set, err
	}
	return set, set.Validate()
}

func parseCards(names []string) ([]engine.Card, error) {
	cards := make([]engine.Card, len(names))
	for i, name := range names {
		var err error
		if cards[i], err = engine.ParseCard(name); err != nil {
			return nil, err
		}
	}
	return cards, nil
}
