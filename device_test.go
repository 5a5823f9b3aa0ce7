package torch_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/second"
	"github.com/gotorch-dev/torch/tensor"
)

// What cannot be done on a device is an error in PyTorch's words, and never a tensor on the CPU.
func TestDeviceErrors(t *testing.T) {
	x := torch.Ones([]int{2, 3})
	y := x.To(second.Device)
	cuda := torch.Device{Type: tensor.CUDADevice}
	for name, c := range map[string]struct {
		f    func()
		want string
	}{
		"mixture": {func() { x.Add(y) },
			"Expected all tensors to be on the same device, but found at least two devices, cpu and second:0!"},
		"value of meta": {func() { x.To(torch.Meta).Equal(x.To(torch.Meta)) },
			"Cannot run aten::equal on meta tensors: its result is a value"},
		"mixture, other way": {func() { y.MatMul(x.T()) }, "but found at least two devices, second:0 and cpu!"},
		"two devices": {func() { y.Add(y.To(torch.Device{Type: second.Device.Type, Index: 1})) },
			"second:0 and second:1!"},
		"list":         {func() { torch.Cat([]*torch.Tensor{x, y}) }, "cpu and second:0!"},
		"meta and cpu": {func() { x.To(torch.Meta).Mul(x) }, "meta and cpu!"},
		"out": {func() {
			torch.Exp(x, torch.OutOptions{Out: torch.Empty([]int{2, 3}, torch.EmptyOptions{Device: second.Device})})
		}, "cpu and second:0!"},
		"missing driver": {func() { x.To(cuda) }, "device cuda:0 is not available in this program"},
		"missing for zeros": {func() { torch.Zeros([]int{2}, torch.ZerosOptions{Device: cuda}) },
			`no backend "cuda" is linked`},
		"missing by number": {func() { x.To(torch.Device{Type: second.Device.Type, Index: 7}) },
			"there are 2 devices of this kind"},
		"missing for a block": {func() { torch.WithDevice(cuda, func() {}) }, "device cuda:0 is not available"},
		"memory from Go":      {func() { torch.Data[float32](y) }, "use Tensor.CPU()"},
		"memory of meta":      {func() { torch.Data[float32](x.To(torch.Meta)) }, "a meta tensor has no data"},
		"no CUDA":             {func() { x.CUDA() }, "cuda:0 is not available"},
		"no second CUDA":      {func() { x.CUDA(1) }, "cuda:1 is not available"},
		"no device -1":        {func() { x.CUDA(-1) }, "Device index must be between 0 and 127, got -1"},
		"copy out of meta":    {func() { x.To(torch.Meta).CPU() }, "Cannot copy out of meta tensor; no data!"},
		"item of meta": {func() { x.Sum().To(torch.Meta).Item() },
			"Tensor.item() cannot be called on meta tensors"},
		"too large": {func() { torch.Zeros([]int{1 << 40}, torch.ZerosOptions{Device: second.Device}) },
			"bytes on device second:0"},
	} {
		err := torch.Try(c.f)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
		if want := tensor.ErrDevice; name == "too large" && !errors.Is(err, tensor.ErrMemory) || name != "too large" &&
			!errors.Is(err, want) {
			t.Errorf("%s: the cause of %v", name, err)
		}
	}
	for _, s := range []string{"gpu", "cuda:x", "cuda:-1", "", "second:200"} {
		if d, err := torch.ParseDevice(s); err == nil {
			t.Errorf("%q is read as %s", s, d)
		}
	}
	if d, err := torch.ParseDevice("second:1"); err != nil || d.String() != "second:1" {
		t.Errorf("second:1 is read as %s, %v", d, err)
	}
}

// Numbers on the CPU go along with tensors on any device, also as tensors without dimensions.
func TestNumbersOnDevices(t *testing.T) {
	x := torch.FromSlice([]float32{1, 2, 3}).To(second.Device)
	two := torch.FromSlice([]float64{2}).View([]int{})
	for name, y := range map[string]*torch.Tensor{"number": x.MulScalar(2), "0-d": x.Mul(two),
		"0-d first": two.Mul(x)} {
		if y.Device() != second.Device || y.DType() != torch.Float32 ||
			!y.CPU().Equal(torch.FromSlice([]float32{2, 4, 6})) {
			t.Errorf("%s: %v", name, y)
		}
	}
	if x.Sum().Item() != 6 || x.String() != "tensor([1., 2., 3.], device='second:0')" {
		t.Errorf("%v, sum %v", x, x.Sum().Item())
	}
	if s := x.To(torch.Meta).String(); s != "tensor(..., device='meta', size=(3,))" {
		t.Error(s)
	}
}

// Factories make tensors where they are told to, and where WithDevice says.
func TestFactoriesOnDevices(t *testing.T) {
	for _, d := range []torch.Device{second.Device, torch.Meta} {
		for name, x := range map[string]*torch.Tensor{
			"zeros":  torch.Zeros([]int{2}, torch.ZerosOptions{Device: d}),
			"full":   torch.Full([]int{2}, 3, torch.FullOptions{Device: d}),
			"arange": torch.Arange(5, torch.ArangeOptions{Device: d}),
			"rand":   torch.Rand([]int{2}, torch.RandOptions{Device: d}),
			"like":   torch.Ones([]int{2}).ZerosLike(torch.ZerosLikeOptions{Device: d}),
			"eye":    torch.Eye(3, torch.EyeOptions{Device: d}),
		} {
			if x.Device() != d {
				t.Errorf("%s is on %s, want %s", name, x.Device(), d)
			}
			if y := x.NewZeros([]int{2}); y.Device() != d || x.ZerosLike().Device() != d {
				t.Errorf("a tensor like %s is on %s", name, y.Device())
			}
		}
		torch.WithDevice(d, func() {
			if torch.Randn([]int{2}).Device() != d || torch.FromSlice([]float32{1}).Device() != d {
				t.Errorf("WithDevice(%s) is not heeded", d)
			}
			torch.WithDevice(torch.CPU, func() {
				if torch.Ones([]int{2}).Device() != torch.CPU {
					t.Error("a WithDevice inside is not heeded")
				}
			})
		})
		if torch.DefaultDevice() != torch.CPU {
			t.Error("WithDevice outlives its function")
		}
	}
	torch.ManualSeed(3)
	want := torch.Randn([]int{40})
	torch.ManualSeed(3)
	if got := torch.Randn([]int{40}, torch.RandnOptions{Device: second.Device}).CPU(); !got.Equal(want) {
		t.Error("the device draws other numbers")
	}
}

// Gradients cross devices with the copies that the forward pass made.
func TestGradientsAcrossDevices(t *testing.T) {
	x := torch.FromSlice([]float32{1, 2, 3, 4}, 2, 2).SetRequiresGrad(true)
	w := torch.FromSlice([]float32{1, -1, 2, 0.5}, 2, 2)
	x.MatMul(w).Sin().Sum().Backward()
	want := x.Grad().Clone()
	x.SetGrad(nil)
	x.To(second.Device).MatMul(w.To(second.Device)).CPU().Sin().Sum().Backward()
	if g := x.Grad(); g.Device() != torch.CPU || !g.Equal(want) {
		t.Errorf("gradient %v, want %v", g, want)
	}
	y := x.Detach().To(second.Device).SetRequiresGrad(true)
	for range 2 { // accumulated on the device
		y.MatMul(w.To(second.Device)).Sin().Sum().Backward()
	}
	if g := y.Grad(); g.Device() != second.Device || !g.CPU().Equal(want.Add(want)) {
		t.Errorf("gradient %v, want twice %v", g, want)
	}
}

// Tidy frees memory on other devices, too.
func TestTidyOnDevices(t *testing.T) {
	before := second.Live()
	var kept *torch.Tensor
	tensor.Tidy(func() {
		x := torch.Ones([]int{1000}, torch.OnesOptions{Device: second.Device})
		kept = x.MulScalar(2).Keep()
		x.Exp()
	})
	if n := second.Live() - before; n != 4000 {
		t.Errorf("%d bytes live, want the 4000 that were kept", n)
	}
	if kept.Sum().Item() != 2000 {
		t.Error("what was kept has changed")
	}
}

// On meta a model of any size has shapes and costs nothing.
func TestMeta(t *testing.T) {
	n := 1 << 20
	torch.WithDevice(torch.Meta, func() {
		w := torch.Randn([]int{n, n}).SetRequiresGrad(true)
		x := torch.Ones([]int{8, n})
		y := x.MatMul(w.T()).ReLU()
		if y.Numel() != 8*n || y.Device() != torch.Meta {
			t.Errorf("%v on %s", y.Shape(), y.Device())
		}
		y.Sum().Backward()
		if g := w.Grad(); !tensor.SameShape(g.Shape(), w.Shape()) || g.Device() != torch.Meta {
			t.Error("no gradient on meta")
		}
		if err := torch.Try(func() { x.Nonzero() }); !errors.Is(err, tensor.ErrNotImpl) {
			t.Errorf("nonzero: %v", err)
		}
	})
}
