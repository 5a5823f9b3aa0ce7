package torch_test

import (
	"math"
	"runtime"
	"testing"
	"time"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// watcher sends every call of its goroutine through the argument record, where it can be seen.
type watcher struct{ calls int }

func (w *watcher) Rank() tensor.Rank               { return tensor.RankTrace }
func (w *watcher) Call(_ *tensor.Ctx, next func()) { w.calls++; next() }

// Plain calls must give what the same calls give on the long way: values, strides, versions, gradients and the tape.
func TestPlainCallsEqualOthers(t *testing.T) {
	type result struct {
		y, gx, gz *torch.Tensor
		grad      string
	}
	binary := map[string]func(x, z *torch.Tensor) *torch.Tensor{
		"add":     func(x, z *torch.Tensor) *torch.Tensor { return x.Add(z) },
		"sub":     func(x, z *torch.Tensor) *torch.Tensor { return x.Sub(z) },
		"mul":     func(x, z *torch.Tensor) *torch.Tensor { return x.Mul(z) },
		"div":     func(x, z *torch.Tensor) *torch.Tensor { return x.Div(z) },
		"maximum": func(x, z *torch.Tensor) *torch.Tensor { return x.Maximum(z) },
		"minimum": func(x, z *torch.Tensor) *torch.Tensor { return x.Minimum(z) },
		"relu":    func(x, z *torch.Tensor) *torch.Tensor { return x.ReLU().Add(z) },
		"exp":     func(x, z *torch.Tensor) *torch.Tensor { return x.Exp().Mul(z) },
		"tanh":    func(x, z *torch.Tensor) *torch.Tensor { return x.Tanh().Mul(z.Sigmoid()) },
		"neg":     func(x, z *torch.Tensor) *torch.Tensor { return x.Neg().Mul(z.Abs().Sqrt()) },
		"square":  func(x, z *torch.Tensor) *torch.Tensor { return x.Mul(x).Mul(z) },
		"numbers": func(x, z *torch.Tensor) *torch.Tensor {
			return x.MulScalar(3).AddScalar(0.5).Div(z.SubScalar(7)).DivScalar(float32(2))
		},
	}
	for name, f := range binary {
		for _, dt := range []torch.DType{torch.Float32, torch.Float64} {
			for _, shape := range [][]int{{}, {1}, {0}, {5}, {3, 4}, {1, 300}, {2, 3, 1, 2, 2}} {
				run := func() result {
					torch.ManualSeed(4)
					x := torch.Randn(shape, torch.RandnOptions{DType: dt}).SetRequiresGrad(true)
					z := torch.Randn(shape, torch.RandnOptions{DType: dt}).SetRequiresGrad(true)
					y := f(x, z)
					r := result{y: y, grad: y.GradFn().Name()}
					y.MulScalar(2).Sum().Backward()
					r.gx, r.gz = x.Grad(), z.Grad()
					return r
				}
				w := &watcher{}
				a := run()
				var b result
				tensor.WithLayer(w, func() { b = run() })
				if w.calls == 0 {
					t.Fatal("the interceptor saw nothing")
				}
				if a.grad != b.grad {
					t.Errorf("%s %v: recorded as %s, not %s", name, shape, a.grad, b.grad)
				}
				for i, p := range [][2]*torch.Tensor{{a.y, b.y}, {a.gx, b.gx}, {a.gz, b.gz}} {
					if !torch.Equal(p[0], p[1]) || p[0].DType() != dt ||
						!tensor.SameShape(p[0].Strides(), p[1].Strides()) {
						t.Errorf("%s %s %v: result %d is %v, not %v", name, dt, shape, i, p[0], p[1])
					}
				}
			}
		}
	}
}

func TestPlainCallSeesChangesInPlace(t *testing.T) {
	x := torch.FromSlice([]float32{2}).SetRequiresGrad(true)
	y := x.MulScalar(1)
	z := y.Mul(y)
	y.AddScalarInPlace(1)
	err := torch.Try(func() { z.Backward() })
	if err == nil {
		t.Fatal("a changed operand was not noticed")
	}
	twice := x.Mul(x)
	twice.Backward()
	if torch.Try(func() { twice.Backward() }) == nil {
		t.Fatal("a second pass over a freed tape went through")
	}
	if g := x.Grad().Item(); math.Abs(g-4) > 0 {
		t.Fatalf("gradient %v, not 4", g)
	}
}

// A detached loss that somebody keeps must not keep the tape that it came from.
func TestDetachedScalarLetsGoOfTheTape(t *testing.T) {
	for name, loss := range map[string]func(x *torch.Tensor) *torch.Tensor{
		"plain": func(x *torch.Tensor) *torch.Tensor { return x.Mul(x).Mul(x) },
		"boxed": func(x *torch.Tensor) *torch.Tensor { return x.Sum() },
	} {
		gone := make(chan bool, 1)
		keep := func() *torch.Tensor {
			x := torch.FromSlice([]float32{3}).SetRequiresGrad(true)
			y := loss(x)
			runtime.AddCleanup(y.GradFn(), func(c chan bool) { c <- true }, gone)
			return y.Detach()
		}()
		ok := false
		for i := 0; i < 100 && !ok; i++ {
			runtime.GC()
			select {
			case ok = <-gone:
			case <-time.After(10 * time.Millisecond):
			}
		}
		if !ok {
			t.Errorf("%s: the tape is still there", name)
		}
		runtime.KeepAlive(keep)
	}
}
