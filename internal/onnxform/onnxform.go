package onnxform

import (
	"fmt"
	"slices"
	"sync"

	"github.com/gotorch-dev/torch/tensor"
)

// Value is a tensor of the file that is being written.
type Value struct {
	Name  string         // in the file, "" while nothing has used a constant yet
	DType tensor.DType   // 0 when it is not known
	Shape []int          // -1 is a size that is known only when the file runs
	Known bool           // Shape is known
	Const *tensor.Tensor // the elements, where they are known
	Param bool           // Const is a parameter or a buffer of the module, and stays one tensor of the file
	Seq   bool           // a sequence of tensors
}

// Rank is the number of dimensions, -1 when it is not known.
func (v *Value) Rank() int {
	if !v.Known {
		return -1
	}
	return len(v.Shape)
}

// Static reports that all sizes are known.
func (v *Value) Static() bool { return v.Known && !slices.Contains(v.Shape, -1) }

// Folds reports that what is computed from the value can be computed while the file is written.
func (v *Value) Folds() bool { return v.Const != nil && !v.Param }

// A is the attributes of a node: ints, floats, strings, lists of them, tensors and dtypes by name.
type A map[string]any

// Writer adds to a file. The exporter implements it.
type Writer interface {
	// Emit adds a node with n results. A nil input is one that is left out.
	Emit(domain, op string, attrs A, n int, ins []*Value) []*Value
	// Warn notes something that the user should know about the file.
	Warn(text string)
}

// Form writes one call of an operator: it returns one value for each result that the file has. It fails with Call.Fail.
type Form func(c *Call) []*Value

// One is a form of an operator with one result.
//
//go:noinline // each operator's form would have a copy of the closure
func One(f func(c *Call) *Value) Form { return func(c *Call) []*Value { return []*Value{f(c)} } }

type entry struct {
	form  Form
	sized func(c *Call) bool
}

var forms = struct {
	sync.RWMutex
	m map[string]entry
}{m: map[string]entry{}}

// Register declares the form of operators by their full names ("aten::add.Tensor"). It panics when one of them has a
// form already, at program start.
func Register(f Form, ops ...string) { register(entry{form: f}, ops) }

// RegisterSized is Register for operators the sizes of whose results depend on the elements of their arguments, such
// as nonzero: the form says in Value.Shape what is known of them.
func RegisterSized(f Form, ops ...string) {
	register(entry{form: f, sized: func(*Call) bool { return true }}, ops)
}

// RegisterSizedIf is RegisterSized for operators of which only some calls have such results.
func RegisterSizedIf(is func(c *Call) bool, f Form, ops ...string) {
	register(entry{form: f, sized: is}, ops)
}

func register(e entry, ops []string) {
	forms.Lock()
	defer forms.Unlock()
	for _, op := range ops {
		if _, ok := forms.m[op]; ok {
			panic("onnxform: two forms for " + op)
		}
		forms.m[op] = e
	}
}

// Find is the form of an operator, nil when there is none. sized, unless nil, reports a call the sizes of whose results
// only the form knows.
func Find(op string) (f Form, sized func(c *Call) bool) {
	forms.RLock()
	e := forms.m[op]
	forms.RUnlock()
	if e.form == nil {
		e.form = direct(op)
	}
	return e.form, e.sized
}

// backwards are the lines of tensor.RegisterONNX by the operator that they call.
var backwards = sync.OnceValue(func() map[string][]tensor.ONNXForm {
	m := map[string][]tensor.ONNXForm{}
	tensor.ONNXForms(func(f tensor.ONNXForm) { m[f.Op] = append(m[f.Op], f) })
	return m
})

// direct is the form that a line of tensor.RegisterONNX gives, nil without one.
func direct(op string) Form {
	l := backwards()[op]
	if l == nil {
		return nil
	}
	return func(c *Call) []*Value {
		for i := range l {
			if f := &l[i]; c.Opset >= f.Since && (f.Until == 0 || c.Opset <= f.Until) {
				return []*Value{c.direct(f)}
			}
		}
		c.Fail("there is no form in opset %d; there is one from %s %d on", c.Opset, l[0].Name, l[0].Since)
		return nil
	}
}

func (c *Call) direct(f *tensor.ONNXForm) *Value {
	attrs := A{}
	var ins []*Value
	for i, a := range f.Args {
		switch {
		case a.Input >= 0:
			for len(ins) <= a.Input {
				ins = append(ins, nil)
			}
			ins[a.Input] = c.T(i)
		case a.Attr == "":
			if got := c.Arg(i).String(); got != a.Value.String() {
				c.Fail("argument %s is %s, ONNX's %s has %s", c.argName(i), got, f.Name, a.Value)
			}
		default:
			switch v := c.known(i); a.Value.K {
			case tensor.KInt:
				attrs[a.Attr] = int(v.Num().I)
			case tensor.KFloat:
				attrs[a.Attr] = v.Num().F
			case tensor.KBool:
				attrs[a.Attr] = int(v.N)
			case tensor.KStr:
				attrs[a.Attr] = v.X
			}
		}
	}
	rest := len(f.Args)
	for i := rest; i < len(c.Args); i++ {
		if !c.isDefault(i) {
			c.Fail("argument %s is %s: ONNX's %s has no such argument", c.argName(i), c.Arg(i), f.Name)
		}
	}
	return c.Node(f.Name, attrs, c.promoted(f.Name, ins)...)
}

// promoted gives the inputs of an elementwise node one dtype.
func (c *Call) promoted(op string, ins []*Value) []*Value {
	switch op {
	case "And", "Or", "Xor", "Not":
		return c.castAll(ins, tensor.Bool)
	case "MatMul":
		return ins
	case "Where":
		return append([]*Value{c.Cast(ins[0], tensor.Bool)}, c.castAll(ins[1:], c.OutType(0))...)
	}
	dt := c.OutType(0)
	if dt == tensor.Bool { // a comparison
		dt = c.Common(ins...)
		if dt == tensor.Bool && op != "Equal" {
			dt = tensor.Int32
		}
	}
	return c.castAll(ins, dt)
}

func (c *Call) castAll(ins []*Value, dt tensor.DType) []*Value {
	out := make([]*Value, len(ins))
	for i, v := range ins {
		out[i] = c.Cast(v, dt)
	}
	return out
}

// Failure is what Call.Fail panics with.
type Failure struct{ Err error }

// Fail ends the form: the call cannot be written. It names the reason.
func (c *Call) Fail(format string, args ...any) { panic(Failure{fmt.Errorf(format, args...)}) }
