package record

import (
	"errors"
	"fmt"
	"math"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
)

// ErrMalformed is the error of a stored message that makes no sense.
var ErrMalformed = errors.New("malformed record")

// The engine's enumerations and the stored ones share their numbers, which a
// test holds in place: both are for ever, and a table would be a third copy.

// RulesetToProto returns the message of a ruleset, its variants in the order of
// their numbers.
func RulesetToProto(r engine.Ruleset) *rulesv1.Ruleset {
	return &rulesv1.Ruleset{
		WeaponWear:      rulesv1.WeaponWear(r.WeaponWear),
		Ending:          rulesv1.Ending(r.Ending),
		WinBonus:        rulesv1.WinBonus(r.WinBonus),
		LossScore:       rulesv1.LossScore(r.LossScore),
		Depth:           uint32(r.Depth),
		Variants:        VariantsToProto(r.Variants),
		CompanionHealth: uint32(r.CompanionHealth),
	}
}

// RulesetFromProto returns the ruleset of a message, checked. Its error is the
// engine's, or wraps ErrMalformed where a number is out of every range.
func RulesetFromProto(m *rulesv1.Ruleset) (engine.Ruleset, error) {
	for _, n := range []int64{
		int64(m.GetWeaponWear()), int64(m.GetEnding()), int64(m.GetWinBonus()), int64(m.GetLossScore()), int64(m.GetDepth()),
		int64(m.GetCompanionHealth()),
	} {
		if n < 0 || n > math.MaxUint8 {
			return engine.Ruleset{}, fmt.Errorf("%w: ruleset value %d", ErrMalformed, n)
		}
	}
	r := engine.Ruleset{
		WeaponWear:      engine.WeaponWear(m.GetWeaponWear()),
		Ending:          engine.Ending(m.GetEnding()),
		WinBonus:        engine.WinBonus(m.GetWinBonus()),
		LossScore:       engine.LossScore(m.GetLossScore()),
		Depth:           uint8(m.GetDepth()),
		CompanionHealth: uint8(m.GetCompanionHealth()),
	}
	for _, v := range m.GetVariants() {
		if v < 1 || v > variantBits {
			return engine.Ruleset{}, fmt.Errorf("%w: variant %d", ErrMalformed, v)
		}
		r.Variants |= 1 << (v - 1)
	}
	return r, r.Validate()
}

// variantBits is how many variants an engine.VariantSet can hold; the variant of
// number n is its bit n-1.
const variantBits = 8

// VariantsToProto returns the numbers of a set's variants, ascending.
func VariantsToProto(set engine.VariantSet) (list []rulesv1.Variant) {
	for n := range rulesv1.Variant(variantBits) {
		if set>>n&1 != 0 {
			list = append(list, n+1)
		}
	}
	return list
}

// MoveToProto returns the message of a move.
func MoveToProto(m engine.Move) *rulesv1.Move {
	return &rulesv1.Move{Kind: rulesv1.MoveKind(m.Kind), Card: cardString(m.Card)}
}

// MoveFromProto returns the move of a message. Its error wraps ErrMalformed;
// whether the move is one, and takes a card, is the engine's to say.
func MoveFromProto(m *rulesv1.Move) (engine.Move, error) {
	if k := m.GetKind(); k <= 0 || k > math.MaxUint8 {
		return engine.Move{}, fmt.Errorf("%w: move kind %d", ErrMalformed, k)
	}
	card, err := cardFromString(m.GetCard())
	return engine.Move{Kind: engine.MoveKind(m.GetKind()), Card: card}, err
}

// Over is how a game ended: the engine's inputs of the score, and what only
// the service knows.
type Over struct {
	engine.Over
	// StartedAt is when the game was started.
	StartedAt time.Time
	// Mode is where its deck came from.
	Mode eventv1.GameMode
}

var outcomes = map[engine.Status]rulesv1.Outcome{
	engine.StatusWon:       rulesv1.Outcome_OUTCOME_WON,
	engine.StatusLost:      rulesv1.Outcome_OUTCOME_LOST,
	engine.StatusAbandoned: rulesv1.Outcome_OUTCOME_ABANDONED,
}

func overToProto(o Over) *eventv1.GameOver {
	return &eventv1.GameOver{
		Outcome:              outcomes[o.Outcome],
		Ruleset:              RulesetToProto(o.Rules),
		Health:               int32(o.Health),
		LastCard:             cardString(o.LastCard),
		LastCardUse:          eventv1.LastCardUse(o.LastUse),
		HealthBeforeLastCard: int32(o.LastHealthBefore),
		DungeonMonsterValue:  uint32(o.DungeonMonsterValue),
		RoomMonsterValue:     uint32(o.RoomMonsterValue),
		Moves:                uint32(o.Moves),
		StartedAt:            timestamppb.New(o.StartedAt),
		Mode:                 o.Mode,
	}
}

func overFromProto(m *eventv1.GameOver) (Over, error) {
	o := Over{Mode: m.GetMode(), StartedAt: m.GetStartedAt().AsTime()}
	for status, outcome := range outcomes {
		if outcome == m.GetOutcome() {
			o.Outcome = status
		}
	}
	if o.Outcome == 0 {
		return o, fmt.Errorf("%w: outcome %v", ErrMalformed, m.GetOutcome())
	}
	if use := m.GetLastCardUse(); use < 0 || use > math.MaxUint8 {
		return o, fmt.Errorf("%w: last card use %d", ErrMalformed, use)
	}
	var err error
	if o.Rules, err = RulesetFromProto(m.GetRuleset()); err != nil {
		return o, err
	}
	if o.LastCard, err = cardFromString(m.GetLastCard()); err != nil {
		return o, err
	}
	o.Health = int(m.GetHealth())
	o.LastUse = engine.LastUse(m.GetLastCardUse())
	o.LastHealthBefore = int(m.GetHealthBeforeLastCard())
	o.DungeonMonsterValue = int(m.GetDungeonMonsterValue())
	o.RoomMonsterValue = int(m.GetRoomMonsterValue())
	o.Moves = int(m.GetMoves())
	return o, nil
}

// cardString writes no card as the empty string.
func cardString(c engine.Card) string {
	if c == engine.NoCard {
		return ""
	}
	return c.String()
}

func cardFromString(s string) (engine.Card, error) {
	if s == "" {
		return engine.NoCard, nil
	}
	c, err := engine.ParseCard(s)
	if err != nil {
		return c, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return c, nil
}

// FactToProto returns the message of any fact but the first of a game, which
// carries more than the engine knows. It tells a position openly: what is stored
// must hide it. over supplies what the engine does not know of the last fact of
// a game; its engine.Over is ignored. The error wraps ErrMalformed.
func FactToProto(f engine.Fact, over Over) (*eventv1.Fact, error) {
	card := cardString(f.Card)
	var cards []string
	for _, c := range f.CardList() {
		cards = append(cards, c.String())
	}
	switch f.Kind {
	case engine.FactRoomDealt:
		return &eventv1.Fact{Kind: &eventv1.Fact_RoomDealt{RoomDealt: &eventv1.RoomDealt{Cards: cards, ToTake: uint32(f.ToTake), CanAvoid: f.CanAvoid}}}, nil
	case engine.FactRoomAvoided:
		return &eventv1.Fact{Kind: &eventv1.Fact_RoomAvoided{RoomAvoided: &eventv1.RoomAvoided{Cards: cards}}}, nil
	case engine.FactWeaponEquipped:
		return &eventv1.Fact{Kind: &eventv1.Fact_WeaponEquipped{WeaponEquipped: &eventv1.WeaponEquipped{Card: card}}}, nil
	case engine.FactPotionDrunk:
		return &eventv1.Fact{Kind: &eventv1.Fact_PotionDrunk{PotionDrunk: &eventv1.PotionDrunk{Card: card, Healed: int32(f.Healed), HealthBefore: int32(f.HealthBefore)}}}, nil
	case engine.FactPotionWasted:
		return &eventv1.Fact{Kind: &eventv1.Fact_PotionWasted{PotionWasted: &eventv1.PotionWasted{Card: card}}}, nil
	case engine.FactMonsterFought:
		return &eventv1.Fact{Kind: &eventv1.Fact_MonsterFought{MonsterFought: &eventv1.MonsterFought{
			Card: card, Fight: eventv1.FightKind(f.Means), Damage: int32(f.Damage), CompanionDamage: int32(f.CompanionDamage),
		}}}, nil
	case engine.FactRoomCleared:
		return &eventv1.Fact{Kind: &eventv1.Fact_RoomCleared{RoomCleared: &eventv1.RoomCleared{}}}, nil
	case engine.FactGameOver:
		over.Over = f.Over
		return &eventv1.Fact{Kind: &eventv1.Fact_GameOver{GameOver: overToProto(over)}}, nil
	case engine.FactCardDismissed:
		return &eventv1.Fact{Kind: &eventv1.Fact_CardDismissed{CardDismissed: &eventv1.CardDismissed{Card: card}}}, nil
	case engine.FactWeaponSold:
		return &eventv1.Fact{Kind: &eventv1.Fact_WeaponSold{WeaponSold: &eventv1.WeaponSold{Card: card, Healed: int32(f.Healed)}}}, nil
	case engine.FactWeaponStolen:
		return &eventv1.Fact{Kind: &eventv1.Fact_WeaponStolen{WeaponStolen: &eventv1.WeaponStolen{Card: card}}}, nil
	case engine.FactWeaponRepaired:
		return &eventv1.Fact{Kind: &eventv1.Fact_WeaponRepaired{WeaponRepaired: &eventv1.WeaponRepaired{Card: card, Removed: uint32(f.Count)}}}, nil
	case engine.FactWeaponUpgraded:
		return &eventv1.Fact{Kind: &eventv1.Fact_WeaponUpgraded{WeaponUpgraded: &eventv1.WeaponUpgraded{Card: card}}}, nil
	case engine.FactBearerRecruited:
		return &eventv1.Fact{Kind: &eventv1.Fact_BearerRecruited{BearerRecruited: &eventv1.BearerRecruited{Card: card}}}, nil
	case engine.FactPotionStored:
		return &eventv1.Fact{Kind: &eventv1.Fact_PotionStored{PotionStored: &eventv1.PotionStored{Card: card}}}, nil
	case engine.FactStoredPotionDrunk:
		return &eventv1.Fact{Kind: &eventv1.Fact_StoredPotionDrunk{StoredPotionDrunk: &eventv1.StoredPotionDrunk{Card: card, Healed: int32(f.Healed), HealthBefore: int32(f.HealthBefore)}}}, nil
	case engine.FactCompanionRecruited:
		return &eventv1.Fact{Kind: &eventv1.Fact_CompanionRecruited{CompanionRecruited: &eventv1.CompanionRecruited{Card: card, Health: int32(f.Health)}}}, nil
	case engine.FactCompanionEquipped:
		return &eventv1.Fact{Kind: &eventv1.Fact_CompanionEquipped{CompanionEquipped: &eventv1.CompanionEquipped{Card: card}}}, nil
	case engine.FactCompanionDied:
		return &eventv1.Fact{Kind: &eventv1.Fact_CompanionDied{CompanionDied: &eventv1.CompanionDied{Card: card}}}, nil
	case engine.FactCardRecycled:
		return &eventv1.Fact{Kind: &eventv1.Fact_CardRecycled{CardRecycled: &eventv1.CardRecycled{Card: card, Position: positionToProto(f)}}}, nil
	case engine.FactCardReturned:
		return &eventv1.Fact{Kind: &eventv1.Fact_CardReturned{CardReturned: &eventv1.CardReturned{Card: card, Position: positionToProto(f)}}}, nil
	}
	return nil, fmt.Errorf("%w: no message for fact %v", ErrMalformed, f.Kind)
}

func positionToProto(f engine.Fact) *eventv1.DungeonPosition {
	return &eventv1.DungeonPosition{Index: uint32(f.Position), StreamPosition: uint32(f.Drawn)}
}

// FactFromProto returns the engine's fact of a message, which must tell its
// position, if it has one, openly. Its error wraps ErrMalformed. Whether the fact
// fits the game is the engine's to say.
func FactFromProto(m *eventv1.Fact) (engine.Fact, error) {
	var f engine.Fact
	var card string
	var cards []string
	switch k := m.GetKind().(type) {
	case *eventv1.Fact_GameStarted:
		f = engine.Fact{Kind: engine.FactGameStarted, Health: int(k.GameStarted.GetHealth())}
	case *eventv1.Fact_RoomDealt:
		f = engine.Fact{Kind: engine.FactRoomDealt, ToTake: int(k.RoomDealt.GetToTake()), CanAvoid: k.RoomDealt.GetCanAvoid()}
		cards = k.RoomDealt.GetCards()
	case *eventv1.Fact_RoomAvoided:
		f = engine.Fact{Kind: engine.FactRoomAvoided}
		cards = k.RoomAvoided.GetCards()
	case *eventv1.Fact_WeaponEquipped:
		f, card = engine.Fact{Kind: engine.FactWeaponEquipped}, k.WeaponEquipped.GetCard()
	case *eventv1.Fact_PotionDrunk:
		f = engine.Fact{Kind: engine.FactPotionDrunk, Healed: int(k.PotionDrunk.GetHealed()), HealthBefore: int(k.PotionDrunk.GetHealthBefore())}
		card = k.PotionDrunk.GetCard()
	case *eventv1.Fact_PotionWasted:
		f, card = engine.Fact{Kind: engine.FactPotionWasted}, k.PotionWasted.GetCard()
	case *eventv1.Fact_MonsterFought:
		fought := k.MonsterFought
		if fight := fought.GetFight(); fight <= 0 || fight > eventv1.FightKind_FIGHT_KIND_WITH_COMPANION {
			return f, fmt.Errorf("%w: fight kind %d", ErrMalformed, fight)
		}
		f = engine.Fact{
			Kind: engine.FactMonsterFought, Means: engine.Means(fought.GetFight()), Damage: int(fought.GetDamage()),
			CompanionDamage: int(fought.GetCompanionDamage()),
		}
		card = fought.GetCard()
	case *eventv1.Fact_RoomCleared:
		f = engine.Fact{Kind: engine.FactRoomCleared}
	case *eventv1.Fact_GameOver:
		over, err := overFromProto(k.GameOver)
		return engine.Fact{Kind: engine.FactGameOver, Over: over.Over}, err
	case *eventv1.Fact_CardDismissed:
		f, card = engine.Fact{Kind: engine.FactCardDismissed}, k.CardDismissed.GetCard()
	case *eventv1.Fact_WeaponSold:
		f, card = engine.Fact{Kind: engine.FactWeaponSold, Healed: int(k.WeaponSold.GetHealed())}, k.WeaponSold.GetCard()
	case *eventv1.Fact_WeaponStolen:
		f, card = engine.Fact{Kind: engine.FactWeaponStolen}, k.WeaponStolen.GetCard()
	case *eventv1.Fact_WeaponRepaired:
		f, card = engine.Fact{Kind: engine.FactWeaponRepaired, Count: int(k.WeaponRepaired.GetRemoved())}, k.WeaponRepaired.GetCard()
	case *eventv1.Fact_WeaponUpgraded:
		f, card = engine.Fact{Kind: engine.FactWeaponUpgraded}, k.WeaponUpgraded.GetCard()
	case *eventv1.Fact_BearerRecruited:
		f, card = engine.Fact{Kind: engine.FactBearerRecruited}, k.BearerRecruited.GetCard()
	case *eventv1.Fact_PotionStored:
		f, card = engine.Fact{Kind: engine.FactPotionStored}, k.PotionStored.GetCard()
	case *eventv1.Fact_StoredPotionDrunk:
		f = engine.Fact{Kind: engine.FactStoredPotionDrunk, Healed: int(k.StoredPotionDrunk.GetHealed()), HealthBefore: int(k.StoredPotionDrunk.GetHealthBefore())}
		card = k.StoredPotionDrunk.GetCard()
	case *eventv1.Fact_CompanionRecruited:
		f = engine.Fact{Kind: engine.FactCompanionRecruited, Health: int(k.CompanionRecruited.GetHealth())}
		card = k.CompanionRecruited.GetCard()
	case *eventv1.Fact_CompanionEquipped:
		f, card = engine.Fact{Kind: engine.FactCompanionEquipped}, k.CompanionEquipped.GetCard()
	case *eventv1.Fact_CompanionDied:
		f, card = engine.Fact{Kind: engine.FactCompanionDied}, k.CompanionDied.GetCard()
	case *eventv1.Fact_CardRecycled:
		f, card = positioned(engine.FactCardRecycled, k.CardRecycled.GetPosition()), k.CardRecycled.GetCard()
	case *eventv1.Fact_CardReturned:
		f, card = positioned(engine.FactCardReturned, k.CardReturned.GetPosition()), k.CardReturned.GetCard()
	default:
		return f, fmt.Errorf("%w: a fact of an unknown kind", ErrMalformed)
	}
	if len(cards) > len(f.Cards) {
		return engine.Fact{}, fmt.Errorf("%w: %d cards in a room", ErrMalformed, len(cards))
	}
	for i, s := range cards {
		c, err := engine.ParseCard(s)
		if err != nil {
			return engine.Fact{}, fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		f.Cards[i] = c
	}
	var err error
	f.Card, err = cardFromString(card)
	return f, err
}

func positioned(kind engine.FactKind, m *eventv1.DungeonPosition) engine.Fact {
	return engine.Fact{Kind: kind, Position: int(m.GetIndex()), Drawn: int(m.GetStreamPosition())}
}
