package serialize_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/serialize"
)

// Sparse tensors come back with their positions and values, one tensor as one, and a parameter as a parameter.
func TestSparse(t *testing.T) {
	x := torch.SparseCOOTensor(torch.FromSlice([]int64{1, 0, 1, 2, 2, 2}, 2, 3), torch.FromSlice([]float32{5, 3, 7}),
		[]int{2, 3})
	p := x.Coalesce().Clone().SetParameter().SetRequiresGrad(true)
	var b bytes.Buffer
	if err := serialize.Save(&b, serialize.NewDict("x", x, "again", x, "p", p)); err != nil {
		t.Fatal(err)
	}
	v, err := serialize.Load(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	d := v.(*serialize.Dict)
	y, q := d.Get("x").(*torch.Tensor), d.Get("p").(*torch.Tensor)
	if y.String() != x.String() || y.IsCoalesced() {
		t.Errorf("got %v, want %v", y, x)
	}
	if d.Get("again") != any(y) {
		t.Error("one tensor became two")
	}
	if !q.IsParameter() || !q.RequiresGrad() || !q.IsCoalesced() || q.NNZ() != 2 {
		t.Errorf("parameter: %v", q)
	}
}

func TestNamesAreNotSaved(t *testing.T) {
	err := serialize.Save(&bytes.Buffer{}, torch.Ones([]int{2}).Rename("N"))
	if err == nil || !strings.Contains(err.Error(), "named tensors don't support serialization") {
		t.Errorf("got %v", err)
	}
}
