package optimizers

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/serialize"
)

func params(p ...*torch.Tensor) []*torch.Tensor { return p }

func leaf(v ...float32) *torch.Tensor { return torch.TensorOf(v...).SetRequiresGrad(true) }

// One step of training: gradients away, loss, backward, step.
func Example() {
	w := leaf(1, 2)
	opt := optim.NewSGD(params(w), 0.1)
	for range 3 {
		opt.ZeroGrad()
		w.Mul(w).Sum().Backward()
		opt.Step()
	}
	fmt.Println(w)
	// Output:
	// tensor([0.5120, 1.0240], requires_grad=True)
}

// ZeroGrad drops the gradients; KeepZeros fills them with zeros.
func TestZeroGrad(t *testing.T) {
	w := leaf(1)
	opt := optim.NewSGD(params(w), 0.1)
	w.Sum().Backward()
	opt.ZeroGrad(optim.KeepZeros)
	near(t, w.Grad(), 0)
	opt.ZeroGrad()
	if w.Grad() != nil {
		t.Error("ZeroGrad must leave no gradient")
	}
}

// Plain descent and PyTorch's momentum, v = m·v + g and w -= lr·v, on a loss of slope 1 and on w².
func TestSGDRules(t *testing.T) {
	slope := func(w *torch.Tensor) *torch.Tensor { return w.Sum() }
	square := func(w *torch.Tensor) *torch.Tensor { return w.Mul(w).Sum() }
	for _, c := range []struct {
		name string
		opts optim.SGDOptions
		loss func(*torch.Tensor) *torch.Tensor
		want []float64
	}{
		{"plain, slope 1", optim.SGDOptions{}, slope, []float64{0.9, 0.8, 0.7, 0.6}},
		{"plain, w²", optim.SGDOptions{}, square, []float64{0.8, 0.64, 0.512, 0.4096}},
		{"momentum, slope 1", optim.SGDOptions{Momentum: 0.9}, slope, []float64{0.9, 0.71, 0.439, 0.0951}},
		{"momentum, w²", optim.SGDOptions{Momentum: 0.9}, square, []float64{0.8, 0.46, 0.062, -0.3086}},
		{"nesterov, w²", optim.SGDOptions{Momentum: 0.9, Nesterov: true}, square,
			[]float64{0.62, 0.2224, -0.108352, -0.324823}},
		{"dampening, w²", optim.SGDOptions{Momentum: 0.9, Dampening: 0.9}, square,
			[]float64{0.8, 0.604, 0.41552, 0.237578}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := leaf(1)
			opt := optim.NewSGD(params(w), 0.1, c.opts)
			for _, want := range c.want {
				opt.ZeroGrad()
				c.loss(w).Backward()
				opt.Step()
				near(t, w, want)
			}
		})
	}
}

// The momentum buffer sums up gradients 1, 2, 3. With dampening equal to the momentum it averages them instead, except
// that the first gradient counts in full.
func TestMomentumBuffer(t *testing.T) {
	for _, c := range []struct {
		dampening float64
		want      []float64
	}{{0, []float64{1, 2.9, 5.61}}, {0.9, []float64{1, 1.1, 1.29}}} {
		w := leaf(0)
		opt := optim.NewSGD(params(w), 0.1, optim.SGDOptions{Momentum: 0.9, Dampening: c.dampening})
		for i, want := range c.want {
			w.SetGrad(torch.TensorOf(float32(i + 1)))
			opt.Step()
			near(t, opt.State(w).Tensor("momentum_buffer"), want)
		}
	}
}

// The exponential average of 1, 2, 3, step by step and as a sum: the textbook's momentum, which SGD's is not.
func TestExponentialAverage(t *testing.T) {
	const beta = 0.9
	var v, sum float64
	for i, theta := range []float64{1, 2, 3} {
		v = beta*v + (1-beta)*theta
		sum += (1 - beta) * []float64{beta * beta, beta, 1}[i] * theta
	}
	near(t, torch.TensorOf(v, sum), 0.561, 0.561)
}

// Gradients add up over several backward passes: divide the loss by their number for the effect of a larger batch.
func TestAccumulation(t *testing.T) {
	for every, want := range map[int]float64{1: 0, 2: 0.5, 4: 0.75} {
		w := leaf(1)
		opt := optim.NewSGD(params(w), 0.1)
		for i, x := range []float64{1, 2, 3, 4} {
			w.MulScalar(x).Sum().DivScalar(every).Backward()
			if (i+1)%every == 0 {
				opt.Step()
				opt.ZeroGrad()
			}
		}
		near(t, w, want)
	}
}

// Groups have settings of their own; what a group does not set it has from the optimizer. They print as in Python.
func Example_addParamGroup() {
	torch.ManualSeed(0)
	w1 := torch.Randn([]int{2, 2}).SetRequiresGrad(true)
	w2 := torch.Randn([]int{3, 3}).SetRequiresGrad(true)
	opt := optim.NewSGD(params(w1), 0.1)
	fmt.Println(opt.ParamGroups()[0])
	opt.AddParamGroup(optim.Group{Params: params(w2), LR: torch.Some(0.0001)})
	fmt.Println(len(opt.ParamGroups()))
	fmt.Println(opt.ParamGroups()[1])
	// Output:
	// {'params': [tensor([[ 1.5410, -0.2934],
	//         [-2.1788,  0.5684]], requires_grad=True)], 'lr': 0.1, 'momentum': 0, 'dampening': 0, 'weight_decay': 0, 'nesterov': False, 'maximize': False, 'foreach': None, 'differentiable': False, 'fused': None}
	// 2
	// {'params': [tensor([[-1.0845, -1.3986,  0.4033],
	//         [ 0.8380, -0.7193, -0.4033],
	//         [-0.5966,  0.1820, -0.8567]], requires_grad=True)], 'lr': 0.0001, 'momentum': 0, 'dampening': 0, 'weight_decay': 0, 'nesterov': False, 'maximize': False, 'foreach': None, 'differentiable': False, 'fused': None}
}

// An optimizer prints its groups.
func Example_string() {
	opt := optim.NewSGD(params(leaf(1)), 0.1)
	opt.AddParamGroup(optim.Group{Params: params(leaf(2)), LR: torch.Some(0.0001)})
	fmt.Println(opt)
	// Output:
	// SGD (
	// Parameter Group 0
	//     dampening: 0
	//     differentiable: False
	//     foreach: None
	//     fused: None
	//     lr: 0.1
	//     maximize: False
	//     momentum: 0
	//     nesterov: False
	//     weight_decay: 0
	//
	// Parameter Group 1
	//     dampening: 0
	//     differentiable: False
	//     foreach: None
	//     fused: None
	//     lr: 0.0001
	//     maximize: False
	//     momentum: 0
	//     nesterov: False
	//     weight_decay: 0
	// )
}

// A parameter belongs to one group, and must be a leaf.
func TestAddParamGroupErrors(t *testing.T) {
	w := leaf(1)
	opt := optim.NewSGD(params(w), 0.1)
	fails(t, "some parameters appear in more than one parameter group",
		func() { opt.AddParamGroup(optim.Group{Params: params(w)}) })
	fails(t, "can't optimize a non-leaf Tensor",
		func() { opt.AddParamGroup(optim.Group{Params: params(w.MulScalar(2))}) })
}

// The state dict has two keys; parameters are numbers in it. A fresh optimizer remembers nothing.
func Example_stateDict() {
	opt := optim.NewSGD(params(leaf(1)), 0.1)
	fmt.Println(opt.StateDict())
	// Output:
	// {'state': {}, 'param_groups': [{'lr': 0.1, 'momentum': 0, 'dampening': 0, 'weight_decay': 0, 'nesterov': False, 'maximize': False, 'foreach': None, 'differentiable': False, 'fused': None, 'params': [0]}]}
}

// After a step with momentum the state holds a buffer for each parameter, without momentum nothing.
func TestStateAfterStep(t *testing.T) {
	w := leaf(1, 2)
	for _, momentum := range []float64{0, 0.9} {
		opt := optim.NewSGD(params(w), 0.1, optim.SGDOptions{Momentum: momentum})
		w.SetGrad(w.Detach().MulScalar(2))
		opt.Step()
		state := opt.StateDict().Get("state").(*serialize.Dict)
		if momentum == 0 {
			if state.Len() != 0 {
				t.Error("without momentum the state stays empty")
			}
			w = leaf(1, 2)
			continue
		}
		near(t, state.Get(0).(*serialize.Dict).Get("momentum_buffer").(*torch.Tensor), 2, 4)
	}
}

// Saving an optimizer and loading it into one that was made with other settings.
func TestSaveOptimizer(t *testing.T) {
	w := leaf(1, 2)
	opt := optim.NewSGD(params(w), 0.1, optim.SGDOptions{Momentum: 0.9})
	w.Mul(w).Sum().Backward()
	opt.Step()
	file := filepath.Join(t.TempDir(), "name.pkl")
	if err := torch.Save(file, opt.StateDict()); err != nil {
		t.Fatal(err)
	}

	saved, err := torch.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	other := optim.NewSGD(params(w), 0.5)
	if err := other.LoadStateDict(saved.(*serialize.Dict)); err != nil {
		t.Fatal(err)
	}
	g := other.ParamGroups()[0]
	if g.LR() != 0.1 || g.Float("momentum") != 0.9 {
		t.Error(g)
	}
	near(t, other.State(w).Tensor("momentum_buffer"), 2, 4)

	two := optim.NewSGD(params(leaf(1), leaf(2)), 0.5)
	err = two.LoadStateDict(saved.(*serialize.Dict))
	if err == nil || !strings.Contains(err.Error(),
		"loaded state dict contains a parameter group that doesn't match the size of optimizer's group") {
		t.Error(err)
	}
}

// Adam's group has twelve settings besides its parameters.
func TestAdamGroup(t *testing.T) {
	g := optim.NewAdam(params(leaf(1)), 0.001).ParamGroups()[0]
	const want = "'lr': 0.001, 'betas': (0.9, 0.999), 'eps': 1e-08, 'weight_decay': 0, 'amsgrad': False, 'maximize': " +
		"False, 'foreach': None, 'capturable': False, 'differentiable': False, 'fused': None, " +
		"'decoupled_weight_decay': False}"
	if !strings.HasSuffix(g.String(), want) {
		t.Error(g)
	}
}
