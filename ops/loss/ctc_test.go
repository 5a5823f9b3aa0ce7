package loss_test

import (
	"math"
	"testing"

	_ "github.com/gotorch-dev/torch/ops/all"
	"github.com/gotorch-dev/torch/tensor"
)

// ctcCall runs F::ctc_loss with lists of lengths on log-probabilities that are all log(1/3).
func ctcCall(t *testing.T, steps int, targets []int64, in, target []int, reduction string, zeroInf bool) float64 {
	t.Helper()
	v := make([]float64, steps*3)
	for i := range v {
		v[i] = -math.Log(3)
	}
	lp := tensor.FromSlice(v).Reshape([]int{steps, 1, 3})
	r, err := tensor.CallOp("F::ctc_loss.IntList", tensor.Box(lp), tensor.Box(tensor.FromSlice(targets)),
		tensor.Box(in), tensor.Box(target), tensor.Box(0), tensor.Box(reduction), tensor.Box(zeroInf))
	if err != nil {
		t.Fatal(err)
	}
	return r[0].T.Num().F
}

func TestCTCCountsPaths(t *testing.T) {
	// With equal probabilities the loss is -log(paths / 3^steps); the paths can be counted by hand.
	for _, c := range []struct {
		name    string
		steps   int
		targets []int64
		paths   float64
	}{
		{"one class, two steps: 11 -1 1-", 2, []int64{1}, 3},
		{"two classes, two steps: 12", 2, []int64{1, 2}, 1},
		{"repeated class needs a blank: 1-1", 3, []int64{1, 1}, 1},
		{"no class: ---", 3, []int64{}, 1},
	} {
		want := -math.Log(c.paths) + float64(c.steps)*math.Log(3)
		if got := ctcCall(t, c.steps, c.targets, []int{c.steps}, []int{len(c.targets)}, "sum",
			false); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
	if got := ctcCall(t, 2, []int64{1, 1}, []int{2}, []int{2}, "sum", false); !math.IsInf(got, 1) {
		t.Errorf("too short an input gives %v, want +Inf", got)
	}
	if got := ctcCall(t, 2, []int64{1, 1}, []int{2}, []int{2}, "mean", true); got != 0 {
		t.Errorf("zero_infinity gives %v, want 0", got)
	}
}

func TestCTCRefusesBadArguments(t *testing.T) {
	lp := tensor.New([]int{2, 1, 3}, tensor.Float64)
	tensor.ZeroRaw(lp)
	for name, a := range map[string]struct {
		targets    []int64
		in, target []int
	}{
		"class out of range":  {[]int64{3}, []int{2}, []int{1}},
		"negative class":      {[]int64{-1}, []int{2}, []int{1}},
		"input too long":      {[]int64{1}, []int{3}, []int{1}},
		"negative length":     {[]int64{1}, []int{2}, []int{-1}},
		"targets too few":     {[]int64{1}, []int{2}, []int{2}},
		"lengths not of size": {[]int64{1}, []int{2, 2}, []int{1}},
	} {
		_, err := tensor.CallOp("F::ctc_loss.IntList", tensor.Box(lp), tensor.Box(tensor.FromSlice(a.targets)),
			tensor.Box(a.in), tensor.Box(a.target))
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
