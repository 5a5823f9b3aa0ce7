package random_test

import (
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// watcher is a layer that looks on, so that the dispatcher runs bodies.
type watcher struct{}

func (watcher) Rank() tensor.Rank               { return tensor.RankWatch }
func (watcher) Call(_ *tensor.Ctx, next func()) { next() }

// TestDropoutBodies compares the kernels of dropouts with the public operators that a layer sees, for the same seed:
// results, gradients and names of nodes.
func TestDropoutBodies(t *testing.T) {
	for name, drop := range map[string]func(x *tensor.Tensor) *tensor.Tensor{
		"dropout":         func(x *tensor.Tensor) *tensor.Tensor { return torch.Dropout(x, 0.3, true) },
		"alpha_dropout":   func(x *tensor.Tensor) *tensor.Tensor { return torch.AlphaDropout(x, 0.3, true) },
		"feature_dropout": func(x *tensor.Tensor) *tensor.Tensor { return torch.FeatureDropout(x, 0.3, true) },
		"feature_alpha_dropout": func(x *tensor.Tensor) *tensor.Tensor {
			return torch.FeatureAlphaDropout(x, 0.3,
				true)
		},
		"dropout_": func(x *tensor.Tensor) *tensor.Tensor {
			return x.MulScalar(1).DropoutInPlace(0.3,
				true)
		},
		"feature_dropout_": func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(1).FeatureDropoutInPlace(0.3, true) },
	} {
		for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Float16} {
			base := opstest.Fill(tensor.Float64, 1, 8, 9, 5, 3).ToDType(dt)
			for layout, v := range map[string]*tensor.Tensor{"contiguous": base,
				"permuted": base.Transpose(1, 3).Contiguous().Transpose(1, 3), "strided": base.Transpose(0, 3)} {
				run := func() (y, g *tensor.Tensor) {
					torch.ManualSeed(5)
					x := v.Detach().SetRequiresGrad(true)
					y = drop(x)
					w := opstest.Fill(tensor.Float64, 2, y.Shape()...).ToDType(dt)
					return y, tensor.Grad([]*tensor.Tensor{y.Mul(w).Sum()}, []*tensor.Tensor{x})[0]
				}
				y, g := run()
				var wantY, wantG *tensor.Tensor
				tensor.WithLayer(watcher{}, func() { wantY, wantG = run() })
				if !y.Equal(wantY) || !g.Equal(wantG) {
					t.Errorf("%s of %s %s: result equal %v, gradient equal %v", name, layout, dt, y.Equal(wantY),
						g.Equal(wantG))
				}
				if got, want := y.GradFn().Name(), wantY.GradFn().Name(); got != want {
					t.Errorf("%s: the node is %s, of the body %s", name, got, want)
				}
			}
		}
	}
}

// TestDropoutTraces checks what layers see: PyTorch's operators on a CPU, of which the functions of Python's show the
// one they call.
func TestDropoutTraces(t *testing.T) {
	in := []int{2, 4, 3, 3}
	half := tensor.Some(0.5)
	const parts, features = "empty_like bernoulli_.float div_.Scalar mul.Tensor",
		"empty.memory_format bernoulli_.float div_.Scalar mul.Tensor"
	const alpha = " bernoulli_.float add.Scalar mul_.Scalar add_.Scalar mul_.Scalar mul.Tensor add_.Tensor"
	opstest.CheckTraces(t, []opstest.Traced{
		opstest.Shows("dropout", func(x *tensor.Tensor) { F.Dropout(x) }, in, "dropout", parts),
		opstest.Shows("dropout in place",
			func(x *tensor.Tensor) { F.Dropout(x.Clone(), F.DropoutOptions{Inplace: true}) }, in, "clone dropout_",
			"clone dropout_"),
		opstest.Shows("dropout2d", func(x *tensor.Tensor) { F.Dropout2d(x) }, in, "feature_dropout", features),
		opstest.Shows("dropout2d in place",
			func(x *tensor.Tensor) { F.Dropout2d(x.Clone(), F.Dropout2dOptions{Inplace: true}) }, in,
			"clone feature_dropout_", "clone feature_dropout_"),
		opstest.Shows("dropout1d of one sample", func(x *tensor.Tensor) { F.Dropout1d(x) }, []int{3, 4},
			"unsqueeze feature_dropout squeeze.dim", "unsqueeze "+features+" squeeze.dim"),
		opstest.Shows("alpha_dropout", func(x *tensor.Tensor) {
			F.AlphaDropout(x,
				F.AlphaDropoutOptions{P: half, Training: true})
		}, in, "alpha_dropout", "empty_like"+alpha),
		opstest.Shows("feature_alpha_dropout", func(x *tensor.Tensor) {
			F.FeatureAlphaDropout(x, F.FeatureAlphaDropoutOptions{P: half, Training: true})
		}, in,
			"feature_alpha_dropout", "empty.memory_format"+alpha),
	})
}

// TestDropoutInPlace checks that a dropout in place writes to its argument, and that one that drops nothing leaves it
// alone, also a leaf.
func TestDropoutInPlace(t *testing.T) {
	x := torch.Ones([]int{100})
	if y := F.Dropout(x, F.DropoutOptions{Inplace: true}); y != x || x.EqScalar(0).Sum().Item() == 0 {
		t.Error("F.Dropout in place did not write to its argument")
	}
	one := torch.Ones([]int{30, 4})
	if y := F.Dropout1d(one, F.Dropout1dOptions{Inplace: true}); y != one || y.Dim() != 2 {
		t.Errorf("F.Dropout1d in place of one sample: shape %v", y.Shape())
	}
	leaf := torch.Ones([]int{3}).SetRequiresGrad(true)
	if y := leaf.DropoutInPlace(0.5, false); y != leaf {
		t.Error("a dropout in place outside training gives another tensor")
	}
}
