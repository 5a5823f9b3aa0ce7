package reduce

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func mulOf[A int64 | float64 | complex64 | complex128](a, b A) A { return a * b }

// chains multiplies a run to acc in four chains, which the processor works on side by side.
func chains[A int64 | complex64 | complex128](acc A, s []A) A {
	a, b, c, d := A(1), A(1), A(1), A(1)
	for ; len(s) >= 4; s = s[4:] {
		a, b, c, d = a*s[0], b*s[1], c*s[2], d*s[3]
	}
	for _, v := range s {
		acc *= v
	}
	return acc * a * b * (c * d)
}

// Kernels of the product; float32 is multiplied in float64.
var (
	prodF32 = kern[float32, float64]{init: 1,
		row:  func(acc float64, s []float32) float64 { return acc * vec.ProdF32As64(s) },
		rows: rowsOf(vec.ProdRowsF32As64, mulOf[float64]), merge: mulOf[float64], joins: vec.MulF64,
		block: vec.ProdDownF32As64}
	prodF64 = kern[float64, float64]{init: 1,
		row:  func(acc float64, s []float64) float64 { return acc * vec.ProdF64(s) },
		rows: rowsOf(vec.ProdRowsF64, mulOf[float64]), block: vec.ProdDownF64, merge: mulOf[float64], joins: vec.MulF64}
	prodI64 = kern[int64, int64]{init: 1, row: chains[int64], col: func(acc, s []int64) { vec.MulInt(acc, acc, s) },
		merge: mulOf[int64], joins: vec.MulInt[int64]}
)

func prodInto(o, t *T, red []bool) {
	t = cast(t, o.DType())
	switch dt := t.DType(); {
	case dt == tensor.Float64:
		into(o, t, red, &prodF64, nil)
	case dt.IsFloat():
		into(o, cast(t, tensor.Float32), red, &prodF32, nil)
	case dt == tensor.Complex64:
		into(o, t, red, prodC64, nil)
	case dt == tensor.Complex128:
		into(o, t, red, prodC128, nil)
	default:
		into(o, cast(t, tensor.Int64), red, &prodI64, nil)
	}
}

// prodBackward divides the product by the elements, or, where zeros forbid that, multiplies what stands before and
// behind each. As PyTorch does, it reads whether there are zeros, and assumes that there are on the meta device, which
// has no elements, and in a mapped function.
func prodBackward(g, x, y *T, dim int) *T {
	if x.Dim() == 0 {
		return g
	}
	if x.Device().Type != tensor.MetaDevice && !x.IsBatched() && x.All().Item() != 0 {
		return g.Mul(y.Div(x).Conj())
	}
	n := x.Size(dim)
	if n <= 1 {
		return g.Expand(x.Shape())
	}
	sh := append([]int(nil), x.Shape()...)
	sh[dim] = 1
	one := op.Full(x, sh, 1, x.DType())
	flip := func(x *T) *T { return op.Call1("aten::flip", x, []int{dim}) }
	cumprod := func(parts ...*T) *T { return op.Call1("aten::cumprod", op.Call1("aten::cat", parts, dim), dim) }
	before := cumprod(one, op.Call1("aten::narrow", x, dim, 0, n-1))
	behind := flip(cumprod(one, flip(op.Call1("aten::narrow", x, dim, 1, n-1))))
	return g.Mul(before.Mul(behind).Conj())
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", Out: true,
		Doc: "multiplies all elements. Integers and bool give " +
			"int64.\nhttps://pytorch.org/docs/stable/generated/torch.prod.html",
		Infer: func(c *Ctx) { c.Alloc(0, nil, fullSumType(c, c.DType(1))) },
		CPU:   func(c *Ctx) { prodInto(c.Out(0), c.T(0), allDims(c.T(0))) },
		Save:  "self result",
		VJP: func(c *Ctx, g *T) []*T {
			x := c.T(0)
			if dt := c.DType(1); dt != 0 {
				x = x.ToDType(dt)
			}
			if x.Dim() == 0 {
				return []*T{g}
			}
			return []*T{prodBackward(g, x.Reshape([]int{-1}), c.Out(0), 0).Reshape(c.Shape(0))}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
		Out:    true, FormNames: ".dim_int_out=.int_out", Go: "ProdDim",
		Doc: "multiplies along a dimension.",
		Infer: func(c *Ctx) {
			_, sh := dims(c, c.T(0), []int{c.Int(1)}, c.Bool(2))
			c.Alloc(0, sh, sumType(c, c.DType(3)))
		},
		CPU: func(c *Ctx) {
			red, _ := dims(c, c.T(0), []int{c.Int(1)}, c.Bool(2))
			prodInto(c.Out(0), c.T(0), red)
		},
		Save: "self result",
		VJP: func(c *Ctx, g *T) []*T {
			x, l, keep := c.T(0), []int{c.Int(1)}, c.Bool(2)
			if dt := c.DType(3); dt != 0 {
				x = x.ToDType(dt)
			}
			return []*T{prodBackward(unreduce(c, g, l, keep), x, unreduce(c, c.Out(0), l, keep),
				op.Wrap(c, c.Int(1), x.Dim()))}
		},
		Grad: "ProdBackward1",
	})
	tensor.Register(tensor.Def{
		Schema: "trace(Tensor self) -> Tensor", Out: true,
		Doc: "is the sum of a matrix's diagonal.\nhttps://pytorch.org/docs/stable/generated/torch.trace.html",
		Infer: func(c *Ctx) {
			t := c.T(0)
			if t.Dim() != 2 {
				c.Fail(tensor.ErrShape, "trace: expected a matrix, but got tensor with dim %d", t.Dim())
			}
			if t.DType() == tensor.Bool {
				c.FailDType(tensor.ErrNotImpl, "trace", tensor.Bool)
			}
			c.Alloc(0, nil, fullSumType(c, 0))
		},
		CPU: func(c *Ctx) {
			t := c.T(0)
			if n, step := min(t.Size(0), t.Size(1)), t.Stride(0)+t.Stride(1); n > 0 && step >= 0 {
				switch t.DType() {
				case tensor.Float32:
					*(*float32)(tensor.Ptr(c.Out(0))) = float32(stridedSum((*float32)(tensor.Ptr(t)), n, step))
					return
				case tensor.Float64:
					*(*float64)(tensor.Ptr(c.Out(0))) = stridedSum((*float64)(tensor.Ptr(t)), n, step)
					return
				}
			}
			d := tensor.Alias(t, []int{min(t.Size(0), t.Size(1))}, []int{t.Stride(0) + t.Stride(1)}, t.StorageOffset())
			sumInto(c.Out(0), d, []bool{true}, false, 1)
		},
		VJP: func(c *Ctx, g *T) []*T {
			sh := c.Shape(0)
			return []*T{op.Call1("aten::diagonal_backward", g.Expand([]int{min(sh[0], sh[1])}), sh, 0, 0, 1)}
		},
	})
}

// stridedSum adds up n numbers that lie step apart, in four sums side by side: they wait for memory together.
func stridedSum[E float32 | float64](p *E, n, step int) float64 {
	x := unsafe.Slice(p, (n-1)*step+1)
	var s [4]float64
	i := 0
	for ; i+4 <= n; i += 4 {
		at := x[i*step:]
		s[0] += float64(at[0])
		s[1] += float64(at[step])
		s[2] += float64(at[2*step])
		s[3] += float64(at[3*step])
	}
	for ; i < n; i++ {
		s[0] += float64(x[i*step])
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}
