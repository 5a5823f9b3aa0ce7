package named

import (
	"strings"

	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

// Functions of Python's torch.Tensor that work by names. In lists of names "..." is an ellipsis and "" is None.
func init() {
	const doc = "\nhttps://pytorch.org/docs/1.13/named_tensor.html"
	var all []string
	reg := func(schema, what string, body func(c *Ctx)) {
		d := tensor.Def{Schema: schema, Doc: what + doc, Go: "-", Body: body}
		tensor.Register(d)
		name, _, _ := strings.Cut(schema, "(")
		all = append(all, name)
	}
	rename := func(c *Ctx) map[string]string {
		m, _ := c.Any(2).(map[string]string)
		if len(m) > 0 && c.Strs(1) != nil {
			c.Fail(tensor.ErrValue, "%s: This function takes either positional args or keyword args, but not both. Use "+
				"tensor.%[1]s(*names) to name dims and tensor.%[1]s(**rename_map) to rename dims.", c.Op().Sch.Name)
		}
		return m
	}
	reg("Tensor::rename(Tensor self, str[]? names=None, *, Any? rename_map=None) -> Tensor",
		"is a view with other names; None removes them.", func(c *Ctx) {
			switch m := rename(c); {
			case m != nil:
				c.Return(c.T(0).RenameMap(m))
			case c.Has(1):
				c.Return(c.T(0).Rename(c.Strs(1)...))
			default:
				c.Return(c.T(0).RenameNone())
			}
		})
	reg("Tensor::rename_(Tensor(a!) self, str[]? names=None, *, Any? rename_map=None) -> Tensor(a!)",
		"sets the names; None removes them.", func(c *Ctx) {
			x := c.T(0)
			switch m := rename(c); {
			case m != nil:
				x.RenameInPlace(x.RenameMap(m).Names()...)
			case c.Has(1):
				x.RenameInPlace(append([]string{}, c.Strs(1)...)...)
			default:
				x.RenameInPlace()
			}
			c.Return(x)
		})
	reg("Tensor::refine_names(Tensor self, str[] names) -> Tensor", "is a view with names where there were none.",
		func(c *Ctx) { c.Return(c.T(0).RefineNames(c.Strs(1)...)) })
	reg("Tensor::align_to(Tensor self, str[] names) -> Tensor", "is a view with dimensions in the order of names.",
		func(c *Ctx) { c.Return(c.T(0).AlignTo(c.Strs(1)...)) })
	reg("Tensor::align_as(Tensor self, Tensor other) -> Tensor", "is a view with the dimensions of another tensor.",
		func(c *Ctx) { c.Return(c.T(0).AlignAs(c.T(1))) })
	reg("Tensor::names(Tensor self) -> str[]", "are the names of the dimensions.",
		func(c *Ctx) { c.ReturnValue(tensor.StrsValue(c.T(0).Names())) })
	reg("Tensor::has_names(Tensor self) -> bool", "reports that a dimension has a name.",
		func(c *Ctx) { c.ReturnValue(tensor.BoolValue(c.T(0).HasNames())) })
	for _, ns := range []string{"Tensor", "torch"} {
		reg(ns+"::flatten.DimnameList(Tensor self, Dimname[] dims, Dimname out_dim) -> Tensor",
			"joins neighbouring dimensions to one.",
			func(c *Ctx) { c.Return(c.T(0).FlattenNamed(c.Strs(1), c.Str(2))) })
		reg(ns+"::flatten.using_names(Tensor self, Dimname start_dim, Dimname end_dim, Dimname out_dim) -> Tensor",
			"joins the dimensions from one to another.", func(c *Ctx) {
				x := c.T(0)
				c.Return(x.FlattenTo(x.DimOf(c.Str(1)), x.DimOf(c.Str(2)), c.Str(3)))
			})
		reg(ns+"::flatten.named_out_dim(Tensor self, int start_dim, int end_dim, Dimname out_dim) -> Tensor",
			"joins the dimensions from one to another.",
			func(c *Ctx) { c.Return(c.T(0).FlattenTo(c.Int(1), c.Int(2), c.Str(3))) })
		reg(ns+"::diagonal.Dimname(Tensor self, *, Dimname outdim, Dimname dim1, Dimname dim2, int offset=0) -> Tensor",
			"is the diagonal of two dimensions, as a dimension with a name.", func(c *Ctx) {
				x := c.T(0)
				r := call("aten::diagonal", x, c.Int(4), x.DimOf(c.Str(2)), x.DimOf(c.Str(3)))[0]
				n := r.Names()
				n[len(n)-1] = c.Str(1)
				c.Return(r.Rename(n...))
			})
	}
	reg("Tensor::unflatten.Dimname(Tensor self, Dimname dim, SymInt[] sizes, Dimname[] names) -> Tensor",
		"parts a dimension into several.",
		func(c *Ctx) { c.Return(c.T(0).UnflattenNamed(c.Str(1), c.Strs(3), c.Ints(2))) })
	reg("Tensor::unflatten.namedshape(Tensor self, Dimname dim, Any namedshape) -> Tensor",
		"parts a dimension into several; namedshape lists pairs of a name and a size.", func(c *Ctx) {
			names, sizes := pairs(c)
			c.Return(c.T(0).UnflattenNamed(c.Str(1), names, sizes))
		})
	for _, f := range []string{
		"zeros.names(SymInt[] size, *, Dimname[] names", "ones.names(SymInt[] size, *, Dimname[] names",
		"rand.names(SymInt[] size, *, Dimname[] names", "randn.names(SymInt[] size, *, Dimname[] names",
		"full.names(SymInt[] size, Scalar fill_value, *, Dimname[] names",
		"empty.names(SymInt[] size, *, Dimname[] names",
	} {
		name, _, _ := strings.Cut(f, ".")
		if name == "empty" {
			name = "empty.memory_format"
		}
		reg("torch::"+f+", ScalarType? dtype=None, Layout? layout=None, Device? device=None, "+
			"bool? pin_memory=None) -> Tensor",
			"is "+name+" with names of dimensions.", func(c *Ctx) {
				var args []any
				at := c.Op().Sch.Index("names")
				for i := range c.NumArgs() {
					if i != at {
						args = append(args, c.Value(i))
					}
				}
				c.Return(call("aten::"+name, args...)[0].RenameInPlace(append([]string{}, c.Strs(at)...)...))
			})
	}
	samples.None("takes or gives tensors with names: see named_test.go", strings.Join(all, " "))
}

// pairs reads a list of names and sizes.
func pairs(c *Ctx) (names []string, sizes []int) {
	list, ok := c.Any(2).([]tensor.Value)
	for _, v := range list {
		p, isPair := v.X.([]tensor.Value)
		if !isPair || len(p) != 2 || p[0].K != tensor.KStr || p[1].K != tensor.KInt {
			ok = false
			break
		}
		names, sizes = append(names, p[0].X.(string)), append(sizes, int(p[1].N))
	}
	if !ok {
		c.Fail(tensor.ErrType, "unflatten(): namedshape must list pairs of a name and a size, as in (('A', 2), ('B', "+
			"3))")
	}
	return names, sizes
}
