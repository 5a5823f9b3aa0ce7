package onnx_test

import (
	"context"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/onnxpb"
)

// The operators on bits follow their definitions in ONNX, for signed and unsigned numbers of each size.
func TestBits(t *testing.T) {
	signed := []onnxpb.DataType{onnxpb.Int8, onnxpb.Int16, onnxpb.Int32, onnxpb.Int64}
	unsigned := []onnxpb.DataType{onnxpb.Uint8, onnxpb.Uint16, onnxpb.Uint32, onnxpb.Uint64}
	dtypes := map[onnxpb.DataType]torch.DType{onnxpb.Int8: torch.Int8, onnxpb.Int16: torch.Int16,
		onnxpb.Int32: torch.Int32, onnxpb.Int64: torch.Int64, onnxpb.Uint8: torch.Uint8, onnxpb.Uint16: torch.Uint16,
		onnxpb.Uint32: torch.Uint32, onnxpb.Uint64: torch.Uint64, onnxpb.Bool: torch.Bool}
	all := append(append([]onnxpb.DataType{}, signed...), unsigned...)
	direction := func(s string) *onnxpb.Attr {
		return &onnxpb.Attr{Name: "direction", Type: onnxpb.AttrString, S: []byte(s)}
	}
	for _, c := range []struct {
		node   *onnxpb.Node
		types  []onnxpb.DataType
		x, y   []int64
		result []int64
	}{
		{node("BitwiseAnd", "x y", "z"), all, []int64{12, 5, 0, 127}, []int64{10, 3, 9, 65}, []int64{8, 1, 0, 65}},
		{node("BitwiseAnd", "x y", "z"), signed, []int64{-1, -6}, []int64{100, -4}, []int64{100, -8}},
		{node("BitwiseOr", "x y", "z"), all, []int64{12, 5, 0, 64}, []int64{10, 3, 9, 64}, []int64{14, 7, 9, 64}},
		{node("BitwiseOr", "x y", "z"), signed, []int64{-8, 1}, []int64{3, -128}, []int64{-5, -127}},
		{node("BitwiseXor", "x y", "z"), all, []int64{12, 5, 0, 64}, []int64{10, 3, 9, 64}, []int64{6, 6, 9, 0}},
		{node("BitwiseXor", "x y", "z"), signed, []int64{-1, 5}, []int64{5, -1}, []int64{-6, -6}},
		{node("BitwiseNot", "x", "z"), signed, []int64{0, 5, -1, -128}, nil, []int64{-1, -6, 0, 127}},
		{node("BitwiseNot", "x", "z"), unsigned[:1], []int64{0, 5, 255, 128}, nil, []int64{255, 250, 0, 127}},
		{node("BitwiseNot", "x", "z"), unsigned[1:2], []int64{0, 65535, 256}, nil, []int64{65535, 0, 65279}},
		{node("BitwiseNot", "x", "z"), unsigned[2:3], []int64{0, 1}, nil, []int64{1<<32 - 1, 1<<32 - 2}},
		{node("BitwiseNot", "x", "z"), unsigned[3:], []int64{-1, -7}, nil, []int64{0, 6}}, // the bits of uint64
		{node("BitShift", "x y", "z", direction("LEFT")), unsigned, []int64{1, 5, 7, 64}, []int64{3, 0, 5, 1},
			[]int64{8, 5, 224, 128}},
		{node("BitShift", "x y", "z", direction("RIGHT")), unsigned, []int64{8, 5, 255, 64}, []int64{3, 0, 7, 2},
			[]int64{1, 5, 1, 16}},
		{node("BitShift", "x y", "z", direction("RIGHT")), unsigned[3:], []int64{-1, -1 << 63}, []int64{60, 63},
			[]int64{15, 1}},
		{node("And", "x y", "z"), []onnxpb.DataType{onnxpb.Bool}, []int64{1, 1, 0, 0}, []int64{1, 0, 1, 0},
			[]int64{1, 0, 0, 0}},
		{node("Or", "x y", "z"), []onnxpb.DataType{onnxpb.Bool}, []int64{1, 1, 0, 0}, []int64{1, 0, 1, 0},
			[]int64{1, 1, 1, 0}},
		{node("Xor", "x y", "z"), []onnxpb.DataType{onnxpb.Bool}, []int64{1, 1, 0, 0}, []int64{1, 0, 1, 0},
			[]int64{0, 1, 1, 0}},
		{node("Not", "x", "z"), []onnxpb.DataType{onnxpb.Bool}, []int64{1, 0}, nil, []int64{0, 1}},
	} {
		for _, dt := range c.types {
			info := func(name string) onnxpb.Info {
				return onnxpb.Info{Name: name, Type: &onnxpb.Type{Kind: onnxpb.KindTensor, DataType: dt, HasShape: true,
					Shape: []onnxpb.Dim{{Value: int64(len(c.x))}}}}
			}
			in := map[string]*torch.Tensor{"x": torch.FromSlice(c.x).To(dtypes[dt])}
			inputs := []onnxpb.Info{info("x")}
			if c.y != nil {
				in["y"], inputs = torch.FromSlice(c.y).To(dtypes[dt]), append(inputs, info("y"))
			}
			m := read(t, &onnxpb.Model{IRVersion: 9, Opsets: []onnxpb.Opset{{Version: 18}},
				Graph: &onnxpb.Graph{Name: "g", Inputs: inputs, Outputs: []onnxpb.Info{info("z")},
					Nodes: []*onnxpb.Node{c.node}}})
			out, err := m.Run(context.Background(), in)
			if err != nil {
				t.Errorf("%s of %v: %v", c.node.Op, dtypes[dt], err)
				continue
			}
			if z := out["z"]; z.DType() != dtypes[dt] || !z.Long().Equal(torch.FromSlice(c.result)) {
				t.Errorf("%s of %v: got %v of %v, want %v", c.node.Op, dtypes[dt], z, z.DType(), c.result)
			}
		}
	}
}
