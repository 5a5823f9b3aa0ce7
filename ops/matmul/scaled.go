package matmul

import (
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

// The recipes by which a factor of a scaled product was scaled, torch.nn.functional.ScalingType.
const (
	scaledWhole = iota // one number for the whole matrix
	scaledRows         // one number for each row of the first factor and each column of the second
)

const scaledDoc = "multiplies matrices of 8-bit floats, [m, k] and [k, n], and the result by scales of float32: one " +
	"number for each factor, or one for each row of the first, [m, 1], and each column of the second, [1, n]. A bias " +
	"[n] is added. Sums are of float32 and rounded to the result's type once."

func init() {
	tensor.Register(tensor.Def{
		Schema: "_scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? bias=None, Tensor? scale_result=None, ScalarType? out_dtype=None, bool use_fast_accum=False) -> Tensor",
		Doc: scaledDoc + " The result has out_dtype or else the type of self; scale_result divides a result of 8-bit " +
			"floats. use_fast_accum changes nothing on the CPU.",
		Go: "-", Out: true, NoGrad: "8-bit floats have no gradients", Raw: true,
		Infer: func(c *Ctx) {
			dt := c.ArgDType(0)
			if c.Has(6) {
				dt = c.DType(6)
			}
			scaledShapes(c)
			scaledByShape(c, c.T(2), c.T(3))
			scaledInfer(c, c.T(4), dt)
			if s := c.T(5); s != nil && (s.Numel() != 1 || s.DType() != tensor.Float32) {
				c.Fail(tensor.ErrShape, "scale_result must be a float scalar")
			}
		},
		CPU: func(c *Ctx) { scaledProduct(c, c.T(2), c.T(3), c.T(4), c.T(5)) },
	})
	tensor.Register(tensor.Def{
		Schema: "_scaled_mm_v2(Tensor self, Tensor mat2, Tensor[] scale_a, int[] recipe_a, int[] swizzle_a, Tensor[] scale_b, int[] recipe_b, int[] swizzle_b, Tensor? bias, ScalarType? out_dtype, int[] contraction_dim=[], bool use_fast_accum=False) -> Tensor",
		Doc: scaledDoc + " A recipe names the kind of scaling: 0 for the whole matrix, 1 for rows; others, of blocks, " +
			"are for GPUs, and so are swizzles.",
		Go: "-", Out: true, NoGrad: "8-bit floats have no gradients", Raw: true,
		Infer: func(c *Ctx) {
			scaledShapes(c)
			scaledRecipe(c, 2, "scale_a", c.Shape(0)[0])
			scaledRecipe(c, 5, "scale_b", c.Shape(1)[1])
			dt := c.ArgDType(0)
			if c.Has(9) {
				dt = c.DType(9)
			}
			if d := c.Ints(10); len(d) > 0 &&
				(len(d) != 2 || tensor.WrapDim(d[0], 2) != 1 || tensor.WrapDim(d[1], 2) != 0) {
				c.Fail(tensor.ErrValue, "contraction_dim must be empty or (1, 0), got %s", tensor.ShapeString(d))
			}
			scaledInfer(c, c.T(8), dt)
		},
		CPU: func(c *Ctx) { scaledProduct(c, c.Tensors(2)[0], c.Tensors(5)[0], c.T(8), nil) },
	})
	scaled := tensor.Slot("aten::_scaled_mm_v2")
	tensor.Register(tensor.Def{
		Schema: "F::scaled_mm(Tensor mat_a, Tensor mat_b, Tensor scale_a, int scale_recipe_a, Tensor scale_b, int scale_recipe_b, Tensor? bias=None, ScalarType? output_dtype=None, bool use_fast_accum=False, int swizzle_a=0, int swizzle_b=0) -> Tensor",
		Doc: scaledDoc + " The recipes are ScalingTensorWise and ScalingRowWise; those of blocks, and swizzled " +
			"scales, are " +
			"for GPUs. The result has output_dtype, or else bfloat16.\n" +
			"https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_mm.html",
		Go: "ScaledMM",
		Body: func(c *Ctx) {
			dt := c.Value(7)
			if !c.Has(7) {
				dt = tensor.DTypeValue(tensor.BFloat16)
			}
			b := tensor.NewCall(scaled, 12)
			for i, v := range []tensor.Value{c.Value(0), c.Value(1), tensor.TensorsValue([]*T{c.T(2)}),
				tensor.IntsValue([]int{c.Int(3)}), tensor.IntsValue([]int{c.Int(9)}),
				tensor.TensorsValue([]*T{c.T(4)}), tensor.IntsValue([]int{c.Int(5)}),
				tensor.IntsValue([]int{c.Int(10)}), c.Value(6), dt, tensor.IntsValue(nil), c.Value(8)} {
				*b.Arg(i) = v
			}
			c.Return(b.Do1())
		},
	})
	for _, name := range []string{"aten::_scaled_mm", "aten::_scaled_mm_v2", "F::scaled_mm"} {
		tensor.RegisterNoSamples(name, "takes 8-bit floats with scales of float32 alone: see scaled_test.go")
	}
}

// scaledRecipe checks the scales, recipes and swizzles from argument i on, which are those of n rows or columns. The
// CPU has products with one of each.
func scaledRecipe(c *Ctx, i int, name string, n int) {
	scales, recipes := c.Tensors(i), c.Ints(i+1)
	if len(scales) != 1 || len(recipes) != 1 || recipes[0] != scaledWhole && recipes[0] != scaledRows ||
		slices.ContainsFunc(c.Ints(i+2), func(s int) bool { return s != 0 }) {
		c.Fail(tensor.ErrNotImpl, "Invalid scaling configuration: the CPU has scales for the whole matrix (0) and for "+
			"rows (1), got %d scales with recipes %v and swizzles %v", len(scales), recipes, c.Ints(i+2))
	}
	want := 1
	if recipes[0] == scaledRows {
		want = n
	}
	if s := scales[0]; s == nil || s.Numel() != want || s.DType() != tensor.Float32 {
		c.Fail(tensor.ErrValue, "%s must have %d Float elements, got %v", name, want, s)
	}
}

func is8BitFloat(dt tensor.DType) bool {
	switch dt {
	case tensor.Float8E4M3FN, tensor.Float8E5M2, tensor.Float8E4M3FNUZ, tensor.Float8E5M2FNUZ:
		return true
	}
	return false
}

// scaledShapes checks the shapes of the factors.
func scaledShapes(c *Ctx) {
	a, b := c.Shape(0), c.Shape(1)
	switch {
	case len(a) != 2:
		c.Fail(tensor.ErrShape, "mat1 must be a matrix")
	case len(b) != 2:
		c.Fail(tensor.ErrShape, "mat2 must be a matrix")
	case a[1] != b[0]:
		c.Fail(tensor.ErrShape, "mat_a and mat_b shapes cannot be multiplied (%s and %s)", dims(a), dims(b))
	}
}

// scaledByShape checks scales whose shapes say what they are for.
func scaledByShape(c *Ctx, sa, sb *T) {
	m, n := c.Shape(0)[0], c.Shape(1)[1]
	whole := sa.Numel() == 1 && sb.Numel() == 1
	rows := tensor.SameShape(sa.Shape(), []int{m, 1}) && tensor.SameShape(sb.Shape(), []int{1, n}) &&
		sa.IsContiguous() && sb.IsContiguous()
	if is8BitFloat(c.ArgDType(0)) && is8BitFloat(c.ArgDType(1)) && sa.DType() == tensor.Float32 &&
		sb.DType() == tensor.Float32 && (whole || rows) {
		return
	}
	c.Fail(tensor.ErrValue, "Invalid scaling configuration.\n"+
		"- For TensorWise scaling, a and b should be float8, scales should be float and singletons.\n"+
		"- For RowWise scaling, a and b should be float8, scales should be float, scale_a should be (%d, 1) and "+
		"scale_b should be (1, %d), and both should be contiguous.\n"+
		"Got mat_a.dtype()=%s, scale_a.dtype()=%s, scale_a.size()=%s, mat_b.dtype()=%s, scale_b.dtype()=%s, "+
		"scale_b.size()=%s", m, n, c.ArgDType(0).ClassName(), sa.DType().ClassName(), tensor.ShapeString(sa.Shape()),
		c.ArgDType(1).ClassName(), sb.DType().ClassName(), tensor.ShapeString(sb.Shape()))
}

// scaledInfer checks the types of the factors and the bias, and provides the result.
func scaledInfer(c *Ctx, bias *T, dt tensor.DType) {
	n := c.Shape(1)[1]
	switch {
	case !is8BitFloat(c.ArgDType(0)) || !is8BitFloat(c.ArgDType(1)):
		c.Fail(tensor.ErrDType, "Invalid scaling configuration: expected factors of 8-bit floats, got %s and %s",
			c.ArgDType(0), c.ArgDType(1))
	case bias != nil && bias.Numel() != n:
		c.Fail(tensor.ErrShape, "Bias must be size %d but got %d", n, bias.Numel())
	case bias != nil && (bias.Dim() == 0 || bias.Size(-1) != n):
		c.Fail(tensor.ErrShape, "expected a bias of shape [%d], got %s", n, tensor.ShapeString(bias.Shape()))
	}
	c.Alloc(0, []int{c.Shape(0)[0], n}, dt)
}

// scaledProduct multiplies in float32. Results beyond float8_e4m3fn, which has no infinities, are its largest numbers.
func scaledProduct(c *Ctx, sa, sb, bias, result *T) {
	tensor.NoGrad(func() {
		y := tensor.DenseAs(c.T(0), tensor.Float32).MM(tensor.DenseAs(c.T(1), tensor.Float32))
		y = y.Mul(sa.Reshape([]int{-1, 1})).Mul(sb.Reshape([]int{1, -1}))
		if bias != nil {
			y = y.Add(tensor.DenseAs(bias, tensor.Float32).Reshape([]int{-1}))
		}
		dt := c.Out(0).DType()
		if result != nil && is8BitFloat(dt) {
			y = y.Div(result.Reshape([]int{}))
		}
		if dt == tensor.Float8E4M3FN {
			y = call(opClamp, y, -448, 448)[0]
		}
		tensor.CopyRaw(c.Out(0), y)
	})
}

var opClamp = tensor.Slot("aten::clamp")
