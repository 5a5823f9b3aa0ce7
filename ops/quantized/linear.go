package quantized

import (
	"github.com/gotorch-dev/torch/internal/cpu/quant"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

const linearClass = "__torch__.torch.classes.quantized.LinearPackedParamsBase"

// both registers an operator in the namespace quantized and, where PyTorch has it there, too, in _quantized.
func both(schema, doc string, kernel func(c *Ctx)) {
	define(schema, doc, kernel)
	tensor.Register(tensor.Def{Schema: "_" + schema, Doc: doc, Go: "-", NoGrad: noGrad, DataDependent: true,
		Storage: tensor.TakesQuantized, CPU: kernel})
	name, _, _ := cut("_" + schema)
	tensor.RegisterNoSamples(name, noSamples)
}

func init() {
	both("quantized::linear_prepack(Tensor W, Tensor? B=None) -> "+linearClass+" W_prepack",
		"packs the parameters of a linear layer for the engine that is set.", func(c *Ctx) {
			c.ReturnValue(tensor.AnyValue(PackLinear(c, c.T(0), c.T(1))))
		})
	both("quantized::linear_prepack_fp16(Tensor W, Tensor? B=None) -> "+linearClass+" W_prepack",
		"packs the parameters of a linear layer with weights of float16.", func(c *Ctx) {
			w := c.T(0)
			if w.Dim() != 2 || w.IsQuantized() {
				c.Fail(tensor.ErrShape, "The weight tensor for quantized::linear_prepack_fp16 should be 2-dimensional.")
			}
			half := tensor.DenseAs(w.Detach(), tensor.Float16)
			c.ReturnValue(tensor.AnyValue(&Linear{Weight: half, Bias: floats(c, c.T(1), w.Size(0), "bias"),
				Engine: Engine()}))
		})
	define("quantized::linear_unpack("+linearClass+" W_prepack) -> (Tensor W_origin, Tensor? B_origin)",
		"gives the parameters that were packed.", unpackLinear)
	define("quantized::linear_unpack_fp16("+linearClass+" W_prepack) -> (Tensor W_origin, Tensor? B_origin)",
		"gives the parameters that were packed.", unpackLinear)
	for _, relu := range []bool{false, true} {
		doc := "is a linear layer of bytes" + op.Pick(relu, ", followed by a ReLU.", ".")
		reg := define
		if !relu {
			reg = both
		}
		reg("quantized::linear"+suffix(relu)+"(Tensor X, "+linearClass+" W_prepack, float Y_scale_i, int Y_zero_point_i) -> Tensor Y",
			doc, func(c *Ctx) { c.SetOut(0, linear(c, relu)) })
		reg("quantized::linear"+suffix(relu)+"_dynamic(Tensor X, "+linearClass+" W_prepack, bool reduce_range=False) -> Tensor Y",
			"is a linear layer of float32 that quantizes its input by the input's range.",
			func(c *Ctx) { c.SetOut(0, linearDynamic(c, argument[Linear](c, 1), c.T(0), c.Bool(2), relu)) })
		define("quantized::linear"+suffix(relu)+"_dynamic_fp16(Tensor X, "+linearClass+" W_prepack) -> Tensor Y",
			"is a linear layer of float32 with weights of float16.", func(c *Ctx) {
				c.SetOut(0, linearHalf(c, argument[Linear](c, 1), c.T(0), relu))
			})
	}
	define("quantized::linear_leaky_relu(Tensor X, "+linearClass+" W_prepack, float Y_scale_i, int Y_zero_point_i, "+
		"float negative_slope) -> Tensor Y", "is a linear layer followed by leaky_relu.", func(c *Ctx) {
		y := linearFloat(c)
		checkOutput(c, c.Float(2), c.Int(3))
		y = call1("aten::leaky_relu", y, c.Float(4))
		c.SetOut(0, quantize(y, c.Float(2), c.Int(3), tensor.QUInt8))
	})
	define("quantized::linear_tanh(Tensor X, "+linearClass+" W_prepack, float Y_scale_i, int Y_zero_point_i) -> Tensor Y",
		"is a linear layer followed by tanh.", func(c *Ctx) {
			checkOutput(c, c.Float(2), c.Int(3))
			c.SetOut(0, quantize(linearFloat(c).Tanh(), c.Float(2), c.Int(3), tensor.QUInt8))
		})
	for _, relu := range []bool{false, true} {
		define("quantized::linear_with_input_q_dq_qweight_dq"+suffix(relu)+"_output_fp32(Tensor X, float X_scale, int X_zero_point, "+
			linearClass+" W_prepack) -> Tensor Y", "quantizes a float32 input as told and gives float32.",
			func(c *Ctx) {
				p, x := argument[Linear](c, 3), c.T(0)
				q := quantizePerTensor(c, x, c.Float(1), c.Int(2), tensor.QUInt8)
				rows, w := linearRows(c, p, q)
				c.SetOut(0, linearFloats(w, q, rows, relu))
			})
	}
}

func unpackLinear(c *Ctx) {
	p := argument[Linear](c, 0)
	c.SetOut(0, p.Weight)
	c.SetOut(1, p.Bias)
}

// checkOutput refuses an output that quint8 cannot hold.
func checkOutput(c *Ctx, scale float64, zero int) {
	if !(scale > 0) {
		c.Fail(tensor.ErrValue, "%s: output_scale must be above 0, got %v", c.Op().FullName(), scale)
	}
	checkScale(c, scale)
	checkZero(c, "quantize_tensor_per_tensor_affine", zero, tensor.QUInt8)
}

// PackLinear packs the parameters of a linear layer: a weight of type QInt8 [out, in] and a bias, which may be nil. It
// panics with *tensor.Error where they do not fit; c is the call that the error names.
func PackLinear(c *Ctx, w, bias *T) *Linear {
	if w.Dim() != 2 {
		c.Fail(tensor.ErrShape, "The weight tensor for quantized::linear_prepack should be 2-dimensional.")
	}
	q := weights(c, w, 0)
	p := &Linear{Weight: w, Bias: floats(c, bias, w.Size(0), "bias"), Engine: Engine()}
	scales, zeros := columns(q, w.Size(0))
	b, k := tensor.Data[int8](tensor.Dense(ints(w))), w.Size(1)
	p.packed = quant.Pack(&quant.Columns{N: w.Size(0), Runs: 1, Length: k, Scales: scales, Zeros: zeros,
		Bias: biasOf(p.Bias), At: func(c, _, i int) int8 { return b[c*k+i] }})
	p.Engine = resolve(p.Engine, p.packed.Plain(), 1, true)
	return p
}

// resolve is the engine that x86 stands for: onednn where the weight's zero points are 0, as PyTorch chooses on a
// processor with VNNI; fbgemm otherwise.
func resolve(e quant.Engine, symmetric bool, groups int, plainPadding bool) quant.Engine {
	if e != quant.X86 {
		return e
	}
	if symmetric && groups <= 100 && plainPadding {
		return quant.OneDNN
	}
	return quant.FBGEMM
}

func biasOf(b *T) []float32 {
	if b == nil {
		return nil
	}
	return tensor.Data[float32](b)
}

// linearRows checks the input of a linear layer and gives the number of its rows.
func linearRows(c *Ctx, p *Linear, x *T) (rows int, w *quant.Weights) {
	w = p.packed
	if w == nil {
		c.Fail(tensor.ErrType, "%s: the parameters were packed with weights of float16", c.Op().FullName())
	}
	if x.Dim() == 0 || x.Size(x.Dim()-1) != w.Length {
		c.Fail(tensor.ErrShape, "%s: the input of shape %s does not fit a weight of shape [%d, %d]", c.Op().FullName(),
			tensor.ShapeString(x.Shape()), w.N, w.Length)
	}
	if w.Length == 0 {
		return tensor.Size(x.Shape()[:x.Dim()-1]).Numel(), w
	}
	return x.Numel() / w.Length, w
}

// outShape is the shape of x with another last size.
func outShape(x *T, n int) []int {
	return append(append([]int{}, x.Shape()[:x.Dim()-1]...), n)
}

func quantizedInput(c *Ctx, x *T) *tensor.Quantizer {
	q := uniform(c, x, c.Op().FullName()+": the input must be quantized per tensor")
	if x.DType() != tensor.QUInt8 && x.DType() != tensor.QInt8 {
		c.Fail(tensor.ErrDType, "%s: expected an input of type quint8 or qint8, got %s", c.Op().FullName(), x.DType())
	}
	return q
}

func linear(c *Ctx, relu bool) *T {
	x, p := c.T(0), argument[Linear](c, 1)
	q := quantizedInput(c, x)
	scale, zero := c.Float(2), c.Int(3)
	checkOutput(c, scale, zero)
	rows, w := linearRows(c, p, x)
	d := tensor.New(outShape(x, w.N), x.DType().Integer())
	r := &quant.Result{Engine: p.Engine, Scale: float32(scale), Zero: zero, ReLU: relu}
	quant.Multiply(w, inputOf(tensor.Dense(ints(x)), q), rows, into(r, d))
	return tensor.NewQuantized(d, x.DType(), value(scale, zero))
}

// inputOf is the left factor of a product: the integers x, dense, with their quantizer.
func inputOf(x *T, q *tensor.Quantizer) quant.Input {
	if x.DType() == tensor.Int8 {
		return quant.InputOf(tensor.Memory[int8](x), float32(q.Scale), q.ZeroPoint)
	}
	return quant.InputOf(tensor.Memory[uint8](x), float32(q.Scale), q.ZeroPoint)
}

// into makes the memory of d, bytes or floats, that of a result.
func into(r *quant.Result, d *T) *quant.Result {
	switch d.DType() {
	case tensor.Float32:
		r.Floats = tensor.Memory[float32](d)
	case tensor.Int8:
		r.Int8s = tensor.Memory[int8](d)
	default:
		r.Bytes = tensor.Memory[uint8](d)
	}
	return r
}

// linearFloats is the float32 result of a product of quantized x.
func linearFloats(w *quant.Weights, x *T, rows int, relu bool) *T {
	d := tensor.New(outShape(x, w.N), tensor.Float32)
	quant.Multiply(w, inputOf(tensor.Dense(ints(x)), tensor.QuantizerOf(x)), rows, into(&quant.Result{ReLU: relu}, d))
	return d
}

// linearFloat is the result of a linear layer of bytes before it is quantized.
func linearFloat(c *Ctx) *T {
	x, p := c.T(0), argument[Linear](c, 1)
	quantizedInput(c, x)
	rows, w := linearRows(c, p, x)
	return linearFloats(w, x, rows, false)
}

// linearDynamic quantizes a float32 input by its range, multiplies, and gives float32.
func linearDynamic(c *Ctx, p *Linear, x *T, reduceRange, relu bool) *T {
	if x.DType() != tensor.Float32 {
		c.Fail(tensor.ErrDType, "%s: expected an input of type float32, got %s", c.Op().FullName(), x.DType())
	}
	rows, w := linearRows(c, p, x)
	scale, zero := dynamicParams(x, 0, 255, reduceRange && p.Engine != quant.QNNPACK)
	return linearFloats(w, quantize(tensor.Dense(x), scale, zero, tensor.QUInt8), rows, relu)
}

// linearHalf is a linear layer with weights that were rounded to float16.
func linearHalf(c *Ctx, p *Linear, x *T, relu bool) *T {
	if p.packed != nil {
		c.Fail(tensor.ErrType, "%s: the parameters were packed as bytes", c.Op().FullName())
	}
	if x.DType() != tensor.Float32 {
		c.Fail(tensor.ErrDType, "%s: expected an input of type float32, got %s", c.Op().FullName(), x.DType())
	}
	y := call1("aten::linear", x, tensor.DenseAs(p.Weight, tensor.Float32), tensor.TensorValue(p.Bias))
	if relu {
		y = y.ReLU()
	}
	return y
}
