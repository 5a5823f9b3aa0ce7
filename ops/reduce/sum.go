package reduce

import (
	"sync"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// dims resolves a dimension list (empty: all) and gives the shape of the result.
func dims(c *Ctx, t *T, list []int, keep bool) (reduced []bool, shape []int) {
	reduced = make([]bool, t.Dim())
	seen := 0
	for _, d := range list {
		d = op.Wrap(c, d, t.Dim())
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
	sumF32 = kern[float32, float64]{row: blocksOf(vec.SumF32), rows: rowsOf(vec.SumRowsF32, plusF32),
		block: columnsF32(vec.SumDownF32), merge: add[float64], joins: vec.AddF64}
	sumF64 = kern[float64, float64]{row: func(acc float64, s []float64) float64 { return acc + vec.SumF64(s) },
		rows: rowsOf(vec.SumRowsF64, add[float64]), block: vec.SumDownF64, merge: add[float64], joins: vec.AddF64}
	sumI64 = kern[int64, int64]{row: sumWhole[int64], few: sumFew[int64], rows: rowsOf(vec.SumRowsI64, add[int64]),
		block: func(acc, s []int64, rows, stride int) { vec.AddColumnsI64(acc, s, rows, len(acc), stride) },
		merge: add[int64], joins: vec.AddInt[int64]}
	sumI16 = wholeSum[int16]()
	sumI8  = wholeSum[int8]()
	sumU8  = wholeSum[uint8]()
	// 16-bit floats are added up like float32.
	sumHalf = [2]*kern[uint16, float64]{halfSum(vec.SumF16, vec.SumRows16[0], vec.SumDownF16),
		halfSum(vec.SumBF16, vec.SumRows16[1], vec.SumDownBF16)}
	// Columns of at most groupRows elements stay float32.
	fewF32  = fewSum(vec.SumF32, vec.SumDownF32)
	fewHalf = [2]*kern[uint16, float32]{fewSum(vec.SumF16, vec.SumDownF16), fewSum(vec.SumBF16, vec.SumDownBF16)}
	// What is NaN counts as zero.
	nansumF32 = kern[float32, float64]{row: blocksOf(vec.SumNumbersF32), rows: rowsOf(vec.SumNumbersRowsF32, plusF32),
		block: columnsF32(vec.SumNumbersDownF32), merge: add[float64], joins: vec.AddF64}
	nansumF64 = kern[float64, float64]{row: func(acc float64, s []float64) float64 {
		return acc +
			vec.SumNumbersF64(s)
	},
		rows: rowsOf(vec.SumNumbersRowsF64, add[float64]), block: vec.SumNumbersDownF64, merge: add[float64],
		joins: vec.AddF64}
	nansumHalf = [2]*kern[uint16, float64]{halfSum(vec.SumNumbers16[0], vec.SumNumbersRows16[0], vec.SumNumbersDownF16),
		halfSum(vec.SumNumbers16[1], vec.SumNumbersRows16[1], vec.SumNumbersDownBF16)}
)

func add[A int64 | float32 | float64](a, b A) A { return a + b }

func plusF32(acc float64, r float32) float64 { return acc + float64(r) }

// blocksOf makes the form for a row of a sum in float32: blocks, which are joined in float64.
func blocksOf[E any](sum func(s []E) float32) func(acc float64, s []E) float64 {
	return func(acc float64, s []E) float64 {
		for len(s) > rowShort {
			acc += float64(sum(s[:rowShort]))
			s = s[rowShort:]
		}
		return acc + float64(sum(s))
	}
}

// groupRows is the number of rows that are joined in float32 before they meet the accumulators.
const groupRows = 16

// columnsF32 makes the form for columns, from the kernel that adds rows: joining some in float32 is what keeps up with
// memory.
func columnsF32[E any](addRows func(dst []float32, a []E, rows, lda int)) func(acc []float64, s []E, rows, stride int) {
	return func(acc []float64, s []E, rows, stride int) {
		buf := columnBuffers.Get().(*[colTile]float32)
		sum := buf[:len(acc)]
		for r := 0; r < rows; r += groupRows {
			clear(sum)
			addRows(sum, s[r*stride:], min(groupRows, rows-r), stride)
			vec.AccumulateF32ToF64(acc, sum)
		}
		columnBuffers.Put(buf)
	}
}

// columnBuffers are kept, because clearing new ones takes longer than summing a few short rows.
var columnBuffers = sync.Pool{New: func() any { return new([colTile]float32) }}

// halfSum makes the kernel of a 16-bit float from those of a slice, of rows and of columns.
func halfSum(sum func(s []uint16) float32, rows func(dst []float32, a []uint16, rows, cols, lda int),
	addRows func(dst []float32, a []uint16, rows, lda int)) *kern[uint16, float64] {
	return &kern[uint16, float64]{row: blocksOf(sum), rows: rowsOf(rows, plusF32), block: columnsF32(addRows),
		merge: add[float64], joins: vec.AddF64}
}

// fewSum makes the kernel of such columns from those of a slice and of columns.
func fewSum[E any](sum func(s []E) float32, down func(dst []float32, a []E, rows, lda int)) *kern[E, float32] {
	return &kern[E, float32]{row: func(acc float32, s []E) float32 { return acc + sum(s) }, block: down,
		merge: add[float32], joins: vec.AddF32}
}

// fewRows reports sums of columns of at most groupRows elements each.
func fewRows(t *T, red []bool) bool {
	n, columns := 1, false
	for d, r := range red {
		if r {
			n *= t.Size(d)
		}
		if t.Stride(d) == 1 && t.Size(d) > 1 {
			columns = !r
		}
	}
	return columns && n <= groupRows
}

// sumInto computes a sum in the result's dtype (elements are cast to it first, as PyTorch does). Sums of floats are
// divided by n.
func sumInto(o, t *T, red []bool, skipNaN bool, n int) {
	if t.DType() != o.DType() && !(t.DType().IsReduced() && o.DType() == tensor.Float32) &&
		!(t.DType().IsIntOrBool() && o.DType() == tensor.Int64) {
		t = cast(t, o.DType())
	}
	var scale func(sums []float64)
	var scaleFew func(sums []float32)
	if n != 1 {
		scale = func(sums []float64) { vec.DivScalarF64(sums, sums, float64(n)) }
		scaleFew = func(sums []float32) { vec.DivScalarF32(sums, sums, float32(n)) }
	}
	switch dt := t.DType(); {
	case dt == tensor.Float64:
		into(o, t, red, op.Pick(skipNaN, &nansumF64, &sumF64), scale)
	case dt.IsReduced() && !skipNaN && fewRows(t, red):
		into(o, t, red, op.Pick(dt == tensor.BFloat16, fewHalf[1], fewHalf[0]), scaleFew)
	case dt.IsReduced():
		k := op.Pick(skipNaN, nansumHalf, sumHalf)
		into(o, t, red, op.Pick(dt == tensor.BFloat16, k[1], k[0]), scale)
	case dt == tensor.Float32 && !skipNaN && fewRows(t, red):
		into(o, t, red, fewF32, scaleFew)
	case dt.IsFloat():
		into(o, cast(t, tensor.Float32), red, op.Pick(skipNaN, &nansumF32, &sumF32), scale)
	case dt == tensor.Complex64:
		into(o, t, red, sumC64, partwise(scale))
	case dt == tensor.Complex128:
		into(o, t, red, sumC128, partwise(scale))
	case dt == tensor.Bool:
		ask(o, t, red, howMany)
	case dt == tensor.Uint8:
		into(o, t, red, sumU8, nil)
	case dt == tensor.Int8:
		into(o, t, red, sumI8, nil)
	case dt == tensor.Int16:
		into(o, t, red, sumI16, nil)
	case dt == tensor.Int32:
		into(o, t, red, sumI32, nil)
	default:
		into(o, cast(t, tensor.Int64), red, &sumI64, nil)
	}
}

// sumType is the dtype of a sum or product over dimensions: the one asked for, that of out=, or fullSumType.
func sumType(c *Ctx, asked tensor.DType) tensor.DType {
	if g := c.GivenOut(0); g != nil && asked == 0 {
		return g.DType()
	}
	return fullSumType(c, asked)
}

// fullSumType is the dtype of a sum or product of all elements: the one asked for, int64 for integers and bool.
func fullSumType(c *Ctx, asked tensor.DType) tensor.DType {
	if asked != 0 {
		return asked
	}
	t := c.T(0)
	if t.DType().IsIntOrBool() {
		return tensor.Int64
	}
	return t.DType()
}

func meanType(c *Ctx, t *T, asked tensor.DType) tensor.DType {
	name := c.Op().Sch.Name
	if asked != 0 {
		if asked.IsIntOrBool() {
			c.Fail(tensor.ErrDType, "%s(): could not infer output dtype. Optional dtype must be either a floating "+
				"point or complex dtype. Got: %s", name, asked.ClassName())
		}
		return asked
	}
	if t.DType().IsIntOrBool() {
		c.Fail(tensor.ErrDType, "%s(): could not infer output dtype. Input dtype must be either a floating point or "+
			"complex dtype. Got: %s", name, t.DType().ClassName())
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

// mean is a sum divided by the number of elements, NaN where there are none.
func mean(o, t *T, red []bool) {
	n := 1
	for i, r := range red {
		if r {
			n *= t.Size(i)
		}
	}
	sumInto(o, t, red, false, n)
}

// expandMost is the number of elements up to which a gradient that is not recorded is expanded into memory of its own:
// most gradient rules that read it are faster with contiguous elements than with elements that repeat.
const expandMost = 4096

// expand is g expanded to a shape.
func expand(g *T, shape []int) *T {
	c := tensor.NewCall(opExpandDense, 2)
	*c.Arg(0), *c.Arg(1) = tensor.TensorValue(g), tensor.IntsValue(shape)
	return c.Do1()
}

var opExpandDense = tensor.Slot("gotorch::expand_dense")

func init() {
	tensor.Register(tensor.Def{
		Schema: "gotorch::expand_dense(Tensor self, int[] size) -> Tensor", Go: "-",
		Doc: "expands a tensor: small ones into memory of their own, others, and wherever a layer looks on, as a " +
			"view.",
		Body:  func(c *Ctx) { c.Return(c.T(0).Expand(c.Ints(1))) },
		Fuses: func(c *Ctx) bool { return reducedCount(c.Ints(1), nil) <= expandMost },
		Infer: func(c *Ctx) {
			to, from := c.Ints(1), c.Shape(0)
			lead := len(to) - len(from)
			for i, n := range from {
				if lead < 0 || n != 1 && n != to[lead+i] {
					c.Fail(tensor.ErrShape, "gotorch::expand_dense: a tensor of shape %s does not expand to %s",
						tensor.ShapeString(from), tensor.ShapeString(to))
				}
			}
			c.Alloc(0, to, c.ArgDType(0))
		},
		CPU: func(c *Ctx) { tensor.CopyRaw(c.Out(0), c.T(0)) },
	})
	tensor.Register(tensor.Def{
		Schema: "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
		Doc: "sums all elements. Integers and bool sum to " +
			"int64.\nhttps://pytorch.org/docs/stable/generated/torch.sum.html",
		Out:   true,
		Infer: func(c *Ctx) { c.Alloc(0, nil, fullSumType(c, c.DType(1))) },
		CPU:   func(c *Ctx) { sumInto(c.Out(0), c.T(0), allDims(c.T(0)), false, 1) },
		VJP:   func(c *Ctx, g *T) []*T { return c.Grads1(expand(g, c.Shape(0))) },
		AMP:   tensor.AMPFP32,
	})
	tensor.Register(tensor.Def{
		Schema:    "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
		FormNames: ".dim_IntList_out=.IntList_out",
		Doc: "sums over dimensions (none given: all). Integers and bool sum to " +
			"int64.\nhttps://pytorch.org/docs/stable/generated/torch.sum.html",
		Out: true,
		Infer: func(c *Ctx) {
			_, sh := dims(c, c.T(0), c.Ints(1), c.Bool(2))
			c.Alloc(0, sh, sumType(c, c.DType(3)))
		},
		CPU: func(c *Ctx) {
			red, _ := dims(c, c.T(0), c.Ints(1), c.Bool(2))
			sumInto(c.Out(0), c.T(0), red, false, 1)
		},
		VJP: func(c *Ctx, g *T) []*T {
			return c.Grads1(expand(unreduce(c, g, c.Ints(1), c.Bool(2)), c.Shape(0)))
		},
		Grad: "SumBackward1",
		AMP:  tensor.AMPFP32,
	})
	tensor.Register(tensor.Def{
		Schema: "mean(Tensor self, *, ScalarType? dtype=None) -> Tensor",
		Doc: "is the mean of all elements of a floating-point or complex tensor, NaN when there are " +
			"none.\nhttps://pytorch.org/docs/stable/generated/torch.mean.html",
		Infer: func(c *Ctx) { c.Alloc(0, nil, meanType(c, c.T(0), c.DType(1))) },
		CPU:   func(c *Ctx) { mean(c.Out(0), c.T(0), allDims(c.T(0))) },
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{expand(g.DivScalar(reducedCount(c.Shape(0), nil)), c.Shape(0))}
		},
	})
	tensor.Register(tensor.Def{
		Schema:    "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
		FormNames: ".dim_out=.out",
		Doc: "is the mean over dimensions (none given: " +
			"all).\nhttps://pytorch.org/docs/stable/generated/torch.mean.html",
		Out: true,
		Infer: func(c *Ctx) {
			_, sh := dims(c, c.T(0), c.Ints(1), c.Bool(2))
			c.Alloc(0, sh, meanType(c, c.T(0), c.DType(3)))
		},
		CPU: func(c *Ctx) {
			red, _ := dims(c, c.T(0), c.Ints(1), c.Bool(2))
			mean(c.Out(0), c.T(0), red)
		},
		VJP: func(c *Ctx, g *T) []*T {
			g = unreduce(c, g, c.Ints(1), c.Bool(2)).DivScalar(reducedCount(c.Shape(0), c.Ints(1)))
			return []*T{expand(g, c.Shape(0))}
		},
		Grad: "MeanBackward1",
	})
	tensor.Register(tensor.Def{
		Schema: "nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
		Doc: "sums over dimensions (none given: all), counting NaN as " +
			"zero.\nhttps://pytorch.org/docs/stable/generated/torch.nansum.html",
		Out: true,
		Infer: func(c *Ctx) {
			if c.ArgDType(0).IsComplex() {
				c.Fail(tensor.ErrDType, "nansum does not support complex inputs")
			}
			_, sh := dims(c, c.T(0), c.Ints(1), c.Bool(2))
			c.Alloc(0, sh, sumType(c, c.DType(3)))
		},
		CPU: func(c *Ctx) {
			red, _ := dims(c, c.T(0), c.Ints(1), c.Bool(2))
			t := c.T(0)
			if c.Out(0).DType().IsIntOrBool() && t.DType().IsFloat() { // which has no NaN
				t = op.ZeroWhere(t, t.IsNaN())
			}
			sumInto(c.Out(0), t, red, true, 1)
		},
		Save: "self",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{unreduce(c, g, c.Ints(1), c.Bool(2)).Expand(c.Shape(0)).Mul(c.T(0).IsNaN().LogicalNot())}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
		Doc: "is the mean over dimensions (none given: all) of the elements that are not " +
			"NaN.\nhttps://pytorch.org/docs/stable/generated/torch.nanmean.html",
		Out: true,
		Body: func(c *Ctx) {
			x := c.T(0)
			if x.DType().IsIntOrBool() {
				c.Fail(tensor.ErrDType, "nanmean(): expected input to have floating point or complex dtype but got %s",
					x.DType().ClassName())
			}
			n := x.Detach().IsNaN().LogicalNot().SumDim(c.Ints(1), tensor.SumDimOptions{KeepDim: c.Bool(2)})
			c.Return(x.NaNSum(tensor.NaNSumOptions{Dim: c.Ints(1), KeepDim: c.Bool(2), DType: c.DType(3)}).Div(n))
		},
	})
}
