package reduce

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/tensor"
)

var (
	anyU8 = kern[uint8, uint8]{init: 0, row: func(acc uint8, s []uint8) uint8 {
		if acc != 0 || vec.CountNonzeroU8(s) > 0 {
			return 1
		}
		return 0
	}, col: func(acc, s []uint8) {
		for i, v := range s {
			if v != 0 {
				acc[i] = 1
			}
		}
	}, merge: func(a, b uint8) uint8 { return a | b }}
	allU8 = kern[uint8, uint8]{init: 1, row: func(acc uint8, s []uint8) uint8 {
		if acc == 0 || vec.CountNonzeroU8(s) < len(s) {
			return 0
		}
		return 1
	}, col: func(acc, s []uint8) {
		for i, v := range s {
			if v == 0 {
				acc[i] = 0
			}
		}
	}, merge: func(a, b uint8) uint8 { return a & b }}
	countU8 = kern[uint8, int64]{row: func(acc int64, s []uint8) int64 { return acc + int64(vec.CountNonzeroU8(s)) },
		col: sumCol[uint8, int64], merge: add[int64]}
)

// boolType is the dtype of any and all: bool, but uint8 of uint8.
func boolType(t *T) tensor.DType {
	if t.DType() == tensor.Uint8 {
		return tensor.Uint8
	}
	return tensor.Bool
}

// truth is the tensor as zeros and ones.
func truth(t *T) *T { return cast(t, tensor.Bool) }

func boolInto(o, t *T, red []bool, isAll bool) {
	copy(raw[uint8](o), run(truth(t), red, pick(isAll, &allU8, &anyU8)))
}

// boolAll, boolDim and boolDims declare the forms of any and all.
//
//gen:boolAll Out
func boolAll(schema, doc string, isAll bool) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Out: true, NoGrad: "boolean result",
		Infer: func(c *Ctx) { c.Alloc(0, nil, boolType(c.T(0))) },
		CPU:   func(c *Ctx) { boolInto(c.Out(0), c.T(0), allDims(c.T(0)), isAll) },
	})
}

//gen:boolDim Out
func boolDim(schema, doc string, isAll bool) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Out: true, NoGrad: "boolean result",
		Infer: func(c *Ctx) {
			_, sh := dims(c, c.T(0), []int{c.Int(1)}, c.Bool(2))
			c.Alloc(0, sh, boolType(c.T(0)))
		},
		CPU: func(c *Ctx) {
			red, _ := dims(c, c.T(0), []int{c.Int(1)}, c.Bool(2))
			boolInto(c.Out(0), c.T(0), red, isAll)
		},
	})
}

//gen:boolDims Out
func boolDims(schema, doc string, isAll bool) {
	// an empty list reduces nothing, None everything
	plan := func(c *Ctx) ([]bool, []int) {
		t := c.T(0)
		if c.Has(1) && len(c.Ints(1)) == 0 {
			return make([]bool, t.Dim()), t.Shape()
		}
		return dims(c, t, c.Ints(1), c.Bool(2))
	}
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Out: true, NoGrad: "boolean result",
		Infer: func(c *Ctx) {
			_, sh := plan(c)
			c.Alloc(0, sh, boolType(c.T(0)))
		},
		CPU: func(c *Ctx) {
			red, _ := plan(c)
			boolInto(c.Out(0), c.T(0), red, isAll)
		},
	})
}

func init() {
	boolAll("all(Tensor self) -> Tensor", "tests whether all elements are true (not zero); NaN is true.\nhttps://pytorch.org/docs/stable/generated/torch.all.html", true)
	boolDim("all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", "tests whether all elements along a dimension are true.", true)
	boolDims("all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", "tests whether all elements over dimensions are true.", true)
	boolAll("any(Tensor self) -> Tensor", "tests whether any element is true (not zero); NaN is true.\nhttps://pytorch.org/docs/stable/generated/torch.any.html", false)
	boolDim("any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", "tests whether any element along a dimension is true.", false)
	boolDims("any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", "tests whether any element over dimensions is true.", false)
	tensor.Register(tensor.Def{
		Schema: "count_nonzero(Tensor self, int? dim=None) -> Tensor",
		Doc:    "counts the elements that are not zero, all or along a dimension.\nhttps://pytorch.org/docs/stable/generated/torch.count_nonzero.html",
		Out:    true, NoGrad: "integer result",
		Infer: func(c *Ctx) {
			_, sh := dims(c, c.T(0), countDims(c), false)
			c.Alloc(0, sh, tensor.Int64)
		},
		CPU: countKernel,
	})
	tensor.Register(tensor.Def{
		Schema: "count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor",
		Doc:    "counts the elements that are not zero over dimensions.",
		Out:    true, NoGrad: "integer result",
		Infer: func(c *Ctx) {
			_, sh := dims(c, c.T(0), c.Ints(1), false)
			c.Alloc(0, sh, tensor.Int64)
		},
		CPU: countKernel,
	})
}

func countDims(c *Ctx) []int {
	if !c.Has(1) {
		return nil
	}
	return c.Ints(1)
}

func countKernel(c *Ctx) {
	red, _ := dims(c, c.T(0), countDims(c), false)
	store(c.Out(0), run(truth(c.T(0)), red, &countU8))
}
