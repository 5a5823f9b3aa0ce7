// Package chartext reads a text file for character-level language models: every
// distinct character is a token.
//
//	text, err := chartext.Load("input.txt")
//	x, y := text.Train.Window(offset, 256) // y is x moved on by one character
//	fmt.Println(text.Vocab.Decode(x))
package chartext

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

// Vocab is a set of characters, numbered 0, 1, … in the order of their code points.
// It does not change after it is made, and may be used by several goroutines.
type Vocab struct {
	runes []rune
	index map[rune]int64
}

// NewVocab returns the vocabulary of the characters that occur in text, each once or
// more often. It fails if text is not valid UTF-8.
func NewVocab(text string) (*Vocab, error) {
	if err := validate(text); err != nil {
		return nil, err
	}
	v := &Vocab{index: make(map[rune]int64)}
	for _, r := range text {
		if _, ok := v.index[r]; !ok {
			v.index[r] = 0
			v.runes = append(v.runes, r)
		}
	}
	slices.Sort(v.runes)
	for i, r := range v.runes {
		v.index[r] = int64(i)
	}
	return v, nil
}

// Len returns the number of characters.
func (v *Vocab) Len() int { return len(v.runes) }

// String returns the characters in order. NewVocab of it is the same vocabulary,
// which makes it the thing to store beside a model's weights.
func (v *Vocab) String() string { return string(v.runes) }

// Encode returns the number of each character of s. It fails if s is not valid UTF-8
// or has a character outside the vocabulary.
func (v *Vocab) Encode(s string) ([]int64, error) {
	if err := validate(s); err != nil {
		return nil, err
	}
	ids := make([]int64, 0, utf8.RuneCountInString(s))
	for at, r := range s {
		id, ok := v.index[r]
		if !ok {
			return nil, fmt.Errorf("chartext: Encode: %q (U+%04X) at byte %d is not among the %d characters of the "+
				"vocabulary",
				r, r, at, v.Len())
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// Decode returns the text of the given numbers. It fails if one is outside [0, Len()).
func (v *Vocab) Decode(ids []int64) (string, error) {
	var b strings.Builder
	b.Grow(len(ids))
	for i, id := range ids {
		if id < 0 || id >= int64(len(v.runes)) {
			return "", fmt.Errorf("chartext: Decode: number %d at index %d, want one in [0, %d)", id, i, len(v.runes))
		}
		b.WriteRune(v.runes[id])
	}
	return b.String(), nil
}

// Tokens is a text as numbers of characters.
type Tokens []int64

// Windows returns the number of offsets that Window accepts for windows of length n:
// 0 if the text has no more than n characters.
func (t Tokens) Windows(n int) int { return max(len(t)-n, 0) }

// Window returns the n tokens from offset on and, as the targets of a model that
// predicts the next one, the n tokens from offset+1 on. Both are views of t. It panics
// unless n is positive and offset is in [0, Windows(n)).
func (t Tokens) Window(offset, n int) (x, y []int64) {
	if n <= 0 || offset < 0 || offset >= t.Windows(n) {
		panic(fmt.Sprintf("chartext: Window(%d, %d): want a positive length and an offset in [0, %d), for a text of "+
			"%d tokens",
			offset, n, t.Windows(max(n, 0)), len(t)))
	}
	return t[offset : offset+n : offset+n], t[offset+1 : offset+n+1 : offset+n+1]
}

// Text is a text cut in two: the first nine tenths of its characters to train on, the
// last tenth to validate with. The vocabulary covers both.
type Text struct {
	Vocab      *Vocab
	Train, Val Tokens
}

// New makes a Text of a string. It fails if that is empty or not valid UTF-8.
func New(text string) (*Text, error) {
	if text == "" {
		return nil, fmt.Errorf("chartext: the text is empty")
	}
	v, err := NewVocab(text)
	if err != nil {
		return nil, err
	}
	ids, err := v.Encode(text)
	if err != nil {
		return nil, err
	}
	// In this order the product cannot overflow a 32-bit int, and the cut is rounded
	// down as int(0.9*n) is.
	n := len(ids) - (len(ids)+9)/10
	return &Text{Vocab: v, Train: ids[:n:n], Val: ids[n:]}, nil
}

// Load reads a UTF-8 text file. Line ends and a byte order mark are kept as they are,
// unlike in Python's text mode, which turns every line end into "\n".
func Load(path string) (*Text, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("chartext: %w", err)
	}
	t, err := New(string(b))
	if err != nil {
		return nil, fmt.Errorf("%w, in %s", err, path)
	}
	return t, nil
}

// validate reports where s stops being UTF-8. A range loop would read U+FFFD there,
// and decoding could not give the text back.
func validate(s string) error {
	if utf8.ValidString(s) {
		return nil
	}
	for at, r := range s {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[at:]); n == 1 {
				return fmt.Errorf("chartext: not valid UTF-8 at byte %d (0x%02x)", at, s[at])
			}
		}
	}
	return nil
}
