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

	"google.golang.org/protobuf/encoding/protojson"

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
// JSON is only read: whether it makes sense is for [Verify] to say. Text is played again, so what it
// gives can be verified; text that contradicts itself gives a [*DifferenceError], text that cannot be
// read a [*TextError]. Anything else gives [ErrUnknownForm].
func Parse(data []byte) (*gamev1.GetGameHistoryResponse, error) {
	switch trimmed := bytes.TrimSpace(data); {
	case bytes.HasPrefix(trimmed, []byte("{")):
		h := &gamev1.GetGameHistoryResponse{}
		if err := protojson.Unmarshal(data, h); err != nil {
			return nil, fmt.Errorf("decode the transcript: %w", err)
		}
		return h, nil
	case bytes.HasPrefix(trimmed, []byte("[")):
		return parseText(string(data))
	}
	return nil, ErrUnknownForm
}
