-- Boards by period and kind of player, and counts from which a position follows
-- on a board of any size. What the tables held is computed anew from the event
-- log: the checkpoints go back to its beginning.

-- +goose Up

DROP TABLE leaderboard_histogram;
DROP TABLE leaderboard_entries;
DROP TABLE games;
DELETE FROM projection_checkpoint;
DELETE FROM projection_poison;

CREATE TABLE games (
    game_id    TEXT    NOT NULL PRIMARY KEY,
    player_id  TEXT    NOT NULL,
    actor_kind INTEGER NOT NULL,
    ruleset_id TEXT    NOT NULL,
    mode       INTEGER NOT NULL,
    outcome    INTEGER NOT NULL,
    score      INTEGER,          -- NULL: abandoned
    moves      INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER NOT NULL,
    stream     TEXT    NOT NULL, -- the place of its last record
    stream_seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The boards that games count for.
CREATE TABLE leaderboards (
    board_id   INTEGER PRIMARY KEY,
    ruleset_id TEXT    NOT NULL,
    actor_kind INTEGER NOT NULL,
    period     INTEGER NOT NULL, -- as in the contract
    opens_at   INTEGER NOT NULL, -- the first moment of the period; 0 for all time
    list_order INTEGER NOT NULL, -- ascends in the order in which boards are listed
    UNIQUE (ruleset_id, actor_kind, period, opens_at)
) STRICT;

CREATE UNIQUE INDEX leaderboard_list ON leaderboards (list_order, ruleset_id, actor_kind, period);

-- Each player's best game on a board, and its key in the board's order, which the
-- program defines. All columns of board_order ascend.
CREATE TABLE leaderboard_entries (
    board_id    INTEGER NOT NULL,
    player_id   TEXT    NOT NULL,
    game_id     TEXT    NOT NULL,
    order_score INTEGER NOT NULL, -- minus the score
    win_moves   INTEGER NOT NULL, -- the same for every loss
    ended_at    INTEGER NOT NULL,
    stream      TEXT    NOT NULL,
    stream_seq  INTEGER NOT NULL,
    PRIMARY KEY (board_id, player_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX board_order ON leaderboard_entries
    (board_id, order_score, win_moves, ended_at, stream, stream_seq);

-- How many players of a board stand together in groups of its order, which nest:
-- those of a score, of a number of moves, of ever shorter spans of time. Rank and
-- position are short sums whatever the size of the board.
CREATE TABLE leaderboard_counts (
    board_id    INTEGER NOT NULL,
    level       INTEGER NOT NULL,
    order_score INTEGER NOT NULL,
    win_moves   INTEGER NOT NULL,
    bucket      INTEGER NOT NULL,
    players     INTEGER NOT NULL CHECK (players >= 0),
    PRIMARY KEY (board_id, level, order_score, win_moves, bucket)
) STRICT, WITHOUT ROWID;
