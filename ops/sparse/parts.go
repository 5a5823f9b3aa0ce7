package sparse

import "github.com/gotorch-dev/torch/tensor"

// wrongLayout is the kernel for dense tensors of operators that take sparse ones.
func wrongLayout(c *Ctx) {
	c.Fail(tensor.ErrType, "%s expected sparse coordinate tensor layout but got Strided", c.Op().Sch.Name)
}

func init() {
	reg := func(d tensor.Def, kernel func(c *Ctx)) {
		if d.CPU == nil && d.Body == nil {
			d.CPU = wrongLayout
		}
		tensor.Register(d)
		sch, err := tensor.ParseSchema(d.Schema)
		if err != nil {
			panic(err)
		}
		tensor.RegisterSparse(sch.FullName(), kernel)
	}
	const doc = "\nhttps://pytorch.org/docs/stable/sparse.html"
	reg(tensor.Def{
		Schema: "_indices(Tensor(a) self) -> Tensor(a)",
		Doc:    "are the indices of a sparse tensor, int64 [sparse dimensions, nnz], as they are." + doc,
		Go:     "-", NoGrad: "integer result",
	}, func(c *Ctx) { c.SetOut(0, indices(c.T(0))) })
	reg(tensor.Def{
		Schema: "_values(Tensor(a) self) -> Tensor(a)",
		Doc:    "are the values of a sparse tensor, [nnz, dense dimensions...], as they are, without a gradient." + doc,
		Go:     "-", NoGrad: "PyTorch records the coalesced values only",
	}, func(c *Ctx) { c.SetOut(0, values(c.T(0))) })
	reg(tensor.Def{
		Schema: "indices(Tensor(a) self) -> Tensor(a)",
		Doc: "are the indices of a coalesced sparse tensor, int64 [sparse dimensions, nnz]. A tensor that is not " +
			"coalesced is an error: call Coalesce first.\n" +
			"https://pytorch.org/docs/stable/generated/torch.Tensor.indices.html",
		NoGrad: "integer result",
	}, func(c *Ctx) {
		mustBeCoalesced(c)
		c.SetOut(0, indices(c.T(0)))
	})
	reg(tensor.Def{
		Schema: "values(Tensor(a) self) -> Tensor(a)",
		Doc: "are the values of a coalesced sparse tensor, [nnz, dense dimensions...]. A tensor that is not " +
			"coalesced is an error: call Coalesce first.\n" +
			"https://pytorch.org/docs/stable/generated/torch.Tensor.values.html",
		Save: "self",
		VJP: func(c *Ctx, g *T) []*T {
			x := c.T(0)
			return []*T{call1("aten::sparse_coo_tensor.indices_size", call1("aten::indices", x), g, x.Shape(), nil, nil,
				nil, nil,
				true)}
		},
	}, func(c *Ctx) {
		mustBeCoalesced(c)
		c.SetOut(0, values(c.T(0)))
	})
	reg(tensor.Def{
		Schema: "coalesce(Tensor(a) self) -> Tensor(a)",
		Doc: "sorts the positions of a sparse tensor and sums the values of equal ones; a coalesced tensor is " +
			"returned as it is.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.coalesce.html",
		VJP: func(_ *Ctx, g *T) []*T { return []*T{g} },
	}, func(c *Ctx) { c.SetOut(0, fresh(coalesced(c, c.T(0)), c.T(0))) })
	reg(tensor.Def{
		Schema: "_coalesced_(Tensor(a!) self, bool coalesced) -> Tensor(a!)",
		Doc:    "says that a sparse tensor is coalesced or that it is not.",
		Go:     "-", NoGrad: "changes no element",
	}, func(c *Ctx) {
		ix, v, _ := tensor.SparseParts(c.T(0))
		if c.Bool(1) && !ascending(flat(ix, dims(c.T(0)))) {
			c.Fail(tensor.ErrValue, "_coalesced_: the positions are not sorted, or some are there twice")
		}
		tensor.SetSparse(c.T(0), tensor.NewSparse(ix, v, c.Shape(0), c.Bool(1), false))
		c.SetOut(0, c.T(0))
	})
	// The numbers: a dense tensor has all its dimensions dense.
	reg(tensor.Def{
		Schema: "is_coalesced(Tensor self) -> bool",
		Doc: "reports that the positions of a sparse tensor are sorted and each is there once.\n" +
			"https://pytorch.org/docs/stable/generated/torch.Tensor.is_coalesced.html",
		NoGrad: "boolean result",
	}, func(c *Ctx) {
		_, _, yes := tensor.SparseParts(c.T(0))
		c.ReturnValue(tensor.BoolValue(yes))
	})
	reg(tensor.Def{
		Schema: "_nnz(Tensor self) -> int", Go: "NNZ",
		Doc: "is the number of elements (or dense slices) that a sparse tensor lists; positions that are there " +
			"twice count twice." + doc,
		NoGrad: "integer result",
	}, func(c *Ctx) { c.ReturnValue(tensor.IntValue(indices(c.T(0)).Size(1))) })
	sparseDim := func(c *Ctx) { c.ReturnValue(tensor.IntValue(len(dims(c.T(0))))) }
	denseDim := func(c *Ctx) { c.ReturnValue(tensor.IntValue(c.T(0).Dim() - len(dims(c.T(0))))) }
	none := func(c *Ctx) { c.ReturnValue(tensor.IntValue(0)) }
	all := func(c *Ctx) { c.ReturnValue(tensor.IntValue(c.T(0).Dim())) }
	reg(tensor.Def{
		Schema: "sparse_dim(Tensor self) -> int",
		Doc: "is the number of sparse dimensions, 0 for a dense tensor.\n" +
			"https://pytorch.org/docs/stable/generated/torch.Tensor.sparse_dim.html",
		NoGrad: "integer result", Body: none,
	}, sparseDim)
	reg(tensor.Def{
		Schema: "dense_dim(Tensor self) -> int",
		Doc: "is the number of dense dimensions of a sparse tensor, the dimensions of one of its values; all " +
			"dimensions of " +
			"a dense tensor.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.dense_dim.html",
		NoGrad: "integer result", Body: all,
	}, denseDim)
	reg(tensor.Def{Schema: "_dimI(Tensor self) -> int", Go: "-", Doc: "is sparse_dim.", NoGrad: "integer result",
		Body: none}, sparseDim)
	reg(tensor.Def{Schema: "_dimV(Tensor self) -> int", Go: "-", Doc: "is dense_dim.", NoGrad: "integer result",
		Body: all}, denseDim)
}

func mustBeCoalesced(c *Ctx) {
	if _, _, yes := tensor.SparseParts(c.T(0)); !yes {
		c.FailHint(tensor.ErrValue, "in Go: x.Coalesce()", "Cannot get %s on an uncoalesced tensor, please call "+
			".coalesce() first", c.Op().Sch.Name)
	}
}

func indices(x *T) *T {
	ix, _, _ := tensor.SparseParts(x.Detach()) // a detached header: x's memory is known elsewhere from now on
	return ix.Detach()
}

func values(x *T) *T {
	_, v, _ := tensor.SparseParts(x.Detach())
	return v.Detach()
}

// fresh is r, or a new header where the result of a call would be an argument itself.
func fresh(r, arg *T) *T {
	if r == arg {
		return arg.Detach()
	}
	return r
}
