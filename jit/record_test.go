package jit_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/models"
)

type MyModule struct {
	nn.Base
	Linear *nn.Linear
}

func (m *MyModule) Forward(x *tensor.Tensor) *tensor.Tensor { return m.Linear.Forward(x) }

func TestY(t *testing.T) {
	m := nn.New(&MyModule{Linear: nn.NewLinear(4, 4)})
	s, err := jit.Trace(m, torch.Rand([]int{2, 4}))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(s.Code("forward"), s.Graph("forward"), s)
	if err := s.Save("/tmp/trace/yy.pt"); err != nil {
		t.Fatal(err)
	}
	for name, fn := range map[string]struct {
		m  any
		in []any
	}{
		"resnet18": {models.NewResNet18(), []any{torch.Rand([]int{2, 3, 64, 64})}},
		"lstm":     {nn.NewLSTM(4, 3), []any{torch.Rand([]int{5, 2, 4})}},
		"mha":      {nn.NewMultiheadAttention(8, 2), []any{torch.Rand([]int{5, 2, 8}), torch.Rand([]int{5, 2, 8}), torch.Rand([]int{5, 2, 8})}},
		"enc":      {nn.NewTransformerEncoderLayer(8, 2, nn.TransformerLayerOptions{Dropout: tensor.Some(0.)}), []any{torch.Rand([]int{5, 2, 8})}},
	} {
		s, err := jit.Trace(fn.m, fn.in...)
		if err != nil {
			t.Fatal(name, err)
		}
		fmt.Println(name, s.Code("forward"))
		if name == "enc" {
			fmt.Println(s)
		}
		if l := s.Submodule("layer1.0"); l != nil {
			fmt.Println(l.Code("forward"))
			fmt.Println(s.Submodule("layer1.0.relu").Code("forward1"))
			fmt.Println(s.Submodule("layer1").Code("forward"))
			fmt.Println(s.Submodule("bn1").Code("forward"))
		}
		var buf bytes.Buffer
		if err := s.SaveTo(&buf); err != nil {
			t.Fatal(name, err)
		}
		back, err := jit.Load(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
		if err != nil {
			t.Fatal(name, err)
		}
		_ = back
		if err := s.Save(filepath.Join("/tmp/trace", name+".pt")); err != nil {
			t.Fatal(err)
		}
	}
}
