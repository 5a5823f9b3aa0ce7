package attention_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

type T = tensor.Tensor

type sizes struct{ n, heads, kv, l, s, e, ev int }

// inputs are query, key and value, with the heads inside of the features as a fused projection leaves them when
// packed is set.
func inputs(dt tensor.DType, z sizes, packed bool) []*T {
	one := func(seed, heads, l, e int) *T {
		x := opstest.Fill(dt, seed, z.n, heads, l, e)
		if packed {
			x = torch.Empty([]int{l, z.n, heads*e + 3}, torch.EmptyOptions{DType: dt}).Narrow(2, 1,
				heads*e).View([]int{l, z.n, heads, e}).Permute([]int{1, 2, 0, 3}).CopyInPlace(x)
		}
		return x.Detach().SetRequiresGrad(true)
	}
	return []*T{one(1, z.heads, z.l, z.e), one(2, z.kv, z.s, z.e), one(3, z.kv, z.s, z.ev)}
}

// repeat repeats each head r times.
func repeat(x *T, r int) *T {
	sh := x.Shape()
	return x.Unsqueeze(2).Expand([]int{sh[0], sh[1], r, sh[2], sh[3]}).Reshape([]int{sh[0], -1, sh[2], sh[3]})
}

// plain is attention by its definition.
func plain(x []*T, mask *T, isCausal bool, scale float64) *T {
	k, v := x[1], x[2]
	if r := x[0].Size(1) / k.Size(1); r > 1 {
		k, v = repeat(k, r), repeat(v, r)
	}
	s := x[0].MatMul(k.Transpose(-2, -1)).MulScalar(scale)
	if isCausal {
		mask = torch.Ones(s.Shape()[2:], torch.OnesOptions{DType: tensor.Bool}).Tril()
	}
	if mask != nil && mask.DType() == tensor.Bool {
		s = s.MaskedFillScalar(mask.LogicalNot(), math.Inf(-1))
	} else if mask != nil {
		s = s.Add(mask)
	}
	w := s.Softmax(-1)
	return w.MaskedFillScalar(w.Detach().IsNaN(), 0).MatMul(v)
}

func near(t *testing.T, what string, got, want *T, tol float64) {
	t.Helper()
	g, w := tensor.Data[float64](tensor.DenseAs(got.Detach(), tensor.Float64)),
		tensor.Data[float64](tensor.DenseAs(want.Detach(), tensor.Float64))
	if len(g) != len(w) {
		t.Fatalf("%s: got %d elements, want %d", what, len(g), len(w))
	}
	for i := range g {
		if !(math.Abs(g[i]-w[i]) <= tol*(1+math.Abs(w[i]))) {
			t.Fatalf("%s: element %d is %g, want %g", what, i, g[i], w[i])
		}
	}
}

// TestFused compares the tiles with the definition in float64, values and gradients, for sizes around those of the
// tiles.
func TestFused(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	for _, level := range cpu.Levels() {
		t.Run(level.Name, func(t *testing.T) {
			defer cpu.Set(level.Features)()
			for _, z := range []sizes{{2, 3, 3, 5, 7, 4, 6}, {1, 2, 2, 129, 257, 8, 8}, {1, 1, 1, 16, 300, 5, 3},
				{1, 4, 2, 33, 40, 8, 8}, {2, 2, 1, 1, 70, 16, 9}, {1, 1, 1, 260, 130, 3, 2},
				{1, 9, 9, 140, 131, 4, 4}} {
				for _, kind := range []string{"", "causal", "bool", "float", "float column", "nothing"} {
					for _, packed := range []bool{false, true} {
						check(t, z, kind, packed)
					}
				}
			}
		})
	}
}

func check(t *testing.T, z sizes, kind string, packed bool) {
	name := fmt.Sprintf("%v %s packed %v", z, kind, packed)
	var mask *T
	switch kind {
	case "bool":
		mask = opstest.Fill(tensor.Float64, 5, z.n, 1, z.l, z.s).GtScalar(-0.3)
	case "nothing": // the second query may attend to nothing
		mask = torch.Ones([]int{z.l, z.s}, torch.OnesOptions{DType: tensor.Bool})
		for j := range z.s {
			tensor.Data[bool](mask)[min(1, z.l-1)*z.s+j] = false
		}
	case "float":
		mask = opstest.Fill(tensor.Float64, 6, z.heads, z.l, z.s)
	case "float column":
		mask = opstest.Fill(tensor.Float64, 7, z.n, 1, 1, z.s).Transpose(2, 3).Contiguous().Transpose(2, 3)
	}
	g := opstest.Fill(tensor.Float64, 8, z.n, z.heads, z.l, z.ev)
	x64 := inputs(tensor.Float64, z, false)
	want := plain(x64, mask, kind == "causal", 0.7)
	want.Backward(tensor.BackwardOptions{Gradient: g})
	for _, c := range []struct {
		dt  tensor.DType
		tol float64
	}{{tensor.Float64, 1e-12}, {tensor.Float32, 3e-5}} {
		x := inputs(c.dt, z, packed)
		m := mask
		if mask != nil && mask.DType() != tensor.Bool {
			m = mask.ToDType(c.dt)
		}
		out := torch.ScaledDotProductAttention(x[0], x[1], x[2],
			torch.ScaledDotProductAttentionOptions{AttnMask: m, IsCausal: kind == "causal", Scale: tensor.Some(0.7),
				EnableGqa: z.kv != z.heads})
		out.Backward(tensor.BackwardOptions{Gradient: g.ToDType(c.dt)})
		near(t, name+" out", out, want, c.tol)
		for i := range x {
			near(t, fmt.Sprint(name, " gradient ", i), x[i].Grad(), x64[i].Grad(), 10*c.tol)
		}
	}
}

func TestGradients(t *testing.T) {
	x := inputs(tensor.Float64, sizes{1, 2, 1, 3, 4, 2, 3}, false)
	for i := range x {
		x[i] = x[i].Detach().SetRequiresGrad(true)
	}
	opstest.GradCheck(t, "causal, grouped", func(x []*T) *T {
		return torch.ScaledDotProductAttention(x[0], x[1], x[2],
			torch.ScaledDotProductAttentionOptions{IsCausal: true, EnableGqa: true})
	}, x...)
	opstest.GradCheck(t, "one tensor thrice",
		func(x []*T) *T { return torch.ScaledDotProductAttention(x[0], x[0], x[0]) },
		opstest.Fill(tensor.Float64, 4, 2, 3, 4))
	// a mask that wants a gradient
	y := append(x, opstest.Fill(tensor.Float64, 9, 3, 4))
	opstest.GradCheck(t, "mask", func(x []*T) *T {
		return torch.ScaledDotProductAttention(x[0], x[1], x[2],
			torch.ScaledDotProductAttentionOptions{AttnMask: x[3], EnableGqa: true})
	}, y...)
}

// TestDropout compares dropout inside of the tiles with dropout of the whole matrix, which draws the same numbers.
func TestDropout(t *testing.T) {
	for _, z := range []sizes{{2, 3, 3, 140, 300, 4, 5}, {3, 2, 2, 5, 5, 4, 4}} {
		checkDropout(t, z)
	}
	small := inputs(tensor.Float64, sizes{1, 2, 1, 3, 4, 2, 3}, false)
	opstest.GradCheck(t, "dropout", func(x []*T) *T {
		torch.ManualSeed(1)
		return torch.ScaledDotProductAttention(x[0], x[1], x[2],
			torch.ScaledDotProductAttentionOptions{EnableGqa: true, DropoutP: tensor.Some(0.4)})
	}, small...)
}

func checkDropout(t *testing.T, z sizes) {
	for _, dt := range []tensor.DType{tensor.Float64, tensor.Float32} {
		g := opstest.Fill(dt, 8, z.n, z.heads, z.l, z.ev)
		x, y := inputs(dt, z, true), inputs(dt, z, false)
		torch.ManualSeed(5)
		got := torch.ScaledDotProductAttention(x[0], x[1], x[2],
			torch.ScaledDotProductAttentionOptions{DropoutP: tensor.Some(0.3)})
		after := torch.Rand([]int{1})
		got.Backward(tensor.BackwardOptions{Gradient: g})
		torch.ManualSeed(5)
		w := y[0].MatMul(y[1].Transpose(-2, -1)).MulScalar(0.5).Softmax(-1)
		want := F.Dropout(w, F.DropoutOptions{P: tensor.Some(0.3)}).MatMul(y[2])
		near(t, "the draws after", after, torch.Rand([]int{1}), 0)
		want.Backward(tensor.BackwardOptions{Gradient: g})
		near(t, "dropout", got, want, 1e-5)
		for i := range x {
			near(t, fmt.Sprint("dropout, gradient ", i), x[i].Grad(), y[i].Grad(), 1e-4)
		}
	}
}

// TestShapes compares broadcast and unusual leading dimensions with the same values spelled out.
func TestShapes(t *testing.T) {
	f := func(shape ...int) *T { return opstest.Fill(tensor.Float64, len(shape), shape...) }
	for _, c := range []struct{ q, k, v, want []int }{
		{[]int{5, 4}, []int{6, 4}, []int{6, 3}, []int{5, 3}},
		{[]int{2, 5, 4}, []int{2, 6, 4}, []int{2, 6, 3}, []int{2, 5, 3}},
		{[]int{2, 1, 5, 4}, []int{3, 6, 4}, []int{6, 3}, []int{2, 3, 5, 3}},
		{[]int{2, 1, 2, 5, 4}, []int{2, 3, 2, 6, 4}, []int{2, 3, 2, 6, 3}, []int{2, 3, 2, 5, 3}},
	} {
		q, k, v := f(c.q...), f(c.k...), f(c.v...)
		got := torch.ScaledDotProductAttention(q, k, v)
		if !tensor.SameShape(got.Shape(), c.want) {
			t.Fatalf("%v %v %v: got shape %v, want %v", c.q, c.k, c.v, got.Shape(), c.want)
		}
		near(t, fmt.Sprint(c), got, q.MatMul(k.Transpose(-2, -1)).MulScalar(0.5).Softmax(-1).MatMul(v), 1e-12)
	}
}

func TestThreads(t *testing.T) {
	for _, z := range []sizes{{2, 8, 8, 140, 150, 16, 16}, {1, 2, 1, 600, 900, 8, 8}} {
		opstest.SameBits(t, fmt.Sprint(z), func() []*T {
			x := inputs(tensor.Float32, z, true)
			y := torch.ScaledDotProductAttention(x[0], x[1], x[2],
				torch.ScaledDotProductAttentionOptions{EnableGqa: true, IsCausal: z.kv == 1})
			y.Mul(y).Sum().Backward()
			return []*T{y.Detach(), x[0].Grad(), x[1].Grad(), x[2].Grad()}
		})
	}
}

// Without a mask and with equal keys every value counts the same.
func Example() {
	q, k := torch.Ones([]int{1, 2}), torch.Ones([]int{2, 2})
	v := tensor.FromSlice([]float32{1, 3}, 2, 1)
	fmt.Println(torch.ScaledDotProductAttention(q, k, v).Item())
	// Output: 2
}

// TestMaskedRow checks the gradients of a query that may attend to nothing where attention is composed: zero, not NaN.
func TestMaskedRow(t *testing.T) {
	for _, c := range []struct {
		name  string
		shape []int // of the mask, with the query's
		bool  bool
	}{{"a mask that wants a gradient", []int{3, 4}, false},
		{"a boolean mask in five dimensions", []int{1, 2, 1, 3, 4}, true}} {
		n := len(c.shape)
		with := func(a, b int) []int { return append(append([]int{}, c.shape[:n-2]...), a, b) }
		q, k, v := opstest.Fill(tensor.Float64, 1, with(3, 2)...), opstest.Fill(tensor.Float64, 2, with(4, 2)...),
			opstest.Fill(tensor.Float64, 3, with(4, 5)...)
		mask := opstest.Fill(tensor.Float64, 4, c.shape...)
		mask.Narrow(n-2, 1, 1).FillScalarInPlace(math.Inf(-1))
		if c.bool {
			mask = mask.GtScalar(math.Inf(-1))
		}
		x := []*T{q, k, v, mask}
		for _, x := range x {
			if x.DType() != tensor.Bool {
				x.SetRequiresGrad(true)
			}
		}
		out := torch.ScaledDotProductAttention(q, k, v, torch.ScaledDotProductAttentionOptions{AttnMask: mask})
		out.Sum().Backward()
		near(t, c.name+": output", out.Narrow(n-2, 1, 1), out.Narrow(n-2, 1, 1).ZerosLike(), 0)
		for i, x := range x[:3] {
			if g := x.Grad(); g.IsNaN().Any().Item() != 0 {
				t.Errorf("%s: gradient %d has NaN", c.name, i)
			}
		}
		near(t, c.name+": gradient of the query", q.Grad().Narrow(n-2, 1, 1), q.Grad().Narrow(n-2, 1, 1).ZerosLike(), 0)
		if !c.bool && mask.Grad().IsNaN().Any().Item() != 0 {
			t.Errorf("%s: its gradient has NaN", c.name)
		}
	}
}

// TestFloatMask checks that queries of any type take a mask of float32, which is not rounded to their type.
func TestFloatMask(t *testing.T) {
	mask := tensor.FromSlice([]float32{1 + 1.0/1024, 1}, 1, 2)
	q, v := tensor.New([]int{1, 3}, tensor.BFloat16), tensor.FromSlice([]float32{1024, -1024}, 2, 1)
	for _, grad := range []bool{false, true} {
		got := torch.ScaledDotProductAttention(q, tensor.New([]int{2, 3}, tensor.BFloat16), v.ToDType(tensor.BFloat16),
			torch.ScaledDotProductAttentionOptions{AttnMask: mask.SetRequiresGrad(grad)})
		if got.DType() != tensor.BFloat16 || got.Item() != 0.5 {
			t.Errorf("mask that wants a gradient %v: got %v, want 0.5 in bfloat16", grad, got)
		}
	}
}

// The operator behind scaled_dot_product_attention refuses what its kernels do not take.
func TestFlashRefuses(t *testing.T) {
	f := func(dt tensor.DType, sh ...int) tensor.Value { return tensor.TensorValue(torch.Zeros(sh).To(dt)) }
	const f32, f64 = tensor.Float32, tensor.Float64
	q := f(f32, 1, 2, 3, 4)
	for name, args := range map[string][]tensor.Value{
		"key of another type":    {q, f(f64, 1, 2, 3, 4), q},
		"value of another type":  {q, q, f(f64, 1, 2, 3, 4)},
		"integers":               {f(tensor.Int64, 1, 2, 3, 4), f(tensor.Int64, 1, 2, 3, 4), f(tensor.Int64, 1, 2, 3, 4)},
		"three dimensions":       {f(f32, 2, 3, 4), q, q},
		"key of another width":   {q, f(f32, 1, 2, 3, 5), q},
		"values of other length": {q, q, f(f32, 1, 2, 4, 4)},
		"other images":           {q, f(f32, 2, 2, 3, 4), f(f32, 2, 2, 3, 4)},
		"three heads for two":    {q, f(f32, 1, 3, 3, 4), f(f32, 1, 3, 3, 4)},
	} {
		var e *tensor.Error
		if _, err := tensor.CallOp("aten::_scaled_dot_product_flash_attention_for_cpu", args...); !errors.As(err, &e) ||
			!strings.Contains(err.Error(), "flash_attention") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
