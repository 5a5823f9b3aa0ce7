package fft

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

const (
	stftTail = "bool normalized=False, bool? onesided=None, bool? return_complex=None, " +
		"bool? align_to_window=None) -> Tensor"
	stftHead = "(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, "
	stftDoc  = "is the short-time Fourier transform of a signal or of a batch of signals: the transforms of frames of " +
		"nFFT numbers, HopLength (nFFT/4) apart, times Window, which has WinLength (nFFT) numbers and lies in the middle " +
		"of the frame. The result has the shape (batch, frequencies, frames): nFFT/2+1 frequencies for real signals, all " +
		"of them unless Onesided. Center pads the signal so that frame t is around number t*HopLength; PadMode is a mode " +
		"of F.Pad. Normalized divides by √nFFT. ReturnComplex must be set for real signals; false gives real and " +
		"imaginary parts in a last dimension.\nhttps://pytorch.org/docs/stable/generated/torch.stft.html"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "stft" + stftHead + stftTail,
		Doc:    stftDoc, Go: "-",
		Body: func(c *Ctx) {
			c.Return(stft(c, stftCall{c: c, self: c.T(0), window: c.T(4), normalized: 5, onesided: 6, complex: 7, align: 8}))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "stft.center" + stftHead + "bool center=True, str pad_mode=\"reflect\", " + stftTail,
		Doc:    stftDoc, Go: "-",
		Body: func(c *Ctx) {
			c.Return(stft(c, stftCall{c: c, self: c.T(0), window: c.T(4), center: c.Bool(5), mode: c.Str(6), normalized: 7,
				onesided: 8, complex: 9, align: 10}))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "torch::stft" + stftHead + "bool center=True, str pad_mode=\"reflect\", " + stftTail,
		Doc:    stftDoc, Go: "STFT", Aliases: []string{"Tensor::stft"},
		Body: func(c *Ctx) {
			x, center := c.T(0), c.Bool(5)
			if center && c.Has(10) {
				c.Fail(tensor.ErrValue, "stft align_to_window should only be set when center = false")
			}
			if center {
				x = centered(x, c.Int(1), c.Str(6))
			}
			c.Return(op.Call1("aten::stft", x, c.Int(1), c.Value(2), c.Value(3), c.T(4), c.Value(7), c.Value(8),
				c.Value(9), c.Value(10)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) -> Tensor",
		Doc: "is the inverse of STFT by least squares: frames are transformed back, multiplied by Window and added, and " +
			"the sum is divided by that of the squares of the windows, which must nowhere be 0. The other arguments are " +
			"those that STFT was called with. Length is the length of the signal, which may end before the last frame.\n" +
			"On the meta device the sum of the windows is not looked at.\n" +
			"https://pytorch.org/docs/stable/generated/torch.istft.html",
		Go:   "ISTFT",
		Body: func(c *Ctx) { c.Return(istft(c)) },
	})
}

// centered pads a signal so that frame t is around number t*HopLength.
func centered(x *T, n int, mode string) *T {
	shape := x.Shape()
	for len(shape) < 3 {
		shape = append([]int{1}, shape...)
	}
	y := op.Call1("aten::pad", x.View(shape), []int{n / 2, n / 2}, mode)
	return y.View(y.Shape()[y.Dim()-x.Dim():])
}

// stftCall is a call of stft: its tensors, and the numbers of arguments whose places differ between the overloads.
type stftCall struct {
	c                                    *Ctx
	self, window                         *T
	center                               bool
	mode                                 string
	normalized, onesided, complex, align int
}

// hop and length of the windows of a call of stft or istft.
func (s *stftCall) lengths() (hop, win int) {
	hop, win = s.c.Int(1)>>2, s.c.Int(1)
	if s.c.Has(2) {
		hop = s.c.Int(2)
	}
	if s.c.Has(3) {
		win = s.c.Int(3)
	}
	return hop, win
}

// fail refuses the arguments after repeating them, as PyTorch does.
func (s *stftCall) fail(format string, args ...any) {
	c := s.c
	hop, win := s.lengths()
	window := "None"
	if s.window != nil {
		window = s.window.Type() + "{" + tensor.ShapeString(s.window.Shape()) + "}"
	}
	name, self, tail := c.Op().Sch.Name, s.self.Type(), ""
	if name == "istft" {
		self = strings.ToUpper(s.self.Device().Type.String()) + s.self.DType().ClassName() + "Type"
		tail = fmt.Sprintf("center=%s, normalized=%s, onesided=%s, length=%s, return_complex=%s", shown(c, 5), shown(c, 6),
			shown(c, 7), shown(c, 8), shown(c, 9))
	} else {
		tail = fmt.Sprintf("normalized=%s, onesided=%s, return_complex=%s, align_to_window=%s", shown(c, s.normalized),
			shown(c, s.onesided), shown(c, s.complex), shown(c, s.align))
	}
	c.Fail(tensor.ErrValue, "%s(%s%s, n_fft=%d, hop_length=%d, win_length=%d, window=%s, %s) %s", name, self,
		tensor.ShapeString(s.self.Shape()), c.Int(1), hop, win, window, tail, fmt.Sprintf(format, args...))
}

// shown is an argument in PyTorch's sentences: bools are numbers.
func shown(c *Ctx, i int) string {
	if !c.Has(i) {
		return "None"
	}
	return strconv.Itoa(int(c.Value(i).N))
}

func stft(c *Ctx, s stftCall) *T {
	n := c.Int(1)
	hop, win := s.lengths()
	x := s.self
	if s.center && c.Has(s.align) {
		c.Fail(tensor.ErrValue, "stft align_to_window should only be set when center = false.")
	}
	toComplex := c.Bool(s.complex)
	if !c.Has(s.complex) {
		if toComplex = x.IsComplex() || s.window != nil && s.window.IsComplex(); !toComplex {
			c.Fail(tensor.ErrValue, "stft requires the return_complex parameter be given for real inputs, and will "+
				"further require that return_complex=True in a future PyTorch release.")
		}
	}
	if x.DType().IsIntOrBool() {
		s.fail(": expected a tensor of floating point or complex values")
	}
	if x.Dim() < 1 || x.Dim() > 2 {
		s.fail(": expected a 1D or 2D tensor")
	}
	if x.Dim() == 1 {
		x = x.Unsqueeze(0)
	}
	if s.center {
		x = centered(x, n, s.mode)
	}
	length := x.Size(1)
	switch {
	case n <= 0 || n > length:
		s.fail(": expected 0 < n_fft < %d, but got n_fft=%d", length, win)
	case hop <= 0:
		s.fail(": expected hop_length > 0, but got hop_length=%d", hop)
	case win <= 0 || win > n:
		s.fail(": expected 0 < win_length <= n_fft, but got win_length=%d", win)
	case s.window != nil && (s.window.Dim() != 1 || s.window.Size(0) != win):
		s.fail(": expected a 1D window tensor of size equal to win_length=%d, but got window with size %s", win,
			tensor.ShapeString(s.window.Shape()))
	}
	window := s.window
	if win < n { // in the middle of the frame
		left := (n - win) / 2
		if window == nil {
			window = op.Full(x, []int{win}, 1, x.DType())
		}
		window = op.Call1("aten::constant_pad_nd", window, []int{left, n - win - left}, 0)
	}
	frames := 1 + (length-n)/hop
	if c.Bool(s.align) && !s.center {
		frames = 1 + (length-win)/hop
		side := (n - win) / 2
		x = op.Call1("aten::pad", x, []int{side, side}, "constant", 0)
	}
	step := x.Stride(1)
	x = op.Call1("aten::as_strided", x, []int{x.Size(0), frames, n}, []int{x.Stride(0), hop * step, step}, nil)
	if window != nil {
		x = x.Mul(window)
	}
	onesided := !x.IsComplex()
	if c.Has(s.onesided) {
		onesided = c.Bool(s.onesided)
	}
	scale := op.Pick(c.Bool(s.normalized), byRootN, byNothing)
	var y *T
	if x.IsComplex() {
		if onesided {
			c.Fail(tensor.ErrValue, "Cannot have onesided output if window or input is complex")
		}
		y = op.Call1("aten::_fft_c2c", x, []int{2}, scale, true)
	} else {
		y = op.Call1("aten::_fft_r2c", x, []int{2}, scale, onesided)
	}
	y = op.Call1("aten::transpose_", y, 1, 2)
	if s.self.Dim() == 1 {
		y = op.Call1("aten::squeeze_.dim", y, 0)
	}
	if toComplex {
		return y
	}
	return op.Call1("aten::view_as_real", y)
}

func istft(c *Ctx) *T {
	s := stftCall{c: c, self: c.T(0), window: c.T(4)}
	n := c.Int(1)
	hop, win := s.lengths()
	x := s.self
	if !x.IsComplex() {
		c.Fail(tensor.ErrDType, "istft requires a complex-valued input tensor matching the output from stft with "+
			"return_complex=True.")
	}
	if x.Dim() < 2 { // the frequencies would be the third dimension from the end of the real tensor
		op.Wrap(c, -3, x.Dim()+1)
	}
	bins := x.Size(-2)
	onesided := bins != n
	if c.Has(7) {
		onesided = c.Bool(7)
	}
	switch {
	case x.Numel() == 0:
		s.fail(": input tensor cannot be empty.")
	case x.Dim() > 3:
		s.fail(": expected a tensor with 3 or 4 dimensions, but got %d", x.Dim()+1)
	case onesided && n/2+1 != bins:
		s.fail(": expected the frequency dimension (3rd to the last) of the input tensor to match n_fft / 2 + 1 when "+
			"onesided=True, but got %d", bins)
	case !onesided && n != bins:
		s.fail(": expected the frequency dimension (3rd to the last) of the input tensor to match n_fft when "+
			"onesided=False, but got %d", bins)
	case hop <= 0 || hop > win:
		s.fail(": expected 0 < hop_length <= win_length")
	case win <= 0 || win > n:
		s.fail(": expected 0 < win_length <= n_fft")
	case s.window != nil && (s.window.Dim() != 1 || s.window.Size(0) != win):
		s.fail(": Invalid window shape. window has to be 1D and length of `win_length`")
	}
	if x.Dim() == 2 {
		x = x.Unsqueeze(0)
	}
	window := s.window
	if window == nil {
		window = op.Full(x, []int{win}, 1, x.DType().Real())
	}
	if win != n {
		left := (n - win) / 2
		window = op.Call1("aten::constant_pad_nd", window, []int{left, n - win - left}, 0)
	}
	frames := x.Size(-1)
	x = x.Transpose(1, 2)
	scale := op.Pick(c.Bool(6), byRootN, byN)
	if c.Bool(9) {
		if onesided {
			c.Fail(tensor.ErrValue, "Cannot have onesided output if window or input is complex")
		}
		x = op.Call1("aten::_fft_c2c", x, []int{2}, scale, false)
	} else {
		if s.window != nil && s.window.IsComplex() {
			c.Fail(tensor.ErrDType, "Complex windows are incompatible with return_complex=False")
		}
		if !onesided {
			x = op.Call1("aten::slice.Tensor", x, -1, 0, n/2+1)
		}
		x = op.Call1("aten::_fft_c2r", x, []int{2}, scale, n)
	}
	all := n + hop*(frames-1)
	overlapped := func(frames *T) *T {
		return op.Call1("aten::unfold_backward", frames, []int{frames.Size(0), all}, 1, n, hop)
	}
	y := overlapped(x.Mul(window.View([]int{1, 1, n})))
	weight := overlapped(window.PowScalar(2).Expand([]int{1, frames, n}))
	start, end := 0, all
	if c.Bool(5) {
		start, end = n/2, all-n/2
	}
	if c.Has(8) {
		end = start + c.Int(8)
	}
	y = op.Call1("aten::slice.Tensor", y, 1, start, end)
	weight = op.Call1("aten::slice.Tensor", weight, 1, start, end)
	if least := weight.Abs().Min(); x.Device().Type != tensor.MetaDevice && !(least.Item() >= 1e-11) {
		s.fail("window overlap add min: 1") // PyTorch prints the truth of the comparison
	}
	y = y.Div(weight)
	if s.self.Dim() == 2 {
		y = y.SqueezeDim(0)
	}
	if end > all {
		y = op.Call1("aten::constant_pad_nd", y, []int{0, end - all}, 0)
	}
	return y
}
