package jit

import (
	"context"
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/graph/trace"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// TraceOptions are the options of Trace and Script. They are given behind the inputs.
type TraceOptions struct {
	// Names are those of the arguments in the program, "x", "x1", … unless given: Go does not tell the names of
	// parameters.
	Names []string
	// Module is the module whose parameters and submodules a function uses.
	Module nn.Module
	// Dynamic names the sizes of inputs that may be others than those of the example, by the name of the input and the
	// dimension: see trace.Options.
	Dynamic map[string]map[int]string
	// Static keeps all sizes as they are in the example.
	Static bool
	// NoCheck leaves out the comparison with a second run of the function.
	NoCheck bool
	// Tolerance of that comparison, relative and absolute. 1e-5 if it is not given.
	Tolerance tensor.Opt[float64]
}

// Trace runs a module, or a function on tensors, on example inputs, and makes a TorchScript module of the operators
// that it called: one that runs without the Go types that made it, and that Python's torch.jit.load opens. It shares
// the parameters and buffers of the module. Inputs and results are tensors, slices, maps and structs of them; a
// TraceOptions may be the last of the inputs.
//
// Branches and loops of Go code are not recorded, only what they did for the example (If, While and For are recorded);
// where Go code reads the elements of tensors, a TracerWarning says so. The leading size of the inputs, the batch as a
// rule, may be another one than in the example, if the program takes others; other sizes are those of the example, but
// for those that TraceOptions.Dynamic names. Python's tracer follows all sizes that are arguments of operators.
//
// The result is compared with a second run of the module: differences, as random operators make them, give a
// TracerWarning. Mistakes of the function, and programs that cannot be recorded, are errors.
// https://pytorch.org/docs/stable/generated/torch.jit.trace.html
func Trace(fn any, inputs ...any) (*Module, error) { return record(fn, inputs, false) }

// Script is Trace for a module with control flow: what Go code decides by the elements or the sizes of tensors is an
// error, which names the line, instead of a warning, so that no loop is unrolled and no branch is frozen in silence.
// If, While, For and Annotate write the control flow. The sizes that the module takes others of are found out by
// trying, and stay open. Loops over lists of layers are unrolled, as Python's are. Python compiles the source of a
// module; here a call is recorded, so that example inputs are needed.
// https://pytorch.org/docs/stable/generated/torch.jit.script.html
func Script(fn any, inputs ...any) (*Module, error) { return record(fn, inputs, true) }

func record(fn any, inputs []any, script bool) (*Module, error) {
	var o TraceOptions
	if n := len(inputs); n > 0 {
		if opt, ok := inputs[n-1].(TraceOptions); ok {
			o, inputs = opt, inputs[:n-1]
		}
	}
	p, err := trace.Record(fn, inputs, trace.Options{Names: o.Names, Module: o.Module, Dynamic: o.Dynamic,
		Strict: script, KeepCalls: true, Containers: true,
		Batch: !script && !o.Static, AllDynamic: script && o.Dynamic == nil})
	if err != nil {
		return nil, err
	}
	var m *Module
	if err := tensor.Try(func() { m = lower(p, script) }); err != nil {
		return nil, err
	}
	for _, c := range m.unit.classes {
		for _, name := range c.Order {
			if f := c.Methods[name]; m.unit.funcs[c.Name+"."+name] == nil {
				if err := f.Verify(); err != nil {
					return nil, err
				}
			}
		}
	}
	if !script {
		m.traced = p
	}
	if !o.NoCheck && !script {
		check(m, p, o.Tolerance.Or(1e-5))
	}
	return m, nil
}

// check compares a traced module with what was recorded.
func check(m *Module, p *trace.Program, tolerance float64) {
	warn := func(format string, args ...any) { tensor.WarnTracer("", format, args...) }
	want, err := p.Repeat()
	if err != nil {
		warn("Tracer cannot run the function a second time: %s", err)
		return
	}
	var got []*tensor.Tensor
	p.Trial(func(inputs []*tensor.Tensor) {
		var v tensor.Value
		args := make([]tensor.Value, 0, len(p.In))
		for _, f := range p.In {
			if f.Kind != trace.None {
				args = append(args, valueOf(f, inputs))
			}
		}
		if v, err = m.Call(context.Background(), "forward", args, nil); err == nil {
			got = tensorsOf(p.Out, v, got)
		}
	})
	if err != nil {
		warn("Tracer cannot run the recorded program: %s", err)
		return
	}
	containers := isContainer(p.Out, nil)
	for i, w := range want {
		if i < len(got) && !containers[i] && !close(got[i], w, tolerance) {
			warn("Output nr %d. of the traced function does not match the corresponding output of the Go function. "+
				"Detailed error:\n%s", i+1, difference(got[i], w))
		}
	}
}

// valueOf packs tensors as a form says.
func valueOf(f *trace.Form, leaves []*tensor.Tensor) tensor.Value {
	if f.Kind == trace.Leaf {
		return tensor.TensorValue(leaves[f.Leaf])
	}
	var items []tensor.Value
	for _, e := range f.Elems {
		items = append(items, valueOf(e, leaves))
	}
	switch f.Kind {
	case trace.None:
		return tensor.Value{}
	case trace.List:
		return graph.NewList(f.Type().Elems[0], items...)
	case trace.Dict:
		d := graph.NewDict(graph.Str, f.Type().Elems[1])
		for i, v := range items {
			d.Set(tensor.StrValue(f.Names[i]), v)
		}
		return graph.Box(d)
	}
	return graph.NewTuple(items...)
}

// tensorsOf are the tensors of a value of a form, in order.
func tensorsOf(f *trace.Form, v tensor.Value, out []*tensor.Tensor) []*tensor.Tensor {
	switch f.Kind {
	case trace.Leaf:
		return append(out, v.T)
	case trace.Dict:
		if d, ok := v.X.(*graph.Dict); ok {
			for i, e := range f.Elems {
				x, _ := d.Get(tensor.StrValue(f.Names[i]))
				out = tensorsOf(e, x, out)
			}
		}
		return out
	}
	items, _ := graph.ItemsOf(v)
	for i, e := range f.Elems {
		if i < len(items) {
			out = tensorsOf(e, items[i], out)
		}
	}
	return out
}

// isContainer tells for each leaf of a form whether it is a list or a dictionary of the program.
func isContainer(f *trace.Form, out []bool) []bool {
	if f.Kind == trace.Leaf {
		return append(out, f.Held != nil)
	}
	for _, e := range f.Elems {
		out = isContainer(e, out)
	}
	return out
}

func close(a, b *tensor.Tensor, tolerance float64) bool {
	if a == nil || b == nil || a.DType() != b.DType() || !tensor.SameShape(a.Shape(), b.Shape()) {
		return a == b
	}
	same := false
	tensor.NoGrad(func() {
		res, err := tensor.CallOp("aten::allclose", tensor.TensorValue(a), tensor.TensorValue(b),
			tensor.FloatValue(tolerance), tensor.FloatValue(tolerance), tensor.BoolValue(true))
		same = err == nil && res[0].N != 0
	})
	return same
}

func difference(a, b *tensor.Tensor) string {
	if a == nil || b == nil || a.DType() != b.DType() || !tensor.SameShape(a.Shape(), b.Shape()) {
		return fmt.Sprintf("%s against %s", tensor.TensorValue(a), tensor.TensorValue(b))
	}
	text := ""
	tensor.NoGrad(func() {
		if a.DType().IsFloat() || a.DType().IsInt() {
			text = fmt.Sprintf("the greatest difference is %v", a.Double().Sub(b.Double()).Abs().Max().Item())
		}
	})
	return strings.TrimSpace(text)
}

// If calls then or otherwise, as a tensor with one element says, and returns what the function returns. In Trace and
// Script it becomes an if of the program, and in export.Export a torch.cond: both functions are recorded, and return as
// many tensors.
func If(cond *tensor.Tensor, then, otherwise func() []*tensor.Tensor) []*tensor.Tensor {
	return trace.If(cond, then, otherwise)
}

// For calls body n times with the number of the iteration and the carried tensors, and returns those after the last
// call. In Trace and Script it becomes a loop of the program, and in export.Export a torch.while_loop, whose number of
// iterations is n, or the size that n is; the example must have at least two iterations. The carried tensors keep their
// shapes.
func For(n int, carried []*tensor.Tensor,
	body func(i int, carried []*tensor.Tensor) []*tensor.Tensor) []*tensor.Tensor {
	return trace.For(n, carried, body)
}

// While calls body with the carried tensors as long as cond gives a tensor that is not zero, and returns the carried
// tensors. In Trace and Script it becomes a loop of the program, and in export.Export a torch.while_loop.
func While(cond func(carried []*tensor.Tensor) *tensor.Tensor, carried []*tensor.Tensor,
	body func(carried []*tensor.Tensor) []*tensor.Tensor) []*tensor.Tensor {
	return trace.While(cond, carried, body)
}

// Annotate gives a tensor a name in the program that Trace or Script records, and returns the tensor. NewList and
// NewDict are for lists and dictionaries.
func Annotate(name string, t *tensor.Tensor) *tensor.Tensor { return trace.Name(name, t) }
