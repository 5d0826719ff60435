package scoring

import (
	"context"
	"fmt"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	"github.com/scoundrel-game/scoundrel/services/scoring/projection"
)

// maxWait bounds how long a read waits for the projection.
const maxWait = 2 * time.Second

// await returns when reads of the store include what a consistency token
// names; at once for an empty one. ErrConsistencyToken, [*BehindError].
func (s *Service) await(ctx context.Context, token string) error {
	if token == "" {
		return nil
	}
	want, err := eventlog.ParseToken(token)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrConsistencyToken, err)
	}
	at, moved := s.projector.Checkpoint(want.Stream)
	if behind(at, want) == 0 {
		return nil
	}
	if err := s.exists(ctx, want); err != nil {
		return err
	}
	if at.Sequence == 0 {
		// The first record of a new epoch should not wait for a routine look.
		s.projector.Discover()
	}
	wait, stop := context.WithTimeout(ctx, patience(ctx))
	defer stop()
	for behind(at, want) > 0 {
		select {
		case <-moved:
		case <-wait.Done():
			if err := ctx.Err(); err != nil {
				return err
			}
			return &BehindError{Records: behind(at, want)}
		}
		at, moved = s.projector.Checkpoint(want.Stream)
	}
	return nil
}

// exists makes sure that the log has the record that a token names.
func (s *Service) exists(ctx context.Context, want eventlog.Position) error {
	streams, err := s.projector.Streams(ctx)
	if err != nil {
		return err
	}
	for _, info := range streams {
		if info.Name == want.Stream && info.Incarnation == want.Incarnation && info.LastSequence >= want.Sequence {
			return nil
		}
	}
	return fmt.Errorf("%w: no record %d in stream %q", ErrConsistencyToken, want.Sequence, want.Stream)
}

// behind is how many records are missing from a checkpoint up to a position.
func behind(at projection.Checkpoint, want eventlog.Position) uint64 {
	switch {
	case at.Incarnation != want.Incarnation:
		return want.Sequence
	case at.Sequence >= want.Sequence:
		return 0
	}
	return want.Sequence - at.Sequence
}

// patience is how long a call may wait. It leaves a tenth of the time to the
// deadline, so that the caller still gets the answer.
func patience(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return min(maxWait, time.Until(deadline)*9/10)
	}
	return maxWait
}
