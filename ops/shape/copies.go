package shape

import (
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// This file holds the copying forms of views: what a view shows, as a contiguous tensor of its own.

// copyForm registers the copying form of a view.
//
//gen:copyForm Out
func copyForm(schema, doc string, view func(c *Ctx) *T) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Out: true,
		Body: func(c *Ctx) { c.Return(copyOf(view(c))) }})
}

// copyForms is the same for an operator with several views.
//
//gen:copyForms
func copyForms(schema, doc string, views func(c *Ctx) []*T) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc,
		Body: func(c *Ctx) { c.Return(each(views(c), copyOf)...) }})
}

func init() {
	copyForm("alias_copy(Tensor self) -> Tensor", "is a contiguous copy.",
		func(c *Ctx) *T { return c.T(0).AliasView() })
	copyForm("view_copy(Tensor self, SymInt[] size) -> Tensor", "is a copy of View.",
		func(c *Ctx) *T { return c.T(0).Reshape(c.Ints(1)) })
	copyForm("expand_copy(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor", "is a copy of Expand.",
		func(c *Ctx) *T { return c.T(0).Expand(c.Ints(1)) })
	copyForm("permute_copy(Tensor self, int[] dims) -> Tensor", "is a copy of Permute.",
		func(c *Ctx) *T { return c.T(0).Permute(c.Ints(1)) })
	copyForm("transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor", "is a copy of Transpose.",
		func(c *Ctx) *T { return c.T(0).Transpose(c.Int(1), c.Int(2)) })
	copyForm("t_copy(Tensor self) -> Tensor", "is a copy of the transpose of a matrix.", matrixT)
	copyForm("squeeze_copy(Tensor self) -> Tensor", "is a copy of Squeeze.",
		func(c *Ctx) *T { return c.T(0).Squeeze() })
	copyForm("squeeze_copy.dim(Tensor self, int dim) -> Tensor", "is a copy of SqueezeDim.",
		func(c *Ctx) *T { return c.T(0).SqueezeDim(c.Int(1)) })
	copyForm("squeeze_copy.dims(Tensor self, int[] dim) -> Tensor", "is a copy of SqueezeDims.",
		func(c *Ctx) *T { return c.T(0).SqueezeDims(c.Ints(1)) })
	copyForm("unsqueeze_copy(Tensor self, int dim) -> Tensor", "is a copy of Unsqueeze.",
		func(c *Ctx) *T { return c.T(0).Unsqueeze(c.Int(1)) })
	copyForm("select_copy.int(Tensor self, int dim, SymInt index) -> Tensor", "is a copy of Select.",
		func(c *Ctx) *T { return c.T(0).Select(c.Int(1), c.Int(2)) })
	copyForm("diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor", "is a copy of Diagonal.",
		func(c *Ctx) *T { return op.Call1("aten::diagonal", c.T(0), c.Int(1), c.Int(2), c.Int(3)) })
	copyForm("unfold_copy(Tensor self, int dimension, int size, int step) -> Tensor", "is a copy of Unfold.",
		func(c *Ctx) *T { return c.T(0).Unfold(c.Int(1), c.Int(2), c.Int(3)) })
	tensor.Register(tensor.Def{
		FormNames: ".out=.Tensor_out",
		Schema: "slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) " +
			"-> Tensor",
		Doc: "is a copy of SliceAlong.", Out: true,
		Body: func(c *Ctx) {
			c.Return(copyOf(op.Call1("aten::slice.Tensor", c.Value(0), c.Value(1), c.Value(2), c.Value(3), c.Value(4))))
		},
	})

	copyForms("unbind_copy.int(Tensor self, int dim=0) -> Tensor[]", "is copies of Unbind.",
		func(c *Ctx) []*T { return op.Call("aten::unbind", c.T(0), c.Int(1)) })
	copyForms("split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]", "is copies of Split.",
		func(c *Ctx) []*T { return op.Call("aten::split.Tensor", c.T(0), c.Int(1), c.Int(2)) })
	copyForms("split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
		"is copies of SplitWithSizes.",
		func(c *Ctx) []*T { return op.Call("aten::split_with_sizes", c.T(0), c.Ints(1), c.Int(2)) })
}
