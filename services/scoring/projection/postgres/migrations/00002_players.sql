-- Games from their start on, why one does not rank, and what is hidden. What the
-- tables held is computed anew from the event log.

-- +goose Up

DELETE FROM projection_checkpoint;
DELETE FROM projection_poison;
DELETE FROM leaderboard_entries;
DELETE FROM leaderboard_counts;
DELETE FROM games;

-- Why the game does not rank: a number of the contract's enumeration, 0 if it
-- does.
ALTER TABLE games ADD COLUMN unranked_reason INTEGER NOT NULL DEFAULT 0;

CREATE INDEX games_of_player ON games (player_id, started_at, game_id);

-- Players whose games must be looked at together when one is added: those with
-- games of some depth, or with something hidden.
CREATE TABLE special_players (
    player_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    hidden    INTEGER NOT NULL -- 1: the player is not shown
);

-- Games that are not shown, known before or after they end.
CREATE TABLE hidden_games (
    game_id TEXT COLLATE "C" NOT NULL PRIMARY KEY
);
