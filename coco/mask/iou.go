package mask

import "fmt"

// IoU returns the intersection over union of every detection with every ground
// truth, as len(dt) rows of len(gt) numbers.
//
// For a ground truth that is a crowd the union is replaced by the area of the
// detection: a detection inside a crowd region matches it fully, however large
// the region. crowd has one entry for each ground truth; nil means none is a
// crowd. Masks of different sizes give -1, as in pycocotools.
func IoU(dt, gt []RLE, crowd []bool) ([][]float64, error) {
	if err := checkCrowd("IoU", len(gt), crowd); err != nil {
		return nil, err
	}
	for i, r := range dt {
		if err := r.Validate(); err != nil {
			return nil, fmt.Errorf("mask: IoU: detection %d: %w", i, err)
		}
	}
	for i, r := range gt {
		if err := r.Validate(); err != nil {
			return nil, fmt.Errorf("mask: IoU: ground truth %d: %w", i, err)
		}
	}
	d, g := make([]Shape, len(dt)), make([]Shape, len(gt))
	for i, r := range dt {
		d[i] = NewShape(r)
	}
	for i, r := range gt {
		g[i] = NewShape(r)
	}
	out, flat := rows(len(dt), len(gt))
	for i := range d {
		for j := range g {
			flat[i*len(gt)+j] = ShapeIoU(&d[i], &g[j], crowd != nil && crowd[j])
		}
	}
	return out, nil
}

// BoxIoU is [IoU] for boxes x, y, width, height.
func BoxIoU(dt, gt [][4]float64, crowd []bool) ([][]float64, error) {
	if err := checkCrowd("BoxIoU", len(gt), crowd); err != nil {
		return nil, err
	}
	out, flat := rows(len(dt), len(gt))
	for i := range dt {
		for j := range gt {
			flat[i*len(gt)+j] = PairIoU(&dt[i], &gt[j], crowd != nil && crowd[j])
		}
	}
	return out, nil
}

func checkCrowd(op string, n int, crowd []bool) error {
	if crowd != nil && len(crowd) != n {
		return fmt.Errorf("mask: %s: %d ground truths but %d crowd flags", op, n, len(crowd))
	}
	return nil
}

func rows(n, m int) ([][]float64, []float64) {
	flat := make([]float64, n*m)
	out := make([][]float64, n)
	for i := range out {
		out[i] = flat[i*m : (i+1)*m : (i+1)*m]
	}
	return out, flat
}

// PairIoU returns the intersection over union of two boxes x, y, width,
// height; crowd says that gt is a crowd (see [IoU]).
func PairIoU(dt, gt *[4]float64, crowd bool) float64 {
	w := min(dt[2]+dt[0], gt[2]+gt[0]) - max(dt[0], gt[0])
	if !(w > 0) {
		return 0
	}
	h := min(dt[3]+dt[1], gt[3]+gt[1]) - max(dt[1], gt[1])
	if !(h > 0) {
		return 0
	}
	// Conversions keep each product a rounded number of its own: the result is
	// then the same on processors with and without fused multiply-add.
	inter := float64(w * h)
	union := float64(dt[2] * dt[3])
	if !crowd {
		union = union + float64(gt[2]*gt[3]) - inter
	}
	return inter / union
}

// Shape is a valid RLE with its area and box, for comparing it many times.
type Shape struct {
	RLE  RLE
	Area int
	Box  [4]float64
}

// NewShape computes the area and box of r, which must be valid.
func NewShape(r RLE) Shape { return Shape{RLE: r, Area: r.Area(), Box: r.ToBbox()} }

// ShapeIoU returns one entry of [IoU]. Shapes whose boxes do not touch are not
// compared any further.
func ShapeIoU(dt, gt *Shape, crowd bool) float64 {
	if !(PairIoU(&dt.Box, &gt.Box, crowd) > 0) {
		return 0
	}
	if dt.RLE.H != gt.RLE.H || dt.RLE.W != gt.RLE.W {
		return -1
	}
	inter := common(dt.RLE.Counts, gt.RLE.Counts)
	if inter == 0 {
		return 0
	}
	if crowd {
		return float64(inter) / float64(dt.Area)
	}
	return float64(inter) / float64(dt.Area+gt.Area-inter)
}

// common counts the pixels that two masks share, walking from object run to
// object run of each.
func common(a, b []uint32) int {
	n := 0
	var ea, eb uint64 // end of the current run
	ia, ib := 1, 1    // object runs have odd numbers
	if len(a) < 2 || len(b) < 2 {
		return 0
	}
	sa, sb := uint64(a[0]), uint64(b[0])
	ea, eb = sa+uint64(a[1]), sb+uint64(b[1])
	for {
		if s, e := max(sa, sb), min(ea, eb); s < e {
			n += int(e - s)
		}
		// Advance the run that ends first.
		if ea <= eb {
			if ia += 2; ia >= len(a) {
				return n
			}
			sa = ea + uint64(a[ia-1])
			ea = sa + uint64(a[ia])
		} else {
			if ib += 2; ib >= len(b) {
				return n
			}
			sb = eb + uint64(b[ib-1])
			eb = sb + uint64(b[ib])
		}
	}
}
