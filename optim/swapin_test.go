package optim_test

import (
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/serialize"
)

// A step inside changes what was swapped in, to what an optimizer of those parameters and that state would make of
// them; the optimizer's own parameters, state and settings stay.
func TestSwapInOptimizerParamsAndState(t *testing.T) {
	leaf := func(x ...float32) *torch.Tensor { return torch.FromSlice(x).SetRequiresGrad(true) }
	step := func(o optim.Optimizer, p *torch.Tensor) {
		o.ZeroGrad()
		p.Mul(p).Sum().Backward()
		o.Step()
	}
	p, q, want := leaf(1, 2), leaf(3, 4), leaf(3, 4)
	opt := optim.NewAdam([]*torch.Tensor{p}, 0.1)
	other := optim.NewAdam([]*torch.Tensor{want}, 0.5)
	if err := optim.SwapInOptimizerParamsAndState(opt, []*torch.Tensor{q}, opt.StateDict(), func() {}); err == nil {
		t.Error("no state yet: no error")
	}
	step(opt, p)
	step(other, want)
	torch.NoGrad(func() { q.CopyInPlace(want) })
	state := serialize.NewDict()
	for k, v := range other.StateDict().All() { // with tensors of their own
		state.Set(k, v)
	}
	average := other.State(want).Tensor("exp_avg").Clone()
	own := other.State(want)
	entries := serialize.NewDict("step", own.Get("step").(*torch.Tensor).Clone(), "exp_avg", average, "exp_avg_sq",
		own.Tensor("exp_avg_sq").Clone())
	all := serialize.NewDict()
	all.Set(0, entries)
	state.Set("state", all)
	before, mean := p.Detach().Clone(), opt.State(p).Tensor("exp_avg").Clone()
	err := optim.SwapInOptimizerParamsAndState(opt, []*torch.Tensor{q}, state, func() {
		if opt.ParamGroups()[0].LR() != 0.5 || opt.State(q) == nil || opt.State(p) != nil {
			t.Error("settings or state inside")
		}
		step(opt, q)
	})
	if err != nil {
		t.Fatal(err)
	}
	step(other, want)
	if !q.Equal(want) || !average.Equal(other.State(want).Tensor("exp_avg")) {
		t.Errorf("swapped in: %v with average %v, want %v, %v", q, average, want, other.State(want).Tensor("exp_avg"))
	}
	if g := opt.ParamGroups()[0]; !p.Detach().Equal(before) || !opt.State(p).Tensor("exp_avg").Equal(mean) ||
		opt.State(q) != nil || g.LR() != 0.1 || !slices.Equal(g.Params, []*torch.Tensor{p}) {
		t.Errorf("after it: %v, %v, rate %v", p, opt.State(p), g.LR())
	}
	step(opt, p) // it works on
	for name, c := range map[string]struct {
		params []*torch.Tensor
		avg    *torch.Tensor
	}{
		"no parameters":     {nil, average},
		"another shape":     {[]*torch.Tensor{leaf(1)}, average},
		"an integer":        {[]*torch.Tensor{torch.FromSlice([]int64{1, 2})}, average},
		"another type":      {[]*torch.Tensor{q}, average.Double()},
		"a state too short": {[]*torch.Tensor{q}, average.Narrow(0, 0, 1)},
		"other strides":     {[]*torch.Tensor{q}, average.Narrow(0, 0, 1).Expand([]int{2})},
	} {
		entries.Set("exp_avg", c.avg)
		called := false
		err := optim.SwapInOptimizerParamsAndState(opt, c.params, state, func() { called = true })
		if err == nil || called {
			t.Errorf("%s: %v", name, err)
		}
	}
}
