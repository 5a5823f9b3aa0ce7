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

// TestDictKeys finds values again by keys of every kind: those that Go compares, and those that it does not.
func TestDictKeys(t *testing.T) {
	type name string
	x, y := new(int), new(int)
	keys := []any{nil, 1, "1", name("1"), 2.5, []byte("1"), x, y, 1 + 2i, serialize.Tuple{1, "a"},
		serialize.Tuple{"1", "a"}, [2]any{[]int{1}, 2}, struct{ a any }{[]int{1}}, struct{ a any }{[]int{2}}}
	d := serialize.NewDict()
	for i, k := range keys {
		d.Set(k, i)
	}
	if d.Len() != len(keys) {
		t.Errorf("%d entries, expected %d", d.Len(), len(keys))
	}
	for i, k := range keys {
		if v := d.Get(k); v != i {
			t.Errorf("the value of %T %v is %v, expected %d", k, k, v, i)
		}
	}
	// Python takes these for one key.
	for _, k := range []any{true, int64(1), int32(1), 1.0, complex(1, 0)} {
		if v := d.Get(k); v != 1 {
			t.Errorf("the value of %T %v is %v, expected that of 1", k, k, v)
		}
	}
}

// TestViewBits reads tensors that PyTorch saved as conjugated or negated views: the memory of the original and a mark.
func TestViewBits(t *testing.T) {
	for _, c := range []struct {
		marks map[string]bool
		want  [2]complex64
	}{
		{map[string]bool{"conj": true}, [2]complex64{1 - 2i, 3 + 4i}},
		{map[string]bool{"neg": true}, [2]complex64{-1 - 2i, -3 + 4i}},
		{map[string]bool{"conj": false, "neg": true}, [2]complex64{-1 - 2i, -3 + 4i}},
		{map[string]bool{"conj": true, "neg": true}, [2]complex64{-1 + 2i, -3 - 4i}},
		{map[string]bool{"conj": false}, [2]complex64{1 + 2i, 3 - 4i}},
		{map[string]bool{}, [2]complex64{1 + 2i, 3 - 4i}},
	} {
		meta := pickle.NewDict(pickle.PlainDict)
		for k, v := range c.marks {
			if err := meta.Set(k, v); err != nil {
				t.Fatal(err)
			}
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
		if got := tensor.Data[complex64](x.ResolveConj().ResolveNeg()); x.IsConj() != c.marks["conj"] ||
			got[0] != c.want[0] || got[1] != c.want[1] {
			t.Errorf("%v: got %v, conjugate bit %v, expected %v", c.marks, got, x.IsConj(), c.want)
		}
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
