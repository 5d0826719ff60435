package engine

// Perft returns the number of different sequences of exactly n moves that can be played from s; a game
// that ends earlier adds nothing. Two engines that agree on it for many seeds agree on the rules. It is
// the number of legal moves for n = 1, and 1 for n <= 0.
func Perft(s *State, n int) uint64 {
	if n <= 0 {
		return 1
	}
	var moves [MaxLegalMoves]Move
	legal := s.Legal(moves[:0])
	if n == 1 {
		return uint64(len(legal))
	}
	var total uint64
	var buffer [8]Fact
	for _, m := range legal {
		d := decision{state: *s, facts: buffer[:0]}
		d.move(m)
		total += Perft(&d.state, n-1)
	}
	return total
}
