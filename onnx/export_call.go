package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/tensor"
)

// operator exports the call of an operator.
func (x *exporter) operator(n *graph.Node, in []tensor.Value, set func(...tensor.Value)) {
	op := n.Operator
	if op == nil {
		op = graph.Lookup(n.Op)
	}
	if op == nil {
		x.lacks(n.Op)
		set(make([]tensor.Value, len(n.Out))...)
		return
	}
	if s := op.Same(); s != op {
		op, in = s, in[:min(len(in), len(s.Params))]
	}
	for _, p := range op.Params[min(len(in), len(op.Params)):] {
		if p.Default == nil {
			stop("%s: argument %s is missing", op.FullName(), p.Name)
		}
		in = append(in, graph.Normal(*p.Default))
	}
	if h := helpers[op.FullName()]; h != nil &&
		(slices.ContainsFunc(in, hasSym) || len(in) > 0 && x.sequence(in[0]) != nil) {
		set(h(x, op, in)...)
		return
	}
	if op.Op() == nil {
		set(x.helper(op, in)...)
		return
	}
	set(x.call(op, in)...)
}

// lacks notes an operator without a form.
func (x *exporter) lacks(op string) {
	if at := x.where(); !slices.Contains(x.missing[op], at) {
		x.missing[op] = append(x.missing[op], at)
	}
}

// failed wraps an error about the call of an operator.
func (x *exporter) failed(op string, err error) error {
	return fmt.Errorf("%s in %s: %w", op, x.where(), err)
}

// generic reports a type that has a type variable in it: a helper only moves such values.
func generic(t *graph.Type) bool {
	return t.Kind == graph.VarType || slices.ContainsFunc(t.Elems, generic)
}

// helper exports an operator that computes with numbers, texts and containers.
func (x *exporter) helper(op *graph.Operator, in []tensor.Value) []tensor.Value {
	computes := strings.HasPrefix(op.Name, "aten::sort")
	numbers := false
	for i, v := range in {
		if !hasSym(v) {
			continue
		}
		if i >= len(op.Params) || !generic(op.Params[i].Type) {
			computes = true
			numbers = numbers || symNumber(v)
		}
	}
	if !computes {
		res, err := op.Call(in...)
		if err != nil {
			panic(onnxform.Failure{Err: x.failed(op.FullName(), err)})
		}
		for i, v := range res {
			if v.K == tensor.KTensor && v.T != nil {
				res[i] = graph.Box(x.constSym(v.T))
			}
		}
		return res
	}
	var w [2][]tensor.Value
	for i := range w {
		w[i] = x.world(op, in, i)
	}
	out := make([]tensor.Value, len(op.Results))
	for i := range out {
		a, b := w[0][i], w[1][i]
		if !numbers && !holdsTensor(a) && sameValue(a, b) {
			out[i] = a
			continue
		}
		out[i] = x.number(op, in, i, [2]tensor.Value{a, b})
	}
	return out
}

// symNumber reports a number that is known only when the file runs, alone or in a list.
func symNumber(v tensor.Value) bool {
	if s, ok := v.X.(*sym); ok {
		return s.num
	}
	items, _ := graph.ItemsOf(v)
	return slices.ContainsFunc(items, symNumber)
}

func holdsTensor(v tensor.Value) bool {
	items, _ := graph.ItemsOf(v)
	return v.K == tensor.KTensor || slices.ContainsFunc(items, holdsTensor)
}

func sameValue(a, b tensor.Value) bool {
	return a.K == b.K && a.K != tensor.KTensor && graph.Text(a) == graph.Text(b)
}

// world computes an operator in one of the worlds.
func (x *exporter) world(op *graph.Operator, in []tensor.Value, i int) []tensor.Value {
	args := make([]tensor.Value, len(in))
	for k, v := range in {
		var ok bool
		if args[k], ok = x.inWorld(v, i); !ok {
			stop("%s: nothing is known about the shape of argument %s", x.failed(op.FullName(), errUnknown),
				paramName(op, k))
		}
	}
	var res []tensor.Value
	var err error
	tensor.WithDevice(tensor.Device{Type: tensor.MetaDevice}, func() {
		if res, err = op.Call(args...); err != nil && op.Op() != nil && op.Op().DataDependent {
			for k := range args {
				args[k] = onCPU(args[k])
			}
			tensor.WithDevice(tensor.Device{}, func() { res, err = op.Call(args...) })
		}
	})
	if err != nil {
		err = x.failed(op.FullName(), err)
		if i > 0 {
			err = &sizeError{err}
		}
		panic(onnxform.Failure{Err: err})
	}
	for k := range res {
		res[k] = onMeta(res[k])
	}
	return res
}

var errUnknown = errors.New("shapes")

func paramName(op *graph.Operator, i int) string {
	if i < len(op.Params) {
		return op.Params[i].Name
	}
	return fmt.Sprint(i)
}

// eachTensor copies a value with its tensors changed by f.
func eachTensor(v tensor.Value, f func(t *tensor.Tensor) *tensor.Tensor) tensor.Value {
	if v.K == tensor.KTensor && v.T != nil {
		return tensor.TensorValue(f(v.T))
	}
	switch l := v.X.(type) {
	case *graph.List:
		items := make([]tensor.Value, len(l.Items))
		for i, e := range l.Items {
			items[i] = eachTensor(e, f)
		}
		return graph.NewList(l.Elem, items...)
	case *graph.Tuple:
		items := make([]tensor.Value, len(l.Items))
		for i, e := range l.Items {
			items[i] = eachTensor(e, f)
		}
		return graph.Box(&graph.Tuple{Type: l.Type, Items: items})
	case tensor.Device:
		return tensor.DeviceValue(tensor.Device{})
	}
	return v
}

// onCPU replaces tensors without elements by zeros: operators whose checks read elements take these.
func onCPU(v tensor.Value) tensor.Value {
	return eachTensor(v, func(t *tensor.Tensor) *tensor.Tensor {
		z := tensor.New(t.Shape(), t.DType())
		z.ZeroInPlace()
		return z
	})
}

func onMeta(v tensor.Value) tensor.Value {
	return eachTensor(v, func(t *tensor.Tensor) *tensor.Tensor {
		if t.Device().Type == tensor.MetaDevice {
			return t
		}
		return meta(t.Shape(), t.DType())
	})
}

// call exports an operator on tensors.
func (x *exporter) call(op *graph.Operator, in []tensor.Value) []tensor.Value {
	for i := range op.Params {
		if op.Params[i].Writes() && i < len(in) {
			return x.inPlace(op, i, in)
		}
	}
	res := x.functional(op, in)
	for i, r := range op.Results {
		x.shows(op, in, res, i, r.Alias)
	}
	return res
}

// shows notes that a result lies in the memory of an argument.
func (x *exporter) shows(op *graph.Operator, in, res []tensor.Value, i int, alias string) {
	if alias == "" || strings.Contains(alias, "!") || i >= len(res) {
		return
	}
	for k, p := range op.Params {
		if p.Alias == "" || p.Alias[:1] != alias[:1] && !strings.HasPrefix(p.Alias, alias) {
			continue
		}
		base, ok := in[k].X.(*sym)
		if !ok {
			return
		}
		mark := func(v tensor.Value, which int) {
			if s, ok := v.X.(*sym); ok && s != base {
				s.base, s.view, s.seen = base, &view{op, slices.Clone(in), which}, base.version
			}
		}
		if l, ok := res[i].X.(*graph.List); ok {
			for j, e := range l.Items {
				mark(e, j)
			}
		} else {
			mark(res[i], i)
		}
		return
	}
}

// draws reports an operator whose results are random.
func draws(op *graph.Operator) bool {
	o := op.Op()
	return o != nil && (o.Draw != tensor.DrawByElements || o.Sch.Index("generator") >= 0)
}

const (
	// mostFolded bounds the elements of a constant that is computed from others.
	mostFolded = 1 << 20
)

// functional exports an operator that changes nothing.
func (x *exporter) functional(op *graph.Operator, in []tensor.Value) []tensor.Value {
	form, sized := x.form(op.FullName())
	c := &onnxform.Call{Writer: x, Op: op.FullName(), Opset: x.opt.Opset, Train: x.opt.Training == TrainingTrain}
	if op.Op() != nil {
		c.Schema = op.Op().Sch
	}
	if form != nil && sized != nil {
		c.Args = x.args(op, in)
		if sized(c) {
			return x.sized(op, c, form)
		}
	}
	var w [2][]tensor.Value
	for i := range w {
		w[i] = x.world(op, in, i)
	}
	if res, ok := x.fold(op, in, w[0]); ok {
		return res
	}
	res := make([]tensor.Value, len(w[0]))
	var syms []*sym
	for i := range res {
		res[i] = x.result(op, w[0][i], w[1][i], &syms)
	}
	if len(syms) == 0 {
		return res
	}
	if form == nil {
		x.lacks(op.FullName())
		x.named(syms)
		return res
	}
	c.Results = len(syms)
	for _, s := range syms {
		c.Outs = append(c.Outs, s.v)
	}
	err := x.try(func() {
		if c.Args == nil {
			c.Args = x.args(op, in)
		}
		out := form(c)
		for i, s := range syms {
			if i >= len(out) || out[i] == nil {
				s.v.Name = "" // a result that the file does not have; using it is an error
				continue
			}
			known := *s.v
			s.v = out[i]
			if s.v.Name != "" || s.v.Const != nil {
				v := *s.v
				v.Known, v.Shape = known.Known, known.Shape
				if v.DType == 0 {
					v.DType = known.DType
				}
				if v.DType != known.DType && known.DType != 0 {
					v = *c.Cast(&v, known.DType)
					v.Known, v.Shape = known.Known, known.Shape
				}
				s.v = &v
				x.declare(s)
			}
		}
	})
	if err != nil {
		x.cause(x.failed(op.FullName(), err))
		x.named(syms)
	}
	return res
}

// named gives values that no node computes names, so that the export goes on to find what else is the matter.
func (x *exporter) named(syms []*sym) {
	for _, s := range syms {
		if s.v.Name == "" {
			s.v.Name = x.unique("missing")
		}
	}
}

func (x *exporter) form(op string) (onnxform.Form, func(*onnxform.Call) bool) {
	if f := x.opt.Forms[op]; f != nil {
		return f, nil
	}
	return onnxform.Find(op)
}

// sized exports an operator the sizes of whose results only its form knows.
func (x *exporter) sized(op *graph.Operator, c *onnxform.Call, form onnxform.Form) []tensor.Value {
	res := make([]tensor.Value, len(op.Results))
	c.Results = len(res)
	err := x.try(func() {
		for i, v := range form(c) {
			s := &sym{v: v, block: x.block}
			x.imagine(s)
			res[i] = graph.Box(s)
		}
	})
	if err != nil {
		panic(onnxform.Failure{Err: x.failed(op.FullName(), err)})
	}
	return res
}

// result makes the value of a result from the worlds. The tensors in it are appended to syms.
func (x *exporter) result(op *graph.Operator, a, b tensor.Value, syms *[]*sym) tensor.Value {
	switch {
	case a.K == tensor.KTensor && a.T != nil:
		s := &sym{v: &onnxform.Value{}, w: [2]tensor.Value{a, b}, block: x.block}
		x.facts(s)
		*syms = append(*syms, s)
		return graph.Box(s)
	case !isList(a) && sameValue(a, b):
		return a
	}
	la, ok := a.X.(*graph.List)
	lb, ok2 := b.X.(*graph.List)
	if !ok || !ok2 || len(la.Items) != len(lb.Items) {
		panic(onnxform.Failure{Err: x.failed(op.FullName(),
			errors.New("how many results there are depends on a dynamic size"))})
	}
	items := make([]tensor.Value, len(la.Items))
	for i := range items {
		items[i] = x.result(op, la.Items[i], lb.Items[i], syms)
	}
	return graph.NewList(la.Elem, items...)
}

// fold computes a call all of whose arguments are known. Parameters are not folded: they keep their names.
func (x *exporter) fold(op *graph.Operator, in, shapes []tensor.Value) ([]tensor.Value, bool) {
	if op.Op() == nil || draws(op) {
		return nil, false
	}
	var plain func(v tensor.Value) (tensor.Value, bool)
	most := mostFolded
	plain = func(v tensor.Value) (tensor.Value, bool) {
		switch l := v.X.(type) {
		case *sym:
			x.fresher(l)
			if l.num || !l.v.Folds() {
				return v, false
			}
			most = max(most, 2*l.v.Const.Numel())
			return tensor.TensorValue(l.v.Const), true
		case *graph.List:
			items := make([]tensor.Value, len(l.Items))
			for i, e := range l.Items {
				var ok bool
				if items[i], ok = plain(e); !ok {
					return v, false
				}
			}
			return graph.NewList(l.Elem, items...), true
		case *graph.Tuple:
			if hasSym(v) {
				return v, false
			}
		}
		return v, true
	}
	args := make([]tensor.Value, len(in))
	for i, v := range in {
		var ok bool
		if args[i], ok = plain(v); !ok {
			return nil, false
		}
	}
	for _, v := range shapes {
		if v.K == tensor.KTensor && v.T != nil && v.T.Numel() > most {
			return nil, false
		}
	}
	res, err := op.Call(args...)
	if err != nil {
		panic(onnxform.Failure{Err: x.failed(op.FullName(), err)})
	}
	for i := range res {
		res[i] = x.folded(res[i])
	}
	return res, true
}

// folded makes syms of tensors that were computed. Their memory is their own.
func (x *exporter) folded(v tensor.Value) tensor.Value {
	if v.K == tensor.KTensor && v.T != nil {
		t := v.T.Clone()
		m := tensor.TensorValue(meta(t.Shape(), t.DType()))
		return graph.Box(&sym{block: x.block, w: [2]tensor.Value{m, m},
			v: &onnxform.Value{DType: t.DType(), Shape: t.Shape(), Known: true, Const: t}})
	}
	if l, ok := v.X.(*graph.List); ok {
		for i, e := range l.Items {
			l.Items[i] = x.folded(e)
		}
	}
	return v
}

// args are the arguments of a call in the form that package onnxform wants.
func (x *exporter) args(op *graph.Operator, in []tensor.Value) []tensor.Value {
	out := make([]tensor.Value, len(in))
	for i, v := range in {
		kind := tensor.KAny
		if op.Op() != nil {
			kind = op.Op().Sch.Params[i].Kind
		}
		out[i] = x.arg(v, kind)
	}
	return out
}

func (x *exporter) arg(v tensor.Value, kind tensor.Kind) tensor.Value {
	switch l := v.X.(type) {
	case *sym:
		return tensor.AnyValue(x.read(l))
	case *graph.List:
		return x.listArg(l.Items, kind)
	case *graph.Tuple:
		return x.listArg(l.Items, kind)
	}
	switch {
	case v.K == tensor.KTensor && v.T != nil:
		return tensor.AnyValue(x.read(x.constSym(v.T)))
	case v.K == tensor.KInt && kind == tensor.KDType:
		d, err := graph.DTypeOf(int(v.N))
		if err != nil {
			panic(onnxform.Failure{Err: err})
		}
		return tensor.DTypeValue(d)
	}
	return v
}

func (x *exporter) listArg(items []tensor.Value, kind tensor.Kind) tensor.Value {
	opaque := kind == tensor.KTensors
	whole, bools := true, len(items) > 0
	for _, e := range items {
		opaque = opaque || hasSym(e) || e.K == tensor.KTensor || e.K == tensor.KNone || e.K == tensor.KAny ||
			e.K == tensor.KStr
		whole = whole && (e.K == tensor.KInt || e.K == tensor.KBool)
		bools = bools && e.K == tensor.KBool
	}
	if opaque {
		out := make([]tensor.Value, len(items))
		for i, e := range items {
			out[i] = x.arg(e, tensor.KTensor)
		}
		return tensor.AnyValue(out)
	}
	ints, floats := make([]int, len(items)), make([]float64, len(items))
	for i, e := range items {
		n := e.Num()
		ints[i], floats[i] = int(n.I), n.F
	}
	switch {
	case bools:
		return tensor.Value{K: tensor.KBools, X: ints}
	case whole:
		return tensor.IntsValue(ints)
	}
	return tensor.FloatsValue(floats)
}
