package tensor

import (
	"math"
	"slices"
	"strings"
	"sync/atomic"
)

// This file holds sparse tensors in coordinate format (COO): a list of positions and the elements that stand there
// (https://pytorch.org/docs/stable/sparse.html#sparse-coo-tensors). A sparse Tensor has a shape, a dtype and a device
// as every Tensor, strides of zero, and a storage without memory; its indices and values are two ordinary tensors among
// the extras that few tensors have. Operators that know sparse tensors have a kernel of their own for them
// (RegisterSparse); composed operators run their bodies; all others refuse. A dense tensor pays one test of its flags
// in each call. docs/adr/0010-sparse.md says why it is done this way.

// sparse is what a sparse tensor consists of. It is not changed, but for own: an in-place operator exchanges it as a
// whole.
type sparse struct {
	crow      *Tensor     // in compressed rows: int64 [rows+1], where each row begins; nil in coordinate format
	indices   *Tensor     // int64 [sparse dimensions, nnz]; in compressed rows the columns, [nnz]
	values    *Tensor     // [nnz, dense dimensions...]
	coalesced bool        // positions are sorted and each is there once
	own       atomic.Bool // nobody else knows the memory of the two tensors
}

// Layout says how a tensor keeps its elements.
type Layout uint8

// The layouts of PyTorch that there are here.
const (
	Strided Layout = iota
	SparseCOO
	SparseCSR // compressed rows of a matrix
)

// String is PyTorch's name, "torch.strided", "torch.sparse_coo" or "torch.sparse_csr".
func (l Layout) String() string {
	switch l {
	case SparseCOO:
		return "torch.sparse_coo"
	case SparseCSR:
		return "torch.sparse_csr"
	}
	return "torch.strided"
}

// NewSparse makes a sparse tensor of the given shape from indices, int64 [sparse dimensions, nnz], and values, [nnz,
// dense dimensions...], which it refers to. It is for kernels and checks nothing; torch.SparseCOOTensor checks. With
// own nobody else knows the memory of indices and values, and the tensor may free it when a gradient is dropped.
func NewSparse(indices, values *Tensor, shape []int, coalesced, own bool) *Tensor {
	n := 1
	for _, s := range shape {
		if s > 0 && n > math.MaxInt/s {
			Fail(ErrShape, "numel: integer multiplication overflow: sizes %s", ShapeString(shape))
		}
		n *= s
	}
	t := &Tensor{st: &Storage{}, dt: values.dt, dev: values.dev, flags: flagSparse, ver: new(atomic.Uint32)}
	t.st.bits.Store(stForeign | stSparse)
	t.setDims(shape, make([]int, len(shape)))
	s := &sparse{indices: indices, values: values, coalesced: coalesced}
	s.own.Store(own)
	t.meta().sparse = s
	return t
}

// NewSparseCSR makes a sparse matrix in compressed rows, which refers to crow, int64 [rows+1], where each row begins
// among cols, int64 [nnz], the columns, and values [nnz]. It is for kernels and checks nothing; torch.SparseCSRTensor
// checks.
func NewSparseCSR(crow, cols, values *Tensor, shape []int) *Tensor {
	t := NewSparse(cols, values, shape, true, false)
	t.ag.sparse.crow = crow
	return t
}

// CSRParts gives what a sparse matrix in compressed rows refers to, see NewSparseCSR; nil for all other tensors. It is
// for kernels.
func CSRParts(t *Tensor) (crow, cols, values *Tensor) {
	if t == nil || t.flags&flagSparse == 0 || t.ag.sparse.crow == nil {
		return nil, nil, nil
	}
	s := t.ag.sparse
	return s.crow, s.indices, s.values
}

// SparseParts gives the indices and values that a sparse tensor in coordinate format refers to, and whether positions
// are sorted and each is there once; nil for all other tensors. It is for kernels.
func SparseParts(t *Tensor) (indices, values *Tensor, coalesced bool) {
	if t == nil || t.flags&flagSparse == 0 || t.ag.sparse.crow != nil {
		return nil, nil, false
	}
	s := t.ag.sparse
	return s.indices, s.values, s.coalesced
}

// SetSparse gives the sparse tensor t the positions, elements, shape and dtype of another, for in-place kernels.
func SetSparse(t, from *Tensor) {
	if t.flags&from.flags&flagSparse == 0 {
		Fail(ErrType, "SetSparse: both tensors must be sparse")
	}
	shape := append([]int(nil), from.shape...)
	t.ag.sparse, t.dt = from.ag.sparse, from.dt
	t.setDims(shape, make([]int, len(shape)))
	if t.flags&flagKeep != 0 {
		t.eachStorage((*Storage).keep)
	}
}

// IsSparse reports a sparse tensor in coordinate format.
func (t *Tensor) IsSparse() bool {
	if t == nil {
		panic(noTensor("Tensor.IsSparse"))
	}
	return t.flags&flagSparse != 0 && t.ag.sparse.crow == nil
}

// IsSparseCSR reports a sparse matrix in compressed rows.
func (t *Tensor) IsSparseCSR() bool { return t.Layout() == SparseCSR }

// Layout is SparseCOO for sparse tensors in coordinate format, SparseCSR for matrices in compressed rows, Strided for
// all others.
func (t *Tensor) Layout() Layout {
	if t == nil {
		panic(noTensor("Tensor.Layout"))
	}
	switch {
	case t.flags&flagSparse == 0:
		return Strided
	case t.ag.sparse.crow != nil:
		return SparseCSR
	}
	return SparseCOO
}

// shareRare makes d, a new header with t's flags, refer to t's names, to the quantizer of a quantized t, and to the
// positions and elements of a sparse t.
func (d *Tensor) shareRare(t *Tensor) {
	if t.flags&flagNamed != 0 {
		d.meta().names = t.ag.names
	}
	if t.flags&flagQuantized != 0 {
		d.meta().quant = t.ag.quant
	}
	if t.flags&flagSparse == 0 {
		return
	}
	s := t.ag.sparse
	s.own.Store(false)
	d.meta().sparse = s
}

// disown notes that somebody else may know the memory of a sparse gradient, as a hook does.
func (t *Tensor) disown() {
	if t.flags&flagSparse != 0 {
		t.ag.sparse.own.Store(false)
	}
}

// takeSparse makes t sparse with src's positions and elements, or dense as src is.
func (t *Tensor) takeSparse(src *Tensor) {
	t.flags = t.flags&^flagSparse | src.flags&flagSparse
	t.meta().sparse = nil
	if src.flags&flagSparse != 0 {
		t.shareRare(src)
	}
}

// eachStorage calls f for the storages that a tensor keeps its elements in.
func (t *Tensor) eachStorage(f func(*Storage)) {
	if t.flags&flagSparse == 0 {
		f(t.st)
		return
	}
	if crow := t.ag.sparse.crow; crow != nil {
		f(crow.st)
	}
	f(t.ag.sparse.indices.st)
	f(t.ag.sparse.values.st)
}

// RegisterSparse adds a kernel that computes an operator where an argument is a sparse tensor: its functional form, the
// form in place (the kernel asks c.Op().IsInPlace()) and the form with a number, under all names. The kernel sets the
// results, as there is no shape rule before it. The operator may be registered before or after.
func RegisterSparse(full string, kernel func(c *Ctx)) { registerRare(full, sparseKernel, kernel) }

// RegisterSparseCSR is RegisterSparse for calls of which an argument is a sparse matrix in compressed rows. Nothing is
// recorded for the backward pass of such a call.
func RegisterSparseCSR(full string, kernel func(c *Ctx)) { registerRare(full, csrKernel, kernel) }

// HasSparse reports that the operator has a kernel for sparse tensors.
func (o *Op) HasSparse() bool { return o.Def != nil && o.Def.rare[sparseKernel] != nil }

// dispatchSparse is dispatch where an argument is sparse.
func (c *Ctx) dispatchSparse() {
	op := c.op
	csr := c.hasCSR()
	switch {
	case op.target != nil:
		c.runTarget()
	case csr && op.rare[csrKernel] != nil && !c.outForm && op.variant == functional:
		if c.records() && c.anyRequiresGrad() {
			c.FailHint(ErrNotImpl, "in Go: call it inside NoGrad", "%s: gradients of tensors in compressed rows are not "+
				"supported", op.full)
		}
		c.runRare(op.rare[csrKernel])
	case csr && op.Body == nil:
		c.refuseSparse()
	case !csr && op.rare[sparseKernel] != nil && !c.outForm && op.variant != outVariant:
		if op.variant == inPlace && c.records() && c.anyRequiresGrad() {
			c.Fail(ErrAutograd, "%s: gradients of in-place operators on sparse tensors are not supported: write the "+
				"form that is not in place, or call it inside NoGrad", op.full)
		}
		c.runRare(op.rare[sparseKernel])
		if op.variant != inPlace {
			c.record()
		}
	case op.Body != nil && (op.variant == functional || op.variant == inPlace && op.base == nil) && !c.outForm:
		op.Body(c)
	default:
		c.refuseSparse()
	}
}

// hasCSR reports that an argument is a matrix in compressed rows.
func (c *Ctx) hasCSR() bool {
	is := func(t *Tensor) bool { return t != nil && t.flags&flagSparse != 0 && t.ag.sparse.crow != nil }
	for i := range c.args {
		if is(c.args[i].T) {
			return true
		}
		if l, ok := c.args[i].X.([]*Tensor); ok && slices.ContainsFunc(l, is) {
			return true
		}
	}
	return false
}

// refuseSparse says that an operator knows no sparse tensors.
func (c *Ctx) refuseSparse() {
	name, _, _ := strings.Cut(c.op.full, ".")
	backend := "SparseCPU"
	if c.hasCSR() {
		backend = "SparseCsrCPU"
	}
	c.FailHint(ErrNotImpl, "in Go: x.ToDense(), or x.Coalesce().Values() for the elements that are there",
		"Could not run '%s' with arguments from the '%s' backend: it is not supported for sparse tensors.", name, backend)
}

// refuseSparseRead is what reading the memory of a sparse tensor gives.
func refuseSparseRead() {
	FailHint(ErrNotImpl, "in Go: x.ToDense(), or x.Coalesce().Indices() and Values()",
		"Cannot access data pointer of Tensor that doesn't have storage: reading elements is not supported for sparse "+
			"tensors.")
}

// accumulateSparse adds gradients where the new one or the old one is sparse, as PyTorch's AccumulateGrad does: two
// sparse ones are listed one after the other, a sparse and a dense one give a dense one. The caller holds m.mu.
// https://github.com/pytorch/pytorch/blob/main/torch/csrc/autograd/functions/accumulate_grad.h
func (e *engine) accumulateSparse(m *agMeta, g *Tensor) {
	old := m.grad
	switch {
	case old == nil && e.create:
		m.grad = g.cloneOp().Keep()
	case old == nil:
		if !g.ag.sparse.own.Load() {
			g = g.cloneOp()
		}
		m.grad = g.Detach().markGrad()
	case e.create:
		m.grad = addAny(old, g).Keep()
	case old.flags&flagSparse == 0:
		addInto(old, g)
	case g.flags&flagSparse != 0:
		sum := addT(old, g)
		old.eachStorage(dropStorage)
		SetSparse(old, sum)
		old.markGrad()
		old.bump()
	default:
		m.grad = addT(g, old).markGrad()
		old.eachStorage(dropStorage)
	}
}

// markGrad notes that a tensor made by the backward pass is the gradient of a leaf.
func (t *Tensor) markGrad() *Tensor {
	t.eachStorage(func(s *Storage) { s.bits.Or(stGrad) })
	return t
}

// addAny is a + b, the dense tensor first: there is no sum of a sparse and a dense tensor in this order.
func addAny(a, b *Tensor) *Tensor {
	if a.flags&flagSparse != 0 && b.flags&flagSparse == 0 {
		a, b = b, a
	}
	return addT(a, b)
}

// nnz is how many elements, or dense slices, a sparse tensor lists.
func (t *Tensor) nnz() int { return t.ag.sparse.values.shape[0] }

// sparseRepr is what stands between the brackets of a printed sparse tensor: indices and values.
func (t *Tensor) sparseRepr(indent int) string {
	s := t.ag.sparse
	part := func(name string, x *Tensor) string {
		x = x.Detach()
		out := name + "=tensor("
		if x.numel == 0 {
			return out + "[], size=" + tupleString(x.shape) + ")"
		}
		h := HostCopy(x)
		p := newPrinter(h, printOptions.Load())
		p.tensor(0, h.off, indent+len(out))
		return out + p.b.String() + ")"
	}
	next := ",\n" + strings.Repeat(" ", indent)
	if s.crow != nil {
		return part("crow_indices", s.crow) + next + part("col_indices", s.indices) + next + part("values", s.values)
	}
	return part("indices", s.indices) + next + part("values", s.values)
}
