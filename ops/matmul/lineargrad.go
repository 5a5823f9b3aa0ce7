package matmul

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/tensor"
)

// The gradients of a linear layer y = x·Wᵀ + b are dx = dy·W, dW = dyᵀ·x and db = the sum of dy over the rows: see
// "Back-propagation" in https://docs.pytorch.org/docs/stable/generated/torch.nn.Linear.html for the shapes. One
// operator computes those that are wanted, because the backward pass of a small layer is short enough for the cost of
// several calls to show.
func init() {
	tensor.Register(tensor.Def{
		Schema: "gotorch::linear_backward(Tensor grad, Tensor input, Tensor weight, bool for_input, bool for_weight, bool for_bias) -> (Tensor, Tensor, Tensor)",
		Doc: "is the gradients of linear with respect to the input [*, in], the weight [out, in] or [in], and a bias " +
			"[out], given that of the result " +
			"[*, out]; those that are not asked for are none.",
		Go:    "-",
		Body:  linearBackwardBody,
		Fuses: linearBackwardFuses,
		Infer: linearBackwardInfer,
		CPU:   linearBackwardRun,
	})
}

var opLinearBackward = tensor.Slot("gotorch::linear_backward")

// linearVJP is the gradient rule of linear, whose arguments are input, weight and bias. A bias that is not one number
// for each output is broadcast to the result: the engine sums its gradient.
func linearVJP(c *Ctx, g *T) []*T {
	w := c.Shape(1)
	bias := c.Has(2) && c.Needs(2)
	rowSum := bias && len(w) == 2 && len(c.Shape(2)) == 1 && c.Shape(2)[0] == w[0]
	r := make([]*T, 3)
	if c.Needs(0) || c.Needs(1) || rowSum {
		b := tensor.NewCall(opLinearBackward, 6)
		*b.Arg(0), *b.Arg(1), *b.Arg(2) = tensor.TensorValue(g), tensor.TensorValue(c.T(0)), tensor.TensorValue(c.T(1))
		*b.Arg(3), *b.Arg(4), *b.Arg(5) = tensor.BoolValue(c.Needs(0)), tensor.BoolValue(c.Needs(1)),
			tensor.BoolValue(rowSum)
		r[0], r[1], r[2] = b.Do3()
	}
	if bias && !rowSum {
		r[2] = g
	}
	return r
}

// linearSizes are the rows m of the input, its columns k and the outputs n. The rows come from the input's shape,
// because a gradient without columns does not tell.
func linearSizes(c *Ctx) (m, n, k int) {
	x, w := c.Shape(1), c.Shape(2)
	if len(x) == 0 {
		c.WantDim(1, 1)
	}
	if len(w) != 1 {
		c.WantDim(2, 2)
	}
	m, n, k = 1, 1, w[len(w)-1]
	if len(w) == 2 {
		n = w[0]
	}
	for _, d := range x[:len(x)-1] {
		m *= d
	}
	if x[len(x)-1] != k {
		c.Fail(tensor.ErrShape, "linear_backward(): input of shape %s does not fit a weight of shape %s",
			tensor.ShapeString(x), tensor.ShapeString(w))
	}
	c.WantNumel(0, m*n)
	for i := range 3 {
		c.WantDType(i, c.ArgDType(0))
	}
	return m, n, k
}

func linearBackwardBody(c *Ctx) {
	m, n, k := linearSizes(c)
	g, x, w := c.T(0).Reshape([]int{m, n}), c.T(1), c.T(2)
	var dx, dw, db *T
	if c.Bool(3) {
		dx = g.MM(w.Reshape([]int{n, k}).Conj()).Reshape(x.Shape())
	}
	if c.Bool(4) {
		dw = g.Transpose(0, 1).MM(x.Reshape([]int{m, k}).Conj()).Reshape(w.Shape())
	}
	if c.Bool(5) {
		db = g.SumDim([]int{0})
	}
	c.Return(dx, dw, db)
}

func linearBackwardFuses(c *Ctx) bool {
	m, n, k := linearSizes(c)
	dt := c.ArgDType(0)
	return (dt == tensor.Float32 || dt == tensor.Float64) && len(c.Shape(2)) == 2 && m > 0 && n > 0 && k > 0
}

func linearBackwardInfer(c *Ctx) {
	dt := c.ArgDType(0)
	for i, shape := range [3][]int{c.Shape(1), c.Shape(2), c.Shape(2)[:1]} {
		if c.Bool(3 + i) {
			c.Alloc(i, shape, dt)
		} else {
			c.SetOut(i, nil)
		}
	}
}

// linearBackwardRun computes the products, which read the gradient (m rows of n), the input (m of k) and the weight (n
// of k) where they lie.
func linearBackwardRun(c *Ctx) {
	m, n, k := linearSizes(c)
	dy := rows(c.T(0), m, n)
	if dx := c.Out(0); dx != nil {
		product(nil, m, k, n, one, dy, last2(c.T(2)), zero, matrix{t: dx, rs: k, cs: 1}, nil)
	}
	if dw := c.Out(1); dw != nil {
		product(nil, n, k, m, one, dy.flip(), rows(c.T(1), m, k), zero, matrix{t: dw, rs: k, cs: 1}, nil)
	}
	if db := c.Out(2); db != nil {
		columnSums(db, c.T(0), dy, m, n)
	}
}

// smallSum is the number of rows and columns up to which columnSums needs no operator; groupRows is the number of rows
// whose sums are joined in float32 before they are added to those of other groups in float64.
const (
	smallSum  = 64
	groupRows = 16
)

// columnSums is the sum over the rows of a gradient, to the bit what the operator sum gives: that adds up a few short
// rows in this order too.
func columnSums(out, g *T, dy matrix, m, n int) {
	narrow := n == 1 || n <= 32 && m >= 2*groupRows // the operator adds such rows in another order
	if g.DType() != tensor.Float32 || narrow || n > smallSum || m > smallSum || dy.cs != 1 || dy.rs != n {
		tensor.NoGrad(func() { g.Reshape([]int{m, n}).SumDim([]int{0}, tensor.SumDimOptions{Out: out}) })
		return
	}
	src, dst := unsafe.Slice((*float32)(tensor.Ptr(dy.t)), m*n), unsafe.Slice((*float32)(tensor.Ptr(out)), n)
	clear(dst)
	if m <= groupRows {
		vec.SumDownF32(dst, src, m, n)
		return
	}
	var wide [smallSum]float64
	for r := 0; r < m; r += groupRows {
		clear(dst)
		vec.SumDownF32(dst, src[r*n:], min(groupRows, m-r), n)
		vec.AccumulateF32ToF64(wide[:n], dst)
	}
	for j, v := range wide[:n] {
		dst[j] = float32(v)
	}
}
