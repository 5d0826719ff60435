package scoundrel

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	profilev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/profile/v1"
)

// setName gives a player a display name.
func setName(t *testing.T, c *client, player, name string) {
	t.Helper()
	must[*profilev1.SetDisplayNameResponse](t)(profilev1.NewProfileServiceClient(c.conn).
		SetDisplayName(as(t.Context(), player, "human"), &profilev1.SetDisplayNameRequest{DisplayName: name}))
}

// TestProfilesSurviveARestart: the names that are there, and the absence of the
// one that was erased.
func TestProfilesSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	s.watchHealth(t)(profilev1.ProfileService_ServiceDesc.ServiceName, healthv1.HealthCheckResponse_SERVING)
	setName(t, s.client, "ada", "Zoe\u0308")
	setName(t, s.client, "bob", "Bob")
	bob := as(t.Context(), "bob", "human")
	must[*profilev1.DeleteProfileResponse](t)(profilev1.NewProfileServiceClient(s.conn).DeleteProfile(bob, &profilev1.DeleteProfileRequest{}))
	s.stop()

	profiles := profilev1.NewProfileServiceClient(start(t, dir).conn)
	got := must[*profilev1.GetProfileResponse](t)(profiles.GetProfile(bob, &profilev1.GetProfileRequest{PlayerId: "ada"})).GetProfile()
	if got.GetDisplayName() != "Zo\u00EB" {
		t.Errorf("profile %v", got)
	}
	if _, err := profiles.GetProfile(bob, &profilev1.GetProfileRequest{}); status.Code(err) != codes.NotFound || reason(err) != "PROFILE_NOT_FOUND" {
		t.Errorf("an erased profile: %v", err)
	}
}

// batches counts calls of BatchGetProfiles by how many players they name.
type batches struct {
	profilev1.ProfileServiceClient

	sizes []int
}

func (b *batches) BatchGetProfiles(ctx context.Context, req *profilev1.BatchGetProfilesRequest, opts ...grpc.CallOption) (*profilev1.BatchGetProfilesResponse, error) {
	b.sizes = append(b.sizes, len(req.GetPlayerIds()))
	return b.ProfileServiceClient.BatchGetProfiles(ctx, req, opts...)
}

// TestNamesOfABoard: one call per 100 rows, and every name in its row.
func TestNamesOfABoard(t *testing.T) {
	s := start(t, t.TempDir())
	ctx := as(t.Context(), "leaderboard", "human")
	for _, test := range []struct {
		rows  int
		calls []int
	}{{0, nil}, {1, []int{1}}, {100, []int{100}}, {201, []int{100, 100, 1}}} {
		rows := make([]leaderboardRow, test.rows)
		want := map[int]string{}
		for i := range rows {
			rows[i].PlayerID = fmt.Sprint("p", i)
			if i%99 == 0 || i%100 == 0 {
				want[i] = fmt.Sprint("Player ", i)
				setName(t, s.client, rows[i].PlayerID, want[i])
			}
		}
		c := &batches{ProfileServiceClient: profilev1.NewProfileServiceClient(s.conn)}
		if err := addNames(ctx, c, rows); err != nil || !slices.Equal(c.sizes, test.calls) {
			t.Errorf("%d rows: calls for %v, %v; want %v", test.rows, c.sizes, err, test.calls)
		}
		for i, r := range rows {
			if r.Name != want[i] {
				t.Errorf("%d rows: row %d has the name %q, want %q", test.rows, i, r.Name, want[i])
			}
		}
	}
}

func TestLeaderboardShowsNames(t *testing.T) {
	p := serve(t, t.TempDir(), "--relaxed-sync")
	if out, errs, code := run(t, "", "bots", "--addr", p.addr, "--games", "3", "--players", "3", "--strategy", "random"); code != 0 {
		t.Fatalf("bots: %d, %s, %s", code, out, errs)
	}
	board := func(args ...string) string {
		t.Helper()
		out, errs, code := run(t, "", append([]string{"leaderboard", "--addr", p.addr}, args...)...)
		if code != 0 {
			t.Fatalf("leaderboard: %d, %s, %s", code, out, errs)
		}
		return out
	}
	rows := func() (rows []map[string]any) {
		t.Helper()
		if err := json.Unmarshal([]byte(board("--json")), &rows); err != nil || len(rows) != 3 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		return rows
	}
	before := rows()
	for i, row := range before {
		if _, ok := row["display_name"]; ok {
			t.Errorf("row %d: %v", i, row)
		}
	}
	if out := board(); strings.Contains(out, "NAME") {
		t.Errorf("a column of no names:\n%s", out)
	}

	c, err := dial(p.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.conn.Close() }()
	want := []string{"\u6F22\u5B57", "", "Ada Lovelace"}
	setName(t, c, fmt.Sprint(before[0]["player_id"]), want[0])
	setName(t, c, fmt.Sprint(before[2]["player_id"]), want[2])
	for i, row := range rows() {
		if name, ok := row["display_name"]; ok != (want[i] != "") || ok && name != want[i] {
			t.Errorf("row %d: %v, want %q", i, row, want[i])
		}
	}
	lines := strings.Split(board(), "\n")
	column := strings.Index(lines[0], "NAME")
	if len(lines) != 5 || column < 0 || !strings.HasSuffix(lines[0], "  NAME") {
		t.Fatalf("%d lines, %q", len(lines), lines[0])
	}
	for i, name := range want {
		if line := lines[i+1]; strings.TrimSpace(line[min(column, len(line)):]) != name {
			t.Errorf("row %d: %q, want the name %q", i, line, name)
		}
	}
}
