package torchtest

import (
	"reflect"

	"github.com/gotorch-dev/torch/internal/goname"
	"github.com/gotorch-dev/torch/tensor"
)

// method compares the generated method, which has shortcuts of its own for small calls, with the boxed call. Only calls
// that leave every optional argument at its default are made: options structs hold nothing but boxed arguments.
func (r *runner) method(s tensor.Sample) {
	ps := r.op.Sch.Params
	if r.op.Sch.Namespace != "aten" || len(ps) == 0 || ps[0].Name != "self" || ps[0].Kind != tensor.KTensor ||
		r.op.Go == "-" || s.Args[0].T == nil {
		return
	}
	name := r.op.Go
	if name == "" {
		name = goname.Of(r.op.Sch.Name) + goname.Suffix(r.op.Sch.Overload)
	}
	m, ok := reflect.TypeFor[*tensor.Tensor]().MethodByName(name)
	if !ok {
		return
	}
	args := clones(s.Args)
	in := []reflect.Value{reflect.ValueOf(args[0].T)}
	for i := 1; i < len(ps); i++ {
		if ps[i].Default != nil {
			if args[i].String() != ps[i].Default.String() {
				return
			}
			continue
		}
		v := unboxed(args[i])
		k := len(in)
		if v == nil || k >= m.Type.NumIn() || !reflect.TypeOf(v).AssignableTo(m.Type.In(k)) {
			return
		}
		in = append(in, reflect.ValueOf(v))
	}
	if fixed := m.Type.NumIn(); m.Type.IsVariadic() && len(in) != fixed-1 || !m.Type.IsVariadic() && len(in) != fixed {
		return
	}
	want, err := r.call(r.op, clones(s.Args))
	if err != nil || isRandom(r.op) {
		return
	}
	var got []reflect.Value
	if err := try(func() { got = m.Func.Call(in) }); err != nil {
		r.errorf("method %s: %v", name, err)
		return
	}
	if len(want) == 1 && m.Type.IsVariadic() && r.op.Out { // the same with Out in the options
		o := reflect.New(m.Type.In(m.Type.NumIn() - 1).Elem()).Elem()
		if f := o.FieldByName("Out"); f.IsValid() && f.Type() == reflect.TypeFor[*tensor.Tensor]() {
			out := tensor.New([]int{0}, want[0].T.DType())
			if s.FixedOut {
				out = tensor.New(want[0].T.Shape(), out.DType())
			}
			f.Set(reflect.ValueOf(out))
			var res []reflect.Value
			if err := try(func() { res = m.Func.Call(append(in[:len(in):len(in)], o)) }); err != nil {
				r.errorf("method %s with Out: %v", name, err)
			} else if res[0].Interface() != any(out) {
				r.errorf("method %s with Out gives another tensor", name)
			} else if err := compareTensors(out, want[0].T, 1e-6, true); err != nil {
				r.errorf("method %s with Out: %v", name, err)
			}
		}
	}
	for i, g := range got {
		if t, ok := g.Interface().(*tensor.Tensor); ok && i < len(want) && want[i].T != nil {
			if err := compareTensors(t, want[i].T, 1e-6, true); err != nil {
				r.errorf("method %s: %v", name, err)
			}
		}
	}
}

// unboxed is a boxed argument as the generated methods take it, nil when it has no such form.
func unboxed(v tensor.Value) any {
	switch v.K {
	case tensor.KTensor:
		return v.T
	case tensor.KTensors:
		return v.X
	case tensor.KInt:
		return int(v.N)
	case tensor.KFloat:
		return v.Float()
	case tensor.KBool:
		return v.N != 0
	case tensor.KStr:
		return v.X
	case tensor.KInts:
		return v.Ints()
	case tensor.KDType:
		return tensor.DType(v.N)
	}
	return nil
}
