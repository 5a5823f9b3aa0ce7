package norm

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

type float interface{ float32 | float64 }

// The helpers below choose the vector kernel of an element type.

// scaleShift is d = a*scale + shift; far says that d and a are parts of arrays that the caches do not hold.
func scaleShift[E float](d, a []E, scale, shift E, far bool) {
	if len(d) >= 8 {
		switch d := any(d).(type) {
		case []float32:
			vec.ScaleShiftPartF32(d, any(a).([]float32), float32(scale), float32(shift), far)
			return
		case []float64:
			vec.ScaleShiftPartF64(d, any(a).([]float64), float64(scale), float64(shift), far)
			return
		}
	}
	a = a[:len(d)]
	for i := range d {
		d[i] = a[i]*scale + shift
	}
}

// combine is d = x*a + y*b + z, with far as for scaleShift.
func combine[E float](d, a, b []E, x, y, z E, far bool) {
	if len(d) >= 8 {
		switch d := any(d).(type) {
		case []float32:
			vec.CombinePartF32(d, any(a).([]float32), any(b).([]float32), float32(x), float32(y), float32(z), far)
			return
		case []float64:
			vec.CombinePartF64(d, any(a).([]float64), any(b).([]float64), float64(x), float64(y), float64(z), far)
			return
		}
	}
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = x*a[i] + y*b[i] + z
	}
}

// scaleShiftLines is scaleShift of lines of l elements, one after the other, with numbers of their own.
func scaleShiftLines[E float](d, a []E, l int, scale, shift []E) {
	switch d := any(d).(type) {
	case []float32:
		vec.ScaleShiftRowsF32(len(scale), l, d, l, any(a).([]float32), l, any(scale).([]float32), 1,
			any(shift).([]float32), 1)
	case []float64:
		vec.ScaleShiftRowsF64(len(scale), l, d, l, any(a).([]float64), l, any(scale).([]float64), 1,
			any(shift).([]float64), 1)
	}
}

// combineLines is the same for combine.
func combineLines[E float](d, a, b []E, l int, x, y, z []E) {
	switch d := any(d).(type) {
	case []float32:
		vec.CombineRowsF32(len(x), l, d, l, any(a).([]float32), l, any(b).([]float32), l, any(x).([]float32), 1,
			any(y).([]float32), 1, any(z).([]float32), 1)
	case []float64:
		vec.CombineRowsF64(len(x), l, d, l, any(a).([]float64), l, any(b).([]float64), l, any(x).([]float64), 1,
			any(y).([]float64), 1, any(z).([]float64), 1)
	}
}

// rounding is how a 16-bit statistic is rounded before it is used, and what it is computed from.
func rounding(dt tensor.DType) (round, step func(float64) float64) {
	round = func(x float64) float64 { return x }
	step = round
	if dt.IsReduced() {
		round = func(x float64) float64 { return half.Round(x, dt) }
	}
	if dt == tensor.BFloat16 {
		step = round
	}
	return round, step
}

// dense is t's memory in the compute type; nil for no tensor.
func dense[E float](t *T) []E {
	if t == nil {
		return nil
	}
	return tensor.Data[E](tensor.DenseAs(t, tensor.DTypeOf[E]()))
}

// into runs f on a dense buffer of the compute type and leaves the result in out; nil passes nil.
func into[E float](out *T, keep bool, f func(d []E)) {
	if keep && out != nil && (out.DType() != tensor.DTypeOf[E]() || !out.IsContiguous()) {
		w := tensor.New(out.Shape(), tensor.DTypeOf[E]())
		tensor.CopyRaw(w, out)
		f(tensor.Data[E](w))
		tensor.CopyRaw(out, w)
		return
	}
	intoFormat(out, tensor.ContiguousFormat, f)
}

// call runs an operator with its first arguments; the others have their defaults.
var call = op.CallOp

var (
	opBatchNorm     = tensor.Slot("aten::batch_norm")
	opBatch         = tensor.Slot("aten::native_batch_norm")
	opBatchBackward = tensor.Slot("aten::native_batch_norm_backward")
)

const site = "\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional."

// statType is the dtype of saved statistics: that of the parameters when the input is a 16-bit float and they are
// not, else the compute type.
func statType(dt tensor.DType, params ...*T) tensor.DType {
	for _, p := range params {
		if p != nil && p.DType() != dt {
			return p.DType()
		}
	}
	return dt
}

// checkMixed refuses parameters of another type than the input's, unless the input has 16 bits and the parameters are
// float32: that is what the kernels of the CPU take.
func checkMixed(c *Ctx, x *T, params ...*T) {
	if c.Device().Type != tensor.CPUDevice || statType(x.DType(), params...) == x.DType() {
		return
	}
	for _, p := range params {
		if p != nil && p.DType() != tensor.Float32 {
			c.Fail(tensor.ErrDType, "mixed dtype (CPU): expect parameter to have scalar type of Float")
		}
	}
	if !x.DType().IsReduced() {
		c.Fail(tensor.ErrDType, "mixed dtype (CPU): all inputs must share same datatype.")
	}
}

func batchInfer(c *Ctx, x *T, training bool) {
	if x.Dim() < 2 && x.Numel() > 0 || x.Dim() == 0 {
		c.Fail(tensor.ErrShape, "batch_norm(): expected an input of at least 2 dimensions, got shape %s",
			tensor.ShapeString(x.Shape()))
	}
	if !x.DType().IsFloat() {
		c.FailDType(tensor.ErrDType, "batch_norm", x.DType())
	}
	checkMixed(c, x, c.T(1), c.T(2), c.T(3), c.T(4))
	for i, name := range []string{"weight", "bias", "running_mean", "running_var"} {
		if t := c.T(1 + i); t != nil && x.Dim() > 1 && t.Numel() != x.Size(1) {
			c.Fail(tensor.ErrShape, "%s should contain %d elements not %d", name, x.Size(1), t.Numel())
		}
	}
	switch mean, variance := c.T(3), c.T(4); {
	case !training && (mean == nil || variance == nil):
		c.Fail(tensor.ErrValue, "running_mean and running_var must be defined in evaluation mode")
	case (mean == nil) != (variance == nil):
		c.Fail(tensor.ErrValue, "running_mean and running_var must either both be None or neither be None")
	}
}

func batchRun[E float](c *Ctx, rm, rv *T, training bool, momentum, eps float64) {
	x := c.T(0)
	if x.Numel() == 0 {
		return
	}
	f := formatOf(x)
	p := planesOf(x.Shape(), f)
	a := &batchArgs[E]{w: dense[E](c.T(1)), b: dense[E](c.T(2)), training: training, momentum: momentum, eps: eps}
	a.round, a.step = rounding(c.Out(1).DType())
	run := func(rm, rv []E) {
		a.rm, a.rv = rm, rv
		intoField(c.Out(0), f, func(out field[E]) {
			into(c.Out(1), false, func(mean []E) {
				into(c.Out(2), false, func(invstd []E) {
					a.mean, a.invstd = mean, invstd
					batchForward(p, out, fieldIn[E](x, f), a)
				})
			})
		})
	}
	if !training {
		run(dense[E](rm), dense[E](rv))
		return
	}
	update(rm, func(m []E) { update(rv, func(v []E) { run(m, v) }) })
}

// update lets f change running statistics, which counts as an in-place change; nil passes nil.
func update[E float](t *T, f func(d []E)) {
	if t == nil {
		f(nil)
		return
	}
	into(t, true, f)
	tensor.Bump(t)
}

// batchVJP is the gradient rule of the batch norms: the arguments begin with input, weight, bias, running_mean,
// running_var.
func batchVJP(c *Ctx, g *T, training bool, eps float64) []*T {
	r := make([]*T, 5)
	mask := []bool{c.Needs(0), c.Has(1) && c.Needs(1), c.Has(2) && c.Needs(2)}
	q := call(opBatchBackward, g, c.T(0), c.T(1), c.T(3), c.T(4), c.Out(1), c.Out(2), training, eps, mask)
	for i := range q {
		if mask[i] {
			r[i] = q[i]
		}
	}
	return r
}

func init() {
	infer := func(training int) func(c *Ctx) {
		return func(c *Ctx) {
			x := c.T(0)
			train := c.Bool(training)
			batchInfer(c, x, train)
			c.AllocStrided(0, x.Shape(), tensor.FormatStrides(x.Shape(), formatOf(x)), x.DType())
			n := 0
			if train && x.Dim() > 1 {
				n = x.Size(1)
			}
			st := statType(x.DType(), c.T(1), c.T(2), c.T(3))
			if c.Device().Type == tensor.MetaDevice { // as on a GPU, where statistics have the type of the sums
				st = x.DType().Compute()
			}
			c.Alloc(1, []int{n}, st)
			c.Alloc(2, []int{n}, st)
		}
	}
	kernel := func(c *Ctx) {
		if c.T(0).DType() == tensor.Float64 {
			batchRun[float64](c, c.T(3), c.T(4), c.Bool(5), c.Float(6), c.Float(7))
		} else {
			batchRun[float32](c, c.T(3), c.T(4), c.Bool(5), c.Float(6), c.Float(7))
		}
	}
	vjp := func(c *Ctx, g *T) []*T { return batchVJP(c, g, c.Bool(5), c.Float(7)) }
	save := "input weight running_mean running_var result1 result2"
	tensor.Register(tensor.Def{
		Schema: "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
		Doc: "normalises each channel (dimension 1). In training the statistics are the batch's, and running_mean " +
			"and running_var, where given, are moved towards them in place; otherwise the running ones are used.\n" +
			"The results are the output, the batch's mean and its inverse standard deviation (both empty outside " +
			"training).",
		Infer: infer(5), CPU: kernel, Save: save, VJP: vjp, AMP: tensor.AMPKeep,
		Constant: "running_mean running_var",
	})
	tensor.Register(tensor.Def{
		Schema: "_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
		Doc:    "is native_batch_norm with running statistics.",
		Go:     "-",
		Infer:  infer(5), CPU: kernel, Save: save, VJP: vjp,
	})
	tensor.Register(tensor.Def{
		Schema: "_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
		Doc:    "is native_batch_norm without running statistics.",
		Go:     "-",
		Body: func(c *Ctx) {
			c.Return(call(opBatch, c.T(0), c.T(1), c.T(2), nil, nil, c.Bool(3), c.Float(4), c.Float(5))...)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)",
		Doc:    "is native_batch_norm in training; the fourth result is empty.",
		Go:     "-",
		Body: func(c *Ctx) {
			r := call(opBatch, c.T(0), c.T(1), c.T(2), c.T(3), c.T(4), true, c.Float(5), c.Float(6))
			c.Return(append(r, c.T(0).NewEmpty([]int{0}, tensor.NewEmptyOptions{DType: tensor.Uint8}))...)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
		Doc:    "is native_batch_norm outside training.",
		Go:     "-", Out: true,
		Body: func(c *Ctx) {
			c.Return(call(opBatch, c.T(0), c.T(1), c.T(2), c.T(3), c.T(4), false, c.Float(5), c.Float(6))...)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)",
		Doc: "is native_batch_norm with the moved running statistics as further results instead of changes in " +
			"place.",
		Go: "-",
		Body: func(c *Ctx) {
			mean, variance := c.T(3).Clone(), c.T(4).Clone()
			r := call(opBatch, c.T(0), c.T(1), c.T(2), mean, variance, c.Bool(5), c.Float(6), c.Float(7))
			c.Return(append(r, mean, variance)...)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
		Doc: "are the gradients of batch norm's input, weight and bias; output_mask says which are wanted, the " +
			"others come back empty.",
		Infer: func(c *Ctx) {
			c.WantLength(9, 3)
			mask := c.Bools(9)
			x := c.Shape(1)
			ch, stats := []int{0}, 3
			if len(x) > 1 {
				ch = x[1:2]
			} else if tensor.Size(x).Numel() > 0 { // without elements there need not be channels
				c.WantDim(1, 2)
			}
			c.WantShape(0, x...)
			if c.Bool(7) {
				stats = 5
			}
			c.WantNumel(2, ch[0])
			for i := stats; i < stats+2; i++ { // what the gradient reads
				if !c.Has(i) {
					c.Fail(tensor.ErrValue, "native_batch_norm_backward: %s is needed", c.Op().Sch.Params[i].Name)
				}
				c.WantNumel(i, ch[0])
			}
			sh := [][]int{c.Shape(1), ch, ch}
			for i := 2; i < 7; i++ {
				if p := c.T(i); p != nil && p.Numel() != 0 && p.Numel() != ch[0] {
					c.Fail(tensor.ErrShape, "native_batch_norm_backward: %s of shape %s does not have one number for "+
						"each of the %d channels of an input of shape %s", c.Op().Sch.Params[i].Name,
						tensor.ShapeString(p.Shape()), ch[0], tensor.ShapeString(c.Shape(1)))
				}
			}
			st := statType(c.ArgDType(0), c.T(2), c.T(3), c.T(5))
			dt := []tensor.DType{c.ArgDType(0), st, st}
			for i := range sh {
				if !mask[i] {
					sh[i] = []int{0}
				}
				if i == 0 && mask[0] {
					c.AllocStrided(0, sh[0], tensor.FormatStrides(sh[0], c.T(1).SuggestFormat()), dt[0])
				} else {
					c.Alloc(i, sh[i], dt[i])
				}
			}
		},
		CPU: func(c *Ctx) {
			if c.T(1).DType() == tensor.Float64 {
				batchBackwardRun[float64](c)
			} else {
				batchBackwardRun[float32](c)
			}
		},
		Save: "grad_out input weight running_mean running_var save_mean save_invstd",
		VJP: func(c *Ctx, _ *T) []*T {
			return batchDoubleBackward(c)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor",
		Doc: "normalises each channel (dimension 1) of an input [n, c, ...], as native_batch_norm does." + site +
			"batch_norm.html",
		Go: "-",
		Body: func(c *Ctx) {
			c.Return(call(opBatch, c.T(0), c.T(1), c.T(2), c.T(3), c.T(4), c.Bool(5), c.Float(6), c.Float(7))[0])
		},
	})
	tensor.Register(tensor.Def{
		Schema: "F::batch_norm(Tensor input, Tensor? running_mean, Tensor? running_var, Tensor? weight=None, Tensor? bias=None, bool training=False, float momentum=0.1, float eps=1e-05) -> Tensor",
		Doc: "normalises each channel (dimension 1) of an input [n, c, ...]: with the batch's statistics in " +
			"training, which also move running_mean and running_var (nil: none), with those two otherwise." +
			site + "batch_norm.html",
		Body: func(c *Ctx) {
			x := c.T(0)
			if c.Bool(5) && x.Dim() >= 2 {
				if x.Numel() == x.Size(1) && x.Size(1) > 0 {
					c.Fail(tensor.ErrShape,
						"Expected more than 1 value per channel when training, got input size torch.Size(%s)",
						tensor.ShapeString(x.Shape()))
				}
			}
			c.Return(call(opBatchNorm, x, c.T(3), c.T(4), c.T(1), c.T(2), c.Bool(5), c.Float(6), c.Float(7), true)[0])
		},
	})
}

func batchBackwardRun[E float](c *Ctx) {
	g, x := c.T(0), c.T(1)
	outs := gradientsWanted(c, c.Bools(9))
	if x.Numel() == 0 {
		clearAll(outs[:])
		return
	}
	f := formatOf(x)
	p := planesOf(x.Shape(), f)
	train := c.Bool(7)
	var mean, invstd []E
	if train {
		mean, invstd = dense[E](c.T(5)), dense[E](c.T(6))
	} else {
		mean = dense[E](c.T(3))
		invstd = make([]E, p.c)
		for i, v := range dense[E](c.T(4)) {
			invstd[i] = E(1 / math.Sqrt(float64(v)+c.Float(8)))
		}
	}
	intoField(outs[0], f, func(gx field[E]) {
		into(outs[1], false, func(gw []E) {
			into(outs[2], false, func(gb []E) {
				batchBackward(p, &batchGrads[E]{gx, gw, gb}, fieldIn[E](g, f), fieldIn[E](x, f), dense[E](c.T(2)), mean,
					invstd, train)
			})
		})
	})
}

// batchDoubleBackward is the gradient of the backward pass, written with tensors: with xh the normalised input and M
// the mean over a channel, gx = w·is·(g - M(g) - xh·M(g·xh)), gw = Σ g·xh, gb = Σ g.
func batchDoubleBackward(c *Ctx) []*T {
	g, x, w := c.T(0), c.T(1), c.T(2)
	train, eps := c.Bool(7), c.Float(8)
	sh := x.Shape()
	per := make([]int, len(sh))
	var axes []int
	count := 1.0
	for i := range sh {
		per[i] = 1
		if i == 1 {
			per[i] = sh[1]
		} else {
			axes = append(axes, i)
			count *= float64(sh[i])
		}
	}
	mask := c.Bools(9)
	gg := make([]*T, 3)
	for i := range gg {
		if mask[i] {
			gg[i] = c.G(i)
		}
	}
	avg := func(t *T) *T {
		return t.SumDim(axes, tensor.SumDimOptions{KeepDim: true}).MulScalar(1 / count)
	}
	// everything again as a graph of plain operators: its own backward pass is what is asked for
	var mean, is *T
	if train {
		mean = avg(x)
		d := x.Add(mean.MulScalar(-1))
		is = call(opRsqrt, avg(d.Mul(d)).AddScalar(eps))[0]
	} else {
		mean = c.T(3).Reshape(per)
		is = call(opRsqrt, c.T(4).Reshape(per).AddScalar(eps))[0]
	}
	xh := x.Add(mean.MulScalar(-1)).Mul(is)
	scale := is
	if w != nil {
		scale = is.Mul(w.Reshape(per))
	}
	var rg, rx, rw *T
	add := func(p **T, t *T) {
		if *p == nil {
			*p = t
		} else {
			*p = (*p).Add(t)
		}
	}
	neg := func(t *T) *T { return t.MulScalar(-1) }
	// project is the linear map g -> gx/scale, which is its own transpose
	project := func(t *T) *T {
		if !train {
			return t
		}
		return t.Add(neg(avg(t))).Add(neg(xh.Mul(avg(t.Mul(xh)))))
	}
	if u := gg[0]; u != nil {
		// L = Σ u·scale·P(g)
		add(&rg, scale.Mul(project(u)))
		if w != nil {
			add(&rw, u.Mul(is).Mul(project(g)).SumDim(axes))
		}
		if train {
			// through xh: -scale·(u·M(g·xh) + M(u·xh)·g), and through is
			a, b := avg(g.Mul(xh)), avg(u.Mul(xh))
			gxh := neg(scale.Mul(u.Mul(a).Add(g.Mul(b))))
			// xh = (x-mean)·is: its gradient is is·P
			add(&rx, is.Mul(project(gxh)))
			// is = (var+eps)^-1/2: d is/dx = -is²·xh/count
			s := u.Mul(project(g)).SumDim(axes, tensor.SumDimOptions{KeepDim: true})
			if w != nil {
				s = s.Mul(w.Reshape(per))
			}
			add(&rx, neg(s.Mul(is).Mul(is).Mul(xh)).MulScalar(1/count))
		}
	}
	if u := gg[1]; u != nil {
		v := u.Reshape(per)
		add(&rg, v.Mul(xh))
		add(&rx, is.Mul(project(v.Mul(g))))
	}
	if u := gg[2]; u != nil {
		add(&rg, u.Reshape(per).Expand(sh))
	}
	return []*T{rg, rx, rw, nil, nil, nil, nil}
}

var opRsqrt = tensor.Slot("aten::rsqrt")

// mulBy is d *= a.
func mulBy[E float](d, a []E) {
	switch d := any(d).(type) {
	case []float32:
		vec.MulF32(d, d, any(a).([]float32))
	case []float64:
		vec.MulF64(d, d, any(a).([]float64))
	}
}
