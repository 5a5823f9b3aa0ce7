package graph

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

// Files of older versions of ONNX, and decomposed programs of torch.export, have GELU, layer normalisation and
// attention as the arithmetic that they are made of. patterns finds them by the last of their operators and calls the
// operator that does all of it at once.
func (u *fuser) patterns(n *Node) {
	switch n.Op {
	case "aten::mul.Tensor", "aten::mul.Scalar", "aten::div.Tensor", "aten::div.Scalar":
		u.gelu(n)
	case "aten::add.Tensor":
		u.layerNorm(n)
	case "aten::matmul":
		u.attention(n)
	}
}

// match collects the nodes of a pattern, from the last one back.
type match struct {
	u     *fuser
	last  *Node
	chain []*Node // without the last
}

// node takes the node that defines v into the pattern, if it calls one of these operators and v is read so many times,
// all of which must be by the pattern.
func (m *match) node(v *Value, uses int, ops ...string) *Node {
	n := v.Node
	if n == nil || m.u.dead[n] || n.Block != m.last.Block || m.u.uses[v] != uses || !slices.Contains(ops, n.Op) {
		return nil
	}
	if !slices.Contains(m.chain, n) {
		m.chain = append(m.chain, n)
	}
	return n
}

// replace puts a call in the place of the pattern, which reads inputs, unless one of them is written in between.
func (m *match) replace(inputs []*Value, op string, args ...any) bool {
	nodes := m.last.Block.Nodes
	first := slices.IndexFunc(nodes, func(n *Node) bool { return slices.Contains(m.chain, n) })
	if first < 0 {
		return false
	}
	for _, v := range inputs {
		if m.u.a.between(nodes[first], m.last, v) {
			return false
		}
	}
	m.u.replace(append(m.chain, m.last), op, args...)
	return true
}

// scalar is a constant number, or a constant tensor without dimensions.
func (u *fuser) scalar(v *Value) (x float64, ok bool) {
	if x, ok = constNumber(v, 0); ok {
		return x, !isNone(v)
	}
	t, ok := u.constTensor(v)
	if !ok || t == nil || t.Dim() > 0 || !t.DType().IsFloat() && !t.DType().IsInt() {
		return 0, false
	}
	return t.Num().F, true
}

func is(x, want float64) bool { return math.Abs(x-want) <= 2e-6*math.Abs(want) }

// scaled takes v apart: a value, and the constants that it is multiplied with and divided by.
func (m *match) scaled(v *Value) (base *Value, factor float64) {
	factor = 1
	for {
		n := m.node(v, 1, "aten::mul.Tensor", "aten::mul.Scalar", "aten::div.Tensor", "aten::div.Scalar")
		if n == nil {
			return v, factor
		}
		if x, ok := m.u.scalar(n.In[1]); ok {
			if v = n.In[0]; n.Op == "aten::div.Tensor" || n.Op == "aten::div.Scalar" {
				x = 1 / x
			}
			factor *= x
		} else if x, ok := m.u.scalar(n.In[0]); ok && n.Op == "aten::mul.Tensor" {
			v, factor = n.In[1], factor*x
		} else {
			m.chain = slices.DeleteFunc(m.chain, func(c *Node) bool { return c == n })
			return v, factor
		}
	}
}

// plus is v without the constant c that is added to it, nil when there is none.
func (m *match) plus(v *Value, c float64) *Value {
	n := m.node(v, 1, "aten::add.Tensor", "aten::add.Scalar")
	if n == nil || len(n.In) > 2 && !m.one(n.In[2]) {
		return nil
	}
	for i := range 2 {
		if x, ok := m.u.scalar(n.In[1-i]); ok && is(x, c) {
			return n.In[i]
		}
	}
	return nil
}

func (m *match) one(v *Value) bool {
	x, ok := constNumber(v, 1)
	return ok && x == 1
}

// gelu finds x·½·(1 + erf(x/√2)) and x·½·(1 + tanh(√(2/π)·(x + 0.044715·x³))), however the factors are ordered.
func (u *fuser) gelu(n *Node) {
	m := &match{u: u, last: n}
	// the factors of the product
	var values []*Value
	factor := 1.0
	var take func(n *Node)
	take = func(n *Node) {
		for i, v := range n.In[:2] {
			if x, ok := u.scalar(v); ok {
				if i == 1 && (n.Op == "aten::div.Tensor" || n.Op == "aten::div.Scalar") {
					x = 1 / x
				}
				factor *= x
			} else if c := m.node(v, 1, "aten::mul.Tensor", "aten::mul.Scalar"); c != nil && len(m.chain) < 4 {
				take(c)
			} else {
				values = append(values, v)
			}
		}
	}
	if _, ok := u.scalar(n.In[1]); !ok && n.Op != "aten::mul.Tensor" {
		return // a quotient
	}
	if take(n); len(values) != 2 || !is(factor, 0.5) {
		return
	}
	for i, s := range values {
		x := values[1-i]
		t := &match{u: u, last: n, chain: slices.Clone(m.chain)}
		inner := t.plus(s, 1)
		if inner == nil {
			continue
		}
		switch e := t.node(inner, 1, "aten::erf", "aten::tanh"); {
		case e == nil:
		case e.Op == "aten::erf":
			if v, c := t.scaled(e.In[0]); v == x && is(c, math.Sqrt2/2) {
				t.replace([]*Value{x}, "aten::gelu", x, "none")
				return
			}
		default:
			if v, c := t.scaled(e.In[0]); is(c, math.Sqrt(2/math.Pi)) && t.cubic(v, x) {
				t.replace([]*Value{x}, "aten::gelu", x, "tanh")
				return
			}
		}
	}
}

// cubic reports that v is x + 0.044715·x³.
func (m *match) cubic(v, x *Value) bool {
	n := m.node(v, 1, "aten::add.Tensor")
	if n == nil || len(n.In) > 2 && !m.one(n.In[2]) {
		return false
	}
	for i := range 2 {
		if n.In[i] != x {
			continue
		}
		if c, f := m.scaled(n.In[1-i]); is(f, 0.044715) {
			if p := m.node(c, 1, "aten::pow.Tensor_Scalar", "aten::pow.Tensor_Tensor"); p != nil {
				e, ok := m.u.scalar(p.In[1])
				return ok && e == 3 && p.In[0] == x
			}
			if p := m.node(c, 1, "aten::mul.Tensor"); p != nil {
				for j := range 2 {
					if q := m.node(p.In[j], 1, "aten::mul.Tensor"); q != nil && p.In[1-j] == x {
						return q.In[0] == x && q.In[1] == x
					}
				}
			}
		}
	}
	return false
}

// layerNorm finds (x - mean)/√(mean((x - mean)²) + eps)·weight + bias over the last dimension, whose size the weight
// gives.
func (u *fuser) layerNorm(n *Node) {
	if len(n.In) > 2 {
		if x, ok := constNumber(n.In[2], 1); !ok || x != 1 {
			return
		}
	}
	vector := func(v *Value) *tensor.Tensor {
		if t, ok := u.constFloats(v); ok && t != nil && t.Dim() == 1 && t.Size(0) > 1 {
			return t
		}
		return nil
	}
	for i := range 2 {
		m := &match{u: u, last: n}
		b, mul := vector(n.In[i]), m.node(n.In[1-i], 1, "aten::mul.Tensor")
		if b == nil || mul == nil {
			continue
		}
		for j := range 2 {
			w, div := vector(mul.In[j]), m.node(mul.In[1-j], 1, "aten::div.Tensor")
			if w == nil || div == nil || !slices.Equal(w.Shape(), b.Shape()) {
				continue
			}
			if x, eps, ok := m.centred(div); ok {
				m.replace([]*Value{x}, "aten::layer_norm", x, []int{w.Size(0)}, mul.In[j], n.In[i], eps)
				return
			}
		}
	}
}

// centred takes (x - mean)/√(mean((x - mean)²) + eps) apart.
func (m *match) centred(div *Node) (x *Value, eps float64, ok bool) {
	root := m.node(div.In[1], 1, "aten::sqrt")
	if root == nil {
		return nil, 0, false
	}
	add := m.node(root.In[0], 1, "aten::add.Tensor", "aten::add.Scalar")
	if add == nil || len(add.In) > 2 && !m.one(add.In[2]) {
		return nil, 0, false
	}
	if eps, ok = m.u.scalar(add.In[1]); !ok {
		return nil, 0, false
	}
	variance := m.mean(add.In[0])
	if variance == nil {
		return nil, 0, false
	}
	d := div.In[0]
	square := m.node(variance, 1, "aten::pow.Tensor_Scalar", "aten::pow.Tensor_Tensor", "aten::mul.Tensor")
	if square == nil || square.In[0] != d {
		return nil, 0, false
	}
	uses := 2
	if square.Op == "aten::mul.Tensor" {
		if uses = 3; square.In[1] != d {
			return nil, 0, false
		}
	} else if p, ok := m.u.scalar(square.In[1]); !ok || p != 2 {
		return nil, 0, false
	}
	sub := m.node(d, uses, "aten::sub.Tensor")
	if sub == nil || len(sub.In) > 2 && !m.one(sub.In[2]) {
		return nil, 0, false
	}
	return sub.In[0], eps, m.mean(sub.In[1]) == sub.In[0]
}

// mean is what v is the mean of over the last dimension, which is kept; nil when it is none.
func (m *match) mean(v *Value) *Value {
	n := m.node(v, 1, "aten::mean.dim")
	if n == nil || len(n.In) < 3 || len(n.In) > 3 && !isNone(n.In[3]) {
		return nil
	}
	dims, ok := m.u.constInts(n.In[1])
	keep, ok2 := constNumber(n.In[2], 0)
	if !ok || !ok2 || keep == 0 || !slices.Equal(dims, []int{-1}) {
		return nil
	}
	return n.In[0]
}

// attention finds softmax(q·k·scale + mask)·v, where the mask, if there is one, is a constant that hides no row as a
// whole: of such a row PyTorch's operator makes zeros, the arithmetic NaN.
func (u *fuser) attention(n *Node) {
	m := &match{u: u, last: n}
	soft := m.node(n.In[0], 1, "aten::softmax.int")
	if soft == nil || len(soft.In) > 2 && !isNone(soft.In[2]) {
		return
	}
	if dim, ok := constNumber(soft.In[1], 0); !ok || dim != -1 {
		return
	}
	scores, scale := m.scaled(soft.In[0])
	var mask *Value
	if add := m.node(scores, 1, "aten::add.Tensor"); add != nil && scale == 1 {
		if t, ok := u.constFloats(add.In[1]); !ok || t == nil || !hidesNoRow(t) ||
			len(add.In) > 2 && !m.one(add.In[2]) {
			return
		}
		mask = add.In[1]
		scores, scale = m.scaled(add.In[0])
	}
	product := m.node(scores, 1, "aten::matmul")
	if product == nil {
		return
	}
	q, s := m.scaled(product.In[0])
	kt, s2 := m.scaled(product.In[1])
	if isConstant(q) || isConstant(kt) || isConstant(n.In[1]) || u.rankOf(q, 4) < 2 {
		return
	}
	k := m.transposed(kt)
	if k == nil {
		return
	}
	m.replace([]*Value{q, k, n.In[1]}, "aten::scaled_dot_product_attention", q, k, n.In[1], mask, 0.0, false,
		scale*s*s2)
}

// rankOf is the number of dimensions of v, -1 where it is not known; so many operators are followed back.
func (u *fuser) rankOf(v *Value, steps int) int {
	n := v.Node
	if i := u.info(v); i != nil {
		return len(i.Shape)
	}
	if n == nil || steps == 0 || len(n.In) < 2 {
		return -1
	}
	switch n.Op {
	case "aten::permute", "aten::reshape", "aten::view":
		if l := n.In[1].Node; l != nil && l.Op == ListConstruct && !u.a.isWritten(n.In[1]) {
			return len(l.In)
		}
		if l, ok := u.constInts(n.In[1]); ok {
			return len(l)
		}
	case "aten::transpose.int":
		return u.rankOf(n.In[0], steps-1)
	}
	return -1
}

// transposed is what v is the transposed of, in its last two dimensions; nil when it is not known to be that.
func (m *match) transposed(v *Value) *Value {
	n := m.node(v, 1, "aten::permute", "aten::transpose.int", "aten::mT")
	if n == nil {
		return nil
	}
	switch n.Op {
	case "aten::transpose.int":
		i, ok := constNumber(n.In[1], 0)
		j, ok2 := constNumber(n.In[2], 0)
		if !ok || !ok2 || !(i == -1 && j == -2 || i == -2 && j == -1) {
			return nil
		}
	case "aten::permute":
		dims, ok := m.u.constInts(n.In[1])
		if l := len(dims); ok && l == 4 && dims[0] == 0 && dims[1] == 2 && dims[2] == 3 && dims[3] == 1 {
			// heads come forward at the same time, as most exporters write it
			scratch := &Block{Func: n.Block.Func, pos: n.Pos}
			k := scratch.Call1("aten::permute", n.In[0], []int{0, 2, 1, 3})
			return m.before(n, scratch, k)
		} else if !ok || l < 2 || dims[l-1] != l-2 || dims[l-2] != l-1 ||
			!slices.IsSortedFunc(dims[:l-2], func(a, b int) int { return a - b }) || slices.Min(dims) < 0 {
			return nil
		}
	}
	return n.In[0]
}

// before inserts nodes in front of n.
func (m *match) before(n *Node, scratch *Block, result *Value) *Value {
	insertBefore(n, scratch.Nodes)
	m.u.uses[n.In[0]]++
	return result
}

// hidesNoRow reports that each row of a mask has a number above -inf.
func hidesNoRow(mask *tensor.Tensor) bool {
	if mask.Dim() == 0 || mask.Numel() == 0 {
		return false
	}
	return mask.Amax(tensor.AmaxOptions{Dim: []int{-1}}).Min().Num().F > -math.MaxFloat32
}
