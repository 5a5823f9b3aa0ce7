package torch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// spy writes down the calls that it sees.
type spy struct {
	rank tensor.Rank
	name string
	log  *[]string
	sees func(op *tensor.Op) tensor.Sight
	call func(c *tensor.Ctx, next func())
}

func (s *spy) Rank() tensor.Rank { return s.rank }

func (s *spy) Sees(op *tensor.Op) tensor.Sight {
	if s.sees == nil {
		return tensor.Whole
	}
	return s.sees(op)
}

func (s *spy) Call(c *tensor.Ctx, next func()) {
	*s.log = append(*s.log, strings.TrimSpace(s.name+" "+c.Op().FullName()))
	if s.call != nil {
		s.call(c, next)
		return
	}
	next()
}

// permutations calls f with every order of n numbers.
func permutations(n int, f func(order []int)) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var rec func(k int)
	rec = func(k int) {
		if k == n {
			f(order)
			return
		}
		for i := k; i < n; i++ {
			order[k], order[i] = order[i], order[k]
			rec(k + 1)
			order[k], order[i] = order[i], order[k]
		}
	}
	rec(0)
}

// Layers act by rank, whatever the nesting of the functions that set them, NoGrad among them.
func TestLayersActByRank(t *testing.T) {
	x := torch.FromSlice([]float32{1, 2}).SetRequiresGrad(true)
	names := []string{"watch", "transform", "autocast", "trace", "below"}
	want := "watch aten::exp, transform aten::exp, autocast aten::exp, trace aten::exp, below aten::exp"
	permutations(len(names)+1, func(order []int) {
		var log []string
		run := func() { x.Exp() }
		for _, k := range order {
			inner := run
			if k == len(names) {
				run = func() { torch.NoGrad(inner) }
				continue
			}
			l := &spy{rank: tensor.Rank(k), name: names[k], log: &log}
			run = func() { tensor.WithLayer(l, inner) }
		}
		run()
		if got := strings.Join(log, ", "); got != want {
			t.Fatalf("nested in the order %v: %s, want %s", order, got, want)
		}
	})
}

// A layer takes a composed operator whole, looks inside, or both; its own calls go to the layers below and to watchers.
func TestLayersAndComposedOperators(t *testing.T) {
	x := torch.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	whole := func(*tensor.Op) tensor.Sight { return tensor.Whole }
	inside := func(op *tensor.Op) tensor.Sight {
		if op.Body != nil {
			return tensor.Inside
		}
		return tensor.Whole
	}
	both := func(*tensor.Op) tensor.Sight { return tensor.Both }
	see := func(layers ...*spy) string {
		var log []string
		run := func() { x.MatMul(x) }
		for _, l := range layers {
			inner := run
			l.log = &log
			run = func() { tensor.WithLayer(l, inner) }
		}
		run()
		return strings.Join(log, ", ")
	}
	for _, c := range []struct {
		layers []*spy
		want   string
	}{
		{[]*spy{{rank: tensor.RankTrace, sees: whole}}, "aten::matmul"},
		{[]*spy{{rank: tensor.RankTrace, sees: inside}}, "aten::mm"},
		{[]*spy{{rank: tensor.RankTrace, sees: both}}, "aten::matmul, aten::mm"},
		{[]*spy{{rank: tensor.RankTrace, name: "t", sees: inside}, {rank: tensor.RankAutocast, name: "a", sees: whole}},
			"a aten::matmul, t aten::mm"},
		{[]*spy{{rank: tensor.RankTrace, name: "t", sees: whole}, {rank: tensor.RankAutocast, name: "a", sees: inside}},
			"t aten::matmul, a aten::mm"},
		{[]*spy{{rank: tensor.RankBelow, name: "b"}, {rank: tensor.RankTrace, name: "t", sees: whole}},
			"t aten::matmul, b aten::mm"},
	} {
		if got := see(c.layers...); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	var log []string
	double := &spy{rank: tensor.RankAutocast, name: "a", log: &log, call: func(c *tensor.Ctx, next func()) {
		c.SetValue(0, tensor.TensorValue(c.T(0).MulScalar(2)))
		next()
	}}
	trace := &spy{rank: tensor.RankTrace, name: "t", log: &log}
	outer := &spy{rank: tensor.RankTransform, name: "o", log: &log}
	watch := &spy{rank: tensor.RankWatch, name: "w", log: &log, sees: both}
	var y *torch.Tensor
	tensor.WithLayer(trace, func() {
		tensor.WithLayer(watch, func() {
			tensor.WithLayer(double, func() { tensor.WithLayer(outer, func() { y = x.Exp() }) })
		})
	})
	want := "w aten::exp, o aten::exp, a aten::exp, w aten::mul.Scalar, t aten::mul.Scalar, t aten::exp"
	if got := strings.Join(log, ", "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if !y.AllClose(x.MulScalar(2).Exp()) {
		t.Error("the layer's change was lost")
	}
}

// autocast casts the arguments of operators of the class "lower" to bfloat16, as the layer of package amp will.
type autocast struct{}

func (autocast) Rank() tensor.Rank { return tensor.RankAutocast }

func (autocast) Sees(op *tensor.Op) tensor.Sight {
	if op.AMPOn(tensor.CPUDevice) == tensor.AMPKeep {
		return tensor.Inside
	}
	return tensor.Whole
}

func (autocast) Call(c *tensor.Ctx, next func()) {
	for i := range c.NumArgs() {
		if v := c.Value(i); v.K == tensor.KTensor && v.T.DType() == torch.Float32 &&
			c.Op().AMPOn(tensor.CPUDevice) == tensor.AMPLower {
			c.SetValue(i, tensor.TensorValue(v.T.BFloat16()))
		}
	}
	next()
}

// Autocast acts above autograd and above the tracer, outside and inside NoGrad, and its casts have gradients.
func TestAutocastLayer(t *testing.T) {
	x := torch.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	w := torch.FromSlice([]float32{1, 0, 2, 1, 1, 1}, 2, 3).SetRequiresGrad(true)
	for name, nest := range map[string]func(f func()){
		"alone":         func(f func()) { tensor.WithLayer(autocast{}, f) },
		"around NoGrad": func(f func()) { tensor.WithLayer(autocast{}, func() { torch.NoGrad(f) }) },
		"inside NoGrad": func(f func()) { torch.NoGrad(func() { tensor.WithLayer(autocast{}, f) }) },
	} {
		var log []string
		var y *torch.Tensor
		tensor.WithLayer(&spy{rank: tensor.RankTrace, log: &log}, func() { nest(func() { y = F.Linear(x, w) }) })
		if y.DType() != torch.BFloat16 {
			t.Errorf("%s: the result is %s", name, y.DType())
		}
		if log[len(log)-1] != "aten::linear" ||
			!slices.ContainsFunc(log, func(s string) bool {
				return strings.HasPrefix(s, "aten::to.") ||
					s == "aten::_to_copy"
			}) {
			t.Errorf("%s: the tracer sees %v", name, log)
		}
		if y.RequiresGrad() != (name == "alone") {
			t.Errorf("%s: requires grad: %v", name, y.RequiresGrad())
		}
		if y.RequiresGrad() {
			w.SetGrad(nil)
			y.Float().Sum().Backward()
			if g := w.Grad(); g == nil || g.DType() != torch.Float32 {
				t.Errorf("%s: gradient %v", name, g)
			}
		}
	}
}

// mapped is a transform that applies operators to the rows of one tensor, one after the other: a vmap of one argument.
type mapped struct{ batch map[*torch.Tensor]bool }

func (m *mapped) Rank() tensor.Rank { return tensor.RankTransform }

func (m *mapped) Call(c *tensor.Ctx, next func()) {
	at := -1
	for i := range c.NumArgs() {
		if m.batch[c.Value(i).T] {
			at = i
		}
	}
	if at < 0 {
		next()
		return
	}
	var rows []*torch.Tensor
	for _, row := range c.Value(at).T.Unbind() {
		args := make([]tensor.Value, c.NumArgs())
		for i := range args {
			args[i] = c.Value(i)
		}
		args[at] = tensor.TensorValue(row)
		r, err := c.Op().Call(args...)
		if err != nil {
			panic(err)
		}
		rows = append(rows, r[0].T)
	}
	y := torch.Stack(rows)
	m.batch[y] = true
	c.Return(y)
}

// A transform acts above autograd: gradients flow through what it makes of a call.
func TestTransformOverAutograd(t *testing.T) {
	x := torch.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 3, 2).SetRequiresGrad(true)
	w := torch.FromSlice([]float32{2, -1}).SetRequiresGrad(true)
	loss := func(x *torch.Tensor) *torch.Tensor { return x.Mul(w).Exp() }
	want := torch.Grad([]*torch.Tensor{loss(x).Sum()}, []*torch.Tensor{x, w})
	var log []string
	var y *torch.Tensor
	torch.NoGrad(func() {
		torch.EnableGrad(func() {
			tensor.WithLayer(&spy{rank: tensor.RankTrace, log: &log}, func() {
				tensor.WithLayer(&mapped{map[*torch.Tensor]bool{x: true}}, func() { y = loss(x) })
			})
		})
	})
	got := torch.Grad([]*torch.Tensor{y.Sum()}, []*torch.Tensor{x, w})
	for i := range want {
		if !got[i].AllClose(want[i]) {
			t.Errorf("gradient %d is %v, want %v", i, got[i], want[i])
		}
	}
	muls := 0
	for _, s := range log {
		if s == "aten::mul.Tensor" {
			muls++
		}
	}
	if muls != 3 {
		t.Errorf("the tracer below the transform sees %v, want three multiplications", log)
	}
}

// Functions of torch.nn.functional are transparent, operators of our own are not seen, and all that PyTorch registers
// as operators are.
func TestLayersSeePublicOperators(t *testing.T) {
	x := torch.Ones([]int{1, 3, 8, 8})
	w := torch.Ones([]int{4, 3, 3, 3})
	var log []string
	tensor.WithLayer(&spy{rank: tensor.RankTrace, log: &log}, func() {
		y := F.Conv2d(x, w)
		y = y.ReLU()
		F.MaxPool2d(y, []int{2, 2})
	})
	if got := fmt.Sprint(log); got != "[aten::conv2d aten::relu aten::max_pool2d]" {
		t.Errorf("saw %s", got)
	}
	for _, op := range tensor.Ops() {
		registered := slices.Contains([]string{"aten", "quantized", "_quantized", "torchvision"}, op.Sch.Namespace)
		if registered != op.IsPublic() || op.Sch.Namespace == "gotorch" != op.IsPrivate() {
			t.Errorf("%s: floor %s", op.FullName(), op.Floor())
		}
	}
}
