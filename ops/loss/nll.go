package loss

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// nllShape gives samples, classes and positions per sample of an input [C], [N, C] or [N, C, …].
func nllShape(sh []int) (n, classes, inner int) {
	if len(sh) == 1 {
		return 1, sh[0], 1
	}
	n, classes, inner = sh[0], sh[1], 1
	for _, s := range sh[2:] {
		inner *= s
	}
	return n, classes, inner
}

// checkTargets refuses a class that does not exist.
func checkTargets(c *Ctx, target []int64, classes, ignore int) {
	signs, last := int64(0), int64(classes)-1
	for _, t := range target {
		signs |= t | (last - t)
	}
	if signs >= 0 && classes > 0 { // all are in range
		return
	}
	for _, t := range target {
		if uint64(t) >= uint64(classes) && t != int64(ignore) {
			c.Fail(tensor.ErrIndex, "Target %d is out of bounds.", t)
		}
	}
}

const nllBlock = 4096

// nllRun is the number of positions whose places are found at a time.
const nllRun = 256

// nllPlaces finds, for positions from lo on, the places of the values of their classes; -1 for those that do not count.
// It returns how many count.
func nllPlaces(at []int, target []int64, lo, classes, inner, ignore int) (count int) {
	count = len(at)
	target = target[lo:][:len(at)]
	// The positions of a sample follow one another; so do those of all samples of one position each.
	n, i, step, run := lo/inner, lo%inner, 1, inner
	if inner == 1 {
		step, run = classes, len(at)
	}
	base := n*classes*inner + i
	for len(target) > 0 {
		m := min(len(target), run-i%run)
		part := at[:m]
		for q, k := range target[:m] {
			part[q] = base + q*step + int(k)*inner
			if int(k) == ignore {
				part[q] = -1
				count--
			}
		}
		at, target = at[m:], target[m:]
		base += m + (classes-1)*inner
		i = 0
	}
	return count
}

// nllForward writes the losses (reduction none) or returns their weighted sum and the sum of the weights. x is dense.
func nllForward[E real](out []E, x *T, w []E, target []int64, n, classes, inner, ignore int) (sum, total float64) {
	positions := n * inner
	parts := make([][2]float64, (positions+nllBlock-1)/nllBlock)
	wide, narrow := memories[E](x)
	brain := x.DType() == tensor.BFloat16
	par.For(positions, nllBlock, func(lo, hi int) {
		var s, t float64
		block := lo / nllBlock
		if out != nil {
			clear(out[lo:hi])
		}
		var places [nllRun]int
		var values [nllRun]E
		for ; lo < hi; lo += nllRun {
			at, v := places[:min(nllRun, hi-lo)], values[:min(nllRun, hi-lo)]
			count := nllPlaces(at, target, lo, classes, inner, ignore)
			nllValues(v, at, wide, narrow, brain)
			if out == nil && w == nil {
				s -= sumWide(v)
				t += float64(count)
				continue
			}
			for q, a := range at {
				if a < 0 {
					continue
				}
				wt := E(1)
				if w != nil {
					wt = w[target[lo+q]]
				}
				if out != nil {
					out[lo+q] = -v[q] * wt
					continue
				}
				s -= float64(v[q] * wt)
				t += float64(wt)
			}
		}
		parts[block] = [2]float64{s, t}
	})
	for _, p := range parts {
		sum += p[0]
		total += p[1]
	}
	return sum, total
}

// nllValues reads the values at places; 0 where the place is negative.
func nllValues[E real](v []E, at []int, wide []E, narrow []uint16, brain bool) {
	if wide != nil {
		for q, a := range at {
			if v[q] = 0; a >= 0 {
				v[q] = wide[a]
			}
		}
		return
	}
	for q, a := range at {
		switch {
		case a < 0:
			v[q] = 0
		case brain:
			v[q] = E(vec.BF16ToF32(narrow[a]))
		default:
			v[q] = E(vec.F16ToF32(narrow[a]))
		}
	}
}

// sumWide is a sum in float64, in four parts, as each addition waits for the one before.
func sumWide[E real](v []E) float64 {
	var a, b, c, d float64
	for ; len(v) >= 4; v = v[4:] {
		a += float64(v[0])
		b += float64(v[1])
		c += float64(v[2])
		d += float64(v[3])
	}
	for _, x := range v {
		a += float64(x)
	}
	return a + b + (c + d)
}

// memories is x's memory as values or, of a 16-bit float, as bits.
func memories[E real](x *T) (wide []E, narrow []uint16) {
	if x.DType().Size() == 2 {
		return nil, op.Raw[uint16](x)
	}
	return op.Raw[E](x), nil
}

// nllBackward puts -weight * gradient to the targets' places of dst, which is zero.
func nllBackward[E real](dst *T, g, w []E, target []int64, n, classes, inner, ignore int, scale E, each bool) {
	wide, narrow := memories[E](dst)
	round := vec.F32ToF16
	if dst.DType() == tensor.BFloat16 {
		round = vec.F32ToBF16
	}
	par.For(n*inner, nllBlock, func(lo, hi int) {
		var places [nllRun]int
		for ; lo < hi; lo += nllRun {
			at := places[:min(nllRun, hi-lo)]
			nllPlaces(at, target, lo, classes, inner, ignore)
			for q, a := range at {
				if a < 0 {
					continue
				}
				v := scale
				if each {
					v = g[lo+q]
				}
				if w != nil {
					v *= w[target[lo+q]]
				}
				if wide != nil {
					wide[a] = -v
				} else {
					narrow[a] = round(float32(-v))
				}
			}
		}
	})
}

func targets(c *Ctx, t *T) []int64 {
	return op.Raw[int64](tensor.DenseAs(t, tensor.Int64))
}

func nllInfer(c *Ctx, spatial bool) {
	x, t := c.T(0), c.T(1)
	kernel := "nll_loss_out_frame"
	if spatial {
		kernel = "nll_loss2d_forward_out_frame"
	}
	nllCheck(c, x, t, c.T(2), spatial, kernel)
	var out []int
	if c.Int(3) == none {
		out = t.Shape()
		if !spatial && x.Dim() == 1 {
			out = nil
		}
	}
	c.Alloc(0, out, x.DType())
	c.Alloc(1, nil, x.DType())
}

func nllGradInfer(c *Ctx, spatial bool) {
	g, x, t, total := c.T(0), c.T(1), c.T(2), c.T(6)
	kernel := "nll_loss_backward_out_frame"
	if spatial {
		kernel = "nll_loss2d_backward_out_frame"
	}
	nllCheck(c, x, t, c.T(3), spatial, kernel)
	each := c.Int(4) == none
	switch {
	case total.Numel() != 1:
		c.Fail(tensor.ErrShape, "expected total_weight to be a single element tensor, got: %s (%d elements)",
			tensor.ShapeString(total.Shape()), total.Numel())
	case !each && g.Numel() != 1:
		c.Fail(tensor.ErrShape, "Expected a single element grad_output tensor, but got: %s",
			tensor.ShapeString(g.Shape()))
	case each && spatial && !tensor.SameShape(g.Shape(), t.Shape()):
		c.Fail(tensor.ErrShape, "grad_output must have the shape of target (%s) but got: %s",
			tensor.ShapeString(t.Shape()), tensor.ShapeString(g.Shape()))
	case each && x.Dim() == 2 && (g.Dim() != 1 || g.Size(0) != x.Size(0)), each && x.Dim() == 1 && g.Numel() != 1:
		c.Fail(tensor.ErrShape, "Expected a tensor of dimension 1 and tensor.size[0] == %d but got: %s", t.Numel(),
			tensor.ShapeString(g.Shape()))
	}
	c.Alloc(0, x.Shape(), x.DType())
}

// nllCheck refuses what the kernels of both passes cannot take.
func nllCheck(c *Ctx, x, t, w *T, spatial bool, kernel string) {
	sh := x.Shape()
	if !spatial {
		switch {
		case x.Dim() < 1 || x.Dim() > 2:
			c.Fail(tensor.ErrShape, "input tensor should be 1D or 2D")
		case t.Dim() > 1:
			c.Fail(tensor.ErrShape, "0D or 1D target tensor expected, multi-target not supported")
		case !(x.Dim() == 1 && t.Dim() == 0) && x.Size(0) != t.Size(0) &&
			!(x.Dim() == 1 && t.Dim() == 1 && t.Size(0) == 1):
			c.Fail(tensor.ErrShape, "size mismatch (got input: %s, target: %s)", tensor.ShapeString(sh),
				tensor.ShapeString(t.Shape()))
		}
	} else {
		switch {
		case t.Dim() != 3:
			c.Fail(tensor.ErrShape, "only batches of spatial targets supported (3D tensors) but got targets of "+
				"dimension: %d", t.Dim())
		case x.Dim() != 4:
			c.Fail(tensor.ErrShape, "only batches of spatial inputs supported (4D tensors), but got input of "+
				"dimension: %d", x.Dim())
		case x.Size(0) != t.Size(0) || x.Size(2) != t.Size(1) || x.Size(3) != t.Size(2):
			c.Fail(tensor.ErrShape, "size mismatch (got input: %s , target: %s", tensor.ShapeString(sh),
				tensor.ShapeString(t.Shape()))
		}
	}
	_, classes, _ := nllShape(sh)
	if w != nil {
		if w.Dim() != 1 && w.Numel() != 1 || w.Numel() != classes {
			c.Fail(tensor.ErrShape, "weight tensor should be defined either for all %d classes or no classes but got "+
				"weight tensor of shape: %s", classes, tensor.ShapeString(w.Shape()))
		}
		if w.DType() != x.DType() {
			c.Fail(tensor.ErrDType, "expected scalar type %s but found %s", x.DType().ClassName(),
				w.DType().ClassName())
		}
	}
	if !x.DType().IsFloat() {
		c.FailDType(tensor.ErrNotImpl, kernel, x.DType())
	}
	if t.DType() != tensor.Int64 && t.DType() != tensor.Uint8 {
		c.Fail(tensor.ErrDType, "expected target dtype to be Long or Byte, but got %s", t.DType().ClassName())
	}
}

func nllKernel(c *Ctx) {
	x, o, how := c.T(0), c.Out(0), c.Int(3)
	n, classes, inner := nllShape(x.Shape())
	t := targets(c, c.T(1))
	ignore := c.Int(4)
	checkTargets(c, t, classes, ignore)
	dt := tensor.Float32
	if x.DType() == tensor.Float64 {
		dt = tensor.Float64
	}
	each := o
	if how == none && o.DType() != dt {
		each = tensor.New(o.Shape(), dt)
	}
	var sum, total float64
	if dt == tensor.Float64 {
		var d, w []float64
		if how == none {
			d = op.Raw[float64](each)
		}
		if c.T(2) != nil {
			w = op.Raw[float64](tensor.Dense(c.T(2)))
		}
		sum, total = nllForward(d, tensor.Dense(x), w, t, n, classes, inner, ignore)
	} else {
		var d, w []float32
		if how == none {
			d = op.Raw[float32](each)
		}
		if c.T(2) != nil {
			w = op.Raw[float32](tensor.DenseAs(c.T(2), dt))
		}
		sum, total = nllForward(d, tensor.Dense(x), w, t, n, classes, inner, ignore)
	}
	if how == none {
		if each != o {
			tensor.CopyRaw(o, each)
		}
		total = 0
	} else {
		if how == meanOf {
			sum /= total // 0/0: NaN, as PyTorch has it
		}
		setNumber(o, sum)
	}
	setNumber(c.Out(1), total)
}

func nllGradKernel(c *Ctx) {
	g, o, how := c.T(0), c.Out(0), c.Int(4)
	n, classes, inner := nllShape(o.Shape())
	t := targets(c, c.T(2))
	ignore := c.Int(5)
	checkTargets(c, t, classes, ignore)
	dt := tensor.Float32
	if o.DType() == tensor.Float64 {
		dt = tensor.Float64
	}
	tensor.ZeroRaw(o)
	scale := 0.0
	if how != none {
		scale = g.Num().F
		if how == meanOf {
			scale /= c.T(6).Num().F
		}
	}
	if dt == tensor.Float64 {
		var w []float64
		if c.T(3) != nil {
			w = op.Raw[float64](tensor.Dense(c.T(3)))
		}
		nllBackward(o, op.Raw[float64](tensor.DenseAs(g, dt)), w, t, n, classes, inner, ignore, scale, how == none)
	} else {
		var w []float32
		if c.T(3) != nil {
			w = op.Raw[float32](tensor.DenseAs(c.T(3), dt))
		}
		nllBackward(o, op.Raw[float32](tensor.DenseAs(g, dt)), w, t, n, classes, inner, ignore, float32(scale),
			how == none)
	}
}

// nllPair declares a forward and a backward operator; the gradient of the gradient is the loss of the outer gradient.
func nllPair(forward, backward string, spatial bool, grad string) {
	fw, bw := "aten::nll_loss_forward", "aten::nll_loss_backward"
	if spatial {
		fw, bw = "aten::nll_loss2d_forward", "aten::nll_loss2d_backward"
	}
	tensor.Register(tensor.Def{
		Schema: forward, Go: "-",
		Infer: func(c *Ctx) { nllInfer(c, spatial) },
		CPU:   nllKernel,
		Save:  "self target weight total_weight", Constant: "weight",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{op.Call1(bw, g, c.T(0), c.T(1), c.T(2), c.Int(3), c.Int(4), c.Out(1)), nil, nil}
		},
		Grad: grad,
		AMP:  tensor.AMPFP32,
	})
	tensor.Register(tensor.Def{
		Schema: backward, Go: "-",
		Infer: func(c *Ctx) { nllGradInfer(c, spatial) },
		CPU:   nllGradKernel,
		Save:  "target weight",
		VJP: func(c *Ctx, g *T) []*T {
			r := make([]*T, 5)
			r[0] = op.Call(fw, g, c.T(2), c.T(3), c.Int(4), c.Int(5))[0]
			return r
		},
	})
}

// nllND serves every number of dimensions.
func nllND(c *Ctx, x, t, w *T, how, ignore int) *T {
	nd := x.Dim()
	if nd < 1 {
		c.Fail(tensor.ErrShape, "Expected 1 or more dimensions (got %d)", nd)
	}
	if nd != 1 && (t.Dim() == 0 || x.Size(0) != t.Size(0)) {
		got := 0
		if t.Dim() > 0 {
			got = t.Size(0)
		}
		c.Fail(tensor.ErrShape, "Expected input batch_size (%d) to match target batch_size (%d).", x.Size(0), got)
	}
	switch nd {
	case 1, 2:
		return op.Call1("aten::nll_loss", x, t, w, how, ignore)
	case 4:
		return op.Call1("aten::nll_loss2d", x, t, w, how, ignore)
	}
	want := append([]int{x.Size(0)}, x.Shape()[2:]...)
	if !tensor.SameShape(want, t.Shape()) {
		c.Fail(tensor.ErrShape, "Expected target size %s, got %s", tensor.ShapeString(want),
			tensor.ShapeString(t.Shape()))
	}
	inner := 1
	for _, s := range x.Shape()[2:] {
		inner *= s
	}
	n, classes := x.Size(0), x.Size(1)
	y := op.Call1("aten::nll_loss2d", x.Reshape([]int{n, classes, 1, inner}), t.Reshape([]int{n, 1, inner}), w, how,
		ignore)
	if how == none {
		y = y.Reshape(want)
	}
	return y
}

func init() {
	nllPair("nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor output, Tensor total_weight)",
		"nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, Tensor total_weight) -> Tensor", false, "NllLossBackward0")
	nllPair("nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor output, Tensor total_weight)",
		"nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, Tensor total_weight) -> Tensor", true, "NllLoss2DBackward0")
	tensor.Register(tensor.Def{
		Schema: "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor", Go: "-", Out: true,
		Doc: "is the negative log-likelihood of log-probabilities [N, C] or [C] and class numbers [N] or [], reduced " +
			"(0: not, 1: mean, 2: sum).",
		Body: func(c *Ctx) {
			c.Return(op.Call("aten::nll_loss_forward", c.T(0), c.T(1), c.T(2), c.Int(3), c.Int(4))[0])
		},
	})
	tensor.Register(tensor.Def{
		Schema: "nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor", Go: "-", Out: true,
		Doc: "is the negative log-likelihood of log-probabilities [N, C, H, W] and class numbers [N, H, W], reduced " +
			"(0: not, 1: mean, 2: sum).",
		Body: func(c *Ctx) {
			c.Return(op.Call("aten::nll_loss2d_forward", c.T(0), c.T(1), c.T(2), c.Int(3), c.Int(4))[0])
		},
	})
	tensor.Register(tensor.Def{
		Schema: "nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor", Go: "-",
		Doc: "is the negative log-likelihood of log-probabilities [C], [N, C] or [N, C, …] and class numbers [], " +
			"[N] or [N, …], reduced (0: not, 1: mean, 2: sum).",
		Body: func(c *Ctx) { c.Return(nllND(c, c.T(0), c.T(1), c.T(2), c.Int(3), c.Int(4))) },
	})
	function("F::nll_loss(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, int ignore_index=-100, bool? reduce=None, str reduction='mean') -> Tensor",
		"is the negative log-likelihood -weight[target] * input[target] of log-probabilities [C], [N, C] or [N, C, "+
			"…] and class numbers [], [N] or [N, …]; positions whose class is ignoreIndex count nothing. "+
			"weight [C] gives each class a weight, and the mean divides by the sum of the targets' weights. "+reductionDoc+"\n"+site+"nll_loss.html", reductionAt(3, 5, 6),
		func(c *Ctx, how int) *T { return op.Call1("aten::nll_loss_nd", c.T(0), c.T(1), c.T(2), how, c.Int(4)) })
}
