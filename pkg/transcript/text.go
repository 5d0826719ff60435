package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	rulesv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/rules/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
)

// The text form, line by line:
//
//	[Game "26q4-07-gpv30w6vzhqr4ygnysje44majg"]   the headers, values quoted as in Go
//	...
//	                                              an empty line
//	1. 5H 2C 5S 6D: DRINK 5H {+4.2s}, AVOID {+1s} each room that was dealt: its number, its cards and the
//	...                                           moves made in it, with the time since the move before
//	                                              an empty line
//	LOST -41                                      the result with its score, or ABANDONED {+3s}
//
// A room dealt after an avoided one keeps its number, as in the game.

// The headers.
const (
	headerGame          = "Game"
	headerPlayer        = "Player"
	headerRuleset       = "Ruleset"
	headerMode          = "Mode"
	headerStarted       = "Started"
	headerRulesRevision = "RulesRevision"
	headerCommitment    = "Commitment" // follows from the seed
	headerSeed          = "Seed"
	headerScore         = "Score" // follows from the moves; not there in an abandoned game
)

// modePrefix is what a mode's name has before the word that the text shows.
const modePrefix = "GAME_MODE_"

// ErrNoText is wrapped by the errors of histories that are sound but that text cannot give back.
var ErrNoText = errors.New("the game has no text form")

// TextError is a place where text is not that of a transcript.
type TextError struct {
	Line    int // counts from 1
	Problem string
}

// Error names the line and the problem.
func (e *TextError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Problem) }

// Text returns a finished game as text, from which [Parse] gets back the same history. It verifies the
// game first, as text holds only what the rest follows from: its errors are those of [Verify], and wrap
// [ErrNoText] for a game of another rules revision, whose moves this program cannot make.
func Text(h *gamev1.GetGameHistoryResponse) ([]byte, error) {
	report, err := Verify(h)
	if err != nil {
		return nil, err
	}
	if report.Folded > 0 {
		return nil, fmt.Errorf("%w: it was not played under rules revision %d alone", ErrNoText, engine.RulesRevision)
	}
	text, err := writeText(h)
	if err != nil {
		return nil, err
	}
	// What text has no place for, such as a pause of centuries or a field of a newer program, must not be lost.
	if again, err := parseText(string(text)); err != nil || !proto.Equal(h, again) {
		return nil, fmt.Errorf("%w: it holds what text cannot tell", ErrNoText)
	}
	return text, nil
}

// writeText writes a verified game.
func writeText(h *gamev1.GetGameHistoryResponse) ([]byte, error) {
	r, err := verifyStart(h)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	header := func(name, value string) { fmt.Fprintf(&out, "[%s %q]\n", name, value) }
	header(headerGame, h.GetGameId())
	header(headerPlayer, h.GetPlayerId())
	header(headerRuleset, r.state.Rules().ID())
	header(headerMode, strings.TrimPrefix(r.over.Mode.String(), modePrefix))
	header(headerStarted, r.over.StartedAt.Format(time.RFC3339Nano))
	header(headerRulesRevision, strconv.Itoa(engine.RulesRevision))
	header(headerCommitment, r.state.Seed().Commitment())
	header(headerSeed, h.GetSeed())
	if h.Score != nil {
		header(headerScore, scoreText(h.Score))
	}
	before, separator := r.over.StartedAt, ""
	for i, e := range h.GetEntries() {
		now := e.GetRecordedAt().AsTime()
		pause := " " + formatPause(now.Sub(before))
		before = now
		if e.GetMove() != nil {
			out.WriteString(separator + moveText(e.GetMove()) + pause)
			separator = ", "
		}
		dealt := false
		for _, f := range e.GetFacts() {
			dealt = dealt || f.GetRoomDealt() != nil
			if err := r.fold(f); err != nil {
				return nil, err
			}
		}
		if dealt {
			fmt.Fprintf(&out, "\n%s:", r.room())
			separator = " "
		}
		if i == len(h.GetEntries())-1 {
			fmt.Fprintf(&out, "\n\n%v", r.state.Status())
			if h.Score != nil {
				out.WriteString(" " + scoreText(h.Score))
			}
			if e.GetMove() == nil {
				out.WriteString(pause)
			}
		}
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// formatPause writes the time between two moves, which two servers' clocks can make negative.
func formatPause(d time.Duration) string {
	sign := "+"
	if d < 0 {
		sign = ""
	}
	return "{" + sign + d.String() + "}"
}

// parsePause reads what formatPause writes, braces and all.
func parsePause(text string) (time.Duration, error) {
	return time.ParseDuration(strings.Trim(text, "{}"))
}

// textParser takes from text what the rest follows from.
type textParser struct {
	lines   []textLine // those that are not blank
	headers map[string]textLine
	moves   []textMove
	result  textLine // the line that is read last, without a number before it
}

// textLine is a line, or the value of a header in it, with its number, from 1.
type textLine struct {
	number int
	text   string
}

func (l textLine) name() string { return fmt.Sprintf("line %d", l.number) }

func (l textLine) problem(format string, args ...any) error {
	return &TextError{l.number, fmt.Sprintf(format, args...)}
}

func (l textLine) differs(want string) error {
	have := "nothing"
	if l.text != "" {
		have = strconv.Quote(l.text)
	}
	return &DifferenceError{l.name(), "", have, want}
}

// textMove is a move and the time since the one before; without a move it is a resignation.
type textMove struct {
	textLine

	room  string // before the first move of a line
	move  *rulesv1.Move
	pause time.Duration
}

// parseText plays the moves of text again, and then accepts nothing but what would be written of that
// game: so whatever contradicts it is found, and a game has one text.
func parseText(text string) (*gamev1.GetGameHistoryResponse, error) {
	p := &textParser{headers: make(map[string]textLine)}
	end := textLine{}
	for line := range strings.SplitSeq(text, "\n") {
		end.number++
		if line = strings.TrimRight(line, " \t\r"); line == "" {
			continue
		}
		p.lines = append(p.lines, textLine{end.number, line})
		if err := p.read(p.lines[len(p.lines)-1]); err != nil {
			return nil, err
		}
	}
	if p.result.number == 0 {
		return nil, end.problem("the result is missing")
	}
	h, err := p.play()
	if err != nil {
		return nil, err
	}
	written, err := writeText(h)
	if err != nil {
		return nil, err
	}
	want := slices.DeleteFunc(strings.Split(string(written), "\n"), func(line string) bool { return line == "" })
	for i, line := range p.lines {
		if i >= len(want) {
			return nil, line.differs("nothing")
		}
		if line.text != want[i] {
			return nil, line.differs(strconv.Quote(want[i]))
		}
	}
	if len(p.lines) < len(want) {
		return nil, end.differs(strconv.Quote(want[len(p.lines)]))
	}
	return h, nil
}

var (
	headerLine = regexp.MustCompile(`^\[([A-Za-z]+) (".*")\]$`)
	roomLine   = regexp.MustCompile(`^([0-9]+\. [^:]*):(.*)$`)
	resultLine = regexp.MustCompile(`^(WON|LOST) -?[0-9]+$|^ABANDONED (\{.*\})$`)
	timedMove  = regexp.MustCompile(`^ ([^{}]*) (\{.*\})$`)
)

// read takes what there is to know from a line.
func (p *textParser) read(line textLine) error {
	if p.result.number != 0 {
		return line.problem("there is more after the result")
	}
	if m := headerLine.FindStringSubmatch(line.text); m != nil {
		value, err := strconv.Unquote(m[2])
		if err != nil {
			return line.problem("the value of header %s is not quoted as it must be", m[1])
		}
		if _, twice := p.headers[m[1]]; twice {
			return line.problem("header %s is there twice", m[1])
		}
		p.headers[m[1]] = textLine{line.number, value}
		return nil
	}
	if m := resultLine.FindStringSubmatch(line.text); m != nil {
		p.result = line
		if m[2] == "" {
			return nil
		}
		pause, err := parsePause(m[2])
		if err != nil {
			return line.problem("%v", err)
		}
		p.moves = append(p.moves, textMove{textLine: line, pause: pause})
		return nil
	}
	m := roomLine.FindStringSubmatch(line.text)
	if m == nil {
		return line.problem("this is no header, no room and no result")
	}
	room, moves := m[1], m[2]
	if moves == "" {
		return nil
	}
	for text := range strings.SplitSeq(moves, ",") {
		m := timedMove.FindStringSubmatch(text)
		if m == nil {
			return line.problem("%.40q is not a move with its time, such as \"AVOID {+1.5s}\"", strings.TrimSpace(text))
		}
		move, err := engine.ParseMove(m[1])
		if err != nil {
			return line.problem("%v", err)
		}
		pause, err := parsePause(m[2])
		if err != nil {
			return line.problem("%v", err)
		}
		p.moves = append(p.moves, textMove{textLine{line.number, m[1]}, room, record.MoveToProto(move), pause})
		room = ""
	}
	return nil
}

// play plays the game that was read. Parts of the text that follow from others are compared in the end, but
// for the commitment and the rooms: what is amiss with them is said before what comes of it.
func (p *textParser) play() (*gamev1.GetGameHistoryResponse, error) {
	rules, err := readHeader(p, headerRuleset, engine.ParseRulesetID)
	if err != nil {
		return nil, err
	}
	mode, err := readHeader(p, headerMode, parseMode)
	if err != nil {
		return nil, err
	}
	now, err := readHeader(p, headerStarted, parseTime)
	if err != nil {
		return nil, err
	}
	seed, err := readHeader(p, headerSeed, parseSeed)
	if err != nil {
		return nil, err
	}
	if _, err := readHeader(p, headerRulesRevision, parseRevision); err != nil {
		return nil, err
	}
	have, ok := p.headers[headerCommitment]
	if want := seed.Commitment(); ok && have.text != want {
		return nil, &DifferenceError{have.name(), "commitment", quote(have.text), quote(want)}
	}
	r, err := newReplay(rules, seed, mode, timestamppb.New(now))
	if err != nil {
		return nil, fmt.Errorf("play the game of the text: %w", err)
	}
	h := &gamev1.GetGameHistoryResponse{
		GameId: p.headers[headerGame].text, PlayerId: p.headers[headerPlayer].text,
		Seed: p.headers[headerSeed].text, Deck: cardNames(r.state.Dungeon()),
	}
	enter := func(move *rulesv1.Move, facts []*eventv1.Fact) {
		h.Entries = append(h.Entries, &gamev1.HistoryEntry{
			Version: uint64(len(h.Entries) + 1), RecordedAt: timestamppb.New(now), Move: move, Facts: facts, RulesRevision: engine.RulesRevision,
		})
	}
	facts, err := r.open()
	if err != nil {
		return nil, fmt.Errorf("play the game of the text: %w", err)
	}
	enter(nil, facts)
	for _, m := range p.moves {
		if want := r.room(); m.room != "" && m.room != want {
			return nil, &DifferenceError{m.name(), "room", quote(m.room), quote(want)}
		}
		now = now.Add(m.pause)
		if timestamppb.New(now).CheckValid() != nil {
			return nil, m.problem("its time does not lie in the years 1 to 9999")
		}
		facts, err := r.play(m.move)
		if err != nil {
			return nil, m.differs("a legal move: " + err.Error())
		}
		enter(m.move, facts)
	}
	if !r.state.Status().Over() {
		return nil, p.result.differs("further moves: the game is not over")
	}
	h.Score = r.score()
	return h, nil
}

// readHeader reads the value of a header.
func readHeader[T any](p *textParser, name string, parse func(string) (T, error)) (T, error) {
	line, ok := p.headers[name]
	if !ok {
		var none T
		return none, textLine{number: 1}.problem("header %s is missing", name)
	}
	value, err := parse(line.text)
	if err != nil {
		return value, line.problem("header %s: %v", name, err)
	}
	return value, nil
}

func parseMode(text string) (eventv1.GameMode, error) {
	mode := eventv1.GameMode(eventv1.GameMode_value[modePrefix+text])
	if mode == eventv1.GameMode_GAME_MODE_UNSPECIFIED {
		return mode, errors.New("there is no such mode")
	}
	return mode, nil
}

func parseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err == nil && timestamppb.New(t).CheckValid() != nil {
		err = errors.New("it does not lie in the years 1 to 9999")
	}
	return t, err
}

func parseRevision(text string) (int, error) {
	if text != strconv.Itoa(engine.RulesRevision) {
		return 0, fmt.Errorf("this program plays by rules revision %d", engine.RulesRevision)
	}
	return engine.RulesRevision, nil
}
