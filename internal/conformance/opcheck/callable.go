package opcheck

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/tensor"
)

// callable is the Python function of a record: a dotted name, or a lambda whose body is made of calls.
type callable struct {
	names  []string // registry names of a dotted name
	params []string // of a lambda
	kwName string
	body   ast.Expr
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
		"kernel_size, stride || kernel_size, padding, dilation, ceil_mode, " +
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
	rest, ok := strings.CutPrefix(s, "lambda ")
	if !ok {
		return &callable{names: registryNames(s)}, nil
	}
	params, body, ok := strings.Cut(rest, ": ")
	if !ok {
		return nil, fmt.Errorf("cannot read callable %q", s)
	}
	c := &callable{}
	for _, p := range strings.Split(params, ", ") {
		if kw, ok := strings.CutPrefix(p, "**"); ok {
			c.kwName = kw
		} else {
			c.params = append(c.params, p)
		}
	}
	// Python's expression, spelled so that Go's parser reads it: k=v becomes k==v, @ becomes *, **kw becomes the
	// argument kw
	body = strings.ReplaceAll(body, "**"+c.kwName, c.kwName)
	var b strings.Builder
	for i := 0; i < len(body); i++ {
		switch {
		case body[i] == '=':
			b.WriteString("==")
		case body[i] == '@':
			b.WriteByte('*')
		default:
			b.WriteByte(body[i])
		}
	}
	e, err := parser.ParseExpr(b.String())
	if err != nil {
		return nil, fmt.Errorf("cannot read callable %q", s)
	}
	c.body = e
	return c, nil
}

// missing names the first function that no overload is registered for.
func (c *callable) missing() string {
	if c.body == nil {
		if !registered(c.names) {
			return c.names[0]
		}
		return ""
	}
	out := ""
	ast.Inspect(c.body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && out == "" {
			if names := c.target(call); !registered(names) {
				out = names[0]
			}
		}
		return true
	})
	return out
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
func (c *callable) target(call *ast.CallExpr) []string {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return []string{"?"}
	}
	if d := dotted(sel); strings.HasPrefix(d, "torch.") {
		return registryNames(d)
	}
	return registryNames("torch.Tensor." + sel.Sel.Name)
}

func dotted(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		if d := dotted(x.X); d != "" {
			return d + "." + x.Sel.Name
		}
	}
	return ""
}

func (c *callable) run(args []any, kwargs map[string]any) (any, error) {
	if c.body == nil {
		return call(c.names, args, kwargs)
	}
	env := map[string]any{}
	for i, p := range c.params {
		if i < len(args) {
			env[p] = args[i]
		} else if v, ok := kwargs[p]; ok {
			env[p] = v
			delete(kwargs, p)
		}
	}
	return c.eval(c.body, env, kwargs)
}

func (c *callable) eval(e ast.Expr, env, kwargs map[string]any) (any, error) {
	switch x := e.(type) {
	case *ast.Ident:
		v, ok := env[x.Name]
		if !ok {
			return nil, fmt.Errorf("no value for %s", x.Name)
		}
		return v, nil
	case *ast.BasicLit:
		if x.Kind == token.INT {
			return strconv.Atoi(x.Value)
		}
		return strconv.Unquote(x.Value)
	case *ast.ParenExpr:
		return c.eval(x.X, env, kwargs)
	case *ast.SelectorExpr: // an attribute such as mT
		v, err := c.eval(x.X, env, kwargs)
		if err != nil {
			return nil, err
		}
		return call(registryNames("torch.Tensor."+x.Sel.Name), []any{v}, nil)
	case *ast.BinaryExpr:
		a, err := c.eval(x.X, env, kwargs)
		if err != nil || x.Op == token.LOR && a != nil { // Python's a or b, where a may be None
			return a, err
		}
		b, err := c.eval(x.Y, env, kwargs)
		if err != nil || x.Op == token.LOR {
			return b, err
		}
		return call([]string{"aten::matmul"}, []any{a, b}, nil)
	case *ast.SliceExpr:
		v, err := c.eval(x.X, env, kwargs)
		if err != nil {
			return nil, err
		}
		n, err := c.eval(x.High, env, kwargs)
		if err != nil {
			return nil, err
		}
		l, _ := v.(golden.Tuple)
		return l[:n.(int)], nil
	case *ast.IndexExpr: // one of several results
		v, err := c.eval(x.X, env, kwargs)
		if err != nil {
			return nil, err
		}
		i, err := c.eval(x.Index, env, kwargs)
		if err != nil {
			return nil, err
		}
		l, _ := v.(golden.Tuple)
		if n, ok := i.(int); ok && n < len(l) {
			return l[n], nil
		}
		return nil, fmt.Errorf("no result %v of %T", i, v)
	case *ast.CallExpr:
		var args []any
		kw := map[string]any{}
		if sel := x.Fun.(*ast.SelectorExpr); !strings.HasPrefix(dotted(sel), "torch.") {
			v, err := c.eval(sel.X, env, kwargs)
			if err != nil {
				return nil, err
			}
			args = append(args, v)
		}
		for _, a := range x.Args {
			if id, ok := a.(*ast.Ident); ok && id.Name == c.kwName {
				for k, v := range kwargs {
					kw[k] = v
				}
				continue
			}
			if b, ok := a.(*ast.BinaryExpr); ok && b.Op == token.EQL {
				v, err := c.eval(b.Y, env, kwargs)
				if err != nil {
					return nil, err
				}
				kw[b.X.(*ast.Ident).Name] = v
				continue
			}
			v, err := c.eval(a, env, kwargs)
			if err != nil {
				return nil, err
			}
			args = append(args, v)
		}
		return call(c.target(x), args, kw)
	}
	return nil, fmt.Errorf("cannot evaluate %T", e)
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
