package vision

import (
	ox "github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	// dets, scores, iou_threshold
	ox.RegisterSized(ox.One(func(c *ox.Call) *ox.Value {
		boxes, scores := c.Unsqueeze(c.Cast(c.T(0), tensor.Float32), 0),
			c.Unsqueeze(c.Cast(c.T(1), tensor.Float32), 0, 1)
		most := c.Unsqueeze(c.Node("Size", nil, c.T(1)).Typed(tensor.Int64).Shaped(), 0)
		at := c.Node("NonMaxSuppression", nil, boxes, scores, most, c.Scalar(c.Float(2), tensor.Float32)).
			Typed(tensor.Int64).Shaped(-1, 3) // batch, class, box
		i := c.Node("Gather", ox.A{"axis": 1}, at, c.Scalar(2, tensor.Int64)).Typed(tensor.Int64)
		return i.Shaped(-1)
	}), "torchvision::nms")
	// input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned
	ox.Register(ox.One(func(c *ox.Call) *ox.Value {
		rois := c.T(1)
		batch := c.Cast(c.Node("Gather", ox.A{"axis": 1}, rois, c.Scalar(0, tensor.Int64)), tensor.Int64)
		boxes := c.Slice(rois, 1, 1, 5, 1).Typed(rois.DType)
		a := ox.A{"spatial_scale": c.Float(2), "output_height": c.Int(3), "output_width": c.Int(4),
			"sampling_ratio": max(c.Int(5), 0)}
		if c.Opset >= 16 {
			a["coordinate_transformation_mode"] = "output_half_pixel"
			if c.Bool(6) {
				a["coordinate_transformation_mode"] = "half_pixel"
			}
		} else if c.Bool(6) {
			c.Fail("aligned exists from opset 16 on")
		}
		return c.Node("RoiAlign", a, c.T(0), boxes, batch)
	}), "torchvision::roi_align")
}
