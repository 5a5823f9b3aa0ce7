package quantized_test

import (
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// TestBytes compares the operators on bytes with the floating-point operators that they stand for, by arguments that
// their kernels take and by such that they do not.
func TestBytes(t *testing.T) {
	gen := torch.NewGenerator().ManualSeed(5)
	bytes := func(dt tensor.DType, shape ...int) *torch.Tensor {
		x := torch.Rand(shape, torch.RandOptions{Generator: gen}).MulScalar(256)
		if dt == tensor.Int8 {
			x = x.SubScalar(128)
		}
		return x.Floor().To(dt)
	}
	floats := func(x *torch.Tensor, scale float64, zero int) *torch.Tensor {
		return x.Float().SubScalar(zero).MulScalar(scale)
	}
	rounded := func(y *torch.Tensor, scale float64, zero, least, most int) *torch.Tensor {
		y = y.DivScalar(scale).Round().AddScalar(zero)
		return y.ClampScalar(tensor.ClampScalarOptions{Min: least, Max: most})
	}
	check := func(name string, want *torch.Tensor, args ...any) {
		t.Helper()
		boxed := make([]tensor.Value, len(args))
		for i, a := range args {
			if x, ok := a.(*torch.Tensor); !ok || x != nil {
				boxed[i] = tensor.Box(a)
			}
		}
		tensor.NoGrad(func() {
			y, err := tensor.CallOp("gotorch::"+name, boxed...)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got := y[0].T
			if !tensor.SameShape(got.Shape(), want.Shape()) {
				t.Fatalf("%s: shape %v, want %v", name, got.Shape(), want.Shape())
			}
			most := 1.0 // a step
			if got.DType() == tensor.Float32 {
				most = 1e-3
			}
			if d := got.Double().Sub(want.Double()).Abs().Max().Item(); !(d <= most) {
				t.Errorf("%s of %v: differs by %g", name, args[0].(*torch.Tensor).Shape(), d)
			}
		})
	}
	var none *torch.Tensor
	for _, dt := range []tensor.DType{tensor.Uint8, tensor.Int8} {
		limits := []int{0, 255}
		if dt == tensor.Int8 {
			limits = []int{-128, 127}
		}
		for _, c := range []struct {
			in, w               []int
			stride, pad, dil    int
			groups, scales      int
			bias, zeros, planar bool
			least, most         int
			floats, relu        bool
		}{
			{in: []int{2, 8, 9, 7}, w: []int{12, 8, 3, 3}, stride: 1, pad: 1, dil: 1, groups: 1, scales: 12, bias: true,
				least: limits[0], most: limits[1]},
			{in: []int{2, 8, 9, 7}, w: []int{12, 4, 3, 3}, stride: 2, pad: 0, dil: 2, groups: 2, scales: 1, zeros: true,
				least: 3, most: limits[1], planar: true},
			{in: []int{1, 32, 9, 7}, w: []int{32, 1, 3, 3}, stride: 1, pad: 1, dil: 1, groups: 32, scales: 32,
				bias:  true,
				least: 5, most: 90},
			{in: []int{2, 8, 9, 7}, w: []int{12, 8, 1, 1}, stride: 1, dil: 1, groups: 1, scales: 12, floats: true},
			{in: []int{2, 8, 9, 7}, w: []int{12, 8, 1, 1}, stride: 1, dil: 1, groups: 1, scales: 12, bias: true,
				floats: true, relu: true},
		} {
			x, w := bytes(dt, c.in...), bytes(tensor.Int8, c.w...)
			if !c.planar {
				x = x.To(tensor.ChannelsLast)
			}
			scales := torch.Rand([]int{c.scales}, torch.RandOptions{Generator: gen}).MulScalar(0.01).AddScalar(0.002)
			zeros, bias := none, none
			by := []int{-1, 1, 1, 1}
			wf := w.Float()
			if c.zeros {
				zeros = torch.FromSlice([]int32{4})
				wf = wf.SubScalar(4)
			}
			if c.bias {
				bias = randomNumbers(gen, c.w[0])
			}
			two := func(x int) []int { return []int{x, x} }
			y, err := tensor.CallOp("aten::conv2d", tensor.Box(floats(x, 0.03, 3)),
				tensor.Box(wf.Mul(scales.Reshape(by))),
				tensor.Box(bias), tensor.Box(two(c.stride)), tensor.Box(two(c.pad)), tensor.Box(two(c.dil)),
				tensor.Box(c.groups))
			if err != nil {
				t.Fatal(err)
			}
			want, out := y[0].T, dt
			if c.relu {
				want = want.ReLU()
			}
			if c.floats {
				out = tensor.Float32
			} else {
				want = rounded(want, 0.2, 3, c.least, c.most)
			}
			check("bytes_conv", want, x, 0.03, 3, w, scales, zeros, bias, two(c.stride), two(c.pad), two(c.dil),
				c.groups, 0.2,
				3, c.least, c.most, out, c.relu)
		}
		x, w := bytes(dt, 3, 5, 24), bytes(tensor.Int8, 10, 24)
		scale, bias := torch.FromSlice([]float32{0.004}), randomNumbers(gen, 10)
		y := floats(x, 0.03, 3).MatMul(floats(w, 0.004, 0).Transpose(0, 1)).Add(bias)
		check("bytes_linear", rounded(y, 0.05, -1, limits[0], limits[1]), x, 0.03, 3, w, scale, none, bias, 0.05, -1,
			limits[0], limits[1], dt)
		check("bytes_linear", y.ReLU(), x, 0.03, 3, w, scale, none, bias, 1.0, 0, 0, 0, tensor.Float32, true)

		a, b := bytes(dt, 2, 3, 4), bytes(dt, 2, 3, 4)
		for _, b := range []*torch.Tensor{b, b.Transpose(0, 1).Contiguous().Transpose(0, 1), b.Narrow(0, 0, 1)} {
			s, p := floats(a, 0.1, 1).Add(floats(b, 0.2, -3)), floats(a, 0.1, 1).Mul(floats(b, 0.2, -3))
			check("bytes_add", rounded(s, 0.3, 2, 2, limits[1]), a, 0.1, 1, b, 0.2, -3, 0.3, 2, 2, limits[1], dt)
			check("bytes_mul", rounded(p, 2.5, 7, 0, 100), a, 0.1, 1, b, 0.2, -3, 2.5, 7, 0, 100, dt)
		}
		table := bytes(dt, 256)
		at := a.To(tensor.Int64)
		if dt == tensor.Int8 {
			at = at.AddScalar(256).Sub(at.GeScalar(0).To(tensor.Int64).MulScalar(256))
		}
		mapped := table.IndexSelect(0, at.Reshape([]int{-1})).Reshape(a.Shape())
		check("bytes_map", mapped, a, table)
		check("bytes_map", mapped.Transpose(0, 2).Narrow(0, 1, 2), a.Transpose(0, 2).Narrow(0, 1, 2), table)

		image := bytes(dt, 2, 5, 7, 6)
		pool := func(x *torch.Tensor) *torch.Tensor {
			y, err := tensor.CallOp("aten::max_pool2d", tensor.Box(x.Float()), tensor.Box([]int{3, 2}),
				tensor.Box([]int{2, 1}),
				tensor.Box([]int{1, 0}), tensor.Box([]int{1, 1}), tensor.Box(false))
			if err != nil {
				t.Fatal(err)
			}
			return y[0].T
		}
		for _, x := range []*torch.Tensor{image, image.To(tensor.ChannelsLast)} {
			check("bytes_max_pool2d", pool(image), x, []int{3, 2}, []int{2, 1}, []int{1, 0}, []int{1, 1}, false)
			for _, pads := range []bool{true, false} {
				y, err := tensor.CallOp("aten::avg_pool2d", tensor.Box(floats(image, 0.1, 3)), tensor.Box([]int{3, 2}),
					tensor.Box([]int{2, 1}), tensor.Box([]int{1, 0}), tensor.Box(false), tensor.Box(pads))
				if err != nil {
					t.Fatal(err)
				}
				check("bytes_avg_pool2d", rounded(y[0].T, 0.04, 2, 3, limits[1]), x, 0.1, 3, []int{3, 2}, []int{2, 1},
					[]int{1, 0}, pads, 0.04, 2, 3, limits[1], dt)
			}
			mean := floats(image, 0.1, 3).MeanDim([]int{2, 3}, tensor.MeanDimOptions{KeepDim: true})
			check("bytes_avg_pool2d", rounded(mean, 0.05, 1, limits[0], 90), x, 0.1, 3, []int{}, []int{}, []int{}, false,
				0.05, 1, limits[0], 90, dt)
		}
	}
}

func randomNumbers(g *torch.Generator, shape ...int) *torch.Tensor {
	return torch.Randn(shape, torch.RandnOptions{Generator: g})
}
