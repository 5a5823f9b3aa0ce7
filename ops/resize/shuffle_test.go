package resize_test

import (
	"fmt"
	"testing"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// TestShuffleApart: shuffles that move nothing give tensors of their own all the same, in the memory format of the
// input.
func TestShuffleApart(t *testing.T) {
	x := opstest.Fill(tensor.Float32, 1, 2, 4, 3, 5)
	for name, x := range map[string]*torch.Tensor{"contiguous": x,
		"channels-last": x.Contiguous(tensor.ContiguousOptions{MemoryFormat: tensor.ChannelsLast}),
		"sliced":        opstest.Fill(tensor.Float32, 1, 2, 4, 3, 10).Narrow(3, 2, 5)} {
		for op, y := range map[string]*torch.Tensor{"pixel_shuffle": F.PixelShuffle(x, 1),
			"pixel_unshuffle": F.PixelUnshuffle(x, 1), "channel_shuffle": F.ChannelShuffle(x, 1),
			"channel_shuffle into as many groups": F.ChannelShuffle(x, 4)} {
			want := "[60 15 5 1]"
			if name == "channels-last" {
				want = "[60 1 20 4]"
			}
			if got := fmt.Sprint(y.Strides()); got != want {
				t.Errorf("%s of %s: strides %s, want %s", op, name, got, want)
			}
			if !x.Equal(y) {
				t.Errorf("%s of %s moved something", op, name)
			}
			if y.Storage() == x.Storage() {
				t.Errorf("%s of %s shares memory with its input", op, name)
			}
		}
	}
}
