package onnx

import (
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/tensor"
)

// ONNX has no writes: a tensor that is written becomes another value of the file. A sym is the tensor, its value
// changes. What shows a part of another tensor is computed anew when it is read after a write to that tensor, and a
// write to the part is a write to the whole.

// read is the present value of a tensor.
func (x *exporter) read(s *sym) *onnxform.Value {
	x.fresher(s)
	if s.v.Name == "" && s.v.Const == nil {
		stop("a result is used that ONNX does not have")
	}
	return s.v
}

// fresher brings a view up to date with what it shows.
func (x *exporter) fresher(s *sym) {
	if s.base == nil {
		return
	}
	x.fresher(s.base)
	if s.seen == s.base.version {
		return
	}
	args := slices.Clone(s.view.args)
	args[x.baseArg(s)] = graph.Box(s.base)
	base, v := s.base, s.view
	res := x.functional(v.op, args)
	got := res[0]
	if l, ok := got.X.(*graph.List); ok {
		got = l.Items[v.which]
	} else {
		got = res[v.which]
	}
	n, ok := got.X.(*sym)
	if !ok {
		stop("%s gave no tensor", v.op.FullName())
	}
	x.remember(s)
	s.v, s.seen, s.version = n.v, base.version, s.version+1
}

func (x *exporter) baseArg(s *sym) int {
	for i, a := range s.view.args {
		if a.X == any(s.base) {
			return i
		}
	}
	return 0
}

// remember keeps what a tensor was before the present block changed it.
func (x *exporter) remember(s *sym) {
	home := x.root
	if s.block != nil {
		home = s.block.home()
	}
	for b := x.block.home(); b != nil && b != home && b != x.root; b = b.parent.home() {
		if _, ok := b.undo[s]; !ok {
			b.undo[s] = *s
		}
	}
}

// write gives a tensor a new value of the same shape.
func (x *exporter) write(s *sym, v *onnxform.Value) {
	if v.Param || v.Const != nil { // the value is the tensor's own from now on
		c := *v
		v = &c
	}
	if s.v.Param {
		x.Warn("the program changes " + x.p.state[s.v.Const] +
			": the file computes with the new value, and does not keep " +
			"it from one run to the next")
	}
	x.remember(s)
	known := s.v
	s.v = v
	s.v.Known, s.v.Shape = known.Known, known.Shape
	s.version++
	if s.base != nil {
		x.writeBack(s)
		s.seen = s.base.version
	}
}

// inPlace exports an operator that writes argument i.
func (x *exporter) inPlace(op *graph.Operator, i int, in []tensor.Value) []tensor.Value {
	target, ok := in[i].X.(*sym)
	if !ok {
		panic(onnxform.Failure{Err: x.failed(op.FullName(), errUnknown)})
	}
	base, overload, _ := strings.Cut(op.FullName(), ".")
	if !strings.HasSuffix(base, "_") || i != 0 {
		x.lacks(op.FullName())
		return in[i : i+1]
	}
	x.fresher(target)
	name := strings.TrimSuffix(base, "_")
	if overload != "" {
		name += "." + overload
	}
	var got *sym
	switch name {
	case "aten::copy":
		got = x.lift(in[1])
		x.read(got)
	case "aten::zero":
		got = x.lift(tensor.FloatValue(0))
	case "aten::fill.Scalar", "aten::fill.Tensor":
		got = x.lift(in[1])
		x.read(got)
	case "aten::requires_grad", "aten::detach":
		return in[:1]
	default:
		f := graph.Lookup(name)
		if f == nil {
			x.lacks(op.FullName())
			return in[:1]
		}
		res := x.functional(f, in[:min(len(in), len(f.Params))])
		got, ok = res[0].X.(*sym)
		if !ok {
			x.lacks(op.FullName())
			return in[:1]
		}
	}
	c := &onnxform.Call{Writer: x, Op: op.FullName(), Opset: x.opt.Opset}
	err := x.try(func() {
		v := c.Cast(got.v, target.v.DType)
		if !sameShape(got.v, target.v) {
			v = c.Expand(v, c.ShapeOf(target.v)).Typed(target.v.DType)
		}
		x.write(target, v)
	})
	if err != nil {
		x.cause(x.failed(op.FullName(), err))
	}
	return in[:1]
}

func sameShape(a, b *onnxform.Value) bool {
	return a.Static() && b.Static() && slices.Equal(a.Shape, b.Shape) || a.Known && b.Known && len(a.Shape) ==
		len(b.Shape) && slices.Equal(a.Shape, b.Shape) && !slices.Contains(a.Shape, 1)
}

// writeBack writes what a view shows into the tensor that it is a view of.
func (x *exporter) writeBack(s *sym) {
	base, v := s.base, s.view
	c := &onnxform.Call{Writer: x, Op: v.op.FullName(), Opset: x.opt.Opset}
	c.Args = x.args(v.op, v.args)
	whole := x.read(base)
	new := s.v
	arg := func(name string) int {
		for i, p := range v.op.Params {
			if p.Name == name {
				return i
			}
		}
		return -1
	}
	switch v.op.Name {
	case "aten::alias", "aten::detach", "aten::contiguous", "aten::to", "aten::expand_as", "aten::view_as",
		"aten::_unwrap_optional", "aten::type_as":
		x.write(base, new)
	case "aten::view", "aten::reshape", "aten::flatten", "aten::unflatten", "aten::squeeze", "aten::unsqueeze",
		"aten::ravel", "aten::reshape_as", "aten::_unsafe_view":
		x.write(base, c.ReshapeTo(new, c.ShapeOf(whole)).Typed(new.DType))
	case "aten::transpose", "aten::swapaxes", "aten::swapdims":
		x.write(base, c.Swap(new, c.Int(1), c.Int(2)).Typed(new.DType))
	case "aten::t":
		x.write(base, c.Swap(new, 0, -1).Typed(new.DType))
	case "aten::permute":
		dims := c.Ints(1)
		back := make([]int, len(dims))
		for i, d := range dims {
			back[c.Dim(whole, d)] = i
		}
		x.write(base, c.Transpose(new, back...).Typed(new.DType))
	case "aten::select":
		if v.op.Op() == nil {
			break
		}
		dim := c.Dim(whole, c.Int(1))
		x.write(base, c.PutRange(whole, c.Unsqueeze(new, dim), dim, c.Elem(2), c.After(c.Elem(2), 1), 1))
	case "aten::slice":
		dim := c.Dim(whole, c.Int(1))
		start, end := any(0), any(maxInt64)
		if c.Has(2) {
			start = c.Elem(2)
		}
		if c.Has(3) {
			end = c.Elem(3)
		}
		x.write(base, c.PutRange(whole, new, dim, start, end, c.Int(arg("step"))))
	case "aten::narrow":
		dim := c.Dim(whole, c.Int(1))
		x.write(base, c.PutRange(whole, new, dim, c.Elem(2), c.After(c.Elem(2), c.Elem(3)), 1))
	default:
		stop("a write into the result of %s", v.op.FullName())
	}
}

const maxInt64 = 1<<63 - 1
