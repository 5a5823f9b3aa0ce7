package matmul

import (
	"slices"

	"github.com/gotorch-dev/torch/internal/cpu/gemm"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "matmul(Tensor self, Tensor other) -> Tensor",
		Doc: "is the matrix product: of vectors their dot product, of matrices mm, of more dimensions a batch of " +
			"products whose leading dimensions broadcast." +
			site + "matmul.html",
		Aliases: []string{"linalg_matmul"},
		Out:     true, AMP: tensor.AMPLower,
		Body: func(c *Ctx) { c.Return(matmul(c, c.T(0), c.T(1))) },
	})
	tensor.Register(tensor.Def{
		Schema: "Tensor::__matmul__(Tensor self, Tensor other) -> Tensor",
		Doc:    "is matmul(self, other).",
		Go:     "-",
		Body:   func(c *Ctx) { c.Return(c.T(0).MatMul(c.T(1))) },
	})
	tensor.Register(tensor.Def{
		Schema: "Tensor::__rmatmul__(Tensor self, Tensor other) -> Tensor",
		Doc:    "is matmul(other, self).",
		Go:     "-",
		Body:   func(c *Ctx) { c.Return(c.T(1).MatMul(c.T(0))) },
	})
	linear := func(c *Ctx) { linearRun(c.Out(0), c.T(0), c.T(1), c.T(2), gemm.ActNone) }
	infer := func(c *Ctx) {
		x, w, b := c.T(0), c.T(1), c.T(2)
		if x.Dim() == 0 || w.Dim() == 0 {
			c.Fail(tensor.ErrShape, "both arguments to linear need to be at least 1D, but they are %dD and %dD",
				x.Dim(), w.Dim())
		}
		if w.Dim() > 2 {
			c.Fail(tensor.ErrShape, "linear(): weight must have 1 or 2 dimensions, but it has shape %s",
				tensor.ShapeString(w.Shape()))
		}
		k := w.Size(-1)
		if x.Size(-1) != k {
			m := x.Numel() / max(1, x.Size(-1))
			switch {
			case x.Dim() == 1 && w.Dim() == 1:
				c.Fail(tensor.ErrShape, "inconsistent tensor size, expected tensor %s and src %s to have the same "+
					"number of elements, but got %d and %d elements respectively",
					tensor.ShapeString(x.Shape()), tensor.ShapeString(w.Shape()), x.Size(0), k)
			case w.Dim() == 1:
				c.Fail(tensor.ErrShape, "size mismatch, got input (%d), mat (%dx%d), vec (%d)", m, m, x.Size(-1), k)
			}
			name := "mm"
			if c.T(2) != nil {
				name = "addmm"
			}
			c.Fail(tensor.ErrShape, "%s: mat1 and mat2 shapes cannot be multiplied (%dx%d and %dx%d)", name, m,
				x.Size(-1), k, w.Size(0))
		}
		checkSum(c, c.T(2), x, w)
		var buf [8]int // on the stack
		sh := append(buf[:0], x.Shape()[:x.Dim()-1]...)
		if w.Dim() == 2 {
			sh = append(sh, w.Size(0))
		}
		if b != nil {
			if b.DType() != x.DType() {
				c.Fail(tensor.ErrDType, "self and mat2 must have the same dtype, but got %s and %s",
					b.DType().ClassName(), x.DType().ClassName())
			}
			expandTo(c, b, sh)
		}
		c.Alloc(0, sh, x.DType())
	}
	tensor.Register(tensor.Def{
		Schema: "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
		Doc: "is input @ weightᵀ + bias for an input [*, in], a weight [out, in] (or [in], which drops the last " +
			"dimension) and a bias that broadcasts to the result [*, out].\n" +
			"https://pytorch.org/docs/stable/generated/torch.nn.functional.linear.html",
		Go:    "-",
		Out:   true,
		AMP:   tensor.AMPLower,
		Infer: infer, CPU: linear, Save: "input weight", VJP: linearVJP, GradOf: linearNode,
	})
	tensor.Register(tensor.Def{
		Schema: "gotorch::linear_fused(Tensor input, Tensor weight, Tensor? bias, str activation) -> Tensor",
		Doc: "is activation(linear(input, weight, bias)) in one pass over the result; activation is none, relu, gelu " +
			"or gelu_tanh. Where gradients are " +
			"recorded only ReLU is fused, whose gradient needs nothing but the result: that of GELU reads the sum " +
			"before it, which a fused kernel does not keep.",
		Body: func(c *Ctx) { c.Return(op.Activate(c, 3, call(opLinear, c.T(0), c.T(1), c.T(2))[0])) },
		Fuses: func(c *Ctx) bool {
			return c.ArgDType(0).IsFloat() && c.T(1).Dim() == 2 && (c.Str(3) == "relu" || !c.Wants())
		},
		Infer: func(c *Ctx) {
			op.CheckActivation(c, 3)
			infer(c)
		},
		CPU:  func(c *Ctx) { linearRun(c.Out(0), c.T(0), c.T(1), c.T(2), op.Activations[c.Str(3)]) },
		Save: "input weight result",
		VJP:  func(c *Ctx, g *T) []*T { return linearVJP(c, call(opThresholdBackward, g, c.Out(0), 0)[0]) },
		Grad: "ReluBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "F::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
		Doc: "is input @ weightᵀ + bias for an input [*, in], a weight [out, in] (or [in], which drops the last " +
			"dimension) and a bias that broadcasts to the result [*, out].\n" +
			"https://pytorch.org/docs/stable/generated/torch.nn.functional.linear.html",
		Body: func(c *Ctx) {
			d := tensor.NewCall(opLinear, 3)
			for i := range 3 {
				*d.Arg(i) = c.Value(i)
			}
			c.Return(d.Do1())
		},
	})
}

// linearNode names the last of the operators that linear is composed of in PyTorch.
func linearNode(args []tensor.Value) string {
	x, w, bias := args[0].T, args[1].T, args[2].K != tensor.KNone
	switch {
	case x == nil || w == nil: // they are gone
		return "AddmmBackward0"
	case w.Dim() == 1:
		return [...]string{1: "DotBackward0", 2: "MvBackward0", 3: "UnsafeViewBackward0"}[min(x.Dim(), 3)]
	case x.Dim() == 2 && bias:
		return "AddmmBackward0"
	case x.Dim() == 2:
		return "MmBackward0"
	case x.Dim() == 1 && !bias:
		return "SqueezeBackward4"
	case bias && !x.IsContiguous():
		return "AddBackward0"
	}
	return "UnsafeViewBackward0"
}

// linearRun is the kernel of linear, with an activation at the end.
func linearRun(o, x, w, b *T, act gemm.Activation) {
	k := w.Size(-1)
	n := 1
	if w.Dim() == 2 {
		n = w.Size(0)
	}
	m := o.Numel() / max(n, 1)
	if m == 0 || n == 0 {
		return
	}
	xm := rows(x, m, k)
	wm := matrix{w, w.Stride(-1), 1, nil}
	if w.Dim() == 2 {
		wm = matrix{w, w.Stride(1), w.Stride(0), nil}
	}
	om := matrix{o, n, 1, nil}
	beta := zero
	var bias *T
	if b != nil {
		if b.Dim() == 1 && b.Size(0) == n && w.Dim() == 2 && o.DType().IsFloat() && k > 0 {
			bias = b
		} else {
			tensor.CopyRaw(o, b)
			beta = one
		}
	}
	activated(nil, m, n, k, one, xm, wm, beta, om, bias, act)
}

var (
	opLinear            = tensor.Slot("aten::linear")
	opThresholdBackward = tensor.Slot("aten::threshold_backward")
	opUnsafeView        = tensor.Slot("aten::_unsafe_view")
)

// call runs an operator with its first arguments; the others have their defaults.
var call = op.CallOp

// matmul is PyTorch's rule for products of tensors with any number of dimensions.
func matmul(c *Ctx, a, b *T) *T {
	da, db := a.Dim(), b.Dim()
	if da == 0 || db == 0 {
		c.Fail(tensor.ErrShape, "both arguments to matmul need to be at least 1D, but they are %dD and %dD", da, db)
	}
	if da <= 2 || db <= 2 { // else it is a batch of products, whose operator refuses in words of its own
		checkDTypes(c, a.DType(), b.DType())
	}
	switch {
	case da == 1 && db == 1:
		return a.Dot(b)
	case da == 2 && db == 1:
		return a.MV(b)
	case da == 1 && db == 2:
		return a.Unsqueeze(0).MM(b).SqueezeDimInPlace(0)
	case da == 2 && db == 2:
		return a.MM(b)
	case da >= 3 && db <= 2:
		// the leading dimensions of a are rows of one product
		sh := slices.Clone(a.Shape()[:da-1])
		k := a.Size(-1)
		if db == 1 {
			return unsafeView(fold(a, k).MV(b), sh)
		}
		return unsafeView(fold(a, k).MM(b), append(sh, b.Size(1)))
	case db >= 3 && da <= 2:
		// (a·b) = (bᵀ·aᵀ)ᵀ, with b's leading dimensions as rows
		bt := b.MT()
		sh := slices.Clone(bt.Shape()[:db-1])
		k := bt.Size(-1)
		if da == 1 {
			return unsafeView(fold(bt, k).MV(a), sh)
		}
		if k != a.Size(1) {
			c.Fail(tensor.ErrShape, "mm: mat1 and mat2 shapes cannot be multiplied (%dx%d and %dx%d)", a.Size(0),
				a.Size(1), k, bt.Numel()/max(k, 1))
		}
		if canFold(bt) {
			return unsafeView(fold(bt, k).MM(a.Transpose(0, 1)), append(sh, a.Size(0))).MT()
		}
	}
	// a batch of products with broadcast leading dimensions
	lead := tensor.BroadcastShapes(a.Shape()[:max(da-2, 0)], b.Shape()[:max(db-2, 0)])
	n := 1
	for _, s := range lead {
		n *= s
	}
	m, k, k2, p := a.Size(-2), a.Size(-1), b.Size(-2), b.Size(-1)
	x := a.Expand(append(slices.Clone(lead), m, k)).Reshape([]int{n, m, k})
	y := b.Expand(append(slices.Clone(lead), k2, p)).Reshape([]int{n, k2, p})
	return unsafeView(x.BMM(y), append(slices.Clone(lead), m, p))
}

// unsafeView gives a new tensor, which nothing else refers to, another shape.
func unsafeView(t *T, shape []int) *T { return call(opUnsafeView, t, shape)[0] }

// rows sees all dimensions of t but the last as the rows of an m×k matrix: without a copy when they are evenly spaced.
func rows(t *T, m, k int) matrix {
	if t.Dim() == 2 {
		return last2(t)
	}
	if t.IsContiguous() {
		return matrix{t, k, 1, nil}
	}
	if st, ok := tensor.ViewStrides(t.Shape(), t.Strides(), []int{m, k}); ok {
		return matrix{t, st[0], st[1], nil}
	}
	return matrix{tensor.Dense(t), k, 1, nil}
}

// canFold reports that the leading dimensions can be seen as one without a copy.
func canFold(t *T) bool {
	k := t.Size(-1)
	if t.Numel() == 0 {
		return true
	}
	_, ok := tensor.ViewStrides(t.Shape(), t.Strides(), []int{t.Numel() / k, k})
	return ok
}

// fold sees t as a matrix with k columns.
func fold(t *T, k int) *T {
	rows := 1
	for _, s := range t.Shape()[:t.Dim()-1] {
		rows *= s
	}
	return t.Reshape([]int{rows, k})
}
