package tensor

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
)

// CallOp calls an operator by its full name ("aten::add.Tensor") with boxed arguments by position; missing ones get
// their defaults.
func CallOp(full string, args ...Value) ([]Value, error) {
	op := LookupOp(full)
	if op == nil {
		return nil, &Error{Op: full, Msg: "no operator " + full + " is registered", Err: ErrNotFound}
	}
	return op.Call(args...)
}

// Call calls the operator with boxed arguments by position; missing ones get their defaults. Mistakes, arguments of
// another kind than the schema's among them, come back as an error.
func (o *Op) Call(args ...Value) (res []Value, err error) {
	if len(args) > len(o.Sch.Params) {
		return nil, &Error{Op: o.full, Msg: fmt.Sprintf("%s takes %d arguments, got %d", o.full, len(o.Sch.Params),
			len(args)), Err: ErrType}
	}
	c := NewCall(o, len(o.Sch.Params))
	var wrong error // the first argument of a wrong kind
	for i := range c.args {
		p := &o.Sch.Params[i]
		switch {
		case i < len(args):
			v, bad := o.boxed(i, args[i])
			if bad != nil && wrong == nil {
				wrong = bad
			}
			c.args[i] = v
		case p.Default == nil:
			return nil, &Error{Op: o.full, Msg: fmt.Sprintf("%s() missing required argument '%s'", o.Sch.Name, p.Name),
				Err: ErrType}
		default:
			c.args[i] = *p.Default
		}
	}
	if wrong != nil {
		if err = Try(c.checkGiven); err == nil { // a tensor that is missing is the greater mistake
			err = wrong
		}
		return nil, err
	}
	err = Try(func() { res = c.DoAll() })
	return res, err
}

// boxed is an argument for parameter i, converted to the parameter's kind where Python converts it, too.
func (o *Op) boxed(i int, v Value) (w Value, err error) {
	p, ok := &o.Sch.Params[i], false
	err = Try(func() { w, ok = coerce(v, p, p.Kind == KTensor && p.Writes) })
	switch {
	case err != nil:
	case v.K == KNone && p.Kind == KTensor || v.K == KNone && p.Kind == KTensors:
		return v, nil // checkGiven refuses those that must be there
	case p.Kind == KBools && p.Fixed > 0 && w.K != KNone && len(w.Ints()) != p.Fixed:
		err = &Error{Op: o.full, Err: ErrType, Msg: fmt.Sprintf("%s(): argument '%s' (position %d) must be a list of %d "+
			"bools, not of %d", o.Sch.Name, p.Name, i+1, p.Fixed, len(w.Ints()))}
	case !ok || !v.isNamed():
		err = &Error{Op: o.full, Err: ErrType, Msg: fmt.Sprintf("%s(): argument '%s' (position %d) must be %s, not %s",
			o.Sch.Name, p.Name, i+1, p.pythonType(), kindOf(v))}
	}
	return w, err
}

// isNamed reports that a dtype or a memory format is one that there is.
func (v Value) isNamed() bool {
	switch v.K {
	case KDType:
		return v.N >= 0 && v.N < 256 && DType(v.N).Valid()
	case KFormat:
		return v.N >= 0 && v.N <= int64(ChannelsLast3d)
	}
	return true
}

// ResolveCall calls the first overload of one of the names ("aten::add", without overload) that accepts the arguments,
// as Python's argument parser does: positional ones, then keywords; numbers count as tensors where an overload wants
// one and no number form exists, an int counts as a list where the schema fixes a length. The error lists the overloads
// when none fits.
func ResolveCall(names []string, args []Value, kwargs map[string]Value) ([]Value, error) {
	op, vals, err := Resolve(names, args, kwargs)
	if err != nil {
		return nil, err
	}
	return op.Call(vals...)
}

// Resolve finds the overload that ResolveCall calls and its arguments by position.
func Resolve(names []string, args []Value, kwargs map[string]Value) (*Op, []Value, error) {
	var tried []string
	found := false
	var single *Op // the only signature there is, apart from out forms
	var reason string
	signatures := 0
	for _, strict := range []bool{true, false} {
		for _, n := range names {
			ops := Overloads(n)
			if i := strings.LastIndexByte(n, '.'); i > 0 && len(ops) == 0 {
				if o := LookupOp(n); o != nil {
					ops = []*Op{o}
				}
			}
			for _, o := range ops {
				found = true
				vals, why := o.bind(args, kwargs, strict)
				if why == "" {
					return o, vals, nil
				}
				if !strict {
					tried = append(tried, fmt.Sprintf("  %s: %s", o.full, why))
					if !o.IsOut() {
						single, reason = o, why
						signatures++
					}
				}
			}
		}
	}
	if !found {
		return nil, nil, &Error{Op: names[0], Msg: "no operator " + strings.Join(names, " or ") + " is registered",
			Err: ErrNotFound}
	}
	if signatures == 1 && strings.Contains(reason, " must be ") {
		return nil, nil, &Error{Op: names[0], Err: ErrType, Msg: single.Sch.Name + "(): " + reason}
	}
	return nil, nil, &Error{Op: names[0], Err: ErrType, Msg: strings.TrimPrefix(names[0], "aten::") +
		"() received an invalid combination of arguments - got (" + kindsOf(args, kwargs) +
		"), but expected one of:\n" + strings.Join(tried, "\n")}
}

// numbersAsTensors reports that PyTorch takes a Python number where the schema has a tensor: the arithmetic operators
// do, no others. Operators outside aten are Python functions, which check nothing.
func (o *Op) numbersAsTensors() bool {
	if o.Sch.Namespace != "aten" {
		return true
	}
	switch strings.TrimSuffix(o.Sch.Name, "_") {
	case "add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "floor_divide", "to", "_to_copy",
		"copy":
		return true
	}
	return false
}

// isMethod reports a function of torch.Tensor, whose first argument must be a tensor.
func (o *Op) isMethod() bool {
	// torch.Tensor.__rmod__ passes its arguments on unseen
	return o.Sch.Namespace == "Tensor" && o.Sch.Name != "__rmod__"
}

// pythonType is the parameter's type as Python's error texts name it.
func (p *Param) pythonType() string {
	switch p.Kind {
	case KTensor:
		return "Tensor"
	case KTensors:
		return "tuple of Tensors"
	case KInt:
		return "int"
	case KFloat:
		return "float"
	case KBool:
		return "bool"
	case KScalar:
		return "Number"
	case KComplex:
		return "complex"
	case KStr:
		return "str"
	case KInts:
		return "tuple of ints"
	case KFloats:
		return "tuple of floats"
	case KBools:
		return "tuple of bools"
	case KStrs:
		return "tuple of strs"
	case KDType:
		return "torch.dtype"
	case KDevice:
		return "torch.device"
	case KFormat:
		return "torch.memory_format"
	case KGenerator:
		return "torch.Generator"
	}
	return "object"
}

// kindsOf names the arguments' types as Python does, for error texts.
func kindsOf(args []Value, kwargs map[string]Value) string {
	var l []string
	for _, v := range args {
		l = append(l, kindOf(v))
	}
	keys := make([]string, 0, len(kwargs))
	for k := range kwargs {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		l = append(l, k+"="+kindOf(kwargs[k]))
	}
	return strings.Join(l, ", ")
}

func kindOf(v Value) string {
	switch v.K {
	case KNone:
		return "NoneType"
	case KTensor:
		return "Tensor"
	case KInt:
		return "int"
	case KFloat:
		return "float"
	case KBool:
		return "bool"
	case KComplex:
		return "complex"
	case KStr:
		return "str"
	case KDType:
		return "torch.dtype"
	case KDevice:
		return "torch.device"
	case KFormat:
		return "torch.memory_format"
	case KGenerator:
		return "torch.Generator"
	case KTensors:
		return "list of Tensors"
	case KInts:
		return "list of ints"
	case KFloats:
		return "list of floats"
	case KBools:
		return "list of bools"
	case KStrs:
		return "list of strs"
	}
	return "object"
}

// bind fits arguments to the schema; the text says why they do not fit.
func (o *Op) bind(args []Value, kwargs map[string]Value, strict bool) ([]Value, string) {
	ps := o.Sch.Params
	vals := make([]Value, len(ps))
	npos := 0
	for npos < len(ps) && !ps[npos].KwOnly {
		npos++
	}
	// x.view(2, 3): a sequence of ints where the last positional parameter is a list
	if len(args) > npos && npos > 0 && ps[npos-1].Kind == KInts {
		l := make([]int, 0, len(args))
		for _, v := range args[npos-1:] {
			if v.K != KInt {
				l = nil
				break
			}
			l = append(l, int(v.N))
		}
		if l != nil {
			args = append(append([]Value(nil), args[:npos-1]...), IntsValue(l))
		}
	}
	// x.rename("N", None): names where the only other positional parameter is a list of them
	if npos == 2 && ps[1].Kind == KStrs && ps[1].Fixed == 0 && (len(args) > 1 || len(args) == 1 && len(kwargs) == 0) {
		l := make([]string, 0, len(args))
		for _, v := range args[1:] {
			s, ok := v.X.(string)
			if !ok && v.K != KNone || v.K == KNone && len(args) == 2 { // rename(None) is no list
				l = nil
				break
			}
			l = append(l, s)
		}
		if l != nil {
			args = []Value{args[0], StrsValue(l)}
		}
	}
	// torch.meshgrid(a, b): tensors in a row where the only positional parameter is a list of them
	if npos == 1 && ps[0].Kind == KTensors && len(args) > 0 && args[0].K == KTensor {
		l := make([]*Tensor, 0, len(args))
		for _, v := range args {
			if v.K != KTensor {
				l = nil
				break
			}
			l = append(l, v.T)
		}
		if l != nil {
			args = []Value{TensorsValue(l)}
		}
	}
	kwargs, why := o.spreadOut(kwargs)
	if why != "" {
		return nil, why
	}
	if len(args) > npos {
		return nil, fmt.Sprintf("takes %d positional arguments, got %d", npos, len(args))
	}
	used := 0
	for i := range ps {
		p := &ps[i]
		v, given := Value{}, false
		if i < len(args) && !p.KwOnly {
			v, given = args[i], true
		}
		if k, ok := kwargs[p.Name]; ok {
			if given {
				return nil, "got multiple values for argument " + p.Name
			}
			v, given = k, true
			used++
		} else if p.Name == "self" && !given {
			if k, ok := kwargs["input"]; ok {
				v, given = k, true
				used++
			}
		}
		if !given {
			if p.Default == nil {
				return nil, "missing argument " + p.Name
			}
			vals[i] = *p.Default
			continue
		}
		w, ok := coerce(v, p, strict || p.Kind == KTensor && (!o.numbersAsTensors() || i == 0 && o.isMethod()))
		if !ok {
			name, where := p.Name, ""
			if name == "self" {
				name = "input"
			}
			if i < len(args) && !p.KwOnly {
				where = fmt.Sprintf(" (position %d)", i+1)
			}
			return nil, fmt.Sprintf("argument '%s'%s must be %s, not %s", name, where, p.pythonType(), kindOf(v))
		}
		vals[i] = w
	}
	if used < len(kwargs) {
		for k := range kwargs {
			switch k {
			case "device", "layout", "requires_grad", "pin_memory":
				used++
				continue
			}
			if o.Sch.Index(k) < 0 && !(k == "input" && o.Sch.Index("self") >= 0) {
				return nil, "got an unexpected keyword argument '" + k + "'"
			}
		}
	}
	return vals, ""
}

// spreadOut gives a list out=(a, b) to the parameters that an out form with several results writes to.
func (o *Op) spreadOut(kwargs map[string]Value) (_ map[string]Value, why string) {
	n := len(o.Sch.Results)
	list := kwargs["out"]
	if !o.IsOut() || n < 2 || list.K != KTensors {
		return kwargs, ""
	}
	outs := list.X.([]*Tensor)
	if len(outs) != n {
		return nil, fmt.Sprintf("expected tuple of %d elements but got %d", n, len(outs))
	}
	spread := maps.Clone(kwargs)
	delete(spread, "out")
	for i, p := range o.Sch.Params[len(o.Sch.Params)-n:] {
		spread[p.Name] = TensorValue(outs[i])
	}
	return spread, ""
}

// isNumber reports a number of Python's.
func (v Value) isNumber() bool {
	return v.K == KInt || v.K == KFloat || v.K == KBool || v.K == KComplex
}

// coerce fits one argument to a parameter; strict refuses what only a looser overload should take.
func coerce(v Value, p *Param, strict bool) (Value, bool) {
	if v.K == KNone {
		return v, p.Optional || p.Kind == KAny || p.Default != nil && p.Default.K == KNone
	}
	isNum := v.isNumber()
	switch p.Kind {
	case KTensor:
		return v, v.K == KTensor || isNum && !strict && !p.Writes
	case KTensors:
		if v.K == KInts && len(v.Ints()) == 0 {
			return TensorsValue(nil), true
		}
		return v, v.K == KTensors
	case KInt:
		if v.K == KTensor && !strict && v.T.numel == 1 && v.T.dt.IsIntOrBool() {
			return Value{K: KInt, N: v.T.Num().I}, true
		}
		if v.K == KBool && !strict {
			return Value{K: KInt, N: v.N}, true
		}
		return v, v.K == KInt
	case KFloat:
		if v.K == KInt || v.K == KBool && !strict {
			return FloatValue(float64(v.N)), true
		}
		if v.K == KTensor && !strict && v.T.numel == 1 {
			return FloatValue(v.T.Num().F), true
		}
		return v, v.K == KFloat
	case KBool:
		if v.K == KInt && !strict {
			return BoolValue(v.N != 0), true
		}
		return v, v.K == KBool
	case KScalar, KComplex:
		if v.K == KTensor && !strict && v.T.Dim() == 0 {
			return v.T.Num().Value(), true
		}
		return v, isNum
	case KStr:
		return v, v.K == KStr
	case KInts:
		if v.K == KInt && (p.Fixed > 0 || !strict) {
			l := make([]int, max(1, p.Fixed))
			for i := range l {
				l[i] = int(v.N)
			}
			return IntsValue(l), true
		}
		if v.K == KTensor && !strict && v.T.dt.IsInt() && v.T.Dim() <= 1 {
			l := make([]int, v.T.numel)
			for i, x := range Data[int64](DenseAs(v.T, Int64)) {
				l[i] = int(x)
			}
			return IntsValue(l), true
		}
		if v.K == KInts && p.Fixed > 1 && len(v.Ints()) == 1 {
			l := make([]int, p.Fixed)
			for i := range l {
				l[i] = v.Ints()[0]
			}
			return IntsValue(l), true
		}
		return v, v.K == KInts
	case KFloats:
		if v.K == KInts {
			l := make([]float64, len(v.Ints()))
			for i, x := range v.Ints() {
				l[i] = float64(x)
			}
			return FloatsValue(l), true
		}
		return v, v.K == KFloats
	case KBools:
		if v.K == KInts && len(v.Ints()) == 0 {
			return Value{K: KBools, X: []int{}}, true
		}
		return v, v.K == KBools
	case KScalars:
		return v, v.K == KScalars || v.K == KFloats || v.K == KInts
	case KStrs:
		switch l, _ := v.X.([]*Tensor); {
		case v.K == KStr && p.Fixed > 0:
			return StrsValue([]string{v.X.(string)}), true
		case v.K == KTensors && len(l) > 0 && !slices.ContainsFunc(l, func(t *Tensor) bool { return t != nil }):
			return StrsValue(make([]string, len(l))), true // a list of None
		}
		return v, v.K == KStrs
	case KDType:
		return v, v.K == KDType
	case KFormat:
		return v, v.K == KFormat
	case KDevice:
		return v, v.K == KDevice || v.K == KStr
	case KGenerator:
		return v, v.K == KGenerator
	}
	return v, true
}

// IsNaN reports a number that is not one.
func (n Num) IsNaN() bool { return n.K == KFloat && math.IsNaN(n.F) }
