package jetlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
)

// Load implements eventlog.Log.
func (l *Log) Load(ctx context.Context, game eventlog.GameID) (eventlog.Stored, error) {
	return l.last(ctx, gameSubject(game))
}

// LoadControl implements eventlog.Log.
func (l *Log) LoadControl(ctx context.Context, s eventlog.ControlSubject) (eventlog.Stored, error) {
	return l.last(ctx, controlSubject(s))
}

func (l *Log) last(ctx context.Context, of subject) (eventlog.Stored, error) {
	return l.leaderGet(ctx, of.stream, messageQuery{LastBySubject: of.name})
}

// Event implements eventlog.Log.
func (l *Log) Event(ctx context.Context, stream string, sequence uint64) (eventlog.Stored, error) {
	if sequence == 0 {
		return eventlog.Stored{}, fmt.Errorf("%w: %s sequence 0", eventlog.ErrNotFound, stream)
	}
	e, err := l.leaderGet(ctx, stream, messageQuery{Sequence: sequence})
	if err != nil {
		return eventlog.Stored{}, err
	}
	// Those who ask for a sequence ask whether the stream is still the one they
	// know. The answer does not say, so the stream is looked at after it: an
	// incarnation that has gone does not come back.
	s, err := l.look(ctx, stream)
	if err != nil {
		return eventlog.Stored{}, err
	}
	if s.incarnation != e.Position.Incarnation {
		return eventlog.Stored{}, fmt.Errorf("%w: stream %s was replaced", eventlog.ErrUnavailable, stream)
	}
	return e, nil
}

// messageQuery asks for one message, or for a batch of them where that is
// possible.
type messageQuery struct {
	Sequence      uint64 `json:"seq,omitempty"`
	LastBySubject string `json:"last_by_subj,omitempty"`
	NextBySubject string `json:"next_by_subj,omitempty"`
	Batch         int    `json:"batch,omitempty"`
}

// leaderGet reads one message through the stream's leader. The client library
// would ask any replica, since the stream allows that, and a replica may not
// know of what was acknowledged a moment ago.
func (l *Log) leaderGet(ctx context.Context, name string, query messageQuery) (eventlog.Stored, error) {
	s, err := l.stream(ctx, name)
	if err != nil {
		return eventlog.Stored{}, err
	}
	var res struct {
		apiAnswer
		Message *struct {
			Subject  string    `json:"subject"`
			Sequence uint64    `json:"seq"`
			Header   []byte    `json:"hdrs"`
			Data     []byte    `json:"data"`
			Time     time.Time `json:"time"`
		} `json:"message"`
	}
	if err := l.call(ctx, "STREAM.MSG.GET."+name, query, &res); err != nil {
		if isCode(err, jetstream.JSErrCodeStreamNotFound) {
			l.forget(name)
		}
		return eventlog.Stored{}, err
	}
	m := res.Message
	if m == nil {
		return eventlog.Stored{}, fmt.Errorf("%w: an empty answer of %s", eventlog.ErrDamaged, name)
	}
	header, err := nats.DecodeHeadersMsg(m.Header)
	if err != nil {
		return eventlog.Stored{}, fmt.Errorf("%w: the headers at %s sequence %d: %w", eventlog.ErrDamaged, name, m.Sequence, err)
	}
	return readEvent(m.Subject, header, m.Data, s.at(m.Sequence), m.Time)
}

// Streams implements eventlog.Log.
func (l *Log) Streams(ctx context.Context) ([]eventlog.StreamInfo, error) {
	var list []eventlog.StreamInfo
	for offset := 0; ; {
		var page struct {
			apiAnswer
			Total   int                     `json:"total"`
			Streams []*jetstream.StreamInfo `json:"streams"`
			Missing []string                `json:"missing"`
		}
		query := struct {
			Subject string `json:"subject"`
			Offset  int    `json:"offset"`
		}{eventlog.SubjectPrefix + ">", offset}
		if err := l.call(ctx, "STREAM.LIST", query, &page); err != nil {
			return nil, err
		}
		// A stream whose leader did not answer in time. A shorter list would
		// look as if the stream did not exist.
		for _, name := range page.Missing {
			if _, ok := eventlog.StreamEpoch(name); ok {
				return nil, fmt.Errorf("%w: stream %s did not answer", eventlog.ErrUnavailable, name)
			}
		}
		for _, info := range page.Streams {
			if _, ok := eventlog.StreamEpoch(info.Config.Name); !ok {
				continue
			}
			s, err := l.meet(&info.Config)
			if err != nil {
				return nil, err
			}
			list = append(list, s.info(info.State))
		}
		if offset += len(page.Streams); len(page.Streams) == 0 || offset >= page.Total {
			break
		}
	}
	slices.SortFunc(list, func(a, b eventlog.StreamInfo) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// ControlInfo implements eventlog.Log.
func (l *Log) ControlInfo(ctx context.Context) (eventlog.StreamInfo, error) {
	s, state, err := l.inspect(ctx, eventlog.ControlStream)
	if err != nil {
		return eventlog.StreamInfo{}, err
	}
	return s.info(state), nil
}

func (s *stream) info(state jetstream.StreamState) eventlog.StreamInfo {
	return eventlog.StreamInfo{
		Name: s.name, Incarnation: s.incarnation,
		// An empty stream says 0.
		FirstSequence: max(state.FirstSeq, 1), LastSequence: state.LastSeq,
	}
}

// Ready implements eventlog.Log. It asks the leader of the newest stream that
// this log has met; before there is one, whether JetStream answers at all.
func (l *Log) Ready(ctx context.Context) error {
	l.mu.Lock()
	name := l.newest
	l.mu.Unlock()
	if name == "" {
		return l.call(ctx, "INFO", nil, &apiAnswer{})
	}
	_, err := l.look(ctx, name)
	if errors.Is(err, eventlog.ErrNotFound) {
		return fmt.Errorf("%w: %s", eventlog.ErrUnavailable, err.Error()) // of one kind only
	}
	return err
}
