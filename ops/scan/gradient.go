package scan

import (
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// gradientArgs are the places of spacing (-1: the overload has none) and dim in a schema of gradient; edge_order
// follows dim.
type gradientArgs struct{ spacing, dim int }

// dims are the dimensions that a call of gradient names, all without.
func (a gradientArgs) dims(c *Ctx, x *T) []int {
	var dims []int
	switch v := c.Value(a.dim); v.K {
	case tensor.KNone:
		for d := range x.Dim() {
			dims = append(dims, d)
		}
		return dims
	case tensor.KInt:
		dims = []int{int(v.N)}
	default:
		dims = append(dims, c.Ints(a.dim)...)
	}
	seen := make([]bool, x.Dim()+1)
	for i, d := range dims {
		d = op.Wrap(c, d, x.Dim())
		if seen[d] {
			c.Fail(tensor.ErrValue, "dim %d appears multiple times in the list of dims", d)
		}
		seen[d], dims[i] = true, d
	}
	return dims
}

// gradient is the body of all overloads: central differences, and at the ends one-sided ones of the given order.
func (a gradientArgs) gradient(c *Ctx) {
	x, edge := c.T(0), c.Int(a.dim+1)
	if x.DType() == tensor.Uint8 {
		c.Fail(tensor.ErrNotImpl, "torch.gradient does not support uint8 input.")
	}
	if x.DType() == tensor.Bool {
		c.Fail(tensor.ErrNotImpl, "torch.gradient does not support bool input.")
	}
	dims := a.dims(c, x)
	points := []*T(nil)
	numbers := make([]tensor.Num, len(dims))
	for i := range numbers {
		numbers[i] = tensor.IntValue(1).Num()
	}
	listed := func(n int) { // checks the length of a list of spacings
		if n == len(dims) {
			return
		}
		if c.Has(a.dim) {
			c.Fail(tensor.ErrShape, "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim "+
				"arguments to have the same length, but got a spacing argument of length %d and a dim argument of length %d.", n,
				len(dims))
		}
		c.Fail(tensor.ErrShape, "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to "+
			"'self.dim() = %d', since dim argument was not given, but got a list of length %d", x.Dim(), n)
	}
	if a.spacing >= 0 {
		switch v := c.Value(a.spacing); v.K {
		case tensor.KNone:
		case tensor.KTensors:
			points = c.Tensors(a.spacing)
			listed(len(points))
		case tensor.KInts, tensor.KFloats, tensor.KBools, tensor.KScalars:
			l := c.Floats(a.spacing)
			listed(len(l))
			for i, f := range l {
				numbers[i] = tensor.FloatValue(f).Num()
			}
		default:
			for i := range numbers {
				numbers[i] = c.Num(a.spacing)
			}
		}
	}
	if edge != 1 && edge != 2 {
		c.Fail(tensor.ErrValue, "torch.gradient only supports edge_order=1 and edge_order=2.")
	}
	for _, d := range dims {
		if x.Dim() > 0 && x.Size(d) < edge+1 {
			c.Fail(tensor.ErrShape, "torch.gradient expected each dimension size to be at least edge_order+1")
		}
	}
	for i, p := range points {
		switch {
		case p.Dim() != 1:
			c.Fail(tensor.ErrShape, "torch.gradient expected each element of spacing to have one dimension, but got an "+
				"element with %d dimensions!", p.Dim())
		case p.Size(0) != x.Size(dims[i]):
			c.Fail(tensor.ErrShape, "torch.gradient expected spacing %d to have the %d points of dimension %d, got %d", i,
				x.Size(dims[i]), dims[i], p.Size(0))
		}
	}
	if x.Dim() == 0 {
		c.Return()
		return
	}
	out := make([]*T, len(dims))
	for i, d := range dims {
		if points != nil {
			out[i] = uneven(x, points[i], d, edge)
		} else {
			out[i] = even(x, numbers[i], d, edge)
		}
	}
	c.Return(out...)
}

// even is the derivative along dimension d for samples at equal distances.
func even(x *T, step tensor.Num, d, edge int) *T {
	n := x.Size(d)
	at := func(i int) *T { return narrow(x, d, i, 1) }
	center := narrow(x, d, 2, n-2).Sub(narrow(x, d, 0, n-2))
	center = op.Consumed(center.DivScalar(step), center)
	center = op.Consumed(center.DivScalar(2), center)
	var first, last *T
	if edge == 1 {
		first, last = at(1).Sub(at(0)).DivScalar(step), at(n-1).Sub(at(n-2)).DivScalar(step)
	} else {
		first = at(0).MulScalar(-1.5).Add(at(1).MulScalar(2)).Add(at(2).MulScalar(-0.5)).DivScalar(step)
		last = at(n - 3).MulScalar(0.5).Add(at(n - 2).MulScalar(-2)).Add(at(n - 1).MulScalar(1.5)).DivScalar(step)
	}
	return op.Consumed(op.Call1("aten::cat", []*T{first, center, last}, d), center)
}

// uneven is the derivative along dimension d for samples at points: of the parabola through three neighbours, or with
// edge order 1 at the ends of the line through two.
func uneven(x, points *T, d, edge int) *T {
	n := x.Size(d)
	at := func(i int) *T { return narrow(x, d, i, 1) }
	step := narrow(points, 0, 1, n-1).Sub(narrow(points, 0, 0, n-1))
	along := make([]int, x.Dim()) // the shape of numbers along d
	for i := range along {
		along[i] = 1
	}
	along[d] = -1
	s1, s2 := narrow(step, 0, 0, n-2), narrow(step, 0, 1, n-2)
	sum := s1.Add(s2)
	a := s2.Neg().Div(s1.Mul(sum)).Reshape(along)
	b := s2.Sub(s1).Div(s1.Mul(s2)).Reshape(along)
	g := s1.Div(s2.Mul(sum)).Reshape(along)
	center := a.Mul(narrow(x, d, 0, n-2)).Add(b.Mul(narrow(x, d, 1, n-2))).Add(g.Mul(narrow(x, d, 2, n-2)))
	// numbers without dimensions, whose dtype does not count beside that of x
	width := func(i int) *T { return op.Call1("aten::select.int", step, 0, i) }
	var first, last *T
	if edge == 1 {
		first, last = at(1).Sub(at(0)).Div(width(0)), at(n-1).Sub(at(n-2)).Div(width(n-2))
	} else {
		// the slope of the parabola at its end is near·y0 - middle·y1 + far·y2, counted from there, with the widths p and q
		parabola := func(p, q *T) (near, middle, far *T) {
			both := p.Add(q)
			return both.Add(p).Div(p.Mul(both)), both.Div(p.Mul(q)), p.Div(q.Mul(both))
		}
		near, middle, far := parabola(width(0), width(1))
		first = near.Neg().Mul(at(0)).Add(middle.Mul(at(1))).Sub(far.Mul(at(2)))
		near, middle, far = parabola(width(n-2), width(n-3))
		last = far.Mul(at(n - 3)).Sub(middle.Mul(at(n - 2))).Add(near.Mul(at(n - 1)))
	}
	return op.Call1("aten::cat", []*T{first, center, last}, d)
}

// vander has the powers of x in its columns.
func vander(c *Ctx) {
	x := c.T(0)
	if x.Dim() != 1 {
		c.Fail(tensor.ErrShape, "x must be a one-dimensional tensor.")
	}
	n := x.Size(0)
	if c.Has(1) {
		n = c.Int(1)
	}
	if n < 0 {
		c.Fail(tensor.ErrValue, "N must be non-negative.")
	}
	dt := x.DType()
	if dt.IsIntOrBool() {
		dt = tensor.Int64
	}
	x = x.ToDType(dt).Unsqueeze(1)
	list := []*T{x.NewOnes([]int{x.Size(0), min(n, 1)})}
	if n > 1 {
		list = append(list, x.Expand([]int{x.Size(0), n - 1}).CumProd(1))
	}
	powers := op.Call1("aten::cat", list, 1)
	if !c.Bool(2) {
		powers = powers.Flip([]int{1})
	}
	c.Return(powers)
}

func init() {
	const site = "\nhttps://pytorch.org/docs/stable/generated/torch.gradient.html"
	const doc = "estimates the derivatives of samples along dimensions by central differences, which are exact for " +
		"parabolas; at the ends by one-sided ones of order EdgeOrder, 1 or 2. "
	tensor.Register(tensor.Def{
		Schema: "gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int edge_order=1) -> Tensor[]",
		Doc:    doc + "Samples are Spacing apart, 1 by default; without Dim there is a result for each dimension." + site,
		Go:     "Gradient", Body: gradientArgs{1, 2}.gradient,
	})
	tensor.Register(tensor.Def{
		Schema: "gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> Tensor[]",
		Doc:    doc + "Samples are spacing apart." + site,
		Go:     "GradientScalarDims", Body: gradientArgs{1, 2}.gradient,
	})
	tensor.Register(tensor.Def{
		Schema: "gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]",
		Doc:    doc + "Samples are 1 apart." + site,
		Go:     "GradientDims", Body: gradientArgs{-1, 1}.gradient,
	})
	tensor.Register(tensor.Def{
		Schema: "gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, int edge_order=1) -> Tensor[]",
		Doc:    doc + "Spacing gives the distance of samples for each dimension." + site,
		Go:     "-", Body: gradientArgs{1, 2}.gradient,
	})
	tensor.Register(tensor.Def{
		Schema: "gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, int edge_order=1) -> Tensor[]",
		Doc:    doc + "Spacing gives the distance of samples for each dimension." + site,
		Go:     "-", Body: gradientArgs{1, 2}.gradient,
	})
	tensor.Register(tensor.Def{
		Schema: "gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, int edge_order=1) -> Tensor[]",
		Doc:    doc + "Spacing gives, for each dimension, the points of the samples." + site,
		Go:     "GradientAt", Body: gradientArgs{1, 2}.gradient,
	})
	tensor.Register(tensor.Def{
		Schema: "gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) -> Tensor[]",
		Doc:    doc + "Spacing gives, for each of the dimensions, the points of the samples." + site,
		Go:     "GradientAtDims", Body: gradientArgs{1, 2}.gradient,
	})
	tensor.Register(tensor.Def{
		Schema: "vander(Tensor x, int? N=None, bool increasing=False) -> Tensor",
		Doc: "is Vandermonde's matrix, [len(x), N]: the powers of x from N-1 down to 0, or up with Increasing. N is the " +
			"length of x by default; integers give int64.\nhttps://pytorch.org/docs/stable/generated/torch.vander.html",
		Body: vander,
	})
}
