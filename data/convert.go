package data

import "github.com/gotorch-dev/torch/tensor"

// DefaultConvert turns slices of Go numbers into tensors of one dimension, also inside lists ([]any) and maps
// (map[string]any), which are copied; it leaves all else as it is. Python's default_convert does so to numpy arrays.
func DefaultConvert(v any) any {
	switch x := v.(type) {
	case []float32:
		return tensor.FromSlice(x)
	case []float64:
		return tensor.FromSlice(x)
	case []int64:
		return tensor.FromSlice(x)
	case []int32:
		return tensor.FromSlice(x)
	case []int16:
		return tensor.FromSlice(x)
	case []int8:
		return tensor.FromSlice(x)
	case []uint8:
		return tensor.FromSlice(x)
	case []bool:
		return tensor.FromSlice(x)
	case []complex64:
		return tensor.FromSlice(x)
	case []complex128:
		return tensor.FromSlice(x)
	case []int:
		l := make([]int64, len(x))
		for i, n := range x {
			l[i] = int64(n)
		}
		return tensor.FromSlice(l)
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = DefaultConvert(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, e := range x {
			out[k] = DefaultConvert(e)
		}
		return out
	}
	return v
}
