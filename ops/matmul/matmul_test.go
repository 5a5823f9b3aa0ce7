package matmul_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

type T = tensor.Tensor

func fill(seed int, sh ...int) *T { return opstest.Fill(tensor.Float64, seed, sh...) }

func TestGradients(t *testing.T) {
	type X = []*T
	for _, s := range []struct {
		name string
		f    func(x X) *T
		in   X
	}{
		{"mm", func(x X) *T { return x[0].MM(x[1]) }, X{fill(1, 3, 4), fill(2, 4, 2)}},
		{"mm transposed", func(x X) *T { return x[0].Transpose(0, 1).MM(x[1].Transpose(0, 1)) },
			X{fill(1, 4, 3), fill(2, 2, 4)}},
		{"bmm", func(x X) *T { return x[0].BMM(x[1]) }, X{fill(1, 2, 3, 4), fill(2, 2, 4, 2)}},
		{"mv", func(x X) *T { return x[0].MV(x[1]) }, X{fill(1, 3, 4), fill(2, 4)}},
		{"dot", func(x X) *T { return x[0].Dot(x[1]) }, X{fill(1, 5), fill(2, 5)}},
		{"addmm", func(x X) *T {
			return x[0].AddMM(x[1], x[2], tensor.AddMMOptions{Alpha: 0.5, Beta: 2.0})
		}, X{fill(3, 2), fill(1, 3, 4), fill(2, 4, 2)}},
		{"linear", func(x X) *T { return F.Linear(x[0], x[1], F.LinearOptions{Bias: x[2]}) },
			X{fill(1, 2, 3, 4), fill(2, 5, 4), fill(3, 5)}},
		{"matmul broadcast", func(x X) *T { return x[0].MatMul(x[1]) }, X{fill(1, 2, 1, 3, 4), fill(2, 3, 4, 2)}},
		{"matmul 3x2", func(x X) *T { return x[0].MatMul(x[1]) }, X{fill(1, 2, 3, 4), fill(2, 4, 2)}},
		{"matmul 2x3", func(x X) *T { return x[0].MatMul(x[1]) }, X{fill(1, 3, 4), fill(2, 2, 4, 5)}},
		{"matmul 1x3", func(x X) *T { return x[0].MatMul(x[1]) }, X{fill(1, 4), fill(2, 2, 4, 5)}},
		{"einsum", func(x X) *T { return torch.Einsum("b...ij,kj->...ik", x) }, X{fill(1, 2, 3, 2, 4), fill(2, 3, 4)}},
		{"einsum diagonal", func(x X) *T { return torch.Einsum("iij,j->i", x) }, X{fill(1, 3, 3, 2), fill(2, 2)}},
	} {
		opstest.GradCheck(t, s.name, s.f, s.in...)
	}
}

func TestThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	for _, n := range [][3]int{{257, 129, 300}, {3, 1000, 700}, {1024, 64, 64}} {
		opstest.SameBits(t, fmt.Sprint(n), func() []*T {
			x := opstest.Fill(tensor.Float32, 1, n[0], n[2]).SetRequiresGrad(true)
			w := opstest.Fill(tensor.Float32, 2, n[1], n[2]).SetRequiresGrad(true)
			b := opstest.Fill(tensor.Float32, 3, n[1]).SetRequiresGrad(true)
			y := F.Linear(x, w, F.LinearOptions{Bias: b})
			y.Mul(y).SumDim(nil).Backward()
			return []*T{y.Detach(), x.Grad(), w.Grad(), b.Grad()}
		})
	}
}

func TestEinsumErrors(t *testing.T) {
	a, b := fill(1, 2, 3), fill(2, 4, 5)
	for eq, ops := range map[string][]*T{"ij,jk": {a, b}, "ij->il": {a}, "ijk": {a}, "ij": {a, b}, "i.j": {a},
		"i1": {a}, "ij->iij": {a}, "ii": {a}, "ij,": {a}, "...": nil, "..": {a}} {
		if err := tensor.Try(func() { torch.Einsum(eq, ops) }); err == nil {
			t.Errorf("einsum(%q) of %d operands did not fail", eq, len(ops))
		}
	}
}

// Equations come from users: nothing but an error may come of a bad one.
func FuzzEinsum(f *testing.F) {
	for _, s := range []string{"ij,jk->ik", "...i,...i", "ii->i", "->", ",", "i.j", "ij,jk->", "a...b,b...c->...ac"} {
		f.Add(s)
	}
	x, y := fill(1, 2, 2), fill(2, 2, 2)
	f.Fuzz(func(t *testing.T, eq string) {
		_ = tensor.Try(func() { torch.Einsum(eq, []*T{x, y}) })
		_ = tensor.Try(func() { torch.Einsum(eq, []*T{x}) })
	})
}

func Example() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	b := tensor.FromSlice([]float32{0, 1, 1, 0}, 2, 2)
	fmt.Println(tensor.Data[float32](a.MatMul(b)))
	fmt.Println(tensor.Data[float32](torch.Einsum("ij->j", []*tensor.Tensor{a})))
	// Output:
	// [2 1 4 3]
	// [4 6]
}

// The fused linear layer is the layer and the activation.
func TestLinearFused(t *testing.T) {
	for _, d := range [][3]int{{1, 7, 5}, {8, 16, 16}, {40, 300, 200}} {
		m, n, k := d[0], d[1], d[2]
		x, w, b := tensor.New([]int{m, k}, tensor.Float32), tensor.New([]int{n, k}, tensor.Float32),
			tensor.New([]int{n}, tensor.Float32)
		for i, p := range []*tensor.Tensor{x, w, b} {
			v := tensor.Data[float32](p)
			for j := range v {
				v[j] = float32((j*7+i*3)%11-5) / 8
			}
		}
		for act, f := range map[string]func(*tensor.Tensor) *tensor.Tensor{
			"none": func(y *tensor.Tensor) *tensor.Tensor { return y },
			"relu": func(y *tensor.Tensor) *tensor.Tensor { return y.ClampMinScalar(0) },
			"gelu": func(y *tensor.Tensor) *tensor.Tensor {
				return y.Mul(y.MulScalar(1 / math.Sqrt2).Erf().AddScalar(1)).MulScalar(0.5)
			},
		} {
			got := tensor.Data[float32](fused(t, x, w, b, act))
			want := tensor.Data[float32](f(x.MM(w.Transpose(0, 1)).Add(b)))
			for i := range got {
				if math.Abs(float64(got[i]-want[i])) > 1e-4*(1+math.Abs(float64(want[i]))) {
					t.Fatalf("%v %s: element %d: got %v, expected %v", d, act, i, got[i], want[i])
				}
			}
		}
	}
	x := tensor.TensorValue(tensor.New([]int{2, 2}, tensor.Float32))
	if _, err := tensor.CallOp("gotorch::linear_fused", x, x, tensor.Value{}, tensor.StrValue("unknown")); err == nil {
		t.Error("an unknown activation: expected an error")
	}
}

func fused(t *testing.T, in, w, bias *tensor.Tensor, activation string) *tensor.Tensor {
	t.Helper()
	return run(t, "gotorch::linear_fused", tensor.TensorValue(in), tensor.TensorValue(w), tensor.TensorValue(bias),
		tensor.StrValue(activation))
}

// A linear layer with a packed weight is the layer, on the processor that packed it and on others.
func TestLinearPacked(t *testing.T) {
	levels := cpu.Levels()
	for i, l := range levels {
		t.Run(l.Name, func(t *testing.T) {
			defer cpu.Set(l.Features)()
			for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64} {
				for _, d := range [][3]int{{1, 7, 5}, {1, 300, 200}, {8, 16, 16}, {13, 1, 40}, {40, 300, 200},
					{40, 65, 0}, {0, 3, 4}, {64, 0, 8}} {
					x, w, b := values([]int{2, d[0], d[2]}, dt), values([]int{d[1], d[2]}, dt), values([]int{d[1]}, dt)
					packed := run(t, "gotorch::linear_pack", tensor.TensorValue(w))
					for _, act := range []string{"none", "relu", "gelu", "gelu_tanh"} {
						for _, in := range []*tensor.Tensor{x, x.Transpose(0, 1)} {
							check := func(bias tensor.Value) {
								t.Helper()
								got := run(t, "gotorch::linear_packed", tensor.TensorValue(in),
									tensor.TensorValue(packed), tensor.IntValue(d[1]), bias, tensor.StrValue(act))
								want := run(t, "gotorch::linear_fused", tensor.TensorValue(in), tensor.TensorValue(w),
									bias, tensor.StrValue(act))
								if !tensor.SameShape(got.Shape(), want.Shape()) || got.Numel() > 0 &&
									!(got.Sub(want).Abs().Max().Item() <= 1e-4) {
									t.Fatalf("%v %v %s: got %v, expected %v", dt, d, act, got, want)
								}
							}
							check(tensor.TensorValue(b))
							check(tensor.Value{})
							restore := cpu.Set(levels[(i+1)%len(levels)].Features)
							check(tensor.TensorValue(b))
							restore()
						}
					}
				}
			}
		})
	}
	for _, bad := range [][]tensor.Value{
		{tensor.TensorValue(values([]int{2, 5}, tensor.Float32))},
		{tensor.TensorValue(values([]int{2, 4}, tensor.Float64))},
	} {
		p := run(t, "gotorch::linear_pack", tensor.TensorValue(values([]int{3, 4}, tensor.Float32)))
		if _, err := tensor.CallOp("gotorch::linear_packed", bad[0], tensor.TensorValue(p), tensor.IntValue(3),
			tensor.Value{}, tensor.StrValue("none")); err == nil {
			t.Errorf("an input of %v %v: expected an error", bad[0].T.DType(), bad[0].T.Shape())
		}
	}
}

// values are small numbers of either sign.
func values(shape []int, dt tensor.DType) *tensor.Tensor {
	x := tensor.New(shape, tensor.Float32)
	for i, v := 0, tensor.Data[float32](x); i < len(v); i++ {
		v[i] = float32(i*7%11-5) / 8
	}
	return x.To(dt)
}

func run(t *testing.T, op string, args ...tensor.Value) *tensor.Tensor {
	t.Helper()
	out, err := tensor.CallOp(op, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out[0].T
}

// Labels that are repeated within an operand take its diagonal, also the gradient's, wherever the ellipsis stands and
// whether or not the elements of the operand lie apart in memory.
func TestEinsumDiagonals(t *testing.T) {
	for _, eq := range []string{"ii->i", "ii->", "bii->b", "bii->ib", "iji->j", "iii->i", "ijij->ji", "...ii->...i",
		"i...i->...", "i...ij->...j", "iij,j->i", "iji,ik->jk"} {
		for _, lies := range []string{"row", "turned", "one element", "one row"} {
			in, out, _ := strings.Cut(eq, "->")
			var ops, apart []*T
			own := strings.NewReplacer("...", "e")
			for x, sub := range strings.Split(own.Replace(in), ",") {
				size := slices.Repeat([]int{3}, len(sub))
				v := fill(7+x, size...)
				switch lies {
				case "turned":
					v = v.Transpose(0, -1)
				case "one element":
					v = fill(7, 1).Expand(size)
				case "one row":
					v = fill(7, 3).Expand(size)
				}
				ops = append(ops, v.Detach().SetRequiresGrad(true))
				apart = append(apart, v.Clone(tensor.CloneOptions{MemoryFormat: tensor.ContiguousFormat}).Detach().SetRequiresGrad(true))
			}
			got := torch.Einsum(eq, ops)
			out = own.Replace(out)
			grad := fill(3, slices.Repeat([]int{3}, len(out))...)
			got.Backward(tensor.BackwardOptions{Gradient: grad})
			// every tuple of indices adds a product to an element of the result and one to each gradient
			labels := "bijke"
			want := make([]float64, grad.Numel())
			grads := make([][]float64, len(ops))
			subs := strings.Split(own.Replace(in), ",")
			used := 1
			for range labels {
				used *= 3
			}
			at := func(sub string, tuple int) (p int) {
				for _, l := range sub {
					q := tuple
					for range strings.IndexRune(labels, l) {
						q /= 3
					}
					p = p*3 + q%3
				}
				return p
			}
			g := torch.Data[float64](grad)
			seen := map[string]bool{}
			for tuple := range used {
				key := ""
				for _, l := range own.Replace(in) {
					if l != ',' {
						key += fmt.Sprint(at(string(l), tuple))
					}
				}
				if seen[key] { // differs in labels that the equation has not
					continue
				}
				seen[key] = true
				product := 1.0
				for x, sub := range subs {
					product *= torch.Data[float64](apart[x])[at(sub, tuple)]
				}
				want[at(out, tuple)] += product
				for x, sub := range subs {
					if grads[x] == nil {
						grads[x] = make([]float64, apart[x].Numel())
					}
					others := 1.0
					for y, s := range subs {
						if y != x {
							others *= torch.Data[float64](apart[y])[at(s, tuple)]
						}
					}
					grads[x][at(sub, tuple)] += g[at(out, tuple)] * others
				}
			}
			near := func(what string, x *T, want []float64) {
				for e, v := range torch.Data[float64](x.Contiguous()) {
					if math.Abs(v-want[e]) > 1e-12 {
						t.Errorf("%s of %s, %s: element %d is %v, want %v", what, eq, lies, e, v, want[e])
						return
					}
				}
			}
			near("result", got, want)
			for x := range ops {
				near("gradient", ops[x].Grad(), grads[x])
			}
		}
	}
}

// The gradient of a bias has the bits of a sum, however few rows are added up.
func TestBiasGradientIsASum(t *testing.T) {
	for _, m := range []int{1, 2, 3, 16, 17, 33, 64, 65} {
		for _, n := range []int{1, 2, 7, 16, 32, 33, 63, 64, 65} {
			g := values([]int{m, n}, tensor.Float32).Div(values([]int{m, n}, tensor.Float32).AddScalar(3))
			x, w := values([]int{m, 2}, tensor.Float32), values([]int{n, 2}, tensor.Float32)
			out, err := tensor.CallOp("gotorch::linear_backward", tensor.TensorValue(g), tensor.TensorValue(x),
				tensor.TensorValue(w),
				tensor.BoolValue(false), tensor.BoolValue(false), tensor.BoolValue(true))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := out[2].T, g.SumDim([]int{0}); !got.Equal(want) {
				t.Errorf("%d rows of %d: got %v, want %v", m, n, got, want)
			}
		}
	}
}

// The third power is the square by the matrix, in this order: with infinities it decides between infinity and NaN.
func TestMatrixPowerOrder(t *testing.T) {
	inf := math.Inf(1)
	a := torch.TensorOf(-0.5, -2, -2.5, 2.75, -1.25, -2, -2, inf, 0).View([]int{3, 3})
	want := a.MatMul(a).MatMul(a)
	if got := a.MatrixPower(3); !got.NaNToNum().Equal(want.NaNToNum()) || !got.IsNaN().Equal(want.IsNaN()) {
		t.Errorf("got %v, want %v", got, want)
	}
}
