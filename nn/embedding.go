package nn

import (
	F "github.com/gotorch-dev/torch/nn/functional"

	"fmt"
	"strings"

	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
)

// EmbeddingOptions are the options of NewEmbedding; the zero value is PyTorch's default.
type EmbeddingOptions struct {
	PaddingIdx      tensor.Opt[int]     // row that is zero at the start and gets no gradient; default none
	MaxNorm         tensor.Opt[float64] // rows that are used are shortened to this norm; default none
	NormType        tensor.Opt[float64] // default 2
	ScaleGradByFreq bool
	Sparse          bool    // the gradient of the weight is sparse, see Tensor.IsSparse
	Weight          *Tensor // (num, dim) to start from, instead of random numbers
	Freeze          bool    // the weight does not require grad
	DType           tensor.DType
	Device          tensor.Device // where the parameters are made; the default device unless given
}

// Embedding looks up rows of a table: integers of any shape (…) give (…, dim).
// https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html
type Embedding struct {
	Base
	NumEmbeddings, EmbeddingDim int
	PaddingIdx                  tensor.Opt[int]
	MaxNorm                     tensor.Opt[float64]
	NormType                    tensor.Scalar
	ScaleGradByFreq, Sparse     bool
	Weight                      *Tensor // (num, dim)
}

func paddingIndex(o tensor.Opt[int], n int) tensor.Opt[int] {
	i, ok := o.Get()
	if !ok {
		return o
	}
	if i >= n || i < -n {
		tensor.Fail(tensor.ErrValue, "Padding_idx must be within num_embeddings")
	}
	if i < 0 {
		i += n
	}
	return tensor.Some(i)
}

func embeddingWeight(num, dim int, given *Tensor, freeze bool, pad tensor.Opt[int], place at) *Tensor {
	w := given
	if w != nil {
		if !tensor.SameShape(w.Shape(), []int{num, dim}) {
			tensor.Fail(tensor.ErrShape, "Shape of weight does not match num_embeddings and embedding_dim")
		}
		w = NewParameter(w)
	} else {
		w = param(place, num, dim)
		nninit.Normal(w, 0, 1)
		if i, ok := pad.Get(); ok {
			nninit.Zeros(w.Detach().Select(0, i))
		}
	}
	if freeze {
		w.SetRequiresGrad(false)
	}
	return w
}

// NewEmbedding makes a table of num rows of dim elements, drawn from the standard normal distribution.
func NewEmbedding(num, dim int, opts ...EmbeddingOptions) *Embedding {
	o := first(opts)
	m := &Embedding{NumEmbeddings: num, EmbeddingDim: dim, PaddingIdx: paddingIndex(o.PaddingIdx, num),
		MaxNorm: o.MaxNorm, NormType: o.NormType.Or(2), ScaleGradByFreq: o.ScaleGradByFreq, Sparse: o.Sparse}
	m.Weight = embeddingWeight(num, dim, o.Weight, o.Freeze, m.PaddingIdx, at{o.DType, o.Device})
	return New(m)
}

// Forward looks up the rows.
func (m *Embedding) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return F.Embedding(x, m.Weight, F.EmbeddingOptions{PaddingIdx: m.PaddingIdx, MaxNorm: m.MaxNorm,
			NormType: some(m.NormType), ScaleGradByFreq: m.ScaleGradByFreq, Sparse: m.Sparse})
	})
}

func embeddingRepr(num, dim int, pad tensor.Opt[int], maxNorm tensor.Opt[float64], normType tensor.Scalar, scale,
	sparse bool, mode string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d, %d", num, dim)
	if i, ok := pad.Get(); ok && mode == "" {
		fmt.Fprintf(&b, ", padding_idx=%d", i)
	}
	if v, ok := maxNorm.Get(); ok {
		b.WriteString(", max_norm=" + pyFloat(v))
	}
	if toFloat(normType) != 2 {
		b.WriteString(", norm_type=" + pyNum(normType))
	}
	if scale {
		b.WriteString(", scale_grad_by_freq=True")
	}
	if sparse && mode == "" {
		b.WriteString(", sparse=True")
	}
	if mode != "" {
		b.WriteString(", mode='" + mode + "'")
		if i, ok := pad.Get(); ok {
			fmt.Fprintf(&b, ", padding_idx=%d", i)
		}
	}
	return b.String()
}

// ExtraRepr prints the settings.
func (m *Embedding) ExtraRepr() string {
	return embeddingRepr(m.NumEmbeddings, m.EmbeddingDim, m.PaddingIdx, m.MaxNorm, m.NormType, m.ScaleGradByFreq,
		m.Sparse, "")
}

// BagMode says how EmbeddingBag joins the rows of a bag.
type BagMode uint8

// The modes.
const (
	BagMean BagMode = iota
	BagSum
	BagMax
)

// String is Python's name.
func (m BagMode) String() string { return [...]string{"mean", "sum", "max"}[m] }

// EmbeddingBagOptions are the options of NewEmbeddingBag; the zero value is PyTorch's default.
type EmbeddingBagOptions struct {
	MaxNorm           tensor.Opt[float64] // default none
	NormType          tensor.Opt[float64] // default 2
	ScaleGradByFreq   bool
	Mode              BagMode
	Sparse            bool    // the gradient of the weight is sparse, see Tensor.IsSparse
	Weight            *Tensor // (num, dim) to start from
	IncludeLastOffset bool    // offsets end with the number of indices
	PaddingIdx        tensor.Opt[int]
	DType             tensor.DType
	Device            tensor.Device // where the parameters are made; the default device unless given
}

// EmbeddingBag joins the rows of bags of indices without listing the rows.
// https://pytorch.org/docs/stable/generated/torch.nn.EmbeddingBag.html
type EmbeddingBag struct {
	Base
	NumEmbeddings, EmbeddingDim                int
	MaxNorm                                    tensor.Opt[float64]
	NormType                                   tensor.Scalar
	ScaleGradByFreq, Sparse, IncludeLastOffset bool
	Mode                                       BagMode
	PaddingIdx                                 tensor.Opt[int]
	Weight                                     *Tensor // (num, dim)
}

// NewEmbeddingBag makes a table of num rows of dim elements, drawn from the standard normal distribution.
func NewEmbeddingBag(num, dim int, opts ...EmbeddingBagOptions) *EmbeddingBag {
	o := first(opts)
	m := &EmbeddingBag{NumEmbeddings: num, EmbeddingDim: dim, MaxNorm: o.MaxNorm, NormType: o.NormType.Or(2),
		ScaleGradByFreq: o.ScaleGradByFreq,
		Sparse:          o.Sparse, IncludeLastOffset: o.IncludeLastOffset, Mode: o.Mode,
		PaddingIdx: paddingIndex(o.PaddingIdx, num)}
	m.Weight = embeddingWeight(num, dim, o.Weight, false, m.PaddingIdx, at{o.DType, o.Device})
	return New(m)
}

// BagInput are the further inputs of EmbeddingBag's Forward.
type BagInput struct {
	Offsets          *Tensor // (bags) start of each bag, for indices in one dimension
	PerSampleWeights *Tensor // factor of each index, for BagSum
}

// Forward joins the rows of each bag: indices (bags, n), or (total) with offsets, give (bags, dim).
func (m *EmbeddingBag) Forward(x *Tensor, in ...BagInput) *Tensor {
	o := first(in)
	if w, ok := StandIn(m).(MultiLayer); ok {
		return w.ForwardAll([]*Tensor{x, o.Offsets, o.PerSampleWeights})[0]
	}
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return F.EmbeddingBag(x, m.Weight,
			F.EmbeddingBagOptions{Offsets: o.Offsets, MaxNorm: m.MaxNorm, NormType: some(m.NormType),
				ScaleGradByFreq: m.ScaleGradByFreq,
				Mode:            m.Mode.String(), Sparse: m.Sparse, PerSampleWeights: o.PerSampleWeights,
				IncludeLastOffset: m.IncludeLastOffset, PaddingIdx: m.PaddingIdx})
	})
}

// ExtraRepr prints the settings.
func (m *EmbeddingBag) ExtraRepr() string {
	return embeddingRepr(m.NumEmbeddings, m.EmbeddingDim, m.PaddingIdx, m.MaxNorm, m.NormType, m.ScaleGradByFreq,
		m.Sparse, m.Mode.String())
}
