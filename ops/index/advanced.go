package index

import (
	"slices"
	"sync/atomic"

	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// advanced is an index list made ready: masks became numbers, the index tensors are broadcast, and the places are
// linear. What does not depend on the elements of the index tensors is found out by plan, the places by place.
type advanced struct {
	off        []int64 // of every index position, in elements from the start of self
	offMem     *T      // the memory of off
	self       geom    // the indexed tensor, with dimensions that a mask covers as one where possible
	dims       []int   // its dimensions that are indexed
	before     geom    // dimensions before the indexed ones
	after      geom    // and after them
	shape      []int   // of the result
	indexShape []int
	runContig  bool // after is one contiguous run
	afterN     int
	beforeN    int
	beforeOff  []int
	afterOff   []int
}

type geom struct{ shape, stride []int }

// offsets lists the places of a strided block in logical order.
func (g geom) offsets() []int {
	n := 1
	for _, s := range g.shape {
		n *= s
	}
	out := make([]int, 0, n)
	if n == 0 {
		return out
	}
	out = append(out, 0)
	for d, s := range g.shape {
		next := make([]int, 0, len(out)*s)
		for _, o := range out {
			for i := 0; i < s; i++ {
				next = append(next, o+i*g.stride[d])
			}
		}
		out = next
	}
	return out
}

// expandMasks turns bool and uint8 masks into index tensors, one per dimension that the mask covers; dimensions that
// lie in order become one, so that it needs but one. It returns the dimensions of self as the list then sees them.
func expandMasks(c *Ctx, shape, stride []int, list []*T) (newShape, newStride []int, out []*T) {
	newShape, newStride = slices.Clone(shape), slices.Clone(stride)
	lost := 0 // dimensions that became part of another
	for _, t := range list {
		if t == nil {
			out = append(out, nil)
			continue
		}
		switch dt := t.DType(); dt {
		case tensor.Bool, tensor.Uint8:
			if dt == tensor.Uint8 {
				tensor.Warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.")
			}
			at := len(out) + lost
			for k, s := range t.Shape() {
				if at+k >= len(shape) {
					c.Fail(tensor.ErrIndex, "too many indices for tensor of dimension %d", len(shape))
				}
				if shape[at+k] != s {
					c.Fail(tensor.ErrIndex,
						"The shape of the mask %s at index %d does not match the shape of the indexed tensor %s at "+
							"index %d", tensor.ShapeString(t.Shape()), k, tensor.ShapeString(shape), at+k)
				}
			}
			one := t.Dim() > 0
			for k := at; k+1 < at+t.Dim(); k++ {
				one = one && stride[k] == stride[k+1]*shape[k+1]
			}
			if !one {
				m := truthsOf(t)
				rows := tensor.New([]int{m.count(), t.Dim()}, tensor.Int64)
				m.rows(rows)
				out = append(out, rows.Unbind(tensor.UnbindOptions{Dim: 1})...)
				continue
			}
			last := at + t.Dim() - 1
			newShape = slices.Replace(newShape, at-lost, at-lost+t.Dim(), t.Numel())
			newStride = slices.Replace(newStride, at-lost, at-lost+t.Dim(), stride[last])
			lost += t.Dim() - 1
			out = append(out, truthsOf(t).places())
		case tensor.Int64, tensor.Int32:
			out = append(out, t)
		default:
			c.Fail(tensor.ErrType, "tensors used as indices must be long, int, byte or bool tensors")
		}
	}
	return newShape, newStride, out
}

// hasMask reports that a list of indices holds a mask, so that the size of what it picks depends on elements.
func hasMask(list []*T) bool {
	return slices.ContainsFunc(list, func(t *T) bool {
		return t != nil &&
			(t.DType() == tensor.Bool || t.DType() == tensor.Uint8)
	})
}

// prepare makes an index list ready for a tensor of the given shape and strides, for kernels. Negative indices count
// from the end.
func prepare(c *Ctx, shape, stride []int, list []*T) *advanced {
	nd := len(shape)
	shape, stride, list = expandMasks(c, shape, stride, list)
	return plan(c, nd, shape, stride, list).place(c, list)
}

// plan finds out what a list of index tensors without masks picks of a tensor of nd dimensions, which the list sees
// with the given shape and strides. It reads no elements.
func plan(c *Ctx, nd int, shape, stride []int, list []*T) *advanced {
	if len(list) > len(shape) {
		c.Fail(tensor.ErrIndex, "too many indices for tensor of dimension %d (got %d)", nd, len(list)+nd-len(shape))
	}
	a := &advanced{self: geom{shape, stride}}
	var shapes [][]int
	for d, t := range list {
		if t == nil {
			continue
		}
		if dt := t.DType(); dt != tensor.Int64 && dt != tensor.Int32 {
			c.Fail(tensor.ErrType, "tensors used as indices must be long, int, byte or bool tensors")
		}
		shapes, a.dims = append(shapes, t.Shape()), append(a.dims, d)
	}
	if err := tensor.Try(func() { shapes = [][]int{tensor.BroadcastShapes(shapes...)} }); err != nil {
		text := ""
		for i, s := range shapes {
			if i > 0 {
				text += ", "
			}
			text += tensor.ShapeString(s)
		}
		c.Fail(tensor.ErrIndex, "shape mismatch: indexing tensors could not be broadcast together with shapes %s", text)
	}
	ish, dims := shapes[0], a.dims
	a.indexShape = ish
	adjacent := len(dims) == 0 || dims[len(dims)-1]-dims[0] == len(dims)-1
	for d := range shape {
		if slices.Contains(dims, d) {
			continue
		}
		if adjacent && len(dims) > 0 && d < dims[0] {
			a.before.shape, a.before.stride = append(a.before.shape, shape[d]), append(a.before.stride, stride[d])
		} else {
			a.after.shape, a.after.stride = append(a.after.shape, shape[d]), append(a.after.stride, stride[d])
		}
	}
	a.shape = append(append(slices.Clone(a.before.shape), ish...), a.after.shape...)
	a.runContig, a.afterN = true, 1
	want := 1
	for d := len(a.after.shape) - 1; d >= 0; d-- {
		if a.after.shape[d] != 1 && a.after.stride[d] != want {
			a.runContig = false
		}
		want *= a.after.shape[d]
		a.afterN *= a.after.shape[d]
	}
	return a
}

// place reads the index tensors and works out the places that they name.
func (a *advanced) place(c *Ctx, list []*T) *advanced {
	a.offMem = tensor.New([]int{numel(a.indexShape)}, tensor.Int64)
	a.off = tensor.Data[int64](a.offMem)
	a.offsetsOf(c, list)
	a.beforeOff = a.before.offsets()
	a.beforeN = len(a.beforeOff)
	if !a.runContig {
		a.afterOff = a.after.offsets()
	}
	return a
}

// checkDevices refuses index tensors that are neither on the CPU nor where the indexed tensor is.
func checkDevices(c *Ctx, self *T, list []*T) {
	d := self.Device()
	for _, t := range list {
		if t != nil && t.Device().Type != tensor.CPUDevice && t.Device() != d {
			c.Fail(tensor.ErrDevice, "indices should be either on cpu or on the same device as the indexed tensor (%s)",
				d)
		}
	}
}

// offsetsOf adds up what the index tensors contribute to each element's place. As in PyTorch the elements are checked
// one after another, each in all its dimensions (counted among the indexed ones), and nothing is checked where nothing
// is picked.
func (a *advanced) offsetsOf(c *Ctx, list []*T) {
	shape, stride, dims := a.self.shape, a.self.stride, a.dims
	picked := len(a.off)
	for d, s := range shape {
		switch {
		case !slices.Contains(dims, d):
			picked *= s
		case s == 0 && len(a.off) > 0:
			c.Fail(tensor.ErrIndex, "index is out of bounds for dimension with size 0")
		}
	}
	if picked == 0 {
		return
	}
	at := make([][]int64, len(dims))
	for k, d := range dims {
		t := list[d]
		if !tensor.SameShape(t.Shape(), a.indexShape) {
			t = t.Detach().Expand(a.indexShape)
		}
		at[k] = longs(t)
	}
	var bad atomic.Bool
	par.For(len(a.off), walkTask, func(lo, hi int) {
		if len(dims) == 0 {
			clear(a.off[lo:hi])
		}
		for k, d := range dims {
			if !addPlaces(a.off[lo:hi], at[k][lo:hi], shape[d], stride[d], k == 0) {
				bad.Store(true)
			}
		}
	})
	if !bad.Load() {
		return
	}
	for i := range a.off {
		for k, d := range dims {
			if x, size := int(at[k][i]), shape[d]; x < -size || x >= size {
				c.Fail(tensor.ErrIndex, "index %d is out of bounds for dimension %d with size %d", x, k, size)
			}
		}
	}
}

// addPlaces adds to off (or sets it to) the places of indices along a dimension; negative ones count from its end. It
// reports whether all are in range.
func addPlaces(off, x []int64, size, stride int, set bool) bool {
	x = x[:len(off)]
	n, st := int64(size), int64(stride)
	bad := int64(0)
	if set {
		for i, v := range x {
			v += n & (v >> 63)
			bad |= v | (n - 1 - v) // negative where one of them is
			off[i] = v * st
		}
	} else {
		for i, v := range x {
			v += n & (v >> 63)
			bad |= v | (n - 1 - v)
			off[i] += v * st
		}
	}
	return bad >= 0
}

// done lets go of the places.
func (a *advanced) done() {
	a.off = nil
	tensor.ReleaseRaw(a.offMem)
}

// rows calls f for parts of the rows that the list picks: from and to count them in the result, s lies before those of
// the same place in the dimensions before, and off has their places behind s.
func (a *advanced) rows(from, to int, f func(row, s int, off []int64)) {
	k := len(a.off)
	for from < to {
		b, j := from/k, from%k
		n := min(k-j, to-from)
		f(from, a.beforeOff[b], a.off[j:j+n])
		from += n
	}
}

// read copies the chosen elements to dst in order.
func read[E moved](a *advanced, dst, src []E) {
	m := a.afterN
	par.For(a.beforeN*len(a.off), max(1, walkTask/max(1, m)), func(lo, hi int) {
		a.rows(lo, hi, func(row, s int, off []int64) {
			src := src[s:]
			switch {
			case a.runContig && m == 1:
				d := dst[row:][:len(off)]
				for i, o := range off {
					d[i] = src[o]
				}
			case a.runContig:
				for i, o := range off {
					copy(dst[(row+i)*m:][:m], src[o:][:m])
				}
			default:
				for i, o := range off {
					d, src := dst[(row+i)*m:][:m], src[o:]
					for j, q := range a.afterOff {
						d[j] = src[q]
					}
				}
			}
		})
	})
}

// write calls f for parts of the picked rows in such a way that no two tasks meet in one place, and that places that
// are picked more than once are come upon in order. Of each row f is to write what lies from lo to hi.
func (a *advanced) write(f func(row, s int, off []int64, lo, hi int)) {
	k, m := len(a.off), a.afterN
	if threads := par.NumThreads(); a.beforeN == 1 && m > 1 && k*m > walkTask && threads > 1 {
		// Tasks have some columns of all rows; their number may depend on the threads, since no place is written by two
		// of them.
		tasks := min(1+k*m/walkTask, 2*threads)
		par.For(m, max(32, (m+tasks-1)/tasks), func(lo, hi int) { f(0, 0, a.off, lo, hi) })
		return
	}
	par.For(a.beforeN, max(1, walkTask/max(1, k*m)), func(lo, hi int) {
		a.rows(lo*k, hi*k, func(row, s int, off []int64) { f(row, s, off, 0, m) })
	})
}

// put writes src in order to the chosen places.
func put[E moved](a *advanced, dst, src []E) {
	m := a.afterN
	a.write(func(row, s int, off []int64, lo, hi int) {
		dst := dst[s:]
		switch {
		case a.runContig && m == 1:
			v := src[row:][:len(off)]
			for i, o := range off {
				dst[o] = v[i]
			}
		case a.runContig:
			for i, o := range off {
				copy(dst[int(o)+lo:][:hi-lo], src[(row+i)*m+lo:])
			}
		default:
			for i, o := range off {
				v, dst := src[(row+i)*m:][:m], dst[o:]
				for j, q := range a.afterOff[lo:hi] {
					dst[q] = v[lo+j]
				}
			}
		}
	})
}

// putAdd adds src in order to the chosen places.
func putAdd[E number](a *advanced, dst, src []E) {
	m := a.afterN
	a.write(func(row, s int, off []int64, lo, hi int) {
		dst := dst[s:]
		switch {
		case a.runContig && m == 1:
			v := src[row:][:len(off)]
			for i, o := range off {
				dst[o] += v[i]
			}
		case a.runContig:
			for i, o := range off {
				addTo(dst[int(o)+lo:][:hi-lo], src[(row+i)*m+lo:])
			}
		default:
			for i, o := range off {
				v, dst := src[(row+i)*m:][:m], dst[o:]
				for j, q := range a.afterOff[lo:hi] {
					dst[q] += v[lo+j]
				}
			}
		}
	})
}

// putAddRounded is putAdd that rounds each sum.
func putAddRounded(a *advanced, dst, src []float32, round func(float32) float32) {
	m := a.afterN
	a.write(func(row, s int, off []int64, lo, hi int) {
		for i, o := range off {
			d, v := dst[s+int(o):], src[(row+i)*m:][:m]
			for j := lo; j < hi; j++ {
				q := j
				if !a.runContig {
					q = int(a.afterOff[j])
				}
				d[q] = round(d[q] + v[j])
			}
		}
	})
}

func indexInfer(c *Ctx) {
	self, list := c.T(0), c.Tensors(1)
	if len(list) == 0 {
		c.Fail(tensor.ErrIndex, "at least one index must be provided")
	}
	checkDevices(c, self, list)
	if g := c.GivenOut(0); g != nil {
		noOverlap(c, g)
	}
	if hasMask(list) { // the kernel finds out how many elements are picked
		return
	}
	a := plan(c, self.Dim(), self.Shape(), self.Strides(), list)
	c.Keep(a)
	c.Alloc(0, a.shape, self.DType())
}

func indexCPU(c *Ctx) {
	self, list := c.T(0), c.Tensors(1)
	a, planned := c.Kept().(*advanced)
	c.Keep(nil)
	switch {
	case planned && slices.Equal(a.self.stride, self.Strides()):
		a.place(c, list)
	case planned: // the kernel reads a substitute of self, which lies in other memory
		a = prepare(c, self.Shape(), self.Strides(), list)
	default:
		a = prepare(c, self.Shape(), self.Strides(), list)
		c.Alloc(0, a.shape, self.DType())
	}
	defer a.done()
	o := c.Out(0)
	if o.Numel() == 0 {
		return
	}
	bySize(o, func() { read(a, raw[uint8](o), raw[uint8](self)) },
		func() { read(a, raw[uint16](o), raw[uint16](self)) },
		func() { read(a, raw[uint32](o), raw[uint32](self)) }, func() { read(a, raw[uint64](o), raw[uint64](self)) },
		func() { read(a, raw[wide](o), raw[wide](self)) })
}

// pick lists the gradients of (self, indices…, values): indices have none.
func pick(c *Ctx, self, values *T) []*T {
	r := make([]*T, 1+len(c.Tensors(1)))
	r[0] = self
	if c.Op().Sch.Index("values") >= 0 {
		r = append(r, values)
	}
	return r
}

func indexPutInfer(c *Ctx) {
	self, v := c.T(0), c.T(2)
	if v.DType() != self.DType() {
		c.Fail(tensor.ErrDType, "Index put requires the source and destination dtypes match, got %s for the "+
			"destination and %s for the source.", self.DType().ClassName(), v.DType().ClassName())
	}
	if d := v.Device(); d != self.Device() && (d.Type != tensor.CPUDevice || v.Dim() > 0) {
		c.Fail(tensor.ErrDevice, "Expected all tensors to be on the same device, but found at least two devices, %s "+
			"and %s!", self.Device(), d)
	}
	list := c.Tensors(1)
	checkDevices(c, self, list)
	o := c.AllocStrided(0, self.Shape(), likeStrides(self), self.DType())
	if hasMask(list) { // how many values are wanted depends on elements
		return
	}
	a := plan(c, o.Dim(), o.Shape(), o.Strides(), list)
	checkValues(c, a, v)
	c.Keep(a)
}

// checkValues refuses values that cannot be broadcast to what an index picks.
func checkValues(c *Ctx, a *advanced, v *T) {
	if tensor.Broadcastable(v.Shape(), a.shape) {
		return
	}
	if v.Dim() > len(a.shape) && tensor.SameShape(v.Shape()[v.Dim()-len(a.shape):], a.shape) &&
		v.Numel() == numel(a.shape) {
		return // leading ones may be too many
	}
	c.Fail(tensor.ErrShape, "shape mismatch: value tensor of shape %s cannot be broadcast to indexing result of "+
		"shape %s", tensor.ShapeString(v.Shape()), tensor.ShapeString(a.shape))
}

// onlyMask is the mask that alone indexes a tensor of a shape, with dimensions of size 1 for those behind it; nil if
// there is another index.
func onlyMask(shape []int, list []*T) (m *T) {
	for d, t := range list {
		switch {
		case t == nil:
		case m != nil || t.DType() != tensor.Bool || d+t.Dim() > len(shape) ||
			!tensor.SameShape(shape[d:d+t.Dim()], t.Shape()):
			return nil
		default:
			t = t.Detach()
			m = t.Reshape(append(slices.Clone(t.Shape()), slices.Repeat([]int{1}, len(shape)-d-t.Dim())...))
		}
	}
	return m
}

func numel(s []int) int {
	n := 1
	for _, x := range s {
		n *= x
	}
	return n
}

func indexPutCPU(c *Ctx, accumulate bool) {
	self, o := c.T(0), c.Out(0)
	v, list := c.T(2).Detach(), c.Tensors(1)
	a, planned := c.Kept().(*advanced)
	c.Keep(nil)
	switch {
	case planned && slices.Equal(a.self.stride, o.Strides()):
		a.place(c, list)
	case v.Numel() == 1 && !accumulate:
		if m := onlyMask(self.Shape(), list); m != nil { // one number, which goes where the mask is set
			bySize(o, func() { fillMasked[uint8](o, self, m, v) }, func() { fillMasked[uint16](o, self, m, v) },
				func() { fillMasked[uint32](o, self, m, v) },
				func() { fillMasked[uint64](o, self, m, v) }, func() { fillMasked[wide](o, self, m, v) })
			return
		}
		fallthrough
	default:
		a = prepare(c, o.Shape(), o.Strides(), list)
		checkValues(c, a, v)
	}
	if v.Dim() > len(a.shape) {
		v = v.Reshape(a.shape)
	}
	if !tensor.SameShape(v.Shape(), a.shape) {
		v = v.Expand(a.shape)
	}
	v = tensor.Dense(v)
	if v.Storage() == o.Storage() {
		v = tensor.CloneRaw(v)
	}
	if !accumulate {
		defer a.done()
		if o != self {
			tensor.CopyRaw(o, self)
		}
		if v.Numel() == 0 {
			return
		}
		bySize(o, func() { put(a, raw[uint8](o), raw[uint8](v)) }, func() { put(a, raw[uint16](o), raw[uint16](v)) },
			func() { put(a, raw[uint32](o), raw[uint32](v)) }, func() { put(a, raw[uint64](o), raw[uint64](v)) },
			func() { put(a, raw[wide](o), raw[wide](v)) })
		return
	}
	intoWide(o, self, func(w *T) {
		if !slices.Equal(w.Strides(), o.Strides()) {
			a.done()
			a = prepare(c, w.Shape(), w.Strides(), c.Tensors(1))
		}
		defer a.done()
		if v.Numel() == 0 {
			return
		}
		switch v := as(v, w.DType()); w.DType() {
		case tensor.Float32:
			switch o.DType() { // 16-bit sums are rounded at every step, as in PyTorch
			case tensor.Float16:
				putAddRounded(a, raw[float32](w), raw[float32](v), func(x float32) float32 { return dtype.ToFloat16(x).F32() })
			case tensor.BFloat16:
				putAddRounded(a, raw[float32](w), raw[float32](v), func(x float32) float32 { return dtype.ToBFloat16(x).F32() })
			default:
				putAdd(a, raw[float32](w), raw[float32](v))
			}
		case tensor.Float64:
			putAdd(a, raw[float64](w), raw[float64](v))
		case tensor.Int32:
			putAdd(a, raw[int32](w), raw[int32](v))
		case tensor.Int64:
			putAdd(a, raw[int64](w), raw[int64](v))
		case tensor.Complex64:
			putAdd(a, raw[complex64](w), raw[complex64](v))
		default:
			putAdd(a, raw[complex128](w), raw[complex128](v))
		}
	})
}

func init() {
	indexVJP := func(c *Ctx, g *T) []*T {
		return pick(c, op.Call1("aten::index_put_", op.Zeros(g, c.Shape(0), g.DType()), c.Tensors(1), g, true), nil)
	}
	tensor.Register(tensor.Def{
		Schema: "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
		Doc: "picks elements by index tensors, one per dimension (nil: all of the dimension). Index is the " +
			"convenient form.",
		Go: "IndexTensors", Out: true, FormNames: "index.out=.Tensor_out", DataDependent: true, CrossDevice: true,
		Infer: indexInfer, CPU: indexCPU, Save: "indices", VJP: indexVJP, Grad: "IndexBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
		Doc:    "is index, for indices that are known to be in range.",
		Go:     "-", DataDependent: true, CrossDevice: true,
		Infer: indexInfer, CPU: indexCPU, Save: "indices", VJP: indexVJP, Grad: "UnsafeIndexBackward0",
	})
	putVJP := func(c *Ctx, g *T) []*T {
		var gs, gv *T
		list := c.Tensors(1)
		if c.Needs(0) {
			gs = g
			if !c.Bool(3) {
				gs = op.Call1("aten::index_put", g, list, op.Zeros(g, nil, g.DType()), false)
			}
		}
		if n := c.Shape(2); c.Needs(2) {
			gv = op.Call1("aten::index.Tensor", g, list)
			if gv.Dim() < len(n) {
				gv = gv.Reshape(append(slices.Repeat([]int{1}, len(n)-gv.Dim()), gv.Shape()...))
			}
		}
		return pick(c, gs, gv)
	}
	tensor.Register(tensor.Def{
		Overlap: tensor.OverlapWarned,
		Schema:  "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
		Doc: "is self with values written (or added) to the elements that the index tensors pick. SetIndex is " +
			"the convenient form.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.index_put_.html",
		InPlace: true, DataDependent: true, CrossDevice: true, Infer: indexPutInfer,
		CPU:  func(c *Ctx) { indexPutCPU(c, c.Bool(3)) },
		Save: "indices", VJP: putVJP, Grad: "IndexPutBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
		Doc:    "is index_put, for indices that are known to be in range.",
		Go:     "-", DataDependent: true, CrossDevice: true, Infer: indexPutInfer,
		CPU:  func(c *Ctx) { indexPutCPU(c, c.Bool(3)) },
		Save: "indices", VJP: putVJP, Grad: "UnsafeIndexPutBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor",
		Doc:    "is Index with clamped indices where the mask is set and a number elsewhere.",
		Go:     "-",
		Body: func(c *Ctx) {
			r := op.Call1("aten::_unsafe_index.Tensor", c.T(0), clampIndices(c.T(0), c.Tensors(2)))
			c.Return(op.Call1("aten::masked_fill.Scalar", r, invert(c.T(1)), c.Num(3)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, Tensor values) -> Tensor",
		Doc:    "is IndexPut with accumulation at clamped indices of the values where the mask is set.",
		Go:     "-",
		Body: func(c *Ctx) {
			v := op.Call1("aten::masked_fill.Scalar", c.T(3), invert(c.T(1)), 0)
			c.Return(op.Call1("aten::_unsafe_index_put", c.T(0), clampIndices(c.T(0), c.Tensors(2)), v, true))
		},
	})
}

// clampIndices brings indices into the range of their dimensions.
func clampIndices(self *T, list []*T) []*T {
	out := make([]*T, len(list))
	for d, t := range list {
		if t != nil {
			n := self.Size(d)
			out[d] = op.Call1("aten::clamp", t, -n, n-1)
		}
	}
	return out
}
