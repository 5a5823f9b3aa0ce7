package mnist

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/shared"
)

// idx builds a file of unsigned bytes.
func idx(data []byte, dims ...uint32) []byte {
	b := []byte{0, 0, 8, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, d)
	}
	return append(b, data...)
}

func zip(t testing.TB, b []byte) []byte {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestRead(t *testing.T) {
	plain := idx([]byte{1, 2, 3, 4, 5, 6}, 3, 1, 2)
	for name, in := range map[string][]byte{"plain": plain, "gzip": zip(t, plain)} {
		a, err := Read(bytes.NewReader(in))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(a.Dims, []int{3, 1, 2}) || !slices.Equal(a.Data, []byte{1, 2, 3, 4, 5, 6}) {
			t.Errorf("%s: got %v %v", name, a.Dims, a.Data)
		}
	}
	if a, err := Read(bytes.NewReader(idx(nil, 0, 28, 28))); err != nil || len(a.Data) != 0 {
		t.Errorf("no images: %v, %v; want an empty array", a, err)
	}
	// More than the first piece, and not a multiple of it.
	big := bytes.Repeat([]byte{7, 9, 11}, 70_001)
	a, err := Read(bytes.NewReader(idx(big, 3, 70_001)))
	if err != nil || !bytes.Equal(a.Data, big) {
		t.Errorf("large: %v, or other data", err)
	}
}

func TestReadErrors(t *testing.T) {
	good := idx([]byte{1, 2, 3, 4}, 2, 2)
	z := zip(t, good)
	flip := func(b []byte, at int) []byte { b = slices.Clone(b); b[at] ^= 0xff; return b }
	for _, c := range []struct {
		name string
		in   []byte
		want string // in the message
	}{
		{"empty", nil, "the magic number"},
		{"short magic", good[:3], "the magic number"},
		{"not idx", []byte("PNG...."), "begins with"},
		{"float", []byte{0, 0, 13, 1, 0, 0, 0, 0}, "element type 0x0d"},
		{"no dimensions", []byte{0, 0, 8, 0}, "0 dimensions"},
		{"many dimensions", append([]byte{0, 0, 8, 200}, make([]byte, 800)...), "200 dimensions"},
		{"short dimensions", good[:9], "the dimensions"},
		{"short data", good[:len(good)-1], "3 data bytes, want 4"},
		{"trailing data", append(slices.Clone(good), 0), "data after the 4 bytes"},
		{"huge dimension", idx(nil, 0xffffffff), "4294967295"},
		{"huge product", idx(nil, 1<<29, 1<<29, 1<<29), "make more than"},
		{"overflow", idx(nil, 1<<16, 1<<16, 1<<16, 1<<16), "make more than"},
		{"promises a gigabyte", idx(nil, 1<<30), "0 data bytes, want 1073741824"},
		{"short gzip", z[:len(z)-9], "unexpected EOF"},
		{"gzip header", []byte{0x1f, 0x8b, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}, "gzip"},
		{"gzip checksum", flip(z, len(z)-5), "checksum"},
	} {
		a, err := Read(bytes.NewReader(c.in))
		if err == nil {
			t.Errorf("%s: no error, got %v", c.name, a)
			continue
		}
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %q, want an ErrFormat with %q", c.name, err, c.want)
		}
	}
}

// A header that promises a gigabyte must not cost one.
func TestReadAllocation(t *testing.T) {
	in := idx(make([]byte, 1000), 1<<30)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Read(bytes.NewReader(in)); err == nil {
		t.Fatal("no error")
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes allocated for a file of %d", n, len(in))
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestLoad(t *testing.T) {
	images, labels := idx([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 2, 2, 3), idx([]byte{9, 0}, 2)
	for _, dir := range []string{".", "MNIST/raw"} {
		for _, ext := range []string{"", ".gz"} {
			root := t.TempDir()
			for name, b := range map[string][]byte{"t10k-images-idx3-ubyte": images, "t10k-labels-idx1-ubyte": labels} {
				if ext != "" {
					b = zip(t, b)
				}
				write(t, filepath.Join(root, dir, name+ext), b)
			}
			s, err := Load(root, false)
			if err != nil {
				t.Errorf("%s %q: %v", dir, ext, err)
				continue
			}
			if s.Len() != 2 || s.Rows != 2 || s.Cols != 3 || s.Labels[0] != 9 || s.Image(1).GrayAt(2, 1).Y != 12 {
				t.Errorf("%s %q: got %+v", dir, ext, s)
			}
		}
	}
}

func TestLoadErrors(t *testing.T) {
	root := t.TempDir()
	_, err := Load(root, true)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("no files: error %v, want fs.ErrNotExist", err)
	}
	for _, want := range []string{
		filepath.Join(root, "train-images-idx3-ubyte"),
		filepath.Join(root, "MNIST", "raw", "train-images-idx3-ubyte.gz"),
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not name %s", err, want)
		}
	}

	images := idx(make([]byte, 8), 2, 2, 2)
	for _, c := range []struct {
		name           string
		images, labels []byte
		want           string
	}{
		{"label range", images, idx([]byte{3, 10}, 2), "label 1 is 10, want less than 10"},
		{"counts", images, idx([]byte{3}, 1), "2 images in"},
		{"swapped", idx([]byte{1, 2}, 2), idx([]byte{3, 1}, 2), "want 3 for images"},
		{"labels", images, images, "want 1 for labels"},
		{"damaged", images[:12], images, "ends within the dimensions"},
	} {
		root := t.TempDir()
		write(t, filepath.Join(root, "train-images-idx3-ubyte"), c.images)
		write(t, filepath.Join(root, "train-labels-idx1-ubyte"), c.labels)
		if _, err := Load(root, true); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

func TestRealFiles(t *testing.T) {
	root := shared.Path(t, "data/mnist")
	for _, c := range []struct {
		train  bool
		n      int
		labels []uint8 // the well-known first ones
	}{
		{true, 60_000, []uint8{5, 0, 4, 1, 9, 2, 1, 3, 1, 4}},
		{false, 10_000, []uint8{7, 2, 1, 0, 4, 1, 4, 9, 5, 9}},
	} {
		s, err := Load(root, c.train)
		if errors.Is(err, fs.ErrNotExist) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if s.Len() != c.n || s.Rows != 28 || s.Cols != 28 || !slices.Equal(s.Labels[:10], c.labels) {
			t.Errorf("train=%v: %d images %dx%d, labels %v", c.train, s.Len(), s.Rows, s.Cols, s.Labels[:10])
		}
	}
}

func FuzzRead(f *testing.F) {
	good := idx([]byte{1, 2, 3, 4}, 2, 2)
	f.Add(good)
	f.Add(zip(f, good))
	f.Add(good[:9])
	f.Add(idx(nil, 1<<31, 1<<31))
	f.Add(idx(nil, 0, 0, 0xffffffff))
	f.Fuzz(func(t *testing.T, in []byte) {
		const limit = 1 << 20
		a, err := read(bytes.NewReader(in), limit)
		if err != nil {
			return
		}
		n := 1
		for _, d := range a.Dims {
			n *= d
		}
		if n != len(a.Data) || n > limit {
			t.Errorf("dimensions %v but %d bytes", a.Dims, len(a.Data))
		}
		// What was accepted is canonical: writing it gives the file back.
		dims := make([]uint32, len(a.Dims))
		for i, d := range a.Dims {
			dims[i] = uint32(d)
		}
		if out := idx(a.Data, dims...); in[0] == 0 && !bytes.Equal(in, out) {
			t.Errorf("read %x, but it is written %x", in, out)
		}
	})
}
