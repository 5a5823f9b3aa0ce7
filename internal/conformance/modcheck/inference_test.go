package modcheck_test

import (
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/conformance/modcheck"
	sharedata "github.com/gotorch-dev/torch/internal/shared"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/tensor"
)

// oneOf is a module of any number of arguments and results as a layer: x takes the place of the argument first, and the
// result is number out.
type oneOf struct {
	nn.Base
	M     nn.Module
	bind  modcheck.Bind
	first *tensor.Tensor
	out   int
}

func (m *oneOf) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.bind(func(a *tensor.Tensor) *tensor.Tensor {
		if a == m.first {
			return x
		}
		return a
	})()[m.out]
}

// near reports that got is want but for the rounding of other orders of summation.
func near(got, want *tensor.Tensor) bool {
	if !tensor.SameShape(got.Shape(), want.Shape()) || got.DType() != want.DType() {
		return false
	}
	if torch.Equal(got, want) {
		return true
	}
	tol := map[tensor.DType]float64{tensor.Float64: 1e-12, tensor.Float32: 2e-5, tensor.Complex64: 2e-5,
		tensor.BFloat16: 2e-2, tensor.Float16: 2e-3}[want.DType()]
	return want.Numel() > 0 && torch.AllClose(got, want,
		torch.AllCloseOptions{Rtol: tensor.Some(tol), Atol: tensor.Some(tol),
			EqualNaN: true})
}

// mayStayEager are the classes that are not recorded, with the reason.
var mayStayEager = map[string]string{
	"AdaptiveLogSoftmaxWithLoss": "the targets say how many rows each cluster has",
	"CTCLoss":                    "the lengths say how large what it keeps is",
	"GaussianNLLLoss":            "it looks for negative variances",
	"Transformer":                "the encoder looks whether a mask is one of padding",
	"TransformerEncoder":         "it looks whether a mask is one of padding",
}

// Every module prepared for inference computes what it computes by itself, called three times, of which the last has
// another input, inside and outside of Tidy.
func TestOptimizeForInference(t *testing.T) {
	eager := map[string]string{}
	cases := 0
	err := modcheck.Each(sharedata.Path(t, "golden/modules"), nil,
		func(name string, m nn.Module, run func(func(modcheck.Bind))) {
			nn.Eval(m)
			run(func(bind modcheck.Bind) {
				var first *tensor.Tensor
				var outs int
				if tensor.Try(func() {
					tensor.NoGrad(func() {
						outs = len(bind(func(a *tensor.Tensor) *tensor.Tensor {
							if first == nil {
								first = a
							}
							return a.Clone()
						})())
					})
				}) != nil || first == nil {
					return // a case that only training has
				}
				cases++
				for _, tidy := range []bool{false, true} {
					l := nn.New(&oneOf{M: m, bind: bind, first: first, out: cases % outs})
					nn.Eval(l)
					o := utils.OptimizeForInference(l)
					for call := range 3 {
						x := first.Clone()
						if call == 2 && x.DType().IsFloat() {
							tensor.NoGrad(func() { x = x.MulScalar(0.75) })
						}
						var want, got *tensor.Tensor
						given := x.Clone()
						torch.ManualSeed(3)
						errWant := tensor.Try(func() { tensor.NoGrad(func() { want = l.Forward(x.Clone()) }) })
						torch.ManualSeed(3)
						errGot := tensor.Try(func() {
							if tidy {
								got = tensor.TidyReturn(func() *tensor.Tensor { return o.Forward(given) })
							} else {
								got = o.Forward(given)
							}
						})
						if errWant != nil || errGot != nil {
							if (errWant == nil) != (errGot == nil) {
								t.Errorf("%s, Tidy %v, call %d: %v, want %v", name, tidy, call, errGot, errWant)
							}
							continue
						}
						if !near(got, want) {
							t.Errorf("%s, Tidy %v, call %d: result differs: %v, want %v", name, tidy, call, got, want)
						}
					}
					for _, why := range o.Eager() {
						eager[nn.ClassName(m)] = why
					}
				}
			})
		})
	if err != nil {
		t.Fatal(err)
	}
	for class, why := range eager {
		if mayStayEager[class] == "" {
			t.Errorf("%s is not recorded: %s", class, why)
		}
	}
	if cases < 1000 {
		t.Errorf("only %d cases ran", cases)
	}
}
