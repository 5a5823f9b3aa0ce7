// Package nninit fills tensors with starting values: PyTorch's torch.nn.init, with the same random draws for the same
// seed.
//
// Every function writes its tensor in place, records nothing on the tape, and returns the tensor.
//
//	nninit.KaimingNormal(layer.Weight, nninit.KaimingOptions{Mode: nninit.FanOut, Nonlinearity: "relu"})
package nninit

import (
	"math"

	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is a tensor.
type Tensor = tensor.Tensor

// Generator draws random numbers.
type Generator = tensor.Generator

// FanMode says which side's size scales the values.
type FanMode uint8

// The fan modes.
const (
	FanIn  FanMode = iota // keeps the variance in the forward pass
	FanOut                // keeps it in the backward pass
)

// GeneratorOptions is the option of functions that have no other.
type GeneratorOptions struct {
	Generator *Generator // nil: the default generator
}

func generator(opts []GeneratorOptions) *Generator {
	if len(opts) > 0 {
		return opts[0].Generator
	}
	return nil
}

func uniform(t *Tensor, a, b float64, g *Generator) *Tensor {
	tensor.NoGrad(func() { t.UniformInPlace(tensor.UniformInPlaceOptions{From: a, To: tensor.Some(b), Generator: g}) })
	return t
}

func normal(t *Tensor, mean, std float64, g *Generator) *Tensor {
	tensor.NoGrad(func() {
		t.NormalInPlace(tensor.NormalInPlaceOptions{Mean: mean, Std: tensor.Some(std),
			Generator: g})
	})
	return t
}

// Uniform draws from [a, b).
func Uniform(t *Tensor, a, b float64, opts ...GeneratorOptions) *Tensor {
	return uniform(t, a, b, generator(opts))
}

// Normal draws from the normal distribution with the given mean and standard deviation.
func Normal(t *Tensor, mean, std float64, opts ...GeneratorOptions) *Tensor {
	return normal(t, mean, std, generator(opts))
}

// Constant sets every element to v.
func Constant(t *Tensor, v float64) *Tensor {
	tensor.NoGrad(func() { t.FillScalarInPlace(v) })
	return t
}

// Ones sets every element to 1.
func Ones(t *Tensor) *Tensor { return Constant(t, 1) }

// Zeros sets every element to 0.
func Zeros(t *Tensor) *Tensor { return Constant(t, 0) }

// onMeta reports a tensor without memory, for which there is nothing to draw.
func onMeta(t *Tensor) bool { return t.Device().Type == tensor.MetaDevice }

// write copies values that were computed in the host's memory into t, wherever that is.
func write(t *Tensor, v []float64) *Tensor {
	tensor.NoGrad(func() { t.CopyInPlace(tensor.FromSlice(v, t.Shape()...)) })
	return t
}

// Eye makes a matrix the identity, as far as its shape allows.
func Eye(t *Tensor) *Tensor {
	if t.Dim() != 2 {
		tensor.Fail(tensor.ErrShape, "nninit.Eye: Only tensors with 2 dimensions are supported, got shape %s",
			tensor.ShapeString(t.Shape()))
	}
	if onMeta(t) {
		return t
	}
	rows, cols := t.Size(0), t.Size(1)
	v := make([]float64, rows*cols)
	for i := range min(rows, cols) {
		v[i*cols+i] = 1
	}
	return write(t, v)
}

// DiracOptions are the options of Dirac.
type DiracOptions struct {
	Groups int // default 1
}

// Dirac makes the weight of a convolution with 1 to 3 spatial dimensions one that passes its input on, as many channels
// as there are.
func Dirac(t *Tensor, opts ...DiracOptions) *Tensor {
	groups := 1
	if len(opts) > 0 && opts[0].Groups != 0 {
		groups = opts[0].Groups
	}
	nd := t.Dim()
	if nd < 3 || nd > 5 {
		tensor.Fail(tensor.ErrShape, "nninit.Dirac: Only tensors with 3, 4, or 5 dimensions are supported, got shape %s", tensor.ShapeString(t.Shape()))
	}
	sh := t.Shape()
	if sh[0]%groups != 0 {
		tensor.Fail(tensor.ErrValue, "nninit.Dirac: dim 0 must be divisible by groups")
	}
	if onMeta(t) {
		return t
	}
	v := make([]float64, t.Numel())
	perGroup := sh[0] / groups
	spatial := 1
	centre := 0 // offset of the middle of the kernel
	for _, n := range sh[2:] {
		centre = centre*n + n/2
		spatial *= n
	}
	for g := range groups {
		for d := range min(perGroup, sh[1]) {
			v[((g*perGroup+d)*sh[1]+d)*spatial+centre] = 1
		}
	}
	return write(t, v)
}

// FanInAndFanOut are the numbers of inputs and outputs that one element of a weight's first and second dimension see.
func FanInAndFanOut(t *Tensor) (fanIn, fanOut int) {
	if t.Dim() < 2 {
		tensor.Fail(tensor.ErrShape, "nninit: Fan in and fan out can not be computed for tensor with fewer than 2 "+
			"dimensions")
	}
	field := 1
	for _, n := range t.Shape()[2:] {
		field *= n
	}
	return t.Size(1) * field, t.Size(0) * field
}

// CalculateGain is the recommended gain of a nonlinearity: "linear", "conv1d" …, "sigmoid", "tanh", "relu",
// "leaky_relu" (with its slope, 0.01 by default), "selu".
func CalculateGain(nonlinearity string, param ...float64) float64 {
	switch nonlinearity {
	case "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid":
		return 1
	case "tanh":
		return 5.0 / 3
	case "relu":
		return math.Sqrt(2)
	case "leaky_relu":
		slope := 0.01
		if len(param) > 0 {
			slope = param[0]
		}
		return math.Sqrt(2 / (1 + slope*slope))
	case "selu":
		return 3.0 / 4
	}
	tensor.FailHint(tensor.ErrValue, "there are linear, conv1d to conv3d, conv_transpose1d to conv_transpose3d, "+
		"sigmoid, tanh, relu, leaky_relu and selu", "Unsupported nonlinearity %s", nonlinearity)
	return 0
}

// XavierOptions are the options of XavierUniform and XavierNormal.
type XavierOptions struct {
	Gain      tensor.Opt[float64] // default 1
	Generator *Generator
}

func xavier(opts []XavierOptions) (gain float64, g *Generator) {
	if len(opts) == 0 {
		return 1, nil
	}
	return opts[0].Gain.Or(1), opts[0].Generator
}

// XavierUniform draws uniformly so that variances stay equal in both directions (Glorot and Bengio 2010).
func XavierUniform(t *Tensor, opts ...XavierOptions) *Tensor {
	gain, g := xavier(opts)
	in, out := FanInAndFanOut(t)
	std := gain * math.Sqrt(2/float64(in+out))
	a := math.Sqrt(3) * std
	return uniform(t, -a, a, g)
}

// XavierNormal is XavierUniform with normal numbers.
func XavierNormal(t *Tensor, opts ...XavierOptions) *Tensor {
	gain, g := xavier(opts)
	in, out := FanInAndFanOut(t)
	return normal(t, 0, gain*math.Sqrt(2/float64(in+out)), g)
}

// KaimingOptions are the options of KaimingUniform and KaimingNormal; the zero value is PyTorch's default.
type KaimingOptions struct {
	A            float64 // slope of the leaky ReLU that follows
	Mode         FanMode
	Nonlinearity string // default "leaky_relu"
	Generator    *Generator
}

func kaiming(t *Tensor, opts []KaimingOptions) (std float64, g *Generator) {
	var o KaimingOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	if o.Nonlinearity == "" {
		o.Nonlinearity = "leaky_relu"
	}
	in, out := FanInAndFanOut(t)
	fan := in
	if o.Mode == FanOut {
		fan = out
	}
	return CalculateGain(o.Nonlinearity, o.A) / math.Sqrt(float64(fan)), o.Generator
}

// nothing reports a tensor without elements to draw.
func nothing(t *Tensor) bool {
	if t.Numel() > 0 {
		return false
	}
	tensor.Warn("Initializing zero-element tensors is a no-op")
	return true
}

// KaimingUniform draws uniformly so that the variance stays the same through a layer with a rectifier (He et al. 2015).
func KaimingUniform(t *Tensor, opts ...KaimingOptions) *Tensor {
	if nothing(t) {
		return t
	}
	std, g := kaiming(t, opts)
	b := math.Sqrt(3) * std
	return uniform(t, -b, b, g)
}

// KaimingNormal is KaimingUniform with normal numbers.
func KaimingNormal(t *Tensor, opts ...KaimingOptions) *Tensor {
	if nothing(t) {
		return t
	}
	std, g := kaiming(t, opts)
	return normal(t, 0, std, g)
}

// TruncNormalOptions are the options of TruncNormal; the zero value is PyTorch's default.
type TruncNormalOptions struct {
	Mean      float64
	Std       tensor.Opt[float64] // default 1
	A         tensor.Opt[float64] // lower bound, default -2
	B         tensor.Opt[float64] // upper bound, default 2
	Generator *Generator
}

// TruncNormal draws normal numbers inside [A, B]. The draws are those of PyTorch 2.15, which samples by rejection;
// earlier versions inverted the distribution function.
func TruncNormal(t *Tensor, opts ...TruncNormalOptions) *Tensor {
	var o TruncNormalOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	mean, std, a, b := o.Mean, o.Std.Or(1), o.A.Or(-2), o.B.Or(2)
	if mean < a-2*std || mean > b+2*std {
		tensor.Warn("mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be " +
			"incorrect.")
	}
	if onMeta(t) {
		return t
	}
	cdf := func(x float64) float64 { return (1 + math.Erf(x/math.Sqrt2)) / 2 }
	draw := func(f func(x *Tensor)) []float64 {
		x := tensor.New(t.Shape(), t.DType())
		f(x)
		return append([]float64(nil), tensor.Data[float64](tensor.DenseAs(x, tensor.Float64))...)
	}
	round := func(x float64) float64 { // as the tensor's dtype holds it
		return tensor.Data[float64](tensor.DenseAs(tensor.DenseAs(tensor.FromSlice([]float64{x}, 1), t.DType()),
			tensor.Float64))[0]
	}
	if cdf((b-mean)/std)-cdf((a-mean)/std) > 0.3 {
		// most proposals lie inside: draw whole tensors and take from each what is still missing
		lo, hi := round(a), round(b)
		gauss := func(x *Tensor) { normal(x, mean, std, o.Generator) }
		v := draw(gauss)
		for {
			var bad []int
			for i, x := range v {
				if x < lo || x > hi {
					bad = append(bad, i)
				}
			}
			if len(bad) == 0 {
				return write(t, v)
			}
			w := draw(gauss)
			for _, i := range bad {
				v[i] = w[i]
			}
		}
	}
	// few would: uniform proposals, accepted with the density relative to its peak in [a, b]
	mode := max(a, min(mean, b))
	peak := -0.5 * ((mode - mean) / std) * ((mode - mean) / std)
	v := make([]float64, t.Numel())
	pending := make([]int, len(v))
	for i := range pending {
		pending[i] = i
	}
	for len(pending) > 0 {
		c := draw(func(x *Tensor) { uniform(x, a, b, o.Generator) })
		u := draw(func(x *Tensor) { uniform(x, 0, 1, o.Generator) })
		rest := pending[:0]
		for _, i := range pending {
			z := round(round(c[i]-mean) / std)
			if round(math.Log(u[i])) <= round(round(round(z*z)*-0.5)-peak) {
				v[i] = c[i]
			} else {
				rest = append(rest, i)
			}
		}
		pending = rest
	}
	return write(t, v)
}

// OrthogonalOptions are the options of Orthogonal.
type OrthogonalOptions struct {
	Gain      tensor.Opt[float64] // default 1
	Generator *Generator
}

// Orthogonal makes the rows (or columns, whichever are fewer) orthonormal, times Gain; dimensions after the first are
// seen as one (Saxe et al. 2013).
func Orthogonal(t *Tensor, opts ...OrthogonalOptions) *Tensor {
	var o OrthogonalOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	if t.Dim() < 2 {
		tensor.Fail(tensor.ErrShape, "nninit.Orthogonal: Only tensors with 2 or more dimensions are supported")
	}
	if t.Numel() == 0 || onMeta(t) {
		return t
	}
	rows := t.Size(0)
	cols := t.Numel() / rows
	x := tensor.New([]int{rows, cols}, t.DType())
	normal(x, 0, 1, o.Generator)
	a := append([]float64(nil), tensor.Data[float64](tensor.DenseAs(x, tensor.Float64))...)
	m, n := rows, cols
	if rows < cols {
		b := make([]float64, len(a))
		for i := range rows {
			for j := range cols {
				b[j*rows+i] = a[i*cols+j]
			}
		}
		a, m, n = b, cols, rows
	}
	q := householderQ(a, m, n)
	gain := o.Gain.Or(1)
	v := make([]float64, len(q))
	for i := range m {
		for j := range n {
			if rows < cols {
				v[j*m+i] = gain * q[i*n+j]
			} else {
				v[i*n+j] = gain * q[i*n+j]
			}
		}
	}
	return write(t, v)
}

// householderQ is the m×n factor Q of a = QR (row-major, m ≥ n) with the diagonal of R positive.
func householderQ(a []float64, m, n int) []float64 {
	vs := make([][]float64, n) // the reflections' vectors
	sign := make([]float64, n)
	for k := range n {
		v := make([]float64, m-k)
		norm := 0.0
		for i := k; i < m; i++ {
			v[i-k] = a[i*n+k]
			norm = math.Hypot(norm, v[i-k])
		}
		// the diagonal element becomes alpha; choosing its sign against v[0] avoids cancellation
		alpha := -math.Copysign(norm, v[0])
		sign[k] = 1
		if alpha < 0 {
			sign[k] = -1
		}
		v[0] -= alpha
		vv := 0.0
		for _, x := range v {
			vv += x * x
		}
		if vv > 0 {
			s := math.Sqrt(2 / vv)
			for i := range v {
				v[i] *= s
			}
			reflect(a, v, k, m, n, k)
		}
		vs[k] = v
	}
	q := make([]float64, m*n)
	for j := range n {
		q[j*n+j] = sign[j]
	}
	for k := n - 1; k >= 0; k-- {
		reflect(q, vs[k], k, m, n, 0)
	}
	return q
}

// reflect applies I - v·vᵀ to rows k… of columns from… of a.
func reflect(a, v []float64, k, m, n, from int) {
	for j := from; j < n; j++ {
		d := 0.0
		for i := k; i < m; i++ {
			d += v[i-k] * a[i*n+j]
		}
		for i := k; i < m; i++ {
			a[i*n+j] -= d * v[i-k]
		}
	}
}

// SparseOptions are the options of Sparse.
type SparseOptions struct {
	Std       tensor.Opt[float64] // default 0.01
	Generator *Generator
}

// Sparse draws a matrix of normal numbers, the given fraction of each column being zero (Martens 2010).
func Sparse(t *Tensor, sparsity float64, opts ...SparseOptions) *Tensor {
	var o SparseOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	if t.Dim() != 2 {
		tensor.Fail(tensor.ErrShape, "nninit.Sparse: Only tensors with 2 dimensions are supported, got shape %s",
			tensor.ShapeString(t.Shape()))
	}
	rows, cols := t.Size(0), t.Size(1)
	if onMeta(t) {
		return t
	}
	if !(sparsity >= 0 && sparsity <= 1) {
		tensor.Fail(tensor.ErrValue, "nninit.Sparse: sparsity is a share between 0 and 1, got %v", sparsity)
	}
	zeros := int(math.Ceil(sparsity * float64(rows)))
	normal(t, 0, o.Std.Or(0.01), o.Generator)
	v := append([]float64(nil), tensor.Data[float64](tensor.DenseAs(t.Detach().CPU(), tensor.Float64))...)
	p := make([]int64, rows)
	for c := range cols {
		rng.RandPerm(rng.Default, p) // from the default generator always, as in PyTorch
		for _, r := range p[:zeros] {
			v[int(r)*cols+c] = 0
		}
	}
	return write(t, v)
}
