package transforms

import (
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/distributions"
	NF "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/pil"
	F "github.com/gotorch-dev/torch/vision/transforms/functional"
)

// step is an operation of the automatic augmentations: magnitude is what to do with an image, levels the magnitudes of
// n bins for an image of h x w (nil for an operation without), signed says that half of them are negative.
type step struct {
	name   string
	levels func(n, h, w int) []float64
	signed bool
}

// linear is n float32 numbers from lo to hi, as torch.linspace gives them.
func linear(lo, hi float64, n int) []float64 {
	var out []float64
	for _, v := range tensor.Data[float32](torch.Linspace(lo, hi, n)) {
		out = append(out, float64(v))
	}
	return out
}

func upTo(hi float64) func(n, h, w int) []float64 {
	return func(n, _, _ int) []float64 { return linear(0, hi, n) }
}

// fewerBits are numbers of bits from top on, down by steps.
func fewerBits(top, steps int) func(n, h, w int) []float64 {
	return func(n, _, _ int) []float64 {
		out := make([]float64, n)
		for i := range out {
			q := float32(i) / float32(float64(n-1)/float64(steps))
			out[i] = math.RoundToEven(float64(float32(top) - q))
		}
		return out
	}
}

func downFromWhite(n, _, _ int) []float64 { return linear(1, 0, n) }

// colors are the operations that change colors by a factor.
func colors(hi float64) []step {
	return []step{{"Brightness", upTo(hi), true}, {"Color", upTo(hi), true}, {"Contrast", upTo(hi), true},
		{"Sharpness", upTo(hi), true}}
}

// geometric are the operations that move pixels.
func geometric(shear float64, dx, dy func(n, h, w int) []float64, rotate float64) []step {
	return []step{{"ShearX", upTo(shear), true}, {"ShearY", upTo(shear), true}, {"TranslateX", dx, true},
		{"TranslateY", dy, true}, {"Rotate", upTo(rotate), true}}
}

func shareOfWidth(f float64) func(n, h, w int) []float64 {
	return func(n, _, w int) []float64 { return linear(0, f*float64(w), n) }
}

func shareOfHeight(f float64) func(n, h, w int) []float64 {
	return func(n, h, _ int) []float64 { return linear(0, f*float64(h), n) }
}

func join(lists ...[]step) (out []step) {
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

var plain = []step{{"AutoContrast", nil, false}, {"Equalize", nil, false}}

// coin draws the sign of a magnitude.
func coin() float64 { return torch.Rand([]int{}).Item() }

// signed draws the sign of a magnitude.
func (s *step) sign(m float64) float64 {
	if s.signed && coin() <= 0.5 {
		return -m
	}
	return m
}

// pick draws an operation.
func pick(space []step) *step { return &space[int(torch.Randint(len(space), []int{}).Item())] }

// AugmentOptions are the options of the automatic augmentations.
type AugmentOptions struct {
	Interpolation F.InterpolationMode // default F.Nearest; AugMix: F.Bilinear
	Fill          []float64
}

// apply runs the operation on an image.
func (s *step) apply(x any, m float64, o AugmentOptions) any {
	warp := F.WarpOptions{Interpolation: o.Interpolation, Fill: o.Fill}
	shear := func(sx, sy float64) any {
		w := warp
		w.Center = []float64{0, 0} // the top left corner, as the paper's authors have it
		return F.Affine(x, 0, [2]float64{}, 1, [2]float64{sx, sy}, w)
	}
	degrees := func() float64 { return math.Atan(m) * (180 / math.Pi) } // as Python rounds it
	switch s.name {
	case "ShearX":
		return shear(degrees(), 0)
	case "ShearY":
		return shear(0, degrees())
	case "TranslateX":
		return F.Affine(x, 0, [2]float64{math.Trunc(m), 0}, 1, [2]float64{}, warp)
	case "TranslateY":
		return F.Affine(x, 0, [2]float64{0, math.Trunc(m)}, 1, [2]float64{}, warp)
	case "Rotate":
		return F.Rotate(x, m, warp)
	case "Brightness":
		return F.AdjustBrightness(x, 1+m)
	case "Color":
		return F.AdjustSaturation(x, 1+m)
	case "Contrast":
		return F.AdjustContrast(x, 1+m)
	case "Sharpness":
		return F.AdjustSharpness(x, 1+m)
	case "Posterize":
		return F.Posterize(x, int(m))
	case "Solarize":
		white := 255.0
		if t, ok := x.(*tensor.Tensor); ok && t.DType().IsFloat() {
			white = 1
		}
		return F.Solarize(x, white*m)
	case "AutoContrast":
		return F.AutoContrast(x)
	case "Equalize":
		return F.Equalize(x)
	case "Invert":
		return F.Invert(x)
	}
	return x // Identity
}

// image finds the image among inputs; only one is changed.
func image(inputs []any) int {
	for i, x := range inputs {
		if isImage(x) {
			return i
		}
	}
	tensor.Fail(tensor.ErrValue, "transforms: no image among the inputs")
	return 0
}

// augment is a transform of the first image.
func augment(f func(x any, h, w int) any) Transform {
	return applied(func(in []any) []any {
		i := image(in)
		h, w := F.GetSize(in[i])
		out := append([]any(nil), in...)
		out[i] = f(in[i], h, w)
		return out
	})
}

// AutoAugmentPolicy is a set of pairs of operations that was learnt on a data set.
type AutoAugmentPolicy string

// The policies of AutoAugment.
const (
	ImageNetPolicy AutoAugmentPolicy = "imagenet"
	CIFAR10Policy  AutoAugmentPolicy = "cifar10"
	SVHNPolicy     AutoAugmentPolicy = "svhn"
)

// policyStep is an operation with its probability and the number of its magnitude.
type policyStep struct {
	name string
	p    float64
	bin  int
}

// NewAutoAugment runs one of a policy's pairs of operations on the image (Cubuk et al., AutoAugment, 2018).
func NewAutoAugment(policy AutoAugmentPolicy, opts ...AugmentOptions) Transform {
	pairs, o := policies[policy], firstOf(opts)
	if pairs == nil {
		tensor.Fail(tensor.ErrValue, "The provided policy %s is not recognized.", policy)
	}
	space := map[string]*step{}
	all := join(geometric(0.3, shareOfWidth(150.0/331), shareOfHeight(150.0/331), 30), colors(0.9),
		[]step{{"Posterize", fewerBits(8, 4), false}, {"Solarize", downFromWhite, false}}, plain,
		[]step{{"Invert", nil, false}})
	for i := range all {
		space[all[i].name] = &all[i]
	}
	return augment(func(x any, h, w int) any {
		for _, s := range pairs[int(torch.Randint(len(pairs), []int{}).Item())] {
			if !(coin() <= s.p) {
				continue
			}
			op, m := space[s.name], 0.0
			if op.levels != nil {
				m = op.sign(op.levels(10, h, w)[s.bin])
			}
			x = op.apply(x, m, o)
		}
		return x
	})
}

// RandAugmentOptions are the options of NewRandAugment; the zero value is torchvision's default.
type RandAugmentOptions struct {
	NumOps    tensor.Opt[int] // default 2
	Magnitude tensor.Opt[int] // number of the bin, default 9
	Bins      int             // default 31
	AugmentOptions
}

// NewRandAugment runs operations of one magnitude on the image (Cubuk et al., RandAugment, 2019).
func NewRandAugment(opts ...RandAugmentOptions) Transform {
	o := firstOf(opts)
	if o.Bins == 0 {
		o.Bins = 31
	}
	if m := o.Magnitude.Or(9); m < 0 || m >= o.Bins {
		tensor.Fail(tensor.ErrValue, "RandAugment: magnitude %d of %d bins", m, o.Bins)
	}
	space := join([]step{{"Identity", nil, false}},
		geometric(0.3, shareOfWidth(150.0/331), shareOfHeight(150.0/331), 30),
		colors(0.9), []step{{"Posterize", fewerBits(8, 4), false}, {"Solarize", downFromWhite, false}}, plain)
	return augment(func(x any, h, w int) any {
		for range o.NumOps.Or(2) {
			s, m := pick(space), 0.0
			if s.levels != nil {
				m = s.sign(s.levels(o.Bins, h, w)[o.Magnitude.Or(9)])
			}
			x = s.apply(x, m, o.AugmentOptions)
		}
		return x
	})
}

// TrivialAugmentWideOptions are the options of NewTrivialAugmentWide; the zero value is torchvision's default.
type TrivialAugmentWideOptions struct {
	Bins int // default 31
	AugmentOptions
}

// NewTrivialAugmentWide runs one operation of a magnitude that is drawn on the image (Müller and Hutter,
// TrivialAugment, 2021).
func NewTrivialAugmentWide(opts ...TrivialAugmentWideOptions) Transform {
	o := firstOf(opts)
	if o.Bins == 0 {
		o.Bins = 31
	}
	if o.Bins < 1 {
		tensor.Fail(tensor.ErrValue, "TrivialAugmentWide: %d bins of magnitudes", o.Bins)
	}
	space := join([]step{{"Identity", nil, false}}, geometric(0.99, upTo(32), upTo(32), 135), colors(0.99),
		[]step{{"Posterize", fewerBits(8, 6), false}, {"Solarize", downFromWhite, false}}, plain)
	return augment(func(x any, h, w int) any {
		s, m := pick(space), 0.0
		if s.levels != nil {
			m = s.sign(s.levels(o.Bins, h, w)[int(torch.Randint(o.Bins, []int{}).Item())])
		}
		return s.apply(x, m, o.AugmentOptions)
	})
}

// AugMixOptions are the options of NewAugMix; the zero value is torchvision's default.
type AugMixOptions struct {
	Severity     int     // 1 to 10, default 3
	MixtureWidth int     // chains, default 3
	ChainDepth   int     // operations of a chain; default 1 to 3, drawn
	Alpha        float64 // of the weights, default 1
	NoColors     bool    // torchvision's all_ops=False
	AugmentOptions
}

// NewAugMix mixes the image with chains of operations on it (Hendrycks et al., AugMix, 2019).
func NewAugMix(opts ...AugMixOptions) Transform {
	o := firstOf(opts)
	for _, f := range []struct {
		to  *int
		def int
	}{{&o.Severity, 3}, {&o.MixtureWidth, 3}} {
		if *f.to == 0 {
			*f.to = f.def
		}
	}
	if o.Severity < 1 || o.Severity > 10 {
		tensor.Fail(tensor.ErrValue, "The severity must be between [1, 10]. Got %d instead.", o.Severity)
	}
	if o.Alpha == 0 {
		o.Alpha = 1
	}
	if o.Interpolation == "" {
		o.Interpolation = F.Bilinear
	}
	space := join(geometric(0.3, shareOfWidth(1.0/3), shareOfHeight(1.0/3), 30),
		[]step{{"Posterize", fewerBits(4, 4), false}, {"Solarize", downFromWhite, false}}, plain)
	if !o.NoColors {
		space = join(space, colors(0.9))
	}
	return augment(func(x any, h, w int) any {
		t, ok := x.(*tensor.Tensor)
		if !ok {
			t = F.PILToTensor(x.(*pil.Image))
		}
		batch := t
		for batch.Dim() < 4 {
			batch = batch.Unsqueeze(0)
		}
		n := batch.Size(0)
		dirichlet := func(k int) *tensor.Tensor {
			return torch.Full([]int{n, k}, o.Alpha).SampleDirichlet()
		}
		column := func(t *tensor.Tensor, i int) *tensor.Tensor {
			return t.Select(1, i).Reshape([]int{n, 1, 1, 1})
		}
		m := dirichlet(2)
		weights := dirichlet(o.MixtureWidth).Mul(m.Select(1, 1).Reshape([]int{n, 1}))
		mix := column(m, 0).Mul(batch)
		for i := range o.MixtureWidth {
			aug, depth := any(batch), o.ChainDepth
			if depth <= 0 {
				depth = randint(1, 4)
			}
			for range depth {
				s, by := pick(space), 0.0
				if s.levels != nil {
					by = s.sign(s.levels(10, h, w)[int(torch.Randint(o.Severity, []int{}).Item())])
				}
				aug = s.apply(aug, by, o.AugmentOptions)
			}
			mix = mix.Add(column(weights, i).Mul(aug.(*tensor.Tensor)))
		}
		out := mix.Reshape(t.Shape()).To(t.DType())
		if !ok {
			return F.ToPILImage(out)
		}
		return out
	})
}

// mixer is MixUp or CutMix: it changes a batch (N, C, H, W) and its labels (N), or (N, classes) in floating point.
func mixer(name string, alpha float64, classes int, draw func(batch *tensor.Tensor, lam float64) (*tensor.Tensor,
	float64)) Transform {
	if !(alpha > 0) {
		tensor.Fail(tensor.ErrValue, "%s: alpha must be positive, got %v", name, alpha)
	}
	a := tensor.FromSlice([]float32{float32(alpha)})
	beta := distributions.NewBeta(a, a)
	return applied(func(in []any) []any {
		batch, labels := -1, -1
		for i, x := range in {
			if t, ok := x.(*tensor.Tensor); ok {
				if t.Dim() >= 4 && batch < 0 {
					batch = i
				} else if t.Dim() <= 2 && labels < 0 {
					labels = i
				}
			}
		}
		if batch < 0 || labels < 0 {
			tensor.Fail(tensor.ErrValue, "%s: want a batch of images (N, C, H, W) and their labels", name)
		}
		x, y := in[batch].(*tensor.Tensor), in[labels].(*tensor.Tensor)
		lam := beta.Sample().Item()
		mixed, share := draw(x, lam)
		if y.Dim() == 1 {
			if classes <= 0 {
				tensor.Fail(tensor.ErrValue, "%s: num_classes must be passed if the labels are class indices (1D)",
					name)
			}
			y = NF.OneHot(y, NF.OneHotOptions{NumClasses: tensor.Some(classes)})
		}
		if !y.DType().IsFloat() {
			y = y.Float()
		}
		out := append([]any(nil), in...)
		out[batch] = mixed
		out[labels] = y.Roll([]int{1}, tensor.RollOptions{Dims: []int{0}}).MulScalar(1 - share).Add(y.MulScalar(share))
		return out
	})
}

// NewMixUp mixes each image of a batch with its neighbour, and their labels (Zhang et al., mixup, 2017). alpha is 1 in
// torchvision; classes is the number of classes where labels are class numbers.
func NewMixUp(alpha float64, classes int) Transform {
	return mixer("MixUp", alpha, classes, func(x *tensor.Tensor, lam float64) (*tensor.Tensor, float64) {
		return x.Roll([]int{1}, tensor.RollOptions{Dims: []int{0}}).MulScalar(1 - lam).Add(x.MulScalar(lam)), lam
	})
}

// NewCutMix puts a rectangle of its neighbour into each image of a batch, and mixes their labels by its area (Yun et
// al., CutMix, 2019).
func NewCutMix(alpha float64, classes int) Transform {
	return mixer("CutMix", alpha, classes, func(x *tensor.Tensor, lam float64) (*tensor.Tensor, float64) {
		h, w := F.GetSize(x)
		cx := randint(0, w)
		cy := randint(0, h)
		r := 0.5 * math.Sqrt(1-lam)
		rw, rh := int(r*float64(w)), int(r*float64(h))
		x0, y0, x1, y1 := max(cx-rw, 0), max(cy-rh, 0), min(cx+rw, w), min(cy+rh, h)
		out := x.Clone()
		other := x.Roll([]int{1}, tensor.RollOptions{Dims: []int{0}})
		out.Narrow(-2, y0, y1-y0).Narrow(-1, x0, x1-x0).CopyInPlace(other.Narrow(-2, y0, y1-y0).Narrow(-1, x0, x1-x0))
		return out, 1 - float64((x1-x0)*(y1-y0))/float64(w*h)
	})
}
