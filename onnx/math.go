package onnx

import (
	"math"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	define("", map[string]rule{
		"BitShift":        bitShift,
		"Clip":            clip,
		"CumProd":         cumulative("aten::cumprod"),
		"CumSum":          cumulative("aten::cumsum"),
		"Div":             div,
		"Einsum":          einsum,
		"Gemm":            gemm,
		"HardSigmoid":     hardSigmoid,
		"Hardmax":         hardmax,
		"Identity":        func(n *node) []*value { return one(n.T(0)) },
		"IsInf":           isInf,
		"LogSoftmax":      softmaxOld("aten::log_softmax.int"),
		"Max":             extremum("aten::maximum"),
		"Mean":            mean,
		"Min":             extremum("aten::minimum"),
		"Mod":             mod,
		"PRelu":           prelu,
		"Pow":             pow,
		"Selu":            selu,
		"Shrink":          shrink,
		"Softmax":         softmaxOld("aten::softmax.int"),
		"Softsign":        func(n *node) []*value { return one(n.same(n.call("onnx::softsign", n.T(0)))) },
		"Sum":             sum,
		"Swish":           swish,
		"BlackmanWindow":  window("aten::blackman_window.periodic"),
		"HammingWindow":   window("onnx::hamming_window"),
		"HannWindow":      window("aten::hann_window.periodic"),
		"MelWeightMatrix": melWeights,
	})

	helper("softsign(Tensor x) -> Tensor", func(a args) any {
		x := a.T(0)
		return x.Div(x.Abs().AddScalar(1))
	})
	helper("unsigned_div(Tensor x, Tensor y, bool modulo) -> Tensor", func(a args) any {
		return unsigned(a.T(0), a.T(1), func(x, y uint64) uint64 {
			if y == 0 {
				tensor.Fail(tensor.ErrValue, "ZeroDivisionError")
			}
			if a.bool(2) {
				return x % y
			}
			return x / y
		})
	})
	helper("unsigned_shift(Tensor x, Tensor y) -> Tensor", func(a args) any {
		return unsigned(a.T(0), a.T(1), func(x, y uint64) uint64 { return x >> y })
	})
	helper("softmax_from(Tensor x, int axis, bool log) -> Tensor", func(a args) any {
		x := a.T(0)
		axis := a.int(1)
		if axis += map[bool]int{true: x.Dim()}[axis < 0]; axis < 0 || axis > x.Dim() {
			wrong("Softmax", "axis %d of a tensor with %d dimensions", a.int(1), x.Dim())
		}
		flat := x.Reshape([]int{product(x.Shape()[:axis]), product(x.Shape()[axis:])})
		if a.bool(2) {
			flat = flat.LogSoftmax(1)
		} else {
			flat = flat.Softmax(1)
		}
		return flat.Reshape(x.Shape())
	})
	helper("hardmax(Tensor x, int axis, bool from) -> Tensor", func(a args) any {
		x := a.T(0)
		shape := x.Shape()
		axis := dim("Hardmax", a.int(1), max(1, x.Dim()))
		if a.bool(2) {
			x = x.Reshape([]int{product(shape[:axis]), product(shape[axis:])})
			axis = 1
		}
		best := call("aten::argmax", x, axis, true)
		out := x.NewZeros(x.Shape()).ScatterScalar(axis, best, 1)
		return out.Reshape(shape)
	})
	helper("cumulative(Tensor x, int axis, str op, bool exclusive, bool reverse) -> Tensor", func(a args) any {
		x, op := a.T(0), a.str(2)
		axis := dim("CumSum", a.int(1), x.Dim())
		if a.bool(4) {
			x = x.Flip([]int{axis})
		}
		y := call(op, x, axis, x.DType())
		if size := x.Size(axis); a.bool(3) && size > 0 {
			shape := append([]int(nil), x.Shape()...)
			shape[axis] = 1
			first := x.NewZeros(shape)
			if op == "aten::cumprod" {
				first = x.NewOnes(shape)
			}
			y = call("aten::cat", []*T{first, y.Narrow(axis, 0, size-1)}, axis)
		}
		if a.bool(4) {
			y = y.Flip([]int{axis})
		}
		return y
	})
	helper("hamming_window(int size, bool periodic, ScalarType dtype) -> Tensor", func(a args) any {
		return call("aten::hamming_window.periodic_alpha_beta", a.int(0), a.bool(1), 25.0/46, 21.0/46, a.dtype(2))
	})
	helper("mel_weights(int bins, int length, int rate, float low, float high) -> Tensor", func(a args) any {
		return mel(a.int(0), a.int(1), a.int(2), a.float(3), a.float(4))
	})
	helper("prelu(Tensor x, Tensor slope) -> Tensor", func(a args) any {
		x, slope := a.T(0), a.T(1)
		return x.Where(x.GeScalar(0), x.Mul(slope))
	})
	helper("shrink(Tensor x, float lambd, float bias) -> Tensor", func(a args) any {
		x, l, b := a.T(0), a.float(1), a.float(2)
		zero := x.NewZeros(nil)
		y := x.AddScalar(b).ToDType(x.DType()).Where(x.LtScalar(-l), zero)
		return x.SubScalar(b).ToDType(x.DType()).Where(x.GtScalar(l), y)
	})
}

// unsigned applies f to pairs of int64 whose bits are numbers without a sign.
func unsigned(x, y *T, f func(x, y uint64) uint64) *T {
	shape := tensor.BroadcastShapes(x.Shape(), y.Shape())
	p := tensor.Data[int64](x.Expand(shape).Contiguous())
	q := tensor.Data[int64](y.Expand(shape).Contiguous())
	out := make([]int64, len(p))
	for i := range out {
		out[i] = int64(f(uint64(p[i]), uint64(q[i])))
	}
	return tensor.FromSlice(out, len(out)).Reshape(shape)
}

// isInteger reports an integer type.
func isInteger(e onnxpb.DataType) bool {
	switch e {
	case onnxpb.Int8, onnxpb.Int16, onnxpb.Int32, onnxpb.Int64, onnxpb.Uint8, onnxpb.Uint16, onnxpb.Uint32,
		onnxpb.Uint64,
		onnxpb.Int4, onnxpb.Uint4, onnxpb.Int2, onnxpb.Uint2:
		return true
	}
	return false
}

// binary translates an elementwise operator of two inputs by f, with inputs and result of unsigned types converted.
func (n *node) binary(f func(x, y *value) *graph.Value) *value {
	n.T(1)
	ins := n.in
	elem, signed := n.elementwise()
	if signed != nil {
		ins = signed
	}
	v := n.tensor(f(ins[0], ins[1]), elem)
	if signed != nil {
		v.g = n.call("aten::to.dtype", v.g, n.dtype(elem))
	}
	if a, b := n.T(0).rank, n.T(1).rank; a >= 0 && b >= 0 {
		v.rank = max(a, b)
	}
	return v
}

// div divides; integers are rounded towards 0.
func div(n *node) []*value {
	return one(n.binary(func(x, y *value) *graph.Value {
		switch e := n.T(0).elem; {
		case e == onnxpb.Uint64:
			return n.call("onnx::unsigned_div", x, y, false)
		case isInteger(e):
			return n.call("aten::div.Tensor_mode", x, y, "trunc")
		}
		return n.call("aten::div.Tensor", x, y)
	}))
}

func mod(n *node) []*value {
	return one(n.binary(func(x, y *value) *graph.Value {
		switch {
		case n.T(0).elem == onnxpb.Uint64:
			return n.call("onnx::unsigned_div", x, y, true)
		case n.int("fmod", 0) != 0:
			return n.call("aten::fmod.Tensor", x, y)
		}
		return n.call("aten::remainder.Tensor", x, y)
	}))
}

func bitShift(n *node) []*value {
	left := n.str("direction", "") == "LEFT"
	return one(n.binary(func(x, y *value) *graph.Value {
		switch {
		case left:
			return n.call("aten::bitwise_left_shift.Tensor", x, y)
		case n.T(0).elem == onnxpb.Uint64:
			return n.call("onnx::unsigned_shift", x, y)
		}
		return n.call("aten::bitwise_right_shift.Tensor", x, y)
	}))
}

// pow raises to a power; the result has the type of the base.
func pow(n *node) []*value {
	x, y := n.T(0), n.T(1)
	// a number as exponent has fast forms: squares, roots
	if k := y.konst; k != nil && k.Numel() == 1 && k.Dim() == 0 && !isInteger(x.elem) && x.elem != 0 {
		if f := k.Num().F; f == math.Trunc(f) {
			return one(n.same(n.call("aten::pow.Tensor_Scalar", x, int(f))))
		}
		return one(n.same(n.call("aten::pow.Tensor_Scalar", x, k.Num().F)))
	}
	v := n.tensor(n.call("aten::pow.Tensor_Tensor", x, y), x.elem)
	if x.elem != y.elem {
		v.g = n.call("aten::to.dtype", v.g, n.dtype(x.elem))
	}
	if x.rank >= 0 && y.rank >= 0 {
		v.rank = max(x.rank, y.rank)
	}
	return one(v)
}

// extremum is Max or Min of any number of inputs.
func extremum(op string) rule {
	return func(n *node) []*value {
		v := *n.T(0)
		for i := 1; i < len(n.in); i++ {
			v.g = n.call(op, &v, n.T(i))
			v.konst = nil
			if r := n.T(i).rank; v.rank >= 0 && r >= 0 {
				v.rank = max(v.rank, r)
			} else {
				v.rank = -1
			}
		}
		return one(&v)
	}
}

func sum(n *node) []*value {
	v := *n.T(0)
	for i := 1; i < len(n.in); i++ {
		v = value{g: n.call("aten::add.Tensor", &v, n.T(i)), kind: v.kind, elem: v.elem, rank: -1}
	}
	return one(&v)
}

func mean(n *node) []*value {
	v := sum(n)[0]
	return one(n.tensor(n.call("aten::div.Scalar", v, len(n.in)), v.elem))
}

// clip limits to numbers that are attributes until version 10 and inputs since 11.
func clip(n *node) []*value {
	x := n.T(0)
	if n.opset < 11 {
		return one(n.same(n.call("aten::clamp", x, n.limit("min"), n.limit("max"))))
	}
	lo, hi := n.opt(1), n.opt(2)
	if lo == nil && hi == nil {
		return one(x)
	}
	var limits [2]any
	known := true
	for i, v := range []*value{lo, hi} {
		if v == nil {
			continue
		}
		if v.konst == nil || v.konst.Numel() != 1 || unsignedWide(x.elem) {
			known = false
			break
		}
		limits[i] = v.konst.Num()
	}
	if known {
		return one(n.same(n.call("aten::clamp", x, limits[0], limits[1])))
	}
	_, signed := n.elementwise()
	if signed == nil {
		return one(n.same(n.call("aten::clamp.Tensor", x, lo, hi)))
	}
	for len(signed) < 3 {
		signed = append(signed, nil)
	}
	v := n.same(n.call("aten::clamp.Tensor", signed[0], signed[1], signed[2]))
	v.g = n.call("aten::to.dtype", v.g, n.dtype(x.elem))
	return one(v)
}

func (n *node) limit(name string) any {
	if a := n.attr(name, onnxpb.AttrFloat); a != nil {
		return float64(a.F)
	}
	return nil
}

func cumulative(op string) rule {
	return func(n *node) []*value {
		axis := n.intValue(1)
		exclusive, reverse := n.bool("exclusive", false), n.bool("reverse", false)
		if !exclusive && !reverse && n.T(0).elem != 0 {
			return one(n.same(n.call(op, n.T(0), axis, n.dtype(n.T(0).elem))))
		}
		return one(n.same(n.call("onnx::cumulative", n.T(0), axis, op, exclusive, reverse)))
	}
}

func einsum(n *node) []*value {
	return one(n.like(n.call("aten::einsum", n.str("equation", ""), n.in)))
}

// gemm is alpha A B + beta C with A and B transposed or not.
func gemm(n *node) []*value {
	a, b, c := n.T(0), n.T(1), n.opt(2)
	alpha, beta := n.float("alpha", 1), n.float("beta", 1)
	transA, transB := n.bool("transA", false), n.bool("transB", false)
	elem := a.elem
	out := func(g *graph.Value) []*value {
		v := n.tensor(g, elem)
		v.rank = 2
		return one(v)
	}
	// the form of a linear layer, which may keep its weight packed
	if !transA && alpha == 1 && beta == 1 && !isInteger(elem) && (c == nil || c.rank == 1) {
		w := any(b)
		if !transB {
			w = n.transposed(b)
		}
		if c == nil || c.konst == nil || b.konst == nil ||
			c.konst.Size(0) == b.konst.Size(map[bool]int{true: 0, false: 1}[transB]) {
			return out(n.call("aten::linear", a, w, c))
		}
	}
	x, y := any(a), any(b)
	if transA {
		x = n.transposed(a)
	}
	if transB {
		y = n.transposed(b)
	}
	if c == nil {
		g := n.call("aten::mm", x, y)
		if alpha != 1 {
			g = n.call("aten::mul.Scalar", g, number(alpha, elem))
		}
		return out(g)
	}
	return out(n.call("aten::addmm", c, x, y, number(beta, elem), number(alpha, elem)))
}

// number is a factor for elements of a type: an integer for integers.
func number(x float64, e onnxpb.DataType) any {
	if isInteger(e) {
		return int(x)
	}
	return x
}

// transposed is a matrix turned; that of a constant is a constant.
func (n *node) transposed(v *value) *value {
	if v.konst != nil && v.konst.Dim() == 2 {
		return constant(v.konst.Transpose(0, 1).Contiguous(), v.elem)
	}
	return n.tensor(n.call("aten::t", v), v.elem)
}

func hardSigmoid(n *node) []*value {
	alpha, beta := n.float("alpha", 0.2), n.float("beta", 0.5)
	if float32(alpha) == float32(1.0/6) && beta == 0.5 { // PyTorch's, to which it is one operator
		return one(n.same(n.call("aten::hardsigmoid", n.T(0))))
	}
	y := n.call("aten::add.Scalar", n.call("aten::mul.Scalar", n.T(0), alpha), beta)
	return one(n.same(n.call("aten::clamp", y, 0, 1)))
}

func hardmax(n *node) []*value {
	axis := -1
	if n.opset < 13 {
		axis = 1
	}
	return one(n.same(n.call("onnx::hardmax", n.T(0), n.int("axis", axis), n.opset < 13)))
}

// softmaxOld is Softmax or LogSoftmax; until version 12 over all dimensions from an axis on, since 13 over one.
func softmaxOld(op string) rule {
	return func(n *node) []*value {
		x := n.T(0)
		if n.opset >= 13 {
			return one(n.direct(tensor.FindONNX(n.pb.Op, n.opset)))
		}
		axis := n.int("axis", 1)
		if axis == -1 || x.rank > 0 && axis == x.rank-1 {
			return one(n.same(n.call(op, x, axis)))
		}
		return one(n.same(n.call("onnx::softmax_from", x, axis, n.pb.Op == "LogSoftmax")))
	}
}

func isInf(n *node) []*value {
	neg, pos := n.bool("detect_negative", true), n.bool("detect_positive", true)
	x := n.T(0)
	v := n.tensor(nil, onnxpb.Bool)
	v.rank = x.rank
	switch {
	case neg && pos:
		v.g = n.call("aten::isinf", x)
	case neg:
		v.g = n.call("aten::isneginf", x)
	case pos:
		v.g = n.call("aten::isposinf", x)
	default:
		v.g = n.call("aten::zeros_like", x, tensor.Bool)
	}
	return one(v)
}

func prelu(n *node) []*value {
	x, slope := n.T(0), n.T(1)
	if k := slope.konst; k != nil && !isInteger(x.elem) {
		// PyTorch's form: one slope, or one for each channel
		if k.Numel() == 1 {
			w := constant(k.Reshape([]int{1}), slope.elem)
			return one(n.same(n.call("aten::prelu", x, w)))
		}
		if x.rank >= 2 && k.Dim() == x.rank-1 && k.Numel() == k.Size(0) {
			w := constant(k.Reshape([]int{k.Numel()}), slope.elem)
			return one(n.same(n.call("aten::prelu", x, w)))
		}
	}
	return one(n.same(n.call("onnx::prelu", x, slope)))
}

// The factors of SELU as float32 numbers, which are the attributes' defaults.
const (
	seluAlpha = 1.67326319217681884765625
	seluGamma = 1.05070102214813232421875
)

func selu(n *node) []*value {
	return one(n.same(n.call("aten::elu", n.T(0), n.float("alpha", seluAlpha), n.float("gamma", seluGamma), 1)))
}

func shrink(n *node) []*value {
	return one(n.same(n.call("onnx::shrink", n.T(0), n.float("lambd", 0.5), n.float("bias", 0))))
}

func swish(n *node) []*value {
	x, alpha := n.T(0), n.float("alpha", 1)
	if alpha == 1 {
		return one(n.same(n.call("aten::silu", x)))
	}
	return one(n.same(n.call("aten::mul.Tensor", x, n.call("aten::sigmoid", n.call("aten::mul.Scalar", x, alpha)))))
}

// window is a window of signal processing.
func window(op string) rule {
	return func(n *node) []*value {
		elem := n.elemAttr("output_datatype", onnxpb.Float)
		g := n.call(op, n.intValue(0), n.bool("periodic", true), n.dtype(elem))
		return one(n.tensor(g, elem))
	}
}

func melWeights(n *node) []*value {
	elem := n.elemAttr("output_datatype", onnxpb.Float)
	g := n.call("onnx::mel_weights", n.intValue(0), n.intValue(1), n.intValue(2), n.floatValue(3, nil),
		n.floatValue(4, nil))
	return one(n.tensor(n.call("aten::to.dtype", g, n.dtype(elem)), elem))
}

// mel is the matrix that takes a spectrum to the mel scale, as ONNX's reference defines it.
// https://onnx.ai/onnx/operators/onnx__MelWeightMatrix.html
func mel(bins, length, rate int, low, high float64) *T {
	if bins <= 0 || length <= 0 || rate <= 0 || length > maxList || bins > maxList/(length/2+1) {
		wrong("MelWeightMatrix", "%d bins, DFT of length %d, rate %d", bins, length, rate)
	}
	rows := length/2 + 1
	out := make([]float64, rows*bins)
	toMel := func(f float64) float64 { return 2595 * math.Log10(1+f/700) }
	lo, hi := toMel(low), toMel(high)
	step := (hi - lo) / float64(bins+2)
	points := make([]int, bins+2)
	for i := range points {
		f := 700 * (math.Pow(10, (float64(i)*step+lo)/2595) - 1)
		points[i] = int(math.Floor(float64(length+1) * f / float64(rate)))
	}
	set := func(row, col int, x float64) {
		if row >= 0 && row < rows {
			out[row*bins+col] = x
		}
	}
	for i := range bins {
		a, b, c := points[i], points[i+1], points[i+2]
		if b == a {
			set(b, i, 1)
		} else {
			for j := max(a, 0); j <= min(b, rows-1); j++ {
				set(j, i, float64(j-a)/float64(b-a))
			}
		}
		if c != b {
			for j := max(b, 0); j < min(c, rows); j++ {
				set(j, i, float64(c-j)/float64(c-b))
			}
		}
	}
	return tensor.FromSlice(out, rows, bins)
}

func ceil(x float64) float64 { return math.Ceil(x) }
