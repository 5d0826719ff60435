package projection

import (
	"context"
	"errors"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
)

// Retry folds the game of a parked record again, from its history, and applies
// what comes of it. It returns why the game stays parked, now with that reason;
// nothing if it is mended. Its error wraps ErrNotFound if no record of the game is
// parked, and is otherwise one of the log or the store, after which nothing has
// changed.
func (p *Projector) Retry(ctx context.Context, parked Parked) (problem string, err error) {
	step, err := p.refold(ctx, parked)
	if err != nil {
		return "", err
	}
	err = p.Store.Retry(ctx, parked.GameID, step)
	if errors.Is(err, ErrRejected) {
		step.Game, step.Problem = nil, err.Error()
		err = p.Store.Retry(ctx, parked.GameID, step)
	}
	return step.Problem, err
}

// refold returns the step that the whole history of a parked game leads to: the one
// of its last record, or of the first that cannot be applied.
func (p *Projector) refold(ctx context.Context, parked Parked) (Step, error) {
	game, err := eventlog.ParseGameID(parked.GameID)
	if err != nil {
		return Step{}, err
	}
	step := Step{
		Record: eventlog.Stored{
			// An empty payload may come back as none.
			Event: eventlog.Event{ID: parked.EventID, Data: append([]byte{}, parked.Payload...)}, Game: game, Position: parked.Position,
		},
		Problem: "the log holds no record of the game",
	}
	for r, err := range p.Log.History(ctx, game, 1) {
		switch {
		case errors.Is(err, eventlog.ErrDamaged), errors.Is(err, eventlog.ErrNotFound):
			step.Game, step.Problem = nil, err.Error()
			return step, nil
		case err != nil:
			return Step{}, err
		}
		next, err := decode(r)
		if err != nil {
			return Step{Record: r, Problem: err.Error()}, nil
		}
		if next.Game != nil || step.Game == nil {
			step = next
		}
	}
	return step, nil
}
