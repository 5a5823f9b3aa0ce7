package fft_test

import (
	"fmt"
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/fft"
	"github.com/gotorch-dev/torch/signal/windows"
)

// The frequency of a tone: the largest number of the spectrum, and the frequency that it stands for.
func Example() {
	const rate, n = 1000, 200 // samples per second, samples
	x := torch.Arange(n).MulScalar(2 * math.Pi * 50 / rate).Sin()
	spectrum := fft.RFFT(x.Mul(windows.Hann(n)))
	frequencies := fft.RFFTFreq(n, fft.RFFTFreqOptions{D: torch.Some(1.0 / rate)})
	peak := int(spectrum.Abs().ArgMax().Item())
	fmt.Printf("%d numbers, the largest at %.0f Hz\n", spectrum.Size(0), frequencies.Select(0, peak).Item())
	// Output: 101 numbers, the largest at 50 Hz
}

// A convolution is a product of transforms: of lengths that have room for the whole result.
func ExampleRFFT() {
	a, b := torch.FromSlice([]float32{1, 2, 3}), torch.FromSlice([]float32{1, 1, 1, 1})
	n := a.Size(0) + b.Size(0) - 1
	to := fft.RFFTOptions{N: torch.Some(n)}
	c := fft.IRFFT(fft.RFFT(a, to).Mul(fft.RFFT(b, to)), fft.IRFFTOptions{N: torch.Some(n)})
	for i := range n {
		fmt.Printf("%.0f ", c.Select(0, i).Item())
	}
	// Output: 1 3 6 6 5 3
}

// A signal comes back from its short-time transform.
func Example_shortTime() {
	x := torch.Arange(400).MulScalar(0.1).Sin()
	window := torch.HannWindow(64)
	spectrogram := torch.STFT(x, 64, torch.STFTOptions{Window: window, ReturnComplex: torch.Some(true)})
	y := torch.ISTFT(spectrogram, 64, torch.ISTFTOptions{Window: window, Length: torch.Some(400)})
	fmt.Println(spectrogram.Shape(), y.AllClose(x, torch.AllCloseOptions{Atol: torch.Some(1e-5)}))
	// Output: [33 26] true
}
