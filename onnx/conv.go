package onnx

import (
	"slices"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	define("", map[string]rule{
		"Conv":          conv,
		"ConvTranspose": convTranspose,
		"DeformConv":    deformConv,
		"Col2Im":        col2im,
	})

	helper("same_pad(Tensor x, int[] kernel, int[] strides, int[] dilations, bool upper, float fill) -> Tensor",
		func(a args) any {
			x := a.T(0)
			sizes := spatial("Conv", x, len(a.ints(1)))
			pads := samePads(sizes, a.ints(1), a.ints(2), a.ints(3), a.bool(4))
			return padSpatial(x, pads, a.float(5))
		})
	helper("conv(Tensor x, Tensor w, Tensor? b, int[]? strides, int[]? pads, int[]? dilations, int groups, str auto)"+
		" -> Tensor", func(a args) any {
		x, w := a.T(0), a.T(1)
		k := w.Dim() - 2
		if k < 1 || x.Dim() != k+2 {
			wrong("Conv", "input of shape %v, weight of shape %v", x.Shape(), w.Shape())
		}
		strides, dilations := fill(a.ints(3), k, 1), fill(a.ints(5), k, 1)
		pads := fill(a.ints(4), 2*k, 0)
		if auto := a.str(7); auto == "SAME_UPPER" || auto == "SAME_LOWER" {
			pads = samePads(x.Shape()[2:], w.Shape()[2:], strides, dilations, auto == "SAME_UPPER")
		}
		x = padSpatial(x, pads, 0)
		return call("aten::convolution", x, w, a.T(2), strides, make([]int, k), dilations, false, make([]int, k),
			a.int(6))
	})
	helper("conv_transpose(Tensor x, Tensor w, Tensor? b, int[]? strides, int[]? pads, int[]? dilations, "+
		"int[]? output_padding, int[]? output_shape, int groups, str auto) -> Tensor", func(a args) any {
		x, w := a.T(0), a.T(1)
		k := w.Dim() - 2
		if k < 1 || x.Dim() != k+2 {
			wrong("ConvTranspose", "input of shape %v, weight of shape %v", x.Shape(), w.Shape())
		}
		strides, pads, dilations := fill(a.ints(3), k, 1), fill(a.ints(4), 2*k, 0), fill(a.ints(5), k, 1)
		more, want, auto := fill(a.ints(6), k, 0), a.ints(7), a.str(9)
		sizes := x.Shape()[2:]
		if want == nil && (auto == "SAME_UPPER" || auto == "SAME_LOWER") {
			for i := range k { // no more than the input reaches
				want = append(want, min(sizes[i]*strides[i],
					strides[i]*(sizes[i]-1)+more[i]+(w.Size(i+2)-1)*dilations[i]+1))
			}
		}
		if len(want) == k+2 {
			want = want[2:]
		}
		if want != nil {
			pads, more = slices.Clone(pads), slices.Clone(more)
			for i := range k {
				total := strides[i]*(sizes[i]-1) + more[i] + (w.Size(i+2)-1)*dilations[i] + 1 - want[i]
				if total < 0 { // the output is larger than what the input reaches
					more[i], total = more[i]-total, 0
				}
				pads[i], pads[i+k] = total-total/2, total/2
				if auto == "SAME_UPPER" {
					pads[i], pads[i+k] = total/2, total-total/2
				}
			}
		}
		y := call("aten::convolution", x, w, nil, strides, make([]int, k), dilations, true, make([]int, k), a.int(8))
		crop := make([]int, 2*k) // a negative pad takes away
		for i := range k {
			crop[i], crop[i+k] = -pads[i], more[i]-pads[i+k]
		}
		y = padSpatial(y, crop, 0)
		if b := a.T(2); b != nil {
			y = y.Add(channels(b, y.Dim()))
		}
		return y
	})
	helper("col2im(Tensor x, int[] image, int[] block, int[]? strides, int[]? pads, int[]? dilations) -> Tensor",
		func(a args) any {
			k := len(a.ints(1))
			return col2imTensor(a.T(0), a.ints(1), a.ints(2), fill(a.ints(3), k, 1), fill(a.ints(4), 2*k, 0),
				fill(a.ints(5), k, 1))
		})
	helper("deform_conv(Tensor x, Tensor w, Tensor offset, Tensor? b, Tensor? mask, int[]? strides, int[]? pads, "+
		"int[]? dilations, int groups, int offset_groups) -> Tensor", func(a args) any {
		return deformConvTensor(a.T(0), a.T(1), a.T(2), a.T(3), a.T(4), fill(a.ints(5), 2, 1), fill(a.ints(6), 4, 0),
			fill(a.ints(7), 2, 1), a.int(8), a.int(9))
	})
}

// fill is a list, or k times x where the list is left out.
func fill(l []int, k, x int) []int {
	if l != nil {
		if len(l) != k {
			wrong("attribute", "%d numbers, want %d", len(l), k)
		}
		return l
	}
	out := make([]int, k)
	for i := range out {
		out[i] = x
	}
	return out
}

// channels makes a vector one that is added along dimension 1 of a tensor with these many dimensions.
func channels(b *T, rank int) *T {
	shape := make([]int, rank-1)
	for i := range shape {
		shape[i] = 1
	}
	shape[0] = b.Numel()
	return b.Reshape(shape)
}

// spatial are the sizes of the k last dimensions.
func spatial(op string, x *T, k int) []int {
	if x.Dim() < k {
		wrong(op, "a tensor with %d dimensions, want %d and more", x.Dim(), k)
	}
	return x.Shape()[x.Dim()-k:]
}

// samePads are the pads with which the result has a size of ceil(size/stride): all in front, then all behind. upper
// puts the odd one behind.
func samePads(sizes, kernel, strides, dilations []int, upper bool) []int {
	k := len(sizes)
	pads := make([]int, 2*k)
	for i := range k {
		out := (sizes[i] + strides[i] - 1) / strides[i]
		total := max(0, (out-1)*strides[i]+(kernel[i]-1)*dilations[i]+1-sizes[i])
		pads[i], pads[i+k] = total/2, total-total/2
		if !upper {
			pads[i], pads[i+k] = total-total/2, total/2
		}
	}
	return pads
}

// padSpatial pads the last len(pads)/2 dimensions; pads are all in front, then all behind.
func padSpatial(x *T, pads []int, value tensor.Scalar) *T {
	k := len(pads) / 2
	var torch []int
	some := false
	for i := k - 1; i >= 0; i-- {
		torch = append(torch, pads[i], pads[i+k])
		some = some || pads[i] != 0 || pads[i+k] != 0
	}
	if !some {
		return x
	}
	return call("aten::constant_pad_nd", x, torch, value)
}

// positive refuses strides, dilations and kernels that are not.
func positive(what string, l []int) {
	for _, x := range l {
		if x <= 0 || x > 1<<31 {
			fail("%w: %s %v", onnxpb.ErrFormat, what, l)
		}
	}
}

// window is what convolutions and pools have in common.
type windows struct {
	k                                int
	kernel, strides, pads, dilations []int
	auto                             string
}

// windows reads the attributes of a node with k spatial dimensions.
func (n *node) windows(kernel []int) windows {
	k := len(kernel)
	w := windows{k: k, kernel: kernel, strides: n.intsOr("strides", k, 1), pads: n.intsOr("pads", 2*k, 0),
		dilations: n.intsOr("dilations", k, 1), auto: n.str("auto_pad", "NOTSET")}
	positive("kernel", kernel)
	positive("strides", w.strides)
	positive("dilations", w.dilations)
	if w.auto == "VALID" {
		w.pads, w.auto = make([]int, 2*k), "NOTSET"
	}
	// where the result has the size of the input, the pads do not depend on it
	if w.auto != "NOTSET" && !slices.ContainsFunc(w.strides, func(s int) bool { return s != 1 }) {
		sizes := make([]int, k)
		for i := range sizes {
			sizes[i] = 1 << 20
		}
		w.pads, w.auto = samePads(sizes, kernel, w.strides, w.dilations, w.auto == "SAME_UPPER"), "NOTSET"
	}
	return w
}

// symmetric reports that there is as much padding in front as behind.
func (w *windows) symmetric() bool {
	return w.auto == "NOTSET" && slices.Equal(w.pads[:w.k], w.pads[w.k:])
}

// padded adds the padding to the input, when it is not symmetric, and gives what is left for the operator.
func (n *node) padded(x any, w *windows, value float64) (y any, pads []int) {
	if w.symmetric() {
		return x, w.pads[:w.k]
	}
	zero := make([]int, w.k)
	if w.auto != "NOTSET" {
		return n.call("onnx::same_pad", x, w.kernel, w.strides, w.dilations, w.auto == "SAME_UPPER", value), zero
	}
	var torch []int
	for i := w.k - 1; i >= 0; i-- {
		torch = append(torch, w.pads[i], w.pads[i+w.k])
	}
	return n.call("aten::constant_pad_nd", x, torch, value), zero
}

// kernelOf is the kernel of a convolution: an attribute, or the weight's shape where that is known.
func (n *node) kernelOf(w *value) []int {
	if w.konst != nil && w.konst.Dim() > 2 {
		return w.konst.Shape()[2:]
	}
	return n.ints("kernel_shape")
}

func conv(n *node) []*value { return one(n.conv(n.T(0), n.T(1), n.opt(2))) }

func (n *node) conv(x, w, b *value) *value {
	kernel := n.kernelOf(w)
	group := n.int("group", 1)
	v := &value{kind: onnxpb.KindTensor, elem: x.elem, rank: x.rank}
	if k := len(kernel); k < 1 || k > 3 {
		v.g = n.call("onnx::conv", x, w, b, n.optInts("strides"), n.optInts("pads"), n.optInts("dilations"), group,
			n.str("auto_pad", "NOTSET"))
		return v
	}
	win := n.windows(kernel)
	y, pads := n.padded(x, &win, 0)
	op := [...]string{"aten::conv1d", "aten::conv2d", "aten::conv3d"}[win.k-1]
	v.g = n.call(op, y, w, b, win.strides, pads, win.dilations, group)
	v.rank = win.k + 2
	return v
}

// optInts is a list attribute as an argument: nil when it is left out.
func (n *node) optInts(name string) any {
	if l := n.ints(name); l != nil {
		return l
	}
	return nil
}

func convTranspose(n *node) []*value {
	x, w, b := n.T(0), n.T(1), n.opt(2)
	kernel := n.kernelOf(w)
	group := n.int("group", 1)
	v := n.same(nil)
	if k := len(kernel); k >= 1 && k <= 3 && n.ints("output_shape") == nil {
		win := n.windows(kernel)
		more := n.intsOr("output_padding", k, 0)
		if auto := n.str("auto_pad", "NOTSET"); (auto == "NOTSET" || auto == "VALID") && win.symmetric() {
			op := [...]string{"aten::conv_transpose1d", "aten::conv_transpose2d.input",
				"aten::conv_transpose3d.input"}[k-1]
			v.g = n.call(op, x, w, b, win.strides, win.pads[:k], more, group, win.dilations)
			return one(v)
		}
	}
	v.g = n.call("onnx::conv_transpose", x, w, b, n.optInts("strides"), n.optInts("pads"), n.optInts("dilations"),
		n.optInts("output_padding"), n.optInts("output_shape"), group, n.str("auto_pad", "NOTSET"))
	return one(v)
}

func col2im(n *node) []*value {
	n.T(2)
	return one(n.like(n.call("onnx::col2im", n.T(0), n.intList(1), n.intList(2), n.optInts("strides"),
		n.optInts("pads"),
		n.optInts("dilations"))))
}

// col2imTensor adds blocks to the places of an image that they come from: PyTorch's fold, with any number of
// dimensions.
func col2imTensor(x *T, image, block, strides, pads, dilations []int) *T {
	k := len(image)
	if x.Dim() != 3 || len(block) != k || k == 0 {
		wrong("Col2Im", "columns of shape %v, image %v, blocks of %v", x.Shape(), image, block)
	}
	size, steps := make([]int, k), make([]int, k)
	for i := range k {
		size[i] = image[i] + pads[i] + pads[i+k]
		if strides[i] <= 0 {
			wrong("Col2Im", "strides %v", strides)
		}
		steps[i] = (size[i]-(block[i]-1)*dilations[i]-1)/strides[i] + 1
	}
	n, volume := x.Size(0), product(block)
	if volume <= 0 || x.Size(1)%volume != 0 || product(steps) != x.Size(2) {
		wrong("Col2Im", "columns of shape %v, image %v, blocks of %v", x.Shape(), image, block)
	}
	c := x.Size(1) / volume
	checkSizes("Col2Im", size)
	cols := x.Reshape([]int{n, c, volume, product(steps)})
	out := x.NewZeros([]int{n * c, product(size)})
	for b := range volume {
		// where the elements of this place in the block go
		at := []int{0}
		rest := b
		offset := make([]int, k)
		for i := k - 1; i >= 0; i-- {
			offset[i] = rest % block[i] * dilations[i]
			rest /= block[i]
		}
		for i := range k {
			next := make([]int, 0, len(at)*steps[i])
			for _, p := range at {
				for s := range steps[i] {
					next = append(next, p*size[i]+s*strides[i]+offset[i])
				}
			}
			at = next
		}
		out = out.IndexAdd(1, vector(at), cols.Select(2, b).Reshape([]int{n * c, len(at)}))
	}
	out = out.Reshape(append([]int{n, c}, size...))
	for i := range k {
		out = out.Narrow(i+2, pads[i], image[i])
	}
	return out
}

func deformConv(n *node) []*value {
	return one(n.same(n.call("onnx::deform_conv", n.T(0), n.T(1), n.T(2), n.opt(3), n.opt(4), n.optInts("strides"),
		n.optInts("pads"), n.optInts("dilations"), n.int("group", 1), n.int("offset_group", 1))))
}

// deformConvTensor is a convolution whose kernel reads each input at a place that is moved by an offset, between
// elements if need be: Dai et al., Deformable Convolutional Networks, 2017; with a mask the second version of 2018.
func deformConvTensor(x, w, offset, b, mask *T, strides, pads, dilations []int, groups, offsetGroups int) *T {
	if x.Dim() != 4 || w.Dim() != 4 {
		wrong("DeformConv", "input %v, weight %v", x.Shape(), w.Shape())
	}
	if pads[0] != pads[2] || pads[1] != pads[3] { // outside of the image there are zeros, too
		x, pads = padSpatial(x, pads, 0), make([]int, 4)
	}
	masked := mask != nil
	if !masked {
		mask = x.NewZeros([]int{x.Size(0), 1})
	}
	if b == nil {
		b = x.NewZeros([]int{w.Size(0)})
	}
	return call("torchvision::deform_conv2d", x, w, offset, mask, b, strides[0], strides[1], pads[0], pads[1],
		dilations[0], dilations[1], groups, offsetGroups, masked)
}

// listOf makes a list of tensors.
func (n *node) listOf(vs ...*value) *graph.Value {
	items := make([]*graph.Value, len(vs))
	for i, v := range vs {
		items[i] = n.get(v)
	}
	return n.block.List(graph.Tensor, items...)
}
