package parametrizations_test

import (
	"errors"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/utils/parametrizations"
	"github.com/gotorch-dev/torch/nn/utils/parametrize"
	"github.com/gotorch-dev/torch/tensor"
)

// orthogonal reports that rows or columns, whichever are fewer, are orthonormal.
func orthogonal(w *torch.Tensor) bool {
	if w.Size(0) < w.Size(1) {
		w = w.Transpose(0, 1)
	}
	return w.Transpose(0, 1).MatMul(w).AllClose(torch.Eye(w.Size(1), torch.EyeOptions{DType: w.DType()}))
}

func TestOrthogonal(t *testing.T) {
	for _, name := range []string{"linalg_matrix_exp", "linalg_solve", "linalg_householder_product", "geqrf"} {
		if tensor.LookupOp("aten::"+name) == nil {
			t.Skip("there is no operator aten::" + name)
		}
	}
	torch.ManualSeed(0)
	for name, kind := range map[string]parametrizations.OrthogonalMap{"default": parametrizations.DefaultMap,
		"matrix_exp": parametrizations.MatrixExp, "cayley": parametrizations.Cayley,
		"householder": parametrizations.Householder} {
		for _, size := range [][2]int{{4, 4}, {3, 5}, {5, 3}} {
			for _, alone := range []bool{false, true} {
				l := nn.NewLinear(size[0], size[1], nn.LinearOptions{DType: tensor.Float64})
				m := parametrizations.Orthogonal(l, parametrizations.OrthogonalOptions{Map: kind, NoTrivialization: alone})
				x := torch.Randn([]int{2, size[0]}, torch.RandnOptions{DType: tensor.Float64})
				original := parametrize.List(m, "weight").Originals()[0]
				for step := range 3 { // the weight stays orthogonal whatever the original becomes
					if !orthogonal(m.Weight.Detach()) {
						t.Fatalf("%s %v %v: after %d steps the weight is %v", name, size, alone, step, m.Weight)
					}
					original.SetGrad(nil)
					m.Forward(x).Cos().Sum().Backward()
					if original.Grad() == nil || original.Grad().Abs().Sum().Item() == 0 {
						t.Fatalf("%s %v %v: no gradient", name, size, alone)
					}
					tensor.NoGrad(func() { original.AddInPlace(original.Grad().MulScalar(-0.1)) })
					nn.Refresh(m)
				}
				if alone {
					continue
				}
				w := torch.Eye(max(size[0], size[1]), torch.EyeOptions{DType: tensor.Float64}).Narrow(0, 0, size[1]).Narrow(1, 0,
					size[0])
				if parametrize.Set(m, "weight", w); !m.Weight.AllClose(w, tensor.AllCloseOptions{Atol: tensor.Some(1e-7)}) {
					t.Errorf("%s %v: the weight is %v after it was set to the identity", name, size, m.Weight)
				}
			}
		}
	}
}

func TestOrthogonalRefused(t *testing.T) {
	for name, f := range map[string]func(){
		"name": func() { parametrizations.Orthogonal(nn.NewReLU()) },
		"vector": func() {
			parametrizations.Orthogonal(nn.NewLinear(2, 2), parametrizations.OrthogonalOptions{Name: "bias"})
		},
		"complex": func() {
			parametrizations.Orthogonal(nn.NewLinear(2, 2, nn.LinearOptions{DType: tensor.Complex64}),
				parametrizations.OrthogonalOptions{Map: parametrizations.Householder})
		},
	} {
		var e *tensor.Error
		if err := torch.Try(f); !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
