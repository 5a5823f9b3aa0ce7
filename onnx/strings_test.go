package onnx_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/onnx"
	"github.com/gotorch-dev/torch/tensor"
)

// stringModel is a model of one node, which takes x, and of initializers.
func stringModel(n *onnxpb.Node, in onnxpb.DataType, init ...*onnxpb.Tensor) *onnxpb.Model {
	g := &onnxpb.Graph{Name: "g", Nodes: []*onnxpb.Node{n}, Initializers: init,
		Inputs: []onnxpb.Info{{Name: "x", Type: &onnxpb.Type{Kind: onnxpb.KindTensor, DataType: in}}}}
	for _, o := range n.Outputs {
		g.Outputs = append(g.Outputs, onnxpb.Info{Name: o, Type: &onnxpb.Type{Kind: onnxpb.KindTensor}})
	}
	return &onnxpb.Model{IRVersion: 10, Opsets: []onnxpb.Opset{{Version: 21}, {Domain: "ai.onnx.ml", Version: 4}},
		Graph: g}
}

func stringAttr(name string, l ...string) *onnxpb.Attr {
	a := &onnxpb.Attr{Name: name, Type: onnxpb.AttrStrings}
	for _, s := range l {
		a.Strings = append(a.Strings, []byte(s))
	}
	return a
}

func textAttr(name, s string) *onnxpb.Attr {
	return &onnxpb.Attr{Name: name, Type: onnxpb.AttrString, S: []byte(s)}
}

func intAttr(name string, l ...int64) *onnxpb.Attr {
	if len(l) == 1 {
		return &onnxpb.Attr{Name: name, Type: onnxpb.AttrInt, I: l[0]}
	}
	return &onnxpb.Attr{Name: name, Type: onnxpb.AttrInts, Ints: l}
}

func stringInit(name string, dims []int64, l ...string) *onnxpb.Tensor {
	t := &onnxpb.Tensor{Name: name, Type: onnxpb.String, Dims: dims}
	for _, s := range l {
		t.Strings = append(t.Strings, []byte(s))
	}
	return t
}

// shown are shape and elements.
func shown(v tensor.Value) string {
	switch x := v.X.(type) {
	case *graph.Strings:
		return fmt.Sprintf("%v%q", x.Shape, x.Data)
	case *graph.List:
		return graph.Text(v)
	}
	return fmt.Sprint(v.T.Shape(), v.T.ToDType(torch.Float64).Reshape([]int{-1}).ToList())
}

// The expected results are ONNX Runtime's.
func TestStrings(t *testing.T) {
	op := func(name string, in []string, attrs ...*onnxpb.Attr) *onnxpb.Node {
		return &onnxpb.Node{Op: name, Inputs: in, Outputs: []string{"y"}, Attrs: attrs}
	}
	ml := func(n *onnxpb.Node) *onnxpb.Node { n.Domain = "ai.onnx.ml"; return n }
	x, xk := []string{"x"}, []string{"x", "k"}
	abc := graph.NewStrings([]string{"a", "b", "c", "a"}, 2, 2)
	words := graph.NewStrings([]string{" a b  c ", "", "a,b,,c"})
	split := func(attrs ...*onnxpb.Attr) *onnxpb.Node {
		n := op("StringSplit", x, attrs...)
		n.Outputs = []string{"y", "z"}
		return n
	}
	numbers := tensor.TensorValue(torch.TensorOf[float32](1.5, 1./3, 1e10, 1e-7))
	const str = onnxpb.String
	for _, c := range []struct {
		node *onnxpb.Node
		in   tensor.Value
		elem onnxpb.DataType
		init []*onnxpb.Tensor
		want string
	}{
		{op("Transpose", x), abc, str, nil, `[2 2]["a" "c" "b" "a"]`},
		{op("Reshape", xk), abc, str, []*onnxpb.Tensor{ints("k", -1)}, `[4]["a" "b" "c" "a"]`},
		{op("Gather", xk, intAttr("axis", 1)), abc, str, []*onnxpb.Tensor{ints("k", 1)}, `[2 1]["b" "a"]`},
		{op("Shape", x), abc, str, nil, "[2] [2 2]"},
		{op("Concat", []string{"x", "k", "x"}, intAttr("axis", 0)), abc, str,
			[]*onnxpb.Tensor{stringInit("k", []int64{1, 2}, "y", "z")},
			`[5 2]["a" "b" "c" "a" "y" "z" "a" "b" "c" "a"]`},
		{op("Equal", xk), abc, str, []*onnxpb.Tensor{stringInit("k", nil, "a")}, "[2 2] [1 0 0 1]"},
		{op("StringConcat", xk), abc, str, []*onnxpb.Tensor{stringInit("k", []int64{2, 1}, "0", "1")},
			`[2 2]["a0" "b0" "c1" "a1"]`},
		{op("RegexFullMatch", x, textAttr("pattern", "a|c.*")), abc, str, nil, "[2 2] [1 0 1 1]"},
		{op("StringNormalizer", x, textAttr("case_change_action", "UPPER"), stringAttr("stopwords", "A")),
			graph.NewStrings([]string{"a", "b", "A"}), str, nil, `[1]["B"]`},
		{op("StringNormalizer", x, stringAttr("stopwords", "a")), graph.NewStrings([]string{"a"}, 1, 1), str, nil,
			`[1 1][""]`},
		{split(), words, str, nil, `[3 3]["a" "b" "c" "" "" "" "a,b,,c" "" ""] [3] [3 0 1]`},
		{split(textAttr("delimiter", ","), intAttr("maxsplit", 1)), words, str, nil,
			`[3 2][" a b  c " "" "" "" "a" "b,,c"] [3] [1 0 2]`},
		{op("Cast", x, intAttr("to", 8)), numbers, onnxpb.Float, nil,
			`[4]["1.5" "0.33333334" "1e+10" "1e-07"]`},
		{op("Cast", x, intAttr("to", 1)), graph.NewStrings([]string{"1.5", "-2e3", "INF", " 7x"}), str, nil,
			"[4] [1.5 -2000 +Inf 7]"},
		{op("Cast", x, intAttr("to", 7)), graph.NewStrings([]string{"12", "-3"}, 2, 1), str, nil, "[2 1] [12 -3]"},
		{ml(op("LabelEncoder", x, stringAttr("keys_strings", "a", "b"), intAttr("values_int64s", 5, 6))), abc, str, nil,
			"[2 2] [5 6 -1 5]"},
		{ml(op("LabelEncoder", x, intAttr("keys_int64s", 1, 2), stringAttr("values_strings", "one", "two"))),
			tensor.TensorValue(torch.TensorOf[int64](2, 3)), onnxpb.Int64, nil, `[2]["two" "_Unused"]`},
		{ml(op("LabelEncoder", x, stringAttr("classes_strings", "a", "b"))), abc, str, nil, "[2 2] [0 1 -1 0]"},
		{ml(op("CategoryMapper", x, stringAttr("cats_strings", "a", "b"), intAttr("cats_int64s", 5, 6))), abc, str, nil,
			"[2 2] [5 6 -1 5]"},
		{ml(op("OneHotEncoder", x, stringAttr("cats_strings", "b", "c"))), graph.NewStrings([]string{"c", "d"}), str,
			nil, "[2 2] [0 1 0 0]"},
		{op("TfIdfVectorizer", x, stringAttr("pool_strings", "a", "b", "a", "b"), intAttr("ngram_counts", 0, 2),
			intAttr("ngram_indexes", 0, 1, 2), intAttr("max_gram_length", 2), intAttr("min_gram_length", 1),
			intAttr("max_skip_count", 0), textAttr("mode", "TF")), graph.NewStrings([]string{"a", "b", "a", "x"}), str, nil,
			"[3] [2 1 1]"},
		{ml(op("ZipMap", x, stringAttr("classlabels_strings", "no", "yes"))),
			tensor.TensorValue(torch.TensorOf[float32](0.25, 0.75).View([]int{1, 2})), onnxpb.Float, nil,
			"[{no: 0.25, yes: 0.75}]"},
	} {
		m := read(t, stringModel(c.node, c.elem, c.init...))
		out, err := m.RunValues(context.Background(), map[string]tensor.Value{"x": c.in})
		if err != nil {
			t.Errorf("%s: %v", c.node.Op, err)
			continue
		}
		var got []string
		for _, o := range c.node.Outputs {
			got = append(got, shown(out[o]))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: got %s, want %s", c.node.Op, s, c.want)
		}
	}
}

func TestStringErrors(t *testing.T) {
	concat := &onnxpb.Node{Op: "StringConcat", Inputs: []string{"x", "k"}, Outputs: []string{"y"}}
	model := stringModel(concat, onnxpb.String, stringInit("k", []int64{3}, "a", "b", "c"))
	m := read(t, model)
	ctx := context.Background()
	if _, err := m.Run(ctx, map[string]*torch.Tensor{"x": torch.Ones([]int{3})}); !errors.Is(err, onnx.ErrInput) {
		t.Errorf("a tensor of numbers for strings: %v", err)
	}
	for name, c := range map[string]struct {
		x  tensor.Value
		is error
	}{
		"nothing":      {tensor.Value{}, onnx.ErrInput},
		"numbers":      {tensor.TensorValue(torch.Ones([]int{3})), onnx.ErrInput},
		"a bad shape":  {graph.Box(&graph.Strings{Shape: []int{2}, Data: []string{"a"}}), onnx.ErrInput},
		"no broadcast": {graph.NewStrings([]string{"a", "b"}), tensor.ErrShape},
	} {
		if _, err := m.RunValues(ctx, map[string]tensor.Value{"x": c.x}); !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %v", name, err, c.is)
		}
	}
	if err := tensor.Try(func() { graph.NewStrings([]string{"a"}, 2) }); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("one string for two: %v", err)
	}
	model.Graph.Initializers[0].Strings = model.Graph.Initializers[0].Strings[:2]
	b := model.Bytes()
	if _, err := onnx.Read(bytes.NewReader(b), int64(len(b))); !errors.Is(err, onnxpb.ErrFormat) {
		t.Errorf("two strings for three: %v", err)
	}
	if got := m.Inputs()[0]; !reflect.DeepEqual(got.Type, graph.StringTensor) || got.String() != "x: Strings" {
		t.Errorf("the port is %s", got)
	}
}
