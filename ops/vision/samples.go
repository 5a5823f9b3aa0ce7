package vision

import "github.com/gotorch-dev/torch/internal/samples"

// The sample calls of the family; internal/samples describes the notation.
func init() {
	const rois = "{0,0.5,0.5,4.5,3.5;1,1.5,0.2,6.3,5.1;0,-2,-1,9,9}"
	// The last row and column of the image are left out: there PyTorch's gradient of ps_roi_pool, which is the one
	// here, is not the derivative of its forward pass (see span).
	const inner = "{0,0.5,0.5,4.5,3.5;1,1.5,0.2,4.3,3.1;0,-2,-1,3,4}"
	samples.Table(
		"torchvision::nms :: {0,0,2,2;0.5,0,2.5,2;3,3,4,4} {0.5,0.9,0.1} 0.5 ; {0,0,2,2;1.5,0,3.5,2} {0.5,0.9} 0.2",
		"torchvision::roi_align :: 2x3x5x6 "+rois+" 0.5 2 3 2 true | nogradgrad const=1 nolayout ; 2x3x5x6 "+rois+
			" 1.0 3 2 -1 false | nogradgrad const=1 nolayout",
		"torchvision::roi_pool :: 2x3x5x6 "+rois+" 0.5 2 3 | nogradgrad const=1 nolayout",
		"torchvision::ps_roi_align :: 2x6x5x6 "+rois+" 0.5 2 3 2 | nogradgrad const=1 nolayout",
		"torchvision::ps_roi_pool :: 2x6x5x6 "+inner+" 1.0 2 3 | nogradgrad const=1 nolayout",
		"torchvision::_roi_align_backward :: 3x3x2x3 "+rois+" 0.5 2 3 2 3 5 6 2 true | nograd nolayout",
		"torchvision::_ps_roi_align_backward :: 3x1x2x3 "+rois+" 3x1x2x3:i6 0.5 2 3 2 2 6 5 6 | nograd nolayout",
		"torchvision::_ps_roi_pool_backward :: 3x1x2x3 "+rois+" 3x1x2x3:i6 1.0 2 3 2 6 5 6 | nograd nolayout",
		"torchvision::deform_conv2d :: 1x4x5x4 4x2x3x3 1x36x3x2 1x18x3x2 4 1 1 0 0 1 1 2 2 true | nogradgrad ; "+
			"1x4x5x4 4x4x2x2 1x8x3x2 1x4x3x2 4 2 2 1 0 1 1 1 1 false | nogradgrad",
		"gotorch::deform_columns :: 1x4x5x4 1x36x3x2 1x18x3x2 3 3 1 1 0 0 1 1 2 | nogradgrad ; "+
			"1x4x5x4 1x8x3x2 None 2 2 2 2 1 0 1 1 1 | nogradgrad",
		"gotorch::deform_columns_backward :: 1x36x6 1x4x5x4 1x36x3x2 1x18x3x2 3 3 1 1 0 0 1 1 2 | nograd",
	)
	samples.None("its argmax is int32, which samples have no notation for; roi_pool's gradient runs it",
		"torchvision::_roi_pool_backward")
}
