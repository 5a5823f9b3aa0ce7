package nn

import (
	nninit "github.com/gotorch-dev/torch/nn/init"

	F "github.com/gotorch-dev/torch/nn/functional"

	"fmt"

	"github.com/gotorch-dev/torch/tensor"
)

// NormBase is what batch and instance normalisation share. Momentum is None (a cumulative mean) when CumulativeMean is
// set.
type NormBase struct {
	Base
	NumFeatures       int
	Eps               float64
	Momentum          float64
	CumulativeMean    bool
	Weight, Bias      *Tensor // (C), nil when not affine
	RunningMean       *Tensor `torch:",buffer"`
	RunningVar        *Tensor `torch:",buffer"`
	NumBatchesTracked *Tensor `torch:",buffer"`
	affine, hasBias   bool
	track             bool
}

// BatchNormOptions are the options of the batch normalisation layers; the zero value is PyTorch's default.
type BatchNormOptions struct {
	Eps                 tensor.Opt[float64] // default 1e-5
	Momentum            tensor.Opt[float64] // default 0.1
	CumulativeMean      bool                // Python's momentum=None: running statistics are the mean over all batches
	NoAffine            bool
	NoTrackRunningStats bool
	NoBias              bool
	DType               tensor.DType
	Device              tensor.Device // where the parameters are made; the default device unless given
}

// InstanceNormOptions are the options of the instance normalisation layers; the zero value is PyTorch's default.
type InstanceNormOptions struct {
	Eps               tensor.Opt[float64] // default 1e-5
	Momentum          tensor.Opt[float64] // default 0.1
	CumulativeMean    bool                // Python's momentum=None
	Affine            bool
	TrackRunningStats bool
	NoBias            bool
	DType             tensor.DType
	Device            tensor.Device // where the parameters are made; the default device unless given
}

func (m *NormBase) setup(n int, eps, momentum float64, cumulative, affine, track, bias bool, place at) {
	m.NumFeatures, m.Eps, m.Momentum, m.CumulativeMean = n, eps, momentum, cumulative
	m.affine, m.track, m.hasBias = affine, track, affine && bias
	if track { // also of a lazy layer, whose other tensors have no shape yet
		m.NumBatchesTracked = constant(at{tensor.Int64, place.device}, 0)
	}
	if n > 0 || !affine && !track {
		m.allocate(place)
	}
}

// allocate makes the parameters and buffers.
func (m *NormBase) allocate(place at) {
	n := m.NumFeatures
	if m.affine {
		m.Weight = NewParameter(constant(place, 1, n))
		if m.hasBias {
			m.Bias = NewParameter(constant(place, 0, n))
		}
	}
	if m.track {
		m.RunningMean = constant(place, 0, n)
		m.RunningVar = constant(place, 1, n)
	}
}

// ResetRunningStats sets the running statistics to mean 0 and variance 1.
func (m *NormBase) ResetRunningStats() {
	if m.track && m.RunningMean != nil {
		nninit.Constant(m.RunningMean, 0)
		nninit.Constant(m.RunningVar, 1)
		nninit.Constant(m.NumBatchesTracked, 0)
	}
}

// DropRunningStats takes the running statistics away: from now on each batch is normalised with its own, in evaluation
// too, as with NoTrackRunningStats from the start.
func (m *NormBase) DropRunningStats() {
	m.RunningMean, m.RunningVar, m.NumBatchesTracked, m.track = nil, nil, nil, false
}

// ResetParameters sets weights to 1, biases to 0, and the running statistics to their start.
func (m *NormBase) ResetParameters() {
	m.ResetRunningStats()
	if m.Weight != nil {
		nninit.Constant(m.Weight, 1)
	}
	if m.Bias != nil {
		nninit.Constant(m.Bias, 0)
	}
}

// BatchNormOf is what all batch norms share in m, nil when m is no batch norm.
func BatchNormOf(m Module) *NormBase {
	switch b := m.(type) {
	case *BatchNorm1d:
		return &b.NormBase
	case *BatchNorm2d:
		return &b.NormBase
	case *BatchNorm3d:
		return &b.NormBase
	case *SyncBatchNorm:
		return &b.NormBase
	case *LazyBatchNorm1d:
		return &b.NormBase
	case *LazyBatchNorm2d:
		return &b.NormBase
	case *LazyBatchNorm3d:
		return &b.NormBase
	}
	return nil
}

// StateVersion is 2 since num_batches_tracked is saved.
func (m *NormBase) StateVersion() int { return 2 }

// StateDefaults says that a state dict without num_batches_tracked is one of version 1.
func (m *NormBase) StateDefaults(version int) []string {
	if version < 2 && m.NumBatchesTracked != nil {
		return []string{"num_batches_tracked"}
	}
	return nil
}

// ExtraRepr prints the settings.
func (m *NormBase) ExtraRepr() string {
	mom := pyFloat(m.Momentum)
	if m.CumulativeMean {
		mom = "None"
	}
	return fmt.Sprintf("%d, eps=%s, momentum=%s, affine=%s, bias=%s, track_running_stats=%s", m.NumFeatures,
		pyFloat(m.Eps), mom, pyBool(m.affine), pyBool(m.hasBias), pyBool(m.track))
}

// check refuses inputs of another number of dimensions.
func (m *NormBase) check(x *Tensor, what string, dims ...int) {
	for _, d := range dims {
		if x.Dim() == d {
			return
		}
	}
	tensor.Fail(tensor.ErrShape, "expected %s input (got %dD input)", what, x.Dim())
}

func (m *NormBase) batchNorm(x *Tensor) *Tensor {
	factor := m.Momentum
	if m.Training() && m.track && m.NumBatchesTracked != nil {
		m.NumBatchesTracked.AddInPlace(tensor.Num{K: tensor.KInt, I: 1}.Tensor())
		if m.CumulativeMean {
			factor = 1 / m.NumBatchesTracked.Item()
		}
	} else if m.CumulativeMean {
		factor = 0
	}
	// without running statistics the batch's own are used in evaluation, too
	useBatch := m.Training() || m.RunningMean == nil && m.RunningVar == nil
	mean, variance := m.RunningMean, m.RunningVar
	if m.Training() && !m.track {
		mean, variance = nil, nil
	}
	return F.BatchNorm(x, mean, variance,
		F.BatchNormOptions{Weight: m.Weight, Bias: m.Bias, Training: useBatch, Momentum: tensor.Some(factor),
			Eps: tensor.Some(m.Eps)})
}

func (m *NormBase) instanceNorm(x *Tensor, withBatch int) *Tensor {
	unbatched := x.Dim() == withBatch-1
	if unbatched {
		x = x.Unsqueeze(0)
	}
	if x.Size(1) != m.NumFeatures && m.affine {
		tensor.Fail(tensor.ErrValue, "expected input's size at dim=%d to match num_features (%d), but got: %d.", 1,
			m.NumFeatures, x.Size(1))
	} else if x.Size(1) != m.NumFeatures {
		tensor.Warn("input's size at dim=1 does not match num_features. You can silence this warning by not passing in " +
			"num_features, which is not used because affine=False")
	}
	y := F.InstanceNorm(x, F.InstanceNormOptions{RunningMean: m.RunningMean, RunningVar: m.RunningVar, Weight: m.Weight,
		Bias:            m.Bias,
		NoUseInputStats: !m.Training() && m.track, Momentum: tensor.Some(m.Momentum), Eps: tensor.Some(m.Eps)})
	if unbatched {
		y = y.SqueezeDim(0)
	}
	return y
}

// BatchNorm1d normalises each channel of (N, C) or (N, C, L) over the batch, and in evaluation with running statistics
// (Ioffe and Szegedy 2015).
// https://pytorch.org/docs/stable/generated/torch.nn.BatchNorm1d.html
type BatchNorm1d struct{ NormBase }

// BatchNorm1dOptions are the options of NewBatchNorm1d.
type BatchNorm1dOptions = BatchNormOptions

// NewBatchNorm1d makes a BatchNorm1d for numFeatures channels.
func NewBatchNorm1d(numFeatures int, opts ...BatchNorm1dOptions) *BatchNorm1d {
	o := first(opts)
	m := &BatchNorm1d{}
	m.setup(numFeatures, o.Eps.Or(1e-5), o.Momentum.Or(0.1), o.CumulativeMean, !o.NoAffine, !o.NoTrackRunningStats,
		!o.NoBias, at{o.DType, o.Device})
	return New(m)
}

// Forward applies the layer.
func (m *BatchNorm1d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		m.check(x, "2D or 3D", 2, 3)
		return m.batchNorm(x)
	})
}

// InstanceNorm1d normalises each channel of each sample (Ulyanov et al. 2016).
// https://pytorch.org/docs/stable/generated/torch.nn.InstanceNorm1d.html
type InstanceNorm1d struct{ NormBase }

// InstanceNorm1dOptions are the options of NewInstanceNorm1d.
type InstanceNorm1dOptions = InstanceNormOptions

// NewInstanceNorm1d makes an InstanceNorm1d for numFeatures channels.
func NewInstanceNorm1d(numFeatures int, opts ...InstanceNorm1dOptions) *InstanceNorm1d {
	o := first(opts)
	m := &InstanceNorm1d{}
	m.setup(numFeatures, o.Eps.Or(1e-5), o.Momentum.Or(0.1), o.CumulativeMean, o.Affine, o.TrackRunningStats, !o.NoBias,
		at{o.DType, o.Device})
	return New(m)
}

// Forward applies the layer to a batch, or to a sample without a batch dimension.
func (m *InstanceNorm1d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		m.check(x, "2D or 3D", 2, 3)
		return m.instanceNorm(x, 3)
	})
}

// BatchNorm2d normalises each channel of (N, C, H, W) over the batch, and in evaluation with running statistics (Ioffe
// and Szegedy 2015).
// https://pytorch.org/docs/stable/generated/torch.nn.BatchNorm2d.html
type BatchNorm2d struct{ NormBase }

// BatchNorm2dOptions are the options of NewBatchNorm2d.
type BatchNorm2dOptions = BatchNormOptions

// NewBatchNorm2d makes a BatchNorm2d for numFeatures channels.
func NewBatchNorm2d(numFeatures int, opts ...BatchNorm2dOptions) *BatchNorm2d {
	o := first(opts)
	m := &BatchNorm2d{}
	m.setup(numFeatures, o.Eps.Or(1e-5), o.Momentum.Or(0.1), o.CumulativeMean, !o.NoAffine, !o.NoTrackRunningStats,
		!o.NoBias, at{o.DType, o.Device})
	return New(m)
}

// Forward applies the layer.
func (m *BatchNorm2d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		m.check(x, "4D", 4)
		return m.batchNorm(x)
	})
}

// InstanceNorm2d normalises each channel of each sample (Ulyanov et al. 2016).
// https://pytorch.org/docs/stable/generated/torch.nn.InstanceNorm2d.html
type InstanceNorm2d struct{ NormBase }

// InstanceNorm2dOptions are the options of NewInstanceNorm2d.
type InstanceNorm2dOptions = InstanceNormOptions

// NewInstanceNorm2d makes an InstanceNorm2d for numFeatures channels.
func NewInstanceNorm2d(numFeatures int, opts ...InstanceNorm2dOptions) *InstanceNorm2d {
	o := first(opts)
	m := &InstanceNorm2d{}
	m.setup(numFeatures, o.Eps.Or(1e-5), o.Momentum.Or(0.1), o.CumulativeMean, o.Affine, o.TrackRunningStats, !o.NoBias,
		at{o.DType, o.Device})
	return New(m)
}

// Forward applies the layer to a batch, or to a sample without a batch dimension.
func (m *InstanceNorm2d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		m.check(x, "3D or 4D", 3, 4)
		return m.instanceNorm(x, 4)
	})
}

// BatchNorm3d normalises each channel of (N, C, D, H, W) over the batch, and in evaluation with running statistics
// (Ioffe and Szegedy 2015).
// https://pytorch.org/docs/stable/generated/torch.nn.BatchNorm3d.html
type BatchNorm3d struct{ NormBase }

// BatchNorm3dOptions are the options of NewBatchNorm3d.
type BatchNorm3dOptions = BatchNormOptions

// NewBatchNorm3d makes a BatchNorm3d for numFeatures channels.
func NewBatchNorm3d(numFeatures int, opts ...BatchNorm3dOptions) *BatchNorm3d {
	o := first(opts)
	m := &BatchNorm3d{}
	m.setup(numFeatures, o.Eps.Or(1e-5), o.Momentum.Or(0.1), o.CumulativeMean, !o.NoAffine, !o.NoTrackRunningStats,
		!o.NoBias, at{o.DType, o.Device})
	return New(m)
}

// Forward applies the layer.
func (m *BatchNorm3d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		m.check(x, "5D", 5)
		return m.batchNorm(x)
	})
}

// InstanceNorm3d normalises each channel of each sample (Ulyanov et al. 2016).
// https://pytorch.org/docs/stable/generated/torch.nn.InstanceNorm3d.html
type InstanceNorm3d struct{ NormBase }

// InstanceNorm3dOptions are the options of NewInstanceNorm3d.
type InstanceNorm3dOptions = InstanceNormOptions

// NewInstanceNorm3d makes an InstanceNorm3d for numFeatures channels.
func NewInstanceNorm3d(numFeatures int, opts ...InstanceNorm3dOptions) *InstanceNorm3d {
	o := first(opts)
	m := &InstanceNorm3d{}
	m.setup(numFeatures, o.Eps.Or(1e-5), o.Momentum.Or(0.1), o.CumulativeMean, o.Affine, o.TrackRunningStats, !o.NoBias,
		at{o.DType, o.Device})
	return New(m)
}

// Forward applies the layer to a batch, or to a sample without a batch dimension.
func (m *InstanceNorm3d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		m.check(x, "4D or 5D", 4, 5)
		return m.instanceNorm(x, 5)
	})
}

// SyncBatchNorm is batch normalisation whose statistics are shared by all processes of a group; in a single process it
// is BatchNorm for inputs of any number of dimensions.
type SyncBatchNorm struct{ NormBase }

// NewSyncBatchNorm makes a SyncBatchNorm.
func NewSyncBatchNorm(numFeatures int, opts ...BatchNormOptions) *SyncBatchNorm {
	o := first(opts)
	m := &SyncBatchNorm{}
	m.setup(numFeatures, o.Eps.Or(1e-5), o.Momentum.Or(0.1), o.CumulativeMean, !o.NoAffine, !o.NoTrackRunningStats,
		!o.NoBias, at{o.DType, o.Device})
	return New(m)
}

// Forward applies the layer to (N, C, …).
func (m *SyncBatchNorm) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		if x.Dim() < 2 {
			tensor.Fail(tensor.ErrShape, "expected at least 2D input (got %dD input)", x.Dim())
		}
		return m.batchNorm(x)
	})
}

// LayerNormOptions are the options of NewLayerNorm; the zero value is PyTorch's default.
type LayerNormOptions struct {
	Eps                 tensor.Opt[float64] // default 1e-5
	NoElementwiseAffine bool
	NoBias              bool
	DType               tensor.DType
	Device              tensor.Device // where the parameters are made; the default device unless given
}

// LayerNorm normalises over the last dimensions (Ba et al. 2016).
// https://pytorch.org/docs/stable/generated/torch.nn.LayerNorm.html
type LayerNorm struct {
	Base
	NormalizedShape   Size
	Eps               float64
	ElementwiseAffine bool
	Weight, Bias      *Tensor
}

// NewLayerNorm makes a LayerNorm over the last len(shape) dimensions, which have that shape.
func NewLayerNorm[S SizeArg](shape S, opts ...LayerNormOptions) *LayerNorm {
	o := first(opts)
	m := &LayerNorm{NormalizedShape: sizeOf(shape), Eps: o.Eps.Or(1e-5), ElementwiseAffine: !o.NoElementwiseAffine}
	if m.ElementwiseAffine {
		m.Weight = NewParameter(constant(at{o.DType, o.Device}, 1, m.NormalizedShape...))
		if !o.NoBias {
			m.Bias = NewParameter(constant(at{o.DType, o.Device}, 0, m.NormalizedShape...))
		}
	}
	return New(m)
}

// Forward applies the layer.
func (m *LayerNorm) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return F.LayerNorm(x, m.NormalizedShape,
			F.LayerNormOptions{Weight: m.Weight, Bias: m.Bias, Eps: tensor.Some(m.Eps)})
	})
}

// ExtraRepr prints the settings.
func (m *LayerNorm) ExtraRepr() string {
	return fmt.Sprintf("%s, eps=%s, elementwise_affine=%s, bias=%s", m.NormalizedShape.tuple(), pyFloat(m.Eps),
		pyBool(m.ElementwiseAffine), pyBool(m.Bias != nil))
}

// RMSNormOptions are the options of NewRMSNorm; the zero value is PyTorch's default.
type RMSNormOptions struct {
	Eps                 tensor.Opt[float64] // default the dtype's machine epsilon
	NoElementwiseAffine bool
	DType               tensor.DType
	Device              tensor.Device // where the parameters are made; the default device unless given
}

// RMSNorm divides by the root of the mean square of the last dimensions (Zhang and Sennrich 2019).
// https://pytorch.org/docs/stable/generated/torch.nn.RMSNorm.html
type RMSNorm struct {
	Base
	NormalizedShape   Size
	Eps               tensor.Opt[float64]
	ElementwiseAffine bool
	Weight            *Tensor
}

// NewRMSNorm makes an RMSNorm over the last len(shape) dimensions, which have that shape.
func NewRMSNorm[S SizeArg](shape S, opts ...RMSNormOptions) *RMSNorm {
	o := first(opts)
	m := &RMSNorm{NormalizedShape: sizeOf(shape), Eps: o.Eps, ElementwiseAffine: !o.NoElementwiseAffine}
	if m.ElementwiseAffine {
		m.Weight = NewParameter(constant(at{o.DType, o.Device}, 1, m.NormalizedShape...))
	}
	return New(m)
}

// Forward applies the layer.
func (m *RMSNorm) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return F.RMSNorm(x, m.NormalizedShape, F.RMSNormOptions{Weight: m.Weight, Eps: m.Eps})
	})
}

// ExtraRepr prints the settings.
func (m *RMSNorm) ExtraRepr() string {
	eps := "None"
	if v, ok := m.Eps.Get(); ok {
		eps = pyFloat(v)
	}
	return fmt.Sprintf("%s, eps=%s, elementwise_affine=%s", m.NormalizedShape.tuple(), eps, pyBool(m.ElementwiseAffine))
}

// GroupNormOptions are the options of NewGroupNorm; the zero value is PyTorch's default.
type GroupNormOptions struct {
	Eps      tensor.Opt[float64] // default 1e-5
	NoAffine bool
	NoBias   bool
	DType    tensor.DType
	Device   tensor.Device // where the parameters are made; the default device unless given
}

// GroupNorm normalises groups of channels of each sample (Wu and He 2018).
// https://pytorch.org/docs/stable/generated/torch.nn.GroupNorm.html
type GroupNorm struct {
	Base
	NumGroups, NumChannels int
	Eps                    float64
	Affine                 bool
	Weight, Bias           *Tensor
}

// NewGroupNorm makes a GroupNorm.
func NewGroupNorm(numGroups, numChannels int, opts ...GroupNormOptions) *GroupNorm {
	o := first(opts)
	if numGroups <= 0 || numChannels%numGroups != 0 {
		tensor.Fail(tensor.ErrValue, "num_channels (%d) must be divisible by num_groups (%d)", numChannels, numGroups)
	}
	m := &GroupNorm{NumGroups: numGroups, NumChannels: numChannels, Eps: o.Eps.Or(1e-5), Affine: !o.NoAffine}
	if m.Affine {
		m.Weight = NewParameter(constant(at{o.DType, o.Device}, 1, numChannels))
		if !o.NoBias {
			m.Bias = NewParameter(constant(at{o.DType, o.Device}, 0, numChannels))
		}
	}
	return New(m)
}

// Forward applies the layer to (N, C, …).
func (m *GroupNorm) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return F.GroupNorm(x, m.NumGroups, F.GroupNormOptions{Weight: m.Weight, Bias: m.Bias, Eps: tensor.Some(m.Eps)})
	})
}

// ExtraRepr prints the settings.
func (m *GroupNorm) ExtraRepr() string {
	return fmt.Sprintf("%d, %d, eps=%s, affine=%s, bias=%s", m.NumGroups, m.NumChannels, pyFloat(m.Eps),
		pyBool(m.Affine), pyBool(m.Bias != nil))
}

// LocalResponseNormOptions are the options of NewLocalResponseNorm and NewCrossMapLRN2d; the zero value is PyTorch's
// default.
type LocalResponseNormOptions struct {
	Alpha tensor.Opt[float64] // default 1e-4
	Beta  tensor.Opt[float64] // default 0.75
	K     tensor.Opt[float64] // default 1
}

// LocalResponseNorm divides each channel by a power of the squares of its neighbours (Krizhevsky et al. 2012).
// https://pytorch.org/docs/stable/generated/torch.nn.LocalResponseNorm.html
type LocalResponseNorm struct {
	Base
	Size           int
	Alpha, Beta, K tensor.Scalar
}

// NewLocalResponseNorm makes a LocalResponseNorm over size channels.
func NewLocalResponseNorm(size int, opts ...LocalResponseNormOptions) *LocalResponseNorm {
	o := first(opts)
	return New(&LocalResponseNorm{Size: size, Alpha: o.Alpha.Or(1e-4), Beta: o.Beta.Or(0.75), K: o.K.Or(1.0)})
}

// Forward applies the layer to (N, C, …).
func (m *LocalResponseNorm) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return F.LocalResponseNorm(x, m.Size,
			F.LocalResponseNormOptions{Alpha: some(m.Alpha), Beta: some(m.Beta), K: some(m.K)})
	})
}

// ExtraRepr prints the settings.
func (m *LocalResponseNorm) ExtraRepr() string {
	return fmt.Sprintf("%d, alpha=%s, beta=%s, k=%s", m.Size, pyNum(m.Alpha), pyNum(m.Beta), pyNum(m.K))
}
