package graph

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

// Fuse replaces operators that follow each other by fused ones, for inference: a convolution with constant weights
// takes over the batch norm behind it, an addition, and the limits of an activation; a linear layer, or a product by a
// constant matrix, takes over its bias and activation and reads its weight packed. Results stay the same but for
// rounding. A function that writes into tensors stays as it is, since what such a write changes is not known here. Fuse
// is called before the function runs for the first time.
//
// The fused operators (gotorch::conv_fused, gotorch::linear_packed) are those that nn/utils.OptimizeForInference uses.
// Where their arguments do not fit the kernels, as with an addition that broadcasts, they compute as the operators that
// they stand for.
func (f *Function) Fuse() {
	u := &fuser{f: f, uses: map[*Value]int{}, user: map[*Value]*Node{}, dead: map[*Node]bool{}}
	if !u.read(f.Body) {
		return
	}
	tensor.NoGrad(func() { u.block(f.Body) })
	u.sweep(f.Body)
}

type fuser struct {
	f    *Function
	uses map[*Value]int
	user map[*Value]*Node // the last one that was seen; the only one where uses is 1
	dead map[*Node]bool
}

// read counts uses. It reports false where something is written.
func (u *fuser) read(b *Block) bool {
	use := func(v *Value, n *Node) {
		u.uses[v]++
		u.user[v] = n
	}
	for _, n := range b.Nodes {
		switch n.Op {
		case SetAttr, CallMethod, CallFunction, Within, Fork, Closure:
			return false
		}
		if n.Operator != nil && slices.ContainsFunc(n.Operator.Params, func(p Param) bool { return p.Writes() }) {
			return false
		}
		for _, v := range n.In {
			use(v, n)
		}
		for _, c := range n.Blocks {
			if !u.read(c) {
				return false
			}
		}
	}
	for _, v := range b.Results {
		use(v, nil)
	}
	return true
}

func (u *fuser) block(b *Block) {
	for i := 0; i < len(b.Nodes); i++ {
		n := b.Nodes[i]
		for _, c := range n.Blocks {
			u.block(c)
		}
		if u.dead[n] {
			continue
		}
		switch n.Op {
		case "aten::conv1d", "aten::conv2d", "aten::conv3d":
			u.conv(n)
		case "aten::linear":
			u.linear(n, false)
		case "aten::matmul":
			u.linear(n, true)
		}
	}
	b.Nodes = slices.DeleteFunc(b.Nodes, func(n *Node) bool { return u.dead[n] })
}

// sweep drops constants that nothing reads any more.
func (u *fuser) sweep(b *Block) {
	u.uses = map[*Value]int{}
	u.read(b)
	var drop func(b *Block)
	drop = func(b *Block) {
		b.Nodes = slices.DeleteFunc(b.Nodes, func(n *Node) bool { return n.Op == Constant && u.uses[n.Out[0]] == 0 })
		for _, n := range b.Nodes {
			for _, c := range n.Blocks {
				drop(c)
			}
		}
	}
	drop(b)
}

// next is the only node that reads a value, nil when there are several, or it stands in another block.
func (u *fuser) next(v *Value, b *Block) *Node {
	if n := u.user[v]; u.uses[v] == 1 && n != nil && n.Block == b && !u.dead[n] {
		return n
	}
	return nil
}

// constTensor is a constant tensor of float32; ok is true for None as well.
func constTensor(v *Value) (t *tensor.Tensor, ok bool) {
	if v.Node == nil || v.Node.Op != Constant {
		return nil, false
	}
	switch c := v.Node.Const; {
	case c.K == tensor.KNone:
		return nil, true
	case c.K == tensor.KTensor && c.T.DType() == tensor.Float32 && c.T.Device().Type == tensor.CPUDevice:
		return c.T, true
	}
	return nil, false
}

// constNumber is a constant number; none stands for None.
func constNumber(v *Value, none float64) (x float64, ok bool) {
	if v.Node == nil || v.Node.Op != Constant {
		return 0, false
	}
	switch c := v.Node.Const; c.K {
	case tensor.KNone:
		return none, true
	case tensor.KInt, tensor.KFloat, tensor.KBool:
		return c.Num().F, true
	}
	return 0, false
}

// limits are those of an activation that limits values.
func limits(n *Node) (lo, hi float64, ok bool) {
	switch n.Op {
	case "aten::relu":
		return 0, math.Inf(1), true
	case "aten::relu6":
		return 0, 6, true
	case "aten::clamp", "aten::hardtanh":
		if len(n.In) != 3 {
			return 0, 0, false
		}
		var ok2 bool
		lo, ok = constNumber(n.In[1], math.Inf(-1))
		hi, ok2 = constNumber(n.In[2], math.Inf(1))
		return lo, hi, ok && ok2
	}
	return 0, 0, false
}

// addend is the other value of a plain addition to v.
func addend(n *Node, v *Value) (other *Value, ok bool) {
	if n.Op != "aten::add.Tensor" || len(n.In) < 2 || n.In[0] == n.In[1] {
		return nil, false
	}
	if len(n.In) > 2 {
		if x, ok := constNumber(n.In[2], 1); !ok || x != 1 {
			return nil, false
		}
	}
	if n.In[0] == v {
		return n.In[1], true
	}
	return n.In[0], true
}

// replace puts a call of op in the place of last, whose result it computes; the others of the chain go.
func (u *fuser) replace(chain []*Node, op string, args ...any) {
	last := chain[len(chain)-1]
	b := last.Block
	scratch := &Block{Func: b.Func, pos: last.Pos}
	n := scratch.Call(op, args...)
	n.Out = last.Out
	n.Out[0].Node = n
	for _, s := range scratch.Nodes {
		s.Block = b
	}
	at := slices.Index(b.Nodes, last)
	b.Nodes = slices.Insert(b.Nodes, at+1, scratch.Nodes...)
	for _, d := range chain {
		u.dead[d] = true
	}
	for _, v := range n.In { // the uses of what goes are those of what comes
		u.user[v] = n
	}
}

// conv fuses a convolution with what follows it.
func (u *fuser) conv(n *Node) {
	if len(n.In) != 7 {
		return
	}
	w, ok := constTensor(n.In[1])
	b, ok2 := constTensor(n.In[2])
	if !ok || !ok2 || w == nil || w.Dim() < 3 || w.Dim() > 5 {
		return
	}
	chain, cur := []*Node{n}, n.Out[0]
	var residual *Value
	lo, hi := math.Inf(-1), math.Inf(1)
	for {
		next := u.next(cur, n.Block)
		if next == nil {
			break
		}
		l, h, limited := limits(next)
		if limited {
			lo, hi = l, h
		} else if x, y, ok := foldNorm(next, w, b); ok && residual == nil && next.In[0] == cur {
			w, b = x, y
		} else if other, ok := addend(next, cur); ok && residual == nil && other.Type.Kind == TensorType &&
			!isConstant(other) {
			residual = other
		} else {
			break
		}
		chain, cur = append(chain, next), next.Out[0]
		if limited {
			break
		}
	}
	switch w = w.Detach(); w.Dim() {
	case 4:
		w = w.To(tensor.ChannelsLast)
	case 5:
		w = w.To(tensor.ChannelsLast3d)
	}
	u.replace(chain, "gotorch::conv_fused", n.In[0], w.Keep(), b, residual, n.In[3], n.In[4], n.In[5], n.In[6], lo, hi)
}

func isConstant(v *Value) bool { return v.Node != nil && v.Node.Op == Constant }

// foldNorm is the weight and bias of a convolution and the batch norm n behind it, which uses running statistics:
// W·s and (b - mean)·s + shift with s = scale / sqrt(var + eps).
func foldNorm(n *Node, w, b *tensor.Tensor) (nw, nb *tensor.Tensor, ok bool) {
	if n.Op != "aten::batch_norm" || len(n.In) < 8 {
		return nil, nil, false
	}
	var p [4]*tensor.Tensor // scale, shift, mean, var
	for i := range p {
		if p[i], ok = constTensor(n.In[i+1]); !ok || p[i] != nil && p[i].Numel() != w.Size(0) {
			return nil, nil, false
		}
	}
	training, ok := constNumber(n.In[5], 0)
	eps, ok2 := constNumber(n.In[7], 0)
	if !ok || !ok2 || training != 0 || p[2] == nil || p[3] == nil {
		return nil, nil, false
	}
	s := p[3].Double().AddScalar(eps).Rsqrt()
	if p[0] != nil {
		s = s.Mul(p[0])
	}
	nb = p[2].Double().Neg()
	if b != nil {
		nb = nb.Add(b)
	}
	if nb = nb.Mul(s); p[1] != nil {
		nb = nb.Add(p[1])
	}
	shape := make([]int, w.Dim())
	for i := range shape {
		shape[i] = 1
	}
	shape[0] = -1
	return w.Double().Mul(s.Reshape(shape)).Float(), nb.Float(), true
}

// linear fuses a linear layer, or a product by a constant matrix, with a bias and an activation.
func (u *fuser) linear(n *Node, product bool) {
	if len(n.In) < 2 {
		return
	}
	w, ok := constTensor(n.In[1])
	if !ok || w == nil || w.Dim() != 2 || isConstant(n.In[0]) {
		return
	}
	var b *tensor.Tensor
	if product {
		w = w.Transpose(0, 1).Contiguous()
	} else if len(n.In) > 2 {
		if b, ok = constTensor(n.In[2]); !ok {
			return
		}
	}
	if w.Numel() == 0 || b != nil && !slices.Equal(b.Shape(), w.Shape()[:1]) {
		return
	}
	chain, cur := []*Node{n}, n.Out[0]
	if next := u.next(cur, n.Block); next != nil && product {
		if other, ok := addend(next, cur); ok {
			if c, ok := constTensor(other); ok && c != nil && slices.Equal(c.Shape(), w.Shape()[:1]) {
				b, chain, cur = c, append(chain, next), next.Out[0]
			}
		}
	}
	act := "none"
	if next := u.next(cur, n.Block); next != nil {
		switch next.Op {
		case "aten::relu":
			act = "relu"
		case "aten::gelu":
			if len(next.In) > 1 && isConstant(next.In[1]) {
				act = map[any]string{"none": "gelu", "tanh": "gelu_tanh"}[next.In[1].Node.Const.X]
			}
		}
		if act == "" {
			act = "none"
		} else if act != "none" {
			chain = append(chain, next)
		}
	}
	packed, err := tensor.CallOp("gotorch::linear_pack", tensor.TensorValue(w))
	if err != nil {
		return
	}
	u.replace(chain, "gotorch::linear_packed", n.In[0], packed[0].T.Keep(), w.Size(0), b, act)
}
