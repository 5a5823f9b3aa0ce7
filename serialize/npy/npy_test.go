package npy

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/shared"
)

// file makes a .npy by hand.
func file(version byte, header string, data string) []byte {
	out := append([]byte(magic), version, 0)
	if version == 1 {
		out = binary.LittleEndian.AppendUint16(out, uint16(len(header)))
	} else {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(header)))
	}
	return append(append(out, header...), data...)
}

func TestRead(t *testing.T) {
	tests := []struct {
		name    string
		version byte
		header  string
		data    string
		want    Array
	}{
		{"plain", 1, "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }  \n", "\x01\x00\x02\x00",
			Array{"int16", []int{2}, false, []byte{1, 0, 2, 0}}},
		{"version 2", 2, "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2), }\n", "ab",
			Array{"uint8", []int{1, 2}, false, []byte("ab")}},
		{"version 3", 3, "{'descr': '|b1', 'fortran_order': True, 'shape': (2, 1), }\n", "\x01\x00",
			Array{"bool", []int{2, 1}, true, []byte{1, 0}}},
		{"scalar", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n", "\x00\x00\x80\x3f",
			Array{"float32", []int{}, false, []byte{0, 0, 0x80, 0x3f}}},
		{"big-endian", 1, "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }\n", "\x3f\x80\x00\x00",
			Array{"float32", []int{1}, false, []byte{0, 0, 0x80, 0x3f}}},
		{"big-endian complex", 1, "{'descr': '>c8', 'fortran_order': False, 'shape': (1,), }\n",
			"\x3f\x80\x00\x00\x40\x00\x00\x00",
			Array{"complex64", []int{1}, false, []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}}},
		{"empty", 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 9223372036854775807), }\n", "",
			Array{"float64", []int{0, math.MaxInt}, false, []byte{}}},
		{"Python 2", 1, "{\"descr\": '<f8', 'shape': (0L,), 'fortran_order': False}", "",
			Array{"float64", []int{0}, false, []byte{}}},
		{"text", 1, "{'descr': '>U2', 'fortran_order': False, 'shape': (1,)}", "\x00\x00\x00a\x00\x00\x00b",
			Array{"<U2", []int{1}, false, []byte("a\x00\x00\x00b\x00\x00\x00")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if strings.Contains(tt.header, "9223372036854775807") && math.MaxInt == math.MaxInt32 {
				t.Skip("32 bits")
			}
			got, err := Read(bytes.NewReader(file(tt.version, tt.header, tt.data)))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(*got, tt.want) {
				t.Errorf("got %+v, want %+v", *got, tt.want)
			}
		})
	}
}

func TestReadErrors(t *testing.T) {
	h := func(descr, order, shape string) []byte {
		return file(1, "{'descr': "+descr+", 'fortran_order': "+order+", 'shape': "+shape+", }", "abcd")
	}
	for _, tt := range []struct {
		name string
		in   []byte
		want error
	}{
		{"empty", nil, ErrFormat},
		{"magic", []byte("\x93NUMPX\x01\x00\x00\x00"), ErrFormat},
		{"version", []byte("\x93NUMPY\x04\x00\x00\x00"), ErrFormat},
		{"long header", []byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"), ErrFormat},
		{"cut header", []byte("\x93NUMPY\x01\x00\x40\x00{'descr'"), ErrFormat},
		{"short data", h("'<f8'", "False", "(1,)"), ErrFormat},
		{"lie", h("'<f8'", "False", "(1000000000000,)"), ErrFormat},
		{"overflow", h("'<f8'", "False", "(4294967296, 4294967296, 2)"), ErrFormat},
		{"negative", h("'<f4'", "False", "(-1,)"), ErrFormat},
		{"not a tuple", h("'<f4'", "False", "(1)"), ErrFormat},
		{"text in shape", h("'<f4'", "False", "('a',)"), ErrFormat},
		{"order", h("'<f4'", "1", "(1,)"), ErrFormat},
		{"call", h("__import__('os')", "False", "(1,)"), ErrFormat},
		{"escape", h(`'\x41'`, "False", "(1,)"), ErrFormat},
		{"extra key", file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", "abcd"), ErrFormat},
		{"trailing", file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} + 1", "abcd"), ErrFormat},
		{"deep", file(1, strings.Repeat("(", 60000), ""), ErrFormat},
		{"object", h("'|O'", "False", "(1,)"), ErrObject},
		{"struct", h("[('a', '<f3')]", "False", "(1,)"), ErrDType},
		{"date", h("'<M8[;]'", "False", "(1,)"), ErrDType},
		{"size", h("'<f3'", "False", "(1,)"), ErrDType},
		{"huge text", h("'<U99999999999'", "False", "(1,)"), ErrDType},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, err := Read(bytes.NewReader(tt.in))
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, %v, want %v", a, err, tt.want)
			}
		})
	}
}

// TestWrite compares with the bytes of numpy.save.
func TestWrite(t *testing.T) {
	pad := func(s string, n int) string { return s + strings.Repeat(" ", n-len(s)-1) + "\n" }
	for _, tt := range []struct {
		a      Array
		header string
	}{
		{Array{"float32", []int{2, 3}, false, make([]byte, 24)},
			pad("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 118)},
		{Array{"bool", []int{2}, false, make([]byte, 2)},
			pad("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", 118)},
		{Array{"int64", nil, false, make([]byte, 8)},
			pad("{'descr': '<i8', 'fortran_order': False, 'shape': (), }", 118)},
		{Array{"complex128", []int{1, 1}, true, make([]byte, 16)},
			pad("{'descr': '<c16', 'fortran_order': True, 'shape': (1, 1), }", 118)},
	} {
		var buf bytes.Buffer
		if err := Write(&buf, &tt.a); err != nil {
			t.Fatal(err)
		}
		if want := file(1, tt.header, string(tt.a.Data)); !bytes.Equal(buf.Bytes(), want) {
			t.Errorf("got  %q\nwant %q", buf.Bytes(), want)
		}
	}
	for _, a := range []Array{
		{"float32", []int{2}, false, make([]byte, 7)},
		{"float32", []int{-1}, false, nil},
		{"float32", []int{1 << 30, 1 << 30, 1 << 30}, false, nil},
		{"bfloat16", []int{1}, false, make([]byte, 2)},
		{"", nil, false, nil},
	} {
		if err := Write(&bytes.Buffer{}, &a); err == nil {
			t.Errorf("wrote %+v", a)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	arrays := map[string]*Array{}
	for dtype := range codes {
		size := ElementSize(dtype)
		data := make([]byte, 6*size)
		for i := range data {
			data[i] = byte(i)
		}
		arrays[dtype] = &Array{dtype, []int{2, 3}, dtype == "int8", data}
	}
	for dtype, a := range arrays {
		path := filepath.Join(dir, dtype+".npy")
		if err := WriteFile(path, a); err != nil {
			t.Fatal(err)
		}
		got, err := ReadFile(path)
		if err != nil || !reflect.DeepEqual(got, a) {
			t.Errorf("%s: got %v, %v", dtype, got, err)
		}
	}
	for _, compressed := range []bool{false, true} {
		path := filepath.Join(dir, "all.npz")
		err := WriteNPZ(path, compressed, func(z *NPZWriter) error {
			for name, a := range arrays {
				if err := z.Write(name, a); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadNPZ(path)
		if err != nil || !reflect.DeepEqual(got, arrays) {
			t.Errorf("npz, compressed %v: %v", compressed, err)
		}
	}
	err := WriteNPZ(filepath.Join(dir, "bad.npz"), false, func(z *NPZWriter) error {
		z.Write("a", arrays["bool"])
		return z.Write("a", arrays["bool"])
	})
	if _, serr := os.Stat(filepath.Join(dir, "bad.npz")); err == nil || serr == nil {
		t.Errorf("a failed archive: %v, %v", err, serr)
	}
}

func TestNPZChecksum(t *testing.T) {
	var buf bytes.Buffer
	z := NewNPZWriter(&buf, false)
	z.Write("a", &Array{"uint8", []int{4}, false, []byte("WXYZ")})
	z.Close()
	b := buf.Bytes()
	b[bytes.Index(b, []byte("WXYZ"))] ^= 1
	r, err := NewNPZ(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if a, err := r.Read("a"); !errors.Is(err, ErrFormat) {
		t.Errorf("got %v, %v, want a checksum error", a, err)
	}
}

func TestRowMajor(t *testing.T) {
	a := &Array{"uint8", []int{2, 3, 2}, true, []byte{0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11}}
	got := a.RowMajor()
	if want := []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}; !bytes.Equal(got.Data, want) || got.FortranOrder {
		t.Errorf("got %v, want %v", got.Data, want)
	}
	if got.RowMajor() != got {
		t.Error("an array in row-major order was copied")
	}
}

func TestSharedFiles(t *testing.T) {
	dir := filepath.Dir(shared.Path(t, "golden"))
	n := 0
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		switch filepath.Ext(path) {
		case ".npy":
			_, err = ReadFile(path)
		case ".npz":
			_, err = ReadNPZ(path)
		default:
			return nil
		}
		n++
		if strings.Contains(path, "objarr") {
			if !errors.Is(err, ErrObject) {
				t.Errorf("%s: got %v, want ErrObject", path, err)
			}
		} else if err != nil {
			t.Error(err)
		}
		return nil
	})
	t.Logf("%d files", n)
}

func FuzzRead(f *testing.F) {
	f.Add(file(1, "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }  \n", "\x01\x00\x02\x00"))
	f.Add(file(2, "{'descr': '>c16', 'fortran_order': True, 'shape': (1, 1), }", "0123456789abcdef"))
	f.Add(file(3, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (), }", "abcd"))
	f.Add(file(1, "{'descr': '<U3', 'fortran_order': False, 'shape': (0,), }", ""))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		if len(a.Data) > len(data) {
			t.Fatalf("%d bytes of data from %d", len(a.Data), len(data))
		}
		var buf bytes.Buffer
		if err := Write(&buf, a); err != nil {
			// Only an overflow hidden by a zero dimension may stop it.
			if len(a.Data) != 0 {
				t.Fatal(err)
			}
			return
		}
		back, err := Read(&buf)
		if err != nil || !reflect.DeepEqual(a, back) {
			t.Fatalf("got %+v, %v, want %+v", back, err, a)
		}
		a.RowMajor()
	})
}

func FuzzNPZ(f *testing.F) {
	for _, compressed := range []bool{false, true} {
		var buf bytes.Buffer
		z := NewNPZWriter(&buf, compressed)
		z.Write("a", &Array{"uint8", []int{4}, false, []byte("WXYZ")})
		z.Close()
		f.Add(buf.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		z, err := NewNPZ(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		total := 0
		for _, name := range z.Names() {
			if a, err := z.Read(name); err == nil {
				total += len(a.Data)
			}
		}
		if total > 1040*len(data) {
			t.Fatalf("%d bytes of arrays in a file of %d", total, len(data))
		}
	})
}

// TestNPZOverlap puts one array into an archive under a thousand names.
func TestNPZOverlap(t *testing.T) {
	var array, body, archive bytes.Buffer
	a := &Array{DType: "uint8", Shape: []int{8 << 20}, Data: make([]byte, 8<<20)}
	fw, err := flate.NewWriter(&body, flate.BestCompression)
	if err := errors.Join(err, Write(&array, a), copyTo(fw, array.Bytes()), fw.Close()); err != nil {
		t.Fatal(err)
	}
	const names = 1000
	zw := zip.NewWriter(&archive)
	h := &zip.FileHeader{Name: "0000.npy", Method: zip.Deflate, CRC32: crc32.ChecksumIEEE(array.Bytes()),
		CompressedSize64: uint64(body.Len()), UncompressedSize64: uint64(array.Len())}
	w, err := zw.CreateRaw(h)
	if err := errors.Join(err, copyTo(w, body.Bytes()), zw.Close()); err != nil {
		t.Fatal(err)
	}
	// The directory of one member, a thousand times with other names, and the end with their number and size.
	b := archive.Bytes()
	at := bytes.LastIndex(b, []byte("PK\x01\x02"))
	end := bytes.LastIndex(b, []byte("PK\x05\x06"))
	entry, tail := b[at:end], bytes.Clone(b[end:])
	out := bytes.Clone(b[:at])
	for i := range names {
		out = append(out, bytes.Replace(entry, []byte("0000.npy"), fmt.Appendf(nil, "%04d.npy", i), 1)...)
	}
	le := binary.LittleEndian
	le.PutUint16(tail[8:], names)
	le.PutUint16(tail[10:], names)
	le.PutUint32(tail[12:], uint32(names*len(entry)))
	out = append(out, tail...)
	path := filepath.Join(t.TempDir(), "a.npz")
	if err := os.WriteFile(path, out, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadNPZ(path); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("%d bytes that claim %d arrays of %d: got %v", len(out), names, len(a.Data), err)
	}
}

// TestNPZBomb claims 32 GB in one array of a file of 33 MB.
func TestNPZBomb(t *testing.T) {
	var b bytes.Buffer
	zw := zip.NewWriter(&b)
	body := make([]byte, 1<<35/1030)
	w, err := zw.CreateRaw(&zip.FileHeader{Name: "a.npy", Method: zip.Deflate, CompressedSize64: uint64(len(body)),
		UncompressedSize64: 1 << 35})
	path := filepath.Join(t.TempDir(), "a.npz")
	if err := errors.Join(err, copyTo(w, body), zw.Close(), os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadNPZ(path); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "OpenNPZ") {
		t.Errorf("got %v", err)
	}
}

func copyTo(w io.Writer, b []byte) error {
	_, err := w.Write(b)
	return err
}
