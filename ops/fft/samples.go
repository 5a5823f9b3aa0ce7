package fft

import (
	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

// The sample calls of the family; internal/samples describes the notation.
func init() {
	samples.Table(
		"_fft_c2c :: 3x4:c [1] 0 true ; 3x4:c [0,1] 1 false ; 2x3x5:c [2,0] 2 true ; 4:c [] 0 true",
		"_fft_r2c :: 3x4 [1] 0 true ; 3x5 [0,1] 1 true ; 2x3x5 [1] 2 false ; 3x4 [1,0] 0 false",
		"_fft_c2r :: 3x4:c [1] 0 6 ; 3x4:c [0,1] 1 7 ; 3x3x2:c [2,0] 2 4",
		"fft_fft fft_ifft :: 3x4 ; 3x4:c 5 0 ortho ; 5x7 3 1 forward ; 3x4:i9 | nograd",
		"fft_rfft fft_ihfft :: 3x4 ; 3x4 5 0 ortho ; 2x7 4 1 forward ; 3x4:b | nograd",
		"fft_irfft fft_hfft :: 3x4:c ; 3x4 5 0 ortho ; 2x7:c 4 1 forward ; 3x4:i9 | nograd",
		"fft_fftn fft_ifftn :: 3x4 ; 2x3x4:c [5,2] None ortho ; 2x3x4:c None [2,0] forward ; 3x4 [2,-1] [1,0]",
		"fft_rfftn fft_ihfftn :: 3x4 ; 2x3x4 [5,2] None ortho ; 2x3x4 None [2,0] forward ; 3x4 [2,-1] [1,0]",
		"fft_irfftn fft_hfftn :: 3x4:c ; 2x3x4:c [5,2] None ortho ; 2x3x4 None [2,0] forward ; 3x4:c [-1,3] [1,0]",
		"fft_fft2 fft_ifft2 :: 3x4 ; 2x3x4:c [5,2] [0,1] ortho", "fft_rfft2 fft_ihfft2 :: 3x4 ; 2x3x4 [5,2] [0,1] ortho",
		"fft_irfft2 fft_hfft2 :: 3x4:c ; 2x3x4:c [5,2] [0,1] ortho",
		"fft_fftfreq fft_rfftfreq :: 5 ; 4 0.5 dtype=f64 ; 1",
		"fft_fftshift fft_ifftshift :: 5x4 ; 2x3x4 [1,-1]",
		"stft :: 40 16 return_complex=true ; 2x40 16 5 12 12@0.1..2 return_complex=true ; 40:c 8 return_complex=true ; "+
			"2x30 10 None 6 6 false None false true ; 40 8 None None 8:c",
		"stft.center :: 40 16 return_complex=true ; 2x40 16 5 12 12@0.1..2 false return_complex=true ; 2x40 16 4 16 16 "+
			"true constant true true false",
		"torch::stft :: 40 16 return_complex=true ; 2x40 16 5 12 12@0.1..2 true reflect true false false",
		"istft :: 9x6:c 16 | const=1 ; 2x9x6:c 16 4 12 12@0.5..2 length=24 | const=4 ; 8x5:c 8 2 8 8@0.5..2 false false "+
			"return_complex=true | const=4",
		"hann_window hamming_window blackman_window bartlett_window kaiser_window :: 5 ; 6 dtype=f64 ; 1 ; 0",
		"hann_window.periodic hamming_window.periodic blackman_window.periodic bartlett_window.periodic "+
			"kaiser_window.periodic :: 5 true ; 6 false dtype=f64",
		"hamming_window.periodic_alpha :: 5 true 0.6 ; 6 false 0.4", "kaiser_window.beta :: 5 true 8 ; 6 false 14.5",
		"hamming_window.periodic_alpha_beta :: 5 true 0.6 0.3",
		"signal::exponential :: 5 ; 6 tau=2.5 sym=false ; 6 center=2.5 sym=false dtype=f64",
		"signal::cosine signal::bartlett signal::hamming signal::hann signal::blackman signal::nuttall :: 5 ; 6 sym=false ; "+
			"1 ; 0",
		"signal::gaussian :: 5 ; 6 std=2.5 sym=false", "signal::kaiser :: 5 ; 6 beta=3 sym=false",
		"signal::general_cosine :: 5 a=[0.46,0.23,0.31] ; 6 a=[0.5,0.5] sym=false", "signal::general_hamming :: 5 ; 6 "+
			"alpha=0.3 sym=false",
	)
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPFP32, "aten::fft_fft", "aten::fft_fft2", "aten::fft_fftn",
		"aten::fft_hfft", "aten::fft_ifft", "aten::fft_ifft2", "aten::fft_ifftn", "aten::fft_ihfft", "aten::fft_irfft",
		"aten::fft_irfft2", "aten::fft_irfftn", "aten::fft_rfft", "aten::fft_rfft2", "aten::fft_rfftn", "aten::stft",
		"aten::stft.center")
}
