package opcheck

import (
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/python"
	"github.com/gotorch-dev/torch/tensor"
)

// callable is the Python function of a record: a dotted name, or a lambda whose body is made of calls.
type callable struct {
	names  []string // registry names of a dotted name
	lambda *python.Lambda
}

// registryNames maps a public Python name to the names that the registry may have it under.
func registryNames(dotted string) []string {
	if rest, ok := strings.CutPrefix(dotted, "torch."); ok && strings.HasPrefix(rest, "torch.") { // of torch.ops
		dotted = rest
	}
	parts := strings.Split(dotted, ".")
	last := parts[len(parts)-1]
	switch {
	case strings.HasPrefix(dotted, "torch.nn.functional."):
		return []string{"F::" + last, "aten::" + last}
	case strings.HasPrefix(dotted, "torch.ops.aten."), strings.HasPrefix(dotted, "aten."):
		rest := strings.TrimPrefix(strings.TrimPrefix(dotted, "torch.ops."), "aten.")
		rest = strings.TrimSuffix(rest, ".default")
		return []string{"aten::" + rest, "aten::" + strings.Split(rest, ".")[0]}
	case strings.HasPrefix(dotted, "torch.ops."):
		return []string{strings.Replace(strings.TrimPrefix(dotted, "torch.ops."), ".", "::", 1)}
	case strings.HasPrefix(dotted, "torch.linalg."):
		return []string{"linalg::" + last, "aten::linalg_" + last}
	case strings.HasPrefix(dotted, "torch.fft."):
		return []string{"fft::" + last, "aten::fft_" + last}
	case strings.HasPrefix(dotted, "torch.special."):
		return []string{"special::" + last, "aten::special_" + last}
	case strings.HasPrefix(dotted, "torch.masked."):
		return []string{"masked::" + last}
	case strings.HasPrefix(dotted, "torch.signal.windows."):
		return []string{"signal::" + last}
	case strings.HasPrefix(dotted, "torch.Tensor."):
		return []string{"Tensor::" + last, "aten::" + last}
	case len(parts) == 2 && parts[0] == "torch":
		// a function written in Python hides the operator of its name
		return []string{"torch::" + last, "aten::" + last}
	}
	return []string{strings.ReplaceAll(dotted, ".", "::")}
}

// testHelpers are functions of PyTorch's tests that records call, as lambdas.
var testHelpers = map[string]string{
	"torch.testing._internal.common_methods_invocations.max_pool2d_backward": "lambda x, kernel_size, stride, padding, " +
		"dilation, ceil_mode: torch.ops.aten.max_pool2d_with_indices_backward(torch.ones_like(" +
		"torch.nn.functional.max_pool2d_with_indices(x, kernel_size, stride, padding, dilation, ceil_mode)[0]), x, " +
		"kernel_size, stride or kernel_size, padding, dilation, ceil_mode, " +
		"torch.nn.functional.max_pool2d_with_indices(x, kernel_size, stride, padding, dilation, ceil_mode)[1])",
}

func parseCallable(s string) (*callable, error) {
	if h, ok := testHelpers[s]; ok {
		s = h
	}
	// A wrapper that sets the seed, which the runner has done, around the function itself.
	if rest, ok := strings.CutPrefix(s, "lambda *args, **kwargs: wrapper_set_seed( "); ok {
		s = strings.TrimSuffix(rest, ", *args, **kwargs )")
	}
	if !strings.HasPrefix(s, "lambda ") {
		return &callable{names: registryNames(s)}, nil
	}
	x, err := python.ParseExpr("callable", s, nil)
	if err != nil {
		return nil, fmt.Errorf("cannot read callable %q: %w", s, err)
	}
	l, ok := x.(*python.Lambda)
	if !ok {
		return nil, fmt.Errorf("callable %q is more than a lambda", s)
	}
	return &callable{lambda: l}, nil
}

// missing names the first function that no overload is registered for.
func (c *callable) missing() string {
	if c.lambda == nil {
		if !registered(c.names) {
			return c.names[0]
		}
		return ""
	}
	return missingIn(c.lambda.Body)
}

func missingIn(e python.Expr) string {
	var parts []python.Expr
	switch x := e.(type) {
	case *python.Call:
		if names := target(x); !registered(names) {
			return names[0]
		}
		parts = append(parts, x.Args...)
		for _, k := range x.Kwargs {
			parts = append(parts, k.Value)
		}
		if a, ok := x.Func.(*python.Attr); ok {
			parts = append(parts, a.X)
		}
	case *python.Attr:
		parts = []python.Expr{x.X}
	case *python.Binary:
		parts = []python.Expr{x.L, x.R}
	case *python.Bool:
		parts = []python.Expr{x.L, x.R}
	case *python.Index:
		parts = []python.Expr{x.X}
	case *python.Star:
		parts = []python.Expr{x.X}
	}
	for _, p := range parts {
		if m := missingIn(p); m != "" {
			return m
		}
	}
	return ""
}

func registered(names []string) bool {
	for _, n := range names {
		if len(tensor.Overloads(n)) > 0 || tensor.LookupOp(n) != nil {
			return true
		}
	}
	return false
}

// target gives the registry names of a call in a lambda: a dotted torch name, or a method.
func target(c *python.Call) []string {
	a, ok := c.Func.(*python.Attr)
	if !ok {
		return []string{"?"}
	}
	if d := dotted(a); strings.HasPrefix(d, "torch.") {
		return registryNames(d)
	}
	return registryNames("torch.Tensor." + a.Name)
}

func dotted(e python.Expr) string {
	switch x := e.(type) {
	case *python.Name:
		return x.Name
	case *python.Attr:
		if d := dotted(x.X); d != "" {
			return d + "." + x.Name
		}
	}
	return ""
}

func (c *callable) run(args []any, kwargs map[string]any) (any, error) {
	if c.lambda == nil {
		return call(c.names, args, kwargs)
	}
	env := map[string]any{}
	used := 0
	for _, p := range c.lambda.Params {
		switch v, given := kwargs[p.Name]; {
		case p.Star == 1:
			env[p.Name] = golden.Tuple(args[used:])
			used = len(args)
		case p.Star == 2:
			env[p.Name] = kwargs
		case used < len(args):
			env[p.Name] = args[used]
			used++
		case given:
			env[p.Name] = v
			delete(kwargs, p.Name)
		case p.Default != nil:
			v, err := eval(p.Default, nil)
			if err != nil {
				return nil, err
			}
			env[p.Name] = v
		}
	}
	return eval(c.lambda.Body, env)
}

// eval computes an expression of a lambda.
func eval(e python.Expr, env map[string]any) (any, error) {
	switch x := e.(type) {
	case *python.Name:
		v, ok := env[x.Name]
		if !ok {
			return nil, fmt.Errorf("no value for %s", x.Name)
		}
		return v, nil
	case *python.Const:
		if n, ok := x.Value.(int64); ok {
			return int(n), nil
		}
		return x.Value, nil
	case *python.Attr: // an attribute such as mT
		v, err := eval(x.X, env)
		if err != nil {
			return nil, err
		}
		return call(registryNames("torch.Tensor."+x.Name), []any{v}, nil)
	case *python.Bool:
		v, err := eval(x.L, env)
		if err != nil || x.Op == "or" && v != nil { // a or b, where a may be None
			return v, err
		}
		return eval(x.R, env)
	case *python.Binary:
		a, err := eval(x.L, env)
		if err != nil {
			return nil, err
		}
		b, err := eval(x.R, env)
		if err != nil {
			return nil, err
		}
		name, ok := binaryNames[x.Op]
		if !ok {
			return nil, fmt.Errorf("cannot compute %s", x.Op)
		}
		return call([]string{name}, []any{a, b}, nil)
	case *python.Index:
		return evalIndex(x, env)
	case *python.Call:
		return evalCall(x, env)
	}
	return nil, fmt.Errorf("cannot evaluate %T", e)
}

var binaryNames = map[string]string{"@": "aten::matmul", "+": "aten::add", "-": "aten::sub", "*": "aten::mul",
	"/": "aten::div"}

// evalIndex takes one of several results, or the first ones.
func evalIndex(x *python.Index, env map[string]any) (any, error) {
	v, err := eval(x.X, env)
	if err != nil {
		return nil, err
	}
	l, ok := v.(golden.Tuple)
	if !ok || len(x.Subs) != 1 {
		return nil, fmt.Errorf("cannot index %T", v)
	}
	at, part := x.Subs[0], false
	if s, ok := at.(*python.Slice); ok && s.Lo == nil && s.Step == nil && s.Hi != nil {
		at, part = s.Hi, true
	}
	i, err := eval(at, env)
	if err != nil {
		return nil, err
	}
	switch n, ok := i.(int); {
	case ok && part && n >= 0 && n <= len(l):
		return l[:n], nil
	case ok && !part && n >= 0 && n < len(l):
		return l[n], nil
	}
	return nil, fmt.Errorf("no result %v of %d", i, len(l))
}

func evalCall(x *python.Call, env map[string]any) (any, error) {
	var args []any
	kw := map[string]any{}
	if a, ok := x.Func.(*python.Attr); ok && !strings.HasPrefix(dotted(a), "torch.") {
		v, err := eval(a.X, env)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	for _, a := range x.Args {
		star, spread := a.(*python.Star)
		if spread {
			a = star.X
		}
		v, err := eval(a, env)
		if err != nil {
			return nil, err
		}
		if l, ok := v.(golden.Tuple); ok && spread {
			args = append(args, l...)
			continue
		}
		args = append(args, v)
	}
	for _, k := range x.Kwargs {
		v, err := eval(k.Value, env)
		if err != nil {
			return nil, err
		}
		if m, ok := v.(map[string]any); ok && k.Name == "" {
			for name, v := range m {
				kw[name] = v
			}
			continue
		}
		kw[k.Name] = v
	}
	return call(target(x), args, kw)
}

func call(names []string, args []any, kwargs map[string]any) (any, error) {
	vals := make([]tensor.Value, len(args))
	for i, a := range args {
		vals[i] = box(a)
		if strings.HasSuffix(names[0], "::__getitem__") && i == 1 {
			vals[i] = tensor.AnyValue(index(a))
		}
	}
	kw := map[string]tensor.Value{}
	for k, a := range kwargs {
		kw[k] = box(a)
	}
	res, err := tensor.ResolveCall(names, vals, kw)
	if err != nil {
		return nil, err
	}
	if len(res) == 1 {
		return unbox(res[0]), nil
	}
	out := golden.Tuple{}
	for _, r := range res {
		out = append(out, unbox(r))
	}
	return out, nil
}

// index turns a Python index into a Go one; unlike elsewhere tuples and lists differ.
func index(a any) any {
	var l []any
	switch x := a.(type) {
	case golden.Tuple:
		for _, e := range x {
			l = append(l, index(e))
		}
		return tensor.TupleIndex(l)
	case golden.List:
		for _, e := range x {
			l = append(l, index(e))
		}
		return l
	case golden.Slice:
		return tensor.SliceIndex{Start: x.Start, Stop: x.Stop, Step: x.Step}
	case golden.Ellipsis:
		return tensor.EllipsisIndex{}
	}
	return a
}

// box turns a decoded value into a boxed argument.
func box(a any) tensor.Value {
	switch x := a.(type) {
	case golden.List:
		return boxList(x, a)
	case golden.Tuple:
		return boxList(x, a)
	case golden.Slice:
		return tensor.AnyValue(tensor.SliceIndex{Start: x.Start, Stop: x.Stop, Step: x.Step})
	case golden.Ellipsis:
		return tensor.AnyValue(tensor.EllipsisIndex{})
	case golden.Layout:
		for _, l := range []tensor.Layout{tensor.SparseCOO, tensor.SparseCSR} {
			if string(x) == l.String() {
				return tensor.AnyValue(l)
			}
		}
		return tensor.Value{}
	case golden.Func:
		return tensor.AnyValue(x)
	case *tensor.Generator:
		return tensor.GeneratorValue(x)
	}
	return tensor.Box(a)
}

func boxList(l []any, whole any) tensor.Value {
	var ts []*tensor.Tensor
	var is []int
	var fs []float64
	var bs []bool
	var ss []string
	for _, e := range l {
		switch x := e.(type) {
		case *tensor.Tensor:
			ts = append(ts, x)
		case nil:
			ts, ss = append(ts, nil), append(ss, "")
		case string:
			ss = append(ss, x)
		case golden.Ellipsis:
			ss = append(ss, tensor.Ellipsis)
		case int:
			is = append(is, x)
			fs = append(fs, float64(x))
		case float64:
			fs = append(fs, x)
		case bool:
			bs = append(bs, x)
		}
	}
	switch n := len(l); {
	case n == 0:
		return tensor.IntsValue([]int{})
	case len(is) == n:
		return tensor.IntsValue(is)
	case len(fs) == n:
		return tensor.FloatsValue(fs)
	case len(bs) == n:
		return tensor.BoolsValue(bs)
	case len(ts) == n:
		return tensor.TensorsValue(ts)
	case len(ss) == n:
		return tensor.StrsValue(ss)
	}
	// nested lists and mixtures: each element boxed
	vs := make([]tensor.Value, len(l))
	for i, e := range l {
		vs[i] = box(e)
	}
	return tensor.AnyValue(vs)
}

func unbox(v tensor.Value) any {
	switch v.K {
	case tensor.KNone:
		return nil
	case tensor.KTensor:
		return v.T
	case tensor.KTensors:
		out := golden.List{}
		for _, t := range v.X.([]*tensor.Tensor) {
			out = append(out, t)
		}
		return out
	case tensor.KInt:
		return int(v.N)
	case tensor.KBool:
		return v.N != 0
	case tensor.KFloat:
		return v.Float()
	case tensor.KStrs:
		out := golden.Tuple{}
		for _, s := range v.X.([]string) {
			if s == "" {
				out = append(out, nil)
			} else {
				out = append(out, s)
			}
		}
		return out
	case tensor.KInts:
		out := golden.List{}
		for _, i := range v.Ints() {
			out = append(out, i)
		}
		return out
	case tensor.KDType:
		return tensor.DType(v.N)
	case tensor.KAny:
		if l, ok := v.X.([]tensor.Value); ok {
			out := golden.List{}
			for _, e := range l {
				out = append(out, unbox(e))
			}
			return out
		}
	}
	return v.X
}
