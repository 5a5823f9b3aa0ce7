package nn

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

// namedList is an ordered list of modules with names, what the containers are made of.
type namedList struct {
	names []string
	mods  []Module
}

// refuseNil refuses a nil module, also a nil pointer in the interface.
func refuseNil(name string, m Module) {
	if m == nil || isNil(reflect.ValueOf(m)) {
		tensor.Fail(tensor.ErrType, "nn: module %q of a container is nil", name)
	}
}

func (l *namedList) add(name string, m Module) {
	refuseNil(name, m)
	switch {
	case name == "":
		tensor.Fail(tensor.ErrValue, "module name can't be empty string \"\"")
	case strings.Contains(name, "."):
		tensor.Fail(tensor.ErrValue, "module name can't contain \".\", got: %s", name)
	}
	if i := slices.Index(l.names, name); i >= 0 {
		l.mods[i] = m
		return
	}
	l.names, l.mods = append(l.names, name), append(l.mods, m)
}

func (l *namedList) get(name string) Module {
	if i := slices.Index(l.names, name); i >= 0 {
		return l.mods[i]
	}
	return nil
}

func (l *namedList) remove(name string) {
	if i := slices.Index(l.names, name); i >= 0 {
		l.names, l.mods = slices.Delete(l.names, i, i+1), slices.Delete(l.mods, i, i+1)
	}
}

// Len is the number of modules.
func (l *namedList) Len() int { return len(l.mods) }

// WalkOwn visits the modules in order.
func (l *namedList) WalkOwn(_ func(string, *Tensor), _ func(string, *Tensor, bool), child func(string, Module)) {
	for i, m := range l.mods {
		child(l.names[i], m)
	}
}

func index(i, n int, what string) int {
	j := i
	if j < 0 {
		j += n
	}
	if j < 0 || j >= n {
		tensor.Fail(tensor.ErrIndex, "nn.%s: index %d is out of range for %d entries", what, i, n)
	}
	return j
}

// Sequential feeds each layer's output to the next one.
//
//	net := nn.NewSequential(nn.NewFlatten(), nn.NewLinear(784, 10))
//
// https://pytorch.org/docs/stable/generated/torch.nn.Sequential.html
type Sequential struct {
	Base
	namedList
}

// NewSequential makes a Sequential of layers named "0", "1", …
func NewSequential(layers ...Layer) *Sequential {
	s := New(&Sequential{})
	for _, m := range layers {
		s.Append(m)
	}
	return s
}

// Add adds a layer under a name and returns the Sequential; a layer of that name is replaced.
func (s *Sequential) Add(name string, m Layer) *Sequential {
	return s.AddModule(name, m)
}

// AddModule adds a module under a name that need not be a Layer. TransformerEncoderLayer and TransformerEncoder, whose
// Forward also takes masks, run without masks. Other modules, such as a loss, which takes two tensors, are printed, and
// their parameters are found, but Forward refuses them, as Python's does.
func (s *Sequential) AddModule(name string, m Module) *Sequential {
	s.add(name, m)
	m.moduleBase().place.set(&s.Base, name)
	return s
}

// Append adds a layer under the next number.
func (s *Sequential) Append(m Layer) *Sequential { return s.Add(strconv.Itoa(len(s.mods)), m) }

// At is layer i; negative numbers count from the end.
func (s *Sequential) At(i int) Layer { return layerOf(s.mods[index(i, len(s.mods), "Sequential")]) }

// Get is the layer of a name, nil when there is none.
func (s *Sequential) Get(name string) Layer {
	m, _ := s.get(name).(Layer)
	return m
}

// Set replaces layer i, which keeps its name.
func (s *Sequential) Set(i int, m Layer) {
	i = index(i, len(s.mods), "Sequential")
	s.Add(s.names[i], m)
}

// Delete removes layer i. As in Python the others are then named by their numbers, whatever their names were.
func (s *Sequential) Delete(i int) {
	i = index(i, len(s.mods), "Sequential")
	s.mods = slices.Delete(slices.Clone(s.mods), i, i+1)
	s.names = make([]string, len(s.mods))
	for j := range s.names {
		s.names[j] = strconv.Itoa(j)
	}
}

// Slice is a Sequential of layers from up to but without to, sharing them, under their names.
func (s *Sequential) Slice(from, to int) *Sequential {
	t := New(&Sequential{})
	for i := from; i < to; i++ {
		t.AddModule(s.names[i], s.mods[index(i, len(s.mods), "Sequential")])
	}
	return t
}

// layerOf is a module of a Sequential as the layer that it must be to run.
func layerOf(m Module) Layer {
	switch m := m.(type) {
	case Layer:
		return m
	case encoder:
		return unmasked{m}
	}
	tensor.Fail(tensor.ErrType, "Sequential: %T is no layer, a module with one tensor as its input and output", m)
	return nil
}

// encoder is a module of one tensor that also takes masks.
type encoder interface {
	Module
	Forward(x *Tensor, masks ...EncoderMasks) *Tensor
}

// unmasked is an encoder as a layer.
type unmasked struct{ encoder }

func (m unmasked) Forward(x *Tensor) *Tensor { return m.encoder.Forward(x) }

// Forward runs the layers, as Chain does.
func (s *Sequential) Forward(x *Tensor) *Tensor {
	return s.Run(s, x, func(x *Tensor) *Tensor {
		y, _ := chain(x, s.mods, false)
		return y
	})
}

// ModuleList is a list of modules; a field of a slice type does the same.
// https://pytorch.org/docs/stable/generated/torch.nn.ModuleList.html
type ModuleList struct {
	Base
	namedList
}

// NewModuleList makes a ModuleList.
func NewModuleList(modules ...Module) *ModuleList {
	l := New(&ModuleList{})
	l.Append(modules...)
	return l
}

// Append adds modules at the end.
func (l *ModuleList) Append(modules ...Module) *ModuleList {
	for _, m := range modules {
		name := strconv.Itoa(len(l.mods))
		l.add(name, m)
		m.moduleBase().place.set(&l.Base, name)
	}
	return l
}

// At is module i; negative numbers count from the end.
func (l *ModuleList) At(i int) Module { return l.mods[index(i, len(l.mods), "ModuleList")] }

// Set replaces module i.
func (l *ModuleList) Set(i int, m Module) {
	i = index(i, len(l.mods), "ModuleList")
	l.add(l.names[i], m)
	m.moduleBase().place.set(&l.Base, l.names[i])
}

// Insert puts a module before number i.
func (l *ModuleList) Insert(i int, m Module) {
	refuseNil(strconv.Itoa(i), m)
	l.mods = slices.Insert(l.mods, i, m)
	l.names = append(l.names, strconv.Itoa(len(l.names)))
}

// All walks the modules.
func (l *ModuleList) All() iter.Seq2[int, Module] { return slices.All(l.mods) }

// Repr prints the list, joining equal neighbours.
func (l *ModuleList) Repr() string { return listRepr("ModuleList", l.mods) }

// listRepr prints "(0-2): 3 x Linear(…)" for neighbours that print alike.
func listRepr(name string, mods []Module) string {
	if len(mods) == 0 {
		return name + "()"
	}
	var lines []string
	for i := 0; i < len(mods); {
		text := reprOf(mods[i])
		j := i + 1
		for j < len(mods) && reprOf(mods[j]) == text {
			j++
		}
		key, times := strconv.Itoa(i), ""
		if j > i+1 {
			key = fmt.Sprintf("%d-%d", i, j-1)
			times = fmt.Sprintf("%d x ", j-i)
		}
		lines = append(lines, "("+key+"): "+times+indent(text))
		i = j
	}
	return name + "(\n  " + strings.Join(lines, "\n  ") + "\n)"
}

// ModuleDict is a dictionary of modules in the order of insertion.
// https://pytorch.org/docs/stable/generated/torch.nn.ModuleDict.html
type ModuleDict struct {
	Base
	namedList
}

// NewModuleDict makes an empty ModuleDict.
func NewModuleDict() *ModuleDict { return New(&ModuleDict{}) }

// Set adds a module under a name, or replaces it.
func (d *ModuleDict) Set(name string, m Module) *ModuleDict {
	d.add(name, m)
	m.moduleBase().place.set(&d.Base, name)
	return d
}

// Get is the module of a name, nil when there is none.
func (d *ModuleDict) Get(name string) Module { return d.get(name) }

// Has reports whether there is a module of that name.
func (d *ModuleDict) Has(name string) bool { return d.get(name) != nil }

// Delete removes a module.
func (d *ModuleDict) Delete(name string) {
	if i := slices.Index(d.names, name); i >= 0 {
		d.names, d.mods = slices.Delete(d.names, i, i+1), slices.Delete(d.mods, i, i+1)
	}
}

// Keys lists the names in order.
func (d *ModuleDict) Keys() []string { return slices.Clone(d.names) }

// All walks the entries in order.
func (d *ModuleDict) All() iter.Seq2[string, Module] {
	return func(yield func(string, Module) bool) {
		for i, m := range d.mods {
			if !yield(d.names[i], m) {
				return
			}
		}
	}
}

// ParameterList is a list of parameters.
// https://pytorch.org/docs/stable/generated/torch.nn.ParameterList.html
type ParameterList struct {
	Base
	items []*Tensor
}

// NewParameterList makes a ParameterList; tensors that are no parameters become some.
func NewParameterList(params ...*Tensor) *ParameterList {
	l := New(&ParameterList{})
	l.Append(params...)
	return l
}

func asParameter(t *Tensor) *Tensor {
	if !t.IsParameter() {
		return NewParameter(t)
	}
	return t
}

// Append adds parameters at the end.
func (l *ParameterList) Append(params ...*Tensor) *ParameterList {
	for _, p := range params {
		l.items = append(l.items, asParameter(p))
	}
	return l
}

// Len is the number of parameters.
func (l *ParameterList) Len() int { return len(l.items) }

// At is parameter i; negative numbers count from the end.
func (l *ParameterList) At(i int) *Tensor { return l.items[index(i, len(l.items), "ParameterList")] }

// WalkOwn visits the parameters.
func (l *ParameterList) WalkOwn(param func(string, *Tensor), _ func(string, *Tensor, bool), _ func(string, Module)) {
	for i, p := range l.items {
		param(strconv.Itoa(i), p)
	}
}

// Repr prints dtypes and sizes.
func (l *ParameterList) Repr() string {
	var lines []string
	for i, p := range l.items {
		lines = append(lines, fmt.Sprintf("(%d): Parameter containing: [%s of size %s]", i, p.DType(), sizeText(p)))
	}
	return paramRepr("ParameterList", lines)
}

func sizeText(p *Tensor) string {
	parts := make([]string, p.Dim())
	for i, n := range p.Shape() {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, "x")
}

func paramRepr(name string, lines []string) string {
	if len(lines) == 1 { // Python prints a single entry on the same line, indentation included
		return name + "(  " + lines[0] + ")"
	}
	if len(lines) == 0 {
		return name + "()"
	}
	return name + "(\n    " + strings.Join(lines, "\n    ") + "\n)"
}

// ParameterDict is a dictionary of parameters in the order of insertion.
// https://pytorch.org/docs/stable/generated/torch.nn.ParameterDict.html
type ParameterDict struct {
	Base
	names []string
	items []*Tensor
}

// NewParameterDict makes an empty ParameterDict.
func NewParameterDict() *ParameterDict { return New(&ParameterDict{}) }

// Set adds a parameter under a name, or replaces it; a tensor that is no parameter becomes one.
func (d *ParameterDict) Set(name string, p *Tensor) *ParameterDict {
	p = asParameter(p)
	if i := slices.Index(d.names, name); i >= 0 {
		d.items[i] = p
		return d
	}
	d.names, d.items = append(d.names, name), append(d.items, p)
	return d
}

// Get is the parameter of a name, nil when there is none.
func (d *ParameterDict) Get(name string) *Tensor {
	if i := slices.Index(d.names, name); i >= 0 {
		return d.items[i]
	}
	return nil
}

// Len is the number of parameters.
func (d *ParameterDict) Len() int { return len(d.items) }

// Keys lists the names in order.
func (d *ParameterDict) Keys() []string { return slices.Clone(d.names) }

// WalkOwn visits the parameters.
func (d *ParameterDict) WalkOwn(param func(string, *Tensor), _ func(string, *Tensor, bool), _ func(string, Module)) {
	for i, p := range d.items {
		param(d.names[i], p)
	}
}

// Repr prints types and sizes.
func (d *ParameterDict) Repr() string {
	var lines []string
	for i, p := range d.items {
		lines = append(lines, fmt.Sprintf("(%s): Parameter containing: [torch.%s of size %s]", d.names[i],
			legacyType(p.DType()), sizeText(p)))
	}
	return paramRepr("ParameterDict", lines)
}

// legacyType is the name of a dtype's tensor class.
func legacyType(dt tensor.DType) string {
	switch dt {
	case tensor.Float16:
		return "HalfTensor"
	case tensor.BFloat16:
		return "BFloat16Tensor"
	case tensor.Float64:
		return "DoubleTensor"
	case tensor.Float32:
		return "FloatTensor"
	case tensor.Int64:
		return "LongTensor"
	case tensor.Int32:
		return "IntTensor"
	case tensor.Int16:
		return "ShortTensor"
	case tensor.Int8:
		return "CharTensor"
	case tensor.Uint8:
		return "ByteTensor"
	case tensor.Bool:
		return "BoolTensor"
	case tensor.Complex64:
		return "ComplexFloatTensor"
	case tensor.Complex128:
		return "ComplexDoubleTensor"
	}
	return strings.TrimPrefix(dt.String(), "torch.")
}
