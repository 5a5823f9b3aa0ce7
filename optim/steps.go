package optim

import (
	_ "github.com/gotorch-dev/torch/ops/all" // the operators of a step
	"github.com/gotorch-dev/torch/tensor"
)

var (
	opCount = tensor.Slot("aten::_foreach_add_.Scalar")
	opZero  = tensor.Slot("aten::_foreach_zero_")
	opCat   = tensor.Slot("aten::cat")
)

// stepOps are the two forms of a step's operator: with a number for a learning rate, and with a tensor.
func stepOps(name string) [2]*tensor.Op {
	return [2]*tensor.Op{tensor.Slot("aten::_fused_" + name + "_"), tensor.Slot("aten::_fused_" + name + "_.tensor_lr")}
}

// plan is what the last step of a group found out, for the next one: as long as the group has the same parameters and
// the optimizer has not changed what it remembers of them, only the gradients are looked up.
type plan struct {
	steps
	params  []*Tensor // the group's list
	changed uint64    // the optimizer's count of changes
	variant uint      // of the settings that decide which lists there are
}

// planned returns the steps of a group's plan with new gradients in list grads, nil when there is no plan that holds.
func (b *base) planned(g *ParamGroup, variant uint, grads int) *steps {
	pl := g.plan
	if pl == nil || pl.changed != b.changed || pl.variant != variant || len(pl.params) != len(g.Params) ||
		&pl.params[0] != &g.Params[0] {
		return nil
	}
	for i := range pl.parts {
		x := &pl.parts[i]
		for k, p := range x.lists[0] {
			grad := gradient(p)
			if grad == nil || p.DType() != x.dt || p.Device() != x.dev {
				g.plan = nil
				return nil
			}
			x.lists[grads][k] = grad
		}
	}
	return &pl.steps
}

// remember makes a plan of steps, if every parameter takes part and none its first step.
func (b *base) remember(g *ParamGroup, variant uint, s *steps) {
	n := 0
	for i := range s.parts {
		if s.parts[i].first {
			return
		}
		n += len(s.parts[i].lists[0])
	}
	if n > 0 && n == len(g.Params) {
		g.plan = &plan{steps: *s, params: g.Params, changed: b.changed, variant: variant}
	}
}

// steps are the parameters of a group, parted so that one operator call updates each part. PyTorch's
// _group_tensors_by_device_and_dtype does the same:
// https://github.com/pytorch/pytorch/blob/main/torch/utils/_foreach_utils.py
type steps struct {
	parts []part
	lists int
	room  int
}

// part holds the lists that a step's operator takes: of parameters that share a device and a dtype.
type part struct {
	dev   tensor.Device
	dt    tensor.DType
	first bool // the parameters take their first step
	lists [][]*Tensor
	steps []*Tensor // the counters of steps, which go up first; nil where there are none
}

func newSteps(g *ParamGroup, lists int) steps { return steps{lists: lists, room: len(g.Params)} }

// of is the part that a parameter belongs to.
func (s *steps) of(p *Tensor, first bool) *part {
	for i := range s.parts {
		if x := &s.parts[i]; x.dev == p.Device() && x.dt == p.DType() && x.first == first {
			return x
		}
	}
	x := part{dev: p.Device(), dt: p.DType(), first: first, lists: make([][]*Tensor, s.lists)}
	all := make([]*Tensor, s.lists*s.room) // one allocation for all lists
	for k := range x.lists {
		x.lists[k] = all[k*s.room : k*s.room : (k+1)*s.room]
	}
	s.parts = append(s.parts, x)
	return &s.parts[len(s.parts)-1]
}

func (x *part) add(list int, t *Tensor) { x.lists[list] = append(x.lists[list], t) }

// call begins the call of a step's operator: the lists come first.
func (x *part) call(ops [2]*tensor.Op, g *ParamGroup) *tensor.Ctx {
	op := ops[0]
	if g.lrValue().K == tensor.KTensor {
		op = ops[1]
	}
	c := tensor.NewCall(op, len(op.Sch.Params))
	for i, l := range x.lists {
		*c.Arg(i) = tensor.TensorsValue(l)
	}
	return c
}

// fill sets the arguments from one on. Those that are left, of gradient scaling, are None.
func fill(c *tensor.Ctx, at int, vals ...tensor.Value) {
	for i, v := range vals {
		*c.Arg(at + i) = v
	}
}

// lrValue is the learning rate as an argument: a number or, as PyTorch's files may have it, a tensor.
func (g *ParamGroup) lrValue() tensor.Value {
	if t, ok := g.Get("lr").(*Tensor); ok {
		return tensor.TensorValue(t)
	}
	return tensor.FloatValue(g.LR())
}

// gradient is a parameter's dense gradient, nil when there is none: stepSparse deals with sparse ones. A gradient that
// holds a place of memory twice, as an expanded tensor does, is copied: the step's operator may write to gradients.
func gradient(p *Tensor) *Tensor {
	g := tensor.GradRaw(p)
	if g != nil && g.IsSparse() {
		return nil
	}
	if g != nil && !g.IsDense() {
		g = g.Detach().Contiguous()
	}
	return g
}
