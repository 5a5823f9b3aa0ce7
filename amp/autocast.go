package amp

import (
	"sync"

	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is torch.Tensor.
type Tensor = tensor.Tensor

// AutocastOptions are the options of [Autocast].
type AutocastOptions struct {
	// Disabled makes it a region without autocast for the device, for a part that must run in the types of its inputs.
	Disabled bool
	// NoCache casts a parameter anew for each use, instead of keeping the cast one until the outermost region ends.
	NoCache bool
}

// Autocast runs f such that operators on tensors of the device cast their floating-point arguments by their class:
// products and convolutions to dtype, which is bfloat16 or float16; sums, exponentials, norms and losses to float32;
// operators that join tensors to the widest type among them. All others run in the types that they are given. Float64
// tensors, in-place forms and calls with out= are left alone. dtype 0 is the device's default: bfloat16 on the CPU,
// float16 elsewhere. It holds for the calling goroutine; regions may be nested, and the innermost counts.
//
// Tensors on the meta device follow the region of CUDA, unlike in PyTorch, where no region concerns them: so what a
// model would compute on a GPU can be looked at without one.
//
// What f leaves behind may have the lower type. Backward belongs behind the region: gradients are computed in the types
// that the forward pass used.
// https://pytorch.org/docs/stable/amp.html#torch.autocast
func Autocast(device tensor.DeviceType, dtype tensor.DType, f func(), opts ...AutocastOptions) {
	var o AutocastOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	old, _ := tensor.LayerOf(tensor.RankAutocast).(*layer)
	l := &layer{cacheOn: !o.NoCache}
	if old != nil {
		l.on, l.dtypes, l.cache = old.on, old.dtypes, old.cache
		if o.Disabled {
			l.cacheOn = old.cacheOn
		}
	} else {
		l.cache = &cache{casts: map[cacheKey]*Tensor{}}
		defer l.cache.clear()
	}
	if dtype == 0 {
		dtype = DType(device)
	}
	on := !o.Disabled
	if on && dtype != tensor.BFloat16 && dtype != tensor.Float16 {
		tensor.Warn("In %[1]s autocast, but the target dtype is not supported. Disabling autocast.\n"+
			"%[1]s Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.", deviceTitle(device))
		on = false
	}
	l.on[device], l.dtypes[device] = on, dtype
	tensor.InsteadOfLayers(tensor.RankAutocast, l, f)
}

// deviceTitle is how PyTorch's texts call a kind of device.
func deviceTitle(d tensor.DeviceType) string {
	switch d {
	case tensor.CPUDevice:
		return "CPU"
	case tensor.CUDADevice:
		return "CUDA"
	}
	return d.String()
}

// maxDevices is more than the kinds of device that a program can have.
const maxDevices = 32

// DType is the type that operators of class lower run in on a device: that of the region around the caller, or else
// the default.
// https://pytorch.org/docs/stable/amp.html#torch.amp.autocast
func DType(device tensor.DeviceType) tensor.DType { return tensor.AutocastDType(device) }

// SetDType changes, for the whole program, the type of a device's regions that name none.
func SetDType(device tensor.DeviceType, dtype tensor.DType) { tensor.SetAutocastDType(device, dtype) }

// IsEnabled reports whether the calling goroutine runs in a region of Autocast for the device.
func IsEnabled(device tensor.DeviceType) bool { return tensor.IsAutocastEnabled(device) }

// IsCacheEnabled reports whether cast parameters are kept. Outside of regions they would be.
func IsCacheEnabled() bool { return tensor.IsAutocastCacheEnabled() }

// ClearCache forgets the cast parameters of the region around the caller: after a parameter was changed inside it.
func ClearCache() { tensor.ClearAutocastCache() }

// cacheKey is a parameter and the type that it was cast to.
type cacheKey struct {
	t  *Tensor
	dt tensor.DType
}

// cache keeps cast parameters from the beginning to the end of the outermost region: each is cast once, and its
// gradient comes back through one node.
type cache struct {
	sync.Mutex
	casts map[cacheKey]*Tensor
}

func (c *cache) clear() {
	c.Lock()
	defer c.Unlock()
	clear(c.casts)
}

// layer is the state of one region; it does not change while the region runs.
type layer struct {
	on      [maxDevices]bool
	dtypes  [maxDevices]tensor.DType
	cacheOn bool
	cache   *cache
}

// Enabled reports that operators on the device cast their arguments.
func (l *layer) Enabled(d tensor.DeviceType) bool { return l.on[d] }

// DType is the type that products run in on the device, 0 where no region has named it.
func (l *layer) DType(d tensor.DeviceType) tensor.DType { return l.dtypes[d] }

// Cached reports that cast parameters are kept.
func (l *layer) Cached() bool { return l.cacheOn }

// Clear forgets the cast parameters.
func (l *layer) Clear() { l.cache.clear() }

// Rank says that autocast acts above tracing and autograd, which see the casts.
func (l *layer) Rank() tensor.Rank { return tensor.RankAutocast }

// Sees takes operators that have a class whole: inside of them autocast is off. It looks into all others.
func (l *layer) Sees(op *tensor.Op) tensor.Sight {
	for d, on := range l.on {
		if on && op.AMPOn(tensor.DeviceType(d)) != tensor.AMPKeep {
			return tensor.Whole
		}
	}
	return tensor.Inside
}

// Call casts the arguments of a call by the operator's class.
func (l *layer) Call(c *tensor.Ctx, next func()) {
	d, ok := l.device(c)
	if !ok {
		next()
		return
	}
	lower := l.dtypes[d]
	switch c.Op().AMPOn(d) {
	case tensor.AMPLower:
		l.cast(c, d, lower)
	case tensor.AMPFP32:
		l.cast(c, d, tensor.Float32)
	case tensor.AMPPromote:
		l.cast(c, d, widest(c, d, lower))
	case tensor.AMPFP32OptDType:
		setDType(c, d)
	case tensor.AMPFP32AppendDType:
		appendDType(c, d)
		return
	case tensor.AMPBanned:
		c.Fail(tensor.ErrDType, "%s", banned(c.Op()))
	}
	next()
}

// device is the kind of device whose region the call belongs to: the device of its first tensor.
func (l *layer) device(c *tensor.Ctx) (tensor.DeviceType, bool) {
	for i := range c.NumArgs() {
		for _, t := range tensorsOf(c.Value(i)) {
			if t != nil {
				d := regionOf(t)
				return d, l.on[d]
			}
		}
	}
	return 0, false
}

// tensorsOf are the tensors of an argument.
func tensorsOf(v tensor.Value) []*Tensor {
	switch v.K {
	case tensor.KTensor:
		return []*Tensor{v.T}
	case tensor.KTensors:
		l, _ := v.X.([]*Tensor)
		return l
	}
	return nil
}

// regionOf is the kind of device whose region concerns a tensor.
func regionOf(t *Tensor) tensor.DeviceType {
	if d := t.Device().Type; d != tensor.MetaDevice {
		return d
	}
	return tensor.CUDADevice
}

// eligible reports a tensor that casts concern.
func eligible(t *Tensor, d tensor.DeviceType) bool {
	return t != nil && regionOf(t) == d && t.DType().IsFloat() && t.DType() != tensor.Float64
}

func (l *layer) cast(c *tensor.Ctx, d tensor.DeviceType, to tensor.DType) {
	for i := range c.NumArgs() {
		v := c.Value(i)
		switch v.K {
		case tensor.KTensor:
			if t := v.T; eligible(t, d) && t.DType() != to {
				c.SetValue(i, tensor.TensorValue(l.castOne(t, d, to)))
			}
		case tensor.KTensors:
			list := append([]*Tensor(nil), tensorsOf(v)...)
			for j, t := range list {
				if eligible(t, d) && t.DType() != to {
					list[j] = l.castOne(t, d, to)
				}
			}
			c.SetValue(i, tensor.TensorsValue(list))
		}
	}
}

// castOne casts a tensor. A parameter that is cast to the lower type stays in the cache; it is cast with recording
// switched on, so that a later use that is recorded finds its gradient's way.
func (l *layer) castOne(t *Tensor, d tensor.DeviceType, to tensor.DType) *Tensor {
	if !l.cacheOn || to != l.dtypes[d] || t.DType() != tensor.Float32 || !t.RequiresGrad() || !t.IsLeaf() ||
		t.IsView() {
		return t.ToDType(to)
	}
	k := cacheKey{t, to}
	l.cache.Lock()
	defer l.cache.Unlock()
	if x, ok := l.cache.casts[k]; ok {
		return x
	}
	var x *Tensor
	tensor.EnableGrad(func() { x = t.ToDType(to) })
	x.Keep() // until the region ends, also when a Tidy inside it ends before
	l.cache.casts[k] = x
	return x
}

// widest is the type that the arguments of an operator of class promote are cast to.
func widest(c *tensor.Ctx, d tensor.DeviceType, lower tensor.DType) tensor.DType {
	to := lower
	for i := range c.NumArgs() {
		for _, t := range tensorsOf(c.Value(i)) {
			if !eligible(t, d) {
				continue
			}
			switch dt := t.DType(); {
			case to == tensor.Float32 || dt == tensor.Float32:
				to = tensor.Float32
			case dt != lower:
				c.Fail(tensor.ErrDType, "Unexpected floating ScalarType in at::autocast::prioritize")
			}
		}
	}
	return to
}

// setDType gives the operator's option dtype the value float32, unless it has one.
func setDType(c *tensor.Ctx, d tensor.DeviceType) {
	if !eligible(c.Value(0).T, d) {
		return
	}
	if i := c.Op().Sch.Index("dtype"); i >= 0 && c.Value(i).K == tensor.KNone {
		c.SetValue(i, tensor.DTypeValue(tensor.Float32))
	}
}

// appendDType calls the overload of the operator that has the same arguments and a dtype.
func appendDType(c *tensor.Ctx, d tensor.DeviceType) {
	t := c.Value(0).T
	dt := t.DType()
	if eligible(t, d) {
		dt = tensor.Float32
	}
	op := withDType(c.Op())
	if op == nil {
		c.Fail(tensor.ErrNotImpl, "autocast: %s has no overload with a dtype", c.Op().FullName())
	}
	n := len(op.Sch.Params)
	x := tensor.NewCall(op, n)
	for i := range n {
		if op.Sch.Params[i].Name == "dtype" {
			*x.Arg(i) = tensor.DTypeValue(dt)
		} else if j := c.Op().Sch.Index(op.Sch.Params[i].Name); j >= 0 {
			*x.Arg(i) = c.Value(j)
		} else if op.Sch.Params[i].Default != nil {
			*x.Arg(i) = *op.Sch.Params[i].Default
		}
	}
	c.Return(x.DoN()...)
}

// withDType finds the overload with the arguments of op and a dtype.
func withDType(op *tensor.Op) *tensor.Op {
	var best *tensor.Op
	for _, o := range tensor.Overloads(op.Sch.Namespace + "::" + op.Sch.Name) {
		if o.Sch.Index("dtype") < 0 {
			continue
		}
		fits := len(o.Sch.Params) > len(op.Sch.Params)
		for _, a := range op.Sch.Params {
			fits = fits && o.Sch.Index(a.Name) >= 0
		}
		if fits && (best == nil || len(o.Sch.Params) < len(best.Sch.Params)) {
			best = o
		}
	}
	return best
}

// banned is PyTorch's text for an operator that autocast refuses.
func banned(op *tensor.Op) string {
	if op.Sch.Name == "binary_cross_entropy" {
		return "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\n" +
			"Many models use a sigmoid layer right before the binary cross entropy layer.\n" +
			"In this case, combine the two layers using torch.nn.functional.binary_cross_entropy_with_logits\n" +
			"or torch.nn.BCEWithLogitsLoss.  binary_cross_entropy_with_logits and BCEWithLogits are\n" +
			"safe to autocast."
	}
	return op.FullName() + " is unsafe to autocast"
}
