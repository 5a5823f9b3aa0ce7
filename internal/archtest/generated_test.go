package archtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The committed kernels are what their generators write today.
func TestGeneratedKernels(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go tool")
	}
	cpu := filepath.Join("..", "cpu")
	for _, c := range []struct{ pkg, asm, main, files string }{
		{"conv", "_asm", "./conv", "zz_*.s"},
		{"fft", "_asm", "./fft", "zz_*.s"},
		{"gemm", "_asm", "./gemm", "zz_*.s"},
		{"quant", "_asm", "./quant", "zz_*.s"},
		{"vec", filepath.Join("vec", "_asm"), ".", "zz_*"},
	} {
		t.Run(c.pkg, func(t *testing.T) {
			dir, pkg := t.TempDir(), filepath.Join(cpu, c.pkg)
			cmd := exec.Command(goTool, "-C", filepath.Join(cpu, c.asm), "run", c.main, "-out", dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("the generator failed: %v\n%s", err, out)
			}
			files, err := filepath.Glob(filepath.Join(dir, c.files))
			if err != nil || len(files) == 0 {
				t.Fatalf("the generator wrote %d files: %v", len(files), err)
			}
			if old, err := filepath.Glob(filepath.Join(pkg, c.files)); err != nil || len(old) != len(files) {
				t.Errorf("the package has %d generated files (%v), the generator writes %d: remove the files that "+
					"nothing writes any more", len(old), err, len(files))
			}
			for _, file := range files {
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				name := filepath.Join(pkg, filepath.Base(file))
				if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s is stale: run go generate in internal/cpu/%s", name, c.pkg)
				}
			}
		})
	}
}
