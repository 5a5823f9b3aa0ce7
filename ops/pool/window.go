package pool

import (
	"fmt"
	"math"
	"slices"

	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

const site = "\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional."

// window is a pooling over three spatial dimensions; fewer are padded with ones in front.
type window struct {
	planes                       int // batch times channels
	in, out, k, stride, pad, dil [3]int
	ceil, countPad               bool
	sides                        bool // means are divided by one side of the window after the other
	relu                         bool // maxima below zero are zeros, whose code is noTap
	divisor                      int
}

func (w *window) inSize() int  { return w.in[0] * w.in[1] * w.in[2] }
func (w *window) taps() int    { return w.k[0] * w.k[1] * w.k[2] }
func (w *window) outSize() int { return w.out[0] * w.out[1] * w.out[2] }

// each runs f for every plane, in parallel.
func (w *window) each(f func(p int)) {
	w.runs(func(lo, hi int) {
		for p := lo; p < hi; p++ {
			f(p)
		}
	})
}

// runs is each for runs of planes, from lo to hi, which may share what a plane needs room for.
func (w *window) runs(f func(lo, hi int)) {
	cost := max(1, w.outSize()*w.k[0]*w.k[1]*w.k[2]+w.inSize())
	par.For(w.planes, max(1, 16*1024/cost), f)
}

// number is the set of element types of poolings; 16-bit floats are computed in float32.
type number interface {
	float32 | float64 | int64 | int32 | int16 | int8 | uint8
}

// list repeats a single value to n entries; an empty one takes def.
func list(c *Ctx, name string, v, def []int, n int) []int {
	if len(v) == 0 && def != nil {
		v = def
	}
	switch len(v) {
	case n:
		return v
	case 1:
		return slices.Repeat(v, n)
	}
	what := []string{"", "one int", "either be omitted, a single int, or a tuple of two ints",
		"either be omitted, a single int, or a tuple of three ints"}[n]
	if name == "kernel_size" || name == "output_size" || n == 1 {
		what = []string{"", "contain one int", "either be a single int, or a tuple of two ints",
			"a single int, or a tuple of three ints"}[n]
	}
	c.Fail(tensor.ErrShape, "%s: %s must %s", c.Op().Sch.Name, name, what)
	return nil
}

// makeWindow builds the window of an operator over nd spatial dimensions.
func makeWindow(c *Ctx, sh []int, nd int, k, stride, pad, dil []int, ceil bool) *window {
	w := &window{planes: 1, ceil: ceil}
	for _, s := range sh[:len(sh)-nd] {
		w.planes *= s
	}
	for i := range 3 {
		w.in[i], w.out[i], w.k[i], w.stride[i], w.dil[i] = 1, 1, 1, 1, 1
		if j := i - (3 - nd); j >= 0 {
			w.in[i], w.k[i], w.stride[i], w.pad[i], w.dil[i] = sh[len(sh)-nd+j], k[j], stride[j], pad[j], dil[j]
			w.out[i] = op.Windows(w.in[i], w.k[i], w.pad[i], w.stride[i], w.dil[i], ceil)
			if w.out[i] == 1 { // no second step: kernels do not meet what may be a huge number
				w.stride[i] = 1
			}
		}
	}
	return w
}

// mostTaps bounds the size of a window along a dimension. PyTorch takes more, of which all but a few lie in the
// padding.
const mostTaps = 1 << 24

// checkWindow refuses sizes that make no sense, with PyTorch's words.
func checkWindow(c *Ctx, sh []int, nd int, w *window) {
	for i := 3 - nd; i < 3; i++ {
		switch {
		case w.k[i] <= 0:
			if nd == 1 {
				c.Fail(tensor.ErrValue, "max_pool1d() kernel_size must be greater than zero, but got %d", w.k[i])
			}
			c.Fail(tensor.ErrValue, "kernel size should be greater than zero, but got kernel_size: %s",
				tensor.ShapeString(w.k[3-nd:]))
		case w.stride[i] <= 0:
			if nd == 1 {
				c.Fail(tensor.ErrValue, "max_pool1d() stride must be greater than zero, but got %d", w.stride[i])
			}
			c.Fail(tensor.ErrValue, "stride should be greater than zero, but got stride: %s",
				tensor.ShapeString(w.stride[3-nd:]))
		case w.dil[i] <= 0:
			if nd == 1 {
				c.Fail(tensor.ErrValue, "max_pool1d() dilation must be greater than zero, but got %d", w.dil[i])
			}
			c.Fail(tensor.ErrValue, "dilation should be greater than zero, but got dilation: %s",
				tensor.ShapeString(w.dil[3-nd:]))
		case w.pad[i] < 0:
			c.Fail(tensor.ErrValue, "pad must be non-negative, but got pad: %d", w.pad[i])
		}
		if w.k[i] > 1 && w.dil[i] > (math.MaxInt64-1)/(w.k[i]-1) {
			c.Fail(tensor.ErrValue, "effective kernel size overflows: kernel_size %d, dilation %d", w.k[i], w.dil[i])
		}
		if w.pad[i] > ((w.k[i]-1)*w.dil[i]+1)/2 {
			c.Fail(tensor.ErrValue, "pad should be at most half of effective kernel size, but got pad=%d, "+
				"kernel_size=%d and dilation=%d", w.pad[i], w.k[i], w.dil[i])
		}
	}
}

// checkOutput refuses results without elements, and windows of too many.
func checkOutput(c *Ctx, sh []int, nd int, w *window) {
	for i := 3 - nd; i < 3; i++ {
		if w.out[i] < 1 {
			if nd == 1 {
				c.Fail(tensor.ErrShape, "Invalid computed output size: %d", w.out[i])
			}
			by := func(n []int) string { // channels and sizes, as "3x8x8"
				s := fmt.Sprint(sh[len(sh)-nd-1])
				for _, k := range n {
					s += fmt.Sprintf("x%d", k)
				}
				return s
			}
			c.Fail(tensor.ErrShape, "Given input size: (%s). Calculated output size: (%s). Output size is too small",
				by(w.in[3-nd:]), by(w.out[3-nd:]))
		}
		if w.k[i] > mostTaps {
			c.Fail(tensor.ErrValue, "kernel_size %d is too large", w.k[i])
		}
	}
}

// checkInput refuses inputs of another rank, and empty ones apart from an empty batch.
func checkInput(c *Ctx, sh []int, nd int) {
	ok := len(sh) == nd+1 || len(sh) == nd+2
	for i := len(sh) - nd - 1; ok && i < len(sh); i++ {
		ok = sh[i] != 0
	}
	if !ok {
		if nd == 3 && (len(sh) == 4 || len(sh) == 5) {
			c.Fail(tensor.ErrShape, "%s: Expected input to have non-zero size for non-batch dimensions, but got %s: "+
				"non-empty 4D or 5D (batch mode) tensor expected for input", c.Op().Sch.Name, tensor.ShapeString(sh))
		}
		if nd == 3 {
			c.Fail(tensor.ErrShape, "%s: non-empty 4D or 5D (batch mode) tensor expected for input, got %s",
				c.Op().Sch.Name, tensor.ShapeString(sh))
		}
		c.Fail(tensor.ErrShape, "Expected %dD or %dD (batch mode) tensor with optional 0 dim batch size for input, "+
			"but got:%s", nd+1, nd+2, tensor.ShapeString(sh))
	}
}

// resultShape is the input's with the spatial sizes of the windows.
func resultShape(sh []int, nd int, w *window) []int {
	out := slices.Clone(sh)
	copy(out[len(out)-nd:], w.out[3-nd:])
	return out
}

// formatOf is the memory format that t speaks for; without a batch it is always the contiguous one.
func formatOf(t *T, nd int) tensor.MemoryFormat {
	if t.Dim() != nd+2 {
		return tensor.ContiguousFormat
	}
	return t.SuggestFormat()
}

// allocLike makes result i in the memory format that like speaks for.
func allocLike(c *Ctx, nd, i int, shape []int, like *T, dt tensor.DType) {
	c.AllocStrided(i, shape, tensor.FormatStrides(shape, formatOf(like, nd)), dt)
}

// dense is t's memory in the compute type.
func dense[E number](t *T) []E { return tensor.Data[E](tensor.DenseAs(t, tensor.DTypeOf[E]())) }

// into runs f on a dense buffer of the compute type and leaves the result in out.
func into[E number](out *T, f func(d []E)) {
	if out.DType() == tensor.DTypeOf[E]() && out.IsContiguous() {
		f(tensor.Data[E](out))
		return
	}
	w := tensor.New(out.Shape(), tensor.DTypeOf[E]())
	f(tensor.Data[E](w))
	tensor.CopyRaw(out, w)
}

// onType calls the instance for a dtype's compute type.
func onType(c *Ctx, dt tensor.DType, f32, f64, i64, i32, i16, i8, u8 func()) {
	switch dt.Compute() {
	case tensor.Float32:
		f32()
	case tensor.Float64:
		f64()
	case tensor.Int64:
		i64()
	case tensor.Int32:
		i32()
	case tensor.Int16:
		i16()
	case tensor.Int8:
		i8()
	case tensor.Uint8:
		u8()
	default:
		c.FailDType(tensor.ErrNotImpl, c.Op().Sch.Name, dt)
	}
}

// call runs an operator with its first arguments; the others have their defaults.
var call = op.CallOp
