package onnx

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	define("", map[string]rule{"Resize": resize, "Upsample": upsample})

	helper("resize(Tensor x, float[]? roi, float[]? scales, int[]? sizes, int[]? axes, str mode, str coordinates, "+
		"str nearest, str policy, float cubic, bool exclude, bool antialias, float outside) -> Tensor",
		func(a args) any {
			r := resizer{roi: a.floats(1), mode: a.str(5), coordinates: a.str(6), nearest: a.str(7), cubic: a.float(9),
				exclude: a.bool(10), antialias: a.bool(11), outside: a.float(12)}
			return r.run(a.T(0), a.floats(2), a.ints(3), a.ints(4), a.str(8))
		})
}

// floatList is input i as a list of floats, nil when it is left out or empty.
func (n *node) floatList(i int) any {
	if !n.has(i) {
		return nil
	}
	if k := n.T(i).konst; k != nil {
		if k.Numel() == 0 {
			return nil
		}
		return slices.Clone(hostFloats(k))
	}
	return n.call("onnx::floats", n.T(i))
}

func resize(n *node) []*value {
	mode := n.str("mode", "nearest")
	coordinates, nearest := n.str("coordinate_transformation_mode", "half_pixel"),
		n.str("nearest_mode", "round_prefer_floor")
	var roi, scales, sizes any
	if n.opset < 11 {
		coordinates, nearest = "asymmetric", "simple"
		scales = n.floatList(1)
	} else {
		roi, scales = n.floatList(1), n.floatList(2)
		if n.has(3) && !(n.T(3).konst != nil && n.T(3).konst.Numel() == 0) {
			sizes, scales = n.intList(3), nil
		}
	}
	return one(n.resize(mode, roi, scales, sizes, n.optInts("axes"), coordinates, nearest))
}

// upsample takes its scales from an attribute until version 8, from an input in version 9.
func upsample(n *node) []*value {
	var scales any
	if n.opset < 9 {
		scales = n.floats("scales")
	} else {
		scales = n.floatList(1)
	}
	return one(n.resize(n.str("mode", "nearest"), nil, scales, nil, nil, "asymmetric", "simple"))
}

func (n *node) resize(mode string, roi, scales, sizes, axes any, coordinates, nearest string) *value {
	if mode == "bilinear" {
		mode = "linear"
	}
	if scales == nil && sizes == nil {
		fail("%w: neither scales nor sizes", onnxpb.ErrFormat)
	}
	return n.same(n.call("onnx::resize", n.T(0), roi, scales, sizes, axes, mode, coordinates, nearest,
		n.str("keep_aspect_ratio_policy", "stretch"), n.float("cubic_coeff_a", -0.75), n.bool("exclude_outside", false),
		n.bool("antialias", false), n.float("extrapolation_value", 0)))
}

// resizer resizes along one axis after the other: each element of the result is a weighted sum of some neighbours of
// its place in the input. https://onnx.ai/onnx/operators/onnx__Resize.html
type resizer struct {
	roi                        []float64
	mode, coordinates, nearest string
	cubic                      float64
	exclude, antialias         bool
	outside                    float64
}

func (r *resizer) run(x *T, scales []float64, sizes, axes []int, policy string) *T {
	axes = axesOr("Resize", axes, x.Dim())
	k := len(axes)
	if sizes != nil && len(sizes) != k || sizes == nil && len(scales) != k {
		wrong("Resize", "%d scales and %d sizes for %d axes", len(scales), len(sizes), k)
	}
	out, factor, width := make([]int, k), make([]float64, k), make([]float64, k)
	for i, axis := range axes {
		in := float64(x.Size(axis))
		if sizes == nil {
			factor[i] = float64(float32(scales[i]))
			width[i] = in * factor[i]
			out[i] = int(math.Floor(width[i]))
		} else {
			out[i], width[i] = sizes[i], float64(sizes[i])
			if in > 0 {
				factor[i] = width[i] / in
			}
		}
		if !(factor[i] >= 0) || out[i] < 0 || out[i] > maxList {
			wrong("Resize", "scales %v, sizes %v", scales, sizes)
		}
	}
	if sizes != nil && policy != "stretch" && k > 0 {
		f := slices.Min(factor)
		if policy == "not_smaller" {
			f = slices.Max(factor)
		}
		for i, axis := range axes {
			factor[i] = f
			out[i] = int(math.Floor(f*float64(x.Size(axis)) + 0.5))
			if width[i] = float64(out[i]); out[i] < 0 || out[i] > maxList {
				wrong("Resize", "sizes %v", out)
			}
		}
	}
	// with a policy the places follow the one factor, as with scales
	if y := r.torch(x, axes, out, factor, sizes == nil || policy != "stretch"); y != nil {
		return y
	}
	dt := x.DType()
	if r.mode != "nearest" && (dt.IsReduced() || dt.IsIntOrBool()) {
		x = x.ToDType(tensor.Float32)
	}
	var inside *T
	for i, axis := range axes {
		if out[i] == x.Size(axis) && factor[i] == 1 && r.coordinates != "tf_crop_and_resize" {
			continue
		}
		var ok []bool
		x, ok = r.along(x, axis, i, k, out[i], factor[i], width[i])
		if r.coordinates == "tf_crop_and_resize" {
			shape := make([]int, x.Dim())
			for j := range shape {
				shape[j] = 1
			}
			shape[axis] = out[i]
			m := tensor.FromSlice(ok, out[i]).Reshape(shape)
			if inside == nil {
				inside = m
			} else {
				inside = inside.LogicalAnd(m)
			}
		}
	}
	if inside != nil {
		x = x.MaskedFillScalar(inside.LogicalNot(), r.outside)
	}
	if x.DType() != dt && dt.IsInt() { // results of interpolation are rounded, and stay within the type
		info := tensor.IInfo(dt)
		x = x.Round().ClampScalar(tensor.ClampScalarOptions{Min: int(info.Min), Max: int(info.Max)})
	}
	return x.ToDType(dt)
}

// torch is the form that PyTorch has an operator for, nil for others: images of four dimensions, resized in the last
// two.
func (r *resizer) torch(x *T, axes, out []int, factor []float64, byScale bool) *T {
	if x.Dim() != 4 || !x.DType().IsFloat() || x.Numel() == 0 || r.antialias || r.exclude {
		return nil
	}
	var size [2]int
	var scale [2]any
	for i := range size {
		size[i] = x.Size(i + 2)
	}
	for i, axis := range axes {
		if byScale && factor[i]*float64(x.Size(axis)) != float64(out[i]) { // PyTorch copies where the size stays
			return nil
		}
		if axis < 2 {
			if out[i] != x.Size(axis) || factor[i] != 1 {
				return nil
			}
			continue
		}
		size[axis-2] = out[i]
		if byScale {
			scale[axis-2] = factor[i]
		}
	}
	if size[0] == 0 || size[1] == 0 {
		return nil
	}
	corners := r.coordinates == "align_corners"
	half := r.coordinates == "half_pixel" || r.coordinates == "pytorch_half_pixel" && size[0] > 1 && size[1] > 1
	if byScale && (corners || scale[0] == nil || scale[1] == nil) {
		return nil
	}
	switch {
	case r.mode == "nearest" && r.coordinates == "asymmetric" &&
		(r.nearest == "floor" || r.nearest == "simple" && slices.Min(factor) >= 1):
		return call("aten::upsample_nearest2d", x, size[:], scale[0], scale[1])
	case r.mode == "linear" && (half || corners):
		return call("aten::upsample_bilinear2d", x, size[:], corners, scale[0], scale[1])
	case r.mode == "cubic" && (half || corners) && r.cubic == -0.75:
		return call("aten::upsample_bicubic2d", x, size[:], corners, scale[0], scale[1])
	}
	return nil
}

// place is where element i of the result lies in the input. It is computed in float32, as PyTorch and ONNX Runtime do:
// whether a place lies just before or behind an element decides what the nearest one is.
func (r *resizer) place(i int, number, count, in, out int, factor, width float64) float64 {
	x, n, f, w := float32(i), float32(in), float32(factor), float32(out)
	switch r.coordinates {
	case "align_corners":
		if w == 1 {
			return 0
		}
		return float64(x * (n - 1) / (w - 1))
	case "asymmetric":
		return float64(x / f)
	case "tf_half_pixel_for_nn":
		return float64((x + 0.5) / f)
	case "pytorch_half_pixel":
		if w <= 1 {
			return 0
		}
	case "half_pixel_symmetric":
		adjust := w / float32(width)
		return float64(n/2*(1-adjust) + (x+0.5)/f - 0.5)
	case "tf_crop_and_resize":
		if len(r.roi) != 2*count {
			wrong("Resize", "%d numbers in roi, want %d", len(r.roi), 2*count)
		}
		from, to := float32(r.roi[number]), float32(r.roi[number+count])
		if w <= 1 {
			return float64((from + to) * (n - 1) / 2)
		}
		return float64(from*(n-1) + x*(to-from)*(n-1)/(w-1))
	case "half_pixel":
	default:
		tensor.Fail(tensor.ErrValue, "Resize: coordinate_transformation_mode %q", r.coordinates)
	}
	return float64((x+0.5)/f - 0.5)
}

// along resizes along an axis, which is number of count. ok tells which elements lie inside the input.
func (r *resizer) along(x *T, axis, number, count, out int, factor, width float64) (y *T, ok []bool) {
	in := x.Size(axis)
	if in == 0 && out > 0 {
		wrong("Resize", "an axis without elements to size %d", out)
	}
	ok = make([]bool, out)
	first, weights := make([]int, out), make([][]float64, out)
	taps := 1
	for i := range out {
		p := r.place(i, number, count, in, out, factor, width)
		ok[i] = p >= 0 && p <= float64(in-1)
		p = min(max(p, -1e15), 1e15)
		first[i], weights[i] = r.weights(p, in, factor)
		taps = max(taps, len(weights[i]))
	}
	for t := range taps {
		index := make([]int, out)
		w := make([]float64, out)
		all := true
		for i := range out {
			if t < len(weights[i]) {
				w[i] = weights[i][t]
			}
			all = all && w[i] == 1
			index[i] = min(max(first[i]+t, 0), in-1)
		}
		part := x.IndexSelect(axis, vector(index))
		if !all || taps > 1 {
			shape := make([]int, x.Dim())
			for j := range shape {
				shape[j] = 1
			}
			shape[axis] = out
			part = part.Mul(tensor.FromSlice(w, out).Reshape(shape).ToDType(x.DType()))
		}
		if y == nil {
			y = part
		} else {
			y = y.Add(part)
		}
	}
	return y, ok
}

// weights are the neighbours of a place, the first of which is returned, and how much each counts.
func (r *resizer) weights(p float64, in int, factor float64) (first int, w []float64) {
	if r.mode == "nearest" {
		ceiled := math.Ceil(p)
		switch r.nearest {
		case "floor":
			p = math.Floor(p)
		case "ceil":
			p = math.Ceil(p)
		case "round_prefer_floor":
			p = math.Ceil(p - 0.5)
		case "simple": // of version 10
			if p = math.Floor(p); factor < 1 {
				p = ceiled
			}
		case "round_prefer_ceil":
			p = math.Floor(p + 0.5)
		default:
			tensor.Fail(tensor.ErrValue, "Resize: nearest_mode %q", r.nearest)
		}
		return int(p), []float64{1}
	}
	reach, f := 1.0, func(d float64) float64 { return max(0, 1-math.Abs(d)) }
	if r.mode == "cubic" {
		reach, f = 2, func(d float64) float64 { return cubicWeight(math.Abs(d), r.cubic) }
	} else if r.mode != "linear" {
		tensor.Fail(tensor.ErrValue, "Resize: mode %q", r.mode)
	}
	scale := 1.0
	if r.antialias {
		scale = min(factor, 1)
	}
	if scale <= 0 {
		wrong("Resize", "scale %g", factor)
	}
	base := math.Floor(p)
	from := int(base) + int(math.Floor(-reach/scale)) + 1
	to := int(base) + 1 - (int(math.Floor(-reach/scale)) + 1)
	if to-from > 1<<20 {
		wrong("Resize", "scale %g", factor)
	}
	sum := 0.0
	for i := from; i <= to; i++ {
		x := f((float64(i) - p) * scale)
		if r.exclude && (i < 0 || i >= in) {
			x = 0
		}
		w = append(w, x)
		sum += x
	}
	if (r.antialias || r.exclude) && sum != 0 {
		for i := range w {
			w[i] /= sum
		}
	}
	return from, w
}

// cubicWeight is the cubic convolution of Keys, Cubic Convolution Interpolation for Digital Image Processing, 1981.
func cubicWeight(d, a float64) float64 {
	switch {
	case d <= 1:
		return ((a+2)*d-(a+3))*d*d + 1
	case d < 2:
		return ((a*d-5*a)*d+8*a)*d - 4*a
	}
	return 0
}
