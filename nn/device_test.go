package nn_test

import (
	"testing"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/second"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/tensor"
)

// reader is a small network of convolutions that reads pictures row by row with an LSTM.
type reader struct {
	nn.Base
	Body *nn.Sequential
	LSTM *nn.LSTM
	Head *nn.Sequential
}

func newReader(d tensor.Device) *reader {
	return nn.New(&reader{
		Body: nn.NewSequential(
			nn.NewConv2d(3, 8, 3, nn.Conv2dOptions{Padding: nn.Size{1}, Device: d}),
			nn.NewBatchNorm2d(8, nn.BatchNorm2dOptions{Device: d}), nn.NewReLU(), nn.NewMaxPool2d(2),
			nn.NewConv2d(8, 4, 3, nn.Conv2dOptions{Padding: nn.Size{1}, Device: d}), nn.NewReLU(), nn.NewMaxPool2d(2)),
		LSTM: nn.NewLSTM(16, 6, nn.RNNOptions{BatchFirst: true, Device: d}),
		Head: nn.NewSequential(nn.NewLinear(6, 8, nn.LinearOptions{Device: d}), nn.NewReLU(),
			nn.NewLinear(8, 5, nn.LinearOptions{Device: d})),
	})
}

func (m *reader) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := m.Body.Forward(x) // (N, 4, 4, 4)
	y, _, _ = m.LSTM.Forward(y.Permute([]int{0, 2, 1, 3}).Flatten(tensor.FlattenOptions{StartDim: 2}))
	return m.Head.Forward(y.Select(1, -1))
}

// step is a training step of plain gradient descent; it returns the loss.
func (m *reader) step(x, target *tensor.Tensor) *tensor.Tensor {
	loss := nn.NewCrossEntropyLoss().Forward(m.Forward(x), target)
	loss.Backward()
	utils.ClipGradNorm(nn.Parameters(m), 1)
	tensor.NoGrad(func() {
		for _, p := range nn.Parameters(m) {
			p.SubInPlace(p.Grad().MulScalar(0.1))
		}
	})
	return loss
}

// compare reports entries that differ from the CPU's by more than tol.
func compare(t *testing.T, what string, got, want nn.Module, tol float64) {
	t.Helper()
	sd := nn.StateDict(got)
	for name, w := range nn.StateDict(want).All() {
		if d := sd.Get(name).CPU().Sub(w).Abs().Max().Item(); !(d <= tol) {
			t.Errorf("%s: %s differs from what it is on the CPU by up to %g", what, name, d)
		}
	}
}

// A model that is built on another device, or moved there, has the CPU's numbers, and nearly so after a training step,
// in which the device runs the bodies of fused operators. Where it has kernels for these, too, the numbers are the same
// to the last bit.
func TestSecondDevice(t *testing.T) {
	build := func(d tensor.Device) *reader {
		torch.ManualSeed(7)
		return newReader(d)
	}
	torch.ManualSeed(8)
	x, target := torch.Randn([]int{2, 3, 16, 16}), torch.Randint(5, []int{2})
	for _, tol := range []float64{1e-6, 0} {
		if tol == 0 {
			for _, o := range tensor.Ops() {
				if o.Body != nil && o.CPU != nil && o.Base() == nil {
					tensor.RegisterKernel(o.FullName(), second.Device.Type, tensor.RunOnHost)
				}
			}
		}
		cpu, there, moved := build(tensor.Device{}), build(second.Device), build(tensor.Device{})
		moved.ToDevice(second.Device)
		var scoped *reader
		torch.WithDevice(second.Device, func() { scoped = build(tensor.Device{}) })
		loaded := newReader(tensor.Device{Type: tensor.MetaDevice})
		loaded.ToEmpty(second.Device)
		if err := loaded.LoadStateDict(nn.StateDict(cpu)); err != nil {
			t.Fatal(err)
		}
		models := map[string]*reader{"built": there, "moved": moved, "scoped": scoped, "loaded": loaded}
		for name, m := range models {
			for _, p := range nn.Parameters(m) {
				if p.Device() != second.Device {
					t.Fatalf("%s: a parameter is on device %s", name, p.Device())
				}
			}
			compare(t, name, m, cpu, 0)
		}
		want := cpu.step(x, target)
		for name, m := range models {
			before := second.Runs()
			got := m.step(x.To(second.Device), target.To(second.Device))
			if second.Runs() == before {
				t.Errorf("%s: nothing was computed on the device", name)
			}
			if d := got.CPU().Sub(want).Abs().Item(); !(d <= tol) {
				t.Errorf("%s: the loss is %v, on the CPU %v", name, got, want)
			}
			compare(t, name+", after a step", m, cpu, tol)
		}
		there.ToDevice(tensor.Device{})
		compare(t, "moved back", there, cpu, tol)
	}
}

// On the meta device a model of 70 billion parameters is built without memory, and nothing is drawn.
func TestMetaDevice(t *testing.T) {
	torch.ManualSeed(1)
	want := torch.Randn([]int{4})
	torch.ManualSeed(1)
	begin := time.Now()
	var m *nn.ModuleList
	torch.WithDevice(tensor.Device{Type: tensor.MetaDevice}, func() {
		const d, hidden = 8192, 28672
		m = nn.NewModuleList(nn.NewEmbedding(128256, d))
		for range 80 { // the sizes of Llama 3 70B (Grattafiori et al., The Llama 3 herd of models, 2024)
			m.Append(nn.NewLinear(d, d), nn.NewLinear(d, 1024), nn.NewLinear(d, 1024), nn.NewLinear(d, d),
				nn.NewLinear(d, hidden), nn.NewLinear(d, hidden), nn.NewLinear(hidden, d), nn.NewRMSNorm(d),
				nn.NewRMSNorm(d))
		}
		m.Append(nn.NewRMSNorm(d), nn.NewLinear(d, 128256))
	})
	if n := nn.NumParameters(m); n < 70e9 {
		t.Errorf("the model has %d parameters", n)
	}
	if took := time.Since(begin); took > time.Second {
		t.Errorf("it took %v", took)
	}
	if got := torch.Randn([]int{4}); !got.Equal(want) {
		t.Errorf("the generator has drawn numbers: the next ones are %v, expected %v", got, want)
	}
}
