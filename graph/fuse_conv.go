package graph

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

// opConvs are the convolutions by their number of spatial dimensions.
var opConvs = [4]string{1: "aten::conv1d", 2: "aten::conv2d", 3: "aten::conv3d"}

// convDims is the number of spatial dimensions of a plain convolution, 0 for other nodes.
func convDims(n *Node) int {
	if len(n.In) != 7 {
		return 0
	}
	return max(slices.Index(opConvs[:], n.Op), 0)
}

// lower writes the general forms of convolutions with constant weights as plain ones.
func (u *fuser) lower(n *Node) {
	switch n.Op {
	case "aten::convolution", "aten::_convolution":
		u.lowerGeneral(n)
	case "aten::conv1d.padding", "aten::conv2d.padding", "aten::conv3d.padding":
		u.lowerNamed(n)
	}
}

// lowerGeneral is lower for aten::convolution, whose first nine arguments are those of aten::_convolution.
func (u *fuser) lowerGeneral(n *Node) {
	if len(n.In) < 9 {
		return
	}
	w, ok := u.constTensor(n.In[1])
	transposed, known := constNumber(n.In[6], 0)
	if ok && known && transposed == 0 && w != nil && w.Dim() >= 3 && w.Dim() <= 5 {
		u.replace([]*Node{n}, opConvs[w.Dim()-2], n.In[0], n.In[1], n.In[2], n.In[3], n.In[4], n.In[5], n.In[8])
	}
}

// lowerNamed is lower for paddings with the names valid and same, which the size of the weight gives numbers.
func (u *fuser) lowerNamed(n *Node) {
	if len(n.In) != 7 || n.In[4].Node == nil || n.In[4].Node.Op != Constant {
		return
	}
	w, ok := u.constTensor(n.In[1])
	dil, ok2 := u.constInts(n.In[5])
	stride, ok3 := u.constInts(n.In[3])
	if !ok || !ok2 || !ok3 || w == nil || w.Dim() < 3 || w.Dim() > 5 {
		return
	}
	nd := w.Dim() - 2
	front, more := make([]int, nd), make([]int, nd)
	switch n.In[4].Node.Const.X {
	case "valid":
	case "same":
		for i := range nd {
			d := dil[min(i, len(dil)-1)]
			if stride[min(i, len(stride)-1)] != 1 {
				return // PyTorch refuses it
			}
			total := d * (w.Size(2+i) - 1)
			front[i], more[i] = total/2, total%2
		}
	default:
		return
	}
	x := n.In[0]
	if slices.Max(more) > 0 { // what is padded on one side only is padded before
		pads := make([]int, 2*nd)
		for i := range nd {
			pads[2*(nd-1-i)+1] = more[i]
		}
		pad := &Node{Op: "aten::constant_pad_nd", Operator: Lookup("aten::constant_pad_nd"), Pos: n.Pos, Scope: n.Scope}
		scratch := &Block{Func: n.Block.Func, pos: n.Pos}
		pad.In = scratch.values([]any{x, pads, 0})
		x = scratch.Add(pad, Tensor).Out[0]
		if i := u.info(n.In[0]); i != nil {
			x.Info = &Info{DType: i.DType, Device: i.Device, Shape: slices.Clone(i.Shape)}
			for d := range nd {
				x.Info.Shape[len(i.Shape)-nd+d] += more[d]
			}
			x.Info.Strides = tensor.FormatStrides(x.Info.Shape, tensor.ContiguousFormat)
		}
		insertBefore(n, scratch.Nodes)
		u.uses[x] = 1
	}
	u.replace([]*Node{n}, opConvs[nd], x, n.In[1], n.In[2], n.In[3], front, n.In[5], n.In[6])
}

// epilogues lets convolutions and linear layers take over what follows them.
func (u *fuser) epilogues(n *Node) {
	switch {
	case convDims(n) > 0:
		u.conv(n)
	case n.Op == "aten::linear":
		u.linear(n)
	case n.Op == "aten::matmul" || n.Op == "aten::mm":
		u.product(n)
	case n.Op == "aten::addmm":
		u.addmm(n)
	}
}

// limits are those of an activation that limits the values of v.
func limits(n *Node, v *Value) (lo, hi float64, ok bool) {
	if len(n.In) == 0 || n.In[0] != v {
		return 0, 0, false
	}
	switch n.Op {
	case "aten::relu", "aten::relu_":
		return 0, math.Inf(1), true
	case "aten::relu6", "aten::relu6_":
		return 0, 6, true
	case "aten::clamp", "aten::clamp_", "aten::hardtanh", "aten::hardtanh_":
		lo, hi = math.Inf(-1), math.Inf(1)
		if n.Op == "aten::hardtanh" || n.Op == "aten::hardtanh_" {
			lo, hi = -1, 1
		}
		if ok = true; len(n.In) > 1 {
			lo, ok = constNumber(n.In[1], math.Inf(-1))
		}
		if len(n.In) > 2 && ok {
			hi, ok = constNumber(n.In[2], math.Inf(1))
		}
		return lo, hi, ok
	}
	return 0, 0, false
}

// addend is the other value of a plain addition to v, which makes the very tensor that a fused operator makes: an
// addition in place keeps the dtype of what it changes, and changes nothing that anybody else sees if that is v.
func (u *fuser) addend(n *Node, v *Value) (other *Value, ok bool) {
	inPlace := n.Op == "aten::add_.Tensor"
	if n.Op != "aten::add.Tensor" && !inPlace || len(n.In) < 2 || n.In[0] == n.In[1] {
		return nil, false
	}
	if len(n.In) > 2 {
		if x, ok := constNumber(n.In[2], 1); !ok || x != 1 {
			return nil, false
		}
	}
	if n.In[0] == v {
		if inPlace && (u.dtypeOf(n.In[1], 8) != tensor.Float32 || !u.sameShape(n.In[1], v)) {
			return nil, false
		}
		return n.In[1], true
	}
	return n.In[0], !inPlace
}

// sameShape reports that v has the shape of w, as far as a recording tells.
func (u *fuser) sameShape(v, w *Value) bool {
	i, j := u.info(v), u.info(w)
	return i == nil || j == nil || slices.Equal(i.Shape, j.Shape)
}

// dtypeOf is a value's dtype, 0 where it is not known; operators that keep that of their argument are followed back by
// so many steps.
func (u *fuser) dtypeOf(v *Value, steps int) tensor.DType {
	if i := u.info(v); i != nil {
		return i.DType
	}
	n := v.Node
	if n == nil || steps == 0 {
		return 0
	}
	switch n.Op {
	case Constant:
		if n.Const.K == tensor.KTensor && n.Const.T != nil && n.Const.T.Dim() > 0 {
			return n.Const.T.DType()
		}
	case "aten::conv1d", "aten::conv2d", "aten::conv3d", "gotorch::conv_fused", "gotorch::conv_depthwise_fused",
		"gotorch::conv_pool_fused", "gotorch::linear_packed", "aten::linear", "aten::matmul":
		return u.dtypeOf(n.In[1], steps-1) // both arguments have one
	case "aten::relu", "aten::relu_", "aten::relu6", "aten::relu6_", "aten::clamp", "aten::clamp_", "aten::hardtanh",
		"aten::hardtanh_", "aten::max_pool2d", "aten::avg_pool2d", "aten::adaptive_avg_pool2d", "aten::batch_norm",
		"aten::dropout", "aten::dropout_", "aten::silu", "aten::silu_", "aten::hardswish", "aten::hardswish_",
		"aten::sigmoid", "aten::gelu", "aten::add_.Tensor", "aten::mul_.Tensor":
		return u.dtypeOf(n.In[0], steps-1)
	case "aten::add.Tensor", "aten::mul.Tensor", "aten::sub.Tensor":
		if d := u.dtypeOf(n.In[0], steps/2); d == u.dtypeOf(n.In[1], steps/2) {
			return d
		}
	}
	return 0
}

// conv fuses a convolution with what follows it.
func (u *fuser) conv(n *Node) {
	w, ok := u.constFloats(n.In[1])
	b, folds := u.constFloats(n.In[2])
	if !ok || w == nil || w.Dim() != convDims(n)+2 || isConstant(n.In[0]) {
		return
	}
	if !folds { // a bias that the program changes is read where it is
		if !isConstant(n.In[2]) || n.In[2].Node.Const.K != tensor.KTensor ||
			n.In[2].Node.Const.T.DType() != tensor.Float32 {
			return
		}
		b = n.In[2].Node.Const.T
	}
	if i := u.info(n.In[0]); i != nil && (len(i.Shape) != w.Dim() || i.DType != tensor.Float32) {
		return // an image without a batch
	}
	chain, cur := []*Node{n}, n.Out[0]
	var residual *Value
	var norm *Node
	lo, hi, act := math.Inf(-1), math.Inf(1), "none"
	for {
		next := u.next(cur, n.Block)
		if next == nil || u.a.between(n, next, n.In[0]) || !folds && u.a.between(n, next, n.In[2]) {
			break
		}
		last := chain[len(chain)-1]
		l, h, ends := limits(next, cur)
		if ends {
			lo, hi = l, h
		} else if a := activation(next, cur); a != "" {
			act, ends = a, true
		} else if folds && norm == nil && residual == nil && u.isNorm(next, cur, w) {
			norm = next
		} else if other, ok := u.addend(next, cur); ok && residual == nil && other.Type.Kind == TensorType &&
			!isConstant(other) {
			residual = other
		} else {
			break
		}
		if residual != nil && ends && u.a.between(last, next, residual) {
			lo, hi, act = math.Inf(-1), math.Inf(1), "none"
			break
		}
		chain, cur = append(chain, next), next.Out[0]
		if ends {
			break
		}
	}
	k := u.weights.folded(w, b, norm)
	u.replace(chain, "gotorch::conv_fused", n.In[0], k.w, k.b, residual, n.In[3], n.In[4], n.In[5], n.In[6], lo, hi,
		act, u.wino)
}

// isNorm reports a batch norm of v that uses constant running statistics, behind a convolution with the weight w.
func (u *fuser) isNorm(n *Node, v *Value, w *tensor.Tensor) bool {
	if n.Op != "aten::batch_norm" && n.Op != "aten::native_batch_norm" || len(n.In) < 8 || n.In[0] != v ||
		slices.ContainsFunc(n.Out[1:], func(v *Value) bool { return u.uses[v] > 0 }) {
		return false
	}
	for i := range 4 { // scale, shift, mean, variance
		t, ok := u.constFloats(n.In[i+1])
		if !ok || t != nil && t.Numel() != w.Size(0) || t == nil && i >= 2 {
			return false
		}
	}
	training, ok := constNumber(n.In[5], 0)
	_, ok2 := constNumber(n.In[7], 0)
	return ok && ok2 && training == 0
}

// foldKey names the tensors that a convolution's weights are folded of: weight, bias, and scale, shift, mean and
// variance of the batch norm.
type foldKey struct {
	t   [6]*tensor.Tensor
	eps float64
}

// folded are a convolution's weight and bias for the fused kernels.
type folded struct{ w, b *tensor.Tensor }

// folded makes, or finds, the weight and the bias of a convolution and of the batch norm behind it, if there is one.
func (w *Weights) folded(weight, bias *tensor.Tensor, norm *Node) *folded {
	k := foldKey{t: [6]*tensor.Tensor{weight, bias}}
	if norm != nil {
		for i := range 4 {
			k.t[i+2] = norm.In[i+1].Node.Const.T
		}
		k.eps, _ = constNumber(norm.In[7], 0)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if f := w.folds[k]; f != nil {
		return f
	}
	var f *folded
	tensor.Tidy(func() { f = k.fold(norm != nil) }) // the steps in float64 are large
	if w.folds == nil {
		w.folds = map[foldKey]*folded{}
	}
	w.folds[k] = f
	return f
}

// fold computes W·s and (b - mean)·s + shift with s = scale / sqrt(variance + eps). The results outlive a Tidy.
func (k *foldKey) fold(norm bool) *folded {
	f := &folded{k.t[0].Detach(), k.t[1]}
	if norm {
		s := k.t[5].Double().AddScalar(k.eps).Rsqrt()
		if k.t[2] != nil {
			s = s.Mul(k.t[2])
		}
		b := k.t[4].Double().Neg()
		if k.t[1] != nil {
			b = b.Add(k.t[1])
		}
		if b = b.Mul(s); k.t[3] != nil {
			b = b.Add(k.t[3])
		}
		shape := slices.Repeat([]int{1}, f.w.Dim())
		shape[0] = -1
		f.w, f.b = f.w.Double().Mul(s.Reshape(shape)).Float(), b.Float()
	}
	switch f.w.Dim() {
	case 4:
		f.w = f.w.To(tensor.ChannelsLast)
	case 5:
		f.w = f.w.To(tensor.ChannelsLast3d)
	}
	f.w.Keep()
	if f.b != nil {
		f.b = f.b.Detach().Keep()
	}
	return f
}

// The arguments of the fused convolutions are constants where conv has made them.
func weightOf(n *Node, i int) *tensor.Tensor { return n.In[i].Node.Const.T }

func (n *Node) constFloat(i int) float64 {
	x, _ := constNumber(n.In[i], 0)
	return x
}

func isNone(v *Value) bool {
	return v.Node != nil && v.Node.Op == Constant && (v.Node.Const.K == tensor.KNone ||
		v.Node.Const.K == tensor.KTensor && v.Node.Const.T == nil)
}

// pairs joins a fused convolution with the depthwise one, or the maximum pooling, that alone reads its result.
func (u *fuser) pairs(n *Node) {
	if n.Op != "gotorch::conv_fused" || !isNone(n.In[3]) || weightOf(n, 1).Dim() != 4 {
		return
	}
	next := u.next(n.Out[0], n.Block)
	if next == nil || next.In[0] != n.Out[0] || u.a.between(n, next, n.In[0]) {
		return
	}
	switch next.Op {
	case "gotorch::conv_fused":
		u.depthwise(n, next)
	case "aten::max_pool2d":
		u.pool(n, next)
	}
}

func (u *fuser) depthwise(n, next *Node) {
	w, w2 := weightOf(n, 1), weightOf(next, 1)
	if groups, ok := constNumber(n.In[7], 1); !ok || groups != 1 || !isNone(next.In[3]) || w2.Dim() != 4 ||
		w2.Size(0) != w.Size(0) || w2.Size(1) != 1 || w.Size(0) == 1 || w2.Size(2)*w2.Size(3) == 1 {
		return
	}
	if groups, ok := constNumber(next.In[7], 1); !ok || int(groups) != w.Size(0) {
		return
	}
	u.replace([]*Node{n, next}, "gotorch::conv_depthwise_fused", n.In[0], n.In[1], n.In[2], n.In[4], n.In[5], n.In[6],
		n.In[8], n.In[9], next.In[1], next.In[2], next.In[4], next.In[5], next.In[6], next.In[8], next.In[9],
		nil, nil, nil, math.Inf(-1), math.Inf(1), n.In[10], next.In[10], "none")
}

// suitsWinograd reports a fused convolution that Winograd's algorithm may compute, which saves more than to take over
// the pooling behind it would.
func (u *fuser) suitsWinograd(n *Node) bool {
	w := weightOf(n, 1)
	return w.Size(1) >= 16 && w.Size(2) == 3 && w.Size(3) == 3 && u.allInts(n.In[4], 1) && u.allInts(n.In[6], 1)
}

func (u *fuser) pool(n, next *Node) {
	if len(next.In) != 6 || n.In[10].Node.Const.X != "none" || u.wino && u.suitsWinograd(n) {
		return
	}
	window, ok := u.constInts(next.In[1])
	stride, ok2 := u.constInts(next.In[2])
	dil, ok3 := u.constInts(next.In[4])
	ceil, ok4 := constNumber(next.In[5], 0)
	if !ok || !ok2 || !ok3 || !ok4 || slices.ContainsFunc(dil, func(d int) bool { return d != 1 }) {
		return
	}
	if len(stride) == 0 {
		stride = window
	}
	lo, hi := n.constFloat(8), n.constFloat(9)
	chain := []*Node{n, next}
	if c := u.next(next.Out[0], n.Block); c != nil && math.IsInf(lo, -1) && math.IsInf(hi, 1) &&
		!u.a.between(next, c, n.In[0]) {
		// Limits may come before the maximum as well.
		if l, h, ok := limits(c, next.Out[0]); ok {
			lo, hi, chain = l, h, append(chain, c)
		}
	}
	u.replace(chain, "gotorch::conv_pool_fused", n.In[0], n.In[1], n.In[2], n.In[4], n.In[5], n.In[6], n.In[7], lo, hi,
		window, stride, next.In[3], false, ceil != 0)
}

// thirds appends a convolution of one tap to the pair whose result it alone reads.
func (u *fuser) thirds(n *Node) {
	if n.Op != "gotorch::conv_depthwise_fused" || !isNone(n.In[15]) {
		return
	}
	next := u.next(n.Out[0], n.Block)
	if next == nil || next.Op != "gotorch::conv_fused" || next.In[0] != n.Out[0] || u.a.between(n, next, n.In[0]) {
		return
	}
	groups, ok := constNumber(next.In[7], 1)
	if w := weightOf(next, 1); !ok || groups != 1 || w.Dim() != 4 || w.Size(2)*w.Size(3) != 1 ||
		!u.allInts(next.In[4], 1) || !u.allInts(next.In[5], 0) {
		return
	}
	var args []any
	for _, v := range n.In[:15] {
		args = append(args, v)
	}
	args = append(args, next.In[1], next.In[2], next.In[3], next.In[8], next.In[9],
		n.In[20], n.In[21], next.In[10])
	u.replace([]*Node{n, next}, "gotorch::conv_depthwise_fused", args...)
}
