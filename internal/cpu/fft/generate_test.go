package fft

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The committed assembly is what the generator writes today.
func TestGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go tool")
	}
	dir := t.TempDir()
	if out, err := exec.Command(goTool, "run", "../_asm/fft", "-out", dir).CombinedOutput(); err != nil {
		t.Fatalf("the generator failed: %v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "zz_*.s"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the generator wrote %d files: %v", len(files), err)
	}
	if old, err := filepath.Glob("zz_*.s"); err != nil || len(old) != len(files) {
		t.Errorf("the package has %d generated files (%v), the generator writes %d: remove the files that nothing "+
			"writes any more", len(old), err, len(files))
	}
	for _, file := range files {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate in internal/cpu/fft", name)
		}
	}
}
