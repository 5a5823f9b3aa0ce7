package sort

import (
	"math"
	"math/rand"
	"slices"
	"testing"
)

// lineOf makes a line of n values.
func lineOf[E ordered](n int, value func() E) []E {
	l := make([]E, n)
	for i := range l {
		l[i] = value()
	}
	return l
}

func checkLine[E ordered](t *testing.T, name string, l []E, s *scratch) {
	t.Helper()
	for _, desc := range []bool{false, true} {
		want := make([]int32, len(l))
		for i := range want {
			want[i] = int32(i)
		}
		slices.SortStableFunc(want, func(i, j int32) int {
			a, b := l[i], l[j]
			if desc {
				a, b = b, a
			}
			switch {
			case less(a, b):
				return -1
			case less(b, a):
				return 1
			}
			return 0
		})
		if got := order(l, desc, s); !slices.Equal(got, want) {
			t.Fatalf("%s of %d, descending %v: wrong order", name, len(l), desc)
		}
		if !desc {
			for _, k := range []int{0, len(l) / 3, len(l) / 2, len(l) - 1} {
				if got := s.stablePosition(keysFor(l, false, s), k); got != want[k] {
					t.Fatalf("%s of %d: place %d is taken by %d, want %d", name, len(l), k, got, want[k])
				}
				if got := kth[E](k+1)(l, s); less(l[got], l[want[k]]) || less(l[want[k]], l[got]) {
					t.Fatalf("%s of %d: the %d-th is %v, want %v", name, len(l), k+1, l[got], l[want[k]])
				}
			}
		}
		for _, k := range []int{1, 7, 15, 16, len(l) / 2, len(l)} {
			if k > len(l) || k == 0 {
				continue
			}
			seen := map[int32]bool{}
			for i, p := range topK[E](k, desc, true)(l, s) {
				if less(l[p], l[want[i]]) || less(l[want[i]], l[p]) || seen[p] {
					t.Fatalf("%s of %d, descending %v: element %d of the first %d is %v, want %v", name, len(l), desc,
						i, k, l[p], l[want[i]])
				}
				seen[p] = true
			}
		}
	}
}

func TestOrderOfLines(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	s := new(scratch)
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1, -1, math.MaxFloat64,
		math.SmallestNonzeroFloat64}
	for _, n := range []int{1, 2, 7, 8, 9, 16, 17, 48, 49, 100, 255, 256, 257, 1000, 5000} {
		checkLine(t, "float64", lineOf(n, r.NormFloat64), s)
		checkLine(t, "float64 that differ in low bits", lineOf(n, func() float64 {
			return math.Float64frombits(math.Float64bits(1) + uint64(r.Intn(2))<<51 + uint64(r.Intn(1000)))
		}), s)
		checkLine(t, "special float64", lineOf(n, func() float64 { return special[r.Intn(len(special))] }), s)
		checkLine(t, "float32", lineOf(n, func() float32 { return float32(r.NormFloat64()) }), s)
		checkLine(t, "special float32", lineOf(n, func() float32 { return float32(special[r.Intn(len(special))]) }), s)
		checkLine(t, "float64 of many magnitudes", lineOf(n, func() float64 { return math.Exp(r.NormFloat64() * 40) }),
			s)
		checkLine(t, "float32 of many magnitudes",
			lineOf(n, func() float32 { return float32(math.Exp(r.NormFloat64() * 8)) }), s)
		checkLine(t, "float32 far apart",
			lineOf(n, func() float32 { return (r.Float32() - 0.5) * 2 * math.MaxFloat32 }), s)
		checkLine(t, "denormal float64",
			lineOf(n, func() float64 { return math.Float64frombits(uint64(r.Intn(3000))) }), s)
		i := 0
		checkLine(t, "falling float32", lineOf(n, func() float32 { i++; return float32(-i / 3) }), s)
		checkLine(t, "any int32", lineOf(n, func() int32 { return int32(r.Uint32()) }), s)
		checkLine(t, "few int32", lineOf(n, func() int32 { return int32(r.Intn(40)) - 20 }), s)
		checkLine(t, "few int64", lineOf(n, func() int64 { return int64(r.Intn(5)) - 2 }), s)
		checkLine(t, "any int64", lineOf(n, func() int64 { return int64(r.Uint64()) }), s)
		checkLine(t, "narrow int64", lineOf(n, func() int64 { return math.MinInt64 + int64(r.Intn(1<<20)) }), s)
		checkLine(t, "uint8", lineOf(n, func() uint8 { return uint8(r.Intn(256)) }), s)
	}
}

// TestEveryLength sorts and selects in lines of all short lengths, of kinds that take turns: buckets may be too few,
// or too full.
func TestEveryLength(t *testing.T) {
	r, s := rand.New(rand.NewSource(6)), new(scratch)
	inf := math.Inf(1)
	kinds := []struct {
		name  string
		value func(n, i int) float64
	}{
		{"equal", func(n, i int) float64 { return -3 }},
		{"two values", func(n, i int) float64 { return float64(r.Intn(2)) }},
		{"rising", func(n, i int) float64 { return float64(i) }},
		{"falling", func(n, i int) float64 { return float64(-i) / 7 }},
		{"rising and falling", func(n, i int) float64 { return float64(min(i, n-i)) }},
		{"geometric", func(n, i int) float64 { return math.Ldexp(1, i%250-125) }},
		{"negative geometric", func(n, i int) float64 { return -math.Ldexp(1, r.Intn(250)-125) }},
		{"one far away", func(n, i int) float64 {
			if i == n/2 {
				return 1e30
			}
			return r.NormFloat64()
		}},
		{"infinite", func(n, i int) float64 { return []float64{-inf, inf, r.NormFloat64()}[r.Intn(3)] }},
		{"NaN", func(n, i int) float64 { return []float64{math.NaN(), r.NormFloat64()}[r.Intn(2)] }},
		{"zeros", func(n, i int) float64 { return []float64{0, math.Copysign(0, -1), 1e-300}[r.Intn(3)] }},
		{"denormal", func(n, i int) float64 { return float64(math.Float32frombits(uint32(r.Intn(50)))) }},
		{"largest", func(n, i int) float64 { return (r.Float64() - 0.5) * 2 * math.MaxFloat32 }},
		{"halves", func(n, i int) float64 { return float64(i*(n/2+1)%n) / 3 }},
	}
	for n := 1; n <= 1000; n++ {
		for turn := range 3 {
			kind := kinds[(n+turn*n/13)%len(kinds)]
			i := 0
			l := lineOf(n, func() float64 { i++; return kind.value(n, i) })
			switch (n/len(kinds) + turn) % 4 {
			case 0:
				checkLine(t, kind.name, l, s)
			case 1:
				i = 0
				checkLine(t, kind.name, lineOf(n, func() float32 { i++; return float32(l[i-1]) }), s)
			case 2: // all bits, in the order of the numbers as far as they are not negative
				i = 0
				checkLine(t, kind.name, lineOf(n, func() int64 { i++; return int64(math.Float64bits(l[i-1])) }), s)
			default:
				i = 0
				checkLine(t, kind.name, lineOf(n,
					func() int32 { i++; return int32(math.Float32bits(float32(l[i-1]))) }), s)
			}
		}
	}
}
