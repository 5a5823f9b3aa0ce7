package fft_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/fft"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

type T = tensor.Tensor

func close(t *testing.T, what string, got, want *T) {
	t.Helper()
	tol := 1e-11
	if got.DType().Real() == torch.Float32 {
		tol = 1e-4
	}
	if !got.AllClose(want, tensor.AllCloseOptions{Rtol: tensor.Some(tol), Atol: tensor.Some(tol)}) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// matrix is the matrix of the transform of n numbers.
func matrix(n int) *T {
	m := make([]complex128, n*n)
	for i := range m {
		s, c := math.Sincos(-2 * math.Pi * float64(i/n*(i%n)%n) / float64(n))
		m[i] = complex(c, s)
	}
	return tensor.FromSlice(m, n, n)
}

// Transforms are products with the matrix, along any dimension, in every norm.
func TestTransformsAreProducts(t *testing.T) {
	torch.ManualSeed(0)
	for _, n := range []int{1, 2, 5, 12, 17, 37, 64, 100, 101} {
		x := torch.Randn([]int{3, n, 4}, torch.RandnOptions{DType: torch.Float64})
		z := torch.Complex(x, x.Flip([]int{0}))
		want := z.Transpose(1, 2).MatMul(matrix(n)).Transpose(1, 2)
		for norm, factor := range map[string]float64{"": 1, "backward": 1, "ortho": 1 / math.Sqrt(float64(n)),
			"forward": 1 / float64(n)} {
			dim := torch.Some(1)
			scaled := want.MulScalar(factor)
			y := fft.FFT(z, fft.FFTOptions{Dim: dim, Norm: norm})
			close(t, "FFT "+norm, y, scaled)
			close(t, "IFFT "+norm, fft.IFFT(y, fft.IFFTOptions{Dim: dim, Norm: norm}), z)
			all := fft.FFT(x, fft.FFTOptions{Dim: dim, Norm: norm})
			half := fft.RFFT(x, fft.RFFTOptions{Dim: dim, Norm: norm})
			close(t, "RFFT "+norm, half, all.Narrow(1, 0, n/2+1))
			close(t, "FFT of real numbers "+norm, all, fft.FFT(torch.Complex(x, x.ZerosLike()),
				fft.FFTOptions{Dim: dim, Norm: norm}))
			close(t, "IRFFT "+norm, fft.IRFFT(half, fft.IRFFTOptions{N: torch.Some(n), Dim: dim, Norm: norm}), x)
			back := fft.IHFFT(x, fft.IHFFTOptions{Dim: dim, Norm: norm})
			close(t, "HFFT "+norm, fft.HFFT(back, fft.HFFTOptions{N: torch.Some(n), Dim: dim, Norm: norm}), x)
		}
	}
}

// Transforms along several dimensions are those along one after the other.
func TestDimensionsOneByOne(t *testing.T) {
	torch.ManualSeed(1)
	x := torch.Randn([]int{4, 5, 6}, torch.RandnOptions{DType: torch.Float64})
	for _, dims := range [][]int{{0}, {1, 2}, {2, 0}, {0, 2, 1}} {
		y, z := torch.Complex(x, x.ZerosLike()), torch.Complex(x, x.ZerosLike())
		for _, d := range dims {
			y = fft.FFT(y, fft.FFTOptions{Dim: torch.Some(d)})
			z = fft.IFFT(z, fft.IFFTOptions{Dim: torch.Some(d)})
		}
		last := dims[len(dims)-1]
		n := x.Size(last)
		sizes := make([]int, len(dims))
		for i, d := range dims {
			sizes[i] = x.Size(d)
		}
		half := func(t *T) *T { return t.Narrow(last, 0, n/2+1) }
		close(t, "FFTN", fft.FFTN(x, fft.FFTNOptions{Dim: dims}), y)
		close(t, "IFFTN", fft.IFFTN(x, fft.IFFTNOptions{Dim: dims}), z)
		r := fft.RFFTN(x, fft.RFFTNOptions{Dim: dims})
		close(t, "RFFTN", r, half(y))
		close(t, "IRFFTN", fft.IRFFTN(r, fft.IRFFTNOptions{S: sizes, Dim: dims}), x)
		h := fft.IHFFTN(x, fft.IHFFTNOptions{Dim: dims})
		close(t, "IHFFTN", h, half(z))
		close(t, "HFFTN", fft.HFFTN(h, fft.HFFTNOptions{S: sizes, Dim: dims}), x)
	}
}

// Bad arguments are refused in PyTorch's words.
func TestRefusals(t *testing.T) {
	x := torch.Ones([]int{3, 4})
	z := x.CFloat()
	cases := []struct {
		want string
		f    func()
	}{
		{"Invalid number of data points (0) specified", func() { fft.FFT(x, fft.FFTOptions{N: torch.Some(0)}) }},
		{"Invalid number of data points (0) specified", func() { fft.IRFFT(torch.Ones([]int{1})) }},
		{"Invalid number of data points (-3) specified", func() { fft.FFTN(x, fft.FFTNOptions{S: []int{2, -3}}) }},
		{"Dimension out of range", func() { fft.FFT(x, fft.FFTOptions{Dim: torch.Some(2)}) }},
		{"Dimension specified as -1 but tensor has no dimensions", func() { fft.FFT(torch.ScalarTensor(1)) }},
		{"FFT dims must be unique", func() { fft.FFTN(x, fft.FFTNOptions{Dim: []int{0, -2}}) }},
		{"When given, dim and shape arguments must have the same length",
			func() { fft.FFTN(x, fft.FFTNOptions{S: []int{2}, Dim: []int{0, 1}}) }},
		{"Got shape with 3 values but input tensor only has 2 dimensions.",
			func() { fft.FFTN(x, fft.FFTNOptions{S: []int{1, 2, 3}}) }},
		{"rfft expects a real input tensor, but got ComplexFloat", func() { fft.RFFT(z) }},
		{"rfftn must transform at least one axis", func() { fft.RFFTN(x, fft.RFFTNOptions{Dim: []int{}}) }},
		{"Unsupported dtype Half", func() { fft.FFT(x.Half()) }},
		{"Invalid normalization mode: \"a\"", func() { fft.FFT(x, fft.FFTOptions{Norm: "a"}) }},
		{"fft expects a complex output tensor, but got Float", func() { fft.FFT(x, fft.FFTOptions{Out: x.Clone()}) }},
		{"irfft expects a floating point output tensor, but got ComplexFloat",
			func() { fft.IRFFT(z, fft.IRFFTOptions{Out: z.Clone()}) }},
		{"fftfreq requires a floating point or complex dtype",
			func() { fft.FFTFreq(4, fft.FFTFreqOptions{DType: torch.Int64}) }},
		{"negative dimension -4", func() { fft.FFTFreq(-4) }},
		{"Only supports complex dtypes, but found: Float", func() { op.Call1("aten::_fft_c2c", x, []int{0}, 0, true) }},
		{"Only supports floating-point dtypes, but found: ComplexFloat",
			func() { op.Call1("aten::_fft_r2c", z, []int{0}, 0, true) }},
		{"to transform to last_dim_size=20", func() { op.Call1("aten::_fft_c2r", z, []int{1}, 0, 20) }},
		{"requires the return_complex parameter", func() { torch.STFT(torch.Ones([]int{40}), 16) }},
		{"expected hop_length > 0, but got hop_length=0", func() {
			torch.STFT(torch.Ones([]int{40}), 16, torch.STFTOptions{HopLength: torch.Some(0), ReturnComplex: torch.Some(true)})
		}},
		{"window overlap add min", func() {
			y := torch.STFT(torch.Ones([]int{40}), 16, torch.STFTOptions{ReturnComplex: torch.Some(true)})
			torch.ISTFT(y, 16, torch.ISTFTOptions{Window: torch.HannWindow(16), NoCenter: true})
		}},
		{"hann_window requires non-negative window_length, got window_length=-1", func() { torch.HannWindow(-1) }},
	}
	for _, c := range cases {
		err := torch.Try(c.f)
		var e *tensor.Error
		if !errors.As(err, &e) || !strings.Contains(e.Msg, c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// The nodes of the tape have PyTorch's names.
func TestNodeNames(t *testing.T) {
	x := torch.Ones([]int{3, 4}).SetRequiresGrad(true)
	for want, y := range map[string]*T{"FftR2CBackward0": fft.RFFT(x), "FftC2RBackward0": fft.IRFFT(fft.RFFT(x)),
		"FftC2CBackward0": fft.FFT(fft.RFFT(x)), "RollBackward0": fft.FFTShift(x)} {
		if got := y.GradFn().Name(); got != want {
			t.Errorf("got node %s, want %s", got, want)
		}
	}
}

// Windows agree with their formulas in float64.
func TestWindows(t *testing.T) {
	const n = 9
	at := func(f func(x float64) float64) *T {
		w := make([]float64, n)
		for i := range w {
			w[i] = f(float64(i) / n)
		}
		return tensor.FromSlice(w)
	}
	turn := func(k, x float64) float64 { return math.Cos(2 * math.Pi * k * x) }
	f64 := torch.Float64
	for name, c := range map[string]struct{ got, want *T }{
		"Hann": {torch.HannWindow(n, torch.HannWindowOptions{DType: f64}),
			at(func(x float64) float64 { return 0.5 - 0.5*turn(1, x) })},
		"Hamming": {torch.HammingWindow(n, torch.HammingWindowOptions{DType: f64}),
			at(func(x float64) float64 { return 0.54 - 0.46*turn(1, x) })},
		"Blackman": {torch.BlackmanWindow(n, torch.BlackmanWindowOptions{DType: f64}),
			at(func(x float64) float64 { return 0.42 - 0.5*turn(1, x) + 0.08*turn(2, x) })},
		"Bartlett": {torch.BartlettWindow(n, torch.BartlettWindowOptions{DType: f64}),
			at(func(x float64) float64 { return 1 - math.Abs(2*x-1) })},
	} {
		close(t, name, c.got, c.want)
	}
}
