package onnx

import (
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	define("", map[string]rule{
		"Compress":       compress,
		"Gather":         gather,
		"GatherElements": gatherElements,
		"GatherND":       gatherND,
		"NonZero": func(n *node) []*value {
			return one(n.rank2(n.call("aten::t",
				n.call("aten::nonzero", n.T(0)))))
		},
		"OneHot":          oneHot,
		"ReverseSequence": reverseSequence,
		"Scatter":         scatterElements,
		"ScatterElements": scatterElements,
		"ScatterND":       scatterND,
		"TensorScatter":   tensorScatter,
		"TopK":            topK,
		"Unique":          unique,
	})

	helper("compress(Tensor x, Tensor condition, int? axis) -> Tensor", func(a args) any {
		x, cond := a.T(0), a.T(1)
		axis := 0
		if a.has(2) {
			axis = dim("Compress", a.int(2), x.Dim())
		} else {
			x = x.Reshape([]int{-1})
		}
		return x.IndexSelect(axis, cond.Reshape([]int{-1}).Nonzero().Reshape([]int{-1}))
	})
	helper("gather(Tensor x, Tensor index, int axis) -> Tensor", func(a args) any {
		x, index := a.T(0), a.T(1)
		axis := dim("Gather", a.int(2), x.Dim())
		index = fromFront(index, x.Size(axis))
		shape := append(append(append([]int(nil), x.Shape()[:axis]...), index.Shape()...), x.Shape()[axis+1:]...)
		return x.IndexSelect(axis, index.Reshape([]int{-1})).Reshape(shape)
	})
	helper("gather_elements(Tensor x, Tensor index, int axis) -> Tensor", func(a args) any {
		x := a.T(0)
		axis := dim("GatherElements", a.int(2), x.Dim())
		return x.Gather(axis, fromFront(a.T(1), x.Size(axis)))
	})
	helper("gather_nd(Tensor x, Tensor index, int batch) -> Tensor", func(a args) any {
		x, index, b := a.T(0), a.T(1), a.int(2)
		if b < 0 || b >= index.Dim() || b > x.Dim() {
			wrong("GatherND", "batch_dims %d with %d and %d dimensions", b, x.Dim(), index.Dim())
		}
		k := index.Size(-1)
		if b+k > x.Dim() {
			wrong("GatherND", "%d indices beyond %d batch dimensions in a tensor with %d", k, b, x.Dim())
		}
		rows := product(x.Shape()[:b])
		flat, at := linear("GatherND", x, index, b, k)
		out := flat.IndexSelect(0, at)
		shape := append(append([]int(nil), index.Shape()[:index.Dim()-1]...), x.Shape()[b+k:]...)
		_ = rows
		return out.Reshape(shape)
	})
	helper("one_hot(Tensor index, int depth, Tensor values, int axis) -> Tensor", func(a args) any {
		index, depth, values := a.T(0).ToDType(tensor.Int64), a.int(1), a.T(2)
		if depth < 0 || depth > maxSize || values.Numel() != 2 {
			wrong("OneHot", "depth %d, %d values", depth, values.Numel())
		}
		axis := dim("OneHot", a.int(3), index.Dim()+1)
		index = fromFront(index, depth)
		shape := make([]int, index.Dim()+1)
		for i := range shape {
			shape[i] = 1
		}
		shape[axis] = depth
		hit := index.Unsqueeze(axis).Eq(call("aten::arange", depth).Reshape(shape))
		return values.Select(0, 1).Where(hit, values.Select(0, 0))
	})
	helper("reverse_sequence(Tensor x, Tensor lengths, int time, int batch) -> Tensor", func(a args) any {
		x := a.T(0)
		time, batch := dim("ReverseSequence", a.int(2), x.Dim()), dim("ReverseSequence", a.int(3), x.Dim())
		if time == batch || a.T(1).Numel() != x.Size(batch) {
			wrong("ReverseSequence", "%d lengths for shape %v", a.T(1).Numel(), x.Shape())
		}
		return reversed(x, hostInts(a.T(1)), time, batch)
	})
	helper("scatter_elements(Tensor x, Tensor index, Tensor updates, int axis, str reduction) -> Tensor",
		func(a args) any {
			x, updates := a.T(0), a.T(2)
			axis := dim("ScatterElements", a.int(3), x.Dim())
			index := fromFront(a.T(1), x.Size(axis))
			if r := reductions[a.str(4)]; r != "" {
				return x.ScatterReduce(axis, index, updates, r)
			}
			return x.Scatter(axis, index, updates)
		})
	helper("scatter_nd(Tensor x, Tensor index, Tensor updates, str reduction) -> Tensor", func(a args) any {
		x, index, updates := a.T(0), a.T(1), a.T(2)
		if index.Dim() == 0 || index.Size(-1) > x.Dim() {
			wrong("ScatterND", "indices of shape %v for shape %v", index.Shape(), x.Shape())
		}
		flat, at := linear("ScatterND", x, index, 0, index.Size(-1))
		rows := updates.Reshape([]int{at.Numel(), product(x.Shape()[index.Size(-1):])})
		switch a.str(3) {
		case "none":
			flat = flat.IndexPut([]*T{at}, rows)
		case "add":
			flat = flat.IndexAdd(0, at, rows)
		case "mul":
			flat = flat.IndexReduce(0, at, rows, "prod")
		case "max":
			flat = flat.IndexReduce(0, at, rows, "amax")
		case "min":
			flat = flat.IndexReduce(0, at, rows, "amin")
		default:
			tensor.Fail(tensor.ErrValue, "ScatterND: reduction %q", a.str(3))
		}
		return flat.Reshape(x.Shape())
	})
	helper("tensor_scatter(Tensor past, Tensor update, Tensor? at, int axis, bool circular) -> Tensor",
		func(a args) any {
			return scatterCache(a.T(0), a.T(1), a.T(2), a.int(3), a.bool(4))
		})
	helper("topk(Tensor x, int k, int axis, bool largest, bool sorted) -> (Tensor, Tensor)", func(a args) any {
		x, k := a.T(0), a.int(1)
		axis := dim("TopK", a.int(2), x.Dim())
		if k < 0 || k > x.Size(axis) {
			wrong("TopK", "k is %d, the axis has size %d", k, x.Size(axis))
		}
		// of equal elements the first comes first, which only a stable order promises
		out := calls("aten::sort.stable", x, true, axis, a.bool(3))
		return []any{out[0].Narrow(axis, 0, k), out[1].Narrow(axis, 0, k)}
	})
	helper("unique(Tensor x, int? axis, bool sorted) -> (Tensor, Tensor, Tensor, Tensor)", func(a args) any {
		axis := -1
		x := a.T(0)
		if a.has(1) {
			axis = dim("Unique", a.int(1), x.Dim())
		}
		return uniqueTensor(x, axis, a.bool(2))
	})
}

// reductions are PyTorch's names of those of ScatterElements.
var reductions = map[string]string{"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}

// fromFront counts negative indices from the front.
func fromFront(index *T, size int) *T {
	index = index.ToDType(tensor.Int64)
	return index.AddScalar(size).Where(index.LtScalar(0), index)
}

// linear makes rows of a tensor and the numbers of those that index picks: the last dimension of index holds k indices
// into the dimensions of x after b dimensions that both have.
func linear(op string, x, index *T, b, k int) (rows, at *T) {
	s := x.Shape()
	count := product(index.Shape()[b : index.Dim()-1])
	groups := product(s[:b])
	if product(index.Shape()[:b]) != groups {
		wrong(op, "batch dimensions of %v and %v differ", s, index.Shape())
	}
	idx := index.ToDType(tensor.Int64).Reshape([]int{groups, count, k})
	at = call("aten::arange", groups).Reshape([]int{groups, 1})
	for j := range k {
		size := s[b+j]
		i := fromFront(idx.Select(2, j), size)
		if i.Numel() > 0 && i.Device().Type == tensor.CPUDevice {
			if lo, hi := i.Min().Num().I, i.Max().Num().I; lo < 0 || hi >= int64(size) {
				tensor.Fail(tensor.ErrIndex, "%s: an index is out of bounds for dimension %d with size %d", op, b+j,
					size)
			}
		}
		at = at.MulScalar(size).Add(i)
	}
	at = at.Expand([]int{groups, count}).Reshape([]int{-1})
	return x.Reshape([]int{groups * product(s[b:b+k]), product(s[b+k:])}), at
}

// reversed turns the first lengths[i] elements along an axis of each element i of the batch.
func reversed(x *T, lengths []int, time, batch int) *T {
	steps, rows := x.Size(time), x.Size(batch)
	if rows > 0 && steps > maxList/rows {
		wrong("ReverseSequence", "%d rows of %d steps", rows, steps)
	}
	index := make([]int, 0, steps*rows)
	for _, n := range lengths {
		if n < 0 || n > steps {
			wrong("ReverseSequence", "length %d of %d steps", n, steps)
		}
		for j := range steps {
			if j < n {
				j = n - 1 - j
			}
			index = append(index, j)
		}
	}
	shape := make([]int, x.Dim())
	for i := range shape {
		shape[i] = 1
	}
	at := vector(index).Reshape([]int{rows, steps})
	if time < batch {
		at = at.Transpose(0, 1)
	}
	shape[time], shape[batch] = steps, rows
	return x.Gather(time, at.Reshape(shape).Expand(x.Shape()))
}

// scatterCache writes an update into a cache at a place for each element of the batch.
func scatterCache(past, update, at *T, axis int, circular bool) *T {
	axis = dim("TensorScatter", axis, past.Dim())
	if axis == 0 || update.Dim() != past.Dim() {
		wrong("TensorScatter", "shapes %v and %v, axis %d", past.Shape(), update.Shape(), axis)
	}
	rows, steps, size := past.Size(0), update.Size(axis), past.Size(axis)
	from := make([]int, rows)
	if at != nil {
		if from = hostInts(at); len(from) != rows {
			wrong("TensorScatter", "%d indices for %d rows", len(from), rows)
		}
	}
	if rows > 0 && steps > maxList/rows {
		wrong("TensorScatter", "%d rows of %d steps", rows, steps)
	}
	index := make([]int, 0, rows*steps)
	for _, f := range from {
		for j := range steps {
			k := f + j
			if circular && size > 0 {
				k = ((k % size) + size) % size
			}
			if k < 0 || k >= size {
				wrong("TensorScatter", "place %d of a cache with %d", k, size)
			}
			index = append(index, k)
		}
	}
	shape := make([]int, past.Dim())
	for i := range shape {
		shape[i] = 1
	}
	shape[0], shape[axis] = rows, steps
	return past.Scatter(axis, vector(index).Reshape(shape).Expand(update.Shape()), update)
}

// uniqueTensor gives the different elements, or slices along an axis, with the index of the first of each, the number
// of each element's, and counts. Without sorting they are in the order in which they appear.
func uniqueTensor(x *T, axis int, sorted bool) []any {
	var values, inverse, counts *T
	if axis < 0 {
		x, axis = x.Reshape([]int{-1}), 0
	}
	out := calls("aten::unique_dim", x, axis, true, true, true)
	values, inverse, counts = out[0], out[1].Reshape([]int{-1}), out[2]
	k := values.Size(axis)
	of := tensor.Data[int64](inverse.Contiguous())
	first := make([]int64, k)
	for i := range first {
		first[i] = -1
	}
	order := make([]int, 0, k)
	for i, u := range of {
		if first[u] < 0 {
			first[u] = int64(i)
			order = append(order, int(u))
		}
	}
	firsts := tensor.FromSlice(first, k)
	if !sorted {
		place := make([]int64, k)
		for i, u := range order {
			place[u] = int64(i)
		}
		at := vector(order)
		values, counts, firsts = values.IndexSelect(axis, at), counts.IndexSelect(0, at), firsts.IndexSelect(0, at)
		inverse = tensor.FromSlice(place, k).IndexSelect(0, inverse)
	}
	return []any{values, firsts, inverse, counts}
}

// rank2 makes a result of int64 with two dimensions.
func (n *node) rank2(g *graph.Value) *value {
	v := n.tensor(g, onnxpb.Int64)
	v.rank = 2
	return v
}

func compress(n *node) []*value {
	var axis any
	if a := n.attr("axis", onnxpb.AttrInt); a != nil {
		axis = int(a.I)
	}
	return one(n.like(n.call("onnx::compress", n.T(0), n.T(1), axis)))
}

func gather(n *node) []*value {
	x, index, axis := n.T(0), n.T(1), n.int("axis", 0)
	v := n.like(nil)
	if x.rank >= 0 && index.rank >= 0 {
		v.rank = x.rank - 1 + index.rank
	}
	switch k := index.konst; {
	case k != nil && k.Dim() == 0:
		v.g = n.call("aten::select.int", x, axis, int(k.Num().I))
	case k != nil && k.Dim() == 1 && k.Numel() > 0 && k.Min().Num().I >= 0:
		v.g = n.call("aten::index_select", x, axis, index)
	default:
		v.g = n.call("onnx::gather", x, index, axis)
	}
	return one(v)
}

func gatherElements(n *node) []*value {
	return one(n.same(n.call("onnx::gather_elements", n.T(0), n.T(1), n.int("axis", 0))))
}

func gatherND(n *node) []*value {
	return one(n.like(n.call("onnx::gather_nd", n.T(0), n.T(1), n.int("batch_dims", 0))))
}

func oneHot(n *node) []*value {
	v := n.tensor(n.call("onnx::one_hot", n.T(0), n.intValue(1), n.T(2), n.int("axis", -1)), n.T(2).elem)
	return one(v)
}

func reverseSequence(n *node) []*value {
	return one(n.same(n.call("onnx::reverse_sequence", n.T(0), n.T(1), n.int("time_axis", 0), n.int("batch_axis", 1))))
}

func scatterElements(n *node) []*value {
	r := n.str("reduction", "none")
	if r != "none" && reductions[r] == "" {
		fail("%w: reduction %q", onnxpb.ErrFormat, r)
	}
	return one(n.same(n.call("onnx::scatter_elements", n.T(0), n.T(1), n.T(2), n.int("axis", 0), r)))
}

func scatterND(n *node) []*value {
	return one(n.same(n.call("onnx::scatter_nd", n.T(0), n.T(1), n.T(2), n.str("reduction", "none"))))
}

func tensorScatter(n *node) []*value {
	circular := n.str("mode", "linear") == "circular"
	return one(n.same(n.call("onnx::tensor_scatter", n.T(0), n.T(1), n.opt(2), n.int("axis", -2), circular)))
}

// topK takes k from an attribute until version 9, from an input since 10.
func topK(n *node) []*value {
	k := any(n.int("k", 0))
	if n.opset >= 10 {
		k = n.intValue(1)
	}
	out := n.calls("onnx::topk", n.T(0), k, n.int("axis", -1), n.bool("largest", true), n.bool("sorted", true))
	i := n.tensor(out[1], onnxpb.Int64)
	i.rank = n.T(0).rank
	return []*value{n.same(out[0]), i}
}

func unique(n *node) []*value {
	var axis any
	if a := n.attr("axis", onnxpb.AttrInt); a != nil {
		axis = int(a.I)
	}
	out := n.calls("onnx::unique", n.T(0), axis, n.bool("sorted", true))
	return []*value{n.like(out[0]), n.vector1(out[1], onnxpb.Int64), n.vector1(out[2], onnxpb.Int64),
		n.vector1(out[3], onnxpb.Int64)}
}
