package summary_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/summary"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/models"
)

// Inner, User and NoLSTM are the modules of testdata/make.py.
type Inner struct {
	nn.Base
	Conv  *nn.Conv1d
	Act   *nn.ReLU
	Scale *torch.Tensor
}

func newInner() *Inner {
	return nn.New(&Inner{Conv: nn.NewConv1d(4, 4, 3, nn.Conv1dOptions{Padding: nn.Size{1}}), Act: nn.NewReLU(),
		Scale: nn.NewParameter(torch.Ones([]int{4, 1}))})
}

func (m *Inner) Forward(x *torch.Tensor) *torch.Tensor {
	return m.Run(m, x, func(x *torch.Tensor) *torch.Tensor { return m.Act.Forward(m.Conv.Forward(x)).Mul(m.Scale) })
}

type User struct {
	nn.Base
	Blocks *nn.ModuleList
	Twice  *Inner
	Pool   *nn.MaxPool1d
	LSTM   *nn.LSTM `torch:"lstm"`
	Head   *nn.Sequential
}

func newUser() *User {
	m := nn.New(&User{Blocks: nn.NewModuleList(newInner(), newInner()), Twice: newInner(), Pool: nn.NewMaxPool1d(2),
		LSTM: nn.NewLSTM(8, 5, nn.RNNOptions{BatchFirst: true}),
		Head: nn.NewSequential(nn.NewLinear(5, 3), nn.NewDropout())})
	for name, p := range nn.NamedParameters(m) {
		if strings.HasPrefix(name, "blocks.0.") || name == "head.0.bias" {
			p.SetRequiresGrad(false)
		}
	}
	return m
}

func (m *User) Forward(x *torch.Tensor) *torch.Tensor {
	for b := range nn.Children(m.Blocks) {
		x = b.(nn.Layer).Forward(x)
	}
	x = m.Pool.Forward(m.Twice.Forward(m.Twice.Forward(x)))
	y, _, _ := m.LSTM.Forward(x)
	return m.Head.Forward(y)
}

// NoLSTM runs the pool last.
type NoLSTM struct{ User }

func (m *NoLSTM) Forward(x *torch.Tensor) *torch.Tensor {
	for b := range nn.Children(m.Blocks) {
		x = b.(nn.Layer).Forward(x)
	}
	return m.Pool.Forward(m.Twice.Forward(m.Twice.Forward(x)))
}

// compare compares a table with what the Python packages printed.
func compare(t *testing.T, name, got string, err error) {
	t.Helper()
	b, rerr := os.ReadFile("testdata/" + name + ".txt")
	if err != nil || rerr != nil {
		t.Errorf("%s: %v, %v", name, err, rerr)
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(b), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Errorf("%s, line %d:\n%s\nwant\n%s", name, i+1, g[i], w[i])
			return
		}
	}
	if len(g) != len(w) {
		t.Errorf("%s: %d lines, want %d", name, len(g), len(w))
	}
}

// Blocks of this network are types that embed a Sequential; a row each has their shapes.
func TestEmbedded(t *testing.T) {
	table, err := summary.Of(models.NewMobileNetV2(), torch.Zeros([]int{1, 3, 32, 32}))
	if err != nil {
		t.Fatal(err)
	}
	if r := table.Rows[2]; r.Name != "features.0" || r.Class != "Conv2dNormActivation" || len(r.Output) != 4 ||
		r.Output[1] != 32 {
		t.Errorf("row %+v", r)
	}
	text, err := summary.TorchInfo(models.NewMobileNetV2(), []*torch.Tensor{torch.Zeros([]int{1, 3, 32, 32})})
	if err != nil || !strings.Contains(text, "Total params: 3,504,872") {
		t.Errorf("%s%v", text, err)
	}
}

func TestTorchSummary(t *testing.T) {
	for _, c := range []struct {
		name string
		make func() nn.Module
		size []int
		o    summary.TorchSummaryOptions
	}{
		{"resnet18", func() nn.Module { return models.NewResNet18() }, []int{3, 224, 224},
			summary.TorchSummaryOptions{}},
		{"resnet50", func() nn.Module { return models.NewResNet50() }, []int{3, 224, 224},
			summary.TorchSummaryOptions{}},
		{"batch", func() nn.Module { return models.NewResNet18() }, []int{3, 64, 64},
			summary.TorchSummaryOptions{BatchSize: 16}},
		{"user", func() nn.Module { return nn.New(&NoLSTM{User: *newUser()}) }, []int{4, 16},
			summary.TorchSummaryOptions{}},
	} {
		m := c.make()
		before := nn.StateDict(m)
		held := map[string]*torch.Tensor{}
		for k, x := range before.All() {
			held[k] = x.Clone()
		}
		text, err := summary.TorchSummary(m, [][]int{c.size}, c.o)
		compare(t, "torchsummary_"+c.name, text, err)
		for k, x := range nn.StateDict(m).All() {
			if !x.Equal(held[k]) {
				t.Errorf("%s: %s was changed", c.name, k)
			}
		}
		if !nn.IsTraining(m) {
			t.Errorf("%s: the mode was changed", c.name)
		}
	}
	if _, err := summary.TorchSummary(nn.NewLinear(2, 2), [][]int{{3}}); err == nil {
		t.Error("an input of the wrong size")
	}
	if _, err := summary.TorchSummary(nn.NewLinear(2, 2), [][]int{{2}, {2}}); err == nil {
		t.Error("two inputs of a layer with one")
	}
}

func TestTorchInfo(t *testing.T) {
	columns := []summary.Column{summary.InputSize, summary.OutputSize, summary.NumParams, summary.ParamsPercent,
		summary.KernelSize, summary.MultAdds, summary.Trainable}
	user := func() nn.Module { return newUser() }
	resnet18 := func() nn.Module { return models.NewResNet18() }
	for _, c := range []struct {
		name string
		make func() nn.Module
		size []int
		o    summary.TorchInfoOptions
	}{
		{"resnet18", resnet18, []int{1, 3, 224, 224}, summary.TorchInfoOptions{}},
		{"resnet50", func() nn.Module { return models.NewResNet50() }, []int{1, 3, 224, 224},
			summary.TorchInfoOptions{}},
		{"columns", resnet18, []int{2, 3, 64, 64},
			summary.TorchInfoOptions{Columns: columns, Depth: tensor.Some(2), VarNames: true}},
		{"user", user, []int{2, 4, 16}, summary.TorchInfoOptions{Columns: columns}},
		{"user_names", user, []int{2, 4, 16}, summary.TorchInfoOptions{VarNames: true, NoDepth: true, ASCIIOnly: true,
			ColWidth: 18, Depth: tensor.Some(5)}},
		{"user_recursive", user, []int{2, 4, 16}, summary.TorchInfoOptions{HideRecursive: true, Train: true}},
		{"user_structure", user, nil, summary.TorchInfoOptions{}},
		{"verbose", user, []int{2, 4, 16}, summary.TorchInfoOptions{Columns: []summary.Column{summary.KernelSize,
			summary.NumParams}, Verbose: true}},
	} {
		var inputs []*torch.Tensor
		if c.size != nil {
			inputs = []*torch.Tensor{torch.Zeros(c.size)}
		}
		text, err := summary.TorchInfo(c.make(), inputs, c.o)
		compare(t, "torchinfo_"+c.name, text, err)
	}
	text, err := summary.TorchInfo(nn.NewSequential(nn.NewLinear(2, 3)), nil, summary.TorchInfoOptions{
		Depth: tensor.Some(0)})
	if err != nil || !strings.Contains(text, "Sequential") || strings.Contains(text, "Linear") {
		t.Errorf("a depth of 0 shows\n%s%v", text, err)
	}
	if _, err := summary.TorchInfo(newUser(), nil, summary.TorchInfoOptions{Columns: columns}); err == nil {
		t.Error("columns that need inputs")
	}
	if _, err := summary.TorchInfo(newUser(), nil,
		summary.TorchInfoOptions{Columns: []summary.Column{"x"}}); err == nil {
		t.Error("an unknown column")
	}
}
