package pyfmt

import (
	"math"
	"testing"
)

func TestRepr(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{nil, "None"}, {true, "True"}, {3, "3"}, {0.1, "0.1"}, {1.0, "1.0"}, {1e-8, "1e-08"}, {1e-4, "0.0001"},
		{12345678901234567.0, "1.2345678901234568e+16"},
		{1e15, "1000000000000000.0"}, {math.Copysign(0, -1), "-0.0"}, {math.NaN(), "nan"}, {math.Inf(-1), "-inf"},
		{1e300, "1e+300"},
		{[2]float64{0.9, 0.999}, "(0.9, 0.999)"}, {"it's", `"it's"`}, {"a\n", `'a\n'`},
		{[]any{1, "x", nil}, "[1, 'x', None]"}, {[]float64{1, 2.5}, "[1.0, 2.5]"},
	} {
		if got := Repr(c.v); got != c.want {
			t.Errorf("Repr(%v) = %s, want %s", c.v, got, c.want)
		}
	}
}
