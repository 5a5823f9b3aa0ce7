package golden

import (
	"fmt"
	"math"

	"github.com/gotorch-dev/torch/tensor"
)

// Tolerance is how far values may be from the reference's.
type Tolerance struct{ RTol, ATol float64 }

// ToleranceOf gives torch.testing.assert_close's defaults.
func ToleranceOf(dt tensor.DType) Tolerance {
	switch dt {
	case tensor.Float32, tensor.Complex64:
		return Tolerance{1.3e-6, 1e-5}
	case tensor.Float64, tensor.Complex128:
		return Tolerance{1e-7, 1e-7}
	case tensor.BFloat16:
		return Tolerance{1.6e-2, 1e-5}
	case tensor.Float16, tensor.Complex32:
		return Tolerance{1e-3, 1e-5}
	}
	return Tolerance{}
}

// Times loosens both bounds.
func (t Tolerance) Times(f float64) Tolerance { return Tolerance{t.RTol * f, t.ATol * f} }

// CloseOnDevice is Close for a result of operators, which must be on Device.
func CloseOnDevice(got, want *tensor.Tensor, tol Tolerance) string {
	if got != nil && got.Device() != Device {
		return fmt.Sprintf("device %s, want %s", got.Device(), Device)
	}
	return Close(got, want, tol)
}

// Close compares got with want: dtype, shape, values. It returns "" or what differs.
func Close(got, want *tensor.Tensor, tol Tolerance) string {
	if got == nil {
		return "got no tensor"
	}
	if want.IsQuantized() {
		return CloseQuantized(got, want, 0)
	}
	if got.DType() != want.DType() {
		return fmt.Sprintf("dtype %s, want %s", got.DType(), want.DType())
	}
	if !tensor.SameShape(got.Shape(), want.Shape()) {
		return fmt.Sprintf("shape %s, want %s", tensor.ShapeString(got.Shape()), tensor.ShapeString(want.Shape()))
	}
	if want.Numel() == 0 || got.Device().Type == tensor.MetaDevice {
		return "" // there are no elements to compare
	}
	got, want = got.Detach().CPU(), want.Detach().CPU()
	switch dt := want.DType(); {
	case dt.IsIntOrBool():
		g, w := tensor.Data[int64](tensor.DenseAs(got, tensor.Int64)),
			tensor.Data[int64](tensor.DenseAs(want, tensor.Int64))
		for i := range w {
			if g[i] != w[i] {
				return fmt.Sprintf("element %d is %d, want %d", i, g[i], w[i])
			}
		}
		return ""
	case dt.IsComplex():
		g, w := tensor.Data[complex128](tensor.DenseAs(got, tensor.Complex128)),
			tensor.Data[complex128](tensor.DenseAs(want, tensor.Complex128))
		gp, wp := make([]float64, 2*len(g)), make([]float64, 2*len(w))
		for i := range g {
			gp[2*i], gp[2*i+1] = real(g[i]), imag(g[i])
			wp[2*i], wp[2*i+1] = real(w[i]), imag(w[i])
		}
		return closeFloats(gp, wp, tol, 2)
	}
	return closeFloats(tensor.Data[float64](tensor.DenseAs(got, tensor.Float64)),
		tensor.Data[float64](tensor.DenseAs(want, tensor.Float64)), tol, 1)
}

func closeFloats(g, w []float64, tol Tolerance, per int) string {
	scale := 1.0
	for _, x := range w {
		if a := math.Abs(x); a > scale && !math.IsInf(a, 0) {
			scale = a
		}
	}
	worst, at := 0.0, -1
	for i := range w {
		a, b := g[i], w[i]
		switch {
		case a == b || math.IsNaN(a) && math.IsNaN(b):
			continue
		case math.IsNaN(a) || math.IsNaN(b) || math.IsInf(a, 0) || math.IsInf(b, 0):
			return fmt.Sprintf("element %d is %g, want %g", i/per, a, b)
		}
		if d := math.Abs(a-b) - tol.ATol*scale - tol.RTol*math.Abs(b); d > worst {
			worst, at = d, i
		}
	}
	if at >= 0 {
		return fmt.Sprintf("element %d is %.9g, want %.9g", at/per, g[at], w[at])
	}
	return ""
}
