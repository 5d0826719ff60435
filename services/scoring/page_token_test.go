package scoring

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"

	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// TestPageTokensOfOtherReleases opens tokens that were given out by this version:
// whoever pages through a board while the server is replaced goes on.
func TestPageTokensOfOtherReleases(t *testing.T) {
	own, foreign := tokens{bytes.Repeat([]byte{7}, MinTokenKey)}, tokens{bytes.Repeat([]byte{8}, MinTokenKey)}
	day := projection.Board{
		RulesetID: "classic", ActorKind: eventv1.ActorKind_ACTOR_KIND_HUMAN, Period: projection.Day, OpensAt: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
	}
	key := &projection.Key{Score: -7, Moves: 4294967295, EndedAt: time.Date(2026, 12, 1, 9, 0, 0, 5, time.UTC), Stream: "SCOUNDREL_GAMES_26Q4", Sequence: 12345}
	for token, want := range map[string]projection.Range{
		"B2fo5Xs9ceJw6lpQ80D_TQD____5_____xjtFZ85iaAFAAAAAAAAMDlTQ09VTkRSRUxfR0FNRVNfMjZRNA": {After: key},
		"n7C_chcjxkxqP9FQWTWjGgH____5_____xjtFZ85iaAFAAAAAAAAMDlTQ09VTkRSRUxfR0FNRVNfMjZRNA": {Before: key},
	} {
		if got := own.page(day, want); got != token {
			t.Errorf("token %s, was %s", got, token)
		}
		if got, err := own.parsePage(day, token); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s reads as %+v, %v", token, got, err)
		}
		other := day
		other.Period = projection.Week
		_, err := own.parsePage(other, token)
		_, forged := own.parsePage(day, foreign.page(day, want))
		_, cut := own.parsePage(day, token[:len(token)-2])
		for _, err := range []error{err, forged, cut} {
			if !errors.Is(err, ErrPageToken) {
				t.Errorf("another board, another key, or a part: %v", err)
			}
		}
	}
	const listed = "3t-xVGFXExCvVZnCUDcZXwEEGOz4J4MMAABjbGFzc2lj"
	only := projection.Board{RulesetID: "classic"}
	if got := own.board(only, day); got != listed {
		t.Errorf("token %s, was %s", got, listed)
	}
	if got, err := own.parseBoard(only, listed); err != nil || *got != day {
		t.Errorf("%s reads as %+v, %v", listed, got, err)
	}
	if _, err := own.parseBoard(projection.Board{}, listed); !errors.Is(err, ErrPageToken) {
		t.Errorf("another list: %v", err)
	}
}
