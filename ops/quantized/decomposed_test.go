package quantized_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	_ "github.com/gotorch-dev/torch/ops/all" // links the operators
	"github.com/gotorch-dev/torch/tensor"
)

// decomposed calls an operator of graphs that are quantized.
func decomposed(name string, args ...any) ([]tensor.Value, error) {
	boxed := make([]tensor.Value, len(args))
	for i, a := range args {
		boxed[i] = tensor.Box(a)
	}
	return tensor.CallOp("quantized_decomposed::"+name, boxed...)
}

// TestDecomposed compares results with those of PyTorch 2.15.
func TestDecomposed(t *testing.T) {
	x := torch.FromSlice([]float32{-1, -0.25, 0.1, 0.3, 0.75, 9}, 2, 3)
	q := torch.FromSlice([]uint8{0, 1, 4, 6, 10, 15}, 2, 3)
	scales, zeros := torch.FromSlice([]float32{0.1, 0.5}), torch.FromSlice([]int64{0, 2})
	byRow := torch.FromSlice([]int8{-8, -2, 1, 3, 4, 7}, 2, 3)
	one, three := torch.FromSlice([]float64{0.1}), torch.FromSlice([]int64{3})
	for _, c := range []struct {
		name string
		args []any
		want []float64
	}{
		{"quantize_per_tensor", []any{x, 0.1, 3, 0, 15, tensor.Uint8}, []float64{0, 1, 4, 6, 11, 15}},
		{"quantize_per_tensor.tensor", []any{x, one, three, 0, 15, tensor.Uint8}, []float64{0, 1, 4, 6, 11, 15}},
		{"quantize_per_tensor", []any{x.BFloat16(), 0.1, 3, 0, 15, tensor.Uint8}, []float64{0, 1, 4, 6, 11, 15}},
		{"dequantize_per_tensor", []any{q, 0.1, 3, 0, 15, tensor.Uint8}, []float64{-0.3, -0.2, 0.1, 0.3, 0.7, 1.2}},
		{"dequantize_per_tensor.tensor", []any{q, one, three, 0, 15, tensor.Uint8}, []float64{-0.3, -0.2, 0.1, 0.3, 0.7,
			1.2}},
		{"quantize_per_channel", []any{x, scales, zeros, 0, -8, 7, tensor.Int8}, []float64{-8, -2, 1, 3, 4, 7}},
		{"dequantize_per_channel", []any{byRow, scales, zeros, 0, -8, 7, tensor.Int8}, []float64{-0.8, -0.2, 0.1, 0.5, 1,
			2.5}},
		{"dequantize_per_channel", []any{byRow, scales, nil, 0, -8, 7, tensor.Int8}, []float64{-0.8, -0.2, 0.1, 1.5, 2,
			3.5}},
	} {
		r, err := decomposed(c.name, c.args...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for i, v := range torch.Data[float64](r[0].T.Double().Contiguous()) {
			if math.Abs(v-c.want[i]) > 1e-6 {
				t.Errorf("%s: element %d is %v, want %v", c.name, i, v, c.want[i])
			}
		}
	}
	for _, c := range []struct {
		name   string
		lo, hi int
		dt     tensor.DType
		scale  float64
		zero   int64
	}{
		{"choose_qparams.tensor", 0, 255, tensor.Uint8, 0.03921568766236305, 26},
		{"choose_qparams_symmetric.tensor", -128, 127, tensor.Int8, 0.07058823853731155, 0},
	} {
		r, err := decomposed(c.name, x, c.lo, c.hi, 1e-5, c.dt)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		s, z := torch.Data[float64](r[0].T)[0], torch.Data[int64](r[1].T)[0]
		if math.Abs(s-c.scale) > 1e-8 || z != c.zero {
			t.Errorf("%s: scale %v and zero point %d, want %v and %d", c.name, s, z, c.scale, c.zero)
		}
	}
}

// TestDecomposedRefuses passes types, limits and numbers of scales that do not fit.
func TestDecomposedRefuses(t *testing.T) {
	x, q := torch.Ones([]int{2, 3}), torch.FromSlice([]int8{1, 2}, 2)
	two := torch.Ones([]int{2})
	for _, c := range []struct {
		name  string
		args  []any
		cause error
		want  string
	}{
		{"quantize_per_tensor", []any{x.Double(), 0.1, 0, 0, 255, tensor.Uint8}, tensor.ErrDType,
			"Expecting input to have dtype torch.float32, but got dtype: torch.float64"},
		{"quantize_per_tensor", []any{x, 0.1, 0, -1, 255, tensor.Uint8}, tensor.ErrValue, "quant_min out of bounds for dtype"},
		{"quantize_per_tensor", []any{x, 0.1, 0, 0, 256, tensor.Uint8}, tensor.ErrValue, "quant_max out of bounds for dtype"},
		{"quantize_per_tensor", []any{x, 0.1, 0, 0, 1, tensor.Int64}, tensor.ErrDType, "Unsupported dtype: torch.int64"},
		{"quantize_per_tensor.tensor", []any{x, two, two, 0, 1, tensor.Uint8}, tensor.ErrShape, "to be one element"},
		{"dequantize_per_tensor", []any{q, 0.1, 0, 0, 255, tensor.Uint8}, tensor.ErrDType,
			"Expecting input to have dtype: torch.uint8, but got torch.int8"},
		{"quantize_per_channel", []any{x, two, two.Long(), 1, 0, 255, tensor.Uint8}, tensor.ErrShape,
			"2 scales for dimension 1"},
		{"quantize_per_channel", []any{x, two, two.Long(), 2, 0, 255, tensor.Uint8}, tensor.ErrIndex, "ange"},
		{"choose_qparams.tensor", []any{x, 5, 5, 1e-5, tensor.Uint8}, tensor.ErrValue, "qmin must be strictly less than qmax"},
	} {
		_, err := decomposed(c.name, c.args...)
		if err == nil || !errors.Is(err, c.cause) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
