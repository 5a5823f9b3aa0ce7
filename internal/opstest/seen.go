package opstest

import (
	"strings"
	"testing"
)

// Seen compares the operators that a tracer sees while f runs with the names that PyTorch's own tracer lists, separated
// by spaces and without "aten::". Python turns a number beside a tensor into a tensor, where a call here takes the
// overload Scalar: both count as the same.
func Seen(t *testing.T, what string, f func(), want string) {
	t.Helper()
	names := Trace(false, f)
	plain := func(s string) string {
		s = strings.ReplaceAll(s+" ", ".Tensor ", " ")
		return strings.TrimSpace(strings.ReplaceAll(s, ".Scalar ", " "))
	}
	if got := strings.Join(names, " "); plain(got) != plain(want) {
		t.Errorf("%s: a tracer sees\n%s\nwant\n%s", what, got, want)
	}
}
