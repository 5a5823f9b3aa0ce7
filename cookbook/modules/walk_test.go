package modules_test

import (
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
)

var fromDim1 = tensor.FlattenOptions{StartDim: 1}

// Numbers of modules, parameters and entries of a real network.
func TestCountResNet(t *testing.T) {
	m := newResNet18(1000)
	modules, convs := 0, 0
	for c := range nn.Modules(m) { // yields m itself first
		modules++
		if _, ok := c.(*nn.Conv2d); ok {
			convs++
		}
	}
	if modules != 68 || convs != 20 {
		t.Errorf("%d modules, %d convolutions", modules, convs)
	}
	if n := len(m.Parameters()); n != 62 {
		t.Errorf("%d parameters", n)
	}
	if n := m.StateDict().Len(); n != 122 {
		t.Errorf("%d entries", n)
	}
	if n := nn.NumParameters(m); n != 11689512 {
		t.Errorf("%d numbers", n)
	}
	m.Layer1.RequiresGrad(false)
	if n := nn.NumTrainable(m); n != 11541544 {
		t.Errorf("%d trainable numbers", n)
	}
	if p, err := nn.GetParameter(m, "layer2.0.downsample.0.weight"); err != nil || p.Numel() != 128*64 {
		t.Errorf("layer2.0.downsample.0.weight: %v", err)
	}
}

// Fine-tuning: freeze everything, put a new head in its place, which requires grad.
func TestReplaceHead(t *testing.T) {
	m := newResNet18(1000)
	m.RequiresGrad(false)
	m.FC = nn.NewLinear(512, 2)
	var names []string
	for name, p := range nn.NamedParameters(m) {
		if p.RequiresGrad() {
			names = append(names, name)
		}
	}
	if got := strings.Join(names, " "); got != "fc.weight fc.bias" {
		t.Errorf("trainable: %s", got)
	}
}

// Initialise every convolution that is found by walking.
func TestInitConvs(t *testing.T) {
	net := nn.NewSequential(nn.NewConv2d(3, 2, 1), nn.NewReLU())
	torch.ManualSeed(0)
	for m := range nn.Modules(net) {
		if c, ok := m.(*nn.Conv2d); ok {
			nninit.KaimingNormal(c.Weight, nninit.KaimingOptions{Mode: nninit.FanOut, Nonlinearity: "relu"})
		}
	}
	near(t, net.At(0).(*nn.Conv2d).Weight, 1.5410, -0.2934, -2.1788, 0.5684, -1.0845, -1.3986)
}

// Layers go into another model under their own, not their dotted, name.
func TestCopyLayersByName(t *testing.T) {
	convs := nn.NewSequential()
	for name, m := range nn.NamedChildren(newBasicBlock(4, 4, 1)) {
		if c, ok := m.(*nn.Conv2d); ok {
			convs.Add(name, c)
		}
	}
	if got := strings.Join(convs.StateDict().Keys(), " "); got != "conv1.weight conv2.weight" {
		t.Errorf("keys %s", got)
	}
	fails(t, `module name can't contain ".", got: layer1.0.conv1`,
		func() { convs.Add("layer1.0.conv1", conv(1, 1, 1, 1)) })
}

// Lists is a module with layers in several kinds of list.
type Lists struct {
	nn.Base
	A      *nn.Linear
	ML     []nn.Module // a slice of modules is what nn.ModuleList is in Python
	hidden []nn.Module `torch:"-"` // left out on purpose; without the tag New would refuse the private field
}

func TestWhatIsRegistered(t *testing.T) {
	a := nn.NewLinear(2, 2)
	m := nn.New(&Lists{A: a, ML: []nn.Module{a}, hidden: []nn.Module{nn.NewLinear(9, 9)}})
	if got := strings.Join(m.StateDict().Keys(), " "); got != "a.weight a.bias ml.0.weight ml.0.bias" {
		t.Errorf("keys %s", got) // a layer with two names is saved under both …
	}
	if n := len(m.Parameters()); n != 2 || len(m.hidden) != 1 {
		t.Errorf("%d parameters, want 2", n) // … and trained once
	}
}

// Twice calls one layer twice: the order comes from Forward.
type Twice struct {
	nn.Base
	Layers *nn.ModuleList
}

func (m *Twice) Forward(x *torch.Tensor) *torch.Tensor {
	for range 2 {
		x = m.Layers.At(0).(nn.Layer).Forward(x)
	}
	return x
}

func TestOneModuleCalledTwice(t *testing.T) {
	m := nn.New(&Twice{Layers: nn.NewModuleList(nn.NewLinear(1, 1))})
	w, b := m.Parameters()[0], m.Parameters()[1]
	torch.NoGrad(func() { w.FillScalarInPlace(3); b.ZeroInPlace() })
	m.Forward(torch.Ones([]int{1, 1})).Sum().Backward()
	if n := len(m.Parameters()); n != 2 {
		t.Errorf("%d parameters", n)
	}
	near(t, w.Grad(), 6) // d(w·w·x)/dw = 2w: both calls in one gradient
	near(t, b.Grad(), 4) // w + 1
}

// Batch normalisation has two parameters and three buffers: the variance, not the deviation, and a count.
func TestBatchNormState(t *testing.T) {
	m := nn.NewBatchNorm2d(4)
	if n := len(m.Parameters()); n != 2 {
		t.Errorf("%d parameters", n)
	}
	sd := m.StateDict()
	if got := strings.Join(sd.Keys(), " "); got != "weight bias running_mean running_var num_batches_tracked" {
		t.Errorf("keys %s", got)
	}
	if n := sd.Get("num_batches_tracked"); n.DType() != torch.Int64 || n.Item() != 0 {
		t.Errorf("num_batches_tracked %v", n)
	}
}
