package tensor

import (
	"maps"
	"slices"
)

// This file holds the kernels for arguments of kinds that few tensors are of: sparse and quantized ones. They are
// registered by the operator's name, as those of another backend are, so that a Def does not know of them.

// rareKernels are the kernels of all forms of an operator for such arguments.
type rareKernels [numRareKernels]func(c *Ctx)

// The kinds of arguments.
const (
	sparseKernel = iota
	quantizedKernel
	csrKernel
	numRareKernels
)

// waitingRare are kernels whose operators are not registered yet: packages are initialized in any order.
var waitingRare = map[string]*rareKernels{}

// WaitingRare names the operators of RegisterSparse and RegisterQuantized that there are none of, for a test.
func WaitingRare() []string {
	registry.RLock()
	defer registry.RUnlock()
	return slices.Sorted(maps.Keys(waitingRare))
}

func registerRare(full string, kind int, kernel func(c *Ctx)) {
	registry.Lock()
	defer registry.Unlock()
	if o := registry.ops[full]; o != nil && o.Def != nil {
		o.Def.rare[kind] = kernel
		return
	}
	if waitingRare[full] == nil {
		waitingRare[full] = &rareKernels{}
	}
	waitingRare[full][kind] = kernel
}

// runRare runs such a kernel, which sets the results: there is no shape rule before it.
func (c *Ctx) runRare(kernel func(c *Ctx)) {
	c.dev, c.located = c.findDevice(), true
	if c.op.variant == inPlace {
		c.refuseInferenceWrite(c.args[0].T)
	}
	with(func(m *mode) { m.noGrad = true; m.device = Device{} }, func() { kernel(c) })
	if c.op.variant == inPlace {
		c.outs[0].bump()
	}
}
