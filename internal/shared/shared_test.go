package shared

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPath(t *testing.T) {
	root := t.TempDir()
	for _, d := range []string{"shared/data", "repo/pkg/deep"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.FromSlash(d)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOTORCH_SHARED", "")
	t.Chdir(filepath.Join(root, "repo", "pkg", "deep"))
	want, err := os.Stat(filepath.Join(root, "shared", "data"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.Stat(Path(t, "data"))
	if err != nil || !os.SameFile(got, want) {
		t.Errorf("walking up found %v (%v), want shared/data beside the repository", got, err)
	}

	t.Setenv("GOTORCH_SHARED", filepath.Join(root, "shared"))
	if p := Path(t, "data"); p != filepath.Join(root, "shared", "data") {
		t.Errorf("with GOTORCH_SHARED: %s", p)
	}
	t.Run("absent", func(t *testing.T) {
		defer func() {
			if !t.Skipped() {
				t.Error("a missing file does not skip the test")
			}
		}()
		Path(t, "no", "such", "file")
	})
}
