package onnxpb_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	_ "github.com/gotorch-dev/torch" // links the operators
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/internal/shared"
	"github.com/gotorch-dev/torch/tensor"
)

// whole is a model that has every kind of message.
func whole() *onnxpb.Model {
	float := func(dims ...onnxpb.Dim) *onnxpb.Type {
		return &onnxpb.Type{Kind: onnxpb.KindTensor, DataType: onnxpb.Float, HasShape: true, Shape: dims}
	}
	weight := &onnxpb.Tensor{Name: "w", Type: onnxpb.Float, Dims: []int64{2}, HasRaw: true, Raw: make([]byte, 8)}
	inner := &onnxpb.Graph{Name: "inner", Outputs: []onnxpb.Info{{Name: "y"}},
		Nodes: []*onnxpb.Node{{Op: "Identity", Inputs: []string{"x"}, Outputs: []string{"y"}}}}
	sparse := &onnxpb.SparseTensor{Dims: []int64{4},
		Values:  &onnxpb.Tensor{Name: "s", Type: onnxpb.Double, Dims: []int64{1}, Doubles: []float64{3}},
		Indices: &onnxpb.Tensor{Type: onnxpb.Int64, Dims: []int64{1}, Ints64: []int64{2}}}
	attrs := []*onnxpb.Attr{
		{Name: "f", Type: onnxpb.AttrFloat, F: 1.5}, {Name: "i", Type: onnxpb.AttrInt, I: -3},
		{Name: "s", Type: onnxpb.AttrString, S: []byte("text")}, {Name: "t", Type: onnxpb.AttrTensor, T: weight},
		{Name: "g", Type: onnxpb.AttrGraph, G: inner}, {Name: "fs", Type: onnxpb.AttrFloats, Floats: []float32{1, 2}},
		{Name: "is", Type: onnxpb.AttrInts, Ints: []int64{-1, 1 << 40}},
		{Name: "ss", Type: onnxpb.AttrStrings, Strings: [][]byte{[]byte("a"), []byte("b")}},
		{Name: "ts", Type: onnxpb.AttrTensors, Tensors: []*onnxpb.Tensor{weight}},
		{Name: "gs", Type: onnxpb.AttrGraphs, Graphs: []*onnxpb.Graph{inner}},
		{Name: "p", Type: onnxpb.AttrProto, Proto: &onnxpb.Type{Kind: onnxpb.KindSequence, Elem: float()}},
		{Name: "sp", Type: onnxpb.AttrSparse, Sparse: sparse}, {Name: "r", Type: onnxpb.AttrInt, Ref: "outer"},
	}
	return &onnxpb.Model{IRVersion: 9, Producer: "p", ProducerVersion: "1", Domain: "d", Version: 2, Doc: "doc",
		Opsets:   []onnxpb.Opset{{Version: 18}, {Domain: "com.example", Version: 1}},
		Metadata: []onnxpb.Entry{{"k", "v"}},
		Graph: &onnxpb.Graph{Name: "g", Doc: "gdoc",
			Inputs: []onnxpb.Info{{Name: "x",
				Type: float(onnxpb.Dim{Value: -1, Param: "N"}, onnxpb.Dim{Value: 2})}},
			Outputs: []onnxpb.Info{{Name: "y", Type: &onnxpb.Type{Kind: onnxpb.KindOptional, Elem: float()}}},
			Values:  []onnxpb.Info{{Name: "v", Type: float(onnxpb.Dim{Value: -1})}},
			Initializers: []*onnxpb.Tensor{weight,
				{Name: "e", Type: onnxpb.Float, IsExtern: true, External: []onnxpb.Entry{{"location", "f"}}}},
			Sparse: []*onnxpb.SparseTensor{sparse}, Metadata: []onnxpb.Entry{{"a", "b"}},
			Nodes: []*onnxpb.Node{{Name: "n", Op: "Op", Domain: "com.example", Overload: "o",
				Inputs:  []string{"x", "", "w"},
				Outputs: []string{"y"}, Attrs: attrs}}},
		Functions: []*onnxpb.Function{{Name: "F", Domain: "com.example", Overload: "o", Inputs: []string{"a"},
			Outputs: []string{"b"}, Attrs: []string{"k"}, Defaults: attrs[:1], Opsets: []onnxpb.Opset{{Version: 18}},
			Nodes: inner.Nodes, Values: []onnxpb.Info{{Name: "a", Type: float()}}}},
	}
}

// TestRoundTrip writes a model with every kind of message and reads it back.
func TestRoundTrip(t *testing.T) {
	want := whole()
	got, err := onnxpb.ReadModel(want.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read back\n%+v\nwant\n%+v", got.Graph, want.Graph)
	}
}

// TestFilesRoundTrip does so with files of other authors.
func TestFilesRoundTrip(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared.Path(t, "golden/graphs/onnx"), "*.onnx"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files[:20] {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		first, err := onnxpb.ReadModel(b)
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		again, err := onnxpb.ReadModel(first.Bytes())
		if err != nil || !reflect.DeepEqual(again, first) {
			t.Errorf("%s: reads differently once written: %v", f, err)
		}
	}
}

// TestTruncated cuts a model at every byte: each is an error, or the model that the bytes hold.
func TestTruncated(t *testing.T) {
	b := whole().Bytes()
	failed := 0
	for i := range b {
		if _, err := onnxpb.ReadModel(b[:i]); err != nil {
			if !errors.Is(err, onnxpb.ErrFormat) {
				t.Errorf("%d bytes: %v is no ErrFormat", i, err)
			}
			failed++
		}
	}
	if failed < len(b)*9/10 {
		t.Errorf("only %d of %d cut models are errors", failed, len(b))
	}
}

// TestDepth refuses graphs that nest without end.
func TestDepth(t *testing.T) {
	g := &onnxpb.Graph{}
	for range 100 {
		g = &onnxpb.Graph{Nodes: []*onnxpb.Node{{Op: "If",
			Attrs: []*onnxpb.Attr{{Name: "g", Type: onnxpb.AttrGraph, G: g}}}}}
	}
	_, err := onnxpb.ReadModel((&onnxpb.Model{Graph: g}).Bytes())
	if err == nil || !strings.Contains(err.Error(), "levels deep") {
		t.Errorf("got %v", err)
	}
}

// TestDecode reads tensors of types whose elements do not fill bytes, and refuses what does not fit.
func TestDecode(t *testing.T) {
	for _, x := range []struct {
		name string
		in   onnxpb.Tensor
		want []float64 // nil: an error
	}{
		{"float", onnxpb.Tensor{Type: onnxpb.Float, Dims: []int64{2}, Floats: []float32{1, -2}}, []float64{1, -2}},
		{"int4 raw", onnxpb.Tensor{Type: onnxpb.Int4, Dims: []int64{3}, HasRaw: true, Raw: []byte{0x7f, 0x08}},
			[]float64{-1, 7, -8}},
		{"uint4 typed", onnxpb.Tensor{Type: onnxpb.Uint4, Dims: []int64{3}, Ints32: []int64{0x7f, 0x08}},
			[]float64{15, 7, 8}},
		{"int2", onnxpb.Tensor{Type: onnxpb.Int2, Dims: []int64{5}, HasRaw: true, Raw: []byte{0b11_10_01_00, 0b01}},
			[]float64{0, 1, -2, -1, 1}},
		{"float4", onnxpb.Tensor{Type: onnxpb.Float4E2M1, Dims: []int64{2}, HasRaw: true, Raw: []byte{0xf2}},
			[]float64{1, -6}},
		{"half", onnxpb.Tensor{Type: onnxpb.Float16, Dims: []int64{1}, Ints32: []int64{0x3c00}}, []float64{1}},
		{"bool", onnxpb.Tensor{Type: onnxpb.Bool, Dims: []int64{2}, HasRaw: true, Raw: []byte{0, 7}}, []float64{0, 1}},
		{"scalar", onnxpb.Tensor{Type: onnxpb.Int64, Ints64: []int64{9}}, []float64{9}},
		{"too short", onnxpb.Tensor{Type: onnxpb.Float, Dims: []int64{2}, HasRaw: true, Raw: make([]byte, 7)}, nil},
		{"too few", onnxpb.Tensor{Type: onnxpb.Float, Dims: []int64{3}, Floats: []float32{1}}, nil},
		{"negative", onnxpb.Tensor{Type: onnxpb.Float, Dims: []int64{-1}, HasRaw: true}, nil},
		{"overflow", onnxpb.Tensor{Type: onnxpb.Float, Dims: []int64{1 << 31, 1 << 31, 1 << 31}, HasRaw: true}, nil},
		{"claims much", onnxpb.Tensor{Type: onnxpb.Float, Dims: []int64{1 << 40}, HasRaw: true, Raw: []byte{1}}, nil},
		{"elsewhere", onnxpb.Tensor{Type: onnxpb.Float, Dims: []int64{1}, IsExtern: true}, nil},
		{"text", onnxpb.Tensor{Type: onnxpb.String, Dims: []int64{1}, Strings: [][]byte{{'a'}}}, nil},
	} {
		got, err := x.in.Decode(nil)
		if x.want == nil {
			if err == nil {
				t.Errorf("%s: read as %v", x.name, got)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		if v := tensor.Data[float64](got.Double()); !reflect.DeepEqual(v, x.want) {
			t.Errorf("%s: got %v, want %v", x.name, v, x.want)
		}
	}
}

// FuzzReadModel reads hostile bytes. What is read must survive being written and read again.
func FuzzReadModel(f *testing.F) {
	f.Add(whole().Bytes())
	f.Add([]byte{})
	f.Add([]byte{0x3a, 0x02, 0x0a, 0x00})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := onnxpb.ReadModel(b)
		if err != nil {
			return
		}
		if _, err := onnxpb.ReadModel(m.Bytes()); err != nil && !strings.Contains(err.Error(), "levels deep") {
			t.Errorf("read, but not once written: %v", err)
		}
		for _, x := range m.Graph.Initializers {
			x.Decode(nil)
		}
	})
}
