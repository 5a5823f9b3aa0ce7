package ops

import (
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
)

// Feature is a map of features and its name.
type Feature struct {
	Name string
	T    *tensor.Tensor
}

// ExtraFPNBlock adds levels to a FeaturePyramidNetwork: it gets the results, the inputs and the names, and returns the
// results, longer ones.
type ExtraFPNBlock interface {
	nn.Module
	Extend(results, inputs []*tensor.Tensor, names []string) ([]*tensor.Tensor, []string)
}

// FPNOptions are the options of NewFeaturePyramidNetwork.
type FPNOptions struct {
	Extra ExtraFPNBlock
	Norm  NormLayer // behind each convolution; default none
}

// FeaturePyramidNetwork gives all levels of a backbone the same number of channels and adds coarser levels to finer
// ones (Lin et al., Feature Pyramid Networks for Object Detection, 2016).
// https://pytorch.org/vision/stable/generated/torchvision.ops.FeaturePyramidNetwork.html
type FeaturePyramidNetwork struct {
	nn.Base
	InnerBlocks *nn.ModuleList
	LayerBlocks *nn.ModuleList
	ExtraBlocks ExtraFPNBlock
}

// NewFeaturePyramidNetwork makes a FeaturePyramidNetwork for levels of the given numbers of channels, finest first.
func NewFeaturePyramidNetwork(in []int, out int, opts ...FPNOptions) *FeaturePyramidNetwork {
	o := firstOf(opts)
	m := &FeaturePyramidNetwork{InnerBlocks: nn.NewModuleList(), LayerBlocks: nn.NewModuleList(), ExtraBlocks: o.Extra}
	conv := func(in, kernel int) nn.Module {
		return NewConv2dNormActivation(in, out, ConvNormActivationOptions{KernelSize: nn.Size{kernel}, Norm: o.Norm,
			NoNorm: o.Norm == nil, NoActivation: true})
	}
	for _, n := range in {
		if n == 0 {
			tensor.Fail(tensor.ErrValue, "FeaturePyramidNetwork: in_channels=0 is currently not supported")
		}
		m.InnerBlocks.Append(conv(n, 1))
		m.LayerBlocks.Append(conv(out, 3))
	}
	nn.New(m)
	for c := range nn.Modules(m) {
		if c, ok := c.(*nn.Conv2d); ok && !inside(c, o.Extra) {
			nninit.KaimingUniform(c.Weight, nninit.KaimingOptions{A: 1})
			if c.Bias != nil {
				nninit.Zeros(c.Bias)
			}
		}
	}
	return m
}

// inside reports whether a module is part of another one, which draws its own weights.
func inside(c nn.Module, of ExtraFPNBlock) bool {
	if of == nil {
		return false
	}
	for m := range nn.Modules(of) {
		if m == c {
			return true
		}
	}
	return false
}

// Levels maps the levels, finest first, to as many or, with extra blocks, more.
func (m *FeaturePyramidNetwork) Levels(x []Feature) []Feature {
	n := len(x)
	if n == 0 || n != m.InnerBlocks.Len() {
		tensor.Fail(tensor.ErrValue, "FeaturePyramidNetwork: %d levels, want %d", n, m.InnerBlocks.Len())
	}
	var names []string
	var inputs []*tensor.Tensor
	for _, f := range x {
		names, inputs = append(names, f.Name), append(inputs, f.T)
	}
	apply := func(l *nn.ModuleList, i int, x *tensor.Tensor) *tensor.Tensor { return l.At(i).(nn.Layer).Forward(x) }
	results := make([]*tensor.Tensor, n)
	last := apply(m.InnerBlocks, n-1, inputs[n-1])
	results[n-1] = apply(m.LayerBlocks, n-1, last)
	for i := n - 2; i >= 0; i-- {
		lateral := apply(m.InnerBlocks, i, inputs[i])
		last = lateral.Add(F.Interpolate(last, F.InterpolateOptions{Size: lateral.Shape()[2:], Mode: "nearest"}))
		results[i] = apply(m.LayerBlocks, i, last)
	}
	if m.ExtraBlocks != nil {
		results, names = m.ExtraBlocks.Extend(results, inputs, names)
	}
	out := make([]Feature, len(results))
	for i := range out {
		out[i] = Feature{names[i], results[i]}
	}
	return out
}

// LastLevelMaxPool adds a level of every second pixel of the coarsest one, named "pool".
type LastLevelMaxPool struct{ nn.Base }

// NewLastLevelMaxPool makes a LastLevelMaxPool.
func NewLastLevelMaxPool() *LastLevelMaxPool { return nn.New(&LastLevelMaxPool{}) }

// Extend adds the level.
func (m *LastLevelMaxPool) Extend(results, _ []*tensor.Tensor, names []string) ([]*tensor.Tensor, []string) {
	p := F.MaxPool2d(results[len(results)-1], []int{1}, F.MaxPool2dOptions{Stride: []int{2}})
	return append(results, p), append(names, "pool")
}

// LastLevelP6P7 adds the two coarser levels of RetinaNet, named "p6" and "p7".
type LastLevelP6P7 struct {
	nn.Base
	P6, P7 *nn.Conv2d
	useP5  bool
}

// NewLastLevelP6P7 makes a LastLevelP6P7 that reads the coarsest result where in equals out, else the coarsest input.
func NewLastLevelP6P7(in, out int) *LastLevelP6P7 {
	o := nn.Conv2dOptions{Stride: nn.Size{2}, Padding: nn.Size{1}}
	m := nn.New(&LastLevelP6P7{P6: nn.NewConv2d(in, out, 3, o), P7: nn.NewConv2d(out, out, 3, o), useP5: in == out})
	for _, c := range []*nn.Conv2d{m.P6, m.P7} {
		nninit.KaimingUniform(c.Weight, nninit.KaimingOptions{A: 1})
		nninit.Zeros(c.Bias)
	}
	return m
}

// Extend adds the levels.
func (m *LastLevelP6P7) Extend(results, inputs []*tensor.Tensor, names []string) ([]*tensor.Tensor, []string) {
	x := inputs[len(inputs)-1]
	if m.useP5 {
		x = results[len(results)-1]
	}
	p6 := m.P6.Forward(x)
	return append(results, p6, m.P7.Forward(p6.ReLU())), append(names, "p6", "p7")
}

// MultiScaleRoIAlign is RoIAlign over the levels of a pyramid: each region is read from the level that fits its size
// (Lin et al., 2016, equation 1).
// https://pytorch.org/vision/stable/generated/torchvision.ops.MultiScaleRoIAlign.html
type MultiScaleRoIAlign struct {
	nn.Base
	Names          []string
	OutputSize     nn.Size
	SamplingRatio  int
	canonicalScale float64
	canonicalLevel float64
}

// NewMultiScaleRoIAlign makes a MultiScaleRoIAlign over the named levels; a region of 224 pixels is read from level 4,
// that of a stride of 16.
func NewMultiScaleRoIAlign(names []string, outputSize nn.Size, samplingRatio int) *MultiScaleRoIAlign {
	return nn.New(&MultiScaleRoIAlign{Names: names, OutputSize: outputSize, SamplingRatio: samplingRatio,
		canonicalScale: 224, canonicalLevel: 4})
}

// Pool maps levels and the boxes (L, 4) of each image, whose images have the given sizes, to (K, C, h, w).
func (m *MultiScaleRoIAlign) Pool(x []Feature, boxes []*tensor.Tensor, sizes [][2]int) *tensor.Tensor {
	var levels []*tensor.Tensor
	for _, f := range x {
		for _, n := range m.Names {
			if f.Name == n {
				levels = append(levels, f.T)
			}
		}
	}
	if len(levels) == 0 || len(boxes) != len(sizes) {
		tensor.Fail(tensor.ErrValue, "MultiScaleRoIAlign: none of the levels %v is there, or %d lists of boxes for %d "+
			"images", m.Names, len(boxes), len(sizes))
	}
	height, width := 0, 0
	for _, s := range sizes {
		height, width = max(height, s[0]), max(width, s[1])
	}
	var scales []float64
	for _, l := range levels { // scales are powers of two
		scale := math.Exp2(math.RoundToEven(math.Log2(float64(l.Size(-2)) / float64(height))))
		scales = append(scales, scale)
	}
	rois := RoIs(boxes)
	o := func(scale float64) RoIOptions {
		return RoIOptions{SpatialScale: tensor.Some(scale), SamplingRatio: m.SamplingRatio}
	}
	if len(levels) == 1 {
		return RoIAlignFn(levels[0], rois, m.OutputSize, o(scales[0]))
	}
	lowest, highest := -math.Log2(scales[0]), -math.Log2(scales[len(scales)-1])
	area := BoxArea(torch.Cat(boxes)).Sqrt()
	level := area.DivScalar(m.canonicalScale).Log2().AddScalar(m.canonicalLevel + 1e-6).Floor().
		ClampScalar(tensor.ClampScalarOptions{Min: lowest, Max: highest}).SubScalar(lowest).Long()
	h, w := size2(m.OutputSize)
	out := levels[0].NewZeros([]int{rois.Size(0), levels[0].Size(1), h, w})
	for i, l := range levels {
		here := level.EqScalar(i).Nonzero().SqueezeDim(1)
		if here.Size(0) == 0 {
			continue
		}
		f := RoIAlignFn(l, rois.IndexSelect(0, here), m.OutputSize, o(scales[i]))
		out = out.IndexPut([]*tensor.Tensor{here}, f.To(out.DType()))
	}
	return out
}
