package linalg_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/linalg"
	"github.com/gotorch-dev/torch/tensor"
)

// symmetric is a batch of positive definite matrices with eigenvalues that are apart.
func symmetric(batch []int, n int, dt tensor.DType) *torch.Tensor {
	total := tensor.Size(batch).Numel() * n * n
	a := torch.Arange(total, torch.ArangeOptions{DType: dt}).MulScalar(0.7).Sin().View(append(append([]int{}, batch...),
		n, n))
	return a.MatMul(a.MT()).Add(torch.Diag(torch.Arange(n, torch.ArangeOptions{DType: dt}).AddScalar(1)))
}

// The eigenvalues are those of a whole decomposition, and the vectors fit them.
func TestLOBPCG(t *testing.T) {
	largest := map[bool]torch.LOBPCGOptions{true: {}, false: {Largest: torch.Some(false)}}
	for _, dt := range []tensor.DType{torch.Float32, torch.Float64} {
		for _, method := range []string{"ortho", "basic"} {
			for up, o := range largest {
				for _, generalized := range []bool{false, true} {
					torch.ManualSeed(3)
					n, k := 30, 3
					a := symmetric([]int{2}, n, dt)
					o.K, o.Method = torch.Some(k), method
					want := linalg.Eigvalsh(a)
					right := torch.Eye(n, torch.EyeOptions{DType: dt})
					if generalized {
						right = torch.Diag(torch.Arange(n, torch.ArangeOptions{DType: dt}).DivScalar(10).AddScalar(1))
						o.B = right.Expand([]int{2, n, n})
						l := linalg.Cholesky(right)
						li := linalg.Inv(l)
						want = linalg.Eigvalsh(li.MatMul(a).MatMul(li.MT()))
					}
					if up {
						want = want.Flip([]int{-1})
					}
					want = want.Narrow(-1, 0, k)
					e, v := torch.LOBPCG(a, o)
					tol := 1e-3
					if dt == torch.Float64 {
						tol = 1e-6
					}
					apart := e.Sub(want).Abs().Div(want).Max().Item()
					rest := a.MatMul(v).Sub(right.MatMul(v).Mul(e.Unsqueeze(-2))).Abs().Max().Item()
					if apart > tol || rest > 300*tol {
						t.Errorf("%s, %s, largest %v, generalized %v: eigenvalues %v, want %v; residual %g", dt, method,
							up,
							generalized, e, want, rest)
					}
				}
			}
		}
	}
}

// The gradients are those of a whole decomposition.
func TestLOBPCGGradient(t *testing.T) {
	torch.ManualSeed(1)
	const n, k = 12, 2
	weights := torch.Arange(n*k, torch.ArangeOptions{DType: torch.Float64}).View([]int{n, k})
	loss := func(e, v *torch.Tensor) *torch.Tensor {
		return e.Mul(torch.TensorOf[float64](1, 2)).Sum().Add(v.Square().Mul(weights).Sum())
	}
	a := symmetric(nil, n, torch.Float64).SetRequiresGrad(true)
	loss(torch.LOBPCG(a, torch.LOBPCGOptions{K: torch.Some(k), Tol: torch.Some(1e-10)})).Backward()
	b := a.Detach().SetRequiresGrad(true)
	e, v := linalg.Eigh(b.Add(b.MT()).DivScalar(2))
	loss(e.Flip([]int{0}).Narrow(0, 0, k), v.Flip([]int{1}).Narrow(1, 0, k)).Backward()
	got, want := torch.Data[float64](a.Grad()), torch.Data[float64](b.Grad().Contiguous())
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-5 {
			t.Errorf("element %d of the gradient is %v, want %v", i, got[i], want[i])
		}
	}
	e, _ = torch.LOBPCG(a, torch.LOBPCGOptions{B: torch.Eye(n, torch.EyeOptions{DType: torch.Float64})})
	if err := torch.Try(func() { e.Sum().Backward() }); err == nil ||
		!strings.Contains(err.Error(), "lobpcg.backward does not support backward with B != I yet.") {
		t.Errorf("error %v", err)
	}
}

// A start at the solution ends at once, a preconditioner is used, and an eigenvalue that occurs twice is found twice.
func TestLOBPCGStarts(t *testing.T) {
	a := torch.Diag(torch.TensorOf[float64](9, 9, 1, 2, 3, 4, 5, 6, 0.5, 0.25))
	x := torch.Eye(10, torch.EyeOptions{DType: torch.Float64}).Narrow(1, 0, 2)
	for name, o := range map[string]torch.LOBPCGOptions{
		"solution": {X: x, Niter: torch.Some(1)},
		"twice":    {K: torch.Some(2)},
		"inverse":  {K: torch.Some(2), IK: linalg.Inv(a)},
	} {
		e, v := torch.LOBPCG(a, o)
		if e.SubScalar(9).Abs().Max().Item() > 1e-6 || a.MatMul(v).Sub(v.Mul(e)).Abs().Max().Item() > 1e-5 {
			t.Errorf("%s: %v, %v", name, e, v)
		}
	}
}

func TestLOBPCGRefusals(t *testing.T) {
	eye := func(n int) *torch.Tensor { return torch.Eye(n) }
	for want, f := range map[string]func(){
		"A must be square, got shape [3, 4]": func() { torch.LOBPCG(torch.Ones([]int{3, 4})) },
		"A must be square, got shape []":     func() { torch.LOBPCG(torch.Ones([]int{})) },
		"A and B must have same shape":       func() { torch.LOBPCG(eye(9), torch.LOBPCGOptions{B: eye(8)}) },
		"smaller than 3 x the number of requested": func() {
			torch.LOBPCG(eye(5),
				torch.LOBPCGOptions{K: torch.Some(2)})
		},
		"method must be \"ortho\" or \"basic\"": func() {
			torch.LOBPCG(eye(9),
				torch.LOBPCGOptions{Method: "x"})
		},
		"niter(=0) must be from 1": func() {
			torch.LOBPCG(eye(9),
				torch.LOBPCGOptions{Niter: torch.Some(0)})
		},
		"A must be float32 or float64, got torch.int": func() { torch.LOBPCG(eye(9).Int()) },
		"k(=2) must be from 1 to n(=1)": func() {
			torch.LOBPCG(eye(9), torch.LOBPCGOptions{K: torch.Some(2), X: torch.Ones([]int{9, 1})})
		},
		"X shape mismatch": func() { torch.LOBPCG(eye(9), torch.LOBPCGOptions{X: torch.Ones([]int{8, 1})}) },
	} {
		if err := torch.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
