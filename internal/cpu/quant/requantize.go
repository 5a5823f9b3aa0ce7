package quant

import (
	"math"
	"unsafe"
)

// Engine is a rule for rounding: in which order a library applies scales, bias and zero point.
type Engine uint8

// The engines of PyTorch, in the order of at::QEngine. X86 is OneDNN or FBGEMM, by the layer.
const (
	NoEngine Engine = iota
	FBGEMM
	QNNPACK
	OneDNN
	X86
)

var engineNames = [...]string{"none", "fbgemm", "qnnpack", "onednn", "x86"}

// String is PyTorch's name.
func (e Engine) String() string { return engineNames[e] }

// ParseEngine finds an engine by PyTorch's name.
func ParseEngine(name string) (Engine, bool) {
	for i, n := range engineNames {
		if n == name {
			return Engine(i), true
		}
	}
	return 0, false
}

// Input is the left factor of a product: bytes, unsigned ones or signed ones, with their scale and zero point.
type Input struct {
	data   []uint8
	signed bool
	Scale  float32
	Zero   int
}

// InputOf is a slice of bytes as a factor.
func InputOf[A uint8 | int8](s []A, scale float32, zero int) Input {
	var z A
	return Input{unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(s))), len(s)), z-1 < 0, scale, zero}
}

// Result is where the result of a product goes, and how it is made of the sums of products, whose zero points are
// accounted for. With Floats the result is the numbers that the sums stand for, with bias; with Ints it is the sums.
// Otherwise these numbers are quantized by the rule of an engine.
type Result struct {
	// One of these is set.
	Bytes  []uint8
	Int8s  []int8
	Floats []float32
	Ints   []int32

	ReLU   bool // not with Ints
	Engine Engine
	Scale  float32
	Zero   int
}

// finishing is what a Result and a factor's scale come to, for one matrix of weights.
type finishing struct {
	kind      int
	inScale   float32
	inZero    int
	scale     float32
	at        int // zero point
	relu      bool
	engine    Engine
	signed    bool
	mul, plus []float32
	base      []int32
	factor    float32
	inv, zero float32
	hi        float32
	lo, zeroI int32
	floor     float32
	// Where dot or depth3 makes the result: what the sums begin with, factors and terms, those of depth3 in its order
	// of channels.
	init            []int32
	ownMul, ownPlus []float32
	ownLo           int32
}

// memory is where the result goes, its length and the size of its elements.
func (r *Result) memory() (p unsafe.Pointer, n, size int) {
	switch {
	case r.Floats != nil:
		return unsafe.Pointer(unsafe.SliceData(r.Floats)), len(r.Floats), 4
	case r.Ints != nil:
		return unsafe.Pointer(unsafe.SliceData(r.Ints)), len(r.Ints), 4
	case r.Int8s != nil:
		return unsafe.Pointer(unsafe.SliceData(r.Int8s)), len(r.Int8s), 1
	}
	return unsafe.Pointer(unsafe.SliceData(r.Bytes)), len(r.Bytes), 1
}

// finishing computes what is the same for all rows. That of the call before is used again where it fits: a layer's
// scales are the same in each call. Sums and floats, which little is computed for, are described in own.
func (w *Weights) finishing(r *Result, inScale float32, inZero int, own *finishing) *finishing {
	switch {
	case r.Ints != nil:
		*own = finishing{kind: kindInts, base: w.base}
		return own
	case r.Floats != nil:
		*own = finishing{kind: kindFloats, base: w.base, mul: w.scales, plus: w.bias, factor: inScale,
			floor: float32(math.Inf(-1))}
		if r.ReLU {
			own.floor = 0
		}
		return own
	}
	if f := w.last.Load(); f != nil && f.inScale == inScale && f.inZero == inZero && f.scale == r.Scale &&
		f.at == r.Zero &&
		f.relu == r.ReLU && f.engine == r.Engine && f.signed == (r.Int8s != nil) {
		return f
	}
	f := &finishing{kind: kindBefore, base: w.base, inScale: inScale, inZero: inZero, scale: r.Scale, at: r.Zero,
		relu: r.ReLU, engine: r.Engine,
		signed: r.Int8s != nil, factor: 1}
	lo, hi := 0, 255
	if f.signed {
		lo, hi = -128, 127
	}
	if r.ReLU {
		lo = max(lo, r.Zero)
	}
	if r.Engine == OneDNN {
		f.kind, f.mul, f.plus, f.factor = kindAfter, w.scales, w.bias, inScale
		f.inv, f.zero, f.hi, f.lo = 1/r.Scale, float32(r.Zero), float32(hi), int32(lo)
	} else {
		f.hi, f.lo, f.zeroI = float32(hi-r.Zero), int32(lo-r.Zero), int32(r.Zero)
		f.mul, f.plus = make([]float32, len(w.scales)), make([]float32, len(w.scales))
		if r.Engine == QNNPACK && f.base == nil {
			f.base = make([]int32, len(w.scales))
		}
		for j := range w.N {
			both := inScale * w.scales[j]
			f.mul[j] = both / r.Scale
			switch {
			case w.base != nil:
			case r.Engine == QNNPACK:
				f.base[j] = One[int32](w.bias[j], both, 0)
			case w.bias[j] == 0: // both may be 0, too
			case w.single:
				f.plus[j] = w.bias[j] * (1 / both)
			default:
				f.plus[j] = w.bias[j] / both
			}
		}
	}
	if w.plain && !f.signed && finishes() && (w.columns != nil || f.kind == kindAfter && !w.depthwise &&
		w.Runs*w.steps <= callSteps) {
		f.early(w)
	}
	w.last.Store(f)
	return f
}

// early prepares the making of results by the kernel of the product, if int32 holds all numbers before they are
// limited.
func (f *finishing) early(w *Weights) {
	n := (w.N + depth3Cols - 1) / depth3Cols * depth3Cols
	init, mul, plus := make([]int32, n), make([]float32, n), make([]float32, n)
	for i := range n {
		j := i
		if w.depthwise {
			j = i&^(depth3Cols-1) + depth3Channel(i%depth3Cols)
		}
		if j >= w.N {
			continue
		}
		init[i], mul[i], plus[i] = -int32(f.inZero)*w.sums[j], f.factor*f.mul[j], f.plus[j]
		most := float32(w.Runs*w.Length) * 255 * 128
		if f.base != nil {
			init[i] += f.base[j]
			most += max(float32(f.base[j]), -float32(f.base[j]))
		}
		y := (most*mul[i] + max(plus[i], -plus[i])) * f.inv
		if f.kind == kindBefore {
			y = (most + max(plus[i], -plus[i])) * mul[i]
		}
		if !(y < 1<<30) {
			return
		}
	}
	f.init, f.ownMul, f.ownPlus = init, mul, plus
	f.ownLo = f.lo + f.zeroI
}

// begin tells a kernel what is the same for all columns.
func (f *finishing) begin(p *kernelArgs) {
	p.kind, p.factor, p.inv, p.zero, p.hi, p.lo, p.zeroInt, p.floor = f.kind, f.factor, f.inv, f.zero, f.hi, f.lo,
		f.zeroI, f.floor
}

// use tells a kernel what to make of the sums of a strip. With early, the kernel of the product does so, for strips of
// cols columns.
func (f *finishing) use(p *kernelArgs, w *Weights, strip, cols int, early bool) {
	first := strip * cols
	p.mask = 1<<min(cols, w.N-first) - 1
	p.base, p.init = nil, nil
	if early {
		p.init, p.mul, p.plus = unsafe.Pointer(&f.init[first]), unsafe.Pointer(&f.ownMul[first]),
			unsafe.Pointer(&f.ownPlus[first])
		p.lo = f.ownLo
		return
	}
	p.sums, p.zeros = unsafe.Pointer(&w.sums[first]), unsafe.Pointer(&w.zeros[first])
	if f.base != nil {
		p.base = unsafe.Pointer(&f.base[first])
	}
	if f.mul != nil {
		p.mul, p.plus = unsafe.Pointer(&f.mul[first]), unsafe.Pointer(&f.plus[first])
	}
}
