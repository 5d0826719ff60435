package scoundrel

import (
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
)

// freeAddr returns an address that a server can take, and take again.
func freeAddr(t *testing.T) string {
	t.Helper()
	l := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	defer func() { _ = l.Close() }() // nobody has connected
	return l.Addr().String()
}

// TestBotsPlayThroughACrash kills the server while many games are played and
// starts it again. The players repeat what got no answer: every game ends, and
// the log holds every acknowledged command exactly once.
func TestBotsPlayThroughACrash(t *testing.T) {
	dir, addr := t.TempDir(), freeAddr(t)
	p := serve(t, dir, "--grpc-addr", addr)
	c, err := dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.conn.Close() }()

	cfg := botsConfig{games: 120, players: 12, strategy: "random", rules: engine.Presets()[0].Rules}
	ended := make(chan struct{}, cfg.games)
	var result botsResult
	var failure error
	var bots sync.WaitGroup
	bots.Go(func() { result, failure = playBots(t.Context(), c, cfg, func() { ended <- struct{}{} }) })
	for range 20 {
		<-ended
	}
	if err := p.end(t, syscall.SIGKILL); err == nil {
		t.Error("a killed process ended well")
	}
	p = serve(t, dir, "--grpc-addr", addr)
	bots.Wait()
	if failure != nil || result.Errors != 0 || result.Finished != cfg.games {
		t.Fatalf("%+v, %v", result, failure)
	}
	if err := p.end(t, syscall.SIGTERM); err != nil {
		t.Errorf("stopped with %v", err)
	}

	s := start(t, dir)
	best, token := s.foldLog(t)
	stored := uint64(0)
	for _, stream := range must[[]eventlog.StreamInfo](t)(s.server.log.Streams(t.Context())) {
		stored += stream.LastSequence
	}
	if want := uint64(cfg.games + result.Moves); stored != want {
		t.Errorf("%d commands were acknowledged, %d are stored", want, stored)
	}
	rows := s.botsBoard(t, "classic", token)
	if len(rows) != cfg.players {
		t.Errorf("%d rows for %d players", len(rows), cfg.players)
	}
	for _, row := range rows {
		if want := best["classic"][row.GetPlayerId()]; row.GetGameId() != want.game || row.GetScore() != int32(want.score) {
			t.Errorf("row %v, want %+v", row, want)
		}
	}
}

// TestGreedyIsSensible shows the choices that tell it from a random player.
func TestGreedyIsSensible(t *testing.T) {
	room := func(cards ...*gamev1.RoomCard) []*gamev1.RoomCard { return cards }
	monster := func(card string, value uint32) *gamev1.RoomCard {
		return &gamev1.RoomCard{Card: card, Role: rulesv1.CardRole_CARD_ROLE_MONSTER, Value: value}
	}
	potion := func(card string, value uint32) *gamev1.RoomCard {
		return &gamev1.RoomCard{Card: card, Role: rulesv1.CardRole_CARD_ROLE_POTION, Value: value}
	}
	weapon := func(card string, value uint32) *gamev1.RoomCard {
		return &gamev1.RoomCard{Card: card, Role: rulesv1.CardRole_CARD_ROLE_WEAPON, Value: value}
	}
	move := func(text string, after int32) *gamev1.LegalMove {
		return &gamev1.LegalMove{Move: parseMove(t, text), HealthAfter: after, Lethal: after <= 0}
	}
	worn := uint32(2)
	for name, test := range map[string]struct {
		game *gamev1.Game
		want string
	}{
		"lives": {&gamev1.Game{Health: 5, Room: room(monster("KS", 13), monster("2C", 2)), LegalMoves: []*gamev1.LegalMove{
			move("FIGHT_BARE_HANDED KS", -8), move("FIGHT_BARE_HANDED 2C", 3),
		}}, "FIGHT_BARE_HANDED 2C"},
		"avoids what it cannot bear": {&gamev1.Game{Health: 10, Room: room(monster("KS", 13), monster("AC", 14), monster("QC", 12), monster("9S", 9)), LegalMoves: []*gamev1.LegalMove{
			move("AVOID", 10), move("FIGHT_BARE_HANDED KS", -3), move("FIGHT_BARE_HANDED AC", -4), move("FIGHT_BARE_HANDED QC", -2), move("FIGHT_BARE_HANDED 9S", 1),
		}}, "AVOID"},
		"takes a weapon before a fight": {&gamev1.Game{Health: 20, Room: room(monster("JS", 11), weapon("9D", 9)), LegalMoves: []*gamev1.LegalMove{
			move("FIGHT_BARE_HANDED JS", 9), move("EQUIP 9D", 20),
		}}, "EQUIP 9D"},
		"keeps a potion for later": {&gamev1.Game{Health: 20, Room: room(monster("3S", 3), potion("10H", 10)), LegalMoves: []*gamev1.LegalMove{
			move("DRINK 10H", 20), move("FIGHT_BARE_HANDED 3S", 17),
		}}, "FIGHT_BARE_HANDED 3S"},
		"keeps a good weapon": {&gamev1.Game{Health: 20, Weapon: &gamev1.Weapon{Card: "9D", Power: 9}, Room: room(monster("AS", 14), weapon("2D", 2)), LegalMoves: []*gamev1.LegalMove{
			move("EQUIP 2D", 20), move("FIGHT_WITH_WEAPON AS", 15),
		}}, "FIGHT_WITH_WEAPON AS"},
		"replaces a worn one": {&gamev1.Game{Health: 20, Weapon: &gamev1.Weapon{Card: "9D", Power: 9, Limit: &worn}, Room: room(monster("AS", 14), weapon("5D", 5)), LegalMoves: []*gamev1.LegalMove{
			move("EQUIP 5D", 20), move("FIGHT_BARE_HANDED AS", 6),
		}}, "EQUIP 5D"},
	} {
		m := greedy(nil, test.game).GetMove()
		kind := strings.TrimPrefix(m.GetKind().String(), "MOVE_KIND_")
		if got := strings.TrimSpace(kind + " " + m.GetCard()); got != test.want {
			t.Errorf("%s: it chose %s, want %s", name, got, test.want)
		}
	}
}
