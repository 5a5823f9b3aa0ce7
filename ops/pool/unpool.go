package pool

import (
	"fmt"
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

func unpoolCheck(c *Ctx, nd int, name string) []int {
	sh, ix, out := c.Shape(0), c.Shape(1), c.Ints(2)
	if c.ArgDType(1) != tensor.Int64 {
		c.Fail(tensor.ErrDType, "elements in indices should be type int64 but got: %s", c.ArgDType(1).ClassName())
	}
	if len(sh) != nd+1 && len(sh) != nd+2 {
		c.Fail(tensor.ErrShape, "Input to max_unpooling%dd should be a %dd or %dd Tensor, but got a tensor with %d "+
			"dimensions", nd, nd+1, nd+2, len(sh))
	}
	if !tensor.SameShape(sh, ix) {
		c.Fail(tensor.ErrShape, "Expected shape of indices to be same as that of the input tensor (%s), but got "+
			"indices tensor with shape: %s", tensor.ShapeString(sh), tensor.ShapeString(ix))
	}
	if len(out) != nd {
		c.Fail(tensor.ErrShape, "%s: there should be exactly %d elements in output_size, but got %d elements", name, nd,
			len(out))
	}
	for i := len(sh) - nd - 1; i < len(sh); i++ {
		if sh[i] == 0 {
			c.Fail(tensor.ErrShape, "%s(): Expected input to have non-zero size for non-batch dimensions, but got %s "+
				"with dimension %d being empty.", name, tensor.ShapeString(sh), i)
		}
	}
	return append(slices.Clone(sh[:len(sh)-nd]), out...)
}

// place sets d[index[i]] = g[i] in every plane of a cleared d; the last of several wins.
func place[E number](planes, dsz, gsz int, d, g []E, index []int64) (bad int64) {
	bad = -1
	for p := range planes {
		dst := d[p*dsz:][:dsz]
		clear(dst)
		ix := index[p*gsz:][:gsz]
		for i, v := range g[p*gsz:][:gsz] {
			if k := ix[i]; k >= 0 && k < int64(dsz) {
				dst[k] = v
			} else if bad < 0 {
				bad = k
			}
		}
	}
	return bad
}

func unpoolDef(schema string, nd int) tensor.Def {
	return tensor.Def{
		Schema: schema,
		Grad:   fmt.Sprintf("MaxUnpool%dDBackward0", nd),
		Doc: "writes each element to the position of a plane of zeros that indices (from max pooling) names." +
			site + fmt.Sprintf("max_unpool%dd.html", nd),
		Go: "-",
		Infer: func(c *Ctx) {
			name := c.Op().Sch.Name
			if nd == 3 {
				st, pad := c.Ints(3), c.Ints(4)
				if len(st) != 3 {
					c.Fail(tensor.ErrShape,
						"There should be exactly three elements (depth, height, width) in stride, but got: %d elements.", len(st))
				}
				if len(pad) != 3 {
					c.Fail(tensor.ErrShape,
						"There should be exactly three elements (depth, height, width) in padding, but got: %d "+
							"elements.", len(pad))
				}
			}
			out := unpoolCheck(c, nd, name)
			if nd == 3 {
				for _, s := range c.Ints(3) {
					if s <= 0 {
						c.Fail(tensor.ErrValue, "strides should be greater than zero, but got stride: %s",
							tensor.ShapeString(c.Ints(3)))
					}
				}
			}
			c.Alloc(0, out, c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			g, out := c.T(0), c.Out(0)
			planes, dsz := spatial(out.Shape(), nd)
			_, gsz := spatial(g.Shape(), nd)
			ix := tensor.Data[int64](tensor.Dense(c.T(1)))
			bad := int64(-1)
			onType(c, g.DType(),
				func() { into(out, func(d []float32) { bad = place(planes, dsz, gsz, d, dense[float32](g), ix) }) },
				func() { into(out, func(d []float64) { bad = place(planes, dsz, gsz, d, dense[float64](g), ix) }) },
				func() { into(out, func(d []int64) { bad = place(planes, dsz, gsz, d, dense[int64](g), ix) }) },
				func() { into(out, func(d []int32) { bad = place(planes, dsz, gsz, d, dense[int32](g), ix) }) },
				func() { into(out, func(d []int16) { bad = place(planes, dsz, gsz, d, dense[int16](g), ix) }) },
				func() { into(out, func(d []int8) { bad = place(planes, dsz, gsz, d, dense[int8](g), ix) }) },
				func() { into(out, func(d []uint8) { bad = place(planes, dsz, gsz, d, dense[uint8](g), ix) }) })
			if bad >= 0 {
				c.Fail(tensor.ErrIndex, "Found an invalid max index: %d (output volumes are of size %s", bad,
					tensor.ShapeString(c.Ints(2)))
			}
		},
		Save: "indices",
		VJP:  func(c *Ctx, g *T) []*T { return []*T{call(opGather, g, c.T(1), nd)[0], nil} },
	}
}

var opUnpool = []*tensor.Op{nil, nil, tensor.Slot("aten::max_unpool2d"), tensor.Slot("aten::max_unpool3d")}

// unpoolSize is the size of the result: the default that kernel, stride and padding give, or output_size, which must
// be close to it.
func unpoolSize(c *Ctx, sh []int, nd int, k, stride, pad []int) []int {
	def := make([]int, nd)
	for i := range nd {
		def[i] = (sh[len(sh)-nd+i]-1)*stride[i] + k[i] - 2*pad[i]
	}
	if !c.Has(5) {
		return def
	}
	out := c.Ints(5)
	if len(out) == nd+2 || len(out) == nd+1 && nd == 3 {
		out = out[len(out)-nd:]
	} else if len(out) == nd+2 {
		out = out[2:]
	}
	if len(out) != nd {
		c.Fail(tensor.ErrShape, "output_size should be a sequence containing %d or %d elements, but it has a length "+
			"of '%d'", nd, nd+2, len(out))
	}
	for i := range nd {
		if lo, hi := def[i]-stride[i], def[i]+stride[i]; out[i] <= lo || out[i] >= hi {
			c.Fail(tensor.ErrShape, "invalid output_size \"%s\" (dim %d must be between %d and %d)",
				tensor.ShapeString(out), i, lo, hi)
		}
	}
	return out
}

func unpoolBody(nd int) func(c *Ctx) {
	return func(c *Ctx) {
		x, ix := c.T(0), c.T(1)
		k := list(c, "kernel_size", c.Ints(2), nil, nd)
		stride := list(c, "stride", c.Ints(3), k, nd)
		pad := list(c, "padding", c.Ints(4), nil, nd)
		if x.Dim() < nd {
			c.Fail(tensor.ErrShape, "Input to max_unpooling%dd should be a %dd or %dd Tensor, but got a tensor with "+
				"%d dimensions", max(2, nd), max(2, nd)+1, max(2, nd)+2, x.Dim())
		}
		size := unpoolSize(c, x.Shape(), nd, k, stride, pad)
		switch nd {
		case 1: // as 2-d with a last dimension of size 1
			c.Return(call(opUnpool[2], x.Unsqueeze(-1), ix.Unsqueeze(-1), append(size, 1))[0].SqueezeDim(-1))
		case 2:
			c.Return(call(opUnpool[2], x, ix, size)[0])
		default:
			c.Return(call(opUnpool[3], x, ix, size, stride, pad)[0])
		}
	}
}

func init() {
	for _, d := range []tensor.Def{
		unpoolDef("max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor", 2),
		unpoolDef("max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> Tensor", 3),
		{Schema: "F::max_unpool1d(Tensor input, Tensor indices, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, int[]? output_size=None) -> Tensor", Doc: "is the reverse of max_pool1d: it writes each element to the position that indices names, and " +
			"zeros elsewhere. Shapes: input and indices [n, c, L] or [c, L]; each spatial size becomes " +
			"output_size, or (size-1)·stride - 2·padding + kernel_size." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.max_unpool1d.html",
			Body: unpoolBody(1)},
		{Schema: "F::max_unpool2d(Tensor input, Tensor indices, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, int[]? output_size=None) -> Tensor", Doc: "is the reverse of max_pool2d: it writes each element to the position that indices names, and " +
			"zeros elsewhere. Shapes: input and indices [n, c, H, W] or [c, H, W]; each spatial size becomes " +
			"output_size, or (size-1)·stride - 2·padding + kernel_size." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.max_unpool2d.html",
			Body: unpoolBody(2)},
		{Schema: "F::max_unpool3d(Tensor input, Tensor indices, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, int[]? output_size=None) -> Tensor", Doc: "is the reverse of max_pool3d: it writes each element to the position that indices names, and " +
			"zeros elsewhere. Shapes: input and indices [n, c, D, H, W] or [c, D, H, W]; each spatial size " +
			"becomes output_size, or (size-1)·stride - 2·padding + kernel_size." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.max_unpool3d.html",
			Body: unpoolBody(3)},
	} {
		tensor.Register(d)
	}
}
