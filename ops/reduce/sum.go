package reduce

import "github.com/gotorch-dev/torch/tensor"

// dims resolves a dimension list (empty: all) and gives the shape of the result.
func dims(c *Ctx, t *T, list []int, keep bool) (reduced []bool, shape []int) {
	reduced = make([]bool, t.Dim())
	for _, d := range list {
		d = tensor.WrapDim(d, t.Dim())
		if t.Dim() == 0 {
			continue
		}
		if reduced[d] {
			c.Fail(tensor.ErrValue, "dim %d appears multiple times in the list of dims", d)
		}
		reduced[d] = true
	}
	for i, s := range t.Shape() {
		reduced[i] = reduced[i] || len(list) == 0
		switch {
		case !reduced[i]:
			shape = append(shape, s)
		case keep:
			shape = append(shape, 1)
		}
	}
	return reduced, shape
}

// unreduce gives a reduced gradient its dimensions back, of size 1.
func unreduce(c *Ctx, g *T, list []int, keep bool) *T {
	if keep || len(c.Shape(0)) == 0 {
		return g
	}
	sh := append([]int(nil), c.Shape(0)...)
	for i := range sh {
		if len(list) == 0 {
			sh[i] = 1
		}
	}
	for _, d := range list {
		sh[tensor.WrapDim(d, len(sh))] = 1
	}
	return g.Reshape(sh)
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
		Doc:    "sums over dimensions (none given: all). Integers and bool sum to int64.\nhttps://pytorch.org/docs/stable/generated/torch.sum.html",
		Out:    true,
		Infer: func(c *Ctx) {
			dt := c.DType(3)
			if dt == 0 {
				if dt = c.ArgDType(0); dt.IsIntOrBool() {
					dt = tensor.Int64
				}
			}
			_, sh := dims(c, c.T(0), c.Ints(1), c.Bool(2))
			c.Alloc(0, sh, dt)
		},
		CPU: func(c *Ctx) {
			o := c.Out(0)
			acc := o.DType()
			if acc.IsFloat() {
				acc = tensor.Float64
			} else if acc.IsComplex() {
				acc = tensor.Complex128
			} else {
				acc = tensor.Int64
			}
			t := c.T(0).DenseAs(acc)
			red, _ := dims(c, t, c.Ints(1), c.Bool(2))
			w := tensor.New(o.Shape(), acc)
			w.ZeroRaw()
			switch acc {
			case tensor.Float64:
				sumInto(tensor.Data[float64](w), tensor.Data[float64](t), t.Shape(), red)
			case tensor.Int64:
				sumInto(tensor.Data[int64](w), tensor.Data[int64](t), t.Shape(), red)
			default:
				sumInto(tensor.Data[complex128](w), tensor.Data[complex128](t), t.Shape(), red)
			}
			tensor.CopyRaw(o, w)
		},
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{unreduce(c, g, c.Ints(1), c.Bool(2)).Expand(c.Shape(0))}
		},
		Grad: "SumBackward1",
	})
}

func sumInto[E int64 | float64 | complex128](dst, src []E, shape []int, red []bool) {
	if len(src) == 0 {
		return
	}
	st := make([]int, len(shape))
	s := 1
	for i := len(shape) - 1; i >= 0; i-- {
		if !red[i] {
			st[i] = s
			s *= shape[i]
		}
	}
	pos := make([]int, len(shape))
	p := 0
	for _, v := range src {
		dst[p] += v
		for d := len(shape) - 1; d >= 0; d-- {
			pos[d]++
			p += st[d]
			if pos[d] < shape[d] {
				break
			}
			p -= pos[d] * st[d]
			pos[d] = 0
		}
	}
}
