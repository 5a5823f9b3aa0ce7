package foreach

import (
	"sort"
	"strings"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// list describes operators on lists by the operator on one tensor.
type list struct {
	overload string // of the operator on lists: "Scalar"
	params   string // after self
	single   string // operator on one tensor: "add.Scalar"; its in-place form is "add_.Scalar"
	at       []int  // where each argument goes in the call of single; nil: the same place
	noWrite  bool   // there is no in-place form
}

// The overloads of operators that take a second list, a number or a number for each tensor.
func binary(name string, alpha bool) []list {
	other := "Tensor[] other"
	if alpha {
		other += ", *, Scalar alpha=1"
	}
	return []list{
		{overload: "Scalar", params: "Scalar scalar", single: name + ".Scalar"},
		{overload: "List", params: other, single: name + ".Tensor"},
		{overload: "ScalarList", params: "Scalar[] scalars", single: name + ".Scalar"},
	}
}

// Limits by numbers and tensors: PyTorch computes maximum and clamp_min of lists by one kernel, likewise minimum and
// clamp_max.
func limit(name string) []list {
	return []list{
		{overload: "Scalar", params: "Scalar scalar", single: name},
		{overload: "List", params: "Tensor[] other", single: name + ".Tensor"},
		{overload: "ScalarList", params: "Scalar[] scalars", single: name},
	}
}

func ternary(name string) []list {
	return []list{
		{overload: "Scalar", params: "Tensor[] tensor1, Tensor[] tensor2, Scalar value=1", single: name},
		{overload: "ScalarList", params: "Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars", single: name},
	}
}

// whole is the overload of an operator on lists that takes one tensor for all.
func whole(name, params string) list {
	return list{overload: "Tensor", params: params, single: name + ".Tensor"}
}

// unary are the operators without further arguments.
const unary = "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg " +
	"reciprocal round rsqrt sigmoid " +
	"sign sin sinh sqrt tan tanh trunc"

func init() {
	for _, n := range strings.Fields(unary) {
		register(n, list{single: n})
	}
	register("add", append(binary("add", true), whole("add", "Tensor other, *, Scalar alpha=1"))...)
	register("sub", binary("sub", true)...)
	register("mul", append(binary("mul", false), whole("mul", "Tensor other"))...)
	register("div", append(binary("div", false), whole("div", "Tensor other"))...)
	register("maximum", limit("clamp_min")...)
	register("minimum", limit("clamp_max")...)
	register("clamp_min", limit("clamp_min")...)
	register("clamp_max", limit("clamp_max")...)
	register("addcdiv", ternary("addcdiv")...)
	register("addcmul", ternary("addcmul")...)
	register("lerp",
		list{overload: "Scalar", params: "Tensor[] tensors1, Scalar weight", single: "lerp.Scalar"},
		list{overload: "List", params: "Tensor[] tensors1, Tensor[] weights", single: "lerp.Tensor"},
		list{overload: "ScalarList", params: "Tensor[] tensors1, Scalar[] weight", single: "lerp.Scalar"})
	register("pow",
		list{overload: "Scalar", params: "Scalar exponent", single: "pow.Tensor_Scalar", noWrite: true},
		list{overload: "List", params: "Tensor[] exponent", single: "pow.Tensor_Tensor", noWrite: true},
		list{overload: "ScalarList", params: "Scalar[] exponent", single: "pow.Tensor_Scalar", noWrite: true})
	register("norm", list{overload: "Scalar", params: "Scalar ord=2, ScalarType? dtype=None",
		single: "linalg_vector_norm", at: []int{0, 1, 4}, noWrite: true})
	register("max", list{single: "max", noWrite: true})
	register("clone", list{params: "*, MemoryFormat? memory_format=None", single: "clone", noWrite: true})
	register("copy_", list{params: "Tensor[] src, bool non_blocking=False", single: "copy_"})
	register("zero_", list{single: "zero_"})
}

// register adds the functional and in-place forms of _foreach_NAME. A name that ends in "_" has the in-place form only.
func register(name string, forms ...list) {
	name, only := strings.CutSuffix(name, "_")
	for _, f := range forms {
		overload := f.overload
		if overload != "" {
			overload = "." + overload
		}
		params := ""
		if f.params != "" {
			params = ", " + f.params
		}
		single, so, _ := strings.Cut(f.single, ".")
		single = strings.TrimSuffix(single, "_")
		if so != "" {
			so = "." + so
		}
		if !only {
			tensor.Register(tensor.Def{
				Schema: "_foreach_" + name + overload + "(Tensor[] self" + params + ") -> Tensor[]",
				Doc:    "is " + single + " of each tensor of a list.",
				Go:     "-",
				Body:   f.body(tensor.Slot("aten::"+single+so), false),
			})
		}
		if f.noWrite {
			continue
		}
		d := tensor.Def{
			Schema: "_foreach_" + name + "_" + overload + "(Tensor(a!)[] self" + params + ") -> ()",
			Doc:    "is " + single + " of each tensor of a list, written to the tensor itself.",
			Go:     "-",
			Body:   f.body(tensor.Slot("aten::"+single+"_"+so), true),
		}
		if name == "add" && f.overload == "Scalar" {
			d.Fuses, d.CPU = areCounters, count
		}
		if name == "mul" && f.overload == "Tensor" {
			d.Fuses, d.CPU = isScale, scale
		}
		tensor.Register(d)
	}
}

// body calls the operator on single tensors once for each tensor of the list, as PyTorch's slow path does.
func (f list) body(single *tensor.Op, writes bool) func(c *Ctx) {
	return func(c *Ctx) {
		n := sameLengths(c)
		out := make([]*T, 0, n)
		for i := range n {
			k := tensor.NewCall(single, len(single.Sch.Params))
			for j := range single.Sch.Params {
				if d := single.Sch.Params[j].Default; d != nil {
					*k.Arg(j) = *d
				}
			}
			for j := range c.NumArgs() {
				to := j
				if f.at != nil {
					to = f.at[j]
				}
				*k.Arg(to) = element(c.Value(j), i)
			}
			out = append(out, k.Do1())
		}
		if !writes {
			c.Return(out...)
		}
	}
}

// element is element i of a list of tensors or numbers, or the value that all calls share.
func element(v tensor.Value, i int) tensor.Value {
	switch l := v.X.(type) {
	case []*T:
		return tensor.TensorValue(l[i])
	case []float64:
		return tensor.FloatValue(l[i])
	case []int:
		if v.K == tensor.KBools {
			return tensor.BoolValue(l[i] != 0)
		}
		return tensor.IntValue(l[i])
	case []tensor.Value:
		return l[i]
	}
	return v
}

// sameLengths is the length of the lists, which must agree.
func sameLengths(c *Ctx) int {
	n := len(c.Tensors(0))
	if n == 0 {
		c.Fail(tensor.ErrValue, "Tensor list must have at least one tensor.")
	}
	for i := 1; i < c.NumArgs(); i++ {
		m := n
		switch l := c.Value(i).X.(type) {
		case []*T:
			if len(l) != n {
				c.Fail(tensor.ErrValue, "Tensor lists must have the same number of tensors, got %d and %d", n, len(l))
			}
		case []float64:
			m = len(l)
		case []int:
			m = len(l)
		case []tensor.Value:
			m = len(l)
		}
		if m != n {
			c.Fail(tensor.ErrValue, "Tensor list must have same number of elements as scalar list.")
		}
	}
	return n
}

// isScale reports that contiguous tensors of float32 are to be multiplied by one number of float32, as gradients are
// when they are clipped.
func isScale(c *Ctx) bool {
	by := c.T(1)
	ok := by.Numel() == 1 && by.Dim() == 0 && plain(by) && len(c.Tensors(0)) > 0
	for _, t := range c.Tensors(0) {
		ok = ok && t != nil && t.IsContiguous() && plain(t)
	}
	return ok
}

// plain reports a tensor of float32 on the CPU that may be written to and needs no record.
func plain(t *T) bool {
	return t.DType() == tensor.Float32 && t.Device().Type == tensor.CPUDevice && !t.RequiresGrad() && !t.IsInference()
}

// scale multiplies all tensors in one parallel loop over places in a common index space.
func scale(c *Ctx) {
	list, by := c.Tensors(0), tensor.Data[float32](c.T(1))[0]
	ends, n := make([]int, len(list)), 0
	for i, t := range list {
		n += t.Numel()
		ends[i] = n
	}
	par.For(n, grain, func(lo, hi int) {
		i := sort.SearchInts(ends, lo+1)
		for at := lo; at < hi; i++ {
			begin := ends[i] - list[i].Numel()
			if to := min(hi, ends[i]); at < to {
				part := sliceAt[float32](tensor.Ptr(list[i]), at-begin, to-begin)
				vec.MulScalarF32(part, part, by)
				at = to
			}
		}
	})
	for _, t := range list {
		tensor.Bump(t)
	}
}

// areCounters reports that the tensors to be raised are 0-d of float32, as the step counters of optimizers are: an
// optimizer raises one for each parameter in each step, and a call for each would cost more than the step of a small
// model.
func areCounters(c *Ctx) bool {
	for _, t := range c.Tensors(0) {
		if t == nil || t.Dim() != 0 || t.DType() != tensor.Float32 || t.Device().Type != tensor.CPUDevice ||
			t.RequiresGrad() || t.IsInference() {
			return false
		}
	}
	return c.Value(1).K == tensor.KInt && len(c.Tensors(0)) > 0
}

// count adds a number to 0-d tensors.
func count(c *Ctx) {
	by := float32(c.Int(1))
	for _, t := range c.Tensors(0) {
		*(*float32)(tensor.Ptr(t)) += by
		tensor.Bump(t)
	}
}
