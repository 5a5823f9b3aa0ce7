package matmul

import (
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

const (
	scaledAddDoc = "is beta * self + alpha * the scaled product of mat1 and mat2, two matrices of 8-bit floats with " +
		"scales by recipes as for ScaledMM. self, [m, n], is float16, bfloat16 or float32, and the result has its " +
		"type. It is computed in float32 and rounded once. PyTorch has it on GPUs alone.\n" +
		"https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_addmm.html"
	scaledGroupedDoc = "multiplies groups of matrices of 8-bit floats: GroupedMM of mat_a and mat_b times their " +
		"scales, float32 by recipe ScalingRowWise: one for each row of mat_a and each column of mat_b, [rows] and " +
		"[columns] of a single matrix, [groups, rows] and [groups, columns] of a batch. Where both are single " +
		"matrices, each group has scales of its own, [groups * rows] and [groups * columns]. It is computed in " +
		"float32 and rounded once to output_dtype, bfloat16 unless it is given. PyTorch has it on GPUs alone, and " +
		"for sizes that are multiples of 16.\n" +
		"https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_grouped_mm.html"
)

func init() {
	add := tensor.Slot("aten::_scaled_addmm")
	addInPlace := tensor.Slot("aten::_scaled_addmm_")
	tensor.Register(tensor.Def{
		Schema: "_scaled_addmm(Tensor self, Tensor mat1, Tensor mat2, Tensor[] scale_a, int[] recipe_a, int[] swizzle_a, Tensor[] scale_b, int[] recipe_b, int[] swizzle_b, int[] contraction_dim=[], *, Scalar beta=1, Scalar alpha=1, bool use_fast_accum=False) -> Tensor",
		Doc:    scaledAddDoc, Go: "-", InPlace: true, Out: true, Body: scaledAddBody,
	})
	tensor.Register(tensor.Def{
		Schema: "F::scaled_addmm(Tensor input, Tensor mat1, Tensor mat2, Tensor scale_a, int scale_recipe_a, Tensor scale_b, int scale_recipe_b, int swizzle_a=0, int swizzle_b=0, bool use_fast_accum=False, *, Scalar beta=1.0, Scalar alpha=1.0) -> Tensor",
		Doc:    scaledAddDoc, Go: "ScaledAddMM", Body: func(c *Ctx) { scaledAddCall(c, add) },
	})
	tensor.Register(tensor.Def{
		Schema: "F::scaled_addmm_(Tensor(a!) input, Tensor mat1, Tensor mat2, Tensor scale_a, int scale_recipe_a, Tensor scale_b, int scale_recipe_b, int swizzle_a=0, int swizzle_b=0, bool use_fast_accum=False, *, Scalar beta=1.0, Scalar alpha=1.0) -> Tensor(a!)",
		Doc: "is ScaledAddMM written to input, which is returned.\n" +
			"https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_addmm_.html",
		Go: "ScaledAddMMInPlace", Body: func(c *Ctx) { scaledAddCall(c, addInPlace) },
	})
	grouped := tensor.Slot("aten::_scaled_grouped_mm_v2")
	tensor.Register(tensor.Def{
		Schema: "_scaled_grouped_mm_v2(Tensor self, Tensor mat2, Tensor[] scale_a, int[] recipe_a, int[] swizzle_a, Tensor[] scale_b, int[] recipe_b, int[] swizzle_b, Tensor? offs=None, Tensor? bias=None, ScalarType? out_dtype=None, int[] contraction_dim=[], bool use_fast_accum=False) -> Tensor",
		Doc:    scaledGroupedDoc, Go: "-", Out: true, DataDependent: true, Body: scaledGroupedBody,
	})
	tensor.Register(tensor.Def{
		Schema: "F::scaled_grouped_mm(Tensor mat_a, Tensor mat_b, Tensor scale_a, int scale_recipe_a, Tensor scale_b, int scale_recipe_b, int swizzle_a=0, int swizzle_b=0, Tensor? bias=None, Tensor? offs=None, ScalarType? output_dtype=None, bool use_fast_accum=False) -> Tensor",
		Doc:    scaledGroupedDoc, Go: "ScaledGroupedMM", DataDependent: true,
		Body: func(c *Ctx) {
			c.Return(call(grouped, c.T(0), c.T(1), []*T{c.T(2)}, []int{c.Int(3)}, []int{c.Int(6)}, []*T{c.T(4)},
				[]int{c.Int(5)}, []int{c.Int(7)}, c.Value(9), c.Value(8), c.Value(10), []int{}, c.Bool(11))[0])
		},
	})
	for _, name := range []string{"aten::_scaled_addmm", "F::scaled_addmm", "F::scaled_addmm_",
		"aten::_scaled_grouped_mm_v2", "F::scaled_grouped_mm"} {
		tensor.RegisterNoSamples(name, "takes 8-bit floats with scales of float32 alone: see scaledadd_test.go")
	}
}

func scaledAddBody(c *Ctx) {
	self := c.T(0)
	switch self.DType() {
	case tensor.Float16, tensor.BFloat16, tensor.Float32:
	default:
		c.Fail(tensor.ErrDType, "self must be float16, bfloat16 or float32, got %s", self.DType())
	}
	y := call(tensor.Slot("aten::_scaled_mm_v2"), c.T(1), c.T(2), c.Value(3), c.Value(4), c.Value(5), c.Value(6),
		c.Value(7), c.Value(8), tensor.Value{}, tensor.Float32, c.Value(9), c.Value(12))[0]
	if !tensor.SameShape(self.Shape(), y.Shape()) {
		c.Fail(tensor.ErrShape, "self must have the product's shape %s, got %s", tensor.ShapeString(y.Shape()),
			tensor.ShapeString(self.Shape()))
	}
	c.Return(self.ToDType(tensor.Float32).MulScalar(c.Num(10)).Add(y, tensor.AddOptions{Alpha: c.Num(11)}).
		ToDType(self.DType()))
}

// scaledAddCall calls an operator with single scales as lists.
func scaledAddCall(c *Ctx, op *tensor.Op) {
	x := tensor.NewCall(op, 13)
	for i, v := range []tensor.Value{c.Value(0), c.Value(1), c.Value(2), tensor.TensorsValue([]*T{c.T(3)}),
		tensor.IntsValue([]int{c.Int(4)}), tensor.IntsValue([]int{c.Int(7)}), tensor.TensorsValue([]*T{c.T(5)}),
		tensor.IntsValue([]int{c.Int(6)}), tensor.IntsValue([]int{c.Int(8)}), tensor.IntsValue(nil), c.Value(10),
		c.Value(11), c.Value(9)} {
		*x.Arg(i) = v
	}
	c.Return(x.Do1())
}

func scaledGroupedBody(c *Ctx) {
	a, b := c.T(0), c.T(1)
	if !is8BitFloat(a.DType()) || !is8BitFloat(b.DType()) {
		c.Fail(tensor.ErrDType, "Invalid scaling configuration: expected factors of 8-bit floats, got %s and %s",
			a.DType(), b.DType())
	}
	for i, x := range []*T{a, b} {
		if x.Dim() != 2 && x.Dim() != 3 {
			c.Fail(tensor.ErrShape, "mat_%c has to be 2 or 3d", 'a'+i)
		}
	}
	if c.Has(9) {
		c.Fail(tensor.ErrNotImpl, "Bias not supported yet")
	}
	dt := tensor.BFloat16
	if c.Has(10) {
		dt = c.DType(10)
	}
	groups := 1 // of scales
	if a.Dim() == 2 && b.Dim() == 2 && c.Has(8) {
		groups = c.T(8).Numel()
	}
	sa := groupScales(c, 2, "scale_a", a, -2, groups)
	sb := groupScales(c, 5, "scale_b", b, -1, groups)
	a, b = a.ToDType(tensor.Float32), b.ToDType(tensor.Float32)
	if a.Dim() == 3 || b.Dim() == 3 { // each row and column has one scale: those of groups that offs cuts, too
		a, b = a.Mul(sa.Unsqueeze(-1)), b.Mul(sb.Unsqueeze(-2))
	}
	y := call(tensor.Slot("aten::_grouped_mm"), a, b, c.Value(8), tensor.Value{}, tensor.Value{})[0]
	if a.Dim() == 2 && b.Dim() == 2 {
		y = y.Mul(sa.Reshape([]int{groups, -1, 1})).Mul(sb.Reshape([]int{groups, 1, -1}))
	}
	c.Return(y.ToDType(dt))
}

// groupScales are the scales of x, argument i of the call: one for each place of dimension dim, of each matrix of a
// batch and each group.
func groupScales(c *Ctx, i int, name string, x *T, dim, groups int) *T {
	scales, recipes := c.Tensors(i), c.Ints(i+1)
	if len(scales) != 1 || scales[0] == nil || len(recipes) != 1 || recipes[0] != scaledRows ||
		slices.ContainsFunc(c.Ints(i+2), func(s int) bool { return s != 0 }) {
		c.Fail(tensor.ErrNotImpl, "Invalid scaling configuration: the CPU has scales for rows (1), got %d scales with "+
			"recipes %v and swizzles %v", len(scales), recipes, c.Ints(i+2))
	}
	want := []int{x.Size(dim) * groups}
	if x.Dim() == 3 {
		want = []int{x.Size(0), x.Size(dim)}
	}
	s := scales[0]
	if s.DType() != tensor.Float32 || !tensor.SameShape(s.Shape(), want) {
		c.Fail(tensor.ErrShape, "%s must have Float elements and shape %s, got %s and %s", name,
			tensor.ShapeString(want), s.DType().ClassName(), tensor.ShapeString(s.Shape()))
	}
	return s
}
