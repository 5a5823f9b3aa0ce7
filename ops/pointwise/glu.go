package pointwise

import (
	"slices"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/tensor"
)

// gluChunk is how many elements glu and its gradient work on at a time, so that what lies between stays in the L1
// cache.
const gluChunk = 1024

// gluKernels are the kernels of which glu is made, for float32 or float64.
type gluKernels[E float] struct {
	sigmoid func(d, a []E)
	mul     func(d, a, b []E)
	addcmul func(d, a, b, c []E, v E)
	round   func(d []E) // to the 16-bit type of the elements; nil for others
}

// forward sets d to a times the sigmoid of b.
func (k *gluKernels[E]) forward(d, a, b []E) {
	for len(d) > 0 {
		n := min(len(d), gluChunk)
		k.sigmoid(d[:n], b[:n])
		k.mul(d[:n], d[:n], a[:n])
		d, a, b = d[n:], a[n:], b[n:]
	}
}

// backward sets da to g·s and db to g·s·a·(1-s), s being the sigmoid of b.
func (k *gluKernels[E]) backward(da, db, g, a, b []E) {
	for len(g) > 0 {
		n := min(len(g), gluChunk)
		s, t := da[:n], db[:n]
		k.sigmoid(s, b[:n])
		if k.round != nil {
			k.round(s)
		}
		k.mul(t, s, g[:n])
		k.mul(t, t, a[:n])
		k.addcmul(t, t, t, s, -1)
		k.mul(s, s, g[:n])
		da, db, g, a, b = da[n:], db[n:], g[n:], a[n:], b[n:]
	}
}

var (
	glu32  = gluKernels[float32]{sigmoid: vec.SigmoidF32, mul: vec.MulF32, addcmul: vec.AddcmulF32}
	glu64  = gluKernels[float64]{sigmoid: vec.SigmoidF64, mul: vec.MulF64, addcmul: vec.AddcmulF64}
	gluF16 = gluKernels[float32]{sigmoid: vec.SigmoidF32, mul: vec.MulF32, addcmul: vec.AddcmulF32,
		round: roundedRun(vec.F32ToF16s, vec.F16ToF32s)}
	gluBF16 = gluKernels[float32]{sigmoid: vec.SigmoidF32, mul: vec.MulF32, addcmul: vec.AddcmulF32,
		round: roundedRun(vec.F32ToBF16s, vec.BF16ToF32s)}
)

// roundedRun makes a function that gives up to gluChunk numbers the precision of a 16-bit type. (PyTorch's gradient has
// the sigmoid in that type.)
func roundedRun(narrow func([]uint16, []float32), widen func([]float32, []uint16)) func(d []float32) {
	return func(d []float32) {
		run := runs.Get().(*run4K)
		defer runs.Put(run)
		buf := slice[uint16](unsafe.Pointer(run), len(d))
		narrow(buf, d)
		widen(d, buf)
	}
}

// halves are the parts of x along dimension d.
func halves(x *T, d int) (a, b *T) {
	shape := slices.Clone(x.Shape())
	shape[d] /= 2
	return tensor.Alias(x, shape, x.Strides(), x.StorageOffset()),
		tensor.Alias(x, shape, x.Strides(), x.StorageOffset()+shape[d]*x.Strides()[d])
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "glu(Tensor self, int dim=-1) -> Tensor",
		Doc: "is a * sigmoid(b), a and b being the halves of self along " +
			"dim.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.glu.html",
		Out: true,
		Infer: func(c *Ctx) {
			x := c.T(0)
			if x.Dim() == 0 {
				c.Fail(tensor.ErrShape, "glu does not support 0-dimensional tensors")
			}
			d := tensor.WrapDim(c.Int(1), x.Dim())
			if n := x.Size(d); n%2 != 0 {
				c.Fail(tensor.ErrShape, "Halving dimension must be even, but dimension %d is size %d", d, n)
			}
			a, _ := halves(x, d)
			c.AllocStrided(0, a.Shape(), tensor.PermutedStrides(a), x.DType())
		},
		CPU: func(c *Ctx) {
			x, o := c.T(0), c.Out(0)
			if x.Storage() == o.Storage() { // o holds the sigmoid before a is read
				x = tensor.CloneRaw(x)
			}
			a, b := halves(x, tensor.WrapDim(c.Int(1), x.Dim()))
			switch as := x.DType().Compute(); as {
			case tensor.Float32:
				run2(o, a, b, as, as, as, glu32.forward)
			case tensor.Float64:
				run2(o, a, b, as, as, as, glu64.forward)
			default:
				missing(c, "glu_cpu", as)
			}
		},
		Save: "self",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{call(opGLUBackward, tv(g), tv(c.T(0)), c.Value(1))}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor",
		Doc:    "is the gradient of glu.", Go: "-",
		Infer: func(c *Ctx) {
			x := c.T(1)
			half := slices.Clone(x.Shape())
			if len(half) == 0 {
				c.Fail(tensor.ErrShape, "glu does not support 0-dimensional tensors")
			}
			d := tensor.WrapDim(c.Int(2), len(half))
			if half[d]%2 != 0 {
				c.Fail(tensor.ErrShape, "Halving dimension must be even, but dimension %d is size %d", c.Int(2), half[d])
			}
			half[d] /= 2
			c.WantShape(0, half...)
			c.AllocStrided(0, x.Shape(), tensor.PermutedStrides(x), x.DType())
		},
		CPU: func(c *Ctx) {
			g, x, o := c.T(0), c.T(1), c.Out(0)
			d := tensor.WrapDim(c.Int(2), x.Dim())
			switch {
			case x.DType() == tensor.Float64:
				gluGrad(&glu64, o, g, x, d, tensor.Float64)
			case x.DType() == tensor.Float16:
				gluGrad(&gluF16, o, g, x, d, tensor.Float32)
			case x.DType() == tensor.BFloat16:
				gluGrad(&gluBF16, o, g, x, d, tensor.Float32)
			default:
				gluGrad(&glu32, o, g, x, d, tensor.Float32)
			}
		},
		Save: "grad_output self",
		VJP: func(c *Ctx, gg *T) []*T {
			g, x, r := c.T(0), c.T(1), make([]*T, 2)
			d := tensor.WrapDim(c.Int(2), x.Dim())
			n := x.Size(d) / 2
			ga, gb := gg.Narrow(d, 0, n), gg.Narrow(d, n, n)
			a, s := x.Narrow(d, 0, n), x.Narrow(d, n, n).Sigmoid()
			slope := s.Sub(s.Mul(s))
			if c.Needs(0) {
				r[0] = ga.Mul(s).Add(gb.Mul(a).Mul(slope))
			}
			if c.Needs(1) {
				gs := g.Mul(slope)
				toB := ga.Add(gb.Mul(a).Mul(s.MulScalar(-2).AddScalar(1))).Mul(gs)
				r[1] = call(opCat, tensor.TensorsValue([]*T{gb.Mul(gs), toB}), tensor.IntValue(d))
			}
			return r
		},
	})
}

// gluGrad writes the gradients of both halves of x to those of o.
func gluGrad[E float](k *gluKernels[E], o, g, x *T, d int, as DType) {
	da, db := halves(o, d)
	a, b := halves(x, d)
	shape := g.Shape()
	ops := [...]iter.Operand{operand(da, shape, as), operand(db, shape, as), operand(g, shape, as),
		operand(a, shape, as), operand(b, shape, as)}
	iter.Run(shape, 2, ops[:], func(p *iter.Ptrs, n int) {
		k.backward(slice[E](p[0], n), slice[E](p[1], n), slice[E](p[2], n), slice[E](p[3], n), slice[E](p[4], n))
	})
}

var (
	opGLU         = tensor.Slot("aten::glu")
	opGLUBackward = tensor.Slot("aten::glu_backward")
	opCat         = tensor.Slot("aten::cat")
)
