package tensor

import (
	"slices"
)

// Run calls the operator and leaves the results in the Ctx.
func (c *Ctx) Run() {
	op := c.op
	if op.Def == nil {
		Fail(ErrNotFound, "operator %s is not linked into this program: import github.com/gotorch-dev/torch", op.full)
	}
	c.checkGiven()
	c.mode = currentMode()
	if witnesses.Load() != 0 {
		c.witnessed()
	}
	if c.rare&flagNamed != 0 && (c.mode == nil || !c.mode.noNames) {
		c.runNamed()
		return
	}
	c.runLayered()
}

// runLayered runs a call through the layers of the goroutine's mode, if there are any.
func (c *Ctx) runLayered() {
	op := c.op
	if c.mode != nil && len(c.mode.layers) > 0 && (op.IsPublic() || op.Body == nil && c.mode.seesPrivate()) {
		c.runLayers(c.mode)
		return
	}
	c.dispatch()
}

// dispatch runs a call below the layers that rank above autograd: it records the call for the backward pass and has the
// backend compute it.
func (c *Ctx) dispatch() {
	op := c.op
	if c.rare&flagSparse != 0 {
		c.dispatchSparse()
		return
	}
	if c.rare&flagQuantized != 0 && op.storage()&TakesQuantized == 0 {
		c.dispatchQuantized()
		return
	}
	if op.target != nil {
		c.runTarget()
		return
	}
	if (op.variant != functional || c.outForm) && !(op.variant == inPlace && op.base == nil && op.Body != nil) {
		c.runVariant()
		return
	}
	switch {
	case op.Body != nil && !c.fuses():
		op.Body(c)
	case op.View != nil:
		c.isView = true
		v := op.View(c)
		if v != nil {
			c.SetOut(0, v)
		}
		c.record()
		c.markViews(v == nil)
	default:
		if m := c.mode; m == nil || len(m.layers) == 0 && m.device == (Device{}) { // compute without its detours
			c.infer()
			c.runKernel()
		} else {
			c.compute()
		}
		c.record()
	}
}

// runTarget has an alias call the operator that it is a name of.
func (c *Ctx) runTarget() {
	op := c.op
	c.op = op.target
	if op.numberTarget != nil && c.args[op.numberArg].isNumber() {
		c.op = op.numberTarget
	}
	c.Run()
	c.op = op
}

// fuses reports that a composed operator is computed by a kernel of the backend's instead of its body: the backend has
// one, it takes these arguments, its gradient is known or there is none by definition, if one is wanted, and nobody
// looks at the operators of the body.
func (c *Ctx) fuses() bool {
	op := c.op
	if op.CPU == nil || c.mode.watched() {
		return false
	}
	c.dev, c.located = c.findDevice(), true
	if c.unusual && op.storage() == 0 && c.takesStorage() { // the operators of the body may take what this one does not
		return false
	}
	return c.hasKernel(c.dev) && (op.Fuses == nil || op.Fuses(c)) &&
		(op.VJP != nil || op.NoGrad != "" || !c.records() || !c.anyRequiresGrad())
}

// differentiates reports an operator for whose results PyTorch thinks of gradients: not one without a gradient that reads
// tensors, such as a comparison, but one that makes a tensor.
func differentiates(o *Op) bool {
	if o.base != nil {
		o = o.base
	}
	return o.NoGrad == "" || o.needs == 0
}

// records reports that gradients are recorded while this call runs.
func (c *Ctx) records() bool { return c.mode == nil || !c.mode.noGrad }

// compute runs the kernel, with the layers that rank below autograd around it.
func (c *Ctx) compute() {
	if m := c.mode; m != nil && len(m.layers) > 0 {
		c.kernelUnderLayers(m)
		return
	}
	c.kernel()
}

// kernel finds the device of the call, has the shape rule provide the results there, and runs the kernel of the
// device's backend.
func (c *Ctx) kernel() {
	c.infer()
	if m := c.mode; m != nil && m.device != (Device{}) { // what a kernel makes for itself lies where the kernel runs
		with(func(n *mode) { n.device = Device{} }, c.runKernel)
		return
	}
	c.runKernel()
}

// infer finds the device of the call and has the shape rule provide the results there.
func (c *Ctx) infer() {
	if !c.located {
		c.dev = c.findDevice()
	}
	if c.op.Infer != nil {
		c.op.Infer(c)
	}
}

func (c *Ctx) runKernel() {
	if c.unusual && !c.op.Raw {
		c.runSubstituted()
		return
	}
	c.kernelOfDevice()
}

// kernelOfDevice runs the kernel of the device's backend.
func (c *Ctx) kernelOfDevice() {
	if c.dev.Type == CPUDevice && c.op.CPU != nil {
		c.op.CPU(c)
		return
	}
	c.foreignKernel()
}

// runVariant runs an in-place or out form.
func (c *Ctx) runVariant() {
	op := c.op
	if op.options >= 0 {
		c.runWithOptions()
		return
	}
	nres := len(op.Sch.Results)
	if op.variant == outVariant || c.outForm {
		n := len(op.Sch.Params)
		if c.outForm {
			n, nres = len(c.args), 0 // SetOutArg has them
		}
		for _, v := range c.args[n-nres:] {
			if v.T == nil {
				c.Fail(ErrType, "%s: argument 'out' must be a Tensor, not %s", op.full, v)
			}
			c.given = append(c.given, v.T)
		}
		for _, g := range c.given {
			c.checkOverlap(g)
			c.checkInputs(g)
		}
		if c.records() && c.anyRequiresGrad() && differentiates(op) {
			c.Fail(ErrAutograd, "%s(): functions with out=... arguments don't support automatic differentiation, but "+
				"one of the arguments requires grad.", op.Sch.Name)
		}
	} else if op.Sch.Params[0].Kind == KTensors {
		c.runInPlaceLists()
		return
	} else {
		self := c.args[0].T
		c.checkInPlace(self)
		c.givenBuf[0] = self
		c.given = c.givenBuf[:]
		c.inplace = true
	}
	if op.Body != nil || op.View != nil {
		c.runComposedVariant()
		return
	}
	var before *Tensor // what self was, for a rule that reads it
	if c.inplace && op.VJP != nil && c.records() && c.anyRequiresGrad() {
		self := c.args[0].T
		// made now for a view whose memory has changed already, since the change to come will look like that one
		self.gradNode()
		if c.reads(0) {
			before = self.cloneRaw()
		}
	}
	c.compute()
	if c.copyBack {
		for i, g := range c.given {
			if c.outs[i] != g {
				if !SameShape(g.shape, c.outs[i].shape) { // an argument, which the kernel had to read first
					g.resizeOut(c.outs[i].shape)
				}
				if c.scatters(g) {
					copyChanged(g, DenseAs(c.outs[i], g.dt))
				} else {
					copyRaw(g, c.outs[i])
				}
				c.outs[i] = g
			}
		}
	}
	for _, g := range c.given {
		g.bump()
	}
	if c.inplace {
		c.recordInPlace(before)
	}
}

// runInPlaceLists runs an operator with a kernel that writes to the tensors of its lists, as the steps of optimizers
// do. Nothing is recorded, and parameters that require gradients are no mistake: PyTorch knows no gradient of these
// operators, and does not look for one.
func (c *Ctx) runInPlaceLists() {
	for i := range c.op.Sch.Params {
		if p := &c.op.Sch.Params[i]; p.Writes && p.Kind == KTensors {
			list, _ := c.args[i].X.([]*Tensor)
			for _, t := range list {
				if t.st.bits.Load()&stInference != 0 {
					c.checkOverlap(t)
					continue
				}
				for _, s := range t.stride {
					if s == 0 {
						c.checkOverlap(t)
					}
				}
			}
		}
	}
	c.compute()
	for i := range c.op.Sch.Params {
		if p := &c.op.Sch.Params[i]; p.Writes && p.Kind == KTensors {
			list, _ := c.args[i].X.([]*Tensor)
			for _, t := range list {
				t.bump()
			}
		}
	}
}

// runWithOptions runs the call of an out form that lacks the parameters dtype, layout, device and pin_memory as one of
// the operator that has them, with results to write to: its rules and its kernel count the arguments.
func (c *Ctx) runWithOptions() {
	op, args := c.op, c.args
	n := len(args) - len(op.Sch.Results)
	for _, v := range args[n:] {
		if v.T == nil {
			c.Fail(ErrType, "%s: argument 'out' must be a Tensor, not %s", op.full, v)
		}
		c.given = append(c.given, v.T)
	}
	c.args = slices.Concat(args[:op.options], make([]Value, numOptions), args[op.options:n])
	c.op, c.outForm = op.base, true
	c.runVariant()
	c.op, c.args, c.outForm = op, args, false
}

func (c *Ctx) runComposedVariant() {
	given := c.given
	c.given = nil
	f := ctxPool.Get().(*Ctx)
	f.op = c.op
	if c.op.base != nil {
		f.op = c.op.base
	}
	n := len(c.args)
	if c.op.variant == outVariant {
		n -= len(given)
	}
	f.args = append(f.argBuf[:0], c.args[:n]...)
	if c.inplace && c.records() && c.anyRequiresGrad() { // the steps may save what was there before
		self := c.args[0].T
		before := TensorValue(self.Clone())
		for i := range f.args {
			if f.args[i].T == self {
				f.args[i] = before
			}
		}
	}
	f.outs = f.outBuf[:0]
	f.mode, f.later = c.mode, given
	f.dispatch()
	for i, r := range f.outs[min(len(given), len(f.outs)):] { // Out of several results is the first one
		c.SetOut(len(given)+i, r)
	}
	for i, g := range given {
		r := f.outs[i]
		c.checkOutType(g, r.dt)
		if c.inplace {
			if !SameShape(g.shape, r.shape) {
				c.Fail(ErrShape, "output with shape %s doesn't match the broadcast shape %s", ShapeString(g.shape),
					ShapeString(r.shape))
			}
			k := NewCall(opCopy, 3)
			*k.Arg(0), *k.Arg(1), *k.Arg(2) = TensorValue(g), TensorValue(r), BoolValue(false)
			k.Do1()
		} else {
			if !SameShape(g.shape, r.shape) {
				g.resizeOut(r.shape)
			}
			copyRaw(g, r)
			g.bump()
		}
		c.SetOut(i, g)
	}
	f.free()
}

var opCopy = slot("aten::copy_")
