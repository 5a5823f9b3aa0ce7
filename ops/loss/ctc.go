package loss

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// labels are the target sequences of a batch, as checked by ctcLabels.
type labels struct {
	data       []int64
	start      []int // of each sequence in data
	in, target []int // lengths
	longest    int
}

// ctcLabels checks the arguments of _ctc_loss (log_probs, targets, lengths at 0…3) and finds the sequences: the rows of
// padded targets, or one after another in 1-d targets.
func ctcLabels(c *Ctx, sh []int, t *T, in, target []int, blank int) *labels {
	steps, batch, classes := sh[0], sh[1], sh[2]
	switch {
	case blank < 0 || blank >= classes:
		c.Fail(tensor.ErrValue, "blank must be in label range")
	case len(in) != batch:
		c.Fail(tensor.ErrShape, "input_lengths must be of size batch_size")
	case len(target) != batch:
		c.Fail(tensor.ErrShape, "target_lengths must be of size batch_size")
	}
	l := &labels{in: in, target: target, start: make([]int, batch)}
	total := 0
	for i, n := range target {
		if n < 0 {
			c.Fail(tensor.ErrValue, "Expected target_lengths to have value at least 0, but got value %d (while "+
				"checking arguments for ctc_loss_cpu)", n)
		}
		l.longest = max(l.longest, n)
		if t.Dim() == 1 {
			l.start[i] = total
		} else if t.Dim() == 2 {
			l.start[i] = i * t.Size(1)
		}
		total += n
	}
	switch {
	case t.Dim() == 1:
		if t.Size(0) != total {
			c.Fail(tensor.ErrShape, "Expected tensor to have size %d at dimension 0, but got size %d for argument #2 "+
				"'targets' (while checking arguments for ctc_loss_cpu)", total, t.Size(0))
		}
	case t.Dim() == 2:
		if t.Size(0) != batch {
			c.Fail(tensor.ErrShape, "Expected tensor to have size %d at dimension 0, but got size %d for argument #2 "+
				"'targets' (while checking arguments for ctc_loss_cpu)", batch, t.Size(0))
		}
		if t.Size(1) < l.longest {
			c.Fail(tensor.ErrShape, "Expected tensor to have size at least %d at dimension 1, but got size %d for "+
				"argument #2 'targets' (while checking arguments for ctc_loss_cpu)", l.longest, t.Size(1))
		}
	default:
		c.Fail(tensor.ErrShape, "Expected 1 to 2 dimensions, but got %d-dimensional tensor for argument #2 'targets' "+
			"(while checking arguments for ctc_loss_cpu)", t.Dim())
	}
	for _, n := range in {
		if n < 0 {
			c.Fail(tensor.ErrValue, "Expected input_lengths to have value at least 0, but got value %d (while "+
				"checking arguments for ctc_loss_cpu)", n)
		}
		if n > steps {
			c.Fail(tensor.ErrValue, "Expected input_lengths to have value at most %d, but got value %d (while "+
				"checking arguments for ctc_loss_cpu)", steps, n)
		}
	}
	return l
}

// read fetches the classes; those of the sequences must exist, because they index log_probs.
func (l *labels) read(c *Ctx, t *T, classes int) {
	l.data = targets(c, t)
	for i, n := range l.target {
		for _, k := range l.data[l.start[i]:][:n] {
			if k < 0 || k >= int64(classes) {
				c.Fail(tensor.ErrIndex, "ctc_loss: target %d is out of bounds for %d classes", k, classes)
			}
		}
	}
}

// path is the work on one sequence: its labels, with blanks before, between and after the classes, and room for a step.
// All is computed in float64, for all labels at once; -Inf is the logarithm of zero.
type path[E real] struct {
	label      []int
	skip       []float64 // 0 where the label two before may come right before, which is one of another class; else -Inf
	p, max     []float64 // log-probabilities of the labels at a step; maxima
	terms      []float64 // three for each label
	class, sum []float64 // for each class

	row, prev []float64 // of the recursion: two more than labels, which begin as logarithms of zero
}

// newPath has room for the longest sequence; classes is 0 where class and sum are not needed.
func newPath[E real](l *labels, classes int) *path[E] {
	n := 2*l.longest + 1
	buf := make([]float64, 8*n+4+2*classes)
	cut := func(n int) []float64 {
		c := buf[:n]
		buf = buf[n:]
		return c
	}
	return &path[E]{label: make([]int, n), skip: cut(n), p: cut(n), max: cut(n), terms: cut(3 * n),
		class: cut(classes), sum: cut(classes), row: cut(n + 2), prev: cut(n + 2)}
}

// begin prepares the work on sequence b.
func (w *path[E]) begin(l *labels, b, blank int) {
	n := 2*l.target[b] + 1
	w.label, w.skip, w.p, w.max, w.terms = w.label[:n], w.skip[:n], w.p[:n], w.max[:n], w.terms[:3*n]
	w.row, w.prev = w.row[:n+2], w.prev[:n+2]
	clear(w.skip)
	fillInf(w.row)
	fillInf(w.prev)
	for s := range w.label {
		if w.label[s] = blank; s%2 == 1 {
			w.label[s] = int(l.data[l.start[b]+s/2])
		}
		if s < 2 || w.label[s] == w.label[s-2] {
			w.skip[s] = minusInf
		}
	}
}

// shortPath is the number of labels from which on a step is worth calls of kernels.
const shortPath = 16

// ctcGrain is the number of sequences of a task, each of which computes so many numbers.
func ctcGrain(numbers int) int { return max(1, 1<<9/max(1, numbers)) }

// read gathers the labels' log-probabilities from those of a step.
func (w *path[E]) read(lp []E) {
	for s, k := range w.label {
		w.p[s] = float64(lp[k])
	}
}

// step sets dst to log(eᵃ+eᵇ+eᶜ) + p without overflow, c being skipped to.
func (w *path[E]) step(dst, a, b, c, skip []float64) {
	n := len(dst)
	if n < shortPath {
		w.shortStep(dst, a, b, c, skip)
		return
	}
	x, y, z := w.terms[:n], w.terms[n:2*n], w.terms[2*n:]
	vec.AddF64(z, c[:n], skip)
	vec.MaximumF64(w.max, a[:n], b[:n])
	vec.MaximumF64(w.max, w.max, z)
	vec.MaximumScalarF64(w.max, w.max, -math.MaxFloat64) // a finite one, so that nothing but zeros add up to zero
	vec.SubF64(x, a, w.max)
	vec.SubF64(y, b, w.max)
	vec.SubF64(z, z, w.max)
	vec.ExpF64(w.terms, w.terms)
	vec.AddF64(x, x, y)
	vec.AddF64(x, x, z)
	vec.LogF64(x, x)
	vec.AddF64(x, x, w.max)
	vec.AddF64(dst, x, w.p)
}

var minusInf = math.Inf(-1)

func fillInf(d []float64) { vec.FillF64(d, minusInf) }

// shortStep is step for few labels, for which the calls of most kernels cost more than what they compute.
func (w *path[E]) shortStep(dst, a, b, c, skip []float64) {
	n := len(dst)
	x, y, z, top := w.terms[:n], w.terms[n:2*n], w.terms[2*n:3*n], w.max[:n]
	for s := range x {
		p, q, r := a[s], b[s], c[s]+skip[s]
		m := -math.MaxFloat64 // as in step
		if p > m {
			m = p
		}
		if q > m {
			m = q
		}
		if r > m {
			m = r
		}
		x[s], y[s], z[s], top[s] = p-m, q-m, r-m, m
	}
	vec.ExpF64(w.terms[:3*n], w.terms[:3*n])
	for s := range x {
		x[s] += y[s]
		x[s] += z[s]
	}
	vec.LogF64(x, x)
	for s, v := range x {
		dst[s] = v + top[s] + w.p[s]
	}
}

// logSum is log(eᵃ+eᵇ).
func logSum(a, b float64) float64 {
	m := max(a, b)
	if math.IsInf(m, -1) {
		return m
	}
	return math.Log(math.Exp(a-m)+math.Exp(b-m)) + m
}

// widen and narrow convert runs between E and float64.
func widen[E real](d []float64, s []E) {
	switch s := any(s).(type) {
	case []float32:
		vec.F32ToF64s(d, s)
	case []float64:
		copy(d, s)
	}
}

func narrow[E real](d []E, s []float64) {
	switch d := any(d).(type) {
	case []float32:
		vec.F64ToF32s(d, s)
	case []float64:
		copy(d, s)
	}
}

// ctcForward runs the forward recursion (Graves et al. 2006, eq. 6) for every sequence: alpha[b][t][s] is the
// log-probability of all paths through the first t+1 steps that end at label s. Steps behind the longest input are left
// as they are, as in PyTorch: nobody reads them.
func ctcForward[E real](nll, alpha, lp []E, l *labels, steps, batch, classes, blank int) {
	width, most := 2*l.longest+1, slices.Max(l.in)
	par.For(batch, ctcGrain(width*most), func(lo, hi int) {
		w := newPath[E](l, 0)
		for b := lo; b < hi; b++ {
			a := alpha[b*steps*width:][:most*width]
			for i := 0; i < len(a); i += max(i, 1) { // each copy doubles what is set
				a[i] = E(minusInf)
				copy(a[i:], a[:i])
			}
			n, last := l.in[b], 2*l.target[b]
			if n == 0 {
				// no step: only the empty sequence fits
				if last > 0 {
					nll[b] = E(math.Inf(1))
				} else {
					nll[b] = 0
				}
				continue
			}
			w.begin(l, b, blank)
			prev, row := w.prev, w.row // two zeros come first
			for t := range n {
				w.read(lp[(t*batch+b)*classes:][:classes])
				if t == 0 {
					copy(row[2:], w.p[:min(last+1, 2)])
				} else {
					w.step(row[2:], prev[2:], prev[1:], prev, w.skip)
				}
				narrow(a[t*width:][:last+1], row[2:])
				prev, row = row, prev
			}
			nll[b] = E(-logSum(prev[last+2], prev[last+1]))
		}
	})
}

// ctcBackward runs the recursion from the end and combines both (eq. 16). As in PyTorch the result is the gradient of
// the loss and of a log-softmax in front of it together; it equals the plain one after the log-softmax's own gradient.
func ctcBackward[E real](grad, g, lp, nll, alpha []E, l *labels, steps, batch, classes, blank int, zeroInf bool) {
	width := 2*l.longest + 1
	par.For(batch, ctcGrain((width+classes)*steps), func(lo, hi int) {
		w := newPath[E](l, classes)
		for b := lo; b < hi; b++ {
			loss, n, last := float64(nll[b]), l.in[b], 2*l.target[b]
			if zeroInf && math.IsInf(loss, 1) {
				n = 0
			}
			for t := n; t < steps; t++ {
				clear(grad[(t*batch+b)*classes:][:classes])
			}
			w.begin(l, b, blank)
			size := last + 1
			beta, next := w.row, w.prev // two zeros come last
			skip := append(w.skip[min(2, size):size:size], minusInf, minusInf)[:size]
			e := make([]float64, size)
			for t := n - 1; t >= 0; t-- {
				p := lp[(t*batch+b)*classes:][:classes]
				w.read(p)
				if t == n-1 { // a path ends at the last class or at the blank after it
					end := max(0, last-1)
					copy(beta[end:], w.p[end:])
				} else {
					w.step(beta[:size], next[:size], next[1:], next[2:], skip)
				}
				// the probability of being at a label in this step, added up for each class
				widen(e, alpha[(b*steps+t)*width:][:size])
				vec.AddF64(e, e, beta[:size])
				vec.AddScalarF64(e, e, loss)
				vec.SubF64(e, e, w.p)
				vec.ExpF64(e, e)
				widen(w.class, p)
				vec.MulScalarF64(w.sum, w.class, 0*loss) // NaN for what is not finite
				for s, k := range w.label {
					w.sum[k] += e[s]
				}
				vec.ExpF64(w.class, w.class)
				vec.SubF64(w.class, w.class, w.sum)
				vec.MulScalarF64(w.class, w.class, float64(g[b]))
				narrow(grad[(t*batch+b)*classes:][:classes], w.class)
				beta, next = next, beta
			}
		}
	})
}

// lengths reads a 1-d (or 0-d) integer tensor of lengths.
func lengths(c *Ctx, i int) []int {
	t := c.T(i)
	if !t.DType().IsInt() {
		c.Fail(tensor.ErrDType, "%s must be integral", c.Op().Sch.Params[i].Name)
	}
	d := op.Raw[int64](tensor.DenseAs(t, tensor.Int64))
	l := make([]int, len(d))
	for i, v := range d {
		l[i] = int(v)
	}
	return l
}

// ctc is ctc_loss: the losses of _ctc_loss, reduced. A single sequence has log_probs [T, C]. The lengths are lists, or
// tensors.
func ctc(c *Ctx, name string, how int) *T {
	lp, t := c.T(0), c.T(1)
	zeroInf := c.Bool(6)
	batched := lp.Dim() == 3
	if !batched {
		if lp.Dim() != 2 {
			c.Fail(tensor.ErrShape, "Expected 2 to 3 dimensions, but got %d-dimensional tensor for argument #1 "+
				"'log_probs' (while checking arguments for ctc_loss_cpu)", lp.Dim())
		}
		lp, t = lp.Unsqueeze(1), t.Unsqueeze(0)
	}
	y := op.Call(name, lp, t, c.Value(2), c.Value(3), c.Int(4), zeroInf)[0]
	if zeroInf {
		y = op.Call1("aten::where.self", y.Detach().EqScalar(math.Inf(1)), y.NewZeros(nil), y)
	}
	switch how {
	case meanOf:
		n := c.Value(3).T
		if n == nil {
			n = op.Call1("gotorch::list_tensor", y.Detach(), c.Ints(3))
		}
		if n.Device() != y.Device() { // the lengths may lie on the CPU
			n = n.To(y.Device())
		}
		return y.Div(n.ClampMinScalar(1).ToDType(y.DType())).Mean() // an empty sequence counts as one label
	case sumOf:
		return y.Sum()
	}
	if !batched {
		y = y.SqueezeDim(0)
	}
	return y
}

const ctcDoc = "is the connectionist temporal classification loss of log-probabilities log_probs [T, N, C] (or [T, " +
	"C]) and targets: [N, S] padded, or the N sequences one after another in one dimension. " +
	"reduction mean divides each loss by its target's length (at least 1) and takes the mean; zero_infinity sets " +
	"infinite losses (input shorter than the target needs) and their gradients to zero. " +
	"The gradient assumes that log_probs comes from a log-softmax, as in PyTorch. A target that is not a class is an " +
	"error."

const ctcSite = "\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.ctc_loss.html"

func ctcInfer(c *Ctx, in, target []int) *labels {
	lp, t := c.T(0), c.T(1)
	switch {
	case lp.Dim() != 3:
		c.Fail(tensor.ErrShape, "Expected 3-dimensional tensor, but got %d-dimensional tensor for argument #1 "+
			"'log_probs' (while checking arguments for ctc_loss_cpu)", lp.Dim())
	case lp.Numel() == 0:
		c.Fail(tensor.ErrShape, "log_probs tensor must not be empty")
	case lp.DType() != tensor.Float32 && lp.DType() != tensor.Float64:
		c.FailDType(tensor.ErrNotImpl, "ctc_loss_cpu", lp.DType())
	case t.DType() != tensor.Int64 && t.DType() != tensor.Int32:
		c.Fail(tensor.ErrDType, "Expected tensor for argument #2 'targets' to have one of the following scalar "+
			"types: Long, Int; but got %s instead (while checking arguments for ctc_loss_cpu)", t.Type())
	}
	return ctcLabels(c, lp.Shape(), t, in, target, c.Int(4))
}

// ctcRun computes the losses and the forward variables of checked sequences.
func ctcRun(c *Ctx, l *labels) {
	lp, sh := tensor.Dense(c.T(0)), c.Shape(0)
	l.read(c, c.T(1), sh[2])
	if lp.DType() == tensor.Float64 {
		ctcForward(op.Raw[float64](c.Out(0)), op.Raw[float64](c.Out(1)), op.Raw[float64](lp), l, sh[0], sh[1], sh[2],
			c.Int(4))
	} else {
		ctcForward(op.Raw[float32](c.Out(0)), op.Raw[float32](c.Out(1)), op.Raw[float32](lp), l, sh[0], sh[1], sh[2],
			c.Int(4))
	}
}

func ctcAlloc(c *Ctx, l *labels) {
	sh := c.Shape(0)
	c.Alloc(0, []int{sh[1]}, c.ArgDType(0))
	c.Alloc(1, []int{sh[1], sh[0], 2*l.longest + 1}, c.ArgDType(0))
}

func ctcBackwardInfer(c *Ctx) {
	c.WantDim(1, 3)
	c.WantDType(1, tensor.Float32, tensor.Float64)
	c.Alloc(0, c.Shape(1), c.ArgDType(1))
}

func ctcBackwardRun(c *Ctx, in, target []int) {
	sh := c.Shape(1)
	l := ctcLabels(c, sh, c.T(2), in, target, c.Int(7))
	l.read(c, c.T(2), sh[2])
	if a := c.Shape(6); !tensor.SameShape(a, []int{sh[1], sh[0], 2*l.longest + 1}) || c.T(5).Numel() != sh[1] ||
		c.T(0).Numel() != sh[1] {
		c.Fail(tensor.ErrShape, "_ctc_loss_backward: log_alpha of shape %s does not fit log_probs of shape %s",
			tensor.ShapeString(a), tensor.ShapeString(sh))
	}
	dt := c.ArgDType(1)
	x := make([]*T, 4)
	for i, k := range []int{0, 1, 5, 6} {
		x[i] = tensor.DenseAs(c.T(k), dt)
	}
	if dt == tensor.Float64 {
		ctcBackward(op.Raw[float64](c.Out(0)), op.Raw[float64](x[0]), op.Raw[float64](x[1]), op.Raw[float64](x[2]),
			op.Raw[float64](x[3]), l, sh[0], sh[1], sh[2], c.Int(7), c.Bool(8))
	} else {
		ctcBackward(op.Raw[float32](c.Out(0)), op.Raw[float32](x[0]), op.Raw[float32](x[1]), op.Raw[float32](x[2]),
			op.Raw[float32](x[3]), l, sh[0], sh[1], sh[2], c.Int(7), c.Bool(8))
	}
}

func init() {
	noSecond := func(c *Ctx, _ *T) []*T {
		c.Fail(tensor.ErrNotImpl, "the derivative for '_ctc_loss_backward' is not implemented")
		return nil
	}
	tensor.Register(tensor.Def{
		Schema: "_ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, bool zero_infinity=False) -> (Tensor, Tensor)",
		Doc:    "is the loss of each sequence [N] and the forward variables [N, T, 2S+1] that the gradient needs.",
		Go:     "-",
		Infer:  func(c *Ctx) { ctcAlloc(c, ctcInfer(c, c.Ints(2), c.Ints(3))) },
		CPU:    func(c *Ctx) { ctcRun(c, ctcInfer(c, c.Ints(2), c.Ints(3))) },
		Save:   "log_probs targets result0 result1",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{op.Call1("aten::_ctc_loss_backward", g, c.T(0), c.T(1), c.Ints(2), c.Ints(3), c.Out(0),
				c.Out(1), c.Int(4), c.Bool(5)), nil}
		},
		Grad: "CtcLossBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "_ctc_loss_backward(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int blank, bool zero_infinity=False) -> Tensor",
		Doc:    "is the gradient of _ctc_loss for log_probs.",
		Go:     "-",
		Infer:  ctcBackwardInfer,
		CPU:    func(c *Ctx) { ctcBackwardRun(c, c.Ints(3), c.Ints(4)) },
		VJP:    noSecond,
	})
	tensor.Register(tensor.Def{
		Schema:      "_ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, bool zero_infinity=False) -> (Tensor, Tensor)",
		CrossDevice: true, // the lengths may lie on the CPU
		Doc:         "is _ctc_loss with the lengths in tensors.",
		Go:          "-", DataDependent: true,
		CPU: func(c *Ctx) {
			l := ctcInfer(c, lengths(c, 2), lengths(c, 3))
			ctcAlloc(c, l)
			ctcRun(c, l)
		},
		Save: "log_probs targets input_lengths target_lengths result0 result1",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{op.Call1("aten::_ctc_loss_backward.Tensor", g, c.T(0), c.T(1), c.T(2), c.T(3), c.Out(0),
				c.Out(1), c.Int(4), c.Bool(5)), nil, nil, nil}
		},
		Grad: "CtcLossBackward1",
	})
	tensor.Register(tensor.Def{
		Schema:      "_ctc_loss_backward.Tensor(Tensor grad, Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int blank, bool zero_infinity=False) -> Tensor",
		CrossDevice: true, // the lengths may lie on the CPU
		Doc:         "is the gradient of _ctc_loss.Tensor for log_probs.",
		Go:          "-",
		Infer:       ctcBackwardInfer,
		CPU:         func(c *Ctx) { ctcBackwardRun(c, lengths(c, 3), lengths(c, 4)) },
		VJP:         noSecond,
	})
	tensor.Register(tensor.Def{
		Schema: "gotorch::list_tensor(Tensor like, int[] values) -> Tensor",
		Doc:    "is a list of integers as a tensor on the device of another one.",
		Go:     "-", NoGrad: "integer result",
		Infer: func(c *Ctx) { c.Alloc(0, []int{len(c.Ints(1))}, tensor.Int64) },
		CPU: func(c *Ctx) {
			o := op.Raw[int64](c.Out(0))
			for i, v := range c.Ints(1) {
				o[i] = int64(v)
			}
		},
	})
	// The public operator has two forms, the lengths in lists or in tensors; so has Python's function.
	for _, d := range []struct{ schema, name string }{
		{"ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, int reduction=1, bool zero_infinity=False) -> Tensor", "aten::_ctc_loss"},
		{"ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, int reduction=1, bool zero_infinity=False) -> Tensor", "aten::_ctc_loss.Tensor"},
	} {
		tensor.Register(tensor.Def{Schema: d.schema, Go: "-", Doc: ctcDoc,
			DataDependent: d.name == "aten::_ctc_loss.Tensor",
			Body:          func(c *Ctx) { c.Return(ctc(c, d.name, c.Int(5))) }})
	}
	python := func(name string) func(c *Ctx) {
		return func(c *Ctx) {
			c.Return(op.Call1(name, c.T(0), c.T(1), c.Value(2), c.Value(3), c.Int(4), reduction(c, -1, -1, 5),
				c.Bool(6)))
		}
	}
	tensor.Register(tensor.Def{
		Schema: "F::ctc_loss(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, str reduction='mean', bool zero_infinity=False) -> Tensor",
		Doc:    ctcDoc + ctcSite, DataDependent: true, Body: python("aten::ctc_loss.Tensor"),
	})
	tensor.Register(tensor.Def{
		Schema: "F::ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, str reduction='mean', bool zero_infinity=False) -> Tensor",
		Go:     "-", Doc: ctcDoc + ctcSite, Body: python("aten::ctc_loss.IntList"),
	})
}
