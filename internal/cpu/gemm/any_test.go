package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

func checkAny[T Number](t *testing.T, random func(*rand.Rand) T) {
	t.Helper()
	rng := rand.New(rand.NewPCG(9, 9))
	for _, d := range [][3]int{{1, 1, 1}, {3, 5, 7}, {20, 300, 33}, {4, 600, 2}, {2, 3, 0}, {1, 1, 70}, {1, 40, 65}, {35, 1, 20}, {2, 3, 40}, {13, 33, 12}, {31, 70, 40}, {1, 67, 900}, {45, 47, 700}, {300, 3, 9}} {
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
						t.Fatalf("%v %s %s %s C[%d,%d]: got %v, expected %v", d, la.name, lb.name, lc.name, i, j, c[o], want)
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
	checkAny(t, func(r *rand.Rand) uint8 { return uint8(r.Uint32()) })
	checkAny(t, func(r *rand.Rand) int8 { return int8(r.Uint32()) })
	checkAny(t, func(r *rand.Rand) int16 { return int16(r.Uint32()) })
	checkAny(t, func(r *rand.Rand) int32 { return int32(r.Uint32()) })
	checkAny(t, func(r *rand.Rand) int64 { return int64(r.Uint64()) })
	checkAny(t, func(r *rand.Rand) float64 { return float64(r.IntN(9) - 4) })
	checkAny(t, func(r *rand.Rand) complex64 { return complex(float32(r.IntN(9)-4), float32(r.IntN(9)-4)) })
	checkAny(t, func(r *rand.Rand) complex128 { return complex(float64(r.IntN(9)-4), float64(r.IntN(9)-4)) })
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
	onEveryPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(11, 12))
		for _, h := range []Half{Float16, BFloat16} {
			to, from := vec.F16ToF32, vec.F32ToF16
			if h == BFloat16 {
				to, from = vec.BF16ToF32, vec.F32ToBF16
			}
			for _, d := range [][3]int{{1, 1, 1}, {5, 7, 9}, {40, 300, 20}, {3, 4, 0}, {6, 200, 700}, {1, 4200, 40}, {6, 131, 65}, {2, 64, 300}, {8, 67, 300}, {700, 1, 90}, {3, 515, 129}} {
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
									t.Fatalf("format %d %v %s C[%d,%d]: got %v, expected %v", h, d, la.name, i, j, to(c[o]), to(want))
								}
							}
						}
					}
				}
			}
		}
	})
}

func TestGELU(t *testing.T) {
	for _, c := range []struct {
		act     Activation
		x, want float64
	}{{ActGELU, 1, 0.8413447460685429}, {ActGELUTanh, 1, 0.8411919906082768}, {ActReLU, -1, 0}, {ActGELU, math.Inf(1), math.Inf(1)}} {
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
