package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeProgram builds and runs the program that README shows for a module of one's own, in such a module, with a
// replace directive in place of the download.
func TestReadmeProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("it links a program")
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip(err)
	}
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(repo, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```go\n// main.go\n(.*?)```").FindSubmatch(readme)
	if m == nil {
		t.Fatal("README shows no main.go")
	}
	mod, err := os.ReadFile(filepath.Join(repo, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(repo, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	own := strings.Replace(string(mod), "module github.com/gotorch-dev/torch", "module hello", 1) +
		"\nrequire github.com/gotorch-dev/torch v0.0.0\nreplace github.com/gotorch-dev/torch => " + repo + "\n"
	for name, b := range map[string][]byte{"main.go": m[1], "go.mod": []byte(own), "go.sum": sum} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(goTool, "run", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "tensor([[0.") {
		t.Errorf("%v\n%s", err, out)
	}
}
