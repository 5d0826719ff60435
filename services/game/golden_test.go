package game_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
)

// TestGamesOfEarlierProgramsGoOn puts all but the last record of a stored game
// into a log, as an earlier program left them, and plays the last move.
func TestGamesOfEarlierProgramsGoOn(t *testing.T) {
	for _, name := range []string{"classic-0", "classic-homerules-0"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			folder := filepath.Join("..", "..", "pkg", "record", "testdata", "golden")
			w.keys = must[*record.Keyset](t)(record.LoadKeyset(filepath.Join(folder, "keyset.json")))
			records := goldenRecords(t, filepath.Join(folder, name+".jsonl"))
			last := records[len(records)-1]
			id := must[eventlog.GameID](t)(eventlog.ParseGameID(last.GetGameId()))
			if err := w.log.Provision(t.Context(), id.Epoch()); err != nil {
				t.Fatal(err)
			}
			var after eventlog.Revision
			for _, m := range records[:len(records)-1] {
				data := must[[]byte](t)(proto.Marshal(m))
				at := must[eventlog.Position](t)(w.log.Append(t.Context(), id, after, eventlog.Event{
					ID: hex.EncodeToString(m.GetEventId()), Version: m.GetVersion(), Type: record.TypeMovePlayed, RequestID: m.GetRequestId(), Data: data,
				}))
				after = eventlog.Revision(at.Sequence)
			}
			c := w.serve(t) // a keyset that opens nothing would end the start

			req := &gamev1.PlayMoveRequest{GameId: last.GetGameId(), Move: last.GetMove()}
			end := must[*gamev1.PlayMoveResponse](t)(c.PlayMove(as(t, last.GetPlayerId()), req))
			if end.GetGame().GetStatus() != gamev1.GameStatus_GAME_STATUS_WON || end.GetGame().GetVersion() != last.GetVersion() {
				t.Errorf("the game ended as %v", end.GetGame())
			}
			if want := last.GetRevealed().GetDeck(); end.GetGame().GetSeed() != hex.EncodeToString(last.GetRevealed().GetSeed()) || len(end.GetGame().GetDeck()) != len(want) {
				t.Errorf("revealed %v", end.GetGame())
			}
			history := must[*gamev1.GetGameHistoryResponse](t)(c.GetGameHistory(as(t, "bob"), &gamev1.GetGameHistoryRequest{GameId: last.GetGameId(), PageSize: 200}))
			if len(history.GetEntries()) != len(records) {
				t.Errorf("%d entries of %d records", len(history.GetEntries()), len(records))
			}
			// The move was decided anew, and leads to the facts that are stored.
			got, want := end.GetFacts(), last.GetFacts()
			for i := range want {
				if !proto.Equal(got[i], want[i]) {
					t.Errorf("fact %d is %v, want %v", i, got[i], want[i])
				}
			}
			first := must[*gamev1.GetGameResponse](t)(c.GetGame(as(t, "bob"), &gamev1.GetGameRequest{GameId: last.GetGameId(), AtVersion: 1}))
			if first.GetGame().GetVersion() != 1 || len(first.GetGame().GetLegalMoves()) == 0 {
				t.Errorf("version 1 is %v", first.GetGame())
			}
		})
	}
}

func goldenRecords(t *testing.T, path string) (records []*eventv1.Record) {
	t.Helper()
	data := must[[]byte](t)(os.ReadFile(path))
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	lines.Scan() // what the file holds
	for lines.Scan() {
		var text string
		if err := json.Unmarshal(lines.Bytes(), &text); err != nil {
			t.Fatal(err)
		}
		m := &eventv1.Record{}
		if err := proto.Unmarshal(must[[]byte](t)(base64.StdEncoding.DecodeString(text)), m); err != nil {
			t.Fatal(err)
		}
		records = append(records, m)
	}
	return records
}
