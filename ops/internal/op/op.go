// Package op holds what the bodies and kernels of several operator families need: calls of other operators by name,
// dimensions, and the memory of a tensor.
package op

import (
	"fmt"
	"strconv"
	"strings"
	"unsafe"

	"github.com/gotorch-dev/torch/tensor"
)

// Call calls an operator by its full name ("aten::add.Tensor"; without overload the first one) and returns its results.
// Arguments are boxed, those left out get their defaults; a nil tensor is none. An operator that does not exist is an
// error.
func Call(name string, args ...any) []*tensor.Tensor {
	o := tensor.LookupOp(name)
	if o == nil {
		all := tensor.Overloads(name)
		if len(all) == 0 {
			tensor.Fail(tensor.ErrNotFound, "no operator %s is registered", name)
		}
		o = all[0]
	}
	return CallOp(o, args...)
}

// CallOp is Call of an operator that is at hand, as a Slot of a family is. One that is not linked into the program is
// an error.
func CallOp(o *tensor.Op, args ...any) []*tensor.Tensor {
	if o.Def == nil {
		tensor.Fail(tensor.ErrNotImpl, "operator %s is not there yet", o.FullName())
	}
	c := tensor.NewCall(o, len(o.Sch.Params))
	for i := range o.Sch.Params {
		if i >= len(args) {
			if d := o.Sch.Params[i].Default; d != nil {
				*c.Arg(i) = *d
			}
		} else if t, ok := args[i].(*tensor.Tensor); !ok || t != nil {
			*c.Arg(i) = tensor.Box(args[i])
		}
	}
	return c.DoN()
}

// Call1 is Call of an operator with one result.
//
//go:noinline // the families would have hundreds of copies
func Call1(name string, args ...any) *tensor.Tensor { return Call(name, args...)[0] }

// Wrap counts a negative dimension of nd from the end; one that is not there is the caller's mistake.
func Wrap(c *tensor.Ctx, d, nd int) int {
	n := max(nd, 1)
	if d < -n || d >= n {
		c.Fail(tensor.ErrIndex, "Dimension out of range (expected to be in range of [%d, %d], but got %d)", -n, n-1, d)
	}
	if d < 0 {
		d += n
	}
	return d
}

// Raw is the memory of a contiguous CPU tensor as elements of a type of its size; unlike tensor.Data it lets bool pass
// as uint8. It is for kernels alone.
func Raw[E any](t *tensor.Tensor) []E {
	var e E
	if int(unsafe.Sizeof(e)) != t.ElementSize() {
		panic(fmt.Sprintf("op.Raw: elements of %d bytes in a tensor of %s", unsafe.Sizeof(e), t.DType()))
	}
	if t.Numel() == 0 {
		return nil
	}
	return unsafe.Slice((*E)(tensor.Ptr(t)), t.Numel())
}

// Pick is a where first holds, else b.
func Pick[X any](first bool, a, b X) X {
	if first {
		return a
	}
	return b
}

// Parts sees a complex tensor's memory as real numbers: pairs of them in a last dimension, or every other one, which
// are the real parts. It reads no memory, so that it serves on every device; the view is not recorded.
func Parts(t *tensor.Tensor, pair bool) *tensor.Tensor {
	n := t.Dim()
	shape, st := make([]int, n, n+1), make([]int, n, n+1)
	copy(shape, t.Shape())
	for i, s := range t.Strides() {
		st[i] = 2 * s
	}
	if pair {
		shape, st = append(shape, 2), append(st, 1)
	}
	return tensor.WithDType(tensor.Alias(t, shape, st, 2*t.StorageOffset()), t.DType().Real())
}

// Recorded is what a gradient rule returns that leaves the work to public operators: the gradients of composed by the
// first tensor arguments, which in holds. They are recorded themselves where gradients of gradients are wanted. Those
// that are not wanted come back nil.
func Recorded(c *tensor.Ctx, g *tensor.Tensor, in []*tensor.Tensor,
	composed func(in []*tensor.Tensor) *tensor.Tensor) []*tensor.Tensor {
	again := tensor.IsGradEnabled()
	r := make([]*tensor.Tensor, len(in))
	var want, d []*tensor.Tensor
	for i, t := range in {
		if in[i] = t.AliasView(); !again {
			in[i] = t.Detach().SetRequiresGrad(c.Needs(i))
		}
		if c.Needs(i) {
			want = append(want, in[i])
		}
	}
	tensor.EnableGrad(func() {
		d = tensor.Grad([]*tensor.Tensor{composed(in)}, want,
			tensor.GradOptions{GradOutputs: []*tensor.Tensor{g}, CreateGraph: again, AllowUnused: true})
	})
	for i := range in {
		if c.Needs(i) {
			r[i], d = d[0], d[1:]
		}
	}
	return r
}

// Zeros is a tensor of zeros on the device of like. For bodies and gradient rules, which must not take host memory
// themselves.
func Zeros(like *tensor.Tensor, shape []int, dt tensor.DType) *tensor.Tensor {
	c := tensor.NewCall(newZeros, 6)
	*c.Arg(0), *c.Arg(1) = tensor.TensorValue(like), tensor.IntsValue(shape)
	if dt != like.DType() {
		*c.Arg(2) = tensor.DTypeValue(dt)
	}
	return c.Do1()
}

// Full is a tensor of one number on the device of like. For bodies and gradient rules, as Zeros is.
func Full(like *tensor.Tensor, shape []int, n tensor.Scalar, dt tensor.DType) *tensor.Tensor {
	return like.NewFull(shape, n, tensor.NewFullOptions{DType: dt})
}

// Numbers is a tensor of int64 on the device of like that holds numbers known from shapes and other arguments, such as
// indices.
func Numbers(like *tensor.Tensor, numbers []int64) *tensor.Tensor {
	t := tensor.FromSlice(numbers)
	if d := like.Device(); d.Type != tensor.CPUDevice {
		t = t.To(d)
	}
	return t
}

var newZeros = tensor.Slot("aten::new_zeros")

// Where is v where mask is true, 0 elsewhere, whatever v is.
func Where(mask, v *tensor.Tensor) *tensor.Tensor {
	return Call1("aten::where.self", mask, v, Zeros(v, nil, v.DType()))
}

// ZeroWhere is v with zeros where mask is true.
func ZeroWhere(v, mask *tensor.Tensor) *tensor.Tensor {
	return Call1("aten::where.self", mask, Zeros(v, nil, v.DType()), v)
}

// Evenly shares the gradient of one number among the elements where mask is true.
func Evenly(g, mask *tensor.Tensor) *tensor.Tensor { return Where(mask, g.Div(mask.Sum())) }

// Overlap reports that the ranges of memory of two tensors meet.
func Overlap(a, b *tensor.Tensor) bool {
	if a.Storage() != b.Storage() || a.Numel() == 0 || b.Numel() == 0 {
		return false
	}
	extent := func(t *tensor.Tensor) (lo, hi int) {
		n := 1
		for i, s := range t.Shape() {
			n += (s - 1) * t.Strides()[i]
		}
		return t.StorageOffset() * t.ElementSize(), (t.StorageOffset() + n) * t.ElementSize()
	}
	alo, ahi := extent(a)
	blo, bhi := extent(b)
	return alo < bhi && blo < ahi
}

// Consumed is y, the result of a step of a body, and frees the memory of the values inner that the step has read and
// that nothing else needs: what comes next gets memory that is still in the caches. Where somebody may look at them,
// [tensor.ReleaseConsumed] frees nothing.
func Consumed(y *tensor.Tensor, inner ...*tensor.Tensor) *tensor.Tensor {
	for _, t := range inner {
		tensor.ReleaseConsumed(t, y)
	}
	return y
}

// CText is a number for the text of an error of PyTorch's, in which C++ writes nan and inf.
func CText(x float64) string { return strings.ToLower(strconv.FormatFloat(x, 'g', -1, 64)) }
