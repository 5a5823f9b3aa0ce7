package vision

import "github.com/gotorch-dev/torch/tensor"

// noSecond says that an operator has one result.
const noSecond tensor.DType = 0

// forwardDef is an operator over regions. read gives the geometry, run computes in E.
func forwardDef(schema, doc string, read func(c *Ctx) *region, second tensor.DType,
	f32 func(c *Ctx, r *region), f64 func(c *Ctx, r *region), vjp func(c *Ctx, g *T) *T, save string) tensor.Def {
	return tensor.Def{
		Schema: schema, Doc: doc, Go: "-",
		Infer: func(c *Ctx) {
			r := read(c)
			c.Alloc(0, r.outShape(), c.ArgDType(0))
			if second != noSecond {
				c.Alloc(1, r.outShape(), second)
			}
		},
		CPU: func(c *Ctx) {
			r := read(c)
			inFloat(c.ArgDType(0), func() { f32(c, r) }, func() { f64(c, r) })
		},
		Save: save,
		VJP:  func(c *Ctx, g *T) []*T { return []*T{vjp(c, g), nil} },
	}
}

// backwardDef is the gradient of an operator over regions, which has none itself, as in torchvision.
func backwardDef(schema, doc string, read func(c *Ctx) *region, f32, f64 func(c *Ctx, r *region)) tensor.Def {
	return tensor.Def{
		Schema: schema, Doc: doc, Go: "-", NoGrad: "double backward is not supported",
		Infer: func(c *Ctx) {
			r := read(c)
			c.Alloc(0, []int{r.n, r.channels, r.h, r.w}, c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			r := read(c)
			inFloat(c.ArgDType(0), func() { f32(c, r) }, func() { f64(c, r) })
		},
	}
}

// maxSampling bounds the points along each side of a cell: a cell of so many is computed in seconds.
const maxSampling = 1 << 14

// samplingOf is the argument sampling_ratio. One that would take years is refused; torchvision runs out of memory.
func samplingOf(c *Ctx, i int) int {
	n := c.Int(i)
	if n > maxSampling {
		c.Fail(tensor.ErrValue, "%s: sampling_ratio is %d, at most %d is supported", c.Op().Sch.Name, n, maxSampling)
	}
	return n
}

func readAlign(c *Ctx) *region {
	r := readRegion(c, false)
	r.sampling, r.aligned = samplingOf(c, 5), c.Bool(6)
	return r
}

func readAlignGradient(c *Ctx) *region {
	r := readGradient(c, 2, 5, false)
	r.sampling, r.aligned = samplingOf(c, 9), c.Bool(10)
	return r
}

func readPSAlign(c *Ctx) *region {
	r := readRegion(c, true)
	r.sampling = samplingOf(c, 5)
	return r
}

func readPSAlignGradient(c *Ctx) *region {
	r := readGradient(c, 3, 7, true)
	r.sampling = samplingOf(c, 6)
	return r
}

func runAlign[E float](c *Ctx, r *region) {
	var mapping []int32
	if r.ps {
		mapping = tensor.Data[int32](c.Out(1))
	}
	into(c.Out(0), func(d []E) { alignForward(c, r, dense[E](c.T(0)), dense[E](c.T(1)), d, mapping) })
}

func runAlignBackward[E float](c *Ctx, r *region) {
	into(c.Out(0), func(d []E) { alignBackward(c, r, dense[E](c.T(0)), dense[E](c.T(1)), d) })
}

func runMax[E float](c *Ctx, r *region) {
	arg := tensor.Data[int32](c.Out(1))
	into(c.Out(0), func(d []E) { maxForward(c, r, dense[E](c.T(0)), dense[E](c.T(1)), d, arg) })
}

func runMaxBackward[E float](c *Ctx, r *region) {
	if !tensor.SameShape(c.Shape(2), c.Shape(0)) || c.ArgDType(2) != tensor.Int32 {
		c.Fail(tensor.ErrShape, "%s: argmax must be int32 of the shape of grad", c.Op().Sch.Name)
	}
	arg := tensor.Data[int32](tensor.Dense(c.T(2)))
	into(c.Out(0), func(d []E) { maxBackward(c, r, dense[E](c.T(0)), dense[E](c.T(1)), arg, d) })
}

func runMean[E float](c *Ctx, r *region) {
	mapping := tensor.Data[int32](c.Out(1))
	into(c.Out(0), func(d []E) { meanForward(c, r, dense[E](c.T(0)), dense[E](c.T(1)), d, mapping) })
}

func runMeanBackward[E float](c *Ctx, r *region) {
	into(c.Out(0), func(d []E) { meanBackward(c, r, dense[E](c.T(0)), dense[E](c.T(1)), d) })
}

var (
	opAlignBackward   = tensor.Slot("torchvision::_roi_align_backward")
	opPoolBackward    = tensor.Slot("torchvision::_roi_pool_backward")
	opPSAlignBackward = tensor.Slot("torchvision::_ps_roi_align_backward")
	opPSPoolBackward  = tensor.Slot("torchvision::_ps_roi_pool_backward")
)

func init() {
	for _, d := range []tensor.Def{
		forwardDef("torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor",
			"is the mean of bilinear samples in each of pooled_height x pooled_width cells of the regions rois [k, "+
				"5] of "+
				"input [n, c, h, w]: [k, c, pooled_height, pooled_width] (He et al., Mask R-CNN, 2017). sampling_ratio "+
				"samples in each direction, or, where it is not positive, one for each pixel.",
			readAlign, noSecond, runAlign[float32], runAlign[float64], func(c *Ctx, g *T) *T {
				x := c.Shape(0)
				return call(opAlignBackward, g, c.T(1), c.Float(2), c.Int(3), c.Int(4), x[0], x[1], x[2], x[3],
					c.Int(5),
					c.Bool(6))[0]
			}, "rois"),
		backwardDef("torchvision::_roi_align_backward(Tensor grad, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, SymInt batch_size, SymInt channels, SymInt height, SymInt width, int sampling_ratio, bool aligned) -> Tensor",
			"is the gradient of roi_align with respect to its input.", readAlignGradient, runAlignBackward[float32],
			runAlignBackward[float64]),
		forwardDef("torchvision::roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor)",
			"is the maximum of the pixels of each cell of the regions and its place in the plane (Girshick, Fast "+
				"R-CNN, "+
				"2015).",
			func(c *Ctx) *region { return readRegion(c, false) }, tensor.Int32, runMax[float32], runMax[float64],
			func(c *Ctx, g *T) *T {
				x := c.Shape(0)
				return call(opPoolBackward, g, c.T(1), c.Out(1), c.Float(2), c.Int(3), c.Int(4), x[0], x[1], x[2],
					x[3])[0]
			}, "rois result1"),
		backwardDef("torchvision::_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, float spatial_scale, SymInt pooled_height, SymInt pooled_width, SymInt batch_size, SymInt channels, SymInt height, SymInt width) -> Tensor",
			"is the gradient of roi_pool with respect to its input.",
			func(c *Ctx) *region { return readGradient(c, 3, 6, false) }, runMaxBackward[float32],
			runMaxBackward[float64]),
		forwardDef("torchvision::ps_roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio) -> (Tensor, Tensor)",
			"is roi_align in which each cell reads channels of its own, and the channel that each result was read from "+
				"(Li et al., Light-Head R-CNN, 2017).",
			readPSAlign, tensor.Int32, runAlign[float32], runAlign[float64], func(c *Ctx, g *T) *T {
				x := c.Shape(0)
				return call(opPSAlignBackward, g, c.T(1), c.Out(1), c.Float(2), c.Int(3), c.Int(4), c.Int(5), x[0],
					x[1],
					x[2], x[3])[0]
			}, "rois result1"),
		backwardDef("torchvision::_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio, SymInt batch_size, SymInt channels, SymInt height, SymInt width) -> Tensor",
			"is the gradient of ps_roi_align with respect to its input.", readPSAlignGradient,
			runAlignBackward[float32], runAlignBackward[float64]),
		forwardDef("torchvision::ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor)",
			"is the mean of the pixels of each cell of the regions, in which each cell reads channels of its own, "+
				"and the "+
				"channel that each result was read from (Dai et al., R-FCN, 2016).",
			func(c *Ctx) *region { return readRegion(c, true) }, tensor.Int32, runMean[float32], runMean[float64],
			func(c *Ctx, g *T) *T {
				x := c.Shape(0)
				return call(opPSPoolBackward, g, c.T(1), c.Out(1), c.Float(2), c.Int(3), c.Int(4), x[0], x[1], x[2],
					x[3])[0]
			}, "rois result1"),
		backwardDef("torchvision::_ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor channel_mapping, float spatial_scale, SymInt pooled_height, SymInt pooled_width, SymInt batch_size, SymInt channels, SymInt height, SymInt width) -> Tensor",
			"is the gradient of ps_roi_pool with respect to its input.",
			func(c *Ctx) *region { return readGradient(c, 3, 6, true) }, runMeanBackward[float32],
			runMeanBackward[float64]),
	} {
		tensor.Register(d)
	}
}
