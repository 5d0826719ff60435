package record

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/scoundrel-game/scoundrel/pkg/engine"
	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
	eventv1 "github.com/scoundrel-game/scoundrel/pkg/gen/scoundrel/event/v1"
)

// DailyGrace is how long after its close a daily challenge becomes final: the
// time that an attempt started at the last moment has.
const DailyGrace = time.Hour

// Daily is the challenge of a day, in UTC, by one ruleset.
type Daily struct {
	// OpensAt is 00:00 of the day.
	OpensAt time.Time
	// Fresh is the game before its first room is dealt, the same in every
	// attempt. It holds the seed and the deck.
	Fresh engine.State
	// Revealed tells whether the log holds the secrets openly.
	Revealed bool
}

// NewDaily returns the challenge of the day in which t lies. Its errors are
// those of [engine.NewGame].
func NewDaily(t time.Time, rules engine.Ruleset, seed engine.Seed) (Daily, error) {
	fresh, err := engine.NewGame(rules, seed)
	return Daily{OpensAt: DailyOpensAt(t), Fresh: fresh}, err
}

// DailyOpensAt returns the start of the day in which t lies.
func DailyOpensAt(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// DailyFinalAt returns when the challenge of the day in which t lies becomes
// final.
func DailyFinalAt(t time.Time) time.Time { return Daily{OpensAt: DailyOpensAt(t)}.FinalAt() }

// DailySubject returns the subject of the challenge of the day in which t lies.
func DailySubject(t time.Time, rules engine.Ruleset) eventlog.ControlSubject {
	return eventlog.DailySubject(t.UTC().Format(time.DateOnly), rules.ID())
}

// Date returns the day, such as "2026-12-01".
func (d Daily) Date() string { return d.OpensAt.Format(time.DateOnly) }

// ClosesAt returns 24:00 of the day: an attempt starts before it.
func (d Daily) ClosesAt() time.Time { return d.OpensAt.AddDate(0, 0, 1) }

// FinalAt returns from when on attempts take no moves and everything is told.
func (d Daily) FinalAt() time.Time { return d.ClosesAt().Add(DailyGrace) }

// Versions of the two records of a challenge.
const (
	dailyChallengeVersion = 1
	dailyRevealVersion    = 2
)

// EncodeDailyChallenge returns the event that makes a challenge, the first of its
// subject; its secrets are sealed. Sealing is random: to append the same event
// again, keep it.
func (k *Keyset) EncodeDailyChallenge(d Daily, eventID [16]byte, at time.Time) (eventlog.Event, error) {
	rules := d.Fresh.Rules()
	secrets, err := proto.Marshal(NewGameState(eventv1.GameMode_GAME_MODE_DAILY, d.Fresh).secrets())
	if err != nil {
		return eventlog.Event{}, fmt.Errorf("encode the secrets of the challenge of %s by %s: %w", d.Date(), rules.ID(), err)
	}
	subject := DailySubject(d.OpensAt, rules)
	sealed, err := k.seal(dailyPlace(subject), secrets)
	if err != nil {
		return eventlog.Event{}, err
	}
	return encodeControl(TypeDailyChallenge, &eventv1.ControlRecord{
		EventId: eventID[:], Subject: subject.String(), Version: dailyChallengeVersion, RecordedAt: timestamppb.New(at),
		Kind: &eventv1.ControlRecord_DailyChallenge{DailyChallenge: &eventv1.DailyChallenge{
			Date: d.Date(), Ruleset: RulesetToProto(rules), Commitment: d.Fresh.Seed().Commitment(), Secrets: sealed,
			OpensAt: timestamppb.New(d.OpensAt), ClosesAt: timestamppb.New(d.ClosesAt()),
		}},
	})
}

// EncodeDailyReveal returns the event that tells the secrets of a challenge
// openly, the second of its subject. Only for one that is final.
func EncodeDailyReveal(d Daily, eventID [16]byte, at time.Time) (eventlog.Event, error) {
	rules := d.Fresh.Rules()
	return encodeControl(TypeDailyReveal, &eventv1.ControlRecord{
		EventId: eventID[:], Subject: DailySubject(d.OpensAt, rules).String(), Version: dailyRevealVersion, RecordedAt: timestamppb.New(at),
		Kind: &eventv1.ControlRecord_DailyReveal{DailyReveal: &eventv1.DailyReveal{
			Date: d.Date(), Ruleset: RulesetToProto(rules), Secrets: NewGameState(eventv1.GameMode_GAME_MODE_DAILY, d.Fresh).secrets(),
		}},
	})
}

// DecodeDaily returns the challenge that the last event of its subject tells,
// whichever of the two that is. Its error is one of ReadControl, or wraps
// ErrMalformed, ErrKeyUnknown or ErrSealBroken.
func (k *Keyset) DecodeDaily(e eventlog.Stored) (Daily, error) {
	m, err := ReadControl(e)
	if err != nil {
		return Daily{}, err
	}
	made, revealed := m.GetDailyChallenge(), m.GetDailyReveal()
	date, ruleset, secrets := revealed.GetDate(), revealed.GetRuleset(), revealed.GetSecrets()
	if made != nil {
		date, ruleset, secrets = made.GetDate(), made.GetRuleset(), &eventv1.Secrets{}
		opened, err := k.open(dailyPlace(e.Control), made.GetSecrets())
		if err != nil {
			return Daily{}, err
		}
		if err := proto.Unmarshal(opened, secrets); err != nil {
			return Daily{}, fmt.Errorf("%w: the secrets of %s: %w", ErrMalformed, e.Control, err)
		}
	}
	d := Daily{Revealed: revealed != nil}
	rules, err := RulesetFromProto(ruleset)
	if err == nil {
		d.Fresh, _, err = FreshGame(rules, secrets)
	}
	if err == nil {
		d.OpensAt, err = time.Parse(time.DateOnly, date)
	}
	if err != nil {
		return Daily{}, fmt.Errorf("%w: the challenge of %s: %w", ErrMalformed, e.Control, err)
	}
	if DailySubject(d.OpensAt, rules) != e.Control || made != nil && made.GetCommitment() != d.Fresh.Seed().Commitment() {
		return Daily{}, fmt.Errorf("%w: %s holds the challenge of %s by %s, or another commitment than its own", ErrMalformed, e.Control, date, rules.ID())
	}
	return d, nil
}

// dailyPlace is where the sealed secrets of a challenge stand.
func dailyPlace(subject eventlog.ControlSubject) place {
	return place{subject.String(), dailyChallengeVersion, "secrets"}
}
