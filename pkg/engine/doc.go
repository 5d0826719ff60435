// Package engine is the rules of the solo card game Scoundrel, and nothing else: no clock, no
// randomness, no input or output. Everything it does is a function of its arguments.
//
// A game is a [State], a small value that can be copied and compared with ==. To play one, choose a
// [Ruleset] (a preset from [Presets], or any combination of options), make a state with [NewGame]
// from 32 secret bytes, and open it:
//
//	s, err := engine.NewGame(rules, seed)
//	s, err = s.EvolveAll(s.Open(nil))
//
// From then on ask [State.Legal] for the moves, [State.Preview] for what one of them would do, and
// [State.Decide] to make it. Decide answers with facts and leaves the state alone; [State.Evolve]
// turns a state and a fact into the next state. The two halves are strict: Decide knows the rules and
// changes nothing, Evolve changes the state and knows no rule. Whatever an option decided stands in
// the fact, so a stored game can be folded again years later, after any change of the rules, to exactly
// the same states. [Score] computes a finished game's score from its last fact alone.
//
// A state holds the undealt cards and the seed. Whoever shows a game to a player must keep
// [State.Dungeon], [State.Seed] and the encoded state from them until the game is over; every other
// accessor, [State.Legal] and [State.Preview] tell only what a player at a table would see.
package engine

// RulesRevision numbers the meaning of [State.Decide]: it grows whenever the same move in the same
// state would yield other facts. Stored games keep the revision they were played under; folding
// their facts does not depend on it.
const RulesRevision = 1
