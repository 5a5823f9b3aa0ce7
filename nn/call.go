package nn

import (
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
)

// kw are keyword arguments of an operator call.
type kw map[string]any

// apply calls an operator with its first arguments; the others are at their defaults. Unlike call it looks for no overload: it is for the
// layers that small models spend their time in.
func apply(op *tensor.Op, args ...tensor.Value) *Tensor {
	n := len(op.Sch.Params)
	c := tensor.NewCall(op, n)
	for i := range n {
		if i < len(args) {
			*c.Arg(i) = args[i]
		} else if d := op.Sch.Params[i].Default; d != nil {
			*c.Arg(i) = *d
		}
	}
	return c.Do1()
}

var (
	tv     = tensor.TensorValue
	pyNone tensor.Value
)

// callAll calls a function of torch.nn.functional, torch or torch.Tensor, or the operator of the same name, with Python's arguments: positional ones, then
// perhaps one kw. Mistakes panic with *tensor.Error.
func callAll(name string, args ...any) []tensor.Value {
	var named map[string]tensor.Value
	vals := make([]tensor.Value, 0, len(args))
	for _, a := range args {
		if k, ok := a.(kw); ok {
			named = make(map[string]tensor.Value, len(k))
			for n, v := range k {
				named[n] = box(v)
			}
			continue
		}
		vals = append(vals, box(a))
	}
	res, err := tensor.ResolveCall(opNames(name), vals, named)
	if err != nil {
		panic(err)
	}
	return res
}

// call is callAll for one tensor result.
func call(name string, args ...any) *Tensor {
	v := callAll(name, args...)
	return v[0].T
}

// call2 is callAll for two tensor results.
func call2(name string, args ...any) (a, b *Tensor) {
	v := callAll(name, args...)
	return v[0].T, v[1].T
}

var opNameCache sync.Map // name → []string

func opNames(name string) []string {
	if v, ok := opNameCache.Load(name); ok {
		return v.([]string)
	}
	names := []string{name}
	if !strings.Contains(name, "::") {
		names = []string{"F::" + name, "torch::" + name, "Tensor::" + name, "aten::" + name}
	}
	opNameCache.Store(name, names)
	return names
}

func box(a any) tensor.Value {
	switch x := a.(type) {
	case Size:
		if len(x) == 1 {
			return tensor.IntValue(x[0])
		}
		if x == nil {
			return tensor.Value{}
		}
		return tensor.IntsValue(x)
	case Reduction:
		return tensor.StrValue(x.String())
	case *Tensor:
		if x == nil {
			return tensor.Value{}
		}
	}
	return tensor.Box(a)
}

// inPlaceIf runs an operator without or with its in-place form. It is looked up under its name in torch.nn.functional, then among the
// tensor operators.
func inPlaceIf(inplace bool, name string, args ...any) *Tensor {
	if inplace {
		return call("aten::"+name+"_", args...)
	}
	return call(name, args...)
}

// num is a number option's value, or its default.
func num(s, def tensor.Scalar) tensor.Scalar {
	if s == nil {
		return def
	}
	return s
}

// or is an int option's value, or its default.
func or(n, def int) int {
	if n == 0 {
		return def
	}
	return n
}

// toFloat reads a number.
func toFloat(s tensor.Scalar) float64 {
	n := tensor.ScalarValue(s).Num()
	if n.IsInt() {
		return float64(n.I)
	}
	return n.F
}

// pyFloat prints a float as Python's repr does.
func pyFloat(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	case f == 0:
		if math.Signbit(f) {
			return "-0.0"
		}
		return "0.0"
	}
	if a := math.Abs(f); a < 1e-4 || a >= 1e16 {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// pyNum prints a number as Python does: ints without a point.
func pyNum(s tensor.Scalar) string {
	v := tensor.ScalarValue(s)
	switch v.K {
	case tensor.KNone:
		return "None"
	case tensor.KInt:
		return strconv.Itoa(int(v.N))
	case tensor.KBool:
		return pyBool(v.N != 0)
	}
	return pyFloat(v.Num().F)
}

func pyBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// param makes an uninitialised parameter.
func param(dt tensor.DType, shape ...int) *Tensor {
	if dt == 0 {
		dt = tensor.DefaultDType()
	}
	for _, n := range shape {
		if n < 0 {
			tensor.Fail(tensor.ErrShape, "nn: a parameter cannot have shape %s", tensor.ShapeString(shape))
		}
	}
	return NewParameter(tensor.New(shape, dt))
}

// constant makes a tensor with one value everywhere.
func constant(dt tensor.DType, v float64, shape ...int) *Tensor {
	if dt == 0 {
		dt = tensor.DefaultDType()
	}
	t := tensor.New(shape, dt)
	fillRaw(t, v)
	return t
}

// fillRaw sets every element, not recorded.
func fillRaw(t *Tensor, v float64) {
	tensor.CopyRaw(t, tensor.Alias(tensor.FromSlice([]float64{v}, 1), nil, nil, 0))
}

// uniformFan draws uniformly from ±1/sqrt(fan).
func uniformFan(t *Tensor, fan int) {
	b := 0.0
	if fan > 0 {
		b = 1 / math.Sqrt(float64(fan))
	}
	nninit.Uniform(t, -b, b)
}

// initLinear gives weight and bias (nil: none) the starting values of a linear or convolutional layer.
func initLinear(weight, bias *Tensor) {
	// a = sqrt(5) makes the bound 1/sqrt(fan_in), computed the way that PyTorch rounds it
	nninit.KaimingUniform(weight, nninit.KaimingOptions{A: math.Sqrt(5)})
	if bias != nil {
		if in, _ := nninit.FanInAndFanOut(weight); in > 0 {
			uniformFan(bias, in)
		}
	}
}

func defaultGenerator() *tensor.Generator { return rng.Default }
