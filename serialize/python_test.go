package serialize_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/serialize"
)

// script opens what Go saved, trains one step, and saves it again, with the optimizer.
const script = `
import sys, torch
m = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2))
m.load_state_dict(torch.load(sys.argv[1], weights_only=True))
o = torch.optim.SGD(m.parameters(), lr=0.5)
o.zero_grad()
(m(torch.arange(12.).reshape(4, 3)) ** 2).mean().backward()
o.step()
torch.save({"model": m.state_dict(), "optimizer": o.state_dict(), "shape": m[0].weight.shape}, sys.argv[2])
again = torch.load(sys.argv[3], weights_only=True)
assert list(again) == ["a", "n", "size", "view", "dt"] and again["size"] == torch.Size([2, 3]), again
assert again["a"].untyped_storage().data_ptr() == again["view"].untyped_storage().data_ptr()
`

// TestPython sends weights to Python and back: GOTORCH_PYTHON names a Python with PyTorch. Without it the test is
// skipped; that the files are PyTorch's byte for byte is tested in internal/torchzip without Python.
func TestPython(t *testing.T) {
	python := os.Getenv("GOTORCH_PYTHON")
	if python == "" {
		t.Skip("GOTORCH_PYTHON names no Python with PyTorch")
	}
	dir := t.TempDir()
	ours, theirs, values := filepath.Join(dir, "a.pt"), filepath.Join(dir, "b.pt"), filepath.Join(dir, "c.pt")
	m := nn.NewSequential(nn.NewLinear(3, 4), nn.NewBatchNorm1d(4), nn.NewLinear(4, 2))
	if err := torch.Save(ours, m.StateDict()); err != nil {
		t.Fatal(err)
	}
	a := torch.Arange(6).To(torch.Float32)
	if err := torch.Save(values, serialize.NewDict("a", a, "n", 3, "size", serialize.Size{2, 3}, "view",
		a.Narrow(0, 2, 2), "dt", torch.Float16)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(python, "-c", script, ours, theirs, values).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := serialize.LoadStateDict(theirs, serialize.LoadOptions{Entry: []string{"model"}})
	if err != nil {
		t.Fatal(err)
	}
	// The same step in Go.
	y := m.Forward(torch.Arange(12).To(torch.Float32).Reshape([]int{4, 3}))
	y.Mul(y).Mean().Backward()
	torch.NoGrad(func() {
		for _, p := range nn.Parameters(m) {
			p.SubInPlace(p.Grad().MulScalar(0.5))
		}
	})
	for k, x := range m.StateDict().All() {
		if !torch.AllClose(got.Get(k), x) {
			t.Errorf("%s: %v, want %v", k, got.Get(k), x)
		}
	}
	// What Python saved is the same, bit for bit, when it was loaded and saved here.
	v, err := serialize.LoadFile(theirs)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(theirs)
	if err != nil {
		t.Fatal(err)
	}
	s := same{seen: map[[2]any]bool{}}
	back, err := serialize.LoadBytes(saved(t, v))
	if err != nil || !s.value(v, back) || len(want) == 0 {
		t.Errorf("saved and loaded again: %v, %v", serialize.Repr(back), err)
	}
}
