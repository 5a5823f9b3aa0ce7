package matmul

import (
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

const groupedDoc = "multiplies groups of matrices: of two batches, each pair. Where one is a single matrix, offs " +
	"(int32) holds where its groups end: its rows times the batch's matrices, the batch's matrices times its columns, " +
	"or, where both are single, the columns of the first times the rows of the second, which gives a batch. What lies " +
	"behind the last end is zero. A bias is not supported, and out_dtype is that of the first, as in PyTorch; unlike " +
	"there, float64 is taken, too.\n" +
	"https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.grouped_mm.html"

func init() {
	grouped := tensor.Slot("aten::_grouped_mm")
	tensor.Register(tensor.Def{
		Schema: "_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? out_dtype=None) -> Tensor",
		Doc:    groupedDoc, Go: "-", DataDependent: true,
		Body: groupedBody,
	})
	tensor.Register(tensor.Def{
		Schema: "F::grouped_mm(Tensor mat_a, Tensor mat_b, *, Tensor? offs=None, Tensor? bias=None, ScalarType? out_dtype=None) -> Tensor",
		Doc:    groupedDoc, DataDependent: true, Go: "GroupedMM",
		Body: func(c *Ctx) {
			b := tensor.NewCall(grouped, 5)
			for i := range 5 {
				*b.Arg(i) = c.Value(i)
			}
			c.Return(b.Do1())
		},
	})
}

func groupedBody(c *Ctx) {
	a, b, offs := c.T(0), c.T(1), c.T(2)
	for i, x := range []*T{a, b} {
		if x.Dim() != 2 && x.Dim() != 3 {
			c.Fail(tensor.ErrShape, "mat_%c has to be 2 or 3d", 'a'+i)
		}
		if dt := x.DType(); !dt.IsFloat() {
			c.Fail(tensor.ErrDType, "Expected mat_%c to be Float32, BFloat16 or Float16 matrix, got %s", 'a'+i,
				dt.ClassName())
		}
	}
	switch {
	case (a.Dim() == 3 && b.Dim() == 3) != (offs == nil):
		c.Fail(tensor.ErrValue, "Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d")
	case a.DType() != b.DType():
		c.Fail(tensor.ErrDType, "expected mat_a and mat_b to have one dtype, got %s and %s", a.DType(), b.DType())
	case a.Size(-1) != b.Size(-2):
		c.Fail(tensor.ErrShape, "contraction dimension of mat_a and mat_b must match")
	case c.Has(3):
		c.Fail(tensor.ErrNotImpl, "Bias not supported yet")
	case c.Has(4) && c.DType(4) != a.DType():
		c.Fail(tensor.ErrDType, "Grouped gemm output dtype must match `mat_a` dtype")
	case a.Dim() == 3 && b.Dim() == 3 && a.Size(0) != b.Size(0):
		c.Fail(tensor.ErrShape, "batched dimension has to match")
	}
	if offs == nil {
		c.Return(a.BMM(b))
		return
	}
	groups, n := 0, a.Size(-1) // the size of the dimension that offs cuts
	switch {
	case a.Dim() == 2 && b.Dim() == 3:
		groups, n = b.Size(0), a.Size(0)
	case a.Dim() == 3:
		groups, n = a.Size(0), b.Size(1)
	default:
		groups = offs.Numel()
	}
	ends := groupEnds(c, offs, groups, n)
	parts, from := make([]*T, groups), 0
	for g, to := range ends {
		switch {
		case a.Dim() == 3:
			parts[g] = a.Select(0, g).MM(b.Narrow(1, from, to-from))
		case b.Dim() == 3:
			parts[g] = a.Narrow(0, from, to-from).MM(b.Select(0, g))
		default:
			parts[g] = a.Narrow(1, from, to-from).MM(b.Narrow(0, from, to-from)).Unsqueeze(0)
		}
		from = to
	}
	dim := 0
	if a.Dim() == 3 {
		dim = 1
	}
	if a.Dim()+b.Dim() == 5 && from < n || groups == 0 {
		rest := []int{a.Size(-2), b.Size(-1)}
		if a.Dim()+b.Dim() == 5 {
			rest[dim] = n - from
		} else {
			rest = slices.Insert(rest, 0, 0)
		}
		parts = append(parts, a.NewZeros(rest))
	}
	c.Return(call(opCat, tensor.TensorsValue(parts), dim)[0])
}

var opCat = tensor.Slot("aten::cat")

// groupEnds reads where the groups of n rows or columns end.
func groupEnds(c *Ctx, offs *T, groups, n int) []int {
	switch {
	case offs.Dim() != 1 || offs.DType() != tensor.Int32:
		c.Fail(tensor.ErrDType, "Offsets have to be int32")
	case offs.Numel() != groups:
		c.Fail(tensor.ErrShape, "matrix batch sizes have to match")
	}
	ends, last := make([]int, groups), 0
	for g := range ends {
		ends[g] = int(offs.Select(0, g).Num().I)
		if ends[g] < last || ends[g] > n {
			c.Fail(tensor.ErrIndex, "offset %d is %d: offsets rise from 0 to at most %d", g, ends[g], n)
		}
		last = ends[g]
	}
	return ends
}
