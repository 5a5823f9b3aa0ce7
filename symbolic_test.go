package torch_test

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// What PyTorch 2.15 gives for plain numbers.
func TestSymbolicNumbers(t *testing.T) {
	for name, x := range map[string]struct{ got, want any }{
		"max":   {torch.SymMax(1, 2), 2},
		"min":   {torch.SymMin(3.5, 2), 2.0},
		"not":   {torch.SymNot(true), false},
		"float": {torch.SymFloat(3), 3.0},
		"int":   {torch.SymInt(3.7), 3},
		"int-":  {torch.SymInt(-3.7), -3},
		"large": {torch.SymInt(math.MaxInt), math.MaxInt},
		"ite":   {torch.SymITE(false, 1, 2), 2},
		"sqrt":  {torch.SymSqrt(4), 2.0},
		"sum":   {torch.SymSum(1, 2, 3), 6},
		"none":  {torch.SymSum[int](), 0},
		"fresh": {torch.SymFreshSize(4), 4},
	} {
		if x.got != x.want {
			t.Errorf("%s: %v, want %v", name, x.got, x.want)
		}
	}
	some := tensor.Some[int]
	torch.SymConstrainRange(3, torch.SymRange{Min: some(1), Max: some(3)})
	torch.SymConstrainRange(-3, torch.SymRange{})
	torch.SymConstrainRangeForSize(1, torch.SymRange{Max: some(3)})
	for name, f := range map[string]func(){
		"square root of -4":  func() { torch.SymSqrt(-4) },
		"an infinite int":    func() { torch.SymInt(math.Inf(1)) },
		"a float beyond int": func() { torch.SymInt(1e30) },
		"NaN as int":         func() { torch.SymInt(math.NaN()) },
		"below the range":    func() { torch.SymConstrainRange(3, torch.SymRange{Min: some(4)}) },
		"above the range":    func() { torch.SymConstrainRange(3, torch.SymRange{Max: some(2)}) },
		"an empty range":     func() { torch.SymConstrainRange(3, torch.SymRange{Min: some(4), Max: some(3)}) },
		"a negative size":    func() { torch.SymConstrainRangeForSize(-3, torch.SymRange{}) },
		"a size of 0 or 1":   func() { torch.SymConstrainRangeForSize(1, torch.SymRange{Max: some(2)}) },
	} {
		if err := tensor.Try(f); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
