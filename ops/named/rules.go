package named

import (
	"fmt"
	"slices"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// The rules by which operators pass names on, as PyTorch has them:
// https://pytorch.org/docs/1.13/name_inference.html. Operators that compute element by element and reductions need
// none, see tensor.RegisterNameRule.
func init() {
	keep := func(names ...string) { tensor.RegisterNameRule(tensor.KeptNames, names...) }
	keep("aten::clone", "aten::detach", "aten::alias", "aten::_to_copy", "aten::contiguous",
		"aten::zeros_like", "aten::ones_like", "aten::full_like", "aten::empty_like", "aten::rand_like",
		"aten::randn_like", "aten::bernoulli", "aten::bernoulli.p", "aten::dropout", "aten::native_dropout",
		"aten::softmax.int", "aten::log_softmax.int", "aten::_softmax", "aten::_log_softmax",
		"aten::cumsum", "aten::cumprod", "aten::logcumsumexp", "aten::cummax", "aten::cummin",
		"aten::index_fill.int_Tensor", "aten::index_fill.int_Scalar", "aten::fill.Scalar", "aten::fill.Tensor",
		"aten::zero", "aten::slice.Tensor", "aten::max_pool1d", "aten::max_pool2d", "aten::max_pool3d",
		"aten::max_pool1d_with_indices", "aten::max_pool2d_with_indices", "aten::max_pool3d_with_indices")
	tensor.RegisterNameRule(tensor.UnifiedNames, "aten::copy_", "aten::masked_fill.Tensor", "aten::masked_fill.Scalar",
		"aten::where.self")
	tensor.RegisterNameRule(func(c *Ctx) [][]string {
		tensor.UnifiedNames(c)
		return [][]string{nil}
	}, "aten::masked_select")

	one := func(f func(c *Ctx, names []string) []string, names ...string) {
		tensor.RegisterNameRule(func(c *Ctx) [][]string { return [][]string{f(c, c.ArgNames(0))} }, names...)
	}
	one(func(c *Ctx, n []string) []string {
		a, b := op.Wrap(c, c.Int(1), len(n)), op.Wrap(c, c.Int(2), len(n))
		if len(n) > 0 {
			n[a], n[b] = n[b], n[a]
		}
		return n
	}, "aten::transpose.int")
	one(func(_ *Ctx, n []string) []string {
		slices.Reverse(n)
		return n
	}, "aten::t")
	one(func(c *Ctx, n []string) []string { return tensor.NamesExcept(n, c.Int(1)) }, "aten::select.int")
	one(func(c *Ctx, n []string) []string {
		var drop []int
		for i, s := range c.Shape(0) {
			if s == 1 {
				drop = append(drop, i)
			}
		}
		return tensor.NamesExcept(n, drop...)
	}, "aten::squeeze")
	one(func(c *Ctx, n []string) []string {
		var drop []int
		for _, d := range c.Ints(1) {
			if d = op.Wrap(c, d, len(n)); len(n) > 0 && c.Shape(0)[d] == 1 {
				drop = append(drop, d)
			}
		}
		return tensor.NamesExcept(n, drop...)
	}, "aten::squeeze.dim", "aten::squeeze.dims")
	one(func(c *Ctx, n []string) []string {
		return append(make([]string, max(0, len(c.Ints(1))-len(n))), n...)
	}, "aten::expand")
	one(func(c *Ctx, n []string) []string {
		return append(tensor.NamesExcept(n, c.Int(2), c.Int(3)), "")
	}, "aten::diagonal")
	tensor.RegisterNameRule(func(c *Ctx) [][]string {
		n := c.ArgNames(0)
		d := op.Wrap(c, c.Int(1), len(n))
		if len(n) == 0 {
			return [][]string{}
		}
		out := make([][]string, c.Shape(0)[d])
		for i := range out {
			out[i] = tensor.NamesExcept(n, d)
		}
		return out
	}, "aten::unbind.int")
	tensor.RegisterNameRule(func(c *Ctx) [][]string {
		var n []string
		for _, t := range c.Tensors(0) {
			switch {
			case t.Dim() == 1 && t.Numel() == 0: // counts for nothing, whatever its dimensions
			case n == nil:
				n = t.Names()
			default:
				n = tensor.UnifyNames(n, t.Names(), "cat")
			}
		}
		return [][]string{n}
	}, "aten::cat")

	// products: names of the summed dimensions may differ
	product := func(a, b int) tensor.NameRule {
		return func(c *Ctx) [][]string { return [][]string{productNames(c.ArgNames(a), c.ArgNames(b))} }
	}
	tensor.RegisterNameRule(product(0, 1), "aten::mm", "aten::mv", "aten::dot", "aten::bmm", "aten::matmul")
	sum := func(c *Ctx) [][]string {
		return [][]string{tensor.UnifyNames(productNames(c.ArgNames(1), c.ArgNames(2)), c.ArgNames(0), "broadcast")}
	}
	tensor.RegisterNameRule(sum, "aten::addmm", "aten::addmv", "aten::baddbmm")
	one(func(c *Ctx, n []string) []string {
		w := c.ArgNames(1)
		if len(n) == 0 || len(w) == 0 {
			return nil
		}
		return append(slices.Clone(n[:len(n)-1]), w[:len(w)-1]...)
	}, "aten::linear")
	tensor.RegisterNameRule(func(c *Ctx) [][]string {
		a, b := c.ArgNames(0), c.ArgNames(1)
		if len(a) < 2 || len(b) < 2 {
			return [][]string{nil}
		}
		return [][]string{append(batchNames(a, b), a[len(a)-2], b[len(b)-2])}
	}, "aten::cdist")
}

// productNames are the names of a matrix product.
func productNames(a, b []string) []string {
	out := batchNames(a, b)
	if len(a) >= 2 {
		out = append(out, a[len(a)-2])
	}
	if len(b) >= 2 {
		out = append(out, b[len(b)-1])
	}
	if len(a) >= 2 && len(b) >= 2 && a[len(a)-2] != "" && a[len(a)-2] == b[len(b)-1] {
		tensor.Fail(tensor.ErrValue, "Matrix multiplying Tensor%s with Tensor%s would produce output tensor with "+
			"duplicate "+
			"names %s. Please rename the input tensors with `Tensor.rename` to prevent this.", tensor.NamesString(a),
			tensor.NamesString(b), tensor.NamesString(out))
	}
	return out
}

// batchNames joins the names of the dimensions before the last two, which must be equal from the right, or missing.
func batchNames(a, b []string) []string {
	x, y := a[:max(0, len(a)-2)], b[:max(0, len(b)-2)]
	out := make([]string, max(len(x), len(y)))
	for k := 1; k <= len(out); k++ {
		i, j := len(x)-k, len(y)-k
		n := &out[len(out)-k]
		switch {
		case j < 0 || i >= 0 && (y[j] == "" || x[i] == y[j]):
			*n = x[i]
		case i < 0 || x[i] == "":
			*n = y[j]
		default:
			tensor.Fail(tensor.ErrValue, "matmul: Expected %s to match %s but they do not match.", place(a, i),
				place(b, j))
		}
	}
	return out
}

func place(names []string, i int) string {
	return fmt.Sprintf("'%s' (index %d of %s)", names[i], i, tensor.NamesString(names))
}
