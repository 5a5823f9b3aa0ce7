package graph_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/tensor"
)

func run(t *testing.T, f *graph.Function, args ...any) []tensor.Value {
	t.Helper()
	out, err := f.Run(context.Background(), boxed(args)...)
	if err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	return out
}

func boxed(args []any) []tensor.Value {
	in := make([]tensor.Value, len(args))
	for i, a := range args {
		in[i] = tensor.Box(a)
	}
	return in
}

func TestStraightLine(t *testing.T) {
	f := graph.NewFunction("f")
	b := f.Body
	x := b.Param("x", graph.Tensor)
	y := b.Call1("aten::mul.Scalar", x, 3)
	z := b.Call1("aten::view", y, b.List(graph.Int, b.Const(2), b.Const(2)))
	b.Return(b.Call1("aten::cat", b.List(graph.Tensor, z, z), 1), b.Call1("aten::sum", z))
	out := run(t, f, torch.TensorOf[float32](1, 2, 3, 4))
	want := torch.FromSlice([]float32{3, 6, 3, 6, 9, 12, 9, 12}, 2, 4)
	if !out[0].T.Equal(want) {
		t.Errorf("got %s, want %s", out[0].T, want)
	}
	if got := out[1].T.Num().F; got != 30 {
		t.Errorf("sum = %v, want 30", got)
	}
}

// collatz counts the steps from n to 1: a loop with a condition and a branch.
func collatz() *graph.Function {
	f := graph.NewFunction("collatz")
	b := f.Body
	n := b.Param("n", graph.Int)
	loop := b.Loop(nil, b.Call1("aten::gt.int", n, 1), []*graph.Value{n, b.Const(0)},
		func(b *graph.Block, _ *graph.Value, c []*graph.Value) (*graph.Value, []*graph.Value) {
			even := b.Call1("aten::eq.int", b.Call1("aten::remainder.int", c[0], 2), 0)
			next := b.If(even,
				func(b *graph.Block) []*graph.Value {
					return []*graph.Value{b.Call1("aten::floordiv.int", c[0], 2)}
				},
				func(b *graph.Block) []*graph.Value {
					return []*graph.Value{b.Call1("aten::add.int", b.Call1("aten::mul.int", c[0], 3), 1)}
				}).Out[0]
			return b.Call1("aten::gt.int", next, 1), []*graph.Value{next, b.Call1("aten::add.int", c[1], 1)}
		})
	b.Return(loop.Out[1])
	return f
}

func TestLoopAndIf(t *testing.T) {
	f := collatz()
	for n, want := range map[int]int64{1: 0, 2: 1, 6: 8, 27: 111} {
		if got := run(t, f, n)[0].N; got != want {
			t.Errorf("collatz(%d) = %d, want %d", n, got, want)
		}
	}
}

// TestLoopExchanges exchanges two carried values in every iteration.
func TestLoopExchanges(t *testing.T) {
	f := graph.NewFunction("fib")
	b := f.Body
	loop := b.Loop(b.Param("n", graph.Int), nil, []*graph.Value{b.Const(0), b.Const(1)},
		func(b *graph.Block, _ *graph.Value, c []*graph.Value) (*graph.Value, []*graph.Value) {
			return nil, []*graph.Value{c[1], b.Call1("aten::add.int", c[0], c[1])}
		})
	b.Return(loop.Out[0], loop.Out[1])
	out := run(t, f, 10)
	if out[0].N != 55 || out[1].N != 89 {
		t.Errorf("got %d and %d, want 55 and 89", out[0].N, out[1].N)
	}
	if out := run(t, f, 0); out[0].N != 0 || out[1].N != 1 {
		t.Errorf("without an iteration: got %d and %d, want 0 and 1", out[0].N, out[1].N)
	}
}

func TestObjectsAndCalls(t *testing.T) {
	c := graph.NewClass("Counter", graph.ClassType)
	c.AddAttr(graph.Attr{Name: "n", Type: graph.Int})
	m := graph.NewFunction("Counter.add")
	self, k := m.Body.Param("self", c.Type), m.Body.Param("k", graph.Int)
	sum := m.Body.Call1("aten::add.int", m.Body.GetAttr(self, "n"), k)
	m.Body.SetAttr(self, "n", sum)
	m.Body.Return(sum)
	c.AddMethod("add", m)
	f := graph.NewFunction("f")
	o := f.Body.Param("o", c.Type)
	call := func(k int) *graph.Value {
		return f.Body.Add(&graph.Node{Op: graph.CallMethod, Attr: "add", In: []*graph.Value{o, f.Body.Const(k)}},
			graph.Int).Out[0]
	}
	call(3)
	f.Body.Return(call(4))
	obj := graph.NewObject(c)
	obj.SetAttr("n", tensor.IntValue(10))
	if got := run(t, f, graph.Box(obj))[0].N; got != 17 {
		t.Errorf("got %d, want 17", got)
	}
	if v, _ := obj.Attr("n"); v.N != 17 {
		t.Errorf("the attribute is %d, want 17", v.N)
	}
}

// TestDropoutIsNotFreed: in evaluation dropout returns its argument, which then must not be freed with it.
func TestDropoutIsNotFreed(t *testing.T) {
	f := graph.NewFunction("f")
	b := f.Body
	x := b.Call1("aten::add.Scalar", b.Param("x", graph.Tensor), 1)
	y := b.Call1("aten::dropout", x, 0.5, false)
	z := b.Call1("aten::mul.Scalar", x, 2) // the last use of x
	w := b.Call1("aten::mul.Scalar", b.Call1("aten::view", y, []int{-1}), 3)
	// whose memory the caller has
	kept := b.Call1("aten::dropout", b.Call1("aten::add.Scalar", b.Params[0], 4), 0.5, false)
	b.Return(z, w, kept)
	torch.NoGrad(func() {
		const n = 1 << 18 // large enough for memory outside of Go's heap
		out := run(t, f, torch.Ones([]int{n}))
		if got := out[0].T.Sum().Num().F; got != 4*n {
			t.Errorf("z sums to %v, want %v", got, 4*n)
		}
		if got := out[1].T.Sum().Num().F; got != 6*n {
			t.Errorf("w sums to %v, want %v", got, 6*n)
		}
		if got := out[2].T.Sum().Num().F; got != 5*n {
			t.Errorf("the result that dropout gives sums to %v, want %v", got, 5*n)
		}
	})
}

// TestFreesConsumed: in a long chain no more than a few tensors live at a time.
func TestFreesConsumed(t *testing.T) {
	var inner []*tensor.Tensor
	graph.Register("test::spy(Tensor x) -> int", func(a []tensor.Value) tensor.Value {
		inner = append(inner, a[0].T)
		return tensor.IntValue(0)
	})
	f := graph.NewFunction("f")
	x := f.Body.Param("x", graph.Tensor)
	for range 5 {
		x = f.Body.Call1("aten::add.Scalar", x, 1)
		f.Body.Call("test::spy", x)
	}
	f.Body.Return(x)
	torch.NoGrad(func() { run(t, f, torch.Ones([]int{1 << 18})) })
	for i, x := range inner {
		if got, want := x.IsReleased(), i < 4; got != want {
			t.Errorf("tensor %d: released is %v, want %v", i, got, want)
		}
	}
}

// TestFreesThroughCalls: what one function hands to another is freed as well, since the call is inlined.
func TestFreesThroughCalls(t *testing.T) {
	var seen []*tensor.Tensor
	graph.Register("test::look(Tensor x) -> int", func(a []tensor.Value) tensor.Value {
		seen = append(seen, a[0].T)
		return tensor.IntValue(0)
	})
	step := graph.NewFunction("step")
	p := step.Body.Param("x", graph.Tensor)
	y := step.Body.Call1("aten::add.Scalar", p, 1)
	step.Body.Call("test::look", y)
	step.Body.Return(y)
	f := graph.NewFunction("f")
	x := f.Body.Param("x", graph.Tensor)
	for range 3 {
		x = f.Body.Invoke(step, x).Out[0]
	}
	f.Body.Return(x)
	torch.NoGrad(func() { run(t, f, torch.Ones([]int{1 << 18})) })
	for i, x := range seen {
		if got, want := x.IsReleased(), i < 2; got != want {
			t.Errorf("tensor %d: released is %v, want %v", i, got, want)
		}
	}
}

func TestGradients(t *testing.T) {
	f := graph.NewFunction("f")
	x := f.Body.Param("x", graph.Tensor)
	f.Body.Return(f.Body.Call1("aten::sum", f.Body.Call1("aten::mul.Tensor", x, x)))
	in := torch.TensorOf[float32](1, 2, 3).SetRequiresGrad(true)
	run(t, f, in)[0].T.Backward()
	if want := torch.TensorOf[float32](2, 4, 6); !in.Grad().Equal(want) {
		t.Errorf("gradient %s, want %s", in.Grad(), want)
	}
}

func TestManyGoroutines(t *testing.T) {
	f := collatz()
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 50 {
				if out, err := f.Run(context.Background(), tensor.IntValue(27)); err != nil || out[0].N != 111 {
					t.Errorf("got %v, %v", out, err)
				}
			}
		}()
	}
	wg.Wait()
}

func TestBounds(t *testing.T) {
	f := graph.NewFunction("forever")
	f.Body.Loop(nil, nil, nil, func(*graph.Block, *graph.Value, []*graph.Value) (*graph.Value, []*graph.Value) {
		return nil, nil
	})
	if _, err := f.RunWith(context.Background(), graph.Options{MaxSteps: 1000}); !errors.Is(err, graph.ErrSteps) {
		t.Errorf("got %v, want ErrSteps", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := f.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
	r := graph.NewFunction("r")
	r.Body.Add(&graph.Node{Op: graph.CallFunction, Func: r})
	if _, err := r.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "deep") {
		t.Errorf("endless recursion: got %v", err)
	}
}

func TestErrors(t *testing.T) {
	f := graph.NewFunction("f")
	x := f.Body.Param("x", graph.Tensor)
	f.Body.At(graph.Pos{File: "code/m.py", Line: 7})
	f.Body.Return(f.Body.Call1("aten::mm", x, x))
	_, err := f.Run(context.Background(), boxed([]any{torch.Ones([]int{2, 3})})...)
	var e *graph.Error
	if !errors.As(err, &e) || e.Node == nil || e.Node.Op != "aten::mm" || !errors.Is(err, torch.ErrShape) ||
		!strings.Contains(err.Error(), "code/m.py:7") {
		t.Errorf("got %v", err)
	}
	f = graph.NewFunction("f")
	f.Body.Raise("builtins.ValueError", f.Body.Const("no"))
	_, err = f.Run(context.Background())
	var raised *graph.RaisedError
	if !errors.As(err, &raised) || raised.Class != "builtins.ValueError" || raised.Text != "no" {
		t.Errorf("got %v", err)
	}
}

// TestMissing: an operator that does not exist is an error before anything runs, or where the run meets it.
func TestMissing(t *testing.T) {
	ran := 0
	graph.Register("test::ran() -> int", func([]tensor.Value) tensor.Value { ran++; return tensor.IntValue(ran) })
	f := graph.NewFunction("f")
	cond := f.Body.Param("cond", graph.Bool)
	f.Body.Call("test::ran")
	f.Body.If(cond, func(b *graph.Block) []*graph.Value { b.Call("test::nowhere"); return nil },
		func(*graph.Block) []*graph.Value { return nil })
	var missing *graph.MissingError
	if err := f.Verify(); !errors.As(err, &missing) {
		t.Errorf("Verify: %v", err)
	}
	run(t, f, false)
	if _, err := f.Run(context.Background(), tensor.BoolValue(true)); !errors.As(err, &missing) || ran != 2 {
		t.Errorf("got %v after %d runs, want the operator that is missing", err, ran)
	}
	g := graph.NewFunction("g")
	g.Body.Call("test::ran")
	g.Body.Call("test::nowhere")
	if _, err := g.Run(context.Background()); !errors.As(err, &missing) || ran != 2 {
		t.Errorf("got %v after %d runs, want an error before the run", err, ran)
	}
}

func TestVerify(t *testing.T) {
	other := graph.NewFunction("other").Body.Param("y", graph.Tensor)
	for _, c := range []struct {
		name, want string
		build      func(b *graph.Block)
	}{
		{"unknown operator", "aten::no_such", func(b *graph.Block) { b.Call("aten::no_such") }},
		{"missing argument", "missing argument 'other'",
			func(b *graph.Block) { b.Call("aten::add.Tensor", b.Params[0]) }},
		{"too many", "takes 1 arguments, got 2", func(b *graph.Block) { b.Call("aten::relu", b.Params[0], 1) }},
		{"foreign value", "not defined", func(b *graph.Block) { b.Call("aten::relu", other) }},
		{"branches differ", "a branch has", func(b *graph.Block) {
			b.If(b.Const(true), func(b *graph.Block) []*graph.Value { return []*graph.Value{b.Const(1)} },
				func(*graph.Block) []*graph.Value { return nil })
		}},
		{"value of a branch", "not defined", func(b *graph.Block) {
			var in *graph.Value
			b.If(b.Const(true), func(b *graph.Block) []*graph.Value { in = b.Const(1); return nil },
				func(*graph.Block) []*graph.Value { return nil })
			b.Return(in)
		}},
	} {
		f := graph.NewFunction("f")
		f.Body.Param("x", graph.Tensor)
		c.build(f.Body)
		if err := f.Verify(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func BenchmarkNode(b *testing.B) {
	f := graph.NewFunction("f")
	x := f.Body.Param("x", graph.Int)
	for range 100 {
		x = f.Body.Call1("aten::add.int", x, 1)
	}
	f.Body.Return(x)
	in := []tensor.Value{tensor.IntValue(1)}
	for b.Loop() {
		if _, err := f.Run(context.Background(), in...); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/node")
}

// BenchmarkOperator and BenchmarkOperatorPlain do the same work through the executor and by boxed calls.
func BenchmarkOperator(b *testing.B) {
	f := graph.NewFunction("f")
	x := f.Body.Param("x", graph.Tensor)
	for range 100 {
		x = f.Body.Call1("aten::relu", x)
	}
	f.Body.Return(x)
	in := []tensor.Value{tensor.TensorValue(torch.Ones([]int{4}))}
	torch.NoGrad(func() {
		for b.Loop() {
			if _, err := f.Run(context.Background(), in...); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/node")
}

func BenchmarkOperatorPlain(b *testing.B) {
	x := torch.Ones([]int{4})
	op := tensor.LookupOp("aten::relu")
	torch.NoGrad(func() {
		for b.Loop() {
			y := x
			for range 100 {
				c := tensor.NewCall(op, 1)
				*c.Arg(0) = tensor.TensorValue(y)
				y = c.Do1()
			}
		}
	})
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/node")
}
