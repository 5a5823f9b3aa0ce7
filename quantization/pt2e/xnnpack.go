package pt2e

import (
	"fmt"
	"math"
	"slices"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/tensor"
)

// SymmetricOptions are the options of SymmetricConfig; the limits are those of int8, of weights without -128, unless
// given.
type SymmetricOptions struct {
	IsPerChannel     bool // weights have a scale for each output channel
	IsQAT            bool // fake quantization, for PrepareQATPT2E
	IsDynamic        bool // scales of activations are chosen in each run
	ActQMin, ActQMax tensor.Opt[int]
	WeightQMin       tensor.Opt[int]
	WeightQMax       tensor.Opt[int]
}

// SymmetricConfig is PyTorch's get_symmetric_quantization_config: activations of int8 by histograms, symmetric weights
// of int8.
func SymmetricConfig(opts ...SymmetricOptions) *QuantizationConfig {
	var o SymmetricOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	act := &QuantizationSpec{DType: tensor.Int8, QuantMin: o.ActQMin.Or(-128), QuantMax: o.ActQMax.Or(127),
		IsDynamic: o.IsDynamic, Observer: activationOf(o.IsQAT, o.IsDynamic), Eps: narrowEps}
	w := &QuantizationSpec{DType: tensor.Int8, QuantMin: o.WeightQMin.Or(-127), QuantMax: o.WeightQMax.Or(127),
		QScheme: tensor.PerTensorSymmetric, Observer: minMaxOf, Eps: narrowEps}
	if o.IsPerChannel {
		w.QScheme, w.Observer = tensor.PerChannelSymmetric, perChannelOf
	}
	if o.IsQAT {
		w.Observer = fusedOf
		if o.IsPerChannel {
			w.Observer = fusedPerChannelOf
		}
	}
	c := &QuantizationConfig{InputActivation: act, OutputActivation: act, Weight: w, IsQAT: o.IsQAT}
	if o.IsDynamic {
		c.OutputActivation = nil
	}
	return c
}

// XNNPACKQuantizer has the rules of PyTorch's quantizer for XNNPACK, the engine of mobile devices: convolutions and
// linear layers with a ReLU behind them, additions, products and layers of average pooling take and give integers, and
// operators that only move or choose numbers keep them. As in PyTorch, unless export was strict there, concatenations
// have no rule.
type XNNPACKQuantizer struct {
	global         *QuantizationConfig
	modules, types []configured
}

// NewXNNPACKQuantizer makes a quantizer that quantizes nothing until it is told to.
func NewXNNPACKQuantizer() *XNNPACKQuantizer { return &XNNPACKQuantizer{} }

// SetGlobal sets the configuration for everything that has none of its own.
func (q *XNNPACKQuantizer) SetGlobal(c *QuantizationConfig) *XNNPACKQuantizer {
	q.global = c
	return q
}

// SetModuleName sets the configuration for the module with this path and those below it.
func (q *XNNPACKQuantizer) SetModuleName(path string, c *QuantizationConfig) *XNNPACKQuantizer {
	q.modules = append(q.modules, configured{path, c})
	return q
}

// SetModuleType sets the configuration for modules of a class, by its Python name ("Linear", or with its module), and
// those below them.
func (q *XNNPACKQuantizer) SetModuleType(class string, c *QuantizationConfig) *XNNPACKQuantizer {
	q.types = append(q.types, configured{class, c})
	return q
}

func (q *XNNPACKQuantizer) annotate(m *Model, n notes) {
	m.numbersToTensors()
	dynamic := q.global != nil && q.global.InputActivation != nil && q.global.InputActivation.IsDynamic
	run := func(c *QuantizationConfig, accept func(n *graph.Node) bool) {
		if c == nil {
			return
		}
		x := xnnpack{m, n, c, accept}
		if dynamic {
			x.each(x.linear)
			return
		}
		if c.IsQAT {
			for _, is := range []func(n *graph.Node) bool{isConv, isConvTranspose} {
				x.each(x.normed(is, true))
				x.each(x.normed(is, false))
			}
		}
		for _, f := range []func(n *graph.Node){x.linearReLU, x.linear, x.convReLU, x.conv, x.convTransposeReLU,
			x.average,
			x.binaryReLU("add"), x.binary("add"), x.binaryReLU("mul"), x.binary("mul")} {
			x.each(f)
		}
	}
	for _, c := range q.modules {
		run(c.config, func(x *graph.Node) bool { return within(x, c.name) })
	}
	for _, c := range q.types {
		run(c.config, func(x *graph.Node) bool { return ofClass(x, c.name) })
	}
	run(q.global, func(x *graph.Node) bool {
		return !slices.ContainsFunc(q.modules, func(c configured) bool { return within(x, c.name) }) &&
			!slices.ContainsFunc(q.types, func(c configured) bool { return ofClass(x, c.name) })
	})
	m.propagate(n)
}

// xnnpack is a pass over a model with one configuration.
type xnnpack struct {
	m      *Model
	n      notes
	config *QuantizationConfig
	accept func(n *graph.Node) bool
}

func (x *xnnpack) each(f func(n *graph.Node)) {
	for _, n := range x.m.fn.Body.Nodes {
		f(n)
	}
}

// weights are the nodes of a layer's weight and bias.
func weights(n *graph.Node) []*graph.Node {
	out := []*graph.Node{n.In[1].Node}
	if b := arg(n, 2); b != nil {
		out = append(out, b.Node)
	}
	return out
}

// takes reports a pattern that is free and wanted. Constants belong to no module.
func (x *xnnpack) takes(nodes ...*graph.Node) bool {
	if x.n.any(nodes...) {
		return false
	}
	return !slices.ContainsFunc(nodes, func(n *graph.Node) bool {
		return n != nil && n.Op != graph.Constant && !x.accept(n)
	})
}

// layer annotates a layer, whose result end gives.
func (x *xnnpack) layer(n, end *graph.Node) {
	a := &annotation{}
	a.in(n.In[0], rule{spec: x.config.InputActivation})
	a.in(n.In[1], rule{spec: x.config.Weight})
	x.n[n] = a
	if x.config.OutputActivation != nil {
		x.output(end, rule{spec: x.config.OutputActivation})
	}
	x.n.mark(weights(n)...)
}

// output annotates the result of a node.
func (x *xnnpack) output(n *graph.Node, r rule) {
	if x.n[n] == nil {
		x.n[n] = &annotation{}
	}
	x.n[n].output = &r
}

// normed annotates a convolution with a batch norm behind it, and with relu a ReLU behind that, for training.
func (x *xnnpack) normed(is func(n *graph.Node) bool, relu bool) func(n *graph.Node) {
	return func(n *graph.Node) {
		conv := x.m.normOf(n)
		if conv == nil || !is(conv) {
			return
		}
		end := n
		if relu {
			users := x.m.users(n.Out[0])
			if x.m.readers(n.Out[0]) != 1 || len(users) != 1 || !named(users[0], rectifiers...) {
				return
			}
			end = users[0]
		}
		if x.takes(append(weights(conv), conv)...) {
			x.layer(conv, end)
		}
	}
}

// before is the layer whose result a ReLU reads, and nothing else.
func (x *xnnpack) before(n *graph.Node, is func(n *graph.Node) bool) *graph.Node {
	if !named(n, rectifiers...) || n.In[0].Node == nil || !is(n.In[0].Node) || x.m.readers(n.In[0]) > 1 {
		return nil
	}
	return n.In[0].Node
}

func (x *xnnpack) withReLU(n *graph.Node, is func(n *graph.Node) bool) {
	if l := x.before(n, is); l != nil && x.takes(append(weights(l), n, l)...) {
		x.layer(l, n)
	}
}

func (x *xnnpack) linearReLU(n *graph.Node)        { x.withReLU(n, isLinear) }
func (x *xnnpack) convReLU(n *graph.Node)          { x.withReLU(n, isConv) }
func (x *xnnpack) convTransposeReLU(n *graph.Node) { x.withReLU(n, isConvTranspose) }

func (x *xnnpack) linear(n *graph.Node) {
	if isLinear(n) && x.takes(n) {
		x.layer(n, n)
	}
}

func (x *xnnpack) conv(n *graph.Node) {
	if isConv(n) && x.takes(append(weights(n), n)...) {
		x.layer(n, n)
	}
}

// average annotates a layer of average pooling, whose result has the scale of its input; a call of the function has no
// rule.
func (x *xnnpack) average(n *graph.Node) {
	if !named(n, "aten::adaptive_avg_pool2d") || !ofClass(n, "AdaptiveAvgPool2d") || !x.takes(n) {
		return
	}
	v := n.In[0]
	r := rule{spec: x.config.InputActivation}
	if v.Node != nil && x.n[v.Node] != nil && x.n[v.Node].output != nil {
		r = shared(v, nil)
	}
	a := &annotation{}
	a.in(v, r)
	x.n[n] = a
	x.output(n, shared(v, n))
}

// operands annotates the tensors that an addition or product reads; false where one is no float tensor, or a number
// too large for a histogram.
func (x *xnnpack) operands(n *graph.Node) *annotation {
	a := &annotation{}
	for i := range 2 {
		v := arg(n, i)
		if v == nil {
			continue
		}
		if t := constant(v); t != nil {
			if t.Numel() == 1 && math.Abs(t.Item()) > math.MaxFloat32/1e23 || t.DType() != tensor.Float32 {
				return nil
			}
		} else if v.Info == nil || v.Info.DType != tensor.Float32 {
			return nil
		}
		a.in(v, rule{spec: x.config.InputActivation})
	}
	return a
}

func (x *xnnpack) binaryReLU(name string) func(n *graph.Node) {
	ops := []string{"aten::" + name + ".Tensor", "aten::" + name + "_.Tensor"}
	return func(n *graph.Node) {
		sum := x.before(n, func(n *graph.Node) bool { return named(n, ops...) })
		if sum == nil || !x.takes(n, sum) {
			return
		}
		if a := x.operands(sum); a != nil {
			x.n[sum] = a
			x.output(n, rule{spec: x.config.OutputActivation})
		}
	}
}

func (x *xnnpack) binary(name string) func(n *graph.Node) {
	ops := []string{"aten::" + name + ".Tensor", "aten::" + name + "_.Tensor"}
	return func(n *graph.Node) {
		if !named(n, ops...) || !x.takes(n) {
			return
		}
		if a := x.operands(n); a != nil {
			x.n[n] = a
			x.output(n, rule{spec: x.config.OutputActivation})
		}
	}
}

// keepsScale are operators whose results have the scale of their input.
var keepsScale = []string{"aten::relu", "aten::hardtanh", "aten::hardtanh_", "aten::max_pool2d", "aten::mean",
	"aten::mean.dim", "aten::permute", "aten::squeeze.dim", "aten::adaptive_avg_pool2d", "aten::view",
	"aten::flatten.using_ints"}

// propagate lets operators that keep the scale of their input share its observer.
func (m *Model) propagate(n notes) {
	for _, x := range m.fn.Body.Nodes {
		if !named(x, keepsScale...) || n[x] != nil || x.In[0].Node == nil {
			continue
		}
		if before := n[x.In[0].Node]; before != nil && before.output != nil {
			a := &annotation{}
			r := shared(x.In[0], nil)
			a.in(x.In[0], r)
			a.output = &r
			n[x] = a
		}
	}
}

// numbersToTensors makes tensors of the numbers in additions and products, so that they are quantized as well.
func (m *Model) numbersToTensors() {
	count := 0
	for _, n := range slices.Clone(m.fn.Body.Nodes) {
		if !named(n, "aten::add.Scalar", "aten::mul.Scalar") || n.In[1].Node == nil ||
			n.In[1].Node.Op != graph.Constant || n.In[1].Node.Const.K == tensor.KComplex {
			continue
		}
		x := n.In[1].Node.Const.Num().F
		name := fmt.Sprintf("_tensor_constant_%d", count)
		count++
		n.In[1] = m.after(n.In[1], func(b *graph.Block) *graph.Value {
			v := b.Const(tensor.FromSlice([]float32{float32(x)}).Reshape([]int{}))
			v.Node.Attr = name
			return v
		})
		n.Op = n.Op[:len(n.Op)-len("Scalar")] + "Tensor"
		n.Operator = graph.Lookup(n.Op)
	}
}
