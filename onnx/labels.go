package onnx

import (
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

// The operators of the domain ai.onnx.ml that map labels: numbers and strings to numbers and strings. The position of
// an element among the keys is found, or the number of keys where it is none of them, and the value there is taken.

func init() {
	helper("zip_map(Tensor x, Any keys) -> Dict(int, float)[]", func(a args) any {
		return zipped(a.T(0), graph.Int, a[1].X.([]tensor.Value))
	})
	helper("zip_map_strings(Tensor x, Any keys) -> Dict(str, float)[]", func(a args) any {
		return zipped(a.T(0), graph.Str, a[1].X.([]tensor.Value))
	})
}

// labelList is one of an operator's attributes with the prefix what: a vector of numbers, or strings.
func (n *node) labelList(what string) (x *T, elem onnxpb.DataType, texts []string) {
	for name, a := range n.attrs {
		kind, ok := strings.CutPrefix(name, what)
		if !ok {
			continue
		}
		switch kind {
		case "s_int64s":
			return vector(n.ints(name)), onnxpb.Int64, nil
		case "s_floats":
			return n.vectorOf(n.floats(name)).konst, onnxpb.Float, nil
		case "s_strings":
			return nil, onnxpb.String, n.strings(name)
		case "s_tensor":
			a = n.attr(name, onnxpb.AttrTensor)
			if a.T.Type == onnxpb.String {
				_, l, err := a.T.DecodeStrings()
				if err != nil {
					panic(failure{err})
				}
				return nil, onnxpb.String, l
			}
			x, err := a.T.Decode(n.external)
			if err != nil {
				panic(failure{err})
			}
			return x.Reshape([]int{-1}), a.T.Type, nil
		}
	}
	fail("%w: there is no attribute for the %ss", onnxpb.ErrFormat, what)
	return nil, 0, nil
}

// labelEncoder maps labels to labels. In the first version of its domain it has a list of strings, which stand for
// their positions.
func labelEncoder(n *node) []*value {
	if l := n.strings("classes_strings"); len(l) > 0 {
		return n.categories(l, count(len(l)))
	}
	keys, keyElem, keyTexts := n.labelList("key")
	values, elem, texts := n.labelList("value")
	keyCount, valueCount := len(keyTexts), len(texts)
	if keys != nil {
		keyCount = keys.Numel()
	}
	if values != nil {
		valueCount = values.Numel()
	}
	if keyCount != valueCount || keyCount == 0 {
		fail("%w: %d keys for %d values", onnxpb.ErrFormat, keyCount, valueCount)
	}
	if (n.T(0).elem == onnxpb.String) != (keys == nil) {
		fail("%w: the input has elements of type %s, the keys of type %s", onnxpb.ErrFormat, n.T(0).elem, keyElem)
	}
	at := n.find(keys, keyTexts)
	if values == nil {
		other := n.str("default_string", "_Unused")
		if a := n.attr("default_tensor", onnxpb.AttrTensor); a != nil {
			_, l, err := a.T.DecodeStrings()
			if err != nil || len(l) != 1 {
				fail("%w: attribute \"default_tensor\"", onnxpb.ErrFormat)
			}
			other = l[0]
		}
		return one(n.pick(at, append(texts, other)))
	}
	other := tensor.FromSlice([]int64{int64(n.int("default_int64", -1))})
	if values.DType().IsFloat() {
		other = tensor.FromSlice([]float64{n.float("default_float", 0)})
	}
	if a := n.attr("default_tensor", onnxpb.AttrTensor); a != nil {
		x, err := a.T.Decode(n.external)
		if err != nil || x.Numel() != 1 {
			fail("%w: attribute \"default_tensor\"", onnxpb.ErrFormat)
		}
		other = x.Reshape([]int{1})
	}
	all := call("aten::cat", []*T{values, other.ToDType(values.DType())}, 0)
	v := n.same(n.call("aten::take", constant(all, elem), at))
	v.elem = elem
	return one(v)
}

// find are the positions of the elements of input 0 among keys, numbers or strings.
func (n *node) find(keys *T, texts []string) *graph.Value {
	if keys == nil {
		return n.call("onnx::find_strings", n.T(0), n.textList(texts))
	}
	return n.call("onnx::label_find", n.T(0), constant(keys, n.T(0).elem))
}

// pick are strings of a list at positions, in the shape of input 0.
func (n *node) pick(at *graph.Value, l []string) *value {
	v := n.same(n.call("onnx::take_strings", n.textList(l), at))
	v.elem = onnxpb.String
	return v
}

// categoryMapper maps strings to integers, or integers to strings.
func categoryMapper(n *node) []*value {
	texts, l := n.strings("cats_strings"), n.ints("cats_int64s")
	if len(texts) != len(l) || len(l) == 0 {
		fail("%w: %d strings for %d integers", onnxpb.ErrFormat, len(texts), len(l))
	}
	return n.categories(texts, l)
}

// categories maps input 0 from texts to l where it has strings, and from l to texts where it has integers.
func (n *node) categories(texts []string, l []int) []*value {
	if n.T(0).elem != onnxpb.String {
		return one(n.pick(n.find(vector(l), nil), append(texts, n.str("default_string", "_Unused"))))
	}
	all := constant(vector(append(l, n.int("default_int64", -1))), onnxpb.Int64)
	v := n.same(n.call("aten::take", all, n.find(nil, texts)))
	v.elem = onnxpb.Int64
	return one(v)
}

// zipMap makes a dictionary of each row of scores, as converters of classifiers put at the end of a model.
func zipMap(n *node) []*value {
	var keys []tensor.Value
	op := "onnx::zip_map"
	for _, i := range n.ints("classlabels_int64s") {
		keys = append(keys, tensor.IntValue(i))
	}
	if len(keys) == 0 {
		op += "_strings"
		for _, s := range n.strings("classlabels_strings") {
			keys = append(keys, tensor.StrValue(s))
		}
	}
	if len(keys) == 0 {
		fail("%w: no classes", onnxpb.ErrFormat)
	}
	return one(n.sequence(n.call(op, n.T(0), n.opaque(keys)), onnxpb.Float))
}

func zipped(x *T, key *graph.Type, keys []tensor.Value) tensor.Value {
	if x.Dim() == 1 {
		x = x.Unsqueeze(0)
	}
	if x.Dim() != 2 || x.Size(1) != len(keys) {
		wrong("ZipMap", "scores of shape %s for %d classes", tensor.ShapeString(x.Shape()), len(keys))
	}
	scores := hostFloats(x)
	rows := make([]tensor.Value, x.Size(0))
	for r := range rows {
		d := graph.NewDict(key, graph.Float)
		for i, k := range keys {
			d.Set(k, tensor.FloatValue(scores[r*len(keys)+i]))
		}
		rows[r] = graph.Box(d)
	}
	return graph.NewList(graph.DictOf(key, graph.Float), rows...)
}
