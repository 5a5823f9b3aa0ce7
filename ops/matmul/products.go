package matmul

import (
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "inner(Tensor self, Tensor other) -> Tensor",
		Doc:    "is the dot product over the last dimensions of the two tensors." + site + "inner.html",
		Out:    true,
		Body: func(c *Ctx) {
			a, b := c.T(0), c.T(1)
			if a.Dim() == 0 || b.Dim() == 0 {
				c.Return(a.Mul(b))
				return
			}
			if a.Size(-1) != b.Size(-1) {
				c.Fail(tensor.ErrShape, "inner() the last dimension must match on both input tensors but got shapes "+
					"%s and %s", tensor.ShapeString(a.Shape()), tensor.ShapeString(b.Shape()))
			}
			if a.Dim() == 1 && b.Dim() == 1 {
				c.Return(a.Dot(b))
				return
			}
			c.Return(call(opTensordot, a, b, []int{-1}, []int{-1})[0])
		},
	})
	bilinear := func(c *Ctx) {
		x1, x2, w, b := c.T(0), c.T(1), c.T(2), c.T(3)
		if x1.Dim() != x2.Dim() {
			c.Fail(tensor.ErrShape, "bilinear(): input dimensions do not match: got %d and %d", x1.Dim(), x2.Dim())
		}
		for i := range x1.Dim() - 1 {
			if x1.Size(i) != x2.Size(i) {
				c.Fail(tensor.ErrShape, "bilinear(): input batch dimensions do not match at dim %d: got %d and %d", i,
					x1.Size(i), x2.Size(i))
			}
		}
		if w.Dim() != 3 || x1.Size(-1) != w.Size(1) || x2.Size(-1) != w.Size(2) {
			c.Fail(tensor.ErrShape, "bilinear(): weight of shape %s does not fit inputs of shapes %s and %s",
				tensor.ShapeString(w.Shape()), tensor.ShapeString(x1.Shape()), tensor.ShapeString(x2.Shape()))
		}
		if b != nil && b.Size(0) != w.Size(0) {
			c.Fail(tensor.ErrShape, "bilinear(): bias size does not match weight size: got %d but expected %d",
				b.Size(0), w.Size(0))
		}
		if dt := x1.DType(); dt != x2.DType() || dt != w.DType() || b != nil && dt != b.DType() {
			bias := "None"
			if b != nil {
				bias = b.DType().CName()
			}
			c.Fail(tensor.ErrDType, "All tensors must have the same dtype, got input1: %s, input2: %s, weight: %s, "+
				"bias: %s", dt.CName(), x2.DType().CName(), w.DType().CName(), bias)
		}
		lead := slices.Clone(x1.Shape()[:x1.Dim()-1])
		m, o, i, j := 1, w.Size(0), w.Size(1), w.Size(2)
		for _, s := range lead {
			m *= s
		}
		// (x1 · W) for all outputs at once, then the dot product with x2
		p := x1.Reshape([]int{m, i}).MM(w.Permute([]int{1, 0, 2}).Reshape([]int{i, o * j})).Reshape([]int{m, o, j})
		y := p.BMM(x2.Reshape([]int{m, j, 1})).Reshape(append(lead, o))
		if dt := x1.DType(); y.DType() != dt { // autocast: PyTorch adds the products to zeros of the inputs' type
			y = y.ToDType(dt)
		}
		if b != nil {
			y = y.Add(b)
		}
		c.Return(y)
	}
	const bilinearDoc = "is x1ᵀ·W·x2 + bias for each output: inputs [*, in1] and [*, in2], weight [out, in1, " +
		"in2].\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.bilinear.html"
	tensor.Register(tensor.Def{Schema: "bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor", Doc: bilinearDoc, Go: "-", Body: bilinear})
	tensor.Register(tensor.Def{Schema: "F::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor", Doc: bilinearDoc, Body: func(c *Ctx) {
		c.Return(call(opBilinear, c.T(0), c.T(1), c.T(2), c.T(3))[0])
	}})
	tensor.Register(tensor.Def{
		Schema: "_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim, int unroll_dim=1) -> Tensor",
		Doc: "is the product of three tensors, each with new dimensions at the places that its list names, summed " +
			"over sumdim: what a decomposed bilinear calls.",
		Go: "-",
		Body: func(c *Ctx) {
			// each dimension of the product has a letter, which the tensors that have the dimension name
			nd := c.T(0).Dim() + len(c.Ints(3))
			if nd == 0 || nd > 26 { // letters name them
				c.Fail(tensor.ErrShape, "_trilinear: expected a product of 1 to 26 dimensions, got %d", nd)
			}
			for i := range 3 {
				if n := c.T(i).Dim() + len(c.Ints(3+i)); n != nd {
					c.Fail(tensor.ErrShape, "_trilinear: expected tensors that are expanded to the same number of "+
						"dimensions, got %d and %d", nd, n)
				}
			}
			named, summed := make([]bool, nd), make([]bool, nd)
			for _, d := range c.Ints(6) {
				summed[tensor.WrapDim(d, nd)] = true
			}
			var eq, result strings.Builder
			for i := range 3 {
				if i > 0 {
					eq.WriteByte(',')
				}
				for d := range nd {
					if !slices.Contains(c.Ints(3+i), d) {
						eq.WriteByte('a' + byte(d))
						named[d] = true
					}
				}
			}
			for d := range nd {
				if named[d] && !summed[d] {
					result.WriteByte('a' + byte(d))
				}
			}
			y := einsum(c, eq.String()+"->"+result.String(), []*T{c.T(0), c.T(1), c.T(2)}, nil)
			at := 0
			for d := range nd {
				if summed[d] {
					continue
				}
				if !named[d] { // new in all three
					y = y.Unsqueeze(at)
				}
				at++
			}
			c.Return(y)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "kron(Tensor self, Tensor other) -> Tensor",
		Doc:    "is the Kronecker product." + site + "kron.html",
		Out:    true,
		Body: func(c *Ctx) {
			a, b := c.T(0), c.T(1)
			n := max(a.Dim(), b.Dim())
			sa, sb, out := make([]int, 2*n), make([]int, 2*n), make([]int, n)
			for i := range n {
				x, y := 1, 1
				if k := i - (n - a.Dim()); k >= 0 {
					x = a.Size(k)
				}
				if k := i - (n - b.Dim()); k >= 0 {
					y = b.Size(k)
				}
				sa[2*i], sa[2*i+1], sb[2*i], sb[2*i+1], out[i] = x, 1, 1, y, x*y
			}
			a, b = a.Reshape(sa), b.Reshape(sb)
			if x, y := sa[max(0, 2*n-2):], sb[max(0, 2*n-2):]; n > 0 && y[1] < 64 && x[0] > 1 {
				// Short rows make slow products: the last dimension is written out on both sides first.
				wide := func(t *T) *T {
					sh := slices.Clone(t.Shape())
					sh[2*n-2], sh[2*n-1] = x[0], y[1]
					return t.Expand(sh).Reshape(append(sh[:2*n-2], x[0]*y[1]))
				}
				a, b = wide(a), wide(b)
			}
			c.Return(a.Mul(b).Reshape(out))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_multi_dot(Tensor[] tensors) -> Tensor",
		Doc: "multiplies a chain of matrices in the order that needs the fewest operations; the first and last " +
			"may be vectors.\nhttps://pytorch.org/docs/stable/generated/torch.linalg.multi_dot.html",
		Out:  true,
		Body: func(c *Ctx) { c.Return(multiDot(c, "multi_dot", c.Tensors(0))) },
	})
	tensor.Register(tensor.Def{
		Schema: "chain_matmul(Tensor[] matrices) -> Tensor",
		Doc: "multiplies a chain of matrices in the order that needs the fewest operations." + site +
			"chain_matmul.html",
		Body: func(c *Ctx) {
			l := c.Tensors(0)
			for i, t := range l {
				if t.Dim() != 2 {
					c.Fail(tensor.ErrShape, "Tensor %d has %d dimensions, expected 2", i, t.Dim())
				}
			}
			if len(l) == 0 {
				c.Fail(tensor.ErrValue, "chain_matmul(): Expected one or more matrices")
			}
			tensor.Warn("torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use " +
				"torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather than multiple " +
				"parameters.")
			if len(l) == 1 {
				c.Return(l[0].Clone())
				return
			}
			c.Return(multiDot(c, "chain_matmul", l))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
		Doc: "is the dot product, with x conjugated, along one dimension of broadcast " +
			"tensors.\nhttps://pytorch.org/docs/stable/generated/torch.linalg.vecdot.html",
		Out: true,
		Body: func(c *Ctx) {
			x, y := c.T(0), c.T(1)
			if x.DType() != y.DType() || !x.DType().IsFloat() && !x.DType().IsComplex() {
				c.Fail(tensor.ErrDType, "linalg.vecdot: Expected a floating point or complex tensor as input. Got %s "+
					"and %s", x.DType(), y.DType())
			}
			if x.Dim() == 1 && y.Dim() == 1 {
				c.Return(x.Vdot(y))
				return
			}
			x = x.Conj()
			if d := c.Int(2); (d == -1 || d == x.Dim()-1) && tensor.SameShape(x.Shape(), y.Shape()) &&
				!x.DType().IsReduced() { // of which PyTorch rounds the products
				c.Return(x.Unsqueeze(-2).MatMul(y.Unsqueeze(-1)).SqueezeDim(-1).SqueezeDim(-1)) // no array of products
				return
			}
			c.Return(x.Mul(y).SumDim([]int{c.Int(2)}))
		},
	})
	power := func(c *Ctx) {
		a, n := c.T(0), c.Int(1)
		switch {
		case a.Dim() < 2:
			c.Fail(tensor.ErrShape, "linalg.matrix_power: The input tensor A must have at least 2 dimensions.")
		case a.Size(-1) != a.Size(-2):
			c.Fail(tensor.ErrShape, "linalg.matrix_power: A must be batches of square matrices, but they are %d by %d "+
				"matrices", a.Size(-2), a.Size(-1))
		}
		if n < 0 {
			a = call(opInv, a)[0]
			n = -n
		}
		if n == 0 {
			eye := call(opEye, a.Size(-1), a.DType(), nil, a.Device())[0]
			// the gradient is zero, not missing
			c.Return(a.Clone(tensor.CloneOptions{MemoryFormat: tensor.ContiguousFormat}).CopyInPlace(eye))
			return
		}
		if n == 3 { // in PyTorch's order, which the loop below would turn round
			c.Return(a.MatMul(a).MatMul(a))
			return
		}
		// the power in binary, from the lowest bit; -n overflows for the smallest int, but not as an unsigned number
		left := uint(n)
		var r *T
		for sq := a; ; sq = sq.MatMul(sq) {
			if left&1 != 0 {
				if r == nil {
					r = sq
				} else {
					r = r.MatMul(sq)
				}
			}
			if left >>= 1; left == 0 {
				break
			}
		}
		if r == a {
			r = a.Clone()
		}
		c.Return(r)
	}
	tensor.Register(tensor.Def{Schema: "linalg_matrix_power(Tensor self, int n) -> Tensor",
		Doc: "multiplies a square matrix, or each of a batch, n times with itself; negative powers are those of the " +
			"inverse.\nhttps://pytorch.org/docs/stable/generated/torch.linalg.matrix_power.html", Out: true,
		Body: power})
	tensor.Register(tensor.Def{Schema: "matrix_power(Tensor self, int n) -> Tensor",
		Doc: "is another name of linalg_matrix_power.", Out: true, Body: power})
	tensor.Register(tensor.Def{
		Schema: "linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
		Doc: "is the cross product along a dimension of size 3; other dimensions " +
			"broadcast.\nhttps://pytorch.org/docs/stable/generated/torch.linalg.cross.html",
		Out: true,
		Infer: func(c *Ctx) {
			a, b := c.Shape(0), c.Shape(1)
			if len(a) != len(b) {
				c.Fail(tensor.ErrShape, "linalg.cross: inputs must have the same number of dimensions.")
			}
			d := tensor.WrapDim(c.Int(2), len(a))
			if len(a) == 0 {
				a, b = []int{1}, []int{1}
			}
			if a[d] != 3 || b[d] != 3 {
				c.Fail(tensor.ErrShape, "linalg.cross: inputs dimension %d must have length 3. Got %d and %d", c.Int(2),
					a[d], b[d])
			}
			if x, y := c.ArgDType(0), c.ArgDType(1); x != y && c.Device().Type == tensor.CPUDevice {
				c.Fail(tensor.ErrDType, "expected scalar type %s but found %s", x.ClassName(), y.ClassName())
			}
			c.Alloc(0, c.BroadcastArgs(0, 1), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			o := c.Out(0)
			d := tensor.WrapDim(c.Int(2), o.Dim())
			switch o.DType().Compute() {
			case tensor.Float32:
				cross[float32](o, c.T(0), c.T(1), d)
			case tensor.Float64:
				cross[float64](o, c.T(0), c.T(1), d)
			case tensor.Complex64:
				cross[complex64](o, c.T(0), c.T(1), d)
			case tensor.Complex128:
				cross[complex128](o, c.T(0), c.T(1), d)
			default:
				cross[int64](o, c.T(0), c.T(1), d)
			}
		},
		Save: "self other",
		VJP: func(c *Ctx, g *T) []*T {
			d := c.Int(2)
			return []*T{call(opCross, c.T(1).Conj().Expand(g.Shape()), g, d)[0],
				call(opCross, g, c.T(0).Conj().Expand(g.Shape()), d)[0]}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
		Doc:    "is the cross product along dim, by default the first dimension of size 3." + site + "cross.html",
		Out:    true,
		Body: func(c *Ctx) {
			a, b := c.T(0), c.T(1)
			if a.Dim() != b.Dim() {
				c.Fail(tensor.ErrShape, "linalg.cross: inputs must have the same number of dimensions.")
			}
			if c.Has(2) {
				c.Return(call(opCross, a, b, c.Int(2))[0])
				return
			}
			tensor.Warn("Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim " +
				"explicitly or simply use torch.linalg.cross.\nThe default value of dim will change to agree with " +
				"that of linalg.cross in a future release.")
			d := slices.Index(tensor.BroadcastShapes(a.Shape(), b.Shape()), 3)
			if d < 0 {
				c.Fail(tensor.ErrShape, "no dimension of size 3 in input")
			}
			c.Return(call(opCross, a, b, d)[0])
		},
	})
}

var (
	opInv   = tensor.Slot("aten::linalg_inv")
	opCross = tensor.Slot("aten::linalg_cross")
	opEye   = tensor.Slot("aten::eye")

	opBilinear  = tensor.Slot("aten::bilinear")
	opTensordot = tensor.Slot("aten::tensordot")
)

// mulKeep multiplies without promoting integers: fractions are cut off, as PyTorch does with alpha and beta.
func mulKeep(t *T, n tensor.Num) *T {
	if t.DType().IsIntOrBool() {
		if t.DType() == tensor.Bool {
			return t.Mul(tensor.FromSlice([]bool{n.C != 0}, []int{}...))
		}
		return t.MulScalar(n.I)
	}
	return t.MulScalar(n)
}

// cross sets out to the cross products along dim.
func cross[E int64 | float32 | float64 | complex64 | complex128](out, a, b *T, dim int) {
	dt := tensor.DTypeOf[E]()
	var round func(v E) E
	switch out.DType() { // 16-bit products are rounded before the difference
	case tensor.Float16:
		round = func(v E) E { return as[E](vec.F16ToF32(vec.F32ToF16(single(v)))) }
	case tensor.BFloat16:
		round = func(v E) E { return as[E](vec.BF16ToF32(vec.F32ToBF16(single(v)))) }
	}
	wide := func(t *T) []E {
		if !slices.Equal(t.Shape(), out.Shape()) {
			e := tensor.New(out.Shape(), dt)
			tensor.CopyRaw(e, t)
			t = e
		}
		return tensor.Data[E](tensor.DenseAs(t, dt))
	}
	w := out
	if w.DType() != dt || !w.IsContiguous() {
		w = tensor.New(out.Shape(), dt)
	}
	x, y, d := wide(a), wide(b), tensor.Data[E](w)
	inner := 1
	for _, s := range out.Shape()[dim+1:] {
		inner *= s
	}
	par.For(len(d)/3, 8<<10, func(lo, hi int) {
		o, n := lo/inner, lo%inner
		for range hi - lo {
			i := o*3*inner + n
			j, k := i+inner, i+2*inner
			p := [6]E{x[j] * y[k], x[k] * y[j], x[k] * y[i], x[i] * y[k], x[i] * y[j], x[j] * y[i]}
			if round != nil {
				for q := range p {
					p[q] = round(p[q])
				}
			}
			d[i], d[j], d[k] = p[0]-p[1], p[2]-p[3], p[4]-p[5]
			if n++; n == inner {
				o, n = o+1, 0
			}
		}
	})
	if w != out {
		tensor.CopyRaw(out, w)
	}
}

// multiDot multiplies a chain of matrices in the cheapest order.
func multiDot(c *Ctx, name string, in []*T) *T {
	n := len(in)
	if n < 2 {
		c.Fail(tensor.ErrValue, "%s(): expected at least 2 tensors but got %d", name, n)
	}
	ts := slices.Clone(in)
	var shape []int
	switch ts[0].Dim() {
	case 1:
		ts[0] = ts[0].Unsqueeze(0)
	case 2:
		shape = append(shape, ts[0].Size(0))
	default:
		c.Fail(tensor.ErrShape, "%s(): the first tensor must be 1D or 2D but got %dD", name, ts[0].Dim())
	}
	switch l := ts[n-1]; l.Dim() {
	case 1:
		ts[n-1] = l.Unsqueeze(1)
	case 2:
		shape = append(shape, l.Size(1))
	default:
		c.Fail(tensor.ErrShape, "%s(): the last tensor must be 1D or 2D but got %dD", name, l.Dim())
	}
	size := []int{ts[0].Size(0)}
	for i, t := range ts {
		if t.Dim() != 2 {
			c.Fail(tensor.ErrShape, "%s(): tensor %d must be 2D but got %dD", name, i, t.Dim())
		}
		if t.DType() != ts[0].DType() {
			c.Fail(tensor.ErrDType, "%s(): all tensors must have be the same dtype but tensor 0 is %s and tensor %d %s",
				name, ts[0].DType().Name(), i, t.DType().Name())
		}
		if t.Size(0) != size[i] {
			c.Fail(tensor.ErrShape, "%s(): tensors %d and %d with shapes %s and %s cannot be multiplied", name, i-1, i,
				tensor.ShapeString(ts[i-1].Shape()), tensor.ShapeString(t.Shape()))
		}
		size = append(size, t.Size(1))
	}
	// cost[i][j] of the product i..j and where it splits
	cost, split := make([][]int, n), make([][]int, n)
	for i := range cost {
		cost[i], split[i] = make([]int, n), make([]int, n)
	}
	for l := 1; l < n; l++ {
		for i := 0; i+l < n; i++ {
			j := i + l
			cost[i][j] = -1
			for k := i; k < j; k++ {
				if q := cost[i][k] + cost[k+1][j] + size[i]*size[k+1]*size[j+1]; cost[i][j] < 0 || q < cost[i][j] ||
					q == cost[i][j] && n == 3 {
					cost[i][j], split[i][j] = q, k
				}
			}
		}
	}
	var mul func(i, j int) *T
	mul = func(i, j int) *T {
		if i == j {
			return ts[i]
		}
		k := split[i][j]
		return mul(i, k).MM(mul(k+1, j))
	}
	return mul(0, n-1).View(shape)
}

// single and as convert between float32 and the element type that is known to be float32.
func single[E any](v E) float32 { f, _ := any(v).(float32); return f }

func as[E any](f float32) E { v, _ := any(f).(E); return v }
