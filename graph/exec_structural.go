package graph

import (
	"github.com/gotorch-dev/torch/tensor"
)

// structural executes the instructions for containers, objects and calls.
func (x *exec) structural(f *frame, in *instr) {
	regs := f.regs
	switch in.op {
	case opList:
		l := &List{Elem: in.node.Out[0].Type.elem(), Items: f.gather(in.in)}
		regs[in.out[0]] = Box(l)
	case opTuple:
		regs[in.out[0]] = Box(&Tuple{Type: in.node.Out[0].Type, Items: f.gather(in.in)})
	case opDict:
		t := in.node.Out[0].Type
		d := NewDict(nil, nil)
		if t.Kind == DictType {
			d.Key, d.Elem = t.Elems[0], t.Elems[1]
		}
		for i := 0; i+1 < len(in.in); i += 2 {
			d.Set(regs[in.in[i]], regs[in.in[i+1]])
		}
		regs[in.out[0]] = Box(d)
	case opUnpack:
		unpack(f, in, regs[in.in[0]])
	case opTupleIndex:
		items, _ := ItemsOf(regs[in.in[0]])
		if int(in.index) >= len(items) || in.index < 0 {
			tensor.Fail(tensor.ErrIndex, "tuple index %d of %s is out of range", in.index, describe(regs[in.in[0]]))
		}
		regs[in.out[0]] = items[in.index]
	case opGetAttr:
		o := object(regs[in.in[0]])
		regs[in.out[0]] = o.Slots[slot(o, in)]
	case opSetAttr:
		o := object(regs[in.in[0]])
		o.Slots[slot(o, in)] = regs[in.in[1]]
	case opMethod:
		x.method(f, in)
	case opInvoke:
		fn, args := in.node.Func, f.gather(in.in)
		if fn == nil {
			v, ok := args[0].X.(*FuncValue)
			if !ok {
				tensor.Fail(tensor.ErrType, "%s cannot be called", describe(args[0]))
			}
			fn, args = v.Func, append(append([]tensor.Value(nil), v.Captured...), args[1:]...)
		}
		x.invoke(f, in, fn, args)
	case opWithin:
		args := f.gather(in.in)
		in.node.Around(func() { x.invoke(f, in, in.node.Func, args) })
	case opNew:
		regs[in.out[0]] = Box(NewObject(in.node.Class))
	case opRaise:
		e := &RaisedError{Class: in.node.Attr}
		if v := regs[in.in[0]]; v.K == tensor.KStr {
			e.Text = v.X.(string)
		} else {
			e.Text = describe(v)
		}
		panic(stop{e})
	case opIsInstance:
		is := false
		for _, t := range in.node.Types {
			is = is || IsA(regs[in.in[0]], t)
		}
		regs[in.out[0]] = tensor.BoolValue(is)
	case opClosure:
		regs[in.out[0]] = Box(&FuncValue{Func: in.node.Func, Captured: f.gather(in.in)})
	case opFork: // runs at once: a caller cannot tell that from a task that has ended already
		var res [1]tensor.Value
		fn := in.node.Func
		x.call(fn, f.gather(in.in), res[:min(1, len(fn.Body.Results))])
		regs[in.out[0]] = Box(&Future{Value: res[0]})
	case opMissing:
		panic(stop{&MissingError{Ops: []string{in.node.Op}}})
	case opSetGrad:
		x.grad = gradOff
		if truth(&regs[in.in[0]]) {
			x.grad = gradOn
		}
	case opGradEnabled:
		on := tensor.IsGradEnabled()
		if x.grad != gradAsIs {
			on = x.grad == gradOn
		}
		regs[in.out[0]] = tensor.BoolValue(on)
	case opHelper:
		v := in.node.Operator.calls(x, f.gather(in.in))
		if len(in.out) == 1 {
			regs[in.out[0]] = v
		}
	case opWait:
		fu, ok := regs[in.in[0]].X.(*Future)
		if !ok {
			tensor.Fail(tensor.ErrType, "aten::wait: want a Future, not %s", describe(regs[in.in[0]]))
		}
		regs[in.out[0]] = fu.Value
	}
}

func (t *Type) elem() *Type {
	if t.Kind == ListType {
		return t.Elems[0]
	}
	return nil
}

func (f *frame) gather(in []int32) []tensor.Value {
	out := make([]tensor.Value, len(in))
	for i, r := range in {
		out[i] = f.regs[r]
	}
	return out
}

func object(v tensor.Value) *Object {
	o, ok := v.X.(*Object)
	if !ok {
		tensor.Fail(tensor.ErrType, "want an object, not %s", describe(v))
	}
	return o
}

// slot is the number of the attribute that an instruction names.
func slot(o *Object, in *instr) int {
	i := int(in.index)
	if in.node.Attr != BySlot && (o.Class != in.node.In[0].Type.Class || i < 0) {
		i = o.Class.AttrIndex(in.node.Attr)
	}
	if i < 0 || i >= len(o.Slots) {
		tensor.Fail(tensor.ErrValue, "an object of %s has no attribute %s", o.Class.Name, in.node.Attr)
	}
	return i
}

func (x *exec) method(f *frame, in *instr) {
	var buf [8]tensor.Value
	args := buf[:0]
	for _, r := range in.in {
		args = append(args, f.regs[r])
	}
	o := object(args[0])
	fn := o.Class.Methods[in.node.Attr]
	if fn == nil {
		tensor.Fail(tensor.ErrValue, "an object of %s has no method %s", o.Class.Name, in.node.Attr)
	}
	x.invoke(f, in, fn, args)
}

// less compares two objects by the method __lt__ of their class.
func (x *exec) less(a, b *Object) bool {
	fn := a.Class.Methods["__lt__"]
	if fn == nil {
		tensor.Fail(tensor.ErrType, "objects of %s have no order: the class has no method __lt__", a.Class.Name)
	}
	var res [1]tensor.Value
	x.call(fn, []tensor.Value{Box(a), Box(b)}, res[:])
	return truth(&res[0])
}

func (x *exec) invoke(f *frame, in *instr, fn *Function, args []tensor.Value) {
	var buf [4]tensor.Value
	res := buf[:0]
	for range in.out {
		res = append(res, tensor.Value{})
	}
	x.call(fn, args, res)
	for i, r := range in.out {
		f.regs[r] = res[i]
	}
}

// IsA reports that a value has the type at run time. Lists and dictionaries have the types that they were made with.
func IsA(v tensor.Value, t *Type) bool {
	switch t.Kind {
	case AnyType:
		return true
	case OptionalType:
		return v.K == tensor.KNone || IsA(v, t.Elems[0])
	case UnionType:
		for _, e := range t.Elems {
			if IsA(v, e) {
				return true
			}
		}
		return false
	case TensorType:
		return v.K == tensor.KTensor
	case NoneType:
		return v.K == tensor.KNone
	}
	if x, ok := v.X.(*Tuple); ok {
		if t.Kind == AnyTupleType {
			return true
		}
		if t.Kind != TupleType || len(t.Elems) != len(x.Items) || t.Name != "" &&
			(x.Type == nil || x.Type.Name != t.Name) {
			return false
		}
		for i, e := range x.Items {
			if !IsA(e, t.Elems[i]) {
				return false
			}
		}
		return true
	}
	return TypeOf(v).Fits(t)
}
