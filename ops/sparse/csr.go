package sparse

import (
	"strconv"

	"github.com/gotorch-dev/torch/tensor"
)

// This file has sparse matrices in compressed rows (CSR) as far as they are made, looked at and multiplied by dense
// tensors. https://pytorch.org/docs/stable/sparse.html#sparse-csr-tensor

const csr = "https://pytorch.org/docs/stable/generated/torch.sparse_csr_tensor.html"

// wrongRows is the kernel for other tensors of operators that take matrices in compressed rows.
func wrongRows(c *Ctx) {
	layout := map[tensor.Layout]string{tensor.Strided: "Strided", tensor.SparseCOO: "Sparse"}[c.T(0).Layout()]
	c.Fail(tensor.ErrType, "%s expected sparse row compressed tensor layout but got %s", c.Op().Sch.Name, layout)
}

func wrongColumns(c *Ctx) {
	layout := map[tensor.Layout]string{tensor.Strided: "Strided", tensor.SparseCOO: "Sparse",
		tensor.SparseCSR: "SparseCsr"}[c.T(0).Layout()]
	c.Fail(tensor.ErrType, "%s expected sparse column compressed tensor layout but got %s", c.Op().Sch.Name, layout)
}

func init() {
	const options = "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False) " +
		"-> Tensor"
	tensor.Register(tensor.Def{
		Schema: "sparse_csr_tensor.crow_col_value_size(Tensor crow_indices, Tensor col_indices, Tensor values, int[] size, " +
			options,
		Go: "SparseCSRTensor",
		Doc: "makes a sparse matrix in compressed rows: row i has the elements from crow_indices[i] up to " +
			"crow_indices[i+1] of values [nnz], in the columns that col_indices [nnz] lists in ascending order. Only " +
			"matrices are supported, without batches and dense dimensions.\n" + csr,
		NoGrad: "gradients of tensors in compressed rows are not supported",
		CPU:    func(c *Ctx) { c.SetOut(0, createCSR(c, c.T(0), c.T(1), c.T(2), c.Ints(3), c.DType(4))) },
	})
	tensor.Register(tensor.Def{
		Schema: "sparse_csr_tensor.crow_col_value(Tensor crow_indices, Tensor col_indices, Tensor values, " + options,
		Go:     "SparseCSRTensorIndices",
		Doc:    "is sparse_csr_tensor with as many columns as the largest index needs.\n" + csr,
		Body: func(c *Ctx) {
			cols := 0
			if c.T(1).Numel() > 0 {
				cols = int(call1("aten::max", c.T(1)).Num().I) + 1
			}
			c.Return(call1("aten::sparse_csr_tensor.crow_col_value_size", c.T(0), c.T(1), c.T(2),
				[]int{max(c.T(0).Numel()-1, 0), cols}, c.Value(3), c.Value(4), c.Value(5), c.Value(6)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "to_sparse_csr(Tensor self, int? dense_dim=None) -> Tensor", Go: "ToSparseCSR",
		Doc: "is a sparse matrix in compressed rows with the elements of self, a dense matrix or one in coordinate " +
			"format, that are not 0.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.to_sparse_csr.html",
		DataDependent: true,
		Body:          func(c *Ctx) { c.Return(call1("aten::_to_sparse_csr", c.T(0), c.Value(1))) },
	})
	tensor.Register(tensor.Def{
		Schema: "_to_sparse_csr(Tensor self, int? dense_dim=None) -> Tensor", Go: "-",
		Doc: "is to_sparse_csr.", NoGrad: "gradients of tensors in compressed rows are not supported",
		DataDependent: true,
		CPU:           func(c *Ctx) { c.SetOut(0, toRows(c, c.T(0))) },
	})
	tensor.RegisterSparse("aten::_to_sparse_csr", func(c *Ctx) { c.SetOut(0, toRows(c, c.T(0))) })
	tensor.RegisterSparseCSR("aten::_to_sparse_csr", func(c *Ctx) { c.SetOut(0, c.T(0).Detach()) })
	tensor.Register(tensor.Def{
		Schema: "crow_indices(Tensor(a) self) -> Tensor(a)",
		Doc: "are the places where the rows of a matrix in compressed rows begin, int64 [rows+1].\n" +
			"https://pytorch.org/docs/stable/generated/torch.Tensor.crow_indices.html",
		NoGrad: "integer result", CPU: wrongRows,
	})
	tensor.Register(tensor.Def{
		Schema: "col_indices(Tensor(a) self) -> Tensor(a)",
		Doc: "are the columns of the elements of a matrix in compressed rows, int64 [nnz].\n" +
			"https://pytorch.org/docs/stable/generated/torch.Tensor.col_indices.html",
		NoGrad: "integer result", CPU: wrongRows,
	})
	tensor.Register(tensor.Def{
		Schema: "ccol_indices(Tensor(a) self) -> Tensor(a)", Go: "CcolIndices",
		Doc: "would be the places where the columns of a matrix in compressed columns begin. No tensor here has that " +
			"layout, and so it refuses all.\n" +
			"https://docs.pytorch.org/docs/stable/generated/torch.Tensor.ccol_indices.html",
		NoGrad: "integer result", CPU: wrongColumns,
	})
	tensor.RegisterSparse("aten::ccol_indices", wrongColumns)
	tensor.RegisterSparseCSR("aten::ccol_indices", wrongColumns)
	tensor.RegisterSparse("aten::crow_indices", wrongRows)
	tensor.RegisterSparse("aten::col_indices", wrongRows)
	tensor.RegisterSparseCSR("aten::crow_indices", func(c *Ctx) {
		p, _, _ := tensor.CSRParts(c.T(0))
		c.SetOut(0, p.Detach())
	})
	tensor.RegisterSparseCSR("aten::col_indices", func(c *Ctx) {
		_, p, _ := tensor.CSRParts(c.T(0))
		c.SetOut(0, p.Detach())
	})
	rowValues := func(x *T) *T { _, _, v := tensor.CSRParts(x); return v.Detach() }
	tensor.RegisterSparseCSR("aten::values", func(c *Ctx) { c.SetOut(0, rowValues(c.T(0))) })
	tensor.RegisterSparseCSR("aten::_nnz", func(c *Ctx) {
		c.ReturnValue(tensor.IntValue(rowValues(c.T(0)).Size(0)))
	})
	tensor.RegisterSparseCSR("aten::sparse_dim", func(c *Ctx) { c.ReturnValue(tensor.IntValue(2)) })
	tensor.RegisterSparseCSR("aten::dense_dim", func(c *Ctx) { c.ReturnValue(tensor.IntValue(0)) })
	tensor.RegisterSparseCSR("aten::_to_dense", func(c *Ctx) {
		x := dense(c, coordinates(c.T(0)))
		if c.Has(1) {
			x = x.ToDType(c.DType(1))
		}
		c.SetOut(0, x)
	})
	tensor.RegisterSparseCSR("aten::mm", func(c *Ctx) { product(c, 2) })
	tensor.RegisterSparseCSR("aten::mv", func(c *Ctx) { product(c, 1) })
	tensor.RegisterSparseCSR("aten::matmul", func(c *Ctx) { product(c, c.T(1).Dim()) })
}

// createCSR checks the parts of a matrix in compressed rows.
// https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/sparse/SparseCsrTensor.cpp
func createCSR(c *Ctx, crow, cols, v *T, size []int, dt tensor.DType) *T {
	for _, x := range []*T{crow, cols, v} {
		if x.Layout() != tensor.Strided {
			c.Fail(tensor.ErrType, "expected crow_indices, col_indices and values to be strided tensors")
		}
	}
	checkSize(c, size)
	switch {
	case len(size) != 2 || crow.Dim() != 1 || cols.Dim() != 1 || v.Dim() != 1:
		c.Fail(tensor.ErrNotImpl, "sparse_csr_tensor: only matrices without batches and dense dimensions are supported, but "+
			"got size %s with crow_indices %s, col_indices %s and values %s", tensor.ShapeString(size),
			tensor.ShapeString(crow.Shape()), tensor.ShapeString(cols.Shape()), tensor.ShapeString(v.Shape()))
	case !crow.DType().IsInt() || crow.DType() != cols.DType():
		c.Fail(tensor.ErrDType, "crow_indices and col_indices must be an int32 or int64 type, but got: %s and %s",
			crow.DType(), cols.DType())
	case crow.Size(0) != size[0]+1:
		c.Fail(tensor.ErrShape, "crow_indices.shape[-1] must be equal to the number of rows + 1 (that is %d), but got: %d",
			size[0]+1, crow.Size(0))
	case cols.Size(0) != v.Size(0):
		c.Fail(tensor.ErrShape, "number of elements in col_indices (%d) must be equal to that of values (%d)", cols.Size(0),
			v.Size(0))
	}
	crow, cols = crow.Detach().ToDType(tensor.Int64), cols.Detach().ToDType(tensor.Int64)
	starts, at := tensor.Data[int64](tensor.Dense(crow)), tensor.Data[int64](tensor.Dense(cols))
	switch last := starts[size[0]]; {
	case starts[0] != 0:
		c.Fail(tensor.ErrValue, "crow_indices[..., 0] == 0 is not satisfied: it is %d", starts[0])
	case last != int64(len(at)):
		c.Fail(tensor.ErrValue, "crow_indices[..., -1] == nnz is not satisfied: it is %d, nnz is %d", last, len(at))
	}
	for i := range size[0] {
		from, to := starts[i], starts[i+1]
		if from < 0 || to < from || to > int64(len(at)) {
			c.Fail(tensor.ErrValue, "0 <= crow_indices[..., 1:] - crow_indices[..., :-1] <= ncols is not satisfied in row %d",
				i)
		}
		for k, j := range at[from:to] {
			if j < 0 || j >= int64(size[1]) {
				c.Fail(tensor.ErrIndex, "0 <= col_indices < ncols is not satisfied: row %d has the column %d of %d", i, j,
					size[1])
			}
			if k > 0 && at[from:to][k-1] >= j {
				c.Fail(tensor.ErrValue, "col_indices[..., crow_indices[..., i - 1]:crow_indices[..., i]] for all i = 1, ..., "+
					"nrows are sorted and distinct along the last dimension values is not satisfied in row %d", i)
			}
		}
	}
	if v = v.Detach(); dt != 0 {
		v = v.ToDType(dt)
	}
	return tensor.NewSparseCSR(crow, cols, v, size)
}

// toRows is a matrix in compressed rows with the elements of x.
func toRows(c *Ctx, x *T) *T {
	if x.Dim() != 2 || c.Has(1) && c.Int(1) != 0 {
		c.Fail(tensor.ErrNotImpl, "to_sparse_csr: only matrices without batches and dense dimensions are supported, but got "+
			"a tensor of shape %s", tensor.ShapeString(x.Shape()))
	}
	if x.Layout() == tensor.Strided {
		x = fromDense(c, x, 2)
	} else if len(dims(x)) != 2 {
		c.Fail(tensor.ErrNotImpl, "to_sparse_csr: only sparse tensors with two sparse dimensions are supported")
	}
	x = coalesced(c, x)
	ix, v, _ := tensor.SparseParts(x)
	crow := make([]int64, x.Size(0)+1)
	rows := tensor.Data[int64](tensor.Dense(ix.Select(0, 0)))
	for _, r := range rows {
		crow[r+1]++
	}
	for i := range x.Size(0) {
		crow[i+1] += crow[i]
	}
	return tensor.NewSparseCSR(tensor.FromSlice(crow), ix.Select(0, 1).Contiguous(), v, x.Shape())
}

// coordinates is a matrix in compressed rows in coordinate format.
func coordinates(x *T) *T {
	_, cols, v := tensor.CSRParts(x)
	ix := call1("aten::stack", []*T{rowNumbers(x), cols}, 0)
	return tensor.NewSparse(ix, v, x.Shape(), true, false)
}

// rowNumbers are the rows of the elements of a matrix in compressed rows.
func rowNumbers(x *T) *T {
	crow, cols, _ := tensor.CSRParts(x)
	starts := tensor.Data[int64](tensor.Dense(crow))
	rows := make([]int64, cols.Size(0))
	for i := range x.Size(0) {
		for k := starts[i]; k < starts[i+1]; k++ {
			rows[k] = int64(i)
		}
	}
	return tensor.FromSlice(rows)
}

// product is the product of a matrix in compressed rows and a dense matrix or vector: the rows of the second that the
// elements name, times the elements, are added to the rows of the result.
func product(c *Ctx, nd int) {
	x, y := c.T(0), c.T(1)
	crow, cols, v := tensor.CSRParts(x)
	switch {
	case crow == nil || y.Layout() != tensor.Strided || y.Dim() != nd || nd < 1 || nd > 2:
		c.Fail(tensor.ErrNotImpl, "%s: only products of a matrix in compressed rows and a dense vector or matrix are "+
			"supported, but got layouts %s and %s with shapes %s and %s", c.Op().Sch.Name, x.Layout(), y.Layout(),
			tensor.ShapeString(x.Shape()), tensor.ShapeString(y.Shape()))
	case x.Size(1) != y.Size(0):
		c.Fail(tensor.ErrShape, "mat1 and mat2 shapes cannot be multiplied (%s and %s)", product2(x), product2(y))
	case x.DType() != y.DType():
		c.Fail(tensor.ErrDType, "expected m1 and m2 to have the same dtype, but got: %s != %s", x.DType().ClassName(),
			y.DType().ClassName())
	}
	part := y.Detach().IndexSelect(0, cols)
	if nd == 2 {
		v = v.Unsqueeze(1)
	}
	shape := append([]int{x.Size(0)}, y.Shape()[1:]...)
	c.SetOut(0, y.NewZeros(shape).IndexAdd(0, rowNumbers(x), part.Mul(v)))
}

// product2 is a shape as messages about products write it, "2x3".
func product2(x *T) string {
	s := ""
	for i, n := range x.Shape() {
		if i > 0 {
			s += "x"
		}
		s += strconv.Itoa(n)
	}
	return s
}
