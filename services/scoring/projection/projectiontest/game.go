package projectiontest

import (
	"crypto/sha256"
	"encoding/hex"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// Start is when the games of [NewGame] start.
var Start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// Classic is the board of all people's games by the classic rules.
var Classic = projection.Board{RulesetID: "classic", ActorKind: eventv1.ActorKind_ACTOR_KIND_HUMAN, Period: projection.AllTime}

// sequence gives every game a place of its own in the log.
var sequence atomic.Uint64

// NewGame returns a ranked game that was won or lost as its score tells.
func NewGame(player, ruleset string, score int, moves uint32) projection.Game {
	g := projection.Game{
		GameID: eventlog.NewGameID(Start).String(), PlayerID: player, RulesetID: ruleset,
		ActorKind: eventv1.ActorKind_ACTOR_KIND_HUMAN, Mode: eventv1.GameMode_GAME_MODE_RANDOM, Outcome: rulesv1.Outcome_OUTCOME_WON,
		Score: score, Moves: moves, StartedAt: Start, EndedAt: Start.Add(time.Hour), Stream: "S", Sequence: sequence.Add(1),
	}
	if score <= 0 {
		g.Outcome = rulesv1.Outcome_OUTCOME_LOST
	}
	return g
}

// Started returns the first event of a game, from which the projection computes g
// again.
func Started(t testing.TB, g projection.Game) eventlog.Event {
	t.Helper()
	rules, err := engine.ParseRulesetID(g.RulesetID)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(g.GameID))
	data, err := proto.Marshal(&eventv1.Record{
		EventId: sum[:16], GameId: g.GameID, PlayerId: g.PlayerID, ActorKind: g.ActorKind, Version: 1, RecordedAt: timestamppb.New(g.StartedAt),
		Facts: []*eventv1.Fact{{Kind: &eventv1.Fact_GameStarted{GameStarted: &eventv1.GameStarted{Mode: g.Mode, Ruleset: record.RulesetToProto(rules), Health: 20}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return eventlog.Event{ID: hex.EncodeToString(sum[:16]), Version: 1, Type: record.TypeGameStarted, Data: data}
}

// Event returns an event of a game by the rules "classic" or "strict": its last
// one, from which the projection computes g again, or an earlier one.
func Event(t testing.TB, g projection.Game, version uint64, last bool) eventlog.Event {
	t.Helper()
	sum := sha256.Sum256([]byte(g.GameID + string(rune(version))))
	r := &eventv1.Record{
		EventId: sum[:16], GameId: g.GameID, PlayerId: g.PlayerID, ActorKind: g.ActorKind, Version: version,
		RecordedAt: timestamppb.New(g.EndedAt), Facts: []*eventv1.Fact{{Kind: &eventv1.Fact_RoomCleared{RoomCleared: &eventv1.RoomCleared{}}}},
	}
	if last {
		rules, err := engine.ParseRulesetID(g.RulesetID)
		if err != nil {
			t.Fatal(err)
		}
		over := &eventv1.GameOver{
			Outcome: g.Outcome, Ruleset: record.RulesetToProto(rules), Moves: g.Moves, StartedAt: timestamppb.New(g.StartedAt), Mode: g.Mode,
		}
		switch {
		case g.Score > engine.MaxHealth: // A last potion made the rest.
			over.Health, over.LastCardUse = engine.MaxHealth, eventv1.LastCardUse_LAST_CARD_USE_POTION_DRUNK
			over.LastCard = map[int]string{22: "2H", 23: "3H", 24: "4H", 25: "5H", 26: "6H", 27: "7H", 28: "8H", 29: "9H", 30: "10H"}[g.Score]
		case g.Score > 0:
			over.Health = int32(g.Score)
		default:
			over.DungeonMonsterValue = uint32(-g.Score)
		}
		r.Facts = append(r.Facts, &eventv1.Fact{Kind: &eventv1.Fact_GameOver{GameOver: over}})
	}
	data, err := proto.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return eventlog.Event{ID: hex.EncodeToString(sum[:16]), Version: version, Type: record.TypeMovePlayed, Data: data}
}
