package shape

import (
	"math"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// rangeOf gives the shape rule and the kernel of range: numbers from argument 0 to argument 1, which is included, in
// steps of argument step (-1: of 1); dtype is the place of that argument.
func rangeOf(step, dtype int) (infer, cpu func(c *Ctx)) {
	stepOf := func(c *Ctx) tensor.Num {
		if step < 0 {
			return oneNum
		}
		return c.Num(step)
	}
	infer = func(c *Ctx) {
		a, b, s := c.Num(0), c.Num(1), stepOf(c)
		dt := dtypeOr(c, dtype, tensor.DefaultDType())
		from, to, by := a.F, b.F, s.F
		if dt.IsIntOrBool() {
			from, to, by = float64(a.I), float64(b.I), float64(s.I)
		}
		switch {
		case by == 0 || s.F == 0:
			c.Fail(tensor.ErrValue, "step must be nonzero")
		case !finite(a.F) || !finite(b.F) || !finite(s.F):
			c.Fail(tensor.ErrValue, "unsupported range: %v -> %v", a.F, b.F)
		case s.F > 0 && b.F < a.F || s.F < 0 && b.F > a.F:
			c.Fail(tensor.ErrValue, "upper bound and lower bound inconsistent with step sign")
		}
		n := math.Floor((to-from)/by) + 1
		if n < 0 || n > 1<<46 {
			c.Fail(tensor.ErrValue, "invalid size, possible overflow?")
		}
		c.Alloc(0, []int{int(n)}, dt)
	}
	return infer, func(c *Ctx) { count(c.Out(0), c.Num(0), stepOf(c)) }
}

func finite(x float64) bool { return x-x == 0 }

func init() {
	const doc = "counts from start to end, which is included, in the default dtype. PyTorch advises to use arange." +
		"\nhttps://pytorch.org/docs/stable/generated/torch.range.html"
	infer, cpu := rangeOf(-1, 2)
	tensor.Register(tensor.Def{
		Schema: "range(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc:    doc, Go: "-", Out: true, FormNames: ".out=.out_", NoGrad: "a constant", Infer: infer, CPU: cpu,
	})
	infer, cpu = rangeOf(2, 3)
	tensor.Register(tensor.Def{
		Schema: "range.step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc:    doc, Go: "Range", Out: true, FormNames: ".step_out=.out", NoGrad: "a constant", Infer: infer, CPU: cpu,
	})
	tensor.Register(tensor.Def{
		Overlap: tensor.OverlapTaken,
		Schema:  "fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)",
		Doc: "sets the main diagonal to a number: the elements with equal indices. Of a matrix with more rows than " +
			"columns, " +
			"Wrap starts a further diagonal after each one, with a row left out between them." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.fill_diagonal_.html",
		Body: fillDiagonal,
	})
}

func fillDiagonal(c *Ctx) {
	x := c.T(0)
	sh := x.Shape()
	if len(sh) < 2 {
		c.Fail(tensor.ErrShape, "dimensions must larger than 1")
	}
	if c.Bool(2) && !x.IsContiguous() { // the diagonals are a single one in the memory of a contiguous matrix only
		y := op.Call1("aten::fill_diagonal_", x.Contiguous(), c.Num(1), true)
		c.Return(x.CopyInPlace(y))
		return
	}
	n, step := sh[0], 0
	for d, s := range sh {
		if len(sh) > 2 && s != sh[0] {
			c.Fail(tensor.ErrShape, "all dimensions of input must be of equal length")
		}
		n = min(n, s)
		step += x.Strides()[d]
	}
	fill := func(n, at int) {
		diagonal := op.Call1("aten::as_strided", x, []int{n}, []int{step}, x.StorageOffset()+at)
		diagonal.FillScalarInPlace(c.Num(1))
	}
	fill(n, 0)
	if period := sh[1] + 1; len(sh) == 2 && c.Bool(2) && sh[0] > period {
		fill((x.Numel()+period-1)/period-n, x.Strides()[0]*period)
	}
	c.Return(x)
}
