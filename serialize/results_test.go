package serialize_test

import (
	"testing"

	_ "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// What torch.max(x, 1) gives prints with the names of its parts; other objects of that module print as calls.
func TestNamedResults(t *testing.T) {
	parts := serialize.Tuple{tensor.FromSlice([]float32{5, 7}), tensor.FromSlice([]int64{1, 0})}
	object := func(name string, parts serialize.Tuple) string {
		return serialize.Repr(&serialize.Object{Class: serialize.Global{Module: "torch.return_types", Name: name},
			Args: serialize.Tuple{parts}})
	}
	for _, c := range []struct{ got, want string }{
		{object("max", parts), "torch.return_types.max(\nvalues=tensor([5., 7.]),\nindices=tensor([1, 0]))"},
		{object("max", parts[:1]), "<torch.return_types.max((tensor([5., 7.]),))>"},
		{object("nosuch", parts), "<torch.return_types.nosuch((tensor([5., 7.]), tensor([1, 0])))>"},
	} {
		if c.got != c.want {
			t.Errorf("got\n%s\nwant\n%s", c.got, c.want)
		}
	}
}
