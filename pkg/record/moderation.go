package record

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
)

// Moderation is a moderator's decision to hide a player or a game, or to show it
// again.
type Moderation struct {
	// PlayerID or Game is who or what; the other one is zero.
	PlayerID string
	Game     eventlog.GameID
	// Hidden tells whether it is hidden.
	Hidden bool
	// Reason is why, and ModeratorID who decided.
	Reason, ModeratorID string
	// At is when.
	At time.Time
}

func (m Moderation) subject() eventlog.ControlSubject {
	if m.PlayerID != "" {
		return eventlog.PlayerModerationSubject(m.PlayerID)
	}
	return eventlog.GameModerationSubject(m.Game)
}

// Moderate records a decision, unless what it says holds already. It returns the
// decision that holds then, where it stands in the log, and whether it is this one;
// a zero position where something was to be shown that was never hidden. Errors of
// the log; one that wraps ErrMalformed where the log holds none before it.
func Moderate(ctx context.Context, log eventlog.Log, m Moderation) (Moderation, eventlog.Position, bool, error) {
	changed := false
	last, position, err := decide(ctx, log, m.subject(), m.At, TypeModeration, func(last *eventv1.ControlRecord) (*eventv1.ControlRecord, error) {
		if last != nil {
			before, err := moderation(last)
			if changed = before.Hidden != m.Hidden; !changed || err != nil {
				return nil, err
			}
		} else if changed = m.Hidden; !changed {
			return nil, nil
		}
		decision := &eventv1.Moderation{Hidden: m.Hidden, Reason: m.Reason, ModeratorId: m.ModeratorID}
		if m.PlayerID != "" {
			decision.Target = &eventv1.Moderation_PlayerId{PlayerId: m.PlayerID}
		} else {
			decision.Target = &eventv1.Moderation_GameId{GameId: m.Game.String()}
		}
		return &eventv1.ControlRecord{Kind: &eventv1.ControlRecord_Moderation{Moderation: decision}}, nil
	})
	if err != nil || last == nil {
		return m, eventlog.Position{}, false, err
	}
	holds, err := moderation(last)
	return holds, position, changed, err
}

// moderation reads a decision. Its error wraps ErrMalformed.
func moderation(record *eventv1.ControlRecord) (Moderation, error) {
	d := record.GetModeration()
	m := Moderation{
		PlayerID: d.GetPlayerId(), Hidden: d.GetHidden(), Reason: d.GetReason(), ModeratorID: d.GetModeratorId(), At: record.GetRecordedAt().AsTime(),
	}
	var err error
	if m.PlayerID == "" {
		m.Game, err = eventlog.ParseGameID(d.GetGameId())
	}
	if err == nil && m.subject().String() != record.GetSubject() {
		err = errors.New("it is about another player or game")
	}
	if err != nil {
		return m, fmt.Errorf("%w: moderation in %s: %w", ErrMalformed, record.GetSubject(), err)
	}
	return m, nil
}

// Erasure is a player's wish to be forgotten, with all that was played by then.
type Erasure struct {
	PlayerID string
	At       time.Time
}

// Erase records that a player is to be forgotten, and returns where that stands in
// the log. Errors of the log.
func Erase(ctx context.Context, log eventlog.Log, e Erasure) (eventlog.Position, error) {
	_, position, err := decide(ctx, log, eventlog.ErasureSubject(e.PlayerID), e.At, TypeErasure, func(*eventv1.ControlRecord) (*eventv1.ControlRecord, error) {
		return &eventv1.ControlRecord{Kind: &eventv1.ControlRecord_Erasure{Erasure: &eventv1.Erasure{PlayerId: e.PlayerID}}}, nil
	})
	return position, err
}

// ReadDecision returns the moderation or the erasure that an event of the control
// stream records; both are nil for one of another kind. Its errors are those of
// ReadControl.
func ReadDecision(e eventlog.Stored) (*Moderation, *Erasure, error) {
	record, err := ReadControl(e)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case record.GetModeration() != nil:
		m, err := moderation(record)
		if err != nil {
			return nil, nil, err
		}
		return &m, nil, nil
	case record.GetErasure() != nil:
		erased := Erasure{record.GetErasure().GetPlayerId(), record.GetRecordedAt().AsTime()}
		if erased.PlayerID == "" || eventlog.ErasureSubject(erased.PlayerID) != e.Control {
			return nil, nil, fmt.Errorf("%w: erasure in %s: it is about another player", ErrMalformed, e.Control)
		}
		return nil, &erased, nil
	default:
		return nil, nil, nil
	}
}
