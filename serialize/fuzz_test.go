package serialize_test

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/serialize/npy"
	"github.com/gotorch-dev/torch/tensor"
)

// allocated is how many bytes the program has allocated on the heap so far.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// checkLoad loads a file. The heap used is in proportion to the file; what loads prints in bounded text, and is the
// same after it was saved and loaded again.
func checkLoad(t *testing.T, file []byte) {
	before := allocated()
	v, err := serialize.LoadBytes(file)
	// Deflate codes a thousand bytes in one. Beyond that a value takes up to a few hundred bytes where its pickle takes
	// one.
	if n, most := allocated()-before, uint64(8<<20+2000*len(file)); n > most {
		t.Fatalf("%d bytes allocated for a file of %d", n, len(file))
	}
	if err != nil {
		if len(err.Error()) > 1<<17 {
			t.Fatalf("an error of %d bytes", len(err.Error()))
		}
		return
	}
	if s := serialize.Repr(v); len(s) > 4<<20 {
		t.Fatalf("prints %d bytes", len(s))
	}
	var buf bytes.Buffer
	if err := serialize.Save(&buf, v); err != nil {
		// PyTorch as well reads such files and does not write them; descriptions of objects are not written.
		if strings.Contains(err.Error(), "is a view of a") || errors.Is(err, serialize.ErrNotData) {
			return
		}
		t.Fatalf("loaded, but not saved: %v", err)
	}
	back, err := serialize.LoadBytes(buf.Bytes())
	if err != nil {
		t.Fatalf("saved, but not loaded again: %v", err)
	}
	s := same{seen: map[[2]any]bool{}}
	if !s.value(v, back) {
		t.Fatalf("saved and loaded again: %.1000s, was %.1000s", serialize.Repr(back), serialize.Repr(v))
	}
}

// same compares loaded values, which may contain themselves.
type same struct{ seen map[[2]any]bool }

func (s *same) once(a, b any) bool {
	pair := [2]any{a, b}
	if s.seen[pair] {
		return false
	}
	s.seen[pair] = true
	return true
}

func (s *same) items(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) == 0 || !s.once(&a[0], &b[0]) {
		return true
	}
	for i := range a {
		if !s.value(a[i], b[i]) {
			return false
		}
	}
	return true
}

func (s *same) value(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && s.items(a, b)
	case serialize.Tuple:
		b, ok := b.(serialize.Tuple)
		return ok && s.items(a, b)
	case *serialize.Dict:
		b, ok := b.(*serialize.Dict)
		if !ok || a.Len() != b.Len() || a.Ordered != b.Ordered {
			return false
		}
		if !s.once(a, b) {
			return true
		}
		var ka, va, kb, vb []any
		for k, v := range a.All() {
			ka, va = append(ka, k), append(va, v)
		}
		for k, v := range b.All() {
			kb, vb = append(kb, k), append(vb, v)
		}
		return s.items(ka, kb) && s.items(va, vb)
	case *tensor.Tensor:
		b, ok := b.(*tensor.Tensor)
		if !ok || a.DType() != b.DType() || !reflect.DeepEqual(a.Shape(), b.Shape()) || a.Device() != b.Device() ||
			!reflect.DeepEqual(a.Strides(), b.Strides()) ||
			a.RequiresGrad() != b.RequiresGrad() || a.IsParameter() != b.IsParameter() {
			return false
		}
		if a.Device() != (tensor.Device{}) { // meta tensors are saved without their storage
			return true
		}
		if a.StorageOffset() != b.StorageOffset() {
			return false
		}
		n := b.Storage().NumBytes() // without what is left of the last element
		return bytes.Equal(a.Storage().Bytes()[:n], b.Storage().Bytes())
	case float64:
		b, ok := b.(float64)
		return ok && math.Float64bits(a) == math.Float64bits(b)
	case complex128:
		b, ok := b.(complex128)
		return ok && s.value(real(a), real(b)) && s.value(imag(a), imag(b))
	case *big.Int:
		b, ok := b.(*big.Int)
		return ok && a.Cmp(b) == 0
	case *serialize.Opaque:
		b, ok := b.(*serialize.Opaque)
		return ok && a.String() == b.String() && reflect.DeepEqual(a.Strides, b.Strides) && a.Offset == b.Offset &&
			(a.Storage.Device() != tensor.Device{} ||
				bytes.HasPrefix(a.Storage.Bytes(), b.Storage.Bytes()) && a.Storage.NumBytes()-b.Storage.NumBytes() < 16)
	case *npy.Array:
		b, ok := b.(*npy.Array)
		return ok && reflect.DeepEqual(a, b)
	case *pickle.Set:
		return pickle.Repr(a) == pickle.Repr(b)
	}
	return reflect.DeepEqual(a, b)
}

// FuzzLoad changes files of PyTorch, of all formats, and files of other kinds. testdata/make.py wrote those in
// testdata/fuzz.
func FuzzLoad(f *testing.F) {
	for _, file := range [][]byte{{}, []byte("\x89HDF\r\n\x1a\n"), []byte("GGUF"), container("N"), []byte("<html>")} {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) { checkLoad(t, file) })
}

// FuzzPickle changes the pickle of a file, whose container has checksums that a change would break.
func FuzzPickle(f *testing.F) {
	for _, p := range []string{
		"N", doubled("]", "(%s%se"), "}q\x00K\x01h\x00s", "](K\x01G\x3f\xf0\x00\x00\x00\x00\x00\x00\x89\x85e", module,
		pyTensor("FloatStorage", "cpu", 4, pyInts(2, 2), pyInts(2, 1), "\x88", ""),
		pyTensor("FloatStorage", "cpu", 4, pyInts(2, 9), pyInts(2, 0), "\x89", "neg"),
		pyTensor("ComplexFloatStorage", "cpu", 2, pyInts(2), pyInts(1), "\x89", "conj"),
		pyTensor("LongStorage", "meta", 2, pyInts(2), pyInts(1), "\x89", ""),
		"c__builtin__\nset\n](K\x01K\x02e\x85R", "ccollections\nOrderedDict\n)R(" + pyStr("a") +
			"K\x01u", "U\x03a\xffb",
	} {
		f.Add([]byte(p))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		checkLoad(t, container(string(p), strings.Repeat("\x00\x00\x80\x3f", 4)))
	})
}

// TestPyTorchFiles loads what PyTorch wrote, and saves and loads it again.
func TestPyTorchFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/fuzz/FuzzLoad/*")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	// The errors of the files that do not load.
	errs := map[string]string{
		"self_list": "list or tuple within itself", "script": "TorchScript", "program": "exported",
		"package": "torch.package", "cut": "without its end",
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		text, ok := strings.CutPrefix(string(b), "go test fuzz v1\n[]byte(")
		if !ok {
			t.Errorf("%s: not a file of the fuzzer", name)
			continue
		}
		quoted, err := strconv.Unquote(strings.TrimSuffix(strings.TrimSpace(text), ")"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		file := []byte(quoted)
		_, err = serialize.LoadBytes(file)
		if want := errs[name]; (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
		checkLoad(t, file)
	}
}
