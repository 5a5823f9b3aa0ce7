package utils

import (
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

// step is one recorded operator call. Tensors among its arguments are numbered values, or constants.
type step struct {
	op     *tensor.Op
	args   []tensor.Value
	in     []slot            // of the tensors in args
	outs   []int             // the values it makes; -1: nobody reads it
	free   []int             // values that nobody reads after this step
	wrote  []*tensor.Storage // while it was recorded: memory that it has changed
	layout []layout          // what the operator needs the strides of
	random bool              // it has drawn random numbers
	plan   *plan             // while it is made
}

// slot says that tensor number elem (0 for a single one) of argument arg is a value.
type slot struct{ arg, elem, value int }

// layout are the strides that a value had when it was recorded.
type layout struct {
	value   int
	strides []int
}

// plan is a recorded and simplified forward pass: value 0 is the input. It does not change once it is made.
type plan struct {
	eager  string // why the module itself must run instead; the steps are missing then
	shape  []int  // of the input
	steps  []*step
	values int
	result layout
	// constants are the memory of the module's tensors, of which values may be views
	constants map[*tensor.Storage]bool
	written   map[*tensor.Storage]bool // memory that steps change
	versions  map[*Tensor]dated        // of the module's tensors, but for those that the plan itself changes
	fields    []region                 // of the module
	used      uint64                   // guarded by the Optimized
}

// dated is the state of a tensor.
type dated struct {
	version int
	storage *tensor.Storage
}

func dateOf(t *Tensor) dated { return dated{t.Version(), t.Storage()} }

// stale reports that a tensor or a field of the module was changed since it was recorded.
func (p *plan) stale() bool {
	for t, was := range p.versions {
		if dateOf(t) != was {
			return true
		}
	}
	for i := range p.fields {
		if p.fields[i].changed() {
			return true
		}
	}
	return false
}

// writes reports that an operator changes an argument.
func writes(op *tensor.Op) bool {
	return op.IsInPlace() || slices.ContainsFunc(op.Sch.Params, func(p tensor.Param) bool { return p.Writes })
}

// constant reports that argument i is a tensor of the module that no step changes, or none.
func (s *step) constant(i int) bool {
	if slices.ContainsFunc(s.in, func(x slot) bool { return x.arg == i }) {
		return false
	}
	t := s.args[i].T
	return t == nil || !s.plan.written[t.Storage()]
}

// tensors calls f with every tensor among the arguments.
func (s *step) tensors(f func(arg, elem int, t *Tensor)) {
	for i, v := range s.args {
		if v.K == tensor.KTensor {
			if v.T != nil {
				f(i, 0, v.T)
			}
		} else if l, ok := v.X.([]*Tensor); ok {
			for j, t := range l {
				if t != nil {
					f(i, j, t)
				}
			}
		}
	}
}

// forget lets go of the values that were recorded, whose place others take.
func (s *step) forget() {
	s.wrote = nil
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

// run executes the plan.
func (p *plan) run(x *Tensor) *Tensor {
	vals := make([]*Tensor, p.values)
	vals[0] = x
	for _, s := range p.steps {
		for _, l := range s.layout {
			p.restore(vals, l)
		}
		s.run(vals)
		for _, v := range s.free {
			p.free(vals, v)
		}
	}
	p.restore(vals, p.result)
	return vals[p.result.value]
}

func (s *step) run(vals []*Tensor) {
	c := tensor.NewCall(s.op, len(s.args))
	for i, v := range s.args {
		*c.Arg(i) = v
	}
	list := -1
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
		return
	}
	for i, t := range c.DoN() {
		if i < len(s.outs) && s.outs[i] >= 0 {
			vals[s.outs[i]] = t
		}
	}
}

// restore gives a value the strides that it had in the module, where fused operators have laid it out otherwise.
func (p *plan) restore(vals []*Tensor, l layout) {
	t := vals[l.value]
	same := true
	for i, n := range t.Shape() {
		same = same && (n == 1 || t.Strides()[i] == l.strides[i])
	}
	if same || t.Numel() == 0 {
		return
	}
	u := tensor.NewOn(t.Device(), t.Shape(), l.strides, t.DType())
	tensor.CopyRaw(u, t)
	p.free(vals, l.value)
	vals[l.value] = u
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

// prune drops steps whose results nobody reads, and notes when each value is read last. Random operators stay, since
// the numbers that follow depend on them.
func (p *plan) prune() {
	last := map[int]int{p.result.value: len(p.steps)}
	var kept []*step
	for i := len(p.steps) - 1; i >= 0; i-- {
		s := p.steps[i]
		needed := s.random || writes(s.op) // changes something
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
