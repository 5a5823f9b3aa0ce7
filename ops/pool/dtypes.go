package pool

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/tensor"
)

// This file holds what poolings of floats need of an element type. Those of 16 bits are widened a row at a time on
// the way from memory and rounded once on the way back: what is computed in float32 stays in the cache.

// float is the set of types that floats are pooled in.
type float interface{ float32 | float64 }

// cell is what the memory of floats holds: numbers, or 16-bit floats.
type cell interface{ float32 | float64 | uint16 }

// floatKernels are the vector kernels of numbers.
type floatKernels[E float] struct {
	fill  func(dst []E, s E)
	div   func(dst, a, b []E)
	divBy func(dst, a []E, s E)
	codes func(dst []uint8, a []E)
	most  func(a []E) E
	relu  func(dst, a []E)
}

var (
	kernels32 = floatKernels[float32]{vec.FillF32, vec.DivF32, vec.DivScalarF32, vec.F32ToU8s, vec.MaxF32, vec.ReLUF32}
	kernels64 = floatKernels[float64]{vec.FillF64, vec.DivF64, vec.DivScalarF64, func(dst []uint8, a []float64) {
		for i, v := range a {
			dst[i] = uint8(int(v))
		}
	}, vec.MaxF64, vec.ReLUF64}
)

func kernels[E float]() *floatKernels[E] {
	var k any = &kernels32
	if _, ok := k.(*floatKernels[E]); !ok {
		k = &kernels64
	}
	return k.(*floatKernels[E])
}

// taps pools memory of S in numbers of E: its kernels meet rows of results, all in E, with rows of memory. widen and
// narrow are nil where S is E.
type taps[E float, S cell] struct {
	*floatKernels[E]
	win    *vec.Windows[E, S]
	max    func(rows, cols int, dst []E, lddst int, a []S, lda int)
	maxAt  func(rows, cols int, dst []E, lddst int, at []E, ldat int, a []S, lda int, tap E)
	add    func(rows, cols int, dst []E, lddst int, a []S, lda int)
	grad   func(rows, cols int, dst []E, lddst int, grad []S, ldgrad int, at []uint8, ldat int, tap E)
	sum    func(a []S) E
	widen  func(dst []E, a []S)
	narrow func(dst []S, a []E)
}

// pooler is a taps of any types.
type pooler interface {
	avg(w *window, out, in *T, nd int)
	avgBackward(w *window, out, g *T, nd int)
	maxIndices(w *window, out, index, in *T, nd int)
	maxCodes(w *window, out, codes, in *T, nd int)
	codesBackward(w *window, out, g, codes *T, nd int)
	adaptiveAvg(w *window, out, in *T, nd int)
	adaptiveAvgBackward(w *window, out, g *T, nd int)
	adaptiveMax(w *window, out, index, in *T, nd int)
}

var poolers = map[tensor.DType]pooler{
	tensor.Float32: &taps[float32, float32]{&kernels32, &vec.WindowsF32, vec.MaxTapRowsF32, vec.MaxTapAtRowsF32,
		vec.AddTapRowsF32,
		vec.MaxTapGradRowsF32, vec.SumF32, nil, nil},
	tensor.Float64: &taps[float64, float64]{&kernels64, &vec.WindowsF64, vec.MaxTapRowsF64, vec.MaxTapAtRowsF64,
		vec.AddTapRowsF64,
		vec.MaxTapGradRowsF64, vec.SumF64, nil, nil},
	tensor.Float16: &taps[float32, uint16]{&kernels32, &vec.WindowsF16, vec.MaxTapRowsF16, vec.MaxTapAtRowsF16,
		vec.AddTapRowsF16,
		vec.MaxTapGradRowsF16, vec.SumF16, vec.F16ToF32s, vec.F32ToF16s},
	tensor.BFloat16: &taps[float32, uint16]{&kernels32, &vec.WindowsBF16, vec.MaxTapRowsBF16, vec.MaxTapAtRowsBF16,
		vec.AddTapRowsBF16,
		vec.MaxTapGradRowsBF16, vec.SumBF16, vec.BF16ToF32s, vec.F32ToBF16s},
}

// poolerFor is the pooler of a floating type; others are refused.
func poolerFor(c *Ctx, dt tensor.DType) pooler {
	p := poolers[dt]
	if p == nil {
		c.FailDType(tensor.ErrNotImpl, c.Op().Sch.Name, dt)
	}
	return p
}

// poolerOf is the taps of memory that holds numbers.
func poolerOf[E float]() *taps[E, E] {
	return poolers[tensor.DTypeOf[E]()].(*taps[E, E])
}

// load is a's numbers: a itself, or widened in buf.
func (k *taps[E, S]) load(a []S, buf []E) []E {
	if k.widen == nil {
		return *(*[]E)(unsafe.Pointer(&a))
	}
	k.widen(buf[:len(a)], a)
	return buf[:len(a)]
}

// place is where the numbers for d are to be computed: d itself or buf. store takes them from there.
func (k *taps[E, S]) place(d []S, buf []E) []E {
	if k.narrow == nil {
		return *(*[]E)(unsafe.Pointer(&d))
	}
	return buf[:len(d)]
}

func (k *taps[E, S]) store(d []S, v []E) {
	if k.narrow != nil {
		k.narrow(d, v)
	}
}

// room is n if numbers need room of their own, else 0.
func (k *taps[E, S]) room(n int) int {
	if k.widen == nil {
		return 0
	}
	return n
}

// cells is the memory of a dense tensor.
func cells[S cell](t *T) []S {
	if t.Numel() == 0 {
		return nil
	}
	return unsafe.Slice((*S)(tensor.Ptr(t)), t.Numel())
}

// dense is t's memory in a memory format.
func (k *taps[E, S]) dense(t *T, f tensor.MemoryFormat) []S {
	return cells[S](tensor.DenseIn(t, f, t.DType()))
}

// into runs f on memory for out in a memory format and leaves the result in out.
func (k *taps[E, S]) into(out *T, f tensor.MemoryFormat, run func(d []S)) {
	if out.IsContiguousFormat(f) {
		run(cells[S](out))
		return
	}
	w := tensor.NewStrided(out.Shape(), tensor.FormatStrides(out.Shape(), f), out.DType())
	run(cells[S](w))
	tensor.CopyRaw(out, w)
}

// borrow gives a task room for n numbers; the task calls back when it is done.
func borrow[E float](n int) (buf []E, back func()) {
	b := half.Borrow[E](n)
	return *b, func() { half.Return(b) }
}

// cut takes the first n elements off.
func cut[E any](b *[]E, n int) []E {
	r := (*b)[:n:n]
	*b = (*b)[n:]
	return r
}
