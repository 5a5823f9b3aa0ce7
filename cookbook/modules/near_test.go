package modules_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
)

// near compares all elements, in order, with figures that PyTorch prints with 4 decimals.
func near(t *testing.T, got *torch.Tensor, want ...float64) {
	t.Helper()
	g := torch.Data[float64](got.Detach().Double().Contiguous())
	if len(g) != len(want) {
		t.Fatalf("got %v, want %v", g, want)
	}
	for i := range want {
		if math.Abs(g[i]-want[i]) > 1e-4 {
			t.Fatalf("got %v, want %v", g, want)
		}
	}
}

// fails runs f and looks for a text in the error that it must end with.
func fails(t *testing.T, text string, f func()) {
	t.Helper()
	if err := torch.Try(f); err == nil || !strings.Contains(err.Error(), text) {
		t.Fatalf("got error %v, want one with %q", err, text)
	}
}
