package moderation

import (
	"cmp"
	"context"
	"errors"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	moderationv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/moderation/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
)

const (
	defaultPageSize = 50
	maxPageSize     = 200
)

// ListModerations implements moderationv1.ModerationServiceServer. It reads the
// control stream, which has a few records a day.
func (s *Service) ListModerations(ctx context.Context, req *moderationv1.ListModerationsRequest) (*moderationv1.ListModerationsResponse, error) {
	if err := s.authorize(ctx); err != nil {
		return nil, err
	}
	resp := &moderationv1.ListModerationsResponse{}
	info, err := s.Log.ControlInfo(ctx)
	if errors.Is(err, eventlog.ErrNotFound) || err == nil && info.LastSequence <= req.GetAfterSequence() {
		return resp, nil
	}
	if err != nil {
		return nil, err
	}
	size := min(cmp.Or(int(req.GetPageSize()), defaultPageSize), maxPageSize)
	for e, err := range s.Log.Tail(ctx, eventlog.ControlStream, req.GetAfterSequence()+1) {
		if err != nil {
			return nil, err
		}
		decision, _, err := record.ReadDecision(e)
		if err != nil {
			return nil, err
		}
		if decision != nil {
			if len(resp.GetModerations()) == size {
				resp.NextAfterSequence = resp.GetModerations()[size-1].GetSequence()
				return resp, nil
			}
			resp.Moderations = append(resp.Moderations, toProto(*decision, e.Position))
		}
		if e.Position.Sequence >= info.LastSequence {
			return resp, nil
		}
	}
	return nil, context.Cause(ctx) // nothing else ends a tail without an error
}
