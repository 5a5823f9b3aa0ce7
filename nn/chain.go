package nn

import (
	"github.com/gotorch-dev/torch/internal/fused"
	"github.com/gotorch-dev/torch/tensor"
)

// Chain applies layers one after the other, as a Sequential of them does: y = last(…second(first(x))). For a model that
// keeps its layers in fields it does what Sequential does for a list: runs of layers that one operator computes are
// handed to that operator, and values that only the tape knows are freed as soon as the backward pass has read them.
// Results, gradients and what an observer sees are those of the layers called one by one. See docs/adr/0007-fusing.md.
func Chain(x *Tensor, layers ...Layer) *Tensor {
	ms := make([]Module, len(layers))
	for i, l := range layers {
		ms[i] = l
	}
	y, _ := chain(x, ms, false)
	return y
}

// fusions is the table of patterns: by the kind of the first layer, a function that recognises a run of layers at the
// start of ms and calls one operator of the namespace gotorch for them. inner says that only the chain knows x. The
// function returns the number of layers in the run, 0 if there is none. The operator's body is the sequence of public
// operators that the layers call, so a function looks at layers only; whether there is a kernel for these tensors, on
// this device, with or without gradients, and whether somebody looks on, is the dispatcher's to decide.
var fusions = [numKinds]func(x *Tensor, ms []Module, inner bool) (y *Tensor, n int){
	conv2dLayer: convTail,
	linearLayer: linearActivation,
	reluLayer:   reluMaxPool,
}

// chain applies layers; inner says that nothing but the caller's chain, and the tape, refers to the memory of x, and
// the result whether that is so of y. The layers of a Sequential inside are links of the same chain.
func chain(x *Tensor, ms []Module, inner bool) (y *Tensor, yInner bool) {
	defer func() { blameFirst(recover(), ms) }()
	for len(ms) > 0 {
		if s, ok := ms[0].(*Sequential); ok && s.unseen() {
			x, inner = chain(x, s.mods, inner)
			ms = ms[1:]
			continue
		}
		y, n := (*Tensor)(nil), 0
		if f := fusions[kindOf(ms[0])]; f != nil && len(ms) > 1 && !tensor.IsTracing() {
			y, n = f(x, ms, inner)
		}
		if n == 0 {
			y, n = layerOf(ms[0]).Forward(x), 1
		}
		inner = through(ms[0], x, y, inner)
		x, ms = y, ms[n:]
	}
	return x, inner
}

// convTail recognises a convolution with a ReLU and a max pooling behind it, or one of them, in either order.
func convTail(x *Tensor, ms []Module, _ bool) (y *Tensor, n int) {
	c := ms[0].(*Conv2d)
	pad, even := c.evenPadding()
	if c.hooks != nil || c.PaddingMode != Zeros || !even {
		return nil, 0
	}
	var relu *ReLU
	var pool *MaxPool2d
	o := fused.ConvTailOptions{PaddingName: c.paddingName()}
	n = 1
run:
	for _, m := range ms[1:min(3, len(ms))] {
		switch m := m.(type) {
		case *ReLU:
			if relu != nil || m.hooks != nil {
				break run
			}
			relu, o.ReLUInplace = m, m.Inplace
		case *MaxPool2d:
			if pool != nil || m.hooks != nil {
				break run
			}
			pool, o.PoolFirst = m, relu == nil
		default:
			break run
		}
		n++
	}
	if n == 1 {
		return nil, 0
	}
	var window []int
	if pool != nil {
		window = pool.KernelSize.expand(2)
		o.PoolStride, o.PoolPadding, o.PoolDilation = pool.Stride.expand(2), pool.Padding.expand(2),
			pool.Dilation.expand(2)
		o.CeilMode = pool.CeilMode
	}
	return fused.ConvTail(x, c.Weight, c.Bias, c.Stride, pad, c.Dilation, c.Groups, relu != nil, window, o), n
}

// linearActivation recognises a linear layer with a ReLU or a GELU behind it.
func linearActivation(x *Tensor, ms []Module, _ bool) (y *Tensor, n int) {
	l := ms[0].(*Linear)
	if l.hooks != nil {
		return nil, 0
	}
	switch a := ms[1].(type) {
	case *ReLU:
		if a.unseen() && !a.Inplace {
			return fused.LinearFused(x, l.Weight, l.Bias, "relu"), 2
		}
	case *GELU:
		if a.unseen() {
			return fused.LinearFused(x, l.Weight, l.Bias, [...]string{"gelu", "gelu_tanh"}[a.Approximate]), 2
		}
	}
	return nil, 0
}

// reluMaxPool recognises a ReLU with a maximum pooling behind it. A ReLU in place must be seen to have happened unless
// x is inner.
func reluMaxPool(x *Tensor, ms []Module, inner bool) (y *Tensor, n int) {
	r := ms[0].(*ReLU)
	if r.hooks != nil || r.Inplace && !inner {
		return nil, 0
	}
	pool := func(hooks *hooks, k, stride, pad, dilation Size, ceil bool, nd int) (*Tensor, int) {
		if hooks != nil {
			return nil, 0
		}
		return fused.ReLUMaxPool(x, k, stride, pad, dilation, ceil, nd, r.Inplace), 2
	}
	switch p := ms[1].(type) {
	case *MaxPool1d:
		return pool(p.hooks, p.KernelSize, p.Stride, p.Padding, p.Dilation, p.CeilMode, 1)
	case *MaxPool2d:
		return pool(p.hooks, p.KernelSize, p.Stride, p.Padding, p.Dilation, p.CeilMode, 2)
	case *MaxPool3d:
		return pool(p.hooks, p.KernelSize, p.Stride, p.Padding, p.Dilation, p.CeilMode, 3)
	}
	return nil, 0
}

// kind groups the layers whose results are new tensors, which they do not keep.
type kind uint8

const (
	otherLayer kind = iota
	convLayer
	conv2dLayer
	linearLayer
	normLayer
	reluLayer
	poolLayer
	numKinds
)

// kindOf looks at the type itself: a type that embeds one of these may do something else.
func kindOf(m Module) kind {
	switch m.(type) {
	case *Conv2d:
		return conv2dLayer
	case *Conv1d, *Conv3d, *ConvTranspose1d, *ConvTranspose2d, *ConvTranspose3d:
		return convLayer
	case *Linear:
		return linearLayer
	case *BatchNorm1d, *BatchNorm2d, *BatchNorm3d:
		return normLayer
	case *ReLU:
		return reluLayer
	case *MaxPool1d, *MaxPool2d, *MaxPool3d, *AvgPool1d, *AvgPool2d, *AvgPool3d:
		return poolLayer
	}
	return otherLayer
}

// through reports whether the result y of the layer m, or of a run of layers that begins with m, is inner: nothing but
// the chain and the tape refers to its memory. If the layer's input x is inner, the backward pass frees its memory with
// the last rule that reads it, which is that of the layer that made it, or else that of m. Without this it would live
// until the garbage collector comes: in a residual network that is a third of the memory of a training step.
func through(m Module, x, y *Tensor, inner bool) bool {
	switch {
	case !tensor.IsGradEnabled():
		return passed(m, x, y, inner)
	case kindOf(m) == otherLayer || m.moduleBase().hooks != nil:
		return false
	case x == y: // written in place: its memory is as well known as before
		return inner
	case inner && !tensor.ReleaseAfter(x, x):
		tensor.ReleaseAfter(y, x)
	}
	return true
}
