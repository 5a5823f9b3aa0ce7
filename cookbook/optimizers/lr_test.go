package optimizers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/optim/lr"
	"github.com/gotorch-dev/torch/tensor"
)

// rates runs a schedule for n epochs and lists the rates that the optimizer used.
func rates(s lr.Scheduler, n int) (out []float64) {
	for range n {
		out = append(out, s.Optimizer().ParamGroups()[0].LR())
		s.Optimizer().Step()
		s.Step()
	}
	return out
}

func sgd(rate float64) *optim.SGD { return optim.NewSGD(params(leaf(1)), rate) }

// Any function of the epoch makes a schedule. The optimizer steps first, then the schedule.
func Example_lambdaLR() {
	opt := optim.NewAdam(params(leaf(1)), 0.1)
	schedule := lr.NewLambdaLR(opt, func(epoch int) float64 { return 1 / float64(epoch+1) })
	fmt.Println("initial rate:", opt.Defaults().LR())
	for epoch := range 10 {
		fmt.Printf("epoch %d: %.6f\n", epoch+1, opt.ParamGroups()[0].LR())
		opt.ZeroGrad()
		opt.Step()
		schedule.Step()
	}
	// Output:
	// initial rate: 0.1
	// epoch 1: 0.100000
	// epoch 2: 0.050000
	// epoch 3: 0.033333
	// epoch 4: 0.025000
	// epoch 5: 0.020000
	// epoch 6: 0.016667
	// epoch 7: 0.014286
	// epoch 8: 0.012500
	// epoch 9: 0.011111
	// epoch 10: 0.010000
}

// StepLR multiplies by gamma every few epochs.
func Example_stepLR() {
	fmt.Printf("%.4g\n", rates(lr.NewStepLR(sgd(0.1), 3, lr.Options{Gamma: tensor.Some(0.1)}), 8))
	// Output:
	// [0.1 0.1 0.1 0.01 0.01 0.01 0.001 0.001]
}

// MultiStepLR multiplies by gamma at each milestone; they may come in any order.
func Example_multiStepLR() {
	fmt.Printf("%.4g\n", rates(lr.NewMultiStepLR(sgd(0.1), []int{5, 2}), 8))
	// Output:
	// [0.1 0.1 0.01 0.01 0.01 0.001 0.001 0.001]
}

// A new schedule stands at epoch 0. To continue at a later one the optimizer's groups must know their initial rate.
func TestLastEpoch(t *testing.T) {
	s := lr.NewStepLR(sgd(0.1), 3)
	if s.LastEpoch() != 0 {
		t.Error(s.LastEpoch())
	}
	var keys []string
	for k := range s.StateDict().All() {
		keys = append(keys, k.(string))
	}
	if want := strings.Fields("step_size gamma base_lrs last_epoch _step_count _is_initial " +
		"_get_lr_called_within_step _last_lr"); !slices.Equal(keys, want) {
		t.Errorf("keys %q, want %q", keys, want)
	}
	fails(t, "param 'initial_lr' is not specified in param_groups[0] when resuming scheduler with last_epoch >= 0.",
		func() {
			lr.NewStepLR(sgd(0.1), 3, lr.Options{LastEpoch: tensor.Some(4)})
		})
}

// A schedule continues where its state dict was taken.
func TestResumeSchedule(t *testing.T) {
	s := lr.NewStepLR(sgd(0.1), 3)
	rates(s, 4)
	again := lr.NewStepLR(sgd(0.1), 3)
	if err := again.LoadStateDict(s.StateDict()); err != nil {
		t.Fatal(err)
	}
	if again.LastEpoch() != 4 {
		t.Error(again.LastEpoch())
	}
}

// The wrong order is warned of.
func TestWarnsOfOrder(t *testing.T) {
	var warned string
	before := torch.SetWarnings(func(w torch.Warning) { warned = w.Text })
	defer func() { torch.SetWarnings(before) }()
	s := lr.NewStepLR(sgd(0.1), 3)
	s.Step()
	if !strings.HasPrefix(warned, "Detected call of `lr_scheduler.step()` before `optimizer.step()`") {
		t.Errorf("warning %q", warned)
	}
}
