package scoundrel

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
)

// TestPlayGoesOnAfterAnInterrupt stops `play` while it waits for a choice. It
// must not wait any longer, and what it says must lead back into the game.
func TestPlayGoesOnAfterAnInterrupt(t *testing.T) {
	p := serve(t, t.TempDir())
	program, err := buildProgram()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "play", "--addr", p.addr, "--player", "eve")
	stdin, err := cmd.StdinPipe() // open and silent to the end, like a person who thinks
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(stdout)
	if _, err := out.ReadString('>'); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("interrupted: %v", err)
	}
	_ = stdin.Close() // Wait has closed it
	resume := regexp.MustCompile(`scoundrel (play --game (\S+) .*)\n`).FindSubmatch(rest)
	if resume == nil {
		t.Fatalf("it said %q", rest)
	}

	game := must[*gamev1.GetGameResponse](t)(p.GetGame(as(t.Context(), "eve", "human"), &gamev1.GetGameRequest{GameId: string(resume[2])})).GetGame()
	if game.GetStatus() != gamev1.GameStatus_GAME_STATUS_ACTIVE || game.GetVersion() != 1 {
		t.Errorf("the game is %v", game)
	}
	args := strings.Fields(string(resume[1]))
	if said, errs, code := run(t, "q\n", args...); code != 0 || !strings.Contains(said, "waits for you") {
		t.Errorf("%v: status %d, %s, %s", args, code, said, errs)
	}
	if said, errs, code := run(t, "resign\n", args...); code != 0 || !strings.Contains(said, "No score") {
		t.Errorf("%v: status %d, %s, %s", args, code, said, errs)
	}
}

// TestPlayTellsWhoseGameItIs opens another player's game.
func TestPlayTellsWhoseGameItIs(t *testing.T) {
	p := serve(t, t.TempDir())
	id := must[*gamev1.StartGameResponse](t)(p.StartGame(as(t.Context(), "ada", "human"), &gamev1.StartGameRequest{})).GetGame().GetGameId()
	out, errs, code := run(t, "1\n", "play", "--addr", p.addr, "--player", "eve", "--game", id)
	if code != 1 || out != "" || errs != "scoundrel: game "+id+" is that of ada; name yourself with --player\n" {
		t.Errorf("status %d, %q, %q", code, out, errs)
	}
}

// TestMovesSayWhatTheyDo shows what a player reads before choosing.
func TestMovesSayWhatTheyDo(t *testing.T) {
	limit := uint32(6)
	for want, text := range map[string]string{
		"no weapon": describeWeapon(nil),
		"weapon 5D": describeWeapon(&gamev1.Weapon{Card: "5D", Power: 5}),
		"weapon 5D with JC 6C on it, hits monsters up to 6": describeWeapon(&gamev1.Weapon{Card: "5D", Power: 5, Kills: []string{"JC", "6C"}, Limit: &limit}),
		"avoid the room": describeMove(&gamev1.Game{Health: 9}, &gamev1.LegalMove{Move: parseMove(t, "AVOID"), HealthAfter: 9}),
		"fight with bare hands: KS - LETHAL, this kills you":                describeMove(&gamev1.Game{Health: 9}, &gamev1.LegalMove{Move: parseMove(t, "FIGHT_BARE_HANDED KS"), HealthAfter: -4, Lethal: true}),
		"fight with the weapon: JC - health 3":                              describeMove(&gamev1.Game{Health: 9}, &gamev1.LegalMove{Move: parseMove(t, "FIGHT_WITH_WEAPON JC"), HealthAfter: 3}),
		"drink 4H - wasted, it does not heal":                               describeMove(&gamev1.Game{Health: 9}, &gamev1.LegalMove{Move: parseMove(t, "DRINK 4H"), HealthAfter: 9, WastesPotion: true}),
		"drink 5H - heals nothing at full health":                           describeMove(&gamev1.Game{Health: 20}, &gamev1.LegalMove{Move: parseMove(t, "DRINK 5H"), HealthAfter: 20}),
		"equip 7D - discards 5D JC":                                         describeMove(&gamev1.Game{Health: 9}, &gamev1.LegalMove{Move: parseMove(t, "EQUIP 7D"), HealthAfter: 9, Discards: []string{"5D", "JC"}}),
		"weapon 5D on JD AD, power 10,":                                     describeWeapon(&gamev1.Weapon{Card: "5D", Power: 10, Upgrades: []string{"JD", "AD"}}),
		"sell the weapon to RJ - health 14 - discards 5D":                   describeMove(&gamev1.Game{Health: 9}, &gamev1.LegalMove{Move: parseMove(t, "SELL RJ"), HealthAfter: 14, Discards: []string{"5D"}}),
		"let the companion fight: JC - companion's health 2":                describeMove(&gamev1.Game{Health: 9, Companion: &gamev1.Companion{Health: 8}}, &gamev1.LegalMove{Move: parseMove(t, "FIGHT_WITH_COMPANION JC"), HealthAfter: 9, CompanionHealthAfter: 2}),
		"let the companion fight: KC - the companion dies - discards BJ 5D": describeMove(&gamev1.Game{Health: 9, Companion: &gamev1.Companion{}}, &gamev1.LegalMove{Move: parseMove(t, "FIGHT_WITH_COMPANION KC"), HealthAfter: 9, CompanionDies: true, Discards: []string{"BJ", "5D"}}),
	} {
		if text != want {
			t.Errorf("it says %q, want %q", text, want)
		}
	}
	for number, name := range rulesv1.MoveKind_name {
		if number != 0 && moveWords[rulesv1.MoveKind(number)] == "" {
			t.Errorf("there are no words for %s", name)
		}
	}
}

// TestPlayTellsWhatHappens tells what befalls the player beside the move itself.
func TestPlayTellsWhatHappens(t *testing.T) {
	var b strings.Builder
	(&playSession{out: &b}).tell([]*eventv1.Fact{
		{Kind: &eventv1.Fact_RoomAvoided{RoomAvoided: &eventv1.RoomAvoided{Cards: []string{"2C"}}}},
		{Kind: &eventv1.Fact_CardReturned{CardReturned: &eventv1.CardReturned{Card: "JD"}}},
		{Kind: &eventv1.Fact_CompanionDied{CompanionDied: &eventv1.CompanionDied{Card: "BJ"}}},
		{Kind: &eventv1.Fact_WeaponStolen{WeaponStolen: &eventv1.WeaponStolen{Card: "9D"}}},
	})
	if want := "JD goes back into the dungeon, nobody knows where.\nYour companion BJ dies.\nThe thief steals your 9D.\n"; b.String() != want {
		t.Errorf("it tells %q, want %q", b.String(), want)
	}
}

// TestPlayShowsTheParty shows who has joined the player, and with what.
func TestPlayShowsTheParty(t *testing.T) {
	shown := func(g *gamev1.Game) string {
		var b strings.Builder
		(&playSession{out: &b}).show(g)
		return b.String()
	}
	text := shown(&gamev1.Game{
		RoomNumber: 2, ToTake: 3, Health: 12, DungeonSize: 30,
		Companion: &gamev1.Companion{Card: "BJ", Health: 8, Weapon: &gamev1.Weapon{Card: "7D", Power: 7}},
		Bearer:    &gamev1.Bearer{Card: "RJ", Potions: []string{"5H", "2H"}},
	})
	for _, want := range []string{"Companion BJ: health 8, weapon 7D\n", "Bearer RJ: 5H 2H\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("it shows %q, not %q", text, want)
		}
	}
	if text := shown(&gamev1.Game{Bearer: &gamev1.Bearer{Card: "RJ"}, Companion: &gamev1.Companion{Card: "JD"}}); !strings.Contains(text, "Companion JD: no weapon\nBearer RJ: no potion\n") {
		t.Errorf("it shows %q", text)
	}
}
