package reduce

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// moments are count, mean and sum of squared deviations of the elements seen so far.
type moments struct{ n, mean, m2 float64 }

// join combines the moments of two parts (Chan, Golub, LeVeque: Updating Formulae and a Pairwise Algorithm for
// Computing Sample Variances, 1979).
func join(a, b moments) moments {
	if a.n == 0 {
		return b
	}
	if b.n == 0 {
		return a
	}
	n := a.n + b.n
	d := b.mean - a.mean
	return moments{n, a.mean + d*b.n/n, a.m2 + b.m2 + d*d*a.n*b.n/n}
}

// momentColumns makes the form for columns from the steps of a type: add adds a row to sums, narrow rounds means, and
// squares adds up the squares of rows' deviations from c. Some rows at a time are gone over twice.
func momentColumns[E float](add func(sums []float64, row []E), narrow func(dst []E, means []float64),
	squares func(sums []float64, s, c []E, rows, stride int)) func(acc []moments, s []E, rows, stride int) {
	return func(acc []moments, s []E, rows, stride int) {
		n := len(acc)
		sums, rounded := half.Borrow[float64](2*n), half.Borrow[E](n)
		defer half.Return(sums)
		defer half.Return(rounded)
		mean, m2, c := (*sums)[:n], (*sums)[n:], *rounded
		for per := max(groupRows, grain/n); rows > 0; rows -= per {
			m := min(per, rows)
			count := float64(m)
			clear(*sums)
			for r := range m {
				add(mean, s[r*stride:][:n])
			}
			vec.DivScalarF64(mean, mean, count)
			narrow(c, mean)
			squares(m2, s, c, m, stride)
			for i := range acc {
				d := mean[i] - float64(c[i])
				acc[i] = join(acc[i], moments{count, mean[i], max(0, m2[i]-count*d*d)})
			}
			s = s[min(len(s), m*stride):]
		}
	}
}

var (
	momF32 = kern[float32, moments]{row: func(acc moments, s []float32) moments {
		n := float64(len(s))
		m := vec.SumF32As64(s) / n
		return join(acc, moments{n, m, vec.SumSquaresF32As64(s, m)})
	}, block: momentColumns(vec.AccumulateF32ToF64, vec.F64ToF32s,
		func(sums []float64, s, c []float32, rows, stride int) {
			buf := half.Borrow[float32](len(sums))
			defer half.Return(buf)
			for r := range rows { // squares of float32 may not fit that
				vec.SubF32(*buf, s[r*stride:][:len(sums)], c)
				vec.AddSquaresF32ToF64(sums, *buf)
			}
		}), merge: join}
	momF64 = kern[float64, moments]{row: func(acc moments, s []float64) moments {
		n := float64(len(s))
		m := vec.SumF64(s) / n
		return join(acc, moments{n, m, vec.SumSquaresF64(s, m)})
	}, block: momentColumns(func(sums, row []float64) { vec.AddF64(sums, sums, row) },
		func(dst, means []float64) { copy(dst, means) },
		func(sums []float64, s, c []float64, rows, stride int) {
			for r := range rows {
				vec.AccumulateSquaresF64(sums, s[r*stride:][:len(sums)], c)
			}
		}), merge: join}
)

// varMean writes variance (or its root) and mean, where wanted.
func varMean(v, avg, t *T, red []bool, correction float64, root bool) {
	if t.DType().IsComplex() { // the variance of a complex variable is the sum of its parts' variances
		x := t.Detach()
		parts := [2]*T{x.Real(), x.Imag()}
		if avg != nil {
			mean(avg, t, red)
		}
		a, b := tensor.New(v.Shape(), tensor.Float64), tensor.New(v.Shape(), tensor.Float64)
		varMean(a, nil, tensor.DenseAs(parts[0], tensor.Float64), red, correction, false)
		varMean(b, nil, tensor.DenseAs(parts[1], tensor.Float64), red, correction, false)
		d, e := op.Raw[float64](a), op.Raw[float64](b)
		for i := range d {
			if d[i] += e[i]; root {
				d[i] = math.Sqrt(d[i])
			}
		}
		tensor.CopyRaw(v, a)
		return
	}
	if t.DType() == tensor.Float64 {
		momentsInto(v, avg, t, red, &momF64, correction, root)
	} else {
		momentsInto(v, avg, cast(t, tensor.Float32), red, &momF32, correction, root)
	}
}

func momentsInto[E any](v, avg, t *T, red []bool, k *kern[E, moments], correction float64, root bool) {
	write2 := func(v, avg *T) {
		run(t, red, k, nil, func(at int, acc []moments) {
			buf := half.Borrow[float64](len(acc))
			defer half.Return(buf)
			for i, a := range acc {
				if (*buf)[i] = a.m2 / math.Max(0, a.n-correction); a.n == 0 {
					(*buf)[i] = math.NaN()
				}
			}
			if root {
				vec.SqrtF64(*buf, *buf)
			}
			write(v, at, *buf)
			if avg == nil {
				return
			}
			for i, a := range acc {
				if (*buf)[i] = a.mean; a.n == 0 {
					(*buf)[i] = math.NaN()
				}
			}
			write(avg, at, *buf)
		})
	}
	writing[float64](v, func(v *T) {
		if avg == nil {
			write2(v, nil)
		} else {
			writing[float64](avg, func(avg *T) { write2(v, avg) })
		}
	})
}

func correctionOf(c *Ctx) float64 {
	if c.Has(2) {
		return c.Num(2).F
	}
	return 1
}

// varBackward is the gradient of a variance.
func varBackward(c *Ctx, g, x *T) *T {
	l, keep := c.Ints(1), c.Bool(3)
	n := float64(reducedCount(c.Shape(0), l)) - correctionOf(c)
	mean := x.MeanDim(l, tensor.MeanDimOptions{KeepDim: true})
	g = unreduce(c, g, l, keep)
	if n <= 0 { // 0/0, as PyTorch has it
		f := math.Inf(1)
		return g.MulScalar(f).Mul(x.Sub(mean))
	}
	return g.MulScalar(2 / n).Mul(x.Sub(mean))
}

func stdBackward(c *Ctx, g, y, x *T) *T {
	gv := g.Div(y.MulScalar(2))
	gv = op.ZeroWhere(gv, y.Detach().EqScalar(0))
	return varBackward(c, gv, x)
}

func meanBackward(c *Ctx, g *T) *T {
	l := c.Ints(1)
	return unreduce(c, g, l, c.Bool(3)).Expand(c.Shape(0)).DivScalar(reducedCount(c.Shape(0), l))
}

func plus(a, b *T) *T {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	return a.Add(b)
}

func varInfer(c *Ctx, withMean bool) {
	t := c.T(0)
	dt := t.DType()
	if dt.IsIntOrBool() {
		if withMean {
			c.Fail(tensor.ErrDType, "%s only support floating point and complex dtypes", c.Op().Sch.Name)
		}
		c.Fail(tensor.ErrDType, "std and var only support floating point and complex dtypes")
	}
	_, sh := dims(c, t, c.Ints(1), c.Bool(3))
	if correctionOf(c) >= float64(reducedCount(t.Shape(), c.Ints(1))) {
		tensor.Warn("%s(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "+
			"(input numel divided by output numel).", c.Op().Sch.Name)
	}
	c.Alloc(0, sh, dt.Real())
	if withMean {
		c.Alloc(1, sh, dt)
	}
}

//gen:variance Out
func variance(schema, doc string, root bool) {
	d := tensor.Def{Schema: schema, Doc: doc, Out: true,
		Infer: func(c *Ctx) { varInfer(c, false) },
		CPU: func(c *Ctx) {
			red, _ := dims(c, c.T(0), c.Ints(1), c.Bool(3))
			varMean(c.Out(0), nil, c.T(0), red, correctionOf(c), root)
		},
		Save: "self",
		VJP:  func(c *Ctx, g *T) []*T { return []*T{varBackward(c, g, c.T(0))} },
	}
	if root {
		d.Save = "self result"
		d.VJP = func(c *Ctx, g *T) []*T { return []*T{stdBackward(c, g, c.Out(0), c.T(0))} }
	}
	tensor.Register(d)
}

//gen:varianceMean
func varianceMean(schema, doc string, root bool) {
	d := tensor.Def{Schema: schema, Doc: doc,
		Infer: func(c *Ctx) { varInfer(c, true) },
		CPU: func(c *Ctx) {
			red, _ := dims(c, c.T(0), c.Ints(1), c.Bool(3))
			varMean(c.Out(0), c.Out(1), c.T(0), red, correctionOf(c), root)
		},
		Save: "self result0",
		VJP: func(c *Ctx, g *T) []*T {
			var r *T
			if gv := c.G(0); gv != nil {
				if root {
					r = stdBackward(c, gv, c.Out(0), c.T(0))
				} else {
					r = varBackward(c, gv, c.T(0))
				}
			}
			if gm := c.G(1); gm != nil {
				r = plus(r, meanBackward(c, gm))
			}
			return []*T{r}
		},
	}
	tensor.Register(d)
}

// unbiased maps the old argument to a correction.
func unbiased(on bool) int {
	if on {
		return 1
	}
	return 0
}

//gen:oldVar
func oldVar(schema, doc, target string, withDim bool) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Body: func(c *Ctx) {
		var dim tensor.Value
		keep, corr := false, 0
		if withDim {
			dim, corr, keep = c.Value(1), unbiased(c.Bool(2)), c.Bool(3)
		} else {
			corr = unbiased(c.Bool(1))
		}
		res, err := tensor.CallOp(target, tensor.TensorValue(c.T(0)), dim, tensor.IntValue(corr),
			tensor.BoolValue(keep))
		if err != nil {
			panic(err)
		}
		var outs []*T
		for _, r := range res {
			outs = append(outs, r.T)
		}
		c.Return(outs...)
	}})
}

func init() {
	const varDoc = "https://pytorch.org/docs/stable/generated/torch.var.html"
	oldVar("var(Tensor self, bool unbiased=True) -> Tensor",
		"is the variance of all elements, divided by n-1 or, when not unbiased, by n.", "aten::var.correction", false)
	oldVar("var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
		"is the variance over dimensions (none given: all).", "aten::var.correction", true)
	variance("var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
		"is the variance over dimensions (none given: all), divided by n minus the correction (1).\n"+varDoc, false)
	oldVar("std(Tensor self, bool unbiased=True) -> Tensor", "is the standard deviation of all elements.",
		"aten::std.correction", false)
	oldVar("std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
		"is the standard deviation over dimensions (none given: all).", "aten::std.correction", true)
	variance("std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
		"is the standard deviation over dimensions (none given: all), with a correction (1).", true)
	oldVar("var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", "gives variance and mean of all elements.",
		"aten::var_mean.correction", false)
	oldVar("var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
		"gives variance and mean over dimensions.", "aten::var_mean.correction", true)
	varianceMean("var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)", "gives variance and mean over dimensions, with a correction (1).", false)
	oldVar("std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)",
		"gives standard deviation and mean of all elements.", "aten::std_mean.correction", false)
	oldVar("std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
		"gives standard deviation and mean over dimensions.", "aten::std_mean.correction", true)
	varianceMean("std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)", "gives standard deviation and mean over dimensions, with a correction (1).", true)
}
