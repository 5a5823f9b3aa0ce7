package graph_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/graph/trace"
	"github.com/gotorch-dev/torch/tensor"
)

// program is a random one over images [2, 4, 6, 6]: convolutions, norms, activations, views, lists and branches, many of
// them in place. It returns several of its values, so that a write that comes too early or too late shows.
func program(seed uint64) *graph.Function {
	r := rand.New(rand.NewPCG(seed, 7))
	gen := torch.NewGenerator().ManualSeed(int64(seed))
	f := graph.NewFunction(fmt.Sprint("program ", seed))
	x := f.Body.Param("x", graph.Tensor)
	w, vec := randn(gen, 4, 4, 3, 3), randn(gen, 4)
	var fill func(b *graph.Block, images []*graph.Value, steps, depth int) []*graph.Value
	fill = func(b *graph.Block, images []*graph.Value, steps, depth int) []*graph.Value {
		pick := func() *graph.Value { // the last values more often
			return images[len(images)-1-min(int(r.ExpFloat64()*1.5), len(images)-1)]
		}
		ones := []int{1, 1}
		for range steps {
			v := pick()
			var y *graph.Value
			switch r.IntN(20) {
			case 0, 1, 2:
				weight := w
				if r.IntN(3) == 0 {
					weight = randn(gen, 4, 4, 3, 3)
				}
				y = b.Call1("aten::conv2d", v, b.Const(weight), vec, ones, ones, ones, 1)
			case 3:
				y = b.Call1("aten::conv2d", v, randn(gen, 4, 1, 3, 3), nil, ones, ones, ones, 4)
			case 4:
				y = b.Call1("aten::conv2d", v, randn(gen, 4, 4, 1, 1), vec, ones, []int{0, 0}, ones, 1)
			case 5:
				y = b.Call1("aten::batch_norm", v, vec, randn(gen, 4), randn(gen, 4), randn(gen, 4).Abs(), false, 0.0,
					1e-5,
					false)
			case 6:
				y = b.Call1("aten::relu", v)
			case 7, 8:
				y = b.Call1("aten::relu_", v)
			case 9:
				y = b.Call1("aten::clamp_", v, -0.5, 0.5)
			case 10:
				y = b.Call1("aten::add.Tensor", v, pick())
			case 11, 12:
				y = b.Call1("aten::add_.Tensor", v, pick())
			case 13:
				b.Call("aten::mul_.Scalar", b.Call1("aten::select.int", v, r.IntN(2), 1), 0.5)
				continue
			case 14:
				y = b.Call1("aten::view", b.Call1("aten::contiguous", b.Call1("aten::flatten.using_ints", v, 2)),
					[]int{2, 4, 6, 6})
			case 15:
				y = b.Call1("aten::max_pool2d", v, []int{3, 3}, ones, ones, ones, false)
			case 16:
				if r.IntN(2) == 0 {
					y = b.Call1(pickOf(r, "aten::silu", "aten::silu_", "aten::sigmoid", "aten::hardswish_",
						"aten::tanh"), v)
					break
				}
				y = b.Call1("aten::linear", v, randn(gen, 6, 6), nil)
			case 17:
				y = b.Call1("aten::dropout", v, 0.5, false)
			case 18:
				l := b.List(graph.Tensor, v, pick())
				b.Call("aten::append.t", l, pick())
				y = b.Call1("aten::__getitem__.t", l, r.IntN(3))
			default:
				if depth > 1 {
					y = b.Call1("aten::neg", v)
					break
				}
				cond := b.Const(r.IntN(2) == 0)
				if r.IntN(2) == 0 {
					cond = b.Call1("aten::gt.int", b.Call1("aten::size.int", v, 0), 1+r.IntN(2))
				}
				branch := func(b *graph.Block) []*graph.Value {
					l := fill(b, append([]*graph.Value(nil), images...), 1+r.IntN(4), depth+1)
					return l[len(l)-1:]
				}
				y = b.If(cond, branch, branch).Out[0]
			}
			images = append(images, y)
		}
		return images
	}
	images := fill(f.Body, []*graph.Value{x, f.Body.Call1("aten::neg", x)}, 4+r.IntN(12), 0)
	results := images[len(images)-1:]
	for range 2 {
		results = append(results, images[r.IntN(len(images))])
	}
	f.Body.Return(append(results, x)...)
	return f
}

func pickOf(r *rand.Rand, names ...string) string { return names[r.IntN(len(names))] }

// TestFuseRandomPrograms runs random programs as they are and fused, twice each: what a first run does to constants
// shows in the second. Then it records each, and runs the recording fused for the very sizes, whose results have the
// program's own strides, too.
func TestFuseRandomPrograms(t *testing.T) {
	programs := 600
	if testing.Short() {
		programs = 200
	}
	gen := torch.NewGenerator().ManualSeed(9)
	for seed := range uint64(programs) {
		plain, fused := program(seed), program(seed)
		text := fused.String()
		fused.Fuse()
		if err := fused.Verify(); err != nil {
			t.Fatalf("%v\n%s\n%s", err, text, fused)
		}
		run := func(f *graph.Function, x *torch.Tensor) (out []tensor.Value, err error) {
			tensor.NoGrad(func() { out, err = f.Run(context.Background(), tensor.TensorValue(x.Clone())) })
			return out, err
		}
		check := func(f *graph.Function, x *torch.Tensor, strides bool) {
			t.Helper()
			want, errWant := run(plain, x)
			got, errGot := run(f, x)
			if errWant != nil || errGot != nil {
				if (errWant == nil) != (errGot == nil) {
					t.Fatalf("%v, want %v\n%s\n%s", errGot, errWant, text, f)
				}
				return
			}
			for i := range want {
				scale := 1 + want[i].T.Abs().Max().Item()
				if !got[i].T.AllClose(want[i].T, tensor.AllCloseOptions{Atol: torch.Some(1e-4 * scale)}) {
					t.Fatalf("program %d: result %d differs by %v of %v\n%s\n%s", seed, i,
						got[i].T.Sub(want[i].T).Abs().Max().Item(), scale, text, f)
				}
				if strides && !slices.Equal(got[i].T.Strides(), want[i].T.Strides()) {
					t.Fatalf("program %d: strides of result %d are %v, want %v\n%s\n%s", seed, i, got[i].T.Strides(),
						want[i].T.Strides(), text, f)
				}
			}
		}
		for range 2 {
			check(fused, randn(gen, 2, 4, 6, 6), false)
		}
		x := randn(gen, 2, 4, 6, 6)
		if seed%3 == 0 {
			x = x.To(torch.ChannelsLast)
		}
		if _, err := run(plain, x); err != nil {
			continue
		}
		var c *trace.Captured
		tensor.NoGrad(func() {
			_, c, _ = trace.Capture(func(args []*torch.Tensor) (out []*torch.Tensor) {
				values, _ := plain.Run(context.Background(), tensor.TensorValue(args[0]))
				for _, v := range values {
					out = append(out, v.T)
				}
				return out
			}, []*torch.Tensor{x.Clone()}, nil)
		})
		if c.Refused != "" || c.Passing != "" {
			t.Fatalf("program %d is not recorded: %s%s\n%s", seed, c.Refused, c.Passing, text)
		}
		c.Func.FuseWith(graph.FuseOptions{Exact: true})
		for range 2 {
			tensor.NoGrad(func() { x = x.MulScalar(0.9) })
			check(c.Func, x, true)
		}
	}
}
