package graph

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

// activations are the operators, and their forms in place, that a fused convolution or linear layer applies to its
// result, and the names by which it knows them. A GELU has two.
var activations = map[string]string{"aten::relu": "relu", "aten::silu": "silu", "aten::hardswish": "hardswish",
	"aten::sigmoid": "sigmoid", "aten::hardsigmoid": "hardsigmoid", "aten::tanh": "tanh", "aten::mish": "mish",
	"aten::relu_": "relu", "aten::silu_": "silu", "aten::hardswish_": "hardswish", "aten::sigmoid_": "sigmoid",
	"aten::hardsigmoid_": "hardsigmoid", "aten::tanh_": "tanh", "aten::mish_": "mish"}

// activation is the name of the function that n applies to v, "" for none.
func activation(n *Node, v *Value) string {
	if len(n.In) == 0 || n.In[0] != v {
		return ""
	}
	if n.Op != "aten::gelu" && n.Op != "aten::gelu_" {
		return activations[n.Op]
	}
	if len(n.In) == 1 {
		return "gelu"
	}
	if !isConstant(n.In[1]) {
		return ""
	}
	return map[any]string{"none": "gelu", "tanh": "gelu_tanh"}[n.In[1].Node.Const.X]
}

// products finds x·sigmoid(x) and x·hardsigmoid(x), which are a SiLU and a hardswish.
func (u *fuser) products(n *Node) {
	if u.dead[n] || n.Op != "aten::mul.Tensor" {
		return
	}
	for i := range 2 {
		m := &match{u: u, last: n}
		s := m.node(n.In[1-i], 1, "aten::sigmoid", "aten::hardsigmoid")
		if s == nil || s.In[0] != n.In[i] || isConstant(s.In[0]) {
			continue
		}
		op := "aten::silu"
		if s.Op == "aten::hardsigmoid" {
			op = "aten::hardswish"
		}
		m.replace([]*Value{n.In[i]}, op, n.In[i])
		return
	}
}

// squeezes joins the means of all channels of an image, two layers that make a gate of them, and the multiplication of
// the image by the gate.
func (u *fuser) squeezes(n *Node) {
	if n.Op != "aten::mul.Tensor" {
		return
	}
	for i := range 2 {
		x := n.In[i]
		m := &match{u: u, last: n}
		second := u.layerOfMeans(m, n.In[1-i])
		if second == nil {
			continue
		}
		first := u.layerOfMeans(m, second.In[0])
		if first == nil {
			continue
		}
		mean := m.node(first.In[0], 1, "aten::adaptive_avg_pool2d", "aten::mean.dim")
		if mean == nil || mean.In[0] != x || !u.meansOfImage(mean) {
			continue
		}
		w1, w2 := weightOf(first, 1), weightOf(second, 1)
		if w1.Size(1) != w2.Size(0) || w1.Size(0) != w2.Size(1) {
			continue
		}
		m.replace([]*Value{x}, "gotorch::squeeze_excite", x, matrixOf(w1).Keep(), first.In[2],
			matrixOf(w2).Transpose(0, 1).Contiguous().Keep(), second.In[2], layerActivation(first),
			layerActivation(second))
		return
	}
}

// layerOfMeans is the fused convolution of one tap that makes v, which on images of one position is a linear layer;
// nil when v is made otherwise.
func (u *fuser) layerOfMeans(m *match, v *Value) *Node {
	n := m.node(v, 1, "gotorch::conv_fused")
	if n == nil || !isNone(n.In[3]) || weightOf(n, 1).Dim() != 4 ||
		weightOf(n, 1).Size(2)*weightOf(n, 1).Size(3) != 1 ||
		!u.allInts(n.In[5], 0) || layerActivation(n) == "" {
		return nil
	}
	if groups, ok := constNumber(n.In[7], 1); !ok || groups != 1 {
		return nil
	}
	return n
}

// matrixOf is the weight of a convolution of one tap as a matrix.
func matrixOf(w *tensor.Tensor) *tensor.Tensor { return w.Reshape([]int{w.Size(0), w.Size(1)}) }

// layerActivation is the name of what a fused convolution does to its sums, be it by limits; "" when it has no name.
func layerActivation(n *Node) string {
	act, _ := n.In[10].Node.Const.X.(string)
	lo, hi := n.constFloat(8), n.constFloat(9)
	switch {
	case math.IsInf(lo, -1) && math.IsInf(hi, 1):
		return act
	case lo == 0 && math.IsInf(hi, 1) && act == "none":
		return "relu"
	}
	return ""
}

// meansOfImage reports that n averages each channel of an image, and keeps the dimensions.
func (u *fuser) meansOfImage(n *Node) bool {
	if n.Op == "aten::adaptive_avg_pool2d" {
		return u.allInts(n.In[1], 1)
	}
	dims, ok := u.constInts(n.In[1])
	if !ok || len(n.In) < 3 || len(n.In) > 3 && !isNone(n.In[3]) {
		return false
	}
	keep, ok := constNumber(n.In[2], 0)
	return ok && keep != 0 && (slices.Equal(dims, []int{2, 3}) || slices.Equal(dims, []int{-1, -2}) ||
		slices.Equal(dims, []int{-2, -1}))
}

// allInts reports a list of constant numbers all of which are x.
func (u *fuser) allInts(v *Value, x int) bool {
	l, ok := u.constInts(v)
	return ok && !slices.ContainsFunc(l, func(y int) bool { return y != x })
}
