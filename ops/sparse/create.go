package sparse

import (
	"math"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

var call1 = op.Call1

const coo = "https://pytorch.org/docs/stable/generated/torch.sparse_coo_tensor.html"

func init() {
	const options = "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, " +
		"bool? is_coalesced=None) -> Tensor"
	tensor.Register(tensor.Def{
		Schema: "sparse_coo_tensor.indices_size(Tensor indices, Tensor values, int[] size, " + options,
		Go:     "SparseCOOTensor",
		Doc: "makes a sparse tensor in coordinate format: indices, integers [sparse dimensions, nnz], say where the " +
			"slices of values [nnz, dense dimensions...] stand. Values of equal positions count as their sum. " +
			"Indices outside of size are an error, which PyTorch looks for only where check_invariants is set.\n" + coo,
		Save: "indices",
		CPU: func(c *Ctx) {
			c.SetOut(0, create(c, c.T(0), c.T(1), c.Ints(2), c.DType(3), c.Bool(7)))
		},
		VJP: func(c *Ctx, g *T) []*T { return []*T{nil, valuesOf(g, c.T(0))} },
	})
	tensor.Register(tensor.Def{
		Schema: "sparse_coo_tensor.indices(Tensor indices, Tensor values, " + options,
		Go:     "SparseCOOTensorIndices",
		Doc:    "is sparse_coo_tensor of the smallest size that holds the indices.\n" + coo,
		Body: func(c *Ctx) {
			ix, v := c.T(0), c.T(1)
			checkIndices(c, ix)
			if v.Dim() == 0 {
				v = v.Unsqueeze(0)
			}
			var size []int
			if ix.Size(1) == 0 {
				size = make([]int, ix.Size(0))
			} else {
				for d := range ix.Size(0) {
					size = append(size, int(call1("aten::max", ix.Select(0, d)).Num().I)+1)
				}
			}
			size = append(size, v.Shape()[1:]...)
			c.Return(call1("aten::sparse_coo_tensor.indices_size", ix, v, size, c.Value(2), c.Value(3), c.Value(4),
				c.Value(5), c.Value(6)))
		},
		DataDependent: true,
	})
	tensor.Register(tensor.Def{
		Schema: "sparse_coo_tensor.size(int[] size, *, ScalarType? dtype=None, Layout? layout=None, " +
			"Device? device=None, bool? pin_memory=False) -> Tensor",
		Go:     "-",
		Doc:    "is a sparse tensor without elements; all dimensions are sparse.\n" + coo,
		NoGrad: "creates a tensor",
		CPU: func(c *Ctx) {
			dt := c.DType(1)
			if dt == 0 {
				dt = tensor.DefaultDType()
			}
			size := checkSize(c, c.Ints(0))
			c.SetOut(0, tensor.NewSparse(tensor.New([]int{len(size), 0}, tensor.Int64), tensor.New([]int{0}, dt), size,
				true, true))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_sparse_coo_tensor_unsafe(Tensor indices, Tensor values, SymInt[] size, " + options,
		Doc:    "is sparse_coo_tensor, which checks its arguments here as well.",
		Go:     "-",
		Body: func(c *Ctx) {
			c.Return(call1("aten::sparse_coo_tensor.indices_size", c.T(0), c.T(1), c.Ints(2), c.Value(3), c.Value(4),
				c.Value(5), c.Value(6), c.Value(7)))
		},
	})
}

func checkIndices(c *Ctx, ix *T) {
	if ix.Dim() != 2 {
		c.Fail(tensor.ErrShape, "indices must be sparse_dim x nnz, but got: %s", tensor.ShapeString(ix.Shape()))
	}
	if !ix.DType().IsInt() {
		c.Fail(tensor.ErrDType, "indices must be an int tensor, but got: %s", ix.DType())
	}
}

// checkSize refuses sizes that are negative or whose product is no int.
func checkSize(c *Ctx, size []int) []int {
	n := 1
	for _, s := range size {
		if s < 0 {
			c.Fail(tensor.ErrShape, "size must not be negative, but got: %s", tensor.ShapeString(size))
		}
		if s > 0 && n > math.MaxInt/s {
			c.Fail(tensor.ErrShape, "numel: integer multiplication overflow: sizes %s", tensor.ShapeString(size))
		}
		n *= max(s, 1)
	}
	return size
}

// create checks indices and values and makes a sparse tensor of them.
func create(c *Ctx, ix, v *T, size []int, dt tensor.DType, sorted bool) *T {
	checkIndices(c, ix)
	if v.IsSparse() || ix.IsSparse() {
		c.Fail(tensor.ErrType, "expected values and indices to be strided tensors")
	}
	if v.Dim() == 0 {
		v = v.Unsqueeze(0)
	}
	checkSize(c, size)
	sd, nnz := ix.Size(0), ix.Size(1)
	switch {
	case len(size) != sd+v.Dim()-1:
		c.Fail(tensor.ErrShape, "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = %d, sparse_dim "+
			"= %d, dense_dim = %d", len(size), sd, v.Dim()-1)
	case v.Size(0) != nnz:
		c.Fail(tensor.ErrShape, "indices and values must have same nnz, but got nnz from indices: %d, nnz from "+
			"values: %d",
			nnz, v.Size(0))
	case !tensor.SameShape(v.Shape()[1:], size[sd:]):
		c.Fail(tensor.ErrShape, "values has incorrect size, expected %s, got %s",
			tensor.ShapeString(append([]int{nnz}, size[sd:]...)), tensor.ShapeString(v.Shape()))
	case ix.Device() != v.Device():
		c.Fail(tensor.ErrDevice, "device of indices (%s) must match device of values (%s)", ix.Device(), v.Device())
	case sd == 0 && nnz > 1 && sorted:
		c.Fail(tensor.ErrValue, "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor")
	}
	ix = ix.Detach().ToDType(tensor.Int64)
	list := tensor.Data[int64](tensor.Dense(ix))
	for d, s := range size[:sd] {
		for k, i := range list[d*nnz:][:nnz] {
			if uint64(i) >= uint64(s) {
				c.Fail(tensor.ErrIndex, "found index %d at [%d, %d] of indices, but size is inconsistent with it: "+
					"dimension %d has size %d", i, d, k, d, s)
			}
		}
	}
	if sorted && !ascending(flat(ix, size[:sd])) {
		c.Fail(tensor.ErrValue, "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor")
	}
	v = v.Detach()
	if dt != 0 {
		v = v.ToDType(dt)
	}
	return tensor.NewSparse(ix, v, size, sorted || nnz < 2 && sd > 0 || nnz == 0, false)
}

// valuesOf are the slices of g, sparse or dense, at the positions that ix lists.
func valuesOf(g, ix *T) *T {
	if g.IsSparse() {
		g = call1("aten::to_dense", g)
	}
	var at []*T
	for d := range ix.Size(0) {
		at = append(at, ix.Select(0, d))
	}
	if len(at) == 0 {
		return g.Unsqueeze(0).Expand(append([]int{ix.Size(1)}, g.Shape()...))
	}
	if len(at) == 1 {
		return g.IndexSelect(0, at[0])
	}
	return call1("aten::index.Tensor", g, at)
}
