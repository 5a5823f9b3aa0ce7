package lr_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/optim/lr"
)

// Every scheduler says that its optimizer is nil.
func TestNilOptimizer(t *testing.T) {
	for _, opt := range []optim.Optimizer{nil, (*optim.SGD)(nil)} {
		for name, f := range map[string]func(){
			"StepLR":                      func() { lr.NewStepLR(opt, 3) },
			"MultiStepLR":                 func() { lr.NewMultiStepLR(opt, []int{1}) },
			"ConstantLR":                  func() { lr.NewConstantLR(opt) },
			"LinearLR":                    func() { lr.NewLinearLR(opt) },
			"ExponentialLR":               func() { lr.NewExponentialLR(opt, 0.9) },
			"PolynomialLR":                func() { lr.NewPolynomialLR(opt) },
			"CosineAnnealingLR":           func() { lr.NewCosineAnnealingLR(opt, 5) },
			"CosineAnnealingWarmRestarts": func() { lr.NewCosineAnnealingWarmRestarts(opt, 5) },
			"LambdaLR":                    func() { lr.NewLambdaLR(opt, func(int) float64 { return 1 }) },
			"MultiplicativeLR":            func() { lr.NewMultiplicativeLR(opt, func(int) float64 { return 1 }) },
			"CyclicLR":                    func() { lr.NewCyclicLR(opt, 0.1, 1) },
			"OneCycleLR":                  func() { lr.NewOneCycleLR(opt, 1, 10) },
			"SWALR":                       func() { lr.NewSWALR(opt, 0.1) },
			"ReduceLROnPlateau":           func() { lr.NewReduceLROnPlateau(opt) },
			"SequentialLR":                func() { lr.NewSequentialLR(opt, []lr.Scheduler{nil}, nil) },
			"ChainedScheduler":            func() { lr.NewChainedScheduler(nil) },
		} {
			if err := torch.Try(f); !errors.Is(err, torch.ErrType) || !strings.Contains(err.Error(), "nil") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
