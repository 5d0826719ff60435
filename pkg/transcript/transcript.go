// Package transcript is the public history of one game as a document that can be kept, shown and
// checked by anyone. The document is a [gamev1.GetGameHistoryResponse] that holds all entries of the
// game.
//
// It has two forms. [JSON] writes any history, of a game that goes on too. [Text] writes a finished
// game for people, in little more than its moves: everything else follows from them and the seed, and
// [Parse], which reads both forms, plays the game again to get it back.
//
// [Verify] checks a finished game without trusting whoever wrote it down.
package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
)

// ErrUnknownForm is the error of a document that is neither of the two forms.
var ErrUnknownForm = errors.New("a transcript starts with { (JSON) or [ (text)")

// JSON returns the history in the JSON mapping of Protocol Buffers, over many lines. The same history
// always gives the same bytes.
func JSON(h *gamev1.GetGameHistoryResponse) ([]byte, error) {
	data, err := protojson.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode the transcript: %w", err)
	}
	// protojson varies its white space from build to build, on purpose; Indent makes it all anew.
	var out bytes.Buffer
	if err := json.Indent(&out, data, "", "  "); err != nil {
		return nil, fmt.Errorf("encode the transcript: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// Parse reads what [JSON] or [Text] wrote; the first character tells which.
//
// JSON is only read, strictly: what [JSON] would not write is refused, so that all who read a document see the same
// in it. Whether it makes sense is for [Verify] to say. Text is played again, so what it
// gives can be verified; text that contradicts itself gives a [*DifferenceError], text that cannot be
// read a [*TextError]. Anything else gives [ErrUnknownForm].
func Parse(data []byte) (*gamev1.GetGameHistoryResponse, error) {
	switch trimmed := bytes.TrimSpace(data); {
	case bytes.HasPrefix(trimmed, []byte("{")):
		h := &gamev1.GetGameHistoryResponse{}
		if err := protojson.Unmarshal(data, h); err != nil {
			return nil, fmt.Errorf("decode the transcript: %w", err)
		}
		// protojson reads more than it writes: null, numbers in strings, other names of fields.
		written, err := protojson.Marshal(h)
		if err != nil {
			return nil, fmt.Errorf("decode the transcript: %w", err)
		}
		if !sameJSON(data, written) {
			return nil, errors.New("decode the transcript: a value is not written as it must be, or is one that is left out")
		}
		return h, nil
	case bytes.HasPrefix(trimmed, []byte("[")):
		return parseText(string(data))
	}
	return nil, ErrUnknownForm
}

// sameJSON compares values in JSON. Neither blank space nor the order of fields counts, the spelling of numbers does.
func sameJSON(a, b []byte) bool {
	var values [2]any
	for i, data := range [][]byte{a, b} {
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		if d.Decode(&values[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

// checkForm refuses what the types of a history's messages allow but no document has: an enumeration's value without
// a name, a time that is missing or out of range, and what the server seals.
func checkForm(h *gamev1.GetGameHistoryResponse) error {
	err := protorange.Range(h.ProtoReflect(), func(p protopath.Values) error {
		last := p.Index(-1)
		switch v := last.Value.Interface().(type) {
		case protoreflect.EnumNumber:
			if last.Step.Kind() == protopath.ListIndexStep {
				last = p.Index(-2)
			}
			if last.Step.FieldDescriptor().Enum().Values().ByNumber(v) == nil {
				return fmt.Errorf("%v: %d has no name", p.Path[1:], v)
			}
		case protoreflect.Message:
			switch m := v.Interface().(type) {
			case *gamev1.HistoryEntry:
				return timeError(p.Path, "recorded_at", m.GetRecordedAt())
			case *eventv1.GameOver:
				return timeError(p.Path, "started_at", m.GetStartedAt())
			case *eventv1.Sealed:
				return fmt.Errorf("%v: it is sealed", p.Path[1:])
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the transcript: %w", err)
	}
	return nil
}

// timeError returns an error unless a field of the message at a path is a time.
func timeError(p protopath.Path, field string, at *timestamppb.Timestamp) error {
	if err := at.CheckValid(); err != nil {
		return fmt.Errorf("%v.%s: %w", p[1:], field, err)
	}
	return nil
}
