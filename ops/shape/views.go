package shape

import (
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "view(Tensor(a) self, SymInt[] size) -> Tensor(a)",
		Doc: "returns the same memory seen with another shape; one size may be -1. It fails where the strides do " +
			"not allow it: use Reshape there.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.view.html",
		View: func(c *Ctx) *T {
			t := c.T(0)
			size := tensor.InferSize(c.Ints(1), t.Numel())
			return tensor.Alias(t, size, viewStrides(c, t, size), t.StorageOffset())
		},
		VJP: func(c *Ctx, g *T) []*T { return []*T{g.Reshape(c.Shape(0))} },
	})
	tensor.Register(tensor.Def{
		Schema: "reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)",
		Doc: "returns the elements with another shape: a view where the strides allow it, a copy otherwise. One " +
			"size may be -1.\nhttps://pytorch.org/docs/stable/generated/torch.reshape.html",
		Body: func(c *Ctx) {
			t := c.T(0)
			size := tensor.InferSize(c.Ints(1), t.Numel())
			if _, ok := tensor.ViewStrides(t.Shape(), t.Strides(), size); ok {
				c.Return(t.View(size))
				return
			}
			c.Return(t.Clone(tensor.CloneOptions{MemoryFormat: tensor.ContiguousFormat}).View(size))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_unsafe_view(Tensor self, SymInt[] size) -> Tensor",
		Doc: "is view of a tensor that nothing else refers to: autograd takes the result for a new tensor, not " +
			"for a view of self.",
		Go: "-",
		Infer: func(c *Ctx) {
			t := c.T(0)
			size := tensor.InferSize(c.Ints(1), t.Numel())
			c.SetOut(0, tensor.Alias(t, size, viewStrides(c, t, size), t.StorageOffset()))
		},
		CPU: func(c *Ctx) {}, // the result is there already
		Raw: true,
		VJP: func(c *Ctx, g *T) []*T { return []*T{g.Reshape(c.Shape(0))} },
	})
	tensor.Register(tensor.Def{
		Schema: "expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
		Doc: "repeats dimensions of size 1 without copying; -1 keeps a " +
			"size.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.expand.html",
		View: expand,
		VJP:  func(c *Ctx, g *T) []*T { return []*T{g} }, // the engine sums over repeated dimensions
	})
	tensor.Register(tensor.Def{
		Schema: "permute(Tensor(a) self, int[] dims) -> Tensor(a)",
		Doc:    "reorders the dimensions.\nhttps://pytorch.org/docs/stable/generated/torch.permute.html",
		View: func(c *Ctx) *T {
			t, dims := c.T(0), c.Ints(1)
			if len(dims) != t.Dim() {
				c.Fail(tensor.ErrShape, "permute(sparse_coo): number of dimensions in the tensor input does not "+
					"match the length of the desired ordering of dimensions i.e. input.dim() = %d is not equal to "+
					"len(dims) = %d", t.Dim(), len(dims))
			}
			sh, st := make([]int, len(dims)), make([]int, len(dims))
			seen := make([]bool, len(dims))
			for i, d := range dims {
				d = tensor.WrapDim(d, t.Dim())
				if seen[d] {
					c.Fail(tensor.ErrShape, "permute(): duplicate dims are not allowed.")
				}
				seen[d] = true
				sh[i], st[i] = t.Shape()[d], t.Strides()[d]
			}
			return tensor.Alias(t, sh, st, t.StorageOffset())
		},
		VJP: func(c *Ctx, g *T) []*T {
			dims := c.Ints(1)
			inv := make([]int, len(dims))
			for i, d := range dims {
				inv[tensor.WrapDim(d, len(dims))] = i
			}
			return []*T{g.Permute(inv)}
		},
	})
	tensor.Register(tensor.Def{
		Schema:  "transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
		Doc:     "swaps two dimensions.\nhttps://pytorch.org/docs/stable/generated/torch.transpose.html",
		Aliases: []string{"swapdims"}, FormNames: "swapdims.int=",
		View: func(c *Ctx) *T {
			t := c.T(0)
			a, b := tensor.WrapDim(c.Int(1), t.Dim()), tensor.WrapDim(c.Int(2), t.Dim())
			sh, st := slices.Clone(t.Shape()), slices.Clone(t.Strides())
			if t.Dim() > 0 {
				sh[a], sh[b], st[a], st[b] = sh[b], sh[a], st[b], st[a]
			}
			return tensor.Alias(t, sh, st, t.StorageOffset())
		},
		VJP: func(c *Ctx, g *T) []*T { return []*T{g.Transpose(c.Int(1), c.Int(2))} },
	})
}

// viewStrides are the strides with which the memory of t has another shape; it is an error when there are none.
func viewStrides(c *Ctx, t *T, size []int) []int {
	st, ok := tensor.ViewStrides(t.Shape(), t.Strides(), size)
	if !ok {
		c.FailHint(tensor.ErrShape, "in Go: Reshape",
			"view size is not compatible with input tensor's size and stride (at least one "+
				"dimension spans across two contiguous subspaces). Use .reshape(...) instead.")
	}
	return st
}

func expand(c *Ctx) *T {
	t, size := c.T(0), slices.Clone(c.Ints(1))
	lead := len(size) - t.Dim()
	if lead < 0 {
		c.Fail(tensor.ErrShape, "expand(%s{%s}, size=%s): the number of sizes provided (%d) must be greater or equal "+
			"to the number of dimensions in the tensor (%d)",
			"torch."+t.DType().ClassName()+"Tensor", tensor.ShapeString(t.Shape()), tensor.ShapeString(size), len(size),
			t.Dim())
	}
	st := make([]int, len(size))
	for i := len(size) - 1; i >= 0; i-- { // from the end, so that the same dimension is named as in PyTorch
		n, s := 1, 0
		if i >= lead {
			n, s = t.Shape()[i-lead], t.Strides()[i-lead]
		}
		switch {
		case size[i] == -1 && i < lead:
			c.Fail(tensor.ErrShape, "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing "+
				"dimension %d", i)
		case size[i] == -1 || size[i] == n:
			size[i], st[i] = n, s
			if i < lead { // a new dimension of size 1
				st[i] = 0
			}
		case size[i] < 0:
			c.Fail(tensor.ErrShape, "expand: size %d at dimension %d is negative", size[i], i)
		case n == 1:
			st[i] = 0
		default:
			c.Fail(tensor.ErrShape, "The expanded size of the tensor (%d) must match the existing size (%d) at "+
				"non-singleton dimension %d.  Target sizes: %s.  Tensor sizes: %s",
				size[i], n, i, tensor.ShapeString(size), tensor.ShapeString(t.Shape()))
		}
	}
	// new leading dimensions of size 1 get the stride that keeps the tensor contiguous
	for i := len(size) - 1; i >= 0; i-- {
		if size[i] == 1 && (i < lead) {
			st[i] = 1
			if i+1 < len(size) {
				st[i] = size[i+1] * st[i+1]
			}
		}
	}
	return tensor.Alias(t, size, st, t.StorageOffset())
}
