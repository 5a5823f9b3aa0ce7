// Package damage changes files in the ways in which they break, for tests of the packages that read them.
package damage

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gotorch-dev/torch/internal/torchzip"
)

// Source gives the same damages for the same seed.
type Source struct{ rng *rand.Rand }

// New returns a source.
func New(seed uint64) *Source { return &Source{rand.New(rand.NewPCG(seed, 0))} }

// Bytes returns a damaged copy of b and says what was done to it: bits are flipped, bytes cut out, doubled, exchanged
// or cleared, numbers made huge or changed by one, and digits of text replaced.
func (s *Source) Bytes(b []byte) (out []byte, what string) {
	out = slices.Clone(b)
	if len(b) == 0 {
		return []byte{0}, "a byte in an empty file"
	}
	at := s.rng.IntN(len(b))
	n := min(1+s.rng.IntN(16), len(b)-at)
	switch s.rng.IntN(9) {
	case 0:
		out[at] ^= 1 << s.rng.IntN(8)
		return out, fmt.Sprintf("a bit flipped at %d", at)
	case 1:
		return slices.Delete(out, at, at+n), fmt.Sprintf("%d bytes cut at %d", n, at)
	case 2:
		return out[:at], fmt.Sprintf("the end cut at %d", at)
	case 3:
		return slices.Insert(out, at, b[at:at+n]...), fmt.Sprintf("%d bytes doubled at %d", n, at)
	case 4:
		to := s.rng.IntN(len(b) - n + 1)
		copy(out[at:], b[to:to+n])
		copy(out[to:], b[at:at+n])
		return out, fmt.Sprintf("%d bytes exchanged at %d and %d", n, at, to)
	case 5:
		clear(out[at : at+n])
		return out, fmt.Sprintf("%d bytes cleared at %d", n, at)
	case 6:
		n = min(4<<s.rng.IntN(2), len(b)-at)
		for i := range n {
			out[at+i] = 0xff
		}
		return out, fmt.Sprintf("%d bytes of ones at %d", n, at)
	case 7:
		out[at] += byte(2*s.rng.IntN(2) - 1)
		return out, fmt.Sprintf("one more or less at %d", at)
	}
	for i := range out {
		if j := (at + i) % len(out); out[j] >= '0' && out[j] <= '9' {
			digits := []string{"0", "-1", "7", "99999999999", "9223372036854775807"}[s.rng.IntN(5)]
			return slices.Replace(out, j, j+1, []byte(digits)...), fmt.Sprintf("%s for a digit at %d", digits, j)
		}
	}
	out[at] = '9'
	return out, fmt.Sprintf("a digit at %d", at)
}

// Archive returns a copy of a torch file in which one record is damaged, is missing, or has the content of another. The
// checksums are those of the new content, so that readers get to see it.
func (s *Source) Archive(b []byte) (out []byte, what string, err error) {
	r, err := torchzip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, "", err
	}
	names := r.Records()
	victim, other := names[s.rng.IntN(len(names))], names[s.rng.IntN(len(names))]
	kind := s.rng.IntN(12)
	var buf bytes.Buffer
	w, err := torchzip.NewWriter(&buf, r.Name())
	if err != nil {
		return nil, "", err
	}
	for _, name := range names {
		from := name
		if name == victim && kind == 0 {
			what = "no " + name
			continue
		}
		if name == victim && kind == 1 {
			from, what = other, other+" as "+name
		}
		data, err := r.ReadAll(from)
		if err != nil {
			return nil, "", err
		}
		if name == victim && kind > 1 {
			data, what = s.Bytes(data)
			what += " of " + name
		}
		if err := w.Record(name, data); err != nil {
			return nil, "", err
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return buf.Bytes(), what, nil
}
