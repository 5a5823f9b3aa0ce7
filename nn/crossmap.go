package nn

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// CrossMapLRN2d divides each channel of pictures by a power of the squares of its neighbours, as LocalResponseNorm
// does, but with PyTorch's own windows: those of an even size are one channel shorter, and each one has the first
// channel in it. The gradient is that of PyTorch, too, whose windows are other ones than those of the result.
// https://pytorch.org/docs/stable/generated/torch.nn.modules.normalization.CrossMapLRN2d.html
type CrossMapLRN2d struct {
	Base
	Size           int
	Alpha, Beta, K tensor.Scalar
}

// NewCrossMapLRN2d makes a CrossMapLRN2d.
func NewCrossMapLRN2d(size int, opts ...LocalResponseNormOptions) *CrossMapLRN2d {
	o := first(opts)
	m := &CrossMapLRN2d{Size: size, Alpha: o.Alpha.Or(1e-4), Beta: o.Beta.Or(0.75), K: 1}
	if k, given := o.K.Get(); given {
		m.K = k
	}
	return New(m)
}

// Forward applies the layer to (N, C, H, W).
func (m *CrossMapLRN2d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		if x.Dim() != 4 {
			tensor.Fail(tensor.ErrShape, "CrossMapLRN2d: Expected input to be 4D, got %dD instead.", x.Dim())
		}
		if m.Size < 1 {
			tensor.Fail(tensor.ErrValue, "CrossMapLRN2d: size must be at least 1, got %d", m.Size)
		}
		half := (m.Size + 1) / 2
		squares := x.Square().Flatten(tensor.FlattenOptions{StartDim: 2})
		ones := x.NewOnes([]int{x.Size(1), x.Size(1)})
		near := torch.Cat([]*Tensor{ones.Narrow(1, 0, 1), band(ones, 1-half, half-1).Narrow(1, 1, x.Size(1)-1)},
			torch.CatOptions{Dim: 1})
		back := band(ones, half-m.Size+1, half).MatMul(squares)
		sums := detach(near.MatMul(squares)).Add(back.Sub(detach(back))) // near's value with the gradient of back
		alpha, beta, k := number(m.Alpha), number(m.Beta), number(m.K)
		scale := sums.View(x.Shape()).MulScalar(alpha / float64(m.Size)).AddScalar(k)
		return x.Mul(scale.PowScalar(-beta))
	})
}

// band keeps the diagonals from first to last of a square matrix, counted upwards from the main diagonal, and sets the
// rest to 0.
func band(t *Tensor, first, last int) *Tensor {
	return t.Triu(tensor.TriuOptions{Diagonal: first}).Tril(tensor.TrilOptions{Diagonal: last})
}

// detach is Detach as an operator, which those who watch the module see.
func detach(t *Tensor) *Tensor {
	r, err := tensor.CallOp("aten::detach", tensor.TensorValue(t))
	if err != nil {
		panic(err)
	}
	return r[0].T
}

// number is the value of a setting that is a whole number or a float.
func number(s tensor.Scalar) float64 { return tensor.ScalarValue(s).Num().F }

// ExtraRepr prints the settings.
func (m *CrossMapLRN2d) ExtraRepr() string {
	return fmt.Sprintf("%d, alpha=%s, beta=%s, k=%s", m.Size, pyNum(m.Alpha), pyNum(m.Beta), pyNum(m.K))
}
