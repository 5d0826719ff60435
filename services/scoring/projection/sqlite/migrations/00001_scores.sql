-- Scores and leaderboards of finished games, all of it computed from the event
-- log. Columns are named as in the contract; times are nanoseconds since 1970;
-- outcome, mode and actor_kind hold the numbers of the contract's enumerations.

-- +goose Up

-- How far each stream of the log has been projected.
CREATE TABLE projection_checkpoint (
    name        TEXT    NOT NULL, -- which projection
    stream      TEXT    NOT NULL,
    stream_seq  INTEGER NOT NULL, -- the last record that is part of the tables
    event_id    TEXT    NOT NULL, -- its id
    incarnation TEXT    NOT NULL, -- of the stream
    PRIMARY KEY (name, stream)
) STRICT, WITHOUT ROWID;

-- Who may write now.
CREATE TABLE projection_lease (
    name       TEXT    NOT NULL PRIMARY KEY,
    holder     TEXT    NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Records that could not be applied; their games are not shown.
CREATE TABLE projection_poison (
    name        TEXT    NOT NULL,
    stream      TEXT    NOT NULL,
    stream_seq  INTEGER NOT NULL,
    incarnation TEXT    NOT NULL,
    event_id    TEXT    NOT NULL,
    game_id     TEXT    NOT NULL UNIQUE, -- one record a game is enough
    error       TEXT    NOT NULL,
    payload     BLOB    NOT NULL,
    PRIMARY KEY (name, stream, stream_seq)
) STRICT;

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
    ranked     INTEGER NOT NULL, -- 1: stands for the board of its ruleset
    stream     TEXT    NOT NULL, -- the place of its last record
    stream_seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Each player's best game, and its key in the board's order, which the program
-- defines. All columns of board_order ascend.
CREATE TABLE leaderboard_entries (
    ruleset_id TEXT    NOT NULL,
    player_id  TEXT    NOT NULL,
    game_id    TEXT    NOT NULL,
    score      INTEGER NOT NULL,
    win_moves  INTEGER NOT NULL, -- the same for every loss
    ended_at   INTEGER NOT NULL,
    stream     TEXT    NOT NULL,
    stream_seq INTEGER NOT NULL,
    descending_score INTEGER NOT NULL GENERATED ALWAYS AS (-score) VIRTUAL,
    PRIMARY KEY (ruleset_id, player_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX board_order ON leaderboard_entries
    (ruleset_id, descending_score, win_moves, ended_at, stream, stream_seq);

-- How many players of a board have each score. Scores span some 220 values, so
-- a rank is a short sum whatever the size of the board.
CREATE TABLE leaderboard_histogram (
    ruleset_id TEXT    NOT NULL,
    score      INTEGER NOT NULL,
    players    INTEGER NOT NULL CHECK (players > 0),
    PRIMARY KEY (ruleset_id, score)
) STRICT, WITHOUT ROWID;
