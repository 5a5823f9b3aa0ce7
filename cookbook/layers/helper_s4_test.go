package layers

import (
	"math"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
)

// near compares the elements of a tensor of any dtype, in reading order, with what PyTorch prints (four decimals).
func near(t *testing.T, x *torch.Tensor, want ...float64) {
	t.Helper()
	got := torch.Data[float64](x.Detach().Double().Contiguous())
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i, w := range want {
		if math.IsNaN(got[i]) != math.IsNaN(w) || math.Abs(got[i]-w) > 1e-4*max(1, math.Abs(w)) {
			t.Fatalf("element %d: got %v, want %v", i, got, want)
		}
	}
}

// shaped checks a shape.
func shaped(t *testing.T, x *torch.Tensor, want ...int) {
	t.Helper()
	if got := x.Shape(); torch.Size(got).String() != torch.Size(want).String() {
		t.Fatalf("shape %v, want %v", got, want)
	}
}

// fails checks that f panics with an error of the tensor library whose text holds PyTorch's words.
func fails(t *testing.T, words string, f func()) {
	t.Helper()
	if err := torch.Try(f); err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("error %v, want one with %q", err, words)
	}
}
