package fft

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand"
	"sync"
	"testing"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// naive is the transform of a line of complex numbers by its definition, in float64.
func naive(x []complex128, inverse bool) []complex128 {
	n := len(x)
	y, w := make([]complex128, n), make([]complex128, n)
	for k := range w {
		s, c := math.Sincos(2 * math.Pi * float64(k) / float64(n))
		if !inverse {
			s = -s
		}
		w[k] = complex(c, s)
	}
	for k := range y {
		at := 0
		for _, v := range x {
			y[k] += v * w[at]
			if at += k; at >= n {
				at -= n
			}
		}
	}
	return y
}

// Lengths of all kinds: powers, products, primes with and without a pass of their own.
var lengths = []int{
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 19, 21, 23, 24, 25, 27, 29, 30, 31, 32, 37, 48, 49, 60,
	62, 63, 64, 65, 67, 72, 74, 81, 96, 97, 100, 101, 120, 121, 125, 127, 128, 144, 169, 192, 202, 210, 240, 243,
	256, 289, 500, 512, 521, 625, 1000,
}

func tolerance[E Float]() float64 {
	if unsafe.Sizeof(E(0)) == 8 {
		return 1e-14
	}
	return 1e-6
}

func numbers[E Float](r *rand.Rand, n int) []E {
	x := make([]E, n)
	for i := range x {
		x[i] = E(r.NormFloat64())
	}
	return x
}

// distance is the largest difference in units of the root mean square of want.
func distance(got, want []complex128) float64 {
	worst, sum := 0.0, 0.0
	for i, w := range want {
		d := got[i] - w
		worst = math.Max(worst, math.Hypot(real(d), imag(d)))
		sum += real(w)*real(w) + imag(w)*imag(w)
		if cmplx.IsNaN(d) {
			return math.NaN()
		}
	}
	return worst / math.Sqrt(sum/float64(len(want))+1e-300)
}

// arrangements are shapes of three axes, of which the middle one is transformed, and orders of the axes in memory from
// the outermost to the innermost.
var arrangements = []struct {
	outer, inner int
	order        [3]int
}{
	{1, 1, [3]int{0, 1, 2}}, {3, 1, [3]int{0, 1, 2}}, {40, 1, [3]int{0, 1, 2}}, {1, 20, [3]int{0, 1, 2}},
	{2, 37, [3]int{0, 1, 2}}, {2, 5, [3]int{1, 2, 0}}, {19, 3, [3]int{2, 0, 1}}, {3, 2, [3]int{0, 1, 2}},
}

func strides(shape, order [3]int) (st [3]int) {
	n := 1
	for i := 2; i >= 0; i-- {
		st[order[i]] = n
		n *= shape[order[i]]
	}
	return st
}

func testKind[E Float](t *testing.T, kind Kind) {
	r := rand.New(rand.NewSource(1))
	for _, n := range lengths {
		for _, a := range arrangements {
			for _, inverse := range []bool{false, true} {
				if n*a.outer*a.inner > 2500 {
					continue
				}
				name := fmt.Sprintf("n=%d %v inverse=%v", n, a, inverse)
				in, out := n, n
				switch kind {
				case RealToComplex:
					out = n/2 + 1
				case ComplexToReal:
					in = n/2 + 1
				}
				unit := [2]int{2, 2} // numbers of an element
				if kind == RealToComplex {
					unit[0] = 1
				}
				if kind == ComplexToReal {
					unit[1] = 1
				}
				si, so := strides([3]int{a.outer, in, a.inner}, a.order), strides([3]int{a.outer, out, a.inner}, a.order)
				src := numbers[E](r, a.outer*in*a.inner*unit[0])
				dst := make([]E, a.outer*out*a.inner*unit[1])
				(&Job[E]{Kind: kind, N: n, Inverse: inverse, Scale: 0.5, Src: src, Dst: dst,
					SrcStep: si[1] * unit[0], DstStep: so[1] * unit[1], Shape: []int{a.outer, a.inner},
					SrcStride: []int{si[0] * unit[0], si[2] * unit[0]},
					DstStride: []int{so[0] * unit[1], so[2] * unit[1]}}).Run()
				at := func(s []E, i int, complexNumbers bool) complex128 {
					if complexNumbers {
						return complex(float64(s[2*i]), float64(s[2*i+1]))
					}
					return complex(float64(s[i]), 0)
				}
				for o := range a.outer {
					for i := range a.inner {
						x, got := make([]complex128, n), make([]complex128, out)
						for k := range in {
							x[k] = at(src, o*si[0]+k*si[1]+i*si[2], unit[0] == 2)
						}
						if kind == ComplexToReal {
							x[0] = complex(real(x[0]), 0)
							if n%2 == 0 {
								x[n/2] = complex(real(x[n/2]), 0)
							}
							for k := 1; k < (n+1)/2; k++ {
								x[n-k] = complex(real(x[k]), -imag(x[k]))
							}
						}
						want := naive(x, inverse)[:out]
						for k := range out {
							want[k] /= 2
							got[k] = at(dst, o*so[0]+k*so[1]+i*so[2], unit[1] == 2)
						}
						if d := distance(got, want); !(d < tolerance[E]()*8) {
							t.Fatalf("%s line %d,%d: off by %g", name, o, i, d)
						}
					}
				}
			}
		}
	}
}

// A line that goes in strips agrees with the same line in float64 and, at some places, with the definition.
func TestLongLines(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	for _, n := range []int{1 << 16, 3 * 7 * 5000, 1 << 17, 65537} {
		x := numbers[float64](r, 2*n)
		y := make([]float64, 2*n)
		(&Job[float64]{N: n, Scale: 1, Src: x, Dst: y, SrcStep: 2, DstStep: 2}).Run()
		for _, k := range []int{0, 1, n / 3, n - 1} {
			var want complex128
			for j := range n {
				c, s := root(j*k%n, n)
				want += complex(x[2*j], x[2*j+1]) * complex(c, s)
			}
			got := complex(y[2*k], y[2*k+1])
			if d := math.Hypot(real(got-want), imag(got-want)); !(d < 1e-12*float64(n)) {
				t.Errorf("n=%d: number %d is %v, want %v", n, k, got, want)
			}
		}
		x32, y32 := make([]float32, 2*n), make([]float32, 2*n)
		for i, v := range x {
			x32[i] = float32(v)
		}
		(&Job[float32]{N: n, Scale: 1, Src: x32, Dst: y32, SrcStep: 2, DstStep: 2}).Run()
		got, want := make([]complex128, n), make([]complex128, n)
		for k := range n {
			got[k] = complex(float64(y32[2*k]), float64(y32[2*k+1]))
			want[k] = complex(y[2*k], y[2*k+1])
		}
		if d := distance(got, want); !(d < 4e-6) {
			t.Errorf("n=%d: float32 is off by %g", n, d)
		}
	}
}

// paths runs a test with the instructions of this machine, without AVX-512 and without any.
func paths(t *testing.T, f func(t *testing.T)) {
	avx2, avx512 := cpu.HasAVX2FMA, cpu.HasAVX512
	defer func() { cpu.HasAVX2FMA, cpu.HasAVX512 = avx2, avx512 }()
	t.Run("all", f)
	if cpu.HasAVX512 = false; avx512 {
		t.Run("AVX2", f)
	}
	if cpu.HasAVX2FMA = false; avx2 {
		t.Run("plain", f)
	}
}

func TestComplexToComplex(t *testing.T) {
	paths(t, func(t *testing.T) {
		testKind[float32](t, ComplexToComplex)
		testKind[float64](t, ComplexToComplex)
	})
}

func TestRealToComplex(t *testing.T) {
	paths(t, func(t *testing.T) {
		testKind[float32](t, RealToComplex)
		testKind[float64](t, RealToComplex)
	})
}

func TestComplexToReal(t *testing.T) {
	paths(t, func(t *testing.T) {
		testKind[float32](t, ComplexToReal)
		testKind[float64](t, ComplexToReal)
	})
}

// The cache keeps within its bounds and serves several goroutines at a time.
func TestCache(t *testing.T) {
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := 100; n < 160; n++ {
				if p := forTiles[float32](n + g%2); p.n != n+g%2 {
					t.Errorf("got the plan of %d for %d", p.n, n+g%2)
				}
			}
		}()
	}
	wg.Wait()
	for k := range 20 { // 8 MB each
		forLine[float32](1<<20 + k<<16)
	}
	cache32.Lock()
	defer cache32.Unlock()
	sum := 0
	for e := cache32.order.Front(); e != nil; e = e.Next() {
		sum += e.Value.(*entry[float32]).plan.bytes
	}
	if sum != cache32.bytes || sum > cacheBytes || len(cache32.plans) != cache32.order.Len() {
		t.Errorf("%d plans of %d bytes, counted as %d, of at most %d", len(cache32.plans), sum, cache32.bytes, cacheBytes)
	}
}
