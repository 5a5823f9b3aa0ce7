package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/graph/trace"
	"github.com/gotorch-dev/torch/internal/version"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// Options are the options of Export.
type Options struct {
	// Names are those of the arguments, "x", "x1", … unless given.
	Names []string
	// Dynamic names the sizes that may be others than those of the example, by the name of the input, then by
	// dimension: {"x": {0: "batch"}}. Equal names are equal sizes. The example's sizes must be at least 2.
	Dynamic map[string]map[int]string
	// Ranges are the limits of the sizes that Dynamic names. A size without an entry may be any.
	Ranges map[string]Range
	// Strict makes it an error when Go code reads elements of tensors, which a program cannot repeat. Otherwise that is
	// a warning.
	Strict bool
}

// Range are the smallest and the largest value of a size; Max 0 is for no limit.
type Range struct{ Min, Max int }

// Export runs a module, or a function of tensors, on example inputs and makes a program of the operators that it calls:
// what torch.export.export does. The program has the module's own parameters and buffers, under their names in the
// state dict, and can be called, trained and saved ([Program.Save]); PyTorch opens the file with torch.export.load.
// Mode matters: dropout and batch norm are exported as they are in training or in evaluation, as the module is.
//
// Inputs and results are tensors, slices, maps with string keys (dictionaries) and structs (dictionaries of their
// fields) of them; nil is None. A loop of Go is exported as the operators that it called for the example, and so is a
// branch. What cannot be exported is an error that names the operator and the module: operators that only exist here
// (gotorch::…), control flow of package jit, sparse tensors.
//
// PyTorch exports a module's Python source; here the module is run once, in which it is like torch.export.export with
// strict=False.
func Export(module any, inputs []any, opts ...Options) (*Program, error) {
	var o Options
	if len(opts) > 0 {
		o = opts[0]
	}
	r, err := trace.Record(module, inputs, trace.Options{Names: o.Names, Dynamic: o.Dynamic, Strict: o.Strict})
	if err != nil {
		return nil, err
	}
	w := &exporter{r: r, opts: o, names: map[string]bool{}, symbols: map[string]*dynamicSize{},
		level: newLevel(nil, r.Func.Body), p: &Program{name: "model", state: map[string]*Weight{}}}
	var p *Program
	if tryErr := tensor.Try(func() { p, err = w.program() }); tryErr != nil {
		return nil, tryErr
	}
	return p, err
}

// exporter writes a recorded program as model.json.
type exporter struct {
	r          *trace.Program
	opts       Options
	p          *Program
	*level     // the graph that is written
	sig        signatureJSON
	names      map[string]bool         // that are taken
	attrs      map[string]string       // placeholders of the module's tensors by their paths
	symbols    map[string]*dynamicSize // by the names of Options.Dynamic
	iterations []*dynamicSize          // the numbers of the iterations of loops
}

// dynamicSize is a size that Options.Dynamic names, or the number of an iteration, which is read from a tensor.
type dynamicSize struct {
	symbol    string // "s0", "u0"
	example   int
	source    *graph.Value // an input with this size in dimension dim, or the tensor of the iteration
	dim       int
	iteration bool
}

// symbolOf finds a size by its symbol.
func (w *exporter) symbolOf(symbol string) *dynamicSize {
	for _, s := range w.symbols {
		if s.symbol == symbol {
			return s
		}
	}
	for _, s := range w.iterations {
		if s.symbol == symbol {
			return s
		}
	}
	return nil
}

// unique makes a name of the graph: the text with _1, _2 behind it where it is taken.
func (w *exporter) unique(base string) string {
	base = strings.Map(func(c rune) rune {
		if c < 0x80 && isNameByte(byte(c)) {
			return c
		}
		return '_'
	}, base)
	name := base
	for i := 1; w.names[name]; i++ {
		name = fmt.Sprintf("%s_%d", base, i)
	}
	w.names[name] = true
	return name
}

func (w *exporter) program() (*Program, error) {
	if err := w.state(); err != nil {
		return nil, err
	}
	leaves, err := w.inputs()
	if err != nil {
		return nil, err
	}
	if err := w.nodes(); err != nil {
		return nil, err
	}
	in := &spec{Type: ptr(tupleType), Context: ptr("null"), Children: []spec{
		{Type: ptr(tupleType), Context: ptr("null"), Children: []spec{}},
		{Type: ptr(dictType), Context: ptr("[]"), Children: []spec{}}}}
	args := serialize.Tuple{}
	for _, f := range w.r.In {
		in.Children[0].Children = append(in.Children[0].Children, *specOf(f))
		args = append(args, exampleOf(f, w.r.Example))
	}
	w.outputs(w.r.Out)
	w.json.Inputs = append(w.json.Inputs, leaves...)
	w.userInputs(leaves)
	root := &moduleCallSignatureJSON{Inputs: []argument{}, Outputs: []argument{}, In: specText(in),
		Out: specText(specOf(w.r.Out)), Names: w.r.ArgNames}
	m := &programJSON{Opsets: map[string]int{"aten": 10}, Schema: versionJSON{schemaMajor, schemaMinor},
		Verifiers: []string{"TRAINING"}, Torch: version.PyTorch, Guards: []string{}, Ranges: map[string]rangeJSON{}}
	m.GraphModule = graphModuleJSON{Graph: w.json, Signature: w.sig, Metadata: map[string]string{},
		Calls: []moduleCallJSON{{Signature: root}}, NamedTuples: map[string]fieldsJSON{}}
	if w.r.Module != nil {
		for path := range nn.NamedModules(w.r.Module) {
			if path != "" {
				m.GraphModule.Calls = append(m.GraphModule.Calls, moduleCallJSON{FQN: path})
			}
		}
	}
	for name, s := range w.symbols {
		r := rangeJSON{Min: ptr(json.Number("0"))}
		if limits, ok := w.opts.Ranges[name]; ok {
			r.Min = ptr(json.Number(fmt.Sprint(limits.Min)))
			if limits.Max != 0 {
				r.Max = ptr(json.Number(fmt.Sprint(limits.Max)))
			}
			if s.example < limits.Min || limits.Max != 0 && s.example > limits.Max {
				return nil, &tensor.Error{Op: "Export", Err: tensor.ErrValue,
					Msg: fmt.Sprintf("the example's size %s is %d, out of its range from %d to %d", name, s.example,
						limits.Min, limits.Max)}
			}
		}
		m.Ranges[s.symbol] = r
	}
	for _, s := range w.iterations {
		m.Ranges[s.symbol] = rangeJSON{Min: ptr(json.Number("0"))}
	}
	for name := range w.opts.Ranges {
		if w.symbols[name] == nil {
			return nil, &tensor.Error{Op: "Export", Err: tensor.ErrValue,
				Msg: fmt.Sprintf("Ranges has %q, which no size of Dynamic is called", name)}
		}
	}
	p := w.p
	if p.model, err = json.Marshal(m); err != nil {
		return nil, err
	}
	var samples bytes.Buffer
	if err := serialize.Save(&samples, serialize.Tuple{args, serialize.NewDict()}); err != nil {
		return nil, err
	}
	p.samples = samples.Bytes()
	return p, p.build(m)
}

func ptr[T any](v T) *T { return &v }

// specOf is the structure of arguments or results. A struct is a dictionary of its fields.
func specOf(f *trace.Form) *spec {
	s := &spec{Children: []spec{}}
	switch f.Kind {
	case trace.Leaf, trace.None:
		return s
	case trace.List:
		s.Type, s.Context = ptr(listType), ptr("null")
	default:
		s.Type, s.Context = ptr(tupleType), ptr("null")
		if f.Names != nil || f.Kind == trace.Dict {
			names, _ := json.Marshal(append([]string{}, f.Names...)) // strings cannot fail
			s.Type, s.Context = ptr(dictType), ptr(string(names))
		}
	}
	for _, e := range f.Elems {
		s.Children = append(s.Children, *specOf(e))
	}
	return s
}

func specText(s *spec) string {
	b, _ := json.Marshal([]any{1, s}) // strings cannot fail
	return string(b)
}

// exampleOf puts the example's tensors into Python's containers.
func exampleOf(f *trace.Form, leaves []*tensor.Tensor) any {
	switch f.Kind {
	case trace.Leaf:
		return leaves[f.Leaf]
	case trace.None:
		return nil
	}
	var items []any
	for _, e := range f.Elems {
		items = append(items, exampleOf(e, leaves))
	}
	switch {
	case f.Names != nil || f.Kind == trace.Dict:
		d := serialize.NewDict()
		for i, name := range f.Names {
			d.Set(name, items[i])
		}
		return d
	case f.Kind == trace.Tuple:
		return serialize.Tuple(items)
	}
	return items
}

// state makes the inputs for parameters and buffers: parameters, buffers of the state dict, other buffers.
func (w *exporter) state() error {
	w.attrs = map[string]string{}
	if w.r.Self == nil {
		return nil
	}
	type entry struct {
		name string
		t    *tensor.Tensor
		attr graph.Attr
	}
	var all []entry
	for i, a := range w.r.Self.Class.Attrs {
		all = append(all, entry{a.Name, w.r.Self.Slots[i].T, a})
	}
	for _, first := range slices.Clone(all) {
		for name, of := range w.r.Shared {
			if of == first.name {
				all = append(all, entry{name, first.t, first.attr})
			}
		}
	}
	kind := func(e entry) int {
		switch {
		case e.attr.Parameter:
			return 0
		case w.r.NonPersistent[e.name]:
			return 2
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b entry) int { return kind(a) - kind(b) })
	for _, e := range all {
		k := kind(e)
		prefix := [...]string{"p_", "b_", "b_"}[k]
		name := w.unique(prefix + e.name)
		w.attrs[e.name] = name
		meta, err := metaOf(e.t)
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		meta.Grad = e.t.RequiresGrad()
		w.describe(name, meta)
		w.p.state[e.name] = &Weight{Name: e.name, Tensor: e.t, Parameter: k == 0, constant: k == 2}
		at, _ := json.Marshal(nameJSON{name}) // a string cannot fail
		w.json.Inputs = append(w.json.Inputs, tensorArg(name))
		if k == 0 {
			w.sig.Inputs = append(w.sig.Inputs, arg("parameter", inputSpecJSON{Arg: at, Parameter: e.name}))
		} else {
			w.sig.Inputs = append(w.sig.Inputs, arg("buffer", inputSpecJSON{Arg: at, Buffer: e.name,
				Persistent: ptr(k == 1)}))
		}
	}
	return nil
}

func (w *exporter) describe(name string, meta *tensorMetaJSON) {
	b, _ := json.Marshal(meta) // numbers and strings cannot fail
	w.json.Tensors[name] = b
}

// inputs are the user's inputs in the order of their leaves, None among them. They come behind all other inputs, to
// which nodes may still add constants.
func (w *exporter) inputs() (leaves []argument, err error) {
	params := w.r.Func.Body.Params
	if w.r.Self != nil {
		params = params[1:]
	}
	for i, port := range w.r.Inputs() {
		for d, dim := range port.Shape {
			if dim.Name != "" && w.symbols[dim.Name] == nil {
				w.symbols[dim.Name] = &dynamicSize{symbol: fmt.Sprintf("s%d", len(w.symbols)),
					example: w.r.Example[i].Size(d), source: params[i], dim: d}
			}
		}
	}
	var walk func(f *trace.Form) error
	walk = func(f *trace.Form) error {
		switch f.Kind {
		case trace.Leaf:
			v := params[f.Leaf]
			name := w.unique(w.r.Inputs()[f.Leaf].Name)
			w.values[v] = name
			if v.Info != nil && v.Info.Dims == nil {
				info := *v.Info
				v.Info = &info
				for d, dim := range w.r.Inputs()[f.Leaf].Shape {
					if dim.Name == "" {
						dim.Size = info.Shape[d]
					}
					v.Info.Dims = append(v.Info.Dims, dim)
				}
			}
			if err := w.tensor(name, v); err != nil {
				return err
			}
			leaves = append(leaves, tensorArg(name))
		case trace.None:
			leaves = append(leaves, arg("as_none", true))
		}
		for _, e := range f.Elems {
			if err := walk(e); err != nil {
				return err
			}
		}
		return nil
	}
	for _, f := range w.r.In {
		if err := walk(f); err != nil {
			return nil, err
		}
	}
	return leaves, nil
}

// userInputs writes the signature of the user's inputs.
func (w *exporter) userInputs(leaves []argument) {
	for _, a := range leaves {
		b, _ := json.Marshal(a) // names cannot fail
		w.sig.Inputs = append(w.sig.Inputs, arg("user_input", inputSpecJSON{Arg: b}))
	}
}

// outputs writes the results, in the order of the leaves.
func (w *exporter) outputs(f *trace.Form) {
	switch f.Kind {
	case trace.Leaf, trace.None:
		a := arg("as_none", true)
		if f.Kind == trace.Leaf {
			a = tensorArg(w.name(w.r.Func.Body.Results[f.Leaf]))
		}
		b, _ := json.Marshal(a) // names cannot fail
		w.json.Outputs = append(w.json.Outputs, a)
		w.sig.Outputs = append(w.sig.Outputs, arg("user_output", outputSpecJSON{Arg: b}))
	}
	for _, e := range f.Elems {
		w.outputs(e)
	}
}

// name is the name of a tensor: of a result, a parameter or a constant.
func (w *exporter) name(v *graph.Value) string {
	if name, ok := w.values[v]; ok {
		return name
	}
	if inner := w.level; inner.up != nil {
		w.level = inner.up
		name := w.name(v)
		w.level = inner
		return w.operand(name)
	}
	if n := v.Node; n != nil && n.Op == graph.GetAttr {
		return w.attrs[n.Attr]
	}
	if n := v.Node; n != nil && n.Op == graph.Constant && n.Const.K == tensor.KTensor {
		return w.constant(v)
	}
	tensor.Fail(ErrUnsupported, "a value of type %s has no name", v.Type)
	return ""
}

// constant makes an input of a tensor that the recorded function had from elsewhere.
func (w *exporter) constant(v *graph.Value) string {
	t := v.Node.Const.T
	key := w.unique("lifted_tensor_0")
	name := w.unique("c_" + key)
	meta, err := metaOf(t)
	if err != nil {
		panic(&tensor.Error{Op: "Export", Msg: err.Error(), Err: err})
	}
	w.describe(name, meta)
	w.p.state[key] = &Weight{Name: key, Tensor: t.Detach(), constant: true}
	at, _ := json.Marshal(nameJSON{name}) // a string cannot fail
	w.json.Inputs = append(w.json.Inputs, tensorArg(name))
	w.sig.Inputs = append(w.sig.Inputs, arg("tensor_constant", inputSpecJSON{Arg: at, Constant: key}))
	w.values[v] = name
	return name
}
