package nn_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// What was read for a module is freed when it has been copied: at once with Release, at the end of a Tidy without.
func TestLoadStateDictRelease(t *testing.T) {
	if mem.Guarded {
		t.Skip("guarded pieces are kept until the check")
	}
	m := nn.NewSequential(nn.NewLinear(300, 200), nn.NewLinear(200, 300))
	var file bytes.Buffer
	if err := serialize.Save(&file, nn.StateDict(m)); err != nil {
		t.Fatal(err)
	}
	read := func() *tensor.StateDict {
		v, err := serialize.LoadBytes(file.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		sd, err := v.(*serialize.Dict).StateDict()
		if err != nil {
			t.Fatal(err)
		}
		return sd
	}
	const bytesOfFile = 2 * 300 * 200 * 4
	for _, c := range []struct {
		name string
		opts nn.LoadOptions
		in   func(func())
	}{
		{"Release", nn.LoadOptions{Release: true}, func(f func()) { f() }},
		{"Tidy", nn.LoadOptions{}, tensor.Tidy},
		{"both", nn.LoadOptions{Release: true}, tensor.Tidy},
	} {
		sd := (*tensor.StateDict)(nil)
		before := mem.ReadStats()
		c.in(func() {
			sd = read()
			sd.Set("1.weight", sd.Get("1.weight").View([]int{300, 200})) // shares memory with what it replaces
			if got := mem.ReadStats().Allocated - before.Allocated; got < bytesOfFile {
				t.Errorf("%s: the file takes %d bytes", c.name, got)
			}
			if err := nn.LoadStateDict(m, sd, c.opts); err != nil {
				t.Fatal(c.name, err)
			}
		})
		after := mem.ReadStats()
		if after.FreedAtOnce-before.FreedAtOnce < 2 {
			t.Errorf("%s: %d blocks freed, want both weights", c.name, after.FreedAtOnce-before.FreedAtOnce)
		}
		if err := tensor.Try(func() { sd.Get("0.weight").Sum() }); !errors.Is(err, tensor.ErrReleased) {
			t.Errorf("%s: the state dict's tensor is still there: %v", c.name, err)
		}
		m.Forward(tensor.New([]int{1, 300}, tensor.Float32)) // the module's are
	}
}

// Tensors that share memory are all copied before it is freed, and the module's own tensors are left alone.
func TestLoadStateDictReleaseShared(t *testing.T) {
	a, b := nn.NewLinear(100, 100), nn.NewLinear(100, 100)
	m := nn.NewSequential(a, b)
	w := tensor.New([]int{100, 100}, tensor.Float32)
	tensor.ZeroRaw(w)
	sd := nn.StateDict(m)
	sd.Set("0.weight", w)
	sd.Set("1.weight", w.T())
	if err := nn.LoadStateDict(m, sd, nn.LoadOptions{Release: true}); err != nil {
		t.Fatal(err)
	}
	if !w.IsReleased() || a.Bias.IsReleased() || b.Bias.IsReleased() {
		t.Errorf("freed: %v, the module's own biases: %v, %v", w.IsReleased(), a.Bias.IsReleased(), b.Bias.IsReleased())
	}
	if a.Weight.Abs().Sum().Item() != 0 || b.Weight.Abs().Sum().Item() != 0 {
		t.Error("not copied")
	}
}
