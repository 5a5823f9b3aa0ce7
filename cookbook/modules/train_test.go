package modules_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/tensor"
)

// The training loop: module, loss, optimizer; then forward, zero_grad, backward, step.
func Example_trainingLoop() {
	torch.ManualSeed(0)
	model := nn.NewLinear(1, 1)
	x := torch.Arange(10.0).DivScalar(10).View([]int{10, 1})
	y := x.MulScalar(2).AddScalar(1)
	lossFn := nn.NewMSELoss()
	opt := optim.NewSGD(model.Parameters(), 0.1)

	for step := range 200 {
		loss := lossFn.Forward(model.Forward(x), y)
		if step < 2 || step == 99 || step == 199 {
			fmt.Printf("step %d: loss %.5f\n", step+1, loss.Item())
		}
		opt.ZeroGrad()
		loss.Backward()
		opt.Step()
	}
	fmt.Printf("w %.4f b %.4f\n", model.Weight.Item(), model.Bias.Item())
	// Output:
	// step 1: loss 2.20096
	// step 2: loss 1.32986
	// step 100: loss 0.01173
	// step 200: loss 0.00077
	// w 1.9056 b 1.0456
}

// groups sorts a network's parameters: weights of normalisation layers, other weights, biases.
func groups(m nn.Module) (norms, weights, biases []*torch.Tensor) {
	for c := range nn.Modules(m) {
		switch c := c.(type) {
		case *nn.BatchNorm2d:
			norms, biases = append(norms, c.Weight), append(biases, c.Bias)
		case *nn.Conv2d:
			weights = append(weights, c.Weight)
			if c.Bias != nil {
				biases = append(biases, c.Bias)
			}
		case *nn.Linear:
			weights, biases = append(weights, c.Weight), append(biases, c.Bias)
		}
	}
	return
}

func TestThreeGroups(t *testing.T) {
	net := nn.NewSequential(nn.NewConv2d(3, 8, 3, nn.Conv2dOptions{NoBias: true}), nn.NewBatchNorm2d(8), nn.NewReLU(),
		nn.NewFlatten(),
		nn.NewLinear(8, 2))
	g0, g1, g2 := groups(net)
	shapes := ""
	for _, g := range [][]*torch.Tensor{g0, g1, g2} {
		for _, p := range g {
			shapes += fmt.Sprint(p.Shape())
		}
		shapes += ";"
	}
	if shapes != "[8];[8 3 3 3][2 8];[8][2];" {
		t.Errorf("groups %s", shapes)
	}
	if g0, g1, g2 := groups(newResNet18(1000)); len(g0) != 20 || len(g1) != 21 || len(g2) != 21 {
		t.Errorf("resnet18: %d, %d, %d", len(g0), len(g1), len(g2))
	}
}

// An optimizer for the first group; the others are added with settings of their own.
func TestAddParamGroup(t *testing.T) {
	net := nn.NewSequential(nn.NewConv2d(3, 8, 3, nn.Conv2dOptions{NoBias: true}), nn.NewBatchNorm2d(8),
		nn.NewFlatten(), nn.NewLinear(8, 2))
	g0, g1, g2 := groups(net)
	optim.NewAdam(g0, 0.01, optim.AdamOptions{Betas: torch.Some([2]float64{0.937, 0.999})})
	opt := optim.NewSGD(g0, 0.01, optim.SGDOptions{Momentum: 0.937, Nesterov: true})
	opt.AddParamGroup(optim.Group{Params: g1, WeightDecay: torch.Some(0.0005)})
	opt.AddParamGroup(optim.Group{Params: g2})
	got := ""
	for _, g := range opt.ParamGroups() {
		got += fmt.Sprintf("(%d, %g) ", len(g.Params), g.Float("weight_decay"))
		if g.LR() != 0.01 || g.Float("momentum") != 0.937 {
			t.Errorf("lr %g, momentum %g: not inherited", g.LR(), g.Float("momentum"))
		}
	}
	if got != "(1, 0) (2, 0.0005) (2, 0) " {
		t.Errorf("groups %s", got)
	}
	fails(t, "optimizer got an empty parameter list", func() { optim.NewSGD(nil, 0.01) })
}

// A small rate for the pretrained part, a larger one for the head.
func TestRatePerGroup(t *testing.T) {
	m := newResNet18(1000)
	head := m.FC.Parameters()
	isHead := map[*torch.Tensor]bool{head[0]: true, head[1]: true}
	var body []*torch.Tensor
	for _, p := range m.Parameters() {
		if !isHead[p] {
			body = append(body, p)
		}
	}
	opt := optim.NewSGDGroups([]optim.Group{{Params: body, LR: torch.Some(1e-3)}, {Params: head}}, 1e-2,
		optim.SGDOptions{Momentum: 0.9, WeightDecay: 1e-4})
	got := ""
	for _, g := range opt.ParamGroups() {
		got += fmt.Sprintf("(%d, %g, %g, %g)", len(g.Params), g.LR(), g.Float("momentum"), g.Float("weight_decay"))
	}
	if got != "(60, 0.001, 0.9, 0.0001)(2, 0.01, 0.9, 0.0001)" {
		t.Errorf("groups %s", got)
	}
}

// Clipping scales all gradients together, so that their common norm is at most the bound.
func TestClipGradNorm(t *testing.T) {
	fresh := func() (x, z *torch.Tensor) {
		x, z = torch.TensorOf[float32](1, 2).SetRequiresGrad(true), torch.TensorOf[float32](2, 3).SetRequiresGrad(true)
		x.Sum().Add(z.Sum()).Backward()
		return x, z
	}
	x, z := fresh()
	near(t, utils.ClipGradNorm([]*torch.Tensor{x, z}, 1), 2)
	near(t, x.Grad(), 0.5, 0.5)
	x, _ = fresh()
	near(t, utils.ClipGradNorm([]*torch.Tensor{x}, 1), 1.4142)
	near(t, x.Grad(), 0.7071, 0.7071)

	x = torch.TensorOf[float32](1, 2).SetRequiresGrad(true)
	x.Mul(x).Sum().Backward()
	near(t, utils.ClipGradNorm([]*torch.Tensor{x}, 100), math.Sqrt(20)) // below the bound: the gradient stays
	optim.NewSGD([]*torch.Tensor{x}, 0.001).Step()
	near(t, x, 0.9980, 1.9960)
}

// Under NoGrad nothing is recorded; flatten from dimension 1 keeps the batch.
func TestFrozenFeatures(t *testing.T) {
	body := nn.NewConv2d(1, 2, 3)
	var features *torch.Tensor
	torch.NoGrad(func() {
		features = torch.Flatten(body.Forward(torch.Ones([]int{4, 1, 5, 5})), tensor.FlattenOptions{StartDim: 1})
	})
	if features.RequiresGrad() || fmt.Sprint(features.Shape()) != "[4 18]" {
		t.Errorf("shape %v, requires grad %v", features.Shape(), features.RequiresGrad())
	}
}
