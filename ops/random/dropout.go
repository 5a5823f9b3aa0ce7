package random

import (
	"math"

	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/tensor"
)

func checkDropout(c *Ctx, p float64) {
	if !(p >= 0 && p <= 1) {
		c.Fail(tensor.ErrValue, "dropout probability has to be between 0 and 1, but got %v", p)
	}
}

// noise is 0 with probability p and 1/(1-p) otherwise, drawn in the memory order of like.
func noise(c *Ctx, like *T, shape []int, p float64, scale bool) *T {
	var st []int
	if tensor.SameShape(shape, like.Shape()) && !like.IsContiguous() {
		st = tensor.PermutedStrides(like)
	}
	t := tensor.NewStrided(shape, st, like.DType())
	if scale && (t.DType() == tensor.Float32 || t.DType() == tensor.Float64) {
		f := each(func(d []float32) error { return rng.DropoutMask(rng.Default, d, p) }, func(d []float64) error { return rng.DropoutMask(rng.Default, d, p) })
		fill(c, t, f)
		return t
	}
	if t.DType().IsComplex() {
		r := tensor.NewStrided(shape, st, t.DType().Real())
		fill(c, r, bernoulliFill(rng.Default, 1-p))
		tensor.CopyRaw(t, r)
	} else {
		fill(c, t, bernoulliFill(rng.Default, 1-p))
	}
	if scale {
		t.MulScalarInPlace(1 / (1 - p))
	}
	return t
}

// featureShape has one element per sample and channel.
func featureShape(c *Ctx, x *T) []int {
	if x.Dim() < 2 {
		c.Fail(tensor.ErrShape, "Feature dropout requires at least 2 dimensions in the input")
	}
	sh := make([]int, x.Dim())
	for i := range sh {
		sh[i] = 1
	}
	sh[0], sh[1] = x.Size(0), x.Size(1)
	return sh
}

func dropout(c *Ctx, x *T, p float64, train, feature bool) *T {
	checkDropout(c, p)
	if p == 0 || !train || x.Numel() == 0 {
		return x
	}
	if p == 1 {
		return x.MulScalar(0)
	}
	sh := x.Shape()
	if feature {
		sh = featureShape(c, x)
	}
	return x.Mul(noise(c, x, sh, p, true))
}

func alphaDropout(c *Ctx, x *T, p float64, train, feature bool) *T {
	checkDropout(c, p)
	if p == 0 || !train || x.Numel() == 0 {
		return x
	}
	if p == 1 {
		return x.MulScalar(0)
	}
	const alpha = 1.7580993408473766
	a := alphaScale(p)
	sh := x.Shape()
	if feature {
		sh = featureShape(c, x)
	}
	m := noise(c, x, sh, p, false)
	b := m.AddScalar(-1).MulScalarInPlace(alpha * a).AddScalarInPlace(alpha * a * p)
	m.MulScalarInPlace(a)
	return x.Mul(m).Add(b)
}

func init() {
	drop("dropout(Tensor input, float p, bool train) -> Tensor", "sets elements to zero with probability p while training and scales the others by 1/(1-p).\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html", dropout, false)
	drop("feature_dropout(Tensor input, float p, bool train) -> Tensor", "is Dropout for whole channels.", dropout, true)
	drop("alpha_dropout(Tensor input, float p, bool train) -> Tensor", "is dropout that keeps mean and variance of SELU activations (https://arxiv.org/abs/1706.02515).", alphaDropout, false)
	drop("feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor", "is AlphaDropout for whole channels.", alphaDropout, true)
	functional("F::dropout(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor",
		func(c *Ctx, x *T, p float64, train bool) *T { return dropout(c, x, p, train, false) })
	functional("F::alpha_dropout(Tensor input, float p=0.5, bool training=False, bool inplace=False) -> Tensor",
		func(c *Ctx, x *T, p float64, train bool) *T { return alphaDropout(c, x, p, train, false) })
	functional("F::feature_alpha_dropout(Tensor input, float p=0.5, bool training=False, bool inplace=False) -> Tensor",
		func(c *Ctx, x *T, p float64, train bool) *T { return alphaDropout(c, x, p, train, true) })
	functional("F::dropout1d(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor",
		func(c *Ctx, x *T, p float64, train bool) *T { return dropoutNd(c, x, p, train, 1) })
	functional("F::dropout2d(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor",
		func(c *Ctx, x *T, p float64, train bool) *T { return dropout(c, x, p, train, true) })
	functional("F::dropout3d(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor",
		func(c *Ctx, x *T, p float64, train bool) *T { return dropoutNd(c, x, p, train, 3) })
}

// dropoutNd drops channels of a batch, or of a single sample without a batch dimension.
func dropoutNd(c *Ctx, x *T, p float64, train bool, nd int) *T {
	if x.Dim() == nd+2 || x.Dim() != nd+1 {
		return dropout(c, x, p, train, true)
	}
	sh := append([]int{1}, x.Shape()...)
	y := dropout(c, x.Reshape(sh), p, train, true)
	return y.Reshape(x.Shape())
}

// alphaScale keeps the variance of alpha dropout at 1.
func alphaScale(p float64) float64 {
	const alpha = 1.7580993408473766
	return 1 / math.Sqrt((alpha*alpha*p+1)*(1-p))
}

// drop declares a dropout operator of aten.
//
//gen:drop InPlace
func drop(schema, doc string, f func(c *Ctx, x *T, p float64, train, feature bool) *T, feature bool) {
	tensor.Register(tensor.Def{
		Schema: schema, Doc: doc, InPlace: true,
		Body: func(c *Ctx) { c.Return(f(c, c.T(0), c.Float(1), c.Bool(2), feature)) },
	})
}

// functional declares a dropout function of torch.nn.functional.
//
//gen:functional
func functional(schema string, run func(c *Ctx, x *T, p float64, train bool) *T) {
	tensor.Register(tensor.Def{
		Schema: schema,
		Body: func(c *Ctx) {
			x := c.T(0)
			y := run(c, x, c.Float(1), c.Bool(2))
			if c.Bool(3) && y != x {
				y = x.CopyInPlace(y)
			}
			c.Return(y)
		},
	})
}
