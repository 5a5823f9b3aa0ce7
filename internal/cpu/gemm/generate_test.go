package gemm

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
	if out, err := exec.Command(goTool, "run", "../_asm/gemm", "-out", dir).CombinedOutput(); err != nil {
		t.Fatalf("the generator failed: %v\n%s", err, out)
	}
	for _, name := range []string{"avx512_amd64.s", "avx2_amd64.s", "neon_arm64.s", "low_amd64.s"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate in internal/cpu/gemm", name)
		}
	}
}
