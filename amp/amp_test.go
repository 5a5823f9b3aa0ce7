package amp_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/amp"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/tensor"
)

func ExampleAutocast() {
	w := torch.Ones([]int{3, 4}).SetRequiresGrad(true)
	x := torch.Ones([]int{2, 3})
	var y, loss *torch.Tensor
	amp.Autocast(tensor.CPUDevice, torch.BFloat16, func() {
		y = x.MatMul(w)
		loss = y.Sum()
	})
	loss.Backward()
	fmt.Println(y.DType(), w.Grad().DType())
	// Output: torch.bfloat16 torch.float32
}

func ExampleGradScaler() {
	p := torch.Ones([]int{2}).SetRequiresGrad(true)
	opt := optim.NewSGD([]*torch.Tensor{p}, 0.5)
	scaler := amp.NewGradScaler(tensor.CPUDevice, amp.GradScalerOptions{InitScale: tensor.Some(1024.0)})
	for _, factor := range []float64{1, math.Inf(1)} {
		opt.ZeroGrad()
		scaler.Scale(p.MulScalar(factor).Sum()).Backward()
		stepped := scaler.Step(opt)
		scaler.Update()
		fmt.Println(stepped, p.Detach(), scaler.GetScale())
	}
	// Output:
	// true tensor([0.5000, 0.5000]) 1024
	// false tensor([0.5000, 0.5000]) 512
}

// A sparse gradient is unscaled, and looked at, through its values.
func TestScalerSparse(t *testing.T) {
	e := nn.NewEmbedding(5, 2, nn.EmbeddingOptions{Sparse: true})
	nninit.Ones(e.Weight)
	opt := optim.NewSGD(nn.Parameters(e), 0.5)
	s := amp.NewGradScaler(tensor.CPUDevice, amp.GradScalerOptions{InitScale: tensor.Some(8.0)})
	for _, factor := range []float64{1, math.Inf(1)} {
		opt.ZeroGrad()
		s.Scale(e.Forward(torch.FromSlice([]int64{1, 1, 3})).Sum().MulScalar(factor)).Backward()
		s.Unscale(opt)
		if got := torch.Data[float32](e.Weight.Grad().ToDense().Contiguous()); factor == 1 &&
			!slices.Equal(got, []float32{0, 0, 2, 2, 0, 0, 1, 1, 0, 0}) {
			t.Errorf("gradient: %v", got)
		}
		if stepped := s.Step(opt); stepped != (factor == 1) {
			t.Errorf("factor %g: stepped %v", factor, stepped)
		}
		s.Update()
	}
	if got := torch.Data[float32](e.Weight.Detach()); !slices.Equal(got, []float32{1, 1, 0, 0, 1, 1, .5, .5, 1, 1}) {
		t.Errorf("weight: %v", got)
	}
}

// The products of Bilinear are in the lower type, the result is of the inputs' type, as in PyTorch.
func TestBilinearKeepsDType(t *testing.T) {
	x := torch.Ones([]int{2, 3})
	for _, w := range []struct{ in, want torch.DType }{{torch.Float32, torch.Float32},
		{torch.BFloat16, torch.BFloat16}} {
		var y *torch.Tensor
		amp.Autocast(tensor.CPUDevice, torch.BFloat16, func() {
			y = F.Bilinear(x.To(w.in), x.To(w.in), torch.Ones([]int{4, 3, 3}).To(w.in))
		})
		if y.DType() != w.want {
			t.Errorf("%s: %s", w.in, y.DType())
		}
	}
}

// Under the CPU's autocast an LSTM is one operator in the lower type, as in PyTorch; with projections its products
// alone are, in float64 nothing is, and a GRU ends in float32.
func TestLSTM(t *testing.T) {
	x := torch.Ones([]int{3, 2, 4}).SetRequiresGrad(true)
	lstm := func(o nn.RNNOptions, x *torch.Tensor) []*torch.Tensor {
		l := nn.NewLSTM(4, 5, o)
		l.ToDType(x.DType())
		y, h, c := l.Forward(x)
		return []*torch.Tensor{y, h, c}
	}
	half, single := torch.BFloat16, torch.Float32
	for name, w := range map[string]struct {
		want []torch.DType
		f    func() []*torch.Tensor
	}{
		"layers": {[]torch.DType{half, half, half}, func() []*torch.Tensor {
			return lstm(nn.RNNOptions{NumLayers: torch.Some(2), Bidirectional: true}, x)
		}},
		"no bias": {[]torch.DType{half, half, half}, func() []*torch.Tensor {
			return lstm(nn.RNNOptions{NoBias: true}, x)
		}},
		"projected": {[]torch.DType{half, half, single}, func() []*torch.Tensor {
			return lstm(nn.RNNOptions{ProjSize: 2}, x)
		}},
		"float64": {[]torch.DType{torch.Float64, torch.Float64, torch.Float64}, func() []*torch.Tensor {
			return lstm(nn.RNNOptions{}, x.Double())
		}},
		"GRU": {[]torch.DType{single, single}, func() []*torch.Tensor {
			y, h := nn.NewGRU(4, 5).Forward(x)
			return []*torch.Tensor{y, h}
		}},
	} {
		var out []*torch.Tensor
		amp.Autocast(tensor.CPUDevice, torch.BFloat16, func() { out = w.f() })
		for i, y := range out {
			if y.DType() != w.want[i] {
				t.Errorf("%s: result %d is %s, want %s", name, i, y.DType(), w.want[i])
			}
		}
		x.SetGrad(nil)
		out[0].Sum().Backward()
		if g := x.Grad(); g == nil || g.DType() != torch.Float32 {
			t.Errorf("%s: gradient %v", name, g)
		}
	}
}

// TestNested checks that the innermost region counts, and that what is outside is left alone.
func TestNested(t *testing.T) {
	a, b := torch.Ones([]int{2, 2}), torch.Ones([]int{2, 2})
	product := func() torch.DType { return a.MatMul(b).DType() }
	want := func(what string, got, want torch.DType) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	amp.Autocast(tensor.CPUDevice, torch.BFloat16, func() {
		want("outer", product(), torch.BFloat16)
		amp.Autocast(tensor.CPUDevice, torch.Float16, func() { want("inner", product(), torch.Float16) })
		amp.Autocast(tensor.CPUDevice, 0, func() {
			want("disabled", product(), torch.Float32)
			if amp.IsEnabled(tensor.CPUDevice) {
				t.Error("enabled in a disabled region")
			}
		}, amp.AutocastOptions{Disabled: true})
		want("outer again", product(), torch.BFloat16)
		want("float64", a.Double().MatMul(b.Double()).DType(), torch.Float64)
		want("other device", torch.DType(amp.DType(tensor.CUDADevice)), torch.Float16)
		done := make(chan torch.DType)
		go func() { done <- product() }()
		want("another goroutine", <-done, torch.Float32)
	})
	want("outside", product(), torch.Float32)
}
