package projection

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/scoundrel-game/scoundrel/pkg/eventlog"
)

// Errors of a [Store]. Implementations wrap them with what happened; an error
// that is none of these is a fault of the program.
var (
	// ErrNotFound: there is no such game or entry.
	ErrNotFound = errors.New("not found in the projection")
	// ErrFenced: the checkpoint is not where the writer believes it to be:
	// another one wrote. Nothing was changed.
	ErrFenced = errors.New("the projection's checkpoint has moved")
	// ErrRejected: the database refuses the content itself, now and at every
	// further attempt. Nothing was changed.
	ErrRejected = errors.New("the database refuses the content")
	// ErrUnavailable: the database cannot be read or written now.
	ErrUnavailable = errors.New("database unavailable")
)

// Checkpoint is how far the projection of a stream has come: the last record
// that is part of it. The zero Sequence stands before the first record.
type Checkpoint struct {
	eventlog.Position
	// EventID is that record's id. Sequences can be given out again after a
	// stream lost its tail, ids cannot.
	EventID string
}

// Step is a record of the log and what it changes. Most records change
// nothing and only move the checkpoint.
type Step struct {
	// Record is the record.
	Record eventlog.Stored
	// Game is the game that it starts or finishes, or nil.
	Game *Game
	// Moderation is what it hides or shows, or nil.
	Moderation *Moderation
	// Erasure is the player that it erases, or nil.
	Erasure *Erasure
	// Problem is why the record cannot be applied and is parked instead; empty
	// if it can.
	Problem string
}

// changes tells whether the step changes more than the checkpoint.
func (s Step) changes() bool {
	return s.Game != nil || s.Moderation != nil || s.Erasure != nil || s.Problem != ""
}

// Moderation hides a player or a game from all boards and statistics, or shows
// them again. Either PlayerID or GameID is set.
type Moderation struct {
	PlayerID, GameID string
	Hidden           bool
}

// Erasure removes a player's games that started before a moment, those that are yet
// to come included.
type Erasure struct {
	PlayerID string
	Before   time.Time
}

// PlayerGame is a game of a player, and why it does not rank; 0 if it does, where
// its ruleset has boards.
type PlayerGame struct {
	Game
	Unranked Unranked
}

// PlayerGamesQuery is which games of a player to read.
type PlayerGamesQuery struct {
	PlayerID string
	// RulesetID is of which rules; of all if empty.
	RulesetID string
	// Private includes the games that only the player may see. Of daily challenges
	// these are the games that started at FinalBefore or later.
	Private     bool
	FinalBefore time.Time
	// Before is the game above the ones to read, or nil for the latest.
	Before *Game
	// Limit is how many to read.
	Limit int
}

// PlayerHistory is all games of a player.
type PlayerHistory struct {
	// Games stand by their start.
	Games []PlayerGame
	// Hidden tells that the player is hidden.
	Hidden bool
}

// Parked is a record that could not be applied. Its game is not shown until it
// has been dealt with.
type Parked struct {
	// Position is the record's place in the log.
	Position eventlog.Position
	// EventID is its id.
	EventID string
	// GameID is its game.
	GameID string
	// Problem is why it was parked.
	Problem string
	// Payload is the record.
	Payload []byte
}

// Entry is a player's best game on a board and where it stands.
type Entry struct {
	Game
	// Rank is shared by equal scores: 1, 2, 2, 4.
	Rank uint64
	// Position is unique, from 1.
	Position uint64
}

// Range is which entries of a board to read: those below After, or those above
// Before, or those from Position on, or those from the top.
type Range struct {
	After, Before *Key
	// Position counts from 1; 0 for the top.
	Position uint64
	// Limit is how many entries to read, 1 or more: the ones next to After or
	// Before.
	Limit int
}

// Page is a part of a board, read from one snapshot.
type Page struct {
	// Entries stand in the board's order without gaps.
	Entries []Entry
	// TotalPlayers is how many players the board has.
	TotalPlayers uint64
	// Scores is how many of them have each score, the highest first.
	Scores []ScoreCount
	// Less and More tell whether entries stand above and below.
	Less, More bool
}

// BoardInfo is a board and how many players it has.
type BoardInfo struct {
	Board
	TotalPlayers uint64
}

// ScoreCount is how many players of a board have a score.
type ScoreCount struct {
	Score   int
	Players uint64
}

// Store keeps the projection. All methods are safe for concurrent use and
// honour the context. Boards are kept for every ruleset that has a ranked game;
// an answer about a board comes from one snapshot.
type Store interface {
	// Checkpoints returns the checkpoint of every stream that has one.
	Checkpoints(ctx context.Context) ([]Checkpoint, error)

	// Commit applies steps, the records that follow checkpoint after one by
	// one, in a single transaction, and moves the checkpoint to the last of
	// them. Applying a game again changes nothing. A game of which a record is
	// parked is passed over, and of its records only the first is parked.
	// ErrFenced, ErrRejected, ErrUnavailable; without an error, all of it is
	// visible to every later read.
	Commit(ctx context.Context, after Checkpoint, steps []Step) error

	// Parked returns the parked records, by stream and sequence.
	Parked(ctx context.Context) ([]Parked, error)

	// Retry takes the parked record of a game away and applies a step of that game
	// instead, in a single transaction that leaves the checkpoints where they are:
	// what its last record makes of it, or another problem that parks it again.
	// ErrNotFound if no record of the game is parked, ErrRejected, ErrUnavailable;
	// with an error, nothing was changed.
	Retry(ctx context.Context, gameID string, step Step) error

	// Hash returns a SHA-256 of everything that is shown: the games, and the
	// boards with their entries and counts. Stores of any kind that show the same
	// have the same hash, whatever the order in which it came. Checkpoints and
	// parked records are no part of it. It reads everything.
	Hash(ctx context.Context) ([sha256.Size]byte, error)

	// Lease takes or extends the right to project for holder until now+ttl and
	// tells whether holder has it. One whose time is up is anybody's. The lease
	// saves work; what makes a second writer harmless is ErrFenced.
	Lease(ctx context.Context, holder string, now time.Time, ttl time.Duration) (bool, error)

	// Release gives the lease back if holder has it.
	Release(ctx context.Context, holder string) error

	// Game returns a game, and why it does not rank. ErrNotFound.
	Game(ctx context.Context, gameID string) (PlayerGame, error)

	// Entries returns a range of a board's entries. A board without players is
	// empty, not an error.
	Entries(ctx context.Context, board Board, r Range) (Page, error)

	// EntriesAround returns up to limit entries of a board with the player's
	// among them: as many above as below, but for the ends of the board, and
	// always limit if the board has as many. ErrNotFound without an entry.
	EntriesAround(ctx context.Context, board Board, playerID string, limit int) (Page, error)

	// PlayerEntries returns the entries of those players who have one, in the
	// board's order.
	PlayerEntries(ctx context.Context, board Board, playerIDs []string) (Page, error)

	// Distribution returns how many players of a board have each score that
	// somebody has, the highest first.
	Distribution(ctx context.Context, board Board) ([]ScoreCount, error)

	// PlayerGames returns games of a player, running ones included, the latest
	// started first.
	PlayerGames(ctx context.Context, q PlayerGamesQuery) ([]PlayerGame, error)

	// PlayerHistory returns all games of a player from one snapshot.
	PlayerHistory(ctx context.Context, playerID string) (PlayerHistory, error)

	// Leaderboards returns up to limit boards that have players, in the order of
	// [Board.Compare], below after if it is not nil, and only those that match the
	// fields of only that are set.
	Leaderboards(ctx context.Context, only Board, after *Board, limit int) ([]BoardInfo, error)

	// Ping tells whether the store can be read. ErrUnavailable.
	Ping(ctx context.Context) error
}
