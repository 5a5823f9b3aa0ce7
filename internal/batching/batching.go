// Package batching has the batching rules that several families of operators share: each takes a call on one example of
// a batch, inside a function that vmap maps, to one call on the whole batch (see tensor.BatchRule). The batch lies in
// dimension 0, so most rules move the dimensions that a call names by one, or put the size of the batch in front of the
// sizes that it names.
package batching

import (
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

type (
	// T is a tensor.
	T = tensor.Tensor
	// Value is a boxed argument.
	Value = tensor.Value
	// Call is a call in a mapped function.
	Call = tensor.Batched
)

// Rule gives operators of the namespace aten, or with another namespace in front, a rule.
func Rule(r tensor.BatchRule, names ...string) {
	for i, n := range names {
		if !slices.Contains([]byte(n), ':') {
			names[i] = "aten::" + n
		}
	}
	tensor.RegisterBatchRule(r, names...)
}

// Dim is dimension d of an example with rank dimensions in the whole batch. A number counts as a vector of one element.
func Dim(b *Call, d, rank int) int {
	n := max(rank, 1)
	if d < -n || d >= n {
		b.C.Fail(tensor.ErrIndex, "Dimension out of range (expected to be in range of [%d, %d], but got %d)", -n, n-1,
			d)
	}
	if d < 0 {
		d += n
	}
	return d + 1
}

// shiftDims moves the dimensions in argument i. An absent or empty list means all dimensions.
func shiftDims(b *Call, args []Value, i, rank int) {
	switch v := b.C.Value(i); {
	case v.K == tensor.KInt:
		args[i] = tensor.IntValue(Dim(b, int(v.N), rank))
	case v.K == tensor.KInts && len(v.Ints()) > 0:
		l := slices.Clone(v.Ints())
		for k := range l {
			l[k] = Dim(b, l[k], rank)
		}
		args[i] = tensor.IntsValue(l)
	case b.C.Op().Sch.Params[i].Kind == tensor.KInts:
		var l []int
		for k := range max(rank, 1) {
			l = append(l, k+1)
		}
		args[i] = tensor.IntsValue(l)
	}
}

// full gives every tensor among the arguments all examples. Numbers become vectors of one element where widen is set.
func full(b *Call, args []Value, widen bool) (rank int) {
	rank = -1
	for i, v := range b.C.Op().Sch.Params {
		if v.Kind != tensor.KTensor || args[i].K != tensor.KTensor {
			continue
		}
		x := b.Full(i)
		if rank < 0 {
			rank = b.Rank(i)
		}
		if x.Dim() == 1 && widen {
			x = x.Unsqueeze(1)
		}
		args[i] = tensor.TensorValue(x)
	}
	return rank
}

// Dims is the rule of operators along dimensions: params names the arguments with dimensions. All tensors of the call
// have these dimensions.
func Dims(params ...string) tensor.BatchRule { return along(nil, params) }

// SizesDims is Dims for operators that are told the sizes of an example, too.
func SizesDims(sizes string, params ...string) tensor.BatchRule {
	return along([]string{sizes}, params)
}

func along(sizes, params []string) tensor.BatchRule {
	return func(b *Call) []Value {
		args := b.Args()
		// a number may be an element of an example with dimensions, as the gradient of select is
		widen := len(sizes) == 0 || len(b.C.Ints(b.Index(sizes[0]))) == 0
		rank := full(b, args, widen)
		for _, p := range sizes {
			i := b.Index(p)
			l := b.C.Ints(i)
			rank = len(l)
			if rank == 0 {
				l = []int{1}
			}
			args[i] = tensor.IntsValue(append([]int{b.Size()}, l...))
		}
		for _, p := range params {
			shiftDims(b, args, b.Index(p), rank)
		}
		return numbers(b.Call(args), rank)
	}
}

// numbers undoes what full did to numbers.
func numbers(res []Value, rank int) []Value {
	if rank != 0 {
		return res
	}
	for i, v := range res {
		if v.K == tensor.KTensor && v.T.Dim() == 2 && v.T.Size(1) == 1 {
			res[i] = tensor.TensorValue(v.T.SqueezeDim(1))
		}
	}
	return res
}

// List is the rule of operators along a dimension of a list of tensors, such as cat.
func List(param string) tensor.BatchRule {
	return func(b *Call) []Value {
		args := b.Args()
		rank := 0
		for _, t := range b.C.Tensors(0) {
			if t != nil {
				rank = max(rank, t.Dim())
			}
		}
		shiftDims(b, args, b.Index(param), rank)
		return b.Call(args)
	}
}

// Flat is the rule of reductions of all elements, done by the operator that reduces one dimension.
func Flat(dimOp string) tensor.BatchRule {
	return func(b *Call) []Value {
		op := tensor.LookupOp(dimOp)
		args := make([]Value, len(op.Sch.Params))
		for i, p := range op.Sch.Params {
			switch k := b.Index(p.Name); {
			case i == 0:
				args[i] = tensor.TensorValue(Flatten(b.T(0), 1))
			case p.Name == "dim" && p.Kind == tensor.KInts:
				args[i] = tensor.IntsValue([]int{1})
			case p.Name == "dim":
				args[i] = tensor.IntValue(1)
			case k >= 0:
				args[i] = b.C.Value(k)
			case p.Default != nil:
				args[i] = *p.Default
			}
		}
		return b.CallOp(op, args)[:len(b.C.Op().Sch.Results)]
	}
}

// Flatten makes one dimension of those from d on.
func Flatten(x *T, d int) *T {
	return x.Reshape(append(slices.Clone(x.Shape()[:d]), rest(x.Shape()[d:])))
}

func rest(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// FlatOr is the rule of reductions along an optional dimension: without it, of all elements.
func FlatOr(param string) tensor.BatchRule {
	dims := Dims(param)
	return func(b *Call) []Value {
		i := b.Index(param)
		if b.C.Has(i) {
			return dims(b)
		}
		args := b.Args()
		args[0], args[i] = tensor.TensorValue(Flatten(b.T(0), 1)), tensor.IntValue(1)
		res := b.Call(args)
		if k := b.Index("keepdim"); k >= 0 && b.C.Bool(k) { // PyTorch keeps every dimension then
			shape := []int{b.Size()}
			for range b.Rank(0) {
				shape = append(shape, 1)
			}
			for j, v := range res {
				res[j] = tensor.TensorValue(v.T.Reshape(shape))
			}
		}
		return res
	}
}

// Leading is the rule of operators that take any dimensions in front of those that they are about. Only the named
// arguments may differ between the examples; where another one does, the operator runs for one example after the other.
func Leading(params ...string) tensor.BatchRule {
	return func(b *Call) []Value {
		args := b.Args()
		rank, several := 0, 0
		for i, p := range b.C.Op().Sch.Params {
			if args[i].K != tensor.KTensor {
				continue
			}
			if !slices.Contains(params, p.Name) {
				if b.Has(i) {
					return b.Loop()
				}
				continue
			}
			rank = max(rank, b.Rank(i))
			several++
		}
		for _, p := range params {
			i := b.Index(p)
			if args[i].K != tensor.KTensor {
				continue
			}
			x := b.T(i)
			if several > 1 {
				x = b.Full(i)
			}
			for x.Dim() < rank+1 {
				x = x.Unsqueeze(1)
			}
			args[i] = tensor.TensorValue(x)
		}
		return b.Call(args)
	}
}

// Matrices is the rule of operators on batches of matrices and vectors, of which dims says how many dimensions each
// argument has behind its batch. All arguments get all examples and a common batch.
func Matrices(dims map[string]int) tensor.BatchRule {
	return func(b *Call) []Value {
		args := b.Args()
		var batch []int
		own := func(i, n int) []int { return b.C.Shape(i)[:b.Rank(i)-n] }
		for p, n := range dims {
			i := b.Index(p)
			if !b.C.Has(i) {
				continue
			}
			if b.Rank(i) < n || !tensor.Broadcastable(own(i, n), batch) && !tensor.Broadcastable(batch, own(i, n)) {
				return b.Loop() // to the operator's own error
			}
			batch = tensor.BroadcastShapes(batch, own(i, n))
		}
		for p, n := range dims {
			i := b.Index(p)
			if !b.C.Has(i) {
				continue
			}
			x, shape := b.Full(i), b.C.Shape(i)
			for x.Dim() < 1+len(batch)+n {
				x = x.Unsqueeze(1)
			}
			full := append(append([]int{b.Size()}, batch...), shape[len(shape)-n:]...)
			args[i] = tensor.TensorValue(x.Expand(full))
		}
		return b.Call(args)
	}
}

// Images is the rule of operators on [n, ...] that treat each entry along dimension 0 on its own, without entries of
// the map's: the tensors named by params become one batch. sizes names an argument with the size of the whole input, ""
// if there is none.
func Images(sizes string, params ...string) tensor.BatchRule {
	return func(b *Call) []Value {
		args := b.Args()
		for _, p := range params {
			i := b.Index(p)
			if b.Rank(i) < 1 {
				return b.Loop()
			}
			args[i] = tensor.TensorValue(FoldIn(b.Full(i)))
		}
		if sizes != "" {
			i := b.Index(sizes)
			l := slices.Clone(b.C.Ints(i))
			if len(l) == 0 {
				return b.Loop()
			}
			l[0] *= b.Size()
			args[i] = tensor.IntsValue(l)
		}
		res := b.Call(args)
		for i, v := range res {
			if v.K == tensor.KTensor && v.T != nil {
				res[i] = tensor.TensorValue(Unfold(v.T, b.Size()))
			}
		}
		return res
	}
}

// Sizes is the rule of operators that are given the sizes of an example of the result.
func Sizes(params ...string) tensor.BatchRule {
	return func(b *Call) []Value {
		args := b.Args()
		for _, p := range params {
			i := b.Index(p)
			args[i] = tensor.IntsValue(append([]int{b.Size()}, b.C.Ints(i)...))
		}
		return b.Call(args)
	}
}

// Fold is the rule of operators on images with nd dimensions, with or without a batch of their own in front: the batch
// of the map and theirs become one. sizes names an argument with the size of the whole input, "" if there is none. All
// tensors get all examples.
func Fold(nd int, sizes string) tensor.BatchRule {
	return func(b *Call) []Value {
		args := b.Args()
		batch := -1
		for i, p := range b.C.Op().Sch.Params {
			if p.Kind != tensor.KTensor || args[i].K != tensor.KTensor {
				continue
			}
			x := b.Full(i)
			if b.Rank(i) == nd+2 {
				batch = x.Size(1)
				x = FoldIn(x)
			}
			args[i] = tensor.TensorValue(x)
		}
		if sizes != "" {
			i := b.Index(sizes)
			l := slices.Clone(b.C.Ints(i))
			if len(l) == nd+2 {
				l[0] *= b.Size()
			} else {
				l = append([]int{b.Size()}, l...)
			}
			args[i] = tensor.IntsValue(l)
		}
		res := b.Call(args)
		if batch < 0 {
			return res
		}
		for i, v := range res {
			if v.K == tensor.KTensor {
				res[i] = tensor.TensorValue(Unfold(v.T, b.Size()))
			}
		}
		return res
	}
}

// Rows is the rule of products of a matrix, the argument param, whose rows are treated on their own: those of all
// examples become one matrix. Where another argument differs between the examples, the operator runs for one after the
// other.
func Rows(param string) tensor.BatchRule {
	return func(b *Call) []Value {
		at := b.Index(param)
		args := b.Args()
		for i := range args {
			if i != at && b.Has(i) {
				return b.Loop()
			}
		}
		args[at] = tensor.TensorValue(FoldIn(b.T(at)))
		res := b.Call(args)
		for i, v := range res {
			res[i] = tensor.TensorValue(Unfold(v.T, b.Size()))
		}
		return res
	}
}

// FoldIn makes one dimension of the first two.
func FoldIn(x *T) *T {
	s := x.Shape()
	return x.Reshape(append([]int{s[0] * s[1]}, s[2:]...))
}

// Unfold takes FoldIn back: dimension 0 becomes two, the first of size n.
func Unfold(x *T, n int) *T {
	s := x.Shape()
	if n == 0 {
		return x.Reshape(append([]int{0, 0}, s[1:]...))
	}
	return x.Reshape(append([]int{n, s[0] / n}, s[1:]...))
}

// Tensors boxes results.
func Tensors(ts ...*T) []Value {
	out := make([]Value, len(ts))
	for i, t := range ts {
		out[i] = tensor.TensorValue(t)
	}
	return out
}

// Batch is the rule of operators all of whose tensors have a batch of their own in dimension 0.
func Batch(b *Call) []Value {
	args := b.Args()
	for i, v := range args {
		if v.K == tensor.KTensor {
			args[i] = tensor.TensorValue(FoldIn(b.Full(i)))
		}
	}
	res := b.Call(args)
	for i, v := range res {
		if v.K == tensor.KTensor {
			res[i] = tensor.TensorValue(Unfold(v.T, b.Size()))
		}
	}
	return res
}

// Pointwise is the rule of operators that compute element by element and whose Defs do not say so.
func Pointwise(b *Call) []Value { return b.Pointwise() }
