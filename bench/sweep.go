package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// sweepElements is the number of elements of the largest tensor of a call in the sweep.
const sweepElements = 1e6

// sweepLimit is how long one call of ours may take; calls on fewer elements are tried where it takes longer.
const sweepLimit = 300 * time.Millisecond

// sweepRows times every public operator of the registry on the first of its samples, with tensors of about a million
// elements: forward, and forward and backward where it has a gradient. The peer calls the same operator by its name.
func sweepRows(c *config) []row {
	var rows []row
	for _, op := range tensor.Ops() {
		if !op.IsPublic() || op.IsVariant() || op.IsAlias() || op.Sch.Namespace != "aten" {
			continue
		}
		calls := op.Samples()
		if len(calls) == 0 || largest(calls[0].Args) == 0 {
			continue
		}
		for _, backward := range []bool{false, true} {
			if backward && (calls[0].NoGrad || !hasGradient(op, calls[0].Args)) {
				continue
			}
			name := op.FullName()
			if backward {
				name += ", forward and backward"
			}
			args := arg{}
			rows = append(rows, row{name: name, peer: "sweep", args: args, prepare: func() work {
				return sweepWork(c, op, calls[0].Args, backward, args)
			}})
		}
	}
	return rows
}

// hasGradient reports that a call with these arguments has a gradient.
func hasGradient(op *tensor.Op, sample []tensor.Value) bool {
	if op.NoGrad != "" || op.Sch.Params[0].Writes {
		return false
	}
	same := func(sh []int) []int { return sh }
	ok := false
	err := torch.Try(func() {
		in, _ := enlarged(sample, same, true)
		_, err := sweepStep(op, in, true)
		ok = err == nil
	})
	return ok && err == nil
}

// largest is the number of elements of the largest tensor.
func largest(args []tensor.Value) int {
	n := 0
	eachTensor(args, func(t *torch.Tensor) { n = max(n, t.Numel()) })
	return n
}

func eachTensor(args []tensor.Value, f func(t *torch.Tensor)) {
	for _, a := range args {
		if l, ok := a.X.([]*torch.Tensor); ok {
			for _, t := range l {
				if t != nil {
					f(t)
				}
			}
		} else if a.T != nil {
			f(a.T)
		}
	}
}

// sweepWork prepares a call on large tensors and writes what the peer has to call into args. All sizes are enlarged
// alike, so that those that must be equal stay so, or else, where the operator refuses that, the first size alone.
func sweepWork(c *config, op *tensor.Op, sample []tensor.Value, backward bool, args arg) work {
	n := float64(c.size(sweepElements, 100))
	var err error
	for ; n >= 1; n /= 8 {
		for _, all := range []bool{true, false} {
			shape := enlarge(sample, n, all)
			in, described := enlarged(sample, shape, backward)
			var step func()
			if step, err = sweepStep(op, in, backward); err != nil {
				continue
			}
			if err = torch.Try(step); err != nil {
				continue
			}
			start := time.Now()
			step()
			if took := time.Since(start); took > sweepLimit {
				break
			}
			args["op"], args["args"], args["backward"] = op.FullName(), described, backward
			return work{step: step, grad: backward}
		}
	}
	if err == nil {
		err = fmt.Errorf("takes more than %v on every size", sweepLimit)
	}
	check(err)
	return work{}
}

// sweepStep is the call. Tidy frees its results, as Python's counts of references free those of the peer.
func sweepStep(op *tensor.Op, in []tensor.Value, backward bool) (func(), error) {
	if !backward {
		if _, err := op.Call(in...); err != nil {
			return nil, err
		}
		return func() {
			torch.Tidy(func() {
				_, err := op.Call(in...)
				check(err)
			})
		}, nil
	}
	var leaves []*torch.Tensor
	eachTensor(in, func(t *torch.Tensor) {
		if t.RequiresGrad() {
			leaves = append(leaves, t)
		}
	})
	results := func() (outs []*torch.Tensor) {
		res, err := op.Call(in...)
		check(err)
		eachTensor(res, func(t *torch.Tensor) {
			if t.RequiresGrad() {
				outs = append(outs, t)
			}
		})
		return outs
	}
	var ones []*torch.Tensor
	err := torch.Try(func() {
		for _, t := range results() {
			ones = append(ones, torch.OnesLike(t.Detach()))
		}
	})
	if err == nil && len(ones)*len(leaves) == 0 {
		err = fmt.Errorf("%s: no result depends on an argument", op.FullName())
	}
	return func() {
		torch.Tidy(func() {
			torch.Grad(results(), leaves, torch.GradOptions{GradOutputs: ones, AllowUnused: true})
		})
	}, err
}

// enlarge is a rule for sizes that makes the largest tensor of a sample n elements large.
func enlarge(sample []tensor.Value, n float64, all bool) func(sh []int) []int {
	var top []int
	have := largest(sample)
	eachTensor(sample, func(t *torch.Tensor) {
		if t.Numel() == have && top == nil {
			top = t.Shape()
		}
	})
	by := n / float64(have)
	if all {
		by = math.Pow(by, 1/float64(max(len(top), 1)))
	}
	k := max(1, int(by))
	return func(sh []int) []int {
		sh = slices.Clone(sh)
		for i, s := range sh {
			if s > 1 && (all || i == 0 && len(top) > 0 && s == top[0]) {
				sh[i] = s * k
			}
		}
		return sh
	}
}

// enlarged makes the arguments, and describes them for the peer: random numbers in the range of the sample's.
func enlarged(sample []tensor.Value, shape func([]int) []int, backward bool) (in []tensor.Value, described []any) {
	one := func(t *torch.Tensor) (*torch.Tensor, any) {
		if t == nil {
			return nil, nil
		}
		low, high := extent(t)
		sh := shape(t.Shape())
		grad, rising := backward && t.DType().IsDifferentiable(), rises(t)
		return random(sh, t.DType(), low, high, grad, rising),
			arg{"shape": sh, "dtype": t.DType().Name(), "low": low, "high": high,
				"grad": grad, "rising": rising}
	}
	for _, a := range sample {
		var d any
		switch a.K {
		case tensor.KTensor:
			t, desc := one(a.T)
			a, d = tensor.TensorValue(t), arg{"tensor": desc}
		case tensor.KTensors:
			var l []*torch.Tensor
			var descs []any
			for _, t := range a.X.([]*torch.Tensor) {
				x, desc := one(t)
				l, descs = append(l, x), append(descs, desc)
			}
			a, d = tensor.TensorsValue(l), arg{"tensors": descs}
		case tensor.KFloat:
			d = arg{"float": fmt.Sprint(a.Float())}
		case tensor.KComplex:
			z := a.X.(complex128)
			d = arg{"complex": []float64{real(z), imag(z)}}
		case tensor.KDType, tensor.KFormat:
			d = arg{"torch": a.String()}
			if a.K == tensor.KDType {
				d = arg{"torch": tensor.DType(a.N).Name()}
			}
		case tensor.KBool:
			d = arg{"value": a.N != 0}
		case tensor.KInt:
			d = arg{"value": a.N}
		case tensor.KBools:
			var l []bool
			for _, x := range a.Ints() {
				l = append(l, x != 0)
			}
			d = arg{"value": l}
		default:
			d = arg{"value": a.X}
		}
		in, described = append(in, a), append(described, d)
	}
	return in, described
}

// extent is the range of a tensor's numbers; of complex ones, that of both parts.
func extent(t *torch.Tensor) (low, high float64) {
	if t.Numel() == 0 || t.DType() == torch.Bool {
		return 0, 1
	}
	if t.IsComplex() {
		t = torch.ViewAsReal(t)
	}
	x := t.Contiguous().To(torch.Float64)
	return x.Min().Num().F, x.Max().Num().F
}

// rises reports that the rows of a tensor of floats, at least three numbers each, are in rising order: they may be
// edges of bins, whose order operators rely on.
func rises(t *torch.Tensor) bool {
	if !t.IsFloatingPoint() || t.Dim() == 0 || t.Size(-1) < 3 {
		return false
	}
	return t.Diff().Min().Num().F > 0
}

// random is a tensor of evenly distributed numbers, sorted along rows where they shall rise.
func random(shape []int, dt torch.DType, low, high float64, grad, rising bool) *torch.Tensor {
	r := rand.New(rand.NewPCG(1, 2))
	n := torch.Size(shape).Numel()
	if dt.IsComplex() {
		n *= 2
	}
	v := make([]float64, n)
	for i := range v {
		if v[i] = low + (high-low)*r.Float64(); dt.IsIntOrBool() {
			v[i] = low + math.Floor((high-low+1)*r.Float64())
		}
	}
	var t *torch.Tensor
	if dt.IsComplex() {
		t = torch.ViewAsComplex(torch.FromSlice(v, append(slices.Clone(shape), 2)...)).To(dt)
	} else {
		t = torch.FromSlice(v, shape...).To(dt)
	}
	if rising {
		t, _ = t.Sort()
	}
	t.SetRequiresGrad(grad)
	return t
}

// ranked prints the rows of the sweep that a peer has measured, too, the slowest in comparison first, and how many
// there are below some ratios.
func ranked(w io.Writer, results []result) {
	var l []result
	for _, r := range results {
		if r.Suite == "sweep" && r.Ratio != nil {
			l = append(l, r)
		}
	}
	if len(l) == 0 {
		return
	}
	sort.SliceStable(l, func(i, j int) bool { return *l[i].Ratio < *l[j].Ratio })
	half, one := 0, 0
	fmt.Fprintf(w, "\nby ratio\n")
	for _, r := range l {
		fmt.Fprintf(w, "%7.2f  %s\n", *r.Ratio, r.Name)
		if *r.Ratio < 0.5 {
			half++
		}
		if *r.Ratio < 1 {
			one++
		}
	}
	fmt.Fprintf(w, "%d rows, %d below 0.5, %d (%.1f %%) below 1\n", len(l), half, one, 100*float64(one)/float64(len(l)))
}
