package export

import (
	"fmt"
	"strconv"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/tensor"
)

// Decomposed programs call an operator that writes its arguments by auto_functionalized: it clones what is written,
// calls the operator on the clones, and returns the operator's results and then the clones.
// (torch/_higher_order_ops/auto_functionalize.py)

// keywords are the arguments behind the operator's name, by their names.
func (o *operands) keywords() map[string]*namedArgument {
	out := map[string]*namedArgument{}
	for i := o.i; i < len(o.n.Inputs); i++ {
		out[o.n.Inputs[i].Name] = &o.n.Inputs[i]
	}
	return out
}

// mutable reads the name of the operator that is called.
func (t *translator) mutable(o *operands) (op string, schema *graph.Operator, err error) {
	if op = o.operator(); o.err != nil {
		return "", nil, o.err
	}
	if schema = graph.Lookup(op); schema == nil {
		return "", nil, &graph.MissingError{Ops: []string{op}}
	}
	return op, schema, nil
}

// clone is a copy of a tensor, or of the tensors of a list. None stays.
func clone(b *graph.Block, v *graph.Value) *graph.Value {
	if v.Node != nil && v.Node.Op == graph.Constant && v.Node.Const.K == tensor.KNone {
		return v
	}
	if v.Node != nil && v.Node.Op == graph.ListConstruct {
		items := make([]*graph.Value, len(v.Node.In))
		for i, e := range v.Node.In {
			items[i] = clone(b, e)
		}
		return b.List(graph.Tensor, items...)
	}
	return b.Call1("aten::clone", v)
}

// auto_functionalized(operator, arguments by name…)
func (t *translator) functionalized(o *operands) ([]*graph.Value, error) {
	op, schema, err := t.mutable(o)
	if err != nil {
		return nil, err
	}
	given, args := o.keywords(), make([]any, len(schema.Params))
	var clones []*graph.Value
	for i := range schema.Params {
		p := &schema.Params[i]
		v, err := t.operand(o, given, p)
		if err != nil {
			return nil, err
		}
		if p.Writes() {
			v = clone(o.b, v)
			clones = append(clones, v)
		}
		args[i] = v
	}
	return t.functional(o, op, args, clones), nil
}

// operand is the argument for a parameter, or its default.
func (t *translator) operand(o *operands, given map[string]*namedArgument, p *graph.Param) (*graph.Value, error) {
	a := given[p.Name]
	if a == nil && p.Default != nil {
		return o.b.ConstOf(*p.Default, p.Type), nil
	}
	if a == nil {
		return nil, fmt.Errorf("%w: missing argument '%s'", ErrFormat, p.Name)
	}
	return t.value(o.b, o.s, &a.Arg, p.Type)
}

// functional calls the operator. Where it has no results, the first one is None.
func (t *translator) functional(o *operands, op string, args []any, clones []*graph.Value) []*graph.Value {
	out := join(o.b.Call(op, args...).Out)
	if len(out) == 0 {
		out = []*graph.Value{o.b.Const(nil)}
	}
	return append(out, clones...)
}

// auto_functionalized_v2(operator, arguments by name…, _all_bases=[…]): what is written is a base, or a view of one
// that _NAME_base_index and its like describe.
func (t *translator) functionalizedV2(o *operands) ([]*graph.Value, error) {
	op, schema, err := t.mutable(o)
	if err != nil {
		return nil, err
	}
	given := o.keywords()
	var bases []*graph.Value
	if a := given["_all_bases"]; a != nil {
		list := &operands{t: t, b: o.b, s: o.s, n: &nodeJSON{Inputs: []namedArgument{*a}}}
		l := list.list()
		if list.err != nil {
			return nil, list.err
		}
		for _, v := range l {
			bases = append(bases, clone(o.b, v))
		}
	}
	args := make([]any, len(schema.Params))
	for i := range schema.Params {
		p := &schema.Params[i]
		var v *graph.Value
		var err error
		length, isList := given["_"+p.Name+"_length"]
		switch {
		case !p.Writes():
			v, err = t.operand(o, given, p)
		case isList:
			v, err = t.views(o, given, "_"+p.Name, length, bases)
		default:
			v, err = t.view(o, given, "_"+p.Name, bases)
		}
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	return t.functional(o, op, args, bases), nil
}

// views are the views of a list.
func (t *translator) views(o *operands, given map[string]*namedArgument, prefix string, length *namedArgument,
	bases []*graph.Value) (*graph.Value, error) {
	n, _, err := length.Arg.constant()
	if err != nil {
		return nil, err
	}
	if n.K != tensor.KInt {
		return o.b.Const(nil), nil
	}
	if n.N < 0 || n.N > int64(len(given)) {
		return nil, fmt.Errorf("%w: %s of length %d", ErrFormat, prefix, n.N)
	}
	items := make([]*graph.Value, n.N)
	for i := range items {
		if items[i], err = t.view(o, given, prefix+"_"+strconv.Itoa(i), bases); err != nil {
			return nil, err
		}
	}
	return o.b.List(graph.Tensor, items...), nil
}

// view is one view of a base.
func (t *translator) view(o *operands, given map[string]*namedArgument, prefix string, bases []*graph.Value) (
	*graph.Value, error) {
	a := given[prefix+"_base_index"]
	if a == nil {
		return nil, fmt.Errorf("%w: missing argument '%s_base_index'", ErrFormat, prefix)
	}
	k, named, err := a.Arg.constant()
	if err != nil {
		return nil, err
	}
	if k.K == tensor.KNone {
		return o.b.Const(nil), nil
	}
	if named != nil || k.K != tensor.KInt || k.N < 0 || k.N >= int64(len(bases)) {
		return nil, fmt.Errorf("%w: %s_base_index names none of %d bases", ErrFormat, prefix, len(bases))
	}
	call := func(op string, names ...string) (*graph.Value, error) {
		args := []any{bases[k.N]}
		for i, name := range names {
			a := given[prefix+name]
			if a == nil {
				return nil, fmt.Errorf("%w: missing argument '%s'", ErrFormat, prefix+name)
			}
			v, err := t.value(o.b, o.s, &a.Arg, graph.Lookup(op).Params[i+1].Type)
			if err != nil {
				return nil, err
			}
			args = append(args, v)
		}
		return o.b.Call1(op, args...), nil
	}
	switch {
	case given[prefix+"_alias"] != nil:
		return call("aten::alias")
	case given[prefix+"_storage_offset"] != nil:
		return call("aten::as_strided", "_size", "_stride", "_storage_offset")
	case given[prefix+"_slice_dim"] != nil:
		return call("aten::slice.Tensor", "_slice_dim", "_slice_start", "_slice_end")
	}
	return bases[k.N], nil
}
