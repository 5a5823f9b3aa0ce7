package conv

import (
	"fmt"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

// Tail is what is computed from the result of a convolution of one group together with it, block by block: a
// maximum pooling and a ReLU, forward and backward. The image between convolution and pooling, the largest of
// many networks, is never written as a whole. Images with a tail are channels last.
type Tail[T Float] struct {
	// Window is the window of a maximum pooling whose windows lie side by side: the window's
	// size is the stride, too, and there is neither padding nor dilation. Positions that no
	// window covers are left out. The first size is 1. The zero value means no pooling.
	Window [3]int
	ReLU   bool // a ReLU is applied to the pooling's results

	// Codes has, for each result of the pooling, the number of the window's element that is
	// the maximum, in the layout of the results. Forward sets the codes, unless nil; the
	// gradients read them. Where the ReLU makes 0, the code is [NoTap].
	Codes []uint8

	// Result is the result of a ReLU without pooling, for the gradient of the weights: the
	// gradient counts at positions where Result is not zero. It cannot be combined with a
	// pooling.
	Result []T
}

// NoTap is the code where a ReLU behind the pooling hands no gradient on.
const NoTap = 255

func (t *Tail[T]) pools() bool { return t != nil && t.Window[2] > 0 }

// size is the number of positions of a window.
func (t *Tail[T]) size() int {
	if t.pools() {
		return volume(t.Window)
	}
	return 1
}

// covered is the convolution without the output positions that no window covers. It panics if the tail's
// conditions are not met.
func (t *Tail[T]) covered(s *Shape, image Image[T]) *Shape {
	if t == nil {
		return s
	}
	if s.Groups != 1 || !image.Last || t.pools() && (t.Window[0] != 1 || t.Result != nil) {
		panic(fmt.Sprintf("conv: a tail with windows of %v behind %d groups, channels last %v: expected one group, "+
			"channels last and flat windows", t.Window, s.Groups, image.Last))
	}
	if !t.pools() {
		return s
	}
	c := *s
	for i, w := range t.Window {
		c.Out[i] -= c.Out[i] % w
	}
	return &c
}

// windowsOf are the kernels of pooling windows for the element type.
func windowsOf[T Float]() *vec.Windows[T, T] {
	if w, ok := any(&vec.WindowsF32).(*vec.Windows[T, T]); ok {
		return w
	}
	return any(&vec.WindowsF64).(*vec.Windows[T, T])
}

// pool stores the maxima of the windows of a task's buffer. With a ReLU, a line of zeros is the first tap of
// each window: it wins unless another tap is positive.
func (j *job[T]) pool(b *block, t *resultBuffer, s *scratch) {
	h, w := j.outTail.Window[1], j.outTail.Window[2]
	lines, count := t.slice/t.line, t.line/t.pix
	taps := make([]vec.Tap, 0, h*w+1)
	if j.outTail.ReLU {
		taps = append(taps, vec.Tap{Code: NoTap})
	}
	for y := range h {
		for x := range w {
			taps = append(taps, vec.Tap{Off: y*t.line + x*t.pix, Code: y*w + x})
		}
	}
	windows := windowsOf[T]()
	var line []T
	if j.bf16Out != nil {
		line = make([]T, count/w*j.co)
	}
	var z T
	buf := unsafe.Slice((*T)(t.p), s.outBytes/int(unsafe.Sizeof(z)))
	for n := b.n0; n < b.n1; n++ {
		for y := 0; y < lines; y += h {
			if j.outTail.ReLU {
				taps[0].Off = len(buf) - j.reluZeros() - ((n-b.n0)*t.img + y*t.line)
			}
			at := (((n*j.outD[0]+t.at[0])*(j.outD[1]/h)+(t.at[1]+y)/h)*(j.outD[2]/w)+t.at[2]/w)*j.co + b.c0
			src := buf[(n-b.n0)*t.img+y*t.line:]
			var dst []T
			if j.bf16Out != nil {
				dst = line
				roundBF16(any(src[:(h-1)*t.line+count*t.pix]).([]float32))
			} else {
				dst = j.out.Data[at:]
			}
			if codes := j.outTail.Codes; codes != nil {
				windows.MaxAt(dst, codes[at:], j.co, src, w*t.pix, count/w, b.c1-b.c0, taps)
			} else {
				windows.Max(dst, j.co, src, w*t.pix, count/w, b.c1-b.c0, taps)
			}
			if j.bf16Out != nil {
				j.bf16Out.roundRows(at, any(dst).([]float32), j.co, count/w, b.c1-b.c0)
			}
		}
	}
}

// reluZeros is the number of zeros at the end of the buffer that the ReLU compares with.
func (j *job[T]) reluZeros() int {
	if j.outTail.pools() && j.outTail.ReLU {
		return j.xb * j.outPitch()
	}
	return 0
}

// unpool computes the gradient of a pooling. It sets count positions of dst, pix apart, for kc channels from
// channel c on, at the positions from pos on, step apart along a line, of image n. size is the size of the
// pooling's input.
func (t *Tail[T]) unpool(dst []T, pix int, grad []T, size [3]int, channels, n, c, pos, step, kc, count int) {
	h, w := t.Window[1], t.Window[2]
	z, y, x := pos/size[2]/size[1], pos/size[2]%size[1], pos%size[2]
	line := ((n*size[0]+z)*(size[1]/h) + y/h) * (size[2] / w)
	windows := windowsOf[T]()
	var tap [1]vec.Tap
	for i := range min(w, count) {
		at := x + i*step
		tap[0].Code = y%h*w + at%w
		from := (line+at/w)*channels + c
		windows.MaxGrad(dst[i*pix:], w*pix, grad[from:], t.Codes[from:], step*channels, ceilDiv(count-i, w), kc, tap[:])
	}
}

// maskByResult sets dst to grad where the result is not zero.
func maskByResult[T Float](dst, grad, result []T) {
	switch dst := any(dst).(type) {
	case []float32:
		vec.ThresholdBackwardF32(dst, any(grad).([]float32), any(result).([]float32), 0)
	case []float64:
		vec.ThresholdBackwardF64(dst, any(grad).([]float64), any(result).([]float64), 0)
	}
}
