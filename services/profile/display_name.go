package profile

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"
)

// maxCharacters is how many visible characters a display name has at most.
const maxCharacters = 32

// maxMarks is how many nonspacing marks may follow each other: more than any
// language needs are piled up over the lines above (UTS #39, section 5.4).
const maxMarks = 4

// displayName returns a name in the form in which it is stored, or *FieldError.
// The contract of SetDisplayName tells the rules; it is there that the bytes are
// bounded, because a single visible character can be of any length.
func displayName(text string) (string, error) {
	refuse := func(format string, v ...any) (string, error) {
		return "", &FieldError{Field: "display_name", Problem: fmt.Sprintf(format, v...)}
	}
	name := norm.NFC.String(text)
	if n := uniseg.GraphemeClusterCount(name); n < 1 || n > maxCharacters {
		return refuse("must have 1 to %d visible characters, not %d", maxCharacters, n)
	}
	if strings.HasPrefix(name, " ") || strings.HasSuffix(name, " ") {
		return refuse("must neither begin nor end with a space")
	}
	marks, before := 0, ' '
	for i, r := range name + " " { // a joiner stands no better at the end than before a space
		switch {
		case !permitted(r):
			return refuse("must not contain the character %U", r)
		case isJoiner(r) && (before == ' ' || isJoiner(before)), isJoiner(before) && r == ' ':
			return refuse("a joiner such as %U must stand between two characters", joiner)
		case i == 0 && unicode.IsMark(r):
			return refuse("must not begin with a mark such as %U", r)
		case unicode.In(r, unicode.Mn, unicode.Me):
			if marks++; marks > maxMarks {
				return refuse("must not have more than %d marks in a row", maxMarks)
			}
		case !isJoiner(r):
			marks = 0
		}
		before = r
	}
	return name, nil
}

// Joiners show nothing themselves, but some scripts and emoji are not spelled
// right without them.
const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
)

func isJoiner(r rune) bool { return r == nonJoiner || r == joiner }

// permitted tells whether a name may contain a code point: one that shows, the
// space, or a joiner. What Unicode has not assigned yet is not among them, as
// only assigned code points keep their normal form for ever.
func permitted(r rune) bool {
	switch r {
	case '\u2800', // the Braille pattern without dots: a space by another name
		unicode.ReplacementChar: // stands for text that was lost
		return false
	}
	return isJoiner(r) || unicode.IsPrint(r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}
