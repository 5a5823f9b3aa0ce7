package graph

import (
	"slices"
	"sync"

	"github.com/gotorch-dev/torch/tensor"
)

// Fuse prepares a function for inference. Results stay the same but for rounding. In this order:
//
//   - What constants alone decide is computed: branches, numbers, views of weights.
//   - What is computed twice from the same values is computed once.
//   - Arithmetic that is a GELU, a SiLU, a layer normalisation or an attention becomes that operator.
//   - Operators between dequantizations and quantizations compute with bytes.
//   - A convolution with constant weights takes over the batch norm behind it, the addition of a shortcut, and the
//     limits of an activation or another activation; then the depthwise convolution or the maximum pooling that alone
//     reads it, and the convolution of one tap behind that. Its weight, and so its result, is laid out channels-last.
//   - Convolutions whose results are joined along the channels write them into one image.
//   - A linear layer, or a product by a constant matrix, takes over its bias and activation and reads its weight
//     packed.
//   - Where the program can see how memory is laid out, and in its results, a value has the layout that it had.
//
// Operators that write into tensors are understood: an activation in place behind a convolution is taken over like
// another, weights that the program changes are no constants, and nothing is moved across a write that it could see.
// Fuse is called before the function runs for the first time.
//
// The fused operators (gotorch::conv_fused, gotorch::conv_pool_fused, gotorch::conv_depthwise_fused,
// gotorch::conv_cat, gotorch::linear_packed) compute, where their arguments do not fit the kernels, as with an addition
// that broadcasts, as the operators that they stand for.
func (f *Function) Fuse() { f.FuseWith(FuseOptions{}) }

// FuseOptions are the options of FuseWith.
type FuseOptions struct {
	// Weights are shared with other functions.
	Weights *Weights
	// Exact says that the function was recorded, and that all its runs have the sizes, dtypes and layouts of the
	// example.
	Exact bool
	// Winograd allows 3×3 convolutions in float32 to be computed by Winograd's algorithm, where that is faster: see
	// torch.SetWinograd, which allows it everywhere.
	Winograd bool
}

// Weights keeps the weights that FuseWith has folded, so that several programs over the same tensors share them. The
// zero value is empty. A program keeps what it uses: another Weights makes no difference to it.
type Weights struct {
	mu    sync.Mutex
	folds map[foldKey]*folded
}

// FuseWith is Fuse with options.
func (f *Function) FuseWith(o FuseOptions) {
	tensor.NoGrad(func() {
		u := newFuser(f, o)
		u.fold()
		u.a = newAliases(f)
		u.ranks()
		u.common(u.f.Body, map[string]*Node{}, replacer{})
		u.pass(u.complete)
		u.pass(u.patterns)
		u.pass(u.products)
		u.pass(u.lower)
		u.pass(u.earlier)
		u.pass(u.quantized)
		u.pass(u.unquantize)
		u.pass(u.epilogues)
		u.pass(u.squeezes)
		u.pass(u.pairs)
		u.pass(u.thirds)
		u.pass(u.concatenations)
		u.layouts()
		u.sweep()
	})
}

type fuser struct {
	f       *Function
	weights *Weights
	exact   bool
	wino    bool // FuseOptions.Winograd
	a       *aliases
	uses    map[*Value]int
	user    map[*Value]*Node // the last one that was seen; the only one where uses is 1
	dead    map[*Node]bool
	plain   map[*Value]bool // classes of memory that must have the program's own layout
}

func newFuser(f *Function, o FuseOptions) *fuser {
	if o.Weights == nil {
		o.Weights = new(Weights)
	}
	return &fuser{f: f, weights: o.Weights, exact: o.Exact, wino: o.Winograd, dead: map[*Node]bool{}, a: newAliases(f)}
}

// count finds the readers of each value.
func (u *fuser) count() {
	u.uses, u.user = map[*Value]int{}, map[*Value]*Node{}
	var read func(b *Block)
	read = func(b *Block) {
		for _, n := range b.Nodes {
			for _, v := range n.In {
				u.uses[v]++
				u.user[v] = n
			}
			for _, c := range n.Blocks {
				read(c)
			}
		}
		for _, v := range b.Results {
			u.uses[v]++
			u.user[v] = nil
		}
	}
	read(u.f.Body)
}

// pass calls visit for each node, and drops those that were taken into others.
func (u *fuser) pass(visit func(n *Node)) {
	u.count()
	var walk func(b *Block)
	walk = func(b *Block) {
		for i := 0; i < len(b.Nodes); i++ { // nodes may come
			n := b.Nodes[i]
			for _, c := range n.Blocks {
				walk(c)
			}
			if !u.dead[n] {
				visit(n)
			}
		}
		b.Nodes = slices.DeleteFunc(b.Nodes, func(n *Node) bool { return u.dead[n] })
	}
	walk(u.f.Body)
}

// sweep drops constants and lists that nothing reads.
func (u *fuser) sweep() {
	for gone := true; gone; {
		u.count()
		gone = false
		var drop func(b *Block)
		drop = func(b *Block) {
			b.Nodes = slices.DeleteFunc(b.Nodes, func(n *Node) bool {
				switch n.Op {
				case Constant, ListConstruct, TupleConstruct, GetAttr:
				default:
					return false
				}
				unread := u.uses[n.Out[0]] == 0
				gone = gone || unread && n.Op != Constant
				return unread
			})
			for _, n := range b.Nodes {
				for _, c := range n.Blocks {
					drop(c)
				}
			}
		}
		drop(u.f.Body)
	}
}

// info is what is known of the tensors that a value will be.
func (u *fuser) info(v *Value) *Info {
	if !u.exact {
		return nil
	}
	return v.Info
}

// next is the only node that reads a value, nil when there are several, or it stands in another block.
func (u *fuser) next(v *Value, b *Block) *Node {
	if n := u.user[v]; u.uses[v] == 1 && n != nil && n.Block == b && !u.dead[n] {
		return n
	}
	return nil
}

// constTensor is a constant tensor that no node writes; ok is true for None as well.
func (u *fuser) constTensor(v *Value) (t *tensor.Tensor, ok bool) {
	if v.Node == nil || v.Node.Op != Constant {
		return nil, false
	}
	switch c := v.Node.Const; {
	case c.K == tensor.KNone, c.K == tensor.KTensor && c.T == nil:
		return nil, true
	case c.K == tensor.KTensor && !c.T.IsSparse() && c.T.Device().Type == tensor.CPUDevice && !u.a.isWritten(v):
		return c.T, true
	}
	return nil, false
}

// constFloats is a constant tensor of float32, or None.
func (u *fuser) constFloats(v *Value) (t *tensor.Tensor, ok bool) {
	t, ok = u.constTensor(v)
	return t, ok && (t == nil || t.DType() == tensor.Float32)
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

// constInts is a list of constant numbers that nobody changes.
func (u *fuser) constInts(v *Value) (l []int, ok bool) {
	n := v.Node
	switch {
	case n == nil || u.a.isWritten(v):
		return nil, false
	case n.Op == Constant:
		if n.Const.K == tensor.KInts {
			return n.Const.Ints(), true
		}
		items, isList := n.Const.X.(*List)
		if !isList {
			return nil, false
		}
		for i := range items.Items {
			if items.Items[i].K != tensor.KInt {
				return nil, false
			}
			l = append(l, int(items.Items[i].N))
		}
		return l, true
	case n.Op == ListConstruct:
		for _, e := range n.In {
			if e.Node == nil || e.Node.Op != Constant || e.Node.Const.K != tensor.KInt {
				return nil, false
			}
			l = append(l, int(e.Node.Const.N))
		}
		return l, true
	}
	return nil, false
}

func isConstant(v *Value) bool { return v.Node != nil && v.Node.Op == Constant }

// replace puts a call of op in the place of last, whose result it computes; the others of the chain go.
func (u *fuser) replace(chain []*Node, op string, args ...any) *Node {
	last := chain[len(chain)-1]
	b := last.Block
	scratch := &Block{Func: b.Func, pos: last.Pos}
	n := scratch.Call(op, args...)
	n.Out, n.Scope, n.from = last.Out, last.Scope, last.from
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
		if u.uses[v] == 0 {
			u.uses[v] = 1
		}
		u.user[v] = n
	}
	return n
}

// insertBefore puts nodes that were made apart into the block of n, in front of n.
func insertBefore(n *Node, nodes []*Node) {
	for _, s := range nodes {
		s.Block = n.Block
	}
	n.Block.Nodes = slices.Insert(n.Block.Nodes, slices.Index(n.Block.Nodes, n), nodes...)
}
