package rngcheck

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/gotorch-dev/torch/data"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/opcheck"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/rng"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
)

type tensors = []*tensor.Tensor

// op calls an operator; a missing one skips the case.
func op(name string, kwargs map[string]any, args ...any) *tensor.Tensor {
	names := opcheck.Names("torch." + name)
	if !opcheck.Exists(names) {
		panic(golden.Skip("operator not there yet: " + names[0]))
	}
	t, err := opcheck.CallTensor(names, args, kwargs)
	if err != nil {
		panic(err)
	}
	return t
}

func sizes(n []int) golden.List {
	l := golden.List{}
	for _, i := range n {
		l = append(l, i)
	}
	return l
}

func rand(n ...int) *tensor.Tensor  { return op("rand", nil, sizes(n)) }
func randn(n ...int) *tensor.Tensor { return op("randn", nil, sizes(n)) }
func rand64(n ...int) *tensor.Tensor {
	return op("rand", map[string]any{"dtype": tensor.Float64}, sizes(n))
}
func randn64(n ...int) *tensor.Tensor {
	return op("randn", map[string]any{"dtype": tensor.Float64}, sizes(n))
}

func with(g *tensor.Generator, name string, n ...int) *tensor.Tensor {
	return op(name, map[string]any{"generator": g}, sizes(n))
}

func tail(t *tensor.Tensor, n int) *tensor.Tensor {
	return t.Narrow(0, t.Size(0)-n, n).Clone()
}

func indices(seq iter.Seq[int]) *tensor.Tensor {
	l := []int64{}
	for i := range seq {
		l = append(l, int64(i))
	}
	return tensor.FromSlice(l)
}

// numbers is a dataset whose samples are their own numbers.
type numbers int

func (n numbers) Len() int                 { return int(n) }
func (n numbers) Get(i int) (int64, error) { return int64(i), nil }

func loader(n int, o data.LoaderOptions) *data.DataLoader[int64, []int64] {
	o.BatchSize = max(o.BatchSize, 5)
	return data.NewCollatedLoader(data.Dataset[int64](numbers(n)), func(s []int64) ([]int64, error) { return s, nil },
		o)
}

func epoch(l *data.DataLoader[int64, []int64]) *tensor.Tensor {
	all := []int64{}
	for b, err := range l.Iter(context.Background()) {
		if err != nil {
			panic(err)
		}
		all = append(all, b...)
	}
	return tensor.FromSlice(all)
}

func split(parts []*data.Subset[int64], err error) tensors {
	if err != nil {
		panic(err)
	}
	var out tensors
	for _, p := range parts {
		l := []int64{}
		for _, i := range p.Indices {
			l = append(l, int64(i))
		}
		out = append(out, tensor.FromSlice(l))
	}
	return out
}

func seeded(n int64) *tensor.Generator { return rng.New().ManualSeed(n) }

// programs are the cases that the data give as an expression only, written out.
var programs = map[string]func(c *caseRecord) tensors{
	"randn(1),randn(16),rand(3),randn(1)": func(*caseRecord) tensors {
		return tensors{randn(1), randn(16), rand(3),
			randn(1)}
	},
	"rand(3),randn(17),randn(3),rand(2)": func(*caseRecord) tensors {
		return tensors{rand(3), randn(17), randn(3),
			rand(2)}
	},
	"randn(3),log_normal_(2),randn(2,f64),rand(1)": func(*caseRecord) tensors {
		return tensors{randn(3), op("Tensor.log_normal_", nil,
			tensor.NewOn(golden.Device, []int{2}, nil, tensor.Float32)), randn64(2), rand(1)}
	},
	"randn(1),manual_seed(5),randn(1),initial_seed": func(*caseRecord) tensors {
		a := randn(1)
		rng.Default.ManualSeed(5)
		return tensors{a, randn(1), tensor.FromSlice([]int64{int64(rng.Default.InitialSeed())}, []int{}...)}
	},
	"randn(5),_standard_gamma(2.)x5,randn(3)": func(*caseRecord) tensors {
		return tensors{randn(5), op("_standard_gamma", nil, tensor.FromSlice([]float32{2, 2, 2, 2, 2})), randn(3)}
	},
	"rand(1),rand(1,f64),randint(0,9,(3,)),randperm(5),rand(1)": func(*caseRecord) tensors {
		return tensors{rand(1), rand64(1), op("randint", nil, 0, 9, golden.List{3}), op("randperm", nil, 5), rand(1)}
	},
	"10 x randn(3)": func(*caseRecord) (out tensors) {
		for range 10 {
			out = append(out, randn(3))
		}
		return out
	},
	"randn(2,3),randn(4,4),randn(15),randn(2,2,2)": func(*caseRecord) tensors {
		return tensors{randn(2, 3), randn(4, 4),
			randn(15), randn(2, 2, 2)}
	},
	"randn(1); s=get_rng_state; a=randn(3); b=rand(700); set_rng_state(s); [a, randn(3), b[-3:], rand(700)[-3:]]": func(*caseRecord) tensors {
		randn(1)
		s := rng.Default.State()
		a, b := randn(3), rand(700)
		if err := rng.Default.SetState(s); err != nil {
			panic(err)
		}
		return tensors{a, randn(3), tail(b, 3), tail(rand(700), 3)}
	},
	"q=Generator(seed+1): rand(3,q),rand(3),randn(3,q),randn(3); r=copy of q: randn(2,q),randn(2,r),randperm(5,r)": func(c *caseRecord) tensors {
		q := seeded(c.Seed + 1)
		out := tensors{with(q, "rand", 3), rand(3), with(q, "randn", 3), randn(3)}
		r := q.Clone()
		return append(out, with(q, "randn", 2), with(r, "randn", 2), op("randperm", map[string]any{"generator": r}, 5))
	},
	"rand(2); fork_rng: rand(5),randn(1); rand(2)": func(*caseRecord) tensors {
		a, s := rand(2), rng.Default.State()
		rand(5)
		b := randn(1)
		if err := rng.Default.SetState(s); err != nil {
			panic(err)
		}
		return tensors{a, b, rand(2)}
	},
	"randn(1)":          func(*caseRecord) tensors { return tensors{randn(1)} },
	"randn(2)":          func(*caseRecord) tensors { return tensors{randn(2)} },
	"randn(17)":         func(*caseRecord) tensors { return tensors{randn(17)} },
	"rand(7,f64)":       func(*caseRecord) tensors { return tensors{rand64(7)} },
	"randn(1),randn(1)": func(*caseRecord) tensors { return tensors{randn(1), randn(1)} },
	"seeds": func(c *caseRecord) (out tensors) {
		for _, s := range []uint64{uint64(c.Seed), 1<<64 - 1, 1 << 32, 1 << 63, 1<<63 + 5} {
			rng.Default.ManualSeedUint64(s)
			out = append(out, rand(2))
		}
		return out
	},
	"full get_rng_state() bytes after rand(5), randn(1)": func(*caseRecord) tensors {
		rand(5)
		randn(1)
		return tensors{tensor.FromSlice(rng.Default.State())}
	},

	"x=arange(1.,61.)/7-3; dropout(x,.3,inplace) then dropout(x,.3)": func(*caseRecord) tensors {
		a := op("nn.functional.dropout", nil, ramp(), .3, true, true)
		return tensors{a, op("nn.functional.dropout", nil, ramp(), .3)}
	},
	"x=arange(1.,61.)/7-3; dropout(x,.3), grad of its sum": func(*caseRecord) tensors {
		return withGrad(func(x *tensor.Tensor) *tensor.Tensor { return op("nn.functional.dropout", nil, x, .3) })
	},
	"x=arange(1.,61.)/7-3; rrelu(x,training), grad of its sum": func(*caseRecord) tensors {
		return withGrad(func(x *tensor.Tensor) *tensor.Tensor {
			return op("nn.functional.rrelu", map[string]any{"training": true}, x)
		})
	},
	"x=arange(1.,61.)/7-3; _standard_gamma(exp(x)), grad of its sum": func(*caseRecord) tensors {
		return withGrad(func(x *tensor.Tensor) *tensor.Tensor { return op("_standard_gamma", nil, op("exp", nil, x)) })
	},
	"x=arange(1.,61.)/7-3; bernoulli(x,p=.6)": func(*caseRecord) tensors {
		return tensors{op("bernoulli",
			map[string]any{"p": .6}, ramp())}
	},

	"RandomSampler(range(20),generator=Generator(5)), then rand(1)": func(*caseRecord) tensors {
		return tensors{indices(data.NewRandomSampler(20, data.RandomOptions{Generator: seeded(5)}).Indices()), rand(1)}
	},
	"RandomSampler(range(20)) twice, then rand(1)": func(*caseRecord) tensors {
		s := data.NewRandomSampler(20)
		return tensors{indices(s.Indices()), indices(s.Indices()), rand(1)}
	},
	"RandomSampler(range(20),num_samples=45)": func(*caseRecord) tensors {
		return tensors{indices(data.NewRandomSampler(20, data.RandomOptions{NumSamples: 45}).Indices())}
	},
	"RandomSampler(range(20),replacement=True,num_samples=70)": func(*caseRecord) tensors {
		return tensors{indices(data.NewRandomSampler(20,
			data.RandomOptions{NumSamples: 70, Replacement: true}).Indices())}
	},
	"RandomSampler(range(20),replacement=True)": func(*caseRecord) tensors {
		return tensors{indices(data.NewRandomSampler(20, data.RandomOptions{Replacement: true}).Indices())}
	},
	"DataLoader(arange(17),5,shuffle=True,drop_last=True)": func(*caseRecord) tensors {
		return tensors{epoch(loader(17, data.LoaderOptions{Shuffle: true, DropLast: true}))}
	},
	"DataLoader(arange(17),5,shuffle=True,generator=Generator(9)) 2 epochs, then rand(1)": func(*caseRecord) tensors {
		l := loader(17, data.LoaderOptions{Shuffle: true, Generator: seeded(9)})
		return tensors{epoch(l), epoch(l), rand(1)}
	},
	"DataLoader(arange(17),5) 1 epoch, then rand(1)": func(*caseRecord) tensors {
		return tensors{epoch(loader(17, data.LoaderOptions{})), rand(1)}
	},
	"DataLoader(arange(17),5,shuffle=True): first batch only, then rand(1)": func(*caseRecord) tensors {
		for b, err := range loader(17, data.LoaderOptions{Shuffle: true}).Iter(context.Background()) {
			if err != nil {
				panic(err)
			}
			return tensors{tensor.FromSlice(b), rand(1)}
		}
		return nil
	},
	"DataLoader(arange(17),5,shuffle=True): iter() without next, then rand(1)": func(*caseRecord) tensors {
		e := loader(17, data.LoaderOptions{Shuffle: true}).Begin(context.Background())
		defer e.Close()
		return tensors{rand(1)}
	},
	"DataLoader(arange(17),5,sampler=SubsetRandomSampler([1,3,..,15]))": func(*caseRecord) tensors {
		return tensors{epoch(loader(17, data.LoaderOptions{Sampler: data.NewSubsetRandomSampler([]int{1, 3, 5, 7, 9, 11,
			13, 15}, nil)}))}
	},
	"DataLoader(arange(17),5,shuffle=True,num_workers=2) 1 epoch, then rand(1)": func(*caseRecord) tensors {
		return tensors{epoch(loader(17, data.LoaderOptions{Shuffle: true, Workers: 2})), rand(1)}
	},
	"random_split(10,[3,7])": func(*caseRecord) tensors {
		return split(data.RandomSplit[int64](numbers(10), []int{3, 7},
			nil))
	},
	"random_split(11,[.3,.3,.4])": func(*caseRecord) tensors {
		return split(data.RandomSplitFractions[int64](numbers(11), []float64{.3, .3, .4}, nil))
	},
	"random_split(10,[3,7],Generator(5)), then rand(1)": func(*caseRecord) tensors {
		return append(split(data.RandomSplit[int64](numbers(10), []int{3, 7}, seeded(5))), rand(1))
	},
	"WeightedRandomSampler(W,20)": func(c *caseRecord) tensors {
		return tensors{indices(data.NewWeightedRandomSampler(c.W, 20).Indices())}
	},
	"WeightedRandomSampler(W,6,replacement=False)": func(c *caseRecord) tensors {
		return tensors{indices(data.NewWeightedRandomSampler(c.W, 6,
			data.WeightedOptions{NoReplacement: true}).Indices())}
	},
	"WeightedRandomSampler(W,20,generator=Generator(5)), then rand(1)": func(c *caseRecord) tensors {
		return tensors{indices(data.NewWeightedRandomSampler(c.W, 20,
			data.WeightedOptions{Generator: seeded(5)}).Indices()), rand(1)}
	},
	"SubsetRandomSampler([0,3,..,33])": func(*caseRecord) tensors {
		l := []int{}
		for i := 0; i <= 33; i += 3 {
			l = append(l, i)
		}
		return tensors{indices(data.NewSubsetRandomSampler(l, nil).Indices())}
	},
	"DistributedSampler(range(11),2,0,shuffle,seed=3) epochs 0,1": func(*caseRecord) tensors { return distributed(0) },
	"DistributedSampler(range(11),2,1,shuffle,seed=3) epochs 0,1": func(*caseRecord) tensors { return distributed(1) },
}

// ramp is arange(1., 61.)/7 - 3.
func ramp() *tensor.Tensor {
	l := make([]float32, 60)
	for i := range l {
		q := float32(i+1) / 7
		l[i] = q - 3
	}
	return tensor.FromSlice(l)
}

func withGrad(f func(x *tensor.Tensor) *tensor.Tensor) tensors {
	x := ramp().SetRequiresGrad(true)
	y := f(x)
	if !y.RequiresGrad() {
		panic(golden.Skip("the operator has no gradient yet"))
	}
	op("sum", nil, y).Backward()
	return tensors{y, x.Grad()}
}

func distributed(rank int) tensors {
	s := data.NewDistributedSampler(11, 2, rank, data.DistributedOptions{Seed: 3})
	a := indices(s.Indices())
	s.SetEpoch(1)
	return tensors{a, indices(s.Indices())}
}

// runProgram runs a case that is given by its expression.
func runProgram(c *caseRecord) (tensors, error) {
	if f := programs[c.Case]; f != nil {
		return f(c), nil
	}
	var n, batch int
	switch {
	case strings.HasSuffix(c.Case, " x rand(1)"):
		if _, err := fmt.Sscanf(c.Case, "%d x", &n); err == nil {
			last := rand(0)
			for range n {
				last = rand(1)
			}
			return tensors{last}, nil
		}
	case strings.HasPrefix(c.Case, "RandomSampler(range("):
		if _, err := fmt.Sscanf(c.Case, "RandomSampler(range(%d))", &n); err == nil {
			return tensors{indices(data.NewRandomSampler(n).Indices())}, nil
		}
	case strings.HasSuffix(c.Case, "3 epochs, then rand(1)"):
		if _, err := fmt.Sscanf(c.Case, "DataLoader(arange(%d),%d", &n, &batch); err == nil {
			l := loader(n, data.LoaderOptions{Shuffle: true, BatchSize: batch})
			return tensors{epoch(l), epoch(l), epoch(l), rand(1)}, nil
		}
	}
	return nil, golden.Skip("no program for " + c.Case)
}

// runInit applies a function of nn.init to zeros.
func runInit(c *caseRecord) (tensors, error) {
	var args []any
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return nil, err
	}
	num := func(i int, def float64) float64 {
		if i < len(args) {
			return args[i].(float64)
		}
		return def
	}
	opt := func(i int) tensor.Opt[float64] {
		if i < len(args) {
			return tensor.Some(num(i, 0))
		}
		return tensor.Opt[float64]{}
	}
	dt := tensor.Float32
	if c.DType != "" {
		if dt = dtype.Parse(c.DType); dt == 0 {
			return nil, golden.Skip("dtype " + c.DType)
		}
	}
	t := tensor.NewOn(golden.Device, c.Shape, nil, dt)
	tensor.ZeroRaw(t)
	kaiming := nninit.KaimingOptions{A: num(0, 0)}
	if len(args) > 1 && args[1] == "fan_out" {
		kaiming.Mode = nninit.FanOut
	}
	if len(args) > 2 {
		kaiming.Nonlinearity, _ = args[2].(string)
	}
	switch c.Fn {
	case "uniform_":
		nninit.Uniform(t, num(0, 0), num(1, 1))
	case "normal_":
		nninit.Normal(t, num(0, 0), num(1, 1))
	case "constant_":
		nninit.Constant(t, num(0, 0))
	case "ones_":
		nninit.Ones(t)
	case "zeros_":
		nninit.Zeros(t)
	case "eye_":
		nninit.Eye(t)
	case "dirac_":
		nninit.Dirac(t, nninit.DiracOptions{Groups: int(num(0, 1))})
	case "xavier_uniform_":
		nninit.XavierUniform(t, nninit.XavierOptions{Gain: opt(0)})
	case "xavier_normal_":
		nninit.XavierNormal(t, nninit.XavierOptions{Gain: opt(0)})
	case "kaiming_uniform_":
		nninit.KaimingUniform(t, kaiming)
	case "kaiming_normal_":
		nninit.KaimingNormal(t, kaiming)
	case "trunc_normal_":
		nninit.TruncNormal(t, nninit.TruncNormalOptions{Mean: num(0, 0), Std: opt(1), A: opt(2), B: opt(3)})
	case "orthogonal_":
		nninit.Orthogonal(t, nninit.OrthogonalOptions{Gain: opt(0)})
	case "sparse_":
		var o nninit.SparseOptions
		if len(args) > 1 {
			o.Std = opt(1)
		}
		nninit.Sparse(t, num(0, 0), o)
	default:
		return nil, golden.Skip("no init." + c.Fn)
	}
	return tensors{t}, nil
}
