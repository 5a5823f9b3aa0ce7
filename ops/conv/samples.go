package conv

import (
	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

// The sample calls of the family; internal/samples describes the notation.
func init() {
	samples.Table(
		"conv_tbc F::conv_tbc :: 5x2x3 3x3x4 4 1 ; 4x1x2 2x2x3 3",
		"conv1d F::conv1d :: 2x4x7 3x4x3 3 ; 2x4x7 6x2x3 None [2] [1] [1] 2 ; 4x7 3x4x3",
		"conv2d F::conv2d :: 2x4x5x6 3x4x3x2 3 ; 2x4x5x6 6x2x3x3 None [2,1] [1,1] [1,1] 2 ; 2x4x5x6 4x1x3x3 None "+
			"[1,1] [1,1] [1,1] 4 ; 4x5x6 3x4x1x1 3",
		"conv3d F::conv3d :: 1x2x3x4x5 3x2x2x3x2 3 ; 1x2x3x4x5 2x1x2x2x2 None [1,2,1] [1,1,1] [1,1,1] 2",
		"conv1d.padding F::conv1d.padding :: 2x4x7 3x4x3 3 [1] same",
		"conv2d.padding F::conv2d.padding :: 2x4x5x6 3x4x3x2 3 [1,1] same",
		"conv3d.padding F::conv3d.padding :: 1x2x3x4x5 3x2x3x3x3 3 [1,1,1] same",
		"conv_transpose1d F::conv_transpose1d :: 2x4x5 4x3x3 3 ; 2x4x5 4x3x3 6 [2] [1] [1] 2",
		"conv_transpose2d.input F::conv_transpose2d :: 2x4x3x4 4x3x3x2 3 ; 2x4x3x4 4x3x3x3 6 [2,2] [1,1] [1,1] 2",
		"conv_transpose3d.input F::conv_transpose3d :: 1x2x2x3x4 2x3x2x2x2 3",
		"convolution :: 2x4x5x6 3x4x3x2 3 [1,1] [0,0] [1,1] false [0,0] 1 ; 2x4x3x4 4x3x3x2 3 [2,1] [1,0] [1,1] true "+
			"[0,0] 1",
		"_convolution_mode :: 2x4x5x6 3x4x3x2 3 [1,1] same [1,1] 1 ; 2x4x7 6x2x3 None [2] valid [1] 2",
		"mkldnn_convolution :: 2x4x5x6 3x4x3x2 3 [0,1] [1,1] [1,1] 1 ; 2x4x5 4x2x3 None [1] [2] [1] 2",
		"cudnn_convolution :: 2x4x5x6 3x4x3x2 [0,1] [1,1] [1,1] 1 false false false ; 2x4x5 4x2x3 [1] [2] [1] 2 false "+
			"false false",
		"cudnn_convolution_transpose :: 2x4x3x4 4x3x3x2 [1,0] [0,0] [2,1] [1,1] 1 false false false",
		"miopen_convolution miopen_depthwise_convolution :: 2x4x5x6 4x1x3x2 4 [0,1] [1,1] [1,1] 4 false false",
		"miopen_convolution_transpose :: 2x4x3x4 4x3x3x2 3 [1,0] [0,0] [2,1] [1,1] 1 false false",
		"cudnn_convolution_relu miopen_convolution_relu :: 2x4x5x6 3x4x3x2 3 [1,1] [0,1] [1,1] 1",
		"cudnn_convolution_add_relu miopen_convolution_add_relu :: 2x4x5x6 3x4x3x3 2x3x5x6 0.5 3 [1,1] [1,1] [1,1] 1 ; "+
			"2x4x5x6 3x4x3x3 2x3x5x6 None None [1,1] [1,1] [1,1] 1",
		"cudnn_is_acceptable :: 3",
		"_convolution :: 2x4x5x6 3x4x3x2 3 [1,1] [0,0] [1,1] false [0,0] 1 false false false false",
		"_convolution.deprecated :: 2x4x5x6 3x4x3x2 3 [1,1] [0,0] [1,1] false [0,0] 1 false false false",
		"convolution_backward :: 2x3x3x5 2x4x5x6 3x4x3x2 [3] [1,1] [0,0] [1,1] false [0,0] 1 [true,true,true] | "+
			"nogradgrad",
		"im2col :: 2x3x5x6 [3,2] [1,1] [1,0] [2,1]", "col2im :: 2x12x6 [3,4] [2,2] [1,1] [0,0] [1,1]",
		"F::unfold :: 2x3x5x6 [3,2]", "F::fold :: 2x12x6 [3,4] [2,2]",
	)
	lastSamples("gotorch::conv_tail", "2x4x5x6 3x4x3x2 3 [1,1] [0,0] [1,1] 1 false [2,2]",
		"2x4x5x6 6x2x3x3 None [2,1] [1,1] [1,1] 2 true []",
		"2x4x5x6 3x4x3x3 3 [1,1] [1,1] [1,1] 1 true [2,3] true",
		"2x4x5x6 3x4x3x3 3 [1,1] [1,1] [1,1] 1 true [3,3] false true [2,2] [1,1]")
	lastSamples("gotorch::conv_fused", "2x4x5x6 3x4x3x2 3 None [1,1] [0,0] [1,1] 1 0.0 6.0",
		"2x4x5x6 6x2x3x3 None 2x6x3x6 [2,1] [1,1] [1,1] 2 -1.0 0.5",
		"2x4x5x6 6x2x3x3 None 2x6x3x6 [2,1] [1,1] [1,1] 2 0.0 inf",
		"2x4x5x6 6x2x3x3 6 2x6x3x6 [2,1] [1,1] [1,1] 2 -inf inf silu",
		"2x4x5x6 4x1x3x3 None None [1,1] [1,1] [1,1] 4 -inf inf hardswish")
	lastSamples("gotorch::conv_pool_fused", "2x4x5x6 3x4x3x2 3 [1,1] [0,0] [1,1] 1 0.0 inf [3,2] [2,2] [1,1]",
		"2x4x5x6 3x4x3x2 3 [1,1] [0,0] [1,1] 1 0.0 inf [2,2] [2,2] [0,0] true",
		"2x4x5x6 3x4x3x2 3 [1,1] [1,1] [1,1] 1 0.0 inf [2,2] [2,3] [0,0] false true")
	lastSamples("gotorch::conv_cat",
		"[2x4x5x6,2x4x5x6] [3x4x1x1,2x4x3x3] [3,2] [1,1,1,1] [0,0,1,1] [1,1,1,1] 0.0 inf",
		"[2x4x5x6,2x3x3x3] [3x4x3x3,2x3x1x1] [3,2] [2,2,1,1] [1,1,0,0] [1,1,1,1] -inf inf silu")
	lastSamples("gotorch::conv_depthwise_fused",
		"2x4x5x6 8x4x1x1 8 [1,1] [0,0] [1,1] 0.0 6.0 8x1x3x3 8 [2,2] [1,1] [1,1] 0.0 6.0 None None None -inf inf",
		"2x4x5x6 8x4x1x1 8 [1,1] [0,0] [1,1] 0.0 6.0 8x1x3x3 8 [1,1] [1,1] [1,1] 0.0 6.0 3x8x1x1 3 2x3x5x6 0.0 inf",
		"2x4x5x6 8x4x1x1 8 [1,1] [0,0] [1,1] -inf inf 8x1x3x3 8 [1,1] [1,1] [1,1] -inf inf 3x8x1x1 3 None -inf inf "+
			"silu "+
			"hardswish sigmoid")
	lastSamples("gotorch::squeeze_excite", "2x6x5x4 3x6 3 3x6 6 relu sigmoid",
		"2x6x5x4 3x6 None 3x6 None silu hardsigmoid")
	samples.None("conv_tail's gradients; its own tests compare them with those of the separate operators",
		"gotorch::conv_tail_backward")
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPLower, "aten::cudnn_convolution",
		"aten::cudnn_convolution_transpose")
	for _, d := range []tensor.DeviceType{tensor.CPUDevice, tensor.CUDADevice} {
		tensor.RegisterAMP(d, tensor.AMPLower, "aten::conv_tbc", "aten::conv1d", "aten::conv2d", "aten::conv3d",
			"aten::conv_transpose1d",
			"aten::conv_transpose2d", "aten::conv_transpose3d",
			"aten::convolution", "aten::_convolution")
	}
}

// lastSamples registers samples whose images are in channels-last memory.
func lastSamples(name string, lines ...string) {
	calls := samples.Calls(lines...)
	tensor.RegisterSamples(name, func(s *tensor.Sampler) {
		calls(s)
		for _, call := range s.Calls {
			for i, v := range call.Args {
				if v.K == tensor.KTensor && v.T != nil && v.T.Dim() == 4 {
					call.Args[i] = tensor.TensorValue(tensor.DenseIn(v.T, tensor.ChannelsLast, v.T.DType()))
				}
			}
		}
	})
}

// What autocast does where it is not the AMP field of the Def: PyTorch has lists for each device, and AMPKeep stands
// for "not in the list".
func init() {
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPKeep, "aten::_convolution", "aten::convolution")
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPKeep, "aten::conv1d.padding", "aten::conv2d.padding",
		"aten::conv3d.padding")
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPLower, "aten::_convolution.deprecated")
}
