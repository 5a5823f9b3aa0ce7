package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The committed files must be what the generator writes now: run go generate ./... when this fails.
func TestGeneratedFilesAreFresh(t *testing.T) {
	root, out := filepath.Join("..", ".."), t.TempDir()
	generate(root, out)
	n := 0
	for _, dir := range []string{".", "tensor", filepath.Join("nn", "functional"), filepath.Join("internal", "fused")} {
		names := map[string]bool{}
		for _, base := range []string{root, out} {
			files, err := filepath.Glob(filepath.Join(base, dir, "zz_*.go"))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				names[filepath.Base(f)] = true
			}
		}
		for name := range names {
			old, err1 := os.ReadFile(filepath.Join(root, dir, name))
			now, err2 := os.ReadFile(filepath.Join(out, dir, name))
			if err1 != nil || err2 != nil || !bytes.Equal(old, now) {
				t.Errorf("%s is stale: run go generate ./...", filepath.Join(dir, name))
			}
			n++
		}
	}
	if n == 0 {
		t.Fatal("no generated files found")
	}
}
