package precision

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/amp"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/tensor"
)

// two gives a parameter, its optimizer and a scaler.
func two(lr float64) (x *torch.Tensor, opt optim.Optimizer, s *amp.GradScaler) {
	x = torch.FromSlice([]float32{1, 2}, 2).SetRequiresGrad(true)
	return x, optim.NewSGD([]*torch.Tensor{x}, lr), amp.NewGradScaler(tensor.CPUDevice)
}

// The loop: forward and loss under autocast, Backward of the scaled loss outside, Step and Update of the scaler. In
// float16, the line comes out as without it.
func TestLoop(t *testing.T) {
	x := torch.Linspace(-1, 1, 64).Reshape([]int{64, 1})
	y := x.MulScalar(2).AddScalar(1)
	fit := func(on bool) (w, b float64) {
		torch.ManualSeed(0)
		line := nn.NewLinear(1, 1)
		opt := optim.NewSGD(nn.Parameters(line), 0.1)
		s := amp.NewGradScaler(tensor.CPUDevice, amp.GradScalerOptions{Disabled: !on})
		for range 200 {
			opt.ZeroGrad()
			var loss *torch.Tensor
			amp.Autocast(tensor.CPUDevice, torch.Float16, func() { loss = F.MSELoss(line.Forward(x), y) },
				amp.AutocastOptions{Disabled: !on})
			s.Scale(loss).Backward()
			s.Step(opt)
			s.Update()
		}
		return line.Weight.Item(), line.Bias.Item()
	}
	w, b := fit(true)
	if w0, b0 := fit(false); math.Abs(w-w0) > 0.01 || math.Abs(b-b0) > 0.01 || math.Abs(w-2) > 0.05 {
		t.Errorf("%v x + %v, in float32 %v x + %v", w, b, w0, b0)
	}
}

// A scaler multiplies the loss, and so every gradient, by one factor; Unscale takes it out again for clipping, and Step
// takes it out where nobody has.
func TestOneStep(t *testing.T) {
	x, opt, s := two(0.001)
	z := torch.FromSlice([]float32{2, 3}, 2).SetRequiresGrad(true)
	y := x.Sum().Add(z.Sum())
	s.Scale(y).Backward()
	near(t, y, 8)
	near(t, x.Grad(), 65536, 65536)
	s.Unscale(opt)
	near(t, x.Grad(), 1, 1)
	if got := s.GetScale(); got != 65536 {
		t.Errorf("scale %v", got)
	}
	if norm := utils.ClipGradNorm([]*torch.Tensor{x}, 1).Item(); math.Abs(norm-math.Sqrt2) > 1e-6 {
		t.Errorf("norm %v", norm)
	}
	s.Step(opt)
	near(t, x.Detach(), 0.9992929100990295, 1.9992928504943848)
	s.Update()
	if s.GetScale() != 65536 || s.GrowthTracker() != 1 {
		t.Errorf("scale %v, tracker %d", s.GetScale(), s.GrowthTracker())
	}
	// an optimizer that is called directly takes the scaled gradients
	x, opt, s = two(0.001)
	s.Scale(x.Sum()).Backward()
	opt.Step()
	near(t, x.Detach(), -64.536, -63.536)
}

// Without Disabled a scaler begins with these figures; with it, it does nothing.
func TestDefaults(t *testing.T) {
	d := amp.NewGradScaler(tensor.CPUDevice).StateDict()
	for k, want := range map[string]any{"scale": 65536.0, "growth_factor": 2.0, "backoff_factor": 0.5,
		"growth_interval": 2000, "_growth_tracker": 0} {
		if got := d.Get(k); got != want {
			t.Errorf("%s is %v, want %v", k, got, want)
		}
	}
	off := amp.NewGradScaler(tensor.CPUDevice, amp.GradScalerOptions{Disabled: true})
	near(t, off.Scale(torch.TensorOf[float32](3)), 3)
	if off.GetScale() != 1 || off.StateDict().Len() != 0 {
		t.Errorf("scale %v, state %v", off.GetScale(), off.StateDict())
	}
}

// Step is left out when a gradient is not finite, and the scale halves; after enough good steps it doubles.
func TestSkipAndGrowth(t *testing.T) {
	w := torch.TensorOf[float32](1).SetRequiresGrad(true)
	opt := optim.NewSGD([]*torch.Tensor{w}, 0.1)
	s := amp.NewGradScaler(tensor.CPUDevice, amp.GradScalerOptions{InitScale: tensor.Some(1024.0)})
	for i, factor := range []float64{1, math.NaN(), 1} {
		opt.ZeroGrad()
		s.Scale(w.MulScalar(factor)).Backward()
		s.Step(opt)
		s.Update()
		near(t, w.Detach(), []float64{0.9, 0.9, 0.8}[i])
		if want := []float64{1024, 512, 512}[i]; s.GetScale() != want {
			t.Errorf("scale %v, want %v", s.GetScale(), want)
		}
	}
	// a given zero is a zero
	s = amp.NewGradScaler(tensor.CPUDevice, amp.GradScalerOptions{BackoffFactor: tensor.Some(0.0)})
	if err := torch.Try(func() {
		amp.NewGradScaler(tensor.CPUDevice, amp.GradScalerOptions{GrowthFactor: tensor.Some(0.0)})
	}); s.GetBackoffFactor() != 0 || err == nil {
		t.Errorf("backoff factor %v, want 0; a growth factor of 0: %v", s.GetBackoffFactor(), err)
	}
	s = amp.NewGradScaler(tensor.CPUDevice, amp.GradScalerOptions{GrowthInterval: tensor.Some(2)})
	for _, want := range []float64{65536, 131072, 131072, 262144, 262144} {
		opt.ZeroGrad()
		s.Scale(w).Backward()
		s.Step(opt)
		s.Update()
		if s.GetScale() != want {
			t.Errorf("scale %v, want %v", s.GetScale(), want)
		}
	}
}

// The calls stand in an order: Unscale once, Step once, Update, and from the beginning.
func TestOrder(t *testing.T) {
	x, opt, s := two(0.1)
	fails(t, "Attempted unscale_ but _scale is None", func() { s.Unscale(opt) })
	back := func() {
		opt.ZeroGrad()
		s.Scale(x.Square().Sum()).Backward()
	}
	back()
	fails(t, "No inf checks were recorded prior to update.", func() { s.Update() })
	s.Unscale(opt)
	fails(t, "unscale_() has already been called on this optimizer since the last update().", func() { s.Unscale(opt) })
	s.Step(opt)
	fails(t, "step() has already been called since the last update().", func() { s.Step(opt) })
	fails(t, "unscale_() is being called after step().", func() { s.Unscale(opt) })
	s.Update()
	back()
	s.Unscale(opt)
	s.Update() // a step may be left out
	nothing := optim.NewSGD([]*torch.Tensor{torch.Ones([]int{1}).SetRequiresGrad(true)}, 0.1)
	fails(t, "No inf checks were recorded for this optimizer.", func() { s.Step(nothing) })
}

// Explicit and implicit unscaling end in the same parameters, bit for bit, and clipping stands between them.
func TestExplicitUnscale(t *testing.T) {
	run := func(explicit bool) *torch.Tensor {
		x, opt, s := two(0.001)
		s.Scale(x.Square().Sum()).Backward()
		if explicit {
			s.Unscale(opt)
			utils.ClipGradNorm([]*torch.Tensor{x}, 100)
		}
		s.Step(opt)
		s.Update()
		return x.Detach()
	}
	a, b := run(true), run(false)
	near(t, a, 0.998, 1.996)
	if !a.Equal(b) {
		t.Errorf("%v and %v", a, b)
	}
}

// One scaler serves several optimizers: each is unscaled and stepped once, and Update is for all. The step of one is
// left out alone when its gradients are not finite.
func TestSeveralOptimizers(t *testing.T) {
	x, opt, s := two(0.1)
	y, other, _ := two(0.1)
	s.Scale(x.Sum().Add(y.MulScalar(math.Inf(1)).Sum())).Backward()
	s.Unscale(opt)
	if !s.Step(opt) || s.Step(other) {
		t.Error("the wrong step was left out")
	}
	s.Update()
	near(t, x.Detach(), 0.9, 1.9)
	near(t, y.Detach(), 1, 2)
	if s.GetScale() != 32768 {
		t.Errorf("scale %v", s.GetScale())
	}
}
