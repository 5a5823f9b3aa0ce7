package onnxform

import (
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

// Call is one call of an operator that is being written.
type Call struct {
	Writer
	Op      string         // full name: "aten::conv2d"
	Schema  *tensor.Schema // of the operator
	Opset   int            // version of ONNX's own operators
	Train   bool           // the file is written for training
	Results int            // how many results are read; for operators with a list, how many elements it has
	// Args are by position, defaults filled in. A tensor, and a number that is known only when the file runs, is a
	// boxed *Value; a list that holds one is a boxed []tensor.Value.
	Args []tensor.Value
	Outs []*Value // what is known of the results, without names
}

// Arg is argument i; the zero value, None, where there is none.
func (c *Call) Arg(i int) tensor.Value {
	if i >= len(c.Args) {
		return tensor.Value{}
	}
	return c.Args[i]
}

func (c *Call) argName(i int) string {
	if c.Schema != nil && i < len(c.Schema.Params) {
		return c.Schema.Params[i].Name
	}
	return "number " + tensor.IntValue(i).String()
}

// Has reports an argument that is not None.
func (c *Call) Has(i int) bool { return c.Arg(i).K != tensor.KNone }

// isDefault reports an argument with the schema's default, or one of no importance to a file.
func (c *Call) isDefault(i int) bool {
	p := &c.Schema.Params[i]
	switch p.Kind {
	case tensor.KDevice, tensor.KLayout, tensor.KFormat, tensor.KDType:
		return true
	}
	return p.Default != nil && p.Default.String() == c.Args[i].String()
}

// Dynamic reports an argument that is known only when the file runs, as a whole or in part.
func (c *Call) Dynamic(i int) bool {
	switch c.Arg(i).X.(type) {
	case *Value, []tensor.Value:
		return true
	}
	return false
}

// T is a tensor argument, nil for None. A number becomes a constant with its own dtype.
func (c *Call) T(i int) *Value {
	switch a := c.Arg(i); a.K {
	case tensor.KNone:
		return nil
	case tensor.KAny:
		if v, ok := a.X.(*Value); ok {
			return v
		}
	case tensor.KInt, tensor.KFloat, tensor.KBool, tensor.KComplex:
		return constant(a.Num().Tensor())
	}
	c.Fail("argument %s is %s, no tensor", c.argName(i), c.Arg(i))
	return nil
}

// Ts is an argument that is a list of tensors; an element is nil for None.
func (c *Call) Ts(i int) []*Value {
	l, ok := c.Arg(i).X.([]tensor.Value)
	if !ok {
		if v, single := c.Arg(i).X.(*Value); single {
			return []*Value{v}
		}
		if c.Arg(i).K == tensor.KNone || c.Arg(i).K == tensor.KTensors {
			return nil
		}
		c.Fail("argument %s is no list of tensors", c.argName(i))
	}
	out := make([]*Value, len(l))
	for k, e := range l {
		if e.K == tensor.KNone {
			continue
		}
		if out[k], ok = e.X.(*Value); !ok {
			c.Fail("argument %s: element %d is no tensor", c.argName(i), k)
		}
	}
	return out
}

// known is an argument that must be known while the file is written.
func (c *Call) known(i int) tensor.Value {
	if c.Dynamic(i) {
		if v, ok := c.Arg(i).X.(*Value); ok && v.Folds() && v.Const.Numel() == 1 {
			return v.Const.Num().Value()
		}
		c.Fail("argument %s is known only when the file runs, and ONNX wants a constant", c.argName(i))
	}
	return c.Arg(i)
}

// Int is an argument that must be a constant, 0 for None.
func (c *Call) Int(i int) int {
	v := c.known(i)
	if v.K == tensor.KNone {
		return 0
	}
	return int(v.Num().I)
}

// Float is an argument that must be a constant, 0 for None.
func (c *Call) Float(i int) float64 {
	v := c.known(i)
	if v.K == tensor.KNone {
		return 0
	}
	return v.Num().F
}

// Bool is an argument that must be a constant, false for None.
func (c *Call) Bool(i int) bool { v := c.known(i); return v.K != tensor.KNone && v.Num().F != 0 }

// Str is an argument that must be a constant, "" for None.
func (c *Call) Str(i int) string { s, _ := c.known(i).X.(string); return s }

// DType is a dtype argument, def for None.
func (c *Call) DType(i int, def tensor.DType) tensor.DType {
	if v := c.known(i); v.K == tensor.KDType {
		return tensor.DType(v.N)
	}
	return def
}

// Ints is a list of constants, or one of them; nil for None.
func (c *Call) Ints(i int) []int {
	switch v := c.known(i); v.K {
	case tensor.KNone:
		return nil
	case tensor.KInt, tensor.KBool:
		return []int{int(v.N)}
	case tensor.KInts, tensor.KBools:
		return append([]int{}, v.Ints()...)
	}
	c.Fail("argument %s is %s, no list of ints", c.argName(i), c.Arg(i))
	return nil
}

// IntsOf is Ints with exactly n elements: one stands for all, none for def.
func (c *Call) IntsOf(i, n, def int) []int {
	l := c.Ints(i)
	if len(l) == 1 || len(l) == 0 {
		x := def
		if len(l) == 1 {
			x = l[0]
		}
		l = slices.Repeat([]int{x}, n)
	}
	if len(l) != n {
		c.Fail("argument %s has %d elements, want %d", c.argName(i), len(l), n)
	}
	return l
}

// Floats is a list of constants.
func (c *Call) Floats(i int) []float64 {
	switch v := c.known(i); x := v.X.(type) {
	case []float64:
		return x
	case []int:
		out := make([]float64, len(x))
		for k, n := range x {
			out[k] = float64(n)
		}
		return out
	default:
		if v.K == tensor.KFloat || v.K == tensor.KInt {
			return []float64{v.Num().F}
		}
	}
	return nil
}

// IntsValue is a list of ints as a tensor of one dimension and dtype int64, wherever the ints come from.
func (c *Call) IntsValue(i int) *Value { return c.Vector(c.Elems(i)...) }

// Elems are the elements of a list of ints, or a single int, each a constant or a *Value of no dimensions.
func (c *Call) Elems(i int) []any {
	switch x := c.Arg(i).X.(type) {
	case []tensor.Value:
		out := make([]any, len(x))
		for k, e := range x {
			if v, ok := e.X.(*Value); ok {
				out[k] = v
			} else {
				out[k] = int(e.Num().I)
			}
		}
		return out
	case *Value:
		return []any{x}
	}
	l := c.Ints(i)
	out := make([]any, len(l))
	for k, n := range l {
		out[k] = n
	}
	return out
}

// Elem is an int argument: a constant, or a *Value of no dimensions.
func (c *Call) Elem(i int) any {
	if v, ok := c.Arg(i).X.(*Value); ok {
		return v
	}
	return c.Int(i)
}

// Vector puts ints and *Values of no dimensions together in one dimension, of dtype int64.
func (c *Call) Vector(elems ...any) *Value {
	var parts []*Value
	var run []int
	flush := func() {
		if run != nil {
			parts = append(parts, c.I64(run...))
			run = nil
		}
	}
	for _, e := range elems {
		switch x := e.(type) {
		case int:
			run = append(run, x)
		case *Value:
			if x.Folds() && x.Const.Numel() == 1 {
				run = append(run, int(x.Const.Num().I))
				continue
			}
			flush()
			parts = append(parts, c.Reshape(c.Cast(x, tensor.Int64), 1))
		}
	}
	flush()
	switch len(parts) {
	case 0:
		return c.I64()
	case 1:
		return parts[0]
	}
	v := c.Concat(0, parts...)
	v.DType, v.Known, v.Shape = tensor.Int64, true, []int{len(elems)}
	return v
}

// Num is a number argument as a tensor of no dimensions.
func (c *Call) Num(i int, dt tensor.DType) *Value {
	if v, ok := c.Arg(i).X.(*Value); ok {
		return c.Cast(v, dt)
	}
	return c.Const(c.known(i).Num().Tensor().ToDType(dt))
}

// IsNum reports a number argument that is known and is x.
func (c *Call) IsNum(i int, x float64) bool {
	return !c.Dynamic(i) && c.Has(i) && c.Arg(i).Num().F == x
}

// Data are the elements of a tensor argument, which must be a parameter or a constant.
func (c *Call) Data(i int) *tensor.Tensor {
	v := c.T(i)
	if v == nil {
		return nil
	}
	if v.Const == nil {
		c.Fail("argument %s is computed, and ONNX wants a constant", c.argName(i))
	}
	return v.Const
}

// OutType is the dtype of a result.
func (c *Call) OutType(i int) tensor.DType {
	if i < len(c.Outs) && c.Outs[i] != nil {
		return c.Outs[i].DType
	}
	return 0
}

// OutShape is the shape of a result, with -1 for sizes that are not known; nil when the number of dimensions is not.
func (c *Call) OutShape(i int) []int {
	if i < len(c.Outs) && c.Outs[i] != nil && c.Outs[i].Known {
		return c.Outs[i].Shape
	}
	return nil
}

// Rank is the number of dimensions of a value, which must be known.
func (c *Call) Rank(v *Value) int {
	if !v.Known {
		c.Fail("the number of dimensions of its argument is not known")
	}
	return len(v.Shape)
}

// Dim is a dimension counted from the front.
func (c *Call) Dim(v *Value, dim int) int {
	if dim < 0 {
		dim += max(c.Rank(v), 1)
	}
	return dim
}

// Common is the dtype to which PyTorch promotes operands: tensors with dimensions outrank those without, and numbers.
func (c *Call) Common(vs ...*Value) tensor.DType {
	var dt, low tensor.DType
	for _, v := range vs {
		if v == nil || v.DType == 0 {
			continue
		}
		p := &dt
		if v.Known && len(v.Shape) == 0 {
			p = &low
		}
		if *p == 0 {
			*p = v.DType
		} else {
			*p = tensor.PromoteTypes(*p, v.DType)
		}
	}
	switch {
	case dt == 0:
		return low
	case low == 0 || category(low) <= category(dt):
		return dt
	}
	return low
}

func category(d tensor.DType) int {
	switch {
	case d.IsComplex():
		return 3
	case d.IsFloat():
		return 2
	case d == tensor.Bool:
		return 0
	}
	return 1
}
