package loss_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// TestCrossEntropy compares the single pass with the definition in float64, values and gradients.
func TestCrossEntropy(t *testing.T) {
	for _, sh := range [][]int{{5}, {4, 5}, {2100, 5}, {2, 5, 3}, {3, 5, 70}, {2, 5, 3, 4}, {1, 5, 40, 50}} {
		dim := min(1, len(sh)-1)
		want := sh[:0:0]
		if len(sh) > 1 {
			want = append(append(want, sh[0]), sh[2:]...)
		}
		n := 1
		for _, s := range want {
			n *= s
		}
		ix := make([]int64, n)
		for i := range ix {
			ix[i] = int64(i*i+i) % 5
		}
		target := tensor.FromSlice(ix).View(want)
		for _, weighted := range []bool{false, true} {
			for _, smooth := range []float64{0, 0.2} {
				for _, ignore := range []int{-100, 2} {
					for _, how := range []F.Reduction{F.Mean, F.Sum, F.None} {
						name := fmt.Sprint(sh, weighted, smooth, ignore, how)
						var weight *T
						if weighted {
							weight = opstest.Fill(tensor.Float64, 3,
								5).Abs().AddScalar(0.5).ToDType(tensor.BFloat16).ToDType(tensor.Float64)
						}
						// what every type holds
						x := opstest.Fill(tensor.Float64, 1,
							sh...).MulScalar(30).ToDType(tensor.BFloat16).ToDType(tensor.Float64)
						value, grad := entropyByHand(x, target, weight, dim, ignore, smooth, how)
						for _, dt := range []tensor.DType{tensor.Float64, tensor.Float32, tensor.BFloat16} {
							v := x.ToDType(dt).Detach().SetRequiresGrad(true)
							o := F.CrossEntropyOptions{Reduction: how, LabelSmoothing: tensor.Some(smooth),
								IgnoreIndex: tensor.Some(ignore)}
							if weighted {
								o.Weight = weight.ToDType(dt)
							}
							y := F.CrossEntropy(v, target, o)
							y.Sum().Backward()
							near(t, name+" "+dt.String(), y, value, dt)
							near(t, name+" gradient "+dt.String(), v.Grad(), grad, dt)
						}
					}
				}
			}
		}
	}
}

func near(t *testing.T, what string, got *T, want []float64, dt tensor.DType) {
	t.Helper()
	tol := 1e-5
	switch dt {
	case tensor.Float64:
		tol = 1e-12
	case tensor.BFloat16:
		tol = 2e-2 // the composed form rounds on the way
	}
	g := tensor.Data[float64](got.Detach().ToDType(tensor.Float64).Contiguous())
	if len(g) != len(want) {
		t.Fatalf("%s: got %d values, want %d", what, len(g), len(want))
	}
	for i := range g {
		if !(math.Abs(g[i]-want[i]) <= tol*(1+math.Abs(want[i]))) {
			t.Fatalf("%s: element %d is %g, want %g", what, i, g[i], want[i])
		}
	}
}

// entropyByHand is the loss and the gradient of its sum, from the formulas.
func entropyByHand(x, target, weight *T, dim, ignore int, smooth float64, how F.Reduction) (value, grad []float64) {
	n, inner := 1, x.Numel()/x.Size(dim)
	if dim == 1 {
		n = x.Size(0)
		inner /= n
	} else {
		inner = 1
	}
	const classes = 5
	v, ix := tensor.Data[float64](x), tensor.Data[int64](target)
	w := []float64{1, 1, 1, 1, 1}
	if weight != nil {
		w = tensor.Data[float64](weight)
	}
	grad = make([]float64, len(v))
	total := 0.0
	for p := range n * inner {
		at := func(c int) int { return (p/inner*classes+c)*inner + p%inner }
		k := int(ix[p])
		loss := 0.0
		if k != ignore {
			sum := 0.0
			for c := range classes {
				sum += math.Exp(v[at(c)])
			}
			for c := range classes {
				// the target's distribution, weighted
				q := smooth / classes * w[c]
				if c == k {
					q += (1 - smooth) * w[c]
				}
				loss -= q * (v[at(c)] - math.Log(sum))
				grad[at(c)] -= q
				for d := range classes {
					grad[at(d)] += q * math.Exp(v[at(d)]) / sum
				}
			}
			total += w[k]
		}
		value = append(value, loss)
	}
	if how == F.None {
		return value, grad
	}
	sum := 0.0
	for _, l := range value {
		sum += l
	}
	if how == F.Mean {
		sum /= total
		for i := range grad {
			grad[i] /= total
		}
	}
	return []float64{sum}, grad
}

func TestEntropyThreads(t *testing.T) {
	for _, sh := range [][]int{{500, 300}, {2, 20, 50, 60}} {
		opstest.SameBits(t, fmt.Sprint(sh), func() []*T {
			x := opstest.Fill(tensor.Float32, 1, sh...).SetRequiresGrad(true)
			n := x.Numel() / sh[1]
			ix := make([]int64, n)
			for i := range ix {
				ix[i] = int64(i * 7 % sh[1])
			}
			y := F.CrossEntropy(x, tensor.FromSlice(ix).View(append([]int{sh[0]}, sh[2:]...)))
			y.Backward()
			return []*T{y.Detach(), x.Grad()}
		})
	}
}
