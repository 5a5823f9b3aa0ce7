package mapfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gotorch-dev/torch/internal/mapfile"
)

// mapped counts the mappings of a file in this process.
func mapped(t *testing.T, name string) int {
	t.Helper()
	b, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip(err)
	}
	return strings.Count(string(b), name)
}

// TestMap reads and writes a mapping, and sees that it lives as long as a slice of it and no longer.
func TestMap(t *testing.T) {
	for _, size := range []int{1, 4096, 100_000, 5_000_001} {
		want := make([]byte, size)
		for i := range want {
			want[i] = byte(i * 7)
		}
		path := filepath.Join(t.TempDir(), "mapped-file")
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := mapfile.Map(f, int64(size))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b, want) {
			t.Fatalf("%d bytes: the mapping holds something else than the file", size)
		}
		last := b[size-1:]
		runtime.GC()
		runtime.GC()
		if last[0] != want[size-1] || mapped(t, path) == 0 {
			t.Fatalf("%d bytes: the mapping is gone while a slice of it is left", size)
		}
		last[0]++
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes: writing to the mapping changed the file (%v)", size, err)
		}
		runtime.KeepAlive(last)
		b = nil
		for range 50 {
			runtime.GC()
			if time.Sleep(5 * time.Millisecond); mapped(t, path) == 0 {
				break
			}
		}
		if mapped(t, path) != 0 {
			t.Errorf("%d bytes: still mapped when nothing refers to it", size)
		}
		// The heap must be usable where the mapping was.
		for range 20 {
			clear(make([]byte, size))
		}
	}
}

// TestMapRefuses gives what cannot be mapped.
func TestMapRefuses(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for _, size := range []int64{0, -1, 100, 1<<63 - 1} {
		if _, err := mapfile.Map(r, size); err == nil {
			t.Errorf("a pipe was mapped as %d bytes", size)
		}
	}
}
