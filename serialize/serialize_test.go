package serialize_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	_ "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

func TestRoundTrip(t *testing.T) {
	a := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	sd := &tensor.StateDict{}
	sd.Set("w", a)
	sd.Set("wt", tensor.Alias(a, []int{3, 2}, []int{1, 3}, 0))
	path := filepath.Join(t.TempDir(), "x.pt")
	in := serialize.NewDict("model", sd, "epoch", 3, "lr", 0.5, "names", []string{"a", "b"}, 7,
		serialize.Tuple{true, nil})
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

// TestConjugateBit reads a tensor that PyTorch saved as a conjugated view: the memory of the original and a mark.
func TestConjugateBit(t *testing.T) {
	meta := pickle.NewDict(pickle.PlainDict)
	if err := meta.Set("conj", true); err != nil {
		t.Fatal(err)
	}
	memory := tensor.FromSlice([]complex64{1 + 2i, 3 - 4i}).Storage().Bytes()
	ref := &torchzip.TensorRef{Storage: &torchzip.StorageRef{DType: "ComplexFloatStorage", NumElements: 2,
		Data: memory}, DType: "complex64",
		Shape: []int{2}, Stride: []int{1}, Metadata: meta}
	var b bytes.Buffer
	if err := torchzip.Save(&b, ref, torchzip.SaveOptions{}); err != nil {
		t.Fatal(err)
	}
	v, err := serialize.LoadBytes(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	x := v.(*tensor.Tensor)
	if got := tensor.Data[complex64](x.ResolveConj()); !x.IsConj() || got[0] != 1-2i || got[1] != 3+4i {
		t.Errorf("got %v, conjugate bit %v", got, x.IsConj())
	}
}

// TestOtherValues saves numbers and lists of other Go types, and what a file may hold besides.
func TestOtherValues(t *testing.T) {
	type named []uint8
	in := serialize.NewDict("u8", uint8(200), "u64", uint64(math.MaxUint64), "i16", int16(-5), "f32", float32(0.5),
		"bools", []bool{true, false},
		"array", [2]int8{1, -2}, "named", []named{{7}}, "complex", 1+2i)
	var b bytes.Buffer
	if err := serialize.Save(&b, in); err != nil {
		t.Fatal(err)
	}
	v, err := serialize.LoadBytes(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	const want = "{'u8': 200, 'u64': 18446744073709551615, 'i16': -5, 'f32': 0.5, 'bools': [True, False], 'array': " +
		"[1, -2], 'named': [[7]], 'complex': (1+2j)}"
	if got := fmt.Sprint(v); got != want {
		t.Errorf("got %s", got)
	}
	var again bytes.Buffer
	if err := serialize.Save(&again, v); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Errorf("what was loaded is saved otherwise: %v", err)
	}
	if err := serialize.Save(&again, make(chan int)); err == nil {
		t.Error("a channel is saved")
	}
}
