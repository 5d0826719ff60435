package record

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
)

// TestFactsSurviveStorage plays games of every preset and every combination of
// variants, and takes each fact through its stored bytes.
func TestFactsSurviveStorage(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	seen := map[engine.FactKind]bool{}
	for _, rules := range allRulesets() {
		for seed := range byte(20) {
			playOut(t, rules, engine.Seed{seed}, random, func(_ engine.State, _ engine.Move, facts []engine.Fact) {
				for _, f := range facts {
					seen[f.Kind] = true
					if f.Kind != engine.FactGameStarted {
						checkFact(t, f)
					}
				}
			})
		}
	}
	for kind := engine.FactGameStarted; kind <= engine.FactCardReturned; kind++ {
		if !seen[kind] {
			t.Errorf("%v never happened", kind)
		}
	}
}

// allRulesets returns every preset with every combination of variants.
func allRulesets() (all []engine.Ruleset) {
	for _, p := range engine.Presets() {
		for p.Rules.Variants = range engine.AllVariants + 1 {
			if p.Rules.Validate() == nil {
				all = append(all, p.Rules)
			}
		}
	}
	return all
}

// playOut plays a game with random moves and tells each step: the state after it,
// the move, and the facts.
func playOut(t *testing.T, rules engine.Ruleset, seed engine.Seed, random *rand.Rand, step func(engine.State, engine.Move, []engine.Fact)) {
	t.Helper()
	s, err := engine.NewGame(rules, seed)
	if err != nil {
		t.Fatal(err)
	}
	facts, move := s.Open(nil), engine.Move{}
	for {
		if s, err = s.EvolveAll(facts); err != nil {
			t.Fatal(err)
		}
		step(s, move, facts)
		legal := s.Legal(nil)
		if len(legal) == 0 {
			break
		}
		move = legal[random.IntN(len(legal))]
		if facts, err = s.Decide(move, nil); err != nil {
			t.Fatal(err)
		}
	}
	if !s.Status().Over() {
		t.Fatalf("%s, seed %x: the game did not end", rules.ID(), seed)
	}
}

func checkFact(t *testing.T, f engine.Fact) {
	t.Helper()
	started := time.Date(2026, 12, 1, 0, 0, 0, 1, time.UTC)
	m, err := FactToProto(f, Over{StartedAt: started, Mode: eventv1.GameMode_GAME_MODE_RANDOM})
	if err != nil {
		t.Fatal(err)
	}
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back eventv1.Fact
	if err := proto.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	got, err := FactFromProto(&back)
	if err != nil || got != f {
		t.Fatalf("stored %+v, read %+v, %v", f, got, err)
	}
	if over := back.GetGameOver(); over != nil && !over.GetStartedAt().AsTime().Equal(started) {
		t.Fatalf("started_at %v", over.GetStartedAt())
	}
}

func TestNonsenseFactsAreMalformed(t *testing.T) {
	for name, m := range map[string]*eventv1.Fact{
		"no kind":        {},
		"unknown card":   {Kind: &eventv1.Fact_WeaponEquipped{WeaponEquipped: &eventv1.WeaponEquipped{Card: "1X"}}},
		"too many cards": {Kind: &eventv1.Fact_RoomDealt{RoomDealt: &eventv1.RoomDealt{Cards: []string{"2C", "3C", "4C", "5C", "6C"}}}},
		"empty card":     {Kind: &eventv1.Fact_RoomAvoided{RoomAvoided: &eventv1.RoomAvoided{Cards: []string{""}}}},
		"fight kind":     {Kind: &eventv1.Fact_MonsterFought{MonsterFought: &eventv1.MonsterFought{Card: "2C", Fight: 258}}},
		"far position":   {Kind: &eventv1.Fact_CardRecycled{CardRecycled: &eventv1.CardRecycled{Card: "XX"}}},
		"no outcome":     {Kind: &eventv1.Fact_GameOver{GameOver: &eventv1.GameOver{}}},
	} {
		if _, err := FactFromProto(m); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNumbersAgree holds the engine's enumerations and the stored ones together.
func TestNumbersAgree(t *testing.T) {
	stored := map[string]struct {
		prefix string
		values map[string]int32
	}{
		"weapon_wear": {"WEAPON_WEAR_", rulesv1.WeaponWear_value},
		"ending":      {"ENDING_", rulesv1.Ending_value},
		"win_bonus":   {"WIN_BONUS_", rulesv1.WinBonus_value},
		"loss_score":  {"LOSS_SCORE_", rulesv1.LossScore_value},
	}
	checked := 0
	for _, o := range engine.Options() {
		for i, v := range o.Values {
			e, ok := stored[o.Name]
			if !ok {
				continue // depth is a number, not an enumeration
			}
			if got, ok := e.values[e.prefix+v.Name]; !ok || int(got) != i+1 {
				t.Errorf("%s %s: stored %d (%v), engine %d", o.Name, v.Name, got, ok, i+1)
			}
			checked++
		}
	}
	if checked != 9 {
		t.Errorf("checked %d values, want 9", checked)
	}
	for _, u := range []engine.LastUse{engine.LastUsePotionDrunk, engine.LastUsePotionWasted} {
		if got := eventv1.LastCardUse_value["LAST_CARD_USE_"+u.String()]; got != int32(u) {
			t.Errorf("%v: stored %d", u, got)
		}
	}
	for kind := engine.MoveAvoid; kind <= engine.MoveRecycle; kind++ {
		if got := rulesv1.MoveKind_value["MOVE_KIND_"+kind.String()]; got != int32(kind) {
			t.Errorf("%v: stored %d, engine %d", kind, got, kind)
		}
	}
	for means := engine.MeansBareHands; means <= engine.MeansCompanion; means++ {
		name := map[engine.Means]string{engine.MeansBareHands: "BARE_HANDED", engine.MeansWeapon: "WITH_WEAPON", engine.MeansCompanion: "WITH_COMPANION"}[means]
		if got := eventv1.FightKind_value["FIGHT_KIND_"+name]; got != int32(means) {
			t.Errorf("%v: stored %d, engine %d", means, got, means)
		}
	}
	for _, v := range engine.Variants() {
		n := rulesv1.Variant_value["VARIANT_"+strings.ToUpper(v.Name)]
		if list := VariantsToProto(v.Variant); len(list) != 1 || int32(list[0]) != n {
			t.Errorf("%s: stored %v, want %d", v.Name, list, n)
		}
	}
	for role := engine.RoleMonster; role <= engine.RoleFighter; role++ {
		if got := rulesv1.CardRole_value["CARD_ROLE_"+role.String()]; got != int32(role) {
			t.Errorf("%v: stored %d, engine %d", role, got, role)
		}
	}
}

func TestMovesSurviveStorage(t *testing.T) {
	for _, text := range []string{"AVOID", "EQUIP 5D", "DRINK 10H", "FIGHT_BARE_HANDED QS", "FIGHT_WITH_WEAPON AC"} {
		want, err := engine.ParseMove(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := MoveFromProto(MoveToProto(want)); err != nil || got != want {
			t.Errorf("%s comes back as %v, %v", text, got, err)
		}
	}
	for _, m := range []*rulesv1.Move{nil, {}, {Kind: 256}, {Kind: 257}, {Kind: -1}, {Kind: rulesv1.MoveKind_MOVE_KIND_EQUIP, Card: "5X"}} {
		if _, err := MoveFromProto(m); !errors.Is(err, ErrMalformed) {
			t.Errorf("%v: %v", m, err)
		}
	}
}
