-- Players who asked to be forgotten. Nothing that was stored before is to be
-- forgotten: the projection had not read the log of such decisions yet.

-- +goose Up

-- Games of the player that started earlier are erased, and do not come back.
ALTER TABLE special_players ADD COLUMN erased_before BIGINT NOT NULL DEFAULT 0;
