package utils_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/tensor"
)

type T = torch.Tensor

// plainly is a module whose Forward is a function; it has a few things that a Forward may meet.
type plainly struct {
	nn.Base
	L, M     *nn.Linear
	W, Count *T `torch:"-"`
	Held     *T `torch:"-"`
	Drop     *nn.Dropout
	RNN      *nn.GRU
	List     []*nn.Linear
	Scale    float64
	hidden   *T `torch:"-"`
	calls    int
	share    map[string]float64
	steps    []float32
	f        func(m *plainly, x *T) *T
}

func (m *plainly) Forward(x *T) *T { return m.f(m, x) }

func newPlainly(f func(m *plainly, x *T) *T) *plainly {
	torch.ManualSeed(11)
	m := nn.New(&plainly{L: nn.NewLinear(4, 4), M: nn.NewLinear(4, 4), W: torch.Randn([]int{4, 4}),
		Count: torch.Zeros([]int{1}), Drop: nn.NewDropout(), RNN: nn.NewGRU(4, 4),
		List: []*nn.Linear{nn.NewLinear(4, 4), nn.NewLinear(4, 4)}, Scale: 2, f: f,
		share: map[string]float64{}, steps: make([]float32, 2)})
	nn.Eval(m)
	return m
}

// branch takes one of two ways, as positive says.
func branch(positive func(x *T) bool) func(m *plainly, x *T) *T {
	return func(m *plainly, x *T) *T {
		if positive(x) {
			return m.L.Forward(x)
		}
		return m.M.Forward(x).MulScalar(3)
	}
}

// What Go code does with elements, and whatever else operators do not tell, is never frozen: a module that does so is
// run in every call, and its results are those of two modules, of which one was not prepared.
func TestOptimizeForInferenceIsNeverWrong(t *testing.T) {
	for name, c := range map[string]struct {
		f     func(m *plainly, x *T) *T
		eager string // a part of the reason; "" if it is recorded
	}{
		"item":   {branch(func(x *T) bool { return x.Sum().Item() > 0 }), "reads elements"},
		"number": {branch(func(x *T) bool { return x.Sum().Num().F > 0 }), "reads elements"},
		"slice":  {branch(func(x *T) bool { return torch.Data[float32](x)[0] > 0 }), "reads elements"},
		"raw":    {branch(func(x *T) bool { return tensor.Data[float32](x)[0] > 0 }), "reads elements"},
		"view":   {branch(func(x *T) bool { return x.Select(0, 0).Select(0, 0).Item() > 0 }), "reads elements"},
		"bytes":  {branch(func(x *T) bool { return x.Storage().Bytes()[3]&0x80 == 0 }), "reads elements"},
		"text":   {branch(func(x *T) bool { return !strings.Contains(fmt.Sprint(x.Sum()), "-") }), "reads elements"},
		"format": {branch(func(x *T) bool { return fmt.Sprintf("%f", x.Sum())[0] != '-' }), "reads elements"},
		"equal":  {branch(func(x *T) bool { return torch.Equal(x, x.Abs()) }), "depend on elements"},
		"close":  {branch(func(x *T) bool { return torch.AllClose(x, x.Abs()) }), "depend on elements"},
		"nonzero": {branch(func(x *T) bool { return x.ClampScalar(tensor.ClampScalarOptions{Min: 0}).Nonzero().Size(0) > 6 }),
			"depend on elements"},
		"masked_select": {func(m *plainly, x *T) *T {
			y := x.MaskedSelect(x.GtScalar(0))
			return m.L.Forward(x).MulScalar(float64(y.Size(0)))
		}, "depend on elements"},
		"other goroutine": {branch(func(x *T) bool {
			var positive bool
			var wg sync.WaitGroup
			wg.Add(1)
			go func() {
				defer wg.Done()
				positive = x.Sum().Item() > 0
			}()
			wg.Wait()
			return positive
		}), "goroutines"},
		"part computed elsewhere": {func(m *plainly, x *T) *T {
			done := make(chan *T)
			go func() { done <- x.MulScalar(2) }()
			return m.L.Forward(x).Add(<-done)
		}, "goroutine"},
		"Go's numbers": {func(m *plainly, x *T) *T {
			return m.L.Forward(x).Add(torch.FromSlice([]float32{1, 2, 3, 4}))
		}, "Go's numbers"},
		"constant result": {func(m *plainly, x *T) *T { return m.L.Weight }, "does not come from"},
		"state": {func(m *plainly, x *T) *T {
			if m.hidden == nil {
				m.hidden = x
			}
			m.hidden = m.hidden.Add(x)
			return m.L.Forward(m.hidden)
		}, "assigns a tensor"},
		"counts in Go": {func(m *plainly, x *T) *T {
			m.calls++
			return m.L.Forward(x).MulScalar(float64(m.calls))
		}, "sets a field"},
		"counts in a map of Go": {func(m *plainly, x *T) *T {
			m.share["calls"] += 0.5
			return m.L.Forward(x).MulScalar(m.share["calls"])
		}, "sets a field"},
		"counts in a list of Go": {func(m *plainly, x *T) *T {
			m.steps[1]++
			return m.L.Forward(x).MulScalar(float64(m.steps[1]))
		}, "sets a field"},
		"fills a map once": {func(m *plainly, x *T) *T {
			if m.share["first"] == 0 {
				m.share["first"] = 3
			}
			return m.L.Forward(x).MulScalar(m.share["first"])
		}, ""},
		"reads its counter": {func(m *plainly, x *T) *T {
			n := m.Count.Item()
			m.Count.AddScalarInPlace(1)
			return m.L.Forward(x).MulScalar(n)
		}, "reads elements"},
		"input reshaped in place": {func(m *plainly, x *T) *T { return m.L.Forward(x.UnsqueezeInPlace(0)) },
			"shape of its input"},

		"sizes": {func(m *plainly, x *T) *T {
			return m.L.Forward(x).MulScalar(float64(x.Size(0)*x.Dim() + len(x.Shape())))
		}, ""},
		"list":       {func(m *plainly, x *T) *T { return m.List[1].Forward(m.List[0].Forward(x)) }, ""},
		"identity":   {func(m *plainly, x *T) *T { return x }, ""},
		"input view": {func(m *plainly, x *T) *T { return x.Transpose(0, 1) }, ""},
		"parameter view": {func(m *plainly, x *T) *T {
			m.L.Forward(x)
			return m.L.Weight.Transpose(0, 1)
		}, ""},
		"changes the input": {func(m *plainly, x *T) *T { return m.L.Forward(x.MulScalarInPlace(2)).Add(x) }, ""},
		"changes a weight": {func(m *plainly, x *T) *T {
			y := F.Linear(x, m.W)
			m.W.MulScalarInPlace(0.5)
			return F.Linear(y, m.W).Add(F.Linear(x, m.W))
		}, ""},
		"counts in a tensor": {func(m *plainly, x *T) *T {
			m.Count.AddScalarInPlace(1)
			return m.L.Forward(x).Mul(m.Count)
		}, ""},
		"dropout": {func(m *plainly, x *T) *T {
			F.Dropout(x, F.DropoutOptions{P: tensor.Some(0.5)}) // numbers that nobody uses
			return F.Dropout(m.L.Forward(x), F.DropoutOptions{P: tensor.Some(0.5)})
		}, ""},
		"random": {func(m *plainly, x *T) *T {
			return m.L.Forward(x).Add(torch.Randn([]int{4})).Mul(torch.RandLike(x))
		}, ""},
		"recurrent": {func(m *plainly, x *T) *T {
			y, h := m.RNN.Forward(x)
			return y.Add(h.Squeeze())
		}, ""},
		"shared weights": {func(m *plainly, x *T) *T { return m.L.Forward(m.L.Forward(x).ReLU()).ReLU() }, ""},
		"several results": {func(m *plainly, x *T) *T {
			p := m.L.Forward(x).Chunk(2, tensor.ChunkOptions{Dim: 1})
			return torch.Cat([]*T{p[1], p[0]}, torch.CatOptions{Dim: 1})
		}, ""},
		"not contiguous": {func(m *plainly, x *T) *T { return m.L.Forward(x).T().Reshape([]int{-1}) }, ""},
		"a field":        {func(m *plainly, x *T) *T { return m.L.Forward(x).MulScalar(m.Scale) }, ""},
	} {
		for _, tidy := range []bool{false, true} {
			plain, m := newPlainly(c.f), newPlainly(c.f)
			o := utils.OptimizeForInference(m)
			for call := range 5 {
				x := torch.Randn([]int{3, 4}).AbsInPlace()
				if call >= 3 {
					x.NegInPlace()
				}
				a, b := x.Clone(), x.Clone()
				var want, got *T
				torch.ManualSeed(int64(call))
				tensor.NoGrad(func() { want = plain.Forward(a) })
				next := torch.Rand([]int{1}).Item()
				torch.ManualSeed(int64(call))
				if tidy && c.eager == "" {
					got = torch.TidyReturn(func() *T { return o.Forward(b) })
				} else {
					got = o.Forward(b)
				}
				if torch.Rand([]int{1}).Item() != next {
					t.Errorf("%s, call %d: other random numbers follow", name, call)
				}
				if !tensor.SameShape(got.Shape(), want.Shape()) ||
					fmt.Sprint(got.Strides()) != fmt.Sprint(want.Strides()) {
					t.Fatalf("%s, call %d: shape %v, strides %v, want %v, %v", name, call, got.Shape(), got.Strides(),
						want.Shape(), want.Strides())
				}
				if d := relative(got, want); !(d <= 1e-6) {
					t.Errorf("%s, call %d: differs by %g", name, call, d)
				}
				if !tensor.SameShape(a.Shape(), b.Shape()) || !torch.Equal(a, b) {
					t.Errorf("%s, call %d: the input is %v, want %v", name, call, b, a)
				}
				if !torch.Equal(plain.Count, m.Count) || !torch.Equal(plain.W, m.W) {
					t.Errorf("%s, call %d: the module's tensors differ", name, call)
				}
				if (got.Storage() == b.Storage()) != (want.Storage() == a.Storage()) {
					t.Errorf("%s, call %d: the result shares the input's memory: %v", name, call,
						got.Storage() == b.Storage())
				}
			}
			if e := strings.Join(o.Eager(), "; "); (e == "") != (c.eager == "") || !strings.Contains(e, c.eager) {
				t.Errorf("%s: eager because of %q, want %q", name, e, c.eager)
			}
		}
	}
}

// A change of the module between two calls is noticed, whatever is changed.
func TestOptimizeForInferenceChanges(t *testing.T) {
	f := func(m *plainly, x *T) *T {
		y := m.Drop.Forward(m.L.Forward(x).ReLU().MulScalar(m.Scale))
		if m.Held != nil {
			y = y.Add(m.Held)
		}
		if m.M.Weight.RequiresGrad() {
			y = y.MulScalar(2)
		}
		for _, l := range m.List {
			y = l.Forward(y)
		}
		return y
	}
	hooked := 0
	for _, c := range []struct {
		name   string
		change func(m *plainly)
	}{
		{"nothing", func(m *plainly) {}},
		{"a parameter in place", func(m *plainly) { tensor.NoGrad(func() { m.L.Weight.AddScalarInPlace(1) }) }},
		{"a parameter replaced", func(m *plainly) { m.L.Weight = nn.NewParameter(torch.Ones([]int{4, 4})) }},
		{"a bias removed", func(m *plainly) { m.L.Bias = nil }},
		{"a layer replaced", func(m *plainly) { m.L = nn.NewLinear(4, 4) }},
		{"a layer of a list replaced", func(m *plainly) { m.List[0] = nn.NewLinear(4, 4) }},
		{"a layer appended", func(m *plainly) { m.List = append(m.List, m.L) }},
		{"a number", func(m *plainly) { m.Scale = 3 }},
		{"a gradient is not required", func(m *plainly) { m.M.Weight.SetRequiresGrad(false) }},
		{"a parameter transposed in place", func(m *plainly) { tensor.NoGrad(func() { m.L.Weight.TInPlace() }) }},
		{"a tensor set", func(m *plainly) { m.Held = torch.Ones([]int{4}) }},
		{"another dtype", func(m *plainly) { m.Double() }},
		{"a state dict loaded", func(m *plainly) {
			sd := &tensor.StateDict{}
			for k, v := range nn.StateDict(m).All() {
				sd.Set(k, v.MulScalar(0.5))
			}
			if err := nn.LoadStateDict(m, sd); err != nil {
				t.Error(err)
			}
		}},
		{"training mode", func(m *plainly) { m.Drop.Train() }},
		{"a hook", func(m *plainly) {
			m.L.RegisterForwardHook(func(_ nn.Module, _ []*T, y *T) *T {
				hooked++
				return y.MulScalar(2)
			})
		}},
	} {
		for _, then := range []int{1, 2, 3} { // the number of calls before the change
			plain, m := newPlainly(f), newPlainly(f)
			o := utils.OptimizeForInference(m)
			x := torch.Randn([]int{3, 4})
			for range then {
				o.Forward(x)
			}
			torch.ManualSeed(5)
			c.change(plain)
			torch.ManualSeed(5)
			c.change(m)
			hooked = 0
			if c.name == "another dtype" {
				x = x.Double()
			}
			for call := range 3 {
				var want *T
				torch.ManualSeed(int64(call))
				tensor.NoGrad(func() { want = plain.Forward(x) })
				torch.ManualSeed(int64(call))
				if got := o.Forward(x); got.DType() != want.DType() || !(relative(got, want) <= 1e-6) {
					t.Errorf("%s after %d calls, call %d: differs by %g", c.name, then, call, relative(got, want))
				}
			}
			if c.name == "a hook" && hooked != 6 {
				t.Errorf("the hook was called %d times, want 6", hooked)
			}
		}
	}
}

// Modes that hold for a goroutine are part of what a plan was made for.
func TestOptimizeForInferenceModes(t *testing.T) {
	zeros := newPlainly(func(m *plainly, x *T) *T { return m.L.Forward(x).Add(torch.Zeros([]int{4})) })
	o := utils.OptimizeForInference(zeros)
	x := torch.Randn([]int{3, 4}).SetRequiresGrad(true)
	for range 3 {
		if y := o.Forward(x); y.RequiresGrad() || y.DType() != torch.Float32 || y.IsInference() {
			t.Errorf("result requires a gradient: %v, is %v", y.RequiresGrad(), y.DType())
		}
		torch.InferenceMode(func() {
			if y := o.Forward(x); !y.IsInference() {
				t.Error("the result is not an inference tensor")
			}
		})
		torch.SetDefaultDType(torch.Float64)
		if y := o.Forward(x); y.DType() != torch.Float64 {
			t.Errorf("default dtype float64: result is %v", y.DType())
		}
		torch.SetDefaultDType(torch.Float32)
		var seen []string
		tensor.WithLayer(watcher(func(op string) { seen = append(seen, op) }), func() { o.Forward(x) })
		if got := strings.Join(seen, " "); got != "aten::linear aten::zeros aten::add.Tensor" &&
			!strings.HasPrefix(got, "aten::linear") {
			t.Errorf("a watcher sees %s", got)
		}
	}
	// Inputs that look alike but for their strides.
	strided := newPlainly(func(m *plainly, x *T) *T {
		if x.IsContiguous() {
			return m.L.Forward(x)
		}
		return m.M.Forward(x)
	})
	o = utils.OptimizeForInference(strided)
	a := torch.Randn([]int{4, 4})
	for range 3 {
		for _, x := range []*T{a, a.T(), a.To(torch.Float32)} {
			var want *T
			tensor.NoGrad(func() { want = strided.Forward(x) })
			if d := relative(o.Forward(x), want); !(d <= 1e-6) {
				t.Errorf("strides %v: differs by %g", x.Strides(), d)
			}
		}
	}
}

type watcher func(op string)

func (w watcher) Rank() tensor.Rank { return tensor.RankWatch }
func (w watcher) Call(c *tensor.Ctx, next func()) {
	w(c.Op().FullName())
	next()
}

// The layout of what a convolution gives is that of the module, also where a fused one has another.
func TestOptimizeForInferenceLayout(t *testing.T) {
	for name, f := range map[string]func(x *T) *T{
		"result":  func(x *T) *T { return x },
		"view":    func(x *T) *T { return x.View([]int{x.Size(0), -1}) },
		"reshape": func(x *T) *T { y := x.Reshape([]int{-1}); y.AddScalarInPlace(1); return x.MulScalar(2) },
		"strided": func(x *T) *T { return x.AsStrided([]int{3, 3}, []int{1, 2}).AddScalar(1) },
	} {
		for _, nd := range []int{1, 2, 3} {
			var conv nn.Layer
			shape := []int{2, 3, 5, 6, 7}[:2+nd]
			switch nd {
			case 1:
				conv = nn.NewSequential(nn.NewConv1d(3, 4, 3), nn.NewBatchNorm1d(4), nn.NewReLU())
			case 2:
				conv = nn.NewSequential(nn.NewConv2d(3, 4, 3), nn.NewBatchNorm2d(4), nn.NewReLU())
			case 3:
				conv = nn.NewSequential(nn.NewConv3d(3, 4, 3), nn.NewBatchNorm3d(4), nn.NewReLU())
			}
			m := nn.New(&after{Net: conv, f: f})
			settle(m)
			o := utils.OptimizeForInference(m)
			for range 3 {
				x := torch.Randn(shape)
				var want *T
				tensor.NoGrad(func() { want = m.Forward(x) })
				got := torch.TidyReturn(func() *T { return o.Forward(x) })
				if fmt.Sprint(got.Strides()) != fmt.Sprint(want.Strides()) || !(relative(got, want) <= 1e-5) {
					t.Errorf("%s of %d dimensions: differs by %g, strides %v, want %v", name, nd, relative(got, want),
						got.Strides(), want.Strides())
				}
			}
			if len(o.Eager()) > 0 || !strings.Contains(strings.Join(utils.PlanOf(o), " "), "gotorch::conv_fused") {
				t.Errorf("%s of %d dimensions: not fused: %v %v", name, nd, o.Eager(), utils.PlanOf(o))
			}
		}
	}
}

// after does something with what a network gives.
type after struct {
	nn.Base
	Net nn.Layer
	f   func(x *T) *T
}

func (m *after) Forward(x *T) *T { return m.f(m.Net.Forward(x)) }

// Several goroutines that begin at once get the module's results, whoever records.
func TestOptimizeForInferenceGoroutines(t *testing.T) {
	m := newPlainly(func(m *plainly, x *T) *T { return m.L.Forward(x).ReLU().Add(m.M.Forward(x)) })
	o := utils.OptimizeForInference(m)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for call := range 20 {
				x := torch.Full([]int{1 + (g+call)%3, 4}, float64(g*call-50))
				var want *T
				tensor.NoGrad(func() { want = m.Forward(x) })
				if d := relative(o.Forward(x), want); !(d <= 1e-6) {
					t.Errorf("goroutine %d, call %d: differs by %g", g, call, d)
				}
			}
		}()
	}
	wg.Wait()
	for rows := 1; rows <= 3; rows++ {
		o.Forward(torch.Ones([]int{rows, 4}))
	}
	if len(utils.PlanOf(o)) == 0 || len(o.Eager()) > 0 {
		t.Errorf("nothing was recorded: %v", o.Eager())
	}
}
