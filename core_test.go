package torch_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

func leaf(v ...float32) *tensor.Tensor { return tensor.FromSlice(v).SetRequiresGrad(true) }

func want(t *testing.T, got *tensor.Tensor, v ...float32) {
	t.Helper()
	if got == nil {
		t.Fatal("got nil")
	}
	g := tensor.Data[float32](got.Contiguous())
	if len(g) != len(v) {
		t.Fatalf("got %v, want %v", g, v)
	}
	for i := range v {
		if g[i] != v[i] {
			t.Fatalf("got %v, want %v", g, v)
		}
	}
}

func sum(x *tensor.Tensor) *tensor.Tensor { return x.SumDim(nil) }

func TestBackwardAccumulates(t *testing.T) {
	x, y := leaf(1, 2, 3), leaf(4, 5, 6)
	z := sum(x.Mul(y).Add(x))
	z.Backward(tensor.BackwardOptions{RetainGraph: true})
	want(t, x.Grad(), 5, 6, 7)
	want(t, y.Grad(), 1, 2, 3)
	z.Backward()
	want(t, x.Grad(), 10, 12, 14)
	err := tensor.Try(func() { z.Backward() })
	if !errors.Is(err, tensor.ErrAutograd) || !strings.Contains(err.Error(), "second time") {
		t.Fatalf("third pass: %v", err)
	}
}

func TestBroadcastGradient(t *testing.T) {
	x := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3).SetRequiresGrad(true)
	b := leaf(1, 2, 3)
	sum(x.Mul(b)).Backward()
	want(t, b.Grad(), 5, 7, 9)
	want(t, x.Grad(), 1, 2, 3, 1, 2, 3)
}

func TestHigherOrder(t *testing.T) {
	x := leaf(3)
	y := x.Mul(x).Mul(x)
	g := tensor.Grad([]*tensor.Tensor{y}, []*tensor.Tensor{x}, tensor.GradOptions{CreateGraph: true})[0]
	want(t, g, 27)
	gg := tensor.Grad([]*tensor.Tensor{g}, []*tensor.Tensor{x}, tensor.GradOptions{CreateGraph: true})[0]
	want(t, gg, 18)
	want(t, tensor.Grad([]*tensor.Tensor{gg}, []*tensor.Tensor{x})[0], 6)
}

func TestInPlace(t *testing.T) {
	x := leaf(1, 2, 3)
	y := x.MulScalar(2)
	y.MulInPlace(y) // (2x)^2
	sum(y).Backward()
	want(t, x.Grad(), 8, 16, 24)

	x = leaf(1, 2, 3)
	y = x.Mul(x)
	z := y.Mul(y)
	y.AddScalarInPlace(1)
	err := tensor.Try(func() { sum(z).Backward() })
	if err == nil || !strings.Contains(err.Error(),
		"modified by an inplace operation: [torch.FloatTensor [3]], which is output 0 of Mul, is at version 1; "+
			"expected version 0 instead") {
		t.Fatalf("stale value: %v", err)
	}
	err = tensor.Try(func() { x.AddScalarInPlace(1) })
	if err == nil || !strings.Contains(err.Error(),
		"a leaf Variable that requires grad is being used in an in-place operation.") {
		t.Fatalf("leaf: %v", err)
	}
}

func TestInPlaceOnView(t *testing.T) {
	x := leaf(1, 2, 3, 4)
	y := x.MulScalar(1)
	v := y.View([]int{2, 2}).Transpose(0, 1)
	w := v.AsStrided([]int{2}, []int{2}) // elements 0 and 2
	w.MulScalarInPlace(10)
	want(t, y, 10, 2, 30, 4)
	sum(v.Mul(v)).Backward()
	want(t, x.Grad(), 200, 4, 600, 8)
}

func TestHooksAndRetainGrad(t *testing.T) {
	x := leaf(1, 2)
	y := x.MulScalar(3)
	y.RetainGrad()
	n := 0
	x.RegisterHook(func(g *tensor.Tensor) *tensor.Tensor { n++; return g.MulScalar(2) })
	h := y.RegisterHook(func(g *tensor.Tensor) *tensor.Tensor { n += 100; return nil })
	h.Remove()
	sum(y).Backward()
	want(t, y.Grad(), 1, 1)
	want(t, x.Grad(), 6, 6)
	if n != 1 {
		t.Fatalf("hooks ran %d", n)
	}
}

func TestNoGradIsPerGoroutine(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 200 {
				x := leaf(1, 2, 3)
				if i%2 == 0 {
					tensor.NoGrad(func() {
						if x.Mul(x).RequiresGrad() {
							t.Error("recorded under NoGrad")
						}
						tensor.EnableGrad(func() {
							if !x.Mul(x).RequiresGrad() {
								t.Error("EnableGrad did not switch back on")
							}
						})
					})
					continue
				}
				sum(x.Mul(x)).Backward()
				if g := tensor.Data[float32](x.Grad()); g[2] != 6 {
					t.Errorf("gradient %v", g)
				}
			}
		}()
	}
	wg.Wait()
}

func BenchmarkAddOne(b *testing.B) {
	x, y := tensor.FromSlice([]float32{1}), tensor.FromSlice([]float32{2})
	b.ReportAllocs()
	for b.Loop() {
		x.Add(y)
	}
}

func BenchmarkAddRecorded(b *testing.B) {
	x, y := leaf(1), leaf(2)
	b.ReportAllocs()
	for b.Loop() {
		x.Add(y)
	}
}

func BenchmarkMulChain(b *testing.B) {
	x, y := leaf(1), leaf(1)
	b.ReportAllocs()
	for b.Loop() {
		z := x
		for range 100 {
			z = z.Mul(y)
		}
		z.Backward()
	}
}

// TestInPlaceOnParts changes complex numbers through views of their parts, and parts through views as complex numbers.
func TestInPlaceOnParts(t *testing.T) {
	forms := map[string]func(x, w *tensor.Tensor) *tensor.Tensor{
		"real": func(x, w *tensor.Tensor) *tensor.Tensor {
			y := torch.ViewAsComplex(x.MulScalar(1))
			y.Real().MulInPlace(w)
			return torch.ViewAsReal(y)
		},
		"imag of a slice": func(x, w *tensor.Tensor) *tensor.Tensor {
			y := torch.ViewAsComplex(x.MulScalar(1))
			y.Narrow(0, 1, 2).Imag().MulInPlace(w.Narrow(0, 1, 2))
			return torch.ViewAsReal(y)
		},
		"complex": func(x, w *tensor.Tensor) *tensor.Tensor {
			y := x.MulScalar(1)
			torch.ViewAsComplex(y).MulInPlace(w)
			return y
		},
		"complex of a slice": func(x, w *tensor.Tensor) *tensor.Tensor {
			y := x.MulScalar(1)
			v := torch.ViewAsComplex(y.Narrow(0, 1, 2))
			v.MulInPlace(w.Narrow(0, 1, 2))
			if !v.RequiresGrad() {
				t.Error("the view lost the gradient")
			}
			return torch.Cat([]*tensor.Tensor{y.Narrow(0, 0, 1), torch.ViewAsReal(v)})
		},
	}
	want := map[string]struct{ y, gx, gw []float32 }{
		"real": {[]float32{10, 2, 60, 4, 150, 6}, []float32{200, 4, 2400, 8, 9000, 12},
			[]float32{20, 360, 1500}},
		"imag of a slice": {[]float32{1, 2, 3, 80, 5, 180}, []float32{2, 4, 6, 3200, 10, 10800},
			[]float32{0, 640, 2160}},
		"complex": {[]float32{10, 20, 60, 80, 150, 180}, []float32{200, 400, 2400, 3200, 9000, 10800},
			[]float32{100, 1000, 3660}},
		"complex of a slice": {[]float32{1, 2, 60, 80, 150, 180}, []float32{2, 4, 2400, 3200, 9000, 10800},
			[]float32{0, 1000, 3660}},
	}
	for name, form := range forms {
		x, w := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 3, 2).SetRequiresGrad(true), leaf(10, 20, 30)
		y := form(x, w)
		sum(y.Mul(y)).Backward()
		for _, c := range []struct {
			what string
			got  *tensor.Tensor
			want []float32
		}{{"result", y, want[name].y}, {"gradient", x.Grad(), want[name].gx},
			{"factor's gradient", w.Grad(), want[name].gw}} {
			if got := tensor.Data[float32](c.got.Detach().Contiguous()); !slices.Equal(got, c.want) {
				t.Errorf("%s: %s %v, want %v", name, c.what, got, c.want)
			}
		}
	}
}

// TestSecondOrderThroughView takes second derivatives of a result that an in-place change of a view has kept.
func TestSecondOrderThroughView(t *testing.T) {
	second := func(f func(y *tensor.Tensor) *tensor.Tensor) []float32 {
		x := leaf(0.1, 0.5, -0.3)
		g := tensor.Grad([]*tensor.Tensor{sum(f(x.MulScalar(2)))}, []*tensor.Tensor{x},
			tensor.GradOptions{CreateGraph: true})[0]
		return tensor.Data[float32](tensor.Grad([]*tensor.Tensor{sum(g)}, []*tensor.Tensor{x})[0])
	}
	want := second(func(y *tensor.Tensor) *tensor.Tensor { return y.Tanh() })
	for name, f := range map[string]func(y *tensor.Tensor) *tensor.Tensor{
		"itself":   (*tensor.Tensor).TanhInPlace,
		"view":     func(y *tensor.Tensor) *tensor.Tensor { return y.Unsqueeze(0).TanhInPlace() },
		"its base": func(y *tensor.Tensor) *tensor.Tensor { y.Unsqueeze(0).TanhInPlace(); return y },
	} {
		if got := second(f); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestViewsThatMayNotChange wants PyTorch's refusals of changes that autograd cannot follow.
func TestViewsThatMayNotChange(t *testing.T) {
	const many = "Output 0 of Unbind is a view and "
	for _, c := range []struct {
		name, want string
		do         func(x, y *tensor.Tensor)
	}{
		{"one of many", many + "is being modified inplace.",
			func(x, y *tensor.Tensor) { y.Unbind()[0].AddScalarInPlace(1) }},
		{"one of many, a leaf's", many + "is being modified inplace.",
			func(x, y *tensor.Tensor) { x.Unbind()[0].AddScalarInPlace(1) }},
		{"one of many, its shape", many + "is being modified inplace.",
			func(x, y *tensor.Tensor) { y.Unbind()[0].UnsqueezeInPlace(0) }},
		{"one of many, the base", many + "its base or another view of its base has been modified inplace.",
			func(x, y *tensor.Tensor) {
				v := y.Unbind()[0]
				y.AddScalarInPlace(1)
				v.MulScalar(2)
			}},
		{"without gradient", "A view was created in no_grad mode and is being modified inplace",
			func(x, y *tensor.Tensor) {
				var v *tensor.Tensor
				tensor.NoGrad(func() { v = y.Unsqueeze(0) })
				v.AddScalarInPlace(1)
			}},
		{"a leaf's view", "a view of a leaf Variable that requires grad",
			func(x, y *tensor.Tensor) { x.Unsqueeze(0).AddScalarInPlace(1) }},
		{"a leaf's view, its shape", "a view of a leaf Variable that requires grad",
			func(x, y *tensor.Tensor) { x.Unsqueeze(0).SqueezeInPlace() }},
		{"a leaf's shape", "a leaf Variable that requires grad", func(x, y *tensor.Tensor) { x.UnsqueezeInPlace(0) }},
	} {
		x := leaf(1, 2, 3)
		err := tensor.Try(func() { c.do(x, x.MulScalar(2)) })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// TestInPlaceViewOfChangedBase changes a view, then the shape of its base in place; the gradient must still find the
// view's place.
func TestInPlaceViewOfChangedBase(t *testing.T) {
	for name, f := range map[string]func(x *tensor.Tensor){
		"unsqueeze_": func(x *tensor.Tensor) { x.UnsqueezeInPlace(1) },
		"t_":         func(x *tensor.Tensor) { x.TInPlace() },
		"transpose_": func(x *tensor.Tensor) { x.TransposeInPlace(0, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			a, b := torch.Ones([]int{2, 3}).SetRequiresGrad(true), leaf(1, 1)
			x := a.MulScalar(1)
			x.Select(1, 1).CopyInPlace(b)
			f(x)
			sum(x).Backward()
			want(t, a.Grad(), 1, 0, 1, 1, 0, 1)
			want(t, b.Grad(), 1, 1)
		})
	}
}

// TestGradientOfSharedPlaces looks at an expanded tensor, which holds each element twice, through as_strided.
func TestGradientOfSharedPlaces(t *testing.T) {
	x := leaf(1, 1)
	sum(x.Expand([]int{2, 2}).AsStrided([]int{2, 2},
		[]int{0, 1}).Mul(tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2))).Backward()
	want(t, x.Grad(), 4, 6)
}

// TestGradientOfParts gives view_as_real a gradient that begins at an odd place.
func TestGradientOfParts(t *testing.T) {
	z := tensor.FromSlice([]complex64{1}).SetRequiresGrad(true)
	sum(torch.Cat([]*tensor.Tensor{torch.Ones([]int{1}),
		z.ViewAsReal().View([]int{2})}).Mul(tensor.FromSlice([]float32{1, 2, 3}))).Backward()
	want(t, z.Grad().ViewAsReal(), 2, 3)
}

// TestChangedArgumentThatIsNotNeeded changes what only the gradient of the other argument, which wants none, would
// read.
func TestChangedArgumentThatIsNotNeeded(t *testing.T) {
	x, y := leaf(1, 1), torch.Zeros([]int{2})
	z := x.Hypot(y)
	y.AddScalarInPlace(1)
	sum(z).Backward()
	want(t, x.Grad(), 1, 1)
}

// TestNaNGradientOfOverwritten gives NaN as the gradient of results; elements that had no part in them get none.
func TestNaNGradientOfOverwritten(t *testing.T) {
	nan := tensor.FromSlice([]float32{float32(math.NaN())})
	for _, c := range []struct {
		name string
		f    func(x *tensor.Tensor) *tensor.Tensor
	}{
		{"copy_", func(x *tensor.Tensor) *tensor.Tensor {
			y := x.MulScalar(1)
			y.Narrow(0, 0, 2).CopyInPlace(leaf(1, 1))
			return y.Narrow(0, 0, 1)
		}},
		{"max", func(x *tensor.Tensor) *tensor.Tensor { return x.Max() }},
		{"min", func(x *tensor.Tensor) *tensor.Tensor { return x.Neg().Min() }},
		{"median", func(x *tensor.Tensor) *tensor.Tensor { return x.Median() }},
		{"trace", func(x *tensor.Tensor) *tensor.Tensor {
			return x.Narrow(0, 0, 4).View([]int{2, 2}).Flip([]int{0}).Trace()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := leaf(0, 1, 2, 3, 4)
			y := c.f(x)
			y.Backward(tensor.BackwardOptions{Gradient: nan.Expand([]int{1}).View(y.Shape())})
			want(t, x.Grad().Narrow(0, 0, 1), 0)
		})
	}
}

// TestRefusedInPlaceWritesNothing adds a view whose base has changed where autograd cannot follow.
func TestRefusedInPlaceWritesNothing(t *testing.T) {
	y := leaf(1, 2).MulScalar(1)
	part := y.Chunk(2)[0]
	y.MulScalarInPlace(2)
	x := torch.Ones([]int{1})
	if err := torch.Try(func() { x.AddInPlace(part) }); !errors.Is(err, torch.ErrAutograd) {
		t.Errorf("got %v, want ErrAutograd", err)
	}
	want(t, x, 1)
}

// TestComplexGradient refuses a complex gradient of a real result, and a real one of a complex result.
func TestComplexGradient(t *testing.T) {
	for _, dt := range []tensor.DType{torch.Float32, torch.Complex64} {
		x := torch.Ones([]int{2}, torch.OnesOptions{DType: dt}).SetRequiresGrad(true)
		other := torch.Complex64
		if dt == other {
			other = torch.Float32
		}
		err := torch.Try(func() {
			x.Exp().Backward(tensor.BackwardOptions{Gradient: torch.Ones([]int{2}, torch.OnesOptions{DType: other})})
		})
		if !errors.Is(err, torch.ErrDType) {
			t.Errorf("%s: got %v, want ErrDType", dt, err)
		}
	}
}
