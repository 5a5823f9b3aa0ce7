package quantized

import (
	"math"
	"sync/atomic"

	"github.com/gotorch-dev/torch/internal/cpu/quant"
	"github.com/gotorch-dev/torch/tensor"
)

func sqrt32(x float32) float32 { return float32(math.Sqrt(float64(x))) }

var engine atomic.Uint32

func init() { engine.Store(uint32(quant.X86)) }

// Engine is what holds for parameters that are packed now; x86 at first, as in PyTorch.
func Engine() quant.Engine { return quant.Engine(engine.Load()) }

// SetEngine sets the engine for parameters that are packed from now on, and returns what held before.
func SetEngine(e quant.Engine) quant.Engine { return quant.Engine(engine.Swap(uint32(e))) }

// Linear is the packed parameters of a linear layer, PyTorch's LinearPackedParamsBase.
type Linear struct {
	// Weight is [out, in]: of type QInt8, quantized per tensor or per channel of dimension 0; or float16, which the
	// forms with "fp16" in their names take.
	Weight *T
	Bias   *T // float32 [out], or nil
	Engine quant.Engine
	packed *quant.Weights
}

// Conv is the packed parameters of a convolution, PyTorch's Conv2dPackedParamsBase and Conv3dPackedParamsBase. A
// convolution of one dimension is one of two whose first has a single element.
type Conv struct {
	Weight                                   *T
	Bias                                     *T // float32 [out], or nil
	Stride, Padding, OutputPadding, Dilation []int
	Groups                                   int
	Transpose                                bool
	Engine                                   quant.Engine
	packed                                   []*quant.Weights // of each group; one of a depthwise convolution
}

// Embedding is the packed parameters of an embedding, PyTorch's EmbeddingPackedParamsBase.
type Embedding struct {
	Weight *T // QUInt8 or QUInt4x2 [rows, columns], quantized per row with zero points of float32
}

// argument is an argument of a class of packed parameters.
func argument[P any](c *Ctx, i int) *P {
	p, ok := c.Any(i).(*P)
	if !ok || p == nil {
		c.Fail(tensor.ErrType, "%s: argument '%s' must be packed parameters, not %T", c.Op().FullName(),
			c.Op().Sch.Params[i].Name, c.Any(i))
	}
	return p
}

// floats is a tensor of one dimension and n numbers as float32; nil for nil.
func floats(c *Ctx, t *T, n int, what string) *T {
	if t == nil {
		return nil
	}
	if t.Dim() != 1 || t.Size(0) != n || t.IsQuantized() {
		c.Fail(tensor.ErrShape, "%s: %s must have %d elements, got shape %s", c.Op().FullName(), what, n,
			tensor.ShapeString(t.Shape()))
	}
	return tensor.DenseAs(t.Detach(), tensor.Float32)
}

// weights checks a weight: bytes, quantized per tensor or along an axis.
func weights(c *Ctx, w *T, axis int) *tensor.Quantizer {
	q := tensor.QuantizerOf(w)
	switch {
	case q == nil || w.DType() != tensor.QInt8:
		c.Fail(tensor.ErrDType, "%s: weight must be a quantized tensor of type qint8, got %s", c.Op().FullName(), w.DType())
	case q.Scheme == tensor.PerChannelAffineFloatQParams:
		c.Fail(tensor.ErrDType, "%s: the zero points of a weight must be integers", c.Op().FullName())
	case q.Scheme == tensor.PerChannelAffine && q.Axis != axis:
		c.Fail(tensor.ErrShape, "%s: a weight must be quantized along dimension %d, not %d", c.Op().FullName(), axis, q.Axis)
	}
	return q
}

// columns are the scales and zero points of n columns; one scale where all share it.
func columns(q *tensor.Quantizer, n int) (scales []float32, zeros []int32) {
	zeros = make([]int32, n)
	if q.Scheme == tensor.PerTensorAffine {
		for i := range zeros {
			zeros[i] = int32(q.ZeroPoint)
		}
		return []float32{float32(q.Scale)}, zeros
	}
	scales = make([]float32, n)
	s, z := tensor.Data[float64](tensor.Dense(q.Scales)), tensor.Data[int64](tensor.Dense(q.ZeroPoints))
	for i := range scales {
		scales[i], zeros[i] = float32(s[i]), int32(z[i])
	}
	return scales, zeros
}
