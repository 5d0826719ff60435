package transcript

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
)

// ErrNotOver is the error of a game that goes on: nothing can be verified before its seed is revealed.
var ErrNotOver = errors.New("the game is not over: its seed is revealed when it is")

// ErrNotFinal is the error of a game that is over while others may still play its deck. To withhold the
// seed of any other game that is over is a difference.
var ErrNotFinal = errors.New("the daily challenge of this game is not final: its seed is revealed one hour after its day (UTC)")

// DifferenceError is the first place where a transcript tells what cannot be so.
type DifferenceError struct {
	Where string // such as "entry 7, fact 2", "deck" or "line 12"; empty for the game as a whole
	What  string // such as "monsterFought.damage"; empty for all of it
	Have  string // what the transcript tells
	Want  string // what follows from the seed, the rules and the moves before
}

// Error is one line.
func (e *DifferenceError) Error() string {
	parts := []string{e.Where, e.What, fmt.Sprintf("have %s, want %s", e.Have, e.Want)}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

// Report is what [Verify] found of a game that is as it should be.
type Report struct {
	GameID    string
	RulesetID string
	Moves     int
	Score     *int32 // nil for an abandoned game
	Entries   int
	// Folded counts the entries of another rules revision. Their facts were applied, so they fit each
	// other, but whether the rules of then would have it so was not judged.
	Folded int
}

// Judged says whether all entries were judged. Otherwise the report proves nothing of those that were not:
// whoever forges a game can give its entries any revision.
func (r Report) Judged() bool { return r.Folded == 0 }

// String is one line, whatever the game is called. It begins with "verified: " only if all was judged.
func (r Report) String() string {
	verdict, score, rest := "verified", "no score", ""
	if r.Score != nil {
		score = fmt.Sprintf("score %d", *r.Score)
	}
	if !r.Judged() {
		verdict = "not judged"
		rest = fmt.Sprintf("; %d of %d entries are not of rules revision %d", r.Folded, r.Entries, engine.RulesRevision)
	}
	return fmt.Sprintf("%s: %s, %s, %d moves, %s%s", verdict, plain(r.GameID), r.RulesetID, r.Moves, score, rest)
}

// Verify plays a finished game again, and returns a report if everything in the history follows from
// the seed, the rules and the moves: the commitment, the deck, each fact and the score. Otherwise the
// error is a [*DifferenceError], [ErrNotOver] or [ErrNotFinal]; any other error is that of a history which is no document.
//
// What nothing follows from is taken as it is told: the game's and the player's name, the mode, and the
// times but for that of the start, which the end of the game repeats. Entries of another rules revision
// are folded, which the report tells.
func Verify(h *gamev1.GetGameHistoryResponse) (Report, error) {
	if err := checkForm(h); err != nil {
		return Report{}, err
	}
	r, err := verifyStart(h)
	if err != nil {
		return Report{}, err
	}
	report := Report{GameID: h.GetGameId(), RulesetID: r.state.Rules().ID(), Entries: len(h.GetEntries())}
	for i, e := range h.GetEntries() {
		if err := r.verifyEntry(i, e); err != nil {
			return Report{}, err
		}
		if e.GetRulesRevision() != engine.RulesRevision {
			report.Folded++
		}
	}
	if !r.state.Status().Over() {
		return Report{}, &DifferenceError{entryName(len(h.GetEntries())), "", "nothing", "the game to go on to its end"}
	}
	report.Moves, report.Score = r.state.Moves(), r.score()
	if have, want := scoreText(h.Score), scoreText(report.Score); have != want {
		return Report{}, &DifferenceError{"", "score", have, want}
	}
	return report, nil
}

// verifyStart checks what holds for the game as a whole, and returns the game before its first entry.
func verifyStart(h *gamev1.GetGameHistoryResponse) (*replay, error) {
	if h.GetSeed() == "" && !ended(h) {
		return nil, ErrNotOver
	}
	if h.GetSeed() == "" && isDaily(h) {
		return nil, ErrNotFinal
	}
	if token := h.GetNextPageToken(); token != "" {
		return nil, &DifferenceError{"", "nextPageToken", quote(token), "nothing: all pages in one document"}
	}
	seed, err := parseSeed(h.GetSeed())
	if err != nil {
		return nil, &DifferenceError{"", "seed", quote(h.GetSeed()), seedForm}
	}
	if len(h.GetEntries()) == 0 {
		return nil, &DifferenceError{entryName(0), "", "nothing", "the start of the game"}
	}
	first := h.GetEntries()[0]
	const where = "entry 1, fact 1"
	if len(first.GetFacts()) == 0 || first.GetFacts()[0].GetGameStarted() == nil {
		return nil, &DifferenceError{where, "kind", factKind(first.GetFacts(), 0), "gameStarted"}
	}
	started := first.GetFacts()[0].GetGameStarted()
	if want := seed.Commitment(); started.GetCommitment() != want {
		return nil, &DifferenceError{"", "commitment", quote(started.GetCommitment()), quote(want)}
	}
	rules, err := record.RulesetFromProto(started.GetRuleset())
	// A ruleset has one spelling.
	if err != nil || !proto.Equal(started.GetRuleset(), record.RulesetToProto(rules)) {
		return nil, &DifferenceError{where, "gameStarted.ruleset", "an invalid one", "a valid one"}
	}
	if mode := started.GetMode(); mode <= 0 || mode > eventv1.GameMode_GAME_MODE_DAILY {
		return nil, &DifferenceError{where, "gameStarted.mode", mode.String(), "GAME_MODE_RANDOM, GAME_MODE_SEEDED or GAME_MODE_DAILY"}
	}
	r, err := newReplay(rules, seed, started.GetMode(), first.GetRecordedAt())
	if err != nil {
		return nil, fmt.Errorf("play game %s again: %w", h.GetGameId(), err)
	}
	shuffled := cardNames(r.state.Dungeon())
	if have, want := len(h.GetDeck()), len(shuffled); have != want {
		return nil, &DifferenceError{"", "deck", fmt.Sprintf("%d cards", have), fmt.Sprint(want)}
	}
	for i, want := range shuffled {
		if have := h.GetDeck()[i]; have != want {
			return nil, &DifferenceError{"deck", fmt.Sprintf("card %d", i+1), quote(have), quote(want)}
		}
	}
	return r, nil
}

// verifyEntry checks the entry at index i, and goes on to the state after it.
func (r *replay) verifyEntry(i int, e *gamev1.HistoryEntry) error {
	where := entryName(i)
	if want := uint64(i + 1); e.GetVersion() != want {
		return &DifferenceError{where, "version", fmt.Sprint(e.GetVersion()), fmt.Sprint(want)}
	}
	if r.state.Status().Over() {
		return &DifferenceError{where, "", moveText(e.GetMove()), "nothing: the game is over"}
	}
	if e.GetRulesRevision() == 0 {
		return &DifferenceError{where, "rulesRevision", "0", "1 or more"}
	}
	if i == 0 && e.GetMove() != nil {
		return &DifferenceError{where, "move", moveText(e.GetMove()), "nothing: the game starts"}
	}
	if e.GetMove() != nil {
		if _, err := record.MoveFromProto(e.GetMove()); err != nil {
			return &DifferenceError{where, "move", moveText(e.GetMove()), "a move"}
		}
	}
	if e.GetRulesRevision() != engine.RulesRevision {
		return r.foldEntry(where, e)
	}
	var want []*eventv1.Fact
	var err error
	if i == 0 {
		want, err = r.open()
	} else {
		want, err = r.play(e.GetMove())
	}
	if err != nil {
		return &DifferenceError{where, "move", moveText(e.GetMove()), "a legal one"}
	}
	return compareFacts(where, e.GetFacts(), want)
}

// foldEntry applies an entry's facts as they are told, but for what they repeat of the game's start.
func (r *replay) foldEntry(where string, e *gamev1.HistoryEntry) error {
	misfit := func(i int) error {
		return &DifferenceError{factName(where, i), "", factKind(e.GetFacts(), i), "a fact that fits"}
	}
	if len(e.GetFacts()) == 0 {
		return misfit(0)
	}
	for i, m := range e.GetFacts() {
		if what, have, want, differ := difference(m.ProtoReflect(), r.repeating(m).ProtoReflect()); differ {
			return &DifferenceError{factName(where, i), what, have, want}
		}
		if r.fold(m) != nil {
			return misfit(i)
		}
	}
	return nil
}

// ended says whether a history tells of its end, true or not.
func ended(h *gamev1.GetGameHistoryResponse) bool {
	return slices.ContainsFunc(h.GetEntries(), func(e *gamev1.HistoryEntry) bool {
		return slices.ContainsFunc(e.GetFacts(), func(f *eventv1.Fact) bool { return f.GetGameOver() != nil })
	})
}

// isDaily tells whether the game says of itself that it is an attempt at a daily challenge.
func isDaily(h *gamev1.GetGameHistoryResponse) bool {
	if len(h.GetEntries()) == 0 || len(h.GetEntries()[0].GetFacts()) == 0 {
		return false
	}
	return h.GetEntries()[0].GetFacts()[0].GetGameStarted().GetMode() == eventv1.GameMode_GAME_MODE_DAILY
}

const seedForm = "64 lower-case hexadecimal digits"

func parseSeed(text string) (seed engine.Seed, err error) {
	data, err := hex.DecodeString(text)
	if err != nil || len(data) != len(seed) || hex.EncodeToString(data) != text {
		return seed, errors.New("these are not " + seedForm)
	}
	return engine.Seed(data), nil
}

// compareFacts returns the first difference between the facts that are told and those that happened.
func compareFacts(where string, have, want []*eventv1.Fact) error {
	for i := range max(len(have), len(want)) {
		if h, w := factKind(have, i), factKind(want, i); h != w {
			return &DifferenceError{factName(where, i), "kind", h, w}
		}
		if what, h, w, differ := difference(have[i].ProtoReflect(), want[i].ProtoReflect()); differ {
			return &DifferenceError{factName(where, i), what, h, w}
		}
	}
	return nil
}

// factKind names the kind of the fact at index i.
func factKind(facts []*eventv1.Fact, i int) string {
	if i >= len(facts) {
		return "nothing"
	}
	m := facts[i].ProtoReflect()
	kind := m.WhichOneof(m.Descriptor().Oneofs().ByName("kind"))
	if kind == nil {
		return "no kind"
	}
	return kind.JSONName()
}

// difference returns the first field in which two messages of one type differ, and its values.
func difference(have, want protoreflect.Message) (what, haveText, wantText string, differ bool) {
	if proto.Equal(have.Interface(), want.Interface()) {
		return "", "", "", false
	}
	fields := want.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch h, w := have.Get(f), want.Get(f); {
		case h.Equal(w):
		case f.Message() == nil || f.IsList():
			return f.JSONName(), fieldText(f, h), fieldText(f, w), true
		case f.Message().FullName() == timestampName:
			return f.JSONName(), timeText(h.Message()), timeText(w.Message()), true
		default:
			what, haveText, wantText, _ = difference(h.Message(), w.Message())
			return f.JSONName() + "." + what, haveText, wantText, true
		}
	}
	return "an unknown field", "one", "none", true
}

var timestampName = (&timestamppb.Timestamp{}).ProtoReflect().Descriptor().FullName()

// timeText shows a time as documents write it; [checkForm] has seen that they can.
func timeText(m protoreflect.Message) string {
	text, err := protojson.Marshal(m.Interface())
	if err != nil {
		return "no time"
	}
	return string(text)
}

// fieldText shows the value of a field that is no message.
func fieldText(f protoreflect.FieldDescriptor, v protoreflect.Value) string {
	if !f.IsList() {
		return scalarText(f, v)
	}
	var parts []string
	for i := range v.List().Len() {
		parts = append(parts, scalarText(f, v.List().Get(i)))
	}
	return "[" + strings.Join(parts, " ") + "]"
}

func scalarText(f protoreflect.FieldDescriptor, v protoreflect.Value) string {
	switch f.Kind() {
	case protoreflect.EnumKind:
		if known := f.Enum().Values().ByNumber(v.Enum()); known != nil {
			return string(known.Name())
		}
	case protoreflect.StringKind:
		return quote(v.String())
	}
	return v.String()
}

// moveText shows an entry's move, whatever it holds.
func moveText(m *rulesv1.Move) string {
	if m == nil {
		return "no move"
	}
	kind := strings.TrimPrefix(m.GetKind().String(), "MOVE_KIND_")
	if m.GetCard() == "" {
		return kind
	}
	return kind + " " + plain(m.GetCard())
}

func scoreText(score *int32) string {
	if score == nil {
		return "nothing"
	}
	return strconv.Itoa(int(*score))
}

// quote shows text from a document.
func quote(s string) string { return `"` + plain(s) + `"` }

// plain writes text so that it stays on one line, short and without a second meaning, in a way that takes one
// line in any language.
func plain(s string) string {
	var out strings.Builder
	n := 0
	for _, c := range s {
		switch n++; {
		case n > 100:
			return out.String()
		case c < ' ' || c > '~' || c == '"' || c == '\\':
			fmt.Fprintf(&out, `\u{%x}`, c)
		default:
			out.WriteRune(c)
		}
	}
	return out.String()
}

func entryName(i int) string { return fmt.Sprintf("entry %d", i+1) }

func factName(where string, i int) string { return fmt.Sprintf("%s, fact %d", where, i+1) }
