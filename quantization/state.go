package quantization

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/ops/quantized"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// entry is an entry of a quantized layer's state dict.
type entry struct {
	name  string
	value any
}

// stated is a layer whose state dict holds other values than tensors, under the names that PyTorch gives them.
type stated interface {
	state() []entry
	// load takes over entries; get gives nil for those that are missing.
	load(get func(name string) any) error
}

// StateDict is the state dict of a model with quantized layers, with the names and values of PyTorch's: beside tensors
// it has tuples of packed parameters and dtypes, so that it is a dict of any values. serialize.Save writes it to a file
// that PyTorch loads.
func StateDict(m nn.Module) *serialize.Dict {
	sd := &serialize.Dict{Ordered: true}
	plain := nn.StateDict(m)
	for prefix, c := range nn.NamedModules(m) {
		if prefix != "" {
			prefix += "."
		}
		if s, ok := c.(stated); ok {
			for _, e := range s.state() {
				sd.Set(prefix+e.name, e.value)
			}
		}
		for k, t := range plain.All() {
			if rest, ok := strings.CutPrefix(k, prefix); ok && !strings.Contains(rest, ".") {
				sd.Set(k, t)
			}
		}
	}
	return sd
}

// LoadStateDict loads a state dict that StateDict or PyTorch made of a model of the same layers: a converted one, whose
// scales and weights it replaces. Names that are missing or unexpected and values that do not fit are an error that
// lists them; layers that were loaded before an error stay loaded.
func LoadStateDict(m nn.Module, sd *serialize.Dict) error {
	var errs []error
	used := map[string]bool{}
	rest := &tensor.StateDict{}
	want := nn.StateDict(m)
	for prefix, c := range nn.NamedModules(m) {
		s, ok := c.(stated)
		if !ok {
			continue
		}
		if prefix != "" {
			prefix += "."
		}
		err := s.load(func(name string) any {
			used[prefix+name] = true
			return sd.Get(prefix + name)
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("quantization: %s: %w", strings.TrimSuffix(prefix, "."), err))
		}
	}
	var odd []string
	for key, val := range sd.All() {
		k, ok := key.(string)
		if !ok || used[k] {
			continue
		}
		t, isTensor := val.(*tensor.Tensor)
		if !isTensor {
			odd = append(odd, k)
			continue
		}
		// scales of layers of one element have been saved with and without a dimension
		if w := want.Get(k); w != nil && w.Numel() == t.Numel() && w.Numel() == 1 {
			t = t.Detach().Reshape(w.Shape())
		}
		rest.Set(k, t)
	}
	sort.Strings(odd)
	if len(odd) > 0 {
		errs = append(errs, fmt.Errorf("quantization: unexpected entries that are no tensors: %s",
			strings.Join(odd, ", ")))
	}
	resize(m, rest)
	if err := nn.LoadStateDict(m, rest); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// resize gives buffers of observers and fake quantization, whose sizes depend on the data, those of a state dict.
func resize(m nn.Module, sd *tensor.StateDict) {
	for prefix, c := range nn.NamedModules(m) {
		if prefix != "" {
			prefix += "."
		}
		fit := func(name string, at **Tensor) {
			if t := sd.Get(prefix + name); t != nil && *at != nil && !tensor.SameShape(t.Shape(), (*at).Shape()) {
				*at = t.Detach().ToDType((*at).DType()).Clone()
			}
		}
		if f, ok := c.(interface{ switches() *FakeQuantizeBase }); ok {
			fit("scale", &f.switches().Scale)
			fit("zero_point", &f.switches().ZeroPoint)
		}
		if o, ok := c.(interface{ extremes() (lo, hi **Tensor) }); ok {
			lo, hi := o.extremes()
			fit("min_val", lo)
			fit("max_val", hi)
		}
	}
}

func (o *RangeObserver) extremes() (lo, hi **Tensor) { return &o.MinVal, &o.MaxVal }

func scalars(o output) []entry {
	return []entry{{"scale", tensor.FromSlice([]float32{float32(o.scale)}).Reshape([]int{})},
		{"zero_point", tensor.FromSlice([]int64{int64(o.zero)}).Reshape([]int{})}}
}

// loadScalars reads scale and zero point.
func (o *output) loadScalars(get func(string) any) error {
	s, ok1 := get("scale").(*tensor.Tensor)
	z, ok2 := get("zero_point").(*tensor.Tensor)
	if !ok1 || !ok2 || s.Numel() != 1 || z.Numel() != 1 {
		return errors.New("scale or zero_point is missing, or no number")
	}
	o.scale, o.zero = s.Item(), int(z.Item())
	return nil
}

// optional is a tensor or None.
func optional(v any) (*Tensor, bool) {
	if v == nil {
		return nil, true
	}
	t, ok := v.(*tensor.Tensor)
	return t, ok
}

func boxed(t *Tensor) any {
	if t == nil {
		return nil
	}
	return t
}

func (m *Linear) state() []entry {
	return append(scalars(m.output), entry{"_packed_params.dtype", m.dtype},
		entry{"_packed_params._packed_params", serialize.Tuple{m.params.Weight, boxed(m.params.Bias)}})
}

func (m *Linear) load(get func(string) any) error {
	if err := m.loadScalars(get); err != nil {
		return err
	}
	if dt, ok := get("_packed_params.dtype").(tensor.DType); !ok || dt != tensor.QInt8 && dt != tensor.Float16 {
		return fmt.Errorf("_packed_params.dtype is %v, want qint8 or float16", get("_packed_params.dtype"))
	}
	p, err := linearParams(get("_packed_params._packed_params"))
	if err != nil {
		return err
	}
	if !tensor.SameShape(p.Weight.Shape(), m.params.Weight.Shape()) {
		return fmt.Errorf("the weight has shape %s, the layer %s", tensor.ShapeString(p.Weight.Shape()),
			tensor.ShapeString(m.params.Weight.Shape()))
	}
	m.params, m.dtype = p, tensor.QInt8
	if !p.Weight.IsQuantized() {
		m.dtype = tensor.Float16
	}
	return nil
}

// linearParams packs a tuple of weight and bias.
func linearParams(v any) (p *quantized.Linear, err error) {
	t, ok := v.(serialize.Tuple)
	if !ok || len(t) != 2 {
		return nil, errors.New("the packed parameters are no pair of weight and bias")
	}
	w, ok := t[0].(*tensor.Tensor)
	b, ok2 := optional(t[1])
	if !ok || !ok2 {
		return nil, errors.New("the packed parameters are no tensors")
	}
	err = tensor.Try(func() { p = packLinear(w, b) })
	return p, err
}

func (m *Conv) state() []entry {
	return append([]entry{{"weight", m.params.Weight}, {"bias", boxed(m.params.Bias)}}, scalars(m.output)...)
}

func (m *Conv) load(get func(string) any) error {
	if err := m.loadScalars(get); err != nil {
		return err
	}
	w, ok := get("weight").(*tensor.Tensor)
	b, ok2 := optional(get("bias"))
	if !ok || !ok2 || !tensor.SameShape(w.Shape(), m.params.Weight.Shape()) {
		return errors.New("the weight is missing or of another shape")
	}
	p := m.params
	return tensor.Try(func() {
		m.params = packConv(w, b, ConvSettings{Stride: p.Stride, Padding: p.Padding, OutputPadding: p.OutputPadding,
			Dilation: p.Dilation, Groups: p.Groups, Transpose: p.Transpose})
	})
}

func (m *QFunctional) state() []entry { return scalars(m.output) }

func (m *QFunctional) load(get func(string) any) error { return m.loadScalars(get) }

func (m *Embedding) state() []entry {
	return []entry{{"_packed_params.dtype", m.params.Weight.DType()},
		{"_packed_params._packed_weight", m.params.Weight}}
}

func (m *Embedding) load(get func(string) any) error {
	get("_packed_params.dtype")
	w, ok := get("_packed_params._packed_weight").(*tensor.Tensor)
	if !ok || !tensor.SameShape(w.Shape(), m.params.Weight.Shape()) {
		return errors.New("the weight is missing or of another shape")
	}
	return tensor.Try(func() {
		m.params = packedOf[quantized.Embedding]("embedding_bag_prepack", tensor.TensorValue(w))
	})
}

// The classes of packed parameters in files.
const (
	linearClass = "__torch__.torch.classes.quantized.LinearPackedParamsBase"
	cellClass   = "__torch__.torch.classes.rnn.CellParamsBase"
)

// scriptObject is an object of a class that a C++ library registers, as torch.save writes it.
func scriptObject(state any, class string) *serialize.Object {
	o := serialize.NewObject(serialize.Global{Module: "torch", Name: "ScriptObject"}, nil,
		serialize.Tuple{state, class})
	o.New = true
	return o
}

// scriptState is the state of such an object.
func scriptState(v any, class string) (any, error) {
	o, ok := v.(*serialize.Object)
	if !ok {
		return nil, fmt.Errorf("packed parameters are missing")
	}
	t, ok := o.State.(serialize.Tuple)
	if !ok || len(t) != 2 || t[1] != class {
		return nil, fmt.Errorf("an object is not of the class %s", class)
	}
	return t[0], nil
}

// cellState is a cell as PyTorch's CellParamsBase writes itself: name, tensors, numbers and packed parameters.
func cellState(c *quantized.Cell) any {
	pack := func(l *quantized.Linear) any {
		return scriptObject(serialize.Tuple{l.Weight, boxed(l.Bias)}, linearClass)
	}
	packed := []any{pack(c.Input), pack(c.Hidden)}
	if c.Half {
		return serialize.Tuple{"quantized_fp16", []any{}, []any{}, []any{}, packed}
	}
	return serialize.Tuple{"quantized_dynamic", []any{boxed(c.BiasIH), boxed(c.BiasHH)}, []any{},
		[]any{btoi(c.ReduceRange)}, packed}
}

func loadCell(v any) (*quantized.Cell, error) {
	s, err := scriptState(v, cellClass)
	if err != nil {
		return nil, err
	}
	t, ok := s.(serialize.Tuple)
	if !ok || len(t) != 5 {
		return nil, errors.New("the parameters of a cell are no tuple of 5")
	}
	list := func(i int) []any {
		l, _ := t[i].([]any)
		return l
	}
	if len(list(4)) != 2 {
		return nil, errors.New("the parameters of a cell lack packed weights")
	}
	var packed [2]*quantized.Linear
	for i, o := range list(4) {
		p, err := scriptState(o, linearClass)
		if err != nil {
			return nil, err
		}
		if packed[i], err = linearParams(p); err != nil {
			return nil, err
		}
	}
	var bias [2]*Tensor
	for i, b := range list(1) {
		if i < 2 {
			bias[i], _ = optional(b)
		}
	}
	reduce := true
	if l := list(3); len(l) > 0 {
		reduce = l[0] != 0
	}
	return quantized.NewCell(packed[0], packed[1], bias[0], bias[1], reduce), nil
}

func (m *RNN) state() []entry {
	var out []entry
	for i, c := range m.cells {
		out = append(out, entry{fmt.Sprintf("_all_weight_values.%d.param", i), scriptObject(cellState(c), cellClass)})
	}
	return out
}

func (m *RNN) load(get func(string) any) error {
	cells := make([]*quantized.Cell, len(m.cells))
	for i, old := range m.cells {
		c, err := loadCell(get(fmt.Sprintf("_all_weight_values.%d.param", i)))
		if err != nil {
			return err
		}
		if !tensor.SameShape(c.Input.Weight.Shape(), old.Input.Weight.Shape()) ||
			!tensor.SameShape(c.Hidden.Weight.Shape(), old.Hidden.Weight.Shape()) {
			return fmt.Errorf("the weights of cell %d are of another shape", i)
		}
		cells[i] = c
	}
	m.cells = cells
	return nil
}
