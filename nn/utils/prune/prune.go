// Package prune sets parts of parameters to zero by masks: PyTorch's torch.nn.utils.prune.
//
//	prune.L1Unstructured(layer, "weight", prune.Fraction(0.3))
//
// The module then trains and saves "weight_orig", has a buffer "weight_mask", and its field Weight holds their product,
// which is computed anew in each Forward. Pruning a parameter again prunes what is left of it. Remove makes the
// remainder a plain parameter.
package prune

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is a tensor.
type Tensor = tensor.Tensor

// Amount says how much is pruned: a number of elements or channels, or a fraction of them. The zero value is none.
type Amount struct {
	count    int
	fraction float64
	relative bool
}

// Count prunes n elements or channels.
func Count(n int) Amount { return Amount{count: n} }

// Fraction prunes a fraction of the elements or channels, rounded to the nearest number, halves to even.
func Fraction(f float64) Amount { return Amount{fraction: f, relative: true} }

// of is the number out of n.
func (a Amount) of(n int) int {
	if a.relative {
		if !(a.fraction >= 0 && a.fraction <= 1) {
			tensor.Fail(tensor.ErrValue, "amount=%v should either be a float in the range [0, 1] or a non-negative integer",
				a.fraction)
		}
		return int(math.RoundToEven(a.fraction * float64(n)))
	}
	if a.count < 0 {
		tensor.Fail(tensor.ErrValue, "amount=%d should either be a float in the range [0, 1] or a non-negative integer",
			a.count)
	}
	if a.count > n {
		tensor.Fail(tensor.ErrValue, "amount=%d should be smaller than the number of parameters to prune=%d", a.count, n)
	}
	return a.count
}

// Type says what a second pruning of a parameter sees of it.
type Type uint8

// The types of pruning.
const (
	UnstructuredPruning Type = iota // the elements that are left
	StructuredPruning               // the channels along Dim of which something is left
	GlobalPruning                   // everything
)

// BasePruningMethod is a way to prune; your own types may implement it. Those of this package are L1UnstructuredMethod
// and its like.
type BasePruningMethod interface {
	// PruningType says what a second pruning of a parameter sees of it.
	PruningType() Type
	// ComputeMask gives a mask of t's shape, 1 for what is kept, 0 for the rest, that keeps nothing which mask does not.
	ComputeMask(t, mask *Tensor) *Tensor
}

// Channels is implemented by methods of StructuredPruning.
type Channels interface{ PruningDim() int }

// PruningContainer applies several methods one after the other: each to what the ones before have left.
type PruningContainer struct{ methods []BasePruningMethod }

// NewPruningContainer makes a container.
func NewPruningContainer(methods ...BasePruningMethod) *PruningContainer {
	c := &PruningContainer{}
	for _, m := range methods {
		c.AddPruningMethod(m)
	}
	return c
}

// AddPruningMethod adds a method.
func (c *PruningContainer) AddPruningMethod(m BasePruningMethod) {
	if m == nil {
		tensor.Fail(tensor.ErrType, "nil is not a BasePruningMethod")
	}
	c.methods = append(c.methods, m)
}

// Len is the number of methods.
func (c *PruningContainer) Len() int { return len(c.methods) }

// PruningType is that of the last method.
func (c *PruningContainer) PruningType() Type {
	if len(c.methods) == 0 {
		return UnstructuredPruning
	}
	return c.methods[len(c.methods)-1].PruningType()
}

// ComputeMask applies the last method to what mask has left of t.
func (c *PruningContainer) ComputeMask(t, mask *Tensor) *Tensor {
	if len(c.methods) == 0 {
		return mask
	}
	return within(c.methods[len(c.methods)-1], t, mask)
}

// within applies a method to what mask has left of t.
func within(m BasePruningMethod, t, mask *Tensor) *Tensor {
	out := mask.ToDType(t.DType()).Clone()
	switch m.PruningType() {
	case UnstructuredPruning:
		left := mask.Flatten().EqScalar(1).Nonzero().Flatten()
		part := m.ComputeMask(t.Reshape([]int{-1}).IndexSelect(0, left), mask.Reshape([]int{-1}).IndexSelect(0, left))
		return out.Reshape([]int{-1}).IndexCopy(0, left, part.ToDType(t.DType())).Reshape(t.Shape())
	case StructuredPruning:
		c, ok := m.(Channels)
		if !ok {
			tensor.Fail(tensor.ErrType, "Pruning methods of PRUNING_TYPE \"structured\" need to have the attribute `dim` "+
				"defined.")
		}
		dim := wrap(t, c.PruningDim())
		left := mask.SumDim(others(t, dim)).NeScalar(0).Nonzero().Flatten()
		part := m.ComputeMask(t.IndexSelect(dim, left), mask.IndexSelect(dim, left))
		return out.IndexCopy(dim, left, part.ToDType(t.DType()))
	}
	return m.ComputeMask(t, mask).ToDType(t.DType())
}

// wrap is a dimension of t counted from the front.
func wrap(t *Tensor, dim int) int {
	if dim >= t.Dim() || dim < -t.Dim() {
		tensor.Fail(tensor.ErrIndex, "Invalid index %d for tensor of size %s", dim, tensor.ShapeString(t.Shape()))
	}
	if dim < 0 {
		dim += t.Dim()
	}
	return dim
}

// others are the dimensions of t but one.
func others(t *Tensor, dim int) (out []int) {
	for d := range t.Dim() {
		if d != dim {
			out = append(out, d)
		}
	}
	return out
}

// without clears the elements of a mask at flat places.
func without(mask, at *Tensor) *Tensor {
	return mask.Reshape([]int{-1}).IndexFillScalar(0, at, 0).Reshape(mask.Shape())
}

// IdentityMethod prunes nothing.
type IdentityMethod struct{}

// PruningType is UnstructuredPruning.
func (IdentityMethod) PruningType() Type { return UnstructuredPruning }

// ComputeMask gives mask.
func (IdentityMethod) ComputeMask(_, mask *Tensor) *Tensor { return mask }

// RandomUnstructuredMethod prunes random elements.
type RandomUnstructuredMethod struct{ Amount Amount }

// PruningType is UnstructuredPruning.
func (RandomUnstructuredMethod) PruningType() Type { return UnstructuredPruning }

// ComputeMask draws the elements.
func (m RandomUnstructuredMethod) ComputeMask(t, mask *Tensor) *Tensor {
	n := m.Amount.of(t.Numel())
	if n == 0 {
		return mask.Clone()
	}
	_, at := torch.RandLike(t).Reshape([]int{-1}).TopK(n)
	return without(mask, at)
}

// L1UnstructuredMethod prunes the elements of the smallest absolute values.
type L1UnstructuredMethod struct{ Amount Amount }

// PruningType is UnstructuredPruning.
func (L1UnstructuredMethod) PruningType() Type { return UnstructuredPruning }

// ComputeMask finds the elements.
func (m L1UnstructuredMethod) ComputeMask(t, mask *Tensor) *Tensor {
	n := m.Amount.of(t.Numel())
	if n == 0 {
		return mask.Clone()
	}
	_, at := t.Abs().Reshape([]int{-1}).TopK(n, tensor.TopKOptions{NoLargest: true})
	return without(mask, at)
}

// channels keeps of mask the channels at the given places of a dimension.
func channels(mask *Tensor, dim int, keep *Tensor) *Tensor {
	return mask.ZerosLike().IndexCopy(dim, keep, mask.IndexSelect(dim, keep))
}

// structured checks the tensor and counts the channels to prune.
func structured(t *Tensor, a Amount, dim int) (at, n int) {
	if t.Dim() <= 1 {
		tensor.Fail(tensor.ErrShape, "Structured pruning can only be applied to multidimensional tensors. Found tensor of "+
			"shape %s with %d dims", tensor.ShapeString(t.Shape()), t.Dim())
	}
	at = wrap(t, dim)
	return at, a.of(t.Size(at))
}

// RandomStructuredMethod prunes random channels along a dimension.
type RandomStructuredMethod struct {
	Amount Amount
	Dim    int
}

// PruningType is StructuredPruning.
func (RandomStructuredMethod) PruningType() Type { return StructuredPruning }

// PruningDim is the dimension of the channels.
func (m RandomStructuredMethod) PruningDim() int { return m.Dim }

// ComputeMask draws the channels.
func (m RandomStructuredMethod) ComputeMask(t, mask *Tensor) *Tensor {
	dim, n := structured(t, m.Amount, m.Dim)
	if n == 0 {
		return mask
	}
	p := torch.Rand([]int{t.Size(dim)})
	threshold, _ := p.Kthvalue(n)
	return channels(mask, dim, p.Gt(threshold).Nonzero().Flatten().To(t.Device()))
}

// LnStructuredMethod prunes the channels along a dimension of the smallest norms of order N.
type LnStructuredMethod struct {
	Amount Amount
	N      float64 // math.Inf(1) and math.Inf(-1) are allowed
	Dim    int
}

// PruningType is StructuredPruning.
func (LnStructuredMethod) PruningType() Type { return StructuredPruning }

// PruningDim is the dimension of the channels.
func (m LnStructuredMethod) PruningDim() int { return m.Dim }

// ComputeMask finds the channels.
func (m LnStructuredMethod) ComputeMask(t, mask *Tensor) *Tensor {
	dim, n := structured(t, m.Amount, m.Dim)
	if n == 0 {
		return mask
	}
	norms := t.NormDim(m.N, others(t, dim))
	_, keep := norms.TopK(t.Size(dim) - n)
	return channels(mask, dim, keep)
}

// CustomFromMaskMethod prunes what a given mask does not keep.
type CustomFromMaskMethod struct{ Mask *Tensor }

// PruningType is GlobalPruning.
func (CustomFromMaskMethod) PruningType() Type { return GlobalPruning }

// ComputeMask joins both masks.
func (m CustomFromMaskMethod) ComputeMask(_, mask *Tensor) *Tensor {
	if !tensor.SameShape(mask.Shape(), m.Mask.Shape()) {
		tensor.Fail(tensor.ErrShape, "default_mask shape %s must match self.mask shape %s",
			tensor.ShapeString(mask.Shape()), tensor.ShapeString(m.Mask.Shape()))
	}
	return mask.Mul(m.Mask.ToDType(mask.DType()))
}

// Options are the options of Apply and of the functions for unstructured and Ln-structured pruning.
type Options struct {
	ImportanceScores *Tensor // of the parameter's shape: what is compared instead of its elements
}

// Apply prunes the parameter of m that the state dict calls name by a method. A parameter that is pruned already is
// pruned further.
func Apply(m nn.Module, name string, method BasePruningMethod, opts ...Options) {
	at := nn.TensorField(m, name)
	again := IsPrunedParameter(m, name)
	if at == nil || *at == nil || !again && !(*at).IsParameter() {
		tensor.Fail(tensor.ErrValue, "prune: %s has no parameter '%s' that could be pruned", nn.ClassName(m), name)
	}
	tensor.NoGrad(func() {
		if again {
			nn.Refresh(m)
		}
		orig := *at
		scores := orig
		if len(opts) > 0 && opts[0].ImportanceScores != nil {
			scores = opts[0].ImportanceScores
			if !tensor.SameShape(scores.Shape(), orig.Shape()) {
				tensor.Fail(tensor.ErrShape, "importance_scores should have the same shape as parameter %s of %s, got %s vs "+
					"%s", name, nn.ClassName(m), tensor.ShapeString(scores.Shape()), tensor.ShapeString(orig.Shape()))
			}
		}
		var mask *Tensor
		if again {
			mask = within(method, scores.Detach(), nn.Registered(m, name+"_mask"))
		} else {
			mask = method.ComputeMask(scores.Detach(), orig.Detach().OnesLike())
			nn.RegisterParameter(m, name+"_orig", orig)
		}
		nn.RegisterBuffer(m, name+"_mask", mask.Detach(), true)
	})
	nn.Compute(m, name, func(m nn.Module) *Tensor {
		orig := nn.Registered(m, name+"_orig")
		return nn.Registered(m, name+"_mask").ToDType(orig.DType()).Mul(orig)
	})
}

// Prune gives t with zeros where a method prunes it; mask is what was left before, nil: everything.
func Prune(method BasePruningMethod, t, mask *Tensor, opts ...Options) *Tensor {
	scores := t
	if len(opts) > 0 && opts[0].ImportanceScores != nil {
		scores = opts[0].ImportanceScores
		if !tensor.SameShape(scores.Shape(), t.Shape()) {
			tensor.Fail(tensor.ErrShape, "importance_scores should have the same shape as tensor t, got %s vs %s",
				tensor.ShapeString(scores.Shape()), tensor.ShapeString(t.Shape()))
		}
	}
	if mask == nil {
		mask = t.Detach().OnesLike()
	}
	return t.Mul(method.ComputeMask(scores.Detach(), mask))
}

// Identity gives a parameter a mask that prunes nothing, and returns m.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.prune.identity.html
func Identity[M nn.Module](m M, name string) M {
	Apply(m, name, IdentityMethod{})
	return m
}

// RandomUnstructured prunes random elements of a parameter, and returns m.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.prune.random_unstructured.html
func RandomUnstructured[M nn.Module](m M, name string, amount Amount) M {
	Apply(m, name, RandomUnstructuredMethod{amount})
	return m
}

// L1Unstructured prunes the elements of a parameter that have the smallest absolute values, and returns m.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.prune.l1_unstructured.html
func L1Unstructured[M nn.Module](m M, name string, amount Amount, opts ...Options) M {
	Apply(m, name, L1UnstructuredMethod{amount}, opts...)
	return m
}

// RandomStructured prunes random channels of a parameter along a dimension, and returns m.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.prune.random_structured.html
func RandomStructured[M nn.Module](m M, name string, amount Amount, dim int) M {
	Apply(m, name, RandomStructuredMethod{amount, dim})
	return m
}

// LnStructured prunes the channels of a parameter along a dimension that have the smallest norms of order n, and returns
// m.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.prune.ln_structured.html
func LnStructured[M nn.Module](m M, name string, amount Amount, n float64, dim int, opts ...Options) M {
	Apply(m, name, LnStructuredMethod{amount, n, dim}, opts...)
	return m
}

// CustomFromMask prunes what a mask of the parameter's shape does not keep, and returns m.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.prune.custom_from_mask.html
func CustomFromMask[M nn.Module](m M, name string, mask *Tensor) M {
	Apply(m, name, CustomFromMaskMethod{mask})
	return m
}

// Parameter names a parameter of a module, for GlobalUnstructured.
type Parameter struct {
	Module           nn.Module
	Name             string
	ImportanceScores *Tensor // what is compared instead of its elements; nil: these
}

// GlobalUnstructured prunes several parameters together by a method of UnstructuredPruning, as if they were one.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.prune.global_unstructured.html
func GlobalUnstructured(parameters []Parameter, method BasePruningMethod) {
	if method.PruningType() != UnstructuredPruning {
		tensor.Fail(tensor.ErrType, "Only \"unstructured\" PRUNING_TYPE supported for the `pruning_method`. Found method "+
			"%T", method)
	}
	if len(parameters) == 0 {
		tensor.Fail(tensor.ErrValue, "global_unstructured: there are no parameters")
	}
	var scores, masks, values []*Tensor
	for _, p := range parameters {
		at := nn.TensorField(p.Module, p.Name)
		if at == nil || *at == nil {
			tensor.Fail(tensor.ErrValue, "global_unstructured: %s has no parameter '%s'", nn.ClassName(p.Module), p.Name)
		}
		v, s := (*at).Detach(), p.ImportanceScores
		if s == nil {
			s = v
		}
		if !tensor.SameShape(s.Shape(), v.Shape()) {
			tensor.Fail(tensor.ErrShape, "importance_scores should have the same shape as parameter %s, got %s vs %s", p.Name,
				tensor.ShapeString(s.Shape()), tensor.ShapeString(v.Shape()))
		}
		mask := v.OnesLike()
		if IsPrunedParameter(p.Module, p.Name) {
			mask = nn.Registered(p.Module, p.Name+"_mask")
		}
		values = append(values, v)
		scores, masks = append(scores, s.Detach().Reshape([]int{-1})), append(masks, mask.Reshape([]int{-1}))
	}
	whole := within(method, torch.Cat(scores), torch.Cat(masks))
	at := 0
	for i, p := range parameters {
		n := values[i].Numel()
		Apply(p.Module, p.Name, CustomFromMaskMethod{whole.Narrow(0, at, n).Reshape(values[i].Shape())})
		at += n
	}
}

// Remove makes what is left of a pruned parameter a plain parameter, the one that an optimizer knows, and returns m.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.prune.remove.html
func Remove[M nn.Module](m M, name string) M {
	if !IsPrunedParameter(m, name) {
		tensor.Fail(tensor.ErrValue, "Parameter '%s' of module %s has to be pruned before pruning can be removed", name,
			nn.ClassName(m))
	}
	orig := nn.Registered(m, name+"_orig")
	tensor.NoGrad(func() { orig.MulInPlace(nn.Registered(m, name+"_mask").ToDType(orig.DType())) })
	nn.Unregister(m, name+"_orig")
	nn.Unregister(m, name+"_mask")
	nn.StopComputing(m, name, orig)
	return m
}

// IsPrunedParameter reports that a parameter of m itself is pruned.
func IsPrunedParameter(m nn.Module, name string) bool {
	return nn.Computed(m, name) && nn.Registered(m, name+"_mask") != nil && nn.Registered(m, name+"_orig") != nil
}

// IsPruned reports that a parameter of m or of a module in it is pruned.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.prune.is_pruned.html
func IsPruned(m nn.Module) bool {
	return slices.ContainsFunc(slices.Collect(nn.Modules(m)), func(c nn.Module) bool {
		return slices.ContainsFunc(nn.ComputedNames(c), func(name string) bool { return IsPrunedParameter(c, name) })
	})
}
