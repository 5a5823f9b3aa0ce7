package quant

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

// Output says how sums become quantized numbers.
type Output struct {
	Engine     Engine
	InScale    float32
	WScales    []float32 // of each column, or one for all
	Bias       []float32 // of each column, or none
	Scale      float32   // of the result
	Zero       int
	ReLU       bool
	prepared   bool
	multiplier []float32
	bias       []float32
	intBias    []int32
}

// Prepare computes what is the same for all rows of n columns. Afterwards several goroutines may use o.
func (o *Output) Prepare(n int) {
	if o.prepared {
		return
	}
	o.prepared = true
	o.multiplier, o.bias, o.intBias = make([]float32, n), make([]float32, n), make([]int32, n)
	for j := range n {
		both := o.InScale * o.wscale(j)
		switch o.Engine {
		case OneDNN:
			o.multiplier[j] = both
			if o.Bias != nil {
				o.bias[j] = o.Bias[j]
			}
		case QNNPACK:
			o.multiplier[j] = both / o.Scale
			if o.Bias != nil {
				o.intBias[j] = One[int32](o.Bias[j], both, 0)
			}
		default:
			o.multiplier[j] = both / o.Scale
			switch {
			case o.Bias == nil:
			case len(o.WScales) > 1:
				o.bias[j] = o.Bias[j] / both
			default:
				o.bias[j] = o.Bias[j] * (1 / both)
			}
		}
	}
}

func (o *Output) wscale(j int) float32 {
	if len(o.WScales) == 1 {
		return o.WScales[0]
	}
	return o.WScales[j]
}

// Requantize makes quantized numbers of rows of n sums, sums[i*n+j] of column j, whose zero points are accounted for.
func Requantize[T Int](o *Output, dst []T, sums []int32, n int) {
	o.Prepare(n)
	low, high := Limits[T]()
	lo, hi, zero := float32(low), float32(high), float32(o.Zero)
	if o.ReLU {
		lo = max(lo, zero)
	}
	inv := 1 / o.Scale
	for i := 0; i < len(sums); i += n {
		row, d := sums[i:i+n], dst[i:i+n]
		m := o.multiplier[:n]
		switch o.Engine {
		case OneDNN:
			b := o.bias[:n]
			for j, s := range row {
				y := float32(s)*m[j] + b[j]
				if o.ReLU {
					y = max(y, 0)
				}
				d[j] = T(limit(Round(y*inv+zero), lo, hi))
			}
		case QNNPACK:
			b := o.intBias[:n]
			for j, s := range row {
				d[j] = T(limit(Round(float32(s+b[j])*m[j])+zero, lo, hi))
			}
		default:
			b := o.bias[:n]
			for j, s := range row {
				d[j] = T(limit(Round((float32(s)+b[j])*m[j])+zero, lo, hi))
			}
		}
	}
}

func limit(x, lo, hi float32) float32 {
	if !(x > lo) {
		return lo
	}
	return min(x, hi)
}

// Scaled sets dst to the floats of rows of n sums: the result of a product with dynamic quantization.
func Scaled(o *Output, dst []float32, sums []int32, n int) {
	for i := 0; i < len(sums); i += n {
		for j, s := range sums[i : i+n] {
			y := float32(s) * (o.InScale * o.wscale(j))
			if o.Bias != nil {
				y += o.Bias[j]
			}
			if o.ReLU {
				y = max(y, 0)
			}
			dst[i+j] = y
		}
	}
}
