package engine

// Perft returns the number of different sequences of exactly n moves that can be played from s; a game
// that ends earlier adds nothing. Two engines that agree on it for many seeds agree on the rules. It is
// the number of legal moves for n = 1, and 1 for n <= 0.
func Perft(s *State, n int) uint64 {
	if n <= 0 {
		return 1
	}
	var moves [16]Move
	legal := s.Legal(moves[:0])
	if n == 1 {
		return uint64(len(legal))
	}
	var total uint64
	var buffer [8]Fact
	for _, m := range legal {
		facts, err := s.Decide(m, buffer[:0])
		if err != nil {
			continue // a legal move is never refused
		}
		if next, err := s.EvolveAll(facts); err == nil {
			total += Perft(&next, n-1)
		}
	}
	return total
}
