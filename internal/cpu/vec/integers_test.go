package vec

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"
)

// TestLanes compares the integer kernels of every element type with one number at a time on every path: all short
// lengths, odd addresses, the destination in place of an operand, guards around it, and lengths that cross a chunk.
func TestLanes(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		testLanes[uint8](t)
		testLanes[int8](t)
		testLanes[int16](t)
		testLanes[int32](t)
		testLanes[int64](t)
	})
}

func testLanes[E Integer](t *testing.T) {
	for _, k := range []struct {
		name string
		f    func(dst, a, b []E)
		want func(x, y E) E
	}{
		{"add", AddInt[E], func(x, y E) E { return x + y }},
		{"sub", SubInt[E], func(x, y E) E { return x - y }},
		{"mul", MulInt[E], func(x, y E) E { return x * y }},
		{"max", MaxInt[E], func(x, y E) E { return max(x, y) }},
		{"min", MinInt[E], func(x, y E) E { return min(x, y) }},
	} {
		checkLanes(t, k.name, k.f, k.want)
		a, b := laneInputs[E](70)
		for _, in := range [][]E{a, b} { // in place
			want := make([]E, len(a))
			for i := range want {
				want[i] = k.want(a[i], b[i])
			}
			x, y := append([]E(nil), a...), append([]E(nil), b...)
			d := x
			if &in[0] == &b[0] {
				d = y
			}
			k.f(d, x, y)
			for i := range d {
				if d[i] != want[i] {
					t.Fatalf("%s of %T in place, element %d: %d, want %d", k.name, d, i, d[i], want[i])
				}
			}
		}
	}
	for _, k := range []struct {
		name string
		f    func(dst []uint8, a, b []E)
		want func(x, y E) bool
	}{
		{"eq", EqInt[E], func(x, y E) bool { return x == y }},
		{"ne", NeInt[E], func(x, y E) bool { return x != y }},
		{"lt", LtInt[E], func(x, y E) bool { return x < y }},
		{"le", LeInt[E], func(x, y E) bool { return x <= y }},
		{"gt", GtInt[E], func(x, y E) bool { return x > y }},
		{"ge", GeInt[E], func(x, y E) bool { return x >= y }},
	} {
		checkLanes(t, k.name, k.f, func(x, y E) uint8 { return b2u8(k.want(x, y)) })
	}
}

// TestLanesNumber compares the kernels of a run and a number, where there are any, with those of two runs: short
// lengths, several calls, the result in place of the operand, and the number in the result.
func TestLanesNumber(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		testLanesNumber[uint8](t)
		testLanesNumber[int8](t)
		testLanesNumber[int16](t)
		testLanesNumber[int32](t)
		testLanesNumber[int64](t)
	})
}

func testLanesNumber[E Integer](t *testing.T) {
	for _, k := range []struct {
		name  string
		x     *IntNumber
		f     func(dst, a, b []E)
		truth func(dst []uint8, a, b []E)
	}{
		{name: "add", x: AddNumber, f: AddInt[E]}, {name: "sub", x: SubNumber, f: SubInt[E]},
		{name: "mul", x: MulNumber, f: MulInt[E]},
		{name: "max", x: MaxNumber, f: MaxInt[E]}, {name: "min", x: MinNumber, f: MinInt[E]},
		{name: "and", x: AndNumber, f: plainBinary(func(x, y E) E { return x & y })},
		{name: "or", x: OrNumber, f: plainBinary(func(x, y E) E { return x | y })},
		{name: "xor", x: XorNumber, f: plainBinary(func(x, y E) E { return x ^ y })},
		{name: "shl", x: ShlNumber, f: ShlInt[E]}, {name: "shr", x: ShrNumber, f: ShrInt[E]},
		{name: "eq", x: EqNumber, truth: EqInt[E]}, {name: "ne", x: NeNumber, truth: NeInt[E]},
		{name: "lt", x: LtNumber, truth: LtInt[E]}, {name: "le", x: LeNumber, truth: LeInt[E]},
		{name: "gt", x: GtNumber, truth: GtInt[E]}, {name: "ge", x: GeNumber, truth: GeInt[E]},
	} {
		for _, n := range []int{1, 3, 8, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257, 300, 4*chunk/8 + 5, 4*chunk + 3} {
			a, b := laneInputs[E](n)
			for i := range b {
				b[i] = b[n/2]
			}
			x, y := a, b
			if !k.x.Right {
				x, y = b, a
			}
			if k.truth != nil {
				compareNumber(t, fmt.Sprintf("%s, %d numbers", k.name, n), IntByNumber[uint8, E](k.x), k.truth, a,
					&b[0], x, y)
				continue
			}
			compareNumber(t, fmt.Sprintf("%s, %d numbers", k.name, n), IntByNumber[E, E](k.x), k.f, a, &b[0], x, y)
			if f := IntByNumber[E, E](k.x); f != nil {
				for i := range b {
					b[i] = a[n-1]
				}
				want := make([]E, n)
				k.f(want, a, b)
				f(a, a, &a[n-1])
				if !slices.Equal(a, want) {
					t.Fatalf("%s of %T, %d numbers, in place, with the last one", k.name, a, n)
				}
			}
		}
	}
	if f := IntByNumber[E, E](nil); f != nil {
		t.Fatal("a kernel of no operation")
	}
}

// plainBinary makes a kernel of runs of an operation on two numbers.
func plainBinary[E Integer](f func(x, y E) E) func(dst, a, b []E) {
	return func(dst, a, b []E) {
		for i := range dst {
			dst[i] = f(a[i], b[i])
		}
	}
}

func compareNumber[D, E Integer](t *testing.T, name string, f func(dst []D, a []E, s *E), k func(dst []D, a, b []E),
	a []E, s *E, x, y []E) {
	t.Helper()
	if f == nil {
		return
	}
	want, got := make([]D, len(a)), make([]D, len(a)+2)
	k(want, x, y)
	got[0], got[len(a)+1] = 77, 77
	f(got[1:len(a)+1], a, s)
	if !slices.Equal(got[1:len(a)+1], want) || got[0] != 77 || got[len(a)+1] != 77 {
		t.Fatalf("%s of %T: %v, want %v", name, a, got, want)
	}
}

// TestLanesBounds looks at limits and magnitudes, the operations of one operand.
func TestLanesBounds(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		testBounds[uint8](t)
		testBounds[int8](t)
		testBounds[int16](t)
		testBounds[int32](t)
		testBounds[int64](t)
	})
}

func testBounds[E Integer](t *testing.T) {
	for _, b := range [][2]E{{2, 5}, {0, 100}, {E(0) - 1, 1}, {9, 3}} {
		checkLanes(t, fmt.Sprint("clamp to ", b), func(d, x, _ []E) { ClampInt(d, x, b[0], b[1]) },
			func(x, _ E) E { return min(max(x, b[0]), b[1]) })
	}
	checkLanes(t, "abs", func(d, x, _ []E) { AbsInt(d, x) }, func(x, _ E) E {
		if x < 0 {
			return -x
		}
		return x
	})
}

// TestShiftBytes looks at all bytes by all distances.
func TestShiftBytes(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		testShiftBytes[uint8](t)
		testShiftBytes[int8](t)
	})
}

func testShiftBytes[E uint8 | int8](t *testing.T) {
	var a, b, l, r [1 << 16]E
	for i := range a {
		a[i], b[i] = E(i), E(i>>8)
	}
	ShlInt(l[:], a[:], b[:])
	ShrInt(r[:], a[:], b[:])
	for i, x := range a {
		n := uint8(b[i]) // a negative distance is as one too large
		if wantL, wantR := x<<n, x>>n; l[i] != wantL || r[i] != wantR {
			t.Fatalf("%d by %d: %d and %d, want %d and %d", x, b[i], l[i], r[i], wantL, wantR)
		}
	}
}

// laneInputs are random numbers, half of them small, so that many are equal, and some with all bits random.
func laneInputs[E Integer](n int) (a, b []E) {
	r := rand.New(rand.NewSource(int64(n)))
	number := func() E {
		if r.Intn(2) == 0 {
			return E(r.Intn(5) - 2)
		}
		return E(r.Uint64())
	}
	for range n {
		a, b = append(a, number()), append(b, number())
	}
	return a, b
}

func checkLanes[D, E Integer](t *testing.T, name string, f func(d []D, a, b []E), want func(x, y E) D) {
	t.Helper()
	name = fmt.Sprintf("%s of %T", name, E(0))
	for n := range 330 {
		switch { // every length to 70, then around the multiples of the larger vectors
		case n == 329:
			n = chunk + 77
		case n > 70 && n%64 > 2 && n%64 < 62:
			continue
		}
		a, b := laneInputs[E](n + 3)
		for at := range 3 {
			d := make([]D, n+4)
			for i := range d {
				d[i] = 77
			}
			f(d[at:at+n], a[at:], b[3-at:])
			for i, got := range d {
				w := D(77)
				if i -= at; i >= 0 && i < n {
					w = want(a[at+i], b[3-at+i])
				}
				if got != w {
					t.Fatalf("%s, element %d of %d: %d, want %d", name, i, n, got, w)
				}
			}
		}
	}
}

// TestShifts looks at distances of every kind, in place and on every path.
func TestShifts(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		for n := 1; n < 70; n++ {
			a, b := make([]int64, n), make([]int64, n)
			c, e := make([]int16, n), make([]int16, n)
			for i := range a {
				a[i], b[i] = int64(i*i+1)<<20*int64(1-i%3), int64(i%80)-8
				c[i], e[i] = int16(i*997), int16(i%40)-8
			}
			l, r := append([]int64(nil), a...), append([]int64(nil), a...)
			ShlInt(l, l, b)
			ShrInt(r, r, b)
			l16, r16 := append([]int16(nil), c...), append([]int16(nil), c...)
			ShlInt(l16, l16, e)
			ShrInt(r16, r16, e)
			for i := range a {
				wantL, wantR, wantL16, wantR16 := int64(0), a[i]>>63, int16(0), c[i]>>15
				if b[i] >= 0 {
					wantL, wantR = a[i]<<b[i], a[i]>>b[i]
				}
				if e[i] >= 0 {
					wantL16, wantR16 = c[i]<<e[i], c[i]>>e[i]
				}
				if l[i] != wantL || r[i] != wantR || l16[i] != wantL16 || r16[i] != wantR16 {
					t.Fatalf("%d, %d by %d, %d: %d %d %d %d, want %d %d %d %d", a[i], c[i], b[i], e[i], l[i], r[i],
						l16[i], r16[i], wantL, wantR, wantL16, wantR16)
				}
			}
		}
	})
}
