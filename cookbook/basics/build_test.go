package basics_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
)

// What the program was built from and what its kernels use: torch.__version__ and torch.__config__.show() in Python.
func TestBuildSummary(t *testing.T) {
	if torch.Version() == "" || !strings.HasPrefix(torch.PyTorchVersion, "2.") {
		t.Errorf("version %q, follows PyTorch %q", torch.Version(), torch.PyTorchVersion)
	}
	lines := strings.Split(strings.TrimSuffix(torch.ConfigShow(), "\n"), "\n")
	if lines[0] != "GoTorch built with:" {
		t.Errorf("heading %q", lines[0])
	}
	for _, l := range lines[1:] {
		if !strings.HasPrefix(l, "  - ") {
			t.Errorf("%q is no item", l)
		}
	}
	for _, part := range []string{runtime.Version()[2:], runtime.GOARCH, "CPU kernels", "LAPACK", "threads"} {
		if !strings.Contains(torch.ConfigShow(), part) {
			t.Errorf("nothing is said of %s in\n%s", part, torch.ConfigShow())
		}
	}
	for _, f := range torch.BuildFlags() {
		if k, v, ok := strings.Cut(f, "="); !ok || k == "" || v == "" {
			t.Errorf("%q is no setting", f)
		}
	}
}

// Operators run on the goroutine that calls them and share their loops out: there is one pool of threads.
func TestThreads(t *testing.T) {
	if n := torch.GetNumThreads(); n < 1 || torch.GetNumInteropThreads() < 1 {
		t.Errorf("%d and %d threads", n, torch.GetNumInteropThreads())
	}
}

// A device that the program does not have, and an operator over two devices, are errors that name them.
func TestDevicesDoNotMix(t *testing.T) {
	x := torch.Ones([]int{2})
	if err := torch.Try(func() { x.Add(torch.Ones([]int{2}, torch.OnesOptions{Device: torch.Meta})) }); err == nil ||
		!strings.Contains(err.Error(), "cpu") || !strings.Contains(err.Error(), "meta") {
		t.Errorf("two devices: %v", err)
	}
	if _, err := torch.ParseDevice("cuda:0"); err == nil || !strings.Contains(err.Error(), "cuda") {
		t.Errorf("no such device: %v", err)
	}
}
