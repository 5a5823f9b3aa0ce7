package pt2e

import (
	"slices"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/quantization"
	"github.com/gotorch-dev/torch/tensor"
)

// The observers of the configurations.
func histogramOf(o quantization.ObserverOptions) quantization.Observer {
	return quantization.NewHistogramObserver(o)
}

func minMaxOf(o quantization.ObserverOptions) quantization.Observer {
	return quantization.NewMinMaxObserver(o)
}

func perChannelOf(o quantization.ObserverOptions) quantization.Observer {
	return quantization.NewPerChannelMinMaxObserver(o)
}

func placeholderOf(o quantization.ObserverOptions) quantization.Observer {
	return quantization.NewPlaceholderObserver(o)
}

// fusedOf and fusedPerChannelOf are fake quantization with a moving average of the range.
func fusedOf(o quantization.ObserverOptions) quantization.Observer {
	return quantization.NewFusedMovingAvgObsFakeQuantize(quantization.NewMovingAverageMinMaxObserver(o))
}

func fusedPerChannelOf(o quantization.ObserverOptions) quantization.Observer {
	return quantization.NewFusedMovingAvgObsFakeQuantize(quantization.NewMovingAveragePerChannelMinMaxObserver(o))
}

// dynamicFakeOf is fake quantization by the range of each batch.
func dynamicFakeOf(o quantization.ObserverOptions) quantization.Observer {
	o.AveragingConstant = tensor.Some(1.0)
	return quantization.NewFakeQuantize(quantization.NewMovingAverageMinMaxObserver(o))
}

// activationOf is what observes activations.
func activationOf(qat, dynamic bool) func(o quantization.ObserverOptions) quantization.Observer {
	switch {
	case qat && dynamic:
		return dynamicFakeOf
	case qat:
		return fusedOf
	case dynamic:
		return placeholderOf
	}
	return histogramOf
}

const narrowEps = 1.0 / (1 << 12)

// X86InductorOptions are the options of X86InductorConfig.
type X86InductorOptions struct {
	IsQAT       bool // fake quantization, for PrepareQATPT2E
	IsDynamic   bool // scales of activations are chosen in each run
	ReduceRange bool // activations use seven bits, for processors without VNNI
}

// X86InductorConfig is PyTorch's get_default_x86_inductor_quantization_config: activations of uint8 by histograms,
// weights of int8 for each output channel.
func X86InductorConfig(opts ...X86InductorOptions) *QuantizationConfig {
	var o X86InductorOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	act := &QuantizationSpec{DType: tensor.Uint8, QuantMax: 255, IsDynamic: o.IsDynamic,
		Observer: activationOf(o.IsQAT, o.IsDynamic), Eps: narrowEps}
	if o.ReduceRange {
		act.QuantMax = 127
	}
	w := &QuantizationSpec{DType: tensor.Int8, QuantMin: -128, QuantMax: 127, QScheme: tensor.PerChannelSymmetric,
		Observer: perChannelOf, Eps: narrowEps}
	if o.IsQAT {
		w.Observer = fusedPerChannelOf
	}
	return &QuantizationConfig{InputActivation: act, OutputActivation: act, Weight: w, IsQAT: o.IsQAT}
}

// X86InductorQuantizer has the rules of PyTorch's quantizer for x86 processors: convolutions and linear layers with
// what follows them (an addition, an activation) are quantized, and pools, concatenations and flattenings between them.
// https://docs.pytorch.org/ao/stable/pt2e_quantization/pt2e_quant_x86_inductor.html
type X86InductorQuantizer struct {
	global  *QuantizationConfig
	modules []configured
	ops     []configured
}

// configured is a configuration for a module's path, or for an operator.
type configured struct {
	name   string
	config *QuantizationConfig
}

// NewX86InductorQuantizer makes a quantizer that quantizes nothing until it is told to.
func NewX86InductorQuantizer() *X86InductorQuantizer { return &X86InductorQuantizer{} }

// SetGlobal sets the configuration for everything that has none of its own.
func (q *X86InductorQuantizer) SetGlobal(c *QuantizationConfig) *X86InductorQuantizer {
	q.global = c
	return q
}

// SetModuleName sets the configuration for the module with this path and those below it; nil leaves them as they are.
func (q *X86InductorQuantizer) SetModuleName(path string, c *QuantizationConfig) *X86InductorQuantizer {
	q.modules = append(q.modules, configured{path, c})
	return q
}

// SetOperator sets the configuration for an operator by its name ("aten::linear"); nil leaves it as it is. The
// operators are conv1d, conv2d, linear, matmul, mul.Tensor, max_pool2d, avg_pool2d, adaptive_avg_pool2d, cat and
// flatten.using_ints.
func (q *X86InductorQuantizer) SetOperator(name string, c *QuantizationConfig) *X86InductorQuantizer {
	q.ops = append(q.ops, configured{name, c})
	return q
}

// The operators that take and give bytes, those that are quantized unless told otherwise, and all that can be.
var (
	bytesInOut = []string{"aten::max_pool2d", "aten::cat", "aten::avg_pool2d", "aten::adaptive_avg_pool2d",
		"aten::flatten.using_ints"}
	byDefault   = append([]string{"aten::conv1d", "aten::conv2d", "aten::linear", "aten::mul.Tensor"}, bytesInOut...)
	quantizable = append([]string{"aten::matmul"}, byDefault...)
	additions   = []string{"aten::add.Tensor", "aten::add_.Tensor"}
	rectifiers  = []string{"aten::relu", "aten::relu_"}
	afterConv   = []string{"aten::relu", "aten::relu_", "aten::hardtanh", "aten::hardtanh_", "aten::hardswish",
		"aten::hardswish_", "aten::relu6", "aten::relu6_", "aten::silu", "aten::silu_"}
	afterLinear = []string{"aten::relu", "aten::relu_", "aten::leaky_relu", "aten::leaky_relu_", "aten::tanh",
		"aten::tanh_", "aten::gelu"}
)

// pass is a pass over a model with one configuration, for the patterns that accept takes.
type pass struct {
	m      *Model
	n      notes
	config *QuantizationConfig
	accept func(nodes []*graph.Node) bool
}

func (q *X86InductorQuantizer) annotate(m *Model, n notes) {
	one := func(ops []string) func(nodes []*graph.Node) bool {
		return func(nodes []*graph.Node) bool {
			count := 0
			for _, x := range nodes {
				if named(x, ops...) {
					count++
				}
			}
			return count == 1
		}
	}
	for _, c := range q.modules {
		x := pass{m, n, c.config, func(nodes []*graph.Node) bool {
			return !slices.ContainsFunc(nodes, func(x *graph.Node) bool { return !within(x, c.name) })
		}}
		x.run()
	}
	for _, c := range q.ops {
		x := pass{m, n, c.config, one([]string{c.name})}
		x.run()
	}
	if q.global != nil {
		x := pass{m, n, q.global, one(byDefault)}
		x.run()
	}
	for _, node := range m.fn.Body.Nodes { // an operator on bytes gives bytes with the scale that it takes
		if a := n[node]; a != nil && a.pattern && named(node, bytesInOut...) {
			r := shared(tensorsOf(node)[0], node)
			a.output = &r
		}
	}
}

func (p *pass) run() {
	if p.config == nil || p.config.IsQAT {
		p.normed()
	}
	for _, f := range []func(n *graph.Node){
		func(n *graph.Node) { p.layerSum(n, isConv2d, true, true) },
		func(n *graph.Node) { p.layerSum(n, isConv2d, true, false) },
	} {
		p.each(f)
	}
	p.each(func(n *graph.Node) {
		p.activated(n, isConv, func(c *graph.Node) []string {
			if isConv2d(c) {
				return afterConv
			}
			return rectifiers
		})
	})
	p.each(func(n *graph.Node) {
		if isConv2d(n) && p.takes(n) {
			p.layer(n, true)
		}
	})
	p.each(func(n *graph.Node) { p.layerSum(n, isLinear, false, true) })
	p.each(func(n *graph.Node) { p.layerSum(n, isLinear, false, false) })
	p.each(func(n *graph.Node) { p.activated(n, isLinear, func(*graph.Node) []string { return afterLinear }) })
	p.each(func(n *graph.Node) {
		if isLinear(n) && p.takes(n) {
			p.layer(n, true)
		}
	})
	p.each(p.products)
	p.each(p.spread)
}

// normed annotates convolutions whose batch norm is not folded yet, since they are trained, with an addition, an
// activation or both behind it. The result of each such pattern is quantized.
func (p *pass) normed() {
	each := func(f func(conv, norm *graph.Node)) {
		p.each(func(n *graph.Node) {
			if conv := p.m.normOf(n); conv != nil && isConv2d(conv) {
				f(conv, n)
			}
		})
	}
	for _, act := range []bool{true, false} {
		each(func(conv, norm *graph.Node) {
			if p.m.readers(norm.Out[0]) != 1 {
				return
			}
			for _, sum := range p.next(norm, additions) {
				if !act {
					p.trained(conv, norm, sum)
					continue
				}
				for _, end := range p.next(sum, rectifiers) {
					p.trained(conv, norm, sum, end)
				}
			}
		})
	}
	each(func(conv, norm *graph.Node) {
		for _, end := range p.next(norm, afterConv) {
			p.trained(conv, norm, end)
		}
	})
	each(func(conv, norm *graph.Node) { p.trained(conv, norm) })
}

// trained annotates a convolution, its batch norm and the nodes behind it.
func (p *pass) trained(nodes ...*graph.Node) {
	if !p.takes(nodes...) {
		return
	}
	if p.config != nil {
		p.layer(nodes[0], false)
		for i, n := range nodes[1:] {
			if !named(n, additions...) {
				continue
			}
			before, other := nodes[i].Out[0], arg(n, 0)
			if other == before {
				other = arg(n, 1)
			}
			if other != nil {
				p.n[n] = &annotation{}
				p.n[n].in(other, rule{spec: p.config.InputActivation})
			}
		}
	}
	p.leave(nodes...)
	if p.config != nil {
		end := p.n[nodes[len(nodes)-1]]
		end.pattern, end.output = true, &rule{spec: p.config.OutputActivation}
	}
}

func (p *pass) each(f func(n *graph.Node)) {
	for _, n := range p.m.fn.Body.Nodes {
		f(n)
	}
}

// takes reports nodes that no pass has taken and that this one shall take.
func (p *pass) takes(nodes ...*graph.Node) bool { return !p.n.any(nodes...) && p.accept(nodes) }

// leave marks nodes that stay as they are.
func (p *pass) leave(nodes ...*graph.Node) { p.n.mark(nodes...) }

// layer annotates a convolution or linear layer.
func (p *pass) layer(n *graph.Node, pattern bool) {
	if p.config == nil {
		p.leave(n)
		return
	}
	a := &annotation{pattern: pattern}
	a.in(n.In[0], rule{spec: p.config.InputActivation})
	a.in(n.In[1], rule{spec: p.config.Weight})
	p.n[n] = a
}

// next are the nodes that read the result of n and call one of these operators.
func (p *pass) next(n *graph.Node, ops []string) []*graph.Node {
	var out []*graph.Node
	for _, u := range p.m.users(n.Out[0]) {
		if named(u, ops...) {
			out = append(out, u)
		}
	}
	return out
}

// layerSum annotates a layer, an addition that reads it, and with act an activation behind that. other says that the
// other addend is quantized.
func (p *pass) layerSum(n *graph.Node, is func(n *graph.Node) bool, other, act bool) {
	if !is(n) || p.m.readers(n.Out[0]) != 1 {
		return
	}
	for _, sum := range p.next(n, additions) {
		a, b := arg(sum, 0), arg(sum, 1)
		if a == nil || b == nil {
			continue
		}
		if a == n.Out[0] {
			a = b
		}
		ends := []*graph.Node{nil}
		if act {
			ends = p.next(sum, rectifiers)
		}
		for _, end := range ends {
			nodes := []*graph.Node{sum, n}
			if end != nil {
				nodes = append([]*graph.Node{end}, nodes...)
			}
			if !p.takes(nodes...) {
				continue
			}
			if p.config == nil {
				p.leave(nodes...)
				continue
			}
			p.layer(n, false)
			p.n[sum] = &annotation{pattern: end == nil}
			if other {
				p.n[sum].in(a, rule{spec: p.config.InputActivation})
			}
			if end != nil {
				p.n[end] = &annotation{pattern: true}
			}
		}
	}
}

// activated annotates a layer and an activation that reads it.
func (p *pass) activated(n *graph.Node, is func(n *graph.Node) bool, acts func(n *graph.Node) []string) {
	if !is(n) {
		return
	}
	for _, act := range p.next(n, acts(n)) {
		if !p.takes(act, n) {
			continue
		}
		if p.config == nil {
			p.leave(n, act)
			continue
		}
		p.layer(n, false)
		p.n[act] = &annotation{pattern: true}
	}
}

// products annotates matrix products, and products of tensors of one shape.
func (p *pass) products(n *graph.Node) {
	if !named(n, "aten::matmul", "aten::mul.Tensor") || !p.takes(n) {
		return
	}
	if p.config == nil {
		p.leave(n)
		return
	}
	a, b := arg(n, 0), arg(n, 1)
	if a == nil || b == nil {
		return
	}
	if n.Op == "aten::mul.Tensor" && (a.Info == nil || b.Info == nil || !slices.Equal(a.Info.Shape, b.Info.Shape)) {
		return
	}
	x := &annotation{pattern: true}
	x.in(a, rule{spec: p.config.InputActivation})
	x.in(b, rule{spec: p.config.InputActivation})
	p.n[n] = x
}

// spread annotates an operator on bytes whose inputs come from quantized patterns.
func (p *pass) spread(n *graph.Node) {
	if !named(n, bytesInOut...) || !p.takes(n) {
		return
	}
	if p.config == nil {
		p.leave(n)
		return
	}
	in := tensorsOf(n)
	if len(in) == 0 {
		return
	}
	if n.Op != "aten::cat" {
		in = in[:1]
	}
	for _, v := range in {
		if v.Node == nil || p.n[v.Node] == nil || !p.n[v.Node].pattern {
			return
		}
	}
	if n.Op == "aten::flatten.using_ints" {
		users := p.m.users(n.Out[0])
		if p.m.readers(n.Out[0]) > 0 && !slices.ContainsFunc(users, func(u *graph.Node) bool { return named(u, quantizable...) }) {
			return
		}
	}
	a := &annotation{pattern: true}
	a.in(in[0], rule{spec: p.config.InputActivation})
	for _, v := range in[1:] {
		if v != in[0] {
			a.in(v, shared(in[0], n))
		}
	}
	p.n[n] = a
}

func isConv2d(n *graph.Node) bool { return named(n, "aten::conv2d") }
func isConv(n *graph.Node) bool   { return named(n, "aten::conv1d", "aten::conv2d") }
func isLinear(n *graph.Node) bool { return named(n, "aten::linear") }
func isConvTranspose(n *graph.Node) bool {
	return named(n, "aten::conv_transpose1d", "aten::conv_transpose2d", "aten::conv_transpose2d.input")
}
