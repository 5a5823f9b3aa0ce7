package rng

import (
	"math/bits"
	"sync"

	"github.com/gotorch-dev/torch/internal/par"
)

// The words of a generator come one after the other, but what is made of them
// depends on nothing else: threads share that work, and one of them draws
// meanwhile the words of the next batch.

const (
	batch = 1 << 16 // words that are drawn at once
	share = 1 << 13 // words that a task turns into numbers; a multiple of 64
)

var batches = sync.Pool{New: func() any { return new([2][batch]uint32) }}

// each draws words for n numbers, per (1, 2 or 4) of them for each, and has turn
// make the numbers lo to hi of theirs. lo is a multiple of 16.
func (g *Generator) each(n, per int, turn func(lo, hi int, w []uint32)) {
	if n == 0 {
		return
	}
	b := batches.Get().(*[2][batch]uint32)
	defer batches.Put(b)
	step := batch / per
	if par.NumThreads() == 1 { // the words stay in the first-level cache
		step = chunk / per
	}
	g.fill32(b[0][:min(n, step)*per])
	for at, k := 0, 0; at < n; at, k = at+step, 1-k {
		now := b[k][:min(n-at, step)*per]
		next := b[1-k][:max(0, min(n-at-step, step))*per]
		if len(now) <= share {
			turn(at, at+len(now)/per, now)
			g.fill32(next)
			continue
		}
		par.For(1+(len(now)+share-1)/share, 1, func(i, _ int) {
			if i == 0 {
				g.fill32(next)
				return
			}
			lo := (i - 1) * share
			hi := min(lo+share, len(now))
			turn(at+lo/per, at+hi/per, now[lo:hi])
		})
	}
}

// wordsU53 makes a number in [0,1) of two words.
func wordsU53(w []uint32) float64 { return u53(uint64(w[0])<<32 | uint64(w[1])) }

// A modulus gives remainders without dividing.
type modulus struct{ n, inverse uint64 }

func newModulus(n uint64) modulus { return modulus{n, ^uint64(0) / n} }

// of is x mod n: the quotient from the inverse is right or too small.
func (m modulus) of(x uint64) uint64 {
	q, _ := bits.Mul64(x, m.inverse)
	r := x - q*m.n
	for r >= m.n {
		r -= m.n
	}
	return r
}
