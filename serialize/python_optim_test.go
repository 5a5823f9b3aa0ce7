package serialize_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// trainScript loads weights and the state of an optimizer that Go saved, where there is one, trains a step, and saves
// both.
const trainScript = `
import sys, torch
torch.set_num_threads(1)
def net(kind):
    if kind == "mlp":
        return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.BatchNorm1d(4),
                                   torch.nn.Linear(4, 2))
    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.GroupNorm(2, 4), torch.nn.Flatten(),
                               torch.nn.Linear(16, 2))
for line in sys.stdin:
    kind, name, args, source, to = line.rstrip("\n").split("|")
    m = net(kind).double()
    o = eval("torch.optim." + name)(m.parameters(), **eval("dict(" + args + ")"))
    d = torch.load(source, weights_only=True)
    m.load_state_dict(d["model"])
    if "optimizer" in d:
        o.load_state_dict(d["optimizer"])
    x = torch.arange(12 if kind == "mlp" else 96).double()
    x = x.reshape(4, 3) / 7 if kind == "mlp" else x.reshape(2, 3, 4, 4) / 50
    o.zero_grad()
    (m(x) ** 2).mean().backward()
    o.step()
    torch.save({"model": m.state_dict(), "optimizer": o.state_dict()}, to)
    print("done", flush=True)
`

// TestPythonTraining lets Python and Go train a network in turns, each from what the other one saved, beside Go alone:
// the weights, in float64, agree after each step, and what Python saved is the same after it was loaded and saved here.
func TestPythonTraining(t *testing.T) {
	python := os.Getenv("GOTORCH_PYTHON")
	if python == "" {
		t.Skip("GOTORCH_PYTHON names no Python with PyTorch")
	}
	dir := t.TempDir()
	cmd := exec.Command(python, "-c", trainScript)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = in.Close(), cmd.Wait() }()
	nets := map[string]func() (*nn.Sequential, *torch.Tensor){
		"mlp": func() (*nn.Sequential, *torch.Tensor) {
			return nn.NewSequential(nn.NewLinear(3, 4), nn.NewTanh(), nn.NewBatchNorm1d(4), nn.NewLinear(4, 2)),
				torch.Arange(12).Double().Reshape([]int{4, 3}).DivScalar(7)
		},
		"cnn": func() (*nn.Sequential, *torch.Tensor) {
			return nn.NewSequential(nn.NewConv2d(3, 4, nn.Size{3}), nn.NewGroupNorm(2, 4), nn.NewFlatten(),
				nn.NewLinear(16, 2)), torch.Arange(96).Double().Reshape([]int{2, 3, 4, 4}).DivScalar(50)
		},
	}
	for _, tc := range []struct {
		name, args string
		make       func(p []*torch.Tensor) optim.Optimizer
	}{
		{"SGD", "lr=0.1, momentum=0.9, nesterov=True", func(p []*torch.Tensor) optim.Optimizer {
			return optim.NewSGD(p, 0.1, optim.SGDOptions{Momentum: 0.9, Nesterov: true})
		}},
		{"Adam", "lr=0.01, amsgrad=True", func(p []*torch.Tensor) optim.Optimizer {
			return optim.NewAdam(p, 0.01, optim.AdamOptions{AMSGrad: true})
		}},
		{"AdamW", "lr=0.01", func(p []*torch.Tensor) optim.Optimizer { return optim.NewAdamW(p, 0.01) }},
		{"RMSprop", "lr=0.01", func(p []*torch.Tensor) optim.Optimizer { return optim.NewRMSprop(p, 0.01) }},
		{"Adagrad", "lr=0.05", func(p []*torch.Tensor) optim.Optimizer { return optim.NewAdagrad(p, 0.05) }},
		{"NAdam", "lr=0.01", func(p []*torch.Tensor) optim.Optimizer { return optim.NewNAdam(p, 0.01) }},
		{"Rprop", "lr=0.01", func(p []*torch.Tensor) optim.Optimizer { return optim.NewRprop(p, 0.01) }},
		{"Adadelta", "lr=1.0", func(p []*torch.Tensor) optim.Optimizer { return optim.NewAdadelta(p, 1) }},
	} {
		for kind, build := range nets {
			t.Run(tc.name+"/"+kind, func(t *testing.T) {
				torch.ManualSeed(0)
				alone, x := build()
				other, _ := build()
				nn.ToDType(alone, torch.Float64)
				nn.ToDType(other, torch.Float64)
				if err := nn.LoadStateDict(other, nn.StateDict(alone)); err != nil {
					t.Fatal(err)
				}
				step := func(m *nn.Sequential, o optim.Optimizer) {
					o.ZeroGrad()
					y := m.Forward(x)
					y.Mul(y).Mean().Backward()
					o.Step()
				}
				ours, theirs := filepath.Join(dir, "a.pt"), filepath.Join(dir, "b.pt")
				o := tc.make(nn.Parameters(alone))
				checkpoint := serialize.NewDict("model", nn.StateDict(other))
				for round := range 2 {
					if err := torch.Save(ours, checkpoint); err != nil {
						t.Fatal(err)
					}
					_, err := io.WriteString(in, strings.Join([]string{kind, tc.name, tc.args, ours, theirs}, "|")+"\n")
					if err != nil {
						t.Fatal(err)
					}
					if line, err := answers.ReadString('\n'); line != "done\n" {
						t.Fatalf("Python says %q: %v", line, err)
					}
					step(alone, o)
					v, err := serialize.LoadFile(theirs)
					if err != nil {
						t.Fatal(err)
					}
					s := same{seen: map[[2]any]bool{}}
					if back, err := serialize.LoadBytes(saved(t, v)); err != nil || !s.value(v, back) {
						t.Fatalf("saved and loaded again: %v, %v", serialize.Repr(back), err)
					}
					sd, err := serialize.LoadStateDict(theirs, serialize.LoadOptions{Entry: []string{"model"}})
					if err != nil {
						t.Fatal(err)
					}
					if err := nn.LoadStateDict(other, sd); err != nil {
						t.Fatal(err)
					}
					agree(t, round, "Python", alone, other)
					continued := tc.make(nn.Parameters(other))
					if err := continued.LoadStateDict(v.(*serialize.Dict).Get("optimizer").(*serialize.Dict)); err != nil {
						t.Fatal(err)
					}
					step(alone, o)
					step(other, continued)
					agree(t, round, "Go", alone, other)
					checkpoint = serialize.NewDict("model", nn.StateDict(other), "optimizer", continued.StateDict())
				}
			})
		}
	}
}

// agree compares the weights of two networks.
func agree(t *testing.T, round int, who string, want, got nn.Module) {
	t.Helper()
	for k, x := range nn.StateDict(want).All() {
		if y := nn.StateDict(got).Get(k); !torch.AllClose(y, x, torch.AllCloseOptions{Rtol: tensor.Some(1e-6),
			Atol: tensor.Some(1e-8)}) {
			t.Errorf("round %d, after a step in %s: %s is %v, want %v", round, who, k, y, x)
		}
	}
}
