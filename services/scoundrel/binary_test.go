package scoundrel

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/proto"

	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
)

// programDir holds the real program, once a test has needed it.
var programDir string

// buildProgram builds the real program once for all tests.
var buildProgram = sync.OnceValues(func() (_ string, err error) {
	if programDir, err = os.MkdirTemp("", "scoundrel-test-"); err != nil {
		return "", err
	}
	program := filepath.Join(programDir, "scoundrel")
	out, err := exec.Command("go", "build", "-o", program, "./cmd/scoundrel").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return program, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(programDir) // a leftover in the temporary folder is no failure
	os.Exit(code)
}

// process is a running server.
type process struct {
	*client

	cmd    *exec.Cmd
	addr   string
	stderr *output
	greet  func() string // what it said, once it has ended
	exited chan error
}

// serve starts the real server on a free port and waits until it is ready.
func serve(t testing.TB, dir string, args ...string) *process {
	t.Helper()
	program, err := buildProgram()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{stderr: &output{}, exited: make(chan error, 1)}
	p.cmd = exec.Command(program, append([]string{"serve", "--data", dir, "--grpc-addr", "127.0.0.1:0"}, args...)...)
	p.cmd.Stderr = p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	first, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("the server said %q and %q: %v", first, p.stderr.take(), err)
	}
	found := regexp.MustCompile(`^Serving gRPC on (\S+), data in `).FindStringSubmatch(first)
	if found == nil {
		t.Fatalf("the server said %q", first)
	}
	p.addr = found[1]
	said := make(chan string, 1)
	go func() { // ends with the process
		rest, _ := io.ReadAll(lines)
		said <- first + string(rest)
		p.exited <- p.cmd.Wait()
	}()
	p.greet = sync.OnceValue(func() string { return <-said })
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended already
		p.greet()
	})
	if p.client, err = dial(p.addr); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.conn.Close() })
	p.awaitHealth(t)
	return p
}

// awaitHealth waits until the server says that it serves.
func (p *process) awaitHealth(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	watch, err := healthv1.NewHealthClient(p.conn).Watch(ctx, &healthv1.HealthCheckRequest{}, grpc.WaitForReady(true))
	if err != nil {
		t.Fatal(err)
	}
	for {
		res, err := watch.Recv()
		if err != nil {
			t.Fatalf("never ready: %v; %s", err, p.stderr.take())
		}
		if res.GetStatus() == healthv1.HealthCheckResponse_SERVING {
			return
		}
	}
}

// end sends a signal and waits for the process.
func (p *process) end(t testing.TB, signal os.Signal) error {
	t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	return p.wait(t)
}

// wait waits for the process to end.
func (p *process) wait(t testing.TB) error {
	t.Helper()
	select {
	case err := <-p.exited:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("the server does not end")
		return nil
	}
}

// run runs the program to its end.
func run(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	program, err := buildProgram()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	if err := cmd.Run(); err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() < 0 {
			t.Fatalf("%v: %v, %s", args, err, errs.String())
		}
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func TestProgramFromTheFirstStartToTheLeaderboard(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	p := serve(t, dir)
	out, errs, code := run(t, "", "bots", "--addr", p.addr, "--games", "30", "--players", "6", "--strategy", "random", "--preset", "strict", "--json")
	var result map[string]float64
	if err := json.Unmarshal([]byte(out), &result); err != nil || code != 0 {
		t.Fatalf("bots: %d, %s, %s, %v", code, out, errs, err)
	}
	for _, key := range []string{"games", "finished", "won", "lost", "errors", "moves", "moves_per_s", "p50_ms", "p99_ms"} {
		if _, ok := result[key]; !ok {
			t.Errorf("bots --json has no %s: %s", key, out)
		}
	}
	if len(result) != 9 || result["games"] != 30 || result["finished"] != 30 || result["errors"] != 0 || result["won"]+result["lost"] != 30 ||
		result["moves"] < 30 || result["moves_per_s"] <= 0 || result["p50_ms"] <= 0 || result["p99_ms"] < result["p50_ms"] {
		t.Errorf("bots: %s", out)
	}

	rowsOf := func(args ...string) (rows []map[string]any) {
		t.Helper()
		out, errs, code := run(t, "", append([]string{"leaderboard", "--addr", p.addr, "--preset", "strict", "--json"}, args...)...)
		if err := json.Unmarshal([]byte(out), &rows); err != nil || code != 0 {
			t.Fatalf("leaderboard: %d, %s, %s, %v", code, out, errs, err)
		}
		return rows
	}
	// Bots have a board of their own, which is shown as long as no person has played.
	if rows := rowsOf(); len(rows) != 6 {
		t.Errorf("before a person has played: %v", rows)
	}
	out, errs, code = run(t, strings.Repeat("x\n0\n99\n?\n1\n", 100), "play", "--addr", p.addr, "--preset", "strict", "--player", "ada")
	if code != 0 || !strings.Contains(out, "Score ") || !strings.Contains(out, "Rank ") || !strings.Contains(out, "of 1 on strict: your best yet") || !strings.Contains(out, `"x" is no move`) {
		t.Errorf("play: %d, %s, %s", code, out, errs)
	}

	for _, args := range [][]string{nil, {"--period", "day"}, {"--players", "people", "--period", "week"}} {
		if rows := rowsOf(args...); len(rows) != 1 || rows[0]["player_id"] != "ada" {
			t.Errorf("%v: %v", args, rows)
		}
	}
	if rows := rowsOf("--period", "month", "--date", "2020-01-01"); len(rows) != 0 {
		t.Errorf("a month long ago: %v", rows)
	}
	rows := rowsOf("--players", "bots")
	if len(rows) != 6 {
		t.Fatalf("bots: %v", rows)
	}
	for i, row := range rows {
		if row["position"] != float64(i+1) || row["player_id"] == "" || row["game_id"] == "" || row["score"] == nil || row["moves"] == nil || row["rank"] == nil || len(row) != 6 {
			t.Errorf("row %d: %v", i, row)
		}
	}
	if out, _, code = run(t, "", "leaderboard", "--addr", p.addr, "--preset", "strict", "--players", "bots", "--limit", "2"); code != 0 || strings.Count(out, "\n") != 3 {
		t.Errorf("leaderboard: %d, %s", code, out)
	}

	// A game that is left can be gone on with, and resigned.
	out, errs, code = run(t, "", "play", "--addr", p.addr, "--player", "ada")
	left := regexp.MustCompile(`play --game (\S+)`).FindStringSubmatch(out)
	if code != 0 || left == nil {
		t.Fatalf("play: %d, %s, %s", code, out, errs)
	}
	out, errs, code = run(t, "resign\n", "play", "--addr", p.addr, "--player", "ada", "--game", left[1])
	if code != 0 || !strings.Contains(out, "No score") {
		t.Errorf("resign: %d, %s, %s", code, out, errs)
	}

	if err := p.end(t, syscall.SIGTERM); err != nil {
		t.Errorf("stopped with %v: %s", err, p.stderr.take())
	}
	for _, want := range []string{"play --addr " + p.addr, "bots --addr " + p.addr, "leaderboard --addr " + p.addr, "grpcurl -plaintext", filepath.Join(dir, keysetFile)} {
		if !strings.Contains(p.greet(), want) {
			t.Errorf("the first start does not say %q: %s", want, p.greet())
		}
	}
}

// TestProgramSaysThatItIsNotDurable starts the server for development and stops
// it as a terminal does.
func TestProgramSaysThatItIsNotDurable(t *testing.T) {
	for args, want := range map[string]bool{"": false, "--relaxed-sync": true} {
		p := serve(t, t.TempDir(), strings.Fields(args)...)
		if err := p.end(t, os.Interrupt); err != nil {
			t.Errorf("stopped with %v", err)
		}
		if said := p.stderr.take(); strings.Contains(said, "a power failure loses them") != want {
			t.Errorf("with %q it says %s", args, said)
		}
	}
}

func TestProgramGreetsOnceWithWhatToTry(t *testing.T) {
	dir := t.TempDir()
	for i, want := range []bool{true, false} {
		s, err := New(t.Context(), Config{DataDir: dir, GRPCAddr: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := greet(&b, s, dir); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{" play", " bots", " leaderboard", "grpcurl", "keyset.json"} {
			if strings.Contains(b.String(), text) != want {
				t.Errorf("start %d says %s", i+1, b.String())
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestProgramEndedInMidGame ends the server while a game is played, with no
// warning and with one. Whatever was acknowledged is there afterwards, and a
// repeated request has the one effect and the one answer.
func TestProgramEndedInMidGame(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) { endInMidGame(t, signal) })
	}
}

func endInMidGame(t *testing.T, signal syscall.Signal) {
	t.Helper()
	dir := t.TempDir()
	p := serve(t, dir)
	ctx := as(t.Context(), "ada", "human")
	g := must[*gamev1.StartGameResponse](t)(p.StartGame(ctx, &gamev1.StartGameRequest{RequestId: "start"})).GetGame()
	type answer struct {
		req *gamev1.PlayMoveRequest
		res *gamev1.PlayMoveResponse
	}
	var answers []answer
	for g.GetStatus() == gamev1.GameStatus_GAME_STATUS_ACTIVE {
		m := g.GetLegalMoves()[len(g.GetLegalMoves())-1].GetMove()
		req := &gamev1.PlayMoveRequest{GameId: g.GetGameId(), Move: m, RequestId: requestID()}
		res := must[*gamev1.PlayMoveResponse](t)(p.PlayMove(ctx, req))
		answers = append(answers, answer{req, res})
		g = res.GetGame()
		if len(answers) == 2 || g.GetStatus() != gamev1.GameStatus_GAME_STATUS_ACTIVE {
			if err := p.end(t, signal); (err == nil) != (signal == syscall.SIGTERM) {
				t.Fatalf("after %v it ended with %v", signal, err)
			}
			p = serve(t, dir)
			for _, a := range answers {
				if again := must[*gamev1.PlayMoveResponse](t)(p.PlayMove(ctx, a.req)); !proto.Equal(again, a.res) {
					t.Fatalf("answered %v, then %v", a.res, again)
				}
			}
		}
	}
	if now := must[*gamev1.GetGameResponse](t)(p.GetGame(ctx, &gamev1.GetGameRequest{GameId: g.GetGameId()})); !proto.Equal(now.GetGame(), g) {
		t.Errorf("%v became %v", g, now.GetGame())
	}
	score := must[*scoringv1.GetScoreResponse](t)(p.GetScore(ctx, &scoringv1.GetScoreRequest{GameId: g.GetGameId(), ConsistencyToken: answers[len(answers)-1].res.GetConsistencyToken()})).GetScore()
	if score.GetScore() != g.GetScore() {
		t.Errorf("score %v, want %d", score, g.GetScore())
	}
}

// TestProgramRefusesToStart shows every fault of the surroundings: one clear
// line, and a status that is not 0.
func TestProgramRefusesToStart(t *testing.T) {
	used := t.TempDir()
	running := serve(t, used)
	ctx := as(t.Context(), "ada", "human")
	must[*gamev1.StartGameResponse](t)(running.StartGame(ctx, &gamev1.StartGameRequest{}))
	// after returns a copy of the data folder, changed.
	after := func(change func(dir string) error) func(t *testing.T) string {
		return func(t *testing.T) string {
			t.Helper()
			dir := t.TempDir()
			p := serve(t, dir)
			must[*gamev1.StartGameResponse](t)(p.StartGame(ctx, &gamev1.StartGameRequest{}))
			if err := p.end(t, syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := change(dir); err != nil {
				t.Fatal(err)
			}
			return dir
		}
	}
	fresh := func(t *testing.T) string { t.Helper(); return t.TempDir() }
	overwrite := func(name, content string) func(string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600) }
	}
	for name, test := range map[string]struct {
		dir  func(t *testing.T) string
		addr string
		want string
	}{
		"data folder in use":      {func(*testing.T) string { return used }, "127.0.0.1:0", "in use by another process"},
		"port in use":             {fresh, running.addr, "address already in use"},
		"any address":             {fresh, ":9090", "not a loopback address"},
		"all addresses":           {fresh, "0.0.0.0:9090", "not a loopback address"},
		"address without a port":  {fresh, "127.0.0.1", "missing port"},
		"corrupt keyset":          {after(overwrite(keysetFile, "{")), "127.0.0.1:0", "malformed keyset"},
		"another keyset":          {after(overwrite(keysetFile, `{"keys":[{"id":"aa","secret":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}]}`)), "127.0.0.1:0", "the keyset does not open the games"},
		"keyset gone":             {after(func(dir string) error { return os.Remove(filepath.Join(dir, keysetFile)) }), "127.0.0.1:0", "the keyset is missing"},
		"corrupt database":        {after(overwrite(databaseFile, strings.Repeat("no database ", 1000))), "127.0.0.1:0", "damaged"},
		"data folder is a file":   {func(t *testing.T) string { t.Helper(); return filepath.Join(used, keysetFile) }, "127.0.0.1:0", "not a directory"},
		"data folder not allowed": {func(*testing.T) string { return "/proc/scoundrel" }, "127.0.0.1:0", "make the data folder"},
	} {
		t.Run(name, func(t *testing.T) {
			out, errs, code := run(t, "", "serve", "--data", test.dir(t), "--grpc-addr", test.addr)
			var own []string
			for line := range strings.Lines(errs) {
				if strings.HasPrefix(line, "scoundrel: ") {
					own = append(own, line)
				} else if !strings.HasPrefix(line, "time=") {
					t.Errorf("neither a log line nor the error: %s", line)
				}
			}
			if code == 0 || len(own) != 1 || !strings.Contains(own[0], test.want) || out != "" {
				t.Errorf("status %d, %q, %q; want %q", code, out, errs, test.want)
			}
		})
	}
}

func TestProgramSaysWhatIsWrong(t *testing.T) {
	p, addr := serve(t, t.TempDir()), freeAddr(t)
	for _, test := range []struct {
		want string
		args []string
	}{
		{"no server answers", []string{"leaderboard", "--addr", addr}},
		{"no server answers", []string{"bots", "--addr", addr, "--games", "100000"}},
		{"no server answers", []string{"play", "--addr", addr}},
		{"connection refused", []string{"play", "--addr", addr}},
		{"no preset", []string{"bots", "--addr", p.addr, "--preset", "chess", "--games", "100000"}},
		{"ranked rulesets", []string{"serve", "--data", filepath.Join(t.TempDir(), "new"), "--ranked", "chess"}},
		{"no preset", []string{"play", "--addr", p.addr, "--preset", "chess"}},
		{"no preset", []string{"leaderboard", "--addr", p.addr, "--preset", "chess"}},
		{"LEADERBOARD_NOT_FOUND", []string{"leaderboard", "--addr", p.addr, "--preset", "strict", "--depth", "3"}},
		{"--limit", []string{"leaderboard", "--addr", p.addr, "--limit", "-1"}},
		{"--period", []string{"leaderboard", "--addr", p.addr, "--period", "year"}},
		{"--players", []string{"leaderboard", "--addr", p.addr, "--players", "dogs"}},
		{"leaderboard.date", []string{"leaderboard", "--addr", p.addr, "--period", "day", "--date", "tomorrow"}},
		{"depth", []string{"play", "--addr", p.addr, "--depth", "10"}},
		{"IDENTITY_MISSING", []string{"play", "--addr", p.addr, "--player", "a b"}},
		{"unknown command", []string{"dance"}},
		{"unknown flag", []string{"serve", "--fast"}},
		{"1 or more", []string{"bots", "--games", "0"}},
		{"no strategy", []string{"bots", "--strategy", "psychic"}},
		{"no such file", []string{"conformance", "nowhere.jsonl"}},
	} {
		out, errs, code := run(t, "", test.args...)
		if code != 1 || !strings.Contains(out+errs, test.want) || strings.Count(errs, "\n") > 1 {
			t.Errorf("%v: status %d, %q, %q", test.args, code, out, errs)
		}
	}
}

func TestConformanceCommand(t *testing.T) {
	dir := filepath.Join("..", "..", "pkg", "engine", "conformance", "testdata")
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) < 6 {
		t.Fatalf("%v, %v", files, err)
	}
	out, errs, code := run(t, "", append([]string{"conformance"}, files...)...)
	if code != 0 || !regexp.MustCompile(`(^|\n)[1-9]\d* passed, 0 failed\n$`).MatchString(out) {
		t.Errorf("status %d, %s, %s", code, out, errs)
	}
	data, err := os.ReadFile(filepath.Join(dir, "classic.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), "broken.jsonl")
	if err := os.WriteFile(broken, bytes.Replace(data, []byte(`"health":18`), []byte(`"health":17`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code = run(t, "", "conformance", broken)
	if code != 1 || !strings.HasSuffix(out, "\n5 passed, 1 failed\n") || !strings.Contains(out, "classic-") {
		t.Errorf("status %d, %s, %s", code, out, errs)
	}
}
