package tensor_test

import (
	"errors"
	"math"
	"testing"

	"github.com/gotorch-dev/torch/tensor"
)

// The numbers are what torch.finfo and torch.iinfo print.
func TestTypeInfo(t *testing.T) {
	for _, c := range []struct {
		dt                    tensor.DType
		eps, max, tiny, place float64
	}{
		{tensor.Float16, 0.0009765625, 65504, 6.103515625e-05, 0.001},
		{tensor.BFloat16, 0.0078125, 3.3895313892515355e+38, 1.1754943508222875e-38, 0.01},
		{tensor.Float32, 1.1920928955078125e-07, 3.4028234663852886e+38, 1.1754943508222875e-38, 1e-06},
		{tensor.Complex128, 2.220446049250313e-16, 1.7976931348623157e+308, 2.2250738585072014e-308, 1e-15},
	} {
		f := tensor.FInfo(c.dt)
		if f.Eps != c.eps || f.Max != c.max || f.Min != -c.max || f.Tiny != c.tiny || f.Resolution != c.place ||
			f.Bits != 8*c.dt.Real().Size() {
			t.Errorf("%s: %+v", c.dt, f)
		}
	}
	for dt, want := range map[tensor.DType][2]int{tensor.Uint8: {0, 255}, tensor.Int8: {-128, 127},
		tensor.Int64: {math.MinInt64, math.MaxInt64}} {
		if i := tensor.IInfo(dt); i.Min != want[0] || i.Max != uint64(want[1]) {
			t.Errorf("%s: %+v", dt, i)
		}
	}
	if err := tensor.Try(func() { tensor.FInfo(tensor.Int8) }); err == nil {
		t.Error("finfo of an integer")
	}
	for _, dt := range []tensor.DType{tensor.Bool, 0} {
		if err := tensor.Try(func() { tensor.IInfo(dt) }); !errors.Is(err, tensor.ErrDType) {
			t.Errorf("iinfo of %s: %v", dt, err)
		}
	}
	if err := tensor.Try(func() { tensor.FInfo(0) }); !errors.Is(err, tensor.ErrDType) {
		t.Errorf("finfo of no dtype: %v", err)
	}
}

// The texts are Python's.
func TestTypeInfoText(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{tensor.FInfo(tensor.Float16).String(), "finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, " +
			"smallest_normal=6.10352e-05, tiny=6.10352e-05, dtype=float16)"},
		{tensor.FInfo(tensor.Complex64).String(), "finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, " +
			"eps=1.19209e-07, smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=float32)"},
		{tensor.IInfo(tensor.Int8).String(), "iinfo(min=-128, max=127, dtype=int8)"},
		{tensor.IInfo(tensor.Int64).String(), "iinfo(min=-9.22337e+18, max=9.22337e+18, dtype=int64)"},
	} {
		if c.got != c.want {
			t.Errorf("got  %s\nwant %s", c.got, c.want)
		}
	}
}
