package matmul

import (
	"github.com/gotorch-dev/torch/internal/cpu/gemm"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// A packed weight [panels, in, w] holds w outputs of each input side by side, as the kernels read them. That is worth a
// copy where a weight is multiplied again and again: with few rows, packing would take longer than the product.
func init() {
	tensor.Register(tensor.Def{
		Schema: "gotorch::linear_pack(Tensor weight) -> Tensor",
		Doc: "copies the weight [out, in] of a linear layer into panels, for gotorch::linear_packed on this " +
			"processor. Surplus outputs of the last panel are 0.",
		Body: func(c *Ctx) {
			w := c.T(0)
			if w.Dim() != 2 || !packable(w) {
				c.Fail(tensor.ErrShape, "expected a matrix of float32 or float64, got %s of %s",
					tensor.ShapeString(w.Shape()), w.DType())
			}
			n, k, width := w.Size(0), w.Size(1), panelWidth(w.DType())
			panels := (n + width - 1) / width
			rows := w.NewZeros([]int{panels * width, k})
			rows.Narrow(0, 0, n).CopyInPlace(w)
			c.Return(rows.Reshape([]int{panels, width, k}).Transpose(1, 2).Contiguous())
		},
	})
	tensor.Register(tensor.Def{
		Schema: "gotorch::linear_packed(Tensor input, Tensor packed, int out_features, Tensor? bias, str activation) -> Tensor",
		Doc: "is gotorch::linear_fused with the weight [out_features, in] that gotorch::linear_pack made packed " +
			"of, for inference.",
		Go: "-",
		Body: func(c *Ctx) {
			p, n := c.T(1), c.Int(2)
			checkPacked(c, p, n)
			w := p.Transpose(1, 2).Reshape([]int{p.Size(0) * p.Size(2), p.Size(1)}).Narrow(0, 0, n)
			c.Return(op.Activate(c, 4, call(opLinear, c.T(0), w, c.T(3))[0]))
		},
		Fuses: func(c *Ctx) bool { // the other conditions are errors in both
			p := c.T(1)
			return p.Dim() == 3 && p.Size(2) == panelWidth(p.DType()) && p.IsContiguous()
		},
		Infer: func(c *Ctx) {
			x, p, n, b := c.T(0), c.T(1), c.Int(2), c.T(3)
			checkPacked(c, p, n)
			if x.Dim() == 0 || x.Size(-1) != p.Size(1) || x.DType() != p.DType() {
				c.Fail(tensor.ErrShape, "expected an input of %d %s, got %s of %s", p.Size(1), p.DType(),
					tensor.ShapeString(x.Shape()), x.DType())
			}
			if b != nil && (b.Dim() != 1 || b.Size(0) != n || b.DType() != p.DType()) {
				c.Fail(tensor.ErrShape, "expected a bias of %d %s, got %s of %s", n, p.DType(),
					tensor.ShapeString(b.Shape()), b.DType())
			}
			op.CheckActivation(c, 4)
			var buf [8]int // on the stack
			c.Alloc(0, append(append(buf[:0], x.Shape()[:x.Dim()-1]...), n), x.DType())
		},
		CPU: func(c *Ctx) {
			x, p, b, o := c.T(0), c.T(1), c.T(3), c.Out(0)
			switch {
			case o.Numel() == 0:
			case p.DType() == tensor.Float64:
				packedRun[float64](o, x, p, b, op.Activations[c.Str(4)])
			default:
				packedRun[float32](o, x, p, b, op.Activations[c.Str(4)])
			}
		},
	})
}

// checkPacked refuses what is no packed weight of n outputs.
func checkPacked(c *Ctx, p *T, n int) {
	if p.Dim() != 3 || !packable(p) || n < 0 || p.Size(2) == 0 || (n+p.Size(2)-1)/p.Size(2) != p.Size(0) {
		c.Fail(tensor.ErrShape, "expected a weight with %d outputs that gotorch::linear_pack made, got %s of %s", n,
			tensor.ShapeString(p.Shape()), p.DType())
	}
}

func packable(t *T) bool { return t.DType() == tensor.Float32 || t.DType() == tensor.Float64 }

func panelWidth(d tensor.DType) int {
	if d == tensor.Float64 {
		return gemm.PanelWidth[float64]()
	}
	return gemm.PanelWidth[float32]()
}

func packedRun[E float32 | float64](o, x, p, b *T, act gemm.Activation) {
	n, k := o.Size(-1), p.Size(1)
	m := o.Numel() / n
	a := rows(x, m, k)
	ep := &gemm.Epilogue[E]{Act: act}
	if b != nil {
		ep.BiasCol = memory[E](tensor.Dense(b))
	}
	if m == 1 {
		a.rs = k // which it never uses
	}
	gemm.GEMMPanels(m, n, k, memory[E](a.t), a.rs, a.cs, memory[E](p), memory[E](o), n, ep)
}
