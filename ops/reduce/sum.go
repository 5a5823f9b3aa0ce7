package reduce

import (
	"math"
	"sync"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/tensor"
)

// dims resolves a dimension list (empty: all) and gives the shape of the result.
func dims(c *Ctx, t *T, list []int, keep bool) (reduced []bool, shape []int) {
	reduced = make([]bool, t.Dim())
	seen := 0
	for _, d := range list {
		d = wrap(c, d, t.Dim())
		if t.Dim() == 0 {
			if seen++; seen > 1 {
				c.Fail(tensor.ErrValue, "dim %d appears multiple times in the list of dims", d)
			}
			continue
		}
		if reduced[d] {
			c.Fail(tensor.ErrValue, "dim %d appears multiple times in the list of dims", d)
		}
		reduced[d] = true
	}
	shape = make([]int, 0, t.Dim())
	for i, s := range t.Shape() {
		reduced[i] = reduced[i] || len(list) == 0
		switch {
		case !reduced[i]:
			shape = append(shape, s)
		case keep:
			shape = append(shape, 1)
		}
	}
	return reduced, shape
}

// wrap counts a negative dimension from the end.
func wrap(c *Ctx, d, nd int) int {
	n := max(nd, 1)
	if d < -n || d >= n {
		c.Fail(tensor.ErrIndex, "Dimension out of range (expected to be in range of [%d, %d], but got %d)", -n, n-1, d)
	}
	if d < 0 {
		d += n
	}
	return d
}

// unreduce gives a reduced gradient its dimensions back, of size 1.
func unreduce(c *Ctx, g *T, list []int, keep bool) *T {
	if keep || len(c.Shape(0)) == 0 {
		return g
	}
	sh := append([]int(nil), c.Shape(0)...)
	for i := range sh {
		if len(list) == 0 {
			sh[i] = 1
		}
	}
	for _, d := range list {
		sh[tensor.WrapDim(d, len(sh))] = 1
	}
	return g.Reshape(sh)
}

// reducedCount is the number of elements that went into each element of the result.
func reducedCount(shape, list []int) int {
	n := 1
	if len(list) == 0 {
		for _, s := range shape {
			n *= s
		}
		return n
	}
	if len(shape) > 0 {
		for _, d := range list {
			n *= shape[tensor.WrapDim(d, len(shape))]
		}
	}
	return n
}

// Kernels of sum. Blocks of float32 are added up with vector lanes and joined in float64, which is more exact than
// PyTorch's cascade and as fast.
var (
	sumF32 = kern[float32, float64]{row: sumRowF32, col: func(acc []float64, s []float32) { vec.AccumulateF32ToF64(acc, s) },
		block: sumRowsF32, merge: add[float64]}
	sumF64 = kern[float64, float64]{row: func(acc float64, s []float64) float64 { return acc + vec.SumF64(s) },
		col: func(acc, s []float64) { vec.AddF64(acc, acc, s) }, merge: add[float64]}
	sumI64  = kern[int64, int64]{row: sumRow[int64, int64], col: sumCol[int64, int64], merge: add[int64]}
	sumI32  = kern[int32, int64]{row: sumRow[int32, int64], col: sumCol[int32, int64], merge: add[int64]}
	sumI16  = kern[int16, int64]{row: sumRow[int16, int64], col: sumCol[int16, int64], merge: add[int64]}
	sumI8   = kern[int8, int64]{row: sumRow[int8, int64], col: sumCol[int8, int64], merge: add[int64]}
	sumU8   = kern[uint8, int64]{row: sumRow[uint8, int64], col: sumCol[uint8, int64], merge: add[int64]}
	sumC128 = kern[complex128, complex128]{row: func(acc complex128, s []complex128) complex128 {
		for _, v := range s {
			acc += v
		}
		return acc
	}, col: func(acc, s []complex128) {
		for i, v := range s {
			acc[i] += v
		}
	}, merge: add[complex128]}
	// 16-bit floats are added up like float32.
	sumHalf   = [2]*kern[uint16, float64]{halfSum(vec.SumF16, vec.F16ToF32s), halfSum(vec.SumBF16, vec.BF16ToF32s)}
	nansumF32 = kern[float32, float64]{row: nansumRowF32, col: nansumColF32, merge: add[float64]}
	nansumF64 = kern[float64, float64]{row: nansumRowF64, col: nansumColF64, merge: add[float64]}
)

func add[A int64 | float64 | complex128](a, b A) A { return a + b }

// sumRowsF32 joins sixteen rows in float32 before they meet the accumulators: that is what keeps up with memory.
func sumRowsF32(acc []float64, s []float32, rows, stride int) {
	const group = 16
	n := len(acc)
	buf := columnBuffers.Get().(*[2][colTile]float32)
	sum := buf[0][:n]
	for r := 0; r < rows; r += group {
		m := min(group, rows-r)
		copy(sum, s[r*stride:][:n])
		if m > 1 {
			vec.AddTapRowsF32(m-1, n, sum, 0, s[(r+1)*stride:], stride)
		}
		vec.AccumulateF32ToF64(acc, sum)
	}
	columnBuffers.Put(buf)
}

// columnBuffers are kept, because clearing new ones takes longer than summing a few short rows.
var columnBuffers = sync.Pool{New: func() any { return new([2][colTile]float32) }}

func sumRowF32(acc float64, s []float32) float64 {
	const block = 4096
	for len(s) > block {
		acc += float64(vec.SumF32(s[:block]))
		s = s[block:]
	}
	return acc + float64(vec.SumF32(s))
}

// halfSum makes the kernel of a 16-bit float. Columns are widened first: their sums meet float64 accumulators.
func halfSum(sum func(s []uint16) float32, widen func(dst []float32, s []uint16)) *kern[uint16, float64] {
	return &kern[uint16, float64]{
		row: func(acc float64, s []uint16) float64 {
			const block = 4096
			for len(s) > block {
				acc += float64(sum(s[:block]))
				s = s[block:]
			}
			return acc + float64(sum(s))
		},
		block: func(acc []float64, s []uint16, rows, stride int) {
			const group = 16
			n := len(acc)
			buf := columnBuffers.Get().(*[2][colTile]float32)
			sum, wide := buf[0][:n], buf[1][:n]
			for r := 0; r < rows; r++ {
				if r%group == 0 {
					if r > 0 {
						vec.AccumulateF32ToF64(acc, sum)
					}
					widen(sum, s[r*stride:][:n])
					continue
				}
				widen(wide, s[r*stride:][:n])
				vec.AddF32(sum, sum, wide)
			}
			vec.AccumulateF32ToF64(acc, sum)
			columnBuffers.Put(buf)
		},
		merge: add[float64],
	}
}

// wholeNumber are the types that sum to int64.
type wholeNumber interface {
	uint8 | int8 | int16 | int32 | int64
}

func sumRow[E wholeNumber, A int64](acc A, s []E) A { return acc + A(vec.SumInt(s)) }

func sumCol[E wholeNumber, A int64](acc []A, s []E) {
	acc = acc[:len(s)]
	for i, v := range s {
		acc[i] += A(v)
	}
}

// A sum that is a number has no NaN in it, which most data have not: only where there is one the elements are looked at.

func nansumRowF32(acc float64, s []float32) float64 {
	for len(s) > 0 {
		n := min(len(s), 1024)
		if sum := vec.SumF32(s[:n]); sum == sum {
			acc += float64(sum)
		} else {
			acc = nansumSlow(acc, s[:n])
		}
		s = s[n:]
	}
	return acc
}

func nansumRowF64(acc float64, s []float64) float64 {
	for len(s) > 0 {
		n := min(len(s), 1024)
		if sum := vec.SumF64(s[:n]); sum == sum {
			acc += sum
		} else {
			acc = nansumSlow(acc, s[:n])
		}
		s = s[n:]
	}
	return acc
}

func nansumSlow[E float32 | float64](acc float64, s []E) float64 {
	for _, v := range s {
		if v == v {
			acc += float64(v)
		}
	}
	return acc
}

func nansumColF32(acc []float64, s []float32) {
	if sum := vec.SumF32(s); sum == sum {
		vec.AccumulateF32ToF64(acc, s)
		return
	}
	nansumColSlow(acc, s)
}

func nansumColF64(acc, s []float64) {
	if sum := vec.SumF64(s); sum == sum {
		vec.AddF64(acc, acc, s)
		return
	}
	nansumColSlow(acc, s)
}

func nansumColSlow[E float32 | float64](acc []float64, s []E) {
	acc = acc[:len(s)]
	for i, v := range s {
		if v == v {
			acc[i] += float64(v)
		}
	}
}

// sumInto computes a sum in the result's dtype (elements are cast to it first, as PyTorch does), multiplied by scale for floats.
func sumInto(o, t *T, red []bool, skipNaN bool, scale func(float64) float64) {
	if t.DType() != o.DType() && !(t.DType().IsReduced() && o.DType() == tensor.Float32) && !(t.DType().IsIntOrBool() && o.DType() == tensor.Int64) {
		t = cast(t, o.DType())
	}
	switch dt := t.DType(); {
	case dt == tensor.Float64:
		k := &sumF64
		if skipNaN {
			k = &nansumF64
		}
		acc := run(t, red, k)
		apply(acc, scale)
		store(o, acc)
	case dt.IsReduced() && !skipNaN:
		k := sumHalf[0]
		if dt == tensor.BFloat16 {
			k = sumHalf[1]
		}
		acc := run(t, red, k)
		apply(acc, scale)
		store(o, acc)
	case dt.IsFloat():
		k := &sumF32
		if skipNaN {
			k = &nansumF32
		}
		acc := run(cast(t, tensor.Float32), red, k)
		apply(acc, scale)
		store(o, acc)
	case dt.IsComplex():
		acc := run(cast(t, tensor.Complex128), red, &sumC128)
		if scale != nil {
			f := complex(scale(1), 0)
			for i := range acc {
				acc[i] *= f
			}
		}
		store(o, acc)
	case dt == tensor.Bool || dt == tensor.Uint8:
		store(o, run(t, red, &sumU8))
	case dt == tensor.Int8:
		store(o, run(t, red, &sumI8))
	case dt == tensor.Int16:
		store(o, run(t, red, &sumI16))
	case dt == tensor.Int32:
		store(o, run(t, red, &sumI32))
	default:
		store(o, run(cast(t, tensor.Int64), red, &sumI64))
	}
}

func apply(acc []float64, f func(float64) float64) {
	if f != nil {
		for i, v := range acc {
			acc[i] = f(v)
		}
	}
}

// sumType is the dtype of a sum or product: the one asked for, int64 for integers and bool.
func sumType(t *T, asked tensor.DType) tensor.DType {
	if asked != 0 {
		return asked
	}
	if t.DType().IsIntOrBool() {
		return tensor.Int64
	}
	return t.DType()
}

func meanType(c *Ctx, t *T, asked tensor.DType) tensor.DType {
	name := c.Op().Sch.Name
	if asked != 0 {
		if asked.IsIntOrBool() {
			c.Fail(tensor.ErrDType, "%s(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. Got: %s", name, asked.ClassName())
		}
		return asked
	}
	if t.DType().IsIntOrBool() {
		c.Fail(tensor.ErrDType, "%s(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: %s", name, t.DType().ClassName())
	}
	return t.DType()
}

func allDims(t *T) []bool {
	r := make([]bool, t.Dim())
	for i := range r {
		r[i] = true
	}
	return r
}

func mean(c *Ctx, red []bool) {
	t := c.T(0)
	n := 1
	for i, r := range red {
		if r {
			n *= t.Size(i)
		}
	}
	div := float64(n)
	sumInto(c.Out(0), t, red, false, func(v float64) float64 {
		if n == 0 {
			return math.NaN()
		}
		return v / div
	})
}

// spread is g, expanded to a shape. A small result that is not recorded is written out, because most rules would have to do that.
func spread(g *T, shape []int) *T {
	n := 1
	for _, s := range shape {
		n *= s
	}
	if n > 4096 || tensor.IsGradEnabled() {
		return g.Expand(shape)
	}
	t := tensor.New(shape, g.DType())
	tensor.CopyRaw(t, g)
	return t
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
		Doc:    "sums all elements. Integers and bool sum to int64.\nhttps://pytorch.org/docs/stable/generated/torch.sum.html",
		Out:    true,
		Infer:  func(c *Ctx) { c.Alloc(0, nil, sumType(c.T(0), c.DType(1))) },
		CPU:    func(c *Ctx) { sumInto(c.Out(0), c.T(0), allDims(c.T(0)), false, nil) },
		VJP:    func(c *Ctx, g *T) []*T { return c.Grads1(spread(g, c.Shape(0))) },
		AMP:    tensor.AMPFP32,
	})
	tensor.Register(tensor.Def{
		Schema: "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
		Doc:    "sums over dimensions (none given: all). Integers and bool sum to int64.\nhttps://pytorch.org/docs/stable/generated/torch.sum.html",
		Out:    true,
		Infer: func(c *Ctx) {
			_, sh := dims(c, c.T(0), c.Ints(1), c.Bool(2))
			c.Alloc(0, sh, sumType(c.T(0), c.DType(3)))
		},
		CPU: func(c *Ctx) {
			red, _ := dims(c, c.T(0), c.Ints(1), c.Bool(2))
			sumInto(c.Out(0), c.T(0), red, false, nil)
		},
		VJP: func(c *Ctx, g *T) []*T {
			return c.Grads1(spread(unreduce(c, g, c.Ints(1), c.Bool(2)), c.Shape(0)))
		},
		Grad: "SumBackward1",
		AMP:  tensor.AMPFP32,
	})
	tensor.Register(tensor.Def{
		Schema: "mean(Tensor self, *, ScalarType? dtype=None) -> Tensor",
		Doc:    "is the mean of all elements of a floating-point or complex tensor, NaN when there are none.\nhttps://pytorch.org/docs/stable/generated/torch.mean.html",
		Infer:  func(c *Ctx) { c.Alloc(0, nil, meanType(c, c.T(0), c.DType(1))) },
		CPU:    func(c *Ctx) { mean(c, allDims(c.T(0))) },
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{spread(g.DivScalar(reducedCount(c.Shape(0), nil)), c.Shape(0))}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
		Doc:    "is the mean over dimensions (none given: all).\nhttps://pytorch.org/docs/stable/generated/torch.mean.html",
		Out:    true,
		Infer: func(c *Ctx) {
			_, sh := dims(c, c.T(0), c.Ints(1), c.Bool(2))
			c.Alloc(0, sh, meanType(c, c.T(0), c.DType(3)))
		},
		CPU: func(c *Ctx) {
			red, _ := dims(c, c.T(0), c.Ints(1), c.Bool(2))
			mean(c, red)
		},
		VJP: func(c *Ctx, g *T) []*T {
			g = unreduce(c, g, c.Ints(1), c.Bool(2)).DivScalar(reducedCount(c.Shape(0), c.Ints(1)))
			return []*T{spread(g, c.Shape(0))}
		},
		Grad: "MeanBackward1",
	})
	tensor.Register(tensor.Def{
		Schema: "nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
		Doc:    "sums over dimensions (none given: all), counting NaN as zero.\nhttps://pytorch.org/docs/stable/generated/torch.nansum.html",
		Out:    true,
		Infer: func(c *Ctx) {
			if c.ArgDType(0).IsComplex() {
				c.Fail(tensor.ErrDType, "nansum does not support complex inputs")
			}
			_, sh := dims(c, c.T(0), c.Ints(1), c.Bool(2))
			c.Alloc(0, sh, sumType(c.T(0), c.DType(3)))
		},
		CPU: func(c *Ctx) {
			red, _ := dims(c, c.T(0), c.Ints(1), c.Bool(2))
			sumInto(c.Out(0), c.T(0), red, true, nil)
		},
		Save: "self",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{unreduce(c, g, c.Ints(1), c.Bool(2)).Expand(c.Shape(0)).Mul(c.T(0).IsNaN().LogicalNot())}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
		Doc:    "is the mean over dimensions (none given: all) of the elements that are not NaN.\nhttps://pytorch.org/docs/stable/generated/torch.nanmean.html",
		Out:    true,
		Body: func(c *Ctx) {
			x := c.T(0)
			if x.DType().IsIntOrBool() {
				c.Fail(tensor.ErrDType, "nanmean(): expected input to have floating point or complex dtype but got %s", x.DType().ClassName())
			}
			n := x.Detach().IsNaN().LogicalNot().SumDim(c.Ints(1), tensor.SumDimOptions{KeepDim: c.Bool(2)})
			c.Return(x.NaNSum(tensor.NaNSumOptions{Dim: c.Ints(1), KeepDim: c.Bool(2), DType: c.DType(3)}).Div(n))
		},
	})
}
