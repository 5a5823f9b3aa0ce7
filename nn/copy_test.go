package nn_test

import (
	"fmt"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// tiedNet has a list, a map, a module by value and a weight that two layers share.
type tiedNet struct {
	nn.Base
	Body  []nn.Layer
	Heads map[string]*nn.Linear
	Last  nn.Linear
	Mask  *torch.Tensor `torch:",buffer"`
}

func newTied() *tiedNet {
	m := &tiedNet{Body: []nn.Layer{nn.NewLinear(3, 3), nn.NewReLU(), nn.NewLinear(3, 3)},
		Heads: map[string]*nn.Linear{"a": nn.NewLinear(3, 2)}, Last: *nn.NewLinear(2, 2), Mask: torch.Ones([]int{2})}
	m.Body[2].(*nn.Linear).Weight = m.Body[0].(*nn.Linear).Weight
	return nn.New(m)
}

func (m *tiedNet) Forward(x *torch.Tensor) *torch.Tensor {
	for _, l := range m.Body {
		x = l.Forward(x)
	}
	return m.Last.Forward(m.Heads["a"].Forward(x)).Mul(m.Mask)
}

func TestDeepCopy(t *testing.T) {
	torch.ManualSeed(0)
	m := newTied()
	m.Body[1].(*nn.ReLU).Eval()
	calls := 0
	m.Last.RegisterForwardHook(func(nn.Module, []*torch.Tensor, *torch.Tensor) *torch.Tensor { calls++; return nil })
	around := 0
	nn.RegisterForwardAround(&m.Last, func(_ nn.Module, forward func([]*torch.Tensor) []*torch.Tensor,
		inputs []*torch.Tensor) []*torch.Tensor {
		around++
		return forward(inputs)
	})
	d := nn.DeepCopy(m)
	x := torch.Randn([]int{4, 3})
	want := m.Forward(x)
	if got := d.Forward(x); !got.Equal(want) {
		t.Errorf("the copy gives %v, want %v", got, want)
	}
	if around != 2 {
		t.Errorf("the function around Forward ran %d times, want once for each module", around)
	}
	if calls != 2 {
		t.Errorf("the hook ran %d times, want once for each module", calls)
	}
	if d.Body[0].(*nn.Linear).Weight != d.Body[2].(*nn.Linear).Weight {
		t.Error("the tied weight is not tied in the copy")
	}
	if d.Body[1].(*nn.ReLU).Training() || !d.Last.Training() {
		t.Error("the copy is in another mode")
	}
	a, b := nn.Parameters(m), nn.Parameters(d)
	if len(a) != len(b) {
		t.Fatalf("%d parameters, want %d", len(b), len(a))
	}
	for i := range a {
		if a[i] == b[i] || a[i].Storage() == b[i].Storage() || !b[i].IsParameter() || !b[i].RequiresGrad() {
			t.Errorf("parameter %d is not a parameter of its own", i)
		}
	}
	for _, p := range b {
		tensor.NoGrad(func() { p.ZeroInPlace() })
	}
	d.Mask.ZeroInPlace()
	if got := m.Forward(x); !got.Equal(want) {
		t.Error("writing to the copy changed the original")
	}
	if d.Last.String() != m.Last.String() || fmt.Sprint(d) != fmt.Sprint(m) {
		t.Errorf("the copy prints as %v", d)
	}
	// methods of Base work on the copy of a child that is held by value
	for _, p := range d.Last.Parameters() {
		if p != d.Last.Weight && p != d.Last.Bias {
			t.Error("Last of the copy lists parameters that are not its own")
		}
	}
}

// TestDeepCopyKinds copies modules whose tensors are not plain fields.
func TestDeepCopyKinds(t *testing.T) {
	torch.ManualSeed(1)
	lstm := nn.NewLSTM(3, 4, nn.RNNOptions{NumLayers: tensor.Some(2), Bidirectional: true})
	x := torch.Randn([]int{5, 2, 3})
	want, _, _ := lstm.Forward(x)
	c := nn.DeepCopy(lstm)
	for _, p := range nn.Parameters(lstm) {
		tensor.NoGrad(func() { p.ZeroInPlace() })
	}
	if got, _, _ := c.Forward(x); !got.Equal(want) {
		t.Error("the copy of an LSTM gives something else")
	}
	for _, m := range []nn.Layer{
		nn.NewSequential(nn.NewConv2d(2, 3, 3), nn.NewBatchNorm2d(3), nn.NewReLU()), nn.NewLazyLinear(4)} {
		x := torch.Randn([]int{2, 2, 5, 5})
		d := nn.DeepCopy(m)
		nn.Eval(m)
		nn.Eval(d)
		torch.ManualSeed(3)
		want := m.Forward(x)
		torch.ManualSeed(3)
		if got := d.Forward(x); !got.Equal(want) {
			t.Errorf("the copy of %v gives something else", m)
		}
	}
}
