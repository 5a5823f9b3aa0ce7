package random

import (
	"math"
	"strings"

	"github.com/gotorch-dev/torch/internal/goname"
	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/tensor"
)

// factory declares a sampler that makes a tensor: the places of its arguments size, generator and dtype, and what
// fills the tensor.
//
//gen:factory
func factory(schema, doc string, sizeArg, gen, dtypeArg int, def func() tensor.DType,
	f func(c *Ctx, g *rng.Generator, t *T)) {
	drawn(schema, doc, gen, func(shift int) tensor.Def { return factoryDef(sizeArg, gen, dtypeArg, shift, def, f) })
}

func factoryDef(sizeArg, gen, dtypeArg, shift int, def func() tensor.DType,
	f func(c *Ctx, g *rng.Generator, t *T)) tensor.Def {
	return tensor.Def{
		NoGrad: "random numbers",
		Infer: func(c *Ctx) {
			dt := c.DType(dtypeArg + shift)
			if dt == 0 {
				dt = def()
			}
			c.Alloc(0, c.Ints(sizeArg), dt)
		},
		CPU: func(c *Ctx) { f(c, drawing(c, gen, shift), c.Out(0)) },
	}
}

// like declares a sampler that makes a tensor like another one, in its memory layout.
//
//gen:like
func like(schema, doc string, dtypeArg, gen, format int, f func(c *Ctx, g *rng.Generator, t *T)) {
	drawn(schema, doc, gen, func(shift int) tensor.Def {
		return tensor.Def{
			Infer: func(c *Ctx) {
				t := c.T(0)
				dt := c.DType(dtypeArg + shift)
				if dt == 0 {
					dt = t.DType()
				}
				var st []int
				switch f := c.Format(format + shift); f {
				case tensor.NoFormat, tensor.PreserveFormat:
					if !t.IsContiguous() {
						st = tensor.PermutedStrides(t)
					}
				default:
					st = tensor.FormatStrides(t.Shape(), f)
				}
				c.AllocStrided(0, t.Shape(), st, dt)
			},
			CPU: func(c *Ctx) { f(c, drawing(c, gen, shift), c.Out(0)) },
		}
	})
}

// drawn registers the three operators behind a function of Python's with an optional generator, "torch::rand(…,
// Generator? generator=None, …)": aten's operator without that argument, the one with it ("rand.generator",
// "randint.low_generator"), and the function, which calls one of the two. The argument is number gen. In the operator
// without it those that follow are one place further left: def makes a Def for that shift, -1 or 0.
func drawn(schema, doc string, gen int, def func(shift int) tensor.Def) {
	const optional, required = "Generator? generator=None, ", "Generator? generator, "
	aten := strings.TrimPrefix(schema, "torch::")
	name, arguments, _ := strings.Cut(aten, "(")
	base, overload, _ := strings.Cut(name, ".")
	register := func(schema string, shift int) *tensor.Op {
		d := def(shift)
		d.Schema, d.Doc, d.Go, d.NoGrad = schema, doc, "-", "random numbers"
		d.Draw = tensor.DrawByShape
		tensor.Register(d)
		full, _, _ := strings.Cut(schema, "(")
		return tensor.LookupOp("aten::" + full)
	}
	without := register(strings.Replace(aten, optional, "", 1), -1)
	with := register(base+"."+goname.GeneratorOverload(overload)+"("+strings.Replace(arguments, optional, required, 1),
		0)
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Body: func(c *Ctx) {
		n, op := c.NumArgs(), with
		if !c.Has(gen) {
			n, op = n-1, without
		}
		k := tensor.NewCall(op, n)
		for i := range n {
			if op == without && i >= gen {
				*k.Arg(i) = c.Value(i + 1)
			} else {
				*k.Arg(i) = c.Value(i)
			}
		}
		c.Return(k.Do1())
	}})
}

// drawing is the generator of a call of an operator that drawn registered.
func drawing(c *Ctx, gen, shift int) *rng.Generator {
	if shift < 0 {
		return rng.Default
	}
	return generator(c, gen)
}

// permutation declares randperm.
//
//gen:permutation
func permutation(schema, doc string) {
	const gen, dtypeArg = 1, 2
	drawn(schema, doc, gen, func(shift int) tensor.Def {
		return tensor.Def{
			Infer: func(c *Ctx) {
				if c.Int(0) < 0 {
					c.Fail(tensor.ErrValue, "n must be non-negative, got %d", c.Int(0))
				}
				c.Alloc(0, []int{c.Int(0)}, orInt64(c.DType(dtypeArg+shift)))
			},
			CPU: func(c *Ctx) {
				p := tensor.New(c.Out(0).Shape(), tensor.Int64)
				rng.RandPerm(drawing(c, gen, shift), tensor.Data[int64](p))
				tensor.CopyRaw(c.Out(0), p)
			},
		}
	})
}

// inPlace declares a sampler that overwrites a tensor; its gradient is zero.
//
//gen:inPlace
func inPlace(schema, doc string, gen int, f func(c *Ctx, g *rng.Generator, t *T)) {
	tensor.Register(tensor.Def{
		Schema: schema, Doc: doc,
		Infer: func(c *Ctx) { c.SetOut(0, c.T(0)) },
		CPU:   func(c *Ctx) { f(c, generator(c, gen), c.T(0)) },
		VJP:   func(c *Ctx, g *T) []*T { return []*T{g.MulScalar(0)} },
	})
}

func uniform01(c *Ctx, g *rng.Generator, t *T) {
	if !t.DType().IsDifferentiable() {
		c.FailDType(tensor.ErrDType, "check_uniform_bounds", t.DType())
	}
	fill(c, t, uniformFill(g, 0, 1))
}

func normal(c *Ctx, g *rng.Generator, t *T, mean, std float64) {
	if !(std >= 0) {
		c.Fail(tensor.ErrValue, "normal expects std >= 0.0, but found std %v", std)
	}
	if !t.DType().IsDifferentiable() {
		c.FailDType(tensor.ErrDType, "normal_kernel_cpu", t.DType())
	}
	if t.DType().IsComplex() {
		std /= math.Sqrt2 // of each part
	}
	fill(c, t, normalFill(g, mean, std))
}

func randint(c *Ctx, g *rng.Generator, t *T, from, to int) {
	if from >= to {
		c.Fail(tensor.ErrValue, "random_ expects 'from' to be less than 'to', but got from=%d >= to=%d", from, to)
	}
	k := kindOf(c, t.DType())
	a, b, err := k.Range(int64(from), int64(to))
	if err != nil {
		c.Fail(tensor.ErrValue, "%s", err)
	}
	fill(c, t, intFill(g, a, uint64(b)-uint64(a)))
}

func init() {
	factory("torch::rand(SymInt[] size, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		"is filled with numbers drawn uniformly from [0, 1).\nhttps://pytorch.org/docs/stable/generated/torch.rand.html", 0, 1, 2, tensor.DefaultDType, uniform01)
	factory("torch::randn(SymInt[] size, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		"is filled with numbers drawn from the standard normal "+
			"distribution.\nhttps://pytorch.org/docs/stable/generated/torch.randn.html", 0, 1, 2, tensor.DefaultDType,
		func(c *Ctx, g *rng.Generator, t *T) { normal(c, g, t, 0, 1) })
	long := func() tensor.DType { return tensor.Int64 }
	factory("torch::randint(SymInt high, SymInt[] size, *, Generator? generator=None, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		"is filled with integers from 0 to high-1.\nhttps://pytorch.org/docs/stable/generated/torch.randint.html", 1, 2,
		3, long,
		func(c *Ctx, g *rng.Generator, t *T) { randint(c, g, t, 0, c.Int(0)) })
	factory("torch::randint.low(SymInt low, SymInt high, SymInt[] size, *, Generator? generator=None, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		"is filled with integers from low to high-1.\nhttps://pytorch.org/docs/stable/generated/torch.randint.html", 2,
		3, 4, long,
		func(c *Ctx, g *rng.Generator, t *T) { randint(c, g, t, c.Int(0), c.Int(1)) })
	permutation("torch::randperm(SymInt n, *, Generator? generator=None, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		"is a random permutation of 0 to n-1.\nhttps://pytorch.org/docs/stable/generated/torch.randperm.html")
	like("torch::rand_like(Tensor self, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
		"is shaped like self and filled with numbers drawn uniformly from [0, "+
			"1).\nhttps://pytorch.org/docs/stable/generated/torch.rand_like.html", 2, 1, 6, uniform01)
	like("torch::randn_like(Tensor self, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
		"is shaped like self and filled with numbers drawn from the standard normal "+
			"distribution.\nhttps://pytorch.org/docs/stable/generated/torch.randn_like.html", 2, 1, 6,
		func(c *Ctx, g *rng.Generator, t *T) { normal(c, g, t, 0, 1) })
	like("torch::randint_like(Tensor self, SymInt high, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
		"is shaped like self and filled with integers from 0 to high-1.", 3, 2, 7,
		func(c *Ctx, g *rng.Generator, t *T) { randint(c, g, t, 0, c.Int(1)) })
	like("torch::randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
		"is shaped like self and filled with integers from low to high-1.", 4, 3, 8,
		func(c *Ctx, g *rng.Generator, t *T) { randint(c, g, t, c.Int(1), c.Int(2)) })

	inPlace("uniform_(Tensor(a!) self, float from=0., float to=1., *, Generator? generator=None) -> Tensor(a!)",
		"fills the tensor with numbers drawn uniformly from [from, "+
			"to).\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.uniform_.html", 3,
		func(c *Ctx, g *rng.Generator, t *T) {
			if !t.DType().IsDifferentiable() {
				c.FailDType(tensor.ErrDType, "check_uniform_bounds", t.DType())
			}
			from, to := c.Float(1), c.Float(2)
			if from > to {
				c.Fail(tensor.ErrValue, "uniform_ expects to return a [from, to) range, but found from=%v > to=%v",
					from, to)
			}
			fill(c, t, uniformFill(g, from, to))
		})
	inPlace("normal_(Tensor(a!) self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor(a!)",
		"fills the tensor with numbers drawn from a normal "+
			"distribution.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.normal_.html", 3,
		func(c *Ctx, g *rng.Generator, t *T) { normal(c, g, t, c.Float(1), c.Float(2)) })
	inPlace("log_normal_(Tensor(a!) self, float mean=1., float std=2., *, Generator? generator=None) -> Tensor(a!)",
		"fills the tensor with exp of normal "+
			"numbers.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.log_normal_.html", 3,
		func(c *Ctx, g *rng.Generator, t *T) {
			m, s := c.Float(1), c.Float(2)
			if !(s > 0) {
				c.Fail(tensor.ErrValue, "log_normal_ expects std > 0.0, but found std=%v", s)
			}
			fill(c, t, each(func(d []float32) error { return rng.LogNormal(g, d, m, s) },
				func(d []float64) error { return rng.LogNormal(g, d, m, s) }))
		})
	inPlace("exponential_(Tensor(a!) self, float lambd=1., *, Generator? generator=None) -> Tensor(a!)",
		"fills the tensor with numbers drawn from an exponential "+
			"distribution.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.exponential_.html", 2,
		func(c *Ctx, g *rng.Generator, t *T) {
			l := c.Float(1)
			if !(l > 0) {
				c.Fail(tensor.ErrValue, "exponential_ expects lambda > 0.0, but found lambda=%v", l)
			}
			fill(c, t, each(func(d []float32) error { return rng.Exponential(g, d, l) },
				func(d []float64) error { return rng.Exponential(g, d, l) }))
		})
	inPlace("cauchy_(Tensor(a!) self, float median=0., float sigma=1., *, Generator? generator=None) -> Tensor(a!)",
		"fills the tensor with numbers drawn from a Cauchy "+
			"distribution.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.cauchy_.html", 3,
		func(c *Ctx, g *rng.Generator, t *T) {
			m, s := c.Float(1), c.Float(2)
			if !(s > 0) {
				c.Fail(tensor.ErrValue, "cauchy_ expects sigma > 0.0, but found sigma=%v", s)
			}
			fill(c, t, each(func(d []float32) error { return rng.Cauchy(g, d, m, s) },
				func(d []float64) error { return rng.Cauchy(g, d, m, s) }))
		})
	inPlace("geometric_(Tensor(a!) self, float p, *, Generator? generator=None) -> Tensor(a!)",
		"fills the tensor with numbers of trials up to the first "+
			"success.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.geometric_.html", 2,
		func(c *Ctx, g *rng.Generator, t *T) {
			p := c.Float(1)
			if !(p > 0 && p < 1) {
				c.Fail(tensor.ErrValue, "geometric_ expects p to be in (0, 1), but got p=%v", p)
			}
			fill(c, t, geometricFill(g, p))
		})
	inPlace("bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)",
		"fills the tensor with ones, drawn with probability p, and "+
			"zeros.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.bernoulli_.html", 2,
		func(c *Ctx, g *rng.Generator, t *T) {
			checkP(c, c.Float(1))
			fill(c, t, bernoulliFill(g, c.Float(1)))
		})
	tensor.Register(tensor.Def{
		Schema: "bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)",
		Doc:    "fills the tensor with ones, drawn with the probabilities in p, and zeros.",
		Go:     "BernoulliTensorInPlace",
		Infer:  func(c *Ctx) { c.SetOut(0, c.T(0)) },
		CPU:    func(c *Ctx) { bernoulliProbs(c, generator(c, 2), c.T(0), c.T(1)) },
		VJP:    func(c *Ctx, g *T) []*T { return []*T{g.MulScalar(0), nil} },
	})
	tensor.Register(tensor.Def{
		Schema: "bernoulli(Tensor self, *, Generator? generator=None) -> Tensor",
		Doc: "draws ones with the probabilities in " +
			"self.\nhttps://pytorch.org/docs/stable/generated/torch.bernoulli.html",
		Out:   true,
		Infer: func(c *Ctx) { c.Alloc(0, c.Shape(0), c.ArgDType(0)) },
		CPU:   func(c *Ctx) { bernoulliProbs(c, generator(c, 1), c.Out(0), c.T(0)) },
		VJP:   func(c *Ctx, g *T) []*T { return []*T{g.MulScalar(0)} },
	})
	tensor.Register(tensor.Def{
		Schema: "bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor",
		Doc:    "draws ones with probability p, in the shape of self.",
		NoGrad: "random numbers",
		Draw:   tensor.DrawByShape,
		Infer:  func(c *Ctx) { c.Alloc(0, c.Shape(0), c.ArgDType(0)) },
		CPU: func(c *Ctx) {
			checkP(c, c.Float(1))
			fill(c, c.Out(0), bernoulliFill(generator(c, 2), c.Float(1)))
		},
	})
	inPlace("random_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)",
		"fills the tensor with integers from the whole range of its "+
			"dtype.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.random_.html", 1,
		func(c *Ctx, g *rng.Generator, t *T) { fill(c, t, randomFill(g, kindOf(c, t.DType()))) })
	inPlace("random_.to(Tensor(a!) self, SymInt to, *, Generator? generator=None) -> Tensor(a!)",
		"fills the tensor with integers from 0 to to-1.", 2,
		func(c *Ctx, g *rng.Generator, t *T) { randint(c, g, t, 0, c.Int(1)) })
	inPlace("random_.from(Tensor(a!) self, SymInt from, SymInt? to, *, Generator? generator=None) -> Tensor(a!)",
		"fills the tensor with integers from from to to-1; without to, up to the largest of the dtype.", 3,
		func(c *Ctx, g *rng.Generator, t *T) {
			if c.Has(2) {
				randint(c, g, t, c.Int(1), c.Int(2))
				return
			}
			k := kindOf(c, t.DType())
			from := int64(c.Int(1))
			n := uint64(k.Max()) - uint64(from) + 1
			fill(c, t, intFill(g, from, n))
		})

	tensor.Register(tensor.Def{
		Schema: "normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
		Doc: "draws from normal distributions with the given means and standard deviations; gradients are " +
			"zero.\nhttps://pytorch.org/docs/stable/generated/torch.normal.html",
		Go: "NormalTensors", Out: true,
		Infer: func(c *Ctx) { c.Alloc(0, c.BroadcastArgs(0, 1), tensor.PromoteTypes(c.ArgDType(0), c.ArgDType(1))) },
		CPU: func(c *Ctx) {
			std := c.T(1)
			if std.DType().IsComplex() {
				c.Fail(tensor.ErrDType, "normal expects standard deviation to be non-complex")
			}
			for _, s := range tensor.Data[float64](tensor.DenseAs(std, tensor.Float64)) {
				if !(s >= 0) {
					c.Fail(tensor.ErrValue, "normal expects all elements of std >= 0.0")
				}
			}
			normal(c, generator(c, 2), c.Out(0), 0, 1)
			quietly(func() { c.Out(0).MulInPlace(std.Detach()).AddInPlace(c.T(0).Detach()) })
		},
		VJP: func(c *Ctx, g *T) []*T { z := g.MulScalar(0); return []*T{z, z} },
	})
	tensor.Register(tensor.Def{
		Schema: "normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor",
		Doc:    "draws from normal distributions with the given means and one standard deviation; gradients are zero.",
		Go:     "NormalMeans", Out: true,
		Infer: func(c *Ctx) { c.Alloc(0, c.Shape(0), c.ArgDType(0)) },
		CPU: func(c *Ctx) {
			normal(c, generator(c, 2), c.Out(0), 0, c.Float(1))
			quietly(func() { c.Out(0).AddInPlace(c.T(0).Detach()) })
		},
		VJP: func(c *Ctx, g *T) []*T { return []*T{g.MulScalar(0)} },
	})
	tensor.Register(tensor.Def{
		Schema: "normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
		Doc:    "draws from normal distributions with one mean and the given standard deviations; gradients are zero.",
		Go:     "NormalStds", Out: true,
		Infer: func(c *Ctx) { c.Alloc(0, c.Shape(1), c.ArgDType(1)) },
		CPU: func(c *Ctx) {
			normal(c, generator(c, 2), c.Out(0), 0, 1)
			quietly(func() { c.Out(0).MulInPlace(c.T(1).Detach()).AddScalarInPlace(c.Float(0)) })
		},
		VJP: func(c *Ctx, g *T) []*T { return []*T{g.MulScalar(0)} },
	})
	sized := factoryDef(2, 3, 4, 0, tensor.DefaultDType,
		func(c *Ctx, g *rng.Generator, t *T) { normal(c, g, t, c.Float(0), c.Float(1)) })
	tensor.Register(tensor.Def{
		Schema: "normal.float_float(float mean, float std, SymInt[] size, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc:    "draws from a normal distribution.", Go: "Normal",
		Infer: sized.Infer, CPU: sized.CPU, NoGrad: sized.NoGrad,
	})

	tensor.Register(tensor.Def{
		Schema: "multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor",
		Doc: "draws numbers of categories with the probabilities (weights) in the last dimension of " +
			"self.\nhttps://pytorch.org/docs/stable/generated/torch.multinomial.html",
		Out:    true,
		NoGrad: "integer result",
		Infer: func(c *Ctx) {
			t, n := c.T(0), c.Int(1)
			switch {
			case t.Dim() != 1 && t.Dim() != 2:
				c.Fail(tensor.ErrShape, "prob_dist must be 1 or 2 dim")
			case !t.DType().IsFloat():
				c.Fail(tensor.ErrDType, "multinomial only supports floating-point dtypes for input, got: %s",
					t.DType().ClassName())
			case n <= 0:
				c.Fail(tensor.ErrValue, "cannot sample n_sample <= 0 samples")
			case t.Size(-1) > 1<<24:
				c.Fail(tensor.ErrValue, "number of categories cannot exceed 2^24")
			case c.GivenOut(0) != nil && c.GivenOut(0).DType() != tensor.Int64:
				c.Fail(tensor.ErrDType, "multinomial expects Long tensor out, got: %s",
					c.GivenOut(0).DType().ClassName())
			case !c.Bool(2) && n > t.Size(-1):
				c.Fail(tensor.ErrValue, "cannot sample n_sample > prob_dist.size(-1) samples without replacement")
			}
			sh := []int{n}
			if t.Dim() == 2 {
				sh = []int{t.Size(0), n}
			}
			c.Alloc(0, sh, tensor.Int64)
		},
		CPU: func(c *Ctx) {
			t := c.T(0)
			g, n, cats := generator(c, 3), c.Int(1), t.Size(-1)
			rows := t.Numel() / max(1, cats)
			out := tensor.Data[int64](c.Out(0))
			byColumn := t.Dim() == 2 && tensor.PermutedStrides(t)[1] > 1
			var err error
			switch t.DType() {
			case tensor.Float64:
				err = rng.Multinomial(g, out, tensor.Data[float64](tensor.Dense(t)), rows, cats, n, c.Bool(2), byColumn,
					nil)
			case tensor.Float32:
				err = rng.Multinomial(g, out, tensor.Data[float32](tensor.Dense(t)), rows, cats, n, c.Bool(2), byColumn,
					nil)
			default:
				round := rng.Rounder(rng.RoundFloat16)
				if t.DType() == tensor.BFloat16 {
					round = rng.RoundBFloat16
				}
				err = rng.Multinomial(g, out, tensor.Data[float32](tensor.DenseAs(t, tensor.Float32)), rows, cats, n,
					c.Bool(2), byColumn, round)
			}
			if err != nil {
				checkWeights(c, tensor.Data[float64](tensor.DenseAs(t, tensor.Float64)), cats, c.Bool(2))
				c.Fail(tensor.ErrValue, "%s", err)
			}
		},
	})
	rates("poisson(Tensor self, Generator? generator=None) -> Tensor",
		"draws from Poisson distributions with the rates in "+
			"self.\nhttps://pytorch.org/docs/stable/generated/torch.poisson.html",
		func(g *rng.Generator, d, r []float32) error { return rng.Poisson(g, d, r) },
		func(g *rng.Generator, d, r []float64) error { return rng.Poisson(g, d, r) })
	tensor.Register(tensor.Def{
		Schema: "binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor",
		Doc:    "draws from binomial distributions.\nhttps://pytorch.org/docs/stable/generated/torch.binomial.html",
		NoGrad: "random numbers",
		Infer:  func(c *Ctx) { c.Alloc(0, c.BroadcastArgs(0, 1), c.ArgDType(0)) },
		CPU: func(c *Ctx) {
			o := c.Out(0)
			n, p := tensor.New(o.Shape(), o.DType()), tensor.New(o.Shape(), o.DType())
			tensor.CopyRaw(n, c.T(0))
			tensor.CopyRaw(p, c.T(1))
			g := generator(c, 2)
			var err error
			if o.DType() == tensor.Float64 {
				err = rng.Binomial(g, tensor.Data[float64](o), tensor.Data[float64](n), tensor.Data[float64](p))
			} else {
				w := tensor.DenseAs(o, tensor.Float32)
				err = rng.Binomial(g, tensor.Data[float32](w), tensor.Data[float32](tensor.DenseAs(n, tensor.Float32)),
					tensor.Data[float32](tensor.DenseAs(p, tensor.Float32)))
				tensor.CopyRaw(o, w)
			}
			if err != nil {
				c.Fail(tensor.ErrValue, "%s", err)
			}
		},
	})
}

// quietly runs operators of a kernel, which are not recorded.
func quietly(f func()) { tensor.NoGrad(f) }

// rates declares a sampler whose parameter is a tensor.
//
//gen:rates
func rates(schema, doc string, f32 func(g *rng.Generator, d, r []float32) error,
	f64 func(g *rng.Generator, d, r []float64) error) {
	tensor.Register(tensor.Def{
		Schema: schema, Doc: doc, NoGrad: "random numbers",
		Infer: func(c *Ctx) { c.Alloc(0, c.Shape(0), c.ArgDType(0)) },
		CPU: func(c *Ctx) {
			t, o, g := c.T(0), c.Out(0), generator(c, 1)
			var err error
			if t.DType() == tensor.Float64 {
				err = f64(g, tensor.Data[float64](o), tensor.Data[float64](tensor.Dense(t)))
			} else {
				w := tensor.New(o.Shape(), tensor.Float32)
				err = f32(g, tensor.Data[float32](w), tensor.Data[float32](tensor.DenseAs(t, tensor.Float32)))
				tensor.CopyRaw(o, w)
			}
			if err != nil {
				c.Fail(tensor.ErrValue, "%s", err)
			}
		},
	})
}

// checkWeights refuses weights that are no distribution.
func checkWeights(c *Ctx, w []float64, cats int, replacement bool) {
	for len(w) > 0 {
		sum, bad := 0.0, false
		for _, x := range w[:cats] {
			bad = bad || !(x >= 0) || math.IsInf(x, 0)
			sum += x
		}
		switch {
		case bad && !replacement:
			c.Fail(tensor.ErrValue, "probability tensor contains either `inf`, `nan` or element < 0")
		case bad:
			c.Fail(tensor.ErrValue, "invalid multinomial distribution (encountering probability entry < 0)")
		case !(sum > 0):
			c.Fail(tensor.ErrValue, "invalid multinomial distribution (sum of probabilities <= 0)")
		}
		w = w[cats:]
	}
}

func orInt64(dt tensor.DType) tensor.DType {
	if dt == 0 {
		return tensor.Int64
	}
	return dt
}

func checkP(c *Ctx, p float64) {
	if !(p >= 0 && p <= 1) {
		c.Fail(tensor.ErrValue, "bernoulli_ expects p to be in [0, 1], but got p=%v", p)
	}
}

// bernoulliProbs draws ones with the probabilities in p, expanded to the shape of t.
func bernoulliProbs(c *Ctx, g *rng.Generator, t, p *T) {
	if !p.DType().IsFloat() {
		c.Fail(tensor.ErrDType, "bernoulli: expected floating-point probabilities, got %s", p.DType().ClassName())
	}
	if p.Dim() > t.Dim() {
		c.Fail(tensor.ErrShape, "the number of sizes provided (%d) must be greater or equal to the number of "+
			"dimensions in the tensor (%d)", t.Dim(), p.Dim())
	}
	pdt := tensor.Float32
	if p.DType() == tensor.Float64 {
		pdt = tensor.Float64
	}
	order := tensor.PermutedStrides(t) // the numbers go through t as it stands in memory
	probs, w := tensor.NewStrided(t.Shape(), order, pdt), tensor.NewStrided(t.Shape(), order, tensor.Float64)
	tensor.CopyRaw(probs, p)
	var err error
	if pdt == tensor.Float64 {
		err = rng.BernoulliProbs(g, flat[float64](w), flat[float64](probs))
	} else {
		err = rng.BernoulliProbs(g, flat[float64](w), flat[float32](probs))
	}
	if err != nil {
		c.Fail(tensor.ErrValue, "%s", err)
	}
	tensor.CopyRaw(t, w)
}
