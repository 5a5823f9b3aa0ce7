package graph

import (
	"fmt"

	"github.com/gotorch-dev/torch/tensor"
)

// Call calls the operator once, outside of a program, as a node with these arguments would: missing arguments get their
// defaults, lists may be a [List]. It returns one value for each result. A helper does not look at the elements of a
// list that it only moves, so that these may be boxed values of the caller's own.
func (o *Operator) Call(args ...tensor.Value) (res []tensor.Value, err error) {
	name := o.FullName()
	if len(args) > len(o.Params) && !o.VarArgs {
		return nil, &tensor.Error{Op: name, Err: tensor.ErrType,
			Msg: fmt.Sprintf("takes %d arguments, got %d", len(o.Params), len(args))}
	}
	all := append([]tensor.Value(nil), args...)
	for _, p := range o.Params[min(len(args), len(o.Params)):] {
		if p.Default == nil {
			return nil, &tensor.Error{Op: name, Err: tensor.ErrType, Msg: "argument " + p.Name + " is missing"}
		}
		all = append(all, *p.Default)
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *tensor.Error:
			res, err = nil, r
		case interface {
			error
			RuntimeError()
		}: // a helper that was given a value of another type than its schema says
			res, err = nil, &tensor.Error{Op: name, Err: tensor.ErrType, Msg: r.Error()}
		default:
			panic(r)
		}
	}()
	if o.op != nil {
		c := tensor.NewCall(o.op, len(all))
		for i := range all {
			p := &o.op.Sch.Params[i]
			*c.Arg(i) = convert(all[i], &argument{kind: p.Kind, fixed: p.Fixed})
		}
		for _, v := range c.DoAll() {
			res = append(res, Normal(v))
		}
		return res, nil
	}
	v := o.fn(all)
	switch len(o.Results) {
	case 0:
		return nil, nil
	case 1:
		return []tensor.Value{v}, nil
	}
	items, ok := ItemsOf(v)
	if !ok || len(items) != len(o.Results) {
		return nil, &tensor.Error{Op: name, Err: tensor.ErrType,
			Msg: fmt.Sprintf("gives %s, not %d results", describe(v), len(o.Results))}
	}
	return items, nil
}
