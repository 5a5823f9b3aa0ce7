package reduce_test

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/tensor"
)

// TestDistanceProduct compares the distances of many rows, which a matrix product gives, with the definition; equal
// rows have no gradient.
func TestDistanceProduct(t *testing.T) {
	for _, dt := range []tensor.DType{tensor.Float64, tensor.Float32} {
		tol := map[tensor.DType]float64{tensor.Float64: 1e-6, tensor.Float32: 2e-3}[dt]
		x, y := opstest.Fill(tensor.Float64, 1, 31, 7), opstest.Fill(tensor.Float64, 2, 5, 7)
		a, b := tensor.Data[float64](x), tensor.Data[float64](y)
		copy(b, a[:7])
		v := x.ToDType(dt).Detach().SetRequiresGrad(true)
		d := torch.Cdist(v, y.ToDType(dt))
		got := tensor.Data[float64](d.Detach().ToDType(tensor.Float64))
		for i := range 31 {
			for j := range 5 {
				s := 0.0
				for k := range 7 {
					s += (a[i*7+k] - b[j*7+k]) * (a[i*7+k] - b[j*7+k])
				}
				if math.Abs(got[i*5+j]-math.Sqrt(s)) > tol {
					t.Fatalf("%v: distance of rows %d and %d is %g, want %g", dt, i, j, got[i*5+j], math.Sqrt(s))
				}
			}
		}
		d.Sum().Backward()
		for i, g := range tensor.Data[float64](v.Grad().ToDType(tensor.Float64)) {
			if g != g {
				t.Fatalf("%v: element %d of the gradient is NaN", dt, i)
			}
		}
	}
}

// TestDistanceKernels compares the distances of every order, and their gradients, with a norm of the differences.
func TestDistanceKernels(t *testing.T) {
	for _, c := range []struct{ rows, others, cols int }{{3, 4, 5}, {2, 70, 33}, {6, 5, 4100}, {4, 3, 1}} {
		for _, p := range []float64{0, 0.5, 1, 1.5, 2, 3, 4.5, math.Inf(1)} {
			if p == 0.5 && c.cols > 100 {
				continue // 1/p-th powers of thousands: the error of the sum counts twice
			}
			for dt, tol := range map[tensor.DType]float64{tensor.Float64: 1e-9, tensor.Float32: 2e-4,
				tensor.BFloat16: 4e-2} {
				x, y := opstest.Fill(tensor.Float64, 1, 2, c.rows, c.cols).ToDType(dt),
					opstest.Fill(tensor.Float64, 2, 2, c.others, c.cols).ToDType(dt)
				copyRow := x.Select(0, 0).Select(0, 0)
				y.Select(0, 0).Select(0, 1).CopyInPlace(copyRow)
				x, y = x.Detach().SetRequiresGrad(true), y.Detach().SetRequiresGrad(true)
				u, v := x.Detach().ToDType(tensor.Float64).SetRequiresGrad(true),
					y.Detach().ToDType(tensor.Float64).SetRequiresGrad(true)
				got := torch.Cdist(x, y, direct(p))
				want := u.Unsqueeze(-2).Sub(v.Unsqueeze(-3)).NormDim(tensor.Scalar(p), []int{-1})
				near(t, got, want, tol, "distances", p)
				g := opstest.Fill(tensor.Float64, 3, 2, c.rows, c.others)
				a := tensor.Grad([]*tensor.Tensor{got}, []*tensor.Tensor{x, y},
					tensor.GradOptions{GradOutputs: []*tensor.Tensor{g.ToDType(dt)}})
				b := tensor.Grad([]*tensor.Tensor{want}, []*tensor.Tensor{u, v},
					tensor.GradOptions{GradOutputs: []*tensor.Tensor{g}, AllowUnused: true})
				// a norm shares its slope among equal differences
				if b[0] != nil && p != 0 && (dt == tensor.Float64 || p < 5) {
					near(t, a[0], b[0], tol*10, "gradient of x1", p)
					near(t, a[1], b[1], tol*10, "gradient of x2", p)
				}
				// each two rows of one matrix are those above the diagonal
				z := x.Detach().Select(0, 1).Contiguous().SetRequiresGrad(true)
				w := z.Detach().SetRequiresGrad(true)
				up := torch.TriuIndices(c.rows, c.rows, torch.TriuIndicesOptions{Offset: 1})
				full := torch.Cdist(w, w.Detach(), direct(p)).Add(torch.Cdist(w.Detach(), w, direct(p))).MulScalar(0.5)
				one := z.Pdist(tensor.PdistOptions{P: tensor.Some(p)})
				near(t, one, full.Flatten().IndexSelect(0, up.Select(0, 0).MulScalar(c.rows).Add(up.Select(0, 1))), tol,
					"pdist", p)
				one.Sum().Backward()
				full.Triu(tensor.TriuOptions{Diagonal: 1}).MulScalar(2).Sum().Backward()
				near(t, z.Grad(), w.Grad(), tol*10, "gradient of pdist", p)
			}
		}
	}
}

func direct(p float64) torch.CdistOptions {
	return torch.CdistOptions{P: tensor.Some(p), ComputeMode: tensor.Some(2)}
}

func near(t *testing.T, got, want *tensor.Tensor, tol float64, what string, p float64) {
	t.Helper()
	a, b := tensor.Data[float64](got.Detach().ToDType(tensor.Float64).Contiguous()),
		tensor.Data[float64](want.Detach().ToDType(tensor.Float64).Contiguous())
	if len(a) != len(b) {
		t.Fatalf("%s of order %g: shape %v, want %v", what, p, got.Shape(), want.Shape())
	}
	for i, w := range b {
		if d := math.Abs(a[i] - w); !(d <= tol*(1+math.Abs(w))) {
			t.Fatalf("%v: %s of order %g: element %d is %g, want %g", got.DType(), what, p, i, a[i], w)
		}
	}
}
