package iter

import (
	"bytes"
	"testing"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/par"
)

// Every element size, at lengths around the words of the kernels and above a task, at odd places, with bytes around
// that must stay.
func TestFill(t *testing.T) {
	defer par.SetNumThreads(par.NumThreads())
	const guard = 64
	elements := [][]byte{
		make([]byte, 16), // zeros go a way of their own
		{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
		{1, 2, 3, 4, 0, 0, 0xf0, 0x7f, 1, 2, 3, 4, 0, 0, 0xf0, 0x7f}, // a signalling NaN as float64
	}
	for _, threads := range []int{1, 2, 3, 8} {
		par.SetNumThreads(threads)
		for _, size := range []int{1, 2, 4, 8, 16} {
			for _, n := range []int{0, 1, 2, 3, 5, 7, 8, 9, 31, 64, 1001, fillGrain/size + 3, 3*fillGrain/size + 5} {
				for _, one := range elements {
					got := bytes.Repeat([]byte{0xaa}, guard+size+n*size+guard)
					at := guard + size // aligned to the element only
					Fill(unsafe.Pointer(&got[at]), unsafe.Pointer(&one[0]), n, size)
					want := bytes.Repeat([]byte{0xaa}, len(got))
					copy(want[at:], bytes.Repeat(one[:size], n))
					if !bytes.Equal(got, want) {
						t.Errorf("%d elements of %d bytes, %d threads: wrong bytes for % x", n, size, threads,
							one[:size])
					}
				}
			}
		}
	}
}

// The source may be the first of the elements that are written.
func TestFillFromItself(t *testing.T) {
	d := []uint16{7, 1, 2, 3, 4}
	Fill(unsafe.Pointer(&d[0]), unsafe.Pointer(&d[0]), 4, 2)
	if d[0] != 7 || d[3] != 7 || d[4] != 4 {
		t.Errorf("got %v", d)
	}
}

// One element fills rows with gaps between them, also one that is converted; the gaps stay.
func TestFillSlices(t *testing.T) {
	for _, cols := range []int{1, 2, 3, 9, 16, 63, 300, 1500} {
		for _, rows := range []int{1, 2, 5, 40} {
			ld := cols + 3
			for _, kind := range []dtype.DType{dtype.Uint8, dtype.Int16, dtype.Float32, dtype.Int64} {
				size := kind.Size()
				got, want := bytes.Repeat([]byte{0xaa}, rows*ld*size), bytes.Repeat([]byte{0xaa}, rows*ld*size)
				value := int64(5)
				Copy([]int{rows, cols}, Operand{P: unsafe.Pointer(&got[0]), Strides: []int{ld, 1}, Mem: kind},
					Operand{P: unsafe.Pointer(&value), Strides: []int{0, 0}, Mem: dtype.Int64})
				one := make([]byte, 8)
				if kind == dtype.Int64 {
					one[0] = 5
				} else {
					dtype.Convert(kind, dtype.Int64)(unsafe.Pointer(&one[0]), unsafe.Pointer(&value), 1)
				}
				for r := range rows {
					copy(want[r*ld*size:], bytes.Repeat(one[:size], cols))
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%d rows of %d %v: wrong", rows, cols, kind)
				}
			}
		}
	}
}

// Blocks beyond the size from which zeros go around the caches.
func TestZeroLarge(t *testing.T) {
	for _, n := range []int{8<<20 - 1, 8<<20 + 7} {
		got := bytes.Repeat([]byte{0xaa}, n+128)
		Zero(unsafe.Pointer(&got[60]), n)
		want := bytes.Repeat([]byte{0xaa}, n+128)
		clear(want[60 : 60+n])
		if !bytes.Equal(got, want) {
			t.Errorf("%d bytes: wrong", n)
		}
	}
}
