package scan

import (
	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

// The sample calls of the family; internal/samples describes the notation.
func init() {
	samples.Table(
		"cumsum cumprod logcumsumexp cummax cummin :: 3x4 0 ; 2x3x5 1 ; 7 0 ; s 0",
		"trapezoid.dx trapz.dx cumulative_trapezoid.dx :: 3x4 ; 3x4 dx=0.5 dim=0",
		"gradient.scalarint :: 5x4 ; 5x4 spacing=0.5 dim=0 ; 5x4 dim=1 edge_order=2",
		"gradient.scalararray :: 5x4 spacing=0.5 dim=[1] ; 5x4 spacing=2 dim=[1,0] edge_order=2",
		"gradient.array :: 5x4 dim=[0] ; 5x4 dim=[1,0] edge_order=2",
		"gradient.scalarrayint :: 5x4 spacing=[0.5,2.5] ; 5x4 spacing=[2] dim=1",
		"gradient.scalarrayarray :: 5x4 spacing=[0.5,2.5] dim=[1,0]",
		"gradient.tensorarrayint :: 4 spacing=[4@0.1..9] ; 5x4 spacing=[4@0.1..9] dim=1 edge_order=2",
		"gradient.tensorarray :: 5x4 spacing=[4@0.1..9,5@0.1..9] dim=[1,0]",
		"vander :: 3 ; 4 6 true ; 3 1",
		"trapezoid.x trapz.x cumulative_trapezoid.x :: 3x4 4 ; 3x4 3x4",
		"diff :: 3x4 ; 3x4 2 0 ; 3x4 1 1 3x1 3x2",
	)
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPFP32, "aten::cumsum", "aten::cumprod")
}

// What autocast does where it is not the AMP field of the Def: PyTorch has lists for each device, and AMPKeep stands
// for "not in the list".
func init() {
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPFP32OptDType, "aten::cumprod", "aten::cumsum")
}
