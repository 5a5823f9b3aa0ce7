package opstest

import (
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/tensor"
)

// tracer records the names of the operators that a tracer sees.
type tracer struct{ names []string }

func (*tracer) Rank() tensor.Rank { return tensor.RankTrace }

func (t *tracer) Call(c *tensor.Ctx, next func()) {
	t.names = append(t.names, strings.TrimPrefix(c.Op().FullName(), "aten::"))
	next()
}

// Seen compares the operators that a tracer sees while f runs with the names that PyTorch's own tracer lists, separated by spaces and without
// "aten::". Python turns a number beside a tensor into a tensor, where a call here takes the overload Scalar: both count as the same.
func Seen(t *testing.T, what string, f func(), want string) {
	t.Helper()
	l := &tracer{}
	tensor.WithLayer(l, f)
	plain := func(s string) string {
		s = strings.ReplaceAll(s+" ", ".Tensor ", " ")
		return strings.TrimSpace(strings.ReplaceAll(s, ".Scalar ", " "))
	}
	if got := strings.Join(l.names, " "); plain(got) != plain(want) {
		t.Errorf("%s: a tracer sees\n%s\nwant\n%s", what, got, want)
	}
}
