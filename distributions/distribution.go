package distributions

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/distributions/constraints"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

type (
	// Tensor is torch.Tensor.
	Tensor = tensor.Tensor
	// Constraint is a region of space.
	Constraint = constraints.Constraint
	// Size is a shape.
	Size = tensor.Size
)

// Distribution is a batch of probability distributions of one family.
type Distribution interface {
	// BatchShape is the shape of the batch of distributions, EventShape that of a draw from one of them.
	BatchShape() Size
	EventShape() Size
	// ArgConstraints says which values the parameters may have, in the order in which they print.
	ArgConstraints() []Arg
	// Support is the region where samples lie.
	Support() Constraint
	// HasRSample says that gradients flow through RSample, HasEnumerateSupport that EnumerateSupport is there.
	HasRSample() bool
	HasEnumerateSupport() bool
	// Sample draws without recording gradients; the result has the shape sampleShape + BatchShape + EventShape.
	Sample(sampleShape ...int) *Tensor
	// RSample draws such that gradients flow to the parameters (reparameterization).
	RSample(sampleShape ...int) *Tensor
	// LogProb is the logarithm of the density or of the probability of values.
	LogProb(value *Tensor) *Tensor
	// CDF is the probability of a value or less, ICDF its inverse.
	CDF(value *Tensor) *Tensor
	ICDF(value *Tensor) *Tensor
	// EnumerateSupport lists all values of a discrete distribution along a new first dimension.
	EnumerateSupport(opts ...EnumerateOptions) *Tensor
	Entropy() *Tensor
	Perplexity() *Tensor
	Mean() *Tensor
	Mode() *Tensor
	Variance() *Tensor
	StdDev() *Tensor
	// Expand is the same distribution with a larger batch shape, with which the present one must broadcast. Memory is
	// shared.
	Expand(batchShape []int) Distribution
	// String prints as in Python: "Normal(loc: 0.0, scale: 1.0)".
	String() string
}

// Arg is the constraint of one parameter.
type Arg struct {
	Name       string
	Constraint Constraint
}

// Options are the options of every constructor.
type Options struct {
	// ValidateArgs says whether parameters and values are checked; unset, SetDefaultValidateArgs decides.
	ValidateArgs tensor.Opt[bool]
}

// EnumerateOptions are the options of EnumerateSupport.
type EnumerateOptions struct {
	// NoExpand leaves the batch dimensions at size 1.
	NoExpand bool
}

var unchecked atomic.Bool

// SetDefaultValidateArgs says whether distributions made from now on check parameters and values when their options do
// not say so. They do at first. Checks read numbers, which costs time where a model works already.
func SetDefaultValidateArgs(on bool) { unchecked.Store(!on) }

func option[O any](opts []O) (o O) {
	if len(opts) > 0 {
		o = opts[0]
	}
	return o
}

// validates resolves the option.
func validates(o tensor.Opt[bool]) bool { return o.Or(!unchecked.Load()) }

// entry is a tensor under its name: a parameter, or a value computed when it was first asked for.
type entry struct {
	name string
	t    *Tensor
}

// base is what all families embed: shapes, parameters by name, and the methods that PyTorch's class Distribution has. A
// family sets self, so that methods of base call the family's own.
type base struct {
	self         Distribution
	name         string
	batch, event []int
	validate     bool
	rsample      bool

	// derived are parameters that are computed from others: they are checked and do not print.
	derived []derived

	mu      sync.Mutex
	entries []entry
}

// derived is a parameter that is computed from others.
type derived struct {
	name string
	f    func() *Tensor
}

// BatchShape is the shape of the batch of distributions.
func (d *base) BatchShape() Size { return slices.Clone(d.batch) }

// EventShape is the shape of a draw from one distribution of the batch.
func (d *base) EventShape() Size { return slices.Clone(d.event) }

// HasRSample says that gradients flow through RSample.
func (d *base) HasRSample() bool { return d.rsample }

// HasEnumerateSupport says that the values can be listed.
func (d *base) HasEnumerateSupport() bool { return false }

// ArgConstraints is empty where there are no parameters to check.
func (d *base) ArgConstraints() []Arg { return nil }

func (d *base) notImplemented(what string) {
	tensor.Fail(tensor.ErrNotImpl, "%s does not implement %s", d.name, what)
}

// Support is the region where samples lie.
func (d *base) Support() Constraint { d.notImplemented("support"); return nil }

// Sample draws without recording gradients.
func (d *base) Sample(sampleShape ...int) (x *Tensor) {
	torch.NoGrad(func() { x = d.self.RSample(sampleShape...) })
	return x
}

// RSample is not there for most discrete families.
func (d *base) RSample(...int) *Tensor { d.notImplemented("rsample"); return nil }

// LogProb is not implemented by default.
func (d *base) LogProb(*Tensor) *Tensor { d.notImplemented("log_prob"); return nil }

// CDF has no closed form in many families.
func (d *base) CDF(*Tensor) *Tensor { d.notImplemented("cdf"); return nil }

// ICDF has no closed form in many families.
func (d *base) ICDF(*Tensor) *Tensor { d.notImplemented("icdf"); return nil }

// EnumerateSupport is there for some discrete families only.
func (d *base) EnumerateSupport(...EnumerateOptions) *Tensor {
	d.notImplemented("enumerate_support")
	return nil
}

// Entropy has no closed form in some families.
func (d *base) Entropy() *Tensor { d.notImplemented("entropy"); return nil }

// Perplexity is exp of the entropy.
func (d *base) Perplexity() *Tensor { return d.self.Entropy().Exp() }

// Mean has no closed form in some families.
func (d *base) Mean() *Tensor { d.notImplemented("mean"); return nil }

// Mode is the most likely value; some families have none.
func (d *base) Mode() *Tensor { d.notImplemented("mode"); return nil }

// Variance has no closed form in some families.
func (d *base) Variance() *Tensor { d.notImplemented("variance"); return nil }

// StdDev is the root of the variance.
func (d *base) StdDev() *Tensor { return d.self.Variance().Sqrt() }

// Expand must be written for a family whose parameters are not all tensors.
func (d *base) Expand([]int) Distribution { d.notImplemented("expand"); return nil }

// String prints the parameters: numbers as such, the shapes of larger tensors.
func (d *base) String() string {
	var parts []string
	for _, a := range d.self.ArgConstraints() {
		t := d.lookup(a.Name)
		switch {
		case t == nil:
		case t.Numel() != 1:
			parts = append(parts, a.Name+": "+Size(t.Shape()).String())
		default:
			parts = append(parts, a.Name+": "+constraints.Text(t))
		}
	}
	return d.name + "(" + strings.Join(parts, ", ") + ")"
}

// set stores a tensor under a name.
func (d *base) set(name string, t *Tensor) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.entries {
		if d.entries[i].name == name {
			d.entries[i].t = t
			return
		}
	}
	d.entries = append(d.entries, entry{name, t})
}

// lookup finds a tensor, nil when it is not there (yet).
func (d *base) lookup(name string) *Tensor {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.entries {
		if e.name == name {
			return e.t
		}
	}
	return nil
}

// lazy finds a tensor, or computes and stores it. Gradients are recorded whatever the mode, as what is stored serves
// later calls too.
func (d *base) lazy(name string, f func() *Tensor) *Tensor {
	t := d.lookup(name)
	if t == nil {
		torch.EnableGrad(func() { t = f() })
		d.set(name, t)
	}
	return t
}

// init sets the shapes and checks the parameters; params are names and tensors in turn.
func (d *base) init(self Distribution, name string, batch, event []int, validate bool, params ...entry) {
	d.self, d.name, d.batch, d.event, d.validate = self, name, slices.Clone(batch), slices.Clone(event), validate
	d.entries = append(d.entries, params...)
	if validate {
		d.checkArgs()
	}
}

// checkArgs refuses parameters outside their constraints.
func (d *base) checkArgs() {
	for _, a := range d.self.ArgConstraints() {
		t := d.lookup(a.Name)
		for _, p := range d.derived {
			if t == nil && p.name == a.Name {
				t = p.f()
			}
		}
		if t == nil || constraints.IsDependent(a.Constraint) || t.Device().Type == tensor.MetaDevice {
			continue
		}
		var ok bool
		torch.NoGrad(func() { ok = a.Constraint.Check(t).All().Item() != 0 })
		if !ok {
			tensor.Fail(tensor.ErrValue,
				"Expected parameter %s (%s of shape %s) of distribution %s to satisfy the constraint %s, but found "+
					"invalid values:\n%s",
				a.Name, typeName(t), tuple(t.Shape()), d.self, a.Constraint, constraints.Text(t))
		}
	}
}

// check refuses values of a wrong shape or outside the support.
func (d *base) check(value *Tensor) {
	if d.validate {
		d.checkValue(value)
	}
}

func (d *base) checkValue(value *Tensor) {
	if value == nil {
		tensor.Fail(tensor.ErrValue, "The value argument to log_prob must be a Tensor")
	}
	sh := value.Shape()
	cut := len(sh) - len(d.event)
	if cut < 0 || !slices.Equal(sh[cut:], d.event) {
		tensor.Fail(tensor.ErrValue, "The right-most size of value must match event_shape: %s vs %s.", Size(sh),
			Size(d.event))
	}
	want := join(d.batch, d.event)
	for i, j := len(sh)-1, len(want)-1; i >= 0 && j >= 0; i, j = i-1, j-1 {
		if sh[i] != 1 && want[j] != 1 && sh[i] != want[j] {
			tensor.Fail(tensor.ErrValue, "Value is not broadcastable with batch_shape+event_shape: %s vs %s.", Size(sh),
				Size(want))
		}
	}
	if value.Device().Type == tensor.MetaDevice {
		return
	}
	support := d.self.Support()
	var ok bool
	torch.NoGrad(func() { ok = support.Check(value).All().Item() != 0 })
	if !ok {
		tensor.Fail(tensor.ErrValue,
			"Expected value argument (%s of shape %s) to be within the support (%s) of the distribution %s, but "+
				"found invalid values:\n%s",
			typeName(value), tuple(sh), support, d.self, constraints.Text(value))
	}
}

// shape is the shape of a sample.
func (d *base) shape(sampleShape []int) []int { return join(sampleShape, d.batch, d.event) }

// expandInto fills the base of a new distribution of the same family: every tensor in d is expanded to the batch shape
// and what it has beyond the old one.
func (d *base) expandInto(n *base, self Distribution, batch []int) {
	n.self, n.name, n.batch, n.event, n.validate, n.rsample = self, d.name, slices.Clone(batch), d.event, d.validate,
		d.rsample
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.entries {
		n.entries = append(n.entries, entry{e.name, e.t.Expand(join(batch, e.t.Shape()[len(d.batch):]))})
	}
}

func join(shapes ...[]int) []int {
	out := []int{}
	for _, s := range shapes {
		out = append(out, s...)
	}
	return out
}

// tuple prints a shape as Python prints a tuple.
func tuple(s []int) string {
	t := make([]string, len(s))
	for i, x := range s {
		t[i] = fmt.Sprint(x)
	}
	if len(s) == 1 {
		return "(" + t[0] + ",)"
	}
	return "(" + strings.Join(t, ", ") + ")"
}

func typeName(t *Tensor) string {
	if t.IsParameter() {
		return "Parameter"
	}
	return "Tensor"
}

// broadcast makes the tensors one shape; nil stays nil.
func broadcast(ts ...*Tensor) []*Tensor {
	for _, t := range ts {
		if t == nil {
			tensor.Fail(tensor.ErrValue, "distributions: a required parameter is nil")
		}
	}
	return torch.BroadcastTensors(ts)
}

// sumRight sums the n rightmost dimensions.
func sumRight(x *Tensor, n int) *Tensor {
	if n <= 0 {
		return x
	}
	cut := max(0, x.Dim()-n) // a parameter without event dimensions is summed whole
	return x.Reshape(join(x.Shape()[:cut], []int{Size(x.Shape()[cut:]).Numel()})).SumDim([]int{-1})
}

// eps is the distance from 1 to the next number of x's type, tiny its smallest normal number.
func eps(x *Tensor) float64 {
	switch x.DType() {
	case torch.Float64:
		return 0x1p-52
	case torch.Float16:
		return 0x1p-10
	case torch.BFloat16:
		return 0x1p-7
	}
	return 0x1p-23
}

func tiny(x *Tensor) float64 {
	switch x.DType() {
	case torch.Float64:
		return 0x1p-1022
	case torch.Float16:
		return 0x1p-14
	}
	return 0x1p-126
}

// least is the most negative finite number of x's type.
func least(x *Tensor) float64 {
	switch x.DType() {
	case torch.Float64:
		return -math.MaxFloat64
	case torch.Float16:
		return -65504
	case torch.BFloat16:
		return -0x1.fep127
	}
	return -math.MaxFloat32
}

func rand(like *Tensor, shape []int) *Tensor {
	return torch.Rand(shape, torch.RandOptions{DType: like.DType(), Device: like.Device()})
}

// normals are standard normal numbers.
func normals(like *Tensor, shape []int) *Tensor { return like.NewEmpty(shape).NormalInPlace() }

func full(like *Tensor, shape []int, v float64) *Tensor { return like.NewFull(shape, v) }

func clamp(x *Tensor, lo, hi tensor.Scalar) *Tensor {
	return x.ClampScalar(tensor.ClampScalarOptions{Min: lo, Max: hi})
}

// rsub is n - x.
func rsub(n float64, x *Tensor) *Tensor { return x.RsubScalar(n) }

// over is n / x.
func over(n float64, x *Tensor) *Tensor { return x.Reciprocal().MulScalar(n) }

// arange counts from 0 in x's type.
func arange(x *Tensor, n int) *Tensor {
	return torch.Arange(n, torch.ArangeOptions{DType: x.DType(), Device: x.Device()})
}

// count lists 0 to n-1 along a new first dimension before the batch dimensions.
func (d *base) count(dt tensor.DType, dev tensor.Device, n int, opts []EnumerateOptions) *Tensor {
	sh := []int{n}
	for range d.batch {
		sh = append(sh, 1)
	}
	v := torch.Arange(n, torch.ArangeOptions{DType: dt, Device: dev}).View(sh)
	if option(opts).NoExpand {
		return v
	}
	return v.Expand(join([]int{n}, d.batch))
}

// clampProbs keeps probabilities away from 0 and 1.
func clampProbs(p *Tensor) *Tensor { e := eps(p); return clamp(p, e, 1-e) }

func binaryLogits(p *Tensor) *Tensor {
	c := clampProbs(p)
	return c.Log().Sub(c.Neg().Log1p())
}

func crossEntropyWithLogits(logits, target *Tensor) *Tensor {
	return F.BinaryCrossEntropyWithLogits(logits, target, F.BinaryCrossEntropyWithLogitsOptions{Reduction: F.None})
}

func selectLast(x *Tensor, i int) *Tensor { return x.Select(-1, i) }

var nan, inf = math.NaN(), math.Inf(1)

// euler is Euler's constant.
const euler = 0.57721566490153286060

// lastDim names the last dimension.
var lastDim = []int{-1}

func sumLast(x *Tensor) *Tensor     { return x.SumDim(lastDim) }
func sumLastKeep(x *Tensor) *Tensor { return x.SumDim(lastDim, tensor.SumDimOptions{KeepDim: true}) }
