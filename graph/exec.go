package graph

import (
	"context"
	"fmt"
	"runtime"

	"github.com/gotorch-dev/torch/tensor"
)

// Options bound a run.
type Options struct {
	// MaxSteps ends a run with ErrSteps after so many instructions; 0 means 1<<40.
	MaxSteps int64
}

// ErrSteps is the cause of the error of a run that has taken more steps than allowed.
var ErrSteps = fmt.Errorf("the program has run for more steps than allowed")

// maxDepth bounds the calls of functions in functions.
const maxDepth = 1000

// Run runs the function with these arguments and returns its results. Many goroutines may run one function at the same
// time, unless it writes attributes of objects. Gradients are recorded when they are for the calling goroutine. The
// context ends the run between two steps. A mistake is an *Error that names the function and the node.
func (f *Function) Run(ctx context.Context, args ...tensor.Value) ([]tensor.Value, error) {
	return f.RunWith(ctx, Options{}, args...)
}

// RunWith is Run with options.
func (f *Function) RunWith(ctx context.Context, opt Options, args ...tensor.Value) (res []tensor.Value, err error) {
	if err := f.Compile(); err != nil {
		return nil, err
	}
	if len(args) != len(f.Body.Params) {
		return nil, &Error{Func: f.Name, Err: &tensor.Error{Op: f.Name, Err: tensor.ErrType,
			Msg: fmt.Sprintf("%s takes %d arguments, got %d", f.Name, len(f.Body.Params), len(args))}}
	}
	x := &exec{left: opt.MaxSteps, ctx: ctx}
	if x.left <= 0 {
		x.left = 1 << 40
	}
	if ctx != nil {
		if err := ctx.Err(); err != nil {
			return nil, &Error{Func: f.Name, Err: err}
		}
		x.done = ctx.Done()
	}
	defer func() {
		if r := recover(); r != nil {
			err = x.failure(r)
		}
	}()
	res = make([]tensor.Value, len(f.Body.Results))
	x.call(f, args, res)
	return res, nil
}

// exec is one run.
type exec struct {
	ctx   context.Context
	done  <-chan struct{}
	left  int64 // steps
	depth int
	top   *frame // that is running
	grad  gradMode
}

// gradMode is what a program has said about recording gradients.
type gradMode uint8

const (
	gradAsIs gradMode = iota // as the caller's mode says
	gradOn
	gradOff
)

// frame is a running function.
type frame struct {
	p      *program
	f      *Function
	regs   []tensor.Value
	shared []bool // by group: another group has the same memory
	mark   uint64 // when the call began, in the order in which memory is made
	pc     int
	caller *frame
	buf    [8]tensor.Value // arguments of helpers
}

// stop is what a run panics with when its context or its steps are at an end, or the program raises an exception.
type stop struct{ err error }

// failure makes an error of a panic, with the place where the program was. Panics that are neither errors of operators
// nor of values whose type is not what the program says pass through.
func (x *exec) failure(r any) error {
	e := &Error{}
	switch r := r.(type) {
	case *tensor.Error:
		e.Err = r
	case stop:
		e.Err = r.err
	case *runtime.TypeAssertionError:
		e.Err = &tensor.Error{Msg: "a value has another type than the program says: " + r.Error(), Err: tensor.ErrType}
	case error:
		if pe, ok := r.(*Error); ok {
			return pe
		}
		panic(r)
	default:
		panic(r)
	}
	if f := x.top; f != nil {
		e.Func = f.f.Name
		if f.pc < len(f.p.code) {
			if e.Node = f.p.code[f.pc].node; e.Node.from != "" {
				e.Func = e.Node.from
			}
		}
	}
	return e
}

// call runs a function in a frame of its own.
func (x *exec) call(f *Function, args, res []tensor.Value) {
	p := &f.code
	if err := f.Compile(); err != nil {
		panic(stop{err})
	}
	if len(args) != len(p.params) || len(res) > len(p.result) {
		tensor.Fail(tensor.ErrType, "%s takes %d arguments, got %d", f.Name, len(p.params), len(args))
	}
	if x.depth++; x.depth > maxDepth {
		tensor.Fail(tensor.ErrValue, "functions call each other more than %d deep", maxDepth)
	}
	fr := p.frames.Get().(*frame)
	fr.f, fr.caller, fr.pc = f, x.top, 0
	if p.flows {
		fr.mark = tensor.StorageMark()
	}
	for i, r := range p.params {
		fr.regs[r] = args[i]
	}
	x.top = fr
	x.run(fr)
	for i := range res {
		res[i] = fr.regs[p.result[i]]
	}
	x.top = fr.caller
	x.depth--
	fr.caller = nil
	clear(fr.regs[len(p.consts):])
	for _, e := range p.extra {
		fr.regs[e.reg] = e.val
	}
	clear(fr.shared)
	clear(fr.buf[:])
	p.frames.Put(fr)
}

func (x *exec) poll() {
	select {
	case <-x.done:
		panic(stop{x.ctx.Err()})
	default:
	}
}

// run executes the instructions of a frame.
func (x *exec) run(f *frame) {
	code, regs := f.p.code, f.regs
	for pc := 0; pc < len(code); {
		in := &code[pc]
		f.pc = pc
		pc++
		if x.left--; x.left < 0 {
			panic(stop{ErrSteps})
		}
		switch in.op {
		case opCall:
			if x.done != nil {
				x.poll()
			}
			switch x.grad {
			case gradAsIs:
				x.callOp(f, in)
			case gradOff:
				tensor.NoGrad(func() { x.callOp(f, in) })
			default:
				tensor.EnableGrad(func() { x.callOp(f, in) })
			}
		case opFunc:
			n := len(in.in)
			args := f.buf[:0]
			if n > len(f.buf) {
				args = make([]tensor.Value, 0, n)
			}
			for _, r := range in.in {
				args = append(args, regs[r])
			}
			v := in.fn(args)
			switch len(in.out) {
			case 0:
			case 1:
				regs[in.out[0]] = v
			default:
				unpack(f, in, v)
			}
		case opMove:
			was := regs[in.out[0]]
			regs[in.out[0]] = regs[in.in[0]]
			if in.over {
				f.drop(was, f.p.groupOf[in.out[0]])
			}
		case opMoves:
			f.moves(in)
		case opLoad:
			regs[in.out[0]] = fresh(in.node.Const)
		case opJump:
			pc = int(in.to)
		case opJumpIf:
			if !truth(&regs[in.in[0]]) {
				pc = int(in.to)
			}
		case opLoopHead:
			i, most := regs[in.in[0]].N, &regs[in.in[1]]
			if i >= most.N && most.K == tensor.KInt || !truth(&regs[in.in[2]]) {
				pc = int(in.to)
				break
			}
			regs[in.out[0]] = tensor.Value{K: tensor.KInt, N: i}
		case opLoopNext:
			if x.done != nil {
				x.poll()
			}
			regs[in.in[0]].N++
			pc = int(in.to)
		case opFree:
		default:
			x.structural(f, in)
		}
		for _, r := range in.free {
			was := regs[r.reg]
			regs[r.reg] = tensor.Value{}
			if r.group >= 0 && was.K == tensor.KTensor {
				f.drop(was, r.group)
			}
		}
	}
}

// drop frees the memory of a value of a group that no register holds any more, unless something else may know it.
func (f *frame) drop(v tensor.Value, group int32) {
	if group < 0 || v.K != tensor.KTensor || v.T == nil || f.shared[group] {
		return
	}
	st := v.T.Storage()
	if st == nil {
		return
	}
	if regs := f.p.carried[group]; regs != nil {
		if !st.MadeSince(f.mark) {
			return
		}
		for _, r := range regs {
			if w := &f.regs[r]; w.K == tensor.KTensor && w.T != nil && w.T.Storage() == st {
				return
			}
		}
	}
	tensor.ReleaseConsumed(v.T)
}

// moves copies registers all at once, since a loop may exchange values.
func (f *frame) moves(in *instr) {
	var buf, old [16]tensor.Value
	tmp, was := buf[:0], old[:0]
	for _, r := range in.in {
		tmp = append(tmp, f.regs[r])
	}
	for i, r := range in.out {
		if in.over {
			was = append(was, f.regs[r])
		}
		f.regs[r] = tmp[i]
	}
	for i := range was {
		f.drop(was[i], f.p.groupOf[in.out[i]])
	}
}

// truth reads a condition. A tensor with one element counts, as in PyTorch.
func truth(v *tensor.Value) bool {
	switch v.K {
	case tensor.KBool, tensor.KInt:
		return v.N != 0
	case tensor.KTensor:
		switch n := v.T.Numel(); {
		case n == 0:
			tensor.Fail(tensor.ErrType, "Boolean value of Tensor with no values is ambiguous")
		case n > 1:
			tensor.Fail(tensor.ErrType, "Boolean value of Tensor with more than one value is ambiguous")
		}
		n := v.T.Num()
		return n.I != 0 || n.F != 0 || n.C != 0
	}
	tensor.Fail(tensor.ErrType, "a condition must be a bool, not %s", describe(*v))
	return false
}

// callOp calls an operator of the registry.
func (x *exec) callOp(f *frame, in *instr) {
	c := tensor.NewCall(in.op1, len(in.args))
	for i := range in.args {
		a := &in.args[i]
		switch a.mode {
		case fromConst:
			*c.Arg(i) = a.val
		case fromReg: // a tensor
			v := &f.regs[a.reg]
			if v.K != tensor.KTensor {
				checkKind(v, tensor.KTensor)
			}
			*c.Arg(i) = *v
		case fromRegBoxed:
			*c.Arg(i) = convert(f.regs[a.reg], a)
		default:
			*c.Arg(i) = f.list(a)
		}
	}
	if in.one {
		t := c.Do1()
		f.regs[in.out[0]] = tensor.TensorValue(t)
		if f.p.groups > 0 {
			f.watch(in, t)
		}
		return
	}
	if len(in.out) == 0 {
		c.Do0()
		return
	}
	vals := c.DoAll()
	for i, r := range in.out {
		if i < len(vals) {
			f.regs[r] = Normal(vals[i])
			f.watchOther(in, f.regs[r])
		}
	}
}

// watch looks whether a result shares memory with an argument although the schema does not say so, as dropout's does in
// evaluation, and that of set_: the memory then belongs to no group alone.
func (f *frame) watch(in *instr, t *tensor.Tensor) {
	if t == nil {
		return
	}
	st := t.Storage()
	share := func(g int32) {
		if g >= 0 {
			f.shared[g] = true
		}
	}
	same := func(r int32) {
		g := f.p.groupOf[r]
		if v := &f.regs[r]; g != in.group && v.K == tensor.KTensor && v.T != nil && v.T.Storage() == st {
			share(in.group)
			share(g)
		}
	}
	for i := range in.args {
		switch a := &in.args[i]; a.mode {
		case fromReg:
			same(a.reg)
		case fromList:
			for j := range a.list {
				if a.list[j].mode == fromReg {
					same(a.list[j].reg)
				}
			}
		case fromRegBoxed:
			if l, ok := f.regs[a.reg].X.(*List); ok {
				for _, e := range l.Items {
					if e.K == tensor.KTensor && e.T != nil && e.T.Storage() == st {
						share(in.group)
					}
				}
			}
		case fromConst:
			if a.val.K == tensor.KTensor && a.val.T != nil && a.val.T.Storage() == st {
				share(in.group)
			}
		}
	}
}

// watchOther does so for one of several results: an argument that shares memory with it is never freed.
func (f *frame) watchOther(in *instr, v tensor.Value) {
	mark := func(t *tensor.Tensor) {
		if t == nil {
			return
		}
		st := t.Storage()
		seen := func(r int32) {
			if w := &f.regs[r]; w.K == tensor.KTensor && w.T != nil && w.T != t && w.T.Storage() == st {
				if g := f.p.groupOf[r]; g >= 0 {
					f.shared[g] = true
				}
			}
		}
		for i := range in.args {
			switch a := &in.args[i]; a.mode {
			case fromReg:
				seen(a.reg)
			case fromList:
				for j := range a.list {
					if a.list[j].mode == fromReg {
						seen(a.list[j].reg)
					}
				}
			}
		}
		for _, r := range in.out {
			seen(r)
		}
	}
	if v.K == tensor.KTensor {
		mark(v.T)
	} else if l, ok := v.X.(*List); ok {
		for _, e := range l.Items {
			if e.K == tensor.KTensor {
				mark(e.T)
			}
		}
	}
}

// list builds a list argument from registers.
func (f *frame) list(a *argument) tensor.Value {
	if a.kind == tensor.KTensors {
		l := make([]*tensor.Tensor, len(a.list))
		for i := range a.list {
			v := &a.list[i].val
			if a.list[i].mode == fromReg {
				v = &f.regs[a.list[i].reg]
			}
			l[i] = asTensor(*v)
		}
		return tensor.TensorsValue(l)
	}
	if a.kind == tensor.KInts {
		l := make([]int, len(a.list))
		for i := range a.list {
			v := &a.list[i].val
			if a.list[i].mode == fromReg {
				v = &f.regs[a.list[i].reg]
			}
			l[i] = asInt(v)
		}
		return tensor.IntsValue(l)
	}
	items := make([]tensor.Value, len(a.list))
	for i := range a.list {
		if items[i] = a.list[i].val; a.list[i].mode == fromReg {
			items[i] = f.regs[a.list[i].reg]
		}
	}
	return convert(NewList(nil, items...), a)
}

func asTensor(v tensor.Value) *tensor.Tensor {
	switch v.K {
	case tensor.KTensor:
		return v.T
	case tensor.KNone:
		return nil
	}
	return v.Num().Tensor()
}

func asInt(v *tensor.Value) int {
	switch v.K {
	case tensor.KInt, tensor.KBool:
		return int(v.N)
	case tensor.KTensor:
		if v.T != nil {
			return int(v.T.Num().I)
		}
	}
	tensor.Fail(tensor.ErrType, "want an int, not %s", describe(*v))
	return 0
}

// convert gives a value the form that a parameter's kind has in the registry.
func convert(v tensor.Value, a *argument) tensor.Value {
	switch v.K {
	case tensor.KNone:
		return v
	case tensor.KAny:
		switch x := v.X.(type) {
		case *List:
			if isList(a.kind) {
				return convertItems(x.Items, a.kind)
			}
			if a.kind == tensor.KAny { // objects that only the operator knows
				l := make([]any, len(x.Items))
				for i, e := range x.Items {
					l[i] = e.X
				}
				return tensor.AnyValue(l)
			}
		case *Tuple:
			if isList(a.kind) {
				return convertItems(x.Items, a.kind)
			}
		}
	case tensor.KInt:
		switch a.kind {
		case tensor.KDType:
			d, err := DTypeOf(int(v.N))
			if err != nil {
				panic(err)
			}
			return tensor.DTypeValue(d)
		case tensor.KFloat:
			return tensor.FloatValue(float64(v.N))
		case tensor.KFormat:
			if v.N < 0 || v.N >= int64(len(formats)) {
				tensor.Fail(tensor.ErrValue, "there is no memory format %d", v.N)
			}
			return tensor.FormatValue(formats[v.N])
		case tensor.KLayout:
			return layout(v.N)
		}
	case tensor.KStr:
		if a.kind == tensor.KDevice {
			d, err := tensor.ParseDevice(v.X.(string))
			if err != nil {
				panic(err)
			}
			return tensor.DeviceValue(d)
		}
	case tensor.KTensor:
		switch a.kind {
		case tensor.KScalar, tensor.KInt, tensor.KFloat, tensor.KBool:
			return v.T.Num().Value()
		}
	}
	checkKind(&v, a.kind)
	return v
}

// checkKind refuses a value that an operator would not expect for a parameter of kind k.
func checkKind(v *tensor.Value, k tensor.Kind) {
	if v.K == k || v.K == tensor.KNone || k == tensor.KAny {
		return
	}
	number := v.K == tensor.KInt || v.K == tensor.KBool || v.K == tensor.KFloat || v.K == tensor.KComplex
	ok := false
	switch k {
	case tensor.KTensor, tensor.KScalar, tensor.KComplex, tensor.KFloat:
		ok = number
	case tensor.KInt, tensor.KBool:
		ok = v.K == tensor.KInt || v.K == tensor.KBool
	case tensor.KDType, tensor.KFormat, tensor.KLayout, tensor.KGenerator:
	case tensor.KInts, tensor.KFloats: // a number counts as a list of the length that the schema fixes
		ok = number || v.K == tensor.KInts || v.K == tensor.KFloats
	case tensor.KScalars:
		ok = v.K == tensor.KInts || v.K == tensor.KFloats || v.K == tensor.KBools
	case tensor.KBools:
		ok = v.K == tensor.KInts
	}
	if !ok {
		tensor.Fail(tensor.ErrType, "an argument of kind %s cannot be %s", typeOfKind(k, false), describe(*v))
	}
}

// layout is the value of a layout argument; strided is the only layout there is.
func layout(n int64) tensor.Value {
	if n != 0 {
		tensor.Fail(tensor.ErrNotImpl, "layouts other than torch.strided are not supported")
	}
	return tensor.Value{}
}

// convertItems makes a list of the registry of the elements of a list.
func convertItems(items []tensor.Value, k tensor.Kind) tensor.Value {
	switch k {
	case tensor.KTensors:
		l := make([]*tensor.Tensor, len(items))
		for i, v := range items {
			l[i] = asTensor(v)
		}
		return tensor.TensorsValue(l)
	case tensor.KInts:
		l := make([]int, len(items))
		for i := range items {
			l[i] = asInt(&items[i])
		}
		return tensor.IntsValue(l)
	case tensor.KBools:
		l := make([]bool, len(items))
		for i := range items {
			l[i] = truth(&items[i])
		}
		return tensor.BoolsValue(l)
	case tensor.KFloats:
		l := make([]float64, len(items))
		for i := range items {
			l[i] = items[i].Num().F
		}
		return tensor.FloatsValue(l)
	case tensor.KScalars:
		l := make([]float64, len(items))
		ints := make([]int, len(items))
		whole := true
		for i := range items {
			n := items[i].Num()
			l[i], ints[i], whole = n.F, int(n.I), whole && n.IsInt()
		}
		if whole {
			return tensor.IntsValue(ints)
		}
		return tensor.FloatsValue(l)
	}
	return NewList(nil, items...)
}

// fresh is a copy of a constant that a program may change.
func fresh(v tensor.Value) tensor.Value {
	v = Normal(v)
	switch x := v.X.(type) {
	case *List:
		l := &List{Elem: x.Elem, Items: make([]tensor.Value, len(x.Items))}
		for i, e := range x.Items {
			l.Items[i] = fresh(e)
		}
		return Box(l)
	case *Dict:
		d := NewDict(x.Key, x.Elem)
		x.Each(func(k, e tensor.Value) { d.Set(k, fresh(e)) })
		return Box(d)
	}
	return v
}

func describe(v tensor.Value) string {
	switch x := v.X.(type) {
	case *Object:
		return "an object of " + x.Class.Name
	case *List:
		return "a list"
	case *Dict:
		return "a dictionary"
	case *Tuple:
		return "a tuple"
	case *Strings:
		return "a tensor of strings"
	}
	return v.String()
}

// unpack spreads the fields of a tuple or the elements of a list over the results of an instruction.
func unpack(f *frame, in *instr, v tensor.Value) {
	items, ok := ItemsOf(v)
	if !ok {
		tensor.Fail(tensor.ErrType, "want a list or a tuple, not %s", describe(v))
	}
	if len(items) != len(in.out) {
		tensor.Fail(tensor.ErrValue, "Expected %d elements in a list but found %d", len(in.out), len(items))
	}
	for i, r := range in.out {
		f.regs[r] = items[i]
	}
}
