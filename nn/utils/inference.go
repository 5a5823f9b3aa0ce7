package utils

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/gotorch-dev/torch/internal/fused"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// Optimized is a module prepared for inference by OptimizeForInference. It may be used by several goroutines at once.
type Optimized struct {
	nn.Base
	module nn.Layer `torch:"-"` // its owner trains and saves it
	mu     sync.Mutex
	plans  map[string]*plan  `torch:"-"` // by the input's type, layout and shape
	copies map[*Tensor]dated `torch:"-"` // of the weights of linear layers, which all plans share
}

// dated is a copy of a tensor and the version it was made of.
type dated struct {
	t       *Tensor
	version int
}

// OptimizeForInference prepares a module in evaluation mode for inference: batch norms are folded into the convolutions
// before them, ReLU, ReLU6 and the addition of a shortcut run in the convolution's epilogue, ReLU and GELU in that of a
// linear layer, a depthwise convolution or a maximum pooling runs together with the convolution before it, pictures are
// kept in channels-last memory, and intermediate results are freed as soon as they are not needed. The weights of
// convolutions and linear layers are copied for this, into the order in which they are read, which takes their memory
// once more.
//
// The module runs once for each shape of input; what it did is recorded and afterwards done again without it. As with
// tracing in PyTorch, a Forward whose course depends on the values in its input, or that draws random numbers, is not
// fit for this. After a parameter or buffer was changed in place, by an optimizer or by loading a state dict, the
// module is recorded again. A change through a slice of its memory, or of the module's fields, goes unnoticed: prepare
// the module again. The module itself stays as it is.
// https://pytorch.org/docs/stable/generated/torch.jit.optimize_for_inference.html
func OptimizeForInference(module nn.Layer) *Optimized {
	for m := range nn.Modules(module) {
		if t, ok := m.(interface{ Training() bool }); ok && t.Training() {
			tensor.Fail(tensor.ErrValue, "OptimizeForInference: the module (%s) is in training mode: call Eval first",
				nn.ClassName(m))
		}
	}
	o := nn.New(&Optimized{module: module, plans: map[string]*plan{}, copies: map[*Tensor]dated{}})
	o.Eval()
	return o
}

// Forward does what the module does, without recording gradients.
func (o *Optimized) Forward(x *Tensor) (y *Tensor) {
	var buf [32]byte // on the stack
	key := append(buf[:0], byte(x.DType()), byte(x.SuggestFormat()))
	for _, n := range x.Shape() {
		key = binary.AppendUvarint(key, uint64(n))
	}
	o.mu.Lock()
	p := o.plans[string(key)]
	if p != nil && p.stale() {
		clear(o.plans)
		p = nil
	}
	o.mu.Unlock()
	tensor.NoGrad(func() {
		if p == nil {
			p = o.newPlan(x)
			o.mu.Lock()
			o.plans[string(key)] = p
			o.mu.Unlock()
		}
		y = p.run(x)
	})
	return y
}

// pack lets a linear layer read a packed copy of its weight.
func (o *Optimized) pack(s *step) {
	w, b := s.args[1].T, s.args[2].T
	if !s.constant(1) || !s.constant(2) || w.Dim() != 2 || w.DType() != tensor.Float32 && w.DType() != tensor.Float64 ||
		b != nil && !slices.Equal(b.Shape(), w.Shape()[:1]) {
		return
	}
	act := tensor.StrValue("none")
	if s.op == opLinearFused {
		act = s.args[3]
	}
	s.op, s.args = opLinearPacked, []tensor.Value{s.args[0], tensor.TensorValue(o.packed(w)),
		tensor.IntValue(w.Size(0)), s.args[2], act}
}

// packed is a linear layer's weight in the order in which the kernels read it.
func (o *Optimized) packed(w *Tensor) *Tensor {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.copies[w]
	if c.t == nil || c.version != w.Version() {
		c = dated{fused.LinearPack(w).Keep(), w.Version()} // beyond a Tidy around the first call
		o.copies[w] = c
	}
	return c.t
}

// step is one recorded operator call. Tensors among its arguments are numbered values, or constants.
type step struct {
	op   *tensor.Op
	args []tensor.Value
	in   []slot // of the tensors in args
	outs []int  // the values it makes; -1: nobody reads it
	free []int  // values that nobody reads after this step
}

// writes reports that an operator changes an argument.
func writes(op *tensor.Op) bool {
	return op.IsInPlace() || slices.ContainsFunc(op.Sch.Params, func(p tensor.Param) bool { return p.Writes })
}

// slot says that tensor number elem (0 for a single one) of argument arg is a value.
type slot struct{ arg, elem, value int }

// plan is a recorded and simplified forward pass: value 0 is the input.
type plan struct {
	steps  []*step
	values int
	result int
	// constants are the memory of the module's tensors, of which values may be views
	constants map[*tensor.Storage]bool
	versions  map[*Tensor]int // of the module's tensors, but for those that the plan itself changes
}

// stale reports that a tensor of the module was changed since it was recorded.
func (p *plan) stale() bool {
	for t, v := range p.versions {
		if t.Version() != v {
			return true
		}
	}
	return false
}

// recorder is the layer that records calls. It takes composed operators whole: they find their way also when the memory
// layout of their arguments changes, and the patterns below know them by PyTorch's names.
type recorder struct {
	p      *plan
	number map[*Tensor]int
	keep   []*Tensor // so that no address is used twice
}

// Rank is that of a tracer.
func (r *recorder) Rank() tensor.Rank { return tensor.RankTrace }

// Sees says that of a convolution whose padding has a name its parts are recorded: it may pad one side only.
func (r *recorder) Sees(op *tensor.Op) tensor.Sight {
	switch op.FullName() {
	case "aten::conv1d.padding", "aten::conv2d.padding", "aten::conv3d.padding", "aten::_convolution_mode":
		return tensor.Inside
	}
	return tensor.Whole
}

// Call records one call.
func (r *recorder) Call(c *tensor.Ctx, next func()) {
	s := &step{op: c.Op()}
	for i := range c.NumArgs() {
		v := c.Value(i)
		s.args = append(s.args, v)
		if v.K == tensor.KTensor {
			s.note(r, i, 0, v.T)
		} else if l, ok := v.X.([]*Tensor); ok {
			for j, t := range l {
				s.note(r, i, j, t)
			}
		}
	}
	s.plainConv()
	next()
	for i := range c.NumOut() {
		t := c.Out(i)
		r.keep = append(r.keep, t)
		r.number[t] = r.p.values // also when the call wrote an argument: a new value from here on
		s.outs = append(s.outs, r.p.values)
		r.p.values++
	}
	r.p.steps = append(r.p.steps, s)
}

// plainConv turns a convolution in its general form into that of its number of dimensions, unless it is transposed.
func (s *step) plainConv() {
	if s.op.FullName() != "aten::convolution" || s.args[6].N != 0 {
		return
	}
	if nd := s.args[1].T.Dim() - 2; nd >= 1 && nd <= 3 {
		s.op, s.args = opConvs[nd], append(s.args[:6:6], s.args[8])
	}
}

func (s *step) note(r *recorder, arg, elem int, t *Tensor) {
	if t == nil {
		return
	}
	if v, ok := r.number[t]; ok {
		s.in = append(s.in, slot{arg, elem, v})
	} else {
		r.p.constants[t.Storage()] = true
		if _, ok := r.p.versions[t]; !ok {
			r.p.versions[t] = t.Version()
		}
	}
}

// forget lets go of the values that were recorded, whose place others take.
func (s *step) forget() {
	for _, in := range s.in {
		a := &s.args[in.arg]
		if a.K == tensor.KTensor {
			a.T = nil
			continue
		}
		l := slices.Clone(a.X.([]*Tensor))
		l[in.elem] = nil
		*a = tensor.TensorsValue(l)
	}
}

// newPlan records the module's forward pass for x.
func (o *Optimized) newPlan(x *Tensor) *plan {
	p := &plan{values: 1, constants: map[*tensor.Storage]bool{}, versions: map[*Tensor]int{}}
	r := &recorder{p: p, number: map[*Tensor]int{}}
	in := tensor.Alias(x, x.Shape(), x.Strides(), x.StorageOffset()) // not to be taken for a constant of the module
	r.number[in] = 0
	var y *Tensor
	tensor.WithLayer(r, func() { y = o.module.Forward(in) })
	v, ok := r.number[y]
	if !ok {
		tensor.Fail(tensor.ErrValue, "OptimizeForInference: the result does not come from the recorded operators")
	}
	p.result = v
	maps.DeleteFunc(p.versions, func(t *Tensor, v int) bool { return t.Version() != v })
	f := fuser{plan: p, storage: map[int]*tensor.Storage{0: in.Storage()}}
	for t, v := range r.number {
		f.storage[v] = t.Storage()
	}
	f.run()
	p.prune()
	for _, s := range p.steps {
		if s.op == opLinear || s.op == opLinearFused {
			o.pack(s)
		}
		s.forget()
	}
	return p
}

// run executes the plan.
func (p *plan) run(x *Tensor) *Tensor {
	vals := make([]*Tensor, p.values)
	vals[0] = x
	for _, s := range p.steps {
		c := tensor.NewCall(s.op, len(s.args))
		for i, v := range s.args {
			*c.Arg(i) = v
		}
		var list int = -1
		for _, in := range s.in {
			a := c.Arg(in.arg)
			if a.K == tensor.KTensor {
				a.T = vals[in.value]
				continue
			}
			if list != in.arg { // a list of its own
				list = in.arg
				*a = tensor.TensorsValue(slices.Clone(a.X.([]*Tensor)))
			}
			a.X.([]*Tensor)[in.elem] = vals[in.value]
		}
		if len(s.outs) == 1 && s.outs[0] >= 0 { // without a list of results
			vals[s.outs[0]] = c.Do1()
		} else {
			for i, t := range c.DoN() {
				if i < len(s.outs) && s.outs[i] >= 0 {
					vals[s.outs[i]] = t
				}
			}
		}
		for _, v := range s.free {
			p.free(vals, v)
		}
	}
	return vals[p.result]
}

// free lets go of a value, and frees its memory unless another value shares it.
func (p *plan) free(vals []*Tensor, v int) {
	t := vals[v]
	vals[v] = nil
	if t == nil || p.constants[t.Storage()] {
		return
	}
	for _, o := range vals {
		if o != nil && o.Storage() == t.Storage() {
			return
		}
	}
	tensor.ReleaseRaw(t)
}

// prune drops steps whose results nobody reads, and notes when each value is read last.
func (p *plan) prune() {
	last := map[int]int{p.result: len(p.steps)}
	var kept []*step
	for i := len(p.steps) - 1; i >= 0; i-- {
		s := p.steps[i]
		needed := writes(s.op) // changes something
		for _, v := range s.outs {
			_, read := last[v]
			needed = needed || read
		}
		if !needed {
			continue
		}
		s.free = nil
		for j, v := range s.outs {
			if _, read := last[v]; !read {
				s.outs[j] = -1
			}
		}
		for _, in := range s.in {
			if _, later := last[in.value]; !later {
				last[in.value] = i
				if in.value != 0 {
					s.free = append(s.free, in.value)
				}
			}
		}
		kept = append(kept, s)
	}
	slices.Reverse(kept)
	p.steps = kept
}

// fuser replaces convolutions and linear layers and what follows them by fused ones.
type fuser struct {
	*plan
	storage map[int]*tensor.Storage // of each value while it was recorded
	readers map[int][]int           // steps that read a value
}

var (
	opConvs = [4]*tensor.Op{1: tensor.Slot("aten::conv1d"), 2: tensor.Slot("aten::conv2d"),
		3: tensor.Slot("aten::conv3d")}
	opConvFused    = tensor.Slot("gotorch::conv_fused")
	opConvPair     = tensor.Slot("gotorch::conv_depthwise_fused")
	opConvPool     = tensor.Slot("gotorch::conv_pool_fused")
	opLinear       = tensor.Slot("aten::linear")
	opLinearFused  = tensor.Slot("gotorch::linear_fused")
	opLinearPacked = tensor.Slot("gotorch::linear_packed")
)

func (f *fuser) run() {
	f.readSteps()
	for i, s := range f.steps {
		if s != nil && s.isConv() && s.args[0].K == tensor.KTensor && s.constant(1) && s.constant(2) && len(s.in) == 1 {
			f.fuse(i)
		} else if s != nil && s.op == opLinear && s.constant(1) && s.constant(2) && len(s.in) == 1 {
			f.fuseLinear(i)
		}
	}
	f.compact()
	f.readSteps()
	for i, s := range f.steps {
		if s != nil && s.op == opConvFused {
			f.fusePair(i)
			f.fusePool(i)
		}
	}
	f.compact()
	f.readSteps()
	for i, s := range f.steps {
		if s != nil && s.op == opConvPair && s.args[15].T == nil {
			f.fuseThird(i)
		}
	}
	f.compact()
}

// isConv reports a convolution of a batch.
func (s *step) isConv() bool {
	switch s.op.FullName() {
	case "aten::conv1d", "aten::conv2d", "aten::conv3d":
		return s.args[0].T.Dim() == s.args[1].T.Dim()
	}
	return false
}

// isBatchNorm reports a batch norm that uses its running statistics.
func (s *step) isBatchNorm() bool {
	switch s.op.FullName() {
	case "aten::batch_norm", "aten::native_batch_norm": // their first eight arguments are the same
	default:
		return false
	}
	return s.args[5].N == 0 && s.args[3].T != nil && s.args[4].T != nil // the batch's own statistics are not used
}

// readSteps finds the readers of each value.
func (f *fuser) readSteps() {
	f.readers = map[int][]int{f.result: {len(f.steps)}}
	for i, s := range f.steps {
		for _, in := range s.in {
			f.readers[in.value] = append(f.readers[in.value], i)
		}
	}
}

// compact drops the steps that were taken into others.
func (f *fuser) compact() {
	f.steps = slices.DeleteFunc(f.steps, func(s *step) bool { return s == nil })
}

// onlyReader is the step that alone reads a value, and where it stands; nil if there is no such step, or it was taken
// into another.
func (f *fuser) onlyReader(value int) (at int, n *step) {
	r := f.readers[value]
	if len(r) != 1 || r[0] == len(f.steps) {
		return 0, nil
	}
	return r[0], f.steps[r[0]]
}

// fusePair joins the fused convolution in step i with a depthwise one that is the only reader of its result.
func (f *fuser) fusePair(i int) {
	s := f.steps[i]
	at, n := f.onlyReader(s.outs[0])
	if n == nil || n.op != opConvFused || s.args[7].N != 1 || len(s.in) != 1 || len(n.in) != 1 ||
		!f.intact(s.in[0].value, i, at) {
		return
	}
	w, w2 := s.args[1].T, n.args[1].T
	if w.Dim() != 4 || w2.Size(0) != w.Size(0) || w2.Size(1) != 1 || w.Size(0) == 1 || w2.Size(2)*w2.Size(3) == 1 {
		return
	}
	f.steps[i] = nil
	f.steps[at] = &step{op: opConvPair, outs: n.outs, in: s.in, args: []tensor.Value{
		s.args[0], s.args[1], s.args[2], s.args[4], s.args[5], s.args[6], s.args[8], s.args[9],
		n.args[1], n.args[2], n.args[4], n.args[5], n.args[6], n.args[8], n.args[9],
		{}, {}, {}, tensor.FloatValue(math.Inf(-1)), tensor.FloatValue(math.Inf(1)),
	}}
}

// fusePool appends a maximum pooling that is the only reader of the fused convolution in step i.
func (f *fuser) fusePool(i int) {
	s := f.steps[i]
	if s == nil || len(s.in) != 1 || s.args[1].T.Dim() != 4 {
		return
	}
	at, n := f.onlyReader(s.outs[0])
	if n == nil || !f.intact(s.in[0].value, i, at) {
		return
	}
	if n.op.FullName() != "aten::max_pool2d" {
		return
	}
	window, stride := n.args[1], n.args[2]
	if stride.K == tensor.KNone || len(stride.Ints()) == 0 {
		stride = window
	}
	if slices.ContainsFunc(n.args[4].Ints(), func(d int) bool { return d != 1 }) || n.args[5].N != 0 ||
		len(n.outs) != 1 {
		return
	}
	p := &step{op: opConvPool, outs: n.outs, in: s.in, args: []tensor.Value{
		s.args[0], s.args[1], s.args[2], s.args[4], s.args[5], s.args[6], s.args[7], s.args[8], s.args[9], window,
		stride, n.args[3],
	}}
	f.steps[i], f.steps[at] = nil, nil
	if next, c := f.onlyReader(n.outs[0]); c != nil && math.IsInf(s.args[8].Float(), -1) &&
		math.IsInf(s.args[9].Float(), 1) && f.intact(s.in[0].value, at, next) {
		// Limits may come before the maximum as well.
		if lo, hi, ok := limits(c); ok {
			p.args[7], p.args[8], p.outs, at = tensor.FloatValue(lo), tensor.FloatValue(hi), c.outs, next
		}
	}
	f.steps[at] = p
}

// fuseThird appends a convolution of one tap that is the only reader of the pair in step i.
func (f *fuser) fuseThird(i int) {
	s := f.steps[i]
	at, n := f.onlyReader(s.outs[0])
	if n == nil || n.op != opConvFused || n.in[0].value != s.outs[0] || n.in[0].arg != 0 || n.args[7].N != 1 ||
		!f.intact(s.in[0].value, i, at) {
		return
	}
	plain := func(i, v int) bool {
		return !slices.ContainsFunc(n.args[i].Ints(), func(x int) bool { return x != v })
	}
	if w := n.args[1].T; w.Size(2)*w.Size(3) != 1 || !plain(4, 1) || !plain(5, 0) {
		return
	}
	t := &step{op: opConvPair, outs: n.outs, in: s.in, args: slices.Clone(s.args)}
	copy(t.args[15:], []tensor.Value{n.args[1], n.args[2], n.args[3], n.args[8], n.args[9]})
	for _, in := range n.in[1:] {
		t.in = append(slices.Clip(t.in), slot{17, 0, in.value})
	}
	f.steps[i] = nil
	f.steps[at] = t
}

// constant reports that argument i is a tensor of the module, or none.
func (s *step) constant(i int) bool {
	return !slices.ContainsFunc(s.in, func(x slot) bool { return x.arg == i })
}

// fuse takes what follows the convolution in step i into it. The fused step stands where the last of them stood.
func (f *fuser) fuse(i int) {
	s := f.steps[i]
	w, b := s.args[1].T, s.args[2].T
	if w.DType() != tensor.Float32 {
		return
	}
	residual := -1
	lo, hi := math.Inf(-1), math.Inf(1)
	at, cur, changed := i, s.outs[0], false
	for {
		next, n := f.onlyReader(cur)
		if n == nil || !f.intact(s.in[0].value, i, next) {
			break
		}
		if n.isBatchNorm() && residual < 0 && !changed {
			if n.in[0].arg != 0 || len(n.in) != 1 {
				break
			}
			w, b = FuseConvBNWeights(w, b, n.args[3].T, n.args[4].T, n.args[7].Float(), n.args[1].T, n.args[2].T, false)
		} else if l, h, ok := limits(n); ok {
			lo, hi, changed = l, h, true
		} else if other, ok := f.shortcut(n, cur); ok && residual < 0 && f.storage[other] != nil {
			residual = other
		} else {
			break
		}
		f.steps[at] = nil
		at, cur = next, n.outs[0]
		if changed {
			break // nothing comes after the activation
		}
	}
	w = w.Detach().To(tensor.ChannelsLast)
	if w.Dim() == 5 {
		w = w.To(tensor.ChannelsLast3d)
	}
	w.Keep() // the plan outlives a Tidy around the first call
	if b != nil {
		b = b.Detach().Keep()
	}
	n := &step{op: opConvFused, outs: []int{cur}, in: []slot{{0, 0, s.in[0].value}}, args: []tensor.Value{
		{K: tensor.KTensor}, tensor.TensorValue(w), tensor.TensorValue(b), {},
		s.args[3], s.args[4], s.args[5], s.args[6], tensor.FloatValue(lo), tensor.FloatValue(hi),
	}}
	if residual >= 0 {
		n.args[3] = tensor.Value{K: tensor.KTensor}
		n.in = append(n.in, slot{3, 0, residual})
	}
	f.steps[at] = n
}

// fuseLinear takes the activation that follows the linear layer in step i into it.
func (f *fuser) fuseLinear(i int) {
	s := f.steps[i]
	at, n := f.onlyReader(s.outs[0])
	if n == nil || !f.intact(s.in[0].value, i, at) {
		return
	}
	act := ""
	switch n.op.FullName() {
	case "aten::relu", "aten::relu_":
		act = "relu"
	case "aten::gelu":
		act = map[any]string{"none": "gelu", "tanh": "gelu_tanh"}[n.args[1].X]
	}
	if act == "" || !s.args[1].T.DType().IsFloat() || s.args[1].T.Dim() != 2 {
		return
	}
	f.steps[i] = nil
	f.steps[at] = &step{op: opLinearFused, outs: n.outs, in: s.in,
		args: []tensor.Value{s.args[0], s.args[1], s.args[2], tensor.StrValue(act)}}
}

// intact reports that the memory of value v is not written by the steps from i up to but without j, and not by j in
// place.
func (f *fuser) intact(v, i, j int) bool {
	for k := i + 1; k <= j; k++ {
		n := f.steps[k]
		if n == nil || !writes(n.op) || len(n.outs) == 0 {
			continue
		}
		if f.storage[n.outs[0]] == f.storage[v] {
			return false
		}
	}
	return true
}

// limits reads an activation that clamps.
func limits(n *step) (lo, hi float64, ok bool) {
	switch n.op.FullName() {
	case "aten::relu", "aten::relu_":
		return 0, math.Inf(1), true
	case "aten::relu6", "aten::relu6_":
		return 0, 6, true
	case "aten::hardtanh", "aten::hardtanh_", "aten::clamp", "aten::clamp_":
		number := func(v tensor.Value, none float64) float64 {
			if v.K == tensor.KNone {
				return none
			}
			return v.Num().F
		}
		return number(n.args[1], math.Inf(-1)), number(n.args[2], math.Inf(1)), true
	}
	return 0, 0, false
}

// shortcut reads an addition of another value of the same shape to cur.
func (f *fuser) shortcut(n *step, cur int) (other int, ok bool) {
	switch n.op.FullName() {
	case "aten::add.Tensor", "aten::add_.Tensor":
	default:
		return 0, false
	}
	if len(n.in) != 2 || n.in[0].arg != 0 || n.in[1].arg != 1 ||
		!tensor.SameShape(n.args[0].T.Shape(), n.args[1].T.Shape()) || n.args[0].T.DType() != n.args[1].T.DType() {
		return 0, false
	}
	if len(n.args) > 2 && n.args[2].K != tensor.KNone && n.args[2].Num().F != 1 {
		return 0, false
	}
	if n.in[0].value == cur {
		return n.in[1].value, true
	}
	if writes(n.op) { // the other one is overwritten, which its readers may count on
		return 0, false
	}
	return n.in[0].value, true
}
