package programs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/opcheck"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/pylite"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/quantization"
	"github.com/gotorch-dev/torch/tensor"
)

// Host is what torch means in a program.
type Host struct {
	In       *pylite.Interp
	Warnings []string // that the program caused

	noEarlyStop bool // set_checkpoint_early_stop(False) holds
}

// context is a context manager, which may also decorate functions.
type context struct {
	name  string
	enter func(body func(value any))
}

// New makes an interpreter in which torch, F, nn, math and the usual short names are known, and out is a dict for
// results.
func New() (*pylite.Interp, *Host) {
	h := &Host{}
	in := pylite.New(h)
	h.In = in
	in.Globals["torch"] = h.module("torch")
	in.Globals["F"] = h.module("torch.nn.functional")
	in.Globals["nn"] = h.module("torch.nn")
	in.Globals["math"] = h.module("math")
	in.Globals["out"] = pylite.NewDict()
	for short, name := range map[string]string{"f32": "float32", "f16": "float16", "bf16": "bfloat16",
		"f64": "float64"} {
		in.Globals[short] = dtype.Parse(name)
	}
	in.Globals["autocast"], _ = h.torch("autocast")
	in.Globals["checkpoint"], _ = h.Import("torch.utils.checkpoint", "checkpoint")
	in.Globals["checkpoint_sequential"], _ = h.Import("torch.utils.checkpoint", "checkpoint_sequential")
	in.Globals["GradScaler"], _ = h.Import("torch.amp", "GradScaler")
	return in, h
}

// Run runs a program and gathers its warnings.
func Run(in *pylite.Interp, h *Host, src string) error {
	before := tensor.SetWarnings(func(w tensor.Warning) { h.Warnings = append(h.Warnings, w.Text) })
	defer func() { tensor.SetWarnings(before) }()
	return in.Run(src)
}

// Call calls an operator or a function by its Python name.
func (h *Host) call(names []string, args []any, kw map[string]any) any {
	list := make([]any, len(args))
	for i, a := range args {
		list[i] = FromPython(a)
	}
	kwargs := map[string]any{}
	for k, v := range kw {
		if k == "device" {
			v = h.device(v)
		}
		kwargs[k] = FromPython(v)
	}
	v, err := opcheck.Call(names, list, kwargs)
	if err != nil {
		panic(err)
	}
	return ToPython(v)
}

func (h *Host) function(dotted string) pylite.Builtin {
	names := opcheck.Names(dotted)
	return func(args []any, kw map[string]any) any {
		if !opcheck.Exists(names) {
			panic(golden.Skip("not there yet: " + dotted))
		}
		return h.call(names, gathered(names, args), kw)
	}
}

// gathered are the arguments of a Python function that takes tensors one by one where its schema has a list of them:
// those from the place of the list on become that list.
func gathered(names []string, args []any) []any {
	for _, n := range names {
		for _, o := range tensor.Overloads(n) {
			i := slices.IndexFunc(o.Sch.Params, func(p tensor.Param) bool { return p.Kind == tensor.KTensors })
			rest := func(a any) bool { return asTensor(a) == nil }
			if i >= 0 && i < len(args) && !slices.ContainsFunc(args[i:], rest) {
				return append(slices.Clone(args[:i]), pylite.Tuple(slices.Clone(args[i:])))
			}
		}
	}
	return args
}

// device turns the text of a device into one.
func (h *Host) device(v any) any {
	s, ok := v.(string)
	if !ok {
		return v
	}
	d, err := tensor.ParseDevice(s)
	if err != nil {
		panic(err)
	}
	return d
}

// Attr reads attributes of tensors, modules, optimizers and the other values of this package.
func (h *Host) Attr(v any, name string) (any, bool) {
	switch x := v.(type) {
	case *tensor.Tensor:
		return h.tensorAttr(x, name), true
	case *Param:
		return h.tensorAttr(x.Tensor, name), true
	case *quantization.FloatFunctional:
		if f, ok := functionalAttr(x, name); ok {
			return f, true
		}
		return h.moduleAttr(x, name)
	case nn.Module:
		return h.moduleAttr(x, name)
	case optim.Optimizer:
		return h.optimizerAttr(x, name)
	case *tensor.Node:
		if name == "name" {
			return pylite.Builtin(func([]any, map[string]any) any { return x.Name() }), true
		}
	case scaler:
		return h.scalerAttr(x, name)
	case *pylite.Class:
		return h.classAttr(x, name)
	case funcContext:
		return x.attr(name)
	case overloads:
		return h.function(string(x) + "." + name), true
	case attrs:
		a, ok := x[name]
		return a, ok
	case tensor.FloatInfo:
		a, ok := map[string]any{"bits": x.Bits, "eps": x.Eps, "max": x.Max, "min": x.Min, "tiny": x.Tiny,
			"smallest_normal": x.SmallestNormal, "resolution": x.Resolution}[name]
		return a, ok
	case tensor.IntInfo:
		a, ok := map[string]any{"bits": x.Bits, "max": int(x.Max), "min": x.Min}[name]
		return a, ok
	}
	return nil, false
}

// overloads is an operator of torch.ops, whose attributes are its overloads.
type overloads string

// attrs is a value that has nothing but attributes.
type attrs map[string]any

// SetAttr writes attributes of tensors and modules.
func (h *Host) SetAttr(v any, name string, x any) bool {
	t := asTensor(v)
	if t != nil {
		switch name {
		case "requires_grad":
			t.SetRequiresGrad(x == true)
			return true
		case "grad":
			t.SetGrad(asTensor(x))
			return true
		}
		return false
	}
	switch o := v.(type) {
	case funcContext:
		o.more[name] = x
		return true
	case *pylite.Object:
		setChild(o, name, x)
	case *pylite.Module:
		return setBackend(o.Name, name, x)
	}
	return false
}

// operators are the names of Python's operators in the registry.
var operators = map[string]string{"+": "add", "-": "sub", "*": "mul", "/": "div", "//": "floor_divide",
	"%":  "remainder",
	"**": "pow", "@": "matmul", "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "==": "eq", "!=": "ne",
	"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "<<": "bitwise_left_shift", ">>": "bitwise_right_shift"}

// mirrored are comparisons with their sides exchanged.
var mirrored = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}

// Binary computes operators of which one side is a tensor, a dtype or another value of this package.
func (h *Host) Binary(op string, l, r any) (any, bool) {
	lt, rt := asTensor(l), asTensor(r)
	if lt == nil && rt == nil {
		switch op {
		case "==":
			return l == r, true
		case "!=":
			return l != r, true
		}
		return nil, false
	}
	base, inplace := strings.CutSuffix(op, "=")
	if inplace && operators[op] == "" {
		name, ok := operators[base]
		if !ok || lt == nil {
			return nil, false
		}
		if name == "matmul" {
			return nil, false
		}
		return h.call([]string{"aten::" + name + "_"}, []any{l, r}, nil), true
	}
	name, ok := operators[op]
	if !ok {
		return nil, false
	}
	if _, plain := r.(string); plain || r == nil || l == nil {
		if op == "==" || op == "!=" {
			return op == "!=", true
		}
		return nil, false
	}
	if lt == nil {
		switch op {
		case "-":
			return h.call([]string{"aten::rsub"}, []any{r, l}, nil), true
		case "/":
			return h.call([]string{"aten::mul"}, []any{h.call([]string{"aten::reciprocal"}, []any{r}, nil), l}, nil),
				true
		case "+", "*", "&", "|", "^":
			return h.call([]string{"aten::" + name}, []any{r, l}, nil), true
		}
		if m, ok := mirrored[op]; ok {
			return h.call([]string{"aten::" + operators[m]}, []any{r, l}, nil), true
		}
	}
	return h.call([]string{"aten::" + name}, []any{l, r}, nil), true
}

// Unary computes -x, +x and ~x of a tensor.
func (h *Host) Unary(op string, x any) (any, bool) {
	t := asTensor(x)
	if t == nil {
		return nil, false
	}
	switch op {
	case "-":
		return t.Neg(), true
	case "~":
		return t.BitwiseNot(), true
	}
	return t, true
}

// Index reads elements of tensors and layers of containers.
func (h *Host) Index(x, i any) (any, bool) {
	if t := asTensor(x); t != nil {
		return h.call([]string{"Tensor::__getitem__"}, []any{t, i}, nil), true
	}
	if m, ok := x.(nn.Module); ok {
		return h.child(m, i)
	}
	return nil, false
}

// SetIndex writes elements of tensors.
func (h *Host) SetIndex(x, i, v any) bool {
	t := asTensor(x)
	if t == nil {
		return false
	}
	h.call([]string{"Tensor::__setitem__"}, []any{t, i, v}, nil)
	return true
}

// Number is the number in a tensor without dimensions, as which Python formats it.
func (h *Host) Number(v any) (any, bool) {
	t := asTensor(v)
	if t == nil || t.Dim() > 0 || t.DType().IsComplex() {
		return nil, false
	}
	switch n := t.Num(); {
	case t.DType() == tensor.Bool:
		return n.I != 0, true
	case t.DType().IsIntOrBool():
		return int(n.I), true
	default:
		return n.F, true
	}
}

// Truth is bool(tensor).
func (h *Host) Truth(v any) (bool, bool) {
	t := asTensor(v)
	if t == nil {
		return false, false
	}
	n := t.Num()
	return n.F != 0 || n.I != 0, true
}

// Iter goes through the first dimension of a tensor.
func (h *Host) Iter(v any) ([]any, bool) {
	t := asTensor(v)
	if t == nil {
		if m, ok := v.(nn.Module); ok {
			return h.children(m), true
		}
		return nil, false
	}
	var out []any
	for i := range t.Size(0) {
		out = append(out, t.Select(0, i))
	}
	return out, true
}

// Len is len(tensor).
func (h *Host) Len(v any) (int, bool) {
	if t := asTensor(v); t != nil {
		return t.Size(0), true
	}
	if m, ok := v.(nn.Module); ok {
		return len(h.children(m)), true
	}
	return 0, false
}

// Call calls modules, and context managers as decorators.
func (h *Host) Call(fn any, args []any, kw map[string]any) (any, bool) {
	if o, ok := fn.(*pylite.Object); ok {
		if m, ok := o.Data.(*Object); ok {
			return h.forward(m, args, kw), true
		}
	}
	switch f := fn.(type) {
	case nn.Module:
		return h.forward(f, args, kw), true
	case context:
		if len(args) != 1 {
			return nil, false
		}
		return pylite.Builtin(func(a []any, k map[string]any) (out any) {
			f.enter(func(any) { out = h.In.Call(args[0], a, k) })
			return out
		}), true
	case marked:
		return h.In.Call(f.fn, args, kw), true
	case overloads:
		return h.function(string(f))(args, kw), true
	case tensor.DType:
		return nil, false
	}
	return nil, false
}

// Enter runs a body in a context manager.
func (h *Host) Enter(ctx any, body func(value any)) bool {
	c, ok := ctx.(context)
	if !ok {
		return false
	}
	c.enter(body)
	return true
}

// IsInstance knows torch.Tensor.
func (h *Host) IsInstance(v, class any) (bool, bool) {
	if c, ok := class.(attrs); ok && c["__name__"] == "Tensor" {
		return asTensor(v) != nil, true
	}
	return false, false
}

// TypeOf names the types of foreign values.
func (h *Host) TypeOf(v any) (any, bool) {
	switch v.(type) {
	case *tensor.Tensor:
		return "Tensor", true
	case *Param:
		return "Parameter", true
	case tensor.DType:
		return "torch.dtype", true
	}
	return nil, false
}

// Str prints foreign values.
func (h *Host) Str(v any) (string, bool) {
	switch x := v.(type) {
	case *tensor.Tensor:
		return x.String(), true
	case tensor.DType:
		return x.String(), true
	case tensor.QScheme:
		return x.String(), true
	case tensor.Device:
		return x.String(), true
	case nn.Module:
		return fmt.Sprint(x), true
	}
	return "", false
}

// Exception turns errors of Go into Python's.
func (h *Host) Exception(p any) *pylite.Raise {
	err, ok := p.(error)
	if !ok {
		return nil
	}
	var skip golden.Skip
	if errors.As(err, &skip) {
		return nil
	}
	var e *tensor.Error
	if !errors.As(err, &e) {
		return nil
	}
	r := &pylite.Raise{Type: "RuntimeError", Msg: e.Msg, Go: err}
	switch {
	case errors.Is(err, tensor.ErrIndex):
		r.Type = "IndexError"
	case errors.Is(err, tensor.ErrType):
		r.Type = "TypeError"
	}
	return r
}

// Matches compares an error with what the reference data record.
func Matches(err error, message string) error {
	if err == nil {
		return fmt.Errorf("no error, want %q", message)
	}
	var r *pylite.Raise
	text := err.Error()
	if errors.As(err, &r) {
		text = r.Msg
	}
	if !strings.Contains(text, message) {
		return fmt.Errorf("error %q, want %q", text, message)
	}
	return nil
}

// Output is what a program has left in the dict out under a name, as package golden would have decoded it.
func Output(in *pylite.Interp, name string) any {
	v, _ := in.Globals["out"].(*pylite.Dict).Get(name)
	return FromPython(v)
}
