// Package namedcheck compares tensors with named dimensions with recorded results of PyTorch 1.13.
package namedcheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/opcheck"
	"github.com/gotorch-dev/torch/tensor"
)

type record struct {
	Expr        string
	Tree        json.RawMessage
	Inputs      map[string]json.RawMessage
	Out         json.RawMessage
	Error       *struct{ Type, Message string }
	Unsupported bool
}

// Run compares the cases of a directory; only matches expressions.
func Run(dir string, only *regexp.Regexp, verbose func(string, ...any)) ([]golden.Result, error) {
	var f struct{ Cases []record }
	if err := golden.ReadJSON(filepath.Join(dir, "index.json"), &f); err != nil {
		return nil, err
	}
	dec, err := golden.NewDecoder(filepath.Join(dir, "named.npz"))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	t := &golden.Tally{Verbose: verbose}
	for i := range f.Cases {
		r := &f.Cases[i]
		if only != nil && !only.MatchString(r.Expr) {
			continue
		}
		dec.Reset()
		t.Add(r.Expr, strconv.Itoa(i), r.check(dec))
	}
	return t.Results(), nil
}

// names are those that an encoded tensor has, nil where it has none.
func names(raw json.RawMessage) []string {
	var e struct{ Names []*string }
	if json.Unmarshal(raw, &e) != nil || e.Names == nil {
		return nil
	}
	out := make([]string, len(e.Names))
	for i, n := range e.Names {
		if n != nil {
			out[i] = *n
		}
	}
	return out
}

func (r *record) check(dec *golden.Decoder) error {
	env := map[string]any{}
	for _, k := range slices.Sorted(maps.Keys(r.Inputs)) {
		v, err := dec.Decode(r.Inputs[k])
		if err != nil {
			return err
		}
		if t, ok := v.(*tensor.Tensor); ok {
			if n := names(r.Inputs[k]); n != nil {
				t.RenameInPlace(n...)
			}
		}
		env[k] = v
	}
	var got any
	var err error
	if e := tensor.Try(func() { got, err = eval(r.Tree, env) }); e != nil {
		err = e
	}
	var skip golden.Skip
	if errors.As(err, &skip) {
		return err
	}
	if err != nil { // a mistake in the arguments is an Error, nothing else
		if e := (*tensor.Error)(nil); !errors.As(err, &e) {
			return err
		}
	}
	if r.Error != nil {
		switch {
		case r.Unsupported: // PyTorch has no form with names; whatever an implementation makes of it is right
			return nil
		case err == nil:
			return fmt.Errorf("no error, want %q", r.Error.Message)
		case !strings.Contains(err.Error(), r.Error.Message):
			return fmt.Errorf("error %q, want %q", err, r.Error.Message)
		}
		return nil
	}
	if err != nil {
		return err
	}
	want, err := dec.Decode(r.Out)
	if err != nil {
		return err
	}
	return same(got, want, r.Out)
}

// same compares a result with the recorded one, names included.
func same(got, want any, raw json.RawMessage) error {
	switch w := want.(type) {
	case *tensor.Tensor:
		g, ok := got.(*tensor.Tensor)
		if !ok {
			return fmt.Errorf("a %T, want a tensor", got)
		}
		n := names(raw)
		if n == nil {
			n = make([]string, w.Dim())
		}
		if !slices.Equal(g.Names(), n) {
			return fmt.Errorf("names %v, want %v", tensor.NamesString(g.Names()), tensor.NamesString(n))
		}
		if why := golden.Close(g.RenameNone(), w, golden.ToleranceOf(w.DType())); why != "" {
			return errors.New(why)
		}
		return nil
	case golden.Tuple:
		return sameAll(got, w, raw, "u")
	case golden.List:
		return sameAll(got, w, raw, "l")
	}
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		return fmt.Errorf("%s, want %s", g, w)
	}
	return nil
}

func sameAll(got any, want []any, raw json.RawMessage, key string) error {
	var l []any
	switch g := got.(type) {
	case golden.Tuple:
		l = g
	case golden.List:
		l = g
	}
	var parts map[string][]json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	if len(l) != len(want) {
		return fmt.Errorf("%d results of type %T, want %d", len(l), got, len(want))
	}
	for i := range want {
		if err := same(l[i], want[i], parts[key][i]); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

// module is torch or one of its modules.
type module string

// node is a step of an expression.
type node struct {
	Var    string
	K      json.RawMessage
	Tuple  []json.RawMessage
	List   []json.RawMessage
	Slice  []json.RawMessage
	Call   string
	On     json.RawMessage
	Args   []json.RawMessage
	Kwargs [][2]json.RawMessage
	Attr   string
	Of     json.RawMessage
	Index  json.RawMessage
	Op     string
	L, R   json.RawMessage
}

// operators are Python's methods for its operators, by the names of its syntax tree.
var operators = map[string]string{"Add": "__add__", "Sub": "__sub__", "Mult": "__mul__", "Div": "__truediv__",
	"MatMult": "__matmul__", "Pow": "__pow__", "Gt": "__gt__", "Lt": "__lt__", "Eq": "__eq__", "USub": "__neg__"}

// plainNames are operators of aten under which methods for Python's operators are registered otherwise.
var plainNames = map[string]string{"__add__": "add", "__sub__": "sub", "__mul__": "mul", "__truediv__": "div",
	"__pow__": "pow", "__gt__": "gt", "__lt__": "lt", "__eq__": "eq"}

func eval(raw json.RawMessage, env map[string]any) (any, error) {
	if string(raw) == `"..."` {
		return golden.Ellipsis{}, nil
	}
	var has map[string]json.RawMessage
	var n node
	if err := json.Unmarshal(raw, &has); err != nil {
		return nil, fmt.Errorf("namedcheck: %w in %.80s", err, raw)
	}
	if err := json.Unmarshal(raw, &n); err != nil {
		return nil, fmt.Errorf("namedcheck: %w in %.80s", err, raw)
	}
	switch {
	case n.Var == "torch":
		return module("torch"), nil
	case n.Var != "":
		return env[n.Var], nil
	case has["k"] != nil:
		return constant(n.K)
	case has["tuple"] != nil:
		l, err := evalAll(n.Tuple, env)
		return golden.Tuple(l), err
	case has["list"] != nil:
		l, err := evalAll(n.List, env)
		return golden.List(l), err
	case has["slice"] != nil:
		var s [3]any
		for i := range min(len(n.Slice), 3) {
			if string(n.Slice[i]) == "null" {
				continue
			}
			v, err := eval(n.Slice[i], env)
			if err != nil {
				return nil, err
			}
			s[i] = v
		}
		return golden.Slice{Start: s[0], Stop: s[1], Step: s[2]}, nil
	case n.Attr != "":
		of, err := eval(n.Of, env)
		if m, ok := of.(module); ok {
			return m + module("."+n.Attr), nil
		}
		if err != nil {
			return nil, err
		}
		return opcheck.Call(opcheck.Names("torch.Tensor."+n.Attr), []any{of}, nil)
	case has["index"] != nil:
		l, err := evalAll([]json.RawMessage{n.Of, n.Index}, env)
		if err != nil {
			return nil, err
		}
		return opcheck.Call(opcheck.Names("torch.Tensor.__getitem__"), l, nil)
	case n.Op != "":
		method, ok := operators[n.Op]
		if !ok {
			return nil, golden.Skip("no operator " + n.Op)
		}
		operands := []json.RawMessage{n.L}
		if has["r"] != nil {
			operands = append(operands, n.R)
		}
		l, err := evalAll(operands, env)
		if err != nil {
			return nil, err
		}
		switch x := l[0].(type) { // Python computes with numbers itself
		case int:
			if len(l) == 1 {
				return -x, nil
			}
		case float64:
			if len(l) == 1 {
				return -x, nil
			}
		}
		if name := opcheck.Names("torch.Tensor." + method); opcheck.Exists(name) {
			return opcheck.Call(name, l, nil)
		}
		return opcheck.Call(opcheck.Names("torch.Tensor."+plainNames[method]), l, nil)
	case n.Call != "":
		return n.call(env)
	}
	return nil, fmt.Errorf("namedcheck: unknown step %.80s", raw)
}

func evalAll(l []json.RawMessage, env map[string]any) ([]any, error) {
	out := make([]any, len(l))
	for i := range l {
		var err error
		if out[i], err = eval(l[i], env); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// constant reads a number, a text, a truth value or None.
func constant(raw json.RawMessage) (any, error) {
	if i, err := strconv.Atoi(string(raw)); err == nil {
		return i, nil
	}
	var v any // JSON's numbers become float64
	err := json.Unmarshal(raw, &v)
	return v, err
}

// call calls a function of torch, a method, or one of Python's own functions.
func (n *node) call(env map[string]any) (any, error) {
	args, err := evalAll(n.Args, env)
	if err != nil {
		return nil, err
	}
	for i := range args {
		if _, ok := args[i].(golden.Ellipsis); ok {
			args[i] = tensor.Ellipsis
		}
	}
	kwargs := map[string]any{}
	for _, k := range n.Kwargs {
		var name string
		if err := json.Unmarshal(k[0], &name); err != nil {
			return nil, err
		}
		if kwargs[name], err = eval(k[1], env); err != nil {
			return nil, err
		}
	}
	if len(n.On) == 0 || string(n.On) == "null" {
		switch n.Call {
		case "str", "repr":
			return fmt.Sprint(args[0]), nil
		case "OD": // an ordered dict, as the list of its pairs
			return args[0], nil
		}
		return nil, golden.Skip("no function " + n.Call)
	}
	on, err := eval(n.On, env)
	if err != nil {
		return nil, err
	}
	var found []string
	if m, ok := on.(module); ok && n.Call == "tensor" { // a tensor of Python's numbers
		return literal(args, kwargs)
	} else if ok {
		found = opcheck.Names(string(m) + "." + n.Call)
	} else {
		found = opcheck.Names("torch.Tensor." + n.Call)
		args = append([]any{on}, args...)
	}
	if !opcheck.Exists(found) {
		return nil, golden.Skip("no operator " + found[len(found)-1])
	}
	return opcheck.Call(found, args, restOf(found, kwargs))
}

// literal is a tensor of nested lists of numbers.
func literal(args []any, kwargs map[string]any) (any, error) {
	var shape []int
	var data []float32
	var walk func(v any, depth int) error
	walk = func(v any, depth int) error {
		l, ok := v.(golden.List)
		if !ok {
			f, isNumber := v.(float64)
			if !isNumber {
				return golden.Skip(fmt.Sprintf("torch.tensor of a %T", v))
			}
			data = append(data, float32(f))
			return nil
		}
		if depth == len(shape) {
			shape = append(shape, len(l))
		}
		for _, e := range l {
			if err := walk(e, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(args[0], 0); err != nil {
		return nil, err
	}
	t := tensor.FromSlice(data, shape...)
	if names, ok := kwargs["names"]; ok {
		return opcheck.Call(opcheck.Names("torch.Tensor.rename_"), []any{t, names}, nil)
	}
	return t, nil
}

// restOf packs the keywords that no parameter has into a map, for functions that take any.
func restOf(found []string, kwargs map[string]any) map[string]any {
	for _, full := range found {
		for _, o := range tensor.Overloads(full) {
			if o.Sch.Index("rename_map") < 0 {
				continue
			}
			m := map[string]string{}
			for k, v := range kwargs {
				if s, ok := v.(string); ok && o.Sch.Index(k) < 0 {
					m[k] = s
				}
			}
			if len(m) > 0 {
				return map[string]any{"rename_map": m}
			}
		}
	}
	return kwargs
}
