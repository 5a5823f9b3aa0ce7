package nn

import (
	"github.com/gotorch-dev/torch"
	F "github.com/gotorch-dev/torch/nn/functional"

	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

// FlattenOptions are the options of NewFlatten; the zero value is PyTorch's default.
type FlattenOptions struct {
	StartDim tensor.Opt[int] // default 1
	EndDim   tensor.Opt[int] // default -1
}

// Flatten joins dimensions into one.
// https://pytorch.org/docs/stable/generated/torch.nn.Flatten.html
type Flatten struct {
	Base
	StartDim, EndDim int
}

// NewFlatten makes a Flatten.
func NewFlatten(opts ...FlattenOptions) *Flatten {
	o := first(opts)
	return New(&Flatten{StartDim: o.StartDim.Or(1), EndDim: o.EndDim.Or(-1)})
}

// Forward reshapes x.
func (m *Flatten) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return x.Flatten(tensor.FlattenOptions{StartDim: m.StartDim, EndDim: tensor.Some(m.EndDim)})
	})
}

// ExtraRepr prints the dimensions.
func (m *Flatten) ExtraRepr() string {
	return fmt.Sprintf("start_dim=%d, end_dim=%d", m.StartDim, m.EndDim)
}

// Unflatten splits a dimension into several.
// https://pytorch.org/docs/stable/generated/torch.nn.Unflatten.html
type Unflatten struct {
	Base
	Dim             int
	UnflattenedSize Size

	torchSize bool // the sizes were given as a torch.Size, which the text of the module shows
}

// NewUnflatten makes an Unflatten of dimension dim into the given sizes, of which one may be -1. The text of the module
// shows a tensor.Size as Python's torch.Size, and any other slice as a tuple.
func NewUnflatten[S ~[]int](dim int, size S) *Unflatten {
	_, torchSize := any(size).(tensor.Size)
	return New(&Unflatten{Dim: dim, UnflattenedSize: Size(size), torchSize: torchSize})
}

// Forward reshapes x.
func (m *Unflatten) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return x.Unflatten(m.Dim, m.UnflattenedSize) })
}

// ExtraRepr prints the sizes.
func (m *Unflatten) ExtraRepr() string {
	s := strings.ReplaceAll(m.UnflattenedSize.tuple(), "None", "-1")
	if m.torchSize {
		s = tensor.Size(m.UnflattenedSize).String()
	}
	return fmt.Sprintf("dim=%d, unflattened_size=%s", m.Dim, s)
}

// PixelShuffle turns channels into resolution: (…, C·r², H, W) gives (…, C, H·r, W·r) (Shi et al. 2016).
// https://pytorch.org/docs/stable/generated/torch.nn.PixelShuffle.html
type PixelShuffle struct {
	Base
	UpscaleFactor int
}

// NewPixelShuffle makes a PixelShuffle.
func NewPixelShuffle(upscaleFactor int) *PixelShuffle {
	return New(&PixelShuffle{UpscaleFactor: upscaleFactor})
}

// Forward rearranges x.
func (m *PixelShuffle) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return x.PixelShuffle(m.UpscaleFactor) })
}

// ExtraRepr prints the factor.
func (m *PixelShuffle) ExtraRepr() string { return fmt.Sprintf("upscale_factor=%d", m.UpscaleFactor) }

// PixelUnshuffle undoes PixelShuffle.
type PixelUnshuffle struct {
	Base
	DownscaleFactor int
}

// NewPixelUnshuffle makes a PixelUnshuffle.
func NewPixelUnshuffle(downscaleFactor int) *PixelUnshuffle {
	return New(&PixelUnshuffle{DownscaleFactor: downscaleFactor})
}

// Forward rearranges x.
func (m *PixelUnshuffle) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return x.PixelUnshuffle(m.DownscaleFactor) })
}

// ExtraRepr prints the factor.
func (m *PixelUnshuffle) ExtraRepr() string {
	return fmt.Sprintf("downscale_factor=%d", m.DownscaleFactor)
}

// ChannelShuffle interleaves groups of channels (Zhang et al. 2017).
type ChannelShuffle struct {
	Base
	Groups int
}

// NewChannelShuffle makes a ChannelShuffle.
func NewChannelShuffle(groups int) *ChannelShuffle { return New(&ChannelShuffle{Groups: groups}) }

// Forward rearranges x.
func (m *ChannelShuffle) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return x.ChannelShuffle(m.Groups) })
}

// ExtraRepr prints the number of groups.
func (m *ChannelShuffle) ExtraRepr() string { return fmt.Sprintf("groups=%d", m.Groups) }

// WindowOptions are the options of NewFold and NewUnfold; the zero value is PyTorch's default.
type WindowOptions struct {
	Dilation Size // default 1
	Padding  Size // default 0
	Stride   Size // default 1
}

// Unfold lists the windows of (N, C, H, W) as columns: (N, C·kernel elements, windows).
// https://pytorch.org/docs/stable/generated/torch.nn.Unfold.html
type Unfold struct {
	Base
	KernelSize, Dilation, Padding, Stride Size
}

// NewUnfold makes an Unfold.
func NewUnfold[S SizeArg](kernelSize S, opts ...WindowOptions) *Unfold {
	o := first(opts)
	return New(&Unfold{KernelSize: sizeOf(kernelSize), Dilation: o.Dilation.or(1), Padding: o.Padding.or(0),
		Stride: o.Stride.or(1)})
}

// Forward lists the windows.
func (m *Unfold) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return F.Unfold(x, m.KernelSize.expand(2),
			F.UnfoldOptions{Dilation: m.Dilation.expand(2), Padding: m.Padding.expand(2), Stride: m.Stride.expand(2)})
	})
}

// ExtraRepr prints the sizes.
func (m *Unfold) ExtraRepr() string {
	return fmt.Sprintf("kernel_size=%s, dilation=%s, padding=%s, stride=%s", m.KernelSize, m.Dilation, m.Padding,
		m.Stride)
}

// Fold adds up windows given as columns, the adjoint of Unfold.
// https://pytorch.org/docs/stable/generated/torch.nn.Fold.html
type Fold struct {
	Base
	OutputSize, KernelSize, Dilation, Padding, Stride Size
}

// NewFold makes a Fold.
func NewFold[S, K SizeArg](outputSize S, kernelSize K, opts ...WindowOptions) *Fold {
	o := first(opts)
	return New(&Fold{OutputSize: sizeOf(outputSize), KernelSize: sizeOf(kernelSize), Dilation: o.Dilation.or(1),
		Padding: o.Padding.or(0), Stride: o.Stride.or(1)})
}

// Forward adds up the windows.
func (m *Fold) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return F.Fold(x, m.OutputSize.expand(2), m.KernelSize.expand(2),
			F.FoldOptions{Dilation: m.Dilation.expand(2), Padding: m.Padding.expand(2), Stride: m.Stride.expand(2)})
	})
}

// ExtraRepr prints the sizes.
func (m *Fold) ExtraRepr() string {
	return fmt.Sprintf("output_size=%s, kernel_size=%s, dilation=%s, padding=%s, stride=%s", m.OutputSize, m.KernelSize,
		m.Dilation, m.Padding, m.Stride)
}

// InterpolateMode says how Upsample computes values between elements.
type InterpolateMode uint8

// The modes.
const (
	Nearest InterpolateMode = iota
	Linear1d
	BilinearMode
	Bicubic
	Trilinear
	Area
	NearestExact
)

// String is Python's name.
func (m InterpolateMode) String() string {
	return [...]string{"nearest", "linear", "bilinear", "bicubic", "trilinear", "area", "nearest-exact"}[m]
}

// UpsampleOptions are the options of NewUpsample: Size or ScaleFactor must be given.
type UpsampleOptions struct {
	Size                 Size
	ScaleFactor          []float64 // one for all dimensions, or one each
	Mode                 InterpolateMode
	AlignCorners         tensor.Opt[bool] // default None: false
	RecomputeScaleFactor bool
}

// Upsample resizes signals, pictures and volumes.
// https://pytorch.org/docs/stable/generated/torch.nn.Upsample.html
type Upsample struct {
	Base
	Size                 Size
	ScaleFactor          []float64
	Mode                 InterpolateMode
	AlignCorners         tensor.Opt[bool]
	RecomputeScaleFactor bool
}

// NewUpsample makes an Upsample.
func NewUpsample(opts ...UpsampleOptions) *Upsample {
	m := &Upsample{}
	m.setup(first(opts))
	return New(m)
}

func (m *Upsample) setup(o UpsampleOptions) {
	m.Size, m.ScaleFactor, m.Mode, m.AlignCorners, m.RecomputeScaleFactor = o.Size, o.ScaleFactor, o.Mode,
		o.AlignCorners, o.RecomputeScaleFactor
}

// Forward resizes (N, C, …).
func (m *Upsample) Forward(x *Tensor) *Tensor {
	return m.Run(m.self, x, func(x *Tensor) *Tensor {
		o := F.InterpolateOptions{Mode: m.Mode.String(), AlignCorners: m.AlignCorners}
		if m.Size != nil {
			o.Size = m.Size.expand(x.Dim() - 2)
		}
		if m.ScaleFactor != nil {
			f := append([]float64(nil), m.ScaleFactor...)
			for len(f) == 1 && len(f) < x.Dim()-2 || len(m.ScaleFactor) == 1 && len(f) < x.Dim()-2 {
				f = append(f, f[0])
			}
			o.ScaleFactor = f
		}
		if m.RecomputeScaleFactor {
			o.RecomputeScaleFactor = tensor.Some(true)
		}
		return F.Interpolate(x, o)
	})
}

// ExtraRepr prints the settings.
func (m *Upsample) ExtraRepr() string {
	s := "size=" + m.Size.String()
	if m.ScaleFactor != nil {
		f := make([]string, len(m.ScaleFactor))
		for i, x := range m.ScaleFactor {
			f[i] = pyFloat(x)
		}
		s = "scale_factor=" + f[0]
		if len(f) > 1 {
			s = "scale_factor=(" + strings.Join(f, ", ") + ")"
		}
	}
	return s + ", mode='" + m.Mode.String() + "'"
}

// UpsamplingOptions are the options of NewUpsamplingNearest2d and NewUpsamplingBilinear2d: one of them must be given.
type UpsamplingOptions struct {
	Size        Size
	ScaleFactor []float64
}

// UpsamplingNearest2d is Upsample with the nearest element.
type UpsamplingNearest2d struct{ Upsample }

// NewUpsamplingNearest2d makes an UpsamplingNearest2d.
func NewUpsamplingNearest2d(opts ...UpsamplingOptions) *UpsamplingNearest2d {
	o := first(opts)
	m := &UpsamplingNearest2d{}
	m.setup(UpsampleOptions{Size: o.Size, ScaleFactor: o.ScaleFactor})
	return New(m)
}

// UpsamplingBilinear2d is Upsample with bilinear interpolation and aligned corners.
type UpsamplingBilinear2d struct{ Upsample }

// NewUpsamplingBilinear2d makes an UpsamplingBilinear2d.
func NewUpsamplingBilinear2d(opts ...UpsamplingOptions) *UpsamplingBilinear2d {
	o := first(opts)
	m := &UpsamplingBilinear2d{}
	m.setup(UpsampleOptions{Size: o.Size, ScaleFactor: o.ScaleFactor, Mode: BilinearMode,
		AlignCorners: tensor.Some(true)})
	return New(m)
}

// CosineSimilarityOptions are the options of NewCosineSimilarity; the zero value is PyTorch's default.
type CosineSimilarityOptions struct {
	Dim tensor.Opt[int]     // default 1
	Eps tensor.Opt[float64] // default 1e-8
}

// CosineSimilarity is the cosine of the angle between vectors along a dimension.
type CosineSimilarity struct {
	Base
	Dim int
	Eps float64
}

// NewCosineSimilarity makes a CosineSimilarity.
func NewCosineSimilarity(opts ...CosineSimilarityOptions) *CosineSimilarity {
	o := first(opts)
	return New(&CosineSimilarity{Dim: o.Dim.Or(1), Eps: o.Eps.Or(1e-8)})
}

// Forward compares x1 and x2.
func (m *CosineSimilarity) Forward(x1, x2 *Tensor) *Tensor {
	return runN(m, []*Tensor{x1, x2}, func(in []*Tensor) *Tensor {
		return torch.CosineSimilarity(in[0], in[1],
			torch.CosineSimilarityOptions{Dim: tensor.Some(m.Dim), Eps: tensor.Some(m.Eps)})
	})
}

// PairwiseDistanceOptions are the options of NewPairwiseDistance; the zero value is PyTorch's default.
type PairwiseDistanceOptions struct {
	P       tensor.Opt[float64] // default 2
	Eps     tensor.Opt[float64] // default 1e-6
	KeepDim bool
}

// PairwiseDistance is the p-norm of differences of vectors.
type PairwiseDistance struct {
	Base
	P, Eps  float64
	KeepDim bool
}

// NewPairwiseDistance makes a PairwiseDistance.
func NewPairwiseDistance(opts ...PairwiseDistanceOptions) *PairwiseDistance {
	o := first(opts)
	return New(&PairwiseDistance{P: o.P.Or(2), Eps: o.Eps.Or(1e-6), KeepDim: o.KeepDim})
}

// Forward compares x1 and x2.
func (m *PairwiseDistance) Forward(x1, x2 *Tensor) *Tensor {
	return runN(m, []*Tensor{x1, x2}, func(in []*Tensor) *Tensor {
		return torch.PairwiseDistance(in[0], in[1],
			torch.PairwiseDistanceOptions{P: tensor.Some(m.P), Eps: tensor.Some(m.Eps), KeepDim: m.KeepDim})
	})
}
