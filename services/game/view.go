package game

import (
	"encoding/hex"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
)

// isTold tells whether the seed, the deck and where cards went in the dungeon may
// be told: the game is over, and nobody else plays the deck any more.
func isTold(g loaded, now time.Time) bool {
	return g.State.Engine.Status().Over() && (g.State.Mode != eventv1.GameMode_GAME_MODE_DAILY || isFinal(g, now))
}

// view returns what a player sees of a game. Until it is told, nothing here may
// depend on the dungeon's order or the seed, but for the commitment and, once it
// is over, the score.
func view(g loaded, told bool) (*gamev1.Game, error) {
	st := &g.State.Engine
	moves, err := legalMoves(st)
	if err != nil {
		return nil, fmt.Errorf("preview the moves of game %s: %w", g.Game, err)
	}
	rules := st.Rules()
	lowest, highest := rules.ScoreBounds()
	m := &gamev1.Game{
		GameId:      g.Game.String(),
		PlayerId:    g.PlayerID,
		Ruleset:     record.RulesetToProto(rules),
		RulesetId:   rules.ID(),
		Mode:        g.State.Mode,
		Status:      gamev1.GameStatus(st.Status()),
		Version:     g.Version,
		Health:      int32(st.Health()),
		ToTake:      uint32(st.ToTake()),
		RoomNumber:  uint32(st.RoomNumber()),
		CanAvoid:    st.CanAvoid(),
		DungeonSize: uint32(st.DungeonSize()),
		DiscardPile: cards(st.Discard()),
		LegalMoves:  moves,
		Commitment:  st.Seed().Commitment(),
		StartedAt:   timestamppb.New(g.State.StartedAt),
		Moves:       uint32(st.Moves()),
		ActorKind:   g.Actor,
		Companion:   companion(st),
		Bearer:      bearer(st),
		Score:       score(g),
		MinScore:    int32(lowest),
		MaxScore:    int32(highest),
	}
	for _, c := range st.Room() {
		m.Room = append(m.Room, &gamev1.RoomCard{Card: c.String(), Role: rulesv1.CardRole(rules.Role(c)), Value: uint32(c.Value())})
	}
	if told {
		m.Seed, m.Deck = seed(g), cards(g.State.Deck)
	}
	if w, ok := st.Weapon(); ok {
		m.Weapon = weapon(w)
	}
	if st.Status().Over() {
		m.EndedAt = timestamppb.New(g.RecordedAt)
	}
	return m, nil
}

func weapon(w engine.WeaponView) *gamev1.Weapon {
	m := &gamev1.Weapon{Card: w.Card.String(), Power: uint32(w.Power), Kills: cards(w.Kills), Upgrades: cards(w.Upgrades)}
	if w.Limited {
		limit := uint32(w.Limit)
		m.Limit = &limit
	}
	return m
}

func companion(st *engine.State) *gamev1.Companion {
	c, ok := st.Companion()
	if !ok {
		return nil
	}
	m := &gamev1.Companion{Card: c.Card.String(), Health: int32(c.Health)}
	if c.Weapon.Card != engine.NoCard {
		m.Weapon = weapon(c.Weapon)
	}
	return m
}

func bearer(st *engine.State) *gamev1.Bearer {
	c, potions, ok := st.Bearer()
	if !ok {
		return nil
	}
	return &gamev1.Bearer{Card: c.String(), Potions: cards(potions)}
}

// legalMoves returns all legal moves with what is known of their effect.
func legalMoves(st *engine.State) ([]*gamev1.LegalMove, error) {
	var list []*gamev1.LegalMove
	var buffer [engine.MaxLegalMoves]engine.Move
	for _, move := range st.Legal(buffer[:0]) {
		p, err := st.Preview(move)
		if err != nil {
			return nil, err
		}
		list = append(list, &gamev1.LegalMove{
			Move: record.MoveToProto(move), HealthAfter: int32(p.HealthAfter), Lethal: p.Lethal,
			Discards: cards(p.Loses), WastesPotion: p.WastesPotion,
			CompanionHealthAfter: int32(p.CompanionHealthAfter), CompanionDies: p.CompanionDies,
		})
	}
	return list, nil
}

// seed returns the seed in hex.
func seed(g loaded) string {
	s := g.State.Engine.Seed()
	return hex.EncodeToString(s[:])
}

// score returns the score of a game that was won or lost, nil otherwise.
func score(g loaded) *int32 {
	n, ok := g.State.Engine.Score()
	if !ok {
		return nil
	}
	score := int32(n)
	return &score
}

func cards(list []engine.Card) []string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.String()
	}
	return names
}
