package shape

import (
	"math"
	"slices"

	ox "github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	one := func(f func(c *ox.Call) *ox.Value, ops ...string) { ox.Register(ox.One(f), ops...) }
	exportViews(one)
	exportParts(one)
	exportFactories(one)
	exportPads(one)
	exportRearranged(one)
	exportScatters(one)
}

// exportScatters writes copies of a tensor with a part replaced.
func exportScatters(one func(f func(c *ox.Call) *ox.Value, ops ...string)) {
	one(func(c *ox.Call) *ox.Value { // self, src, dim, index
		x := c.T(0)
		dim := c.Dim(x, c.Int(2))
		at := c.Elem(3)
		return c.PutRange(x, c.Unsqueeze(c.T(1), dim), dim, at, c.After(at, 1), 1)
	}, "aten::select_scatter")
	one(func(c *ox.Call) *ox.Value { // self, src, dim, start, end, step
		start, end := any(0), any(math.MaxInt64)
		if c.Has(3) {
			start = c.Elem(3)
		}
		if c.Has(4) {
			end = c.Elem(4)
		}
		x := c.T(0)
		return c.PutRange(x, c.T(1), c.Dim(x, c.Int(2)), start, end, c.Int(5))
	}, "aten::slice_scatter")
}

func exportViews(one func(f func(c *ox.Call) *ox.Value, ops ...string)) {
	one(func(c *ox.Call) *ox.Value { return c.Cast(c.T(0), c.OutType(0)) }, "aten::contiguous", "aten::clone",
		"aten::detach", "aten::alias", "aten::lift_fresh", "aten::lift_fresh_copy", "aten::to.dtype", "aten::to.device",
		"aten::to.dtype_layout", "aten::to.other", "aten::type_as", "aten::_to_copy", "aten::float", "aten::double",
		"aten::half", "aten::int", "aten::long", "aten::bool", "aten::resolve_conj", "aten::resolve_neg")
	// A shape that is known as a whole but for one size is written with -1 for that size.
	reshape := func(c *ox.Call) *ox.Value {
		x := c.T(0)
		if out := c.OutShape(0); out != nil && countOf(out, -1) <= 1 && !slices.Contains(out, 0) {
			return c.Reshape(x, out...)
		}
		return c.ReshapeTo(x, c.IntsValue(1))
	}
	one(reshape, "aten::view", "aten::reshape", "aten::_unsafe_view", "aten::_reshape_alias")
	one(func(c *ox.Call) *ox.Value { return c.ReshapeTo(c.T(0), c.ShapeOf(c.T(1))) }, "aten::view_as",
		"aten::reshape_as")
	one(func(c *ox.Call) *ox.Value { // self, start_dim, end_dim
		x := c.T(0)
		if out := c.OutShape(0); out != nil && countOf(out, -1) <= 1 && !slices.Contains(out, 0) {
			return c.Reshape(x, out...)
		}
		if c.Rank(x) == 0 {
			return c.Reshape(x, 1)
		}
		from, to := c.Dim(x, c.Int(1)), c.Dim(x, c.Int(2))
		var dims []any
		for i := range c.Rank(x) {
			switch {
			case i == from:
				dims = append(dims, -1)
			case i < from || i > to:
				dims = append(dims, c.SizeOf(x, i))
			}
		}
		return c.ReshapeTo(x, c.Vector(dims...))
	}, "aten::flatten.using_ints", "aten::ravel")
	one(func(c *ox.Call) *ox.Value { // self, dim, sizes
		x := c.T(0)
		dim := c.Dim(x, c.Int(1))
		var dims []any
		for i := range c.Rank(x) {
			if i == dim {
				dims = append(dims, c.Elems(2)...)
			} else {
				dims = append(dims, c.SizeOf(x, i))
			}
		}
		return c.ReshapeTo(x, c.Vector(dims...))
	}, "aten::unflatten.int")
	one(func(c *ox.Call) *ox.Value {
		x := c.T(0)
		var axes []int
		for i := range c.Rank(x) {
			if x.Shape[i] == 1 {
				axes = append(axes, i)
			}
		}
		return c.Squeeze(x, axes...)
	}, "aten::squeeze")
	one(func(c *ox.Call) *ox.Value {
		x := c.T(0)
		var axes []int
		for _, d := range c.Ints(1) {
			if c.Rank(x) > 0 && x.Shape[c.Dim(x, d)] == 1 {
				axes = append(axes, d)
			}
		}
		return c.Squeeze(x, axes...)
	}, "aten::squeeze.dim", "aten::squeeze.dims")
	one(func(c *ox.Call) *ox.Value { return c.Unsqueeze(c.T(0), c.Int(1)) }, "aten::unsqueeze")
	one(func(c *ox.Call) *ox.Value {
		if c.Rank(c.T(0)) == 0 {
			return c.T(0)
		}
		return c.Swap(c.T(0), c.Int(1), c.Int(2))
	}, "aten::transpose.int", "aten::swapaxes", "aten::swapdims")
	one(func(c *ox.Call) *ox.Value {
		if c.Rank(c.T(0)) < 2 {
			return c.T(0)
		}
		return c.Swap(c.T(0), 0, 1)
	}, "aten::t", "aten::numpy_T")
	one(func(c *ox.Call) *ox.Value { return c.Swap(c.T(0), -1, -2) }, "aten::mT")
	one(func(c *ox.Call) *ox.Value {
		dims := c.Ints(1)
		for i, d := range dims {
			dims[i] = c.Dim(c.T(0), d)
		}
		return c.Transpose(c.T(0), dims...)
	}, "aten::permute")
	one(func(c *ox.Call) *ox.Value { // self, source, destination
		x := c.T(0)
		from, to := c.Ints(1), c.Ints(2)
		perm := slices.Repeat([]int{-1}, c.Rank(x))
		for i := range from {
			perm[c.Dim(x, to[i])] = c.Dim(x, from[i])
		}
		next := 0
		for i, p := range perm {
			if p >= 0 {
				continue
			}
			for slices.Contains(perm, next) {
				next++
			}
			perm[i] = next
		}
		return c.Transpose(x, perm...)
	}, "aten::movedim.int", "aten::movedim.intlist", "aten::moveaxis.int", "aten::moveaxis.intlist")
	one(func(c *ox.Call) *ox.Value { // -1 keeps a size, which is what 1 does in ONNX
		dims := c.Elems(1)
		for i, d := range dims {
			if d == -1 {
				dims[i] = 1
			}
		}
		return c.Expand(c.T(0), c.Vector(dims...))
	}, "aten::expand", "aten::broadcast_to")
	one(func(c *ox.Call) *ox.Value { return c.Expand(c.T(0), c.ShapeOf(c.T(1))) }, "aten::expand_as")
	ox.Register(func(c *ox.Call) []*ox.Value {
		in := c.Ts(0)
		out := make([]*ox.Value, len(in))
		for i, v := range in {
			if shape := c.OutShape(i); shape != nil && !slices.Contains(shape, -1) {
				out[i] = c.Expand(v, c.I64(shape...))
				continue
			}
			out[i] = v // by nodes that broadcast
			for k, w := range in {
				if k != i {
					zero := c.Node("Mul", nil, c.Cast(w, v.DType), c.Scalar(0, v.DType))
					out[i] = c.Node("Add", nil, out[i], zero)
				}
			}
		}
		return out
	}, "aten::broadcast_tensors")
}

func countOf(l []int, x int) (n int) {
	for _, e := range l {
		if e == x {
			n++
		}
	}
	return n
}

func exportParts(one func(f func(c *ox.Call) *ox.Value, ops ...string)) {
	one(func(c *ox.Call) *ox.Value { // tensors, dim
		var parts []*ox.Value
		for _, v := range c.Ts(0) {
			if v.Known && len(v.Shape) == 1 && v.Shape[0] == 0 && len(c.OutShape(0)) != 1 {
				continue // PyTorch leaves out empty tensors of one dimension
			}
			parts = append(parts, c.Cast(v, c.OutType(0)))
		}
		return c.Concat(c.Int(1), parts...)
	}, "aten::cat", "aten::concat", "aten::concatenate")
	one(func(c *ox.Call) *ox.Value {
		var parts []*ox.Value
		for _, v := range c.Ts(0) {
			parts = append(parts, c.Unsqueeze(c.Cast(v, c.OutType(0)), c.Int(1)))
		}
		return c.Concat(c.Int(1), parts...)
	}, "aten::stack")
	one(func(c *ox.Call) *ox.Value { // self, dim, index
		x, dim := c.T(0), c.Int(1)
		i := c.Int0(c.Elem(2))
		return c.Node("Gather", ox.A{"axis": dim}, x, i)
	}, "aten::select.int")
	one(func(c *ox.Call) *ox.Value { // self, dim, start, end, step
		start, end := any(0), any(1<<63-1)
		if c.Has(2) {
			start = c.Elem(2)
		}
		if c.Has(3) {
			end = c.Elem(3)
		}
		if start == 0 && c.Int(4) == 1 && (end == 1<<63-1 || end == 9223372036854775807) {
			return c.T(0)
		}
		return c.Slice(c.T(0), c.Int(1), start, end, c.Int(4))
	}, "aten::slice.Tensor")
	one(func(c *ox.Call) *ox.Value {
		return c.Slice(c.T(0), c.Int(1), c.Elem(2), c.After(c.Elem(2), c.Elem(3)), 1)
	}, "aten::narrow")
	split := func(dimArg int) ox.Form {
		return func(c *ox.Call) []*ox.Value {
			x, dim := c.T(0), c.Int(dimArg)
			var sizes []int
			for i := range c.Outs {
				shape := c.OutShape(i)
				if shape == nil || shape[c.Dim(x, dim)] < 0 {
					return splitDynamic(c, x, dim)
				}
				sizes = append(sizes, shape[c.Dim(x, dim)])
			}
			return c.Split(x, dim, sizes...)
		}
	}
	ox.Register(split(2), "aten::split.Tensor", "aten::split_with_sizes", "aten::chunk", "aten::split.sizes",
		"aten::tensor_split.sections", "aten::unsafe_chunk", "aten::unsafe_split.Tensor")
	ox.Register(func(c *ox.Call) []*ox.Value { // self, dim
		x := c.T(0)
		out := make([]*ox.Value, len(c.Outs))
		for i := range out {
			out[i] = c.Node("Gather", ox.A{"axis": c.Int(1)}, x, c.Scalar(float64(i), tensor.Int64))
		}
		return out
	}, "aten::unbind.int")
	one(func(c *ox.Call) *ox.Value { // self, repeats
		x := c.T(0)
		reps := c.Elems(1)
		if n := len(reps) - c.Rank(x); n > 0 {
			axes := make([]int, n)
			for i := range axes {
				axes[i] = i
			}
			x = c.Unsqueeze(x, axes...)
		}
		return c.Node("Tile", nil, x, c.Vector(reps...))
	}, "aten::repeat")
	one(func(c *ox.Call) *ox.Value {
		x := c.T(0)
		reps := c.Elems(1)
		for len(reps) < c.Rank(x) {
			reps = append([]any{1}, reps...)
		}
		for n := len(reps) - c.Rank(x); n > 0; n-- {
			x = c.Unsqueeze(x, 0)
		}
		return c.Node("Tile", nil, x, c.Vector(reps...))
	}, "aten::tile")
	one(func(c *ox.Call) *ox.Value { // self, repeats, dim: each element beside itself
		x, n := c.T(0), c.Int(1)
		dim := 0
		if c.Has(2) {
			dim = c.Dim(x, c.Int(2))
		} else {
			x = c.Reshape(x, -1)
		}
		reps := slices.Repeat([]int{1}, c.Rank(x)+1)
		reps[dim+1] = n
		sizes := c.Sizes(x)
		sizes[dim] = -1
		y := c.Node("Tile", nil, c.Unsqueeze(x, dim+1), c.I64(reps...))
		return c.ReshapeTo(y, c.Vector(sizes...))
	}, "aten::repeat_interleave.self_int")
}

// splitDynamic cuts a dimension whose size is known only when the file runs into equal parts.
func splitDynamic(c *ox.Call, x *ox.Value, dim int) []*ox.Value {
	if c.Op != "aten::chunk" || c.Opset < 18 {
		c.Fail("the parts of a dimension with a dynamic size")
	}
	return c.Nodes(len(c.Outs), "Split", ox.A{"axis": dim, "num_outputs": len(c.Outs)}, x)
}

func exportFactories(one func(f func(c *ox.Call) *ox.Value, ops ...string)) {
	full := func(shape func(c *ox.Call) *ox.Value, fill func(c *ox.Call) *ox.Value) func(*ox.Call) *ox.Value {
		return func(c *ox.Call) *ox.Value { return c.Filled(shape(c), fill(c)).Typed(c.OutType(0)) }
	}
	size := func(i int) func(c *ox.Call) *ox.Value {
		return func(c *ox.Call) *ox.Value { return c.IntsValue(i) }
	}
	like := func(c *ox.Call) *ox.Value { return c.ShapeOf(c.T(0)) }
	number := func(x float64) func(c *ox.Call) *ox.Value {
		return func(c *ox.Call) *ox.Value { return c.Scalar(x, c.OutType(0)) }
	}
	arg := func(i int) func(c *ox.Call) *ox.Value {
		return func(c *ox.Call) *ox.Value { return c.Num(i, c.OutType(0)) }
	}
	one(full(size(0), number(0)), "aten::zeros", "aten::empty.memory_format")
	one(full(size(0), number(1)), "aten::ones")
	one(full(size(0), arg(1)), "aten::full")
	one(full(size(1), number(0)), "aten::new_zeros", "aten::new_empty")
	one(full(size(1), number(1)), "aten::new_ones")
	one(full(size(1), arg(2)), "aten::new_full")
	one(full(like, number(0)), "aten::zeros_like", "aten::empty_like", "aten::zero")
	one(full(like, number(1)), "aten::ones_like")
	one(full(like, arg(1)), "aten::full_like", "aten::fill.Scalar", "aten::fill.Tensor")
	arange := func(start, end, step int) func(c *ox.Call) *ox.Value {
		return func(c *ox.Call) *ox.Value {
			dt := c.OutType(0)
			v := func(i int, def float64) *ox.Value {
				if i < 0 {
					return c.Scalar(def, dt)
				}
				return c.Num(i, dt)
			}
			return c.Range(v(start, 0), v(end, 0), v(step, 1)).Typed(dt)
		}
	}
	one(arange(-1, 0, -1), "aten::arange")
	one(arange(0, 1, -1), "aten::arange.start")
	one(arange(0, 1, 2), "aten::arange.start_step")
	one(func(c *ox.Call) *ox.Value { // start, end, steps
		dt := c.OutType(0)
		n := c.Num(2, tensor.Int64)
		i := c.Cast(c.Range(c.Scalar(0, tensor.Int64), n, c.Scalar(1, tensor.Int64)).Typed(tensor.Int64), dt)
		last := c.Node("Max", nil, c.Node("Sub", nil, c.Cast(n, dt), c.Scalar(1, dt)), c.Scalar(1, dt))
		step := c.Node("Div", nil, c.Node("Sub", nil, c.Num(1, dt), c.Num(0, dt)), last)
		return c.Node("Add", nil, c.Num(0, dt), c.Node("Mul", nil, i, step))
	}, "aten::linspace")
	one(func(c *ox.Call) *ox.Value {
		n := c.Vector(c.Elem(0), c.Elem(0))
		z := c.Filled(n, c.Scalar(0, tensor.Int32)).Typed(tensor.Int32)
		return c.Cast(c.Node("EyeLike", ox.A{"dtype": tensor.Int32}, z).Typed(tensor.Int32), c.OutType(0))
	}, "aten::eye")
	for name, upper := range map[string]bool{"tril": false, "triu": true} {
		one(func(c *ox.Call) *ox.Value { // self, diagonal
			x := c.T(0)
			if c.Opset >= 14 {
				in := x
				if x.DType == tensor.Bool {
					in = c.Cast(x, tensor.Int64)
				}
				return c.Cast(c.Node("Trilu", ox.A{"upper": upper}, in, c.Num(1, tensor.Int64)), x.DType)
			}
			rows, cols := c.Int0(c.SizeOf(x, -2)), c.Int0(c.SizeOf(x, -1))
			zero, one := c.Scalar(0, tensor.Int64), c.Scalar(1, tensor.Int64)
			i := c.Unsqueeze(c.Range(zero, rows, one).Typed(tensor.Int64), 1)
			j := c.Range(zero, cols, one).Typed(tensor.Int64)
			op := "LessOrEqual"
			if upper {
				op = "GreaterOrEqual"
			}
			keep := c.Node(op, nil, c.Node("Sub", nil, j, i.Typed(tensor.Int64)),
				c.Num(1, tensor.Int64)).Typed(tensor.Bool)
			return c.Node("Where", nil, keep, x, c.Scalar(0, x.DType)).Typed(x.DType)
		}, "aten::"+name)
	}
}

func exportPads(one func(f func(c *ox.Call) *ox.Value, ops ...string)) {
	// PyTorch lists pairs from the last dimension on, ONNX all starts and then all ends.
	pad := func(c *ox.Call, mode string, value *ox.Value) *ox.Value {
		x := c.T(0)
		l := c.Elems(1)
		rank := c.Rank(x)
		pads := make([]any, 2*rank)
		for i := range pads {
			pads[i] = 0
		}
		for i := 0; i+1 < len(l); i += 2 {
			d := rank - 1 - i/2
			pads[d], pads[rank+d] = l[i], l[i+1]
		}
		if mode == "wrap" && c.Opset < 19 { // circular: what is at one end once more at the other
			return wrapped(c, x, pads)
		}
		dt := x.DType
		if dt == tensor.Bool {
			x = c.Cast(x, tensor.Int32)
			value = c.Cast(value, tensor.Int32)
		}
		return c.Cast(c.Node("Pad", ox.A{"mode": mode}, x, c.Vector(pads...), value), dt)
	}
	constant := func(c *ox.Call, i int) *ox.Value {
		if !c.Has(i) {
			return c.Scalar(0, c.T(0).DType)
		}
		return c.Num(i, c.T(0).DType)
	}
	one(func(c *ox.Call) *ox.Value { return pad(c, "constant", constant(c, 2)) }, "aten::constant_pad_nd")
	one(func(c *ox.Call) *ox.Value { // self, pad, mode, value
		switch mode := c.Str(2); mode {
		case "constant":
			return pad(c, mode, constant(c, 3))
		case "replicate":
			return pad(c, "edge", nil)
		case "circular":
			return pad(c, "wrap", nil)
		default:
			return pad(c, mode, nil)
		}
	}, "aten::pad")
	for _, n := range []string{"1d", "2d", "3d"} {
		one(func(c *ox.Call) *ox.Value { return pad(c, "reflect", nil) }, "aten::reflection_pad"+n)
		one(func(c *ox.Call) *ox.Value { return pad(c, "edge", nil) }, "aten::replication_pad"+n)
	}
	one(func(c *ox.Call) *ox.Value { return pad(c, "wrap", nil) }, "aten::_pad_circular")
}

func wrapped(c *ox.Call, x *ox.Value, pads []any) *ox.Value {
	rank := len(pads) / 2
	for d := range rank {
		a, ok := pads[d].(int)
		b, ok2 := pads[rank+d].(int)
		if !ok || !ok2 || a < 0 || b < 0 {
			c.Fail("circular padding by dynamic or negative sizes before opset 19")
		}
		if a == 0 && b == 0 {
			continue
		}
		shape := slices.Clone(x.Shape)
		var parts []*ox.Value
		if a > 0 {
			parts = append(parts, c.Slice(x, d, -a, 1<<63-1, 1))
		}
		parts = append(parts, x)
		if b > 0 {
			parts = append(parts, c.Slice(x, d, 0, b, 1))
		}
		shape[d] = -1
		x = c.Concat(d, parts...).Typed(x.DType).Shaped(shape...)
	}
	return x
}

func exportRearranged(one func(f func(c *ox.Call) *ox.Value, ops ...string)) {
	one(func(c *ox.Call) *ox.Value { // self, dims
		x := c.T(0)
		for _, d := range c.Ints(1) {
			shape := x.Shape
			x = c.Slice(x, d, -1, -1<<63, -1).Shaped(shape...)
		}
		return x
	}, "aten::flip")
	one(func(c *ox.Call) *ox.Value { // self, shifts, dims
		x := c.T(0)
		shifts, dims := c.Ints(1), c.Ints(2)
		flat := len(dims) == 0
		sizes := c.Sizes(x)
		if flat {
			x, dims = c.Reshape(x, -1), []int{0}
		}
		for i, d := range dims {
			s := shifts[i]
			if n := x.Shape[c.Dim(x, d)]; n > 0 {
				s %= n
			}
			if s == 0 {
				continue
			}
			shape := x.Shape
			behind, front := c.Slice(x, d, -s, 1<<63-1, 1), c.Slice(x, d, 0, -s, 1)
			x = c.Concat(d, behind, front).Typed(x.DType).Shaped(shape...)
		}
		if flat {
			return c.ReshapeTo(x, c.Vector(sizes...))
		}
		return x
	}, "aten::roll")
	one(func(c *ox.Call) *ox.Value { // self, k, dims
		x := c.T(0)
		dims := c.Ints(2)
		a, b := c.Dim(x, dims[0]), c.Dim(x, dims[1])
		flip := func(v *ox.Value, d int) *ox.Value {
			shape := v.Shape
			return c.Slice(v, d, -1, -1<<63, -1).Shaped(shape...)
		}
		switch (c.Int(1)%4 + 4) % 4 {
		case 1:
			return c.Swap(flip(x, b), a, b)
		case 2:
			return flip(flip(x, a), b)
		case 3:
			return flip(c.Swap(x, a, b), b)
		}
		return x
	}, "aten::rot90")
	ox.Register(func(c *ox.Call) []*ox.Value {
		in := c.Ts(0)
		xy := len(c.Args) > 1 && c.Str(1) == "xy"
		out := make([]*ox.Value, len(in))
		var dims []any
		for _, v := range in {
			if c.Rank(v) == 0 {
				dims = append(dims, 1)
			} else {
				dims = append(dims, c.SizeOf(v, 0))
			}
		}
		at := func(i int) int { // with "xy" the first two are exchanged
			if xy && i < 2 && len(in) > 1 {
				return 1 - i
			}
			return i
		}
		shape := make([]any, len(dims))
		for i := range dims {
			shape[at(i)] = dims[i]
		}
		for i, v := range in {
			own := slices.Repeat([]int{1}, len(in))
			own[at(i)] = -1
			out[i] = c.Expand(c.Reshape(v, own...), c.Vector(shape...)).Typed(v.DType)
		}
		return out
	}, "aten::meshgrid", "aten::meshgrid.indexing")
	one(func(c *ox.Call) *ox.Value { // self, offset, dim1, dim2
		x := c.T(0)
		a, b := c.Dim(x, c.Int(2)), c.Dim(x, c.Int(3))
		rows, ok := c.SizeOf(x, a).(int)
		cols, ok2 := c.SizeOf(x, b).(int)
		if !ok || !ok2 {
			c.Fail("the diagonal of dynamic sizes")
		}
		var perm []int
		for i := range c.Rank(x) {
			if i != a && i != b {
				perm = append(perm, i)
			}
		}
		y := c.Transpose(x, append([]int{a, b}, perm...)...)
		var at []int64
		n := 0
		for i := range rows {
			if j := i + c.Int(1); j >= 0 && j < cols {
				at = append(at, int64(i), int64(j))
				n++
			}
		}
		y = c.Node("GatherND", nil, y, c.Const(tensor.FromSlice(at, n, 2))).Typed(x.DType)
		back := make([]int, 0, len(perm)+1)
		for i := range perm {
			back = append(back, i+1)
		}
		return c.Node("Transpose", ox.A{"perm": append(back, 0)}, y).Typed(x.DType)
	}, "aten::diagonal")
	one(func(c *ox.Call) *ox.Value { // self, dimension, size, step: windows as a last dimension
		x := c.T(0)
		dim, size, step := c.Dim(x, c.Int(1)), c.Int(2), c.Int(3)
		n, ok := c.SizeOf(x, dim).(int)
		if !ok {
			c.Fail("windows over a dynamic size")
		}
		var parts []*ox.Value
		for i := 0; i+size <= n; i += step {
			w := c.Slice(x, dim, i, i+size, 1)
			parts = append(parts, c.Unsqueeze(w, dim))
		}
		shape := make([]int, c.Rank(x)+1)
		for i := range shape {
			shape[i] = -1
		}
		y := c.Concat(dim, parts...).Typed(x.DType).Shaped(shape...)
		perm := make([]int, 0, len(shape))
		for i := range shape {
			if i != dim+1 {
				perm = append(perm, i)
			}
		}
		return c.Transpose(y, append(perm, dim+1)...).Typed(x.DType)
	}, "aten::unfold")
}
