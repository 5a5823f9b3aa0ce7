package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

// anySizes are rows, columns and steps of k for every type.
var anySizes = [][3]int{{1, 1, 1}, {3, 5, 7}, {20, 300, 33}, {4, 600, 2}, {2, 3, 0}, {1, 1, 70}, {1, 40, 65},
	{35, 1, 20}, {2, 3, 40}, {13, 33, 12}, {31, 70, 40}, {1, 67, 900}, {45, 47, 700}, {300, 3, 9}}

func checkAny[T Number](t *testing.T, sizes [][3]int, random func(*rand.Rand) T) {
	t.Helper()
	rng := rand.New(rand.NewPCG(9, 9))
	for _, d := range sizes {
		m, n, k := d[0], d[1], d[2]
		for li := range layouts {
			la, lb, lc := layouts[li], layouts[(li+1)%len(layouts)], layouts[(li*5+1)%len(layouts)]
			rsA, csA := la.stride(m, k)
			rsB, csB := lb.stride(k, n)
			rsC, csC := lc.stride(m, n)
			fill := func(rows, rs, cols, cs int) []T {
				x := make([]T, max(0, (rows-1)*rs+(cols-1)*cs+1))
				for i := range x {
					x[i] = random(rng)
				}
				return x
			}
			a, b, c := fill(m, rsA, k, csA), fill(k, rsB, n, csB), fill(m, rsC, n, csC)
			old := append([]T(nil), c...)
			alpha, beta := random(rng), random(rng)
			GEMMAny(nil, m, n, k, alpha, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC)
			for i := range m {
				for j := range n {
					var s T
					for q := range k {
						s += a[i*rsA+q*csA] * b[q*rsB+j*csB]
					}
					o := i*rsC + j*csC
					if want := alpha*s + beta*old[o]; c[o] != want {
						t.Fatalf("%v %s %s %s C[%d,%d]: got %v, expected %v", d, la.name, lb.name, lc.name, i, j, c[o],
							want)
					}
				}
			}
		}
	}
}

func TestAny(t *testing.T) {
	onEveryPath(t, testAny)
}

func testAny(t *testing.T) {
	// Small whole numbers, exact in every type; integers may wrap.
	checkAny(t, anySizes, func(r *rand.Rand) uint8 { return uint8(r.Uint32()) })
	checkAny(t, anySizes, func(r *rand.Rand) int8 { return int8(r.Uint32()) })
	checkAny(t, anySizes, func(r *rand.Rand) int16 { return int16(r.Uint32()) })
	checkAny(t, anySizes, func(r *rand.Rand) int32 { return int32(r.Uint32()) })
	checkAny(t, anySizes, func(r *rand.Rand) int64 { return int64(r.Uint64()) })
	checkAny(t, anySizes, func(r *rand.Rand) float64 { return float64(r.IntN(9) - 4) })
	checkAny(t, anySizes, func(r *rand.Rand) complex64 { return complex(float32(r.IntN(9)-4), float32(r.IntN(9)-4)) })
	checkAny(t, anySizes, func(r *rand.Rand) complex128 { return complex(float64(r.IntN(9)-4), float64(r.IntN(9)-4)) })
}

// TestShort multiplies integers of 8 and 16 bits in sizes at which their products
// are made in other ways: few rows or columns, ends of vectors and of blocks,
// and many of both.
func TestShort(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		sizes := [][3]int{
			{1, 16, 1100}, {1, 17, 1001}, {2, 15, 700}, {3, 33, 257}, {8, 100, 67}, {8, 1100, 9}, {9, 40, 64},
			{5, 513, 8}, {4, 700, 7},
			{4, 600, 17}, {1, 4, 20011}, {7, 31, 160}, {1, 2, 17000}, {100, 8, 23}, {513, 3, 16}, {1, 1, 33000},
			{70, 70, 35}, {6, 5, 600}, {17, 1030, 3},
		}
		checkAny(t, sizes, func(r *rand.Rand) uint8 { return uint8(r.Uint32()) })
		checkAny(t, sizes, func(r *rand.Rand) int8 { return int8(r.Uint32()) })
		checkAny(t, sizes, func(r *rand.Rand) int16 { return int16(r.Uint32() | r.Uint32()<<15) }) // many -32768
	})
}

// TestShortBatch compares batches, of which B is the same for all, with single products.
func TestShortBatch(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		for _, d := range [][3]int{{2, 40, 210}, {40, 2, 210}, {30, 32, 20}, {1, 300, 64}} {
			m, n, k := d[0], d[1], d[2]
			const count = 5
			a, b := make([]int8, count*m*k), make([]int8, k*n)
			for i := range a {
				a[i] = int8(i * 7)
			}
			for i := range b {
				b[i] = int8(i * 11)
			}
			got, want := make([]int8, count*m*n), make([]int8, m*n)
			for _, bt := range [][2]int{{n, 1}, {1, k}} {
				GEMMAny([]BatchDim{{count, m * k, 0, m * n}}, m, n, k, 1, a, k, 1, b, bt[0], bt[1], 0, got, n, 1)
				for x := range count {
					GEMMAny(nil, m, n, k, 1, a[x*m*k:], k, 1, b, bt[0], bt[1], 0, want, n, 1)
					if !slices.Equal(got[x*m*n:][:m*n], want) {
						t.Fatalf("%v, strides %v of B: matrix %d differs", d, bt, x)
					}
				}
			}
		}
	})
}

// TestRandom multiplies small whole numbers, exact in every type, in batches of any shape: operands may be repeated
// along a dimension, transposed or have gaps.
func TestRandom(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		randomProducts(t, func(v int) float32 { return float32(v) })
		randomProducts(t, func(v int) float64 { return float64(v) })
		randomProducts(t, func(v int) int64 { return int64(v) << 40 })
		randomProducts(t, func(v int) int32 { return int32(v) << 20 })
		randomProducts(t, func(v int) uint8 { return uint8(v) })
		randomProducts(t, func(v int) complex64 { return complex(float32(v>>2), float32(v&3-2)) })
		randomProducts(t, func(v int) complex128 { return complex(float64(v&3-1), float64(v>>2)) })
	})
}

func randomProducts[T Number](t *testing.T, number func(v int) T) {
	r := rand.New(rand.NewPCG(4, 44))
	pick := func(l ...int) int { return l[r.IntN(len(l))] }
	count := 400
	if testing.Short() {
		count = 40
	}
	for range count {
		size := func() int {
			return pick(1, 2, 3, 1+r.IntN(20), 1+r.IntN(20), 1+r.IntN(70), 1+r.IntN(70), 60+r.IntN(250),
				pick(0, 16, 32, 64, 512, 1025))
		}
		m, n, k := size(), size(), size()
		var batch []BatchDim
		nb := 1
		for range pick(0, 0, 1, 2) {
			d := BatchDim{N: pick(1, 2, 3, 5)}
			batch, nb = append(batch, d), nb*d.N
		}
		if nb*m*n*k > 1<<19 {
			continue
		}
		// strides of a matrix, and of the batch around it where step is set; what is repeated has none
		strides := func(rows, cols int, out bool, step func(d *BatchDim) *int) (rs, cs, span int) {
			if rs, cs = cols+pick(0, 0, 3, 16), 1; r.IntN(8) == 0 {
				cs = 2
				rs *= 2
			}
			span = max(rows, 1) * rs
			if r.IntN(2) == 0 {
				rs, cs = cs, max(rows, 1)*cs+pick(0, 0, 5)
				span = max(cols, 1) * cs
			}
			if !out && r.IntN(12) == 0 {
				rs = 0
			} else if !out && r.IntN(12) == 0 {
				cs = 0
			}
			for i := len(batch) - 1; i >= 0; i-- {
				if *step(&batch[i]) = span + pick(0, 0, 7); !out && r.IntN(3) == 0 {
					*step(&batch[i]) = 0
				}
				span = batch[i].N * (span + 7)
			}
			return rs, cs, span
		}
		rsA, csA, spanA := strides(m, k, false, func(d *BatchDim) *int { return &d.A })
		rsB, csB, spanB := strides(k, n, false, func(d *BatchDim) *int { return &d.B })
		rsC, csC, spanC := strides(m, n, true, func(d *BatchDim) *int { return &d.C })
		fill := func(span int) []T {
			x := make([]T, span+8)
			for i := range x {
				x[i] = number(r.IntN(9) - 4)
			}
			return x
		}
		a, b, c := fill(spanA), fill(spanB), fill(spanC)
		alpha, beta := number(pick(1, 1, 2, -3, 0)), number(pick(0, 0, 1, 2))
		if r.IntN(2) == 0 {
			if alpha, beta = 1, 0; r.IntN(2) == 0 {
				beta = 1
			}
		}
		want := append([]T(nil), c...)
		for x := range nb {
			oa, ob, oc := batchOffsets(batch, x)
			for i := range m {
				for j := range n {
					var s T
					for q := range k {
						s += a[oa+i*rsA+q*csA] * b[ob+q*rsB+j*csB]
					}
					w := &want[oc+i*rsC+j*csC]
					*w = alpha*s + beta**w
				}
			}
		}
		GEMMAny(batch, m, n, k, alpha, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC)
		for i := range c {
			if c[i] != want[i] {
				t.Fatalf("%T %dx%dx%d batch %+v, strides of A %d %d, B %d %d, C %d %d, alpha %v, beta %v: element %d "+
					"of C's memory is %v, expected %v",
					alpha, m, n, k, batch, rsA, csA, rsB, csB, rsC, csC, alpha, beta, i, c[i], want[i])
			}
		}
	}
}

// TestLongDot takes vectors longer than the pieces that run in parallel.
func TestLongDot(t *testing.T) {
	onEveryPath(t, func(t *testing.T) {
		const k = 5*dotPiece + 77
		a, b, c := make([]int64, k), make([]int64, k), []int64{1}
		var want int64
		for i := range a {
			a[i], b[i] = int64(i%1013)-500, int64(i%877)
			want += a[i] * b[i]
		}
		GEMMAny(nil, 1, 1, k, 2, a, k, 1, b, 1, 1, 3, c, 1, 1)
		if c[0] != 2*want+3 {
			t.Errorf("got %d, expected %d", c[0], 2*want+3)
		}
	})
}

func TestAnyBatch(t *testing.T) {
	a, b, c := []int64{1, 2, 3, 4}, []int64{10, 100}, make([]int64, 2)
	GEMMAny([]BatchDim{{2, 2, 0, 1}}, 1, 1, 2, 1, a, 2, 1, b, 1, 1, 0, c, 1, 1)
	if c[0] != 210 || c[1] != 430 {
		t.Errorf("got %v, expected [210 430]", c)
	}
}

func TestHalf(t *testing.T) {
	defer func(b int) { dotStreamMinBytesB = b }(dotStreamMinBytesB)
	for _, dotStreamMinBytesB = range []int{0, dotStreamMinBytesB} { // B from memory, and from the caches
		onEveryPath(t, testHalf)
	}
}

func testHalf(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, h := range []Half{Float16, BFloat16} {
		to, from := vec.F16ToF32, vec.F32ToF16
		if h == BFloat16 {
			to, from = vec.BF16ToF32, vec.F32ToBF16
		}
		for _, d := range [][3]int{{1, 1, 1}, {5, 7, 9}, {40, 300, 20}, {3, 4, 0}, {6, 200, 700}, {1, 4200, 40},
			{6, 131, 65}, {2, 64, 300}, {8, 67, 300}, {700, 1, 90}, {3, 515, 129}} {
			m, n, k := d[0], d[1], d[2]
			for li := range layouts {
				la, lb, lc := layouts[li], layouts[(li+1)%len(layouts)], layouts[(li*5+1)%len(layouts)]
				rsA, csA := la.stride(m, k)
				rsB, csB := lb.stride(k, n)
				rsC, csC := lc.stride(m, n)
				const nb = 2
				sa, sb, sc := max(0, m*rsA+k*csA), max(0, k*rsB+n*csB), m*rsC+n*csC
				fill := func(l int) []uint16 {
					x := make([]uint16, l)
					for i := range x {
						x[i] = from(float32(rng.IntN(33)-16) / 8)
					}
					return x
				}
				a, b, c := fill(nb*sa), fill(nb*sb), fill(nb*sc)
				old := append([]uint16(nil), c...)
				beta := float32(li % 2)
				if beta == 0 {
					for i := range c {
						c[i] = 0x7fff // NaN in both formats
					}
				}
				ep := &Epilogue[float32]{Act: ActReLU, BiasCol: make([]float32, n), BiasRow: make([]float32, m)}
				for j := range n {
					ep.BiasCol[j] = float32(j%9) / 8
				}
				for i := range m {
					ep.BiasRow[i] = float32(i%5) / 8
				}
				GEMMHalf(h, []BatchDim{{nb, sa, sb, sc}}, m, n, k, 0.5, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC, ep)
				for x := range nb {
					for i := range m {
						for j := range n {
							var s float32 // exact: multiples of 1/64
							for q := range k {
								s += to(a[x*sa+i*rsA+q*csA]) * to(b[x*sb+q*rsB+j*csB])
							}
							o := x*sc + i*rsC + j*csC
							want := from(max(0, s/2+beta*to(old[o])+ep.BiasCol[j]+ep.BiasRow[i]))
							if c[o] != want && !(to(c[o]) == 0 && to(want) == 0) {
								t.Fatalf("format %d %v %s C[%d,%d]: got %v, expected %v", h, d, la.name, i, j, to(c[o]),
									to(want))
							}
						}
					}
				}
			}
		}
	}
}

func TestGELU(t *testing.T) {
	for _, c := range []struct {
		act     Activation
		x, want float64
	}{{ActGELU, 1, 0.8413447460685429}, {ActGELUTanh, 1, 0.8411919906082768}, {ActReLU, -1, 0},
		{ActGELU, math.Inf(1), math.Inf(1)}} {
		x := []float64{c.x}
		if activate(c.act, x); !(math.Abs(x[0]-c.want) < 1e-12 || x[0] == c.want) {
			t.Errorf("activation %d of %v: got %v, expected %v", c.act, c.x, x[0], c.want)
		}
	}
}

func ExampleGEMMAny() {
	c := make([]int64, 4)
	GEMMAny(nil, 2, 2, 2, 1, []int64{1, 2, 3, 4}, 2, 1, []int64{0, 1, 1, 0}, 2, 1, 0, c, 2, 1)
	fmt.Println(c)
	// Output: [2 1 4 3]
}
