-- Scores and leaderboards of finished games, all of it computed from the event
-- log. Columns are named as in the contract; times are nanoseconds since 1970;
-- outcome, mode, actor_kind and period hold the numbers of the contract's
-- enumerations. Texts sort by their bytes, as the program does.

-- +goose Up

-- How far each stream of the log has been projected.
CREATE TABLE projection_checkpoint (
    name        TEXT COLLATE "C" NOT NULL, -- which projection
    stream      TEXT COLLATE "C" NOT NULL,
    stream_seq  BIGINT NOT NULL, -- the last record that is part of the tables
    event_id    TEXT   NOT NULL, -- its id
    incarnation TEXT   NOT NULL, -- of the stream
    PRIMARY KEY (name, stream)
);

-- Who may write now.
CREATE TABLE projection_lease (
    name       TEXT   NOT NULL PRIMARY KEY,
    holder     TEXT   NOT NULL,
    expires_at BIGINT NOT NULL
);

-- Records that could not be applied; their games are not shown.
CREATE TABLE projection_poison (
    name        TEXT COLLATE "C" NOT NULL,
    stream      TEXT COLLATE "C" NOT NULL,
    stream_seq  BIGINT NOT NULL,
    incarnation TEXT   NOT NULL,
    event_id    TEXT   NOT NULL,
    game_id     TEXT   NOT NULL UNIQUE, -- one record a game is enough
    error       TEXT   NOT NULL,
    payload     BYTEA  NOT NULL,
    PRIMARY KEY (name, stream, stream_seq)
);

CREATE TABLE games (
    game_id    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    player_id  TEXT COLLATE "C" NOT NULL,
    actor_kind INTEGER NOT NULL,
    ruleset_id TEXT COLLATE "C" NOT NULL,
    mode       INTEGER NOT NULL,
    outcome    INTEGER NOT NULL,
    score      INTEGER,         -- NULL: abandoned
    moves      BIGINT  NOT NULL,
    started_at BIGINT  NOT NULL,
    ended_at   BIGINT  NOT NULL,
    stream     TEXT COLLATE "C" NOT NULL, -- the place of its last record
    stream_seq BIGINT  NOT NULL
);

-- The boards that games count for.
CREATE TABLE leaderboards (
    board_id   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ruleset_id TEXT COLLATE "C" NOT NULL,
    actor_kind INTEGER NOT NULL,
    period     INTEGER NOT NULL,
    opens_at   BIGINT  NOT NULL, -- the first moment of the period; 0 for all time
    list_order BIGINT  NOT NULL, -- ascends in the order in which boards are listed
    UNIQUE (ruleset_id, actor_kind, period, opens_at)
);

CREATE UNIQUE INDEX leaderboard_list ON leaderboards (list_order, ruleset_id, actor_kind, period);

-- Each player's best game on a board, and its key in the board's order, which the
-- program defines. All columns of board_order ascend.
CREATE TABLE leaderboard_entries (
    board_id    BIGINT  NOT NULL,
    player_id   TEXT COLLATE "C" NOT NULL,
    game_id     TEXT COLLATE "C" NOT NULL,
    order_score INTEGER NOT NULL, -- minus the score
    win_moves   BIGINT  NOT NULL, -- the same for every loss
    ended_at    BIGINT  NOT NULL,
    stream      TEXT COLLATE "C" NOT NULL,
    stream_seq  BIGINT  NOT NULL,
    PRIMARY KEY (board_id, player_id)
);

CREATE INDEX board_order ON leaderboard_entries
    (board_id, order_score, win_moves, ended_at, stream, stream_seq);

-- How many players of a board stand together in groups of its order, which nest:
-- those of a score, of a number of moves, of ever shorter spans of time. Rank and
-- position are short sums whatever the size of the board.
CREATE TABLE leaderboard_counts (
    board_id    BIGINT  NOT NULL,
    level       INTEGER NOT NULL,
    order_score INTEGER NOT NULL,
    win_moves   BIGINT  NOT NULL,
    bucket      BIGINT  NOT NULL,
    players     BIGINT  NOT NULL CHECK (players >= 0),
    PRIMARY KEY (board_id, level, order_score, win_moves, bucket)
);
