package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/par"
)

// onEveryPath runs f once for each instruction set that the machine has.
func onEveryPath(t *testing.T, f func(t *testing.T)) {
	for _, l := range cpu.Levels() {
		t.Run(l.Name, func(t *testing.T) {
			defer cpu.Set(l.Features)()
			f(t)
		})
	}
}

// layout says how a rows×cols matrix lies in memory.
type layout struct {
	name   string
	stride func(rows, cols int) (rs, cs int)
}

var layouts = []layout{
	{"row", func(r, c int) (int, int) { return c, 1 }},
	{"col", func(r, c int) (int, int) { return 1, r }},
	{"row+3", func(r, c int) (int, int) { return c + 3, 1 }},
	{"col+5", func(r, c int) (int, int) { return 1, r + 5 }},
	{"odd", func(r, c int) (int, int) { return 2*c + 7, 2 }},
	{"page", func(r, c int) (int, int) { return (c + 1023) &^ 1023, 1 }},
}

// matrix is a test operand inside a slice whose other elements are NaN: a
// kernel that reads too far poisons its result, one that writes too far is
// caught by intact.
type matrix[T element] struct {
	rows, cols, rs, cs int
	raw                []T
	data               []T // from element (0,0)
}

func newMatrix[T element](rng *rand.Rand, rows, cols int, l layout, misalign int) *matrix[T] {
	x := &matrix[T]{rows: rows, cols: cols}
	x.rs, x.cs = l.stride(rows, cols)
	span := max(0, (rows-1)*x.rs+(cols-1)*x.cs+1)
	if rows == 0 || cols == 0 {
		span = 0
	}
	const guard = 67
	x.raw = make([]T, guard+misalign+span+guard)
	for i := range x.raw {
		x.raw[i] = T(math.NaN())
	}
	x.data = x.raw[guard+misalign:][:span]
	for i := range rows {
		for j := range cols {
			// Small integers over 8: products and sums of few are exact, so
			// real differences stand out.
			x.data[i*x.rs+j*x.cs] = T(rng.IntN(33)-16) / 8
		}
	}
	return x
}

func (x *matrix[T]) at(i, j int) float64 { return float64(x.data[i*x.rs+j*x.cs]) }

// intact reports whether everything outside the matrix is still NaN.
func (x *matrix[T]) intact() bool {
	inside := make([]bool, len(x.raw))
	base := len(x.raw) - 67 - len(x.data)
	for i := range x.rows {
		for j := range x.cols {
			inside[base+i*x.rs+j*x.cs] = true
		}
	}
	for i, v := range x.raw {
		if !inside[i] && v == v {
			return false
		}
	}
	return true
}

type problem struct {
	m, n, k     int
	la, lb, lc  layout
	alpha, beta float64
	bias        int // 1: per column, 2: per row, 3: both
	act         Activation
	panels      bool // B is packed beforehand
}

func (p problem) String() string {
	return fmt.Sprintf("%dx%dx%d A %s B %s C %s alpha %v beta %v bias %d act %d panels %v", p.m, p.n, p.k, p.la.name,
		p.lb.name, p.lc.name, p.alpha, p.beta, p.bias, p.act, p.panels)
}

func check[T element](t *testing.T, seed uint64, p problem) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	a := newMatrix[T](rng, p.m, p.k, p.la, rng.IntN(5))
	b := newMatrix[T](rng, p.k, p.n, p.lb, rng.IntN(5))
	c := newMatrix[T](rng, p.m, p.n, p.lc, rng.IntN(5))
	c0 := make([]float64, p.m*p.n)
	for i := range p.m {
		for j := range p.n {
			c0[i*p.n+j] = c.at(i, j)
			if p.beta == 0 {
				c.data[i*c.rs+j*c.cs] = T(math.NaN()) // must not be read
			}
		}
	}
	ep := &Epilogue[T]{Act: p.act}
	if p.bias&1 != 0 {
		ep.BiasCol = newMatrix[T](rng, 1, p.n, layouts[0], 1).data
	}
	if p.bias&2 != 0 {
		ep.BiasRow = newMatrix[T](rng, 1, p.m, layouts[0], 1).data
	}
	if p.panels {
		GEMMPanels(p.m, p.n, p.k, a.data, a.rs, a.cs, panelsOf(b), c.data, c.rs, ep)
	} else {
		GEMM(p.m, p.n, p.k, T(p.alpha), a.data, a.rs, a.cs, b.data, b.rs, b.cs, T(p.beta), c.data, c.rs, c.cs, ep)
	}
	var z T
	eps := 1.2e-7
	if unsafe.Sizeof(z) == 8 {
		eps = 2.3e-16
	}
	// Of large results a sample: the step is prime to most tile sizes.
	step := 1
	if p.m*p.n*p.k > 1<<21 {
		step = 11
	}
	for e := 0; e < p.m*p.n; e += step {
		i, j := e/p.n, e%p.n
		sum, mag := 0.0, 0.0
		if p.alpha != 0 {
			for k := range p.k {
				x := a.at(i, k) * b.at(k, j)
				sum += x
				mag += math.Abs(x)
			}
		}
		want := p.alpha * sum
		if p.beta != 0 {
			want += p.beta * c0[i*p.n+j]
		}
		if ep.BiasCol != nil {
			want += float64(ep.BiasCol[j])
		}
		if ep.BiasRow != nil {
			want += float64(ep.BiasRow[i])
		}
		w := []float64{want}
		activate(p.act, w)
		got := c.at(i, j)
		tol := eps * (math.Abs(p.alpha)*mag*math.Sqrt(float64(p.k)+4) + 16)
		if !(math.Abs(got-w[0]) <= tol) {
			t.Fatalf("%v: C[%d,%d]: got %v, expected %v", p, i, j, got, w[0])
		}
	}
	if !c.intact() {
		t.Fatalf("%v: wrote outside of C", p)
	}
}

// Every size from 1 to 70 in each dimension, with the others drawn at random,
// and layouts, scalars and epilogues in rotation.
func TestSizes(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		alphas := []float64{1, 1, -0.5, 0}
		betas := []float64{0, 1, 0.5}
		i := 0
		for size := 1; size <= 70; size++ {
			for dim := range 3 {
				for range 6 {
					d := [3]int{1 + rng.IntN(70), 1 + rng.IntN(70), 1 + rng.IntN(70)}
					d[dim] = size
					i++
					p := problem{
						m: d[0], n: d[1], k: d[2],
						la: layouts[rng.IntN(len(layouts))], lb: layouts[rng.IntN(len(layouts))],
						lc:    layouts[rng.IntN(len(layouts))],
						alpha: alphas[rng.IntN(len(alphas))], beta: betas[rng.IntN(len(betas))],
						bias: rng.IntN(4), act: Activation(rng.IntN(4)),
					}
					check[float32](t, uint64(i), p)
					check[float64](t, uint64(i), p)
				}
			}
		}
	})
}

// Every pair of tile edges: rows 1..29 by columns around the vector widths.
func TestEdges(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		for m := 1; m <= 29; m++ {
			for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 100} {
				p := problem{m: m, n: n, k: 1 + (m*7+n)%23, la: layouts[m%2], lb: layouts[n%2], lc: layouts[0],
					alpha: 1, bias: 3, act: ActReLU}
				check[float32](t, uint64(m*1000+n), p)
				check[float64](t, uint64(m*1000+n), p)
			}
		}
	})
}

// A column times a row, either way round, with what keeps it from being taken row by row.
func TestOuter(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		seed := uint64(0)
		for _, la := range layouts {
			for _, lb := range layouts {
				for _, lc := range layouts {
					for _, d := range [][2]int{{2, outerCols}, {7, 2*outerCols + 13}, {outerCols + 5, 3}, {60, 700}} {
						seed++
						p := problem{m: d[0], n: d[1], k: 1, la: la, lb: lb, lc: lc, alpha: 1, bias: int(seed/2) % 4,
							act: Activation(seed % 3)}
						if seed%5 == 0 {
							p.beta = 1
						}
						check[float32](t, seed, p)
						check[float64](t, seed, p)
					}
				}
			}
		}
	})
}

// Sizes that reach several blocks of k, panels, packed A and many tasks.
func TestLarge(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		for i, d := range [][3]int{{70, 90, 1030}, {300, 140, 130}, {513, 70, 70}, {1, 700, 1100}, {700, 1, 1100},
			{3, 300, 2000}, {9, 130, 700}, {150, 300, 513}, {600, 40, 600},
			{90, 600, 1100}, {40, 700, 600}, {700, 300, 600}, {500, 260, 600}} {
			for la := range layouts {
				for lb := range layouts {
					if (la+lb+i)%3 != 0 && !(la == lb) || i > 8 && la+2*lb != 5 && la != 5 {
						continue // a sample of the pairs
					}
					p := problem{m: d[0], n: d[1], k: d[2], la: layouts[la], lb: layouts[lb], lc: layouts[(la+lb)%2],
						alpha: 1, beta: float64(i % 2), bias: i % 4, act: Activation((i + la) % 4)}
					if i%2 == 0 {
						check[float32](t, uint64(i), p)
					} else {
						check[float64](t, uint64(i), p)
					}
				}
			}
		}
	})
}

// A transposed A with many more rows than B has columns, which is turned: sizes
// around the tiles' and on either side of every bound.
func TestTurnedGradient(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		turned := 0
		for i, d := range [][3]int{{20, 5, 700}, {64, 6, 500}, {64, 4, 500}, {200, 13, 131}, {256, 10, 128},
			{130, 14, 2100}, {257, 64, 300}, {260, 65, 300}, {300, 33, 140}, {700, 100, 1030}} {
			for _, la := range []layout{layouts[1], layouts[3],
				{"page", func(r, c int) (int, int) { return 1, (r + 1023) &^ 1023 }}} {
				p := problem{m: d[0], n: d[1], k: d[2], la: la, lb: layouts[i%2*2], lc: layouts[i/2%2*2],
					alpha: []float64{1, -0.5}[i%2], beta: []float64{0, 1, 0.5}[i%3], bias: i % 4,
					act: Activation(i / 2 % 4)}
				check[float32](t, uint64(i), p)
				check[float64](t, uint64(i), p)
				_, cs := la.stride(p.m, p.k)
				g := product[float32]{pt: pathOf[float32](), nb: 1, m: p.m, n: p.n, k: p.k, a: operand{nil, 4, cs * 4},
					b: operand{nil, p.n * 4, 4}}
				if g.paysToTransposeC() {
					turned++
				}
			}
		}
		if lanes[float32](currentPath()) > 0 && turned < 10 {
			t.Errorf("%d products were turned", turned)
		}
	})
}

// A few rows and a transposed B that comes from memory: sizes around the vectors'
// and the groups of columns.
func TestFarDots(t *testing.T) {
	defer func(b int) { dotStreamMinBytesB = b }(dotStreamMinBytesB)
	dotStreamMinBytesB = 0
	onEveryPath(t, func(t *testing.T) {
		i := 0
		for m := 1; m <= 5; m++ {
			for _, n := range []int{4, 5, 7, 8, 39, 131} {
				for _, k := range []int{8, 9, 15, 16, 17, 31, 33, 48, 63, 64, 65, 200, 257, 700} {
					p := problem{m: m, n: n, k: k, la: layouts[i%2*2], lb: layouts[1+i/2%2*2], lc: layouts[0],
						alpha: []float64{1, -0.5}[i%2], beta: []float64{0, 0.5, 1}[i%3], bias: i % 4,
						act: Activation(i / 2 % 2)}
					check[float32](t, uint64(i), p)
					check[float64](t, uint64(i), p)
					i++
				}
			}
		}
	})
}

// Few rows and a B that is larger than the cache: one tile of A, in parts of k
// and at once, or several, whose blocks of k stay in the cache together or not.
func TestSkimAndRelay(t *testing.T) {
	defer func(l, b int) { conflictStride, skinnyMinBytesB = l, b }(conflictStride, skinnyMinBytesB)
	conflictStride, skinnyMinBytesB = 2, 0
	onEveryPath(t, func(t *testing.T) {
		i := 0
		for _, m := range []int{1, 2, 5, 6, 7, 8, 13, 14, 15, 17, 31, 40, 63, 64, 384} {
			for _, d := range [][2]int{{512, 256}, {389, 331}, {700, 1100}, {4500, 70}, {130, 1030}} {
				if i++; d[0]*d[1] > 300_000 && i%4 != 0 || m > 64 && d[0] > 200 {
					continue
				}
				p := problem{m: m, n: d[0], k: d[1], la: layouts[i%len(layouts)], lb: layouts[0], lc: layouts[0],
					alpha: []float64{1, -0.5}[i%2], beta: []float64{0, 0.5, 1}[i%3], bias: i % 4,
					act: Activation(i / 2 % 4)}
				if i%3 == 0 {
					p.lb = layouts[2+i%2*3] // rows that begin anywhere, or compete for the same sets
				}
				for _, skinnyMinBytesB = range [...]int{0, 6 << 20} { // from memory, and from the last level of cache
					check[float32](t, uint64(i), p)
					check[float64](t, uint64(i), p)
				}
			}
		}
	})
}

// panelsOf packs a matrix for GEMMPanels; what is not of the matrix is NaN.
func panelsOf[T element](b *matrix[T]) []T {
	w := PanelWidth[T]()
	p := make([]T, (b.cols+w-1)/w*w*b.rows)
	for i := range p {
		p[i] = T(math.NaN())
	}
	for i := range b.rows {
		for j := range b.cols {
			p[(j/w*b.rows+i)*w+j%w] = T(b.at(i, j))
		}
	}
	return p
}

// B packed beforehand: one panel and many, one block of k and several, tasks of
// some rows and of some panels.
func TestPanels(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		shapes := [][3]int{{1, 700, 1100}, {3, 300, 2000}, {700, 1, 300}, {130, 500, 1100}, {600, 40, 600},
			{40, 700, 600}, {64, 512, 784}, {300, 200, 0}}
		for range 150 {
			shapes = append(shapes, [3]int{1 + rng.IntN(40), 1 + rng.IntN(140), 1 + rng.IntN(70)})
		}
		for i, d := range shapes {
			p := problem{m: d[0], n: d[1], k: d[2], la: layouts[i%len(layouts)], lb: layouts[0], lc: layouts[i%2*2],
				alpha: 1, bias: i % 4, act: Activation(i / 2 % 4), panels: true}
			check[float32](t, uint64(i), p)
			check[float64](t, uint64(i), p)
		}
	})
}

// Rows so long that a dot product or a packing takes several calls.
func TestLongRows(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		for _, m := range []int{1, 3, 40} {
			p := problem{m: m, n: 6, k: 40003, la: layouts[0], lb: layouts[1], lc: layouts[0], alpha: 1, beta: 1}
			check[float32](t, 1, p)
			check[float64](t, 1, p)
		}
	})
}

// B beyond the panel buffer: several rounds of columns.
func TestPanelRounds(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	check[float32](t, 1, problem{m: 300, n: 2500, k: 2100, la: layouts[0], lb: layouts[1], lc: layouts[0], alpha: 1,
		beta: 1, bias: 3})
}

func TestEmpty(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		for _, l := range layouts {
			// No k: C becomes beta*C + bias.
			check[float32](t, 1, problem{m: 5, n: 40, k: 0, la: l, lb: l, lc: l, alpha: 1, beta: 0.5, bias: 1})
			check[float64](t, 1, problem{m: 100, n: 1, k: 0, la: l, lb: l, lc: l, alpha: 1, beta: 0, bias: 2})
			check[float32](t, 1, problem{m: 0, n: 3, k: 3, la: l, lb: l, lc: layouts[0], alpha: 1})
		}
	})
}

// NaN and infinity go through; alpha 0 stops them.
func TestNonFinite(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		nan, inf := float32(math.NaN()), float32(math.Inf(1))
		a := []float32{nan, 1, inf, 1}
		b := []float32{1, 0, 0, 1}
		c := make([]float32, 4)
		GEMM(2, 2, 2, 1, a, 2, 1, b, 2, 1, 0, c, 2, 1, &Epilogue[float32]{Act: ActReLU})
		if c[0] == c[0] || c[1] == c[1] || !math.IsInf(float64(c[2]), 1) {
			t.Errorf("got %v, expected NaN, NaN, +Inf, NaN", c)
		}
		SGEMM(2, 2, 2, 0, a, 2, 1, b, 2, 1, 0, c, 2, 1)
		for _, v := range c {
			if v != 0 {
				t.Errorf("alpha 0, beta 0: got %v, expected zeros", c)
			}
		}
	})
}

// The same bits whatever the number of threads.
func TestThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	defer par.SetNumThreads(par.NumThreads())
	onEveryPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		random := func(n int) []float32 {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(rng.NormFloat64())
			}
			return x
		}
		for _, d := range [][3]int{{200, 300, 520}, {1, 3000, 300}, {1, 700, 400}, {2, 600, 500}, {800, 1, 300},
			{6, 500, 900}, {300, 33, 700}, {60, 700, 1100}, {700, 260, 600}, {130, 128, 128}, {400, 256, 1024},
			{32, 1000, 1700}, {3, 900, 2000}, {1000, 64, 600}} {
			m, n, k := d[0], d[1], d[2]
			a, b := random(m*k), random(k*n)
			panels := panelsOf(&matrix[float32]{rows: k, cols: n, rs: n, cs: 1, data: b})
			for _, transposed := range []string{"neither", "A", "B", "panels"} {
				var want []float32
				for _, threads := range []int{1, 2, 3, 8} {
					par.SetNumThreads(threads)
					c := make([]float32, m*n)
					switch transposed {
					case "panels":
						GEMMPanels(m, n, k, a, k, 1, panels, c, n, nil)
					case "A":
						SGEMM(m, n, k, 1, a, 1, m, b, n, 1, 0, c, n, 1)
					case "B":
						SGEMM(m, n, k, 1, a, k, 1, b, 1, k, 0, c, n, 1)
					default:
						SGEMM(m, n, k, 1, a, k, 1, b, n, 1, 0, c, n, 1)
					}
					if want == nil {
						want = c
						continue
					}
					for i := range c {
						if c[i] != want[i] {
							t.Fatalf("%v, transposed: %v: element %d differs between 1 and %d threads: %v, %v", d,
								transposed, i, threads, want[i], c[i])
						}
					}
				}
			}
		}
	})
}

func TestBatch(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, d := range [][3]int{{5, 7, 3}, {1, 9, 20}, {9, 1, 20}, {64, 64, 32}, {300, 40, 20}, {3, 600, 1}} {
			m, n, k := d[0], d[1], d[2]
			for variant := range 8 {
				// Two batch dimensions; A or B may repeat along them.
				n0, n1 := 3, 4
				dims := []BatchDim{{n0, n1 * m * k, n1 * k * n, n1 * m * n}, {n1, m * k, k * n, m * n}}
				if variant&1 != 0 {
					dims[0].A, dims[1].A = 0, 0
				}
				if variant&2 != 0 {
					dims[0].B, dims[1].B = 0, 0
				}
				rsB, csB := n, 1
				if variant&4 != 0 {
					rsB, csB = 1, k
				}
				fill := func(l int) []float32 {
					x := make([]float32, l)
					for i := range x {
						x[i] = float32(rng.IntN(9) - 4)
					}
					return x
				}
				a, b, c := fill(n0*n1*m*k), fill(n0*n1*k*n), make([]float32, n0*n1*m*n)
				GEMMBatch(dims, m, n, k, 1, a, k, 1, b, rsB, csB, 0, c, n, 1, nil)
				for x := range n0 * n1 {
					x0, x1 := x/n1, x%n1
					oa, ob, oc := x0*dims[0].A+x1*dims[1].A, x0*dims[0].B+x1*dims[1].B, x*m*n
					for i := range m {
						for j := range n {
							var want float32
							for q := range k {
								want += a[oa+i*k+q] * b[ob+q*rsB+j*csB]
							}
							if got := c[oc+i*n+j]; got != want {
								t.Fatalf("%v variant %d matrix %d C[%d,%d]: got %v, expected %v", d, variant, x, i, j,
									got, want)
							}
						}
					}
				}
			}
		}
	})
}

// One batch dimension, where a kernel goes through the same tile of several
// matrices in one call.
func TestBatchSmall(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(8, 9))
		const nb = 37
		for _, d := range [][3]int{{1, 1, 1}, {3, 5, 2}, {2, 17, 9}, {9, 40, 7}, {7, 3, 31}, {16, 16, 16}, {29, 33, 17},
			{40, 70, 40}, {128, 64, 100}} {
			m, n, k := d[0], d[1], d[2]
			for variant := range 4 {
				a, b := newMatrix[float32](rng, nb*m, k, layouts[0], 3), newMatrix[float32](rng, nb*k, n, layouts[0], 1)
				c := newMatrix[float32](rng, nb*m, n, layouts[2], 2)
				rsB, csB := n, 1
				if variant&1 != 0 {
					rsB, csB = 1, k
				}
				bias := newMatrix[float32](rng, 1, m+n, layouts[0], 0).data
				ep := &Epilogue[float32]{BiasCol: bias[:n], BiasRow: bias[n:]}
				beta := float32(variant / 2)
				c0 := append([]float32(nil), c.data...)
				GEMMBatch([]BatchDim{{nb, m * k, k * n, m * c.rs}}, m, n, k, 2, a.data, k, 1, b.data, rsB, csB, beta,
					c.data, c.rs, 1, ep)
				for x := range nb * m * n {
					i, j := x/n%m, x%n
					mat := x / (m * n)
					at := (mat*m+i)*c.rs + j
					want := float64(bias[j]) + float64(bias[n+i])
					if beta != 0 {
						want += float64(beta * c0[at])
					}
					for q := range k {
						want += 2 * float64(a.data[(mat*m+i)*k+q]) * float64(b.data[mat*k*n+q*rsB+j*csB])
					}
					if got := float64(c.data[at]); math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
						t.Fatalf("%v variant %d matrix %d C[%d,%d]: got %v, expected %v", d, variant, mat, i, j, got,
							want)
					}
				}
				if !c.intact() {
					t.Fatalf("%v variant %d: wrote outside of C", d, variant)
				}
			}
		}
	})
}

// A small product allocates nothing.
func TestSmallAllocations(t *testing.T) {
	a, b, c := make([]float32, 256), make([]float32, 256), make([]float32, 256)
	bias := &Epilogue[float32]{BiasCol: a[:16]}
	for name, f := range map[string]func(){
		"plain":      func() { GEMM(16, 16, 16, 1, a, 16, 1, b, 16, 1, 0, c, 16, 1, bias) },
		"transposed": func() { GEMM(8, 16, 16, 1, a, 16, 1, b, 1, 16, 0, c, 16, 1, bias) },
		"dot":        func() { GEMM(1, 16, 16, 1, a, 16, 1, b, 1, 16, 0, c, 16, 1, bias) },
		"column":     func() { GEMM(16, 1, 16, 1, a, 16, 1, b, 1, 1, 0, c, 1, 1, nil) },
	} {
		if n := testing.AllocsPerRun(100, f); n >= 1 {
			t.Errorf("%s: got %v allocations per call, expected none", name, n)
		}
	}
}

func TestBatchSimple(t *testing.T) {
	a := []float64{1, 2, 3, 4}
	b := []float64{10, 20}
	c := make([]float64, 4)
	GEMMBatch([]BatchDim{{2, 2, 0, 2}}, 1, 1, 2, 1, a, 2, 1, b, 1, 1, 0, c, 1, 1, nil)
	if c[0] != 50 || c[2] != 110 {
		t.Errorf("got %v, expected 50 and 110", c)
	}
}

func TestShortSlicesPanic(t *testing.T) {
	long := make([]float32, 100)
	for name, f := range map[string]func(){
		"A":        func() { SGEMM(4, 4, 4, 1, long[:15], 4, 1, long, 4, 1, 0, long, 4, 1) },
		"B":        func() { SGEMM(4, 4, 4, 1, long, 4, 1, long[:15], 4, 1, 0, long, 4, 1) },
		"C":        func() { SGEMM(4, 4, 4, 1, long, 4, 1, long, 4, 1, 0, long[:15], 4, 1) },
		"negative": func() { SGEMM(4, -4, 4, 1, long, 4, 1, long, 4, 1, 0, long, 4, 1) },
		"stride":   func() { SGEMM(4, 4, 4, 1, long, -4, 1, long, 4, 1, 0, long, 4, 1) },
		"bias": func() {
			GEMM(4, 4, 4, 1, long, 4, 1, long, 4, 1, 0, make([]float32, 16), 4, 1,
				&Epilogue[float32]{BiasCol: long[:3]})
		},
		"batch": func() {
			GEMMBatch([]BatchDim{{3, 50, 4, 4}}, 2, 2, 2, 1, long, 2, 1, long, 2, 1, 0, long, 2, 1,
				nil)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: expected a panic", name)
				}
			}()
			f()
		}()
	}
}

func TestPeak(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		p := Peak(2 * time.Millisecond)
		if generic := currentPath() == pathGeneric; (p == 0) != generic {
			t.Errorf("got a peak of %v GF/s", p)
		}
	})
}

func ExampleSGEMM() {
	a := []float32{1, 2, 3, 4, 5, 6} // 2×3
	w := []float32{1, 0, 1, 0, 1, 0} // 2×3, used transposed
	c := make([]float32, 4)
	SGEMM(2, 2, 3, 1, a, 3, 1, w, 1, 3, 0, c, 2, 1)
	fmt.Println(c)
	// Output: [4 2 10 5]
}

func benchmark[T element](b *testing.B, m, n, k int, transB bool) {
	rng := rand.New(rand.NewPCG(1, 1))
	fill := func(l int) []T {
		x := make([]T, l)
		for i := range x {
			x[i] = T(rng.NormFloat64())
		}
		return x
	}
	x, y, z := fill(m*k), fill(k*n), fill(m*n)
	rs, cs := n, 1
	if transB {
		rs, cs = 1, k
	}
	f := func() { GEMM(m, n, k, 1, x, k, 1, y, rs, cs, 0, z, n, 1, nil) }
	f()
	b.ResetTimer()
	best := time.Duration(math.MaxInt64)
	for range b.N {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	// The best run too: it means something even when others use the machine.
	b.ReportMetric(2*float64(m)*float64(n)*float64(k)/float64(max(best.Nanoseconds(), 1)), "best-GF/s")
	b.ReportMetric(2*float64(m)*float64(n)*float64(k)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GF/s")
}

func BenchmarkSGEMM(b *testing.B) {
	for _, n := range []int{16, 64, 128, 256, 512, 1024, 2048} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchmark[float32](b, n, n, n, false) })
	}
}

func BenchmarkDGEMM(b *testing.B) {
	for _, n := range []int{64, 256, 1024} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchmark[float64](b, n, n, n, false) })
	}
}

func BenchmarkShapes(b *testing.B) {
	for _, d := range []struct {
		m, n, k int
		t       bool
	}{{128, 768, 768, true}, {32, 1000, 2048, true}, {1, 1000, 2048, true}, {1, 1024, 1024, false},
		{1024, 1, 1024, false}, {4, 1024, 1024, true},
		{12544, 64, 576, false}, {64, 3136, 576, false}, {512, 512, 512, true}, {1024, 1024, 1024, true},
		{64, 10, 84, true}} {
		name := fmt.Sprintf("%dx%dx%d", d.m, d.n, d.k)
		if d.t {
			name += "T"
		}
		b.Run(name, func(b *testing.B) { benchmark[float32](b, d.m, d.n, d.k, d.t) })
	}
}

func BenchmarkPeak(b *testing.B) {
	for _, l := range cpu.Levels() {
		b.Run(l.Name, func(b *testing.B) {
			defer cpu.Set(l.Features)()
			p := 0.0
			for range b.N {
				p = max(p, Peak(time.Millisecond))
			}
			b.ReportMetric(p, "GF/s")
		})
	}
}

// Rows of a copy of A must not compete for the same sets of the cache, whatever
// their length.
func TestRowStride(t *testing.T) {
	for k := 1; k <= 5000; k++ {
		if s := rowStride(k); s < k || s%32 != 16 {
			t.Fatalf("rowStride(%d) is %d, expected an odd multiple of 16, and no less", k, s)
		}
	}
}

// TestBatchOfRows compares batches of single rows and single columns with products of their own, bit by bit.
func TestBatchOfRows(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		checkRows[float32](t)
		checkRows[float64](t)
	})
}

func checkRows[T float32 | float64](t *testing.T) {
	const count = 3
	for _, d := range [][2]int{{16, 384}, {20, 385}, {100, 500}, {130, 1000}, {17, 1050}} {
		k, n := d[0], d[1]
		a, b := make([]T, count*k), make([]T, count*k*n)
		for i := range a {
			a[i] = T(i%13) / 7
		}
		for i := range b {
			b[i] = T(i%1013) / 11
		}
		bias := b[7 : 7+n]
		for _, act := range []Activation{ActNone, ActReLU, ActGELU} {
			for _, column := range []bool{false, true} {
				run := func(batch []BatchDim, a, b, c []T) {
					if column { // (n×k)·(k×1) of a matrix that lies the other way
						GEMMBatch(batch, n, 1, k, -2, b, 1, n, a, 1, 1, 3, c, 1, 1,
							&Epilogue[T]{BiasRow: bias, Act: act})
					} else {
						GEMMBatch(batch, 1, n, k, -2, a, k, 1, b, n, 1, 3, c, n, 1,
							&Epilogue[T]{BiasCol: bias, Act: act})
					}
				}
				dim := BatchDim{N: count, A: k, B: k * n, C: n}
				if column {
					dim.A, dim.B = dim.B, dim.A
				}
				got, want := make([]T, count*n), make([]T, count*n)
				for i := range got {
					got[i], want[i] = T(i%5), T(i%5)
				}
				run([]BatchDim{dim}, a, b, got)
				for x := range count {
					run(nil, a[x*k:][:k], b[x*k*n:][:k*n], want[x*n:][:n])
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%T, %d steps, %d columns, activation %d, as a column %v: the batch differs", bias, k, n,
						act, column)
				}
			}
		}
	}
}

// TestLargeBatch compares batches of matrices that are multiplied in ways of their own when they come alone with such
// products, bit by bit.
func TestLargeBatch(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		const count = 2
		for _, d := range [][3]int{{20, 512, 300}, {6, 2048, 80}, {2, 512, 300}, {1, 2048, 300}} {
			m, n, k := d[0], d[1], d[2]
			a, b, got, want := make([]float32, count*m*k), make([]float32, count*k*n), make([]float32, count*m*n),
				make([]float32, count*m*n)
			for i := range a {
				a[i] = float32(i%13 - 6)
			}
			for i := range b {
				b[i] = float32(i%1013 - 500)
			}
			GEMMBatch([]BatchDim{{count, m * k, k * n, m * n}}, m, n, k, 1, a, k, 1, b, n, 1, 0, got, n, 1, nil)
			for x := range count {
				SGEMM(m, n, k, 1, a[x*m*k:], k, 1, b[x*k*n:], n, 1, 0, want[x*m*n:], n, 1)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v: the batch differs", d)
			}
		}
	})
}

// TestPackPanel packs rows whose elements are adjacent along k, on vectors of
// the path and on shorter ones, which stand in for it where rows are few.
func TestPackPanel(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		checkPanels[float32](t)
		checkPanels[float64](t)
		checkPanels[int32](t)
		checkPanels[int64](t)
	})
}

func checkPanels[T element](t *testing.T) {
	const width, most = 9, 21
	es := size[T]()
	paths := []path{pathOf[T]()}
	if pt := currentPath(); pt == pathAVX2 || pt == pathAVX512 {
		paths = append(paths, pathAVX2)
	}
	for _, pt := range paths {
		for rows := 1; rows <= width; rows++ {
			for k := 1; k <= most; k++ {
				src := make([]T, rows*most)
				for i := range src {
					src[i] = T(i + 1)
				}
				dst := make([]T, width*k)
				packPanel[T](pt, unsafe.Pointer(&dst[0]), width, unsafe.Pointer(&src[0]), most*es, es, rows, rows, k)
				for r := range rows {
					for q := range k {
						if got, want := dst[q*width+r], src[r*most+q]; got != want {
							t.Fatalf("%T, path %d, %d rows, %d steps: row %d, step %d: got %v, expected %v", got, pt,
								rows, k, r, q, got, want)
						}
					}
				}
			}
		}
	}
}

// TestPackColumns packs strips of B: every column that exists, in the rest of a
// vector nothing but such elements and zeros, and beyond it nothing.
func TestPackColumns(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		checkColumns[float32](t)
		checkColumns[float64](t)
		checkColumns[int32](t)
		checkColumns[int64](t)
	})
}

func checkColumns[T element](t *testing.T) {
	const mark, room = 99, 8
	pt, es := pathOf[T](), size[T]()
	_, width := tileSize[T](pt, manyRows)
	for cols := 1; cols <= width; cols++ {
		for k := 1; k <= 21; k++ {
			for _, cs := range []int{1, k, k + 3} { // row-major, then contiguous along k
				rs := 1
				if cs == 1 {
					rs = cols
				}
				src := make([]T, (k-1)*rs+(cols-1)*cs+1)
				for i := range src {
					src[i] = T(i%90 + 1)
				}
				dst := make([]T, width*k+room)
				for i := range dst {
					dst[i] = mark
				}
				packColumns[T](pt, unsafe.Pointer(&dst[0]), width, operand{unsafe.Pointer(&src[0]), rs * es, cs * es},
					cols, cols, k)
				for i, got := range dst {
					q, j := i/width, i%width
					switch {
					case q < k && j < cols:
						if want := src[q*rs+j*cs]; got != want {
							t.Fatalf("%T, %d columns, %d steps, %d apart: column %d, step %d: got %v, expected %v", got,
								cols, k, cs, j, q, got, want)
						}
					case pt == pathAVX2 && q < k && j < roundUp(cols, lanes[T](pt)):
						if got != 0 && (k*size[T]() < 16 || cs == 1 || got != src[q+(cols-1)*cs]) {
							t.Fatalf("%T, %d columns, %d steps, %d apart: column %d, step %d: got %v", got, cols, k, cs,
								j, q, got)
						}
					case i >= width*k && got != mark:
						t.Fatalf("%T, %d columns, %d steps: overwrote what follows", got, cols, k)
					}
				}
			}
		}
	}
}
