package transcript_test

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
	"github.com/scoundrel-game/scoundrel/pkg/transcript"
)

// fixtures are the names of files with games that a server has run, which together hold everything that
// can happen.
func fixtures(t testing.TB, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/" + pattern)
	if err != nil || len(names) == 0 {
		t.Fatal("no fixtures", err)
	}
	return names
}

// load reads a file with a game.
func load(t testing.TB, name string) *gamev1.GetGameHistoryResponse {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	h, err := transcript.Parse(data)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return h
}

// rulesets returns every preset with every set of variants, and with some depth and companion's health.
func rulesets() (list []engine.Ruleset) {
	for _, p := range engine.Presets() {
		for set := range engine.AllVariants + 1 {
			r := p.Rules
			r.Variants, r.Depth = set, uint8(len(list)%4)
			if set.Has(engine.VariantHomeRules) {
				r.CompanionHealth = uint8(len(list) % 5)
			}
			if r.Validate() == nil {
				list = append(list, r)
			}
		}
	}
	return list
}

// play plays a game by chance, as the game service tells it when it is over: number tells one from another.
func play(t testing.TB, rules engine.Ruleset, number uint64) *gamev1.GetGameHistoryResponse {
	t.Helper()
	chance := rand.New(rand.NewPCG(number, 0))
	var seed engine.Seed
	for i := range seed {
		seed[i] = byte(chance.Uint32())
	}
	s, err := engine.NewGame(rules, seed)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 12, 1, 8, 0, 0, chance.IntN(1e9), time.UTC)
	over := record.Over{Mode: eventv1.GameMode(1 + number%3), StartedAt: now}
	h := &gamev1.GetGameHistoryResponse{GameId: fmt.Sprintf("game-%d", number), PlayerId: "ada", Seed: hex.EncodeToString(seed[:])}
	for _, c := range s.Dungeon() {
		h.Deck = append(h.Deck, c.String())
	}
	enter := func(move engine.Move, facts []engine.Fact) {
		e := &gamev1.HistoryEntry{Version: uint64(len(h.GetEntries()) + 1), RecordedAt: timestamppb.New(now), RulesRevision: engine.RulesRevision}
		if move != (engine.Move{}) {
			e.Move = record.MoveToProto(move)
		}
		for _, f := range facts {
			m := &eventv1.Fact{Kind: &eventv1.Fact_GameStarted{GameStarted: &eventv1.GameStarted{
				Mode: over.Mode, Ruleset: record.RulesetToProto(rules), Health: int32(f.Health),
				DungeonSize: uint32(len(h.GetDeck())), Commitment: seed.Commitment(),
			}}}
			if f.Kind != engine.FactGameStarted {
				if m, err = record.FactToProto(f, over); err != nil {
					t.Fatal(err)
				}
			}
			e.Facts = append(e.Facts, m)
		}
		h.Entries = append(h.Entries, e)
		if s, err = s.EvolveAll(facts); err != nil {
			t.Fatal(err)
		}
		// Not every clock goes forward.
		now = now.Add(time.Duration(chance.NormFloat64()*1e9) + 1e9)
	}
	enter(engine.Move{}, s.Open(nil))
	for s.Status() == engine.StatusActive {
		var move engine.Move
		var facts []engine.Fact
		if chance.IntN(150) == 0 {
			facts, err = s.Resign(nil)
		} else {
			move = choose(t, &s, chance)
			facts, err = s.Decide(move, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		enter(move, facts)
	}
	if score, ok := s.Score(); ok {
		h.Score = new(int32(score))
	}
	return h
}

// choose chooses by chance among the moves that leave the most health, so that some games are won.
func choose(t testing.TB, s *engine.State, chance *rand.Rand) engine.Move {
	t.Helper()
	moves := s.Legal(nil)
	best, health := moves[:0:0], -100
	for _, m := range moves {
		p, err := s.Preview(m)
		if err != nil {
			t.Fatal(err)
		}
		if p.HealthAfter > health {
			best, health = best[:0], p.HealthAfter
		}
		if p.HealthAfter == health || chance.IntN(50) == 0 {
			best = append(best, m)
		}
	}
	return best[chance.IntN(len(best))]
}

// mutate calls try after each change of one scalar of m, and undoes the change. path leads to the scalar,
// such as "entries[3].move.kind".
func mutate(m protoreflect.Message, path string, try func(path string)) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		at := path + f.JSONName()
		had, before := m.Has(f), m.Get(f)
		switch {
		case f.IsList() && f.Message() != nil:
			for j := range before.List().Len() {
				mutate(before.List().Get(j).Message(), fmt.Sprintf("%s[%d].", at, j), try)
			}
		case f.IsList():
			list := before.List()
			for j := range list.Len() {
				old := list.Get(j)
				for _, v := range otherValues(f, old) {
					list.Set(j, v)
					try(fmt.Sprintf("%s[%d]", at, j))
				}
				list.Set(j, old)
			}
		case f.Message() != nil:
			if had {
				mutate(before.Message(), at+".", try)
			}
		default:
			for _, v := range otherValues(f, before) {
				m.Set(f, v)
				try(at)
			}
			m.Clear(f)
			if had {
				if f.HasPresence() {
					try(at)
				}
				m.Set(f, before)
			}
		}
	}
}

// otherValues are values that a field could have instead.
func otherValues(f protoreflect.FieldDescriptor, v protoreflect.Value) (list []protoreflect.Value) {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return []protoreflect.Value{protoreflect.ValueOfBool(!v.Bool())}
	case protoreflect.EnumKind:
		values := f.Enum().Values()
		for i := range values.Len() {
			if n := values.Get(i).Number(); n != v.Enum() {
				list = append(list, protoreflect.ValueOfEnum(n))
			}
		}
		return list
	case protoreflect.Int32Kind:
		return []protoreflect.Value{protoreflect.ValueOfInt32(int32(v.Int()) ^ 1)}
	case protoreflect.Int64Kind:
		return []protoreflect.Value{protoreflect.ValueOfInt64(v.Int() ^ 1)}
	case protoreflect.Uint32Kind:
		return []protoreflect.Value{protoreflect.ValueOfUint32(uint32(v.Uint()) ^ 1)}
	case protoreflect.Uint64Kind:
		return []protoreflect.Value{protoreflect.ValueOfUint64(v.Uint() ^ 1)}
	case protoreflect.StringKind:
		text := v.String()
		if card, err := engine.ParseCard(text); err == nil {
			other := card%54 + 1
			return []protoreflect.Value{protoreflect.ValueOfString(other.String()), protoreflect.ValueOfString("")}
		}
		list = append(list, protoreflect.ValueOfString(text+"0"))
		if text != "" {
			last := len(text) - 1
			list = append(list, protoreflect.ValueOfString(text[:last]+string(text[last]^1)))
		}
	}
	return list
}

// seedBits calls try with each game that has one bit of the seed changed.
func seedBits(t testing.TB, h *gamev1.GetGameHistoryResponse, try func(path string)) {
	t.Helper()
	seed, err := hex.DecodeString(h.GetSeed())
	if err != nil {
		t.Fatal(err)
	}
	for bit := range 8 * len(seed) {
		seed[bit/8] ^= 1 << (bit % 8)
		h.Seed = hex.EncodeToString(seed)
		try(fmt.Sprintf("seed bit %d", bit))
		seed[bit/8] ^= 1 << (bit % 8)
	}
	h.Seed = hex.EncodeToString(seed)
}
