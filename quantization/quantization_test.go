package quantization_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/quantization"
	"github.com/gotorch-dev/torch/serialize"
)

// converted is a quantized model and an input.
func converted(t *testing.T) (*mlp, *torch.Tensor) {
	t.Helper()
	torch.ManualSeed(1)
	m := newMLP()
	m.Eval()
	x := torch.Rand([]int{8, 4})
	quantization.Prepare(m)
	torch.NoGrad(func() { m.Forward(x) })
	quantization.Convert(m)
	return m, x
}

// TestStateDictThroughFile saves a converted model and loads it into another one of the same layers.
func TestStateDictThroughFile(t *testing.T) {
	m, x := converted(t)
	want := m.Forward(x)
	var buf bytes.Buffer
	if err := serialize.Save(&buf, quantization.StateDict(m)); err != nil {
		t.Fatal(err)
	}
	v, err := serialize.LoadBytes(buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	torch.ManualSeed(2)
	other := newMLP()
	other.Eval()
	quantization.Prepare(other)
	torch.NoGrad(func() { other.Forward(x.MulScalar(3)) })
	quantization.Convert(other)
	if other.Forward(x).Equal(want) {
		t.Fatal("the other model gives the same results before it is loaded")
	}
	if err := quantization.LoadStateDict(other, v.(*serialize.Dict)); err != nil {
		t.Fatal(err)
	}
	if !other.Forward(x).Equal(want) {
		t.Error("the loaded model gives other results")
	}
	if err := quantization.LoadStateDict(other, serialize.NewDict("fc1.scale", 1)); err == nil {
		t.Error("a state dict without entries was loaded")
	}
}

// TestCopyOfConverted copies a converted model: the copy has quantized layers of its own.
func TestCopyOfConverted(t *testing.T) {
	m, x := converted(t)
	c := nn.DeepCopy(m)
	if a, b := nn.StandIn(m.FC1), nn.StandIn(c.FC1); a == b {
		t.Error("the copy shares a quantized layer")
	}
	if !c.Forward(x).Equal(m.Forward(x)) {
		t.Error("the copy gives other results")
	}
}

// TestFuseRefuses names layers that cannot be fused, and leaves the model as it was.
func TestFuseRefuses(t *testing.T) {
	m := newMLP()
	m.Eval()
	before := m.String()
	for _, names := range [][]string{{"fc1", "nothing"}, {"relu", "fc2"}, {"quant", "fc1"}} {
		if err := quantization.FuseModules(m, []string{"fc1", "relu"}, names); err == nil {
			t.Errorf("%v were fused", names)
		}
	}
	if m.String() != before {
		t.Errorf("the model was changed: %s", m)
	}
	m.Train()
	if err := quantization.FuseModules(m, []string{"fc1", "relu"}); err == nil {
		t.Error("a model in training mode was fused")
	}
}

// TestBadInput has errors for what cannot be quantized.
func TestBadInput(t *testing.T) {
	x := torch.Rand([]int{3, 2})
	for name, f := range map[string]func(){
		"zero point": func() { x.QuantizePerTensor(0.1, 300, torch.QUInt8) },
		"dtype":      func() { x.QuantizePerTensor(0.1, 0, torch.Uint8) },
		"scale":      func() { x.QuantizePerTensor(-1, 0, torch.QUInt8) },
		"float64":    func() { x.Double().QuantizePerTensor(0.1, 0, torch.QUInt8) },
		"create":     func() { torch.Zeros([]int{2}, torch.ZerosOptions{DType: torch.QUInt8}) },
		"exp":        func() { x.QuantizePerTensor(0.1, 0, torch.QUInt8).Exp() },
		"data":       func() { torch.Data[uint8](x.QuantizePerTensor(0.1, 0, torch.QUInt8)) },
		"observer":   func() { quantization.NewMinMaxObserver(quantization.ObserverOptions{DType: torch.Float32}) },
	} {
		var e *torch.Error
		if err := torch.Try(f); !errors.As(err, &e) {
			t.Errorf("%s: got %v, want an error", name, err)
		}
	}
}

// TestPerChannelViews finds the scales that a view of a tensor with a scale for each channel sees.
func TestPerChannelViews(t *testing.T) {
	x := torch.Rand([]int{2, 3, 4})
	q := x.QuantizePerChannel(torch.FromSlice([]float64{0.1, 0.2, 0.3}), torch.FromSlice([]int64{1, 2, 3}), 1,
		torch.QUInt8)
	d := q.Dequantize()
	for name, f := range map[string]func(t *torch.Tensor) *torch.Tensor{
		"transpose": func(t *torch.Tensor) *torch.Tensor { return t.Transpose(0, 1) },
		"narrow":    func(t *torch.Tensor) *torch.Tensor { return t.Narrow(1, 1, 2) },
		"select":    func(t *torch.Tensor) *torch.Tensor { return t.Select(1, 2) },
		"first":     func(t *torch.Tensor) *torch.Tensor { return t.Select(0, 1) },
		"unsqueeze": func(t *torch.Tensor) *torch.Tensor { return t.Unsqueeze(0) },
	} {
		if got, want := f(q).Dequantize(), f(d); !got.Equal(want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if err := torch.Try(func() { q.View([]int{24}) }); err == nil {
		t.Error("a view that mixes channels was made")
	}
}
