package record

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
)

// Types of control events, as tools that read the log see them.
const (
	TypeDailyChallenge = "DAILY_CHALLENGE"
	TypeDailyReveal    = "DAILY_REVEAL"
	TypeModeration     = "MODERATION"
	TypeErasure        = "ERASURE"
)

func encodeControl(kind string, m *eventv1.ControlRecord) (eventlog.Event, error) {
	data, err := proto.Marshal(m)
	if err != nil {
		return eventlog.Event{}, fmt.Errorf("encode version %d of %s: %w", m.GetVersion(), m.GetSubject(), err)
	}
	return eventlog.Event{ID: hex.EncodeToString(m.GetEventId()), Version: m.GetVersion(), Type: kind, Data: data}, nil
}

// ReadControl reads an event of the control stream; no key is needed. Its error
// wraps ErrMalformed, also where the event stands in another's place, or
// ErrNewerSchema for a kind of record that this program does not know.
func ReadControl(e eventlog.Stored) (*eventv1.ControlRecord, error) {
	m := &eventv1.ControlRecord{}
	if err := proto.Unmarshal(e.Data, m); err != nil {
		return nil, fmt.Errorf("%w: version %d of %s: %w", ErrMalformed, e.Version, e.Control, err)
	}
	if len(m.GetEventId()) != 16 || m.GetSubject() != e.Control.String() || m.GetVersion() != e.Version || m.GetRecordedAt().CheckValid() != nil {
		return nil, fmt.Errorf("%w: version %d of %s holds version %d of %q, or lacks an event id or time", ErrMalformed, e.Version, e.Control, m.GetVersion(), m.GetSubject())
	}
	if m.GetKind() == nil {
		if len(m.ProtoReflect().GetUnknown()) > 0 {
			return nil, fmt.Errorf("%w: version %d of %s", ErrNewerSchema, e.Version, e.Control)
		}
		return nil, fmt.Errorf("%w: version %d of %s records nothing", ErrMalformed, e.Version, e.Control)
	}
	return m, nil
}

// conflicts is how often a decision is made again because another one on the same
// subject came first.
const conflicts = 5

// decide appends what next makes of the last record of a control subject, nil where
// there is none; where next returns nil, that record stays the last. It returns the
// record that then is the last, and where it stands. Errors of the log; those of
// next as they are.
func decide(ctx context.Context, log eventlog.Log, subject eventlog.ControlSubject, at time.Time, kind string,
	next func(last *eventv1.ControlRecord) (*eventv1.ControlRecord, error),
) (*eventv1.ControlRecord, eventlog.Position, error) {
	var err error
	for range conflicts {
		var stored eventlog.Stored
		var last, record *eventv1.ControlRecord
		stored, err = log.LoadControl(ctx, subject)
		if err == nil {
			last, err = ReadControl(stored)
		} else if errors.Is(err, eventlog.ErrNotFound) {
			err = log.ProvisionControl(ctx) // the first record may be the first of all
		}
		if err != nil {
			return nil, eventlog.Position{}, fmt.Errorf("read the last record of %s: %w", subject, err)
		}
		if record, err = next(last); err != nil || record == nil {
			return last, stored.Position, err
		}
		record.EventId = make([]byte, 16)
		rand.Read(record.EventId)
		record.Subject, record.Version, record.RecordedAt = subject.String(), stored.Version+1, timestamppb.New(at)
		var event eventlog.Event
		if event, err = encodeControl(kind, record); err != nil {
			return nil, eventlog.Position{}, err
		}
		var position eventlog.Position
		position, err = log.AppendControl(ctx, subject, eventlog.Revision(stored.Position.Sequence), event)
		if !errors.Is(err, eventlog.ErrConflict) {
			return record, position, err
		}
	}
	return nil, eventlog.Position{}, err
}
