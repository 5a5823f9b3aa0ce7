package cococheck

import (
	"encoding/json"
	"fmt"

	"github.com/gotorch-dev/torch/coco/mask"
)

// form is an object in one of the forms that pycocotools takes: a run-length code whose counts are a list of numbers or
// a compressed text, one polygon or a list of polygons, or a box.
type form struct {
	RLE      *mask.RLE
	Polygons [][]float64
	Box      *[4]float64
}

// UnmarshalJSON tells the forms apart by what they are made of.
func (f *form) UnmarshalJSON(b []byte) error {
	var object struct {
		Segmentation json.RawMessage
		Bbox         *[4]float64
		Polygons     [][]float64
	}
	if len(b) > 0 && b[0] == '{' {
		if err := json.Unmarshal(b, &object); err != nil {
			return err
		}
		switch {
		case len(object.Segmentation) > 0:
			return f.UnmarshalJSON(object.Segmentation)
		case object.Polygons != nil:
			f.Polygons = object.Polygons
			return nil
		case object.Bbox != nil:
			f.Box = object.Bbox
			return nil
		}
		f.RLE = new(mask.RLE)
		return json.Unmarshal(b, f.RLE)
	}
	var flat []float64
	if json.Unmarshal(b, &flat) == nil {
		if len(flat) == 4 {
			f.Box = (*[4]float64)(flat)
		} else {
			f.Polygons = [][]float64{flat}
		}
		return nil
	}
	return json.Unmarshal(b, &f.Polygons)
}

// mask is the object as one mask of an image of h x w.
func (f *form) mask(h, w int) (mask.RLE, error) {
	var l []mask.RLE
	var err error
	switch {
	case f.RLE != nil:
		return *f.RLE, nil
	case f.Box != nil:
		l, err = mask.FromBoxes([][4]float64{*f.Box}, h, w)
	default:
		l, err = mask.FromPolygons(f.Polygons, h, w)
	}
	if err != nil {
		return mask.RLE{}, err
	}
	return mask.Merge(l, false)
}

// masks are objects as masks of one image. Where the size of the image is not given, it is that of a run-length code
// among them.
func masks(h, w int, lists ...[]form) ([][]mask.RLE, error) {
	for _, l := range lists {
		for i := range l {
			if h == 0 && l[i].RLE != nil {
				h, w = l[i].RLE.H, l[i].RLE.W
			}
		}
	}
	var out [][]mask.RLE
	for _, l := range lists {
		ms := make([]mask.RLE, len(l))
		for i := range l {
			if h == 0 {
				return nil, fmt.Errorf("the size of the image is not known")
			}
			var err error
			if ms[i], err = l[i].mask(h, w); err != nil {
				return nil, err
			}
		}
		out = append(out, ms)
	}
	return out, nil
}
