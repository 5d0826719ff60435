// Package projection turns the event log into scores and leaderboards.
//
// [Apply] is the pure part: from a game's last record to the game's row. A
// [Projector] tails the log and hands what Apply makes of it to a [Store],
// which keeps games, boards and the projector's checkpoint in one database and
// changes them in one transaction. Everything here can be thrown away and
// computed again from the log.
package projection
