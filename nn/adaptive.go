package nn

import (
	"github.com/gotorch-dev/torch"
	F "github.com/gotorch-dev/torch/nn/functional"

	"fmt"
	"math"

	"github.com/gotorch-dev/torch/tensor"
)

// AdaptiveLogSoftmaxOptions are the options of NewAdaptiveLogSoftmaxWithLoss; the zero value is PyTorch's default.
type AdaptiveLogSoftmaxOptions struct {
	DivValue tensor.Opt[float64] // by which each cluster's projection is smaller; default 4
	HeadBias bool
	DType    tensor.DType
	Device   tensor.Device // where the parameters are made; the default device unless given
}

// AdaptiveLogSoftmaxWithLoss is a softmax over many classes that spends less on rare ones (Grave et al. 2016). Classes
// must be sorted by frequency, the most frequent first.
// https://pytorch.org/docs/stable/generated/torch.nn.AdaptiveLogSoftmaxWithLoss.html
type AdaptiveLogSoftmaxWithLoss struct {
	Base
	InFeatures, NClasses int
	Cutoffs              []int // ends of the clusters, with NClasses
	Head                 *Linear
	Tail                 []*Sequential
}

// NewAdaptiveLogSoftmaxWithLoss makes an AdaptiveLogSoftmaxWithLoss; the cutoffs rise and lie between 1 and nClasses-1.
func NewAdaptiveLogSoftmaxWithLoss(in, nClasses int, cutoffs []int,
	opts ...AdaptiveLogSoftmaxOptions) *AdaptiveLogSoftmaxWithLoss {
	o := first(opts)
	last := 0
	for _, c := range cutoffs {
		if c <= last || c > nClasses-1 {
			last = nClasses
			break
		}
		last = c
	}
	if len(cutoffs) == 0 || last == nClasses {
		tensor.Fail(tensor.ErrValue, "cutoffs should be a sequence of unique, positive integers sorted in an "+
			"increasing order, where each value is between 1 and n_classes-1")
	}
	m := &AdaptiveLogSoftmaxWithLoss{InFeatures: in, NClasses: nClasses,
		Cutoffs: append(append([]int(nil), cutoffs...), nClasses)}
	m.Head = NewLinear(in, cutoffs[0]+len(cutoffs),
		LinearOptions{NoBias: !o.HeadBias, DType: o.DType, Device: o.Device})
	plain := LinearOptions{NoBias: true, DType: o.DType, Device: o.Device}
	for i := range cutoffs {
		mid := int(math.Floor(float64(in) / math.Pow(o.DivValue.Or(4), float64(i+1))))
		m.Tail = append(m.Tail, NewSequential(NewLinear(in, mid, plain),
			NewLinear(mid, m.Cutoffs[i+1]-m.Cutoffs[i], plain)))
	}
	return New(m)
}

// LogProb is the log-probabilities of all classes: (N, in) gives (N, nClasses).
func (m *AdaptiveLogSoftmaxWithLoss) LogProb(x *Tensor) *Tensor {
	head := m.Head.Forward(x).LogSoftmax(1)
	short := m.Cutoffs[0]
	parts := []*Tensor{head.Narrow(1, 0, short)}
	for i, t := range m.Tail {
		parts = append(parts, t.Forward(x).LogSoftmax(1).Add(head.Narrow(1, short+i, 1)))
	}
	return torch.Cat(parts, torch.CatOptions{Dim: 1})
}

// Predict is the most probable class of each row.
func (m *AdaptiveLogSoftmaxWithLoss) Predict(x *Tensor) *Tensor {
	return m.LogProb(x).ArgMax(tensor.ArgMaxOptions{Dim: tensor.Some(1)})
}

// Forward gives each row's log-probability of its target, and their mean times -1: x (N, in) and target (N), or (in)
// and a 0-d target. Only the clusters that the targets lie in are computed.
func (m *AdaptiveLogSoftmaxWithLoss) Forward(x, target *Tensor) (out, loss *Tensor) {
	r := runAll(m, []*Tensor{x, target}, func(in []*Tensor) []*Tensor {
		out, loss := m.forward(in[0], in[1])
		return []*Tensor{out, loss}
	})
	return r[0], r[1]
}

func (m *AdaptiveLogSoftmaxWithLoss) forward(x, target *Tensor) (out, loss *Tensor) {
	batched := target.Dim() > 0
	switch {
	case target.Dim() > 1:
		tensor.Fail(tensor.ErrShape, "0D or 1D target tensor expected, multi-target not supported")
	case batched && (x.Dim() != 2 || x.Size(0) != target.Size(0)):
		tensor.Fail(tensor.ErrShape, "Input and target should have the same size in the batch dimension.")
	case !batched && x.Dim() != 1:
		tensor.Fail(tensor.ErrShape, "0D target tensor expects 1D input tensors, but found inputs with size %s",
			tensor.ShapeString(x.Shape()))
	}
	if !batched {
		x, target = x.Unsqueeze(0), target.Unsqueeze(0)
	}
	n, used, short := target.Size(0), 0, m.Cutoffs[0]
	out = x.NewZeros([]int{n})
	headIndex := target.NewEmpty([]int{n}) // what each row looks for in the head: its class, or its cluster
	low := 0
	for i, high := range m.Cutoffs {
		mask := target.GeScalar(low).BitwiseAnd(target.LtScalar(high))
		rows := mask.Nonzero().SqueezeDim(1)
		if rows.Numel() > 0 {
			used += rows.Numel()
			if classes := target.Index(mask); i == 0 {
				headIndex.IndexCopyInPlace(0, rows, classes)
			} else {
				headIndex.IndexFillScalarInPlace(0, rows, short+i-1)
				logp := m.Tail[i-1].Forward(x.IndexSelect(0, rows)).LogSoftmax(1)
				out.IndexCopyInPlace(0, rows, logp.Gather(1, classes.SubScalar(low).Unsqueeze(1)).SqueezeDim(1))
			}
		}
		low = high
	}
	if used != n {
		tensor.Fail(tensor.ErrIndex, "Target values should be in [0, %d], but values in range [%d, %d] were found. ",
			m.NClasses-1, int(target.Min().Item()), int(target.Max().Item()))
	}
	out = out.AddInPlace(m.Head.Forward(x).LogSoftmax(1).Gather(1, headIndex.Unsqueeze(1)).SqueezeDim(1))
	loss = out.Neg().Mean()
	if !batched {
		out = out.SqueezeDim(0)
	}
	return out, loss
}

// LinearCrossEntropyLossOptions are the options of NewLinearCrossEntropyLoss; the zero value is PyTorch's default.
type LinearCrossEntropyLossOptions struct {
	OutFeatures    Size // further dimensions of the target
	Bias           bool
	Weight         *Tensor         // (C), nil: all 1
	IgnoreIndex    tensor.Opt[int] // default -100 for class numbers
	LabelSmoothing float64
	Reduction      Reduction
	Options        *LinearCrossEntropyOptions
	DType          tensor.DType
	Device         tensor.Device // where the parameters are made; the default device unless given
}

// LinearCrossEntropyOptions say how PyTorch cuts the computation into chunks. They are kept and printed; here the whole
// is computed at once, with the same results.
type LinearCrossEntropyOptions struct {
	AllowRetainGraph bool
	BatchChunkSize   int    // 0: None
	ChunkingMethod   string // default "auto"
	AccPolicy        string // default "auto"
	AccDType         tensor.DType
}

func (o *LinearCrossEntropyOptions) text() string {
	if o == nil {
		return "None"
	}
	size, dt := "None", "None"
	if o.BatchChunkSize != 0 {
		size = fmt.Sprint(o.BatchChunkSize)
	}
	if o.AccDType != 0 {
		dt = o.AccDType.String()
	}
	auto := func(s string) string {
		if s == "" {
			return "auto"
		}
		return s
	}
	return fmt.Sprintf("LinearCrossEntropyOptions(allow_retain_graph=%s, batch_chunk_size=%s, chunking_method='%s', "+
		"acc_policy='%s', acc_dtype=%s)",
		pyBool(o.AllowRetainGraph), size, auto(o.ChunkingMethod), auto(o.AccPolicy), dt)
}

// LinearCrossEntropyLoss is a Linear followed by CrossEntropyLoss.
// https://pytorch.org/docs/stable/generated/torch.nn.LinearCrossEntropyLoss.html
type LinearCrossEntropyLoss struct {
	Base
	Linear                 *Linear
	InFeatures, NumClasses int
	OutFeatures            Size
	IgnoreIndex            tensor.Opt[int]
	LabelSmoothing         float64
	Reduction              Reduction
	Options                *LinearCrossEntropyOptions
	Weight                 *Tensor `torch:",buffer"`
}

// NewLinearCrossEntropyLoss makes a LinearCrossEntropyLoss.
func NewLinearCrossEntropyLoss(in, numClasses int, opts ...LinearCrossEntropyLossOptions) *LinearCrossEntropyLoss {
	o := first(opts)
	out := numClasses
	for _, n := range o.OutFeatures {
		out *= n
	}
	m := &LinearCrossEntropyLoss{InFeatures: in, NumClasses: numClasses, OutFeatures: o.OutFeatures,
		IgnoreIndex: o.IgnoreIndex, LabelSmoothing: o.LabelSmoothing, Reduction: o.Reduction, Options: o.Options,
		Weight: o.Weight}
	if m.OutFeatures == nil {
		m.OutFeatures = Size{}
	}
	m.Linear = NewLinear(in, out, LinearOptions{NoBias: !o.Bias, DType: o.DType, Device: o.Device})
	return New(m)
}

// Forward computes the loss of x (N, in) or (in) against class numbers (N, OutFeatures…) or probabilities (N, C,
// OutFeatures…).
func (m *LinearCrossEntropyLoss) Forward(x, target *Tensor) *Tensor {
	return runN(m, []*Tensor{x, target}, func(in []*Tensor) *Tensor {
		y := m.Linear.Forward(in[0])
		if len(m.OutFeatures) > 0 {
			sh := append([]int(nil), y.Shape()[:y.Dim()-1]...)
			y = y.Reshape(append(append(sh, m.NumClasses), m.OutFeatures...))
		}
		return F.CrossEntropy(y, in[1], F.CrossEntropyOptions{Weight: m.Weight, IgnoreIndex: m.IgnoreIndex,
			LabelSmoothing: tensor.Some(m.LabelSmoothing), Reduction: m.Reduction})
	})
}

// ExtraRepr prints the settings.
func (m *LinearCrossEntropyLoss) ExtraRepr() string {
	return fmt.Sprintf("in_features=%d, num_classes=%d, out_features=%s, bias=%s, reduction=%s, ignore_index=%s, "+
		"label_smoothing=%s, options=%s",
		m.InFeatures, m.NumClasses, m.OutFeatures.tuple(), pyBool(m.Linear.Bias != nil), m.Reduction,
		pyOptInt(m.IgnoreIndex), pyFloat(m.LabelSmoothing), m.Options.text())
}
