package fft

import (
	"container/list"
	"math"
	"math/bits"
	"slices"
	"sync"
	"unsafe"
)

// Float is the type of the real and imaginary parts.
type Float interface{ float32 | float64 }

// largestPrime is the largest prime factor that a pass is made for. A pass for a prime p takes p operations per element
// and part, which for larger ones is more than the way over a longer length.
const largestPrime = 31

// A Plan is what transforms of one length need, made once. It is read only, so that goroutines share it.
type Plan[E Float] struct {
	n     int
	steps []step[E]    // the passes, unless chirp is set
	chirp *chirp[E]    // for lengths with large prime factors
	line  *fourStep[E] // for a single line, in place of steps
	roots planes[E]    // of real lines alone: exp(-2πik/n) for k ≤ n/4
	bytes int          // what the plan holds in memory
}

// A step is one pass of radix r: it has m groups of r rows, and for each of them the r-1 roots of unity, in pairs, that
// rows 1, 2, … of the result are multiplied by. A pass of radix 1 multiplies m rows by a number each.
type step[E Float] struct {
	radix, m int
	roots    []E
	// dft are the pairs exp(-2πik/radix) of a radix without a pass of its own
	dft []E
}

// root is exp(-2πi·k/n), to the last digit of float64: the argument is brought into the first octant exactly.
func root(k, n int) (re, im float64) {
	k %= n
	// 8k/n tells the octant; n stays below 2^60.
	octant := 8 * k / n
	at := func(num, den int) (c, s float64) { // of num/den turns, at most an eighth
		s, c = math.Sincos(2 * math.Pi * (float64(num) / float64(den)))
		return c, s
	}
	var c, s float64
	switch octant {
	case 0:
		c, s = at(k, n)
	case 1:
		s, c = at(n-4*k, 4*n)
	case 2:
		s, c = at(4*k-n, 4*n)
		c = -c
	case 3:
		c, s = at(n-2*k, 2*n)
		c = -c
	case 4:
		c, s = at(2*k-n, 2*n)
		c, s = -c, -s
	case 5:
		s, c = at(3*n-4*k, 4*n)
		c, s = -c, -s
	case 6:
		s, c = at(4*k-3*n, 4*n)
		s = -s
	default:
		c, s = at(n-k, n)
		s = -s
	}
	return c, -s
}

// A rootTable gives roots of unity for a large n as products of two, which takes less time than a sine and a cosine and
// is as exact as float64 but for its last digit or two.
type rootTable struct {
	n, width      int
	coarse, small []complex128 // exp(-2πi·k·width/n), exp(-2πi·k/n)
}

func newRootTable(n int) *rootTable {
	t := &rootTable{n: n, width: 1 << ((bits.Len(uint(n)) + 1) / 2)}
	for k := 0; k*t.width < n; k++ {
		t.coarse = append(t.coarse, complex(root(k*t.width, n)))
	}
	for k := range t.width {
		t.small = append(t.small, complex(root(k, n)))
	}
	return t
}

func (t *rootTable) root(k int) (re, im float64) {
	k %= t.n
	w := t.coarse[k/t.width] * t.small[k%t.width]
	return real(w), imag(w)
}

// factors are the radices for length n in the order of the passes, as few as there can be, nil where a prime factor is
// too large.
func factors(n int) []int {
	var f []int
	twos := bits.TrailingZeros(uint(n))
	n >>= twos
	threes := 0
	for ; n%3 == 0; n /= 3 {
		threes++
	}
	for p := 5; n > 1 && p <= largestPrime; p += 2 {
		for n%p == 0 {
			f = append(f, p)
			n /= p
		}
	}
	if n > 1 {
		return nil
	}
	// Each 6 takes a two out of those that passes of 8 take three of.
	sixes, best := 0, math.MaxInt
	for k := range min(twos, threes) + 1 {
		if passes := threes + (twos-k+2)/3; passes < best {
			sixes, best = k, passes
		}
	}
	f = append(f, slices.Repeat([]int{3}, threes-sixes)...)
	f = append(f, slices.Repeat([]int{6}, sixes)...)
	twos -= sixes
	for ; twos > 4 || twos == 3; twos -= 3 {
		f = append(f, 8)
	}
	for ; twos > 1; twos -= 2 {
		f = append(f, 4)
	}
	if twos == 1 {
		f = append(f, 2)
	}
	return f
}

// smooth reports that n has small prime factors only.
func smooth(n int) bool { return n == 1 || factors(n) != nil }

func newPlan[E Float](n int) *Plan[E] {
	p := &Plan[E]{n: n}
	if !smooth(n) {
		p.chirp = newChirp[E](n)
		p.bytes = p.chirp.bytes()
		return p
	}
	m := n
	for _, r := range factors(n) {
		m /= r
		s := step[E]{radix: r, m: m, roots: make([]E, 0, 2*m*(r-1))}
		for g := range m {
			for j := 1; j < r; j++ {
				c, d := root(g*j, m*r)
				s.roots = append(s.roots, E(c), E(d))
			}
		}
		if r%2 == 1 && r > 5 {
			for k := range r {
				c, d := root(k, r)
				s.dft = append(s.dft, E(c), E(d))
			}
		}
		p.bytes += len(s.roots) * int(unsafe.Sizeof(E(0)))
		p.steps = append(p.steps, s)
	}
	return p
}

// The cache of plans: those that were used last, up to a number of bytes.
type cache[E Float] struct {
	sync.Mutex
	plans map[key]*list.Element // of *entry[E]
	order list.List             // last used first
	bytes int
}

type key struct {
	n    int
	kind kind
}

// kind tells apart what a plan is for, since each purpose needs parts of its own.
type kind uint8

const (
	tiles kind = iota // tiles of many lines
	lines             // single lines
	reals             // the way between a real line and a complex one of half the length
)

type entry[E Float] struct {
	key  key
	plan *Plan[E]
}

// cacheBytes bounds the memory of the plans of one type that are kept.
const cacheBytes = 64 << 20

var (
	cache32 = cache[float32]{plans: map[key]*list.Element{}}
	cache64 = cache[float64]{plans: map[key]*list.Element{}}
)

func cacheOf[E Float]() *cache[E] {
	if unsafe.Sizeof(E(0)) == 4 {
		return any(&cache32).(*cache[E])
	}
	return any(&cache64).(*cache[E])
}

// get returns the plan of a length for a purpose, from the cache or made by build.
func get[E Float](n int, k kind, build func() *Plan[E]) *Plan[E] {
	c := cacheOf[E]()
	at := key{n, k}
	c.Lock()
	if e := c.plans[at]; e != nil {
		c.order.MoveToFront(e)
		p := e.Value.(*entry[E]).plan
		c.Unlock()
		return p
	}
	c.Unlock()
	p := build() // without the lock: two goroutines may both make it
	p.bytes += 1 << 10
	if p.bytes > cacheBytes {
		return p
	}
	c.Lock()
	defer c.Unlock()
	if e := c.plans[at]; e != nil {
		return e.Value.(*entry[E]).plan
	}
	c.plans[at] = c.order.PushFront(&entry[E]{at, p})
	for c.bytes += p.bytes; c.bytes > cacheBytes; {
		e := c.order.Back()
		old := c.order.Remove(e).(*entry[E])
		delete(c.plans, old.key)
		c.bytes -= old.plan.bytes
	}
	return p
}

// forTiles is the plan of length n for tiles of many lines.
func forTiles[E Float](n int) *Plan[E] {
	return get(n, tiles, func() *Plan[E] { return newPlan[E](n) })
}

// forLine is the plan of length n for a single line.
func forLine[E Float](n int) *Plan[E] {
	return get(n, lines, func() *Plan[E] {
		if p := newFourStep[E](n); p != nil {
			return p
		}
		return newPlan[E](n)
	})
}
