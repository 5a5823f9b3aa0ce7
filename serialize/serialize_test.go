package serialize_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

func TestRoundTrip(t *testing.T) {
	a := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	sd := &tensor.StateDict{}
	sd.Set("w", a)
	sd.Set("wt", a.Alias([]int{3, 2}, []int{1, 3}, 0))
	path := filepath.Join(t.TempDir(), "x.pt")
	in := serialize.NewDict("model", sd, "epoch", 3, "lr", 0.5, "names", []string{"a", "b"}, 7, serialize.Tuple{true, nil})
	if err := serialize.SaveFile(path, in); err != nil {
		t.Fatal(err)
	}
	v, err := serialize.LoadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := v.(*serialize.Dict)
	if d.Get("epoch") != 3 || d.Get("lr") != 0.5 || d.Get(7).(serialize.Tuple)[0] != true {
		t.Fatalf("values differ: %v", d)
	}
	got, err := d.Get("model").(*serialize.Dict).StateDict()
	if err != nil {
		t.Fatal(err)
	}
	w, wt := got.Get("w"), got.Get("wt")
	if w.Storage() != wt.Storage() {
		t.Error("views no longer share memory")
	}
	if x := tensor.Data[float32](w); len(x) != 6 || x[4] != 5 {
		t.Errorf("w = %v", x)
	}
	if wt.Stride(0) != 1 || wt.Size(0) != 3 {
		t.Errorf("wt has shape %v strides %v", wt.Shape(), wt.Strides())
	}
}

func TestBrokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.pt")
	if err := serialize.SaveFile(path, tensor.FromSlice([]float32{1, 2, 3})); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(b); n += 7 {
		if _, err := serialize.LoadBytes(b[:n]); err == nil {
			t.Fatalf("a file cut after %d of %d bytes loads", n, len(b))
		}
	}
}

func TestStrings(t *testing.T) {
	d := serialize.NewDict("state", serialize.NewDict(), "betas", serialize.Tuple{0.9, 1}, 0, serialize.Tuple{nil})
	if got, want := d.String(), "{'state': {}, 'betas': (0.9, 1), 0: (None,)}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	d = &serialize.Dict{Ordered: true}
	if got := d.String(); got != "OrderedDict()" {
		t.Error(got)
	}
	d.Set("a", []any{1, "b"})
	if got := d.String(); got != "OrderedDict({'a': [1, 'b']})" {
		t.Error(got)
	}
}
