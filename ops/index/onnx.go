package index

import (
	"math"
	"slices"

	ox "github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	one := func(f func(c *ox.Call) *ox.Value, ops ...string) { ox.Register(ox.One(f), ops...) }
	one(func(c *ox.Call) *ox.Value { return c.Node("Gather", ox.A{"axis": 0}, c.T(0), onnxIndex(c, c.T(1))) },
		"aten::embedding")
	one(func(c *ox.Call) *ox.Value { // self, dim, index
		return c.Node("Gather", ox.A{"axis": c.Int(1)}, c.T(0), vector(c, onnxIndex(c, c.T(2))))
	}, "aten::index_select")
	one(func(c *ox.Call) *ox.Value {
		return c.Node("GatherElements", ox.A{"axis": c.Int(1)}, c.T(0), c.T(2))
	}, "aten::gather")
	one(func(c *ox.Call) *ox.Value { // self, indices, dim
		if !c.Has(2) {
			return c.Node("GatherElements", ox.A{"axis": 0}, c.Reshape(c.T(0), -1), c.Reshape(c.T(1), -1))
		}
		return c.Node("GatherElements", ox.A{"axis": c.Int(2)}, c.T(0), c.T(1))
	}, "aten::take_along_dim")
	one(func(c *ox.Call) *ox.Value { // self, dim, index, src
		return c.Node("ScatterElements", ox.A{"axis": c.Int(1)}, c.T(0), c.T(2), srcPart(c, c.T(3), c.T(2)))
	}, "aten::scatter.src")
	one(func(c *ox.Call) *ox.Value {
		v := c.Expand(c.Num(3, c.T(0).DType), c.ShapeOf(c.T(2)))
		return c.Node("ScatterElements", ox.A{"axis": c.Int(1)}, c.T(0), c.T(2), v)
	}, "aten::scatter.value")
	reduced := func(kind string) func(c *ox.Call) *ox.Value {
		return func(c *ox.Call) *ox.Value {
			a := ox.A{"axis": c.Int(1), "reduction": kind}
			if c.Opset < 16 {
				c.Fail("ScatterElements with a reduction exists from opset 16 on")
			}
			return c.Node("ScatterElements", a, c.T(0), c.T(2), srcPart(c, c.T(3), c.T(2)))
		}
	}
	one(reduced("add"), "aten::scatter_add")
	one(func(c *ox.Call) *ox.Value {
		kind := map[string]string{"sum": "add", "prod": "mul", "amax": "max", "amin": "min"}[c.Str(4)]
		switch {
		case kind == "" || !c.Bool(5):
			c.Fail("reduce=%q, include_self=%v have no form in ONNX", c.Str(4), c.Bool(5))
		case kind[0] == 'm' && kind != "mul" && c.Opset < 18:
			c.Fail("the reductions max and min exist from opset 18 on")
		}
		return reduced(kind)(c)
	}, "aten::scatter_reduce.two")
	one(func(c *ox.Call) *ox.Value { // self, dim, index, source, alpha
		dim, x := c.Dim(c.T(0), c.Int(1)), c.T(0)
		src := c.T(3)
		if !c.IsNum(4, 1) {
			src = c.Node("Mul", nil, src, c.Num(4, src.DType))
		}
		return alongDim(c, x, dim, c.T(2), src, "add")
	}, "aten::index_add")
	one(func(c *ox.Call) *ox.Value {
		return alongDim(c, c.T(0), c.Dim(c.T(0), c.Int(1)), c.T(2), c.T(3), "none")
	},
		"aten::index_copy")
	one(func(c *ox.Call) *ox.Value { // self, dim, index, value
		x, dim := c.T(0), c.Dim(c.T(0), c.Int(1))
		sizes := c.Sizes(x)
		sizes[dim] = c.SizeOf(vector(c, c.T(2)), 0)
		return alongDim(c, x, dim, c.T(2), c.Expand(c.Num(3, x.DType), c.Vector(sizes...)).Typed(x.DType), "none")
	}, "aten::index_fill.int_Scalar", "aten::index_fill.int_Tensor")
	fill := func(c *ox.Call) *ox.Value {
		x := c.T(0)
		v := c.Cast(c.Num(2, x.DType), x.DType)
		return c.Node("Where", nil, c.Cast(c.T(1), tensor.Bool), v, x).Typed(x.DType)
	}
	one(fill, "aten::masked_fill.Scalar", "aten::masked_fill.Tensor")

	ox.RegisterSizedIf(maskIndex, ox.One(exportIndex), "aten::index.Tensor")
	one(exportIndexPut, "aten::index_put", "aten::_unsafe_index_put")
	ox.RegisterSized(ox.One(func(c *ox.Call) *ox.Value {
		v := c.Transpose(c.Node("NonZero", nil, c.T(0)).Typed(tensor.Int64), 1, 0)
		return v.Typed(tensor.Int64).Shaped(-1, c.Rank(c.T(0)))
	}), "aten::nonzero")
	ox.RegisterSized(ox.One(func(c *ox.Call) *ox.Value {
		x, m := c.T(0), c.T(1)
		m = c.Expand(m, c.ShapeOf(x)).Typed(tensor.Bool)
		at := c.Transpose(c.Node("NonZero", nil, m).Typed(tensor.Int64), 1, 0)
		return c.Node("GatherND", nil, x, at).Typed(x.DType).Shaped(-1)
	}), "aten::masked_select")
	one(func(c *ox.Call) *ox.Value { // self, mask, source
		x := c.Expand(c.T(0), c.ShapeOf(c.T(1))).Typed(c.T(0).DType)
		m := c.Expand(c.Cast(c.T(1), tensor.Bool), c.ShapeOf(x)).Typed(tensor.Bool)
		at := c.Transpose(c.Node("NonZero", nil, m).Typed(tensor.Int64).Shaped(len(c.OutShape(0)), -1), 1, 0)
		from := c.Slice(c.Reshape(c.T(2), -1).Typed(x.DType), 0, 0, c.SizeOf(at.Shaped(-1, len(c.OutShape(0))), 0), 1)
		return c.Node("ScatterND", nil, x, at, from).Typed(x.DType)
	}, "aten::masked_scatter")
}

func init() {
	// weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset
	ox.Register(exportBags, "aten::embedding_bag", "aten::embedding_bag.padding_idx", "aten::_embedding_bag")
}

// exportBags writes bags as a matrix that says which row of the table is in which bag: a row is in the bag whose offset
// is the last one not behind the row.
func exportBags(c *ox.Call) []*ox.Value {
	table, indices, offsets := c.T(0), onnxIndex(c, c.T(1)), c.Cast(c.T(2), tensor.Int64)
	dt := table.DType
	if c.Rank(indices) != 1 {
		c.Fail("indices of %d dimensions", c.Rank(indices))
	}
	if c.Bool(7) {
		offsets = c.Slice(offsets, 0, 0, -1, 1).Typed(tensor.Int64)
	}
	rows := c.Node("Gather", ox.A{"axis": 0}, table, indices).Typed(dt)
	if c.Has(6) {
		rows = c.Node("Mul", nil, rows, c.Unsqueeze(c.T(6), 1)).Typed(dt)
	}
	zero, one := c.Scalar(0, tensor.Int64), c.Scalar(1, tensor.Int64)
	at := c.Range(zero, c.Int0(c.SizeOf(indices, 0)), one).Typed(tensor.Int64)
	behind := c.Node("GreaterOrEqual", nil, at, c.Node("Unsqueeze", nil, offsets, c.I64(1)).Typed(tensor.Int64)).
		Typed(tensor.Bool) // [bags, rows]
	bag := c.Node("Sub", nil, c.Reduce("ReduceSum", c.Cast(behind, tensor.Int64), []int{0}, false), one).
		Typed(tensor.Int64)
	bags := c.Range(zero, c.Node("Size", nil, offsets).Typed(tensor.Int64).Shaped(), one).Typed(tensor.Int64)
	in := c.Node("Equal", nil, c.Node("Unsqueeze", nil, bags, c.I64(1)).Typed(tensor.Int64), bag).Typed(tensor.Bool)
	// None stands for no padding index, and a negative one counts from the end, but for _embedding_bag, for which it
	// stands for none.
	if c.Has(8) && (c.Schema.Params[8].Optional || c.Int(8) >= 0) {
		pad := c.Int(8)
		if n := table.Shape[0]; pad < 0 && n >= 0 {
			pad += n
		}
		used := c.Node("Not", nil, c.Node("Equal", nil, c.Cast(indices, tensor.Int64), c.Scalar(float64(pad),
			tensor.Int64)).Typed(tensor.Bool)).Typed(tensor.Bool)
		in = c.Node("And", nil, in, used).Typed(tensor.Bool)
	}
	m := c.Cast(in, dt)
	var y *ox.Value
	switch c.Int(4) {
	case 2:
		low := c.Scalar(math.Inf(-1), dt)
		wide := c.Node("Where", nil, c.Node("Unsqueeze", nil, in, c.I64(2)).Typed(tensor.Bool), rows, low).Typed(dt)
		y = c.Reduce("ReduceMax", wide, []int{1}, false).Typed(dt)
		y = c.Node("Where", nil, c.Node("Equal", nil, y, low).Typed(tensor.Bool), c.Scalar(0, dt), y).Typed(dt)
	default:
		y = c.Node("MatMul", nil, m, rows).Typed(dt)
		if c.Int(4) == 1 {
			n := c.Node("Max", nil, c.Reduce("ReduceSum", m, []int{1}, true), c.Scalar(1, dt)).Typed(dt)
			y = c.Node("Div", nil, y, n).Typed(dt)
		}
	}
	return []*ox.Value{y, nil, nil, nil}
}

// onnxIndex gives an index one of the dtypes that ONNX takes.
func onnxIndex(c *ox.Call, i *ox.Value) *ox.Value {
	if i.DType == tensor.Int32 || i.DType == tensor.Int64 {
		return i
	}
	return c.Cast(i, tensor.Int64)
}

// vector gives an index one dimension.
func vector(c *ox.Call, i *ox.Value) *ox.Value {
	if i.Rank() == 0 {
		return c.Unsqueeze(i, 0)
	}
	return i
}

// srcPart is as much of src, from the start of each dimension, as the index has places for.
func srcPart(c *ox.Call, src, index *ox.Value) *ox.Value {
	if src.Static() && index.Static() && slices.Equal(src.Shape, index.Shape) {
		return src
	}
	n := c.Rank(src)
	axes := make([]int, n)
	for i := range axes {
		axes[i] = i
	}
	return c.Node("Slice", nil, src, c.I64(make([]int, n)...), c.ShapeOf(index), c.I64(axes...)).Typed(src.DType)
}

// alongDim writes src at an index of one dimension.
func alongDim(c *ox.Call, x *ox.Value, dim int, index, src *ox.Value, kind string) *ox.Value {
	rank := c.Rank(x)
	to := make([]int, 0, rank)
	for i := range rank {
		if i != dim {
			to = append(to, i)
		}
	}
	at := c.Expand(c.Unsqueeze(vector(c, index), to...), c.ShapeOf(src)).Typed(tensor.Int64)
	a := ox.A{"axis": dim}
	if kind != "none" {
		a["reduction"] = kind
	}
	return c.Node("ScatterElements", a, x, at, src)
}

func maskIndex(c *ox.Call) bool {
	return slices.ContainsFunc(c.Ts(1), func(v *ox.Value) bool {
		return v != nil && (v.DType == tensor.Bool || v.DType == tensor.Uint8)
	})
}

// positions brings the dimensions that are indexed to the front. at are the indices side by side in a last dimension,
// first is where PyTorch puts the result's dimensions of the index, and perm the order of the other dimensions.
func positions(c *ox.Call, x *ox.Value, indices []*ox.Value) (at *ox.Value, dims []int, rank int, first int) {
	var parts []*ox.Value
	d := 0
	for _, v := range indices {
		switch {
		case v == nil:
			d++
		case v.DType == tensor.Bool || v.DType == tensor.Uint8: // one column of positions for each of its dimensions
			n := c.Rank(v)
			nz := c.Node("NonZero", nil, c.Cast(v, tensor.Bool)).Typed(tensor.Int64).Shaped(n, -1)
			for i := range n {
				row := c.Node("Gather", ox.A{"axis": 0}, nz, c.Scalar(float64(i), tensor.Int64)).Typed(tensor.Int64)
				parts = append(parts, row.Shaped(-1))
				dims = append(dims, d)
				d++
			}
		default:
			parts = append(parts, onnxIndex(c, v))
			dims = append(dims, d)
			d++
		}
	}
	if len(parts) == 0 {
		c.Fail("an index without tensors")
	}
	for _, p := range parts {
		rank = max(rank, c.Rank(p))
	}
	first = dims[0]
	for i, d := range dims {
		if d != dims[0]+i { // indices apart from each other: their dimensions come first
			first = 0
		}
	}
	if len(parts) > 1 {
		zero := c.Cast(parts[0], tensor.Int64)
		for _, p := range parts[1:] { // of the broadcast shape
			zero = c.Node("Add", nil, zero, c.Cast(p, tensor.Int64)).Typed(tensor.Int64)
		}
		shape := c.Node("Shape", nil, zero).Typed(tensor.Int64)
		for i, p := range parts {
			parts[i] = c.Expand(c.Cast(p, tensor.Int64), shape).Typed(tensor.Int64)
		}
	}
	for i, p := range parts {
		parts[i] = c.Node("Unsqueeze", nil, c.Cast(p, tensor.Int64), c.I64(-1)).Typed(tensor.Int64)
	}
	return c.Concat(-1, parts...).Typed(tensor.Int64), dims, rank, first
}

// frontOrder is the order of dimensions with those that are indexed first.
func frontOrder(rank int, dims []int) []int {
	order := slices.Clone(dims)
	for i := range rank {
		if !slices.Contains(dims, i) {
			order = append(order, i)
		}
	}
	return order
}

// exportIndex takes self, indices.
func exportIndex(c *ox.Call) *ox.Value {
	x, indices := c.T(0), c.Ts(1)
	rank := c.Rank(x)
	only := -1
	for i, v := range indices {
		if v != nil {
			if only >= 0 || v.DType == tensor.Bool || v.DType == tensor.Uint8 {
				only = -2
				break
			}
			only = i
		}
	}
	if only >= 0 {
		return c.Node("Gather", ox.A{"axis": only}, x, onnxIndex(c, indices[only]))
	}
	at, dims, n, first := positions(c, x, indices)
	order := frontOrder(rank, dims)
	y := c.Node("GatherND", nil, c.Transpose(x, order...), at).Typed(x.DType)
	var shape []int
	if maskIndex(c) && n == 1 {
		shape = append(shape, -1)
		for _, d := range order[len(dims):] {
			shape = append(shape, x.Shape[d])
		}
		y.Shaped(shape...)
	}
	if first == 0 {
		return y
	}
	total := n + rank - len(dims)
	perm := make([]int, 0, total) // the index's dimensions go behind the first ones of the others
	for i := range first {
		perm = append(perm, n+i)
	}
	for i := range n {
		perm = append(perm, i)
	}
	for i := n + first; i < total; i++ {
		perm = append(perm, i)
	}
	if shape != nil {
		return c.Transpose(y, perm...).Typed(x.DType)
	}
	return c.Node("Transpose", ox.A{"perm": perm}, y).Typed(x.DType)
}

// exportIndexPut takes self, indices, values, accumulate.
func exportIndexPut(c *ox.Call) *ox.Value {
	x, indices, v := c.T(0), c.Ts(1), c.Cast(c.T(2), c.T(0).DType)
	if len(indices) == 1 && indices[0] != nil && indices[0].DType == tensor.Bool && v.Rank() == 0 && !c.Bool(3) {
		m := indices[0]
		for range c.Rank(x) - c.Rank(m) {
			m = c.Unsqueeze(m, -1).Typed(tensor.Bool)
		}
		return c.Node("Where", nil, m, v, x).Typed(x.DType)
	}
	at, dims, n, first := positions(c, x, indices)
	rank := c.Rank(x)
	order := frontOrder(rank, dims)
	moved := c.Transpose(x, order...)
	shape := c.Node("Concat", ox.A{"axis": 0}, c.Node("Slice", nil, c.Node("Shape", nil, at).Typed(tensor.Int64),
		c.I64(0), c.I64(-1)).Typed(tensor.Int64), c.Node("Slice", nil, c.ShapeOf(moved), c.I64(len(dims)),
		c.I64(1<<62)).Typed(tensor.Int64)).Typed(tensor.Int64)
	if first > 0 && c.Rank(v) > rank-first-len(dims)+n {
		c.Fail("values with dimensions in front of those that are indexed")
	}
	a := ox.A{}
	if c.Bool(3) {
		if c.Opset < 16 {
			c.Fail("accumulate exists from opset 16 on")
		}
		a["reduction"] = "add"
	}
	y := c.Node("ScatterND", a, moved, at, c.Expand(v, shape).Typed(x.DType)).Typed(x.DType)
	back := make([]int, rank)
	for i, d := range order {
		back[d] = i
	}
	return c.Node("Transpose", ox.A{"perm": back}, y).Typed(x.DType)
}
