package conv_test

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/par"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/ops/conv"
	"github.com/gotorch-dev/torch/tensor"
)

// halfCase is a convolution of 16-bit floats over nd dimensions.
type halfCase struct {
	nd, n, cin, cout, groups, kernel, stride, padding, dilation, size int
	transposed                                                        bool
}

func (c halfCase) run(x, w, b *tensor.Tensor) *tensor.Tensor {
	s, p, d, g := []int{c.stride}, []int{c.padding}, []int{c.dilation}, tensor.Some(c.groups)
	switch {
	case c.transposed && c.nd == 1:
		return F.ConvTranspose1d(x, w, F.ConvTranspose1dOptions{Bias: b, Stride: s, Padding: p, Dilation: d, Groups: g})
	case c.transposed:
		return F.ConvTranspose2d(x, w, F.ConvTranspose2dOptions{Bias: b, Stride: s, Padding: p, Dilation: d, Groups: g})
	case c.nd == 1:
		return F.Conv1d(x, w, F.Conv1dOptions{Bias: b, Stride: s, Padding: p, Dilation: d, Groups: g})
	case c.nd == 2:
		return F.Conv2d(x, w, F.Conv2dOptions{Bias: b, Stride: s, Padding: p, Dilation: d, Groups: g})
	}
	return F.Conv3d(x, w, F.Conv3dOptions{Bias: b, Stride: s, Padding: p, Dilation: d, Groups: g})
}

// shapes of input and weight.
func (c halfCase) shapes() (x, w []int) {
	x, w = []int{c.n, c.cin}, []int{c.cout, c.cin / c.groups}
	if c.transposed {
		w = []int{c.cin, c.cout / c.groups}
	}
	for i := range c.nd {
		x, w = append(x, c.size+i), append(w, c.kernel)
	}
	return x, w
}

func halfCases() []halfCase {
	var list []halfCase
	for c := 1; c <= 70; c++ {
		h := halfCase{nd: 1 + c%3, n: 1 + c%4, cin: c, cout: 71 - c, groups: 1, kernel: 1 + c/2%3, stride: 1 + c/3%2,
			padding: c / 4 % 2, dilation: 1 + c/5%2, size: 7 + c%5, transposed: c%6 == 1}
		if h.nd == 3 {
			h.size = 5
		}
		list = append(list, h)
	}
	for _, g := range []int{2, 3, 4} {
		for _, c := range []int{1, 2, 8, 9, 16, 18} {
			list = append(list,
				halfCase{nd: 2, n: 2, cin: c * g, cout: c * g, groups: g, kernel: 3, stride: 1 + c%2, padding: 1,
					dilation: 1, size: 8},
				halfCase{nd: 2, n: 3, cin: c * g, cout: 2 * c * g, groups: g, kernel: 3, stride: 1, padding: 1,
					dilation: 1, size: 6, transposed: c > 8})
		}
	}
	return append(list,
		// Images that are widened in blocks.
		halfCase{nd: 2, n: 4, cin: 36, cout: 36, groups: 36, kernel: 3, stride: 1, padding: 1, dilation: 1, size: 45},
		halfCase{nd: 2, n: 3, cin: 6, cout: 8, groups: 2, kernel: 3, stride: 2, padding: 1, dilation: 1, size: 160},
		halfCase{nd: 2, n: 2, cin: 32, cout: 48, groups: 1, kernel: 1, stride: 1, padding: 0, dilation: 1, size: 13},
		halfCase{nd: 2, n: 2, cin: 31, cout: 47, groups: 1, kernel: 1, stride: 1, padding: 0, dilation: 1, size: 13},
		halfCase{nd: 2, n: 2, cin: 3, cout: 33, groups: 1, kernel: 7, stride: 2, padding: 3, dilation: 1, size: 30},
		halfCase{nd: 1, n: 3, cin: 6, cout: 20, groups: 1, kernel: 5, stride: 3, padding: 4, dilation: 2, size: 400},
	)
}

// halfInput returns random numbers that dt holds, in the given layout, or as a view with gaps.
func halfInput(r *rand.Rand, dt tensor.DType, layout string, shape []int) *tensor.Tensor {
	whole := slices.Clone(shape)
	if layout == "gaps" {
		whole[len(whole)-1]++
	}
	n := 1
	for _, s := range whole {
		n *= s
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.Float64()*2 - 1)
	}
	t := tensor.FromSlice(v, whole...).To(dt)
	if layout == "channels last" && len(shape) > 3 {
		t = channelsLast(t)
	}
	return t.Narrow(len(shape)-1, 0, shape[len(shape)-1])
}

// 16-bit convolutions and their gradients are those of the same numbers in float64, rounded once, in every layout and
// on every kernel path.
func TestHalf(t *testing.T) {
	for i, c := range halfCases() {
		for _, dt := range []tensor.DType{tensor.BFloat16, tensor.Float16} {
			for _, layout := range []string{"planar", "channels last", "gaps"} {
				if dt == tensor.Float16 && i%5 > 0 || layout == "gaps" && i%3 > 0 {
					continue
				}
				r := rand.New(rand.NewSource(int64(i)))
				xs, ws := c.shapes()
				x, w, b := halfInput(r, dt, layout, xs), halfInput(r, dt, layout, ws),
					halfInput(r, dt, "", []int{c.cout})
				var g *tensor.Tensor
				results := func(dt tensor.DType) (out [4]*tensor.Tensor) {
					x, w, b := x.Detach().To(dt).SetRequiresGrad(true), w.Detach().To(dt).SetRequiresGrad(true),
						b.Detach().To(dt).SetRequiresGrad(true)
					y := c.run(x, w, b)
					if g == nil {
						g = halfInput(r, y.DType(), layout, y.Shape())
					}
					y.Mul(g.To(dt)).SumDim(nil).Backward()
					for i, t := range []*tensor.Tensor{y, x.Grad(), w.Grad(), b.Grad()} {
						out[i] = t.Detach().To(tensor.Float64).Contiguous()
					}
					return out
				}
				var want [4]*tensor.Tensor
				for k, l := range cpu.Levels() {
					if k > 0 && (i+k)%3 > 0 { // the others have no kernels for pairs
						continue
					}
					restore := cpu.Set(l.Features)
					got := results(dt)
					if want[0] == nil {
						want = results(tensor.Float64)
					}
					restore()
					for k, name := range []string{"result", "gradient of the input", "gradient of the weight",
						"gradient of the bias"} {
						where := fmt.Sprintf("%s, %s, %s: %s of %+v", l.Name, dt, layout, name, c)
						have, expected := tensor.Data[float64](got[k]), tensor.Data[float64](want[k])
						for j, e := range expected {
							if !(math.Abs(have[j]-e) <= math.Abs(e)/250+2e-4) {
								t.Fatalf("%s: element %d is %v, expected %v", where, j, have[j], e)
							}
						}
					}
				}
			}
		}
	}
}

// The results of a convolution of bfloat16 are the same for any number of threads, and in both layouts.
func TestBFloat16SameBits(t *testing.T) {
	defer par.SetNumThreads(par.NumThreads())
	for i, c := range []halfCase{
		{nd: 2, n: 4, cin: 64, cout: 64, groups: 1, kernel: 3, stride: 1, padding: 1, dilation: 1, size: 14},
		{nd: 2, n: 4, cin: 35, cout: 37, groups: 1, kernel: 3, stride: 2, padding: 1, dilation: 1, size: 21},
		{nd: 2, n: 3, cin: 64, cout: 128, groups: 4, kernel: 3, stride: 1, padding: 1, dilation: 1, size: 9},
	} {
		var want [4]*tensor.Tensor
		for _, layout := range []string{"planar", "channels last"} {
			r := rand.New(rand.NewSource(int64(i)))
			xs, ws := c.shapes()
			x, w, b := halfInput(r, tensor.BFloat16, layout, xs), halfInput(r, tensor.BFloat16, layout, ws),
				halfInput(r, tensor.BFloat16, "", []int{c.cout})
			for _, threads := range []int{1, 2, 5} {
				par.SetNumThreads(threads)
				x, w, b := x.Detach().SetRequiresGrad(true), w.Detach().SetRequiresGrad(true),
					b.Detach().SetRequiresGrad(true)
				y := c.run(x, w, b)
				y.Mul(y.Detach()).SumDim(nil).Backward()
				for k, got := range []*tensor.Tensor{y, x.Grad(), w.Grad(), b.Grad()} {
					switch {
					case want[k] == nil:
						want[k] = got.Detach()
					case k < 3 && !got.Equal(want[k]):
						t.Errorf("%+v, %s, %d threads: result %d differs", c, layout, threads, k)
					}
				}
			}
		}
	}
}

// A fused convolution of 16-bit floats adds the residual and clamps before it rounds, whatever the layouts are.
func TestHalfFused(t *testing.T) {
	for _, c := range []struct {
		dt                 tensor.DType
		n, in, out, groups int
		size               int
	}{
		{tensor.BFloat16, 2, 12, 20, 1, 9}, {tensor.BFloat16, 2, 600, 20, 1, 5}, {tensor.BFloat16, 1, 7, 33, 1, 8},
		{tensor.BFloat16, 4, 36, 36, 36, 45}, {tensor.Float16, 3, 6, 16, 1, 100}, {tensor.Float16, 2, 6, 16, 2, 9},
	} {
		for layout := range 4 {
			r := rand.New(rand.NewSource(1))
			name := func(last int) string { return []string{"planar", "channels last"}[last&1] }
			x := halfInput(r, c.dt, name(layout), []int{c.n, c.in, c.size, c.size})
			res := halfInput(r, c.dt, name(layout>>1), []int{c.n, c.out, c.size, c.size})
			w, b := halfInput(r, c.dt, "planar", []int{c.out, c.in / c.groups, 3, 3}),
				halfInput(r, c.dt, "", []int{c.out})
			for _, hi := range []float64{1, math.Inf(1)} {
				y := conv.Fused(x, w, b, res, []int{1, 1}, []int{1, 1}, []int{1, 1}, c.groups, 0, hi)
				wide := func(t *tensor.Tensor) *tensor.Tensor { return t.To(tensor.Float64) }
				want := F.Conv2d(wide(x), wide(w),
					F.Conv2dOptions{Bias: wide(b), Padding: []int{1, 1}, Groups: tensor.Some(c.groups)}).Add(wide(res))
				got := tensor.Data[float64](tensor.Dense(y.To(tensor.Float64)))
				for i, v := range tensor.Data[float64](tensor.Dense(want)) {
					if v = min(max(v, 0), hi); !(math.Abs(got[i]-v) <= v/250+1e-4) {
						t.Fatalf("%+v, layouts %d, up to %v: element %d is %v, want %v", c, layout, hi, i, got[i], v)
					}
				}
			}
		}
	}
}
