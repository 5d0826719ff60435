package game

import (
	"context"
	"encoding/hex"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
)

// GetDailyChallenge implements gamev1.GameServiceServer.
func (s *Service) GetDailyChallenge(ctx context.Context, req *gamev1.GetDailyChallengeRequest) (*gamev1.GetDailyChallengeResponse, error) {
	now := s.clock()
	opens, rules, err := dailyOf(req, now)
	if err != nil {
		return nil, err
	}
	c, err := s.challenge(ctx, opens, rules, now)
	if err != nil {
		return nil, err
	}
	m := &gamev1.DailyChallenge{
		Date:       c.Date(),
		RulesetId:  rules.ID(),
		Ruleset:    record.RulesetToProto(rules),
		OpensAt:    timestamppb.New(c.OpensAt),
		ClosesAt:   timestamppb.New(c.ClosesAt()),
		FinalAt:    timestamppb.New(c.FinalAt()),
		Commitment: c.Fresh.Seed().Commitment(),
		Final:      !now.Before(c.FinalAt()),
	}
	if m.Final {
		if err := s.reveal(ctx, c); err != nil {
			return nil, err
		}
		seed := c.Fresh.Seed()
		m.Seed, m.Deck = hex.EncodeToString(seed[:]), cards(c.Fresh.Dungeon())
	}
	return &gamev1.GetDailyChallengeResponse{Challenge: m}, nil
}

// dailyOf returns the day and the rules that a request asks for.
func dailyOf(req *gamev1.GetDailyChallengeRequest, now time.Time) (opens time.Time, rules engine.Ruleset, err error) {
	opens, rules = record.DailyOpensAt(now), engine.Presets()[0].Rules
	if date := req.GetDate(); date != "" {
		if opens, err = time.Parse(time.DateOnly, date); err != nil {
			return opens, rules, &FieldError{Field: "date", Problem: strconv.Quote(date) + " is not a date such as 2026-12-01"}
		}
	}
	if id := req.GetRulesetId(); id != "" {
		if rules, err = engine.ParseRulesetID(id); err != nil {
			return opens, rules, &DailyNotFoundError{Date: opens.Format(time.DateOnly), RulesetID: id}
		}
	}
	return opens, rules, nil
}
