package fft

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// A window is one of the functions torch.*_window, which have a schema without and one or more with further parameters.
// values computes the symmetric window of n ≥ 2 numbers from counts 0, 1, …, n-1.
type window struct {
	name   string
	values func(x *T, n int, params []float64) *T
	params []float64 // defaults
}

const windowOptions = ", *, ScalarType? dtype=None, " +
	"Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"

// form registers one form of a window. Its arguments are the length, unless that is all whether the window is periodic,
// and parameters of values.
//
//gen:form Out
func (w window) form(schema, doc string, d tensor.Def) {
	sch, err := tensor.ParseSchema(schema)
	if err != nil {
		panic(err)
	}
	d.Schema, d.Doc, d.Out = schema, doc, true
	d.Body = func(c *Ctx) { c.Return(w.compute(c, sch.Index("dtype"))) }
	tensor.Register(d)
}

// compute is a window of the length, the parameters and the options of a call; argument dtype is the first option.
func (w window) compute(c *Ctx, dtypeArg int) *T {
	dtype, device := tensor.DefaultDType(), c.Value(dtypeArg+2)
	if o := c.GivenOut(0); o != nil {
		dtype, device = o.DType(), tensor.DeviceValue(o.Device())
	}
	if c.Has(dtypeArg) {
		dtype = c.DType(dtypeArg)
	}
	n := c.Int(0)
	switch {
	case dtype.IsComplex():
		c.FailDType(tensor.ErrNotImpl, "arange_cpu", dtype)
	case !dtype.IsFloat():
		c.Fail(tensor.ErrDType, "%s expects floating point dtypes, got: TensorOptions(dtype=%s)", w.name, dtype)
	case n < 0:
		c.Fail(tensor.ErrValue, "%s requires non-negative window_length, got window_length=%d", w.name, n)
	case n < 2:
		return op.Call1("aten::ones", []int{n}, dtype, nil, device)
	}
	periodic := dtypeArg < 2 || c.Bool(1)
	params := slices.Clone(w.params)
	for i := 2; i < dtypeArg; i++ {
		params[i-2] = c.Float(i)
	}
	all := n
	if periodic { // a window that repeats after n numbers is one of n+1 without the last
		all = n + 1
	}
	y := w.values(op.Call1("aten::arange", all, dtype, nil, device, nil), all, params)
	return y.Narrow(0, 0, n)
}

var (
	hann     = window{"hann_window", cosine, []float64{0.5, 0.5}}
	hamming  = window{"hamming_window", cosine, []float64{0.54, 0.46}}
	blackman = window{"blackman_window", blackmanValues, nil}
	bartlett = window{"bartlett_window", bartlettValues, nil}
	kaiser   = window{"kaiser_window", kaiserValues, []float64{12}}
)

func init() {
	const wide = "https://pytorch.org/docs/stable/generated/torch."
	hann.form("hann_window(int window_length"+windowOptions,
		"is the Hann window, sin² of half a turn. It is the start of a window that repeats after n numbers.\n"+wide+
			"hann_window.html", tensor.Def{})
	hann.form("hann_window.periodic(int window_length, bool periodic"+windowOptions,
		"is HannWindow, symmetric where periodic is false.\n"+wide+"hann_window.html", tensor.Def{})
	hamming.form("hamming_window(int window_length"+windowOptions,
		"is the Hamming window, 0.54 - 0.46·cos of a turn. It is the start of a window that repeats after n numbers.\n"+
			wide+"hamming_window.html", tensor.Def{})
	hamming.form("hamming_window.periodic(int window_length, bool periodic"+windowOptions,
		"is HammingWindow, symmetric where periodic is false.\n"+wide+"hamming_window.html", tensor.Def{})
	hamming.form("hamming_window.periodic_alpha(int window_length, bool periodic, float alpha"+windowOptions,
		"is HammingWindowPeriodic with alpha in place of 0.54.\n"+wide+"hamming_window.html", tensor.Def{})
	hamming.form("hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, float beta"+
		windowOptions,
		"is alpha - beta·cos of a turn, symmetric where periodic is false.\n"+wide+"hamming_window.html", tensor.Def{})
	blackman.form("blackman_window(int window_length"+windowOptions,
		"is the Blackman window, 0.42 - 0.5·cos of a turn + 0.08·cos of two. It is the start of a window that repeats "+
			"after n numbers.\n"+wide+"blackman_window.html", tensor.Def{})
	blackman.form("blackman_window.periodic(int window_length, bool periodic"+windowOptions,
		"is BlackmanWindow, symmetric where periodic is false.\n"+wide+"blackman_window.html", tensor.Def{})
	bartlett.form("bartlett_window(int window_length"+windowOptions,
		"is the Bartlett window, a triangle. It is the start of a window that repeats after n numbers.\n"+wide+
			"bartlett_window.html", tensor.Def{})
	bartlett.form("bartlett_window.periodic(int window_length, bool periodic"+windowOptions,
		"is BartlettWindow, symmetric where periodic is false.\n"+wide+"bartlett_window.html", tensor.Def{})
	kaiser.form("kaiser_window(int window_length"+windowOptions,
		"is the Kaiser window with beta 12, I0(beta·√(1-x²))/I0(beta) for x from -1 to 1. It is the start of a window "+
			"that repeats after n numbers.\n"+wide+"kaiser_window.html", tensor.Def{})
	kaiser.form("kaiser_window.periodic(int window_length, bool periodic"+windowOptions,
		"is KaiserWindow, symmetric where periodic is false.\n"+wide+"kaiser_window.html", tensor.Def{})
	kaiser.form("kaiser_window.beta(int window_length, bool periodic, float beta"+windowOptions,
		"is KaiserWindowPeriodic with beta in place of 12.\n"+wide+"kaiser_window.html", tensor.Def{})
}

func cosine(x *T, n int, p []float64) *T {
	return x.MulScalar(2 * math.Pi / float64(n-1)).Cos().MulScalar(-p[1]).AddScalar(p[0])
}

func blackmanValues(x *T, n int, _ []float64) *T {
	x = x.MulScalar(math.Pi / float64(n-1))
	return x.MulScalar(4).Cos().MulScalar(0.08).Sub(x.MulScalar(2).Cos().MulScalar(0.5)).AddScalar(0.42)
}

func bartlettValues(x *T, n int, _ []float64) *T {
	x = x.MulScalar(2 / float64(n-1))
	first := (n-1)/2 + 1
	return op.Call1("aten::cat", []*T{x.Narrow(0, 0, first),
		x.Narrow(0, first, n-first).MulScalar(-1).AddScalar(2)}, 0)
}

// kaiserValues avoids the large values of I0, which would be infinite for beta over 90 in float32.
func kaiserValues(x *T, n int, p []float64) *T {
	dt, beta := x.DType(), p[0]
	if dt.Size() < 4 {
		x = x.Float()
	}
	x = x.MulScalar(2 / float64(n-1)).SubScalar(1)
	root := x.Mul(x).MulScalar(-1).AddScalar(1).ClampMinScalar(0).Sqrt()
	peak := op.Call1("aten::special_i0e", op.Full(x, nil, beta, x.DType()))
	y := op.Call1("aten::special_i0e", root.MulScalar(beta)).Div(peak)
	y = y.Mul(root.SubScalar(1).MulScalar(math.Abs(beta)).Exp())
	if dt != y.DType() {
		y = y.ToDType(dt)
	}
	return y
}
