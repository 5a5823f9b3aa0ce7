package torchzip

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/internal/shared"
)

func floats(t *testing.T, r *TensorRef) []float32 {
	t.Helper()
	b, err := r.Storage.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

func get(t *testing.T, v Value, key string) Value {
	t.Helper()
	d, ok := v.(*pickle.Dict)
	if !ok {
		t.Fatalf("got %T, want a dict", v)
	}
	x, ok := d.Get(key)
	if !ok {
		t.Fatalf("no key %q in %v", key, v)
	}
	return x
}

// TestSameBytes loads what PyTorch wrote and compares what we write with it.
func TestSameBytes(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.pt")
	if dir := shared.Find(t, "golden", "optim"); dir != "" {
		more, _ := filepath.Glob(filepath.Join(dir, "*.pt"))
		files = append(files, more...)
	}
	n := 0
	for _, path := range files {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		v, err := Load(bytes.NewReader(want), int64(len(want)))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		zr, err := NewReader(bytes.NewReader(want), int64(len(want)))
		if err != nil {
			continue // a legacy file
		}
		var got bytes.Buffer
		if err := Save(&got, v, SaveOptions{ArchiveName: zr.Name()}); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		n++
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s: got %d bytes that differ from the %d of PyTorch", path, got.Len(), len(want))
		}
	}
	if n < 6 {
		t.Errorf("compared only %d files", n)
	}
}

func TestLoadValues(t *testing.T) {
	for _, name := range []string{"views.pt", "leg2.pt"} {
		v, err := LoadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		x, xt := get(t, v, "x").(*TensorRef), get(t, v, "xt").(*TensorRef)
		if x.Storage != xt.Storage {
			t.Errorf("%s: views do not share their storage", name)
		}
		if fmt.Sprintf("%v %v %d %s", xt.Shape, xt.Stride, xt.Offset, xt.DType) != "[4 3] [1 4] 0 float32" {
			t.Errorf("%s: xt is %+v", name, xt)
		}
		if f := floats(t, x); len(f) != 12 || f[11] != 11 {
			t.Errorf("%s: x holds %v", name, f)
		}
	}
	v, _ := LoadFile("testdata/views.pt")
	if row := get(t, v, "row").(*TensorRef); row.Offset != 4 {
		t.Errorf("row starts at %d, want 4", row.Offset)
	}
	p := get(t, v, "p").(*TensorRef)
	if !p.Parameter || !p.RequiresGrad || p == get(t, v, "x") {
		t.Errorf("p is %+v", p)
	}
	if get(t, v, "same") != get(t, v, "x") {
		t.Error("one tensor under two keys became two")
	}

	v, err := LoadFile("testdata/odd.pt")
	if err != nil {
		t.Fatal(err)
	}
	if d := get(t, v, "dev").(Device); d.String() != "cpu" {
		t.Errorf("device %v", d)
	}
	if s := get(t, v, "sz").(Size); fmt.Sprint(s) != "[3 4]" {
		t.Errorf("size %v", s)
	}
	if s := get(t, v, "u").(*StorageRef); s.DType != "UntypedStorage" || s.NumBytes() != 48 {
		t.Errorf("storage %+v", s)
	}
	if o := get(t, v, "sp").(*pickle.Object); !o.Global().Is("torch._utils", "_rebuild_sparse_tensor") {
		t.Errorf("sparse tensor %v", o.Class)
	}
	if c := get(t, v, "cj").(*TensorRef); pickle.Repr(c.Metadata) != "{'conj': True}" {
		t.Errorf("metadata %v", c.Metadata)
	}
	v, err = LoadFile("testdata/ptag.pt")
	if p, ok := v.(*TensorRef); err != nil || !ok || !p.Parameter || pickle.Repr(p.State) != "{'tag': 'hi'}" {
		t.Errorf("parameter with state: %v, %v", v, err)
	}
	v, err = LoadFile("testdata/classes/subclass.pt")
	if err != nil {
		t.Fatal(err)
	}
	if x, ok := get(t, v, "image").(*TensorRef); !ok || x.DType != "uint8" || fmt.Sprint(x.Shape) != "[3 2 2]" {
		t.Errorf("a tensor of a class of its own: %v", get(t, v, "image"))
	}
	if x, ok := get(t, v, "boxes").(*TensorRef); !ok || x.State != nil {
		t.Errorf("a tensor of a class of its own: %v", get(t, v, "boxes"))
	}
	v, err = LoadFile("testdata/sd.pt")
	if err != nil {
		t.Fatal(err)
	}
	if d := v.(*pickle.Dict); d.Class != pickle.OrderedDict || !strings.Contains(pickle.Repr(d.Attrs), "_metadata") {
		t.Errorf("state dict has attributes %v", d.Attrs)
	}
}

func sample() (*pickle.Dict, *StorageRef) {
	s := &StorageRef{DType: "FloatStorage", NumElements: 6, Data: make([]byte, 24)}
	for i := range 6 {
		binary.LittleEndian.PutUint32(s.Data[4*i:], math.Float32bits(float32(i)))
	}
	d := pickle.NewDict(pickle.PlainDict)
	d.Set("a", &TensorRef{Storage: s, Shape: []int{2, 3}, Stride: []int{3, 1}})
	d.Set("b", &TensorRef{Storage: s, Offset: 1, Shape: []int{2}, Stride: []int{3}, Parameter: true,
		RequiresGrad: true})
	d.Set("f8", &TensorRef{Storage: &StorageRef{DType: "UntypedStorage", NumElements: 2,
		Source: func(w io.Writer) error {
			_, err := w.Write([]byte{1, 2})
			return err
		}}, DType: "float8_e4m3fn", Shape: []int{2}, Stride: []int{1}})
	d.Set("dtype", DType("bfloat16"))
	d.Set("device", Device{"cuda", 1})
	d.Set("size", Size{4, 5})
	d.Set("empty", &TensorRef{Storage: &StorageRef{DType: "LongStorage"}, Shape: []int{0}, Stride: []int{1}})
	return d, s
}

func TestRoundTrip(t *testing.T) {
	d, _ := sample()
	path := filepath.Join(t.TempDir(), "model.v1.pt")
	if err := SaveFile(path, d, SaveOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := SaveFile(path, d, SaveOptions{}); err != nil { // replaces
		t.Fatal(err)
	}
	left, _ := os.ReadDir(filepath.Dir(path))
	if len(left) != 1 {
		t.Errorf("%d files in the folder, want 1", len(left))
	}
	v, err := LoadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a, b := get(t, v, "a").(*TensorRef), get(t, v, "b").(*TensorRef)
	if a.Storage != b.Storage || b.Offset != 1 || !b.Parameter || floats(t, a)[5] != 5 {
		t.Errorf("a %+v, b %+v", a, b)
	}
	f8 := get(t, v, "f8").(*TensorRef)
	if f8.DType != "float8_e4m3fn" || !bytes.Equal(f8.Storage.Data, []byte{1, 2}) {
		t.Errorf("f8 %+v", f8)
	}
	if g := get(t, v, "dtype").(*pickle.Global); !g.Is("torch", "bfloat16") {
		t.Errorf("dtype %v", g)
	}
	if get(t, v, "device") != Value(Device{"cuda", 1}) {
		t.Errorf("device %v", get(t, v, "device"))
	}
	raw, _ := os.ReadFile(path)
	zr, err := NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if zr.Name() != "model.v1" {
		t.Errorf("archive name %q", zr.Name())
	}
	for _, r := range zr.Records() {
		off, err := zr.Offset(r)
		if err != nil || off%alignment != 0 {
			t.Errorf("record %s starts at %d (%v), want a multiple of %d", r, off, err, alignment)
		}
	}
}

func TestSaveErrors(t *testing.T) {
	s := &StorageRef{DType: "FloatStorage", NumElements: 2, Data: make([]byte, 8)}
	for name, v := range map[string]Value{
		"past the end":   &TensorRef{Storage: s, Shape: []int{3}, Stride: []int{1}},
		"no storage":     &TensorRef{Shape: []int{3}, Stride: []int{1}},
		"short data":     &StorageRef{DType: "FloatStorage", NumElements: 3, Data: make([]byte, 8)},
		"unknown class":  &StorageRef{DType: "Float", NumElements: 2},
		"no data":        &StorageRef{DType: "FloatStorage", NumElements: 2},
		"dtype mismatch": &TensorRef{Storage: s, DType: "int32", Shape: []int{2}, Stride: []int{1}},
		"short source": &StorageRef{DType: "ByteStorage", NumElements: 2,
			Source: func(io.Writer) error { return nil }},
		"unknown go type": struct{ X int }{1},
	} {
		dir := t.TempDir()
		if err := SaveFile(filepath.Join(dir, "x.pt"), v, SaveOptions{}); err == nil {
			t.Errorf("%s: saved", name)
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("%s: left %v behind", name, left)
		}
	}
}

// TestNames checks the order of the names against values from PyTorch: the number
// of records decides how often its hash table grows.
func TestNames(t *testing.T) {
	for name, want := range map[string]uint64{"": 6142509188972423790, "a": 4993892634952068459} {
		if got := hashString(name); got != want {
			t.Errorf("hash of %q is %d, want %d", name, got, want)
		}
	}
	for n, want := range map[int]uint64{300: 13402011482046020200, 3000: 7460312898770484889} {
		var s nameSet
		names := []string{"data.pkl", ".format_version", ".storage_alignment", "byteorder"}
		for i := range n {
			names = append(names, fmt.Sprintf("data/%d", i))
		}
		for _, name := range append(names, "version") {
			if !s.add(name) || s.add(name) || !s.has(name) {
				t.Fatal("a name is not in the set exactly once")
			}
		}
		if got := s.combinedHash(); got != want {
			t.Errorf("%d storages: hash %d, want %d", n, got, want)
		}
	}
}

// sparseWriter discards data but keeps headers, to write an archive of several
// gigabytes without a disk.
type sparseWriter struct {
	off    int64
	chunks map[int64][]byte
}

func (w *sparseWriter) Write(p []byte) (int, error) {
	if len(p) < 1<<16 {
		w.chunks[w.off] = bytes.Clone(p)
	}
	w.off += int64(len(p))
	return len(p), nil
}

func (w *sparseWriter) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	for at, c := range w.chunks {
		if at < off+int64(len(p)) && at+int64(len(c)) > off {
			if at >= off {
				copy(p[at-off:], c)
			} else {
				copy(p, c[off-at:])
			}
		}
	}
	if off+int64(len(p)) > w.off {
		return int(max(0, w.off-off)), io.EOF
	}
	return len(p), nil
}

func TestZip64(t *testing.T) {
	if testing.Short() {
		t.Skip("sums up 4 GiB")
	}
	out := &sparseWriter{chunks: map[int64][]byte{}}
	w, err := NewWriter(out, "huge")
	if err != nil {
		t.Fatal(err)
	}
	const size = 1<<32 + 64
	zeros := make([]byte, 1<<20)
	err = w.RecordFrom("data/0", size, func(dst io.Writer) error {
		for left := size; left > 0; left -= min(left, len(zeros)) {
			if _, err := dst.Write(zeros[:min(left, len(zeros))]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Record("data/1", []byte("after")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(out, out.off)
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Size("data/0"); n != size {
		t.Errorf("size %d, want %d", n, size)
	}
	for _, name := range r.Records() {
		if off, err := r.Offset(name); err != nil || off%alignment != 0 {
			t.Errorf("record %s at %d: %v", name, off, err)
		}
	}
	if b, err := r.ReadAll("data/1"); err != nil || string(b) != "after" {
		t.Errorf("got %q, %v", b, err)
	}
}

// archive makes a container with the given records, without our own checks.
func archive(records ...string) []byte {
	var buf bytes.Buffer
	zw := zip.NewWriter(&buf)
	for i := 0; i < len(records); i += 2 {
		w, _ := zw.CreateRaw(&zip.FileHeader{Name: records[i], Method: zip.Store,
			CRC32:            crc32.ChecksumIEEE([]byte(records[i+1])),
			CompressedSize64: uint64(len(records[i+1])), UncompressedSize64: uint64(len(records[i+1]))})
		io.WriteString(w, records[i+1])
	}
	zw.Close()
	return buf.Bytes()
}

func tensorPickle(numel, offset, dims, strides string) string {
	return "\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu" +
		numel + "tQ" + offset + dims + strides + "\x89NtR."
}

func TestHostile(t *testing.T) {
	good, _ := os.ReadFile("testdata/views.pt")
	flip := func(at int) []byte {
		b := bytes.Clone(good)
		b[at] ^= 0x40
		return b
	}
	at := bytes.Index(good, []byte{0, 0, 0x80, 0x3f}) // the first numbers of a storage
	one, two := "K\x01\x85", "K\x02\x85"
	for _, tt := range []struct {
		name string
		in   []byte
		text string
	}{
		{"empty", nil, "unexpected EOF"},
		{"not a file", []byte("hello world"), "malformed"},
		{"cut", good[:len(good)-30], "malformed"},
		{"no directory", good[:100], "malformed"},
		{"bad checksum of data", flip(at), "checksum"},
		{"bad checksum of pickle", flip(0x40 + 30), "malformed"},
		{"no folder", archive("data.pkl", "N."), "not in a folder"},
		{"two folders", archive("a/data.pkl", "N.", "b/version", "3"), "two folders"},
		{"twice", archive("a/data.pkl", "N.", "a/data.pkl", "N."), "occurs twice"},
		{"no pickle", archive("a/version", "3\n"), "no record"},
		{"byte order", archive("a/data.pkl", "N.", "a/byteorder", "middle"), "byte order"},
		{"TorchScript", archive("a/constants.pkl", "N."), "TorchScript"},
		{"no storage", archive("a/data.pkl", tensorPickle("K\x01", "K\x00", one, one)), "its record has -1"},
		{"short storage", archive("a/data.pkl", tensorPickle("K\x02", "K\x00", one, one), "a/data/0", "abcd"),
			"needs 8 bytes"},
		{"huge storage", archive("a/data.pkl",
			tensorPickle("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f", "K\x00", one, one), "a/data/0", "abcd"), "claims"},
		{"shape past the end", archive("a/data.pkl", tensorPickle("K\x01", "K\x00", two, one), "a/data/0", "abcd"),
			"reach past"},
		{"offset past the end", archive("a/data.pkl", tensorPickle("K\x01", "K\x01", one, one), "a/data/0", "abcd"),
			"reach past"},
		{"overflow", archive("a/data.pkl",
			tensorPickle("K\x01", "K\x00", "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x85", "K\x04\x85"), "a/data/0",
			"abcd"), "reach past"},
		{"endless expanded view", archive("a/data.pkl",
			tensorPickle("K\x01", "K\x00", "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x85", "K\x00\x85"), "a/data/0",
			"abcd"), "reach past"},
		{"negative", archive("a/data.pkl", tensorPickle("K\x01", "J\xff\xff\xff\xff", one, one), "a/data/0", "abcd"),
			"non-negative"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.pt")
			os.WriteFile(path, tt.in, 0o600)
			v, err := LoadFile(path)
			if err == nil {
				t.Fatalf("loaded %v", v)
			}
			if !strings.Contains(err.Error(), tt.text) || tt.name != "empty" && !errors.Is(err, ErrFormat) {
				t.Errorf("error %v, want %q", err, tt.text)
			}
		})
	}
}

func TestBigEndian(t *testing.T) {
	in := archive("a/data.pkl", tensorPickle("K\x01", "K\x00", "K\x01\x85", "K\x01\x85"), "a/byteorder", "big",
		"a/data/0", "\x3f\x80\x00\x00")
	v, err := Load(bytes.NewReader(in), int64(len(in)))
	if err != nil {
		t.Fatal(err)
	}
	if f := floats(t, v.(*TensorRef)); f[0] != 1 {
		t.Errorf("got %v, want 1", f)
	}
}

func TestSharedFiles(t *testing.T) {
	dir := filepath.Dir(shared.Path(t, "golden"))
	n := 0
	for _, sub := range []string{"testdata/pickle", "testdata/weights", "golden"} {
		filepath.Walk(filepath.Join(dir, sub), func(path string, st os.FileInfo, err error) error {
			if err != nil || st.IsDir() {
				return nil
			}
			switch filepath.Ext(path) {
			case ".pt", ".pth", ".th":
			default:
				return nil
			}
			f, err := os.Open(path)
			if err != nil {
				return nil
			}
			defer f.Close()
			_, err = Load(f, st.Size())
			if broken := filepath.Base(path) == "broken.pt"; (err != nil) != broken {
				t.Errorf("%s: %v", path, err)
			}
			n++
			return nil
		})
	}
	t.Logf("%d files", n)
}

func FuzzLoad(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.pt")
	for _, path := range files {
		b, _ := os.ReadFile(path)
		f.Add(b)
	}
	f.Add(archive("a/data.pkl", "N."))
	f.Add(oldest(f, tar.FormatGNU))
	f.Fuzz(func(t *testing.T, data []byte) {
		var all []*StorageRef
		v, err := LoadWith(bytes.NewReader(data), int64(len(data)),
			LoadOptions{onStorage: func(s *StorageRef) { all = append(all, s) }})
		if err != nil {
			return
		}
		for _, s := range all {
			if s.NumBytes() > int64(len(data))*1040 {
				t.Fatalf("storage of %d bytes in a file of %d", s.NumBytes(), len(data))
			}
		}
		reload(t, v)
	})
}

// reload saves a value that was loaded, if that is possible, and loads it again.
func reload(t *testing.T, v Value) {
	var buf bytes.Buffer
	if Save(&buf, v, SaveOptions{}) != nil {
		return // objects of other classes, views of one storage with two dtypes
	}
	if _, err := Load(bytes.NewReader(buf.Bytes()), int64(buf.Len())); err != nil {
		t.Fatalf("written, but not read: %v", err)
	}
}

// FuzzPickle gives the fuzzer a way around the checksums of the container.
func FuzzPickle(f *testing.F) {
	for _, name := range []string{"sd.pt", "views.pt", "odd.pt", "ttag.pt"} {
		b, _ := os.ReadFile("testdata/" + name)
		zr, err := NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			f.Fatal(err)
		}
		data, _ := zr.ReadAll("data.pkl")
		f.Add(data)
	}
	storage := strings.Repeat("x", 48)
	f.Fuzz(func(t *testing.T, data []byte) {
		in := archive("a/data.pkl", string(data), "a/data/0", storage, "a/data/1", storage[:8])
		v, err := Load(bytes.NewReader(in), int64(len(in)))
		if err != nil {
			return
		}
		if r, ok := v.(*TensorRef); ok && r.check() != nil {
			t.Fatal(r.check())
		}
		reload(t, v)
	})
}
