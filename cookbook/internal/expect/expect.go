// Package expect holds what the cookbook's tests compare with.
package expect

import (
	"math"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
)

// Near compares the elements of a tensor of any dtype, in reading order, with what PyTorch prints (four decimals).
func Near(t *testing.T, x *torch.Tensor, want ...float64) {
	t.Helper()
	compare(t, x, want, func(float64) float64 { return 1e-4 })
}

// Scaled is Near for figures above 1 that are given with five digits.
func Scaled(t *testing.T, x *torch.Tensor, want ...float64) {
	t.Helper()
	compare(t, x, want, func(w float64) float64 { return 1e-4 * max(1, math.Abs(w)) })
}

func compare(t *testing.T, x *torch.Tensor, want []float64, allowed func(w float64) float64) {
	t.Helper()
	got := torch.Data[float64](x.Detach().Double().Contiguous())
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i, w := range want {
		if math.IsNaN(got[i]) != math.IsNaN(w) || math.Abs(got[i]-w) > allowed(w) {
			t.Fatalf("element %d: got %v, want %v", i, got, want)
		}
	}
}

// Shaped checks a shape.
func Shaped(t *testing.T, x *torch.Tensor, want ...int) {
	t.Helper()
	if got := x.Shape(); torch.Size(got).String() != torch.Size(want).String() {
		t.Fatalf("shape %v, want %v", got, want)
	}
}

// Fails checks that f panics with an error of the tensor library whose text holds PyTorch's words.
func Fails(t *testing.T, words string, f func()) {
	t.Helper()
	if err := torch.Try(f); err == nil || !strings.Contains(err.Error(), words) {
		t.Fatalf("error %v, want one with %q", err, words)
	}
}
