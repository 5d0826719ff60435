package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Seed is the secret from which a game's chance comes. It must be drawn from a cryptographic random
// source and kept from players until the game is over: whoever knows it knows the deck.
type Seed [32]byte

// Commitment returns what can be published when the game starts and checked when the seed is
// revealed: SHA-256 of "scoundrel/v1" and the seed, in lower-case hex. It tells nothing about the seed.
// It proves that the seed was not changed after the start, not that it was drawn by chance.
func (s Seed) Commitment() string {
	sum := sha256.Sum256(append([]byte("scoundrel/v1"), s[:]...))
	return hex.EncodeToString(sum[:])
}

// Shuffle returns the deck of r in the order that the seed gives it, the top of the dungeon first.
// Anyone can repeat it in any language: it is a Fisher-Yates shuffle fed by SHA-256 in counter mode.
func Shuffle(r Ruleset, s Seed) []Card {
	deck, _ := shuffle(r, s)
	return deck
}

// shuffle is [Shuffle], and says how many bytes of the seed's stream it used up.
func shuffle(r Ruleset, s Seed) (deck []Card, drawn uint16) {
	deck = r.Deck()
	source := stream{seed: s}
	for i := len(deck) - 1; i > 0; i-- {
		j := source.uniform(i + 1)
		deck[i], deck[j] = deck[j], deck[i]
	}
	return deck, source.next
}

// stream is the byte stream of a seed: the blocks SHA-256(seed || counter), counter from 0 as eight
// bytes big-endian, one after the other. It can begin anywhere.
type stream struct {
	seed   Seed
	next   uint16 // the position of the next byte
	block  [sha256.Size]byte
	loaded bool // whether block is that of next
}

// uniform returns an integer from 0 to n-1, each equally likely, for 1 <= n <= 256. Bytes that would
// favour small numbers are skipped; for n = 1 no byte is taken.
func (s *stream) uniform(n int) int {
	if n == 1 {
		return 0
	}
	for limit := 256 - 256%n; ; {
		if b := int(s.byte()); b < limit {
			return b % n
		}
	}
}

func (s *stream) byte() byte {
	at := s.next % sha256.Size
	if at == 0 || !s.loaded {
		var in [len(s.seed) + 8]byte
		copy(in[:], s.seed[:])
		binary.BigEndian.PutUint64(in[len(s.seed):], uint64(s.next)/sha256.Size)
		s.block = sha256.Sum256(in[:])
		s.loaded = true
	}
	s.next++
	return s.block[at]
}
