package scoundrel

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	scoringv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/scoring/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
	"github.com/scoundrel-game/scoundrel/pkg/rpckit"
)

// defaultAddr is where the server is unless told otherwise.
const defaultAddr = "127.0.0.1:9090"

// retries makes the client library repeat a call that found the server
// unavailable. Every command carries a request id, so a repeat has one effect.
const retries = `{"methodConfig": [{"name": [{}], "waitForReady": false, "retryPolicy": {
	"maxAttempts": 5, "initialBackoff": "0.1s", "maxBackoff": "2s", "backoffMultiplier": 2,
	"retryableStatusCodes": ["UNAVAILABLE"]}}]}`

// callTimeout bounds one call with its repeats.
const callTimeout = 30 * time.Second

// client talks to a server.
type client struct {
	gamev1.GameServiceClient
	scoringv1.ScoringServiceClient

	conn *grpc.ClientConn
}

// dial returns a client; it connects with the first call.
func dial(addr string, more ...grpc.DialOption) (*client, error) {
	conn, err := grpc.NewClient(addr, append([]grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultServiceConfig(retries),
		grpc.WithUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			ctx, cancel := context.WithTimeout(ctx, callTimeout)
			defer cancel()
			return invoke(ctx, method, req, reply, cc, opts...)
		}),
	}, more...)...)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", addr, err)
	}
	return &client{gamev1.NewGameServiceClient(conn), scoringv1.NewScoringServiceClient(conn), conn}, nil
}

// as names the caller of the calls made with the context.
func as(ctx context.Context, playerID, actorKind string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, rpckit.PlayerIDKey, playerID, rpckit.ActorKindKey, actorKind)
}

// requestID returns a fresh id for one command.
func requestID() string { return rand.Text() }

// reason returns the reason of a server's error, such as "ILLEGAL_MOVE".
func reason(err error) string {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}

// explain says for a person what an error means.
func explain(err error) string {
	st, ok := status.FromError(err)
	if !ok {
		return err.Error()
	}
	text := st.Message()
	if r := reason(err); r != "" {
		text += " (" + r + ")"
	}
	if st.Code() != codes.Unavailable || reason(err) != "" {
		return text
	}
	// It comes from the client library, which wraps the cause a few times.
	if i := strings.LastIndex(text, "dial "); i >= 0 {
		text = strings.Trim(text[i:], `"`)
	}
	return "no server answers; start one with `" + self() + " serve`, or name its address with --addr: " + text
}

// addrFlag adds the flag that names the server.
func addrFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("addr", defaultAddr, "the server's address `HOST:PORT`")
}

// rulesFlags name the rules of a game or a leaderboard.
type rulesFlags struct {
	preset          string
	variants        []string
	companionHealth uint8
	depth           uint8
}

// addRulesFlags adds the flags that name the rules.
func addRulesFlags(cmd *cobra.Command) *rulesFlags {
	f := &rulesFlags{}
	cmd.Flags().StringVar(&f.preset, "preset", engine.Presets()[0].Name, "the rules' `NAME`: "+presetNames())
	cmd.Flags().StringSliceVar(&f.variants, "variant", nil, "`NAMES` of variants to play with: "+variantNames())
	cmd.Flags().Uint8Var(&f.companionHealth, "companion-health", 0, fmt.Sprintf("`N` from 0 to %d: the health of the fighter by home_rules", engine.MaxHealth))
	cmd.Flags().Uint8Var(&f.depth, "depth", 0, fmt.Sprintf("`N` from 0 to %d: the game starts with 20 - 2 x N health", engine.MaxDepth))
	return f
}

// ruleset returns the rules that the flags name.
func (f *rulesFlags) ruleset() (engine.Ruleset, error) {
	preset, ok := engine.PresetByName(f.preset)
	if !ok {
		return engine.Ruleset{}, fmt.Errorf("there is no preset %q: choose %s", f.preset, presetNames())
	}
	r := preset.Rules
	r.Depth, r.CompanionHealth = f.depth, f.companionHealth
	for _, name := range f.variants {
		v, err := engine.ParseVariant(strings.TrimSpace(name))
		if err != nil {
			return r, fmt.Errorf("there is no variant %q: choose %s", name, variantNames())
		}
		r.Variants |= v
	}
	return r, r.Validate()
}

func variantNames() string { return strings.Join(engine.AllVariants.Names(), ", ") }

func presetNames() string {
	var names []string
	for _, p := range engine.Presets() {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// startRequest asks for a game by rules.
func startRequest(rules engine.Ruleset) *gamev1.StartGameRequest {
	return &gamev1.StartGameRequest{Rules: &gamev1.StartGameRequest_Ruleset{Ruleset: record.RulesetToProto(rules)}, RequestId: requestID()}
}

// dailyRequest asks for the caller's attempt at today's challenge by rules.
func dailyRequest(rules engine.Ruleset) *gamev1.StartGameRequest {
	req := startRequest(rules)
	req.Mode = eventv1.GameMode_GAME_MODE_DAILY
	return req
}

// self is how this program was called, for what it tells people to type.
func self() string { return os.Args[0] }
