package scoundrel

import (
	"database/sql"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection/postgres/postgrestest"
)

// playGames runs a server on a data folder for some games of bots and returns the
// lines of their board. What else is to be done comes before.
func playGames(t *testing.T, dir, url string, before ...func(*system)) []string {
	t.Helper()
	s := start(t, dir, func(c *Config) { c.Logger, c.Seeds, c.StoreURL = slog.New(slog.DiscardHandler), nil, url })
	cfg := botsConfig{games: 20, players: 5, strategy: "random", rules: engine.Presets()[0].Rules}
	for _, f := range before {
		f(s)
	}
	must[botsResult](t)(playBots(t.Context(), s.client, cfg, func() {}))
	board := s.rows(t)
	s.stop()
	return board
}

// rows returns the lines of the board of bots at the log's end.
func (s *system) rows(t *testing.T) (lines []string) {
	t.Helper()
	streams := must[[]eventlog.StreamInfo](t)(s.server.log.Streams(t.Context()))
	end := eventlog.Position{Stream: streams[0].Name, Incarnation: streams[0].Incarnation, Sequence: streams[0].LastSequence}
	for _, row := range s.botsBoard(t, "classic", end.Token()) {
		lines = append(lines, row.String())
	}
	return lines
}

// boardsOf returns the lines of the board of bots as a server finds them.
func boardsOf(t *testing.T, dir, url string) []string {
	t.Helper()
	s := start(t, dir, func(c *Config) { c.Logger, c.StoreURL = slog.New(slog.DiscardHandler), url })
	defer s.stop()
	return s.rows(t)
}

// alter runs statements in a database of scores, each of which must do something.
func alter(t *testing.T, dir, url string, statements ...string) {
	t.Helper()
	driver, name := "sqlite", filepath.Join(dir, databaseFile)
	if url != "" {
		driver, name = "pgx", url
	}
	db := must[*sql.DB](t)(sql.Open(driver, name))
	defer func() { _ = db.Close() }()
	for _, s := range statements {
		done := must[sql.Result](t)(db.Exec(s))
		if n := must[int64](t)(done.RowsAffected()); n == 0 {
			t.Fatalf("%s: nothing happened", s)
		}
	}
}

// verdict is what rebuild says about two stores.
var verdict = regexp.MustCompile(`^stored boards   ([0-9a-f]{64})\nrebuilt boards  ([0-9a-f]{64})\n(.*)\n`)

// stores runs a test on a data folder with either database.
func stores(t *testing.T, test func(t *testing.T, dir, url string, args []string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		dir := t.TempDir()
		test(t, dir, "", []string{"--data", dir})
	})
	t.Run("postgres", func(t *testing.T) {
		dir, url := t.TempDir(), postgrestest.Start(t).Database(t)
		test(t, dir, url, []string{"--data", dir, "--store", url})
	})
}

// TestRebuildMendsWhatIsDamaged changes single values in the tables: each is found,
// and mended.
func TestRebuildMendsWhatIsDamaged(t *testing.T) {
	stores(t, func(t *testing.T, dir, url string, args []string) {
		board := playGames(t, dir, url)
		rebuild := func(code int, ends string, more ...string) (stored, rebuilt string) {
			t.Helper()
			out, errs, got := run(t, "", slices.Concat([]string{"rebuild"}, args, more)...)
			said := verdict.FindStringSubmatch(out)
			if got != code || said == nil || !strings.HasSuffix(out, ends) || !strings.HasPrefix(errs, "reading ") || strings.Count(errs, "\n") != 1 {
				t.Fatalf("status %d, %s, %s", got, out, errs)
			}
			return said[1], said[2]
		}
		stored, rebuilt := rebuild(0, "\nequal\n", "--check")
		if stored != rebuilt {
			t.Errorf("%s is equal to %s", stored, rebuilt)
		}
		seen := map[string]bool{stored: true}
		for _, damage := range []string{
			`UPDATE leaderboard_entries SET order_score = order_score - 1 WHERE player_id = 'bot-1'`,
			`UPDATE leaderboard_counts SET bucket = bucket + 1 WHERE level = 4`,
			`UPDATE games SET score = score + 1 WHERE player_id = 'bot-2'`,
			`UPDATE leaderboards SET list_order = list_order - 1 WHERE period = 3`,
			`DELETE FROM leaderboard_entries WHERE player_id = 'bot-3'`,
		} {
			alter(t, dir, url, damage)
			now, again := rebuild(1, "\ndifferent\n", "--check")
			if seen[now] || again != rebuilt {
				t.Errorf("%s: stored %s, rebuilt %s", damage, now, again)
			}
			seen[now] = true
		}
		rebuild(0, "the rebuilt boards are in place: "+records(t, dir, url)+" records, 0 parked\n")
		if now, _ := rebuild(0, "\nequal\n", "--check"); now != stored {
			t.Errorf("%s became %s", stored, now)
		}
		if now := boardsOf(t, dir, url); !slices.Equal(now, board) {
			t.Errorf("board %v, want %v", now, board)
		}
		if more := playGames(t, dir, url); len(more) != 5 {
			t.Errorf("board %v", more)
		}
		rebuild(0, "\nequal\n", "--check")
	})
}

// projectionOf returns what `projection status --json` prints.
func projectionOf(t *testing.T, dir, url string) statusResult {
	t.Helper()
	out, errs, code := run(t, "", "projection", "status", "--data", dir, "--store", url, "--json")
	var result statusResult
	if err := json.Unmarshal([]byte(out), &result); err != nil || code != 0 {
		t.Fatalf("status %d, %s, %s, %v", code, out, errs, err)
	}
	// The tests here are about the stream of games; no decision is in the other one.
	if len(result.Streams) > 0 && result.Streams[0].Stream == eventlog.ControlStream {
		result.Streams = result.Streams[1:]
	}
	return result
}

// records returns how many records the log has.
func records(t *testing.T, dir, url string) string {
	t.Helper()
	result := projectionOf(t, dir, url)
	if len(result.Streams) != 1 || result.Streams[0].LogEnd == nil {
		t.Fatalf("%+v", result)
	}
	return string(must[[]byte](t)(json.Marshal(result.Streams[0].LogEnd)))
}

// TestRebuildOfAStoreThatIsBehind compares boards with a log that has gone on: what
// they have not seen is no difference.
func TestRebuildOfAStoreThatIsBehind(t *testing.T) {
	dir := t.TempDir()
	file, copied := filepath.Join(dir, databaseFile), filepath.Join(t.TempDir(), "copy")
	playGames(t, dir, "")
	data := must[[]byte](t)(os.ReadFile(file))
	if err := os.WriteFile(copied, data, 0o600); err != nil {
		t.Fatal(err)
	}
	board := playGames(t, dir, "")
	if err := os.Rename(copied, file); err != nil {
		t.Fatal(err)
	}
	behind := projectionOf(t, dir, "").Streams[0]
	if behind.Behind == nil || *behind.Behind < 20 || *behind.LogEnd-*behind.Behind != behind.Checkpoint {
		t.Fatalf("%+v", behind)
	}
	for _, more := range []string{"--check", "--check=false"} {
		out, errs, code := run(t, "", "rebuild", "--data", dir, more)
		if said := verdict.FindStringSubmatch(out); code != 0 || said == nil || !strings.HasPrefix(said[3], "equal, compared without the last ") {
			t.Errorf("status %d, %s, %s", code, out, errs)
		}
	}
	if now := projectionOf(t, dir, "").Streams[0]; *now.Behind != 0 || now.Checkpoint != *behind.LogEnd {
		t.Errorf("%+v became %+v", behind, now)
	}
	if now := boardsOf(t, dir, ""); !slices.Equal(now, board) {
		t.Errorf("board %v, want %v", now, board)
	}
}

// TestRebuildRefuses shows what it does not work with, and what it works without.
func TestRebuildRefuses(t *testing.T) {
	dir := t.TempDir()
	nats, older := filepath.Join(dir, natsFolder), filepath.Join(t.TempDir(), "older")
	playGames(t, dir, "")
	if err := os.CopyFS(older, os.DirFS(nats)); err != nil {
		t.Fatal(err)
	}
	board := playGames(t, dir, "")
	refused := func(want string, args ...string) {
		t.Helper()
		out, errs, code := run(t, "", args...)
		if code != 1 || out != "" || !strings.HasPrefix(errs, "scoundrel: ") || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: status %d, %q, %q", args, code, out, errs)
		}
	}
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	refused("no event log", "rebuild", "--data", nowhere)
	refused("no event log", "projection", "retry", "--data", nowhere)
	refused("no such file", "projection", "status", "--data", nowhere)
	if _, err := os.Stat(nowhere); err == nil {
		t.Error("a data folder was made")
	}
	refused("not a PostgreSQL URL", "rebuild", "--data", dir, "--store", "postgres://host:port")
	refused("no record of game", "projection", "retry", "--data", dir, "26q4-00-none")

	running := serve(t, dir)
	refused("in use by another process", "rebuild", "--data", dir, "--check")
	refused("in use by another process", "projection", "retry", "--data", dir)
	if result := projectionOf(t, dir, ""); len(result.Streams) != 1 || result.Streams[0].Checkpoint == 0 || result.Streams[0].LogEnd != nil ||
		!strings.Contains(result.LogNotRead, "in use by another process") {
		t.Errorf("beside a running server: %+v", result)
	}
	if err := running.end(t, syscall.SIGTERM); err != nil {
		t.Error(err)
	}

	// A log that lost its end.
	newer := filepath.Join(t.TempDir(), "newer")
	if err := os.Rename(nats, newer); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(nats, os.DirFS(older)); err != nil {
		t.Fatal(err)
	}
	refused("restore it from a backup", "rebuild", "--data", dir)
	refused("not the one that was projected", "projection", "retry", "--data", dir)
	if result := projectionOf(t, dir, ""); !strings.Contains(result.Streams[0].Problem, "not the one that was projected") {
		t.Errorf("a log that lost its end: %+v", result)
	}
	// No log any more.
	if err := os.RemoveAll(nats); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(nats, 0o700); err != nil {
		t.Fatal(err)
	}
	refused("restore it from a backup", "rebuild", "--data", dir)
	if err := os.RemoveAll(nats); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(nats, os.DirFS(newer)); err != nil {
		t.Fatal(err)
	}

	// A file that is no database has nothing to compare with, and is replaced.
	if err := os.WriteFile(filepath.Join(dir, databaseFile), []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("damaged", "rebuild", "--data", dir, "--check")
	out, errs, code := run(t, "", "rebuild", "--data", dir)
	if code != 0 || !strings.HasPrefix(out, "nothing to compare with: ") || !strings.Contains(out, "in place") {
		t.Errorf("status %d, %s, %s", code, out, errs)
	}
	if now := boardsOf(t, dir, ""); !slices.Equal(now, board) {
		t.Errorf("board %v, want %v", now, board)
	}
}

// TestParkedGamesAreRetried parks a good game and has a bad one in the log. Retried,
// the good one is back; the bad one stays parked until somebody mends the program.
func TestParkedGamesAreRetried(t *testing.T) {
	stores(t, func(t *testing.T, dir, url string, args []string) {
		var bad eventlog.GameID
		board := playGames(t, dir, "", func(s *system) {
			streams := must[[]eventlog.StreamInfo](t)(s.server.log.Streams(t.Context()))
			epoch, _ := eventlog.StreamEpoch(streams[0].Name)
			bad = eventlog.DeriveGameID(epoch, "bad")
			must[eventlog.Position](t)(s.server.log.Append(t.Context(), bad, 0, eventlog.Event{ID: "bad", Version: 1, Data: []byte("not a record")}))
		})
		best := regexp.MustCompile(`game_id:"([^"]+)"`).FindStringSubmatch(board[0])[1]
		// A projection from the beginning, for which the best game is parked.
		if url == "" {
			if err := os.Remove(filepath.Join(dir, databaseFile)); err != nil {
				t.Fatal(err)
			}
		}
		if store, err := openStore(t.Context(), Config{DataDir: dir, StoreURL: url}); err != nil || store.Close() != nil {
			t.Fatal(err)
		}
		nothing := map[bool]string{true: `x''`, false: `''`}[url == ""]
		alter(t, dir, url, `INSERT INTO projection_poison (name, stream, stream_seq, incarnation, event_id, game_id, error, payload)
			VALUES ('scoring', 'S', 1, 'i', 'e', '`+best+`', 'an old fault', `+nothing+`)`)
		if now := boardsOf(t, dir, url); slices.Equal(now, board) {
			t.Fatal("the parked game is shown")
		}
		parked := projectionOf(t, dir, url)
		if len(parked.Parked) != 2 || len(parked.Streams) != 1 || *parked.Streams[0].Behind != 0 {
			t.Fatalf("%+v", parked)
		}
		out, errs, code := run(t, "", slices.Concat([]string{"projection", "status"}, args)...)
		if code != 0 || !strings.Contains(out, best) || !strings.Contains(out, "an old fault") || !strings.Contains(out, bad.String()) || !strings.Contains(out, "2 parked") {
			t.Errorf("status %d, %s, %s", code, out, errs)
		}
		retry := func(code int, want string, games ...string) {
			t.Helper()
			out, errs, got := run(t, "", slices.Concat([]string{"projection", "retry"}, args, games)...)
			if got != code || !strings.Contains(out, want) || errs != "" {
				t.Errorf("%v: status %d, %s, %s", games, got, out, errs)
			}
		}
		retry(1, "0 applied, 1 stay parked", bad.String())
		retry(1, "1 applied, 1 stay parked")
		if left := projectionOf(t, dir, url).Parked; len(left) != 1 || left[0].GameID != bad.String() || left[0].EventID != "bad" {
			t.Errorf("%+v", left)
		}
		if now := boardsOf(t, dir, url); !slices.Equal(now, board) {
			t.Errorf("board %v, want %v", now, board)
		}
		if out, errs, code := run(t, "", slices.Concat([]string{"rebuild", "--check"}, args)...); code != 0 || !strings.Contains(out, "\nequal\n") {
			t.Errorf("status %d, %s, %s", code, out, errs)
		}
	})
}
