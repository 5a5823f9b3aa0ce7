package iter

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/par"
)

// strided is an operand over bytes with an offset, and the distance of its last element.
func strided(b []byte, off int, strides []int, dt dtype.DType) Operand {
	return Operand{P: unsafe.Pointer(&b[off*dt.Size()]), Strides: strides, Mem: dt, As: dt}
}

// TestCopy compares copies between many layouts with a plain loop, and looks at what lies around the result.
func TestCopy(t *testing.T) {
	defer par.SetNumThreads(par.NumThreads())
	shapes := [][]int{{1, 1}, {3, 5}, {4, 4}, {7, 9}, {16, 33}, {70, 130}, {65, 1030}, {200, 300}, {2, 3, 40, 50},
		{3, 70, 1, 33}, {2, 17, 5, 6, 4}}
	types := []dtype.DType{dtype.Uint8, dtype.BFloat16, dtype.Float32, dtype.Float64, dtype.Complex128}
	for _, f := range []cpu.Features{{}, {AVX2FMA: true}, {AVX2FMA: true, AVX512: true}} {
		restore := cpu.Set(f)
		for _, threads := range []int{1, 3} {
			par.SetNumThreads(threads)
			for _, shape := range shapes {
				for _, dt := range types {
					for perm := range 12 {
						checkCopy(t, shape, perm, dt)
					}
				}
			}
		}
		restore()
	}
}

// checkCopy copies from a layout whose order of dimensions and gaps perm chooses.
func checkCopy(t *testing.T, shape []int, kind int, dt dtype.DType) {
	t.Helper()
	// from kind 4 on every other dimension of the source runs backwards, from kind 8 on the result has gaps
	perm, apart := kind%4, 1
	if kind >= 8 {
		apart = 3
	}
	nd, size := len(shape), dt.Size()
	total := 1
	for _, s := range shape {
		total *= s
	}
	order := make([]int, nd) // of the source, outermost first
	for i := range order {
		switch perm {
		case 0: // the other way round
			order[i] = nd - 1 - i
		case 1: // as channels-last
			order[i] = i
			if nd > 2 && i > 0 {
				order[i] = i%(nd-1) + 1
			}
		case 2: // rotated, with gaps
			order[i] = (i + 1) % nd
		default: // the same
			order[i] = i
		}
	}
	gap := 0
	if perm >= 2 {
		gap = 3
	}
	src, dst := make([]int, nd), make([]int, nd)
	span := 1
	for i := nd - 1; i >= 0; i-- {
		src[order[i]] = span
		span = span*shape[order[i]] + gap
	}
	step := apart
	for i := nd - 1; i >= 0; i-- {
		dst[i] = step
		step *= shape[i]
	}
	if perm == 3 && shape[0] > 1 {
		src[0] = 0 // broadcast
	}
	first := 1
	for i := range nd {
		if kind >= 4 && i%2 == 1-nd%2 {
			first += (shape[i] - 1) * src[i]
			src[i] = -src[i]
		}
	}
	const guard = 5
	in, out := make([]byte, (span+guard)*size), make([]byte, (total*apart+2*guard)*size)
	for i := range in {
		in[i] = byte(i*7 + i>>8)
	}
	for i := range out {
		out[i] = 0xee
	}
	Copy(shape, strided(out, guard, dst, dt), strided(in, first, src, dt))
	for i := range total {
		at, rest := first, i
		for d := nd - 1; d >= 0; d-- {
			at += rest % shape[d] * src[d]
			rest /= shape[d]
		}
		if got, want := out[(guard+i*apart)*size:][:size], in[at*size:][:size]; string(got) != string(want) {
			t.Fatalf("%v %s, strides %v: element %d is %x, want %x", shape, dt, src, i, got, want)
		}
	}
	for e := range len(out) / size {
		if i := e - guard; (i < 0 || i >= total*apart || i%apart != 0) && out[e*size] != 0xee {
			t.Fatalf("%v %s, strides %v: written outside", shape, dt, src)
		}
	}
}

// TestCopyConverts copies to another type, in order, transposed and broadcast.
func TestCopyConverts(t *testing.T) {
	const rows, cols = 37, 1100
	in, out := make([]int32, rows*cols), make([]float64, rows*cols)
	for i := range in {
		in[i] = int32(i*7 - 1000)
	}
	for _, st := range [][]int{{cols, 1}, {1, rows}, {0, 1}, {1, 0}} {
		Copy([]int{rows, cols}, Operand{P: unsafe.Pointer(&out[0]), Strides: []int{cols, 1}, Mem: dtype.Float64},
			Operand{P: unsafe.Pointer(&in[0]), Strides: st, Mem: dtype.Int32})
		for i := range out {
			if want := float64(in[i/cols*st[0]+i%cols*st[1]]); out[i] != want {
				t.Fatalf("strides %v: element %d is %g, want %g", st, i, out[i], want)
			}
		}
	}
}

func BenchmarkCopyTranspose(b *testing.B) {
	const n = 1000
	for _, dt := range []dtype.DType{dtype.Uint8, dtype.Float16, dtype.Float32, dtype.Float64} {
		b.Run(fmt.Sprint(dt), func(b *testing.B) {
			in, out := make([]byte, n*n*dt.Size()), make([]byte, n*n*dt.Size())
			b.SetBytes(int64(2 * len(in)))
			for b.Loop() {
				Copy([]int{n, n}, strided(out, 0, []int{n, 1}, dt), strided(in, 0, []int{1, n}, dt))
			}
		})
	}
}
