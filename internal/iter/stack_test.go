package iter

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/par"
)

// TestStacked adds operands that are broadcast in every way, without gaps, with gaps between elements and between rows,
// those of the result, too, in their own type and converted, and compares with a plain loop.
func TestStacked(t *testing.T) {
	defer par.SetNumThreads(par.NumThreads())
	for _, shape := range [][]int{{5, 3}, {300, 7}, {40, 129}, {3, 2049}, {3, 9, 40}, {4, 1, 33, 5}, {2, 3, 50, 200}} {
		nd, total := len(shape), numel(shape)
		for ways := range 1 << (2 * nd) {
			if nd > 2 && ways%11 != 0 {
				continue
			}
			for kind := range 12 {
				kind, gaps := kind%3, kind/3
				ops := make([]Operand, 3)
				mem := make([][]float64, 3)
				for i := range ops {
					st, n := make([]int, nd), 1
					for d := nd - 1; d >= 0; d-- {
						if i > 0 && ways>>(nd*(i-1)+d)&1 != 0 {
							continue
						}
						if i > 0 && gaps == 1 && n == 1 {
							n = 2
						}
						st[d], n = n, n*shape[d]
						if (i > 0 && gaps == 2 || gaps == 3) && d == nd-1 {
							n += 3
						}
					}
					dt, as := dtype.Float32, dtype.Float32
					if kind == 1 {
						as = dtype.Float64
					} else if kind == 2 {
						dt, as = dtype.Uint8, dtype.Uint8
					}
					mem[i] = make([]float64, n)
					b := make([]byte, n*dt.Size()+8)
					for j := range n {
						mem[i][j] = float64((j*7 + i) % 61)
						if dt == dtype.Uint8 {
							b[j] = uint8(mem[i][j])
						} else {
							*(*float32)(unsafe.Pointer(&b[4*j])) = float32(mem[i][j])
						}
					}
					ops[i] = Operand{P: unsafe.Pointer(&b[0]), Strides: st, Mem: dt, As: as}
				}
				for _, threads := range []int{1, 3} {
					par.SetNumThreads(threads)
					Run(shape, 1, ops, func(p *Ptrs, n int) {
						switch kind {
						case 0:
							addRun[float32](p, n)
						case 1:
							addRun[float64](p, n)
						default:
							addRun[uint8](p, n)
						}
					})
					want := slices.Clone(mem[0]) // what lies between the rows of the result stays
					for j := range total {
						at, r := [3]int{}, j
						for d := nd - 1; d >= 0; d-- {
							for i := range at {
								at[i] += r % shape[d] * ops[i].Strides[d]
							}
							r /= shape[d]
						}
						want[at[0]] = mem[1][at[1]] + mem[2][at[2]]
					}
					for j, want := range want {
						var got float64
						if kind == 2 {
							got = float64(unsafe.Slice((*uint8)(ops[0].P), j+1)[j])
						} else {
							got = float64(unsafe.Slice((*float32)(ops[0].P), j+1)[j])
						}
						if got != want {
							t.Fatalf("shape %v ways %b gaps %d kind %d threads %d: element %d is %v, want %v", shape,
								ways, gaps, kind, threads, j, got, want)
						}
					}
				}
			}
		}
	}
}

func addRun[E uint8 | float32 | float64](p *Ptrs, n int) {
	d, a, b := unsafe.Slice((*E)(p[0]), n), unsafe.Slice((*E)(p[1]), n), unsafe.Slice((*E)(p[2]), n)
	for i := range d {
		d[i] = a[i] + b[i]
	}
}

// TestGathered adds an operand in any order of memory to one without gaps and to one with gaps between its rows, whose
// innermost rows are too short for a call each.
func TestGathered(t *testing.T) {
	for _, shape := range [][]int{{40, 12, 3}, {7, 50, 16}, {100, 5, 2}, {3, 4, 30, 5}} {
		nd, total := len(shape), numel(shape)
		order := make([]int, nd)
		for i := range order {
			order[i] = (i*2 + 1) % nd
			if nd%2 == 0 {
				order[i] = nd - 1 - i
			}
		}
		plain, mixed, gapped := make([]int, nd), make([]int, nd), make([]int, nd)
		n, m := 1, 1
		for d := nd - 1; d >= 0; d-- {
			plain[d], gapped[d] = n, m
			n, m = n*shape[d], m*shape[d]
			if d == nd-1 {
				m += 2
			}
		}
		n = 1
		for _, d := range order {
			mixed[d], n = n, n*shape[d]
		}
		x := make([]float32, total*2)
		for i := range x {
			x[i] = float32(i * 5 % 97)
		}
		for which, strides := range [][3][]int{{plain, mixed, plain}, {plain, mixed, gapped}, {mixed, plain, mixed},
			{gapped, mixed, plain}} {
			for _, as := range []dtype.DType{dtype.Float32, dtype.Float64} {
				got, want := make([]float32, 2*total), make([]float32, 2*total)
				ops := make([]Operand, 3)
				for i, p := range []*float32{&got[0], &x[0], &x[1]} {
					ops[i] = Operand{P: unsafe.Pointer(p), Strides: strides[i], Mem: dtype.Float32, As: as}
				}
				Run(shape, 1, ops, func(p *Ptrs, n int) {
					if as == dtype.Float32 {
						addRun[float32](p, n)
					} else {
						addRun[float64](p, n)
					}
				})
				for j := range total {
					at, r := [3]int{}, j
					for d := nd - 1; d >= 0; d-- {
						for i := range at {
							at[i] += r % shape[d] * strides[i][d]
						}
						r /= shape[d]
					}
					want[at[0]] = x[at[1]] + x[1+at[2]]
				}
				if !slices.Equal(got, want) {
					t.Errorf("shape %v, operands %d as %v: wrong", shape, which, as)
				}
			}
		}
	}
}
