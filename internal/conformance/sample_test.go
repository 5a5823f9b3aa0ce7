package conformance

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
)

// extract unpacks the archives in the folder sample, which every clone has, and returns the folder of their files.
func extract(t *testing.T) string {
	t.Helper()
	archives, err := filepath.Glob("sample/*.zip")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no sample: %v", err)
	}
	dir := t.TempDir()
	for _, a := range archives {
		unzip(t, a, dir)
	}
	return dir
}

func unzip(t *testing.T, archive, dir string) {
	t.Helper()
	z, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		path, err := golden.Path(dir, filepath.FromSlash(f.Name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSample runs the gates over the sample of PyTorch's results that lies in the repository. Each of its files has to
// be one that a gate looks at.
func TestSample(t *testing.T) {
	dir := extract(t)
	want, ran := 0, 0
	for _, g := range Gates {
		sub := filepath.Join(dir, strings.TrimPrefix(g.Folder, "golden/"))
		if _, err := os.Stat(sub); err != nil {
			continue // coco, recordio and tensorboard have samples in the tests of their packages
		}
		want++
		t.Run(g.Kind, func(t *testing.T) {
			ran++
			check(t, g, "sample/"+g.Kind, sub)
		})
	}
	if ran != want { // -run chose some
		return
	}
	if want < 7 {
		t.Errorf("the sample is for %d gates, want 7", want)
	}
	every(t, dir, func(path string) {
		if !golden.Noted(path) {
			t.Errorf("no runner looks at %s", path)
		}
	})
}
