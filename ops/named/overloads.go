package named

import (
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// overloads are PyTorch's forms with names: the schema, and the operator that is called with the numbers of the
// dimensions. Beside those with a dimension of another kind they differ in nothing.
var overloads = []struct{ schema, of string }{
	{"all.dimname(Tensor self, Dimname dim, bool keepdim=False) -> Tensor", "all.dim"},
	{"any.dimname(Tensor self, Dimname dim, bool keepdim=False) -> Tensor", "any.dim"},
	{"argsort.dimname(Tensor self, Dimname dim, bool descending=False) -> Tensor", "argsort"},
	{"cat.names(Tensor[] tensors, Dimname dim) -> Tensor", "cat"},
	{"concat.names(Tensor[] tensors, Dimname dim) -> Tensor", "concat"},
	{"concatenate.names(Tensor[] tensors, Dimname dim) -> Tensor", "concatenate"},
	{"cummax.dimname(Tensor self, Dimname dim) -> (Tensor values, Tensor indices)", "cummax"},
	{"cummin.dimname(Tensor self, Dimname dim) -> (Tensor values, Tensor indices)", "cummin"},
	{"cumprod.dimname(Tensor self, Dimname dim, *, ScalarType? dtype=None) -> Tensor", "cumprod"},
	{"cumsum.dimname(Tensor self, Dimname dim, *, ScalarType? dtype=None) -> Tensor", "cumsum"},
	{"gather.dimname(Tensor self, Dimname dim, Tensor index, *, bool sparse_grad=False) -> Tensor", "gather"},
	{"index_add.dimname(Tensor self, Dimname dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
		"index_add"},
	{"index_copy.dimname(Tensor self, Dimname dim, Tensor index, Tensor source) -> Tensor", "index_copy"},
	{"index_fill.Dimname_Scalar(Tensor self, Dimname dim, Tensor index, Scalar value) -> Tensor",
		"index_fill.int_Scalar"},
	{"index_fill.Dimname_Tensor(Tensor self, Dimname dim, Tensor index, Tensor value) -> Tensor",
		"index_fill.int_Tensor"},
	{"index_select.dimname(Tensor self, Dimname dim, Tensor index) -> Tensor", "index_select"},
	{"kthvalue.dimname(Tensor self, SymInt k, Dimname dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
		"kthvalue"},
	{"log_softmax.Dimname(Tensor self, Dimname dim, ScalarType? dtype=None) -> Tensor", "log_softmax.int"},
	{"logcumsumexp.dimname(Tensor self, Dimname dim) -> Tensor", "logcumsumexp"},
	{"logsumexp.names(Tensor self, Dimname[1] dim, bool keepdim=False) -> Tensor", "logsumexp"},
	{"max.names_dim(Tensor self, Dimname dim, bool keepdim=False) -> (Tensor values, Tensor indices)", "max.dim"},
	{"mean.names_dim(Tensor self, Dimname[1] dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
		"mean.dim"},
	{"median.names_dim(Tensor self, Dimname dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
		"median.dim"},
	{"min.names_dim(Tensor self, Dimname dim, bool keepdim=False) -> (Tensor values, Tensor indices)", "min.dim"},
	{"mode.dimname(Tensor self, Dimname dim, bool keepdim=False) -> (Tensor values, Tensor indices)", "mode"},
	{"nanmedian.names_dim(Tensor self, Dimname dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
		"nanmedian.dim"},
	{"norm.names_ScalarOpt_dim(Tensor self, Scalar? p, Dimname[1] dim, bool keepdim=False) -> Tensor",
		"norm.ScalarOpt_dim"},
	{"norm.names_ScalarOpt_dim_dtype(Tensor self, Scalar? p, Dimname[1] dim, bool keepdim, *, ScalarType dtype) -> Tensor",
		"norm.ScalarOpt_dim_dtype"},
	{"prod.dim_Dimname(Tensor self, Dimname dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
		"prod.dim_int"},
	{"scatter.dimname_src(Tensor self, Dimname dim, Tensor index, Tensor src) -> Tensor", "scatter.src"},
	{"scatter.dimname_value(Tensor self, Dimname dim, Tensor index, Scalar value) -> Tensor", "scatter.value"},
	{"scatter_add.dimname(Tensor self, Dimname dim, Tensor index, Tensor src) -> Tensor", "scatter_add"},
	{"select.Dimname(Tensor(a) self, Dimname dim, SymInt index) -> Tensor(a)", "select.int"},
	{"size.Dimname(Tensor self, Dimname dim) -> int", "size.int"},
	{"softmax.Dimname(Tensor self, Dimname dim, ScalarType? dtype=None) -> Tensor", "softmax.int"},
	{"sort.dimname(Tensor self, Dimname dim, bool descending=False) -> (Tensor values, Tensor indices)", "sort"},
	{"sort.dimname_stable(Tensor self, *, bool? stable, Dimname dim, bool descending=False) -> (Tensor values, Tensor indices)",
		"sort.stable"},
	{"squeeze.dimname(Tensor(a) self, Dimname dim) -> Tensor(a)", "squeeze.dim"},
	{"std.names_dim(Tensor self, Dimname[1] dim, bool unbiased=True, bool keepdim=False) -> Tensor", "std.dim"},
	{"std.correction_names(Tensor self, Dimname[1] dim, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
		"std.correction"},
	{"std_mean.names_dim(Tensor self, Dimname[1] dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
		"std_mean.dim"},
	{"std_mean.correction_names(Tensor self, Dimname[1] dim, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)",
		"std_mean.correction"},
	{"stride.Dimname(Tensor self, Dimname dim) -> int", "stride.int"},
	{"sum.dim_DimnameList(Tensor self, Dimname[1] dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
		"sum.dim_IntList"},
	{"transpose.Dimname(Tensor(a) self, Dimname dim0, Dimname dim1) -> Tensor(a)", "transpose.int"},
	{"unbind.Dimname(Tensor(a -> *) self, Dimname dim) -> Tensor(a)[]", "unbind.int"},
	{"var.names_dim(Tensor self, Dimname[1] dim, bool unbiased=True, bool keepdim=False) -> Tensor", "var.dim"},
	{"var.correction_names(Tensor self, Dimname[1] dim, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
		"var.correction"},
	{"var_mean.names_dim(Tensor self, Dimname[1] dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
		"var_mean.dim"},
	{"var_mean.correction_names(Tensor self, Dimname[1] dim, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)",
		"var_mean.correction"},
}

func init() {
	var all []string
	for _, o := range overloads {
		base := tensor.Slot("aten::" + o.of)
		for _, ns := range []string{"torch", "Tensor"} {
			sch, err := tensor.ParseSchema(ns + "::" + o.schema)
			if err != nil {
				panic(err)
			}
			var dims []int
			for i, p := range sch.Params {
				if p.Kind == tensor.KStr || p.Kind == tensor.KStrs {
					dims = append(dims, i)
				}
			}
			tensor.Register(tensor.Def{
				Schema: ns + "::" + o.schema, Go: "-",
				Doc:  "is " + o.of + " with names of dimensions.\nhttps://pytorch.org/docs/1.13/named_tensor.html",
				Body: func(c *Ctx) { numbered(c, base, dims) },
			})
			all = append(all, sch.FullName())
		}
	}
	samples.None("takes tensors with names: see named_test.go", strings.Join(all, " "))
}

// numbered calls an operator with the numbers of the dimensions that are given by name.
func numbered(c *Ctx, base *tensor.Op, dims []int) {
	var x *T
	if l := c.Value(0); l.K == tensor.KTensors {
		if x = first(c.Tensors(0)); x == nil {
			c.Fail(tensor.ErrValue, "%s: expected a non-empty list of Tensors", c.Op().FullName())
		}
	} else {
		x = c.T(0)
	}
	args := make([]any, c.NumArgs())
	for i := range args {
		args[i] = c.Value(i)
		if !slices.Contains(dims, i) {
			continue
		}
		if c.Value(i).K == tensor.KStrs {
			args[i] = x.DimsOf(c.Strs(i)...)
		} else {
			args[i] = x.DimOf(c.Str(i))
		}
	}
	if len(base.Sch.Results) == 1 && base.Sch.Results[0].Kind == tensor.KInt {
		r, err := base.Call(boxed(args)...)
		if err != nil {
			panic(err)
		}
		c.ReturnValue(r...)
		return
	}
	c.Return(op.CallOp(base, args...)...)
}

func boxed(args []any) []tensor.Value {
	out := make([]tensor.Value, len(args))
	for i, a := range args {
		out[i] = tensor.Box(a)
	}
	return out
}

func first(l []*T) *T {
	if len(l) == 0 {
		return nil
	}
	return l[0]
}
