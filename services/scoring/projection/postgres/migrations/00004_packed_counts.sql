-- Counts of a board as nodes of a tree, each in one row. What the tables held is
-- computed anew from the event log.

-- +goose Up

DELETE FROM projection_checkpoint;
DELETE FROM projection_poison;
DELETE FROM leaderboard_entries;
DELETE FROM games;
DROP TABLE leaderboard_counts;

-- How many players of a board stand together in groups of its order, which nest: a
-- row holds the counts of the groups within one, in the program's own form. Position
-- and rank are short sums whatever the size of the board.
CREATE TABLE leaderboard_counts (
    board_id    BIGINT  NOT NULL,
    level       INTEGER NOT NULL,
    order_score INTEGER NOT NULL,
    win_moves   BIGINT  NOT NULL,
    bucket      BIGINT  NOT NULL,
    counts      BYTEA   NOT NULL,
    PRIMARY KEY (board_id, level, order_score, win_moves, bucket)
);
