package graph_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/tensor"
)

// watched registers a helper that keeps the tensors it is given, so that a test can tell which of them are freed.
func watched(name string) *[]*tensor.Tensor {
	seen := &[]*tensor.Tensor{}
	graph.Register("test::"+name+"(Tensor x) -> int", func(a []tensor.Value) tensor.Value {
		*seen = append(*seen, a[0].T)
		return tensor.IntValue(0)
	})
	return seen
}

// TestFreesCarried: what a loop hands from one iteration to the next is freed, also when an if and a view stand
// between, and when two carried values change places; neither the caller's tensor is, nor a result.
func TestFreesCarried(t *testing.T) {
	seen := watched("carried")
	f := graph.NewFunction("f")
	x := f.Body.Param("x", graph.Tensor)
	out := f.Body.Loop(f.Body.Const(6), f.Body.Const(true), []*graph.Value{x, x},
		func(b *graph.Block, i *graph.Value, c []*graph.Value) (*graph.Value, []*graph.Value) {
			v := b.Call1("aten::view", c[0], []int{-1, 2})
			even := b.Call1("aten::eq.int", b.Call1("aten::remainder.int", i, 2), 0)
			y := b.If(even,
				func(b *graph.Block) []*graph.Value { return []*graph.Value{b.Call1("aten::add.Scalar", v, 1)} },
				func(b *graph.Block) []*graph.Value { return []*graph.Value{b.Call1("aten::relu", v)} })
			z := b.Call1("aten::flatten.using_ints", y.Out[0], 0)
			b.Call("test::carried", z)
			return b.Const(true), []*graph.Value{c[1], z}
		})
	f.Body.Return(out.Out[0])
	in := torch.Ones([]int{1 << 14})
	torch.NoGrad(func() {
		got := run(t, f, in)[0].T
		if sum := got.Sum().Num().F; sum != 4<<14 {
			t.Errorf("the result sums to %v, want %v", sum, 4<<14)
		}
		kept := 0
		for _, x := range *seen {
			if !x.IsReleased() {
				kept++
			}
		}
		if len(*seen) != 6 || kept != 1 {
			t.Errorf("%d of %d carried tensors are not freed, want 1 of 6", kept, len(*seen))
		}
		if in.IsReleased() || in.Sum().Num().F != 1<<14 {
			t.Error("the argument is freed or has changed")
		}
	})
}

// TestFreesThroughHelpers: a helper on tensors does not keep them alive, and one that returns its argument does not
// have it freed.
func TestFreesThroughHelpers(t *testing.T) {
	seen := watched("passed")
	graph.Register("test::same(Tensor x) -> Tensor", func(a []tensor.Value) tensor.Value { return a[0] })
	f := graph.NewFunction("f")
	x := f.Body.Param("x", graph.Tensor)
	y := f.Body.Call1("aten::add.Scalar", x, 1)
	f.Body.Call("test::passed", y)
	z := f.Body.Call1("aten::mul.Scalar", f.Body.Call1("test::same", y), 2)
	f.Body.Return(f.Body.Call1("aten::neg", z), f.Body.Call1("test::same", z), f.Body.Call1("test::same", x))
	torch.NoGrad(func() {
		in := torch.Ones([]int{1 << 14})
		out := run(t, f, in)
		if !(*seen)[0].IsReleased() {
			t.Error("what the helper was given is not freed")
		}
		for i, want := range []float64{-4, 4, 1} {
			if got := out[i].T.Sum().Num().F; got != want*(1<<14) {
				t.Errorf("result %d sums to %v, want %v", i, got, want*(1<<14))
			}
		}
	})
}

// flows is a random program of loops, branches, views and writes in place over matrices of 48 rows and columns.
func flows(seed uint64) *graph.Function {
	r := rand.New(rand.NewPCG(seed, 3))
	f := graph.NewFunction("flows")
	x := f.Body.Param("x", graph.Tensor)
	constant := torch.Full([]int{48, 48}, 0.25)
	var fill func(b *graph.Block, in []*graph.Value, steps, depth int) []*graph.Value
	fill = func(b *graph.Block, in []*graph.Value, steps, depth int) []*graph.Value {
		pick := func() *graph.Value { return in[len(in)-1-min(int(r.ExpFloat64()*2), len(in)-1)] }
		for range steps {
			switch k := r.IntN(16); {
			case k < 3:
				in = append(in, b.Call1("aten::add.Tensor", pick(), pick()))
			case k == 3:
				in = append(in, b.Call1("aten::tanh", pick()))
			case k == 4:
				in = append(in, b.Call1("aten::t", pick()))
			case k == 5:
				in = append(in, b.Call1("aten::view", b.Call1("aten::contiguous", pick()), []int{48, 48}))
			case k == 6: // not into the argument, nor the constant
				in = append(in, b.Call1("aten::mul_.Scalar", b.Call1("aten::neg", pick()), 0.5))
			case k == 7:
				in = append(in, b.Call1("aten::dropout", pick(), 0.5, false))
			case k == 8:
				in = append(in, b.Const(constant))
			case k == 9:
				l := b.Call("aten::split.Tensor", pick(), 24)
				in = append(in, b.Call1("aten::cat", l.Out[0], 0))
			case k == 10:
				l := b.List(graph.Tensor, pick(), pick())
				b.Call("aten::append.t", l, pick())
				in = append(in, b.Call1("aten::__getitem__.t", l, r.IntN(3)))
			case depth > 2:
				in = append(in, b.Call1("aten::sigmoid", pick()))
			case k < 14:
				carried := []*graph.Value{pick(), pick(), pick()}[:1+r.IntN(3)]
				n := b.Loop(b.Const(r.IntN(4)), b.Const(true), carried,
					func(b *graph.Block, _ *graph.Value, c []*graph.Value) (*graph.Value, []*graph.Value) {
						all := fill(b, append(append([]*graph.Value(nil), in...), c...), 1+r.IntN(5), depth+1)
						next := make([]*graph.Value, len(c))
						for i := range next {
							next[i] = all[len(all)-1-r.IntN(min(len(all), 5))]
						}
						more := b.Call1("aten::lt.Scalar", b.Call1("aten::sum", all[len(all)-1]), 500)
						return b.Call1("aten::Bool.Tensor", more), next
					})
				in = append(in, n.Out...)
			default:
				cond := b.Call1("aten::Bool.Tensor", b.Call1("aten::gt.Scalar", b.Call1("aten::sum", pick()), 1))
				branch := func(b *graph.Block) []*graph.Value {
					l := fill(b, append([]*graph.Value(nil), in...), r.IntN(4), depth+1)
					return []*graph.Value{l[len(l)-1], l[r.IntN(len(l))]}
				}
				in = append(in, b.If(cond, branch, branch).Out...)
			}
		}
		return in
	}
	all := fill(f.Body, []*graph.Value{x}, 8, 0)
	f.Body.Return(all[len(all)-1], all[r.IntN(len(all))], all[len(all)/2])
	return f
}

// TestFreesInRandomPrograms: programs with control flow give the same, whether memory is freed early (without
// gradients) or not, and leave their argument and constants alone.
func TestFreesInRandomPrograms(t *testing.T) {
	gen := torch.NewGenerator().ManualSeed(5)
	loops, failed := 0, 0
	for seed := range uint64(400) {
		f := flows(seed)
		if strings.Contains(f.String(), "prim::Loop") {
			loops++
		}
		x := randn(gen, 48, 48)
		was := x.Clone()
		call := func() (out []tensor.Value, err error) {
			return f.RunWith(context.Background(), graph.Options{MaxSteps: 20000}, tensor.TensorValue(x))
		}
		want, errWant := call()
		if errWant != nil {
			failed++
		}
		for range 2 {
			torch.NoGrad(func() {
				got, err := call()
				if err != nil || errWant != nil {
					if err == nil || errWant == nil || err.Error() != errWant.Error() {
						t.Fatalf("program %d: %v, want %v\n%s", seed, err, errWant, f)
					}
					return
				}
				for i := range want {
					if !got[i].T.Equal(want[i].T) {
						t.Fatalf("program %d: result %d differs\n%s", seed, i, f)
					}
				}
				if !x.Equal(was) {
					t.Fatalf("program %d changes its argument\n%s", seed, f)
				}
			})
		}
	}
	if loops < 100 || failed > 100 {
		t.Errorf("%d programs have a loop, and %d of all fail", loops, failed)
	}
}
