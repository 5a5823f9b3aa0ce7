package quantization

import (
	"fmt"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// noteKey is the key of what Prepare keeps with each module that has a configuration.
type noteKey struct{}

// note is what Prepare keeps with a module.
type note struct {
	config *QConfig
	handle nn.Handle // of the observer's hook
}

func noteOf(m nn.Module) *note {
	n, _ := nn.Note(m, noteKey{}).(*note)
	return n
}

// Prepare puts observers behind the layers of a model that static quantization concerns, in place, and before that
// gives each module its configuration: the mapping's, or without one the default of the engine that is set. Then the
// model runs on a few batches of typical data, and Convert follows. Without QuantStub and DeQuantStub, which mark where
// the model is quantized, converted layers get float32 inputs and refuse them.
// https://pytorch.org/docs/stable/generated/torch.ao.quantization.prepare.html
func Prepare(m nn.Module, mapping ...*QConfigMapping) {
	qm := GetDefaultQConfigMapping(Engine())
	if len(mapping) > 0 {
		qm = mapping[0]
	}
	configure(m, qm)
	addObservers(m)
}

// PrepareQAT is Prepare for quantization-aware training: layers with weights become layers that round them in each
// forward pass, in place. Make the optimizer afterwards.
// https://pytorch.org/docs/stable/generated/torch.ao.quantization.prepare_qat.html
func PrepareQAT(m nn.Module, mapping ...*QConfigMapping) {
	if !nn.IsTraining(m) {
		tensor.Fail(tensor.ErrValue, "prepare_qat only works on models in training mode")
	}
	qm := &QConfigMapping{Global: GetDefaultQATQConfig(Engine())}
	if len(mapping) > 0 {
		qm = mapping[0]
	}
	configure(m, qm)
	swap(m, qatForm)
	addObservers(m)
}

// configure gives every module its configuration.
func configure(m nn.Module, qm *QConfigMapping) {
	var visit func(m nn.Module, name string, above *QConfig)
	visit = func(m nn.Module, name string, above *QConfig) {
		q := qm.of(name, nn.ClassName(m), above)
		if q != nil {
			nn.SetNote(m, noteKey{}, &note{config: q})
		} else {
			nn.SetNote(m, noteKey{}, nil)
		}
		for n, c := range nn.NamedChildren(m) {
			if name != "" {
				n = name + "." + n
			}
			visit(c, n, q)
		}
	}
	visit(m, "", nil)
}

// observable reports a layer whose output static quantization observes.
func observable(m nn.Module) bool {
	switch m.(type) {
	case *QuantStub, *nn.BatchNorm2d, *nn.BatchNorm3d, *nn.Conv1d, *nn.Conv2d, *nn.Conv3d, *nn.ConvTranspose1d,
		*nn.ConvTranspose2d, *nn.ConvTranspose3d, *nn.ELU, *nn.Embedding, *nn.EmbeddingBag, *nn.GroupNorm,
		*nn.Hardswish,
		*nn.InstanceNorm1d, *nn.InstanceNorm2d, *nn.InstanceNorm3d, *nn.LayerNorm, *nn.LeakyReLU, *nn.ReLU6, *nn.Linear,
		*nn.PReLU:
		return true
	}
	return false
}

// addObservers puts observers behind the layers of m that need one.
func addObservers(m nn.Module) {
	for c := range nn.Children(m) {
		switch c := c.(type) {
		case *nn.Dropout, Observer:
			continue
		case *FloatFunctional:
			if n := noteOf(c); n != nil {
				obs := n.config.Activation()
				nn.Train(obs, nn.IsTraining(c))
				nn.RegisterModule(c, postProcess, obs)
			}
			continue
		case *Fused, trained:
			addObserver(c, nil)
			continue
		}
		if f, ok := special[nn.ClassName(c)]; ok {
			i := 0
			if nn.IsTraining(c) {
				i = 1
			}
			addObserver(c, f[i])
			continue
		}
		addObservers(c)
		if observable(c) {
			addObserver(c, nil)
		}
	}
}

// addObserver puts an observer behind a layer with a configuration: the one that make gives, or the configuration's.
func addObserver(m nn.Module, make Factory) {
	n := noteOf(m)
	if n == nil {
		return
	}
	if make == nil {
		make = n.config.Activation
	}
	obs := make()
	nn.Train(obs, nn.IsTraining(m))
	nn.RegisterModule(m, postProcess, obs)
	n.handle = nn.RegisterForwardHook(m, func(_ nn.Module, _ []*Tensor, y *Tensor) *Tensor { return obs.Forward(y) })
}

// observerOf is the observer behind a layer, nil without.
func observerOf(m nn.Module) Observer {
	for n, c := range nn.NamedChildren(m) {
		if o, ok := c.(Observer); ok && n == postProcess {
			return o
		}
	}
	return nil
}

// swap exchanges the modules below m for what form makes of them; nil leaves a module.
func swap(m nn.Module, form func(m nn.Module) nn.Module) {
	for c := range nn.Children(m) {
		if w := form(c); w != nil {
			nn.Train(w, nn.IsTraining(c))
			nn.Replace(c, w)
			continue
		}
		switch c.(type) {
		case *Fused, Observer:
		default:
			swap(c, form)
		}
	}
}

// qatForm is the form of a layer for quantization-aware training.
func qatForm(m nn.Module) nn.Module {
	n := noteOf(m)
	if n == nil {
		return nil
	}
	var out nn.Module
	switch l := m.(type) {
	case *nn.Linear:
		out = newQATLinear(l, n.config, false)
	case *nn.Conv2d, *nn.Conv3d: // PyTorch has no such form of Conv1d alone
		out = newQATConv(nn.DeepCopy(l.(nn.Layer)), nil, false, nn.ClassName(l), n.config)
	case *Fused:
		first := l.Layers[0]
		var bn nn.Layer
		relu := false
		for _, x := range l.Layers[1:] {
			if _, ok := x.(*nn.ReLU); ok {
				relu = true
			} else {
				bn = x
			}
		}
		if lin, ok := first.(*nn.Linear); ok && bn == nil {
			out = newQATLinear(lin, n.config, relu)
		} else if ok || convBase(first) != nil && l.class != "ConvReLU1d" {
			out = newQATConv(first, bn, relu, l.class, n.config)
		} else {
			return nil
		}
	default:
		return nil
	}
	nn.SetNote(out, noteKey{}, &note{config: n.config})
	return out
}

// qparams are the scale and zero point that an observer has chosen for a tensor.
func qparams(o Observer) (scale float64, zero int) {
	s, z := o.CalculateQParams()
	return s.Item(), int(z.Item())
}

// quantizedWeight quantizes a weight as its observer says, which observes it first.
func quantizedWeight(w *Tensor, o Observer) *Tensor {
	w = w.Detach().To(tensor.Float32)
	tensor.NoGrad(func() { o.Forward(w) })
	s, z := o.CalculateQParams()
	set := o.Settings()
	dt := set.DType
	if !dt.IsQuantized() {
		tensor.Fail(tensor.ErrDType, "a weight observer must have a quantized dtype, such as qint8, not %s", dt)
	}
	if set.QScheme.IsPerChannel() {
		if set.QScheme == tensor.PerChannelAffineFloatQParams {
			return w.QuantizePerChannel(s.To(tensor.Float32), z.To(tensor.Float32), set.ChAxis, dt)
		}
		return w.QuantizePerChannel(s.To(tensor.Float64), z.To(tensor.Int64), set.ChAxis, dt)
	}
	return w.QuantizePerTensor(s.Item(), int(z.Item()), dt)
}

// Convert exchanges the observed layers of a prepared model for quantized ones, in place, with the scales and zero
// points that the observers have chosen, for the engine that is set. Layers without a quantized form stay. The result
// is m, or where m itself is a layer the one that takes its place.
// https://pytorch.org/docs/stable/generated/torch.ao.quantization.convert.html
func Convert(m nn.Module) nn.Module {
	if w := quantizedForm(m); w != nil {
		return w
	}
	swap(m, quantizedForm)
	for c := range nn.Modules(m) {
		if n := noteOf(c); n != nil {
			n.handle.Remove()
			nn.UnregisterModule(c, postProcess)
			nn.SetNote(c, noteKey{}, nil)
		}
	}
	return m
}

// quantizedForm is the quantized form of an observed layer, nil where there is none.
func quantizedForm(m nn.Module) nn.Module {
	n := noteOf(m)
	if n == nil {
		return nil
	}
	switch m.(type) {
	case *DeQuantStub:
		return NewDeQuantize()
	case *nn.Embedding, *nn.EmbeddingBag:
		w := quantizedWeight(nn.OwnParameters(m)[0], n.config.Weight())
		if b, ok := m.(*nn.EmbeddingBag); ok {
			return NewEmbeddingBag(w, b.IncludeLastOffset)
		}
		return NewEmbedding(w)
	case *nn.Dropout, *nn.ReLU6:
		return sameScale(m)
	case *nn.Sigmoid, *nn.Softmax: // their operators take bytes as they are
		return nil
	}
	obs := observerOf(m)
	if obs == nil {
		return nil
	}
	if _, fixed := special[nn.ClassName(m)]; !fixed {
		if p, ok := obs.(*PlaceholderObserver); ok && p.Settings().IsDynamic {
			return nil
		}
	}
	switch l := m.(type) {
	case *QuantStub:
		s, z := qparams(obs)
		return NewQuantize(s, z, obs.Settings().DType)
	case *FloatFunctional:
		s, z := qparams(obs)
		return NewQFunctional(s, z)
	case trained:
		layer, weight, relu := l.parts()
		return quantizedLayer(layer, weight, obs, relu)
	case *Fused:
		if len(l.Layers) == 2 {
			if _, ok := l.Layers[1].(*nn.ReLU); ok {
				return quantizedLayer(l.Layers[0], n.config.Weight(), obs, true)
			}
		}
		return nil
	case *nn.Linear, *nn.Conv1d, *nn.Conv2d, *nn.Conv3d, *nn.ConvTranspose1d, *nn.ConvTranspose2d, *nn.ConvTranspose3d:
		return quantizedLayer(m.(nn.Layer), n.config.Weight(), obs, false)
	}
	s, z := qparams(obs)
	if a := activationOf(m, s, z, false); a != nil {
		return a
	}
	return nil
}

// quantizedLayer is the quantized form of a layer with weights.
func quantizedLayer(l nn.Layer, weight, obs Observer, relu bool) nn.Module {
	s, z := qparams(obs)
	switch c := l.(type) {
	case *nn.Linear:
		return NewLinear(quantizedWeight(c.Weight, weight), detached(c.Bias), s, z, relu)
	case *nn.ConvTranspose1d:
		return quantizedConv(&c.ConvNd, weight, s, z, relu, true)
	case *nn.ConvTranspose2d:
		return quantizedConv(&c.ConvNd, weight, s, z, relu, true)
	case *nn.ConvTranspose3d:
		return quantizedConv(&c.ConvNd, weight, s, z, relu, true)
	}
	if b := convBase(l); b != nil {
		return quantizedConv(b, weight, s, z, relu, false)
	}
	if a := activationOf(l, s, z, relu); a != nil {
		if relu {
			a.class = "QuantizedBNReLU" + nn.ClassName(l)[len("BatchNorm"):]
		}
		return a
	}
	tensor.Fail(tensor.ErrNotImpl, "a %s has no quantized form", nn.ClassName(l))
	return nil
}

func detached(t *Tensor) *Tensor {
	if t == nil {
		return nil
	}
	return t.Detach()
}

func quantizedConv(c *nn.ConvNd, weight Observer, s float64, z int, relu, transpose bool) nn.Module {
	if c.PaddingMode != nn.Zeros {
		tensor.Fail(tensor.ErrNotImpl, "a quantized convolution pads with zeros, not by padding_mode=%q", c.PaddingMode)
	}
	w := quantizedWeight(c.Weight, weight)
	dims := w.Dim() - 2
	full := func(l []int) []int {
		out := make([]int, dims)
		for i := range out {
			switch {
			case len(l) == dims:
				out[i] = l[i]
			case len(l) == 1:
				out[i] = l[0]
			}
			if out[i] < 0 {
				tensor.Fail(tensor.ErrNotImpl, "a quantized convolution needs its padding in numbers")
			}
		}
		return out
	}
	set := ConvSettings{Stride: full(c.Stride), Padding: full(c.Padding), Dilation: full(c.Dilation), Groups: c.Groups,
		Transpose: transpose}
	if transpose {
		set.OutputPadding = full(c.OutputPadding)
	}
	return NewConv(w, detached(c.Bias), set, s, z, relu)
}

// QuantizeDynamicOptions are the options of QuantizeDynamic.
type QuantizeDynamicOptions struct {
	// DType of the weights: QInt8 unless given, or Float16.
	DType tensor.DType
	// Mapping says which layers are quantized and how, instead of the layers that PyTorch chooses.
	Mapping *QConfigMapping
}

// QuantizeDynamic exchanges linear and recurrent layers of a model for ones with quantized weights, in place; inputs
// are quantized by their range as they come. The result is m, or where m itself is a layer the one that takes its
// place.
// https://pytorch.org/docs/stable/generated/torch.ao.quantization.quantize_dynamic.html
func QuantizeDynamic(m nn.Module, opts ...QuantizeDynamicOptions) (nn.Module, error) {
	var o QuantizeDynamicOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	qm := o.Mapping
	if qm == nil {
		q := DefaultDynamicQConfig
		switch o.DType {
		case 0, tensor.QInt8:
		case tensor.Float16:
			q = Float16DynamicQConfig
		default:
			return nil, fmt.Errorf("quantization: don't know how to quantize with default settings for %s", o.DType)
		}
		qm = &QConfigMapping{Types: map[string]*QConfig{}}
		for _, c := range []string{"Linear", "LSTM", "GRU", "LSTMCell", "GRUCell", "RNNCell"} {
			qm.Types[c] = q
		}
	}
	configure(m, qm)
	if w := dynamicForm(m); w != nil {
		nn.Train(w, nn.IsTraining(m))
		return w, nil
	}
	swap(m, dynamicForm)
	for c := range nn.Modules(m) {
		nn.SetNote(c, noteKey{}, nil)
	}
	return m, nil
}

// dynamicWeight is a weight as a configuration of dynamic quantization wants it: bytes, or floats that will be rounded
// to float16.
func dynamicWeight(w *Tensor, q *QConfig) *Tensor {
	o := q.Weight()
	if !o.Settings().DType.IsQuantized() {
		return w.Detach()
	}
	return quantizedWeight(w, o)
}

// dynamicForm is the dynamically quantized form of a layer, nil where there is none.
func dynamicForm(m nn.Module) nn.Module {
	n := noteOf(m)
	if n == nil {
		return nil
	}
	q := n.config
	switch l := m.(type) {
	case *nn.Linear:
		return NewDynamicLinear(dynamicWeight(l.Weight, q), detached(l.Bias), false)
	case *Fused:
		if lin, ok := l.Layers[0].(*nn.Linear); ok && l.class == "LinearReLU" {
			return NewDynamicLinear(dynamicWeight(lin.Weight, q), detached(lin.Bias), true)
		}
	case *nn.LSTM:
		if l.ProjSize == 0 {
			return newRNN(&l.RNNBase, true, q)
		}
	case *nn.GRU:
		return newRNN(&l.RNNBase, false, q)
	case *nn.LSTMCell:
		return newRNNCell(&l.RNNCellBase, "lstm", q)
	case *nn.GRUCell:
		return newRNNCell(&l.RNNCellBase, "gru", q)
	case *nn.RNNCell:
		if l.ReLU {
			return newRNNCell(&l.RNNCellBase, "rnn_relu", q)
		}
		return newRNNCell(&l.RNNCellBase, "rnn_tanh", q)
	case *nn.Embedding, *nn.EmbeddingBag:
		return quantizedForm(m)
	}
	return nil
}
