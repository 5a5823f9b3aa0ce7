package onnx_test

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/graph/trace"
	"github.com/gotorch-dev/torch/linalg"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/onnx"
	"github.com/gotorch-dev/torch/tensor"
)

// Operators that ONNX has no operator for are written by their definitions.
func TestExportByDefinition(t *testing.T) {
	torch.ManualSeed(3)
	rand := func(shape ...int) *tensor.Tensor { return torch.Randn(shape) }
	lstm := nn.NewLSTM(4, 6, nn.RNNOptions{NumLayers: tensor.Some(2), Bidirectional: true, ProjSize: 3})
	classes := torch.TensorOf[int64](1, 0, 4)
	labels := torch.TensorOf[int64](3, 0, -1, 1, 2, 2, -1, 0, -1, 3, 3, 3).View([]int{3, 4})
	inf := float32(math.Inf(1))
	unusual := torch.TensorOf(0, float32(math.Copysign(0, -1)), inf, -inf, 1.5, -2, 0.25, 300)
	for _, c := range []struct {
		name   string
		f      any
		inputs []*tensor.Tensor
	}{
		{"multi_margin", func(x, y *tensor.Tensor) *tensor.Tensor { return F.MultiMarginLoss(x, y) },
			[]*tensor.Tensor{rand(3, 5), classes}},
		{"multi_margin squared and weighted", func(x, y, w *tensor.Tensor) *tensor.Tensor {
			return F.MultiMarginLoss(x, y, F.MultiMarginLossOptions{P: tensor.Some(2), Margin: tensor.Some(0.7),
				Weight: w, Reduction: F.None})
		}, []*tensor.Tensor{rand(3, 5), classes, torch.Rand([]int{5})}},
		{"multi_margin of one example", func(x, y *tensor.Tensor) *tensor.Tensor { return F.MultiMarginLoss(x, y) },
			[]*tensor.Tensor{rand(5), classes.Select(0, 2)}},
		{"multilabel_margin", func(x, y *tensor.Tensor) *tensor.Tensor { return F.MultilabelMarginLoss(x, y) },
			[]*tensor.Tensor{rand(3, 4), labels}},
		{"multilabel_margin of each", func(x, y *tensor.Tensor) *tensor.Tensor {
			return F.MultilabelMarginLoss(x, y, F.MultilabelMarginLossOptions{Reduction: F.None})
		}, []*tensor.Tensor{rand(3, 4), labels}},
		{"multilabel_margin of one example", func(x, y *tensor.Tensor) *tensor.Tensor {
			return F.MultilabelMarginLoss(x, y)
		}, []*tensor.Tensor{rand(4), labels.Select(0, 0)}},
		{"unpool", func(x *tensor.Tensor) *tensor.Tensor {
			y, at := F.MaxPool2dWithIndices(x, []int{2})
			return F.MaxUnpool2d(y, at, []int{2})
		}, []*tensor.Tensor{rand(2, 3, 6, 4)}},
		{"unpool without a batch", func(x *tensor.Tensor) *tensor.Tensor {
			y, at := F.MaxPool3dWithIndices(x, []int{2})
			return F.MaxUnpool3d(y, at, []int{2})
		}, []*tensor.Tensor{rand(3, 4, 2, 6)}},
		{"projected lstm", lstm, []*tensor.Tensor{rand(5, 2, 4)}},
		{"projected lstm with a state", func(x, h, s *tensor.Tensor) []*tensor.Tensor {
			y, hn, cn := lstm.Forward(x, h, s)
			return []*tensor.Tensor{y, hn, cn}
		}, []*tensor.Tensor{rand(5, 2, 4), rand(4, 2, 3), rand(4, 2, 6)}},
		{"comparisons", func(x, y *tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{x.Less(y), x.GreaterEqual(y), x.NotEqual(y), x.Signbit(), x.IsNegInf(),
				x.IsPosInf()}
		}, []*tensor.Tensor{unusual, rand(8)}},
		{"functions of one number", func(x *tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{x.Deg2rad(), x.Rad2deg(), x.Sinc()}
		}, []*tensor.Tensor{torch.TensorOf[float32](0, 1, -0.5, 2.25)}},
		{"functions of two numbers", func(x, y *tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{x.Heaviside(y), x.Logaddexp(y), x.Logaddexp2(y), x.Xlogy(y.Abs())}
		}, []*tensor.Tensor{unusual, torch.TensorOf[float32](2, 0.5, inf, -inf, 0, 0.25, 1, 300)}},
		{"shifts", func(x, y *tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{x.BitwiseLeftShift(y), x.BitwiseRightShift(y)}
		}, []*tensor.Tensor{torch.TensorOf[int64](5, -5, 7, -8, 1), torch.TensorOf[int64](1, 1, 2, 2, 30)}},
		{"bits", func(x, y *tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{x.BitwiseAnd(y), x.BitwiseOr(y), x.BitwiseXor(y), x.BitwiseNot()}
		}, []*tensor.Tensor{torch.TensorOf[int64](5, -5, 7, 0), torch.TensorOf[int64](1, 3, -2, 9)}},
		{"truths", func(x, y *tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{x.BitwiseAnd(y), x.BitwiseOr(y), x.BitwiseXor(y), x.BitwiseNot(),
				x.LogicalAnd(y), x.LogicalOr(y), x.LogicalXor(y), x.LogicalNot()}
		}, []*tensor.Tensor{torch.TensorOf(true, true, false, false), torch.TensorOf(true, false, true, false)}},
		{"bags", func(w, index, offsets *tensor.Tensor) []*tensor.Tensor {
			v, i, no := tensor.TensorValue, tensor.IntValue, tensor.BoolValue(false)
			var out []*tensor.Tensor
			for _, c := range []struct {
				op   string
				more []tensor.Value
			}{
				{"aten::embedding_bag", nil},
				{"aten::embedding_bag.padding_idx", []tensor.Value{i(2)}},
				{"aten::embedding_bag.padding_idx", []tensor.Value{i(-1)}}, // the last row
				{"aten::embedding_bag.padding_idx", []tensor.Value{{}}},
				{"aten::_embedding_bag", []tensor.Value{i(-1)}}, // none
				{"aten::_embedding_bag", []tensor.Value{i(0)}},
			} {
				args := append([]tensor.Value{v(w), v(index), v(offsets), no, i(0), no, {}, no}, c.more...)
				r, err := tensor.CallOp(c.op, args...)
				if err != nil {
					panic(err)
				}
				out = append(out, r[0].T)
			}
			return out
		}, []*tensor.Tensor{rand(4, 3), torch.TensorOf[int64](0, 2, 2, 3, 1), torch.TensorOf[int64](0, 2, 4)}},
		{"cross", func(x, y *tensor.Tensor) *tensor.Tensor {
			return linalg.Cross(x, y, linalg.CrossOptions{Dim: tensor.Some(1)})
		},
			[]*tensor.Tensor{rand(2, 3, 4), rand(2, 3, 4)}},
		{"scatters", func(x, y *tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{x.SelectScatter(y.Select(0, 1), 1, 2),
				x.SliceScatter(y.T(), tensor.SliceScatterOptions{Dim: 1, Start: tensor.Some(0), End: tensor.Some(3),
					Step: tensor.Some(2)})}
		}, []*tensor.Tensor{rand(3, 4), rand(2, 3)}},
		{"running logarithms of sums", func(x *tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{x.LogCumSumExp(1), x.LogCumSumExp(-2)}
		}, []*tensor.Tensor{rand(3, 4)}},
		{"masked scatter", func(x, y *tensor.Tensor) *tensor.Tensor {
			return x.MaskedScatter(x.GtScalar(0), y)
		}, []*tensor.Tensor{rand(3, 4), rand(4, 5)}},
		{"masked scatter of a row", func(x, y *tensor.Tensor) *tensor.Tensor {
			return x.MaskedScatter(x.Select(0, 0).GtScalar(0), y)
		}, []*tensor.Tensor{rand(3, 4), rand(4, 5)}},
		{"counts", func(x, w *tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{x.Bincount(), x.Bincount(tensor.BincountOptions{Minlength: 9}),
				x.Bincount(tensor.BincountOptions{Weights: w})}
		}, []*tensor.Tensor{torch.TensorOf[int64](3, 1, 1, 5), rand(4)}},
		{"histograms", func(x *tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{x.Histc(tensor.HistcOptions{Bins: tensor.Some(5)}),
				x.Histc(tensor.HistcOptions{Bins: tensor.Some(4), Min: -1.0, Max: 2.0})}
		}, []*tensor.Tensor{rand(3, 9)}},
		{"distinct elements", func(x *tensor.Tensor) []*tensor.Tensor {
			a, at, n := x.Unique(tensor.UniqueOptions{ReturnInverse: true, ReturnCounts: true})
			b, row, m := x.UniqueDim(1, tensor.UniqueDimOptions{ReturnInverse: true, ReturnCounts: true})
			return []*tensor.Tensor{a, at, n, b, row, m}
		}, []*tensor.Tensor{torch.TensorOf[int32](3, 1, 3, 2, 0, 2).View([]int{2, 3})}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var inputs []any
			for _, x := range c.inputs {
				inputs = append(inputs, x)
			}
			p, err := trace.Record(c.f, inputs)
			if err != nil {
				t.Fatal(err)
			}
			roundTrip(t, "form_"+c.name, c.f, c.inputs, onnx.ExportOptions{}, p.Results)
		})
	}
}

// Random numbers are written as ONNX's operators: their sizes, dtypes and limits are kept, not the numbers.
func TestExportRandomNumbers(t *testing.T) {
	f := func(x *tensor.Tensor) []*tensor.Tensor {
		return []*tensor.Tensor{x.Bernoulli(), torch.Randint(5, []int{40}), torch.RandintLow(7, 9, []int{2, 30}),
			torch.Multinomial(x, 1), torch.Normal(100, 0.5, []int{50})}
	}
	p := filepath.Join(t.TempDir(), "m.onnx")
	x := torch.Rand([]int{3, 4})
	if err := onnx.Export(p, f, []*tensor.Tensor{x}); err != nil {
		t.Fatal(err)
	}
	m, err := onnx.Open(p)
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Run(context.Background(), map[string]*tensor.Tensor{m.Inputs()[0].Name: x})
	if err != nil {
		t.Fatal(err)
	}
	limits := [][2]float64{{0, 1}, {0, 4}, {7, 8}, {0, 3}, {90, 110}}
	for i, want := range f(x) {
		y := out[m.Outputs()[i].Name]
		if y.DType() != want.DType() || !tensor.SameShape(y.Shape(), want.Shape()) || y.Min().Num().F < limits[i][0] ||
			y.Max().Num().F > limits[i][1] || i > 0 && i != 3 && y.Min().Num().F == y.Max().Num().F {
			t.Errorf("output %d: %s, want one like %s", i, y, want)
		}
	}
}
