// Package autocast is the layer that casts the arguments of operators by their classes, and its state. Package amp
// runs functions in regions of it; package torch has PyTorch's functions that set its state by hand.
package autocast

import (
	"sync"

	"github.com/gotorch-dev/torch/tensor"
)

// DeviceTitle is how PyTorch's texts call a kind of device.
func DeviceTitle(d tensor.DeviceType) string {
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

// cacheKey is a parameter and the type that it was cast to.
type cacheKey struct {
	t  *tensor.Tensor
	dt tensor.DType
}

// cache keeps cast parameters from the beginning to the end of the outermost region: each is cast once, and its
// gradient comes back through one node.
type cache struct {
	sync.Mutex
	casts map[cacheKey]*tensor.Tensor
}

func newCache() *cache { return &cache{casts: map[cacheKey]*tensor.Tensor{}} }

func (c *cache) clear() {
	c.Lock()
	defer c.Unlock()
	clear(c.casts)
}

// Region is the state of one region of autocast, or of the whole program. Only the goroutine that runs in a region
// changes it; the program's is replaced by another one instead.
type Region struct {
	on      [maxDevices]bool
	dtypes  [maxDevices]tensor.DType // 0 where the region names none
	cacheOn bool
	cache   *cache
	nesting int // regions around the caller, this one included
}

// Run runs f in a region in which operators on the device are cast to dtype, or are not cast unless on. Without keep a
// parameter is cast anew for each use.
func Run(device tensor.DeviceType, dtype tensor.DType, on, keep bool, f func()) {
	old := current()
	r := *old
	r.nesting++
	r.cacheOn = old.cacheOn && keep
	if r.nesting == 1 {
		r.cache = newCache()
		defer r.cache.clear()
	}
	if dtype == 0 {
		dtype = tensor.AutocastDType(device)
	}
	if on && dtype != tensor.BFloat16 && dtype != tensor.Float16 {
		tensor.Warn("In %[1]s autocast, but the target dtype is not supported. Disabling autocast.\n"+
			"%[1]s Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.", DeviceTitle(device))
		on = false
	}
	r.on[device], r.dtypes[device] = on, dtype
	tensor.InsteadOfLayers(tensor.RankAutocast, &r, f)
}

// outside is the state where no region is.
var outside = Region{cacheOn: true}

// program is the state outside of regions, nil while it is that of the variable outside.
var program struct {
	sync.Mutex
	*Region
}

// current is the state that holds for the calling goroutine.
func current() *Region {
	if r, ok := tensor.LayerOf(tensor.RankAutocast).(*Region); ok {
		return r
	}
	return &outside
}

// change changes the state of the region around the caller, or else that of the whole program.
func change(how func(r *Region)) {
	program.Lock()
	defer program.Unlock()
	if r := current(); r != &outside && r != program.Region {
		how(r)
		return
	}
	r := outside
	if program.Region != nil {
		r = *program.Region
	} else {
		r.cache = newCache()
	}
	how(&r)
	if r.on == outside.on && r.dtypes == outside.dtypes && r.cacheOn && r.nesting == 0 {
		r.cache.clear()
		program.Region = nil
		tensor.SetGlobalLayer(tensor.RankAutocast, nil)
		return
	}
	program.Region = &r
	tensor.SetGlobalLayer(tensor.RankAutocast, &r)
}

// SetEnabled switches autocast on or off for a kind of device: until the region around the caller ends, or, where there
// is none, for all goroutines that run in no mode of their own.
func SetEnabled(d tensor.DeviceType, on bool) { change(func(r *Region) { r.on[d] = on }) }

// SetCached says whether cast parameters are kept, in the region around the caller or else in the whole program.
func SetCached(on bool) { change(func(r *Region) { r.cacheOn = on }) }

// Nest adds n to the number of regions around the caller and returns the number that this gives.
func Nest(n int) (nesting int) {
	change(func(r *Region) {
		r.nesting += n
		nesting = r.nesting
	})
	return nesting
}

// Enabled reports that operators on the device cast their arguments.
func (l *Region) Enabled(d tensor.DeviceType) bool { return l.on[d] }

// DType is the type that products run in on the device, 0 where no region has named it.
func (l *Region) DType(d tensor.DeviceType) tensor.DType { return l.dtypes[d] }

// Cached reports that cast parameters are kept.
func (l *Region) Cached() bool { return l.cacheOn }

// Clear forgets the cast parameters.
func (l *Region) Clear() { l.cache.clear() }

// Rank says that autocast acts above tracing and autograd, which see the casts.
func (l *Region) Rank() tensor.Rank { return tensor.RankAutocast }

// Sees takes operators that have a class whole: inside of them autocast is off. It looks into all others.
func (l *Region) Sees(op *tensor.Op) tensor.Sight {
	for d, on := range l.on {
		if on && op.AMPOn(tensor.DeviceType(d)) != tensor.AMPKeep {
			return tensor.Whole
		}
	}
	return tensor.Inside
}

// Call casts the arguments of a call by the operator's class.
func (l *Region) Call(c *tensor.Ctx, next func()) {
	d, ok := l.device(c)
	if !ok {
		next()
		return
	}
	lower := l.dtypes[d]
	if lower == 0 {
		lower = tensor.AutocastDType(d)
	}
	switch c.Op().AMPOn(d) {
	case tensor.AMPLower:
		l.cast(c, d, lower, lower)
	case tensor.AMPFP32:
		l.cast(c, d, tensor.Float32, lower)
	case tensor.AMPPromote:
		l.cast(c, d, widest(c, d, lower), lower)
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
func (l *Region) device(c *tensor.Ctx) (tensor.DeviceType, bool) {
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
func tensorsOf(v tensor.Value) []*tensor.Tensor {
	switch v.K {
	case tensor.KTensor:
		return []*tensor.Tensor{v.T}
	case tensor.KTensors:
		l, _ := v.X.([]*tensor.Tensor)
		return l
	}
	return nil
}

// regionOf is the kind of device whose region concerns a tensor.
func regionOf(t *tensor.Tensor) tensor.DeviceType {
	if d := t.Device().Type; d != tensor.MetaDevice {
		return d
	}
	return tensor.CUDADevice
}

// Eligible reports a tensor that casts concern.
func Eligible(t *tensor.Tensor, d tensor.DeviceType) bool {
	return t != nil && regionOf(t) == d && t.DType().IsFloat() && t.DType() != tensor.Float64
}

func (l *Region) cast(c *tensor.Ctx, d tensor.DeviceType, to, lower tensor.DType) {
	for i := range c.NumArgs() {
		v := c.Value(i)
		switch v.K {
		case tensor.KTensor:
			if t := v.T; Eligible(t, d) && t.DType() != to {
				c.SetValue(i, tensor.TensorValue(l.castOne(t, to, lower)))
			}
		case tensor.KTensors:
			list := append([]*tensor.Tensor(nil), tensorsOf(v)...)
			for j, t := range list {
				if Eligible(t, d) && t.DType() != to {
					list[j] = l.castOne(t, to, lower)
				}
			}
			c.SetValue(i, tensor.TensorsValue(list))
		}
	}
}

// castOne casts a tensor. A parameter that is cast to the lower type stays in the cache; it is cast with recording
// switched on, so that a later use that is recorded finds its gradient's way.
func (l *Region) castOne(t *tensor.Tensor, to, lower tensor.DType) *tensor.Tensor {
	if !l.cacheOn || to != lower || t.DType() != tensor.Float32 || !t.RequiresGrad() || !t.IsLeaf() ||
		t.IsView() {
		return t.ToDType(to)
	}
	k := cacheKey{t, to}
	l.cache.Lock()
	defer l.cache.Unlock()
	if x, ok := l.cache.casts[k]; ok {
		return x
	}
	var x *tensor.Tensor
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
			if !Eligible(t, d) {
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
	if !Eligible(c.Value(0).T, d) {
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
	if Eligible(t, d) {
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
