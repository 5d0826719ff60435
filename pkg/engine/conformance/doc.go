// Package conformance checks the engine against recorded games, one JSON object a line. Anyone can
// write such lines, in any language; they say what the rules are by example.
//
// # Games
//
// A game line has these fields. Cards and moves are written as the engine's notation has them ("QS",
// "EQUIP 5D").
//
//	name        what the game is called in results
//	note        what the game is for; not checked
//	rules       the ruleset, see below
//	deck        the dungeon before the first room is dealt, the top first; it may be short
//	seed        64 hex digits; then deck must be the shuffle of that seed. Optional
//	commitment  what is published about the seed; goes with seed
//	initial     the state when the first room is dealt
//	steps       the moves in order; each has
//	  move      the move
//	  state     the state after it, or
//	  illegal   true: the move must be refused and change nothing
//
// The rules are an object with weapon_wear, ending, win_bonus and loss_score (each the name of a
// value), depth (0 to 9), variants (a list of names) and companion_health (0 to 20, and 0
// without home_rules).
//
// A state is an object with
//
//	status         ACTIVE, WON or LOST
//	health         the player's health, not clamped when lost
//	room           the face-up cards from left to right
//	dungeon        the number of face-down cards
//	rooms_cleared  the rooms faced to the end
//	weapon         null, or the weapon: card, kills and upgrades, both oldest first
//	legal          all legal moves, sorted by their bytes
//	stored         the bearer's potions in the order of storing; present exactly while there is a bearer
//	companion      card, health (0 where the rules give none) and weapon; present exactly while there is one
//	score          the score; present exactly when the game is over
//
// # Perft
//
// A line with paths counts move sequences: it has rules, seed and paths, where the n-th number of
// paths is how many different sequences of n legal moves the game with that seed begins with.
//
// # What is checked
//
// Every field of every state; that an illegal move is refused and leaves the state alone; that the facts
// a move yields lead to the same state however they are folded; that every legal move is accepted; and
// that every state survives its encoding and every move its notation. A field or a variant that the
// runner does not know makes a line fail, because it would not be checked.
package conformance
