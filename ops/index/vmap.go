package index

import (
	"slices"

	"github.com/gotorch-dev/torch/internal/batching"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// The batching rules of this family, for functions that vmap maps. Where the indices differ between the examples, an
// index of the batch itself goes in front of them, or the rows of all examples become one table with an offset for
// each.
func init() {
	batching.Rule(batching.Dims("dim"), "gather", "scatter.src", "scatter.value", "scatter.reduce",
		"scatter.value_reduce", "scatter_add", "scatter_reduce.two")
	batching.Rule(indexBatch, "index.Tensor", "_unsafe_index.Tensor")
	batching.Rule(putBatch, "index_put", "_unsafe_index_put")
	batching.Rule(selectBatch, "index_select")
	batching.Rule(alongIndex("aten::scatter_add"), "index_add")
	batching.Rule(alongIndex("aten::scatter.src"), "index_copy")
	batching.Rule(sameIndex, "index_fill.int_Tensor", "index_reduce")
	batching.Rule(takeBatch, "take")
	batching.Rule(putFlatBatch, "put")
	batching.Rule(oneHotBatch, "one_hot")
}

// picked is what a list of indices means for one example.
type picked struct {
	list     []*T
	rank     int  // dimensions of the result that come from the indices
	first    int  // dimensions in front of them, if they are adjacent
	adjacent bool // indices next to each other put their dimensions where they stand, others to the front
	used     int  // dimensions of self that the indices pick from
}

func pickedBy(b *tensor.Batched) picked {
	p := picked{list: b.C.Tensors(1), adjacent: true, first: -1}
	last := -1
	at := 0
	for i, t := range p.list {
		if t == nil {
			at++
			continue
		}
		n, r := 1, t.Dim()
		if t.DType() == tensor.Bool || t.DType() == tensor.Uint8 {
			if b.Has(1) {
				b.C.Fail(tensor.ErrNotImpl,
					"vmap: We do not support batching operators that can support dynamic shape. "+
						"Attempting to batch over indexing with a boolean mask.")
			}
			n, r = t.Dim(), 1
		}
		p.rank = max(p.rank, r)
		if p.first < 0 {
			p.first = at
		} else if last != i-1 {
			p.adjacent = false
		}
		at += n
		p.used += n
		last = i
	}
	p.first = max(p.first, 0)
	return p
}

// aligned gives the indices with all examples the same number of dimensions behind that of the batch.
func (p picked) aligned(b *tensor.Batched) []*T {
	out := slices.Clone(b.List(1))
	for i, t := range out {
		for t != nil && b.Has(1) && t.Dim() < p.rank+1 {
			t = t.Unsqueeze(1)
		}
		out[i] = t
	}
	return out
}

// number is an index of the batch in front of others.
func (p picked) number(b *tensor.Batched, like *T) *T {
	shape := append([]int{b.Size()}, slices.Repeat([]int{1}, p.rank)...)
	return arange(like, b.Size()).View(shape)
}

func arange(like *T, n int) *T {
	l := make([]int64, n)
	for i := range l {
		l[i] = int64(i)
	}
	return op.Numbers(like, l)
}

// shift moves n dimensions that begin at from to begin at to.
func shift(x *T, from, n, to int) *T {
	if from == to || n == 0 {
		return x
	}
	var rest, order []int
	for d := range x.Dim() {
		if d < from || d >= from+n {
			rest = append(rest, d)
		}
	}
	order = append(order, rest[:to]...)
	for d := range n {
		order = append(order, from+d)
	}
	return x.Permute(append(order, rest[to:]...))
}

func indexBatch(b *tensor.Batched) []tensor.Value {
	p, args := pickedBy(b), b.Args()
	switch {
	case !b.Has(1):
		args[1] = tensor.TensorsValue(append([]*T{nil}, b.List(1)...))
		y := b.Call(args)[0].T
		if !p.adjacent {
			y = shift(y, p.rank, 1, 0)
		}
		return batching.Tensors(y)
	case !b.Has(0):
		args[1] = tensor.TensorsValue(p.aligned(b))
		y := b.Call(args)[0].T
		if p.adjacent {
			y = shift(y, p.first, 1, 0)
		}
		return batching.Tensors(y)
	}
	list := p.aligned(b)
	args[1] = tensor.TensorsValue(append([]*T{p.number(b, b.T(0))}, list...))
	y := b.Call(args)[0].T
	if p.adjacent {
		y = shift(y, 1, p.rank, 1+p.first)
	}
	return batching.Tensors(y)
}

func putBatch(b *tensor.Batched) []tensor.Value {
	p, args := pickedBy(b), b.Args()
	rank := b.Rank(0) - p.used + p.rank // of what the indices pick from one example
	v := b.T(2)
	if n := b.Rank(2); n < rank {
		at := 0
		if b.Has(2) {
			at = 1
		}
		for range rank - n {
			v = v.Unsqueeze(at)
		}
	}
	if !b.Has(2) {
		v = v.Unsqueeze(0)
	}
	self := b.Full(0)
	var list []*T
	if b.Has(1) {
		list = append([]*T{p.number(b, self)}, p.aligned(b)...)
		if p.adjacent && v.Dim() > 1+p.first {
			v = shift(v, 1+p.first, min(p.rank, v.Dim()-1-p.first), 1)
		}
	} else {
		list = append([]*T{nil}, b.List(1)...)
		if !p.adjacent {
			v = shift(v, 0, 1, p.rank)
		}
	}
	args[0], args[1], args[2] = tensor.TensorValue(self), tensor.TensorsValue(list), tensor.TensorValue(v)
	return b.Call(args)
}

// spread gives an index vector of each example the dimensions of like, of which it is dimension d.
func spread(index, like *T, d int) *T {
	if index.Dim() == 1 {
		index = index.Unsqueeze(1)
	}
	shape := slices.Repeat([]int{1}, like.Dim())
	shape[0], shape[d] = index.Size(0), index.Size(1)
	size := slices.Clone(like.Shape())
	size[d] = index.Size(1)
	return index.View(shape).Expand(size)
}

func selectBatch(b *tensor.Batched) []tensor.Value {
	args, n := b.Args(), b.Rank(0)
	d := batching.Dim(b, b.C.Int(1), n)
	x, index := b.T(0), b.T(2)
	if n == 0 {
		return b.Loop()
	}
	switch {
	case !b.Has(2):
		args[1] = tensor.IntValue(d)
		return b.Call(args)
	case !b.Has(0):
		k := index.Numel() / max(b.Size(), 1)
		y := x.IndexSelect(d-1, index.Reshape([]int{-1}))
		shape := slices.Clone(x.Shape())
		shape = slices.Insert(shape, d-1, b.Size())
		shape[d] = k
		return batching.Tensors(shift(y.Reshape(shape), d-1, 1, 0))
	}
	return batching.Tensors(x.Gather(d, spread(index, x, d)))
}

// sameIndex is the rule of operators along a dimension with an index vector that the examples share.
func sameIndex(b *tensor.Batched) []tensor.Value {
	if b.Has(2) || b.Rank(0) == 0 || b.C.Op().Sch.Params[3].Name == "value" && b.Has(3) {
		return b.Loop()
	}
	args := b.Args()
	args[0] = tensor.TensorValue(b.Full(0))
	args[1] = tensor.IntValue(batching.Dim(b, b.C.Int(1), b.Rank(0)))
	if b.C.Op().Sch.Params[3].Name != "value" {
		args[3] = tensor.TensorValue(b.Full(3))
	}
	return b.Call(args)
}

// alongIndex is the rule of operators that write rows to the places of an index vector: where that differs between the
// examples, it becomes the index of a scatter.
func alongIndex(scatter string) tensor.BatchRule {
	return func(b *tensor.Batched) []tensor.Value {
		if !b.Has(2) {
			return sameIndex(b)
		}
		if b.Rank(0) == 0 || b.Rank(3) != b.Rank(0) {
			return b.Loop()
		}
		d := batching.Dim(b, b.C.Int(1), b.Rank(0))
		src := b.Full(3)
		if i := b.Index("alpha"); i >= 0 && b.C.Num(i).C != 1 {
			src = src.MulScalar(b.C.Num(i))
		}
		return batching.Tensors(op.Call1(scatter, b.Full(0), d, spread(b.T(2), src, d), src))
	}
}

func takeBatch(b *tensor.Batched) []tensor.Value {
	x, index := b.T(0), b.T(1)
	if !b.Has(0) {
		return b.Call(b.Args())
	}
	flat := batching.Flatten(x, 1)
	if !b.Has(1) {
		n := flat.Size(1)
		y := flat.IndexSelect(1, positive(index.Reshape([]int{-1}), n))
		return batching.Tensors(y.Reshape(append([]int{b.Size()}, index.Shape()...)))
	}
	y := flat.Gather(1, positive(batching.Flatten(index, 1), flat.Size(1)))
	return batching.Tensors(y.Reshape(index.Shape()))
}

// positive counts negative indices from the front.
func positive(index *T, n int) *T {
	return op.Call1("aten::where.self", index.GeScalar(0), index, index.AddScalar(n))
}

func putFlatBatch(b *tensor.Batched) []tensor.Value {
	x := b.Full(0)
	flat := batching.Flatten(x, 1)
	index := positive(batching.Flatten(b.Full(1), 1), flat.Size(1))
	name := "aten::scatter.src"
	if b.C.Bool(3) {
		name = "aten::scatter_add"
	}
	return batching.Tensors(op.Call1(name, flat, 1, index, batching.Flatten(b.Full(2), 1)).Reshape(x.Shape()))
}

func oneHotBatch(b *tensor.Batched) []tensor.Value {
	if b.C.Int(1) < 0 {
		b.C.Fail(tensor.ErrNotImpl, "vmap: one_hot without num_classes: how many classes there are depends on the data")
	}
	return b.Call(b.Args())
}
