package functorch_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	functorch "github.com/gotorch-dev/torch/func"
	"github.com/gotorch-dev/torch/tensor"
)

// callOp calls an operator by its name and gives its tensors.
func callOp(t *testing.T, name string, args ...any) []*T {
	t.Helper()
	boxed := make([]tensor.Value, len(args))
	for i, a := range args {
		boxed[i] = tensor.Box(a)
	}
	res, err := tensor.CallOp(name, boxed...)
	if err != nil {
		panic(err)
	}
	var out []*T
	for _, v := range res {
		out = append(out, v.T)
	}
	return out
}

// mapsLikeLoop compares a mapped function with a loop over its examples, which lie along dimension 0 of the arguments;
// in tells which arguments have them.
func mapsLikeLoop(t *testing.T, f functorch.Func, args []*T, in []int) {
	t.Helper()
	got := functorch.Vmap(f, functorch.VmapOptions{InDims: in})(args)
	size := 0
	for i, d := range in {
		if d == 0 {
			size = args[i].Size(0)
		}
	}
	for e := range size {
		one := slices.Clone(args)
		for i, d := range in {
			if d == 0 {
				one[i] = args[i].Select(0, e)
			}
		}
		for k, want := range f(one) {
			if g := got[k].Select(0, e); !tensor.SameShape(g.Shape(), want.Shape()) ||
				!g.AllClose(want, torch.AllCloseOptions{EqualNaN: true}) {
				t.Errorf("example %d, result %d: got %v, want %v", e, k, g, want)
			}
		}
	}
}

// Bags of all examples are one list of bags: with tables of their own or a shared one, entries that count for nothing,
// entries behind the last offset, weights, empty bags, and the gradients of the tables.
func TestVmapEmbeddingBag(t *testing.T) {
	const none = functorch.None
	torch.ManualSeed(3)
	shared, tables := torch.Randn([]int{4, 3}), torch.Randn([]int{2, 4, 3})
	index := torch.TensorOf[int64](0, 2, 2, 3, 1, 3, 3, 0, 1, 2).View([]int{2, 5})
	offsets := torch.TensorOf[int64](0, 2, 2, 0, 1, 4).View([]int{2, 3})
	weights := torch.Randn([]int{2, 5})
	for mode, name := range []string{"sum", "mean", "max"} {
		for _, last := range []bool{false, true} {
			for _, pad := range []int{-1, 2} {
				f := func(a []*T) []*T {
					var w any
					if mode == 0 {
						w = a[3]
					}
					r := callOp(t, "aten::_embedding_bag", a[0], a[1], a[2], false, mode, false, w, last, pad)
					if mode != 2 { // what the third and fourth result hold then is for the gradient alone
						return r[:2]
					}
					return append(r[:2:2], r[3])
				}
				for _, in := range [][]int{{0, 0, 0, 0}, {none, 0, 0, 0}, {0, none, none, none},
					{none, none, 0, none}} {
					args := []*T{tables, index, offsets, weights}
					for i, d := range in {
						if d == none {
							args[i] = []*T{shared, index.Select(0, 0), offsets.Select(0, 0), weights.Select(0, 0)}[i]
						}
					}
					t.Run(name, func(t *testing.T) {
						mapsLikeLoop(t, f, args, in)
						mapsLikeLoop(t, functorch.Grad(func(a []*T) []*T { return []*T{f(a)[0].Sin().Sum()} }), args,
							in)
					})
				}
			}
		}
	}
}

// The gradient outside of a map is that of a loop: rows of padding get none, and it is divided by how often an example
// names a row.
func TestGradOutsideOfMappedEmbedding(t *testing.T) {
	torch.ManualSeed(4)
	tables := torch.Randn([]int{2, 4, 3})
	index := torch.TensorOf[int64](0, 2, 2, 1, 1, 1).View([]int{2, 3})
	for _, pad := range []int{-1, 1} {
		for _, byFreq := range []bool{false, true} {
			f := func(a []*T) []*T { return []*T{callOp(t, "aten::embedding", a[0], a[1], pad, byFreq, false)[0].Sin()} }
			sum := func(f functorch.Func) functorch.Func {
				return functorch.Grad(func(a []*T) []*T { return []*T{f(a)[0].Sum()} })
			}
			for _, in := range [][]int{{0, 0}, {0, functorch.None}} {
				ix := index
				if in[1] == functorch.None {
					ix = index.Select(0, 0)
				}
				loop := func(a []*T) []*T {
					var ys []*T
					for e := range 2 {
						one := []*T{a[0].Select(0, e), ix}
						if in[1] == 0 {
							one[1] = ix.Select(0, e)
						}
						ys = append(ys, f(one)[0])
					}
					return []*T{torch.Stack(ys)}
				}
				args := []*T{tables, ix}
				got := sum(functorch.Vmap(f, functorch.VmapOptions{InDims: in}))(args)[0]
				if want := sum(loop)(args)[0]; !got.AllClose(want) {
					t.Errorf("padding %d, by frequency %v, in %v: got %v, want %v", pad, byFreq, in, got, want)
				}
			}
		}
	}
}

// An index outside of an example's table, and offsets that do not begin at 0, would reach into another example.
func TestVmapIndicesStayInTheirExample(t *testing.T) {
	tables := torch.Randn([]int{2, 4, 3})
	bag := func(a []*T) []*T {
		return callOp(t, "aten::_embedding_bag", a[0], a[1], a[2], false, 0, false, nil, false, -1)[:1]
	}
	look := func(a []*T) []*T { return callOp(t, "aten::embedding", a[0], a[1]) }
	for _, c := range []struct {
		f              functorch.Func
		index, offsets []int64
		want           string
	}{
		{look, []int64{0, 4, 0, 0}, []int64{0, 0}, "index out of range"},
		{look, []int64{0, 0, -1, 0}, []int64{0, 0}, "index out of range"},
		{bag, []int64{0, 4, 0, 0}, []int64{0, 0}, "index out of range"},
		{bag, []int64{0, 1, 0, 0}, []int64{0, 1}, "offsets[0] has to be 0"},
	} {
		err := torch.Try(func() {
			functorch.Vmap(c.f)([]*T{tables, torch.TensorOf(c.index...).View([]int{2, 2}),
				torch.TensorOf(c.offsets...).View([]int{2, 1})})
		})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("index %v, offsets %v: error %v, want %q", c.index, c.offsets, err, c.want)
		}
	}
}

// The rules of operators that count, search and assert, where examples differ in ways that samples do not.
func TestVmapCountingRules(t *testing.T) {
	torch.ManualSeed(5)
	x, src := torch.Randn([]int{3, 2, 4}), torch.Randn([]int{3, 9})
	mask := x.GtScalar(0)
	mapsLikeLoop(t, func(a []*T) []*T { return []*T{a[0].MaskedScatter(a[1], a[2])} }, []*T{x, mask, src},
		[]int{0, 0, 0})
	mapsLikeLoop(t, func(a []*T) []*T { return []*T{a[0].MaskedScatter(a[1], a[2])} },
		[]*T{x.Select(0, 0), mask, src.Select(0, 0)}, []int{functorch.None, 0, functorch.None})
	for _, size := range []int{0, 3, 12} {
		mapsLikeLoop(t, func(a []*T) []*T {
			return callOp(t, "aten::nonzero_static", a[0], size, -7)
		}, []*T{mask}, []int{0})
	}
	if err := torch.Try(func() {
		functorch.Vmap(func(a []*T) []*T { return []*T{a[0].MaskedScatter(a[1], a[2])} })([]*T{x,
			mask.OnesLike(), src.Narrow(1, 0, 5)})
	}); err == nil || !strings.Contains(err.Error(), "number of ones in mask") {
		t.Errorf("masked_scatter with few numbers: %v", err)
	}
	holds := func(a []*T) []*T { callOp(t, "aten::_assert_async.msg", a[0], "no"); return a }
	if err := torch.Try(func() { functorch.Vmap(holds)([]*T{torch.TensorOf[float32](1, 0)}) }); err == nil ||
		!strings.Contains(err.Error(), "no") {
		t.Errorf("an assertion that one example breaks: %v", err)
	}
	functorch.Vmap(holds)([]*T{torch.TensorOf[float32](1, 2)})

	rows := torch.TensorOf[int64](1, 3, 5, 2, 2, 9).View([]int{2, 3})
	for _, number := range []any{2, 2.5} {
		mapsLikeLoop(t, func(a []*T) []*T {
			return []*T{callOp(t, "aten::bucketize.Scalar", number, a[0])[0],
				callOp(t, "aten::searchsorted.Scalar", a[0], number)[0]}
		}, []*T{rows}, []int{0})
	}
}

// The lengths of sequences in tensors differ between the examples; gradients follow.
func TestVmapCTC(t *testing.T) {
	torch.ManualSeed(7)
	logits := torch.Randn([]int{3, 6, 2, 5}).ToDType(torch.Float64)
	labels := torch.TensorOf[int64](1, 2, 3, 1, 1, 4, 2, 2, 3, 4, 4, 1).View([]int{3, 2, 2})
	in := torch.TensorOf[int64](6, 5, 6, 6, 4, 6).View([]int{3, 2})
	lengths := torch.TensorOf[int64](2, 1, 2, 2, 1, 2).View([]int{3, 2})
	f := func(a []*T) []*T {
		x := a[0].LogSoftmax(-1)
		return []*T{callOp(t, "aten::ctc_loss.Tensor", x, a[1], a[2], a[3], 0, 1, false)[0],
			callOp(t, "aten::ctc_loss.IntList", x, a[1], []int{6, 5}, []int{2, 1}, 0, 2, false)[0]}
	}
	args := []*T{logits, labels, in, lengths}
	mapsLikeLoop(t, f, args, []int{0, 0, 0, 0})
	mapsLikeLoop(t, functorch.Grad(func(a []*T) []*T { r := f(a); return []*T{r[0].Add(r[1])} }), args,
		[]int{0, 0, 0, 0})
}

// A sparse tensor has no examples.
func TestVmapRefusesSparse(t *testing.T) {
	err := torch.Try(func() {
		functorch.Vmap(functorch.One(func(v *T) *T {
			return callOp(t, "aten::sparse_coo_tensor.indices_size", torch.TensorOf[int64](0, 1).View([]int{1, 2}), v,
				[]int{3})[0]
		}))([]*T{torch.Randn([]int{2, 2})})
	})
	if err == nil || !strings.Contains(err.Error(), "vmap does not take sparse tensors") {
		t.Errorf("got %v", err)
	}
}

// What nested transforms give has no history: the leaves that they made for themselves are of no more use.
func TestNestedTransformsLeaveNoHistory(t *testing.T) {
	x, w := torch.Randn([]int{3}), torch.Randn([]int{2, 3})
	f := functorch.Two(func(x, w *T) *T { return w.MatMul(x).Tanh() })
	jvp := func(f functorch.Func, i int) functorch.Func {
		return func(a []*T) []*T {
			y, v := functorch.JVP(func(x []*T) []*T {
				in := slices.Clone(a)
				in[i] = x[0]
				return f(in)
			}, a[i:i+1], []*T{a[i].Cos()})
			return append(y, v...)
		}
	}
	vjp := func(a []*T) []*T {
		y, pull := functorch.VJP(f, a)
		return append(y, pull(y)...)
	}
	jac := functorch.Jacrev(f, functorch.JacOptions{Argnums: []int{1}})
	for name, g := range map[string]functorch.Func{
		"jvp of jvp": jvp(jvp(f, 0), 1), "jvp of vjp": jvp(vjp, 1), "jacfwd of jacrev": functorch.Jacfwd(jac),
		"jvp of jacrev": jvp(jac, 0),
	} {
		for k, y := range g([]*T{x, w}) {
			if y.RequiresGrad() {
				t.Errorf("%s: result %d has the history %s", name, k, y.GradFn().Name())
			}
		}
	}
	// but what a caller differentiates keeps it
	leaf := x.Clone().SetRequiresGrad(true)
	for k, y := range jvp(jvp(f, 0), 1)([]*T{leaf, w}) {
		if !y.RequiresGrad() {
			t.Errorf("result %d does not depend on the caller's leaf", k)
		}
	}
}

// The second derivative of logcumsumexp has logarithms of the cotangent, which must not be zero.
func TestForwardModeOfLogCumSumExp(t *testing.T) {
	x := torch.TensorOf[float64](0.5, -1, 2)
	f := functorch.One(func(x *T) *T { return x.LogCumSumExp(0) })
	if got, want := functorch.Jacfwd(f)([]*T{x})[0], functorch.Jacrev(f)([]*T{x})[0]; !got.AllClose(want) {
		t.Errorf("forward mode %v, reverse mode %v", got, want)
	}
}

// Rules that look at a padding index or at dtypes give what a loop over the examples gives.
func TestVmapOfIndices(t *testing.T) {
	torch.ManualSeed(6)
	grads, index := torch.Randn([]int{2, 5, 3}), torch.TensorOf[int64](0, 2, 2, 3, 1, 3, 3, 2, 1, 2).View([]int{2, 5})
	for _, pad := range []int{-1, 0, 2} {
		for _, in := range [][]int{{0, 0}, {0, functorch.None}, {functorch.None, 0}} {
			args := []*T{grads, index}
			for i, d := range in {
				if d == functorch.None {
					args[i] = args[i].Select(0, 1)
				}
			}
			mapsLikeLoop(t, func(a []*T) []*T {
				return callOp(t, "aten::embedding_dense_backward", a[0], a[1], 4, pad, false)
			}, args, in)
		}
	}
	mask := torch.TensorOf(true, false, true, false, true, true).View([]int{2, 3})
	for _, dt := range []tensor.DType{tensor.Bool, tensor.Int64, tensor.Float32} {
		self, src := torch.TensorOf(0, 1, 0, 1, 1, 0).View([]int{2, 3}).ToDType(dt),
			torch.TensorOf(1, 0, 1, 0, 0, 1).View([]int{2, 3}).ToDType(dt)
		mapsLikeLoop(t, func(a []*T) []*T { return callOp(t, "aten::masked_scatter", a[0], a[1], a[2]) },
			[]*T{self, mask, src}, []int{0, 0, 0})
		mapsLikeLoop(t, func(a []*T) []*T { return callOp(t, "aten::masked_scatter", a[0], a[1], a[2]) },
			[]*T{self, mask.Select(0, 1), src}, []int{0, functorch.None, 0})
	}
}

// The gradients of a strided scatter ask where the elements of an example lie, mapped or shared, dense or not.
func TestVmapOfStridedScatterGradients(t *testing.T) {
	torch.ManualSeed(7)
	x, src := torch.Randn([]int{3, 4, 5}), torch.Randn([]int{3, 2, 2})
	g := functorch.Grad(func(a []*T) []*T {
		return []*T{a[0].AsStridedScatter(a[1], []int{2, 2}, []int{5, 2}).Square().Sum()}
	}, functorch.GradOptions{Argnums: []int{0, 1}})
	mapsLikeLoop(t, g, []*T{x, src}, []int{0, 0})
	mapsLikeLoop(t, g, []*T{x.Select(0, 1), src}, []int{functorch.None, 0})
	mapsLikeLoop(t, g, []*T{x.Transpose(1, 2), src}, []int{0, 0})
}
