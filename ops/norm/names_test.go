package norm_test

import (
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// TestSeen compares what a tracer sees of the functions with the operators that PyTorch 2.15 lists for its own
// (make_fx with pre_dispatch).
func TestSeen(t *testing.T) {
	x, x3 := opstest.Fill(tensor.Float32, 1, 3, 4), opstest.Fill(tensor.Float32, 2, 4, 3, 5)
	r, v, w := opstest.Fill(tensor.Float32, 3, 3), opstest.Fill(tensor.Float32, 4, 3).Abs(),
		opstest.Fill(tensor.Float32, 5, 4)
	x4, xc := opstest.Fill(tensor.Float32, 6, 2, 4, 3, 3), opstest.Fill(tensor.Float32, 7, 2, 4, 3)
	for _, c := range []struct {
		name string
		f    func()
		want string
	}{
		{"batch_norm", func() { F.BatchNorm(x3, r, v) }, "batch_norm"},
		{"batch_norm in training", func() { F.BatchNorm(x3, r, v, F.BatchNormOptions{Training: true}) }, "batch_norm"},
		{"instance_norm", func() { F.InstanceNorm(x3) }, "instance_norm"},
		{"group_norm", func() { F.GroupNorm(xc, 2) }, "group_norm"},
		{"layer_norm", func() { F.LayerNorm(x, []int{4}) }, "layer_norm"},
		{"rms_norm", func() { F.RMSNorm(x, []int{4}, F.RMSNormOptions{Weight: w}) }, "rms_norm"},
		{"local_response_norm", func() { F.LocalResponseNorm(x4, 3) },
			"mul.Tensor view pad avg_pool3d squeeze.dim view mul.Tensor add.Tensor pow.Tensor_Scalar div.Tensor"},
		{"local_response_norm of sequences", func() { F.LocalResponseNorm(xc, 2) },
			"mul.Tensor unsqueeze pad avg_pool2d squeeze.dim mul.Tensor add.Tensor pow.Tensor_Scalar div.Tensor"},
		{"normalize", func() { F.Normalize(x) }, "linalg_vector_norm clamp_min expand_as div.Tensor"},
		{"softmax", func() { F.Softmax(x, F.SoftmaxOptions{Dim: tensor.Some(1)}) }, "softmax.int"},
		{"softmin", func() { F.Softmin(x, F.SoftminOptions{Dim: tensor.Some(1)}) }, "neg softmax.int"},
		{"log_softmax", func() { F.LogSoftmax(x, F.LogSoftmaxOptions{Dim: tensor.Some(1)}) }, "log_softmax.int"},
	} {
		opstest.Seen(t, c.name, c.f, c.want)
	}
}
