package safezip

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func archive(t testing.TB, method uint16, names ...string) []byte {
	var buf bytes.Buffer
	zw := zip.NewWriter(&buf)
	for _, n := range names {
		w, err := zw.CreateHeader(&zip.FileHeader{Name: n, Method: method})
		if err == nil {
			_, err = io.WriteString(w, strings.Repeat("abc", 100))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestNewReader(t *testing.T) {
	good := archive(t, zip.Deflate, "a", "b")
	directory := bytes.Index(good, []byte("PK\x01\x02"))
	set := func(at int, b ...byte) []byte {
		out := bytes.Clone(good)
		copy(out[directory+at:], b)
		return out
	}
	for _, c := range []struct {
		name, says string
		file       []byte
	}{
		{"good", "", good},
		{"stored", "", archive(t, zip.Store, "a", "b")},
		{"twice", "occurs twice", archive(t, zip.Store, "a", "a")},
		{"encrypted", "encrypted", set(8, good[directory+8]|1)},
		{"method", "compression method 12", set(10, 12)},
		{"stored with two sizes", "has sizes", set(10, 0)},
		{"more than Deflate can code", "claims", set(24, 0xff, 0xff, 0xff, 0x7f)},
		{"longer than the file", "claims", set(20, 0xff, 0xff, 0xff, 0x7f)},
		{"past the end", "past the end", set(20, byte(len(good)))},
		{"of the second member's bytes", "overlap", set(20, byte(directory))},
		{"no archive", "not a valid zip", []byte("hello")},
		{"nothing", "not a valid zip", nil},
	} {
		zr, err := NewReader(bytes.NewReader(c.file), int64(len(c.file)))
		if c.says == "" {
			if err != nil || len(zr.File) != 2 {
				t.Errorf("%s: %v", c.name, err)
			}
		} else if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.says)
		}
	}
}

// FuzzNewReader reads the members of archives, which are no more than the file can hold.
func FuzzNewReader(f *testing.F) {
	f.Add(archive(f, zip.Deflate, "a", "b"))
	f.Add(archive(f, zip.Store, "a", "b/c"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ReadLocalHeader(bytes.NewReader(data), int64(len(data)), 0)
		zr, err := NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		total := int64(0)
		for _, m := range zr.File {
			if r, err := m.Open(); err == nil {
				n, _ := io.Copy(io.Discard, r)
				total += n
				r.Close()
			}
		}
		if total > MaxRatio*int64(len(data)) {
			t.Fatalf("%d bytes in a file of %d", total, len(data))
		}
	})
}
