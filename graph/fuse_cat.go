package graph

import (
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

// concatenations has the fused convolutions whose results are joined along the channels, and read by nothing else,
// write them into one image: the fire modules of SqueezeNet, the blocks of GoogLeNet and Inception.
func (u *fuser) concatenations(n *Node) {
	if n.Op != "aten::cat" || len(n.In) != 2 || u.a.isWritten(n.Out[0]) {
		return // memory that is written keeps the program's own layout
	}
	list := n.In[0].Node
	if dim, ok := constNumber(n.In[1], 0); !ok || dim != 1 && dim != -3 || list == nil || list.Op != ListConstruct ||
		u.next(n.In[0], n.Block) != n || len(list.In) < 2 {
		return
	}
	var inputs, weights, biases []*Value
	var numbers [3][]int // stride, padding, dilation
	var first *Node
	chain := []*Node{}
	for _, v := range list.In {
		c := v.Node
		if c == nil || c.Op != "gotorch::conv_fused" || u.next(v, n.Block) != list || u.a.between(c, n, c.In[0]) ||
			!isNone(c.In[3]) || isNone(c.In[2]) || u.a.isWritten(c.In[2]) || weightOf(c, 1).Dim() != 4 ||
			weightOf(c, 2).DType() != tensor.Float32 {
			return
		}
		if groups, ok := constNumber(c.In[7], 1); !ok || groups != 1 {
			return
		}
		if first == nil {
			first = c
		}
		if c.constFloat(8) != first.constFloat(8) || c.constFloat(9) != first.constFloat(9) ||
			c.In[10].Node.Const.X != first.In[10].Node.Const.X {
			return
		}
		for i := range numbers {
			l, ok := u.constInts(c.In[4+i])
			if len(l) == 1 {
				l = slices.Repeat(l, 2)
			}
			if !ok || len(l) != 2 {
				return
			}
			numbers[i] = append(numbers[i], l...)
		}
		inputs, weights, biases = append(inputs, c.In[0]), append(weights, c.In[1]), append(biases, c.In[2])
		chain = append(chain, c)
	}
	scratch := &Block{Func: n.Block.Func, pos: n.Pos}
	lists := make([]any, 3)
	for i, l := range [][]*Value{inputs, weights, biases} {
		lists[i] = scratch.List(Tensor, l...)
	}
	insertBefore(n, scratch.Nodes)
	u.replace(append(chain, list, n), "gotorch::conv_cat", append(lists, numbers[0], numbers[1], numbers[2], first.In[8],
		first.In[9], first.In[10], first.In[11])...)
}
