package reduce_test

import (
	"errors"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// Offsets that are negative, fall or pass the end are refused.
func TestSegmentOffsets(t *testing.T) {
	x := torch.Arange(4).Float()
	for _, c := range []struct {
		offsets []int64
		want    []float32 // nil: an error
	}{
		{[]int64{0, 2, 4}, []float32{1, 5}}, {[]int64{0, 0, 4}, []float32{0, 6}}, {[]int64{1, 2, 3}, []float32{1, 2}},
		{[]int64{-1, 2, 4}, nil}, {[]int64{0, 3, 2}, nil}, {[]int64{0, 2, 5}, nil}, {[]int64{0, -1, 2}, nil},
	} {
		var y *tensor.Tensor
		err := torch.Try(func() {
			y = torch.SegmentReduce(x, "sum", torch.SegmentReduceOptions{Offsets: torch.FromSlice(c.offsets)})
		})
		switch {
		case c.want == nil && !errors.Is(err, tensor.ErrValue):
			t.Errorf("offsets %v: got %v, %v, want an error", c.offsets, y, err)
		case c.want != nil && (err != nil || !y.Equal(torch.FromSlice(c.want))):
			t.Errorf("offsets %v: got %v, %v, want %v", c.offsets, y, err, c.want)
		}
	}
}
