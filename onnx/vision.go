package onnx

import (
	"math"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	define("", map[string]rule{
		"AffineGrid":        affineGrid,
		"GridSample":        gridSample,
		"MaxRoiPool":        maxRoiPool,
		"NonMaxSuppression": nonMaxSuppression,
		"RoiAlign":          roiAlign,
	})

	helper("affine_grid(Tensor theta, int[] size, bool corners) -> Tensor", func(a args) any {
		return affineGridTensor(a.T(0), checkSizes("AffineGrid", a.ints(1)), a.bool(2))
	})
	helper("nms(Tensor boxes, Tensor scores, int most, float iou, float? score, bool center) -> Tensor",
		func(a args) any {
			var limit *float64
			if a.has(4) {
				s := a.float(4)
				limit = &s
			}
			return nms(a.T(0), a.T(1), a.int(2), a.float(3), limit, a.bool(5))
		})
	helper("roi_align(Tensor x, Tensor rois, Tensor batch, str mode, int height, int width, int ratio, float scale, "+
		"bool half) -> Tensor", func(a args) any {
		return roiAlignTensor(a.T(0), a.T(1), hostInts(a.T(2)), a.str(3), a.int(4), a.int(5), a.int(6), a.float(7),
			a.bool(8))
	})
	helper("max_roi_pool(Tensor x, Tensor rois, int height, int width, float scale) -> Tensor", func(a args) any {
		return maxRoiPoolTensor(a.T(0), a.T(1), a.int(2), a.int(3), a.float(4))
	})
}

// affineGridTensor gives the places that an affine map takes the elements of an image of this size to, from -1 to 1.
func affineGridTensor(theta *T, size []int, corners bool) *T {
	k := len(size) - 2
	if k < 1 || theta.Dim() != 3 || theta.Size(1) != k || theta.Size(2) != k+1 {
		wrong("AffineGrid", "theta of shape %v for size %v", theta.Shape(), size)
	}
	var parts []*T
	for i := k - 1; i >= 0; i-- { // the last dimension comes first
		n := size[i+2]
		var p *T
		if corners {
			p = call("aten::linspace", -1, 1, n, theta.DType())
		} else {
			p = call("aten::arange", n).ToDType(theta.DType()).MulScalar(2).AddScalar(1)
			p = p.DivScalar(float64(n)).SubScalar(1)
		}
		shape := make([]int, k)
		for j := range shape {
			shape[j] = 1
		}
		shape[i] = n
		parts = append(parts, p.Reshape(shape).Expand(size[2:]))
	}
	parts = append(parts, call("aten::ones", size[2:], theta.DType()))
	base := call("aten::stack", parts, -1).Reshape([]int{1, product(size[2:]), k + 1})
	grid := base.Expand([]int{theta.Size(0), base.Size(1), k + 1}).MatMul(theta.Transpose(1, 2))
	return grid.Reshape(append(append([]int{theta.Size(0)}, size[2:]...), k))
}

func affineGrid(n *node) []*value {
	n.T(1)
	return one(n.like(n.call("onnx::affine_grid", n.T(0), n.intList(1), n.bool("align_corners", false))))
}

func gridSample(n *node) []*value {
	mode := map[string]int{"linear": 0, "bilinear": 0, "nearest": 1, "cubic": 2, "bicubic": 2}
	padding := map[string]int{"zeros": 0, "border": 1, "reflection": 2}
	m, ok := mode[n.str("mode", "linear")]
	p, ok2 := padding[n.str("padding_mode", "zeros")]
	if !ok || !ok2 {
		fail("%w: mode %q, padding_mode %q", onnxpb.ErrFormat, n.str("mode", ""), n.str("padding_mode", ""))
	}
	return one(n.same(n.call("aten::grid_sampler", n.T(0), n.T(1), m, p, n.bool("align_corners", false))))
}

// nonMaxSuppression picks boxes, the best first, that overlap no better one too much.
func nonMaxSuppression(n *node) []*value {
	n.T(1)
	most := any(0)
	if n.has(2) {
		most = n.intValue(2)
	}
	v := n.rank2(n.call("onnx::nms", n.T(0), n.T(1), most, n.floatValue(3, 0.0), n.floatValue(4, nil),
		n.int("center_point_box", 0) != 0))
	return one(v)
}

// nms is NonMaxSuppression: rows of batch, class and box.
func nms(boxes, scores *T, most int, iou float64, limit *float64, center bool) *T {
	if boxes.Dim() != 3 || scores.Dim() != 3 || boxes.Size(2) != 4 || boxes.Size(0) != scores.Size(0) ||
		boxes.Size(1) != scores.Size(2) {
		wrong("NonMaxSuppression", "boxes of shape %v, scores of shape %v", boxes.Shape(), scores.Shape())
	}
	boxes, scores = boxes.ToDType(tensor.Float32), scores.ToDType(tensor.Float32)
	from, to := boxes.Narrow(2, 0, 2), boxes.Narrow(2, 2, 2) // two corners in any order
	if center {
		from, to = from.Sub(to.DivScalar(2)), from.Add(to.DivScalar(2))
	}
	corners := call("aten::cat", []*T{from.Minimum(to), from.Maximum(to)}, 2)
	var out []int64
	for i := range scores.Size(0) {
		for c := range scores.Size(1) {
			of, at := scores.Select(0, i).Select(0, c), call("aten::arange", scores.Size(2))
			if limit != nil {
				at = call("aten::nonzero", of.GtScalar(*limit)).Select(1, 0)
			}
			kept := call("torchvision::nms", corners.Select(0, i).IndexSelect(0, at), of.IndexSelect(0, at), iou)
			for _, j := range hostInts(at.IndexSelect(0, kept.Narrow(0, 0, min(max(most, 0), kept.Numel())))) {
				out = append(out, int64(i), int64(c), int64(j))
			}
		}
	}
	return tensor.FromSlice(out, len(out)/3, 3)
}

func roiAlign(n *node) []*value {
	mode := "output_half_pixel" // until version 15 there was no choice
	if n.opset >= 16 {
		mode = n.str("coordinate_transformation_mode", "half_pixel")
	}
	return one(n.same(n.call("onnx::roi_align", n.T(0), n.T(1), n.T(2), n.str("mode", "avg"), n.int("output_height", 1),
		n.int("output_width", 1), n.int("sampling_ratio", 0), n.float("spatial_scale", 1), mode == "half_pixel")))
}

// roiAlignTensor averages, or takes the largest of, points between elements in a grid over each region: He et al., Mask
// R-CNN, 2017.
func roiAlignTensor(x, rois *T, batch []int, mode string, oh, ow, ratio int, scale float64, half bool) *T {
	if x.Dim() != 4 || rois.Dim() != 2 || rois.Size(1) != 4 || len(batch) != rois.Size(0) || oh <= 0 || ow <= 0 {
		wrong("RoiAlign", "input of shape %v, regions of shape %v, %d numbers of images", x.Shape(), rois.Shape(),
			len(batch))
	}
	if n := product(checkSizes("RoiAlign", []int{len(batch), x.Size(1), oh, ow})); n > maxList {
		wrong("RoiAlign", "%d results", n)
	}
	regions := make([]roi, len(batch))
	r := hostFloats(rois)
	for i, img := range batch {
		if img < 0 || img >= x.Size(0) {
			wrong("RoiAlign", "image %d of %d", img, x.Size(0))
		}
		regions[i] = roiOf(r[4*i:], scale, half, oh, ow, ratio)
	}
	if mode == "max" {
		return roiAlignMax(x, batch, regions, oh, ow)
	}
	numbers := vector(batch).ToDType(rois.DType()).Unsqueeze(1)
	dt := tensor.Float32
	if x.DType() == tensor.Float64 {
		dt = tensor.Float64
	}
	y := call("torchvision::roi_align", x.ToDType(dt), call("aten::cat", []*T{numbers, rois}, 1).ToDType(dt), scale, oh,
		ow, ratio, half)
	return y.ToDType(x.DType())
}

// roi is a region: its corner, the size of a cell, and the points that are looked at in each cell.
type roi struct {
	x1, y1, bw, bh float64
	gh, gw         int
}

func roiOf(r []float64, scale float64, half bool, oh, ow, ratio int) roi {
	offset := 0.0
	if half {
		offset = 0.5
	}
	x1, y1 := r[0]*scale-offset, r[1]*scale-offset
	rw, rh := r[2]*scale-offset-x1, r[3]*scale-offset-y1
	if !half {
		rw, rh = max(rw, 1), max(rh, 1)
	}
	q := roi{x1, y1, rw / float64(ow), rh / float64(oh), ratio, ratio}
	if ratio <= 0 {
		q.gh, q.gw = int(math.Ceil(min(q.bh, 1<<20))), int(math.Ceil(min(q.bw, 1<<20)))
	}
	if q.gh > 1<<10 || q.gw > 1<<10 || math.IsNaN(rw+rh) {
		wrong("RoiAlign", "a region of %g by %g", rw, rh)
	}
	return q
}

// roiAlignMax takes the largest of the products of elements and their weights around the points of each cell, which
// torchvision's operator has no mode for.
func roiAlignMax(x *T, batch []int, regions []roi, oh, ow int) *T {
	c, h, w := x.Size(1), x.Size(2), x.Size(3)
	in := hostFloats(x)
	out := make([]float64, len(batch)*c*oh*ow)
	type corner struct {
		at [4]int
		w  [4]float64
	}
	for i, img := range batch {
		q := regions[i]
		points := make([]corner, 0, max(q.gh*q.gw, 0))
		for py := range oh {
			for px := range ow {
				points = points[:0]
				for iy := range max(q.gh, 0) {
					for ix := range max(q.gw, 0) {
						y := q.y1 + (float64(py)+(float64(iy)+0.5)/float64(q.gh))*q.bh
						p := q.x1 + (float64(px)+(float64(ix)+0.5)/float64(q.gw))*q.bw
						if y < -1 || y > float64(h) || p < -1 || p > float64(w) {
							points = append(points, corner{})
							continue
						}
						y, p = max(y, 0), max(p, 0)
						yl, xl := int(y), int(p)
						yh, xh := yl+1, xl+1
						if yl >= h-1 {
							yl, yh, y = h-1, h-1, float64(h-1)
						}
						if xl >= w-1 {
							xl, xh, p = w-1, w-1, float64(w-1)
						}
						ly, lx := y-float64(yl), p-float64(xl)
						points = append(points, corner{[4]int{yl*w + xl, yl*w + xh, yh*w + xl, yh*w + xh},
							[4]float64{(1 - ly) * (1 - lx), (1 - ly) * lx, ly * (1 - lx), ly * lx}})
					}
				}
				for ch := range c {
					plane := in[(img*c+ch)*h*w:]
					best := math.Inf(-1)
					for _, q := range points {
						for k := range 4 {
							best = max(best, q.w[k]*plane[q.at[k]])
						}
					}
					if len(points) == 0 {
						best = 0
					}
					out[((i*c+ch)*oh+py)*ow+px] = best
				}
			}
		}
	}
	return tensor.FromSlice(out, len(batch), c, oh, ow).ToDType(x.DType())
}

func maxRoiPool(n *node) []*value {
	shape := n.ints("pooled_shape")
	if len(shape) != 2 {
		fail("%w: attribute \"pooled_shape\" has %d elements, want 2", onnxpb.ErrFormat, len(shape))
	}
	var g *graph.Value = n.call("onnx::max_roi_pool", n.T(0), n.T(1), shape[0], shape[1], n.float("spatial_scale", 1))
	return one(n.same(g))
}

// maxRoiPoolTensor takes the largest element of each cell of each region: Girshick, Fast R-CNN, 2015.
func maxRoiPoolTensor(x, rois *T, oh, ow int, scale float64) *T {
	if x.Dim() != 4 || rois.Dim() != 2 || rois.Size(1) != 5 || oh <= 0 || ow <= 0 {
		wrong("MaxRoiPool", "input of shape %v, regions of shape %v", x.Shape(), rois.Shape())
	}
	if product(checkSizes("MaxRoiPool", []int{rois.Size(0), oh, ow})) > maxList {
		wrong("MaxRoiPool", "%d by %d cells for %d regions", oh, ow, rois.Size(0))
	}
	r := hostFloats(rois)
	var out []*T
	for i := range rois.Size(0) {
		p := r[5*i:]
		img := int(p[0])
		if img < 0 || img >= x.Size(0) {
			wrong("MaxRoiPool", "image %d of %d", img, x.Size(0))
		}
		round := func(v float64) int { return int(math.Round(min(max(v*scale, -1e9), 1e9))) }
		x1, y1, x2, y2 := round(p[1]), round(p[2]), round(p[3]), round(p[4])
		rw, rh := max(x2-x1+1, 1), max(y2-y1+1, 1)
		plane := x.Select(0, img)
		for py := range oh {
			for px := range ow {
				cut := func(k, n, size, from, limit int) (int, int) {
					lo := int(math.Floor(float64(k)*float64(size)/float64(n))) + from
					hi := int(math.Ceil(float64(k+1)*float64(size)/float64(n))) + from
					return min(max(lo, 0), limit), min(max(hi, 0), limit)
				}
				ya, yb := cut(py, oh, rh, y1, x.Size(2))
				xa, xb := cut(px, ow, rw, x1, x.Size(3))
				if ya >= yb || xa >= xb {
					out = append(out, plane.NewZeros([]int{x.Size(1)}))
					continue
				}
				out = append(out, call("aten::amax", plane.Narrow(1, ya, yb-ya).Narrow(2, xa, xb-xa), []int{1, 2}))
			}
		}
	}
	shape := []int{rois.Size(0), oh, ow, x.Size(1)}
	if len(out) == 0 {
		return x.NewZeros([]int{0, x.Size(1), oh, ow})
	}
	return call("aten::stack", out, 0).Reshape(shape).Permute([]int{0, 3, 1, 2})
}
