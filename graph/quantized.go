package graph

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

// Programs whose tensors were quantized say so by pairs of operators around the others: a quantization makes integers,
// a dequantization floats of them (ONNX's QuantizeLinear and DequantizeLinear, quantized_decomposed::… of
// torch.export). The pass quantized finds operators between such pairs and calls operators on the integers in their
// place.

// quantum is a tensor of bytes and the numbers that it stands for: (bytes - zero)·scale, where scale and zero have one
// element, or one for each index of axis.
type quantum struct {
	node        *Node
	bytes       *Value
	scale, zero *tensor.Tensor // zero is nil for 0
	axis        int
	dtype       tensor.DType
	lo, hi      int // limits of the bytes
}

// quantizers are the operators that quantize (true) and dequantize (false).
var quantizers = map[string]bool{"onnx::quantize": true, "quantized_decomposed::quantize_per_tensor": true,
	"quantized_decomposed::quantize_per_tensor.tensor": true, "quantized_decomposed::quantize_per_channel": true,
	"onnx::dequantize": false, "quantized_decomposed::dequantize_per_tensor": false,
	"quantized_decomposed::dequantize_per_tensor.tensor": false,
	"quantized_decomposed::dequantize_per_channel":       false}

// quantumOf reads the arguments of a quantization, or of a dequantization to float32; ok is false where they are not
// constants, or the integers are no bytes.
func (u *fuser) quantumOf(n *Node, quantizes bool) (q quantum, ok bool) {
	if n == nil || u.dead[n] {
		return q, false
	}
	if is, known := quantizers[n.Op]; !known || is != quantizes {
		return q, false
	}
	q = quantum{node: n, bytes: n.In[0], axis: -1}
	if quantizes {
		q.bytes = n.Out[0]
	}
	number := func(i int) float64 {
		x, is := constNumber(n.In[i], math.NaN())
		ok = ok && is
		return x
	}
	numbers := func(i int) *tensor.Tensor {
		t, is := u.constTensor(n.In[i])
		ok = ok && is
		return t
	}
	ok = true
	dtype, out := 5, -1 // arguments: the dtype of the bytes, that of the floats
	switch n.Op {
	case "onnx::quantize", "onnx::dequantize": // scale, zero point, axis, block, and of the former limits and dtype
		q.scale, q.zero, q.axis = numbers(1), numbers(2), int(number(3))
		if ok = ok && q.scale != nil && number(4) == 0; !ok {
			return q, false
		}
		if dtype = 7; !quantizes {
			dtype, out = -1, 5
		}
	case "quantized_decomposed::quantize_per_tensor", "quantized_decomposed::dequantize_per_tensor":
		q.scale, q.zero = tensor.FromSlice([]float64{number(1)}), tensor.FromSlice([]int64{int64(number(2))})
		q.lo, q.hi = int(number(3)), int(number(4))
		out = 6
	case "quantized_decomposed::quantize_per_tensor.tensor", "quantized_decomposed::dequantize_per_tensor.tensor":
		q.scale, q.zero, q.lo, q.hi = numbers(1), numbers(2), int(number(3)), int(number(4))
		out = 6
	default:
		q.scale, q.zero, q.axis, q.lo, q.hi = numbers(1), numbers(2), int(number(3)), int(number(4)), int(number(5))
		dtype, out = 6, 7
	}
	if !ok || q.scale == nil || !quantizes && out < len(n.In) && !isFloat32(n.In[out]) {
		return q, false
	}
	switch {
	case dtype >= 0:
		q.dtype, ok = constDType(n.In[dtype])
	case q.zero != nil:
		q.dtype = q.zero.DType()
	default:
		q.dtype, ok = u.bytesType(q.bytes, 8)
	}
	least, most := 0, 255
	if q.dtype == tensor.Int8 {
		least, most = -128, 127
	}
	if n.Op == "onnx::quantize" || n.Op == "onnx::dequantize" {
		q.lo, q.hi = least, most
	}
	if q.scale.Numel() == 1 {
		q.axis = -1
	}
	if q.zero != nil && (!q.zero.DType().IsInt() || q.zero.Numel() != q.scale.Numel()) || !q.scale.DType().IsFloat() ||
		q.scale.Numel() == 0 {
		return q, false
	}
	finite := true
	if q.zero != nil {
		for _, z := range tensor.Data[int64](q.zero.ToDType(tensor.Int64).Contiguous()) {
			finite = finite && int64(least) <= z && z <= int64(most)
		}
	}
	for _, s := range tensor.Data[float64](q.scale.Double().Contiguous()) {
		s, inv := float32(s), float32(1/s)
		finite = finite && s > 0 && inv > 0 && !math.IsInf(float64(s), 1) && !math.IsInf(float64(inv), 1)
	}
	return q, ok && finite && (q.dtype == tensor.Uint8 || q.dtype == tensor.Int8) && q.lo >= least && q.hi <= most &&
		q.lo <= q.hi
}

// bytesType is the dtype of bytes, as the node that makes them says it; so many nodes are followed back.
func (u *fuser) bytesType(v *Value, steps int) (dt tensor.DType, ok bool) {
	n := v.Node
	if n == nil || steps == 0 || len(n.Out) != 1 && n.Op != maxPool1dBytes && n.Op != ListUnpack {
		return 0, false
	}
	if t, ok := u.constTensor(v); ok && t != nil {
		return t.DType(), true
	}
	if quantizers[n.Op] {
		q, ok := u.quantumOf(n, true)
		return q.dtype, ok
	}
	switch {
	case n.Op == "gotorch::bytes_map":
		return u.bytesType(n.In[1], 1)
	case bytesMove[n.Op], bytesFill[n.Op], bytesSplit[n.Op], n.Op == ListUnpack, n.Op == "aten::alias",
		n.Op == "gotorch::bytes_max_pool2d", n.Op == maxPool1dBytes:
		return u.bytesType(n.In[0], steps-1)
	}
	if o := n.Operator; o != nil {
		if i := slices.IndexFunc(o.Params, func(p Param) bool { return p.Name == "dtype" }); i >= 0 && i < len(n.In) {
			return constDType(n.In[i])
		}
	}
	return 0, false
}

// constDType is a constant dtype.
func constDType(v *Value) (dt tensor.DType, ok bool) {
	if v.Node == nil || v.Node.Op != Constant {
		return 0, false
	}
	c := v.Node.Const
	if c.K == tensor.KInt {
		dt, err := DTypeOf(int(c.N))
		return dt, err == nil
	}
	return tensor.DType(c.N), c.K == tensor.KDType
}

// isFloat32 reports a constant that names float32, or no dtype.
func isFloat32(v *Value) bool {
	dt, ok := constDType(v)
	return isNone(v) || ok && dt == tensor.Float32
}

// one reports one scale for all bytes, and gives it and the zero point.
func (q *quantum) one() (scale float64, zero int, ok bool) {
	if q.scale.Numel() != 1 {
		return 0, 0, false
	}
	if q.zero != nil {
		zero = int(q.zero.Num().I)
	}
	return q.scale.Num().F, zero, true
}

// same reports that both quantize alike.
func (q *quantum) same(r *quantum) bool {
	s, z, ok := q.one()
	s2, z2, ok2 := r.one()
	return ok && ok2 && s == s2 && z == z2 && q.dtype == r.dtype
}

// integer is the byte that x becomes, before limits, as a float that is in int32. The quotient is rounded as in the
// operator that quantizes, since a scale often makes ties: ONNX divides in float32, PyTorch multiplies by one over the
// scale.
func (q *quantum) integer(x float32) int {
	s, z, _ := q.one()
	y := x / float32(s)
	if q.node.Op != "onnx::quantize" {
		y = x * float32(1/s)
	}
	return int(min(max(math.RoundToEven(float64(y)), -1<<30), 1<<30)) + z
}

// quantized calls an operator on bytes in the place of n, whose inputs were dequantized.
func (u *fuser) quantized(n *Node) {
	switch {
	case convDims(n) > 0:
		u.quantizedConv(n)
	case n.Op == "aten::linear":
		u.quantizedLinear(n, 0)
	case n.Op == "aten::matmul" || n.Op == "aten::mm":
		u.quantizedLinear(n, 1)
	case n.Op == "aten::add.Tensor" || n.Op == "aten::mul.Tensor":
		u.quantizedPair(n)
	case n.Op == "aten::cat":
		u.quantizedCat(n)
	case n.Op == "aten::avg_pool2d" || n.Op == "aten::adaptive_avg_pool2d" || n.Op == "aten::mean.dim":
		u.quantizedAverage(n)
	case bytesMove[n.Op] || bytesFill[n.Op]:
		u.quantizedMove(n)
	case bytesSplit[n.Op]:
		u.quantizedSplit(n)
	case quantizers[n.Op]:
		u.requantized(n)
	default:
		u.quantizedMap(n)
	}
}

// dequantized is what v was dequantized of, with one scale, as bytes that nobody writes before n reads v.
func (u *fuser) dequantized(v *Value, n *Node) (q quantum, scale float64, zero int, ok bool) {
	if q, ok = u.quantumOf(v.Node, false); !ok || isConstant(q.bytes) || u.a.isWritten(v) || q.node.Block != n.Block ||
		u.a.between(q.node, n, q.bytes) {
		return q, 0, 0, false
	}
	scale, zero, ok = q.one()
	return q, scale, zero, ok
}

// end is what the result of an operator on bytes becomes.
type end struct {
	chain       []*Node // the operators that take part, from the first on
	q           quantum // of the result; unless bytes is set the result is floats
	isBytes     bool
	scale       float64
	zero        int
	least, most int
	relu        bool // of floats
}

// endOf follows the result of n through limits to a quantization. ok is false where the result's readers want floats
// that limits other than those of a ReLU would have to make.
func (u *fuser) endOf(n *Node) (e end) {
	e = end{chain: []*Node{n}, scale: 1}
	lo, hi := math.Inf(-1), math.Inf(1)
	cur := n.Out[0]
	var limited *Node
	next := u.next(cur, n.Block)
	if next != nil {
		if l, h, ok := limits(next, cur); ok {
			lo, hi, limited, cur = l, h, next, next.Out[0]
			next = u.next(cur, n.Block)
		}
	}
	if q, ok := u.quantumOf(next, true); ok && next.In[0] == cur {
		if s, z, ok := q.one(); ok {
			if limited != nil {
				e.chain = append(e.chain, limited)
			}
			e.chain, e.q, e.isBytes, e.scale, e.zero = append(e.chain, next), q, true, s, z
			e.least, e.most = q.lo, q.hi
			if !math.IsInf(lo, -1) {
				e.least = min(max(q.integer(float32(lo)), q.lo), q.hi)
			}
			if !math.IsInf(hi, 1) {
				e.most = max(min(q.integer(float32(hi)), q.hi), e.least)
			}
			return e
		}
	}
	if limited != nil && lo == 0 && math.IsInf(hi, 1) {
		e.chain, e.relu = append(e.chain, limited), true
	}
	return e
}

// dtype is that of the result.
func (e *end) dtype() tensor.DType {
	if e.isBytes {
		return e.q.dtype
	}
	return tensor.Float32
}

// place calls op in the place of the chain, which reads inputs; not where one of those is written in between.
func (u *fuser) place(e *end, inputs []*Value, op string, args ...any) {
	for _, v := range inputs {
		if u.a.between(e.chain[0], e.chain[len(e.chain)-1], v) {
			return
		}
	}
	u.replace(e.chain, op, args...)
}

// results are the last arguments of an operator on bytes: how its result is quantized.
func (e *end) results() []any {
	return []any{e.scale, e.zero, e.least, e.most, e.dtype(), e.relu}
}

// factor is a constant weight of bytes with scales along axis, or one scale.
func (u *fuser) factor(v *Value, axis int) (w, scale, zero *tensor.Tensor, ok bool) {
	q, ok := u.quantumOf(v.Node, false)
	if !ok {
		return nil, nil, nil, false
	}
	w, ok = u.constTensor(q.bytes)
	if !ok || w == nil || w.DType() != q.dtype || w.Dim() < 2 {
		return nil, nil, nil, false
	}
	if q.axis < 0 {
		q.axis += w.Dim()
	}
	if q.scale.Numel() > 1 && (q.axis != axis || q.scale.Numel() != w.Size(axis)) {
		return nil, nil, nil, false
	}
	scale = q.scale.Reshape([]int{-1}).Float().Contiguous().Keep()
	if q.zero != nil {
		zero = q.zero.Reshape([]int{-1}).ToDType(tensor.Int32).Contiguous().Keep()
	}
	return w, scale, zero, true
}

// floats is a constant vector of n floats, be it dequantized; nil for None.
func (u *fuser) floats(v *Value, n int) (t *tensor.Tensor, ok bool) {
	if isNone(v) {
		return nil, true
	}
	if t, ok = u.constFloats(v); !ok {
		if t, ok = u.computed(v.Node); ok && t.DType() != tensor.Float32 {
			return nil, false
		}
	}
	return t, ok && t != nil && t.Dim() == 1 && t.Size(0) == n
}

// computed is what a dequantization of constants gives.
func (u *fuser) computed(n *Node) (*tensor.Tensor, bool) {
	if n == nil || n.Operator == nil {
		return nil, false
	}
	if quantizes, known := quantizers[n.Op]; !known || quantizes {
		return nil, false
	}
	args := make([]tensor.Value, len(n.In))
	for i, v := range n.In {
		if !isConstant(v) || isMutable(v.Node.Const) {
			return nil, false
		}
		if _, ok := u.constTensor(v); !ok && v.Node.Const.K == tensor.KTensor {
			return nil, false
		}
		args[i] = v.Node.Const
	}
	res, err := n.Operator.Call(args...)
	if err != nil || len(res) != 1 || res[0].K != tensor.KTensor || res[0].T == nil {
		return nil, false
	}
	return res[0].T.Keep(), true
}

func (u *fuser) quantizedConv(n *Node) {
	x, scale, zero, ok := u.dequantized(n.In[0], n)
	w, ws, wz, ok2 := u.factor(n.In[1], 0)
	if !ok || !ok2 || w.Dim() != convDims(n)+2 {
		return
	}
	b, ok := u.floats(n.In[2], w.Size(0))
	if !ok {
		return
	}
	e := u.endOf(n)
	u.place(&e, []*Value{x.bytes}, "gotorch::bytes_conv", append([]any{x.bytes, scale, zero, w, ws, wz, b, n.In[3],
		n.In[4], n.In[5], n.In[6]}, e.results()...)...)
}

// quantizedLinear is for a linear layer, whose weight has a row for each output (axis 0), or a product by a matrix with
// a column for each (axis 1), which may be followed by the addition of a constant.
func (u *fuser) quantizedLinear(n *Node, axis int) {
	x, scale, zero, ok := u.dequantized(n.In[0], n)
	w, ws, wz, ok2 := u.factor(n.In[1], axis)
	if !ok || !ok2 || w.Dim() != 2 || w.Numel() == 0 {
		return
	}
	if axis == 1 {
		w = w.Transpose(0, 1).Contiguous().Keep()
	}
	var b *tensor.Tensor
	e := u.endOf(n)
	if axis == 0 && len(n.In) > 2 {
		if b, ok = u.floats(n.In[2], w.Size(0)); !ok {
			return
		}
	}
	if next := u.next(n.Out[0], n.Block); b == nil && next != nil {
		if other, ok := u.addend(next, n.Out[0]); ok {
			if c, ok := u.floats(other, w.Size(0)); ok && c != nil {
				b, e = c, u.endOf(next)
				e.chain = append([]*Node{n}, e.chain...)
			}
		}
	}
	u.place(&e, []*Value{x.bytes}, "gotorch::bytes_linear", append([]any{x.bytes, scale, zero, w, ws, wz, b},
		e.results()...)...)
}

// quantizedPair is for sums and products of two tensors.
func (u *fuser) quantizedPair(n *Node) {
	if len(n.In) > 2 {
		if x, ok := constNumber(n.In[2], 1); !ok || x != 1 {
			return
		}
	}
	a, sa, za, ok := u.dequantized(n.In[0], n)
	b, sb, zb, ok2 := u.dequantized(n.In[1], n)
	if !ok || !ok2 || a.dtype != b.dtype {
		return
	}
	e := u.endOf(n)
	if !e.isBytes || e.q.dtype != a.dtype {
		return
	}
	op := "gotorch::bytes_add"
	if n.Op == "aten::mul.Tensor" {
		op = "gotorch::bytes_mul"
	}
	u.place(&e, []*Value{a.bytes, b.bytes}, op, append([]any{a.bytes, sa, za, b.bytes, sb, zb}, e.results()[:5]...)...)
}

// bytesMove are operators that take elements from one place to another, or choose among them: they do with bytes what
// they do with the numbers that these stand for. Their first argument is the only tensor but for indices.
var bytesMove = map[string]bool{"aten::max_pool1d": true, "aten::max_pool2d": true, "aten::max_pool3d": true,
	"aten::reshape": true, "aten::view": true, "aten::flatten.using_ints": true, "aten::permute": true,
	"aten::transpose.int": true, "aten::squeeze": true, "aten::squeeze.dim": true, "aten::unsqueeze": true,
	"aten::slice.Tensor": true, "aten::select.int": true, "aten::contiguous": true, "aten::t": true,
	"aten::expand": true, "aten::narrow": true, "aten::dropout": true, "aten::index_select": true, "aten::tile": true,
	"aten::repeat": true, "aten::flip": true, "aten::roll": true, "aten::pixel_shuffle": true,
	"aten::pixel_unshuffle": true, "aten::channel_shuffle": true, "onnx::reshape": true, "onnx::depth_to_space": true,
	"onnx::space_to_depth": true}

// bytesFill are operators that do so, too, but put a number around or between the elements: moveArgs says where they
// can do it with bytes.
var bytesFill = map[string]bool{"aten::constant_pad_nd": true, "onnx::pad": true, "onnx::resize": true}

// bytesSplit are operators that make a list of parts of a tensor, their first argument.
var bytesSplit = map[string]bool{"aten::split.Tensor": true, "aten::split_with_sizes": true, "aten::chunk": true,
	"aten::unbind.int": true, "onnx::split": true}

// maxPool1dBytes is max_pool1d of bytes: the operator of that name takes floats only.
const maxPool1dBytes = "aten::max_pool1d_with_indices"

// own reports that the result of n is memory that the function alone reads, so that it may be other memory.
func (u *fuser) own(n *Node) bool {
	return len(n.Out) == 1 && !u.a.isWritten(n.Out[0]) && !u.a.escapes[u.a.class(n.Out[0])]
}

// quantizedMove has n move the bytes, which are dequantized behind it: where a quantization to the same bytes follows,
// requantized finds both.
func (u *fuser) quantizedMove(n *Node) {
	x, _, _, ok := u.dequantized(n.In[0], n)
	if !ok || !u.own(n) || u.next(n.Out[0], n.Block) == nil {
		return
	}
	args, ok := moveArgs(n, &x)
	if !ok {
		return
	}
	moved := &Block{Func: n.Block.Func, pos: n.Pos}
	name := n.Op
	switch name {
	case "aten::max_pool1d":
		name = maxPool1dBytes
	case "aten::max_pool2d":
		name = "gotorch::bytes_max_pool2d"
	case "aten::dropout":
		if training, ok := constNumber(n.In[2], 1); !ok || training != 0 {
			return
		}
		name, args = "aten::alias", args[:1]
	}
	v := moved.Call1(name, args...)
	insertBefore(n, moved.Nodes)
	u.replace([]*Node{n}, x.node.Op, append([]any{v}, anys(x.node.In[1:])...)...)
}

// moveArgs are the arguments of n, an operator of bytesMove or bytesFill, on bytes. ok is false where it would put a
// number among them that no byte stands for.
func moveArgs(n *Node, x *quantum) (args []any, ok bool) {
	args = append([]any{x.bytes}, anys(n.In[1:])...)
	word := func(i int) string {
		if v := n.In[i].Node; v != nil && v.Op == Constant {
			s, _ := v.Const.X.(string)
			return s
		}
		return ""
	}
	switch n.Op {
	case "aten::constant_pad_nd":
		if len(n.In) < 3 {
			args = append(args, nil)
		}
		fill := 0.0
		if len(n.In) > 2 {
			if fill, ok = constNumber(n.In[2], 0); !ok {
				return nil, false
			}
		}
		scale, zero, _ := x.one()
		q := math.RoundToEven(fill/scale) + float64(zero)
		if !(q >= float64(x.lo) && q <= float64(x.hi)) || float32(q-float64(zero))*float32(scale) != float32(fill) {
			return nil, false
		}
		args[2] = int(q)
	case "onnx::pad": // modes that repeat elements
		return args, slices.Contains([]string{"edge", "reflect", "wrap"}, word(2))
	case "onnx::resize": // without places outside of the tensor
		return args, word(5) == "nearest" && word(6) != "" && word(6) != "tf_crop_and_resize"
	}
	return args, true
}

// quantizedSplit has n split the bytes, whose parts are dequantized.
func (u *fuser) quantizedSplit(n *Node) {
	x, _, _, ok := u.dequantized(n.In[0], n)
	if !ok || u.a.isWritten(n.Out[0]) {
		return
	}
	unpack := u.next(n.Out[0], n.Block)
	if unpack == nil || unpack.Op != ListUnpack || u.a.between(n, unpack, x.bytes) {
		return
	}
	types := make([]*Type, len(unpack.Out))
	for i, v := range unpack.Out {
		if u.uses[v] > 1 || u.a.isWritten(v) || u.a.escapes[u.a.class(v)] {
			return
		}
		types[i] = v.Type
	}
	scratch := &Block{Func: n.Block.Func, pos: n.Pos}
	parts := scratch.Unpack(scratch.Call1(n.Op, append([]any{x.bytes}, anys(n.In[1:])...)...), types...)
	for i, v := range unpack.Out {
		d := scratch.Call(x.node.Op, append([]any{parts[i]}, anys(x.node.In[1:])...)...)
		d.Out[0], v.Node = v, d
		u.uses[parts[i]], u.user[parts[i]] = 1, d
	}
	insertBefore(unpack, scratch.Nodes)
	u.dead[n], u.dead[unpack] = true, true
}

// requantized is for a quantization of what was dequantized: the bytes themselves, or others by a table.
func (u *fuser) requantized(n *Node) {
	q, ok := u.quantumOf(n, true)
	x, _, _, ok2 := u.dequantized(n.In[0], n)
	if !ok || !ok2 {
		return
	}
	if q.same(&x) && q.lo <= x.lo && q.hi >= x.hi && u.own(n) {
		u.replace([]*Node{n}, "aten::alias", x.bytes)
	} else if scale, zero, ok := q.one(); ok {
		e := end{chain: []*Node{n}, q: q, isBytes: true, scale: scale, zero: zero, least: q.lo, most: q.hi}
		u.place(&e, []*Value{x.bytes}, "gotorch::bytes_map", x.bytes, u.table(&x, &e, unchanged))
	}
}

func unchanged(x *tensor.Tensor) (*tensor.Tensor, bool) { return x, true }

// quantizedCat joins bytes, after bringing those to the scale of the result that have another.
func (u *fuser) quantizedCat(n *Node) {
	list := n.In[0].Node
	if list == nil || list.Op != ListConstruct || u.uses[n.In[0]] != 1 || u.a.isWritten(n.In[0]) ||
		list.Block != n.Block {
		return
	}
	e := u.endOf(n)
	if !e.isBytes || len(e.chain) != 2 {
		return
	}
	var parts []*Value
	var all []quantum
	for _, v := range list.In {
		q, _, _, ok := u.dequantized(v, n)
		if !ok {
			return
		}
		parts, all = append(parts, q.bytes), append(all, q)
	}
	for _, v := range parts {
		if u.a.between(n, e.chain[1], v) {
			return
		}
	}
	scratch := &Block{Func: n.Block.Func, pos: n.Pos}
	for i := range all {
		if !all[i].same(&e.q) || e.q.lo > all[i].lo || e.q.hi < all[i].hi {
			table := u.table(&all[i], &e, unchanged)
			parts[i] = scratch.Call1("gotorch::bytes_map", parts[i], table)
		}
	}
	l := scratch.List(Tensor, parts...)
	last := e.chain[1]
	insertBefore(last, scratch.Nodes)
	u.replace(e.chain, "aten::cat", l, n.In[1])
	u.dead[list] = true
}

// quantizedAverage is for average pooling with one divisor for all windows, and for means of whole images.
func (u *fuser) quantizedAverage(n *Node) {
	x, scale, zero, ok := u.dequantized(n.In[0], n)
	e := u.endOf(n)
	if !ok || !e.isBytes {
		return
	}
	fits := true
	ints := func(i int, none ...int) []int {
		if i >= len(n.In) {
			return none
		}
		l, ok := u.constInts(n.In[i])
		fits = fits && ok
		return l
	}
	number := func(i int, none float64) bool { // that of a bool
		if i >= len(n.In) {
			return none != 0
		}
		v, ok := constNumber(n.In[i], none)
		fits = fits && ok
		return v != 0
	}
	var kernel, stride, padding []int
	pads, keeps := false, true
	switch n.Op {
	case "aten::avg_pool2d":
		kernel, stride, padding, pads = ints(1), ints(2), ints(3, 0), number(5, 1)
		fits = fits && !number(4, 0) && (len(n.In) < 7 || isNone(n.In[6]))
	case "aten::adaptive_avg_pool2d":
		fits = slices.Equal(ints(1), []int{1, 1})
	default:
		dims := slices.Sorted(slices.Values(ints(1)))
		keeps = number(2, 0)
		fits = fits && (len(n.In) < 4 || isNone(n.In[3])) && (slices.Equal(dims, []int{-2, -1}) ||
			slices.Equal(dims, []int{2, 3}) && n.In[0].Info != nil && len(n.In[0].Info.Shape) == 4)
	}
	if !fits {
		return
	}
	args := append([]any{x.bytes, scale, zero, kernel, stride, padding, pads}, e.results()[:5]...)
	if keeps {
		u.place(&e, []*Value{x.bytes}, "gotorch::bytes_avg_pool2d", args...)
		return
	}
	last := e.chain[len(e.chain)-1]
	if u.a.between(n, last, x.bytes) {
		return
	}
	scratch := &Block{Func: n.Block.Func, pos: n.Pos}
	y := scratch.Call1("gotorch::bytes_avg_pool2d", args...)
	insertBefore(last, scratch.Nodes)
	u.replace(e.chain, "aten::squeeze.dims", y, []int{-2, -1})
}

// earlier moves a quantization in front of an operator that only moves or chooses numbers, so that what makes these
// numbers of bytes makes bytes: quantization keeps the order of numbers.
func (u *fuser) earlier(n *Node) {
	q, ok := u.quantumOf(n, true)
	if !ok || q.scale.Numel() != 1 || !u.own(n) {
		return
	}
	move := n.In[0].Node
	if move == nil || move.Block != n.Block || !bytesMove[move.Op] || move.Op == "aten::dropout" || !u.own(move) ||
		u.next(move.Out[0], n.Block) != n || u.next(move.In[0], n.Block) != move || u.a.isWritten(move.In[0]) ||
		!u.readsBytes(move) {
		return
	}
	for _, v := range move.In[1:] {
		if u.a.between(move, n, v) {
			return
		}
	}
	if _, ok := u.quantumOf(move.In[0].Node, false); ok { // the bytes themselves are moved, see quantizedMove
		return
	}
	scratch := &Block{Func: n.Block.Func, pos: n.Pos}
	args := append([]any{move.In[0]}, anys(n.In[1:])...)
	first := scratch.Call1(n.Op, args...)
	insertBefore(n, scratch.Nodes)
	u.uses[move.In[0]], u.user[move.In[0]] = 1, first.Node
	name := move.Op
	if name == "aten::max_pool2d" {
		name = "gotorch::bytes_max_pool2d"
	}
	u.replace([]*Node{move, n}, name, append([]any{first}, anys(move.In[1:])...)...)
	u.earlier(first.Node)
}

func anys(l []*Value) []any {
	out := make([]any, len(l))
	for i, v := range l {
		out[i] = v
	}
	return out
}

// readsBytes reports an operator that reads dequantized numbers, or does so through limits and operators that only move
// or choose numbers.
func (u *fuser) readsBytes(n *Node) bool {
	inputs := n.In
	if len(inputs) > 0 && inputs[0].Node != nil && inputs[0].Node.Op == ListConstruct {
		inputs = inputs[0].Node.In
	}
	for _, v := range inputs {
		if _, ok := u.quantumOf(v.Node, false); ok {
			return true
		}
	}
	if len(inputs) == 0 || inputs[0].Node == nil {
		return false
	}
	before := inputs[0].Node
	_, _, limits := limits(n, inputs[0])
	return (limits || bytesMove[n.Op]) && before.Block == n.Block && u.readsBytes(before)
}

// quantizedMap replaces a function of single numbers by a table of its results for all bytes.
func (u *fuser) quantizedMap(n *Node) {
	o := n.Operator
	if o == nil || o.op == nil || !o.op.Elementwise || slices.ContainsFunc(o.Params, func(p Param) bool {
		return p.Writes()
	}) || len(n.Out) != 1 || len(n.In) == 0 ||
		o.op.Sch.Index("generator") >= 0 {
		return
	}
	x, _, _, ok := u.dequantized(n.In[0], n)
	if !ok {
		return
	}
	e := u.endOf(n)
	if !e.isBytes {
		return
	}
	args := make([]tensor.Value, len(n.In))
	for i, v := range n.In[1:] {
		if !isConstant(v) || isMutable(v.Node.Const) || v.Node.Const.K == tensor.KTensor && v.Node.Const.T != nil {
			return
		}
		args[i+1] = v.Node.Const
	}
	table := u.table(&x, &e, func(x *tensor.Tensor) (*tensor.Tensor, bool) {
		args[0] = tensor.TensorValue(x)
		res, err := o.Call(args...)
		if err != nil || len(res) != 1 || res[0].K != tensor.KTensor || res[0].T.DType() != tensor.Float32 {
			return nil, false
		}
		return res[0].T, true
	})
	if table != nil {
		u.place(&e, []*Value{x.bytes}, "gotorch::bytes_map", x.bytes, table)
	}
}

// table lists, for each byte that x may hold, what f makes of the number that it stands for, quantized as the end says.
func (u *fuser) table(x *quantum, e *end, f func(x *tensor.Tensor) (*tensor.Tensor, bool)) *tensor.Tensor {
	scale, zero, _ := x.one()
	numbers := make([]float32, 256)
	for i := range numbers {
		q := i
		if x.dtype == tensor.Int8 {
			q = int(int8(i))
		}
		numbers[i] = float32(q-zero) * float32(scale)
	}
	y, ok := f(tensor.FromSlice(numbers))
	if !ok || y.Numel() != 256 {
		return nil
	}
	made := make([]int64, 256)
	for i, v := range tensor.Data[float32](y.Contiguous()) {
		made[i] = int64(min(max(e.q.integer(v), e.least), e.most))
	}
	return tensor.FromSlice(made).ToDType(e.q.dtype).Keep()
}

// unquantize computes the dequantizations of constants that are left, and drops those that nobody reads.
func (u *fuser) unquantize(n *Node) {
	if quantizes, known := quantizers[n.Op]; !known {
		return
	} else if u.uses[n.Out[0]] == 0 {
		u.dead[n] = true
	} else if t, ok := u.computed(n); ok && !quantizes && !u.a.isWritten(n.Out[0]) &&
		!u.a.escapes[u.a.class(n.Out[0])] {
		n.Op, n.Operator, n.In, n.Const = Constant, nil, nil, tensor.TensorValue(t)
	}
}
