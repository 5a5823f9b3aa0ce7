package quantized_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/ops/quantized"
	"github.com/gotorch-dev/torch/tensor"
)

func bytesOf(r *rand.Rand, dt tensor.DType, shape ...int) *tensor.Tensor {
	t := tensor.New(shape, dt)
	if dt == tensor.Int8 {
		for i := range tensor.Data[int8](t) {
			tensor.Data[int8](t)[i] = int8(r.IntN(256))
		}
		return t
	}
	for i := range tensor.Data[uint8](t) {
		tensor.Data[uint8](t)[i] = uint8(r.IntN(256))
	}
	return t
}

// less is a tensor of integers less zero points, which broadcast, as float64: products of these are exact.
func less(t *tensor.Tensor, zeros []int32, shape ...int) *tensor.Tensor {
	return t.To(tensor.Float64).Sub(torch.FromSlice(zeros).To(tensor.Float64).Reshape(shape))
}

// TestFactor compares products of plain integers with exact arithmetic, and what becomes of them in bytes with the
// formula of ONNX.
func TestFactor(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	types := []tensor.DType{tensor.Uint8, tensor.Int8}
	for _, xt := range types {
		for _, wt := range types {
			for _, c := range []struct {
				name                   string
				x, w                   []int // w: [k, n] of a matrix, else that of a convolution
				strides, pads, dilated []int
				groups                 int
				zeros                  []int32
			}{
				{"matrix", []int{2, 3, 5}, []int{5, 7}, nil, nil, nil, 0, nil},
				{"matrix with zero points", []int{4, 33}, []int{33, 3}, nil, nil, nil, 0, []int32{3, 0, -7}},
				{"1d", []int{2, 3, 11}, []int{4, 3, 3}, []int{2}, []int{1, 2}, []int{1}, 1, nil},
				{"2d", []int{1, 4, 6, 5}, []int{6, 4, 3, 2}, []int{1, 2}, []int{0, 1, 2, 0}, []int{1, 1}, 1,
					[]int32{5}},
				{"groups", []int{2, 6, 5, 5}, []int{4, 3, 3, 3}, []int{1, 1}, []int{1, 1, 1, 1}, []int{1, 1}, 2,
					[]int32{1, 2, 3, 4}},
				{"depthwise", []int{1, 6, 5, 5}, []int{6, 1, 3, 3}, []int{2, 1}, []int{0, 0, 1, 1}, []int{1, 1}, 6,
					nil},
				{"3d, dilated", []int{1, 2, 4, 5, 6}, []int{3, 2, 2, 1, 2}, []int{1, 1, 2}, []int{0, 1, 0, 1, 0, 2},
					[]int{2, 1, 2}, 1, nil},
			} {
				t.Run(c.name+" "+xt.String()+" "+wt.String(), func(t *testing.T) {
					x, w := bytesOf(r, xt, c.x...), bytesOf(r, wt, c.w...)
					const zero = 9
					n, at := c.w[0], 1
					if c.groups == 0 {
						n, at = c.w[1], 2
					}
					scales := make([]float32, n)
					for i := range scales {
						scales[i] = 0.01 + float32(i)*0.003
					}
					num := quantized.FactorNumbers{Zeros: c.zeros, Scales: scales}
					var f *quantized.Factor
					ones := make([]int, len(c.w))
					for i := range ones {
						ones[i] = 1
					}
					zeros := c.zeros
					if zeros == nil {
						zeros = []int32{0}
					}
					if len(zeros) == n {
						ones[at/2] = n
					}
					a, b := less(x, []int32{zero}, 1), less(w, zeros, ones...)
					var want *tensor.Tensor
					if c.groups == 0 {
						f = quantized.PackMatrix(w, num)
						want = a.MatMul(b)
					} else {
						f = quantized.PackKernel(w, c.groups, c.dilated, num)
						dims := len(c.strides)
						var pad []int // the last dimension first, before and behind
						for d := dims - 1; d >= 0; d-- {
							pad = append(pad, c.pads[d], c.pads[dims+d])
						}
						r, err := tensor.CallOp("aten::constant_pad_nd", tensor.TensorValue(a), tensor.IntsValue(pad),
							tensor.ScalarValue(0))
						if err != nil {
							t.Fatal(err)
						}
						if r, err = tensor.CallOp("aten::convolution", r[0], tensor.TensorValue(b), tensor.Value{},
							tensor.IntsValue(c.strides), tensor.IntsValue(make([]int, dims)),
							tensor.IntsValue(c.dilated),
							tensor.BoolValue(false), tensor.IntsValue(make([]int, dims)),
							tensor.IntValue(c.groups)); err != nil {
							t.Fatal(err)
						}
						want = r[0].T
					}
					apply := func(q *quantized.Requantized) *tensor.Tensor {
						if c.groups == 0 {
							return f.Multiply(x, zero, q)
						}
						return f.Convolve(x, zero, c.strides, c.pads, q)
					}
					if got := apply(nil); !got.To(tensor.Float64).Equal(want) {
						t.Fatalf("sums: got %v, want %v", got, want)
					}
					q := &quantized.Requantized{InScale: 0.02, OutScale: 0.7, Zero: 4, DType: xt}
					factor := make([]float32, n)
					for i, s := range scales {
						factor[i] = q.InScale * s / q.OutScale
					}
					shape := make([]int, want.Dim())
					for i := range shape {
						shape[i] = 1
					}
					if shape[1] = n; c.groups == 0 {
						shape[1], shape[len(shape)-1] = 1, n
					}
					y := want.To(tensor.Float32).Mul(torch.FromSlice(factor).Reshape(shape)).Round().AddScalar(q.Zero)
					lo, hi := 0, 255
					if xt == tensor.Int8 {
						lo, hi = -128, 127
					}
					y = y.ClampScalar(tensor.ClampScalarOptions{Min: lo, Max: hi})
					if got := apply(q); got.DType() != xt || !got.To(tensor.Float32).Equal(y) {
						t.Errorf("bytes: got %v, want %v", got, y)
					}
				})
			}
		}
	}
}

// TestFactorRefuses leaves to others what is not a product of bytes.
func TestFactorRefuses(t *testing.T) {
	w := tensor.New([]int{4, 3}, tensor.Int8)
	for name, f := range map[string]*quantized.Factor{
		"int32":       quantized.PackMatrix(tensor.New([]int{4, 3}, tensor.Int32), quantized.FactorNumbers{}),
		"zero points": quantized.PackMatrix(w, quantized.FactorNumbers{Zeros: []int32{1, 2}}),
		"dimensions":  quantized.PackMatrix(tensor.New([]int{4}, tensor.Int8), quantized.FactorNumbers{}),
		"groups": quantized.PackKernel(tensor.New([]int{4, 3, 2}, tensor.Int8), 3, []int{1},
			quantized.FactorNumbers{}),
		"dilations": quantized.PackKernel(tensor.New([]int{4, 3, 2}, tensor.Int8), 1, nil, quantized.FactorNumbers{}),
	} {
		if f != nil {
			t.Errorf("%s: packed", name)
		}
	}
	f := quantized.PackMatrix(w, quantized.FactorNumbers{})
	k := quantized.PackKernel(tensor.New([]int{4, 3, 2}, tensor.Int8), 1, []int{1}, quantized.FactorNumbers{})
	for name, y := range map[string]*tensor.Tensor{
		"size":        f.Multiply(tensor.New([]int{2, 5}, tensor.Int8), 0, nil),
		"type":        f.Multiply(tensor.New([]int{2, 4}, tensor.Int32), 0, nil),
		"convolution": f.Convolve(tensor.New([]int{2, 3, 4}, tensor.Int8), 0, []int{1}, []int{0, 0}, nil),
		"channels":    k.Convolve(tensor.New([]int{2, 5, 4}, tensor.Int8), 0, []int{1}, []int{0, 0}, nil),
		"too small":   k.Convolve(tensor.New([]int{2, 3, 1}, tensor.Int8), 0, []int{1}, []int{0, 0}, nil),
		"stride":      k.Convolve(tensor.New([]int{2, 3, 4}, tensor.Int8), 0, []int{0}, []int{0, 0}, nil),
	} {
		if y != nil {
			t.Errorf("%s: got %v", name, y.Shape())
		}
	}
}

// call calls an operator of the namespace quantized.
func call(t *testing.T, name string, args ...tensor.Value) *tensor.Tensor {
	t.Helper()
	r, err := tensor.CallOp(name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return r[0].T
}

// TestLayouts gives the same numbers for images whose channels lie innermost, for which there are kernels of their own,
// and for others.
func TestLayouts(t *testing.T) {
	torch.ManualSeed(3)
	for _, dt := range []tensor.DType{tensor.QUInt8, tensor.QInt8} {
		x := torch.Randn([]int{2, 35, 7, 6}).QuantizePerTensor(0.03, 11, dt)
		z := torch.Randn([]int{2, 35, 7, 6}).QuantizePerTensor(0.05, 100, dt)
		last := func(t *tensor.Tensor) *tensor.Tensor {
			return t.Contiguous(tensor.ContiguousOptions{MemoryFormat: torch.ChannelsLast})
		}
		v, ints := tensor.TensorValue, tensor.IntsValue
		for name, f := range map[string]func(x, z *tensor.Tensor) *tensor.Tensor{
			"maximum": func(x, _ *tensor.Tensor) *tensor.Tensor {
				return call(t, "aten::max_pool2d", v(x), ints([]int{3, 2}), ints([]int{2, 1}), ints([]int{1, 1}),
					ints([]int{1, 1}), tensor.BoolValue(false))
			},
			"mean": func(x, _ *tensor.Tensor) *tensor.Tensor {
				return call(t, "aten::adaptive_avg_pool2d", v(x), ints([]int{1, 1}))
			},
			"sum": func(x, z *tensor.Tensor) *tensor.Tensor {
				return call(t, "quantized::add_relu", v(x), v(z), tensor.FloatValue(0.06), tensor.IntValue(5))
			},
			"product": func(x, z *tensor.Tensor) *tensor.Tensor {
				return call(t, "quantized::mul", v(x), v(z), tensor.FloatValue(0.06), tensor.IntValue(5))
			},
			"joined": func(x, z *tensor.Tensor) *tensor.Tensor {
				return call(t, "quantized::cat", tensor.TensorsValue([]*tensor.Tensor{x, z}), tensor.IntValue(1),
					tensor.FloatValue(0.04), tensor.IntValue(7))
			},
		} {
			want := f(x, z)
			for _, got := range []*tensor.Tensor{f(last(x), last(z)), f(x, last(z)), f(last(x), z)} {
				if !got.Equal(want) {
					t.Errorf("%s of %s: the layout changes the result", name, dt)
				}
			}
		}
	}
}

// TestTooLarge refuses a convolution whose padded input could not be held.
func TestTooLarge(t *testing.T) {
	w := torch.Ones([]int{1, 1, 1, 1, 1}).QuantizePerTensor(0.1, 0, tensor.QInt8)
	x := torch.Ones([]int{1, 1, 1, 1, 1}).QuantizePerTensor(0.1, 0, tensor.QUInt8)
	for _, transpose := range []bool{false, true} {
		name, ints := "quantized::conv3d", tensor.IntsValue
		large, one := []int{1 << 24, 1 << 24, 1 << 24}, []int{1, 1, 1}
		args := []tensor.Value{tensor.TensorValue(w), {}, ints(large), ints(large), ints(one), tensor.IntValue(1)}
		run := name + ".new"
		if transpose {
			name = "quantized::conv_transpose3d"
			args = []tensor.Value{tensor.TensorValue(w), {}, ints(large), ints([]int{0, 0, 0}),
				ints(large), ints(one), tensor.IntValue(1)}
			run = name
		}
		p, err := tensor.CallOp(name+"_prepack", args...)
		if err != nil {
			t.Fatal(err)
		}
		var e *torch.Error
		if _, err := tensor.CallOp(run, tensor.TensorValue(x), p[0], tensor.FloatValue(1), tensor.IntValue(0)); !errors.As(err,
			&e) {
			t.Errorf("%s: got %v, want an error", run, err)
		}
	}
}

// Tensors of other schemes, and plain ones, are no part of a quantized concatenation.
func TestCatRefuses(t *testing.T) {
	x := torch.Ones([]int{2, 3})
	q := x.QuantizePerTensor(0.1, 0, tensor.QInt8)
	channels := torch.QuantizePerChannel(x, torch.FromSlice([]float64{0.1, 0.2}), torch.Zeros([]int{2}, torch.ZerosOptions{DType: torch.Int64}), 0,
		tensor.QInt8)
	for name, l := range map[string][]*torch.Tensor{"per channel": {q, channels}, "first per channel": {channels, q},
		"plain": {q, x}} {
		var e *torch.Error
		if err := torch.Try(func() { torch.Cat(l) }); !errors.As(err, &e) {
			t.Errorf("%s: got %v, want an error", name, err)
		}
	}
}

// Packed weights tell their parameters.
func TestPackedParameters(t *testing.T) {
	ints := tensor.IntsValue
	w := tensor.TensorValue(torch.Ones([]int{4, 3, 1, 2}).QuantizePerTensor(0.1, 0, tensor.QInt8))
	for _, transpose := range []int{0, 1} {
		name, args := "quantized::conv2d", []tensor.Value{w, {}, ints([]int{2, 3}), ints([]int{1, 0}), ints([]int{1, 2}),
			tensor.IntValue(1)}
		if transpose == 1 {
			name, args = "quantized::conv_transpose2d", append(args[:4:4], ints([]int{1, 0}), args[4], args[5])
		}
		p, err := tensor.CallOp(name+"_prepack", args...)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]tensor.Value{"stride": args[2], "padding": args[3], "dilation": args[len(args)-2],
			"groups": tensor.IntValue(1), "transpose": tensor.IntValue(transpose)}
		for what, v := range want {
			got, err := tensor.CallOp(name+"_"+what, p[0])
			if err != nil || got[0].String() != v.String() {
				t.Errorf("%s_%s: got %v, %v, want %v", name, what, got, err, v)
			}
		}
	}
}
