package profiletest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scoundrel-game/scoundrel/services/profile"
)

// patience is how long anything may take.
const patience = 30 * time.Second

// Run runs the suite on stores that a factory returns; each is empty, and ends
// with its test.
func Run(t *testing.T, factory func(testing.TB) profile.Store) {
	for name, test := range map[string]func(*testing.T, context.Context, profile.Store){
		"a player without a name":             nobody,
		"a name is read back as it was set":   readBack,
		"a name takes the place of another":   replaced,
		"every player id has its own name":    everyID,
		"names of many":                       many,
		"an erased name is gone":              erased,
		"changes at the same time":            together,
		"a context that has ended":            ended,
		"a store that is there says it is so": ready,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			t.Cleanup(cancel)
			test(t, ctx, factory(t))
		})
	}
}

// set gives a player a name.
func set(t *testing.T, ctx context.Context, s profile.Store, player, name string) {
	t.Helper()
	if err := s.Set(ctx, player, name); err != nil {
		t.Fatalf("set %s: %v", player, err)
	}
}

// want checks a player's name; "" for none.
func want(t *testing.T, ctx context.Context, s profile.Store, player, name string) {
	t.Helper()
	got, err := s.Get(ctx, player)
	if none, ok := errors.AsType[*profile.NotFoundError](err); name == "" && ok && none.PlayerID == player {
		err = nil
	}
	if got != name || err != nil {
		t.Errorf("%s is called %q, %v; want %q", player, got, err, name)
	}
	names, err := s.Names(ctx, []string{player})
	if got, ok := names[player]; err != nil || got != name || ok != (name != "") || len(names) > 1 {
		t.Errorf("names of %s: %v, %v; want %q", player, names, err, name)
	}
}

func nobody(t *testing.T, ctx context.Context, s profile.Store) {
	want(t, ctx, s, "ada", "")
	names, err := s.Names(ctx, nil)
	if len(names) != 0 || err != nil {
		t.Errorf("names of nobody: %v, %v", names, err)
	}
}

func readBack(t *testing.T, ctx context.Context, s profile.Store) {
	for i, name := range []string{"Ada", "א ב", "👩‍👩‍👧", "=.*>$", strings.Repeat("漢", 170)} {
		player := fmt.Sprint(i)
		set(t, ctx, s, player, name)
		want(t, ctx, s, player, name)
	}
}

func replaced(t *testing.T, ctx context.Context, s profile.Store) {
	for _, name := range []string{"Ada", "Countess", "Countess", "Ada"} {
		set(t, ctx, s, "ada", name)
		want(t, ctx, s, "ada", name)
	}
}

func everyID(t *testing.T, ctx context.Context, s profile.Store) {
	ids := []string{
		"a", "A", "a.b", "a_b", "a-b", "a..b", ".", "..", ".a", "a.", "_", "-", "_a", "-a", "--", "7",
		strings.Repeat("x", 64), strings.Repeat(".", 64),
	}
	for _, id := range ids {
		set(t, ctx, s, id, "name of "+id)
	}
	for _, id := range ids {
		want(t, ctx, s, id, "name of "+id)
	}
}

func many(t *testing.T, ctx context.Context, s profile.Store) {
	wanted := map[string]string{}
	var ids []string
	for i := range 100 {
		id := fmt.Sprint("player.", i)
		ids = append(ids, id)
		if i%3 == 0 {
			wanted[id] = fmt.Sprint("Player ", i)
			set(t, ctx, s, id, wanted[id])
		}
	}
	set(t, ctx, s, "another", "Another")
	got, err := s.Names(ctx, ids)
	if err != nil || !maps.Equal(got, wanted) {
		t.Errorf("names %v, %v; want %v", got, err, wanted)
	}
}

func erased(t *testing.T, ctx context.Context, s profile.Store) {
	set(t, ctx, s, "ada", "Ada")
	set(t, ctx, s, "bob", "Bob")
	for range 2 { // the second time there is nothing left
		if err := s.Delete(ctx, "ada"); err != nil {
			t.Fatal(err)
		}
		want(t, ctx, s, "ada", "")
		want(t, ctx, s, "bob", "Bob")
	}
	set(t, ctx, s, "ada", "Countess")
	want(t, ctx, s, "ada", "Countess")
}

func together(t *testing.T, ctx context.Context, s profile.Store) {
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			id := fmt.Sprint(i)
			if err := errors.Join(s.Set(ctx, id, id), s.Set(ctx, "all", id), s.Delete(ctx, "none")); err != nil {
				t.Error(err)
			}
			if _, err := s.Names(ctx, []string{"all", id}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range 20 {
		want(t, ctx, s, fmt.Sprint(i), fmt.Sprint(i))
	}
	if name, err := s.Get(ctx, "all"); name == "" || err != nil {
		t.Errorf("after %d names: %q, %v", 20, name, err)
	}
}

func ended(t *testing.T, ctx context.Context, s profile.Store) {
	set(t, ctx, s, "ada", "Ada")
	over, cancel := context.WithCancel(ctx)
	cancel()
	_, get := s.Get(over, "ada")
	_, names := s.Names(over, []string{"ada"})
	for call, err := range map[string]error{
		"get": get, "names": names, "set": s.Set(over, "ada", "Countess"), "delete": s.Delete(over, "ada"), "ready": s.Ready(over),
	} {
		if !errors.Is(err, context.Canceled) || errors.Is(err, profile.ErrUnavailable) {
			t.Errorf("%s: %v", call, err)
		}
	}
	want(t, ctx, s, "ada", "Ada")
}

func ready(t *testing.T, ctx context.Context, s profile.Store) {
	if err := s.Ready(ctx); err != nil {
		t.Error(err)
	}
}
