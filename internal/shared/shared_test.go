package shared

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// recorder is a test that only notes how it ended.
type recorder struct {
	testing.TB
	skipped, failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Skipf(string, ...any)  { r.skipped = true; runtime.Goexit() }
func (r *recorder) Fatalf(string, ...any) { r.failed = true; runtime.Goexit() }

func TestPath(t *testing.T) {
	root := t.TempDir()
	for _, d := range []string{"shared/data", "repo/pkg/deep"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.FromSlash(d)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(variable, "")
	t.Chdir(filepath.Join(root, "repo", "pkg", "deep"))
	want, err := os.Stat(filepath.Join(root, "shared", "data"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.Stat(Path(t, "data"))
	if err != nil || !os.SameFile(got, want) {
		t.Errorf("walking up found %v (%v), want shared/data beside the repository", got, err)
	}
	// end runs Path as a test of its own.
	end := func(elem ...string) recorder {
		r, done := &recorder{TB: t}, make(chan bool)
		go func() {
			defer close(done)
			Path(r, elem...)
		}()
		<-done
		return *r
	}
	if r := end("no", "such", "file"); !r.skipped || r.failed {
		t.Error("a missing file does not skip the test")
	}
	if p := Find(t, "no", "such", "file"); p != "" {
		t.Errorf("found %s", p)
	}

	t.Setenv(variable, filepath.Join(root, "shared"))
	if p := Path(t, "data"); p != filepath.Join(root, "shared", "data") {
		t.Errorf("with %s: %s", variable, p)
	}
	if r := end("golden"); r.skipped || !r.failed {
		t.Errorf("a file that the folder named by %s lacks does not fail the test", variable)
	}
	t.Setenv(variable, filepath.Join(root, "elsewhere"))
	if r := end("data"); r.skipped || !r.failed {
		t.Errorf("a wrong %s does not fail the test", variable)
	}
}
