package onnx

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	define("", map[string]rule{
		"CenterCropPad":   centerCropPad,
		"Concat":          func(n *node) []*value { return one(n.concat()) },
		"Constant":        constantNode,
		"ConstantOfShape": constantOfShape,
		"DepthToSpace":    blocks("onnx::depth_to_space"),
		"Expand": func(n *node) []*value {
			n.T(1)
			return one(n.like(n.call("onnx::expand", n.T(0),
				n.intList(1))))
		},
		"EyeLike":      eyeLike,
		"Flatten":      flatten,
		"Pad":          pad,
		"Range":        rangeNode,
		"Reshape":      reshape,
		"Shape":        shape,
		"Size":         func(n *node) []*value { return one(n.scalar(n.call("onnx::size", n.T(0)), onnxpb.Int64)) },
		"Slice":        slice,
		"SpaceToDepth": blocks("onnx::space_to_depth"),
		"Split":        split,
		"Squeeze":      squeeze,
		"Tile":         tile,
		"Transpose":    transpose,
		"Trilu":        trilu,
		"Unsqueeze":    unsqueeze,
	})

	helper("center_crop_pad(Tensor x, int[] size, int[]? axes) -> Tensor", func(a args) any {
		x, size := a.T(0), a.ints(1)
		axes := axesOr("CenterCropPad", a.ints(2), x.Dim())
		if len(axes) != len(size) {
			wrong("CenterCropPad", "%d axes for %d sizes", len(axes), len(size))
		}
		for i, axis := range axes {
			have, want := x.Size(axis), size[i]
			if want < 0 || want > maxSize {
				wrong("CenterCropPad", "size %d", want)
			}
			if have >= want {
				x = x.Narrow(axis, (have-want)/2, want)
				continue
			}
			before := (want - have) / 2
			x = padConstant(x, axis, before, want-have-before)
		}
		return x
	})
	helper("expand(Tensor(a) x, int[] size) -> Tensor(a)", func(a args) any {
		return a.T(0).Expand(tensor.BroadcastShapes(a.T(0).Shape(), a.ints(1)))
	})
	helper("flatten(Tensor(a) x, int axis) -> Tensor(a)", func(a args) any {
		x, axis := a.T(0), a.int(1)
		if axis < 0 {
			axis += x.Dim()
		}
		if axis < 0 || axis > x.Dim() {
			wrong("Flatten", "axis %d of a tensor with %d dimensions", a.int(1), x.Dim())
		}
		return x.Reshape([]int{product(x.Shape()[:axis]), product(x.Shape()[axis:])})
	})
	helper("reshape(Tensor(a) x, int[] size, bool zero) -> Tensor(a)", func(a args) any {
		x, size := a.T(0), slices.Clone(a.ints(1))
		for i, d := range size {
			if d == 0 && !a.bool(2) {
				if i >= x.Dim() {
					wrong("Reshape", "0 at place %d of %v keeps a size of a tensor with %d dimensions", i, size,
						x.Dim())
				}
				size[i] = x.Size(i)
			}
		}
		return x.Reshape(size)
	})
	helper("shape(Tensor x, int start, int? end) -> Tensor", func(a args) any {
		s := a.T(0).Shape()
		at := func(i int) int {
			if i < 0 {
				i += len(s)
			}
			return min(max(i, 0), len(s))
		}
		from, to := at(a.int(1)), len(s)
		if a.has(2) {
			to = at(a.int(2))
		}
		return vector(s[from:max(from, to)])
	})
	helper("reverse_dims(Tensor(a) x) -> Tensor(a)", func(a args) any {
		perm := axesOr("Transpose", nil, a.T(0).Dim())
		slices.Reverse(perm)
		return a.T(0).Permute(perm)
	})
	helper("size(Tensor x) -> Tensor", func(a args) any {
		return tensor.FromSlice([]int64{int64(a.T(0).Numel())}).Reshape([]int{})
	})
	helper("slice(Tensor x, int[] starts, int[] ends, int[]? axes, int[]? steps) -> Tensor", func(a args) any {
		return sliceTensor(a.T(0), a.ints(1), a.ints(2), a.ints(3), a.ints(4))
	})
	helper("squeeze(Tensor(a) x, int[]? axes) -> Tensor(a)", func(a args) any {
		if !a.has(1) {
			return a.T(0).Squeeze()
		}
		for _, d := range a.ints(1) {
			if s := a.T(0).Size(dim("Squeeze", d, a.T(0).Dim())); s != 1 {
				wrong("Squeeze", "dimension %d has size %d, want 1", d, s)
			}
		}
		return a.T(0).SqueezeDims(a.ints(1))
	})
	helper("unsqueeze(Tensor(a) x, int[] axes) -> Tensor(a)", func(a args) any {
		x := a.T(0)
		axes := slices.Clone(a.ints(1))
		for i, d := range axes {
			axes[i] = dim("Unsqueeze", d, x.Dim()+len(axes))
		}
		slices.Sort(axes)
		for _, d := range axes {
			x = x.Unsqueeze(d)
		}
		return x
	})
	helper("eye_like(Tensor x, int k, ScalarType dtype) -> Tensor", func(a args) any {
		s := a.T(0).Shape()
		if len(s) != 2 {
			wrong("EyeLike", "a tensor with %d dimensions, want 2", len(s))
		}
		out := call("aten::zeros", s, a.dtype(2))
		k := a.int(1)
		r, c := max(0, -k), max(0, k)
		if n := min(s[0]-r, s[1]-c); n > 0 && r < s[0] && c < s[1] {
			i := call("aten::arange", n)
			out = out.IndexPut([]*T{i.AddScalar(r), i.AddScalar(c)}, call("aten::ones", []int{n}, a.dtype(2)))
		}
		return out
	})
	helper("full(int[] size, Tensor value) -> Tensor", func(a args) any {
		v := a.T(1)
		return v.Reshape([]int{}).Expand(checkSizes("ConstantOfShape", a.ints(0))).Clone()
	})
	helper("range(Tensor start, Tensor limit, Tensor delta) -> Tensor", func(a args) any {
		return rangeTensor(a.T(0), a.T(1), a.T(2))
	})
	helper("depth_to_space(Tensor x, int block, str mode) -> Tensor", func(a args) any {
		x, b := a.T(0), a.int(1)
		s := x.Shape()
		if len(s) != 4 || b <= 0 || s[1]%(b*b) != 0 {
			wrong("DepthToSpace", "shape %v with blocks of %d", s, b)
		}
		c := s[1] / (b * b)
		if a.str(2) == "CRD" {
			x = x.Reshape([]int{s[0], c, b, b, s[2], s[3]}).Permute([]int{0, 1, 4, 2, 5, 3})
		} else {
			x = x.Reshape([]int{s[0], b, b, c, s[2], s[3]}).Permute([]int{0, 3, 4, 1, 5, 2})
		}
		return x.Reshape([]int{s[0], c, s[2] * b, s[3] * b})
	})
	helper("space_to_depth(Tensor x, int block, str mode) -> Tensor", func(a args) any {
		x, b := a.T(0), a.int(1)
		s := x.Shape()
		if len(s) != 4 || b <= 0 || s[2]%b != 0 || s[3]%b != 0 {
			wrong("SpaceToDepth", "shape %v with blocks of %d", s, b)
		}
		x = x.Reshape([]int{s[0], s[1], s[2] / b, b, s[3] / b, b}).Permute([]int{0, 3, 5, 1, 2, 4})
		return x.Reshape([]int{s[0], s[1] * b * b, s[2] / b, s[3] / b})
	})
	helper("pad(Tensor x, int[] pads, str mode, Tensor? value, int[]? axes) -> Tensor", func(a args) any {
		return padTensor(a.T(0), a.ints(1), a.str(2), a.T(3), a.ints(4))
	})
	helper("trilu(Tensor x, int k, bool upper) -> Tensor", func(a args) any {
		if a.bool(2) {
			return call("aten::triu", a.T(0), a.int(1))
		}
		return call("aten::tril", a.T(0), a.int(1))
	})
	helper("split(Tensor(a) x, int parts, int axis) -> Tensor(a)[]", func(a args) any {
		x, parts := a.T(0), a.int(1)
		axis := dim("Split", a.int(2), x.Dim())
		size := x.Size(axis)
		each := (size + parts - 1) / max(parts, 1)
		out := make([]*T, parts)
		for i := range out {
			from := min(i*each, size)
			out[i] = x.Narrow(axis, from, min(each, size-from))
		}
		return out
	})
}

const (
	// maxSize bounds the sizes that a program asks for; the allocator bounds their product.
	maxSize = 1 << 40
	// maxList bounds the lists that helpers make outside of tensors.
	maxList = 1 << 26
)

// checkSizes refuses sizes that are negative or whose product overflows.
func checkSizes(op string, size []int) []int {
	n := 1
	for _, d := range size {
		if d < 0 || d > maxSize || n > maxSize/max(d, 1) {
			wrong(op, "shape %v", size)
		}
		n *= max(d, 1)
	}
	return size
}

// axesOr counts axes from the front; nil stands for all.
func axesOr(op string, axes []int, rank int) []int {
	if axes == nil {
		out := make([]int, rank)
		for i := range out {
			out[i] = i
		}
		return out
	}
	out := make([]int, len(axes))
	for i, d := range axes {
		out[i] = dim(op, d, rank)
	}
	return out
}

// scalar makes a result without dimensions.
func (n *node) scalar(g *graph.Value, elem onnxpb.DataType) *value {
	v := n.tensor(g, elem)
	v.rank = 0
	return v
}

func (n *node) concat() *value {
	for i := range n.in {
		n.T(i)
	}
	if a := n.attr("axis", onnxpb.AttrInt); a == nil && n.opset >= 4 {
		fail("%w: attribute \"axis\" is missing", onnxpb.ErrFormat)
	}
	if len(n.in) == 1 {
		return n.T(0)
	}
	return n.same(n.call("aten::cat", n.in, n.int("axis", 1)))
}

func constantNode(n *node) []*value {
	for name, a := range n.attrs {
		var t *T
		elem := onnxpb.Int64
		switch name {
		case "value":
			a = n.attr(name, onnxpb.AttrTensor)
			if a.T.Type == onnxpb.String {
				return one(n.textsOf(a.T))
			}
			x, err := a.T.Decode(n.external)
			if err != nil {
				panic(failure{err})
			}
			return one(constant(x, a.T.Type))
		case "value_string":
			return one(n.texts(&graph.Strings{Shape: []int{}, Data: []string{n.str(name, "")}}))
		case "value_strings":
			return one(n.textList(n.strings(name)))
		case "sparse_value":
			a = n.attr(name, onnxpb.AttrSparse)
			x, err := a.Sparse.Decode()
			if err != nil {
				panic(failure{err})
			}
			return one(constant(x, a.Sparse.Values.Type))
		case "value_int":
			t = tensor.FromSlice([]int64{int64(n.int(name, 0))}).Reshape([]int{})
		case "value_ints":
			t = vector(n.ints(name))
		case "value_float":
			t, elem = tensor.FromSlice([]float32{float32(n.float(name, 0))}).Reshape([]int{}), onnxpb.Float
		case "value_floats":
			l := n.attr(name, onnxpb.AttrFloats).Floats
			t, elem = tensor.FromSlice(slices.Clone(l), len(l)), onnxpb.Float
		default:
			unsupported("a constant given by attribute %q", name)
		}
		return one(constant(t, elem))
	}
	fail("%w: a constant without a value", onnxpb.ErrFormat)
	return nil
}

func constantOfShape(n *node) []*value {
	v := constant(tensor.FromSlice([]float32{0}), onnxpb.Float)
	if a := n.attr("value", onnxpb.AttrTensor); a != nil {
		t, err := a.T.Decode(n.external)
		if err != nil {
			panic(failure{err})
		}
		if t.Numel() != 1 {
			fail("%w: attribute \"value\" has %d elements, want 1", onnxpb.ErrFormat, t.Numel())
		}
		v = constant(t, a.T.Type)
	}
	n.T(0)
	return one(n.tensor(n.call("onnx::full", n.intList(0), v), v.elem))
}

func blocks(op string) rule {
	return func(n *node) []*value {
		return one(n.same(n.call(op, n.T(0), n.int("blocksize", 0), n.str("mode", "DCR"))))
	}
}

func centerCropPad(n *node) []*value {
	n.T(1)
	return one(n.same(n.call("onnx::center_crop_pad", n.T(0), n.intList(1), n.optInts("axes"))))
}

func eyeLike(n *node) []*value {
	elem := n.elemAttr("dtype", n.T(0).elem)
	v := n.tensor(n.call("onnx::eye_like", n.T(0), n.int("k", 0), n.dtype(elem)), elem)
	v.rank = 2
	return one(v)
}

func flatten(n *node) []*value {
	axis := n.int("axis", 1)
	v := n.like(nil)
	v.rank = 2
	if axis == 1 && n.T(0).rank >= 2 {
		v.g = n.call("aten::flatten.using_ints", n.T(0), 1, -1)
	} else {
		v.g = n.call("onnx::flatten", n.T(0), axis)
	}
	return one(v)
}

func rangeNode(n *node) []*value {
	return one(n.vector1(n.call("onnx::range", n.T(0), n.T(1), n.T(2)), n.T(0).elem))
}

// vector1 makes a result with one dimension.
func (n *node) vector1(g *graph.Value, elem onnxpb.DataType) *value {
	v := n.tensor(g, elem)
	v.rank = 1
	return v
}

// rangeTensor counts from start to limit in steps: number i is start + i·delta, computed in the dtype.
func rangeTensor(start, limit, delta *T) *T {
	a, b, d := start.Num(), limit.Num(), delta.Num()
	if d.F == 0 {
		tensor.Fail(tensor.ErrValue, "Range: a step of 0")
	}
	var count float64
	if start.DType().IsInt() {
		if d.I > 0 && b.I > a.I {
			count = float64((uint64(b.I-a.I)-1)/uint64(d.I) + 1)
		} else if d.I < 0 && b.I < a.I {
			count = float64((uint64(a.I-b.I)-1)/uint64(-d.I) + 1)
		}
	} else {
		count = max(0, ceil((b.F-a.F)/d.F))
	}
	if !(count < 1<<40) {
		wrong("Range", "%v elements", count)
	}
	i := call("aten::arange", int(count), start.DType())
	return start.Reshape([]int{}).Add(i.Mul(delta.Reshape([]int{}))).ToDType(start.DType())
}

func reshape(n *node) []*value {
	v := n.like(nil)
	if l, ok := n.known(1); ok {
		v.rank = len(l)
		if n.int("allowzero", 0) != 0 || !slices.Contains(l, 0) {
			v.g = n.call("aten::reshape", n.T(0), l)
			return one(v)
		}
	}
	n.T(1)
	v.g = n.call("onnx::reshape", n.T(0), n.intList(1), n.bool("allowzero", false))
	return one(v)
}

func shape(n *node) []*value {
	var end any
	if a := n.attr("end", onnxpb.AttrInt); a != nil {
		end = int(a.I)
	}
	return one(n.vector1(n.call("onnx::shape", n.T(0), n.int("start", 0), end), onnxpb.Int64))
}

// slice takes its numbers from attributes until version 9, from inputs since 10.
func slice(n *node) []*value {
	var starts, ends, axes, steps any
	known := true
	if n.opset < 10 {
		starts, ends = n.ints("starts"), n.ints("ends")
		if a := n.ints("axes"); a != nil {
			axes = a
		}
	} else {
		n.T(2)
		starts, ends, axes, steps = n.intList(1), n.intList(2), n.intList(3), n.intList(4)
	}
	list := func(x any) []int {
		if x == nil {
			return nil
		}
		l, ok := x.([]int)
		known = known && ok
		return l
	}
	s, e, a, st := list(starts), list(ends), list(axes), list(steps)
	for _, x := range st {
		known = known && x > 0
	}
	if known && len(s) == len(e) && (a == nil || len(a) == len(s)) && (st == nil || len(st) == len(s)) {
		g := n.get(n.T(0))
		for i := range s {
			axis, step := i, 1
			if a != nil {
				axis = a[i]
			}
			if st != nil {
				step = st[i]
			}
			g = n.call("aten::slice.Tensor", g, axis, s[i], e[i], step)
		}
		return one(n.same(g))
	}
	return one(n.same(n.call("onnx::slice", n.T(0), starts, ends, axes, steps)))
}

// sliceTensor is Slice; a step may be negative.
func sliceTensor(x *T, starts, ends, axes, steps []int) *T {
	if axes == nil {
		axes = axesOr("Slice", nil, len(starts))
	}
	if len(ends) != len(starts) || len(axes) != len(starts) || steps != nil && len(steps) != len(starts) {
		wrong("Slice", "%d starts, %d ends, %d axes, %d steps", len(starts), len(ends), len(axes), len(steps))
	}
	for i := range starts {
		axis, step := dim("Slice", axes[i], x.Dim()), 1
		if steps != nil {
			step = steps[i]
		}
		size := x.Size(axis)
		switch {
		case step > 0:
			x = call("aten::slice.Tensor", x, axis, starts[i], ends[i], step)
		case step == 0:
			wrong("Slice", "a step of 0")
		default: // backwards: the elements in their order, then turned
			from, to := starts[i], ends[i]
			if to == math.MaxInt32 || to == math.MaxInt64 { // "no end", as ONNX Runtime reads it
				to = -maxSize
			}
			if from < 0 {
				from += size
			}
			if to < 0 {
				to += size
			}
			from, to = min(max(from, 0), size-1), min(max(to, -1), size-1)
			if step < -size {
				step = -size - 1
			}
			count := 0
			if from > to {
				count = (from-to-1)/-step + 1
			}
			if count == 0 {
				x = x.Narrow(axis, 0, 0)
				continue
			}
			first := from + (count-1)*step
			x = call("aten::slice.Tensor", x, axis, first, from+1, -step).Flip([]int{axis})
		}
	}
	return x
}

// split divides along an axis: by sizes, which are an attribute until version 12 and an input since 13, or evenly.
func split(n *node) []*value {
	axis, parts := n.int("axis", 0), len(n.pb.Outputs)
	var sizes any
	if n.opset < 13 {
		if l := n.ints("split"); l != nil {
			sizes = l
		}
	} else {
		sizes = n.intList(1)
	}
	var list *graph.Value
	if sizes != nil {
		list = n.call("aten::split_with_sizes", n.T(0), sizes, axis)
	} else {
		if k := n.int("num_outputs", parts); k != parts {
			fail("%w: attribute \"num_outputs\" is %d, the node has %d outputs", onnxpb.ErrFormat, k, parts)
		}
		list = n.call("onnx::split", n.T(0), parts, axis)
	}
	types := make([]*graph.Type, parts)
	for i := range types {
		types[i] = graph.Tensor
	}
	var outs []*value
	for _, g := range n.block.Unpack(list, types...) {
		outs = append(outs, n.same(g))
	}
	return outs
}

func squeeze(n *node) []*value {
	axes := n.axes(1, 13)
	v := n.like(n.call("onnx::squeeze", n.T(0), axes))
	if l, ok := axes.([]int); ok && n.T(0).rank >= 0 {
		v.rank = n.T(0).rank - len(l)
	}
	return one(v)
}

func unsqueeze(n *node) []*value {
	axes := n.axes(1, 13)
	if axes == nil {
		fail("%w: axes are missing", onnxpb.ErrFormat)
	}
	v := n.like(nil)
	if l, ok := axes.([]int); ok {
		if n.T(0).rank >= 0 {
			v.rank = n.T(0).rank + len(l)
		}
		if len(l) == 1 {
			v.g = n.call("aten::unsqueeze", n.T(0), l[0])
			return one(v)
		}
	}
	v.g = n.call("onnx::unsqueeze", n.T(0), axes)
	return one(v)
}

func tile(n *node) []*value {
	n.T(1)
	return one(n.same(n.call("aten::tile", n.T(0), n.intList(1))))
}

func transpose(n *node) []*value {
	if perm := n.ints("perm"); perm != nil {
		return one(n.same(n.call("aten::permute", n.T(0), perm)))
	}
	return one(n.same(n.call("onnx::reverse_dims", n.T(0))))
}

func trilu(n *node) []*value {
	k := any(0)
	if n.has(1) {
		k = n.intValue(1)
	}
	op := "aten::tril"
	if n.bool("upper", true) {
		op = "aten::triu"
	}
	return one(n.same(n.call(op, n.T(0), k)))
}

// pad takes its numbers from attributes until version 10, from inputs since 11.
func pad(n *node) []*value {
	mode := n.str("mode", "constant")
	var pads, axes any
	var fill *value
	if n.domain == "" && n.opset < 11 {
		pads = n.ints("pads")
		if x := n.float("value", 0); x != 0 {
			fill = n.number(x, n.T(0).elem)
		}
	} else {
		n.T(1)
		pads, fill, axes = n.intList(1), n.opt(2), n.intList(3)
	}
	// the plain form of constant padding
	if l, ok := pads.([]int); ok && mode == "constant" && axes == nil && len(l)%2 == 0 {
		if fill == nil || fill.konst != nil && fill.konst.Numel() == 1 {
			x := any(0)
			if fill != nil {
				x = fill.konst.Num()
			}
			var torch []int // from the last dimension on
			for i := len(l)/2 - 1; i >= 0; i-- {
				torch = append(torch, l[i], l[i+len(l)/2])
			}
			for len(torch) > 0 && torch[len(torch)-1] == 0 && torch[len(torch)-2] == 0 {
				torch = torch[:len(torch)-2]
			}
			if len(torch) == 0 {
				return one(n.T(0))
			}
			return one(n.same(n.call("aten::constant_pad_nd", n.T(0), torch, x)))
		}
	}
	return one(n.same(n.call("onnx::pad", n.T(0), pads, mode, fill, axes)))
}

// padTensor is Pad in all modes: the reflecting ones pick lines by their numbers, one axis after the other.
func padTensor(x *T, pads []int, mode string, fill *T, axes []int) *T {
	axes = axesOr("Pad", axes, x.Dim())
	if len(pads) != 2*len(axes) {
		wrong("Pad", "%d numbers for %d axes", len(pads), len(axes))
	}
	for i, axis := range axes {
		before, after := pads[i], pads[i+len(axes)]
		if before > maxSize || after > maxSize || before < -maxSize || after < -maxSize {
			wrong("Pad", "%d and %d", before, after)
		}
		size := x.Size(axis)
		if before == 0 && after == 0 {
			continue
		}
		if mode == "constant" {
			y := padConstant(x, axis, before, after)
			if fill != nil && fill.Num().F != 0 && (before > 0 || after > 0) {
				out := call("aten::new_full", x, y.Shape(), fill.Num())
				// the part of the result that shows x, and that part of x
				at, from := max(before, 0), max(-before, 0)
				length := size - from - max(-after, 0)
				y = out.SliceScatter(x.Narrow(axis, from, max(length, 0)), tensor.SliceScatterOptions{Dim: axis,
					Start: tensor.Some(at), End: tensor.Some(at + max(length, 0))})
			}
			x = y
			continue
		}
		if size+before+after < 0 || size == 0 || size+before+after > maxList {
			wrong("Pad", "%d and %d beside size %d", before, after, size)
		}
		if least := min(before, after); mode == "reflect" && axis == x.Dim()-1 && (axis == 1 || axis == 2) && least >= 0 &&
			max(before, after) < size && x.DType().IsFloat() {
			x = call("aten::reflection_pad1d", x, []int{before, after})
			continue
		}
		lines := make([]int, size+before+after)
		for j := range lines {
			k := j - before
			switch mode {
			case "edge":
				k = min(max(k, 0), size-1)
			case "wrap":
				k = ((k % size) + size) % size
			case "reflect":
				if size == 1 {
					k = 0
				} else if k = ((k % (2*size - 2)) + 2*size - 2) % (2*size - 2); k >= size {
					k = 2*size - 2 - k
				}
			default:
				tensor.Fail(tensor.ErrValue, "Pad: mode %q", mode)
			}
			lines[j] = k
		}
		x = x.IndexSelect(axis, vector(lines))
	}
	return x
}

// padConstant adds zeros before and after along an axis; negative numbers take away.
func padConstant(x *T, axis, before, after int) *T {
	p := make([]int, 2*(x.Dim()-axis))
	p[len(p)-2], p[len(p)-1] = before, after
	return call("aten::constant_pad_nd", x, p, 0)
}
