package nn

import (
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// Reduction says what a loss returns: the type of nn/functional.
type Reduction = F.Reduction

// The reductions.
const (
	Mean      = F.Mean      // the mean over all elements
	Sum       = F.Sum       // their sum
	None      = F.None      // one value per element
	BatchMean = F.BatchMean // KLDivLoss: the sum divided by the batch size
)

// LossOptions are the options of losses that have no other.
type LossOptions struct{ Reduction Reduction }

// L1Loss is the absolute difference.
// https://pytorch.org/docs/stable/generated/torch.nn.L1Loss.html
type L1Loss struct {
	Base
	Reduction Reduction
}

// NewL1Loss makes a L1Loss.
func NewL1Loss(opts ...LossOptions) *L1Loss {
	o := first(opts)
	return New(&L1Loss{Reduction: o.Reduction})
}

// Forward computes the loss.
func (m *L1Loss) Forward(input, target *Tensor) *Tensor {
	return runN(m, []*Tensor{input, target}, func(in []*Tensor) *Tensor {
		return F.L1Loss(in[0], in[1], F.L1LossOptions{Reduction: m.Reduction})
	})
}

// MSELoss is the squared difference.
// https://pytorch.org/docs/stable/generated/torch.nn.MSELoss.html
type MSELoss struct {
	Base
	Reduction Reduction
}

// NewMSELoss makes a MSELoss.
func NewMSELoss(opts ...LossOptions) *MSELoss {
	o := first(opts)
	return New(&MSELoss{Reduction: o.Reduction})
}

// Forward computes the loss.
func (m *MSELoss) Forward(input, target *Tensor) *Tensor {
	return runN(m, []*Tensor{input, target}, func(in []*Tensor) *Tensor {
		return F.MSELoss(in[0], in[1], F.MSELossOptions{Reduction: m.Reduction})
	})
}

// NLLLoss is the negative log likelihood of classes, given log-probabilities (N, C, …) and class numbers (N, …).
// https://pytorch.org/docs/stable/generated/torch.nn.NLLLoss.html
type NLLLoss struct {
	Base
	Weight      *Tensor `torch:",buffer"`
	IgnoreIndex int
	Reduction   Reduction
}

// NLLLossOptions are the options of NewNLLLoss; the zero value is PyTorch's default.
type NLLLossOptions struct {
	Weight      *Tensor         // (C), nil: all 1
	IgnoreIndex tensor.Opt[int] // target that counts nothing; default -100
	Reduction   Reduction
}

// NewNLLLoss makes a NLLLoss.
func NewNLLLoss(opts ...NLLLossOptions) *NLLLoss {
	o := first(opts)
	return New(&NLLLoss{Weight: o.Weight, IgnoreIndex: o.IgnoreIndex.Or(-100), Reduction: o.Reduction})
}

// Forward computes the loss.
func (m *NLLLoss) Forward(input, target *Tensor) *Tensor {
	return runN(m, []*Tensor{input, target}, func(in []*Tensor) *Tensor {
		return F.NLLLoss(in[0], in[1], F.NLLLossOptions{Weight: m.Weight, IgnoreIndex: tensor.Some(m.IgnoreIndex),
			Reduction: m.Reduction})
	})
}

// NLLLoss2d is the former name of [NLLLoss], which takes images of classes (N, C, H, W), too.
//
// Deprecated: PyTorch asks to write [NLLLoss] instead.
type NLLLoss2d = NLLLoss

// CrossEntropyLoss is LogSoftmax followed by NLLLoss: scores (N, C, …) against class numbers (N, …) or probabilities
// (N, C, …).
// https://pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html
type CrossEntropyLoss struct {
	Base
	Weight         *Tensor `torch:",buffer"`
	IgnoreIndex    int
	LabelSmoothing float64
	Reduction      Reduction
}

// CrossEntropyLossOptions are the options of NewCrossEntropyLoss; the zero value is PyTorch's default.
type CrossEntropyLossOptions struct {
	Weight         *Tensor         // (C), nil: all 1
	IgnoreIndex    tensor.Opt[int] // target that counts nothing; default -100
	LabelSmoothing float64         // share of the target spread over all classes
	Reduction      Reduction
}

// NewCrossEntropyLoss makes a CrossEntropyLoss.
func NewCrossEntropyLoss(opts ...CrossEntropyLossOptions) *CrossEntropyLoss {
	o := first(opts)
	return New(&CrossEntropyLoss{Weight: o.Weight, IgnoreIndex: o.IgnoreIndex.Or(-100),
		LabelSmoothing: o.LabelSmoothing, Reduction: o.Reduction})
}

// Forward computes the loss.
func (m *CrossEntropyLoss) Forward(input, target *Tensor) *Tensor {
	return runN(m, []*Tensor{input, target}, func(in []*Tensor) *Tensor {
		return F.CrossEntropy(in[0], in[1],
			F.CrossEntropyOptions{Weight: m.Weight, IgnoreIndex: tensor.Some(m.IgnoreIndex), Reduction: m.Reduction,
				LabelSmoothing: tensor.Some(m.LabelSmoothing)})
	})
}

// KLDivLoss is the Kullback-Leibler divergence of log-probabilities from probabilities.
// https://pytorch.org/docs/stable/generated/torch.nn.KLDivLoss.html
type KLDivLoss struct {
	Base
	LogTarget bool
	Reduction Reduction
}

// KLDivLossOptions are the options of NewKLDivLoss; the zero value is PyTorch's default.
type KLDivLossOptions struct {
	LogTarget bool // the target holds logarithms, too
	Reduction Reduction
}

// NewKLDivLoss makes a KLDivLoss.
func NewKLDivLoss(opts ...KLDivLossOptions) *KLDivLoss {
	o := first(opts)
	return New(&KLDivLoss{LogTarget: o.LogTarget, Reduction: o.Reduction})
}

// Forward computes the loss.
func (m *KLDivLoss) Forward(input, target *Tensor) *Tensor {
	return runN(m, []*Tensor{input, target}, func(in []*Tensor) *Tensor {
		return F.KLDiv(in[0], in[1], F.KLDivOptions{LogTarget: m.LogTarget, Reduction: m.Reduction})
	})
}

// BCELoss is the binary cross entropy of probabilities.
// https://pytorch.org/docs/stable/generated/torch.nn.BCELoss.html
type BCELoss struct {
	Base
	Weight    *Tensor `torch:",buffer"`
	Reduction Reduction
}

// BCELossOptions are the options of NewBCELoss; the zero value is PyTorch's default.
type BCELossOptions struct {
	Weight    *Tensor // factor of each element
	Reduction Reduction
}

// NewBCELoss makes a BCELoss.
func NewBCELoss(opts ...BCELossOptions) *BCELoss {
	o := first(opts)
	return New(&BCELoss{Weight: o.Weight, Reduction: o.Reduction})
}

// Forward computes the loss.
func (m *BCELoss) Forward(input, target *Tensor) *Tensor {
	return runN(m, []*Tensor{input, target}, func(in []*Tensor) *Tensor {
		return F.BinaryCrossEntropy(in[0], in[1], F.BinaryCrossEntropyOptions{Weight: m.Weight, Reduction: m.Reduction})
	})
}

// BCEWithLogitsLoss is Sigmoid followed by BCELoss.
// https://pytorch.org/docs/stable/generated/torch.nn.BCEWithLogitsLoss.html
type BCEWithLogitsLoss struct {
	Base
	Weight    *Tensor `torch:",buffer"`
	PosWeight *Tensor `torch:",buffer"`
	Reduction Reduction
}

// BCEWithLogitsLossOptions are the options of NewBCEWithLogitsLoss; the zero value is PyTorch's default.
type BCEWithLogitsLossOptions struct {
	Weight    *Tensor // factor of each element
	PosWeight *Tensor // factor of positive targets
	Reduction Reduction
}

// NewBCEWithLogitsLoss makes a BCEWithLogitsLoss.
func NewBCEWithLogitsLoss(opts ...BCEWithLogitsLossOptions) *BCEWithLogitsLoss {
	o := first(opts)
	return New(&BCEWithLogitsLoss{Weight: o.Weight, PosWeight: o.PosWeight, Reduction: o.Reduction})
}

// Forward computes the loss.
func (m *BCEWithLogitsLoss) Forward(input, target *Tensor) *Tensor {
	return runN(m, []*Tensor{input, target}, func(in []*Tensor) *Tensor {
		return F.BinaryCrossEntropyWithLogits(in[0], in[1],
			F.BinaryCrossEntropyWithLogitsOptions{Weight: m.Weight, PosWeight: m.PosWeight, Reduction: m.Reduction})
	})
}

// PoissonNLLLoss is the negative log likelihood of Poisson counts.
// https://pytorch.org/docs/stable/generated/torch.nn.PoissonNLLLoss.html
type PoissonNLLLoss struct {
	Base
	LogInput  bool
	Full      bool
	Eps       float64
	Reduction Reduction
}

// PoissonNLLLossOptions are the options of NewPoissonNLLLoss; the zero value is PyTorch's default.
type PoissonNLLLossOptions struct {
	NoLogInput bool                // the input is the rate, not its logarithm
	Full       bool                // add Stirling's term
	Eps        tensor.Opt[float64] // default 1e-8
	Reduction  Reduction
}

// NewPoissonNLLLoss makes a PoissonNLLLoss.
func NewPoissonNLLLoss(opts ...PoissonNLLLossOptions) *PoissonNLLLoss {
	o := first(opts)
	return New(&PoissonNLLLoss{LogInput: !o.NoLogInput, Full: o.Full, Eps: o.Eps.Or(1e-8), Reduction: o.Reduction})
}

// Forward computes the loss.
func (m *PoissonNLLLoss) Forward(input, target *Tensor) *Tensor {
	return runN(m, []*Tensor{input, target}, func(in []*Tensor) *Tensor {
		return F.PoissonNLLLoss(in[0], in[1],
			F.PoissonNLLLossOptions{NoLogInput: !m.LogInput, Full: m.Full, Eps: tensor.Some(m.Eps),
				Reduction: m.Reduction})
	})
}

// GaussianNLLLoss is the negative log likelihood of normal numbers with the given variances.
// https://pytorch.org/docs/stable/generated/torch.nn.GaussianNLLLoss.html
type GaussianNLLLoss struct {
	Base
	Full      bool
	Eps       float64
	Reduction Reduction
}

// GaussianNLLLossOptions are the options of NewGaussianNLLLoss; the zero value is PyTorch's default.
type GaussianNLLLossOptions struct {
	Full      bool                // add the constant term
	Eps       tensor.Opt[float64] // least variance; default 1e-6
	Reduction Reduction
}

// NewGaussianNLLLoss makes a GaussianNLLLoss.
func NewGaussianNLLLoss(opts ...GaussianNLLLossOptions) *GaussianNLLLoss {
	o := first(opts)
	return New(&GaussianNLLLoss{Full: o.Full, Eps: o.Eps.Or(1e-6), Reduction: o.Reduction})
}

// Forward computes the loss.
func (m *GaussianNLLLoss) Forward(input, target, variance *Tensor) *Tensor {
	return runN(m, []*Tensor{input, target, variance}, func(in []*Tensor) *Tensor {
		return F.GaussianNLLLoss(in[0], in[1], in[2],
			F.GaussianNLLLossOptions{Full: m.Full, Eps: tensor.Some(m.Eps), Reduction: m.Reduction})
	})
}

// HingeEmbeddingLoss is x where the target is 1 and max(0, margin - x) where it is -1.
// https://pytorch.org/docs/stable/generated/torch.nn.HingeEmbeddingLoss.html
type HingeEmbeddingLoss struct {
	Base
	Margin    float64
	Reduction Reduction
}

// HingeEmbeddingLossOptions are the options of NewHingeEmbeddingLoss; the zero value is PyTorch's default.
type HingeEmbeddingLossOptions struct {
	Margin    tensor.Opt[float64] // default 1
	Reduction Reduction
}

// NewHingeEmbeddingLoss makes a HingeEmbeddingLoss.
func NewHingeEmbeddingLoss(opts ...HingeEmbeddingLossOptions) *HingeEmbeddingLoss {
	o := first(opts)
	return New(&HingeEmbeddingLoss{Margin: o.Margin.Or(1), Reduction: o.Reduction})
}

// Forward computes the loss.
func (m *HingeEmbeddingLoss) Forward(input, target *Tensor) *Tensor {
	return runN(m, []*Tensor{input, target}, func(in []*Tensor) *Tensor {
		return F.HingeEmbeddingLoss(in[0], in[1],
			F.HingeEmbeddingLossOptions{Margin: tensor.Some(m.Margin), Reduction: m.Reduction})
	})
}

// HuberLoss is quadratic up to Delta and linear beyond.
// https://pytorch.org/docs/stable/generated/torch.nn.HuberLoss.html
type HuberLoss struct {
	Base
	Delta     float64
	Reduction Reduction
}

// HuberLossOptions are the options of NewHuberLoss; the zero value is PyTorch's default.
type HuberLossOptions struct {
	Delta     tensor.Opt[float64] // default 1
	Reduction Reduction
}

// NewHuberLoss makes a HuberLoss.
func NewHuberLoss(opts ...HuberLossOptions) *HuberLoss {
	o := first(opts)
	return New(&HuberLoss{Delta: o.Delta.Or(1), Reduction: o.Reduction})
}

// Forward computes the loss.
func (m *HuberLoss) Forward(input, target *Tensor) *Tensor {
	return runN(m, []*Tensor{input, target}, func(in []*Tensor) *Tensor {
		return F.HuberLoss(in[0], in[1], F.HuberLossOptions{Delta: tensor.Some(m.Delta), Reduction: m.Reduction})
	})
}

// SmoothL1Loss is HuberLoss divided by Beta.
// https://pytorch.org/docs/stable/generated/torch.nn.SmoothL1Loss.html
type SmoothL1Loss struct {
	Base
	Beta      float64
	Reduction Reduction
}

// SmoothL1LossOptions are the options of NewSmoothL1Loss; the zero value is PyTorch's default.
type SmoothL1LossOptions struct {
	Beta      tensor.Opt[float64] // default 1
	Reduction Reduction
}

// NewSmoothL1Loss makes a SmoothL1Loss.
func NewSmoothL1Loss(opts ...SmoothL1LossOptions) *SmoothL1Loss {
	o := first(opts)
	return New(&SmoothL1Loss{Beta: o.Beta.Or(1), Reduction: o.Reduction})
}

// Forward computes the loss.
func (m *SmoothL1Loss) Forward(input, target *Tensor) *Tensor {
	return runN(m, []*Tensor{input, target}, func(in []*Tensor) *Tensor {
		return F.SmoothL1Loss(in[0], in[1], F.SmoothL1LossOptions{Beta: tensor.Some(m.Beta), Reduction: m.Reduction})
	})
}

// SoftMarginLoss is log(1 + exp(-y·x)) with targets 1 and -1.
// https://pytorch.org/docs/stable/generated/torch.nn.SoftMarginLoss.html
type SoftMarginLoss struct {
	Base
	Reduction Reduction
}

// NewSoftMarginLoss makes a SoftMarginLoss.
func NewSoftMarginLoss(opts ...LossOptions) *SoftMarginLoss {
	o := first(opts)
	return New(&SoftMarginLoss{Reduction: o.Reduction})
}

// Forward computes the loss.
func (m *SoftMarginLoss) Forward(input, target *Tensor) *Tensor {
	return runN(m, []*Tensor{input, target}, func(in []*Tensor) *Tensor {
		return F.SoftMarginLoss(in[0], in[1], F.SoftMarginLossOptions{Reduction: m.Reduction})
	})
}

// CosineEmbeddingLoss is 1 - cos for pairs with target 1 and max(0, cos - margin) for those with -1.
// https://pytorch.org/docs/stable/generated/torch.nn.CosineEmbeddingLoss.html
type CosineEmbeddingLoss struct {
	Base
	Margin    float64
	Reduction Reduction
}

// CosineEmbeddingLossOptions are the options of NewCosineEmbeddingLoss; the zero value is PyTorch's default.
type CosineEmbeddingLossOptions struct {
	Margin    float64 // default 0
	Reduction Reduction
}

// NewCosineEmbeddingLoss makes a CosineEmbeddingLoss.
func NewCosineEmbeddingLoss(opts ...CosineEmbeddingLossOptions) *CosineEmbeddingLoss {
	o := first(opts)
	return New(&CosineEmbeddingLoss{Margin: o.Margin, Reduction: o.Reduction})
}

// Forward computes the loss.
func (m *CosineEmbeddingLoss) Forward(input1, input2, target *Tensor) *Tensor {
	return runN(m, []*Tensor{input1, input2, target}, func(in []*Tensor) *Tensor {
		return F.CosineEmbeddingLoss(in[0], in[1], in[2],
			F.CosineEmbeddingLossOptions{Margin: tensor.Some(m.Margin), Reduction: m.Reduction})
	})
}

// MarginRankingLoss is max(0, -y·(x1 - x2) + margin).
// https://pytorch.org/docs/stable/generated/torch.nn.MarginRankingLoss.html
type MarginRankingLoss struct {
	Base
	Margin    float64
	Reduction Reduction
}

// MarginRankingLossOptions are the options of NewMarginRankingLoss; the zero value is PyTorch's default.
type MarginRankingLossOptions struct {
	Margin    float64 // default 0
	Reduction Reduction
}

// NewMarginRankingLoss makes a MarginRankingLoss.
func NewMarginRankingLoss(opts ...MarginRankingLossOptions) *MarginRankingLoss {
	o := first(opts)
	return New(&MarginRankingLoss{Margin: o.Margin, Reduction: o.Reduction})
}

// Forward computes the loss.
func (m *MarginRankingLoss) Forward(input1, input2, target *Tensor) *Tensor {
	return runN(m, []*Tensor{input1, input2, target}, func(in []*Tensor) *Tensor {
		return F.MarginRankingLoss(in[0], in[1], in[2],
			F.MarginRankingLossOptions{Margin: tensor.Some(m.Margin), Reduction: m.Reduction})
	})
}

// MultiLabelMarginLoss is the hinge loss between the targets' scores and all others'.
// https://pytorch.org/docs/stable/generated/torch.nn.MultiLabelMarginLoss.html
type MultiLabelMarginLoss struct {
	Base
	Reduction Reduction
}

// NewMultiLabelMarginLoss makes a MultiLabelMarginLoss.
func NewMultiLabelMarginLoss(opts ...LossOptions) *MultiLabelMarginLoss {
	o := first(opts)
	return New(&MultiLabelMarginLoss{Reduction: o.Reduction})
}

// Forward computes the loss.
func (m *MultiLabelMarginLoss) Forward(input, target *Tensor) *Tensor {
	return runN(m, []*Tensor{input, target}, func(in []*Tensor) *Tensor {
		return F.MultilabelMarginLoss(in[0], in[1], F.MultilabelMarginLossOptions{Reduction: m.Reduction})
	})
}

// MultiLabelSoftMarginLoss is the mean binary cross entropy over classes.
// https://pytorch.org/docs/stable/generated/torch.nn.MultiLabelSoftMarginLoss.html
type MultiLabelSoftMarginLoss struct {
	Base
	Weight    *Tensor `torch:",buffer"`
	Reduction Reduction
}

// MultiLabelSoftMarginLossOptions are the options of NewMultiLabelSoftMarginLoss; the zero value is PyTorch's default.
type MultiLabelSoftMarginLossOptions struct {
	Weight    *Tensor // one per class; nil: all 1
	Reduction Reduction
}

// NewMultiLabelSoftMarginLoss makes a MultiLabelSoftMarginLoss.
func NewMultiLabelSoftMarginLoss(opts ...MultiLabelSoftMarginLossOptions) *MultiLabelSoftMarginLoss {
	o := first(opts)
	return New(&MultiLabelSoftMarginLoss{Weight: o.Weight, Reduction: o.Reduction})
}

// Forward computes the loss.
func (m *MultiLabelSoftMarginLoss) Forward(input, target *Tensor) *Tensor {
	return runN(m, []*Tensor{input, target}, func(in []*Tensor) *Tensor {
		return F.MultilabelSoftMarginLoss(in[0], in[1],
			F.MultilabelSoftMarginLossOptions{Weight: m.Weight, Reduction: m.Reduction})
	})
}

// MultiMarginLoss is the multi-class hinge loss.
// https://pytorch.org/docs/stable/generated/torch.nn.MultiMarginLoss.html
type MultiMarginLoss struct {
	Base
	P         int
	Margin    float64
	Weight    *Tensor `torch:",buffer"`
	Reduction Reduction
}

// MultiMarginLossOptions are the options of NewMultiMarginLoss; the zero value is PyTorch's default.
type MultiMarginLossOptions struct {
	P         tensor.Opt[int]     // power, 1 or 2; default 1
	Margin    tensor.Opt[float64] // default 1
	Weight    *Tensor             // one per class; nil: all 1
	Reduction Reduction
}

// NewMultiMarginLoss makes a MultiMarginLoss.
func NewMultiMarginLoss(opts ...MultiMarginLossOptions) *MultiMarginLoss {
	o := first(opts)
	return New(&MultiMarginLoss{P: o.P.Or(1), Margin: o.Margin.Or(1), Weight: o.Weight, Reduction: o.Reduction})
}

// Forward computes the loss.
func (m *MultiMarginLoss) Forward(input, target *Tensor) *Tensor {
	return runN(m, []*Tensor{input, target}, func(in []*Tensor) *Tensor {
		return F.MultiMarginLoss(in[0], in[1],
			F.MultiMarginLossOptions{P: tensor.Some(m.P), Margin: tensor.Some(m.Margin), Weight: m.Weight,
				Reduction: m.Reduction})
	})
}

// TripletMarginLoss is max(0, d(anchor, positive) - d(anchor, negative) + margin).
// https://pytorch.org/docs/stable/generated/torch.nn.TripletMarginLoss.html
type TripletMarginLoss struct {
	Base
	Margin    float64
	P         float64
	Eps       float64
	Swap      bool
	Reduction Reduction
}

// TripletMarginLossOptions are the options of NewTripletMarginLoss; the zero value is PyTorch's default.
type TripletMarginLossOptions struct {
	Margin    tensor.Opt[float64] // default 1
	P         tensor.Opt[float64] // norm of the distance; default 2
	Eps       tensor.Opt[float64] // default 1e-6
	Swap      bool                // use the positive's distance to the negative where it is smaller
	Reduction Reduction
}

// NewTripletMarginLoss makes a TripletMarginLoss.
func NewTripletMarginLoss(opts ...TripletMarginLossOptions) *TripletMarginLoss {
	o := first(opts)
	return New(&TripletMarginLoss{Margin: o.Margin.Or(1), P: o.P.Or(2), Eps: o.Eps.Or(1e-6), Swap: o.Swap,
		Reduction: o.Reduction})
}

// Forward computes the loss.
func (m *TripletMarginLoss) Forward(anchor, positive, negative *Tensor) *Tensor {
	return runN(m, []*Tensor{anchor, positive, negative}, func(in []*Tensor) *Tensor {
		return F.TripletMarginLoss(in[0], in[1], in[2],
			F.TripletMarginLossOptions{Margin: tensor.Some(m.Margin), P: tensor.Some(m.P), Eps: tensor.Some(m.Eps),
				Swap: m.Swap, Reduction: m.Reduction})
	})
}

// CTCLoss is the negative log likelihood of label sequences under connectionist temporal classification (Graves et al.
// 2006).
// https://pytorch.org/docs/stable/generated/torch.nn.CTCLoss.html
type CTCLoss struct {
	Base
	Blank        int
	ZeroInfinity bool
	Reduction    Reduction
}

// CTCLossOptions are the options of NewCTCLoss; the zero value is PyTorch's default.
type CTCLossOptions struct {
	Blank        int  // class of the blank
	ZeroInfinity bool // zero infinite losses and their gradients
	Reduction    Reduction
}

// NewCTCLoss makes a CTCLoss.
func NewCTCLoss(opts ...CTCLossOptions) *CTCLoss {
	o := first(opts)
	return New(&CTCLoss{Blank: o.Blank, ZeroInfinity: o.ZeroInfinity, Reduction: o.Reduction})
}

// Forward computes the loss.
func (m *CTCLoss) Forward(logProbs, targets, inputLengths, targetLengths *Tensor) *Tensor {
	return runN(m, []*Tensor{logProbs, targets, inputLengths, targetLengths}, func(in []*Tensor) *Tensor {
		return F.CTCLoss(in[0], in[1], in[2], in[3],
			F.CTCLossOptions{Blank: m.Blank, ZeroInfinity: m.ZeroInfinity, Reduction: m.Reduction})
	})
}

// TripletMarginWithDistanceLossOptions are the options of NewTripletMarginWithDistanceLoss; the zero value is PyTorch's
// default.
type TripletMarginWithDistanceLossOptions struct {
	DistanceFunction func(a, b *Tensor) *Tensor // default PairwiseDistance
	Margin           tensor.Opt[float64]        // default 1
	Swap             bool
	Reduction        Reduction
}

// TripletMarginWithDistanceLoss is TripletMarginLoss with a distance of one's own.
// https://pytorch.org/docs/stable/generated/torch.nn.TripletMarginWithDistanceLoss.html
type TripletMarginWithDistanceLoss struct {
	Base
	// the default distance, nil with a function of one's own
	Distance         *PairwiseDistance `torch:"distance_function"`
	DistanceFunction func(a, b *Tensor) *Tensor
	Margin           float64
	Swap             bool
	Reduction        Reduction
}

// NewTripletMarginWithDistanceLoss makes a TripletMarginWithDistanceLoss.
func NewTripletMarginWithDistanceLoss(opts ...TripletMarginWithDistanceLossOptions) *TripletMarginWithDistanceLoss {
	o := first(opts)
	f := o.DistanceFunction
	var d *PairwiseDistance
	if f == nil {
		d = NewPairwiseDistance()
		f = d.Forward
	}
	return New(&TripletMarginWithDistanceLoss{Distance: d, DistanceFunction: f, Margin: o.Margin.Or(1), Swap: o.Swap,
		Reduction: o.Reduction})
}

// Forward computes the loss.
func (m *TripletMarginWithDistanceLoss) Forward(anchor, positive, negative *Tensor) *Tensor {
	return runN(m, []*Tensor{anchor, positive, negative}, func(in []*Tensor) *Tensor {
		return F.TripletMarginWithDistanceLoss(in[0], in[1], in[2],
			F.TripletMarginWithDistanceLossOptions{DistanceFunction: m.DistanceFunction,
				Margin: tensor.Some(m.Margin), Swap: m.Swap, Reduction: m.Reduction})
	})
}
