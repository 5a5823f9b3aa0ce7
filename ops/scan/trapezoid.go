package scan

import (
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// steps shapes the sample points for y and gives their distances.
func steps(c *Ctx, y, x *T, d int) *T {
	if x.DType() == tensor.Bool || y.DType() == tensor.Bool {
		c.Fail(tensor.ErrDType, "%s: received a bool input for `x` or `y`, but bool is not supported", c.Op().Sch.Name)
	}
	switch {
	case x.Dim() == 1:
		if x.Size(0) != y.Size(d) {
			c.Fail(tensor.ErrShape, "%s: There must be one `x` value for each sample point", c.Op().Sch.Name)
		}
		sh := make([]int, y.Dim())
		for i := range sh {
			sh[i] = 1
		}
		sh[d] = x.Size(0)
		x = x.Reshape(sh)
	case x.Dim() < y.Dim():
		sh := make([]int, y.Dim()-x.Dim())
		for i := range sh {
			sh[i] = 1
		}
		x = x.Reshape(append(sh, x.Shape()...))
	}
	if d >= x.Dim() {
		c.Fail(tensor.ErrShape, "trapezoid: There must be one `x` value for each sample point")
	}
	n := x.Size(d)
	return narrow(x, d, 1, n-1).Sub(narrow(x, d, 0, n-1))
}

func neighbours(y *T, d int) *T {
	n := y.Size(d)
	if n == 0 {
		return y
	}
	return narrow(y, d, 0, n-1).Add(narrow(y, d, 1, n-1))
}

func noBool(c *Ctx, y *T) {
	if y.DType() == tensor.Bool {
		c.Fail(tensor.ErrDType, "%s: received a bool input for `y`, but bool is not supported", c.Op().Sch.Name)
	}
}

func noScalar(c *Ctx, y *T) {
	if y.Dim() == 0 {
		c.Fail(tensor.ErrIndex, "Dimension specified as %d but tensor has no dimensions", c.Int(2))
	}
}

// empty is the integral over no samples: zeros without the dimension.
func empty(y *T, d int) *T {
	return y.SumDim([]int{d}, tensor.SumDimOptions{DType: y.DType()})
}

func trapezoidX(c *Ctx) {
	y, x := c.T(0), c.T(1)
	noScalar(c, y)
	d := op.Wrap(c, c.Int(2), y.Dim())
	if y.Size(d) == 0 {
		c.Return(empty(y, d))
		return
	}
	c.Return(neighbours(y, d).Mul(steps(c, y, x, d)).SumDim([]int{d}).DivScalar(2))
}

func trapezoidDx(c *Ctx) {
	y := c.T(0)
	noScalar(c, y)
	d := op.Wrap(c, c.Int(2), y.Dim())
	if y.Size(d) == 0 {
		c.Return(empty(y, d))
		return
	}
	noBool(c, y)
	n := y.Size(d)
	ends := op.Call1("aten::select.int", y, d, 0).Add(op.Call1("aten::select.int", y, d, n-1))
	c.Return(y.SumDim([]int{d}).Sub(ends.MulScalar(0.5)).MulScalar(c.Num(1)))
}

func cumulativeX(c *Ctx) {
	y := c.T(0)
	noScalar(c, y)
	d := op.Wrap(c, c.Int(2), y.Dim())
	if y.Size(d) == 0 {
		c.Return(y)
		return
	}
	c.Return(neighbours(y, d).Mul(steps(c, y, c.T(1), d)).CumSum(d).DivScalar(2))
}

func cumulativeDx(c *Ctx) {
	y := c.T(0)
	noBool(c, y)
	noScalar(c, y)
	d := op.Wrap(c, c.Int(2), y.Dim())
	c.Return(neighbours(y, d).MulScalar(c.Num(1).F / 2).CumSum(d))
}

//gen:composed
func composed(schema, doc string, f func(c *Ctx), d tensor.Def) {
	d.Schema, d.Doc, d.Body = schema, doc, f
	tensor.Register(d)
}

func trapezoid() {
	composed("trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
		"integrates samples y at points x by the trapezoidal "+
			"rule.\nhttps://pytorch.org/docs/stable/generated/torch.trapezoid.html", trapezoidX, tensor.Def{})
	composed("trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
		"integrates samples at distance dx by the trapezoidal rule.", trapezoidDx,
		tensor.Def{Go: "Trapezoid"})
	composed("trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
		"integrates samples y at points x by the trapezoidal rule.", trapezoidX, tensor.Def{})
	composed("trapz.dx(Tensor y, *, float dx=1.0, int dim=-1) -> Tensor",
		"integrates samples at distance dx by the trapezoidal rule.", trapezoidDx,
		tensor.Def{Go: "Trapz"})
	composed("cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
		"is the running integral of samples y at points "+
			"x.\nhttps://pytorch.org/docs/stable/generated/torch.cumulative_trapezoid.html", cumulativeX, tensor.Def{})
	composed("cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
		"is the running integral of samples at distance dx.", cumulativeDx,
		tensor.Def{Go: "CumulativeTrapezoid"})
}
