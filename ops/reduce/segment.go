package reduce

import (
	"math"

	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// segments is a call of segment_reduce: data is [outer, n, inner], the segments of each row are contiguous parts of
// dimension n, and the result is [outer, count, inner].
type segments struct {
	outer, n, inner, count int
	// bounds are, for each row, count+1 positions in dimension n.
	bounds []int64
	reduce string
	start  float64 // the value that a reduction begins with
	given  bool    // start is an argument
}

var segmentStart = map[string]float64{"sum": 0, "mean": 0, "prod": 1, "max": math.Inf(-1), "min": math.Inf(1),
	"amax": math.Inf(-1), "amin": math.Inf(1)}

// segmentArgs are the places of the arguments in a schema.
type segmentArgs struct{ data, reduce, lengths, offsets, axis, initial int }

// shape checks the arguments and gives the shape of the result, and the dimension along which it is reduced.
func (a segmentArgs) shape(c *Ctx) (shape []int, axis int) {
	data, how := c.Shape(a.data), c.Str(a.reduce)
	if _, ok := segmentStart[how]; !ok {
		c.Fail(tensor.ErrValue, "reduce argument must be either sum, prod, mean, amax or amin, got %s", how)
	}
	if dt := c.ArgDType(a.data); !dt.IsFloat() {
		c.Fail(tensor.ErrNotImpl, "\"_segment_reduce_cpu\" not implemented for '%s'", dt.ClassName())
	}
	parts, name, more := a.lengths, "lengths", 0
	if c.Has(a.offsets) {
		parts, name, more = a.offsets, "offsets", 1
	} else if !c.Has(a.lengths) {
		c.Fail(tensor.ErrValue, "segment_reduce(): Either lengths or offsets must be defined.")
	}
	p := c.Shape(parts)
	if dt := c.ArgDType(parts); dt != tensor.Int32 && dt != tensor.Int64 {
		c.Fail(tensor.ErrNotImpl, "\"_segment_reduce_%s_cpu_kernel1\" not implemented for '%s'", name, dt.ClassName())
	}
	if len(p) == 0 || len(data) < len(p) {
		c.Fail(tensor.ErrShape, "segment_reduce(): %s wants one dimension at least and as many as data at most; data "+
			"has "+
			"shape %s, %s has shape %s", name, tensor.ShapeString(data), name, tensor.ShapeString(p))
	}
	axis = op.Wrap(c, c.Int(a.axis), len(data))
	if axis != len(p)-1 {
		c.Fail(tensor.ErrValue, "segment_reduce(): Expected axis to be the last dimension of %s but got %d.", name,
			axis)
	}
	for d, n := range p[:axis] {
		if n != data[d] {
			c.Fail(tensor.ErrShape, "segment_reduce(): %s of shape %s does not fit data of shape %s in dimension %d",
				name,
				tensor.ShapeString(p), tensor.ShapeString(data), d)
		}
	}
	count := p[axis] - more
	if count < 0 {
		c.Fail(tensor.ErrShape, "segment_reduce(): offsets wants one element at least, got shape %s",
			tensor.ShapeString(p))
	}
	shape = append(append(append(shape, data[:axis]...), count), data[axis+1:]...)
	return shape, axis
}

// segments reads the arguments. Segments outside the data are an error, whatever the argument unsafe says.
func (a segmentArgs) segments(c *Ctx) *segments {
	shape, axis := a.shape(c)
	data := c.Shape(a.data)
	s := &segments{outer: tensor.Size(data[:axis]).Numel(), n: data[axis], inner: tensor.Size(data[axis+1:]).Numel(),
		count: shape[axis], reduce: c.Str(a.reduce)}
	s.reduce = map[string]string{"amax": "max", "amin": "min"}[s.reduce]
	if s.reduce == "" {
		s.reduce = c.Str(a.reduce)
	}
	s.start = segmentStart[s.reduce]
	if c.Has(a.initial) {
		s.start, s.given = c.Num(a.initial).F, true
	}
	if c.Has(a.offsets) {
		s.bounds = op.Raw[int64](tensor.DenseAs(c.T(a.offsets), tensor.Int64))
	} else {
		lengths := op.Raw[int64](tensor.DenseAs(c.T(a.lengths), tensor.Int64))
		s.bounds = make([]int64, 0, s.outer*(s.count+1))
		for row := range s.outer {
			at := int64(0)
			s.bounds = append(s.bounds, 0)
			for _, n := range lengths[row*s.count:][:s.count] {
				if n < 0 {
					c.Fail(tensor.ErrValue, "lengths contains negative value!")
				}
				if n > int64(s.n) { // before the sum overflows
					at = int64(s.n)
				}
				at += n
				s.bounds = append(s.bounds, at)
			}
			if at > int64(s.n) || at != int64(s.n) && !a.unsafe(c) {
				c.Fail(tensor.ErrShape, "segment_reduce(): Expected all rows of lengths along axis to sum to "+
					"data.size(lengths.dim()-1) when !unsafe.")
			}
		}
	}
	for row := range s.outer {
		b := s.bounds[row*(s.count+1):][:s.count+1]
		for i := range s.count {
			if b[i] < 0 || b[i] > b[i+1] || b[i+1] > int64(s.n) {
				c.Fail(tensor.ErrValue, "segment_reduce(): offsets must rise from 0 to %d at most, got %d after %d",
					s.n,
					b[i+1], b[i])
			}
		}
	}
	return s
}

func (a segmentArgs) unsafe(c *Ctx) bool {
	i := c.Op().Sch.Index("unsafe")
	return i < 0 || c.Bool(i)
}

// each calls f for every segment: of data rows from to to, of the result row at, all in elements of the memory.
func (s *segments) each(f func(from, to, at int)) {
	work := max(1, s.n*s.inner/max(1, s.count))
	par.For(s.outer*s.count, max(1, 1<<14/work), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row, k := i/s.count, i%s.count
			b := s.bounds[row*(s.count+1)+k:]
			f((row*s.n+int(b[0]))*s.inner, (row*s.n+int(b[1]))*s.inner, i*s.inner)
		}
	})
}

// forward reduces x to d. Sums and products are computed in float64.
func (s *segments) forward(d, x []float64) {
	inner := s.inner
	s.each(func(from, to, at int) {
		o := d[at : at+inner]
		for j := range o {
			o[j] = s.start
		}
		for i := from; i < to; i += inner {
			row := x[i : i+inner]
			switch s.reduce {
			case "max":
				for j, v := range row {
					o[j] = max(o[j], v) // NaN if one of them is
				}
			case "min":
				for j, v := range row {
					o[j] = min(o[j], v)
				}
			case "prod":
				for j, v := range row {
					o[j] *= v
				}
			default:
				for j, v := range row {
					o[j] += v
				}
			}
		}
		if s.reduce != "mean" {
			return
		}
		if n := float64((to - from) / max(1, inner)); n > 0 {
			for j := range o {
				o[j] /= n
			}
		} else if !s.given {
			for j := range o {
				o[j] = math.NaN()
			}
		}
	})
}

// segmentGradients spreads the gradients g of the results y over the segments of x. The extremum's goes to the elements
// that are equal to it in equal parts. Only products and extrema read x and y.
func segmentGradients[E float32 | float64](s *segments, d, g, y, x []E) {
	inner := s.inner
	s.each(func(from, to, at int) {
		for j := range inner {
			v := g[at+j]
			switch s.reduce {
			case "max", "min":
				n, top := 0, y[at+j]
				for i := from + j; i < to; i += inner {
					if x[i] == top || x[i] != x[i] {
						n++
					}
				}
				v /= E(n)
				for i := from + j; i < to; i += inner {
					if x[i] == top || x[i] != x[i] {
						d[i] = v
					}
				}
			case "prod":
				for i := from + j; i < to; i += inner {
					if x[i] != 0 && x[i] == x[i] {
						d[i] = v * y[at+j] / x[i]
						continue
					}
					others := s.start
					for k := from + j; k < to; k += inner {
						if k != i {
							others *= float64(x[k])
						}
					}
					d[i] = v * E(others)
				}
			default:
				if s.reduce == "mean" {
					v /= E((to - from) / inner)
				}
				for i := from + j; i < to; i += inner {
					d[i] = v
				}
			}
		}
	})
}

// segmentBackward computes result 0 in type dt from the arguments grad, output and data.
func segmentBackward[E float32 | float64](c *Ctx, s *segments, dt tensor.DType) {
	d := c.Out(0)
	if d.DType() != dt || !d.IsContiguous() {
		d = tensor.New(d.Shape(), dt)
	}
	tensor.ZeroRaw(d)
	raw := func(i int) []E { return op.Raw[E](tensor.DenseAs(c.T(i), dt)) }
	var y, x []E
	if s.reduce != "sum" && s.reduce != "mean" {
		y, x = raw(1), raw(2)
	}
	segmentGradients(s, op.Raw[E](d), raw(0), y, x)
	if d != c.Out(0) {
		tensor.CopyRaw(c.Out(0), d)
	}
}

func float64s(t *T) []float64 { return op.Raw[float64](tensor.DenseAs(t, tensor.Float64)) }

func init() {
	const doc = "reduces the segments of a dimension by \"sum\", \"mean\", \"max\", \"min\" or \"prod\". Lengths, of " +
		"shape " +
		"data.shape[:axis] + [segments], or Offsets, of one more, say where the segments lie; the result has shape " +
		"data.shape[:axis] + [segments] + data.shape[axis+1:]. An empty segment gives Initial, or without it 0, NaN, " +
		"-Inf, Inf or 1. Unlike PyTorch, segments beyond the data are an error even with Unsafe." +
		"\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.scatter_reduce.html"
	forward := segmentArgs{data: 0, reduce: 1, lengths: 2, offsets: 4, axis: 5, initial: 7}
	backward := tensor.Slot("aten::_segment_reduce_backward")
	tensor.Register(tensor.Def{
		Schema: "segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor",
		Doc:    doc, Out: true, Aliases: []string{"torch::_segment_reduce"},
		Infer: func(c *Ctx) {
			if c.Has(3) {
				c.Fail(tensor.ErrNotImpl, "segment_reduce(): indices based reduction is not supported yet.")
			}
			shape, _ := forward.shape(c)
			c.Alloc(0, shape, c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			d := tensor.New(c.Out(0).Shape(), tensor.Float64)
			forward.segments(c).forward(op.Raw[float64](d), float64s(c.T(0)))
			tensor.CopyRaw(c.Out(0), d)
		},
		Save: "data lengths offsets result",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{op.CallOp(backward, g, c.Out(0), c.T(0), c.Value(1), c.T(2), c.T(4), c.Value(5), c.Value(7))[0],
				nil, nil, nil}
		},
	})
	gradient := segmentArgs{data: 2, reduce: 3, lengths: 4, offsets: 5, axis: 6, initial: 7}
	tensor.Register(tensor.Def{
		Schema: "_segment_reduce_backward(Tensor grad, Tensor output, Tensor data, str reduce, *, Tensor? lengths=None, Tensor? offsets=None, int axis=0, Scalar? initial=None) -> Tensor",
		Doc:    "is the gradient of segment_reduce.", Go: "-", Out: true, NoGrad: "PyTorch gives none either",
		Infer: func(c *Ctx) {
			shape, _ := gradient.shape(c)
			for i := range 2 {
				if !tensor.SameShape(c.Shape(i), shape) {
					c.Fail(tensor.ErrShape, "_segment_reduce_backward: expected %s of shape %s, got %s",
						c.Op().Sch.Params[i].Name,
						tensor.ShapeString(shape), tensor.ShapeString(c.Shape(i)))
				}
			}
			c.Alloc(0, c.Shape(2), c.ArgDType(2))
		},
		CPU: func(c *Ctx) {
			if c.ArgDType(2) == tensor.Float32 {
				segmentBackward[float32](c, gradient.segments(c), tensor.Float32)
			} else {
				segmentBackward[float64](c, gradient.segments(c), tensor.Float64)
			}
		},
	})
}
