package quantization_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/quantization"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

func twoLayers(seed int64) *nn.Sequential {
	torch.ManualSeed(seed)
	m := nn.NewSequential(nn.NewLinear(64, 32), nn.NewReLU(), nn.NewLinear(32, 16))
	m.Eval()
	return m
}

// TestQuantizeInPlace quantizes two layers by each configuration: the result is near that of the float layers, and a
// state dict that goes through a file gives another model the same result.
func TestQuantizeInPlace(t *testing.T) {
	for _, c := range []struct {
		config quantization.WeightConfig
		near   float64
	}{
		{quantization.Int8WeightOnlyConfig{}, 0.01},
		{quantization.Int8WeightOnlyConfig{Granularity: quantization.PerGroup(16)}, 0.01},
		{quantization.Int8WeightOnlyConfig{Granularity: quantization.PerTensor}, 0.01},
		{quantization.Int8DynamicActivationInt8WeightConfig{}, 0.02},
		{quantization.Int8DynamicActivationInt8WeightConfig{ActMappingType: quantization.Asymmetric}, 0.02},
		{quantization.Int8DynamicActivationInt8WeightConfig{ActGranularity: quantization.PerTensor, ReduceRange: true},
			0.04},
		{quantization.IntxWeightOnlyConfig{Bits: 4, Granularity: quantization.PerGroup(32)}, 0.15},
		{quantization.IntxWeightOnlyConfig{Bits: 4, HQQ: true}, 0.15},
		{quantization.Int8DynamicActivationIntxWeightConfig{Bits: 6}, 0.05},
		{quantization.Int4WeightOnlyConfig{GroupSize: 32}, 0.15},
	} {
		t.Run(fmt.Sprintf("%T %v", c.config, c.config), func(t *testing.T) {
			m, x := twoLayers(1), torch.Randn([]int{5, 64})
			want := m.Forward(x)
			if _, err := quantization.QuantizeInPlace(m, c.config); err != nil {
				t.Fatal(err)
			}
			got := m.Forward(x)
			if far := got.Sub(want).Abs().Max().Item(); far > c.near || far == 0 {
				t.Errorf("the result is off by %v, want more than 0 and at most %v", far, c.near)
			}
			var file bytes.Buffer
			if err := serialize.Save(&file, quantization.StateDict(m)); err != nil {
				t.Fatal(err)
			}
			v, err := serialize.Load(bytes.NewReader(file.Bytes()), int64(file.Len()))
			if err != nil {
				t.Fatal(err)
			}
			other := twoLayers(2)
			if _, err := quantization.QuantizeInPlace(other, c.config); err != nil {
				t.Fatal(err)
			}
			if err := quantization.LoadStateDict(other, v.(*serialize.Dict)); err != nil {
				t.Fatal(err)
			}
			if !torch.Equal(other.Forward(x), got) {
				t.Error("the model that loaded the state dict gives another result")
			}
		})
	}
}

// TestQuantizeInPlaceRefuses passes settings and layers that cannot be: the error says why, and the model stays.
func TestQuantizeInPlaceRefuses(t *testing.T) {
	all := quantization.QuantizeOptions{Filter: func(m nn.Module, _ string) bool {
		_, container := m.(*nn.Sequential)
		return !container
	}}
	for _, c := range []struct {
		config quantization.WeightConfig
		opts   []quantization.QuantizeOptions
		cause  error
		want   string
	}{
		{quantization.IntxWeightOnlyConfig{Bits: 9}, nil, tensor.ErrValue,
			"weight_dtype must be torch.intx, where 1 <= x <= 8, but got torch.int9"},
		{quantization.IntxWeightOnlyConfig{Granularity: quantization.PerTensor}, nil, tensor.ErrValue,
			"granularity must be PerAxis or PerGroup, but got PerTensor()"},
		{quantization.IntxWeightOnlyConfig{Granularity: quantization.PerGroup(48)}, nil, tensor.ErrShape,
			"Last dimension of input 64 is not divisible by group size 48"},
		{quantization.Int8DynamicActivationInt8WeightConfig{Granularity: quantization.PerGroup(8)}, nil,
			tensor.ErrValue,
			"Unsupported weight granularity type: PerGroup(8). Only PerTensor and PerRow are supported."},
		{quantization.Int4WeightOnlyConfig{GroupSize: 16}, nil, tensor.ErrValue,
			"Expecting groupwise quantization with group size = 32/64/128, but got block_size: [1, 16]"},
		{quantization.Int8WeightOnlyConfig{}, []quantization.QuantizeOptions{all}, tensor.ErrType,
			`"1", a ReLU, is no Linear, Embedding or Conv2d`},
	} {
		m := twoLayers(1)
		before := fmt.Sprint(m)
		_, err := quantization.QuantizeInPlace(m, c.config, c.opts...)
		if err == nil || !errors.Is(err, c.cause) || !bytes.Contains([]byte(err.Error()), []byte(c.want)) {
			t.Errorf("%T: %v, want %q", c.config, err, c.want)
		}
		if fmt.Sprint(m) != before {
			t.Errorf("%T: the model has changed to %s", c.config, m)
		}
	}
}

// TestWeightedConv quantizes a table and a convolution, which a filter chooses.
func TestWeightedConv(t *testing.T) {
	torch.ManualSeed(0)
	conv := nn.NewConv2d(8, 4, 3, nn.Conv2dOptions{Padding: []int{1}})
	x := torch.Randn([]int{1, 8, 5, 5})
	want := conv.Forward(x)
	q, err := quantization.QuantizeInPlace(conv,
		quantization.IntxWeightOnlyConfig{Granularity: quantization.PerGroup(4)},
		quantization.QuantizeOptions{Filter: func(nn.Module, string) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	if far := q.(nn.Layer).Forward(x).Sub(want).Abs().Max().Item(); far > 0.02 || far == 0 {
		t.Errorf("the convolution is off by %v", far)
	}
	table := nn.NewEmbedding(10, 8)
	index := torch.FromSlice([]int64{1, 9})
	rows := table.Forward(index)
	q, err = quantization.QuantizeInPlace(table, quantization.Int8WeightOnlyConfig{}, quantization.QuantizeOptions{
		Filter: func(nn.Module, string) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	if far := q.(nn.Layer).Forward(index).Sub(rows).Abs().Max().Item(); far > 0.02 || far == 0 {
		t.Errorf("the table is off by %v", far)
	}
}

func ExampleQuantizeInPlace() {
	torch.ManualSeed(0)
	m := nn.NewSequential(nn.NewLinear(64, 32))
	if _, err := quantization.QuantizeInPlace(m, quantization.IntxWeightOnlyConfig{Bits: 4,
		Granularity: quantization.PerGroup(32)}); err != nil {
		panic(err)
	}
	w := nn.StandIn(m.Get("0")).(*quantization.Weighted).Weight()
	fmt.Println(w.QData.DType(), w.QData.Shape(), w.Scale.Shape())
	// Output: torch.int8 [32 64] [32 2]
}
