package gemm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch/internal/par"
)

// A guarded slice is surrounded by marks that a kernel must not overwrite.
type guarded[T int32 | uint16] struct {
	raw, data []T
	mark      T
}

func newGuarded[T int32 | uint16](n int, mark T) guarded[T] {
	const guard = 67
	g := guarded[T]{raw: make([]T, n+2*guard), mark: mark}
	for i := range g.raw {
		g.raw[i] = mark
	}
	g.data = g.raw[guard:][:n]
	return g
}

// outside reports whether all elements that inside does not name hold the mark.
func (g guarded[T]) outside(rows, cols, rs, cs int) bool {
	raw := slices.Clone(g.raw)
	base := (len(raw) - len(g.data)) / 2
	for i := range rows {
		for j := range cols {
			raw[base+i*rs+j*cs] = g.mark
		}
	}
	return !slices.ContainsFunc(raw, func(x T) bool { return x != g.mark })
}

// modelInt8 is the kernel for groups of four bytes in Go; see modelBF16.
func modelInt8(p *lowPrecisionArgs) {
	const aw, nr = 16, 32
	for f := range p.count {
		for r := range p.rows {
			for j := range nr {
				var s int32
				if p.init != nil {
					s = *at[int32](p.init, (f*nr+j)*4)
				}
				for k := range p.k {
					x := *at[[4]uint8](p.a, (k*aw+r)*4)
					y := *at[[4]int8](p.b, f*p.stepB+(k*nr+j)*4)
					for i := range x {
						s += int32(x[i]) * int32(y[i])
					}
				}
				c := at[int32](p.c, r*p.ldc+(f*nr+j)*4)
				if p.add != 0 {
					s += *c
				}
				*c = s
			}
		}
	}
}

// onEveryInt8Path runs f on every path, and with the packing for VNNI and a
// model of its kernel.
func onEveryInt8Path(t *testing.T, f func(t *testing.T, kernel lowPrecisionKernel)) {
	onEveryPath(t, func(t *testing.T) { f(t, int8Kernel()) })
	for _, pt := range []path{currentPath(), pathGeneric} {
		t.Run(fmt.Sprint("model ", pt), func(t *testing.T) {
			if pt != pathAVX512 && pt != pathGeneric {
				t.Skip("the tile is that of AVX-512")
			}
			f(t, lowPrecisionKernel{path: pt, mr: 14, packedRows: 16, nr: 32, pack: packBytes, run: modelInt8})
		})
	}
}

type int8Problem struct {
	m, n, k    int
	la, lb, lc layout
	add        bool
}

// checkInt8 compares with sums of int64, cut to 32 bits. Operands are full of
// extremes, where instructions that saturate would show.
func checkInt8[A int8 | uint8](t *testing.T, kernel lowPrecisionKernel, seed uint64, p int8Problem) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	rsA, csA := p.la.stride(p.m, p.k)
	rsB, csB := p.lb.stride(p.k, p.n)
	rsC, csC := p.lc.stride(p.m, p.n)
	a := make([]A, (p.m-1)*rsA+max(0, (p.k-1)*csA)+1)
	b := make([]int8, max(0, (p.k-1)*rsB)+(p.n-1)*csB+1)
	for i := range a {
		if a[i] = A(rng.Uint32()); rng.IntN(3) == 0 {
			a[i] = A([]int{0, 127, 128, 255}[rng.IntN(4)])
		}
	}
	for i := range b {
		if b[i] = int8(rng.Uint32()); rng.IntN(3) == 0 {
			b[i] = []int8{127, -128}[rng.IntN(2)]
		}
	}
	c := newGuarded[int32]((p.m-1)*rsC+(p.n-1)*csC+1, 0x5a5a5a5a)
	old := make([]int32, p.m*p.n)
	if p.add {
		for i := range p.m {
			for j := range p.n {
				old[i*p.n+j] = int32(rng.Uint32())
				c.data[i*rsC+j*csC] = old[i*p.n+j]
			}
		}
	}
	gemmInt8(kernel, 1, nil, p.m, p.n, p.k, a, rsA, csA, b, rsB, csB, p.add, c.data, rsC, csC)
	step := 1
	if p.m*p.n*p.k > 1<<20 {
		step = 7
	}
	for e := 0; e < p.m*p.n; e += step {
		i, j := e/p.n, e%p.n
		sum := int64(old[e])
		for q := range p.k {
			sum += int64(a[i*rsA+q*csA]) * int64(b[q*rsB+j*csB])
		}
		if got := c.data[i*rsC+j*csC]; got != int32(sum) {
			t.Fatalf("%T %dx%dx%d A %s B %s C %s add %v: C[%d,%d]: got %d, expected %d", a, p.m, p.n, p.k, p.la.name,
				p.lb.name, p.lc.name, p.add, i, j, got, int32(sum))
		}
	}
	if !c.outside(p.m, p.n, rsC, csC) {
		t.Fatalf("%T %dx%dx%d C %s: wrote outside of C", a, p.m, p.n, p.k, p.lc.name)
	}
}

func TestInt8Sizes(t *testing.T) {
	onEveryInt8Path(t, func(t *testing.T, kernel lowPrecisionKernel) {
		rng := rand.New(rand.NewPCG(21, 22))
		seed := uint64(0)
		draw := func(d [3]int) {
			seed++
			p := int8Problem{m: d[0], n: d[1], k: d[2], add: rng.IntN(3) == 0,
				la: layouts[rng.IntN(len(layouts))], lb: layouts[rng.IntN(len(layouts))],
				lc: layouts[rng.IntN(len(layouts))]}
			checkInt8[int8](t, kernel, seed, p)
			checkInt8[uint8](t, kernel, seed, p)
		}
		for size := 1; size <= 70; size++ {
			for dim := range 3 {
				for range 2 {
					d := [3]int{1 + rng.IntN(70), 1 + rng.IntN(70), 1 + rng.IntN(70)}
					d[dim] = size
					draw(d)
				}
			}
		}
		// Several blocks of k, tasks, strips that are not full.
		for _, d := range [][3]int{{3, 40, 0}, {1, 1, 5000}, {17, 33, 2500}, {70, 300, 260}, {150, 130, 1100},
			{2, 1000, 64}, {300, 5, 30}, {70, 40, 2500}} {
			draw(d)
		}
	})
}

// Layouts that the packers treat in different ways, in every combination.
func TestInt8Layouts(t *testing.T) {
	onEveryInt8Path(t, func(t *testing.T, kernel lowPrecisionKernel) {
		for x, la := range layouts {
			for y, lb := range layouts {
				for _, d := range [][3]int{{33, 65, 37}, {64, 96, 128}} {
					p := int8Problem{m: d[0], n: d[1], k: d[2], la: la, lb: lb, lc: layouts[(x+y)%len(layouts)]}
					checkInt8[int8](t, kernel, uint64(x*10+y), p)
					checkInt8[uint8](t, kernel, uint64(x*10+y), p)
				}
			}
		}
	})
}

// More steps than int32 has room for: the sum wraps around.
func TestInt8Wraps(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		k := 1<<31/(255*128) + 100
		a, b, c := make([]uint8, k), make([]int8, k), make([]int32, 1)
		for i := range a {
			a[i], b[i] = 255, -128
		}
		GEMMInt8(nil, 1, 1, k, a, k, 1, b, 1, 1, false, c, 1, 1)
		if want := -int64(k) * 255 * 128; c[0] != int32(want) {
			t.Errorf("got %d, expected %d", c[0], int32(want))
		}
	})
}

func TestInt8Batch(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		const nb, m, n, k = 3, 5, 40, 11
		a, b, c := make([]int8, nb*m*k), make([]int8, k*n), make([]int32, nb*m*n)
		for i := range a {
			a[i] = int8(i * 7)
		}
		for i := range b {
			b[i] = int8(i * 5)
		}
		GEMMInt8([]BatchDim{{nb, m * k, 0, m * n}}, m, n, k, a, k, 1, b, n, 1, false, c, n, 1)
		for e := range c {
			var want int32
			for q := range k {
				want += int32(a[e/n*k+q]) * int32(b[q*n+e%n])
			}
			if c[e] != want {
				t.Fatalf("element %d: got %d, expected %d", e, c[e], want)
			}
		}
	})
}

func TestInt8Threads(t *testing.T) {
	defer par.SetNumThreads(par.NumThreads())
	const m, n, k = 200, 300, 700
	a, b := make([]int8, m*k), make([]int8, k*n)
	for i := range a {
		a[i] = int8(i * 7)
	}
	for i := range b {
		b[i] = int8(i * 5)
	}
	var first []int32
	for _, threads := range []int{1, 2, 3, 8} {
		par.SetNumThreads(threads)
		c := make([]int32, m*n)
		GEMMInt8(nil, m, n, k, a, k, 1, b, n, 1, false, c, n, 1)
		if first == nil {
			first = c
		}
		if !slices.Equal(c, first) {
			t.Errorf("%d threads: the result differs", threads)
		}
	}
}

func BenchmarkInt8(b *testing.B) {
	for _, n := range []int{64, 256, 1024} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x, y, c := make([]int8, n*n), make([]int8, n*n), make([]int32, n*n)
			for b.Loop() {
				GEMMInt8(nil, n, n, n, x, n, 1, y, n, 1, false, c, n, 1)
			}
			b.ReportMetric(2*float64(n*n*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gop/s")
		})
	}
}

func ExampleGEMMInt8() {
	c := make([]int32, 4)
	GEMMInt8(nil, 2, 2, 2, []uint8{255, 1, 0, 2}, 2, 1, []int8{-128, 127, 1, 1}, 2, 1, false, c, 2, 1)
	fmt.Println(c)
	// Output: [-32639 32386 2 2]
}
