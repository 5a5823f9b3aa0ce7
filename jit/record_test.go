package jit_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/models"
)

func rand(shape ...int) *tensor.Tensor { return torch.Rand(shape) }

// A traced network has a method for each call of a module, and the code that Python's tracer prints.
func TestTraceCode(t *testing.T) {
	m := models.NewResNet18()
	m.Eval()
	p := must(jit.Trace(m, rand(1, 3, 32, 32), jit.TraceOptions{NoCheck: true}))
	for _, c := range []struct{ path, method, want string }{
		{"layer1.0", "forward", `def forward(self,
    argument_1: Tensor) -> Tensor:
  bn2 = self.bn2
  conv2 = self.conv2
  relu = self.relu
  bn1 = self.bn1
  conv1 = self.conv1
  _0 = (bn1).forward((conv1).forward(argument_1, ), )
  _1 = (conv2).forward((relu).forward(_0, ), )
  _2 = torch.add_((bn2).forward(_1, ), argument_1)
  return (relu).forward1(_2, )
`},
		{"layer1", "forward", `def forward(self,
    argument_1: Tensor) -> Tensor:
  _1 = getattr(self, "1")
  _0 = getattr(self, "0")
  _2 = (_1).forward((_0).forward(argument_1, ), )
  return _2
`},
		{"layer1.0.relu", "forward1", `def forward1(self,
    argument_1: Tensor) -> Tensor:
  return torch.relu_(argument_1)
`},
		{"bn1", "forward", `def forward(self,
    argument_1: Tensor) -> Tensor:
  running_var = self.running_var
  running_mean = self.running_mean
  bias = self.bias
  weight = self.weight
  _0 = torch.batch_norm(argument_1, weight, bias, running_mean, running_var, False, 0.10000000000000001, ` +
			`1.0000000000000001e-05, True)
  return _0
`},
	} {
		if got := p.Submodule(c.path).Code(c.method); got != c.want {
			t.Errorf("%s.%s:\n%s\nwant\n%s", c.path, c.method, got, c.want)
		}
	}
}

// structured takes and gives lists, maps and structs.
type pair struct{ A, B *tensor.Tensor }

func TestStructuredArguments(t *testing.T) {
	fn := func(l []*tensor.Tensor, d map[string]*tensor.Tensor, p pair) (map[string]*tensor.Tensor, []*tensor.Tensor) {
		return map[string]*tensor.Tensor{"sum": l[0].Add(l[1]), "mul": d["x"].Mul(p.B)}, []*tensor.Tensor{p.A, d["y"]}
	}
	x := []*tensor.Tensor{rand(2), rand(2), rand(2), rand(2), rand(2), rand(2)}
	p := must(jit.Trace(fn, x[:2], map[string]*tensor.Tensor{"x": x[2], "y": x[3]}, pair{x[4], x[5]}))
	back, err := again(p)
	if err != nil {
		t.Fatal(err)
	}
	if got := back.Method("forward").Schema.String(); !strings.Contains(got,
		"Tensor[] x, Dict(str, Tensor) x1, (Tensor, Tensor) x2") {
		t.Error(got)
	}
}

// A program traced with one batch takes others where its numbers follow the batch; one that does not is as it was.
func TestTraceFollowsTheBatch(t *testing.T) {
	follows := func(x *tensor.Tensor) *tensor.Tensor { return x.Reshape([]int{x.Size(0) * 2, -1}).Add(x.Sum()) }
	p := must(jit.Trace(follows, rand(1, 4)))
	x := rand(5, 4)
	if y, err := p.Forward(x); err != nil || !torch.AllClose(y, follows(x)) {
		t.Errorf("%v, %v\n%s", y, err, p.Code())
	}
	if code := must(jit.Trace(follows, rand(1, 4), jit.TraceOptions{Static: true})).Code(); !strings.Contains(code,
		"[2, -1]") {
		t.Error(code)
	}
	rows := func(x *tensor.Tensor) *tensor.Tensor {
		sum := x.Select(0, 0)
		for i := 1; i < 3; i++ {
			sum = sum.Add(x.Select(0, i))
		}
		if x.Size(0) > 3 {
			panic("only three rows")
		}
		return sum
	}
	p = must(jit.Trace(rows, rand(3, 4)))
	if y, err := p.Forward(rand(3, 4)); err != nil || y.Dim() != 1 {
		t.Error(y, err)
	}
}

// Branches and loops of both kinds are recorded, saved, and follow the elements.
func TestControlFlow(t *testing.T) {
	one := func(x *tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{x} }
	for _, c := range []struct {
		name string
		fn   func(x *tensor.Tensor) *tensor.Tensor
		code string
	}{
		{"while", func(x *tensor.Tensor) *tensor.Tensor {
			return jit.While(func(c []*tensor.Tensor) *tensor.Tensor { return c[0].Sum().LtScalar(10) }, one(x),
				func(c []*tensor.Tensor) []*tensor.Tensor { return one(c[0].Add(c[0])) })[0]
		}, "while "},
		{"for with the number", func(x *tensor.Tensor) *tensor.Tensor {
			return jit.For(x.Size(0), one(x.Sum()), func(i int, c []*tensor.Tensor) []*tensor.Tensor {
				return one(c[0].Add(x.Select(0, i).MulScalar(2*i + 1).Sum()))
			})[0]
		}, "in range(torch.size(x, 0)):"},
		{"if with a write", func(x *tensor.Tensor) *tensor.Tensor {
			y := x.Clone()
			jit.If(x.Sum().GtScalar(3), func() []*tensor.Tensor { y.AddScalarInPlace(1); return nil },
				func() []*tensor.Tensor { y.MulScalarInPlace(2); return nil })
			return y
		}, "else:"},
		{"nested", func(x *tensor.Tensor) *tensor.Tensor {
			return jit.For(3, one(x), func(i int, c []*tensor.Tensor) []*tensor.Tensor {
				return jit.If(c[0].Sum().GtScalar(6), func() []*tensor.Tensor { return one(c[0].SubScalar(i)) },
					func() []*tensor.Tensor { return one(c[0].AddScalar(i)) })
			})[0]
		}, "for "},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := jit.Script(c.fn, rand(3, 2))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(p.Code(), c.code) {
				t.Errorf("no %q in\n%s", c.code, p.Code())
			}
			back, err := again(p)
			if err != nil {
				t.Fatalf("%v\n%s", err, p.Code())
			}
			for _, x := range []*tensor.Tensor{rand(3, 2), rand(5, 2), rand(5, 2).MulScalar(3),
				rand(2, 2).AddScalar(4)} {
				want := c.fn(x)
				for _, q := range []*jit.Module{p, back} {
					got, err := q.Forward(x)
					if err != nil {
						t.Fatal(err)
					}
					if !torch.AllClose(got, want) {
						t.Errorf("%v, want %v\n%s", got, want, p.Code())
					}
				}
			}
		})
	}
}

func TestScriptRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		fn   any
		want []string
	}{
		{"a loop over a size", func(x *tensor.Tensor) *tensor.Tensor {
			y := x.Select(0, 0)
			for i := range x.Size(0) {
				y = y.Add(x.Select(0, i))
			}
			return y
		}, []string{"record_test.go:", "jit.For"}},
		{"a branch on elements", func(x *tensor.Tensor) *tensor.Tensor {
			if x.Sum().Item() > 0 {
				return x
			}
			return x.Neg()
		}, []string{"record_test.go:", "jit.If"}},
		{"a loop with one iteration", func(x *tensor.Tensor) *tensor.Tensor {
			return jit.For(1, []*tensor.Tensor{x}, func(i int, c []*tensor.Tensor) []*tensor.Tensor { return c })[0]
		}, []string{"record_test.go:", "1 iterations"}},
		{"branches of two sizes", func(x *tensor.Tensor) *tensor.Tensor {
			return jit.If(x.Sum().GtScalar(0), func() []*tensor.Tensor { return []*tensor.Tensor{x, x} },
				func() []*tensor.Tensor { return []*tensor.Tensor{x} })[0]
		}, []string{"2 and 1 tensors"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := jit.Script(c.fn, rand(4, 2))
			for _, w := range c.want {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("error %v, want one with %q", err, w)
				}
			}
		})
	}
}

// The branch that is not taken leaves no trace: no write, no random number.
func TestTrialsAreUndone(t *testing.T) {
	drop := nn.NewBatchNorm1d(2)
	fn := func(x *tensor.Tensor) *tensor.Tensor {
		return jit.If(x.Sum().GtScalar(0), func() []*tensor.Tensor { return []*tensor.Tensor{x} },
			func() []*tensor.Tensor { return []*tensor.Tensor{drop.Forward(x).Add(torch.Rand([]int{1}))} })[0]
	}
	torch.ManualSeed(3)
	want := rand(4)
	torch.ManualSeed(3)
	must(jit.Trace(fn, torch.Ones([]int{3, 2}), jit.TraceOptions{Module: drop}))
	if got := rand(4); !torch.Equal(got, want) {
		t.Error("the branch has drawn random numbers")
	}
	if n := drop.NumBatchesTracked.Item(); n != 0 {
		t.Errorf("the branch has counted %v batches", n)
	}
}

// A random operator gives the warning of the comparison.
func TestCheckTraceWarns(t *testing.T) {
	var got []string
	before := tensor.SetWarnings(func(w tensor.Warning) { got = append(got, w.Text) })
	defer func() { tensor.SetWarnings(before) }()
	calls := 0
	must(jit.Trace(func(x *tensor.Tensor) *tensor.Tensor { calls++; return x.AddScalar(calls) }, rand(2)))
	if len(got) != 1 || !strings.Contains(got[0], "Output nr 1. of the traced function does not match") {
		t.Errorf("warnings %q", got)
	}
}

// Many goroutines run a traced module at once.
func TestTracedConcurrently(t *testing.T) {
	m := nn.NewSequential(nn.NewLinear(4, 8), nn.NewReLU(), nn.NewLinear(8, 2))
	p := must(jit.Trace(m, rand(3, 4)))
	x := rand(3, 4)
	want := m.Forward(x)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if y, err := p.Run(context.Background(), map[string]*tensor.Tensor{"x": x}); err != nil ||
					!torch.AllClose(y["output"], want.Detach()) {
					t.Error(err, y)
					return
				}
			}
		})
	}
	wg.Wait()
}

// The mode of a module of a program is that of the module that holds it.
func TestModeOfHeldProgram(t *testing.T) {
	inner := must(jit.Script(nn.New(&MyDecisionGate{}), rand(2)))
	m := nn.New(&WrapRNN{Loop: inner})
	m.Eval()
	if inner.Training() {
		t.Error("the program is in training mode")
	}
	m.Train()
	if !inner.Training() || !nn.IsTraining(inner) {
		t.Error("the program is in evaluation mode")
	}
}
