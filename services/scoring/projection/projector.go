package projection

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
)

// Errors that stop the projection of a stream until somebody has looked at it.
// What is projected so far stays readable.
var (
	// ErrReplaced: the stream is not the one that was projected. It was created
	// anew, restored or cut, and its sequences may name other records now.
	ErrReplaced = errors.New("the stream is not the one that was projected")
	// ErrLost: records between the checkpoint and the rest of the stream are
	// gone.
	ErrLost = errors.New("records of the stream are lost")
)

const (
	// maxBatch bounds the records of a transaction. A transaction takes what
	// has arrived by then and waits for no more, so at rest a record is visible
	// at once, and under load batches grow by themselves.
	maxBatch = 10_000
	// writeDelay is how long the checkpoint may lag behind records that change
	// nothing else. Readers need not wait for it, and after a crash the records
	// are read again; it spares a transaction for nearly every move.
	writeDelay = 250 * time.Millisecond
	// leaseTime is how long a projector that died keeps others waiting.
	leaseTime    = 6 * time.Second
	leaseRenewal = leaseTime / 3
	// attempts is how often a record that makes no sense is read, and how often
	// a hole is looked at, before it is believed.
	attempts   = 4
	minBackoff = 50 * time.Millisecond
	maxBackoff = 10 * time.Second
)

// ProjectorConfig is what a [Projector] needs. All fields are required.
type ProjectorConfig struct {
	// Log is what is projected.
	Log eventlog.Log
	// Store is where to.
	Store Store
	// Holder names this projector among those that share the store. One that
	// starts under the name of one that died takes over at once.
	Holder string
	// Clock tells the time for the lease.
	Clock func() time.Time
	// Logger is told what goes wrong.
	Logger *slog.Logger
}

// Projector keeps a [Store] up to date with a log. Any number may share a
// store: one of them works, the others wait to take over.
type Projector struct {
	ProjectorConfig
	// discover asks for a look at the log's streams.
	discover chan struct{}

	mu          sync.Mutex
	checkpoints map[string]Checkpoint
	moved       chan struct{} // closed and replaced when a checkpoint moves
	problems    map[string]error
}

// NewProjector returns a projector that knows the store's checkpoints. Run
// makes it work.
func NewProjector(ctx context.Context, cfg ProjectorConfig) (*Projector, error) {
	p := &Projector{
		ProjectorConfig: cfg,
		discover:        make(chan struct{}, 1),
		checkpoints:     map[string]Checkpoint{},
		moved:           make(chan struct{}),
		problems:        map[string]error{},
	}
	_, err := p.refresh(ctx)
	return p, err
}

// Checkpoint returns how far the projection of a stream has come, and a channel
// that is closed when any checkpoint moves on. Reads of the store that start
// later include everything up to the checkpoint.
func (p *Projector) Checkpoint(stream string) (Checkpoint, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.checkpoints[stream], p.moved
}

// Moved returns a channel that is closed when any checkpoint moves on.
func (p *Projector) Moved() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.moved
}

// Discover makes the projector look for new streams now. It never blocks.
func (p *Projector) Discover() {
	select {
	case p.discover <- struct{}{}:
	default:
	}
}

// Problem returns what keeps streams from being projected at the moment, or
// nil.
func (p *Projector) Problem() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for subject, err := range p.problems {
		errs = append(errs, fmt.Errorf("projection, %s: %w", subject, err))
	}
	return errors.Join(errs...)
}

// Run projects until ctx ends. It outlives every failure of the log and the
// store; [Projector.Problem] tells of them.
func (p *Projector) Run(ctx context.Context) error {
	tick := time.NewTicker(leaseRenewal)
	defer tick.Stop()
	for {
		leads, err := p.Store.Lease(ctx, p.Holder, p.Clock(), leaseTime)
		if err == nil && leads {
			p.lead(ctx, tick.C)
		} else if err == nil {
			// Readers here wait for what the other one writes.
			_, err = p.refresh(ctx)
		}
		p.report(ctx, "lease", err)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// lead projects all streams for as long as the lease is ours. The control stream
// comes first: nothing that is hidden or erased is to be seen meanwhile, not even
// while an empty database is filled.
func (p *Projector) lead(ctx context.Context, tick <-chan time.Time) {
	work, stop := context.WithCancel(ctx)
	running := map[string]bool{}
	decided := false // whether all that was decided by now is projected
	var followers sync.WaitGroup
	defer func() {
		stop()
		followers.Wait()
		p.forget()
		// ctx may be what ended.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if err := p.Store.Release(ctx, p.Holder); err != nil {
			p.Logger.Warn("projection lease not released", "error", err)
		}
	}()
	for {
		infos, err := p.Streams(work)
		p.report(ctx, "all streams", err)
		for _, info := range infos {
			if info.Name == eventlog.ControlStream && !decided {
				if err := p.catchUp(work, info.Name, info.LastSequence, func(int) {}); err != nil {
					p.report(ctx, info.Name, err)
					break
				}
				decided = true
			}
			if !running[info.Name] {
				running[info.Name] = true
				followers.Go(func() { p.follow(work, info.Name) })
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-p.discover:
		case <-tick:
			// Work goes on with a lease that cannot be extended: if somebody
			// else takes it, the fence protects the tables.
			leads, err := p.Store.Lease(ctx, p.Holder, p.Clock(), leaseTime)
			p.report(ctx, "lease", err)
			if err == nil && !leads {
				p.Logger.Warn("another projector took over", "holder", p.Holder)
				return
			}
		}
	}
}

// Streams lists all streams that are projected: the control stream, if there is
// one, and then those of games.
func (p *Projector) Streams(ctx context.Context) ([]eventlog.StreamInfo, error) {
	control, err := p.Log.ControlInfo(ctx)
	if err != nil && !errors.Is(err, eventlog.ErrNotFound) {
		return nil, err
	}
	games, listErr := p.Log.Streams(ctx)
	if listErr != nil || err != nil {
		return games, listErr
	}
	return append([]eventlog.StreamInfo{control}, games...), nil
}

// refresh reads the checkpoints that are stored, by stream.
func (p *Projector) refresh(ctx context.Context) (map[string]Checkpoint, error) {
	all, err := p.Store.Checkpoints(ctx)
	if err != nil {
		return nil, err
	}
	stored := make(map[string]Checkpoint, len(all))
	for _, c := range all {
		stored[c.Stream] = c
		p.publish(c)
	}
	return stored, nil
}

// publish makes a checkpoint known and wakes those who wait for it. One that
// was read before a later one was written comes too late.
func (p *Projector) publish(c Checkpoint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.checkpoints[c.Stream].Sequence >= c.Sequence {
		return
	}
	p.checkpoints[c.Stream] = c
	close(p.moved)
	p.moved = make(chan struct{})
}

// report remembers what is wrong with a subject, or with nil that nothing is,
// and logs every change of it once.
func (p *Projector) report(ctx context.Context, subject string, err error) {
	if ctx.Err() != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.problems[subject]
	switch {
	case err == nil && before != nil:
		delete(p.problems, subject)
		p.Logger.Info("projection goes on", "subject", subject)
	case err != nil && (before == nil || before.Error() != err.Error()):
		p.problems[subject] = err
		p.Logger.Error("projection held up", "subject", subject, "error", err)
	}
}

// forget drops all problems: they are those of whoever leads now.
func (p *Projector) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.problems)
}
