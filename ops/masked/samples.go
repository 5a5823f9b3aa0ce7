package masked

import "github.com/gotorch-dev/torch/internal/samples"

// The sample calls of the family; internal/samples describes the notation.
func init() {
	samples.Table(
		"masked::sum masked::prod masked::mean :: 3x4 ; 2x3x4 [0,2] mask={t,f,t,t} ; 3x4 [1] keepdim=true mask=3x4:b "+
			"| nograd",
		"masked::amax masked::amin masked::logsumexp :: 3x4 ; 2x3x4 [0,2] ; 3x4 [1] keepdim=true mask=3x4:b | nograd",
		"masked::argmax masked::argmin :: 3x4 ; 3x4 1 mask=3x4:b | nograd",
		"masked::cumsum masked::cumprod masked::softmax masked::softmin :: 3x4 0 ; 2x3x4 -1 mask=4:b",
		"masked::log_softmax :: 3x4 0 ; 2x3x4 -1",
		"masked::median :: 3x5 ; 3x5 0",
		"masked::logaddexp :: 3x4 3x4 ; 3x4 4 other_mask=4:b | nograd",
		"masked::norm :: 3x4 ; 3x4 3 [1] mask=3x1:b | nograd ; 2x3x4 1 [0,2] keepdim=true",
		"masked::normalize :: 3x4 2 1 ; 3x4 1 0 mask=4:b | nograd",
		"masked::var :: 3x4 ; 2x3x4 [0,2] false ; 3x4 [1] correction=0 keepdim=true",
		"masked::std :: 3x4 ; 2x3x4 [0,2] false ; 3x4 [1] correction=0 keepdim=true",
	)
}
