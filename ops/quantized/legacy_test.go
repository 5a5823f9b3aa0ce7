package quantized_test

import (
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/torchtest"
)

// pattern is a tensor of the numbers ((i*k)%m - off)/s.
func pattern(k, m, off int, s float32, shape ...int) *tensor.Tensor {
	v := make([]float32, tensor.Size(shape).Numel())
	for i := range v {
		v[i] = float32(i*k%m-off) / s
	}
	return torch.FromSlice(v, shape...)
}

func eighths(k int, shape ...int) *tensor.Tensor { return pattern(k, 31, 15, 8, shape...) }

// weightOf is what fbgemm_linear_quantize_weight gives.
type weightOf struct {
	w, offsets  *tensor.Tensor
	scale, zero tensor.Value
}

func quantizedWeight(w *tensor.Tensor) weightOf {
	r := torch.FbgemmLinearQuantizeWeight(w)
	return weightOf{r[0].T, r[1].T, r[2], r[3]}
}

func close(t *testing.T, what string, got *tensor.Tensor, want []float32) {
	t.Helper()
	err := torchtest.AssertClose(got.Reshape([]int{-1}), torch.FromSlice(want),
		torchtest.CloseOptions{RTol: torch.Some(1e-5), ATol: torch.Some(1e-5)})
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// What PyTorch 2.15 gives.
func TestLegacyLinear(t *testing.T) {
	w, x, b := eighths(7, 6, 5), eighths(11, 3, 5), eighths(5, 6)
	q := quantizedWeight(w)
	if err := torchtest.AssertClose(q.w.Reshape([]int{-1}), torch.FromSlice([]int8{-128, -68, -8, 51, 110, -94, -34, 26,
		85, -119, -60, 0, 60, 119, -85, -26, 34, 94, -110, -51, 8, 68, 127, -76, -17, 42, 102, -102, -42,
		17})); err != nil {
		t.Error(err)
	}
	if err := torchtest.AssertClose(q.offsets, torch.FromSlice([]int32{-43, -136, 34, -59, 110, 17})); err != nil {
		t.Error(err)
	}
	if q.scale.Num().F != 0.014705882407724857 || q.zero.Num().I != 0 {
		t.Errorf("scale %v, zero point %v", q.scale, q.zero)
	}
	packed := torch.FbgemmPackQuantizedMatrix(q.w)
	args := []tensor.Value{tensor.TensorValue(x), tensor.TensorValue(q.w), tensor.TensorValue(packed),
		tensor.TensorValue(q.offsets), q.scale, q.zero, tensor.TensorValue(b)}
	for _, name := range []string{"fbgemm_linear_int8_weight", "fbgemm_linear_int8_weight_fp32_activation"} {
		r, err := tensor.CallOp("aten::"+name, args...)
		if err != nil {
			t.Fatal(err)
		}
		close(t, name, r[0].T, []float32{0.4191177189350128, 0.3345588743686676, -0.716911792755127, 4.488105773925781,
			3.423659324645996, -1.0404412746429443, -3.367647171020508, 1.5800174474716187, 2.205017328262329,
			-2.5164361000061035, -1.8914361000061035, -1.2664361000061035, -0.4394463300704956, -5.410899639129639,
			-3.102076292037964, -2.727076292037964, -0.4052768349647522, 5.316176414489746})
	}
	half := torch.FbgemmPackGemmMatrixFp16(w.MulScalar(1.001))
	close(t, "float16", torch.FbgemmLinearFp16WeightFp32Activation(x, half, b), []float32{0.4082183837890625,
		0.31390380859375, -0.750244140625, 4.48931884765625, 3.4245147705078125, -1.03411865234375, -3.407958984375,
		1.58123779296875, 2.205810546875, -2.5028076171875, -1.8772735595703125, -1.253082275390625,
		-0.4353179931640625, -5.395263671875, -3.080078125, -2.70611572265625, -0.39166259765625, 5.317718505859375})
	close(t, "float16 without bias", torch.FbgemmLinearFp16WeightFp32Activation(x, half, nil).Select(0, 0).Narrow(0, 0,
		4),
		[]float32{2.2832183837890625, 1.56390380859375, -0.125244140625, 4.48931884765625})
}

func TestLegacyCells(t *testing.T) {
	const hidden = 2
	x, hx, cx := eighths(11, 3, 5), eighths(13, 3, hidden), eighths(6, 3, hidden)
	for _, c := range []struct {
		name  string
		gates int
		want  [][]float32
	}{
		{"lstm", 4, [][]float32{{-0.04983759671449661, -0.6800370812416077, -0.1140798032283783, 0.35302841663360596,
			-0.020447488874197006, 0.5880071520805359}, {-0.1636067032814026, -1.0682036876678467, -0.11859296262264252,
			0.382014662027359, -0.06266045570373535, 0.7181298732757568}}},
		{"gru", 3, [][]float32{{-0.6379936933517456, -0.3432523012161255, -0.24958747625350952, -0.8768465518951416,
			-0.8929246068000793, 0.04229450225830078}}},
		{"rnn_relu", 1, [][]float32{{2.241260290145874, 0, 0, 0, 0, 0}}},
		{"rnn_tanh", 1, [][]float32{{0.9776429533958435, -0.9836015105247498, -0.9999988079071045, -0.6943548917770386,
			-0.9886830449104309, -0.9999999403953552}}},
	} {
		a, b := quantizedWeight(eighths(7, c.gates*hidden, 5)), quantizedWeight(eighths(9, c.gates*hidden, hidden))
		state := tensor.TensorValue(hx)
		if c.name == "lstm" {
			state = tensor.TensorsValue([]*tensor.Tensor{hx, cx})
		}
		tv := tensor.TensorValue
		r, err := tensor.CallOp("aten::quantized_"+c.name+"_cell", tv(x), state, tv(a.w), tv(b.w),
			tv(eighths(3, c.gates*hidden)), tv(eighths(4, c.gates*hidden)), tv(torch.FbgemmPackQuantizedMatrix(a.w)),
			tv(torch.FbgemmPackQuantizedMatrix(b.w)), tv(a.offsets), tv(b.offsets), a.scale, b.scale, a.zero, b.zero)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for i, want := range c.want {
			close(t, c.name, r[i].T, want)
		}
	}
}

func TestChooseQParamsOptimized(t *testing.T) {
	x := pattern(7, 97, 40, 13, 1, 20)
	x.Select(0, 0).Narrow(0, 3, 1).FillScalarInPlace(9)
	for bits, want := range map[int][2]float64{4: {8.939615249633789, -3.016538619995117}, 2: {9, -3.076923131942749}} {
		hi, lo := torch.ChooseQparamsOptimized(x, 20, 200, 0.16, bits)
		close(t, "range", torch.Cat([]*tensor.Tensor{hi, lo}), []float32{float32(want[0]), float32(want[1])})
	}
	for name, f := range map[string]func(){
		"too many elements": func() { torch.ChooseQparamsOptimized(x, 21, 200, 0.16, 4) },
		"float64":           func() { torch.ChooseQparamsOptimized(x.To(tensor.Float64), 20, 200, 0.16, 4) },
		"no end":            func() { torch.ChooseQparamsOptimized(x, 20, 1<<40, 0.16, 4) },
	} {
		if err := tensor.Try(f); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestLegacyPoolsAndNorm(t *testing.T) {
	x := eighths(7, 1, 2, 4, 4).QuantizePerTensor(0.1, 5, tensor.QUInt8)
	ints := func(what string, got *tensor.Tensor, want []uint8) {
		t.Helper()
		if err := torchtest.AssertClose(got.IntRepr().Reshape([]int{-1}), torch.FromSlice(want)); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	f := func(v ...float32) *tensor.Tensor { return torch.FromSlice(v) }
	ints("batch norm", torch.QuantizedBatchNorm(x, f(1, 2), f(0, 0.5), f(0.1, 0.2), f(1, 4), 1e-5, 0.05, 3),
		[]uint8{0, 0, 0,
			17, 33, 0, 0, 9, 25, 0, 0, 1, 19, 37, 0, 0, 19, 37, 0, 0, 11, 29, 47, 0, 5, 21, 39, 0, 0, 13, 31, 0})
	ints("max_pool2d", torch.QuantizedMaxPool2d(x, []int{2, 2}), []uint8{21, 13, 23, 5, 19, 24, 11, 20})
	ints("max_pool1d", torch.QuantizedMaxPool1d(x.Select(0, 0), []int{3},
		tensor.QuantizedMaxPool1dOptions{Stride: []int{1}, Padding: []int{1}}),
		[]uint8{0, 4, 13, 13, 21, 21, 9, 9, 17, 17, 5,
			5, 23, 23, 23, 1, 19, 19, 19, 0, 15, 24, 24, 24, 11, 20, 20, 20, 7, 16, 16, 16})
	ints("max_pool3d", torch.QuantizedMaxPool3d(x.Unsqueeze(0), []int{1, 2, 2}), []uint8{21, 13, 23, 5, 19, 24, 11, 20})
}
