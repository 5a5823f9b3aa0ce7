package amp_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/amp"
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
