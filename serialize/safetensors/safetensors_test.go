package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/serialize/npy"
	"github.com/gotorch-dev/torch/serialize/safetensors"
)

// TestSameBytes reads a file with all dtypes that Hugging Face's package wrote, and writes the same bytes.
func TestSameBytes(t *testing.T) {
	const path = "testdata/all.safetensors"
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, mmap := range []bool{false, true} {
		sd, err := safetensors.Load(path, safetensors.Options{MMap: mmap})
		if err != nil {
			t.Fatal(err)
		}
		if sd.Len() != 13 {
			t.Errorf("%d tensors", sd.Len())
		}
		for k, x := range sd.All() {
			if dt := dtype.Parse(k); dt.Valid() {
				if y := torch.Arange(6).Reshape([]int{2, 3}).To(dt); x.DType() != dt || !x.Equal(y) {
					t.Errorf("mmap %v: %s is %v", mmap, k, x)
				}
			}
		}
		if x := sd.Get("scalar"); x.Dim() != 0 || x.Item() != 2.5 {
			t.Errorf("scalar is %v", x)
		}
		if x := sd.Get("none"); !slices.Equal(x.Shape(), []int{0, 3}) {
			t.Errorf("none is %v", x)
		}
		var buf bytes.Buffer
		if err := safetensors.Write(&buf, sd, map[string]string{"format": "pt"}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(buf.Bytes(), want) {
			t.Errorf("mmap %v: written bytes differ:\n%q\n%q", mmap, buf.Bytes()[:200], want[:200])
		}
	}
}

// file is a file with the given header and data.
func file(header string, data int) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), make([]byte, data)...)
}

// TestBad gives what a broken or hostile file may hold.
func TestBad(t *testing.T) {
	w := func(dtype, shape, offsets string) string {
		return fmt.Sprintf(`{"w":{"dtype":%q,"shape":%s,"data_offsets":%s}}`, dtype, shape, offsets)
	}
	if _, err := safetensors.NewFile(bytes.NewReader(file(w("F32", "[2]", "[0,8]"), 8)), -1); err == nil {
		t.Error("a negative size")
	}
	for _, c := range []struct {
		name string
		file []byte
		says string
	}{
		{"empty", nil, "0 bytes"},
		{"a header of 2^63 bytes", binary.LittleEndian.AppendUint64(nil, math.MaxUint64), "header of"},
		{"no JSON", file("hello", 0), "no JSON object"},
		{"not UTF-8", file("{\"\xff\":1}", 0), "no JSON object"},
		{"two objects", file("{}{}", 0), "behind the header"},
		{"half an object", file(`{"w":{"dtype":"F32"`, 0), "header"},
		{"deep", file("{\"w\":"+strings.Repeat("[", 100000), 0), "expected an object"},
		{"deep metadata", file(`{"__metadata__":{"a":{"b":1}}}`, 0), "expected text"},
		{"no shape", file(`{"w":{"dtype":"F32","data_offsets":[0,4]}}`, 4), "lacks"},
		{"an unknown entry", file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}}`, 4), "unknown entry"},
		{"the same name twice", file(`{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},`+
			`"w":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2), "twice"},
		{"an unknown dtype", file(w("F31", "[2]", "[0,8]"), 8), "unknown dtype"},
		{"a negative shape", file(w("F32", "[-2]", "[0,8]"), 8), "expected sizes"},
		{"a shape of a fraction", file(w("F32", "[1.5]", "[0,8]"), 8), "expected sizes"},
		{"a shape that overflows", file(w("F32", "[4294967296,4294967296,4294967296]", "[0,8]"), 8), "too large"},
		{"a shape of 65 dimensions", file(w("F32", "["+strings.Repeat("1,", 64)+"2]", "[0,8]"), 8), "more than 64"},
		{"a size that does not fit", file(w("F32", "[3]", "[0,8]"), 8), "needs 96 bits"},
		{"a gap", file(w("F32", "[2]", "[4,12]"), 12), "expected it to begin at 0"},
		{"overlapping tensors", file(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},`+
			`"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, 3), "expected it to begin at 2"},
		{"an end before the beginning", file(w("F32", "[0]", "[8,0]"), 8), "expected it to begin"},
		{"data that is not there", file(w("F32", "[2]", "[0,8]"), 7), "of which there are 7"},
		{"bytes behind the data", file(w("F32", "[2]", "[0,8]"), 9), "1 bytes behind"},
	} {
		_, err := safetensors.NewFile(bytes.NewReader(c.file), int64(len(c.file)))
		if !errors.Is(err, safetensors.ErrFormat) || !strings.Contains(err.Error(), c.says) || len(err.Error()) > 1000 {
			t.Errorf("%s: got %.300v, want %s", c.name, err, c.says)
		}
	}
	good, err := os.ReadFile("testdata/all.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	for n := range good {
		if _, err := safetensors.NewFile(bytes.NewReader(good[:n]), int64(n)); err == nil {
			t.Fatalf("cut to %d of %d bytes it opens", n, len(good))
		}
	}
	// An 8-bit float can be described, not loaded.
	f8 := file(w("F8_E4M3", "[2]", "[0,2]"), 2)
	f, err := safetensors.NewFile(bytes.NewReader(f8), int64(len(f8)))
	if err != nil {
		t.Fatal(err)
	}
	if info := f.Tensors()[0]; info.DType != "float8_e4m3fn" {
		t.Errorf("dtype %s", info.DType)
	}
	if !dtype.Parse("float8_e4m3fn").Valid() {
		if _, err := f.StateDict(); !errors.Is(err, safetensors.ErrDType) {
			t.Errorf("got %v", err)
		}
	}
}

// TestSharded writes a state dict in several files and reads it by its folder and by its index.
func TestSharded(t *testing.T) {
	sd := &torch.StateDict{}
	for i := range 5 {
		sd.Set(fmt.Sprintf("w%d", i), torch.Full([]int{10}, float64(i)))
	}
	dir := t.TempDir()
	if err := safetensors.SaveSharded(dir, sd, 100, nil); err != nil {
		t.Fatal(err)
	}
	index := filepath.Join(dir, "model.safetensors.index.json")
	for _, path := range []string{dir, index} {
		got, err := serialize.LoadStateDict(path)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Keys(), sd.Keys()) {
			t.Errorf("keys %v", got.Keys())
		}
		for k, x := range sd.All() {
			if !got.Get(k).Equal(x) {
				t.Errorf("%s differs", k)
			}
		}
	}
	for _, c := range []struct{ index, says string }{
		{`{"weight_map":{"w0":"../secret"}}`, "plain name"},
		{`{"weight_map":{"w0":"/etc/passwd"}}`, "plain name"},
		{`{"weight_map":{"w0":"a/b"}}`, "plain name"},
		{`{"weight_map":{"w0":"model.safetensors.index.json"}}`, "an index names an index"},
		{`{"weight_map":{"w9":"model-00001-of-00003.safetensors"}}`, "lacks"},
		{`{"weight_map":{"w9":"nothing"}}`, "no such file"},
		{`{"weight_map":{}}`, "no index of weights"},
		{`{"weight_map":[1]}`, "index"},
	} {
		if err := os.WriteFile(index, []byte(c.index), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := serialize.LoadStateDict(dir); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %s", c.index, err, c.says)
		}
	}
}

func FuzzFile(f *testing.F) {
	if b, err := os.ReadFile("testdata/all.safetensors"); err == nil {
		f.Add(b)
	}
	f.Add(file("{}", 0))
	f.Add(file(`{"__metadata__":{"a":"b"},"w":{"dtype":"F4","shape":[2,3],"data_offsets":[0,3]}}`, 3))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := safetensors.NewFile(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		sd, err := x.StateDict()
		if err != nil {
			return
		}
		var buf bytes.Buffer
		if err := safetensors.Write(&buf, sd, x.Metadata()); err != nil {
			if !sd.Has("__metadata__") {
				t.Fatal(err)
			}
			return
		}
		y, err := safetensors.NewFile(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range x.Tensors() {
			a, err1 := x.Bytes(info.Name)
			c, err2 := y.Bytes(info.Name)
			if err := errors.Join(err1, err2); err != nil || !bytes.Equal(a, c) {
				t.Fatalf("%q differs: %v", info.Name, err)
			}
		}
	})
}

func Example() {
	dir, err := os.MkdirTemp("", "safetensors")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.safetensors")
	sd := &torch.StateDict{}
	sd.Set("fc.weight", torch.Ones([]int{2, 3}))
	sd.Set("fc.bias", torch.Zeros([]int{2}))
	if err := safetensors.Save(path, sd, map[string]string{"format": "pt"}); err != nil {
		fmt.Println(err)
		return
	}
	f, err := safetensors.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	for _, info := range f.Tensors() {
		fmt.Println(info.Name, info.DType, info.Shape)
	}
	w, err := f.Tensor("fc.weight")
	fmt.Println(w.Sum().Item(), f.Metadata(), err)
	// Output:
	// fc.bias float32 [2]
	// fc.weight float32 [2 3]
	// 6 map[format:pt] <nil>
}

// TestLazyBits writes what a conjugate view stands for, here and in an array of NumPy.
func TestLazyBits(t *testing.T) {
	x := torch.FromSlice([]complex64{1 + 2i, 3 - 4i}, 2).Conj()
	sd := &torch.StateDict{}
	sd.Set("x", x)
	var buf bytes.Buffer
	if err := safetensors.Write(&buf, sd, nil); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.NewFile(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	y, err := f.Tensor("x")
	if err != nil || fmt.Sprint(torch.Data[complex64](y)) != "[(1-2i) (3+4i)]" {
		t.Errorf("%v, %v", y, err)
	}
	a, err := npy.FromTensor(x)
	if err != nil {
		t.Fatal(err)
	}
	if z, err := a.Tensor(); err != nil || fmt.Sprint(torch.Data[complex64](z)) != "[(1-2i) (3+4i)]" {
		t.Errorf("%v, %v", z, err)
	}
}
