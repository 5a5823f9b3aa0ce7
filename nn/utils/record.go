package utils

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// recording is held while a module is recorded: the marks on the memory that a recording traces are those of one
// recording. Calls that come meanwhile do not wait, they run their module.
var recording sync.Mutex

// maxFails is the number of recordings that may be spoilt by other goroutines before a kind of input is left to the
// module.
const maxFails = 3

// recorder is the layer that records calls. It takes composed operators whole: they find their way also when the memory
// layout of their arguments changes, and the patterns of the fuser know them by PyTorch's names.
type recorder struct {
	p       *plan
	mark    uint64 // storages made later are not the module's
	number  map[*Tensor]int
	strides [][]int                  // of each value
	storage map[int]*tensor.Storage  // of each value
	keep    []*Tensor                // so that no address is used twice
	seen    map[*tensor.Storage]bool // memory of the module that Go code has read
	depends bool                     // the operator that runs depends on the input
	eager   string                   // why the module cannot be recorded
	passing string                   // why this recording is worth nothing
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

// KeepsNoMemory says that what was recorded may be freed: only its shape is asked for.
func (r *recorder) KeepsNoMemory() {}

// Read is called when Go code reads elements.
func (r *recorder) Read(s *tensor.Storage) {
	for _, t := range r.keep {
		if t.Storage() == s {
			r.refuse("Forward reads elements of a tensor that depends on the input, and what Go code does with them " +
				"cannot be recorded")
			return
		}
	}
	r.seen[s] = true
}

// Depends is called when the size of a result depends on elements.
func (r *recorder) Depends(op *tensor.Op) {
	if r.depends {
		r.refuse("the results of %s depend on elements in their size or are Go's numbers", op.FullName())
	}
}

func (r *recorder) refuse(format string, args ...any) {
	if r.eager == "" {
		r.eager = fmt.Sprintf(format, args...)
	}
}

// enter numbers a value.
func (r *recorder) enter(t *Tensor) int {
	v := r.p.values
	r.p.values++
	r.keep = append(r.keep, t)
	r.number[t] = v // also when the call wrote an argument: a new value from here on
	r.strides = append(r.strides, slices.Clone(t.Strides()))
	r.storage[v] = t.Storage()
	tensor.Trace(t)
	return v
}

// Call records one call.
func (r *recorder) Call(c *tensor.Ctx, next func()) {
	s := &step{op: c.Op(), plan: r.p}
	for i := range c.NumArgs() {
		s.args = append(s.args, c.Value(i))
	}
	s.tensors(func(arg, elem int, t *Tensor) { r.note(s, arg, elem, t) })
	for i := range c.Op().Sch.Params {
		if c.Op().Sch.Params[i].Writes {
			s.tensors(func(arg, _ int, t *Tensor) {
				if arg == i {
					s.wrote = append(s.wrote, t.Storage())
				}
			})
		}
	}
	if name := s.op.FullName(); needsStrides[name] || s.op.IsInPlace() && name == "aten::as_strided_" {
		for _, in := range s.in {
			s.layout = append(s.layout, layout{in.value, r.strides[in.value]})
		}
	}
	s.plainConv()
	state := rng.Default.State()
	r.depends = len(s.in) > 0
	if r.depends && s.op.DataDependent {
		r.Depends(s.op)
	}
	next()
	s.random = !bytes.Equal(state, rng.Default.State()) ||
		slices.ContainsFunc(s.args, func(v tensor.Value) bool { return v.K == tensor.KGenerator && v.X != nil })
	for i := range c.NumOut() {
		t := c.Out(i)
		if t == nil {
			s.outs = append(s.outs, -1)
			continue
		}
		if s.op.IsInPlace() || slices.Contains(s.wrote, t.Storage()) {
			if !slices.Contains(s.wrote, t.Storage()) {
				s.wrote = append(s.wrote, t.Storage())
			}
		}
		s.outs = append(s.outs, r.enter(t))
	}
	for _, w := range s.wrote {
		r.p.written[w] = true
	}
	r.p.steps = append(r.p.steps, s)
}

// needsStrides are the operators that take another course, or none, where their argument has other strides: they look
// at memory, or make a view where they can and a copy where they cannot.
var needsStrides = map[string]bool{
	"aten::view": true, "aten::view.dtype": true, "aten::as_strided": true, "aten::_unsafe_view": true,
	"aten::view_as_real": true, "aten::view_as_complex": true, "aten::reshape": true, "aten::flatten.using_ints": true,
	"aten::ravel": true, "aten::view_as": true, "aten::reshape_as": true, "aten::unflatten.int": true,
	"aten::contiguous": true, "aten::to.dtype": true, "aten::to.dtype_layout": true, "aten::to.other": true,
	"aten::to.device": true, "aten::_reshape_alias": true, "aten::is_contiguous": true, "aten::stride": true,
	"aten::clone": true, "aten::empty_like": true, "aten::rand_like": true, "aten::randn_like": true,
	"aten::randint_like": true,
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

// note tells the values among the arguments from the constants.
func (r *recorder) note(s *step, arg, elem int, t *Tensor) {
	if v, ok := r.number[t]; ok {
		s.in = append(s.in, slot{arg, elem, v})
		return
	}
	switch st := t.Storage(); {
	case st.MadeSince(r.mark):
		r.refuse("Forward makes a tensor of Go's numbers, or on another goroutine, which %s reads", s.op.FullName())
	case st == r.storage[0]:
		r.passing = "the input is one of the module's tensors"
	default:
		r.constant(t)
	}
}

func (r *recorder) constant(t *Tensor) {
	r.p.constants[t.Storage()] = true
	if _, ok := r.p.versions[t]; !ok {
		r.p.versions[t] = dateOf(t)
	}
}

// record runs the module on x, and keeps the plan of what it did.
func (o *Optimized) record(key string, x *Tensor) *Tensor {
	if !recording.TryLock() {
		return o.module.Forward(x)
	}
	defer recording.Unlock()
	p := &plan{shape: slices.Clone(x.Shape()), constants: map[*tensor.Storage]bool{},
		written: map[*tensor.Storage]bool{}, versions: map[*Tensor]dated{}}
	r := &recorder{p: p, number: map[*Tensor]int{}, storage: map[int]*tensor.Storage{},
		seen: map[*tensor.Storage]bool{}}
	for m := range nn.Modules(o.module) {
		if nn.Hooked(m) {
			r.refuse("the module (%s) has hooks", nn.ClassName(m))
		}
	}
	if m := training(o.module); m != nil {
		r.refuse("the module (%s) is in training mode", nn.ClassName(m))
	}
	for _, t := range nn.Parameters(o.module) {
		r.constant(t)
	}
	for _, t := range nn.Buffers(o.module) {
		r.constant(t)
	}
	before := look(o.module)
	if r.eager != "" {
		p.eager, p.fields = r.eager, before.regions
		y := o.module.Forward(x)
		o.put(key, p)
		return y
	}

	// The input under a name of its own is told from the module's tensors.
	in := tensor.Alias(x, x.Shape(), x.Strides(), x.StorageOffset())
	if x.RequiresGrad() && !x.IsInference() {
		in.SetRequiresGrad(true)
	}
	y := r.run(o.module, in)
	switch v, ok := r.number[y]; {
	case !tensor.SameShape(in.Shape(), x.Shape()) || !slices.Equal(in.Strides(), x.Strides()) ||
		in.Storage() != x.Storage() || in.StorageOffset() != x.StorageOffset():
		tensor.SetRaw(x, in)
		r.refuse("Forward changes the shape of its input in place")
	case !ok:
		r.refuse("the result does not come from recorded operators")
	default:
		p.result = layout{v, r.strides[v]}
	}
	if y == in {
		y = x
	}
	after := look(o.module)
	if before.tensors(after) {
		r.refuse("Forward assigns a tensor to a field")
	}
	p.fields = after.lasting(before)
	for s := range r.seen {
		if p.written[s] {
			r.refuse("Forward reads elements of a tensor that it changes")
		}
	}
	for t, was := range p.versions {
		if dateOf(t) != was {
			delete(p.versions, t)
		}
	}
	o.finish(key, p, r)
	return y
}

// run runs the module under the recorder.
func (r *recorder) run(module nn.Layer, in *Tensor) (y *Tensor) {
	strays := tensor.Strays()
	r.mark = tensor.StorageMark()
	r.enter(in)
	defer func() {
		for _, t := range r.keep {
			t.Storage().Untrace()
		}
	}()
	tensor.WithLayer(r, func() { y = module.Forward(in) })
	if tensor.Strays() != strays {
		r.passing = "Forward hands tensors to other goroutines, or these use its input"
	}
	return y
}

// finish makes a plan of what was recorded.
func (o *Optimized) finish(key string, p *plan, r *recorder) {
	if r.passing != "" && r.eager == "" {
		o.mu.Lock()
		o.fails[key]++
		n := o.fails[key]
		o.mu.Unlock()
		if n < maxFails {
			return
		}
		r.eager = r.passing
	}
	if r.eager == "" {
		if err := tensor.Try(func() { o.simplify(p, r) }); err != nil {
			r.eager = err.Error()
		}
	}
	if r.eager != "" {
		p.eager, p.steps, p.constants = r.eager, nil, nil
	}
	p.written = nil
	o.put(key, p)
}

// simplify fuses the recorded steps and drops those that nothing depends on.
func (o *Optimized) simplify(p *plan, r *recorder) {
	f := fuser{plan: p, storage: r.storage, owner: o}
	f.run()
	p.prune()
	for _, s := range p.steps {
		s.plan = p
		if s.op == opLinear || s.op == opLinearFused {
			s.pack()
		}
		s.forget()
		s.plan = nil
	}
}
