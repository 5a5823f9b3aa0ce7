package nn

import (
	"github.com/gotorch-dev/torch"

	"math"
	"strconv"
	"strings"

	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
)

// some is a number option for a function that takes a float.
func some(s tensor.Scalar) tensor.Opt[float64] { return tensor.Some(toFloat(s)) }

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

// at says of which dtype and on which device a layer's parameters are made; the zero values are the defaults.
type at struct {
	dtype  tensor.DType
	device tensor.Device
}

// param makes an uninitialised parameter.
func param(a at, shape ...int) *Tensor {
	for _, n := range shape {
		if n < 0 {
			tensor.Fail(tensor.ErrShape, "nn: a parameter cannot have shape %s", tensor.ShapeString(shape))
		}
	}
	return NewParameter(torch.Empty(shape, torch.EmptyOptions{DType: a.dtype, Device: a.device}))
}

// constant makes a tensor with one value everywhere.
func constant(a at, v float64, shape ...int) *Tensor {
	return nninit.Constant(torch.Empty(shape, torch.EmptyOptions{DType: a.dtype, Device: a.device}), v)
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
