package projection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
)

// CatchUp projects every stream that the log holds up to a sequence and returns:
// to the one that to has for it, or to the end of those that there are now if to
// is nil. After every transaction it calls progress with how many records that
// had. It is for a store that nobody else writes to, and gives up at the first
// failure; what was done by then stays. ErrReplaced, ErrLost, record.ErrNewerSchema,
// or an error of the log or the store.
func (p *Projector) CatchUp(ctx context.Context, to map[string]uint64, progress func(records int)) error {
	streams, err := p.Streams(ctx)
	if err != nil {
		return err
	}
	// One after the other: there is one writer anyway.
	for _, info := range streams {
		end := info.LastSequence
		if to != nil {
			end = min(end, to[info.Name])
		}
		if err := p.catchUp(ctx, info.Name, end, progress); err != nil {
			return fmt.Errorf("%s: %w", info.Name, err)
		}
	}
	return nil
}

func (p *Projector) catchUp(ctx context.Context, stream string, end uint64, progress func(records int)) error {
	at, err := p.resume(ctx, stream)
	if err != nil || at.Sequence >= end {
		return err
	}
	stored := at // the checkpoint in the store
	var unwritten []Step
	ctx, stop := context.WithCancel(ctx)
	reads := make(chan read, maxBatch)
	var reader sync.WaitGroup
	defer reader.Wait()
	defer stop()
	reader.Go(func() { p.tail(ctx, stream, at, reads) })
	for next := range reads {
		if next.err != nil {
			return next.err
		}
		unwritten = append(unwritten, next.step)
		at = checkpointAt(next.step)
		if len(unwritten) < maxBatch && at.Sequence < end {
			continue
		}
		if err := p.commit(ctx, stored, unwritten); err != nil {
			return err
		}
		p.publish(at)
		progress(len(unwritten))
		if at.Sequence == end {
			return nil
		}
		stored, unwritten = at, unwritten[:0]
	}
	return context.Cause(ctx) // nothing else ends a tail without an error
}

// StreamStatus is how far the projection of a stream has come.
type StreamStatus struct {
	// Checkpoint is the last record that is projected; only its Stream is set if
	// none is.
	Checkpoint
	// LogEnd is the last record of the stream that the log holds.
	LogEnd uint64
	// Gone tells that the log does not hold the stream: it was archived, or lost.
	Gone bool
	// Problem is why the projection cannot go on from the checkpoint, or nil. It
	// wraps ErrReplaced, ErrLost or eventlog.ErrDamaged.
	Problem error
}

// Behind returns how many records follow the checkpoint.
func (s StreamStatus) Behind() uint64 { return s.LogEnd - min(s.LogEnd, s.Sequence) }

// Status compares the checkpoints in the store with the log: the streams that the
// log holds, in the order of Streams, then those that it does not hold any more.
func (p *Projector) Status(ctx context.Context) ([]StreamStatus, error) {
	streams, err := p.Streams(ctx)
	if err != nil {
		return nil, err
	}
	stored, err := p.refresh(ctx)
	if err != nil {
		return nil, err
	}
	var all []StreamStatus
	for _, info := range streams {
		s := StreamStatus{Checkpoint: stored[info.Name], LogEnd: info.LastSequence}
		s.Stream = info.Name
		delete(stored, info.Name)
		_, s.Problem = p.resume(ctx, info.Name)
		if s.Problem != nil && !errors.Is(s.Problem, ErrReplaced) && !errors.Is(s.Problem, ErrLost) && !errors.Is(s.Problem, eventlog.ErrDamaged) {
			return nil, fmt.Errorf("%s: %w", info.Name, s.Problem)
		}
		all = append(all, s)
	}
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		all = append(all, StreamStatus{Checkpoint: stored[name], Gone: true})
	}
	return all, nil
}
