package reduce

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// expSum stands for the sum of e^x over the elements seen so far: sum times e^top, where top is the largest of them.
// Where that is infinite, sum is 1.
type expSum struct{ top, sum float64 }

func joinExpSums(a, b expSum) expSum {
	switch {
	case a.top == b.top:
		return expSum{a.top, a.sum + b.sum}
	case b.top > a.top || b.top != b.top:
		a, b = b, a
	}
	if a.top != a.top || b.sum == 0 {
		return a
	}
	return expSum{a.top, a.sum + b.sum*math.Exp(b.top-a.top)}
}

// lines are the steps of logsumexp for lines of an element type: the steps of one line, and of lines side by side,
// where tmp is as long as a row.
type expLines[E float] struct {
	max     func(s []E) E
	sum     func(s []E, top E) E
	maximum func(rows, cols int, dst []E, ldd int, a []E, lda int, b []E, ldb int)
	addExp  func(sum, a, top, tmp []E)
}

var (
	expKernF32 = expKern(expLines[float32]{vec.MaxF32, vec.SumExpF32, vec.MaximumRowsF32,
		func(sum, a, top, _ []float32) { vec.SumExpColumnsF32(sum, a, top) }})
	expKernF64 = expKern(expLines[float64]{vec.MaxF64, vec.SumExpF64, vec.MaximumRowsF64,
		func(sum, a, top, tmp []float64) {
			vec.SubF64(tmp, a, top)
			vec.ExpF64(tmp, tmp)
			vec.AddF64(sum, sum, tmp)
		}})
)

func expKern[E float](l expLines[E]) *kern[E, expSum] {
	return &kern[E, expSum]{init: expSum{top: math.Inf(-1)}, merge: joinExpSums,
		row: func(acc expSum, s []E) expSum {
			top := l.max(s)
			if math.IsInf(float64(top), 0) { // the difference to it would be NaN
				return joinExpSums(acc, expSum{float64(top), 1})
			}
			return joinExpSums(acc, expSum{float64(top), float64(l.sum(s, top))})
		},
		block: func(acc []expSum, s []E, rows, stride int) {
			n := len(acc)
			buf := half.Borrow[E](3 * n)
			defer half.Return(buf)
			top, sum, tmp := (*buf)[:n], (*buf)[n:2*n], (*buf)[2*n:]
			copy(top, s)
			if rows > 1 {
				l.maximum(rows-1, n, top, 0, top, 0, s[stride:], stride)
			}
			clear(sum)
			for r := range rows {
				l.addExp(sum, s[r*stride:][:n], top, tmp)
			}
			for i, t := range top {
				next := expSum{float64(t), float64(sum[i])}
				if math.IsInf(next.top, 0) {
					next.sum = 1
				}
				acc[i] = joinExpSums(acc[i], next)
			}
		}}
}

func logsumexp(c *Ctx) {
	o, x, l := c.Out(0), c.T(0).Detach(), c.Ints(1)
	red, _ := dims(c, x, l, c.Bool(2))
	if x.DType().IsIntOrBool() {
		x = cast(x, o.DType())
	}
	if x.DType().IsComplex() {
		if x.Numel() == 0 {
			tensor.CopyRaw(o, x.Exp().SumDim(l, tensor.SumDimOptions{KeepDim: c.Bool(2)}).Log())
			return
		}
		top := x.Real().Amax(tensor.AmaxOptions{Dim: l, KeepDim: true})
		top = op.ZeroWhere(top, top.Abs().EqScalar(math.Inf(1)))
		y := x.Sub(top).Exp().SumDim(l, tensor.SumDimOptions{KeepDim: true}).Log().Add(top)
		tensor.CopyRaw(o, y.Reshape(o.Shape()))
		return
	}
	if x.DType() == tensor.Float64 {
		logSums(o, x, red, expKernF64)
	} else {
		logSums(o, cast(x, tensor.Float32), red, expKernF32)
	}
}

func logSums[E float](o, x *T, red []bool, k *kern[E, expSum]) {
	writing[float64](o, func(w *T) {
		run(x, red, k, nil, func(at int, acc []expSum) {
			buf := half.Borrow[float64](len(acc))
			defer half.Return(buf)
			for i, a := range acc {
				(*buf)[i] = a.sum
			}
			vec.LogF64(*buf, *buf)
			for i, a := range acc {
				(*buf)[i] += a.top
			}
			write(w, at, *buf)
		})
	})
}

// lastOnly reports that g and y, the gradient and the result of logsumexp, have an element for each row of the last
// dimension of x.
func lastOnly(g, x, y *T) bool {
	d := x.Dim() - 1
	return d >= 0 && x.Numel() > 0 && g.Numel()*x.Size(d) == x.Numel() && y.Numel() == g.Numel() && y.Size(d) == 1
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "gotorch::logsumexp_backward(Tensor grad, Tensor self, Tensor result) -> Tensor", Go: "-",
		Doc: "is the gradient of logsumexp, grad * exp(self - result); grad and result have the reduced dimensions, " +
			"of size 1.",
		Body: func(c *Ctx) {
			c.Return(c.T(0).Mul(c.T(1).Sub(c.T(2)).Exp().Conj()))
		},
		Fuses: func(c *Ctx) bool {
			for i := range 3 {
				if c.ArgDType(i) != tensor.Float32 {
					return false
				}
			}
			return c.T(1).IsContiguous() && lastOnly(c.T(0), c.T(1), c.T(2))
		},
		Infer: func(c *Ctx) { c.Alloc(0, c.Shape(1), tensor.Float32) },
		CPU:   logsumexpBackward,
	})
}

// logsumexpBackward computes the gradient of logsumexp over the last dimension row by row.
func logsumexpBackward(c *Ctx) {
	x := c.T(1)
	n := x.Size(x.Dim() - 1)
	d, s, gs, ys := op.Raw[float32](c.Out(0)), op.Raw[float32](x), op.Raw[float32](tensor.Dense(c.T(0))),
		op.Raw[float32](tensor.Dense(c.T(2)))
	par.For(len(gs), max(1, grain/4/n), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			row := d[r*n:][:n]
			vec.ExpSumF32(row, s[r*n:][:n], ys[r])
			vec.MulScalarF32(row, row, gs[r])
		}
	})
}
