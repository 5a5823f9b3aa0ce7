package swa_test

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/optim/swa"
	"github.com/gotorch-dev/torch/tensor"
)

func ExampleNewAveragedModel() {
	torch.ManualSeed(0)
	model := nn.NewLinear(2, 1, nn.LinearOptions{NoBias: true})
	averaged := swa.NewAveragedModel(model, swa.Options{AvgFn: swa.GetEMAAvgFn(0.5)})
	for _, v := range []float64{1, 2, 4} {
		torch.NoGrad(func() { model.Weight.FillScalarInPlace(v) }) // stands for a step of an optimizer
		averaged.UpdateParameters(model)
	}
	fmt.Println(averaged.Module.Weight.Detach())
	fmt.Println(averaged.StateDict().Keys(), averaged.NAveraged)
	// Output:
	// tensor([[2.7500, 2.7500]])
	// [n_averaged module.weight] tensor(3)
}

func batches(n int, fail error) iter.Seq2[*torch.Tensor, error] {
	return func(yield func(*torch.Tensor, error) bool) {
		for i := range n {
			if !yield(torch.Full([]int{4, 3}, float64(i)).Add(torch.Arange(4).Reshape([]int{4, 1})), nil) {
				return
			}
		}
		if fail != nil {
			yield(nil, fail)
		}
	}
}

func TestUpdateBN(t *testing.T) {
	bn := nn.NewBatchNorm1d(3)
	net := nn.NewSequential(bn, nn.NewReLU())
	net.Eval()
	bn.RunningMean.FillScalarInPlace(100)
	forward := func(x *torch.Tensor) { net.Forward(x) }
	if err := swa.UpdateBN(batches(3, nil), net, forward); err != nil {
		t.Fatal(err)
	}
	// batch i has the mean i + 1.5 and the variance 5/3
	if got := bn.RunningMean.Select(0, 0).Item(); math.Abs(got-2.5) > 1e-6 {
		t.Errorf("mean %v, want 2.5", got)
	}
	if got := bn.RunningVar.Select(0, 0).Item(); math.Abs(got-5./3) > 1e-6 {
		t.Errorf("variance %v, want 5/3", got)
	}
	if bn.CumulativeMean || bn.Training() || net.Training() {
		t.Error("the settings are not as they were")
	}
	bad := errors.New("bad batch")
	if err := swa.UpdateBN(batches(1, bad), net, forward); err != bad {
		t.Errorf("error %v, want that of the batches", err)
	}
	if bn.CumulativeMean || bn.Training() {
		t.Error("the settings are not as they were after an error")
	}
}

func TestBuffers(t *testing.T) {
	bn := nn.NewBatchNorm1d(2)
	copied, mean := swa.NewAveragedModel(bn), swa.NewAveragedModel(bn, swa.Options{UseBuffers: true})
	for _, v := range []float64{1, 3} {
		bn.RunningMean.FillScalarInPlace(v)
		copied.UpdateParameters(bn)
		mean.UpdateParameters(bn)
	}
	if got := copied.Module.RunningMean.Select(0, 0).Item(); got != 3 {
		t.Errorf("copied buffer is %v, want 3", got)
	}
	if got := mean.Module.RunningMean.Select(0, 0).Item(); got != 2 {
		t.Errorf("averaged buffer is %v, want 2", got)
	}
	if got := mean.Module.NumBatchesTracked.DType(); got != torch.Int64 {
		t.Errorf("the counter became %v", got)
	}
}

func TestRefused(t *testing.T) {
	for name, f := range map[string]func(){
		"decay": func() { swa.GetEMAAvgFn(1.5) },
		"both": func() {
			swa.NewAveragedModel(nn.NewReLU(), swa.Options{AvgFn: swa.GetSWAAvgFn(), MultiAvgFn: swa.GetSWAMultiAvgFn()})
		},
		"shapes":    func() { swa.NewAveragedModel(nn.NewLinear(2, 3)).UpdateParameters(nn.NewLinear(3, 3)) },
		"forward":   func() { swa.NewAveragedModel(nn.NewMSELoss()).Forward(torch.Ones([]int{1})) },
		"no buffer": func() { swa.NewAveragedModel[nn.Module](nn.NewReLU()).UpdateParameters(nn.NewBatchNorm1d(1)) },
	} {
		var e *tensor.Error
		if err := torch.Try(f); !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTraining averages along a run whose parameters are known: SGD with a constant gradient moves evenly.
func TestTraining(t *testing.T) {
	w := nn.NewLinear(1, 1, nn.LinearOptions{NoBias: true})
	torch.NoGrad(func() { w.Weight.ZeroInPlace() })
	a := swa.NewAveragedModel(w)
	opt := optim.NewSGD(w.Parameters(), 1)
	for range 5 {
		opt.ZeroGrad()
		w.Forward(torch.Ones([]int{1, 1})).Neg().Sum().Backward()
		opt.Step()
		a.UpdateParameters(w)
	}
	if got := a.Module.Weight.Item(); math.Abs(got-3) > 1e-6 { // the mean of 1, 2, 3, 4, 5
		t.Errorf("average %v, want 3", got)
	}
}
