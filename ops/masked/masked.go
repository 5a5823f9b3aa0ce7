// Package masked has the functions of torch.masked: reductions and normalisations that leave out the elements where a
// mask is false.
//
// https://pytorch.org/docs/stable/masked.html
package masked

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

type (
	// T is a tensor.
	T = tensor.Tensor
	// Ctx is one call of an operator.
	Ctx = tensor.Ctx
)

// call is a call of one of the functions; its arguments are found by name, since the functions share most of them.
type call struct{ *Ctx }

func (c call) place(name string) int { return c.Op().Sch.Index(name) }
func (c call) input() *T             { return c.T(0) }
func (c call) keep() bool            { return c.Bool(c.place("keepdim")) }

// dtype is the argument dtype, or without it otherwise.
func (c call) dtype(otherwise tensor.DType) tensor.DType {
	if i := c.place("dtype"); c.Has(i) {
		return c.DType(i)
	}
	return otherwise
}

// dims are the dimensions to reduce, in rising order; all where none are given.
func (c call) dims() []int {
	i, nd := c.place("dim"), c.input().Dim()
	var dims []int
	switch v := c.Value(i); v.K {
	case tensor.KInt:
		dims = []int{c.Int(i)}
	case tensor.KInts:
		dims = c.Ints(i)
	}
	if len(dims) == 0 {
		dims = make([]int, nd)
		for d := range dims {
			dims[d] = d
		}
		return dims
	}
	wrapped := make([]int, 0, len(dims))
	for _, d := range dims {
		w := op.Wrap(c.Ctx, d, nd)
		if slices.Contains(wrapped, w) {
			c.Fail(tensor.ErrValue, "dim=%d appears multiple times in the list of dims", d)
		}
		wrapped = append(wrapped, w)
	}
	slices.Sort(wrapped)
	return wrapped
}

// dim is the one dimension of functions that want one.
func (c call) dim() int { return op.Wrap(c.Ctx, c.Int(c.place("dim")), c.input().Dim()) }

// mask is argument name as bool in the shape of x, nil where it is not given.
func (c call) mask(name string, x *T) *T {
	m := c.T(c.place(name))
	switch {
	case m == nil:
		return nil
	case m.Dim() > x.Dim():
		c.Fail(tensor.ErrIndex,
			"_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")
	case !tensor.SameShape(m.Shape(), x.Shape()):
		m = m.BroadcastTo(x.Shape())
	}
	return m.ToDType(tensor.Bool)
}

// identity is the value that leaves the result of a reduction of x as it is.
type identity func(c call, x *T) tensor.Scalar

func number(n float64) identity { return func(call, *T) tensor.Scalar { return n } }

// least and most are the identities of the largest and of the smallest element.
func least(c call, x *T) tensor.Scalar { return extreme(c, x, -1) }
func most(c call, x *T) tensor.Scalar  { return extreme(c, x, 1) }

func extreme(c call, x *T, sign int) tensor.Scalar {
	switch dt := x.DType(); {
	case dt.IsFloat():
		return math.Inf(sign)
	case dt.IsInt() && sign < 0:
		return tensor.IInfo(dt).Min
	case dt.IsInt():
		return tensor.IInfo(dt).Max
	}
	c.Fail(tensor.ErrNotImpl, "identity of %s on %s input", c.Op().Sch.Name, x.DType())
	return nil
}

// masked is x with the identity where the mask is false.
func (c call) masked(x *T, id identity) *T { return c.maskedBy("mask", x, id) }

func (c call) maskedBy(name string, x *T, id identity) *T {
	m := c.mask(name, x)
	if m == nil {
		return x
	}
	return op.Call1("aten::where.self", m, x, op.Full(x, []int{}, id(c, x), x.DType()))
}

// wideInt is the type in which integers are added up.
func wideInt(dt tensor.DType) tensor.DType {
	if dt.IsIntOrBool() {
		return tensor.Int64
	}
	return dt
}

func sumOf(x *T, dims []int, keep bool, dt tensor.DType) *T {
	return op.Call1("aten::sum.dim_IntList", x, dims, keep, dt)
}

// count is how many elements of x each result of a reduction is made of: a tensor with a mask, a number without.
func (c call) count(x, m *T, dims []int, keep bool) *T {
	if m != nil {
		return sumOf(m, dims, keep, tensor.Int64)
	}
	n := 1
	for _, d := range dims {
		if x.Dim() > 0 {
			n *= x.Size(d)
		}
	}
	return op.Full(x, []int{}, n, tensor.Int64)
}

func sum(c call) *T {
	x := c.input()
	return sumOf(c.masked(x, number(0)), c.dims(), c.keep(), c.dtype(wideInt(x.DType())))
}

func prod(c call) *T {
	x, dims := c.input(), c.dims()
	y := c.masked(x, number(1)).ToDType(c.dtype(wideInt(x.DType())))
	for i := len(dims) - 1; i >= 0; i-- {
		y = op.Call1("aten::prod.dim_int", y, dims[i], c.keep())
	}
	return y
}

func cumulative(name string, id float64) func(c call) *T {
	return func(c call) *T {
		x := c.input()
		dt := c.dtype(x.DType())
		return op.Call1(name, c.masked(x, number(id)), c.dim(), dt).ToDType(dt)
	}
}

func extremum(name string, id identity) func(c call) *T {
	return func(c call) *T {
		x := c.input()
		return op.Call1(name, c.masked(x, id), c.dims(), c.keep()).ToDType(c.dtype(x.DType()))
	}
}

func position(name string, id identity) func(c call) *T {
	return func(c call) *T {
		x := c.input()
		return op.Call1(name, c.masked(x, id), c.Value(c.place("dim")), c.keep()).ToDType(c.dtype(x.DType()))
	}
}

func mean(c call) *T {
	x, dims, keep := c.input(), c.dims(), c.keep()
	dt := c.dtype(x.DType())
	if dt.IsIntOrBool() {
		source := "Input"
		if c.Has(c.place("dtype")) {
			source = "Optional"
		}
		c.Fail(tensor.ErrValue, "mean(): Could not infer output dtype. %s dtype must be either a floating point or "+
			"complex "+
			"dtype. Got: %s", source, dt)
	}
	return sumOf(c.masked(x, number(0)), dims, keep, dt).Div(c.count(x, c.mask("mask", x), dims, keep))
}

func median(c call) *T {
	x := c.input()
	float := x.DType().IsFloat()
	if !float {
		x = x.ToDType(tensor.Float32)
	}
	y := op.Call("aten::nanmedian.dim", c.masked(x, number(math.NaN())), c.dim(), c.keep())[0]
	if float {
		return y
	}
	if y.Device().Type != tensor.MetaDevice && y.IsNaN().Any().Item() != 0 {
		c.Fail(tensor.ErrValue, "masked median expects no fully masked out rows if dtype is not floating point")
	}
	return y.ToDType(c.dtype(c.input().DType()))
}

// leastOrComplex is least, for complex numbers as well.
func leastOrComplex(c call, x *T) tensor.Scalar {
	if x.DType().IsComplex() {
		return math.Inf(-1)
	}
	return least(c, x)
}

func logsumexp(c call) *T {
	x := c.input()
	return op.Call1("aten::logsumexp", c.masked(x, leastOrComplex), c.dims(), c.keep()).ToDType(c.dtype(x.DType()))
}

func logaddexp(c call) *T {
	x, y := c.input(), c.T(1)
	return c.maskedBy("input_mask", x, least).Logaddexp(c.maskedBy("other_mask", y, least)).ToDType(c.dtype(x.DType()))
}

// normOf is the norm of x over dims, ord being an argument of the call.
func (c call) normOf(x *T, dims []int, keep bool) *T {
	ord, id := c.Value(c.place("ord")), 0.0
	if ord.K == tensor.KNone {
		ord = tensor.IntValue(2)
	}
	if math.IsInf(ord.Num().F, -1) {
		id = math.Inf(1)
	}
	return op.Call1("aten::linalg_vector_norm", c.masked(x, number(id)), ord, dims, keep, c.dtype(x.DType()))
}

func norm(c call) *T { return c.normOf(c.input(), c.dims(), c.keep()) }

func normalize(c call) *T {
	x := c.input()
	n := c.normOf(x, []int{c.dim()}, true)
	return c.masked(x, number(0)).Div(n.Maximum(op.Full(n, []int{}, c.Float(c.place("eps")), n.DType())))
}

func variance(c call) *T {
	x, dims, keep := c.input(), c.dims(), c.keep()
	unbiased, given := c.place("unbiased"), c.place("correction")
	correction := 1.0
	if c.Has(unbiased) {
		if c.Has(given) {
			c.Fail(tensor.ErrValue, "Only one of unbiased and correction may be given")
		}
		if !c.Bool(unbiased) {
			correction = 0
		}
	}
	if c.Has(given) {
		correction = c.Num(given).F
	}
	dt := x.DType()
	if dt.IsIntOrBool() {
		dt = tensor.Float32
	}
	dt = c.dtype(dt)
	compute := dt
	if compute.IsIntOrBool() {
		compute = tensor.Float32
	}
	m := c.mask("mask", x)
	hide := func(x *T) *T {
		if m == nil {
			return x
		}
		return op.Where(m, x)
	}
	centred := x.Sub(sumOf(hide(x), dims, true, dt).Div(c.count(x, m, dims, true)))
	total := sumOf(hide(centred.Mul(centred.Conj())), dims, keep, compute)
	n := c.count(x, m, dims, keep)
	if correction != 0 {
		n = n.ToDType(compute.Real()).SubScalar(correction).ClampMinScalar(0)
	}
	return total.Div(n).ToDType(dt)
}

func deviation(c call) *T { return variance(c).Sqrt() }

func soft(name string, id identity) func(c call) *T {
	return func(c call) *T {
		x := c.input()
		dt := c.dtype(x.DType())
		if name == "F::softmin" {
			return op.Call1(name, c.masked(x, id), c.dim(), 3, dt)
		}
		return op.Call1(name, c.masked(x, id), c.dim(), dt)
	}
}

// function registers a function of torch.masked.
//
//gen:function
func function(schema, doc string, f func(c call) *T) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc +
		" Elements where Mask, broadcast to the input, is false do not " +
		"count.\nhttps://pytorch.org/docs/stable/masked.html",
		Body: func(c *Ctx) { c.Return(f(call{c})) }})
}

func init() {
	function("masked::sum(Tensor input, int[1]? dim=None, *, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor",
		"adds up elements; integers as int64.", sum)
	function("masked::prod(Tensor input, int[1]? dim=None, *, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor",
		"multiplies elements; integers as int64.", prod)
	function("masked::cumsum(Tensor input, int dim, *, ScalarType? dtype=None, Tensor? mask=None) -> Tensor",
		"is the running sum along a dimension, in the input's dtype.", cumulative("aten::cumsum", 0))
	function("masked::cumprod(Tensor input, int dim, *, ScalarType? dtype=None, Tensor? mask=None) -> Tensor",
		"is the running product along a dimension, in the input's dtype.", cumulative("aten::cumprod", 1))
	function("masked::amax(Tensor input, int[1]? dim=None, *, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor",
		"is the largest element, of none -Inf or the smallest integer.", extremum("aten::amax", least))
	function("masked::amin(Tensor input, int[1]? dim=None, *, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor",
		"is the smallest element, of none Inf or the largest integer.", extremum("aten::amin", most))
	function("masked::argmax(Tensor input, int? dim=None, *, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor",
		"is the place of the largest element, in the input's dtype.", position("aten::argmax", least))
	function("masked::argmin(Tensor input, int? dim=None, *, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor",
		"is the place of the smallest element, in the input's dtype.", position("aten::argmin", most))
	function("masked::mean(Tensor input, int[1]? dim=None, *, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor",
		"is the mean of elements, of none NaN.", mean)
	function("masked::median(Tensor input, int dim=-1, *, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor",
		"is the lower median along a dimension, of none NaN.", median)
	function("masked::logsumexp(Tensor input, int[1]? dim=None, *, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor",
		"is the logarithm of the sum of exponentials.", logsumexp)
	tensor.Register(tensor.Def{
		Schema: "masked::logaddexp(Tensor input, Tensor other, *, ScalarType? dtype=None, Tensor? input_mask=None, Tensor? other_mask=None) -> Tensor",
		Doc: "is log(exp(input) + exp(other)), where each tensor has a mask of its own." +
			"\nhttps://pytorch.org/docs/stable/masked.html",
		Body: func(c *Ctx) { c.Return(logaddexp(call{c})) },
	})
	function("masked::norm(Tensor input, float? ord=2.0, int[1]? dim=None, *, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor",
		"is the vector norm of order ord.", norm)
	function("masked::var(Tensor input, int[1]? dim=None, bool? unbiased=None, *, Scalar? correction=None, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor",
		"is the variance, with divisor n - Correction (1).", variance)
	function("masked::std(Tensor input, int[1]? dim=None, bool? unbiased=None, *, Scalar? correction=None, bool keepdim=False, ScalarType? dtype=None, Tensor? mask=None) -> Tensor",
		"is the standard deviation, with divisor n - Correction (1).", deviation)
	function("masked::softmax(Tensor input, int dim, *, ScalarType? dtype=None, Tensor? mask=None) -> Tensor",
		"is exp(x) over its sum along a dimension; masked elements give 0.", soft("aten::softmax.int", least))
	function("masked::log_softmax(Tensor input, int dim, *, ScalarType? dtype=None, Tensor? mask=None) -> Tensor",
		"is the logarithm of Softmax; masked elements give -Inf.", soft("aten::log_softmax.int", least))
	function("masked::softmin(Tensor input, int dim, *, ScalarType? dtype=None, Tensor? mask=None) -> Tensor",
		"is Softmax of -x.", soft("F::softmin", most))
	function("masked::normalize(Tensor input, float ord, int dim, *, float eps=1e-12, ScalarType? dtype=None, Tensor? mask=None) -> Tensor",
		"divides by the norm of order ord along a dimension, at least Eps.", normalize)
}
