package reduce

import (
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// negative reports an element below 0; of a tensor without memory nothing is known.
func negative(t *T) bool {
	return t.Device().Type != tensor.MetaDevice && t.Numel() > 0 && t.LtScalar(0).Any().Item() != 0
}

// weights checks one of the weights of cov, argument i.
func weights(c *Ctx, i, observations int) *T {
	w := c.T(i)
	if w == nil {
		return nil
	}
	name := c.Op().Sch.Params[i].Name
	if w.Dim() > 1 {
		c.Fail(tensor.ErrShape, "cov(): expected %s to have one or fewer dimensions but got %s with %d dimensions",
			name, name,
			w.Dim())
	}
	switch dt := w.DType(); {
	case name == "fweights" && !dt.IsInt():
		c.Fail(tensor.ErrDType, "cov(): expected fweights to have integral dtype but got fweights with %s dtype",
			dt.ClassName())
	case name == "aweights" && !dt.IsFloat():
		c.Fail(tensor.ErrDType, "cov(): expected aweights to have floating point dtype but got aweights with %s dtype",
			dt.ClassName())
	}
	if w.Numel() != observations {
		c.Fail(tensor.ErrShape,
			"cov(): expected %s to have the same numel as there are observations in the input but got %d != %d", name,
			w.Numel(), observations)
	}
	if negative(w) {
		c.Fail(tensor.ErrValue, "cov(): %s cannot be negative", name)
	}
	return w
}

func cov(c *Ctx) {
	x, correction := c.T(0), c.Int(1)
	if x.Dim() > 2 {
		c.Fail(tensor.ErrShape,
			"cov(): expected input to have two or fewer dimensions but got an input with %d dimensions", x.Dim())
	}
	if x.DType() == tensor.Bool {
		c.Fail(tensor.ErrNotImpl, "cov(): bool dtype is not supported for input")
	}
	if x.Dim() < 2 {
		x = x.View([]int{1, -1})
	}
	observations := x.Size(1)
	frequencies, importance := weights(c, 2, observations), weights(c, 3, observations)
	w := frequencies
	switch {
	case w == nil:
		w = importance
	case importance != nil:
		w = w.Mul(importance)
	}
	const few = "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations."
	weighted := func(x *T) *T {
		if w == nil {
			return x
		}
		return x.Mul(w)
	}
	var divide func(x *T) *T // by the degrees of freedom
	var mean *T
	if w == nil {
		mean = x.SumDim([]int{1}).DivScalar(observations)
		n := observations - correction
		if n <= 0 {
			tensor.Warn(few)
			n = 0
		}
		divide = func(x *T) *T { return x.DivScalar(n) }
	} else {
		sum := w.Sum()
		known := w.Device().Type != tensor.MetaDevice
		if known && sum.Item() == 0 {
			c.Fail(tensor.ErrValue, "cov(): weights sum to zero, can't be normalized")
		}
		mean = weighted(x).SumDim([]int{1}).Div(sum)
		n := sum.SubScalar(correction)
		if importance != nil && correction != 0 {
			n = sum.Sub(w.Mul(importance).Sum().Div(sum).MulScalar(correction))
		}
		if known && n.Item() <= 0 {
			tensor.Warn(few)
			n = n.ZerosLike()
		}
		divide = func(x *T) *T { return x.Div(n) }
	}
	x = x.Sub(mean.Unsqueeze(1))
	c.Return(divide(x.MM(weighted(x).T().Conj())).Squeeze())
}

func corrcoef(c *Ctx) {
	x := c.T(0)
	if x.Dim() > 2 {
		c.Fail(tensor.ErrShape,
			"corrcoef(): expected input to have two or fewer dimensions but got an input with %d dimensions", x.Dim())
	}
	r := op.Call1("aten::cov", x)
	if r.Dim() == 0 {
		c.Return(r.Div(r))
		return
	}
	d := r.Diag()
	if d.DType().IsComplex() {
		d = op.Call1("aten::real", d)
	}
	deviation := d.Sqrt()
	r = r.Div(deviation.View([]int{-1, 1})).Div(deviation.View([]int{1, -1}))
	// rounding errors lead beyond
	limit := func(x *T) *T { return x.ClipScalar(tensor.ClipScalarOptions{Min: -1, Max: 1}) }
	if r.DType().IsComplex() {
		c.Return(op.Call1("aten::complex", limit(op.Call1("aten::real", r)), limit(op.Call1("aten::imag", r))))
		return
	}
	c.Return(limit(r))
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor",
		Doc: "is the covariance matrix of the rows of self, [variables, observations], or the variance of a vector. " +
			"Fweights (integers) say how often each observation counts, Aweights how much. The divisor is the number " +
			"of " +
			"observations less Correction.\nhttps://pytorch.org/docs/stable/generated/torch.cov.html",
		Body: cov,
	})
	tensor.Register(tensor.Def{
		Schema: "corrcoef(Tensor self) -> Tensor",
		Doc: "is the matrix of Pearson's correlation coefficients of the rows of self, [variables, observations]; of a " +
			"vector 1.\nhttps://pytorch.org/docs/stable/generated/torch.corrcoef.html",
		Body: corrcoef,
	})
}
