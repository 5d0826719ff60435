package game

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	gamev1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/game/v1"
	"github.com/scoundrel-game/scoundrel/pkg/record"
)

// ListRulesets implements gamev1.GameServiceServer.
func (s *Service) ListRulesets(context.Context, *gamev1.ListRulesetsRequest) (*gamev1.ListRulesetsResponse, error) {
	res := &gamev1.ListRulesetsResponse{RankedRulesetIds: slices.Sorted(maps.Keys(s.ranked))}
	for _, p := range engine.Presets() {
		lowest, highest := p.Rules.ScoreBounds()
		res.Presets = append(res.Presets, &gamev1.Preset{
			Name: p.Name, Title: p.Title, Text: p.Text, Ruleset: record.RulesetToProto(p.Rules),
			Ranked: s.ranked[p.Rules.ID()], MinScore: int32(lowest), MaxScore: int32(highest),
		})
	}
	for _, o := range engine.Options() {
		for _, v := range o.Values {
			res.Options = append(res.Options, &gamev1.RulesetOption{Option: o.Name, Value: v.Name, Text: v.Text})
		}
	}
	res.Options = append(res.Options, &gamev1.RulesetOption{
		Option: "depth", Value: fmt.Sprintf("0 to %d", engine.MaxDepth),
		Text: "You start with 20 - 2 x depth health; the most you can have stays 20.",
	}, &gamev1.RulesetOption{
		Option: "companion_health", Value: fmt.Sprintf("0 to %d", engine.MaxHealth),
		Text: "What the fighter of the home rules starts with; with 0 any damage kills him.",
	})
	for _, v := range engine.Variants() {
		res.Variants = append(res.Variants, &gamev1.RulesetVariant{
			Variant: record.VariantsToProto(v.Variant)[0], Name: v.Name, Title: v.Title, Text: v.Text,
			Needs: record.VariantsToProto(v.Needs), Excludes: record.VariantsToProto(v.Excludes),
		})
	}
	return res, nil
}
