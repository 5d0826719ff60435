package profile_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog/memlog"
	profilev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/profile/v1"
	rpcv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rpc/v1"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
	"github.com/scoundrel-game/scoundrel/services/profile"
	"github.com/scoundrel-game/scoundrel/services/profile/profiletest"
)

// serve serves profiles over an in-memory connection.
func serve(t *testing.T, store profile.Store) (profilev1.ProfileServiceClient, healthv1.HealthClient) {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	server, err := rpckit.New(rpckit.Config{Logger: quiet, Tables: []rpckit.Table{profile.Problems}})
	if err != nil {
		t.Fatal(err)
	}
	service := profile.New(profile.Config{Store: store, Log: memlog.New(), Clock: time.Now, Logger: quiet})
	service.Bind(server)
	server.AddReady(profilev1.ProfileService_ServiceDesc.ServiceName, service.Ready)
	listener := bufconn.Listen(1 << 20)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx, listener) }()
	conn, err := grpc.NewClient("passthrough:///bufconn",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return profilev1.NewProfileServiceClient(conn), healthv1.NewHealthClient(conn)
}

// as returns the context of a player's call.
func as(t *testing.T, player string) context.Context {
	return metadata.AppendToOutgoingContext(t.Context(), rpckit.PlayerIDKey, player)
}

// must returns a response that has to be there.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatalf("%v %v", err, status.Convert(err).Details())
		}
		return v
	}
}

// details are what a client can learn from an error.
type details struct {
	metadata map[string]string
	fields   []string
	retry    bool
}

// wantReason checks an error's code and reason and returns what else it tells.
func wantReason(t *testing.T, err error, code codes.Code, reason rpcv1.ErrorReason) (d details) {
	t.Helper()
	got := ""
	for _, detail := range status.Convert(err).Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			got, d.metadata = "ERROR_REASON_"+detail.GetReason(), detail.GetMetadata()
		case *errdetails.BadRequest:
			for _, v := range detail.GetFieldViolations() {
				d.fields = append(d.fields, v.GetField())
			}
		case *errdetails.RetryInfo:
			d.retry = detail.GetRetryDelay().AsDuration() > 0
		}
	}
	if status.Code(err) != code || got != reason.String() {
		t.Errorf("got %v %v, want %v %v", err, status.Convert(err).Details(), code, reason)
	}
	return d
}

func wantProfile(t *testing.T, got *profilev1.Profile, player, name string) {
	t.Helper()
	if want := (&profilev1.Profile{PlayerId: player, DisplayName: name}); !proto.Equal(got, want) {
		t.Errorf("profile %v, want %v", got, want)
	}
}

func TestProfileOfAPlayer(t *testing.T) {
	c, _ := serve(t, &profiletest.Memory{})
	get := func(caller, player string) (*profilev1.Profile, error) {
		res, err := c.GetProfile(as(t, caller), &profilev1.GetProfileRequest{PlayerId: player})
		return res.GetProfile(), err
	}
	set := func(player, name string) {
		t.Helper()
		wantProfile(t, must[*profilev1.SetDisplayNameResponse](t)(c.SetDisplayName(as(t, player), &profilev1.SetDisplayNameRequest{DisplayName: name})).GetProfile(), player, name)
	}
	for _, player := range []string{"ada", ""} {
		_, err := get("ada", player)
		if d := wantReason(t, err, codes.NotFound, rpcv1.ErrorReason_ERROR_REASON_PROFILE_NOT_FOUND); d.metadata["player_id"] != "ada" {
			t.Errorf("metadata %v", d.metadata)
		}
	}
	set("ada", "Countess")
	set("ada", "Ada Lovelace")
	// A name is anybody's.
	set("bob", "Ada Lovelace")
	set("bob", "Bob")
	wantProfile(t, must[*profilev1.Profile](t)(get("ada", "")), "ada", "Ada Lovelace")
	wantProfile(t, must[*profilev1.Profile](t)(get("bob", "ada")), "ada", "Ada Lovelace")

	// A caller deletes nothing but their own.
	for range 2 {
		must[*profilev1.DeleteProfileResponse](t)(c.DeleteProfile(as(t, "ada"), &profilev1.DeleteProfileRequest{}))
		_, err := get("bob", "ada")
		wantReason(t, err, codes.NotFound, rpcv1.ErrorReason_ERROR_REASON_PROFILE_NOT_FOUND)
		wantProfile(t, must[*profilev1.Profile](t)(get("ada", "bob")), "bob", "Bob")
	}
}

func TestProfilesOfMany(t *testing.T) {
	c, _ := serve(t, &profiletest.Memory{})
	var ids, wanted []string
	for i := range 100 {
		id := fmt.Sprint("p.", i)
		ids = append(ids, id)
		if i%7 == 3 {
			must[*profilev1.SetDisplayNameResponse](t)(c.SetDisplayName(as(t, id), &profilev1.SetDisplayNameRequest{DisplayName: "The " + id}))
			wanted = append(wanted, id+" The "+id)
		}
	}
	slices.Reverse(ids)
	slices.Reverse(wanted)
	var got []string
	for _, p := range must[*profilev1.BatchGetProfilesResponse](t)(c.BatchGetProfiles(as(t, "x"), &profilev1.BatchGetProfilesRequest{PlayerIds: ids})).GetProfiles() {
		got = append(got, p.GetPlayerId()+" "+p.GetDisplayName())
	}
	if !slices.Equal(got, wanted) {
		t.Errorf("profiles %q, want %q", got, wanted)
	}
	if res, err := c.BatchGetProfiles(as(t, "x"), &profilev1.BatchGetProfilesRequest{PlayerIds: []string{"nobody"}}); err != nil || len(res.GetProfiles()) != 0 {
		t.Errorf("profiles of nobody: %v, %v", res, err)
	}
}

func TestRequestsThatMakeNoSense(t *testing.T) {
	c, _ := serve(t, &profiletest.Memory{})
	batch := func(ids ...string) error {
		_, err := c.BatchGetProfiles(as(t, "ada"), &profilev1.BatchGetProfilesRequest{PlayerIds: ids})
		return err
	}
	get := func(id string) error {
		_, err := c.GetProfile(as(t, "ada"), &profilev1.GetProfileRequest{PlayerId: id})
		return err
	}
	tooMany := make([]string, 101)
	for i := range tooMany {
		tooMany[i] = fmt.Sprint(i)
	}
	for name, test := range map[string]struct {
		err   error
		field string
	}{
		"an id with another character": {get("a=b"), "player_id"},
		"an id with a line after it":   {get("ada\n"), "player_id"},
		"an id that is too long":       {get(strings.Repeat("x", 65)), "player_id"},
		"no ids":                       {batch(), "player_ids"},
		"too many ids":                 {batch(tooMany...), "player_ids"},
		"an id twice":                  {batch("ada", "ada"), "player_ids"},
		"an empty id":                  {batch("ada", ""), "player_ids[1]"},
		"a wrong id among many":        {batch("ada", "b*b"), "player_ids[1]"},
	} {
		if d := wantReason(t, test.err, codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD); !slices.Equal(d.fields, []string{test.field}) {
			t.Errorf("%s: %v is wrong, want %s", name, d.fields, test.field)
		}
	}
	_, err := c.SetDisplayName(t.Context(), &profilev1.SetDisplayNameRequest{DisplayName: "Ada"})
	wantReason(t, err, codes.Unauthenticated, rpcv1.ErrorReason_ERROR_REASON_IDENTITY_MISSING)
}

func TestDisplayNames(t *testing.T) {
	c, _ := serve(t, &profiletest.Memory{})
	family := "\U0001F468\u200D\U0001F469\u200D\U0001F467\u200D\U0001F466"
	for name, test := range map[string]struct{ given, stored string }{ // stored is "" where it is given
		"one letter":                  {"x", ""},
		"32 letters":                  {strings.Repeat("x", 32), ""},
		"words":                       {"Ada, Countess of Lovelace", ""},
		"punctuation and symbols":     {`<b>"&';--\ 100 % $#!`, ""},
		"composed":                    {"Zo\u00EB", ""},
		"decomposed":                  {"Zoe\u0308", "Zo\u00EB"},
		"Hangul jamo":                 {"\u1112\u1161\u11AB", "\uD55C"},
		"marks in another order":      {"q\u0307\u0323", "q\u0323\u0307"},
		"a compatibility sign":        {"\u212B\uFB01", "\u00C5\uFB01"}, // form C, not KC
		"32 letters with two marks":   {strings.Repeat("q\u0323\u0307", 32), ""},
		"32 wide characters":          {strings.Repeat("\u6F22", 32), ""},
		"Arabic":                      {"\u0622\u062F\u0627", ""},
		"Hebrew with points":          {"\u05E9\u05C1\u05B8\u05DC\u05D5\u05B9\u05DD", "\u05E9\u05B8\u05C1\u05DC\u05D5\u05B9\u05DD"},
		"Persian with a non-joiner":   {"\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645", ""},
		"Devanagari":                  {"\u0915\u094D\u0937\u0924\u094D\u0930\u093F\u092F", ""},
		"emoji":                       {"\u2764\uFE0F\u200D\U0001F525", ""},
		"a keycap":                    {"1\uFE0F\u20E3", ""},
		"20 families":                 {strings.Repeat(family, 20), ""},
		"a flag":                      {"\U0001F1E9\U0001F1EA", ""},
		"a thumb with a skin":         {"\U0001F44D\U0001F3FD", ""},
		"four marks":                  {"q\u0323\u0307\u0301\u0302", ""},
		"three spaces between":        {"a   b", ""},
		"a mark after a space, later": {"a \u0301b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			want := test.stored
			if want == "" {
				want = test.given
			}
			res, err := c.SetDisplayName(as(t, "ada"), &profilev1.SetDisplayNameRequest{DisplayName: test.given})
			if err != nil {
				t.Fatalf("%+q: %v", test.given, err)
			}
			wantProfile(t, res.GetProfile(), "ada", want)
			wantProfile(t, must[*profilev1.GetProfileResponse](t)(c.GetProfile(as(t, "bob"), &profilev1.GetProfileRequest{PlayerId: "ada"})).GetProfile(), "ada", want)
			// What is stored can be set again and stays as it is.
			wantProfile(t, must[*profilev1.SetDisplayNameResponse](t)(c.SetDisplayName(as(t, "ada"), &profilev1.SetDisplayNameRequest{DisplayName: want})).GetProfile(), "ada", want)
		})
	}
}

func TestDisplayNamesThatAreRefused(t *testing.T) {
	c, _ := serve(t, &profiletest.Memory{})
	must[*profilev1.SetDisplayNameResponse](t)(c.SetDisplayName(as(t, "ada"), &profilev1.SetDisplayNameRequest{DisplayName: "Ada"}))
	names := map[string]string{
		"nothing":                     "",
		"33 letters":                  strings.Repeat("x", 33),
		"33 emoji":                    strings.Repeat("\U0001F44D\U0001F3FD", 33),
		"more than 512 bytes":         "x" + strings.Repeat("\U0001F468\u200D\U0001F469", 47),
		"a space":                     " ",
		"a space before":              " Ada",
		"a space behind":              "Ada ",
		"a mark at the beginning":     "\u0301Ada",
		"a spacing mark at the start": "\u0903Ada",
		"five marks":                  "q\u0323\u0307\u0301\u0302\u0303",
		"five marks around a joiner":  "q\u0323\u0307\u0301\u200D\u0302\u0303q",
		"a joiner before":             "\u200DAda",
		"a joiner behind":             "Ada\u200D",
		"a non-joiner behind":         "Ada\u200C",
		"two joiners":                 "A\u200D\u200Cda",
		"a joiner before a space":     "A\u200D da",
		"a joiner after a space":      "A \u200Dda",
	}
	for name, r := range map[string]rune{
		"a NUL": 0, "a tab": '\t', "a line feed": '\n', "an escape": 0x1B, "a delete": 0x7F, "a C1 control": 0x9B,
		"a no-break space": 0xA0, "an ideographic space": 0x3000, "an em space": 0x2003, "a line separator": 0x2028,
		"a zero-width space": 0x200B, "a word joiner": 0x2060, "a byte order mark": 0xFEFF, "a soft hyphen": 0xAD,
		"a left-to-right mark": 0x200E, "a right-to-left mark": 0x200F, "an Arabic letter mark": 0x061C,
		"a left-to-right embedding": 0x202A, "a right-to-left embedding": 0x202B, "a pop": 0x202C,
		"a left-to-right override": 0x202D, "a right-to-left override": 0x202E,
		"a left-to-right isolate": 0x2066, "a right-to-left isolate": 0x2067, "a first strong isolate": 0x2068, "a pop of an isolate": 0x2069,
		"a Hangul filler": 0x3164, "a Hangul jamo filler": 0x115F, "a halfwidth filler": 0xFFA0, "an empty Braille pattern": 0x2800,
		"a grapheme joiner": 0x034F, "a tag": 0xE0041, "a private character": 0xE000, "an unassigned one": 0x0378,
		"a noncharacter": 0xFFFE, "a replacement character": 0xFFFD, "an interlinear annotation": 0xFFF9,
	} {
		names[name+", between"] = "A" + string(r) + "da"
		names[name+", alone"] = string(r)
	}
	for name, text := range names {
		t.Run(name, func(t *testing.T) {
			_, err := c.SetDisplayName(as(t, "ada"), &profilev1.SetDisplayNameRequest{DisplayName: text})
			if d := wantReason(t, err, codes.InvalidArgument, rpcv1.ErrorReason_ERROR_REASON_INVALID_FIELD); !slices.Equal(d.fields, []string{"display_name"}) {
				t.Errorf("%+q: %v is wrong", text, d.fields)
			}
			// The message is for people and holds nothing that is refused here.
			if strings.ContainsFunc(status.Convert(err).Message(), func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("message %q", status.Convert(err).Message())
			}
		})
	}
	wantProfile(t, must[*profilev1.GetProfileResponse](t)(c.GetProfile(as(t, "ada"), &profilev1.GetProfileRequest{})).GetProfile(), "ada", "Ada")
}

// broken is a store that fails.
type broken struct{ err error }

func (b broken) Get(context.Context, string) (string, error)                { return "", b.err }
func (b broken) Names(context.Context, []string) (map[string]string, error) { return nil, b.err }
func (b broken) Set(context.Context, string, string) error                  { return b.err }
func (b broken) Delete(context.Context, string) error                       { return b.err }
func (b broken) Ready(context.Context) error                                { return b.err }

func TestStoreThatFails(t *testing.T) {
	for _, test := range []struct {
		err    error
		code   codes.Code
		reason rpcv1.ErrorReason
		retry  bool
	}{
		{fmt.Errorf("%w: secret", profile.ErrUnavailable), codes.Unavailable, rpcv1.ErrorReason_ERROR_REASON_STORAGE_UNAVAILABLE, true},
		{fmt.Errorf("%w: secret", profile.ErrFull), codes.ResourceExhausted, rpcv1.ErrorReason_ERROR_REASON_STORAGE_FULL, false},
		{errors.New("secret"), codes.Internal, rpcv1.ErrorReason_ERROR_REASON_INTERNAL, false},
	} {
		t.Run(test.reason.String(), func(t *testing.T) {
			c, health := serve(t, broken{test.err})
			_, get := c.GetProfile(as(t, "ada"), &profilev1.GetProfileRequest{})
			_, batch := c.BatchGetProfiles(as(t, "ada"), &profilev1.BatchGetProfilesRequest{PlayerIds: []string{"ada"}})
			_, set := c.SetDisplayName(as(t, "ada"), &profilev1.SetDisplayNameRequest{DisplayName: "Ada"})
			_, del := c.DeleteProfile(as(t, "ada"), &profilev1.DeleteProfileRequest{})
			for _, err := range []error{get, batch, set, del} {
				if d := wantReason(t, err, test.code, test.reason); d.retry != test.retry {
					t.Errorf("retry %v, want %v", d.retry, test.retry)
				}
				if strings.Contains(status.Convert(err).Message(), "secret") {
					t.Errorf("a client is told %q", status.Convert(err).Message())
				}
			}
			wantHealth(t, health, healthv1.HealthCheckResponse_NOT_SERVING)
		})
	}
	_, health := serve(t, &profiletest.Memory{})
	wantHealth(t, health, healthv1.HealthCheckResponse_SERVING)
}

// wantHealth checks the health of the service. The first look at it comes before
// the first call.
func wantHealth(t *testing.T, health healthv1.HealthClient, want healthv1.HealthCheckResponse_ServingStatus) {
	t.Helper()
	res, err := health.Check(t.Context(), &healthv1.HealthCheckRequest{Service: profilev1.ProfileService_ServiceDesc.ServiceName})
	if err != nil || res.GetStatus() != want {
		t.Errorf("health %v, %v; want %v", res.GetStatus(), err, want)
	}
}
