package quantized

import (
	"math"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/internal/cpu/quant"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/tensor"
)

// This file has the operators of quantized layers that PyTorch had before its namespace quantized, which old programs
// and their TorchScript archives call. They take weights as plain integers with a scale and a zero point.

const packedDoc = " Here the packed matrix is the matrix itself, where PyTorch's holds a pointer."

// legacy registers one of them.
//
//gen:legacy
func legacy(schema, doc string, kernel func(c *Ctx)) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, NoGrad: noGrad, DataDependent: true,
		Storage: tensor.TakesQuantized, CPU: kernel})
	name, _, _ := strings.Cut(schema, "(")
	tensor.RegisterNoSamples("aten::"+name, "takes or gives quantized weights: legacy_test.go compares it")
}

func init() {
	legacy("quantized_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, float output_scale, int output_zero_point) -> Tensor",
		"is batch_norm of a quantized tensor with given mean and variance.", batchNorm("", false))
	legacy("quantized_max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> Tensor",
		"is max_pool1d of a quantized tensor.", pool(maxPool1d))
	legacy("quantized_max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor",
		"is max_pool2d of a quantized tensor.", pool("aten::max_pool2d"))
	legacy("quantized_max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> Tensor",
		"is max_pool3d of a quantized tensor.", func(c *Ctx) {
			if Engine() == quant.QNNPACK {
				c.Fail(tensor.ErrNotImpl, "QNNPACK backend doesn't support of quantized_max_pool3d")
			}
			x := refuseChannels(c)
			c.SetOut(0, withInts(x, call1("aten::max_pool3d", ints(x), c.Ints(1), c.Ints(2), c.Ints(3), c.Ints(4),
				c.Bool(5))))
		})
	legacy("choose_qparams_optimized(Tensor input, int numel, int n_bins, float ratio, int bit_width) -> (Tensor, Tensor)",
		"chooses the greatest and the least number that bit_width bits are to stand for, such that the first numel "+
			"elements of input change least: bins of the n_bins that their range has are taken off its ends, one by "+
			"one, until only a part of 1-ratio is left. ratio is at most 1, n_bins at most 65536.", chooseOptimized)
	legacy("fbgemm_linear_quantize_weight(Tensor input) -> (Tensor, Tensor, float, int)",
		"quantizes a weight to int8 by its range: the integers, the sum of each row less its zero points, scale and "+
			"zero "+
			"point.", func(c *Ctx) {
			w := matrixOf(c, c.T(0), tensor.Float32)
			lo, hi := quant.Range(tensor.Memory[float32](w))
			scale, zero := quant.SingleParams(lo, hi, -128, 127)
			q := ints(quantize(w, scale, zero, tensor.QInt8))
			sums := call1("aten::sum.dim_IntList", q, []int{1}, false, tensor.Int32).SubScalar(zero * w.Size(1))
			c.ReturnValue(tensor.TensorValue(q), tensor.TensorValue(sums), tensor.FloatValue(scale),
				tensor.IntValue(zero))
		})
	pack := func(c *Ctx) { c.SetOut(0, matrixOf(c, c.T(0), tensor.Int8).Clone()) }
	legacy("fbgemm_pack_quantized_matrix(Tensor input) -> Tensor",
		"packs a matrix of int8 for fbgemm_linear_int8_weight."+packedDoc, pack)
	legacy("fbgemm_pack_quantized_matrix.KN(Tensor input, int K, int N) -> Tensor",
		"packs a matrix of int8 for fbgemm_linear_int8_weight."+packedDoc, pack)
	legacy("fbgemm_pack_gemm_matrix_fp16(Tensor input) -> Tensor",
		"packs a matrix for fbgemm_linear_fp16_weight, rounded to float16."+packedDoc,
		func(c *Ctx) { c.SetOut(0, copyAs(matrixOf(c, c.T(0), tensor.Float32), tensor.Float16)) })
	const intDoc = "is a linear layer whose weight was quantized by fbgemm_linear_quantize_weight; the input is " +
		"quantized " +
		"by its range. packed and col_offsets are not needed."
	intLinear := func(c *Ctx) {
		p := integerLinear(c, c.T(1), c.T(6), c.Num(4), c.Num(5))
		c.SetOut(0, legacyDynamic(c, p, c.T(0)))
	}
	legacy("fbgemm_linear_int8_weight(Tensor input, Tensor weight, Tensor packed, Tensor col_offsets, Scalar weight_scale, Scalar weight_zero_point, Tensor bias) -> Tensor",
		intDoc, intLinear)
	legacy("fbgemm_linear_int8_weight_fp32_activation(Tensor input, Tensor weight, Tensor packed, Tensor col_offsets, Scalar weight_scale, Scalar weight_zero_point, Tensor bias) -> Tensor",
		intDoc, intLinear)
	const halfDoc = "is a linear layer whose weight was packed by fbgemm_pack_gemm_matrix_fp16."
	halfLinear := func(c *Ctx) {
		w := matrixOf(c, c.T(1), tensor.Float16)
		c.SetOut(0, linearHalf(c, &Linear{Weight: w, Bias: floats(c, c.T(2), w.Size(0), "bias")}, c.T(0), false))
	}
	legacy("fbgemm_linear_fp16_weight(Tensor input, Tensor packed_weight, Tensor bias) -> Tensor", halfDoc, halfLinear)
	legacy("fbgemm_linear_fp16_weight_fp32_activation(Tensor input, Tensor packed_weight, Tensor? bias) -> Tensor",
		halfDoc,
		halfLinear)
	cell := func(c *Ctx) (p *Cell, gates *T) {
		p = NewCell(integerLinear(c, c.T(2), c.T(4), c.Num(10), c.Num(12)),
			integerLinear(c, c.T(3), c.T(5), c.Num(11), c.Num(13)), c.T(4), c.T(5), false)
		p.legacy = true
		return p, p.apply(c, p.Input, c.T(0))
	}
	const cellDoc = " with weights of int8, as fbgemm_linear_int8_weight has them."
	legacy("quantized_lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh, Tensor packed_ih, Tensor packed_hh, Tensor col_offsets_ih, Tensor col_offsets_hh, Scalar scale_ih, Scalar scale_hh, Scalar zero_point_ih, Scalar zero_point_hh) -> (Tensor, Tensor)",
		"is one step of an LSTM"+cellDoc, func(c *Ctx) {
			hx := c.Tensors(1)
			if len(hx) != 2 {
				c.Fail(tensor.ErrShape, "lstm_cell expects two hidden states")
			}
			p, gates := cell(c)
			h, cy := p.lstm(c, gates, hx[0], hx[1])
			c.SetOut(0, h)
			c.SetOut(1, cy)
		})
	legacy("quantized_gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh, Tensor packed_ih, Tensor packed_hh, Tensor col_offsets_ih, Tensor col_offsets_hh, Scalar scale_ih, Scalar scale_hh, Scalar zero_point_ih, Scalar zero_point_hh) -> Tensor",
		"is one step of a GRU"+cellDoc, func(c *Ctx) {
			p, gates := cell(c)
			c.SetOut(0, p.gru(c, gates, c.T(1)))
		})
	plain := func(activation string) func(c *Ctx) {
		return func(c *Ctx) {
			p, gates := cell(c)
			c.SetOut(0, call1(activation, gates.Add(p.apply(c, p.Hidden, c.T(1)))))
		}
	}
	legacy("quantized_rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh, Tensor packed_ih, Tensor packed_hh, Tensor col_offsets_ih, Tensor col_offsets_hh, Scalar scale_ih, Scalar scale_hh, Scalar zero_point_ih, Scalar zero_point_hh) -> Tensor",
		"is one step of a recurrent layer"+cellDoc, plain("aten::relu"))
	legacy("quantized_rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh, Tensor packed_ih, Tensor packed_hh, Tensor col_offsets_ih, Tensor col_offsets_hh, Scalar scale_ih, Scalar scale_hh, Scalar zero_point_ih, Scalar zero_point_hh) -> Tensor",
		"is one step of a recurrent layer"+cellDoc, plain("aten::tanh"))
}

// matrixOf checks that t is a matrix of a type on the CPU, and gives it contiguous.
func matrixOf(c *Ctx, t *T, dt tensor.DType) *T {
	if t.Dim() != 2 {
		c.Fail(tensor.ErrShape, "%s: expected a matrix, got shape %s", c.Op().FullName(), tensor.ShapeString(t.Shape()))
	}
	if t.DType() != dt {
		c.Fail(tensor.ErrDType, "expected scalar type %s but found %s", dt.ClassName(), t.DType().ClassName())
	}
	return tensor.Dense(t.Detach())
}

// integerLinear packs a weight of int8 with one scale and zero point.
func integerLinear(c *Ctx, w, bias *T, scale, zero tensor.Num) *Linear {
	w = matrixOf(c, w, tensor.Int8)
	if !(scale.F > 0) || math.IsInf(scale.F, 0) || zero.F < -128 || zero.F > 127 || zero.F != math.Trunc(zero.F) {
		c.Fail(tensor.ErrValue, "%s: expected a positive scale and a zero point of int8, got %v and %v",
			c.Op().FullName(), scale.F, zero.F)
	}
	return PackLinear(c, tensor.NewQuantized(w, tensor.QInt8, value(scale.F, int(zero.F))), bias)
}

// legacyDynamic quantizes a float32 input by its range, multiplies, and gives float32.
func legacyDynamic(c *Ctx, p *Linear, x *T) *T {
	if x.DType() != tensor.Float32 {
		c.Fail(tensor.ErrDType, "%s: expected an input of type float32, got %s", c.Op().FullName(), x.DType())
	}
	rows, w := linearRows(c, p, x)
	x = tensor.Dense(x)
	lo, hi := quant.Range(tensor.Memory[float32](x))
	scale, zero := quant.SingleParams(lo, hi, 0, 255)
	return linearFloats(w, quantize(x, scale, zero, tensor.QUInt8), rows, false)
}

// chooseOptimized searches for the range greedily, as PyTorch does.
// https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/quantized/QTensor.cpp
func chooseOptimized(c *Ctx) {
	t, n, bins, ratio, bits := c.T(0), c.Int(1), c.Int(2), c.Float(3), c.Int(4)
	switch {
	case n < 1 || n > t.Numel():
		c.Fail(tensor.ErrShape, "numel is out of the bound of input tensor")
	case t.DType() != tensor.Float32:
		c.Fail(tensor.ErrDType, "expected scalar type Float but found %s", t.DType().ClassName())
	}
	checkSearch(c, bins, ratio, bits)
	x := tensor.Data[float32](tensor.Dense(t.Detach()))[:n]
	lo, hi := optimizedRange(x, bins, float32(ratio), bits)
	c.SetOut(0, tensor.FromSlice([]float32{hi}, 1))
	c.SetOut(1, tensor.FromSlice([]float32{lo}, 1))
}

// checkSearch refuses a search that would not end soon.
func checkSearch(c *Ctx, bins int, ratio float64, bits int) {
	if bins < 1 || bins > 1<<16 || !(ratio <= 1) || bits < 1 || bits > 8 {
		c.Fail(tensor.ErrValue, "%s: expected 1 to 65536 bins, a ratio of at most 1 and 1 to 8 bits, got %d, %v and %d",
			c.Op().FullName(), bins, ratio, bits)
	}
}

// optimizedRanges are the ranges of the rows of a matrix, [rows, 2].
func optimizedRanges(c *Ctx, w *T, bins int, ratio float32, bits int) *T {
	checkSearch(c, bins, float64(ratio), bits)
	n, width := w.Size(0), w.Size(1)
	d := tensor.New([]int{n, 2}, tensor.Float32)
	x, out := tensor.Data[float32](tensor.DenseAs(w.Detach(), tensor.Float32)), tensor.Data[float32](d)
	for i := range n {
		out[2*i], out[2*i+1] = optimizedRange(x[i*width:][:width], bins, ratio, bits)
	}
	return d
}

func optimizedRange(x []float32, bins int, ratio float32, bits int) (lo, hi float32) {
	lo, hi = slices.Min(x), slices.Max(x)
	step := (hi - lo) / float32(bins)
	least := float32(int(float64(bins)*(1-float64(ratio)))) * step
	loss := quantizationLoss(x, lo, hi, bits)
	best, from, to := loss, lo, hi
	for from+least < to {
		left, right := quantizationLoss(x, from+step, to, bits), quantizationLoss(x, from, to-step, bits)
		if loss < left && loss < right && loss < best {
			best, lo, hi = loss, from, to
		}
		old := [2]float32{from, to}
		if left < right {
			from, loss = from+step, left
		} else {
			to, loss = to-step, right
		}
		if old == [2]float32{from, to} { // steps are too small for float32
			break
		}
	}
	return lo, hi
}

// quantizationLoss is the length of the difference between x and what is left of it in a range of bits. The range
// begins at a number of float16 and has a scale of float16, as rows of embedding tables do.
func quantizationLoss(x []float32, lo, hi float32, bits int) float32 {
	lo = dtype.ToFloat16(lo).F32()
	most := float32(int(1)<<bits - 1)
	scale := float32(1)
	if hi != lo {
		scale = dtype.ToFloat16((hi - lo) / most).F32()
	}
	inverse := float32(1)
	if scale != 0 {
		inverse = 1 / scale
	}
	sum := float32(0)
	for _, v := range x {
		q := max(0, min(float32(math.RoundToEven(float64((v-lo)*inverse))), most))
		d := v - (q*scale + lo)
		sum += d * d
	}
	return float32(math.Sqrt(float64(sum)))
}
