package reduce

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// Sizes of the blocks that work is cut into. They depend on nothing but the shape, so that a result has the same bits
// on any number of threads.
const (
	grain    = 32 * 1024 // elements of a parallel task
	rowBlock = 32 * 1024 // elements of a long row that are reduced as one
	rowGroup = 256       // short rows that are reduced in one call
	rowShort = 4096      // rows of up to so many elements count as short
	colTile  = 1024      // columns that are accumulated side by side
	colRows  = 256       // rows of a column block, more where they are short

	colNarrow = 32  // so many columns count as few: several rows of them are joined to a wide row
	colWide   = 512 // columns of a joined row, at most
	wideLeast = 16  // fewer joined rows than these are not worth it

	fewMost = 4 // rows of up to so many elements go to the kernel's form few

	turnWide   = 128      // rows of up to so many bytes are transposed to columns
	turnNarrow = 24       // the same for elements of one or two bytes, whose transposition is slower
	turnLeast  = 16       // fewer rows than these are not worth transposing
	turnBytes  = 16 << 10 // bytes that are transposed, or gathered, at a time: a part of the first-level cache

	matsMost   = 40  // matrices of up to so many elements are transposed, so that the columns of many lie side by side
	matsTall   = 160 // the same for matrices of few columns
	matsNarrow = 8   // so many columns count as few
	matsLeast  = 32  // fewer matrices than these are not worth transposing

	// contiguous runs of up to so many bytes that go to several accumulators are gathered in a buffer first
	runMost = 32
	gapMost = 256 // the same for runs that go to one accumulator, where there are several
)

// cast is t in another dtype, t itself when it has it. Not recorded.
func cast(t *T, dt tensor.DType) *T {
	if t.DType() == dt {
		return t
	}
	return tensor.DenseAs(t, dt)
}

type axis struct{ n, stride int }

// mergeAxes drops axes of size 1 and joins neighbours that memory walks as one.
func mergeAxes(in []axis) []axis {
	out := in[:0]
	for _, a := range in {
		if a.n == 1 {
			continue
		}
		if k := len(out) - 1; k >= 0 && out[k].stride == a.n*a.stride {
			out[k] = axis{out[k].n * a.n, a.stride}
			continue
		}
		out = append(out, a)
	}
	return out
}

func count(ax []axis) int {
	n := 1
	for _, a := range ax {
		n *= a.n
	}
	return n
}

// offset is the memory position of the i-th element of the axes, row-major.
func offset(ax []axis, i int) int {
	p := 0
	for d := len(ax) - 1; d > 0 && i > 0; d-- {
		q := i / ax[d].n
		p += (i - q*ax[d].n) * ax[d].stride
		i = q
	}
	if i > 0 { // the outermost axis needs no division, which would cost more than a short row
		p += i * ax[0].stride
	}
	return p
}

// into reduces t to o, whose accumulators finish ends where it is set.
func into[E any, A storable](o, t *T, red []bool, k *kern[E, A], finish func(acc []A)) {
	writing[A](o, func(w *T) {
		var dst []A
		if w.DType() == tensor.DTypeOf[A]() {
			dst = op.Raw[A](w)
		}
		run(t, red, k, dst, func(at int, acc []A) {
			if finish != nil {
				finish(acc)
			}
			write(w, at, acc)
		})
	})
}

// storable are the types of accumulators.
type storable interface {
	uint8 | int8 | int16 | int32 | int64 | float32 | float64 | complex64 | complex128
}

// writing calls f with what write can write accumulators to: o, or a tensor that is then copied to it.
func writing[A storable](o *T, f func(w *T)) {
	dt := tensor.Float64
	wide := false // that write rounds them to o's type
	switch any(*new(A)).(type) {
	case uint8:
		if dt = tensor.Uint8; o.DType() == tensor.Bool {
			dt = tensor.Bool
		}
	case int8:
		dt = tensor.Int8
	case int16:
		dt = tensor.Int16
	case int32:
		dt = tensor.Int32
	case int64:
		dt = tensor.Int64
	case float32:
		dt = tensor.Float32
		wide = o.DType().IsReduced()
	case float64:
		wide = o.DType() == tensor.Float32 || o.DType().IsReduced()
	case complex64:
		dt = tensor.Complex64
	case complex128:
		dt = tensor.Complex128
	}
	w := o
	if !o.IsContiguous() || o.DType() != dt && !wide {
		w = tensor.New(o.Shape(), dt)
	}
	f(w)
	if w != o {
		tensor.CopyRaw(o, w)
	}
}

// write sets the elements of o from at on.
func write[A storable](o *T, at int, acc []A) {
	if len(acc) == 0 {
		return
	}
	f, narrow := any(acc).([]float32)
	if d, ok := any(acc).([]float64); ok && o.DType() != tensor.Float64 {
		if o.DType() == tensor.Float32 {
			vec.F64ToF32s(op.Raw[float32](o)[at:][:len(d)], d)
			return
		}
		buf := half.Borrow[float32](len(d))
		defer half.Return(buf)
		f, narrow = *buf, true
		vec.F64ToF32s(f, d)
	}
	if narrow && o.DType().IsReduced() {
		half.Store(o, at, f)
		return
	}
	if d := op.Raw[A](o)[at:]; &d[0] != &acc[0] {
		copy(d, acc)
	}
}
