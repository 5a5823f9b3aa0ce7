package utils

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

// fuser replaces convolutions and linear layers and what follows them by fused ones.
type fuser struct {
	*plan
	owner   *Optimized              // keeps folded weights
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
	f.readers = map[int][]int{f.result.value: {len(f.steps)}}
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
	f.steps[at] = &step{plan: f.plan, op: opConvPair, outs: n.outs, in: s.in, args: []tensor.Value{
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
	p := &step{plan: f.plan, op: opConvPool, outs: n.outs, in: s.in, args: []tensor.Value{
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
	t := &step{plan: f.plan, op: opConvPair, outs: n.outs, in: s.in, args: slices.Clone(s.args)}
	copy(t.args[15:], []tensor.Value{n.args[1], n.args[2], n.args[3], n.args[8], n.args[9]})
	for _, in := range n.in[1:] {
		t.in = append(slices.Clip(t.in), slot{17, 0, in.value})
	}
	f.steps[i] = nil
	f.steps[at] = t
}

// fuse takes what follows the convolution in step i into it. The fused step stands where the last of them stood.
func (f *fuser) fuse(i int) {
	s := f.steps[i]
	if s.args[1].T.DType() != tensor.Float32 {
		return
	}
	var norm *step
	residual := -1
	lo, hi := math.Inf(-1), math.Inf(1)
	at, cur, changed := i, s.outs[0], false
	for {
		next, n := f.onlyReader(cur)
		if n == nil || !f.intact(s.in[0].value, i, next) || residual >= 0 && !f.intact(residual, at, next) {
			break
		}
		if n.isBatchNorm() && norm == nil && residual < 0 && !changed {
			if n.in[0].arg != 0 || !n.constant(1) || !n.constant(2) || !n.constant(3) || !n.constant(4) {
				break
			}
			norm = n
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
	w, b := f.owner.folded(s.args[1].T, s.args[2].T, norm)
	n := &step{plan: f.plan, op: opConvFused, outs: []int{cur}, in: []slot{{0, 0, s.in[0].value}}, args: []tensor.Value{
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
	f.steps[at] = &step{plan: f.plan, op: opLinearFused, outs: n.outs, in: s.in,
		args: []tensor.Value{s.args[0], s.args[1], s.args[2], tensor.StrValue(act)}}
}

// intact reports that the memory of value v is not written by the steps behind i up to j.
func (f *fuser) intact(v, i, j int) bool {
	for _, n := range f.steps[i+1 : j+1] {
		if n != nil && slices.Contains(n.wrote, f.storage[v]) {
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
