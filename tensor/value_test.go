package tensor_test

import (
	"errors"
	"testing"

	"github.com/gotorch-dev/torch/tensor"
)

// A boxed value is asked for a number.
func TestNumOfValue(t *testing.T) {
	for _, c := range []struct {
		v    tensor.Value
		want complex128
	}{
		{tensor.BoolValue(true), 1}, {tensor.IntValue(-3), -3}, {tensor.FloatValue(2.5), 2.5},
		{tensor.Box(complex(1, 2)), complex(1, 2)},
	} {
		if n := c.v.Num(); n.C != c.want || n.F != real(c.want) || n.I != int64(real(c.want)) {
			t.Errorf("%v is the number %+v", c.v, n)
		}
	}
	for _, v := range []tensor.Value{{}, tensor.StrValue("1"), tensor.IntsValue([]int{1})} {
		if err := tensor.Try(func() { v.Num() }); !errors.Is(err, tensor.ErrType) {
			t.Errorf("the number %v: %v", v, err)
		}
	}
}
