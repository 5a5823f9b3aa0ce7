package sort

import "github.com/gotorch-dev/torch/internal/samples"

// The sample calls of the family; internal/samples describes the notation.
func init() {
	samples.Table(
		"sort argsort :: 3x4 ; 2x3x5 1 true ; s",
		"sort.stable argsort.stable :: 3x4 stable=true ; {1,0,1;0,0,1} stable=true dim=1 descending=true",
		"msort :: 3x4 ; 7",
		"topk :: 3x4 2 ; 2x3x5 2 1 false ; 7 7",
		"kthvalue :: 3x4 2 ; 2x3x5 2 1 true",
		"searchsorted.Tensor :: {0.5,1.5,2.5} 3x4 ; {0.5,1.5;1,2} 2x3 right=true ; {0.5,1.5} 5 out_int32=true",
		"searchsorted.Scalar :: {0.5,1.5,2.5} 1.2",
		"bucketize.Tensor :: 3x4 {-0.5,0.5,1.5} ; 3x4 {-0.5,0.5} right=true",
		"bucketize.Scalar :: 1.2 {0.5,1.5,2.5}",
	)
}
