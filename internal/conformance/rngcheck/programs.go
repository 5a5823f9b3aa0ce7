package rngcheck

import (
	"context"
	"encoding/json"
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

func rand(n ...int) *tensor.Tensor { return op("rand", nil, sizes(n)) }
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

func seeded(n int64) *tensor.Generator { return rng.New().ManualSeed(n) }

func state() []byte { return rng.Default.State() }

func setState(s []byte) {
	if err := rng.Default.SetState(s); err != nil {
		panic(err)
	}
}

func setSeed(n int64) { rng.Default.ManualSeed(n) }

func initialSeed() uint64 { return rng.Default.InitialSeed() }

// runProgram runs a case that is given by its expression.
func runProgram(c *caseRecord) (tensors, error) {
	const bytesAfter = "full get_rng_state() bytes after "
	if c.Case == "seeds" { // what its note says: five seeds, rand(2) after each
		var out tensors
		for _, s := range []uint64{uint64(c.Seed), 1<<64 - 1, 1 << 32, 1 << 63, 1<<63 + 5} {
			rng.Default.ManualSeedUint64(s)
			out = append(out, rand(2))
		}
		return out, nil
	}
	if what, ok := strings.CutPrefix(c.Case, bytesAfter); ok {
		drawn := *c
		drawn.Case = what
		if _, ok := draws(&drawn); ok {
			return tensors{tensor.FromSlice(state())}, nil
		}
	}
	if out, ok := ofLayer(c.Case); ok {
		return out, nil
	}
	if out, ok := ofData(c); ok {
		return out, nil
	}
	if out, ok := draws(c); ok {
		return out, nil
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
