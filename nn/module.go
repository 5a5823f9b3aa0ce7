package nn

import (
	"fmt"
	"iter"
	"reflect"
	"strings"
	"sync"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is a tensor.
type Tensor = tensor.Tensor

// Module is a pointer to a struct that embeds Base.
type Module interface {
	moduleBase() *Base
}

// Layer is a module with one input and one output, what Sequential is made of.
type Layer interface {
	Module
	Forward(x *Tensor) *Tensor
}

// Base is what every module embeds: the training flag, the hooks, and what was registered beside the fields.
type Base struct {
	self  Module
	eval  bool
	hooks *hooks
	extra *extra
	place place
}

type hooks struct {
	pre  []*func(m Module, inputs []*Tensor) []*Tensor
	post []*func(m Module, inputs, outputs []*Tensor) []*Tensor
	back []*func(m Module, gradIn, gradOut []*Tensor) []*Tensor

	backPre []*func(m Module, gradOut []*Tensor) []*Tensor
	around  []*func(m Module, forward func([]*Tensor) []*Tensor, inputs []*Tensor) []*Tensor
	inside  sync.Map // the goroutines that are about to call Forward from a function around it

	standIn Module // what computes instead: see Replace
}

func (b *Base) moduleBase() *Base { return b }

// New makes the methods of Base (Train, StateDict, String, …) work on a module of your own, and returns it. The
// constructors of this package have done so for theirs. It panics with ErrType on a module that cannot be walked as a
// whole, and names the field and the way out: see the package's documentation. Later walks do the same, for fields that
// are set after New.
func New[M Module](m M) M {
	baseOf(m).self = m
	settle(m)
	return m
}

// baseOf is the Base of a module. It panics with ErrType where the pointer to the module, or one on the way to its Base,
// is nil.
func baseOf(m Module) (b *Base) {
	defer func() {
		if b == nil {
			_ = recover() // of a nil pointer
			tensor.Fail(tensor.ErrType, "nn: a module (%T) is nil, or embeds a nil pointer to a module", m)
		}
	}()
	return m.moduleBase()
}

func moduleOf(b *Base, method string) Module {
	if b.self == nil {
		tensor.Fail(tensor.ErrValue, "nn: %s was called on a module that was not made with nn.New(&Net{…}): use "+
			"nn.New, or the function nn.%s(m)", method, method)
	}
	return b.self
}

// Training reports whether the module is in training mode; new modules are.
func (b *Base) Training() bool { return !b.eval }

// Train switches the module and all its children to training mode, or with false to evaluation mode.
func (b *Base) Train(on ...bool) Module {
	m := moduleOf(b, "Train")
	Train(m, len(on) == 0 || on[0])
	return m
}

// Eval switches the module and all its children to evaluation mode.
func (b *Base) Eval() Module { return b.Train(false) }

// IsTraining reports whether a module is in training mode.
func IsTraining(m Module) bool { return !baseOf(m).eval }

// InEvaluation runs f while m itself, but none of its children, is in evaluation mode.
func InEvaluation(m Module, f func()) {
	b := baseOf(m)
	before := b.eval
	b.eval = true
	defer func() { b.eval = before }()
	f()
}

// Train sets the mode of m and all its children.
func Train(m Module, on bool) {
	for c := range Modules(m) {
		SetMode(c, on)
		if f, ok := c.(interface{ ModeChanged(training bool) }); ok {
			f.ModeChanged(on)
		}
	}
}

// SetMode sets the mode of m itself, but of none of its children. Train, which also calls the method
// ModeChanged(training bool) of modules that have one, is what programs want.
func SetMode(m Module, training bool) { baseOf(m).eval = !training }

// Eval sets m and all its children to evaluation mode.
func Eval(m Module) { Train(m, false) }

// Parameters lists the parameters of the module and its children, each once.
func (b *Base) Parameters() []*Tensor { return Parameters(moduleOf(b, "Parameters")) }

// StateDict lists the parameters and persistent buffers under their names.
func (b *Base) StateDict() *tensor.StateDict { return StateDict(moduleOf(b, "StateDict")) }

// LoadStateDict copies tensors into the parameters and buffers of the same names.
func (b *Base) LoadStateDict(sd *tensor.StateDict, opts ...LoadOptions) error {
	return LoadStateDict(moduleOf(b, "LoadStateDict"), sd, opts...)
}

// ZeroGrad removes the gradients of all parameters.
func (b *Base) ZeroGrad() { ZeroGrad(moduleOf(b, "ZeroGrad")) }

// RequiresGrad switches the gradients of all parameters on or off.
func (b *Base) RequiresGrad(on bool) Module {
	m := moduleOf(b, "RequiresGrad")
	for _, p := range Parameters(m) {
		p.SetRequiresGrad(on)
	}
	return m
}

// Apply calls f on every child, then on the module itself.
func (b *Base) Apply(f func(Module)) Module {
	m := moduleOf(b, "Apply")
	Apply(m, f)
	return m
}

// String prints the module as Python does.
func (b *Base) String() string {
	if b.self == nil {
		return "nn.Base"
	}
	return Repr(b.self)
}

// ToMemoryFormat lays images' weights out for convolutions, as Python's to(memory_format=…).
func (b *Base) ToMemoryFormat(f tensor.MemoryFormat) Module {
	m := moduleOf(b, "ToMemoryFormat")
	ToMemoryFormat(m, f)
	return m
}

// ToDevice moves parameters and buffers to a device, as Python's to(device).
func (b *Base) ToDevice(d tensor.Device) Module {
	m := moduleOf(b, "ToDevice")
	ToDevice(m, d)
	return m
}

// ToEmpty gives parameters and buffers memory on a device without copying what they hold, as Python's to_empty.
func (b *Base) ToEmpty(d tensor.Device) Module {
	m := moduleOf(b, "ToEmpty")
	ToEmpty(m, d)
	return m
}

// ToDType converts all floating-point parameters and buffers.
func (b *Base) ToDType(dt tensor.DType) Module {
	m := moduleOf(b, "ToDType")
	ToDType(m, dt)
	return m
}

// Half, BFloat16, Float and Double convert all floating-point parameters and buffers.
func (b *Base) Half() Module     { return b.ToDType(tensor.Float16) }
func (b *Base) BFloat16() Module { return b.ToDType(tensor.BFloat16) }
func (b *Base) Float() Module    { return b.ToDType(tensor.Float32) }
func (b *Base) Double() Module   { return b.ToDType(tensor.Float64) }

// NewParameter marks a tensor as a parameter that requires grad (floating-point and complex types only) and returns it.
func NewParameter(t *Tensor) *Tensor {
	if t.GradFn() != nil {
		t = t.Detach()
	}
	t.SetParameter()
	if t.DType().IsDifferentiable() {
		t.SetRequiresGrad(true)
	}
	return t
}

func none(string, *Tensor)        {}
func noBuf(string, *Tensor, bool) {}
func noChild(string, Module)      {}
func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}

// NamedChildren walks the direct children with their names.
func NamedChildren(m Module) iter.Seq2[string, Module] {
	return func(yield func(string, Module) bool) {
		stop := false
		walkOwn(m, none, noBuf, func(n string, c Module) {
			if !stop && !yield(n, c) {
				stop = true
			}
		})
	}
}

// Children walks the direct children.
func Children(m Module) iter.Seq[Module] {
	return func(yield func(Module) bool) {
		for _, c := range NamedChildren(m) {
			if !yield(c) {
				return
			}
		}
	}
}

// NamedModules walks m (under the name "") and everything below it, each module once.
func NamedModules(m Module) iter.Seq2[string, Module] {
	return func(yield func(string, Module) bool) {
		namedModules(m, "", owner{b: baseOf(m)}, map[*Base]bool{}, yield)
	}
}

func namedModules(m Module, prefix string, o owner, seen map[*Base]bool, yield func(string, Module) bool) bool {
	if b := m.moduleBase(); seen[b] {
		return true
	} else {
		seen[b] = true
	}
	if !yield(prefix, m) {
		return false
	}
	ok := true
	walkOwn(m, none, noBuf, func(n string, c Module) {
		ok = ok && namedModules(c, join(prefix, n), o.child(n, c), seen, yield)
	})
	return ok
}

// Modules walks m and everything below it, each module once.
func Modules(m Module) iter.Seq[Module] {
	return func(yield func(Module) bool) {
		for _, c := range NamedModules(m) {
			if !yield(c) {
				return
			}
		}
	}
}

// NamedParameters walks the parameters of m and its children with their names, each tensor once.
func NamedParameters(m Module) iter.Seq2[string, *Tensor] {
	return func(yield func(string, *Tensor) bool) {
		seen := map[*Tensor]bool{}
		stop := false
		for prefix, c := range NamedModules(m) {
			walkOwn(c, func(n string, t *Tensor) {
				if stop || seen[t] {
					return
				}
				seen[t] = true
				stop = !yield(join(prefix, n), t)
			}, noBuf, noChild)
			if stop {
				return
			}
		}
	}
}

// NamedBuffers walks the buffers of m and its children with their names, each tensor once.
func NamedBuffers(m Module) iter.Seq2[string, *Tensor] {
	return func(yield func(string, *Tensor) bool) {
		seen := map[*Tensor]bool{}
		stop := false
		for prefix, c := range NamedModules(m) {
			walkOwn(c, none, func(n string, t *Tensor, _ bool) {
				if stop || seen[t] {
					return
				}
				seen[t] = true
				stop = !yield(join(prefix, n), t)
			}, noChild)
			if stop {
				return
			}
		}
	}
}

// Parameters lists the parameters of m and its children, each once.
func Parameters(m Module) []*Tensor {
	w := paramWalk{mods: map[*Base]bool{}, seen: map[*Tensor]bool{}}
	w.visit(m)
	return w.out
}

// paramWalk collects parameters in the order of NamedParameters. It makes up no names: training steps come here to
// clear gradients.
type paramWalk struct {
	mods map[*Base]bool
	seen map[*Tensor]bool
	out  []*Tensor
}

func (w *paramWalk) visit(m Module) {
	if b := baseOf(m); w.mods[b] {
		return
	} else {
		w.mods[b] = true
	}
	var children []Module // a module's own parameters come first
	walkOwn(m, func(_ string, t *Tensor) {
		if !w.seen[t] {
			w.seen[t] = true
			w.out = append(w.out, t)
		}
	}, noBuf, func(_ string, c Module) { children = append(children, c) })
	for _, c := range children {
		w.visit(c)
	}
}

// Buffers lists the buffers of m and its children, each once.
func Buffers(m Module) []*Tensor {
	var out []*Tensor
	for _, p := range NamedBuffers(m) {
		out = append(out, p)
	}
	return out
}

// NumParameters counts the elements of all parameters.
func NumParameters(m Module) int {
	n := 0
	for _, p := range Parameters(m) {
		n += p.Numel()
	}
	return n
}

// NumTrainable counts the elements of the parameters that require grad.
func NumTrainable(m Module) int {
	n := 0
	for _, p := range Parameters(m) {
		if p.RequiresGrad() {
			n += p.Numel()
		}
	}
	return n
}

// GetSubmodule finds a module by its dotted name; "" is m itself.
func GetSubmodule(m Module, name string) (Module, error) {
	for n, c := range NamedModules(m) {
		if n == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("nn: %s has no submodule %q", className(m), name)
}

// GetParameter finds a parameter by its dotted name.
func GetParameter(m Module, name string) (*Tensor, error) {
	for n, p := range NamedParameters(m) {
		if n == name {
			return p, nil
		}
	}
	return nil, fmt.Errorf("nn: %s has no parameter %q", className(m), name)
}

// Apply calls f on every child, depth first, then on m itself.
func Apply(m Module, f func(Module)) { apply(m, f, nil) }

func apply(m Module, f func(Module), above *trail) {
	above = above.enter(m)
	for c := range Children(m) {
		apply(c, f, above)
	}
	f(m)
}

// ZeroGrad removes the gradients of all parameters.
func ZeroGrad(m Module) {
	for _, p := range Parameters(m) {
		p.SetGrad(nil)
	}
}

// ToDType converts all floating-point parameters and buffers in place.
func ToDType(m Module, dt tensor.DType) {
	if !dt.IsFloat() && !dt.IsComplex() {
		tensor.FailHint(tensor.ErrDType, "in Go: nn.ToDType with a type such as torch.BFloat16",
			"nn.Module.to only accepts floating point or complex dtypes, but got desired "+
				"dtype=%s", dt)
	}
	convert(m, func(t *Tensor) *Tensor {
		if !t.DType().IsDifferentiable() {
			return t
		}
		return t.To(dt)
	})
}

// convert gives the parameters, their gradients and the buffers of m and its children what f makes of them, in place:
// they stay the tensors that an optimizer knows.
func convert(m Module, f func(t *Tensor) *Tensor) {
	tensor.NoGrad(func() {
		set := func(t *Tensor) {
			if c := f(t.Detach()); c.Storage() != t.Storage() {
				tensor.SetRaw(t, c)
			}
		}
		for _, p := range Parameters(m) {
			set(p)
			if g := p.Grad(); g != nil {
				set(g)
			}
		}
		for _, b := range Buffers(m) {
			set(b)
		}
	})
	Refresh(m)
}

// ToDevice moves the parameters, their gradients and the buffers to a device, in place, as Python's to(device).
func ToDevice(m Module, d tensor.Device) {
	d.Check()
	convert(m, func(t *Tensor) *Tensor {
		if t.Device().Type == tensor.MetaDevice && d.Type != tensor.MetaDevice {
			tensor.FailHint(tensor.ErrDevice, "in Go: nn.ToEmpty instead of nn.ToDevice",
				"Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead of "+
					"torch.nn.Module.to() when moving module from meta to a different device.")
		}
		return t.To(d)
	})
}

// ToEmpty gives the parameters and buffers memory on a device without copying what they hold, as Python's to_empty: for
// a module that was made on the meta device, before its state dict is loaded.
func ToEmpty(m Module, d tensor.Device) {
	d.Check()
	tensor.WithDevice(d, func() {
		convert(m, func(t *Tensor) *Tensor {
			return torch.EmptyStrided(t.Shape(), t.Strides(), torch.EmptyStridedOptions{DType: t.DType()})
		})
	})
}

// ToMemoryFormat lays parameters and buffers of as many dimensions as the format has (4 for tensor.ChannelsLast, 5 for
// tensor.ChannelsLast3d) out anew, in place.
func ToMemoryFormat(m Module, f tensor.MemoryFormat) {
	dims := map[tensor.MemoryFormat]int{tensor.ChannelsLast: 4, tensor.ChannelsLast3d: 5}[f]
	convert(m, func(t *Tensor) *Tensor {
		if t.Dim() != dims && dims != 0 {
			return t
		}
		return t.To(f)
	})
}

// Classed is implemented by modules whose Python name is not their Go type's.
type Classed interface{ ClassName() string }

// Extra is implemented by modules that print something between their parentheses.
type Extra interface{ ExtraRepr() string }

func className(m Module) string {
	if e := baseOf(m).extra; e != nil && e.prefix != "" {
		return e.prefix + plainClassName(m)
	}
	return plainClassName(m)
}

// plainClassName is the class name of a module without parametrizations.
func plainClassName(m Module) string {
	if c, ok := m.(Classed); ok {
		return c.ClassName()
	}
	t := reflect.TypeOf(m)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	n, _, _ := strings.Cut(t.Name(), "[")
	return n
}

// Repr prints a module as Python does.
func Repr(m Module) string {
	refuseLoops(m)
	return reprOf(m)
}

func reprOf(m Module) string {
	if r, ok := m.(interface{ Repr() string }); ok {
		return r.Repr()
	}
	return repr(m)
}

func repr(m Module) string {
	extra := ""
	if e, ok := m.(Extra); ok {
		extra = e.ExtraRepr()
	}
	var extras, kids []string
	if extra != "" {
		extras = strings.Split(extra, "\n")
	}
	for n, c := range NamedChildren(m) {
		kids = append(kids, "("+n+"): "+indent(reprOf(c)))
	}
	name := className(m)
	if len(extras) == 1 && len(kids) == 0 {
		return name + "(" + extras[0] + ")"
	}
	lines := append(extras, kids...)
	if len(lines) == 0 {
		return name + "()"
	}
	return name + "(\n  " + strings.Join(lines, "\n  ") + "\n)"
}

func indent(s string) string { return strings.ReplaceAll(s, "\n", "\n  ") }

// ClassName is the Python name of the module's class.
func ClassName(m Module) string { return className(m) }

// OwnParameters lists the parameters of the module itself, without its children's.
func OwnParameters(m Module) []*Tensor {
	var out []*Tensor
	walkOwn(m, func(_ string, t *Tensor) { out = append(out, t) }, noBuf, noChild)
	return out
}

// OwnNamedParameters walks the parameters of the module itself, without its children's.
func OwnNamedParameters(m Module) iter.Seq2[string, *Tensor] {
	return func(yield func(string, *Tensor) bool) {
		stop := false
		walkOwn(m, func(n string, t *Tensor) { stop = stop || !yield(n, t) }, noBuf, noChild)
	}
}

// OwnNamedBuffers walks the buffers of the module itself, without its children's.
func OwnNamedBuffers(m Module) iter.Seq2[string, *Tensor] {
	return func(yield func(string, *Tensor) bool) {
		stop := false
		walkOwn(m, none, func(n string, t *Tensor, _ bool) { stop = stop || !yield(n, t) }, noChild)
	}
}
