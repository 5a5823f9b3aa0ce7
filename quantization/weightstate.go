package quantization

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// This file holds the form in which torch.save writes the weights of torchao, which are subclasses of Tensor: a call of
// _rebuild_from_type_v2(_rebuild_wrapper_subclass, class, (class, dtype, sizes, strides, offset, layout, device,
// requires_grad), attributes).

func global(module, name string) serialize.Global {
	return serialize.Global{Module: module, Name: name}
}

// classOf is the class of a weight in Python.
func (w *AffineWeight) classOf() serialize.Global {
	if w.kind == int4Opaque {
		return global("torchao.prototype.quantization.int4.int4_opaque_tensor", string(w.kind))
	}
	return global("torchao.quantization", string(w.kind))
}

// value is the weight as torch.save writes it.
func (w *AffineWeight) value() any {
	strides := make(serialize.Tuple, len(w.shape))
	n := 1
	for i, size := range slices.Backward(w.shape) {
		strides[i] = n
		n *= size
	}
	call := func(module, name string, arg any) *serialize.Object {
		return serialize.NewObject(global(module, name), serialize.Tuple{arg}, nil)
	}
	block := any(w.blockSize) // a list
	if w.kind == intxTensor {
		block = tupleOf(w.blockSize)
	}
	attrs := serialize.NewDict()
	set := func(pairs ...any) {
		for i := 0; i < len(pairs); i += 2 {
			attrs.Set(pairs[i], pairs[i+1])
		}
	}
	dt := w.dtype
	switch w.kind {
	case int8Tensor:
		set("qdata", w.QData, "scale", w.Scale, "block_size", block, "zero_point", w.ZeroPoint, "act_quant_kwargs",
			w.act.value(), "act_quant_scale", nil, "act_quant_zero_point", nil, "act_pre_scale", nil, "reduce_range",
			w.reduce)
	case intxTensor:
		set("qdata", w.QData, "scale", w.Scale, "zero_point", w.ZeroPoint, "target_dtype",
			global("torch", fmt.Sprintf("int%d", w.bits)), "block_size", block, "activation_quantization", nil)
		if w.rounded {
			set("activation_quantization", "int8_asym_per_token")
		}
	default:
		dt = w.Scale.DType()
		set("qdata", w.QData, "scale_and_zero", w.Scale, "block_size", block, "act_pre_scale", nil, "qzeros", nil,
			"compensation", nil, "act_mapping_type", nil)
	}
	return serialize.NewObject(global("torch._tensor", "_rebuild_from_type_v2"), serialize.Tuple{
		global("torch._utils", "_rebuild_wrapper_subclass"), w.classOf(),
		serialize.Tuple{w.classOf(), dt, tupleOf(w.shape), strides, 0,
			call("torch.serialization", "_get_layout", "torch.strided"), serialize.Device{Type: "cpu", Index: -1},
			false}, attrs}, nil)
}

func tupleOf(l []int) serialize.Tuple {
	t := make(serialize.Tuple, len(l))
	for i, n := range l {
		t[i] = n
	}
	return t
}

// value is a QuantizeTensorToInt8Kwargs, or None.
func (a *activation) value() any {
	if a == nil {
		return nil
	}
	object := func(module, name string, fields ...any) *serialize.Object {
		o := serialize.NewObject(global(module, name), nil, serialize.NewDict(fields...))
		o.New = true
		return o
	}
	grain := object("torchao.quantization.granularity", "PerRow", "dim", -1)
	if a.granularity == PerTensor {
		grain = object("torchao.quantization.granularity", "PerTensor")
		grain.State = nil
	}
	mapping := serialize.NewObject(global("torchao.quantization.quant_primitives", "MappingType"),
		serialize.Tuple{int(mappingNumbers[a.mapping])}, nil)
	return object("torchao.quantization.quantize_.workflows.int8.int8_tensor", "QuantizeTensorToInt8Kwargs",
		"granularity", grain, "mapping_type", mapping, "reduce_range", a.reduce)
}

// mappingNumbers are Python's numbers of MappingType.
var mappingNumbers = [...]int{Symmetric: 1, Asymmetric: 3, SymmetricNoClippingErr: 2}

// loadWeight reads a weight that torch.save has written.
func loadWeight(v any) (*AffineWeight, error) {
	o, ok := v.(*serialize.Object)
	if !ok || o.Class != global("torch._tensor", "_rebuild_from_type_v2") || len(o.Args) < 4 {
		return nil, errors.New("the weight is none of torchao's")
	}
	class, ok1 := o.Args[1].(serialize.Global)
	made, ok2 := o.Args[2].(serialize.Tuple)
	attrs, ok3 := o.Args[3].(*serialize.Dict)
	if !ok1 || !ok2 || !ok3 || len(made) < 3 || !strings.HasPrefix(class.Module, "torchao.") {
		return nil, errors.New("the weight is none of torchao's")
	}
	w := &AffineWeight{kind: weightKind(class.Name), bits: 8}
	w.dtype, _ = made[1].(tensor.DType)
	w.shape, _ = numbersOf(made[2])
	w.QData, _ = attrs.Get("qdata").(*Tensor)
	w.Scale, _ = attrs.Get("scale").(*Tensor)
	w.ZeroPoint, _ = attrs.Get("zero_point").(*Tensor)
	w.blockSize, _ = numbersOf(attrs.Get("block_size"))
	switch w.kind {
	case int8Tensor:
		for _, name := range []string{"act_quant_scale", "act_quant_zero_point", "act_pre_scale"} {
			if attrs.Get(name) != nil {
				return nil, fmt.Errorf("a weight with %s is not supported", name)
			}
		}
		w.reduce = attrs.Get("reduce_range") == true
		if kw, ok := attrs.Get("act_quant_kwargs").(*serialize.Object); ok {
			w.act = &activation{granularity: PerRow, reduce: kw.Attr("reduce_range") == true}
			if g, ok := kw.Attr("granularity").(*serialize.Object); ok && g.Class.Name == "PerTensor" {
				w.act.granularity = PerTensor
			}
			if m, ok := kw.Attr("mapping_type").(*serialize.Object); ok && len(m.Args) == 1 {
				for i, n := range mappingNumbers {
					if m.Args[0] == n {
						w.act.mapping = MappingType(i)
					}
				}
			}
		}
	case intxTensor:
		w.rounded = attrs.Get("activation_quantization") != nil
		if g, ok := attrs.Get("target_dtype").(serialize.Global); ok {
			if _, err := fmt.Sscanf(g.Name, "int%d", &w.bits); err != nil {
				return nil, fmt.Errorf("target_dtype is %s", g)
			}
		}
	case int4Opaque:
		w.Scale, _ = attrs.Get("scale_and_zero").(*Tensor)
	default:
		return nil, fmt.Errorf("weights of class %s are not supported", class)
	}
	return w, w.fits()
}

// fits checks that the parts of a weight from a file fit each other.
func (w *AffineWeight) fits() error {
	bad := func(what string) error { return fmt.Errorf("a weight of class %s with a wrong %s", w.kind, what) }
	dim := len(w.shape)
	if dim == 0 || len(w.blockSize) != dim || !w.dtype.IsFloat() || w.dtype == dtype.Invalid {
		return bad("shape, block size or type")
	}
	w.blocks = blocks{}
	whole := slices.Equal(w.blockSize, w.shape)
	for i, n := range w.blockSize {
		if n < 1 || w.shape[i]%n != 0 {
			return bad("block size")
		}
		if n > 1 && !whole {
			if w.blocks.size != 0 {
				return bad("block size")
			}
			w.blocks = blocks{i, n}
		}
	}
	if w.blocks.size == 0 && !whole {
		w.blocks = blocks{dim - 1, 1}
	}
	if w.kind == int4Opaque {
		if w.QData == nil || w.Scale == nil || dim != 2 {
			return bad("qdata or scale")
		}
		return nil // the operator checks the sizes
	}
	if w.QData == nil || w.QData.DType() != tensor.Int8 || !tensor.SameShape(w.QData.Shape(), w.shape) {
		return bad("qdata")
	}
	want := w.blocks.paramShape(w.QData)
	if w.ZeroPoint == nil && w.Scale != nil {
		w.ZeroPoint = w.Scale.ZerosLike().To(tensor.Int8)
	}
	if w.Scale == nil || !w.Scale.DType().IsFloat() || !tensor.SameShape(w.Scale.Shape(), want) ||
		!tensor.SameShape(w.ZeroPoint.Shape(), want) {
		return bad("scale or zero_point")
	}
	return nil
}

// numbersOf are the numbers of a list, a tuple or a size.
func numbersOf(v any) ([]int, bool) {
	var items []any
	switch l := v.(type) {
	case []any:
		items = l
	case serialize.Tuple:
		items = l
	case serialize.Size:
		return slices.Clone([]int(l)), true
	}
	out := make([]int, 0, len(items))
	for _, x := range items {
		n, ok := x.(int)
		if !ok || n < 0 {
			return nil, false
		}
		out = append(out, n)
	}
	return out, items != nil
}

func (m *Weighted) state() []entry { return []entry{{"weight", m.weight.value()}} }

func (m *Weighted) load(get func(string) any) error {
	w, err := loadWeight(get("weight"))
	if err != nil {
		return err
	}
	if !slices.Equal(w.shape, m.weight.shape) {
		return fmt.Errorf("the weight has shape %s, the layer's %s", tensor.ShapeString(w.shape),
			tensor.ShapeString(m.weight.shape))
	}
	m.weight = w
	return nil
}
