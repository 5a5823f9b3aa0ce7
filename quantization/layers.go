package quantization

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/ops/quantized"
	"github.com/gotorch-dev/torch/tensor"
)

// This file holds the quantized layers: torch.ao.nn.quantized, torch.ao.nn.intrinsic.quantized and
// torch.ao.nn.quantized.dynamic.

// packedOf calls an operator that packs parameters.
func packedOf[P any](name string, args ...tensor.Value) *P {
	r, err := tensor.CallOp("quantized::"+name, args...)
	if err != nil {
		panic(err)
	}
	return r[0].X.(*P)
}

// Linear is a linear layer of bytes, or with dynamic quantization one whose input and result are float32.
// https://pytorch.org/docs/stable/generated/torch.ao.nn.quantized.Linear.html
type Linear struct {
	nn.Base
	output  `torch:"-"`
	params  *quantized.Linear
	relu    bool
	dynamic bool
	dtype   tensor.DType // of the weights: QInt8 or Float16
}

func packLinear(w, bias *Tensor) *quantized.Linear {
	name := "linear_prepack"
	if !w.IsQuantized() {
		name = "linear_prepack_fp16"
	}
	return packedOf[quantized.Linear](name, tensor.TensorValue(w), tensor.TensorValue(bias))
}

// NewLinear makes a linear layer of bytes from a quantized weight (QInt8 [out, in]) and a bias, which may be nil, whose
// result has a scale and a zero point.
func NewLinear(weight, bias *Tensor, scale float64, zeroPoint int, relu bool) *Linear {
	return nn.New(&Linear{output: output{scale, zeroPoint}, params: packLinear(weight, bias), relu: relu,
		dtype: tensor.QInt8})
}

// NewDynamicLinear makes a linear layer with dynamic quantization, from a weight of type QInt8 or of floats, which are
// rounded to float16.
func NewDynamicLinear(weight, bias *Tensor, relu bool) *Linear {
	m := &Linear{output: output{scale: 1}, params: packLinear(weight, bias), relu: relu, dynamic: true,
		dtype: tensor.QInt8}
	if !weight.IsQuantized() {
		m.dtype = tensor.Float16
	}
	return nn.New(m)
}

// Weight and Bias are the parameters.
func (m *Linear) Weight() *Tensor { return m.params.Weight }

// Bias is described at Weight.
func (m *Linear) Bias() *Tensor { return m.params.Bias }

// ClassName is PyTorch's name.
func (m *Linear) ClassName() string {
	name := "Quantized"
	if m.dynamic {
		name = "DynamicQuantized"
	}
	name += "Linear"
	if m.relu {
		name += "ReLU"
	}
	return name
}

// ExtraRepr prints sizes and scheme.
func (m *Linear) ExtraRepr() string {
	w := m.params.Weight
	s := fmt.Sprintf("in_features=%d, out_features=%d", w.Size(1), w.Size(0))
	if m.dynamic {
		s += ", dtype=" + m.dtype.String()
		if !w.IsQuantized() {
			return s
		}
	} else {
		s += ", " + m.text()
	}
	return s + ", qscheme=" + w.QScheme().String()
}

// Forward applies the layer.
func (m *Linear) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		in, p := tensor.TensorValue(x), tensor.AnyValue(m.params)
		name := "linear"
		if m.relu {
			name += "_relu"
		}
		switch {
		case !m.dynamic:
			return call1(name, in, p, tensor.FloatValue(m.scale), tensor.IntValue(m.zero))
		case m.dtype == tensor.Float16:
			return call1(name+"_dynamic_fp16", in, p)
		}
		return call1(name+"_dynamic", in, p, tensor.BoolValue(true))
	})
}

// Conv is a convolution of bytes.
// https://pytorch.org/docs/stable/generated/torch.ao.nn.quantized.Conv2d.html
type Conv struct {
	nn.Base
	output    `torch:"-"`
	params    *quantized.Conv
	dims      int
	relu      bool
	transpose bool
}

// ConvSettings are the numbers of a convolution.
type ConvSettings = quantized.ConvSettings

// NewConv makes a convolution of bytes from a quantized weight (QInt8 [out, in/groups, kernel...]) and a bias, which
// may be nil, whose result has a scale and a zero point.
func NewConv(weight, bias *Tensor, s ConvSettings, scale float64, zeroPoint int, relu bool) *Conv {
	m := &Conv{output: output{scale, zeroPoint}, dims: weight.Dim() - 2, relu: relu, transpose: s.Transpose}
	m.params = packConv(weight, bias, s)
	return nn.New(m)
}

func packConv(w, bias *Tensor, s ConvSettings) *quantized.Conv {
	dims := w.Dim() - 2
	args := []tensor.Value{tensor.TensorValue(w), tensor.TensorValue(bias), tensor.IntsValue(s.Stride),
		tensor.IntsValue(s.Padding)}
	name := fmt.Sprintf("conv%dd_prepack", dims)
	if s.Transpose {
		name = fmt.Sprintf("conv_transpose%dd_prepack", dims)
		args = append(args, tensor.IntsValue(s.OutputPadding))
	}
	args = append(args, tensor.IntsValue(s.Dilation), tensor.IntValue(s.Groups))
	return packedOf[quantized.Conv](name, args...)
}

// Weight and Bias are the parameters.
func (m *Conv) Weight() *Tensor { return m.params.Weight }

// Bias is described at Weight.
func (m *Conv) Bias() *Tensor { return m.params.Bias }

// ClassName is PyTorch's name.
func (m *Conv) ClassName() string {
	name := "QuantizedConv"
	if m.transpose {
		name += "Transpose"
	}
	if m.relu {
		name += "ReLU"
	}
	return fmt.Sprintf("%s%dd", name, m.dims)
}

// ExtraRepr prints sizes and settings.
func (m *Conv) ExtraRepr() string {
	p := m.params
	w := p.Weight
	in, out := w.Size(1)*p.Groups, w.Size(0)
	if m.transpose {
		in, out = w.Size(0), w.Size(1)*p.Groups
	}
	s := fmt.Sprintf("%d, %d, kernel_size=%s, stride=%s, %s", in, out, tuple(w.Shape()[2:]), tuple(p.Stride), m.text())
	all := func(l []int, n int) bool { return !slices.ContainsFunc(l, func(x int) bool { return x != n }) }
	for _, f := range []struct {
		name string
		l    []int
		def  int
	}{{"padding", p.Padding, 0}, {"dilation", p.Dilation, 1}, {"output_padding", p.OutputPadding, 0}} {
		if !all(f.l, f.def) {
			s += ", " + f.name + "=" + tuple(f.l)
		}
	}
	if p.Groups != 1 {
		s += fmt.Sprintf(", groups=%d", p.Groups)
	}
	if p.Bias == nil {
		s += ", bias=False"
	}
	return s
}

func tuple(l []int) string {
	parts := make([]string, len(l))
	for i, n := range l {
		parts[i] = fmt.Sprint(n)
	}
	if len(parts) == 1 {
		return "(" + parts[0] + ",)"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// Forward applies the layer.
func (m *Conv) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		name := fmt.Sprintf("conv%dd", m.dims)
		if m.transpose {
			name = fmt.Sprintf("conv_transpose%dd", m.dims)
		}
		if m.relu {
			name += "_relu"
		}
		if m.dims > 1 && !m.transpose {
			name += ".new"
		}
		return call1(name, tensor.TensorValue(x), tensor.AnyValue(m.params), tensor.FloatValue(m.scale),
			tensor.IntValue(m.zero))
	})
}

// Embedding is a table of bytes or 4-bit numbers, EmbeddingBag one whose rows are summed.
// https://pytorch.org/docs/stable/generated/torch.ao.nn.quantized.EmbeddingBag.html
type Embedding struct {
	nn.Base
	params      *quantized.Embedding
	bag         bool
	includeLast bool
}

// NewEmbedding makes a table from a weight of type QUInt8 or QUInt4x2 [rows, columns], quantized per row with zero
// points of float32.
func NewEmbedding(weight *Tensor) *Embedding {
	return nn.New(&Embedding{params: packedOf[quantized.Embedding]("embedding_bag_prepack",
		tensor.TensorValue(weight))})
}

// NewEmbeddingBag makes a table whose rows are summed.
func NewEmbeddingBag(weight *Tensor, includeLastOffset bool) *Embedding {
	m := NewEmbedding(weight)
	m.bag, m.includeLast = true, includeLastOffset
	return m
}

// ClassName is PyTorch's name.
func (m *Embedding) ClassName() string {
	if m.bag {
		return "QuantizedEmbeddingBag"
	}
	return "QuantizedEmbedding"
}

// ExtraRepr prints sizes and scheme.
func (m *Embedding) ExtraRepr() string {
	w := m.params.Weight
	return fmt.Sprintf("num_embeddings=%d, embedding_dim=%d, dtype=%s, qscheme=%s", w.Size(0), w.Size(1), w.DType(),
		w.QScheme())
}

func (m *Embedding) bits() string {
	if m.params.Weight.DType() == tensor.QUInt8 {
		return "byte"
	}
	return "4bit"
}

// Forward gives the rows of an Embedding, or of an EmbeddingBag the sums of the rows of a matrix of indices.
func (m *Embedding) Forward(x *Tensor) *Tensor {
	if m.bag {
		return m.ForwardAll([]*Tensor{x})[0]
	}
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return call1("embedding_"+m.bits(), tensor.AnyValue(m.params), tensor.TensorValue(x))
	})
}

// ForwardAll sums the rows of bags: indices, offsets (may be missing) and weights of samples (may be missing).
func (m *Embedding) ForwardAll(in []*Tensor) []*Tensor {
	in = append(in, nil, nil)
	return []*Tensor{call1("embedding_bag_"+m.bits(), tensor.AnyValue(m.params), tensor.TensorValue(in[0]),
		tensor.TensorValue(in[1]), tensor.BoolValue(false), tensor.IntValue(0), tensor.BoolValue(false),
		tensor.TensorValue(in[2]), tensor.Value{}, tensor.BoolValue(m.includeLast))}
}
