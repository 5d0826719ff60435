package projection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/pkg/record"
)

// errGone is the error of a stream that the log does not list any more: an old
// epoch that was archived. Its games stay.
var errGone = errors.New("stream gone")

// errUndecided is the error of a record of the control stream that cannot be
// applied. Unlike one of a game it is not parked: what somebody has decided to hide
// must not be shown because nobody noticed.
var errUndecided = errors.New("a decision cannot be applied")

// follow projects one stream until ctx ends or somebody must look at it.
func (p *Projector) follow(ctx context.Context, stream string) {
	delay, holes := minBackoff, 0
	for ctx.Err() == nil {
		before, _ := p.Checkpoint(stream)
		err := p.project(ctx, stream)
		if after, _ := p.Checkpoint(stream); after != before {
			delay, holes = minBackoff, 0
		}
		if errors.Is(err, ErrLost) || errors.Is(err, eventlog.ErrDamaged) {
			holes++
		}
		switch {
		case errors.Is(err, errGone):
			err, delay = nil, maxBackoff
		// A replica may lag or a read go wrong; a real hole stays.
		case holes >= attempts, errors.Is(err, ErrReplaced), errors.Is(err, record.ErrNewerSchema), errors.Is(err, errUndecided):
			p.report(ctx, stream, fmt.Errorf("stopped: %w", err))
			return
		}
		p.report(ctx, stream, err)
		pause(ctx, delay)
		delay = min(2*delay, maxBackoff)
	}
}

// read is what tailing a stream yields: a record as the step that it is.
type read struct {
	step Step
	err  error
}

// tail sends the steps that follow a checkpoint, up to the first that fails, until
// ctx ends. It runs beside the transactions: records are decoded while the one
// before is under way.
func (p *Projector) tail(ctx context.Context, stream string, at Checkpoint, reads chan<- read) {
	defer close(reads)
	for r, err := range p.Log.Tail(ctx, stream, at.Sequence+1) {
		var step Step
		if err == nil {
			step, err = p.step(ctx, at, r)
		}
		if !step.changes() {
			step.Record.Data = nil // nobody needs it, and there are many
		}
		select {
		case reads <- read{step, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
		at = checkpointAt(step)
	}
}

// project applies the records of a stream from its checkpoint on and returns
// the error that ended it.
func (p *Projector) project(ctx context.Context, stream string) error {
	at, err := p.resume(ctx, stream)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	reads := make(chan read, maxBatch)
	var reader sync.WaitGroup
	defer reader.Wait()
	defer stop()
	reader.Go(func() { p.tail(ctx, stream, at, reads) })
	stored := at             // the checkpoint in the store
	var unwritten []Step     // what follows it
	var due <-chan time.Time // when that has waited long enough
	for {
		steps, end := p.batch(reads, due)
		unwritten = append(unwritten, steps...)
		if len(steps) > 0 {
			at = checkpointAt(steps[len(steps)-1])
		}
		wait := len(steps) > 0 && end == nil && len(unwritten) < maxBatch && !slices.ContainsFunc(unwritten, Step.changes)
		switch {
		case wait && due == nil:
			due = time.After(writeDelay)
		case !wait && len(unwritten) > 0:
			// What came before a failure is good.
			if err := p.commit(ctx, stored, unwritten); err != nil {
				return err
			}
			stored, unwritten, due = at, nil, nil
		}
		if len(steps) > 0 {
			p.publish(at)
			p.report(ctx, stream, nil)
		}
		if end != nil {
			return end
		}
	}
}

// Check looks at every stream that the log holds and the store knows. Its error
// wraps ErrReplaced or ErrLost if one is not what was projected, and is another if
// that cannot be told. A stream that is gone was archived, which is no error.
func (p *Projector) Check(ctx context.Context) error {
	streams, err := p.Streams(ctx)
	if err != nil {
		return err
	}
	for _, info := range streams {
		if _, err := p.resume(ctx, info.Name); err != nil {
			return fmt.Errorf("%s: %w", info.Name, err)
		}
	}
	return nil
}

// resume returns the checkpoint of a stream after making sure that it still
// names the record it named when it was written.
func (p *Projector) resume(ctx context.Context, stream string) (Checkpoint, error) {
	// The database knows better than this process: another one may have led, and
	// what this one has read may not be written.
	all, err := p.refresh(ctx)
	if err != nil {
		return Checkpoint{}, err
	}
	at := all[stream]
	info, err := p.info(ctx, stream)
	if err != nil {
		return Checkpoint{}, err
	}
	if info.FirstSequence > at.Sequence+1 {
		return Checkpoint{}, fmt.Errorf("%w: %d to %d", ErrLost, at.Sequence+1, info.FirstSequence-1)
	}
	if at.Sequence > 0 {
		if info.Incarnation != at.Incarnation {
			return Checkpoint{}, fmt.Errorf("%w: its incarnation is %s, was %s", ErrReplaced, info.Incarnation, at.Incarnation)
		}
		last, err := p.Log.Event(ctx, stream, at.Sequence)
		if errors.Is(err, eventlog.ErrNotFound) {
			return Checkpoint{}, fmt.Errorf("%w: it ends at %d, before the checkpoint %d", ErrReplaced, info.LastSequence, at.Sequence)
		}
		if err != nil {
			return Checkpoint{}, err
		}
		if last.ID != at.EventID {
			return Checkpoint{}, fmt.Errorf("%w: event %d is %s, was %s", ErrReplaced, at.Sequence, last.ID, at.EventID)
		}
	}
	if at.Sequence == info.LastSequence {
		p.report(ctx, stream, nil)
	}
	return at, nil
}

func (p *Projector) info(ctx context.Context, stream string) (eventlog.StreamInfo, error) {
	infos, err := p.Streams(ctx)
	if err != nil {
		return eventlog.StreamInfo{}, err
	}
	for _, info := range infos {
		if info.Name == stream {
			return info, nil
		}
	}
	return eventlog.StreamInfo{}, errGone
}

// batch returns what the next records change: those that have arrived, at least
// one, up to the first that fails, with its error; none if due comes first.
func (p *Projector) batch(reads <-chan read, due <-chan time.Time) ([]Step, error) {
	var steps []Step
	var next read
	var open bool
	select {
	case next, open = <-reads:
	case <-due:
		return nil, nil
	}
	for open {
		if next.err != nil {
			return steps, next.err
		}
		if steps = append(steps, next.step); len(steps) == maxBatch {
			return steps, nil
		}
		select {
		case next, open = <-reads:
		default:
			return steps, nil
		}
	}
	return steps, fmt.Errorf("%w: the tail ended", eventlog.ErrUnavailable)
}

// step returns what the record after at changes.
func (p *Projector) step(ctx context.Context, at Checkpoint, r eventlog.Stored) (Step, error) {
	if at.Sequence > 0 && r.Position.Incarnation != at.Incarnation {
		return Step{}, fmt.Errorf("%w: its incarnation is %s, was %s", ErrReplaced, r.Position.Incarnation, at.Incarnation)
	}
	if r.Position.Sequence != at.Sequence+1 {
		return Step{}, fmt.Errorf("%w: %d follows %d", ErrLost, r.Position.Sequence, at.Sequence)
	}
	delay := minBackoff
	for attempt := 1; ; attempt++ {
		step, err := decode(r)
		switch {
		case err == nil:
			return step, nil
		case errors.Is(err, record.ErrNewerSchema):
			return Step{}, fmt.Errorf("record %d: %w", r.Position.Sequence, err)
		case attempt == attempts && !r.Control.IsZero():
			return Step{}, fmt.Errorf("%w: record %d: %w", errUndecided, r.Position.Sequence, err)
		case attempt == attempts:
			return p.park(r, err), nil
		}
		// The bytes may have been spoilt on the way, or in one replica.
		pause(ctx, delay)
		delay *= 2
		if r, err = p.Log.Event(ctx, r.Position.Stream, r.Position.Sequence); err != nil {
			return Step{}, err
		}
	}
}

// decode returns what a stored record changes.
func decode(r eventlog.Stored) (Step, error) {
	step := Step{Record: r}
	if !r.Control.IsZero() {
		decision, erasure, err := record.ReadDecision(r)
		switch {
		case decision != nil && decision.PlayerID != "":
			step.Moderation = &Moderation{PlayerID: decision.PlayerID, Hidden: decision.Hidden}
		case decision != nil:
			step.Moderation = &Moderation{GameID: decision.Game.String(), Hidden: decision.Hidden}
		case erasure != nil:
			step.Erasure = &Erasure{PlayerID: erasure.PlayerID, Before: erasure.At}
		}
		return step, err
	}
	s, err := record.Summarize(r.Data)
	if err != nil {
		return step, err
	}
	if s.EventID != r.ID || s.Game != r.Game || s.Version != r.Version {
		return step, fmt.Errorf("%w: event %s of %s version %d holds event %s of %s version %d",
			ErrImplausible, r.ID, r.Game, r.Version, s.EventID, s.Game, s.Version)
	}
	step.Game, err = Apply(s, r.Position)
	return step, err
}

// park returns the step that sets a record aside.
func (p *Projector) park(r eventlog.Stored, why error) Step {
	p.Logger.Error("record parked, its game will not be shown",
		"stream", r.Position.Stream, "sequence", r.Position.Sequence, "event_id", r.ID, "game_id", r.Game.String(), "error", why)
	return Step{Record: r, Problem: why.Error()}
}

// commit stores steps. If the database refuses their content, it finds the one
// at fault and parks it.
func (p *Projector) commit(ctx context.Context, at Checkpoint, steps []Step) error {
	err := p.Store.Commit(ctx, at, steps)
	if !errors.Is(err, ErrRejected) {
		return err
	}
	for _, step := range steps {
		err := p.Store.Commit(ctx, at, []Step{step})
		if errors.Is(err, ErrRejected) {
			if !step.Record.Control.IsZero() {
				return fmt.Errorf("%w: record %d: %w", errUndecided, step.Record.Position.Sequence, err)
			}
			err = p.Store.Commit(ctx, at, []Step{p.park(step.Record, err)})
		}
		if err != nil {
			return err
		}
		at = checkpointAt(step)
	}
	return nil
}

func checkpointAt(s Step) Checkpoint {
	return Checkpoint{Position: s.Record.Position, EventID: s.Record.ID}
}

// pause waits, or less if ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
