package engine

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// Every constant has a name of its own, and a number that is none prints as one.
func TestNames(t *testing.T) {
	constant := regexp.MustCompile(`^[A-Z]+(_[A-Z]+)*$`)
	for _, enum := range []struct {
		last uint8
		at   func(uint8) fmt.Stringer
	}{
		{uint8(RoleFighter), func(n uint8) fmt.Stringer { return Role(n) }},
		{uint8(MoveRecycle), func(n uint8) fmt.Stringer { return MoveKind(n) }},
		{uint8(FactCardReturned), func(n uint8) fmt.Stringer { return FactKind(n) }},
		{uint8(MeansCompanion), func(n uint8) fmt.Stringer { return Means(n) }},
		{uint8(StatusAbandoned), func(n uint8) fmt.Stringer { return Status(n) }},
		{uint8(LastUsePotionWasted), func(n uint8) fmt.Stringer { return LastUse(n) }},
		{uint8(ReasonNotInRuleset), func(n uint8) fmt.Stringer { return Reason(n) }},
	} {
		seen := map[string]bool{}
		for n := uint8(1); n <= enum.last; n++ {
			name := enum.at(n).String()
			if !constant.MatchString(name) || seen[name] {
				t.Errorf("%T %d is called %q", enum.at(n), n, name)
			}
			seen[name] = true
		}
		if name := enum.at(enum.last + 1).String(); !strings.HasSuffix(name, fmt.Sprintf("(%d)", enum.last+1)) {
			t.Errorf("%T %d is called %q", enum.at(0), enum.last+1, name)
		}
	}
}

// Error messages are sentences that name what is wrong and stay short whatever was given.
func TestErrorMessages(t *testing.T) {
	long := strings.Repeat("x", 10000)
	_, cardErr := ParseCard(long)
	_, rulesErr := ParseRulesetID(long)
	_, decodeErr := DecodeState([]byte(long))
	var s State
	_, factErr := s.EvolveAll([]Fact{{Kind: FactRoomDealt}})
	for want, err := range map[string]error{
		"is not a card":              cardErr,
		"ruleset: id":                rulesErr,
		"version 120 is not 2":       decodeErr,
		"ROOM_DEALT does not fit":    factErr,
		"illegal move AVOID: a card": &IllegalMoveError{Move: Move{Kind: MoveAvoid}, Reason: ReasonRoomFaced},
		"it needs a WEAPON":          &IllegalMoveError{Move: Move{MoveEquip, 1}, Reason: ReasonWrongRole, NeedRoles: rolesOf(RoleWeapon)},
		"illegal move MoveKind(99)":  &IllegalMoveError{Move: Move{Kind: 99}, Reason: 99},
	} {
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 200 {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestUniform(t *testing.T) {
	source := stream{seed: Seed{1}}
	if n := source.uniform(1); n != 0 || source.next != 0 {
		t.Errorf("uniform(1) is %d and takes %d bytes", n, source.next)
	}
	for n := 1; n <= 256; n++ {
		for range 20 {
			if got := source.uniform(n); got < 0 || got >= n {
				t.Errorf("uniform(%d) is %d", n, got)
			}
		}
	}
}

// A command whose facts were not all applied is noticed.
func TestUnfinishedCommand(t *testing.T) {
	s, err := NewGame(presets[0].Rules, Seed{1})
	if err != nil {
		t.Fatal(err)
	}
	if s, err = s.EvolveAll(s.Open(nil)[:1]); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Decide(Move{Kind: MoveAvoid}, nil); !errors.Is(err, ErrUnfinished) {
		t.Errorf("error %v, want %v", err, ErrUnfinished)
	}
	if legal := s.Legal(nil); len(legal) != 0 {
		t.Errorf("legal moves %v", legal)
	}
}
