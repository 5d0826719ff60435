package engine

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"
)

// FuzzDecodeState gives bytes to the decoder: what it accepts is sound, and has this one encoding.
func FuzzDecodeState(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{StateEncoding})
	playedFacts(f, func(fresh State, facts []Fact, final State) {
		middle, err := fresh.EvolveAll(facts[:len(facts)/2])
		if err != nil {
			f.Fatal(err)
		}
		for _, s := range []State{fresh, middle, final} {
			if s.Seed()[0]%16 != 0 {
				continue
			}
			data, err := s.MarshalBinary()
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := DecodeState(data)
		if err != nil {
			var bad *EncodingError
			if !errors.As(err, &bad) || s != (State{}) {
				t.Fatalf("error %v", err)
			}
			return
		}
		again, err := s.MarshalBinary()
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%x is encoded again as %x, %v", data, again, err)
		}
		exercise(t, s)
	})
}

// Every change of one byte is refused, or leads to another sound state.
func TestDecodeChangedBytes(t *testing.T) {
	playedFacts(t, func(fresh State, facts []Fact, _ State) {
		if fresh.seed[0]%16 != 0 {
			return
		}
		for n := range facts {
			s, err := fresh.EvolveAll(facts[:n])
			if err != nil {
				t.Fatal(err)
			}
			data, err := s.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			for i := range data {
				for _, change := range []byte{1, 2, 0x80, 0xff} {
					changed := bytes.Clone(data)
					changed[i] ^= change
					decoded, err := DecodeState(changed)
					if err != nil {
						continue
					}
					if decoded == s {
						t.Fatalf("byte %d does not matter", i)
					}
					exercise(t, decoded)
				}
				if _, err := DecodeState(data[:i]); err == nil {
					t.Fatalf("the first %d of %d bytes are accepted", i, len(data))
				}
			}
			if _, err := DecodeState(append(data, 0)); err == nil {
				t.Fatal("a byte too many is accepted")
			}
		}
	})
}

// Stored snapshots must stay readable: a change of this text needs a new StateEncoding.
func TestEncodingIsStable(t *testing.T) {
	deck := make([]Card, 0, 6)
	for _, name := range []string{"7C", "10S", "KS", "5C", "9S", "KC"} {
		c, err := ParseCard(name)
		if err != nil {
			t.Fatal(err)
		}
		deck = append(deck, c)
	}
	s, err := NewGameWithDeck(presets[0].Rules, deck)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = s.EvolveAll(s.Open(nil)); err != nil {
		t.Fatal(err)
	}
	facts, err := s.Decide(Move{MoveFightBareHanded, deck[0]}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = s.EvolveAll(facts); err != nil {
		t.Fatal(err)
	}
	data, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	const want = "02" + "01010101000000" + "01" + "0d" + "00" + "02" + "00" + "01" + "00000000000000" + "0000000000" +
		"00" + "0000000000000000" + "0000" + "00000000" + "02030000000001" +
		"0000000000000000000000000000000000000000000000000000000000000000" + "150c" + "161904" + "06"
	if got := hex.EncodeToString(data); got != want {
		t.Errorf("the encoding is %s, want %s", got, want)
	}
}
